"""Decisions that are held: undone in time, taken behind it, once, and never lost."""

import json
import threading

import pytest

from servers.studio import studio
from vidence.studio import undo
from vidence.studio.access import Person
from vidence.studio.projects import add_items
from vidence.studio.records.items import ItemRow, TransitionRow
from vidence.studio.records.work import DraftRow
from vidence.studio.reviewing import expire
from vidence.studio.rules.review_steps import FilledForm
from vidence.studio.workflow import Act, RecordedAct, Refused, act

WORDS = {"question": "Which cup?", "choices": ["red", "blue"], "answer": "A"}
RULES = """title = "One look"
returns = 1
[[stages]]
role = "reviewer"
[[stages.checks]]
id = "unique"
words = "One answer is right."
"""
GOOD = FilledForm(checks={"unique": "yes"})


@pytest.fixture
def place(tmp_path):
    with studio("team", tmp_path / "team", undo_s=10) as team:
        path = tmp_path / "one.toml"
        path.write_text(RULES)
        add_items(team.project("films", str(path)), ["q1"], kinds={})
        yield Place(team)


class Place:
    def __init__(self, team):
        self.team = team
        act(self.item, Act(kind="submit", role="author", by="ann", content=WORDS))
        self.name = team.user("Bob", "reviewer", project="films").pseudonym
        self.bob = team.signed_in("Bob")
        self.bob.post(f"{self.base}/claim")

    @property
    def item(self):
        return ItemRow.objects.select_related("project__protocol", "author", "current").get(item_id="q1")

    @property
    def base(self):
        return f"/projects/films/items/{self.item.public}"

    @property
    def page(self):
        return self.bob.get(f"{self.base}/review").content.decode()

    def send(self, kind, **more):
        said = {"act": kind, "check:unique": "yes" if kind == "accept" else "no", "message": "so it is"}
        return self.bob.post(f"{self.base}/review", {**said, **more})

    def take(self, after_s=10):
        self.team.clock.move(after_s)
        return undo.take_due()


def test_a_decision_is_taken_when_its_time_has_come_and_not_before(place):
    before = TransitionRow.objects.count()
    assert place.send("accept").status_code == 302
    assert "Accepted in 10 s" in place.page
    assert place.take(9) == 0
    assert place.item.state == "in-review"
    assert "Accepted in 1 s" in place.page
    assert place.take(1) == 1
    assert place.take() == 0
    assert place.item.state == "accepted"
    assert TransitionRow.objects.count() == before + 1
    assert "You have decided: accept." in place.page


@pytest.mark.parametrize("kind", ["accept", "return", "reject"])
def test_what_is_undone_in_time_was_never_recorded(place, kind):
    before = TransitionRow.objects.count()
    hidden = {"version": "0", "request": "one", "wording": place.item.current.sha256}
    place.send(kind, **hidden)
    assert place.send("undo").status_code == 302
    assert place.take() == 0
    assert place.item.state == "in-review"
    assert TransitionRow.objects.count() == before
    assert "so it is</textarea>" in place.page
    late = place.send("undo")
    assert late.status_code == 409
    assert "cannot be taken back any more" in late.content.decode()


def test_the_same_form_twice_is_one_decision_and_another_one_is_refused(place):
    place.send("accept")
    assert place.send("accept").status_code == 302
    other = place.send("reject")
    assert other.status_code == 409
    assert "undo that first" in other.content.decode()
    assert place.take() == 1
    assert place.item.state == "accepted"


def test_nothing_else_is_done_while_a_decision_waits(place):
    place.send("accept")
    for said in ({"act": "say", "words": "wait"}, {"act": "save"}, {"act": "solve", "answer": "red"}):
        assert place.bob.post(f"{place.base}/review", said).status_code == 409
    saved = place.bob.post(f"{place.base}/review", {"message": "typed on"}, HTTP_ACCEPT="application/json")
    assert (saved.status_code, json.loads(saved.content)["closed"]) == (409, True)
    assert place.bob.get(f"{place.base}/review/edit").status_code == 409
    given_back = place.bob.post(f"{place.base}/release")
    assert given_back.status_code == 409
    assert "undo that first" in given_back.content.decode()
    assert place.take() == 1


