"""Automatic checks of an item: each check of the command line, asked for one item."""

from datetime import UTC, datetime
from pathlib import Path

import msgspec
import pytest

from vidence.make.gates.licences import LicenceCheck, write_checks
from vidence.make.gates.model_gates import GateVerdict
from vidence.make.gates.verdicts import content_of as asked_content
from vidence.make.pipeline.output import json_lines
from vidence.make.review.revisions import new_revision
from vidence.make.writing.expert_films import Film
from vidence.records import Media
from vidence.studio.bridge.items import Subject, content_of, item_as_written, item_of
from vidence.studio.checking import ItemFacts, check, quota, rules_of
from vidence.studio.hint_tries import SURE, HintTry
from vidence.studio.rules.faults import Shape
from vidence.studio.rules.forms import FORMS
from vidence.studio.rules.hints import asked_in
from vidence.studio.rules.wording import Condition, Knowledge, Mark, Option, Wording

GOLDEN = Path(__file__).parents[2] / "golden" / "compose"
NOW = datetime(2026, 11, 23, 9, 0, tzinfo=UTC)
FILM = Film(
    video_id="lens.mp4", path="lens.mp4", url="https://www.youtube.com/watch?v=abcdefghijk", duration_s=60
)
WHOLE = Wording(
    question="Which lens bends the light most?",
    language="en",
    right=Option(id="r", text="the thick one"),
    wrong=tuple(
        Option(id=name, text=f"the {name} one", why="it looks so")
        for name in ("flat", "hollow", "blue", "round")
    ),
    steps=("Three lenses are put into a beam.", "Behind one of them the beam crosses soonest."),
    evidence=(Mark(kind="proactive", start="1", end="2", text="the beam", steps="1"),),
    knowledge=(Knowledge(title="Lens", url="https://en.wikipedia.org/wiki/Lens"),),
    subject="Physics",
    textbook="Optics",
    chapter="3",
    concept="refraction",
)
REASONED = Wording(
    question="Why does the pan smoke?",
    language="en",
    answer="the oil is too hot",
    reasoning="causal",
    steps=("A pan stands on a flame.", "Nobody turns it down."),
    knowledge=(Knowledge(title="Smoke point"),),
    evidence=(
        Mark(kind="referred", start="1", end="2", text="the pan", steps="1"),
        Mark(kind="proactive", start="3", end="4", text="a hand at the tap", steps="2"),
    ),
)


def told(folder, form="mmvu", kind="mcq", **more):
    subject = Subject(item_id="q1", form=form, seed=5, media=(Media(path="lens.mp4"),))
    films = (FILM if form == "mmvu" else msgspec.structs.replace(FILM, duration_s=600),)
    said = {
        "form": FORMS[form],
        "kind": kind,
        "subject": subject,
        "films": films,
        "media": (Shape(),),
        "author": "ann",
        "now": NOW,
        **more,
    }
    return ItemFacts(folder=folder, **said)


def words(found, level="fault"):
    return [one.words for one in found.said if one.level == level]


def change(written, **more):
    return msgspec.structs.replace(written, **more)


def test_what_is_whole_has_no_fault(tmp_path):
    assert words(check(WHOLE, told(tmp_path))) == []
    assert words(check(REASONED, told(tmp_path, "humanpcr-r", "open"))) == []


