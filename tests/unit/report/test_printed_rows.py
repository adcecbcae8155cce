"""Rows as papers print them, by the questions that their columns are about."""

import pytest

from vidence.errors import UnknownNameError, UsageError
from vidence.report.printed_rows import as_label, printed_rows

CHOICE, DESCRIPTION = {"task": "3afc"}, {"task": "description"}


def test_columns_are_found_by_what_they_are_about():
    found = printed_rows("actpld-table3", [DESCRIPTION, CHOICE])
    gemini = found.rows[6]
    assert gemini.words == ("Gemini 2.5 Pro *1", "Label")
    assert [cell.value for cell in gemini.values] == ["53.97", "41.27"]
    assert gemini.n == (63, 63)
    assert found.rows[0].n == (70, 70)
    assert any("63 clips" in note for note in found.footnotes)
    assert "Table 3, section 3.2" in found.note()
    assert as_label(gemini.words[:1]) == "Gemini 2.5 Pro *1 (as printed)"


def test_one_column_alone_and_one_that_is_not_printed():
    found = printed_rows("actpld-table4", [{"set": "single"}, {"set": "social"}])
    assert [[cell.value for cell in row.values] for row in found.rows] == [
        ["37.55", "35.10"],
        ["34.65", "39.17"],
        ["36.10", "37.14"],
    ]
    assert any("37.13" in note for note in found.footnotes)


def test_a_table_of_something_else_is_refused():
    with pytest.raises(UsageError, match="actpld-table4 prints no column of the questions with task=3afc"):
        printed_rows("actpld-table4", [CHOICE])
    with pytest.raises(UnknownNameError):
        printed_rows("actpld-table9", [CHOICE])