def test_others_are_told_nothing_while_it_waits(place):
    place.send("reject", message="THE-MESSAGE")
    place.team.user("Olga", "operator", project="films")
    olga = place.team.signed_in("Olga")
    assert "THE-MESSAGE" not in olga.get(f"{place.base}/").content.decode()
    assert "Decided just now" not in olga.get("/work").content.decode()
    place.take()
    assert "THE-MESSAGE" in olga.get(f"{place.base}/").content.decode()


def test_it_is_refused_at_once_where_the_rules_refuse_it(place):
    assert place.send("accept", **{"check:unique": "no"}).status_code == 409
    assert not DraftRow.objects.filter(stage="held").exists()


def test_a_message_of_another_meanwhile_does_not_undo_it_and_a_new_wording_does(place):
    place.send("accept")
    act(place.item, Act(kind="say", role="author", by="ann", message="wait"))
    assert place.take() == 1
    assert place.item.state == "accepted"


def test_what_cannot_be_taken_any_more_says_so_until_it_is_put_away(place):
    hidden = {"version": "0", "request": "one", "wording": place.item.current.sha256}
    place.send("accept", **hidden)
    operator = Person(name="olga", shown="Olga", roles={"": frozenset({"operator"})})
    assert isinstance(expire(place.item, operator, place.name), RecordedAct)
    assert place.take() == 0
    work = place.bob.get("/work").content.decode()
    assert "your decision (accept) was not taken: you have not claimed it" in work
    place.bob.post(f"{place.base}/claim")
    assert "so it is</textarea>" in place.page
    assert place.send("accept", version="1", request="two", wording=hidden["wording"]).status_code == 302
    assert place.take() == 1
    assert "was not taken" not in place.bob.get("/work").content.decode()


def test_one_that_was_not_taken_can_be_put_away(place):
    place.send("accept")
    DraftRow.objects.filter(stage="held").update(based_on="0" * 64)
    assert place.take() == 0
    assert "was not taken: it was worded anew" in place.page
    assert "Field by field" in place.page
    place.send("undo")
    assert "was not taken" not in place.page


def test_the_next_item_says_that_the_last_one_can_be_taken_back(place):
    add_items(place.item.project, ["q2"], kinds={})
    second = ItemRow.objects.get(item_id="q2")
    act(second, Act(kind="submit", role="author", by="ann", content=WORDS))
    done = place.send("accept", next="1")
    assert str(second.public) in done.url
    page = place.bob.get(done.url).content.decode()
    assert "Field by field" in page
    assert "Accepted in 10 s" in page


def test_one_who_works_alone_undoes_as_well(tmp_path):
    path = tmp_path / "one.toml"
    path.write_text(RULES)
    with studio("solo", tmp_path / "solo", undo_s=10) as solo:
        add_items(solo.project("films", str(path)), ["q1"], kinds={})
        item = ItemRow.objects.get()
        act(item, Act(kind="submit", role="author", by="ann", content=WORDS))
        me = solo.signed_in()
        base = f"/projects/films/items/{item.public}"
        me.post(f"{base}/claim")
        assert me.post(f"{base}/review", {"act": "accept", "check:unique": "yes"}).status_code == 302
        solo.clock.move(10)
        assert undo.take_due() == 1
        item.refresh_from_db()
        assert item.state == "accepted"


def test_without_a_time_it_is_taken_at_once(team, tmp_path):
    path = tmp_path / "one.toml"
    path.write_text(RULES)
    add_items(team.project("films", str(path)), ["q1"], kinds={})
    place = Place(team)
    person = Person(name=place.name, shown="Bob", roles={"films": frozenset({"reviewer"})})
    assert isinstance(
        undo.hold(place.item, person, "accept", given=FilledForm(), minutes=1, seen=None), Refused
    )
    assert isinstance(undo.hold(place.item, person, "accept", given=GOOD, minutes=1, seen=None), RecordedAct)
    assert undo.held_by(person) == ()
    assert place.item.state == "accepted"


def test_the_thread_goes_on_where_a_look_fails(monkeypatch, caplog):
    looked, n = threading.Event(), iter(range(10))

    def take_due():
        if next(n) == 0:
            raise RuntimeError("the disk is full")
        looked.set()

    monkeypatch.setattr(undo, "take_due", take_due)
    end = undo.start_ticking(0.01)
    assert looked.wait(5)
    end()
    assert "held decisions could not be taken" in caplog.text
