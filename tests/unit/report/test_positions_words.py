"""Parsers that answer a question with choices in words do not stop the report."""

from vidence.records import Answered
from vidence.report.tables import position_table
from vidence.tables.format import shown, shown_rows


def test_a_word_is_no_letter_read(runs, rng):
    item = runs.items[0]
    run = runs.load(items=[item], trials=[runs.marked(item, Answered(answer="none"))])
    table = position_table(run, rng=rng)
    assert sum(shown(table, line.key, "read").value for line in shown_rows(table)) == 0
    assert "1 question has no letter read" in table.note
