"""The gates that ask models: their order, and that frames are cut only where a gate shows some."""

import pytest

from vidence.make.gates.item_gates import ItemGateRules
from vidence.make.gates.model_gates import USUAL
from vidence.make.gates.rules import GateRules, NeedsAllRules, OneFrameRules, TextOnlyRules
from vidence.make.gates.trying import Asking, asking_gates, try_gate

READERS = TextOnlyRules(models=("a",), at_least=1)


@pytest.mark.parametrize("kind", [GateRules, ItemGateRules])
def test_the_gates_in_their_order(kind):
    one, all_ = OneFrameRules(model="a"), NeedsAllRules(model="a")
    assert list(asking_gates(kind(needs_all=all_, one_frame=one, text_only=READERS))) == [
        ("text-only", READERS, "solved-blind"),
        ("one-frame", one, "solved-one-frame"),
        ("needs-all", all_, "spans-not-needed"),
    ]
    assert [rules for _, rules, _ in asking_gates(kind())] == [None, None, None]


def test_readers_of_words_need_no_frames():
    def nowhere():
        raise AssertionError("no frame is needed")

    class Nobody:
        def run(self, flows):
            assert flows == {}
            return {}

    asking = Asking(frames=nowhere, models=Nobody(), seed=1, how=USUAL)
    assert try_gate("text-only", [], READERS, asking=asking, reason="solved-blind").verdicts == ()
    with pytest.raises(AssertionError, match="no frame is needed"):
        try_gate("one-frame", [], OneFrameRules(model="a"), asking=asking, reason="solved-one-frame")
