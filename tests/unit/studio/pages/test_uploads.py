"""Uploads in pieces: what is there, wrong and lost pieces, what is refused, two senders, leftovers."""

import os
import shutil
from collections import namedtuple
from types import SimpleNamespace

import pytest
from PIL import Image

from vidence.studio.projects import add_project
from vidence.studio.records.items import MediumRow
from videos.stamped import write

JSON = {"accept": "application/json"}


@pytest.fixture
def place(team, tmp_path):
    """A project with an empty media folder, an author, and a film elsewhere."""
    folder = tmp_path / "media"
    folder.mkdir()
    add_project("films", "mmvu", media_root=str(folder))
    team.user("Ann", "author", project="films")
    film = write(tmp_path / "film.mp4", numbers=range(30)).read_bytes()
    return SimpleNamespace(folder=folder, film=film, ann=team.signed_in("Ann"))


def ask(client, name="film.mp4", *, size, project="films", **more):
    """How much of a file is there."""
    given = {"name": name, "size": size, "mark": "1", **more}
    return client.get(f"/projects/{project}/media/upload", given, headers=JSON)


def send(client, piece, name="film.mp4", *, at, size, project="films", **more):
    """Send a piece of it."""
    given = {"name": name, "size": size, "mark": "1", "at": at, **more}
    return client.post(
        f"/projects/{project}/media/upload",
        piece,
        content_type="application/octet-stream",
        query_params=given,
        headers=JSON,
    )


def leftovers(place):
    return sorted(one.name for one in place.folder.iterdir())


def test_a_film_in_pieces_is_registered_as_the_command_would(place):
    size = len(place.film)
    assert ask(place.ann, size=size).json() == {"there": 0}
    assert send(place.ann, place.film[:500], at=0, size=size).json() == {"there": 500}
    assert ask(place.ann, size=size).json() == {"there": 500}, "after a reload"
    assert [one[:1] for one in leftovers(place)] == ["."], "hidden until it is whole"
    lost = send(place.ann, place.film[900:1200], at=900, size=size)
    again = send(place.ann, place.film[:500], at=0, size=size)
    for answer in (lost, again, send(place.ann, b"", at="x", size=size)):
        assert (answer.status_code, answer.json()) == (409, {"there": 500})
    beyond = send(place.ann, place.film, at=500, size=size)
    assert (beyond.status_code, beyond.json()) == (409, {"there": 500})
    assert send(place.ann, place.film[500:], at=500, size=size).json() == {"there": size, "path": "film.mp4"}
    assert (place.folder / "film.mp4").read_bytes() == place.film
    row = MediumRow.objects.get()
    assert (row.path, row.kind, row.n_frames, len(row.sha256)) == ("film.mp4", "video", 30, 64)
    assert leftovers(place) == ["film.mp4"]
    for lost in (ask(place.ann, size=size), send(place.ann, b"", at=size, size=size)):
        assert lost.json() == {"there": size, "path": "film.mp4"}, "the last answer was lost"
    assert "already has a file" in ask(place.ann, size=size, mark="2").json()["words"], "another file"
    page = place.ann.get("/projects/films/media/").content.decode()
    assert "film.mp4" in page
    assert "All media are registered." in page


def test_a_picture_is_one_medium_and_a_whole_file_is_finished_by_an_empty_piece(place, tmp_path):
    Image.new("RGB", (32, 24)).save(tmp_path / "plate.png")
    data = (tmp_path / "plate.png").read_bytes()
    assert ask(place.ann, "plate.png", size=len(data)).json() == {"there": 0}
    from vidence.studio import uploads
    from vidence.studio.accounts import project_of

    project = project_of("films")
    kept = uploads.upload_of(project, "plate.png", size=len(data), mark="1", by="p001")
    assert uploads.append(kept, data, at=0), "the server is stopped before it registers the file"
    answer = send(place.ann, b"", "plate.png", at=len(data), size=len(data))
    assert answer.json()["path"] == "plate.png"
    assert MediumRow.objects.get().kind == "image"


