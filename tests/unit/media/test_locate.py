"""Where media are looked for, and which are missing."""

from pathlib import Path

import pytest

from vidence.errors import DataError
from vidence.media.locate import missing, resolve
from vidence.records import Item, Media


def asking(item_id: str, *media: Media) -> Item:
    return Item(item_id=item_id, question="?", answer="A", choices=("x", "y"), media=media)


def test_a_relative_path_starts_from_the_folder_of_the_data(tmp_path: Path) -> None:
    assert resolve(tmp_path, Media(path="clips/a b.mp4")) == tmp_path / "clips" / "a b.mp4"
    assert resolve(tmp_path / "q", Media(path="../a.mp4")).resolve() == (tmp_path / "a.mp4").resolve()


def test_an_absolute_path_stands_for_itself(tmp_path: Path) -> None:
    assert resolve(Path("elsewhere"), Media(path=str(tmp_path / "a.mp4"))) == tmp_path / "a.mp4"


def test_a_path_goes_before_a_url(tmp_path: Path) -> None:
    assert resolve(tmp_path, Media(path="a.mp4", url="https://example.org/b.mp4")) == tmp_path / "a.mp4"


@pytest.mark.parametrize(
    ("url", "place"),
    [
        ("https://example.org/clips/a.mp4", "example.org/clips/a.mp4"),
        ("https://example.org/watch?v=1", "example.org/watch?v=1"),
        ("https://example.org/watch?v=2", "example.org/watch?v=2"),
    ],
)
def test_a_url_alone_has_a_place_of_its_own(tmp_path: Path, url: str, place: str) -> None:
    assert resolve(tmp_path, Media(url=url)) == tmp_path / place


def test_a_medium_without_path_and_url_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="neither path nor url"):
        resolve(tmp_path, Media())


def test_missing_lists_each_absent_file_once_in_order(tmp_path: Path) -> None:
    (tmp_path / "there.mp4").write_bytes(b"x")
    items = [
        asking("1", Media(path="z.mp4")),
        asking("2", Media(path="there.mp4"), Media(path="a.mp4")),
        asking("3", Media(path="z.mp4", start_s=1.0, end_s=2.0)),
        asking("4"),
    ]
    assert missing(tmp_path, items) == (tmp_path / "z.mp4", tmp_path / "a.mp4")
    assert missing(tmp_path, items[3:]) == ()


def test_a_folder_is_no_video_and_a_file_no_folder_of_images(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "file.mp4").write_bytes(b"x")
    wrong = [asking("1", Media(path="folder")), asking("2", Media(path="file.mp4", kind="frames"))]
    right = [asking("1", Media(path="folder", kind="frames")), asking("2", Media(path="file.mp4"))]
    assert missing(tmp_path, wrong) == (tmp_path / "folder", tmp_path / "file.mp4")
    assert missing(tmp_path, right) == ()


def test_media_known_by_url_alone_are_missing_until_they_are_downloaded(tmp_path: Path) -> None:
    items = [asking("1", Media(url="https://example.org/a.mp4"))]
    place = tmp_path / "example.org" / "a.mp4"
    assert missing(tmp_path, items) == (place,)
    place.parent.mkdir()
    place.write_bytes(b"x")
    assert missing(tmp_path, items) == ()
