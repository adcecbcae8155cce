"""Looks at items, under every protocol that vidence brings: claimed, solved, counted, returned, decided."""

from dataclasses import dataclass
from typing import Any

import pytest

from vidence.make.review.protocol import load_protocol
from vidence.make.review.recording import Share
from vidence.studio import reviewing
from vidence.studio.access import Person
from vidence.studio.projects import add_items
from vidence.studio.records.items import ItemRow, ReviewRow
from vidence.studio.records.work import AssignmentRow
from vidence.studio.rules.review_steps import RIGHT, WRONG, FilledForm
from vidence.studio.upkeep import verify
from vidence.studio.workflow import Act, RecordedAct, Refused, act, protocol_of, standing

LONG = "The cup is never seen; say which one is meant, and when it can be seen."
WORDS = {
    "item_id": "q1",
    "media": [{"path": "a.mp4"}],
    "question": "Which cup?",
    "choices": ["red", "blue"],
    "answer": "A",
    "rationale": "It is on the table.",
    "evidence": [{"kind": "referred", "start_s": 1.0, "end_s": 2.0, "note": "the cup"}],
    "knowledge": ["cups"],
    "tags": {"type": "causal"},
}


@dataclass
class Place:
    studio: Any
    project: Any
    people: dict[str, Person]

    @property
    def item(self):
        return ItemRow.objects.select_related("project", "author", "current").get(item_id="q1")

    def write(self, words=WORDS, kind="submit", origin="submit"):
        done = act(self.item, Act(kind=kind, role="author", by="ann", content=words, origin=origin))
        assert isinstance(done, RecordedAct), done

    def state(self):
        return standing(self.item, protocol_of(self.project))

    def begin(self, who):
        """Claim, and come to where a decision can be made."""
        person = self.people[who]
        assert isinstance(reviewing.claim(self.item, person), RecordedAct)
        look = self.look(who)
        if look.step == "solve":
            assert isinstance(reviewing.solve(self.item, person, "A", minutes=2.0), RecordedAct)
        if self.look(who).step == "count":
            counts = {f"check:{one.id}": "2" for one in look.stage.checks if one.kind == "count"}
            assert reviewing.count(self.item, person, counts) == ""

    def look(self, who):
        return reviewing.look_of(self.item, self.people[who], reviewing.reviews_of_item(self.item))

    def given(self, who, failed="", **more):
        look = self.look(who)
        checks = {one.id: one.options[0] if one.options else "yes" for one in look.stage.checks}
        checks = {name: said for name, said in checks.items() if name not in look.counted}
        if failed:
            checks[failed] = "no"
        said = {
            "fields": {one.name: RIGHT for one in look.lines if one.is_marked},
            "checks": checks,
            "scores": {one.id: one.high for one in look.stage.scores},
            "witnesses": "first: at 4 s a blue one" if look.stage.witnesses else "",
        }
        return FilledForm(**{**said, **more})

    def decide(self, who, kind, failed="", **more):
        given = self.given(who, failed, **more)
        seen = self.item.lock_version
        return reviewing.decide(self.item, self.people[who], kind, given=given, minutes=3.0, seen=seen)


def place_under(studio, protocol, source=None):
    project = studio.project(protocol=protocol if source is None else str(source))
    add_items(project, ["q1"], kinds={"q1": "mcq"})
    people = {}
    for name, roles in (
        ("bob", ("reviewer",)),
        ("cid", ("reviewer",)),
        ("eve", ("reviewer",)),
        ("mia", ("meta",)),
    ):
        user = studio.user(name, *roles)
        people[name] = Person(name=user.pseudonym, shown=name, roles={"": frozenset(roles)}, user=user)
    return Place(studio, project, people)


def yes_no(place, who):
    stage = place.look(who).stage
    return next(one.id for one in stage.checks if one.kind == "yes-no")


@pytest.mark.parametrize(
    "protocol", ["humanpcr-r", "humanpcr-pc", "mmvu", "perceptioncomp", "herbench", "actpld"]
)
def test_each_protocol_goes_from_the_author_to_acceptance(team, protocol):
    place = place_under(team, protocol)
    rules = load_protocol(protocol)
    place.write()
    place.begin("bob")
    failed = yes_no(place, "bob")
    back = place.decide("bob", "return", failed, message=LONG)
    if rules.returns:
        assert isinstance(back, RecordedAct), back
        assert (place.item.state, place.item.returns_left) == ("returned", 0)
        place.write({**WORDS, "question": "Which cup is red?"}, "resubmit", "author_revise")
        again = reviewing.take_next(place.project, "reviewer", person=place.people["bob"])
        assert again.pk == place.item.pk
        reviewing.release(again, place.people["bob"])
        place.begin("bob")
        second = place.decide("bob", "return", failed, message=LONG)
        assert isinstance(second, Refused)
        assert "has revised it already" in second.reason
    else:
        assert isinstance(back, Refused)
        assert "no returns" in back.reason
    done = place.decide("bob", "accept")
    assert isinstance(done, RecordedAct), done
    if len(rules.stages) == 2:
        assert place.item.state == "reviewed"
        assert isinstance(reviewing.claim(place.item, place.people["bob"]), Refused)
        place.begin("mia")
        assert isinstance(place.decide("mia", "return", yes_no(place, "mia"), message=LONG), Refused)
        done = place.decide("mia", "accept")
        assert isinstance(done, RecordedAct), done
    assert place.item.state == "accepted"
    assert not AssignmentRow.objects.filter(state="claimed").exists()
    assert list(verify()) == []


