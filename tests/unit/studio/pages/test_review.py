"""The page of a look: what it holds at each step, what it refuses, and why buttons are closed."""

import json
import re

import pytest

from conftest import IS_THOROUGH
from vidence.studio.pages import review
from vidence.studio.projects import add_items
from vidence.studio.records.items import ItemRow, ReviewRow
from vidence.studio.workflow import Act, act

LONG = "The cup is never seen; say which one is meant, and when it can be seen."
WORDS = {
    "media": [{"path": "a.mp4"}],
    "question": "Which <b>cup</b> {{7*7}}?",
    "choices": ["red", "blue"],
    "answer": "THE-KEY",
    "rationale": "THE-REASON",
    "evidence": [{"kind": "referred", "start_s": 1.0, "end_s": 2.0, "note": "THE-EVIDENCE"}],
}
READABLE = {**WORDS, "item_id": "q1", "answer": "A"}
"""A question of our format, whose words pages with its history show, too."""
PEOPLE = (("Bob", "reviewer"), ("Cid", "reviewer"), ("Mia", "meta"))


class Place:
    def __init__(self, team, protocol, *, people=PEOPLE, words=WORDS):
        self.team = team
        self.project = team.project("films", protocol)
        add_items(self.project, ["q1"], kinds={})
        self.written = act(self.item, Act(kind="submit", role="author", by="ann", content=words))
        for name, role in people:
            team.user(name, role, project="films")

    @property
    def item(self):
        return ItemRow.objects.select_related("project").get(item_id="q1")

    @property
    def base(self):
        return f"/projects/films/items/{self.item.public}"

    def claim(self, name):
        client = self.team.signed_in(name)
        assert client.post(f"{self.base}/claim").status_code == 302
        return client

    def form(self, client, **more):
        """What a browser would send of the form: every choice of the good kind."""
        page = client.get(f"{self.base}/review").content.decode()
        names = dict.fromkeys(re.findall(r'type="radio" name="([^"]+)" value="(?:right|yes|5|3)"', page))
        said = {name: "yes" for name in names}
        said |= {name: "right" for name in names if name.startswith("field:")}
        said |= {name: "5" for name in names if name.startswith("score:")}
        hidden = dict(re.findall(r'type="hidden" name="(opened|seen)" value="([^"]+)"', page))
        return {**said, **hidden, **more}


@pytest.fixture
def place(team):
    return lambda protocol: Place(team, protocol)


def test_acts_say_the_time_worked_where_it_was_counted(team, place):
    from django.test import RequestFactory

    from vidence.studio.pages.review import _opened

    for said in ("", "x", "2026-11-23T09:00:00+00:00"):
        assert _opened(RequestFactory().post("/", {"opened": said})) is None
    films = place("perceptioncomp")
    bob = films.claim("Bob")

    def beats(n):
        for _ in range(n):
            bob.post("/beat", {"path": f"{films.base}/review"})
            films.team.clock.move(15)

    def opened():
        page = bob.get(f"{films.base}/review").content.decode()
        return re.search(r'name="opened" value="([^"]+)"', page)[1]

    def minutes():
        return json.loads(films.item.transitions.order_by("-number").first().event)["minutes"]

    stamp = opened()
    beats(5)
    films.team.clock.move(3600)  # away; the page stays open
    bob.post(f"{films.base}/review", {"act": "solve", "answer": "red", "opened": stamp})
    assert minutes() == 1.0
    beats(3)
    sent = films.form(bob, act="accept")
    sent |= {"seen": films.item.lock_version, "score:level": "3"}
    refused = bob.post(f"{films.base}/review", sent)
    assert "no witness was given" in refused.content.decode()
    sent |= {"witnesses": "second: at 41 s a red cup", "score:level": ""}
    n_acts = films.item.transitions.count()
    assert "has changed since" in bob.post(f"{films.base}/review", sent | {"seen": "0"}).content.decode()
    assert bob.post(f"{films.base}/review", sent).status_code == 409
    assert films.item.transitions.count() == n_acts, "a witness goes with its decision, or not at all"
    sent |= {"score:level": "3"}
    done = bob.post(f"{films.base}/review", sent)
    assert done.status_code == 302, re.findall(r'role="alert">([^<]*)', done.content.decode())
    assert minutes() == 0.5


