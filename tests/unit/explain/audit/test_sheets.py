"""The tables of an audit: what stands in them, counted by hand."""

from collections import Counter

import numpy as np
import pytest

from vidence.explain.audit.key import read_key
from vidence.explain.audit.reasons import note, severe, suspect, warning
from vidence.explain.audit.sheets import MOST_SUSPECTS, letters_sheet, reasons_sheet, suspects_sheet
from vidence.records import Evidence, Item, Media


def item(number, *, video="v", question="Which is it?", choices=("a cup", "a lamp"), answer="A", **more):
    fields = {"item_id": f"q{number}", "media": (Media(path=f"{video}.mp4"),), "question": question} | more
    return Item(choices=choices, answer=answer, **fields)


SHOWN = (Evidence(kind="oracle", start_s=1.0, end_s=2.0),)
SET = (
    item(1, question="Which cup does the cook lift at last?"),
    item(2, question="Which cup does the cook lift at last?", video="w"),
    item(3, question="Кто это?", choices=("яна", "ира", "оля"), evidence=SHOWN),
    Item(item_id="q4", media=(Media(path="v.mp4"),), question="Who?", answer="Ann", answer_kind="text"),
)


def test_letters_have_their_share_and_what_they_had_if_balanced():
    key = read_key(SET, rng=np.random.default_rng(0), level=0.95)
    rows = {row.key: row.values for row in letters_sheet(key).rows}
    third, half = 1 / 3, 1 / 2
    assert rows["A"] == (3, 1.0, pytest.approx((third + 2 * half) / 3))
    assert rows["C"] == (0, 0.0, pytest.approx(third / 3))


def test_reasons_are_counted_once_for_each_question():
    found = (
        suspect("q1", "v", [warning("garbled", "in A"), warning("garbled", "in B"), note("markup", "x")]),
        suspect("q2", "v", [severe("contradiction", "q1"), note("garbled", "little")]),
    )
    rows = {row.key: row.values for row in reasons_sheet(found).rows}
    assert rows == {"contradiction": (1, 0, 0), "garbled": (0, 1, 1), "markup": (0, 0, 1)}


def test_the_worst_suspects_come_first_and_notes_alone_not_at_all():
    found = [
        suspect("q1", "v", [note("markup", "x")]),
        suspect("q2", "v", [warning("garbled", "g"), note("markup", "x")]),
        suspect("q3", "v", [severe("contradiction", "c")]),
    ]
    sheet = suspects_sheet(found)
    assert [(row.key, row.values) for row in sheet.rows] == [
        ("q3", ("severe", "c")),
        ("q2", ("warning", "g")),
    ]
    assert sheet.note.startswith("All of them")
    many = [suspect(f"q{i}", "v", [warning("garbled", "g")]) for i in range(MOST_SUSPECTS + 1)]
    sheet = suspects_sheet(many)
    assert len(sheet.rows) == MOST_SUSPECTS
    assert sheet.note.startswith("The first 200 of 201. ")
    assert Counter(row.values[0] for row in sheet.rows) == {"warning": 200}
