"""What a look shows at each step, and what a form says."""

import msgspec
import pytest

from vidence.make.review.protocol import Check, Protocol, Scale, Stage, load_protocol
from vidence.make.review.revisions import Event
from vidence.make.review.states import ItemState
from vidence.studio.rules.review_steps import (
    FilledForm,
    as_typed,
    check_control,
    compared,
    conditions_of,
    given_fault,
    is_blind,
    lines_of,
    marks_of,
    message_of,
    new_wording,
    other_checks,
    read_given,
    score_control,
    spans_of,
    step_of,
    texts_of,
    why_not,
)

ASKED = Check(id="asked", words="The question is plain.", field="question")
MANY = Check(id="many", words="How many?", kind="count", least=2)
WHOLE = Check(id="whole", words="All of it.", na=True, help="Look twice.", example="as so")
STAGE = Stage(
    role="reviewer",
    checks=(ASKED, MANY, WHOLE),
    scores=(Scale(id="clear", words="Clear?", least=3),),
    solves=True,
)
CONTENT = {
    "item_id": "q1",
    "question": "Which?",
    "choices": ["red", "blue"],
    "tags": {"task": "t"},
    "hints": [],
    "evidence": [{"kind": "proactive", "start_s": 1.0, "end_s": 2.0, "note": "a cup", "step": 0}, "a word"],
}


def state(**more):
    return ItemState(item_id="q1", returns_left=1, state="in-review", claims=("bob",), **more)


def event(**more):
    said = {
        "event_id": "e",
        "item_id": "q1",
        "revision": "r",
        "kind": "accept",
        "role": "reviewer",
        "by": "bob",
    }
    return Event(**{**said, "at": "2026-11-23T09:00:00.000000Z", **more})


def test_the_steps_follow_each_other():
    assert step_of(state(), "eve", STAGE, counted=()) == "closed"
    assert step_of(state(), "bob", STAGE, counted=()) == "solve"
    assert step_of(state(solved=("bob",)), "bob", STAGE, counted=()) == "count"
    assert step_of(state(solved=("bob",)), "bob", STAGE, counted={"many"}) == "decide"


def test_fields_stand_with_the_checks_that_are_about_them():
    lines = lines_of(CONTENT, STAGE)
    assert [(one.name, one.is_marked) for one in lines] == [
        ("question", False),
        ("choices", True),
        ("tags", True),
        ("evidence", True),
    ]
    assert lines[0].checks == (ASKED,)
    assert other_checks(lines, STAGE) == (WHOLE,)
    bare = msgspec.structs.replace(STAGE, checks=(WHOLE,))
    assert not any(one.is_marked for one in lines_of(CONTENT, bare))


def test_what_stands_beside_is_told_in_words_and_not_judged():
    beside = {
        "form": "mmvu",
        "seed": 3,
        "options": [{"id": "x"}],
        "evidence": [{"steps": [1, 2]}, {"first": 3}],
        "conditions": [{"text": "the cup is red", "skill": "colour", "depends": ""}],
        "knowledge": [{"title": "Lens", "url": "https://example.org"}],
        "program": "first(cups)",
    }
    lines = [one for one in lines_of(CONTENT | {"annotations": beside}, STAGE) if one.name not in CONTENT]
    assert {one.name: one.texts for one in lines} == {
        "conditions": ("1. text: the cup is red; skill: colour",),
        "steps of the evidence": ("evidence 1: 2, 3",),
        "knowledge": ("1. title: Lens; url: https://example.org",),
        "program": ("first(cups)",),
    }
    assert not any(one.is_marked or one.checks for one in lines)
    assert lines_of({"annotations": "x"}, STAGE) == ()


def test_values_are_told_in_words():
    assert texts_of(CONTENT["evidence"], name="evidence") == ("proactive, 1.0-2.0 s: a cup", "a word")
    assert texts_of({"a": 1, "b": {"c": [1], "d": ""}}) == ("a: 1", "b: c: [1]")
    assert texts_of(None) == ("",)
    assert [(one.start_s, one.note) for one in spans_of(CONTENT)] == [(1.0, "a cup")]
    assert spans_of({"evidence": "none"}) == ()


def test_a_form_is_read_or_refused():
    lines = lines_of(CONTENT, STAGE)
    said = {
        "field:choices": "wrong",
        "note:choices": " both fit ",
        "field:question": "right",
        "check:asked": "Yes",
        "score:clear": "4",
        "message": "a\r\nb ",
        "check:unknown": "yes",
    }
    given = read_given(said, STAGE, lines)
    assert given == FilledForm(
        fields={"choices": "wrong"},
        notes={"choices": "both fit"},
        checks={"asked": "yes"},
        scores={"clear": 4},
        message="a\nb",
    )
    assert "expected right or wrong" in read_given({"field:choices": "maybe"}, STAGE, lines)
    assert "expected 1 to 5" in read_given({"score:clear": "\u0664"}, STAGE, lines)