@pytest.mark.parametrize(
    ("more", "field", "by"),
    [
        ({"question": ""}, "question", "form"),
        ({"language": ""}, "language", "form"),
        ({"right": Option(id="r")}, "right-text", "form"),
        ({"wrong": WHOLE.wrong[:3]}, "wrong", "form"),
        ({"wrong": (*WHOLE.wrong[:3], Option(id="x", text="The  thick one"))}, "wrong", "form"),
        ({"start": "soon"}, "start", "form"),
        ({"start": "5", "end": "4"}, "end", "form"),
        ({"end": "61"}, "end", "expert"),
        ({"steps": ("one",)}, "steps", "expert"),
        ({"knowledge": ()}, "knowledge", "expert"),
        ({"knowledge": (Knowledge(title="x", url="https://example.org/x"),)}, "knowledge", "expert"),
        ({"concept": ""}, "concept", "expert"),
        ({"chapter": ""}, "concept", "expert"),
        ({"evidence": (Mark(start="1", end="1"),)}, "evidence-0-end", "form"),
        ({"evidence": (Mark(start="1", end="2", steps="3"),)}, "evidence-0-steps", "form"),
        ({"evidence": (Mark(start="1", end="2", steps="one"),)}, "evidence-0-steps", "form"),
        ({"evidence": (Mark(start="1", text="x"),)}, "evidence-0-end", "form"),
        ({"evidence": (Mark(medium=2, start="1", end="2"),)}, "evidence-0-medium", "form"),
        ({"start": "10", "end": "20"}, "evidence", "expert"),
        ({"hints": ("look behind the thick one",)}, "hints", "leak"),
        ({"hints": ("", "a link")}, "hint-0", "form"),
        ({"question": "Is it option C?"}, "question", "audit"),
        ({"wrong": (*WHOLE.wrong[:3], Option(id="x", text="both A and B"))}, "question", "audit"),
        ({"question": "Is the answer is the thick one so?"}, "question", "audit"),
    ],
)
def test_each_fault_is_found_at_its_field(tmp_path, more, field, by):
    found = check(change(WHOLE, **more), told(tmp_path))
    assert (field, by) in {(one.field, one.by) for one in found.faults}, found.said


@pytest.mark.parametrize(
    ("more", "field"),
    [
        ({"answer": ""}, "answer"),
        ({"right": Option(text="an option")}, "answer"),
        ({"reasoning": "guessing"}, "reasoning"),
        ({"evidence": REASONED.evidence[:1]}, "evidence"),
        ({"evidence": (*REASONED.evidence[:1], change(REASONED.evidence[1], kind="oracle"))}, "evidence"),
        ({"evidence": (REASONED.evidence[0], change(REASONED.evidence[1], steps=""))}, "evidence-1-steps"),
    ],
)
def test_questions_over_several_pieces(tmp_path, more, field):
    found = check(change(REASONED, **more), told(tmp_path, "humanpcr-r", "open"))
    assert field in {one.field for one in found.faults}


COMPOSED = Wording(
    question="Which colour has the second cup?",
    language="en",
    category="colour",
    right=Option(id="r", text="red", category="colour"),
    wrong=tuple(Option(id=one, text=one) for one in ("blue", "green", "black", "white")),
    conditions=(
        Condition(text="a cup", skill="semantic", note="a bowl"),
        Condition(text="the second", skill="temporal", depends="1", otherwise="blue"),
    ),
)


@pytest.mark.parametrize(
    ("more", "field", "level"),
    [
        ({}, "", ""),
        ({"category": ""}, "category", "fault"),
        ({"right": Option(text="red", category="person")}, "category", "warning"),
        ({"right": Option(text="the red one on the left")}, "right-text", "warning"),
        ({"conditions": ()}, "conditions", "fault"),
        ({"conditions": (Condition(text="a", skill="magic", note="x"),)}, "condition-0-skill", "fault"),
        (
            {"conditions": (Condition(text="a", skill="semantic", note="x", depends="1"),)},
            "condition-0-depends",
            "fault",
        ),
        ({"conditions": (Condition(text="a", skill="semantic"),)}, "condition-0-note", "fault"),
        ({"conditions": (Condition(skill="semantic", note="x", at="soon"),)}, "condition-0-at", "fault"),
        ({"program": "B.hair"}, "program", "warning"),
    ],
)
def test_composed_questions(tmp_path, more, field, level):
    found = check(change(COMPOSED, **more), told(tmp_path, "perceptioncomp"))
    if not field:
        assert not found.faults
    else:
        assert (field, level) in {(one.field, one.level) for one in found.said}


def test_options_of_point_lights_are_of_different_groups(tmp_path):
    one = Wording(
        question="What is shown?",
        language="en",
        right=Option(text="running", category="locomotion"),
        wrong=(Option(text="waving", category="gesture"), Option(text="walking", category="Locomotion")),
    )
    found = check(one, told(tmp_path, "actpld", "3afc"))
    assert words(found) == ["Two options have the same group of actions."]
    bare = change(one, right=Option(text="running"))
    assert "the group" in words(check(bare, told(tmp_path, "actpld", "3afc")))[0]