def test_what_is_no_film_is_refused_with_the_reason_and_removed(place):
    for name in ("film.mp4", "plate.png"):
        answer = send(place.ann, b"no film at all", name, at=0, size=14)
        assert answer.status_code == 409
        assert name in answer.json()["words"]
    assert leftovers(place) == []
    assert not MediumRow.objects.exists()


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("", "without folders"),
        ("../film.mp4", "without folders"),
        ("a/film.mp4", "without folders"),
        ("a\\film.mp4", "without folders"),
        ("/etc/film.mp4", "without folders"),
        (".film.mp4", "without folders"),
        ("film\n.mp4", "without folders"),
        (f"{'ä' * 60}.mp4", "too long"),
        ("film.html", "a video or a picture"),
        ("film", "a video or a picture"),
    ],
)
def test_names_that_are_none_of_a_video_or_picture_are_refused(place, name, words):
    for answer in (ask(place.ann, name, size=5), send(place.ann, b"12345", name, at=0, size=5)):
        assert answer.status_code in (400, 404)
        assert words in answer.json()["words"]
    assert leftovers(place) == []


def test_a_taken_name_an_empty_file_and_a_full_disk_are_refused(place, monkeypatch):
    (place.folder / "there.mp4").write_bytes(b"")
    assert "already has a file" in ask(place.ann, "there.mp4", size=5).json()["words"]
    for size in ("0", "", "-5", "5" * 20, "many"):
        assert "is empty" in ask(place.ann, size=size).json()["words"]
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage(9**12, 0, 2**30 + 10))
    assert ask(place.ann, size=10).json() == {"there": 0}
    assert "room for 0.00 GB" in send(place.ann, b"1", at=0, size=11).json()["words"]
    assert leftovers(place) == ["there.mp4"]


def test_a_folder_that_cannot_be_written_and_one_that_is_not_known_are_named(place, team, monkeypatch):
    from pathlib import Path

    team.project("none")
    team.user("Olga", "operator")
    answer = ask(team.signed_in("Olga"), size=5, project="none")
    assert "--media-root" in answer.json()["words"]

    def refuse(self, *_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", refuse)
    answer = send(place.ann, b"12345", at=0, size=5)
    assert answer.status_code == 409
    assert "cannot write into" in answer.json()["words"]


def test_two_senders_of_a_name_are_not_mixed_and_the_first_one_keeps_it(place, team):
    size = len(place.film)
    team.user("Ben", "author", project="films")
    ben = team.signed_in("Ben")
    assert send(place.ann, place.film[:100], at=0, size=size).json() == {"there": 100}
    assert ask(ben, size=size).json() == {"there": 0}
    assert ask(place.ann, size=size, mark="2").json() == {"there": 0}, "the file was changed meanwhile"
    assert send(ben, place.film[:-1], at=0, size=size).json() == {"there": size - 1}
    assert send(place.ann, place.film[100:], at=100, size=size).json()["path"] == "film.mp4"
    assert "already has a file" in send(ben, place.film[-1:], at=size - 1, size=size).json()["words"]


def test_a_name_that_is_taken_while_the_last_piece_comes_is_not_written_over(place):
    from vidence.errors import UsageError
    from vidence.studio.accounts import project_of
    from vidence.studio.uploads import append, finish, upload_of

    project = project_of("films")
    both = [upload_of(project, "film.mp4", size=4, mark=mark, by="p001") for mark in "ab"]
    assert all(append(one, b"1234", at=0) for one in both)
    (place.folder / "film.mp4").write_bytes(b"another film")
    for one in both:
        with pytest.raises(UsageError, match="already has a file"):
            finish(one)
    assert leftovers(place) == ["film.mp4"]
    assert (place.folder / "film.mp4").read_bytes() == b"another film"


def test_uploads_that_were_given_up_are_removed_by_the_next_one(place, team):
    assert send(place.ann, b"1", at=0, size=9).status_code == 200
    (old,) = place.folder.iterdir()
    week_s = 7 * 24 * 3600
    for age_s, is_kept in ((week_s - 1, True), (week_s + 1, False)):
        os.utime(old, (0, team.clock().timestamp() - age_s))
        assert send(place.ann, b"1", f"other-{age_s}.mp4", at=0, size=9).status_code == 200
        assert old.exists() is is_kept


def test_no_one_else_uploads(place, team):
    for name, role, project in (("Rob", "reviewer", "films"), ("Zoe", "author", "others")):
        if project == "others":
            team.project("others")
        team.user(name, role, project=project)
        status = 403 if project == "films" else 404
        assert send(team.signed_in(name), b"1", at=0, size=9).status_code == status
    assert leftovers(place) == []
