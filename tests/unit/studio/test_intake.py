"""Media of a project: found by kind, named as items name them, and the frames that were marked."""

import pytest
from PIL import Image

from vidence.errors import MediaError, UsageError
from vidence.studio.intake import (
    add_medium,
    as_media,
    candidates,
    films_of,
    media_rows,
    new_item,
    pictured,
    pieces_of,
    shapes_of,
    shown_media,
)
from vidence.studio.projects import add_project
from vidence.studio.rules.wording import Mark, Wording
from videos.stamped import write


@pytest.fixture
def project(team, tmp_path):
    """A project with a film, a set of three pictures, and a folder of eight frames."""
    write(tmp_path / "film.mp4", numbers=range(30))
    for folder, n in (("plates", 3), ("frames", 8)):
        (tmp_path / folder).mkdir()
        for i in range(n):
            Image.new("RGB", (32, 24), (20 * i, 90, 90)).save(tmp_path / folder / f"{i:02d}.png")
    (tmp_path / ".hidden.mp4").write_bytes(b"")
    return add_project("films", "mmvu", media_root=str(tmp_path))


def test_media_are_found_and_evidence_has_its_pieces_of_them(project, team):
    found, is_more = candidates(project)
    kinds = {one.path: one.kind for one in found}
    assert (kinds["film.mp4"], kinds["plates"], kinds["frames"]) == ("video", "images", "frames")
    assert kinds["plates/00.png"] == "image"
    assert not is_more
    assert ".hidden.mp4" not in kinds
    assert [one.path for one in candidates(project, words="PLATES 00")[0]] == ["plates/00.png"]
    assert candidates(project, most=2)[1]
    rows = [
        add_medium(project, path, kind=kind) for path, kind in (("plates", "images"), ("film.mp4", "video"))
    ]
    item = new_item(project, rows, kind="open", form="humanpcr-r", author=None, quota=0)
    assert media_rows(item) == rows
    media = as_media(media_rows(item), project)
    assert [(one.path, one.kind) for one in media] == [
        *((f"plates/{n:02d}.png", "image") for n in range(3)),
        ("film.mp4", "video"),
    ]
    assert [one.kind for one in shown_media(rows, project)] == ["image"] * 3 + ["video"]
    assert films_of(rows)[1].duration_s == pytest.approx(1.0)
    written = Wording(
        evidence=(
            Mark(medium=3, start="0.333333", end="0.666667", steps="2"),
            Mark(medium=0, start="1", end="2"),
            Mark(medium=3, start="0.34", end="9"),
            Mark(medium=9, start="1", end="2"),
        )
    )
    found = [(one.first, one.last) for one in pieces_of(written, media, project)]
    assert found == [(10, 20), (None, None), (10, 29), (None, None)]
    rows = [
        add_medium(project, path, kind=kind) for path, kind in (("plates", "images"), ("film.mp4", "video"))
    ]
    media = as_media(rows, project)
    written = Wording(
        evidence=(
            Mark(medium=3, kind="oracle", frames="20, 3"),
            Mark(medium=1, x0="1", y0="2", x1="30", y1="20", text="a plate"),
            Mark(medium=2),
        )
    )
    film, box, whole = pieces_of(written, media, project)
    assert (film.times_s, film.first) == ((0.666667, 0.1), None)
    assert (box.medium, box.box, whole.box) == (1, (1.0, 2.0, 30.0, 20.0), None)
    shapes = shapes_of(rows, media, project)
    assert [(one.kind, one.n_frames, one.width_px, one.height_px) for one in shapes] == [
        *[("image", 1, 32, 24)] * 3,
        ("video", 30, None, None),
    ]
    shown = pictured(shown_media(rows, project), shapes, written)
    assert [(one.n, one.picture, one.name, one.box) for one in shown] == [
        (2, 2, "01.png", (1.0, 2.0, 29.0, 18.0)),
        (3, 3, "02.png", None),
    ]


def test_what_is_no_medium_or_gone_is_said(project, tmp_path):
    with pytest.raises(UsageError, match="the kind 'sound'"):
        add_medium(project, "film.mp4", kind="sound")
    with pytest.raises(MediaError, match="8 pictures; an item has 6"):
        add_medium(project, "frames", kind="images")
    with pytest.raises(UsageError, match="1 to 6"):
        new_item(project, [], kind="open", form="mmvu", author=None, quota=0)
    row = add_medium(project, "frames", kind="frames")
    assert row.n_frames == 8
    assert as_media([row], project)[0].kind == "frames"
    assert add_medium(project, "frames", kind="frames").pk == row.pk
    rows = [add_medium(project, "plates/00.png", kind="image")]
    media = as_media(rows, project)
    (tmp_path / "plates" / "00.png").unlink()
    assert shapes_of(rows, media, project)[0].width_px is None
    shown = shown_media(rows, project)
    assert pictured(shown, shapes_of(rows, media, project), Wording(evidence=(Mark(text="all"),))) == ()
    row = add_medium(project, "film.mp4", kind="video")
    (tmp_path / "film.mp4").unlink()
    shown = shown_media([row], project)
    assert (shown[0].token, "is not in a media folder" in shown[0].why) == ("", True)
