"""What a selection of videos says of the videos of experts."""

from datetime import date

import pytest

from vidence.errors import DataError
from vidence.make.writing.expert_films import Film, Length
from vidence.make.writing.selected_videos import not_selected, read_selection

HEAD = "video,outcome,reasons,published,sha256\n"


def written(folder, kept: str, sources: str | None = None):
    (folder / "kept.csv").write_text(HEAD + kept)
    if sources is not None:
        (folder / "sources.csv").write_text(HEAD + kept + sources)
    return folder / "kept.csv"


def left_out(path, *films: Film, **lengths: Length) -> dict[str, str]:
    return {one.what: one.detail for one in not_selected(films, lengths, read_selection(path))}


def test_a_video_is_known_by_its_hash_its_path_its_id_or_its_address(tmp_path):
    path = written(
        tmp_path, "b.mp4,kept,,,\nc,kept,,,\nhttps://youtu.be/x,kept,,,\nelsewhere/a.mp4,kept,,,aa\n"
    )
    films = [
        Film(video_id="a", path="a.mp4"),
        Film(video_id="b", path="b.mp4"),
        Film(video_id="c", path="d.mp4"),
    ]
    films += [Film(video_id="d", url=" https://youtu.be/x "), Film(video_id="e", path="e.mp4")]
    assert left_out(path, *films, a=Length(sha256="aa")) == {"e": "the selection has no such video"}
    assert "a" in left_out(path, *films, a=Length(sha256="bb"))


def test_what_was_left_out_keeps_its_reason(tmp_path):
    path = written(
        tmp_path, "a,kept,,2025-02-03,\n", "b,dropped,12 s; expected 60 or more,,\nc,unreadable,cut off,,\n"
    )
    films = [Film(video_id=name, path=f"{name}.mp4") for name in "abc"]
    assert left_out(path, *films) == {"b": "12 s; expected 60 or more", "c": "cut off"}
    assert read_selection(path).published == {"a": date(2025, 2, 3)}


def test_a_hash_goes_before_a_name(tmp_path):
    path = written(tmp_path, "a.mp4,kept,,,aa\n", "b.mp4,dropped,a lecture,,bb\n")
    assert left_out(path, Film(video_id="v", path="a.mp4"), v=Length(sha256="bb")) == {"v": "a lecture"}


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("video,path\n", "outcome"),
        (HEAD + "a,kept,,yesterday,\n", "'yesterday' is no day"),
        (HEAD + "a,kept\n", "kept.csv:2"),
    ],
)
def test_what_is_no_selection_is_refused(tmp_path, content, said):
    (tmp_path / "kept.csv").write_text(content)
    with pytest.raises(DataError, match=said):
        read_selection(tmp_path / "kept.csv")
