"""The page of one's own keys, and what every page tells its scripts of them."""

import html
import json
import re

import pytest

from servers.studio import PASSWORD
from vidence.studio.records.people import UserRow


def told(client):
    """What a page tells its scripts."""
    found = re.search(r'data-keys="([^"]*)"', client.get("/").content.decode())
    return None if found is None else json.loads(html.unescape(found[1]))


@pytest.fixture
def ann(team):
    team.project("films")
    team.user("Ann", "author")
    return team.signed_in("Ann")


def test_every_page_tells_the_keys_of_whoever_looks(team, ann):
    team.user("Bob", "author")
    assert told(ann) is None
    done = ann.post("/keys", {"key:play": "z", "key:next": ""})
    assert (done.status_code, done.url) == (302, "/keys?kept=1")
    assert told(ann) == {"off": False, "own": {"k": "z", "n": ""}}
    assert told(team.signed_in("Bob")) is None
    assert UserRow.objects.get(name="Ann").settings["keys"]["own"] == {"play": "z", "next": ""}
    page = ann.get("/keys?kept=1").content.decode()
    assert 'name="key:play" value="z"' in page
    assert "Kept." in page
    shown = ann.get("/keys/list").content.decode()
    assert "<kbd>z</kbd>" in shown
    assert "<kbd>k</kbd>" not in shown


def test_they_stay_over_a_new_session_and_a_sign_in_is_not_lost(team, ann):
    ann.post("/keys", {"key:play": "z"})
    assert ann.get("/keys").status_code == 200
    again = team.client()
    again.post("/sign-in", {"name": "Ann", "password": PASSWORD})
    assert told(again)["own"] == {"k": "z"}


def test_all_are_switched_off_and_on(ann):
    ann.post("/keys", {"key:play": "z", "off": "1"})
    assert told(ann)["off"]
    assert "switched off" in ann.get("/keys/list").content.decode()
    page = ann.get("/keys").content.decode()
    assert re.search(r'name="off" value="1" checked', page)
    assert 'name="key:play" value="z"' in page
    ann.post("/keys", {"key:play": "z"})
    assert told(ann) == {"off": False, "own": {"k": "z"}}


def test_one_is_reset_and_all_are(ann):
    ann.post("/keys", {"key:play": "z", "key:next": "y"})
    ann.post("/keys", {"key:play": "z", "key:next": "y", "reset": "play"})
    assert told(ann)["own"] == {"n": "y"}
    ann.post("/keys", {"key:play": "z", "off": "1", "reset": "all"})
    assert told(ann) is None


def test_what_can_be_no_key_is_said_beside_it_and_nothing_is_kept(ann):
    refused = ann.post("/keys", {"key:play": "j", "key:next": "<b>", "key:split": "y"})
    page = refused.content.decode()
    assert refused.status_code == 400
    assert "j is the key of: five seconds back" in page
    assert 'value="&lt;b&gt;"' in page
    assert 'name="key:split" value="y"' in page
    assert 'href="#key-play"' in page
    assert told(ann) is None


def test_one_who_works_alone_has_keys_and_one_who_only_looks_has_the_usual(solo):
    me = solo.signed_in()
    me.post("/keys", {"key:play": "z"})
    assert told(me)["own"] == {"k": "z"}


def test_where_nothing_is_written_the_keys_are_the_usual(view):
    me = view.signed_in()
    assert me.post("/keys", {"key:play": "z"}).status_code == 404
    assert "<kbd>k</kbd>" in me.get("/keys/list").content.decode()
    assert "Keep these keys" not in me.get("/keys").content.decode()