def test_verdicts_and_licences_of_the_project_are_shown(tmp_path):
    place = told(tmp_path)
    revision = new_revision(
        "q1",
        content_of(WHOLE, place.subject),
        parent=None,
        origin="submit",
        by="ann",
        at="2026-11-23T09:00:00.000000Z",
    )
    content = asked_content(item_of(revision))
    one = GateVerdict(item_id="q1", content=content, gate="text-only", decision="dropped", n_right=3)
    (tmp_path / "verdicts.jsonl").write_bytes(json_lines([one]))
    assert check(WHOLE, place).verdicts == ((one, True),)
    assert check(change(WHOLE, question="Which one?"), place).verdicts == ((one, False),)
    look = LicenceCheck(video="abcdefghijk", outcome="refused", at=NOW, licence="youtube")
    write_checks(tmp_path / "licences.jsonl", [look])
    found = check(WHOLE, told(tmp_path))
    assert [(one.field, one.by) for one in found.faults] == [("media", "licence")]
    write_checks(
        tmp_path / "licences.jsonl",
        [msgspec.structs.replace(look, outcome="passed", licence="creativeCommon")],
    )
    found = check(WHOLE, told(tmp_path))
    assert found.faults == ()
    assert found.licences[0][1:] == ("creativeCommon, api, checked on 2026-11-23", True)


def test_bounds_are_those_of_the_project(tmp_path):
    (tmp_path / "checks.toml").write_text("most_per_video = 2\nleast_steps = 3\n")
    assert (quota(FORMS["mmvu"], tmp_path), rules_of(tmp_path).least_steps) == (2, 3)
    assert "2 steps; expected 3 or more, one a line" in words(check(WHOLE, told(tmp_path)))


@pytest.mark.parametrize("name", ["licences.jsonl", "verdicts.jsonl", "checks.toml"])
def test_a_file_that_cannot_be_read_is_a_fault(tmp_path, name):
    (tmp_path / name).write_text("{nonsense")
    assert "project" in {one.by for one in check(WHOLE, told(tmp_path)).faults}


def test_a_program_is_proved_where_the_scene_is_there(tmp_path):
    (tmp_path / "scenes.jsonl").write_text((GOLDEN / "lane.jsonl").read_text())
    (tmp_path / "street.toml").write_text((GOLDEN / "street.toml").read_text())
    text = 'scene = "lane"\n' + HAIR
    found = check(change(COMPOSED, program=text), told(tmp_path, "perceptioncomp"))
    assert found.proof is not None
    assert found.proof.is_proven, found.said
    assert [one.id for one in found.proof.proof.conditions]
    broken = check(change(COMPOSED, program=text.replace("hair", "nose")), told(tmp_path, "perceptioncomp"))
    assert "proof" in {one.by for one in broken.faults}
    other = check(change(COMPOSED, program=text.replace("lane", "moon")), told(tmp_path, "perceptioncomp"))
    assert "There is no scene 'moon'; known: lane" in words(other)


HAIR = """
A = the(event(kind == "shake hands")).whom; v = A.bag
B = first(person(bag == v, appears_after(A)), "appears")
B.hair
"""


def test_hints_that_were_enough_for_somebody_are_a_fault_until_they_are_worded_anew(tmp_path):
    written = msgspec.structs.replace(WHOLE, hints=("Look at the glass.",))
    given = told(tmp_path)
    asked = asked_in(item_as_written(written, given.subject))
    tried = HintTry(
        n=1, by="bob", answer="A", said=SURE, seconds=34, finding="too-strong", words="", asked=asked
    )
    found = check(written, told(tmp_path, tried=(tried,)))
    assert any("in 34 s: they are too strong" in one for one in words(found))
    weaker = msgspec.structs.replace(written, hints=("Look.",))
    assert not [one for one in words(check(weaker, told(tmp_path, tried=(tried,)))) if "too strong" in one]
