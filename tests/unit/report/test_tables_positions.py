"""What the table of letters says of a preference, and of replies without a letter."""

import pytest

from vidence.records import Answered
from vidence.report.tables import bias_sentences, position_table
from vidence.statistics.answer_keys import PositionBias
from vidence.tables.table import shown, shown_rows


def test_a_word_is_no_letter_read(runs, rng):
    item = runs.items[0]
    run = runs.load(items=[item], trials=[runs.marked(item, Answered(answer="none"))])
    table = position_table(run, rng=rng)
    assert sum(shown(table, line.key, "read").value for line in shown_rows(table)) == 0
    assert "1 question has no letter read" in table.note


def bias(p_value):
    some = {"letters": ("A",), "read": (1,), "right": (1,), "accuracy": (1.0,), "wrong_read": (0,)}
    some |= {"wrong_expected": (0.0,), "n": 1, "n_unread": 0, "n_outside": 0, "method": "simulated"}
    return PositionBias(p_value=p_value, **some)


@pytest.mark.parametrize(
    ("p_value", "said"),
    [
        (0.0499, "Wrong answers prefer some letters (p = 0.0499; simulated)."),
        (0.05, "Wrong answers show no clear preference for a letter (p = 0.0500; simulated)."),
        (0.0501, "Wrong answers show no clear preference for a letter (p = 0.0501; simulated)."),
        (0.0009, "Wrong answers prefer some letters (p < 0.001; simulated)."),
        (float("nan"), "Preference for a position: simulated."),
    ],
)
def test_a_preference_is_claimed_below_a_p_of_5_in_100(p_value, said):
    assert bias_sentences(bias(p_value)).startswith(said)
