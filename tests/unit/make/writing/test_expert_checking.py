"""One planted fault of every kind: exactly these are found, each in its cell."""

from datetime import UTC, date, datetime

import pytest

from subjects.expert_set import WIKI, row, shelf
from vidence.make.writing.expert_checking import check_rows
from vidence.make.writing.expert_config import DraftRules
from vidence.make.writing.expert_pages import PageLook

FAULTS = {
    ("question", "empty"): {"question": ""},
    ("kind", "empty"): {"kind": ""},
    ("answer", "empty"): {"answer": ""},
    ("video", "empty"): {"video": ""},
    ("video", "unknown-video"): {"video": "wheal"},
    ("video", "video-left-out"): {"video": "shut"},
    ("concept_id", "empty"): {"concept_id": ""},
    ("concept_id", "unknown-concept"): {"concept_id": "precesion"},
    ("concept_id", "concept-left-out"): {"concept_id": "beats"},
    ("concept_id", "textbook-not-listed"): {"concept_id": "bookless"},
    ("concept_id", "no-chapter"): {"concept_id": "chapterless"},
    ("choices", "not-enough-choices"): {
        "choices": ["It spins", "b", "c", "d"],
        "misconception": ["b", "c", "d"],
    },
    ("choices", "same-choices"): {"choices": ["It spins", "b", "c", "Lift up", "lift  up"]},
    ("choices", "choices-of-open"): {"kind": "open", "choices": ["a", "b", "c", "d", "e"]},
    ("answer", "none-right"): {"answer": "F"},
    ("answer", "two-right"): {"answer": "A, C"},
    ("question", "answer-in-question"): {"kind": "open", "question": "Is it precession that is seen?"},
    ("steps", "answer-in-first-step"): {"kind": "open", "steps": ["This is precession.", "It turns."]},
    ("steps", "few-steps"): {"steps": ["It hangs by one end."], "evidence": []},
    ("start_s", "no-times"): {"start_s": None},
    ("end_s", "empty-clip"): {"end_s": 12, "evidence": []},
    ("end_s", "outside-video"): {"end_s": 121},
    ("knowledge", "no-knowledge"): {"knowledge": []},
    ("knowledge", "no-link"): {"knowledge": ["Precession"]},
    ("knowledge", "not-wikipedia"): {"knowledge": ["https://example.org/wiki/Lens"]},
    ("knowledge", "link-form"): {"knowledge": ["http://en.wikipedia.org/wiki/Lens"]},
    ("evidence", "unknown-step"): {"evidence": ["referred 12-20 step 4: it hangs"]},
    ("evidence", "evidence-without-times"): {"evidence": [{"kind": "referred", "start_s": 13}]},
    ("evidence", "evidence-outside-clip"): {"evidence": ["referred 11-20 step 1: it hangs"]},
    ("author", "empty"): {"author": ""},
    ("author", "no-pseudonym"): {"author": "Ann B. <ann@x>"},
    ("author", "author-without-subject"): {"author": "ben"},
    ("date", "no-day"): {"date": "2 March"},
}
WARNINGS = {
    ("misconception", "no-misconception"): {"misconception": ["air", "", "spin", "habit"]},
    ("answer", "long-answer"): {"kind": "open", "answer": "it turns as its spin follows the torque"},
    ("question", "answer-in-question"): {"kind": "open", "answer": "pin", "question": "What spins?"},
    ("end_s", "long-clip"): {"end_s": 241},
    ("end_s", "length-unknown"): {"video": "long"},
    ("knowledge", "fragment"): {"knowledge": [WIKI + "Precession#Torque"]},
    ("knowledge", "repeated-link"): {"knowledge": [WIKI + "Angular_momentum", WIKI + "Angular%20momentum"]},
}
REASONING = {
    ("evidence", "few-evidence"): {"evidence": ["proactive 12-20 step 1: a finger"]},
    ("evidence", "no-proactive"): {"evidence": ["referred 12-20 step 1: a", "referred 20-30 step 2: b"]},
    ("evidence", "untied-evidence"): {"evidence": ["proactive 12-20: a finger", "referred 20-30 step 2: b"]},
    ("reasoning", "no-reasoning-type"): {"reasoning": "counting"},
}


def found(rows, held):
    return [(f.row_id, f.column, f.kind, f.is_fault) for one in check_rows(rows, held) for f in one.findings]


def test_a_set_without_faults_has_no_findings():
    assert found([row(), row(draft_id="b", kind="open")], shelf()) == []
    assert found([row()], shelf("humanpcr-r")) == []


