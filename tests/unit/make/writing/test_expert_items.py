"""Drafts as questions: letters, order, tags, and what goes through a review and comes back."""

from datetime import UTC, datetime

import msgspec
import pytest

from subjects.expert_set import row, shelf
from vidence.errors import DataError
from vidence.make.gates.licences import LicenceCheck
from vidence.make.writing.expert_films import Film, Length
from vidence.make.writing.expert_items import Ground, item_of, marked_open, shuffled, to_review
from vidence.make.writing.session import from_review


def ground(**changes: object) -> Ground:
    held = shelf()
    known = {
        "concept": held.concepts["precession"],
        "subject": held.subjects["Mechanics"],
        "film": Film(
            video_id="wheel", url=" https://youtu.be/aaaaaaaaaaa", path="wheel.mp4", licence="own words"
        ),
        "length": Length(duration_s=120.0, sha256="ab"),
        "licence": None,
    }
    return Ground(**(known | changes))


def test_a_draft_as_a_question():
    item = item_of(row(answer="Tension").draft, ground(), benchmark="set")
    assert (item.answer, item.answer_kind, item.source_id) == ("C", "choice", "aaaaaaaaaaa")
    (media,) = item.media
    assert (media.path, media.url, media.start_s, media.end_s, media.sha256) == (
        "wheel.mp4",
        "https://youtu.be/aaaaaaaaaaa",
        12,
        40.5,
        "ab",
    )
    assert item.evidence[1].step == 1
    assert item.rationale.startswith("1. It hangs by one end.\n2. ")
    assert item.knowledge == ("https://en.wikipedia.org/wiki/Precession",)
    assert item.tags["reasoning"] == "Causal Reasoning"
    assert item.provenance.licence == "own words"
    open_one = item_of(row(kind="open").draft, ground(), benchmark="set")
    assert (open_one.answer, open_one.answer_kind, open_one.choices) == ("precession", "text", ())
    look = LicenceCheck(
        video="x", outcome="passed", at=datetime(2026, 1, 2, tzinfo=UTC), licence="creativeCommon"
    )
    assert ground(licence=look).provenance.licence == "creativeCommon, as declared on 2026-01-02"


def test_the_order_is_drawn_and_the_right_choice_stays_right():
    items = [item_of(row(draft_id=f"{i}").draft, ground(), benchmark="set") for i in range(60)]
    moved = [shuffled(one, seed=1) for one in items]
    assert moved == [shuffled(one, seed=1) for one in items]
    assert moved != [shuffled(one, seed=2) for one in items]
    assert {one.answer for one in moved} == set("ABCDE")
    assert {one.choices["ABCDE".index(one.answer)] for one in moved} == {items[0].choices[0]}
    fixed = item_of(
        row(choices=["Spin", "Lift", "Rope", "Air", "None of the above"]).draft, ground(), benchmark="set"
    )
    assert shuffled(fixed, seed=1) == fixed


def test_what_a_review_holds_comes_back_as_the_question():
    draft = row(misconception=["air", "", "spin", "habit"], answer="B").draft
    item = item_of(draft, ground(), benchmark="set")
    content = to_review(item, draft, author="ann")
    assert "provenance" not in content
    assert (content["author"], content["minutes"]) == ("ann", 20.3)
    assert content["misconception"] == {
        "Its spin turns under a torque": "air",
        "It weighs nothing": "spin",
        "A hand": "habit",
    }
    assert from_review(item, content) == item
    edited = from_review(item, content | {"question": "Why?"})
    assert edited == msgspec.structs.replace(item, question="Why?")
    with pytest.raises(DataError, match="the wording of a is no question"):
        from_review(item, content | {"question": 3})


def test_what_gates_left_to_people_says_which_gates():
    items = [item_of(row(draft_id=name).draft, ground(), benchmark="set") for name in "ab"]
    first, second = marked_open(items, {"b": ["text-only", "one-frame"]})
    assert "left_open" not in first.tags
    assert second.tags["left_open"] == "text-only, one-frame"