def test_media_in_a_folder_of_the_studio_are_shown(place, tmp_path, monkeypatch):
    films = place("mmvu")
    bob = films.claim("Bob")
    page = bob.get(f"{films.base}/review").content.decode()
    assert "is not in the media folder of the project" in page
    (tmp_path / "second").mkdir()
    (tmp_path / "second/a.mp4").touch()
    folders = (tmp_path / "first", tmp_path / "second")
    monkeypatch.setattr("vidence.studio.pages.review.roots_of", lambda _: folders)
    page = bob.get(f"{films.base}/review").content.decode()
    assert 'data-media="/media/' in page
    assert "is not in the media folder of the project" not in page


def test_what_is_refused_or_edited_keeps_what_was_written(place):
    films = place("mmvu")
    bob = films.claim("Bob")
    assert bob.post(f"{films.base}/review", {"act": "king"}).status_code == 409
    page = bob.get(f"{films.base}/review").content.decode()
    assert "is not in the media folder of the project" in page
    assert "/media/" not in page
    assert all(one.callback.roles for one in review.urls)
    act(films.item, Act(kind="say", role="author", by="ann", message="FROM-THE-AUTHOR"))
    bob.post(f"{films.base}/review", {"act": "say", "words": "TO-THE-AUTHOR"})
    page = bob.get(f"{films.base}/review").content.decode()
    assert "FROM-THE-AUTHOR" in page
    assert "TO-THE-AUTHOR" in page
    assert "ann" not in re.sub(r"<[^>]+>", "", page[page.index("Messages") :])
    sent = films.form(bob, act="return", message="too short") | {
        "check:question": "no",
        "note:question": "NOTE",
    }
    refused = bob.post(f"{films.base}/review", sent)
    page = refused.content.decode()
    assert refused.status_code == 409
    assert "expected 40 or more" in page
    assert "too short</textarea>" in page
    assert 'value="NOTE"' in page
    assert re.search(r'name="check:question" value="no"[^>]* checked', page)
    page = bob.get(f"{films.base}/review/edit").content.decode()
    assert "becomes revision 2" in page
    sent = dict(re.findall(r'type="hidden" name="(seen)" value="([^"]+)"', page))
    bad = bob.post(f"{films.base}/review/edit", {**sent, "text:evidence": "{"})
    assert bad.status_code == 400
    same = bob.post(f"{films.base}/review/edit", sent)
    assert "nothing in it is changed" in same.content.decode()
    done = bob.post(
        f"{films.base}/review/edit", {**sent, "text:choices": "red\r\ngreen\r\n", "text:answer": "A"}
    )
    assert done.status_code == 302
    films.item.refresh_from_db()
    assert films.item.current.n == 2
    assert '"choices":["red","green"]' in films.item.current.content
    sent = films.form(bob, act="accept", message="kept")
    act(films.item, Act(kind="say", role="author", by="ann", message="wait"))
    refused = bob.post(f"{films.base}/review", sent)
    assert refused.status_code == 409
    assert "it has changed since it was shown" in refused.content.decode()
    assert "kept</textarea>" in refused.content.decode()
    assert bob.post(f"{films.base}/review", films.form(bob, act="accept")).status_code == 302


TWO = """title = "Two look"
returns = 1
[[stages]]
role = "reviewer"
looks = 2
solves = true
[[stages.checks]]
id = "unique"
words = "One answer is right."
"""


ACTS = ("accept", "return", "reject", "") if IS_THOROUGH else ("accept", "")


def crawled(films, client):
    """All that a browser gets from every address, headers included, and from forms that are refused."""
    from vidence.studio.access import rules
    from vidence.studio.urls import urlpatterns

    known = {"project": "films", "item": films.item.public}
    found = []
    for where, one in rules(urlpatterns):
        parts = re.findall(r"<(?:\w+:)?(\w+)>", where)
        if not set(parts) <= set(known):
            continue
        address = "/" + re.sub(r"<(?:\w+:)?(\w+)>", lambda part: str(known[part[1]]), where)
        if one.name in ("enter", "sign-out"):
            continue
        found.append(client.get(address))
        if "POST" in one.callback.methods and one.name in ("review", "review-edit"):
            found += [client.post(address, {"act": act}) for act in ACTS]
    texts = [f"{one.headers} {one.content.decode()}" for one in found]
    assert len(texts) > 12
    return "\n".join(texts)