def test_what_was_said_is_kept_beside_the_event(team):
    place = place_under(team, "mmvu")
    place.write()
    place.begin("bob")
    fields = {one.name: RIGHT for one in place.look("bob").lines if one.is_marked}
    assert set(fields) == {"rationale", "tags", "evidence"}
    noteless = place.decide("bob", "return", "question", message=LONG, fields={**fields, "tags": WRONG})
    assert noteless.reason == "tags is marked wrong without a note; say what is wrong with it"
    notes = {"tags": "prediction", "question": "no cup"}
    done = place.decide(
        "bob", "return", "question", message=LONG, fields={**fields, "tags": WRONG}, notes=notes
    )
    assert isinstance(done, RecordedAct), done
    review = ReviewRow.objects.get()
    assert (review.stage, review.decision, review.feedback, review.seconds) == (
        "reviewer",
        "return",
        LONG,
        180.0,
    )
    kept = {name: verdict for name, (verdict, _) in review.fields.items()}
    assert kept["question"] == WRONG
    assert (kept["tags"], kept["evidence"], kept["answer"]) == (WRONG, RIGHT, RIGHT)
    assert review.fields["tags"] == [WRONG, "prediction"]
    assert review.checks["question"] == "no"


def test_an_edit_is_the_next_revision_and_keeps_what_was_answered(team):
    place = place_under(team, "perceptioncomp")
    place.write()
    place.begin("bob")
    content = {**place.look("bob").content, "question": "Which cup is red?"}
    done = reviewing.edit(place.item, place.people["bob"], content, seen=place.item.lock_version)
    assert isinstance(done, RecordedAct), done
    assert (place.item.current.n, place.item.current.by, place.item.current.origin) == (
        2,
        place.people["bob"].name,
        "validator_edit",
    )
    assert place.look("bob").step == "decide"
    assert ReviewRow.objects.get(revision__n=2).answer == "A"
    assert isinstance(place.decide("bob", "accept"), RecordedAct)
    assert place.state().was_edited


def test_a_translation_is_an_edit_in_another_language(team):
    place = place_under(team, "humanpcr-r")
    place.write()
    place.begin("bob")
    assert isinstance(place.decide("bob", "accept"), RecordedAct)
    place.begin("mia")
    content = {**place.look("mia").content, "question": "Welche Tasse?", "choices": ["rot", "blau"]}
    done = reviewing.edit(place.item, place.people["mia"], content, language="de")
    assert isinstance(done, RecordedAct), done
    assert place.item.current.origin == "translate"
    assert place.look("mia").counted == {"evidence": "2", "proactive": "2"}
    assert isinstance(place.decide("mia", "accept"), RecordedAct)
    assert not place.state().was_edited


def test_only_the_role_of_the_stage_looks_and_counts_before_it_sees_others(team):
    place = place_under(team, "humanpcr-r")
    place.write()
    assert "waiting for the role 'reviewer'" in reviewing.claim(place.item, place.people["mia"]).reason
    assert isinstance(reviewing.take_next(place.project, "meta", person=place.people["bob"]), Refused)
    assert isinstance(
        reviewing.draw_share(place.project, "meta", person=place.people["bob"], wanted=Share()), Refused
    )
    author = Person(name="ann", shown="ann", roles={"": frozenset({"reviewer"})})
    assert "authors do not review their own items" in reviewing.claim(place.item, author).reason
    reviewing.claim(place.item, place.people["bob"])
    assert place.look("mia").step == "closed"
    assert place.look("cid").content == {}
    assert reviewing.decide(
        place.item, place.people["cid"], "accept", given=FilledForm(), minutes=None, seen=None
    ) == Refused(reason=reviewing.NOT_CLAIMED)
    bob = place.people["bob"]
    reviewing.claim(place.item, bob)
    look = place.look("bob")
    assert look.step == "count"
    assert set(look.content) == {"media", "question", "choices", "answer"}
    assert "expected a whole number" in reviewing.count(place.item, bob, {"check:evidence": "many"})
    assert reviewing.count(place.item, bob, {"check:evidence": "3", "check:proactive": "1"}) == ""
    assert reviewing.count(place.item, bob, {"check:evidence": "9", "check:proactive": "9"}) == ""
    look = place.look("bob")
    assert (look.step, look.counted) == ("decide", {"evidence": "3", "proactive": "1"})
    assert "evidence" in look.content
    assert reviewing.count(place.item, place.people["cid"], {}) == reviewing.NOT_CLAIMED


def test_a_share_is_drawn_by_the_rule_of_the_review(team):
    place = place_under(team, "herbench")
    names = [f"d{i:02d}" for i in range(40)]
    add_items(place.project, names, kinds={})
    for i, item in enumerate(ItemRow.objects.filter(item_id__in=names).order_by("item_id")):
        tags = {"task": "count" if i % 4 else "order"}
        act(
            item,
            Act(
                kind="submit",
                role="author",
                by="maker",
                content={**WORDS, "item_id": item.item_id, "tags": tags},
            ),
        )
    wanted = Share(share=0.15, tag="task", seed=7)
    assert reviewing.draw_share(place.project, "reviewer", person=place.people["bob"], wanted=wanted) == 6
    mine = AssignmentRow.objects.filter(user=place.people["bob"].user).select_related("item__current")
    tasks = ["order" if '"order"' in one.item.current.content else "count" for one in mine]
    assert sorted(tasks) == ["count"] * 4 + ["order"] * 2 or sorted(tasks) == ["count"] * 5 + ["order"]
    assert reviewing.reviews_of(place.project).states["d00"].state in ("submitted", "in-review")


def test_minutes_are_never_less_than_none(team):
    assert reviewing.minutes_since(None) is None
    now = team.clock()
    team.clock.move(-3600)
    assert reviewing.minutes_since(now) == 0.0
    team.clock.move(3660)
    assert reviewing.minutes_since(now) == 1.0
