"""A studio that was opened for one act: where a browser begins, and the button that ends it."""

import signal

import pytest

from servers.studio import TICKET, studio
from subjects.street_set import StreetSet
from vidence.errors import UsageError


@pytest.fixture(scope="module")
def street(tmp_path_factory):
    """A set that was made, of which eight questions are drawn."""
    street = StreetSet(tmp_path_factory.mktemp("street")).draw()
    street.config.write_text(street.config.read_text() + "\n[review]\n")
    street.make()
    return street


def opened(street, folder, first):
    return studio("solo", folder, paths=(street.config,), first=first)


def test_a_browser_begins_at_the_board_and_the_button_ends_the_studio(street, tmp_path, monkeypatch):
    ended = []
    monkeypatch.setattr(signal, "raise_signal", ended.append)
    with opened(street, tmp_path, "north/tracks") as tried:
        client = tried.client()
        at = client.get("/enter", {"ticket": TICKET}).headers["Location"]
        assert at.endswith("/north/tracks")
        assert "Done, go on" in client.get(at).content.decode()
        assert "The command in the terminal continues" in client.post("/done").content.decode()
    assert ended == [signal.SIGTERM]


def test_drawn_questions_are_taken_in_and_verdicts_written(street, tmp_path, monkeypatch):
    monkeypatch.setattr(signal, "raise_signal", lambda _: None)
    with opened(street, tmp_path, "/review") as tried:
        client = tried.signed_in()
        assert "Take the next" in client.get("/work").content.decode()
        at = client.post("/projects/set/next", {"role": "reviewer"}).headers["Location"]
        page = client.get(at).content.decode()
        token = page.partition('name="opened" value="')[2].partition('"')[0]
        assert client.post(at, {"opened": token, "act": "accept"}).status_code == 302
        client.post("/done")
    events = (street.folder / "review" / "reviews.jsonl").read_text()
    assert events.count('"accept"') == 1


def test_without_an_act_it_begins_at_the_start_and_has_no_button(street, tmp_path):
    with opened(street, tmp_path, "") as tried:
        client = tried.client()
        assert client.get("/enter", {"ticket": TICKET}).headers["Location"] == "/"
        assert client.post("/done").status_code == 404
        assert "Done, go on" not in client.get("/").content.decode()


def test_no_such_board_is_refused(street, tmp_path):
    from vidence.studio.pages.assisted import first_page

    with opened(street, tmp_path, "north/moon"), pytest.raises(UsageError, match="no such board"):
        first_page()