def named_in(text, *words):
    return [word for word in words if word in text]


def test_nobody_is_told_what_an_item_says_before_they_have_claimed_it(place):
    films = place("perceptioncomp")
    films.team.user("Olga", "operator", project="films")
    films.team.user("Rex", "researcher", project="films")
    for name in ("Bob", "Mia", "Olga", "Rex"):
        seen = crawled(films, films.team.signed_in(name))
        assert named_in(seen, "THE-KEY", "THE-REASON", "THE-EVIDENCE") == [], name
        words = re.sub(r"[\w:-]{40,}", "", seen)  # letters of a token are drawn, and may spell anything
        assert "cup" not in words or name == "Olga"  # in an example of the protocol, which operators read


def test_the_key_is_nowhere_before_the_own_answer(place):
    films = place("perceptioncomp")
    act(films.item, Act(kind="say", role="author", by="ann", message="THE-HINT"))
    bob = films.claim("Bob")
    opened = re.search(r'name="opened" value="([^"]+)"', bob.get(f"{films.base}/review").content.decode())[1]
    seen = crawled(films, bob)
    assert "cup" in seen
    assert named_in(seen, "THE-KEY", "THE-REASON", "THE-EVIDENCE", "THE-HINT") == []
    refused = bob.post(f"{films.base}/review", {"act": "accept", "seen": films.item.lock_version})
    assert (refused.status_code, "THE-" in refused.content.decode()) == (409, False)
    assert bob.get(f"{films.base}/review/edit").status_code == 409
    films.team.clock.move(90)
    bob.post(f"{films.base}/review", {"act": "solve", "answer": "red", "opened": opened})
    assert ReviewRow.objects.get().answer == "red"
    page = bob.get(f"{films.base}/review").content.decode()
    assert all(word in page for word in ("THE-KEY", "THE-REASON", "THE-EVIDENCE"))
    assert '"minutes":1.5' in films.item.transitions.order_by("-number").first().event


def test_the_answer_of_another_is_nowhere_before_the_own_decision(team, tmp_path):
    path = tmp_path / "two.toml"
    path.write_text(TWO)
    films = Place(team, str(path))
    team.user("Eve", "reviewer", project="films")
    bob = films.claim("Bob")
    bob.post(f"{films.base}/review", {"act": "solve", "answer": "ANSWER-OF-BOB"})
    said = {"act": "reject", "check:unique": "no", "message": "WORDS-OF-BOB"}
    assert bob.post(f"{films.base}/review", said).status_code == 302
    cid = films.claim("Cid")
    hidden = ("ANSWER-OF-BOB", "WORDS-OF-BOB", "<td>reject</td>")
    assert named_in(crawled(films, cid), *hidden) == []
    cid.post(f"{films.base}/review", {"act": "solve", "answer": "ANSWER-OF-CID"})
    assert named_in(crawled(films, cid), *hidden) == []
    sent = {"act": "accept", "check:unique": "yes", "message": "WORDS-OF-CID"}
    assert cid.post(f"{films.base}/review", sent).status_code == 302
    assert "<td>reject</td>" in cid.get(films.base + "/").content.decode()
    eve = films.claim("Eve")
    assert named_in(crawled(films, eve), *hidden, "ANSWER-OF-CID", "WORDS-OF-CID", "THE-KEY") == []
    eve.post(f"{films.base}/review", {"act": "solve", "answer": "mine"})
    page = eve.get(f"{films.base}/review").content.decode()
    assert named_in(page, "ANSWER-OF-BOB", "WORDS-OF-BOB", "ANSWER-OF-CID", "WORDS-OF-CID") != []
    assert "Two answers" in page
    assert page.count('class="differs"') == 4
    sent = {"act": "reject", "check:unique": "no", "message": "Both fit.", "source": "own look"}
    assert eve.post(f"{films.base}/review", sent).status_code == 302
    assert films.item.state == "rejected"


