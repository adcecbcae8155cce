"""What gates found, in words and tables."""

import pytest

from subjects.asked_items import question
from vidence.make.gates.item_gates import read_balance
from vidence.make.gates.luck import Luck, ReaderLuck
from vidence.make.gates.rules import BlindRules
from vidence.make.gates.tables import balance_tables, balance_warnings, luck_sentences, reader_table
from vidence.records import Media
from vidence.statistics.intervals import mean_interval


def test_luck_is_said_with_its_interval():
    known = mean_interval([0.0, 1.0, 0.0, 1.0, 0.0], clusters=list("abcde"))
    reader = ReaderLuck(model="m", n=5, n_right=2, expected=0.4)
    luck = Luck(n=5, n_found=2, expected=0.4, known=known, readers=(reader,))
    found, beyond = luck_sentences(luck)
    assert "2 were answered as often as the rule wants; guessing answers 0.4 so" in found
    assert "Known beyond luck: 40.0 %" in beyond
    assert "5 of them" in beyond
    assert reader_table(luck).row("m").values == (5, 2, 0.4)
    nothing = Luck(n=0, n_found=0, expected=0.0, known=None, readers=())
    assert luck_sentences(nothing) == ("The readers without a video decided about no question with choices.",)


def test_an_answer_that_is_nearly_always_right_is_a_warning():
    def asked(i: int):
        choices = ("yes", "no", f"other {i}", f"another {i}", f"more {i}")
        return question(
            i, choices=choices, answer="B" if i % 20 == 0 else "A", media=(Media(path=f"{i}.mp4"),)
        )

    items = [asked(i) for i in range(60)]
    findings = read_balance(items, BlindRules(draws=199), seed=1)
    assert any("'yes' is right in 57 of 60 questions" in one for one in balance_warnings(findings))
    balance, rules, letters = balance_tables(items, findings, seed=1)
    assert balance.row("t").values[-1] == "above"
    assert len(rules.rows) > 5
    n, counts, p_value = letters.row("t").values
    assert (n, counts) == (60, "A 57, B 3, C 0, D 0, E 0")
    assert p_value == pytest.approx(0.001)