def test_what_the_states_do_not_know_is_refused_here():
    lines = lines_of(CONTENT, STAGE)

    def fault(kind="accept", *, is_disputed=False, **more):
        return given_fault(kind, FilledForm(**more), lines, is_disputed=is_disputed)

    every = {"choices": "right", "tags": "right", "evidence": "right"}
    assert fault(fields=every) == ""
    assert "no verdict on choices, tags, evidence" in fault()
    assert "without a note" in fault("reject", fields={"tags": "wrong"})
    assert fault("reject", fields={"tags": "wrong"}, notes={"tags": "no"}) == ""
    assert "is marked wrong" in fault(fields={"tags": "wrong"}, notes={"tags": "no"})
    assert "no source" in fault("reject", is_disputed=True)
    assert "no reason" in fault("reject", is_disputed=True, source="own look")
    assert message_of(FilledForm(message="Red.", source="own look")) == "Red.\nRests on: own look"


@pytest.mark.parametrize(
    ("kind", "more", "expected"),
    [
        ("accept", {}, ""),
        ("return", {}, ""),
        ("return", {"returns_left": 0}, "has revised it already (1 of 1)"),
        ("edit", {}, "has no edits at this stage"),
    ],
)
def test_closed_acts_say_why(kind, more, expected):
    protocol = Protocol(title="t", stages=(STAGE,))
    told = why_not(kind, msgspec.structs.replace(state(), **more), protocol, step="decide")
    assert expected in told
    assert bool(told) == bool(expected)
    assert all(why_not(kind, state(), protocol, step=step) for step in ("closed", "solve", "count"))
    none = msgspec.structs.replace(protocol, returns=0)
    assert "no returns" in why_not("return", state(), none, step="decide")


def test_controls_say_what_was_filled_in():
    one = check_control(WHOLE, {"check:whole": "na"}, {})
    assert [(pick.value, pick.key, pick.is_picked) for pick in one.choices] == [
        ("yes", "v", False),
        ("no", "x", False),
        ("na", "3", True),
    ]
    assert one.about == "Look twice. Such as: as so"
    locked = check_control(MANY, {"check:many": "9"}, {"many": "2"})
    assert (locked.is_locked, locked.value, locked.choices) == (True, "2", ())
    score = score_control(STAGE.scores[0], {"score:clear": "4"})
    assert [pick.value for pick in score.choices if pick.is_picked] == ["4"]
    assert score.about == "To accept: 3 or more."


def test_two_decisions_stand_side_by_side():
    found = compared(
        [
            event(checks={"asked": "yes", "many": "2"}),
            event(kind="reject", checks={"asked": "no", "many": "2"}),
        ],
        ["A", "A"],
    )
    assert [(one.name, one.said, one.differs) for one in found] == [
        ("verdict", ("accept", "reject"), True),
        ("own answer", ("A", "A"), False),
        ("asked", ("yes", "no"), True),
        ("many", ("2", "2"), False),
    ]
    assert marks_of(event(checks={"asked": "no"}), STAGE) == ("The question is plain.",)
    assert conditions_of("first: at 4 s\nsecond:\nthird at 5 s\n: x") == {"first": "yes"}


def test_a_new_wording_changes_what_the_form_names():
    typed = {f"text:{name}": as_typed(value) for name, value in CONTENT.items()}
    assert new_wording(CONTENT, typed) == CONTENT
    made = new_wording(
        CONTENT, {"text:choices": "red\r\n\r\n green ", "text:tags": '{"task":"u"}', "text:new": "x"}
    )
    assert made == {**CONTENT, "choices": ["red", "green"], "tags": {"task": "u"}}
    assert "evidence is not JSON" in new_wording(CONTENT, {"text:evidence": "{"})
    assert as_typed("a\nb") == "a\nb"


def test_who_may_still_look_is_blind_whatever_else_they_are():
    rules = load_protocol("humanpcr-r")
    state = ItemState(item_id="q1", returns_left=1, state="submitted", revision="r", n=1, author="ann")
    every = {"reviewer", "meta", "operator", "author"}

    def blind(by, roles=every, *, counted=(), **more):
        return is_blind(msgspec.structs.replace(state, **more), rules, by=by, roles=roles, counted=counted)

    assert blind("bob")
    assert blind("bob", {"meta", "operator"})
    assert not blind("olga", {"operator", "author"})
    assert not blind("ann")
    assert not blind("bob", state="accepted")
    assert not blind("bob", state="drafting", revision="")
    looked = {"state": "reviewed", "people": {"reviewer": ("bob",)}}
    assert not blind("bob", **looked)
    assert blind("mia", **looked)
    assert not blind("rob", {"reviewer", "operator"}, **looked)
    claimed = {"state": "in-review", "claims": ("bob",)}
    assert blind("bob", **claimed)
    assert not blind(
        "bob", counted=[one.id for one in rules.stages[0].checks if one.kind == "count"], **claimed
    )
    returned = {"state": "returned", "people": {"reviewer": ("bob",)}}
    assert blind("rob", {"reviewer", "operator"}, **returned)
