"""An address that changes too much is told when to come again; others are answered meanwhile."""

from uuid import UUID

import pytest

from servers.studio import PASSWORD, studio
from vidence.studio.middleware import count, left_s


@pytest.fixture
def flooded(tmp_path):
    with studio("team", tmp_path, most_changes_a_minute=4) as made:
        made.project("films")
        made.user("Ann", "author", "operator", project="films")
        yield made


@pytest.mark.parametrize(
    ("address", "sent"),
    [
        ("/sign-in", {"username": "Ann", "password": PASSWORD}),
        ("/projects/films/guidelines", {"act": "add", "source": "x"}),
        (f"/projects/films/items/{UUID(int=7)}/edit", {"question": "x", "action": "submit"}),
    ],
)
def test_an_address_that_sends_too_much_waits_and_another_does_not(flooded, address, sent):
    found = [flooded.client().post(address, sent) for _ in range(5)]
    assert [one.status_code == 429 for one in found] == [False] * 4 + [True]
    assert found[-1]["Retry-After"] == "60"
    assert b"Nothing was saved" in found[-1].content
    assert "default-src 'none'" in found[-1]["Content-Security-Policy"]
    assert flooded.client().get("/sign-in").status_code == 200
    assert flooded.client(REMOTE_ADDR="198.51.100.7").post(address, sent).status_code != 429
    flooded.clock.move(60)
    assert flooded.client().post(address, sent).status_code != 429


def test_events_are_counted_by_name_in_a_window(team):
    assert [count("a", window_s=60) for _ in range(3)] == [1, 2, 3]
    assert (count("b", window_s=60), count("a", window_s=90), count("a", window_s=60, by=0)) == (1, 1, 3)
    team.clock.move(20)
    assert (count("a", window_s=60), left_s(60)) == (4, 40)
    team.clock.move(40)
    assert (count("a", window_s=60), left_s(60)) == (1, 60)
