"""What gates found, in words and tables."""

import msgspec
import pytest

from subjects.asked_items import question
from vidence.make.gates.blind import hold_back
from vidence.make.gates.model_gates import GateVerdict, GateVote
from vidence.make.gates.rules import BlindRules, TextOnlyRules
from vidence.make.gates.tables import balance_tables, balance_warnings, leaking, luck_sentence
from vidence.records import Media


def test_what_guessing_finds_stands_beside_what_was_found():
    rules = TextOnlyRules(models=("a",), at_least=1, runs=1)
    items = [question(i, n_choices=5) for i in range(4)]
    vote = GateVote(model="a")
    verdicts = [
        GateVerdict(
            item_id=one.item_id, gate="text-only", decision="kept", votes=(vote,), n_right=int(i == 0)
        )
        for i, one in enumerate(items)
    ]
    said = luck_sentence(items, [*verdicts[:3], msgspec.structs.replace(verdicts[3], n_unusable=1)], rules)
    assert "Of 3 questions" in said
    assert "1 were answered as often as the rule wants; guessing answers 0.6 so" in said
    assert "about no question" in luck_sentence(items, [], rules)


def test_an_answer_that_is_nearly_always_right_is_a_warning():
    def asked(i: int):
        choices = ("yes", "no", f"other {i}", f"another {i}", f"more {i}")
        return question(
            i, choices=choices, answer="B" if i % 20 == 0 else "A", media=(Media(path=f"{i}.mp4"),)
        )

    items = [asked(i) for i in range(60)]
    findings = hold_back(items, BlindRules(draws=199), seed=1).findings
    assert any("'yes' is right in 57 of 60 questions" in one for one in balance_warnings(findings))
    assert leaking(findings, ()) == (
        "Kept though texts give them away: t; drop them (--hold) or say --allow-leaks.",
    )
    assert leaking(findings, ("t",)) == leaking(findings, ("all",)) == leaking((), ()) == ()
    balance, rules, letters = balance_tables(items, findings, seed=1)
    assert balance.row("t").values[-1] == "above"
    assert len(rules.rows) > 5
    n, counts, p_value = letters.row("t").values
    assert (n, counts) == (60, "A 57, B 3, C 0, D 0, E 0")
    assert p_value == pytest.approx(0.001)
