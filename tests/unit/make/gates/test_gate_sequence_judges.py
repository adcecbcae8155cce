"""Who judges free answers at the gates."""

import pytest

from subjects.asked_items import write_reader
from subjects.planted_drafts import models_of
from vidence.errors import UnknownNameError, UsageError
from vidence.make.gates.gate_sequence import judge_pool, judges_words
from vidence.make.gates.rules import JudgeRules


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
