"""The addresses of media as a view answers them, for whoever is let in."""

import json

import pytest

from vidence.studio.media import FileState, desk, token_of
from vidence.studio.pages.media import ranged
from videos.stamped import write


@pytest.fixture
def film(solo, tmp_path):
    """The address of a medium of an opened item, and a browser that was let in."""
    path = write(tmp_path / "film.mp4", numbers=range(6))
    yield f"/media/{token_of(path, roots=[tmp_path])}", solo.signed_in()
    desk().renditions.close()


def test_media_are_told_with_their_head_and_pictures_made_as_asked(film, solo):
    address, client = film
    told = json.loads(client.get(f"{address}/frames.json").content)
    assert (told["kind"], told["plays"], told["table"]["n_frames"]) == ("video", True, 6)
    head = client.head(f"{address}/file", headers={"range": "bytes=0-3"})
    assert (head.status_code, head["content-length"]) == (206, "4")
    assert json.loads(client.get(f"{address}/copy.json").content)["state"] == "not-needed"
    _, client = film
    answer = client.get("/media/another/file")
    assert answer.status_code == 404
    assert json.loads(answer.content) == {"error": "there is no such medium here"}
    address, client = film
    still = client.get(f"{address}/still/2.jpg", {"size": "long:64", "quality": "70"})
    assert (still.status_code, still["content-type"]) == (200, "image/jpeg")
    again = client.get(
        f"{address}/still/2.jpg",
        {"size": "long:64", "quality": "70"},
        headers={"if-none-match": still["etag"]},
    )
    assert again.status_code == 304
    assert client.get(f"{address}/still/2.jpg", {"format": "png"})["content-type"] == "image/png"
    assert client.get(f"{address}/strip.jpg", {"n": "2"}).status_code == 200
    for wrong in ({"size": "huge"}, {"quality": "-1"}, {"format": "svg"}):
        assert client.get(f"{address}/still/2.jpg", wrong).status_code == 400
    assert client.get(f"{address}/copy/file").status_code == 404
    assert client.get(f"{address}/copy/frames.json").status_code == 404
    address, _ = film
    for rest in PLACES:
        assert solo.client().get(f"{address}/{rest}").status_code in {302, 403}


PACKED = {"accept-encoding": "gzip"}
PLACES = ("file", "frames.json", "still/0.jpg", "strip.jpg", "copy.json", "copy/file", "copy/frames.json")


def test_what_is_of_another_project_is_as_if_it_were_not_there(team, tmp_path):
    path = write(tmp_path / "film.mp4", numbers=range(6))
    for name, slug in (("Ann", "films"), ("Ben", "others")):
        team.project(slug)
        team.user(name, "author", project=slug)
    team.user("Olga", "operator")
    mine = token_of(path, roots=[tmp_path], project="films")
    assert mine != token_of(path, roots=[tmp_path], project="others")
    try:
        for name, status in (("Ann", 200), ("Olga", 200), ("Ben", 404)):
            client = team.signed_in(name)
            assert client.get(f"/media/{mine}/frames.json", headers=PACKED).status_code == status, name
        for rest in PLACES:
            found, absent = (client.get(f"/media/{token}/{rest}") for token in (mine, "a" * 32))
            assert (found.status_code, found.content) == (absent.status_code, absent.content), rest
    finally:
        desk().renditions.close()


@pytest.mark.parametrize(
    ("said", "status", "length"),
    [
        ({}, 200, "9"),
        ({"range": "bytes=2-3"}, 206, "2"),
        ({"range": "bytes=2-3", "if-range": '"tag"'}, 206, "2"),
        ({"range": "bytes=2-3", "if-range": '"old"'}, 200, "9"),
        ({"range": "bytes=-3"}, 206, "3"),
        ({"range": "bytes=0-99999999"}, 206, "9"),
        *(
            ({"range": one}, 200, "9")
            for one in ("bytes=a-b", "lines=0-5", "bytes=0-1,5-9", f"bytes={'9' * 5000}-", "bytes=-")
        ),
        *(({"range": one}, 416, None) for one in ("bytes=9-", "bytes=99999999-", "bytes=9-3")),
        ({"if-none-match": '"tag"'}, 304, None),
    ],
)
def test_the_head_says_what_will_follow(solo, tmp_path, said, status, length):
    from django.test import AsyncRequestFactory

    state = FileState(path=tmp_path / "a", size=9, etag='"tag"', changed="", media_type="video/mp4")
    request = AsyncRequestFactory().get("/", headers=said)
    answer = ranged(request, state)
    assert (answer.status_code, answer.get("Content-Length")) == (status, length)
    assert ("vidence.promised" in request.scope) == (status in {200, 206})