@pytest.mark.parametrize(
    ("cell", "changes", "is_fault"),
    [(cell, changes, True) for cell, changes in FAULTS.items()]
    + [(cell, changes, False) for cell, changes in WARNINGS.items()],
)
def test_one_planted_finding_is_the_only_one(cell, changes, is_fault):
    longer = {"lengths_s": {"wheel": 300.0}} if cell[1] == "long-clip" else {}
    assert found([row(**changes), row(draft_id="good", kind="open")], shelf(**longer)) == [
        ("a", *cell, is_fault)
    ]


@pytest.mark.parametrize(("cell", "changes"), list(REASONING.items()))
def test_several_pieces_of_evidence_are_asked_of_reasoning_only(cell, changes):
    assert found([row(**changes)], shelf("humanpcr-r")) == [("a", *cell, True)]
    assert found([row(**changes)], shelf()) == []


def test_reasoning_needs_no_textbook_no_page_and_no_short_clip():
    free = row(concept_id="bookless", knowledge=["what a hinge is"], end_s=119, start_s=0)
    assert found([free], shelf("humanpcr-r", lengths_s={"wheel": 600.0})) == []
    assert found([row(end_s=500)], shelf("humanpcr-r", lengths_s={"wheel": 600.0})) == []


@pytest.mark.parametrize(
    ("length_s", "published", "kind"),
    [
        (299.0, date(2025, 1, 1), "short-video"),
        (300.0, date(2024, 2, 29), "old-video"),
        (300.0, date(2024, 3, 1), None),
        (300.0, None, "date-unknown"),
    ],
)
def test_videos_of_reasoning_are_long_and_of_the_last_two_years(length_s, published, kind):
    days = {} if published is None else {"wheel": published}
    held = shelf("humanpcr-r", lengths_s={"wheel": length_s}, published=days)
    assert found([row()], held) == ([] if kind is None else [("a", "video", kind, kind != "date-unknown")])


def test_a_question_that_names_what_is_to_be_looked_for_is_shown_to_people():
    named = row(question="What does the finger do?")
    (one,) = check_rows([named], shelf("humanpcr-r"))[0].findings
    assert (one.column, one.kind, one.is_fault) == ("question", "names-proactive", False)
    assert one.says == "finger of the evidence 'a finger lets go', which is to be looked for"


def test_a_choice_question_that_names_two_of_its_choices_gives_nothing_away():
    fair = row(question="Is it its spin turns under a torque, or lift?")
    assert found([fair], shelf()) == []
    told = row(question="Is it that its spin turns under a torque?")
    assert found([told], shelf()) == [("a", "question", "answer-in-question", True)]


def test_what_is_too_many_of_one_video_clip_or_day():
    four = [row(draft_id=name) for name in "abcd"]
    held = shelf(rules=DraftRules(most_per_clip=3, most_per_video=3, most_per_day=3).of("mmvu"))
    assert found(four, held) == [
        *((name, "video", "many-about-a-clip", False) for name in "a"),
        ("a", "date", "over-the-day", False),
        ("b", "video", "many-about-a-clip", False),
        ("b", "date", "over-the-day", False),
        ("c", "video", "many-about-a-clip", False),
        ("c", "date", "over-the-day", False),
        ("d", "video", "many-about-a-clip", False),
        ("d", "date", "over-the-day", False),
        ("d", "video", "over-quota", True),
    ]


def test_what_wikipedia_says_of_a_page():
    at = datetime(2026, 3, 1, tzinfo=UTC)
    said = {
        "missing": ("page-missing", True),
        "disambiguation": ("page-disambiguation", True),
        "redirect": ("page-redirect", False),
        "unknown": ("page-unknown", False),
    }
    for outcome, (kind, is_fault) in said.items():
        look = PageLook(page="en:Precession", outcome=outcome, at=at, to="Precession (astronomy)")
        assert found([row()], shelf(pages={"en:Precession": look})) == [("a", "knowledge", kind, is_fault)]
    look = PageLook(page="en:Precession", outcome="page", at=at)
    assert found([row()], shelf(pages={"en:Precession": look})) == []


def test_what_a_released_file_lacks_warns():
    held = shelf(is_released=True)
    bare = row(concept_id="chapterless", start_s=None, end_s=None, steps=["One."], evidence=[], author="")
    assert found([bare], held) == [
        ("a", "concept_id", "no-chapter", False),
        ("a", "start_s", "no-times", False),
        ("a", "steps", "few-steps", False),
    ]