def test_counts_of_others_are_nowhere_before_the_own(place):
    films = place("humanpcr-r")
    bob = films.claim("Bob")
    assert named_in(crawled(films, bob), "THE-EVIDENCE", "THE-REASON") == []
    bob.post(
        f"{films.base}/review", {"act": "count", "check:evidence": "7710017", "check:proactive": "7720017"}
    )
    bob.post(f"{films.base}/review", films.form(bob, act="accept", message="THE-REVIEW"))
    mia = films.claim("Mia")
    assert (
        named_in(crawled(films, mia), "THE-EVIDENCE", "THE-REASON", "THE-REVIEW", "7710017", "7720017") == []
    )
    mia.post(f"{films.base}/review", {"act": "count", "check:evidence": "2", "check:proactive": "1"})
    seen = crawled(films, mia)
    assert named_in(seen, "THE-EVIDENCE", "THE-REVIEW", "771") == ["THE-EVIDENCE", "THE-REVIEW", "771"]


def test_an_operator_who_looks_is_told_no_more_than_others_who_look(team, tmp_path):
    path = tmp_path / "two.toml"
    path.write_text(TWO)
    films = Place(team, str(path), words=READABLE)
    team.user("Uma", "reviewer", "operator", "author", "researcher", project="films")
    bob = films.claim("Bob")
    bob.post(f"{films.base}/review", {"act": "solve", "answer": "ANSWER-OF-BOB"})
    bob.post(f"{films.base}/review", {"act": "say", "words": "SAID-BY-BOB"})
    said = {"act": "reject", "check:unique": "no", "message": "WORDS-OF-BOB"}
    assert bob.post(f"{films.base}/review", said).status_code == 302
    of_bob = ("ANSWER-OF-BOB", "WORDS-OF-BOB", "SAID-BY-BOB", "<td>reject</td>")
    key = ("THE-REASON", "THE-EVIDENCE")
    uma = team.signed_in("Uma")
    assert named_in(crawled(films, uma), *of_bob, *key) == []
    films.claim("Uma")
    assert named_in(crawled(films, uma), *of_bob, *key) == []
    uma.post(f"{films.base}/review", {"act": "solve", "answer": "mine"})
    seen = crawled(films, uma)
    assert named_in(seen, *of_bob) == []
    assert named_in(seen, *key) == list(key)
    sent = {"act": "accept", "check:unique": "yes"}
    assert uma.post(f"{films.base}/review", sent).status_code == 302
    history = uma.get(f"{films.base}/").content.decode()
    assert named_in(history, "WORDS-OF-BOB", "SAID-BY-BOB", "<td>reject</td>") != []


def test_one_who_works_alone_solves_what_others_wrote_before_the_key_is_shown(solo):
    films = Place(solo, "perceptioncomp", people=(), words=READABLE)
    client = solo.signed_in()
    key = ("THE-REASON", "THE-EVIDENCE")
    assert named_in(crawled(films, client), *key) == []
    assert client.post(f"{films.base}/claim").status_code == 302
    assert named_in(crawled(films, client), *key) == []
    client.post(f"{films.base}/review", {"act": "solve", "answer": "red"})
    assert "THE-EVIDENCE" in client.get(f"{films.base}/").content.decode()


def test_an_operator_of_the_second_stage_counts_before_the_first_is_shown(team):
    films = Place(team, "humanpcr-r", words=READABLE)
    team.user("Uma", "meta", "operator", project="films")
    bob = films.claim("Bob")
    bob.post(
        f"{films.base}/review", {"act": "count", "check:evidence": "7710017", "check:proactive": "7720017"}
    )
    bob.post(f"{films.base}/review", films.form(bob, act="accept", message="THE-REVIEW"))
    hidden = ("THE-EVIDENCE", "THE-REASON", "THE-REVIEW", "<td>accept</td>", "771")
    uma = team.signed_in("Uma")
    assert named_in(uma.get(f"{films.base}/").content.decode(), *hidden) == []
    films.claim("Uma")
    assert named_in(uma.get(f"{films.base}/").content.decode(), *hidden) == []
    uma.post(f"{films.base}/review", {"act": "count", "check:evidence": "2", "check:proactive": "1"})
    assert "THE-EVIDENCE" in uma.get(f"{films.base}/").content.decode()
