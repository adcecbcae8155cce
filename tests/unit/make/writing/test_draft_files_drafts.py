"""Cells: the same from JSON and from lines of a spreadsheet; what cannot be read is said."""

import pytest

from vidence.ask.files import FieldError
from vidence.make.writing.draft_files import COLUMNS, Link, cell_text, read_cell
from vidence.records import Evidence

W = "https://en.wikipedia.org/wiki/Lens"
EVIDENCE = {"kind": "proactive", "start_s": 12.5, "end_s": 20, "note": "a hand: it lets go", "step": 1}


@pytest.mark.parametrize(
    ("column", "value", "text", "read"),
    [
        ("question", "  Why? ", "  Why? ", "Why?"),
        ("answer", 10, "10", "10"),
        ("kind", "Choice", "Choice", "choice"),
        ("start_s", 12.5, "12.5", 12.5),
        ("start_s", None, "", None),
        ("choices", ["a", "b"], "a\nb", ("a", "b")),
        ("choices", [1, 2.5], "[1,2.5]", ("1", "2.5")),
        ("choices", ["a\nb", "c"], '["a\\nb","c"]', ("a\nb", "c")),
        ("choices", ["[a]", "c"], '["[a]","c"]', ("[a]", "c")),
        ("misconception", ["a", "", "c"], "a\n\nc", ("a", "", "c")),
        ("knowledge", [{"title": "Lens", "url": W}], f"Lens | {W}", (Link(title="Lens", url=W),)),
        ("knowledge", [{"url": W}], W, (Link(url=W),)),
        ("knowledge", [W], W, (Link(url=W),)),
        ("knowledge", ["what a lens is"], "what a lens is", (Link(title="what a lens is"),)),
        ("evidence", [EVIDENCE], None, (Evidence(**EVIDENCE),)),
    ],
)
def test_a_cell_is_read_the_same_from_json_and_from_a_sheet(column, value, text, read):
    assert read_cell(column, value) == read
    written = cell_text(column, value)
    assert text is None or written == text
    assert read_cell(column, written) == read


def test_evidence_as_a_line_counts_steps_from_one():
    (one,) = read_cell("evidence", "proactive 12.5-20 step 2: a hand: it lets go")
    assert one == Evidence(**EVIDENCE)
    assert read_cell("evidence", "referred 0 - 3") == (Evidence(kind="referred", start_s=0, end_s=3),)


@pytest.mark.parametrize(
    ("column", "value", "says"),
    [
        ("kind", "yes-no", "expected choice or open"),
        ("start_s", "-1", "expected a number of 0 or more"),
        ("start_s", "1e3", "expected a number"),
        ("minutes", "20:17", "expected a number"),
        ("question", ["a"], "expected a text"),
        ("question", True, "expected a text"),
        ("choices", {"A": "a"}, "expected a list"),
        ("choices", [["a"]], "expected a text"),
        ("knowledge", [{"page": "x"}], "expected title and url"),
        ("evidence", "from 12 on", "expected a line such as"),
        ("evidence", [{"kind": "seen"}], "expected kind, start_s"),
    ],
)
def test_what_a_cell_cannot_hold(column, value, says):
    with pytest.raises(FieldError, match=says):
        read_cell(column, value)


def test_nothing_is_nothing_in_every_column():
    for column in COLUMNS:
        assert not read_cell(column, None)
        assert not read_cell(column, "")
