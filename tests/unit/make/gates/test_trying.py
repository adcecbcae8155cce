"""The gates that ask models: their order, and that frames are cut only where a gate shows some."""

import pytest

from subjects.asked_items import write_reader
from subjects.planted_drafts import models_of
from vidence.errors import UnknownNameError, UsageError
from vidence.make.gates.item_gates import ItemGateRules
from vidence.make.gates.model_gates import USUAL
from vidence.make.gates.rules import GateRules, JudgeRules, NeedsAllRules, OneFrameRules, TextOnlyRules
from vidence.make.gates.trying import Asking, asking_gates, judge_pool, judges_words, try_gate

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


def test_a_pool_speaks_through_the_models_that_are_named(tmp_path):
    path = write_reader(tmp_path)
    rules = JudgeRules(models=("a", "b"))
    with models_of(tmp_path, a=f"{path}:grader", b="scripted:{}?temperature=0.5") as models:
        assert judge_pool(None, models, seed=1) is None
        pool = judge_pool(rules, models, seed=7)
        with pytest.raises(UnknownNameError):
            judge_pool(JudgeRules(models=("c",)), models, seed=1)
    assert pool is not None
    assert (pool.judge.name, pool.judge.seed) == ("rule-first", 7)
    assert [(one.name, one.is_recorded) for one in pool.models] == [("a", False), ("b", True)]


def test_what_is_said_of_free_answers():
    assert judges_words(None, gate="g", n_free=0) == []
    assert "no judge" in judges_words(None, gate="g", n_free=2)[0]
    (said,) = judges_words(JudgeRules(models=("a",)), gate="g", n_free=2)
    assert said == "g: free answers to 2 questions were judged by a as rule-first."


@pytest.mark.parametrize(
    ("fields", "error"),
    [
        ({"models": ()}, UsageError),
        ({"models": ("a", "a")}, UsageError),
        ({"models": ("a",), "protocol": "me"}, UnknownNameError),
    ],
)
def test_rules_that_name_nobody_are_refused(fields, error):
    with pytest.raises(error):
        JudgeRules(**fields)
