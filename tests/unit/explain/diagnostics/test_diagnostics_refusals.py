"""Options that a diagnostic refuses, each with what it says."""

import pytest

from vidence import catalog
from vidence.errors import UsageError


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("blind-panel", {"protocol": "herbench"}, "asks 4 models and flags at 3; 0 are given"),
        ("blind-panel", {"protocol": "herbench", "models": "a:1|b:2"}, "2 are given"),
        ("blind-panel", {"protocol": "blind"}, "expected one of herbench, humanpcr"),
        ("blind-panel", {"models": "a:1|a:1"}, "different values"),
        ("blind-panel", {"models": "a:1||b:2"}, "different values"),
        ("blind-panel", {"at_least": "4"}, "at_least=4 of 3"),
        ("blind-panel", {"permute": "maybe"}, "true or false"),
        ("blind-panel", {"runs": "0"}, "whole number 1 or above"),
        ("modality", {"repeats": "0"}, "whole number 1 or above"),
        ("modality", {"repeats": "two"}, "repeats='two'"),
        ("modality", {"repeats": "2", "at_least": "3"}, "at_least=3 of 2"),
        ("modality", {"seed": "-1"}, "0 or above"),
        ("mrfs", {"mode": "binary"}, "expected one of exhaustive, nested-bisect, official"),
        ("mrfs", {"max": "0"}, "whole number 1 or above"),
        ("mrfs", {"orders": "0"}, "whole number 1 or above"),
        ("mrfs", {"min": "17"}, "min=17 is above max=16"),
        ("mrfs", {"mode": "official", "text_only": "false"}, "always asks without frames"),
        ("frame-shares", {"view": "uniform"}, "expected one of oracle, plan, ranked"),
        ("frame-shares", {"selector": "aks"}, "selector=aks with view=oracle"),
        ("frame-shares", {"n": "0"}, "1 or above"),
        ("selector-gap", {"selectors": "plan|frag"}, "'plan' is always included"),
        ("selector-gap", {"selectors": "frag|frag"}, "different values"),
        ("selector-gap", {"missing": "ignore"}, "expected one of fill, refuse, skip"),
        ("selector-gap", {"slack_s": "-1"}, "0 or above"),
        ("selector-gap", {"slack_s": "inf"}, "0 or above"),
        ("selector-gap", {"slack_s": "some"}, "cannot be read"),
        ("budgets", {"frames": "8"}, "single amount"),
        ("budgets", {"frames": "8|8"}, "different values"),
        ("budgets", {"frames": "0|8"}, "whole number 1 or above"),
        ("budgets", {"frames": "8|many"}, "cannot be read"),
        ("budgets", {"thinking": "1024"}, "single amount"),
        ("budgets", {"groups": "2-1|3"}, "'2-1' is no bin"),
        ("budgets", {"groups": "some"}, "'some' is no bin"),
        ("budgets", {"repeats": "0"}, "whole number 1 or above"),
        ("best-of-n", {"m": "0"}, "an m of 1 or more"),
        ("best-of-n", {"m": "9"}, "m"),
        ("best-of-n", {"rewards": "self|self"}, "different values"),
        ("best-of-n", {"rewards": "oracle"}, "is no spec of a model"),
        ("mrfs", {"protocol": "herbench-standard", "max": "8"}, r"x = 8 \(expected 16\)"),
        ("mrfs", {"protocol": "herbench-standard", "orders": "3"}, r"orders=3 \(expected 1\)"),
        (
            "mrfs",
            {"protocol": "herbench-standard", "text_only": "false"},
            r"text_only=false \(expected true\)",
        ),
        ("mrfs", {"protocol": "herbench"}, "herbench-standard"),
    ],
)
def test_options_that_cannot_be_are_refused(name, options, message):
    with pytest.raises(UsageError, match=message):
        catalog.create("diagnostic", catalog.Spec(name=name, options=options))
