"""The addresses of media as a view answers them, for whoever is let in."""

import json

import pytest

from vidence.studio.media import desk, token_of
from videos.stamped import write


@pytest.fixture
def film(solo, tmp_path):
    """The address of a medium of an opened item, and a browser that was let in."""
    path = write(tmp_path / "film.mp4", numbers=range(6))
    yield f"/media/{token_of(path, roots=[tmp_path])}", solo.signed_in()
    desk().renditions.close()


def test_a_medium_is_told_with_the_head_of_its_bytes(film):
    address, client = film
    told = json.loads(client.get(f"{address}/frames.json").content)
    assert (told["kind"], told["plays"], told["table"]["n_frames"]) == ("video", True, 6)
    head = client.head(f"{address}/file", headers={"range": "bytes=0-3"})
    assert (head.status_code, head["content-length"]) == (206, "4")
    assert json.loads(client.get(f"{address}/copy.json").content)["state"] == "not-needed"


def test_nobody_else_is_shown_anything(film, solo):
    address, _ = film
    for rest in (
        "file",
        "frames.json",
        "still/0.jpg",
        "strip.jpg",
        "copy.json",
        "copy/file",
        "copy/frames.json",
    ):
        assert solo.client().get(f"{address}/{rest}").status_code in {302, 403}


def test_another_token_has_nothing(film):
    _, client = film
    answer = client.get("/media/another/file")
    assert answer.status_code == 404
    assert json.loads(answer.content) == {"error": "there is no such medium here"}
