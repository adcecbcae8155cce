"""Parsers that answer a question with choices in words do not stop the report."""

from vidence.records import Answered
from vidence.report.positions import position_table


def test_a_word_is_no_letter_read(runs, rng):
    item = runs.items[0]
    run = runs.load(items=[item], trials=[runs.marked(item, Answered(answer="none"))])
    table = position_table(run, rng=rng)
    assert sum(table.cell(line.key, "read").value for line in table.lines) == 0
    assert "1 question has no letter read" in table.note
