"""Figures of diagnostics, and the tables that are made of them."""

import numpy as np
import pytest

from vidence.contracts import Examined
from vidence.explain.diagnostics.conditions import ReplyScore
from vidence.explain.diagnostics.tables import Figures, difference, holm, kinds, side_by_side, tag_tables
from vidence.records import Failed, Item, Media, Record
from vidence.statistics import paired
from vidence.tables.table import number, share, tabulate


class Finding(Record):
    """Scores by condition."""

    marks: dict[str, tuple[ReplyScore, ...]]


def items(n):
    return [Item(item_id=f"q{i}", question="?", answer="x", answer_kind="text") for i in range(n)]


def figures():
    return Figures(rng=np.random.default_rng(0), level=0.95)


def scored(**values):
    kinds = {name: "answered" if value else "unreadable" for name, value in values.items()}
    return Finding(marks={name: (ReplyScore(value=values[name], kind=kinds[name]),) for name in values})


def compared(*rows, n_choices=2):
    """Questions with two choices, each about its own video, with the tag `half`."""
    asked = [
        Item(
            item_id=f"q{i}",
            media=(Media(path=f"v{i}.mp4"),),
            question="?",
            choices=tuple("abcd"[:n_choices]),
            answer="A",
            tags={"half": "first" if i < len(rows) / 2 else "second"},
        )
        for i in range(len(rows))
    ]
    return side_by_side(
        [Examined(item=item, finding=row) for item, row in zip(asked, rows, strict=True)],
        Finding,
        lambda one: one.marks,
        conditions=("full", "text"),
        figures=figures(),
    )


def test_a_share_has_no_interval_beyond_0_and_1():
    few = figures().mean(np.array([1.0, 0.0, 0.0, 0.0]), items(4))
    # 0.25 with a clustered error of 0.25 and 3 degrees of freedom: 0.25 - 3.18 * 0.25 would be below 0.
    assert few.value == 0.25
    assert 0 < few.low < 0.03
    assert 0.8 < few.high < 1
    many = figures().mean(np.array([0.0, 1.0, 1.0, 1.0]), items(4))
    assert (many.low, many.high) == pytest.approx((1 - few.high, 1 - few.low))
    frames = figures().mean(np.array([1.0, 16.0, 1.0]), items(3))  # is no share
    assert frames.low < 0 < frames.high
    bounded = figures().mean(np.array([1.0, 16.0, 1.0]), items(3), bounds=(1.0, 16.0))
    assert 1 < bounded.low < 2
    assert 14 < bounded.high < 16
    assert np.isnan(figures().mean(np.array([1.0]), items(1)).low)  # one source has no interval
    assert figures().over([], lambda one: 1.0) is None


def test_differences_are_paired_and_adjusted_together():
    found = compared(*(scored(full=1.0, text=float(i % 4 == 0)) for i in range(12)))
    pairs = {"text": ("text", "full"), "again": ("full", "text"), "same": ("full", "full")}
    differences = found.differences(pairs)
    assert differences["text"].estimate.value == pytest.approx(-0.75)
    assert differences["again"].estimate.value == pytest.approx(0.75)
    alone = [found.differences({name: pair})[name].p_holm for name, pair in pairs.items()]
    assert [one.p_holm for one in differences.values()] == pytest.approx(paired.holm(alone), abs=0.01)
    assert differences["same"].p_holm == 1.0
    assert compared().differences(pairs) == {}


def test_what_cannot_be_compared_is_left_out_and_counted():
    failed = Failed(stage="media", error="MediaError", message="gone")
    found = compared(scored(full=1.0, text=0.0), failed, scored(full=1.0), scored(full=1.0, text=None))
    assert [item.item_id for item in found.items] == ["q0"]
    assert found.left_out == (
        "Left out of every number: 1 failed, 1 were not asked, 1 have an answer without a score (it waits "
        "for a judge, or the judge or the parser broke)."
    )
    assert found.accuracy("full").value == 1.0
    assert found.of([]).items == ()


@pytest.mark.parametrize(
    ("n_choices", "n_known", "known"), [(2, 40, 1.0), (2, 30, 0.5), (1, 40, None), (4, 40, 1.0)]
)
def test_what_is_known_beyond_guessing(n_choices, n_known, known):
    """Of two choices guessing gets half: who is right three times in four knows half of the answers."""
    found = compared(*(scored(full=float(i < n_known), text=0.0) for i in range(40)), n_choices=n_choices)
    estimate = found.beyond_guessing(found.values["full"], np.full(40, 1 / n_choices))
    assert (estimate and estimate.value) == known
    assert estimate is None or "share known beyond guessing" in estimate.method


def test_a_table_says_of_every_row_what_its_columns_compute():
    found = compared(*(scored(full=1.0, text=float(i % 2)) for i in range(8)))
    less = found.differences({"text": ("text", "full")})
    sheet = tabulate(
        "demo",
        "What is shown",
        label="shown",
        rows=found.rows(("full", "text"), {"text": "words alone"}),
        measures=(
            found.questions(),
            share("accuracy", found.accuracy, note="of all"),
            difference("less", less, "less all"),
            holm(less),
            *kinds(found.marks),
        ),
        notes=("", "One.", "Two."),
    )
    assert sheet.note == "One. Two."
    assert [entry.label for entry in sheet.rows] == ["full", "words alone"]
    assert sheet.keys == ("questions", "accuracy", "less", "p_holm", "unreadable", "refused", "cut")
    assert [sheet.columns[i].title for i in (1, 2, 6)] == ["accuracy", "less all", "cut off"]
    assert [column.kind == "share" for column in sheet.columns] == [False, True, True, *[False] * 4]
    assert sheet.columns[3].note.startswith("test of the difference, by source;")
    assert sheet.value("full", "less") is None
    assert sheet.value("text", "questions") == 8
    accuracy = sheet.value("text", "accuracy")
    assert accuracy.value == 0.5
    assert sheet.value("text", "unreadable") == 4
    assert list(compared().rows(("full", "text"))) == []


def test_each_tag_with_several_values_has_a_table():
    found = compared(*(scored(full=float(i < 2), text=0.0) for i in range(4)))
    counts = number("questions", lambda some: len(some.items))
    (sheet,) = tag_tables(
        "demo:",
        "Scores",
        found.items,
        about=found.of,
        measures=(counts, share("full", lambda some: some.accuracy("full"))),
    )
    assert (sheet.name, sheet.title, sheet.label) == ("demo:half", "Scores, by half", "half")
    assert sheet.note == "No adjustment for the number of lines."
    assert [(e.key, e.values[0]) for e in sheet.rows] == [("first", 2), ("second", 2)]


def test_a_share_over_questions_has_the_bounds_of_a_share():
    failed = Failed(stage="model", error="E", message="-")
    some = [Examined(item=one, finding=failed) for one in items(6)]
    found = figures().over(some, lambda one: True)
    assert (found.value, found.high) == (1.0, 1.0)
    assert found.low < 1
