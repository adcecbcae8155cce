"""What notes add to a forgetful model, task by task; another answer is seen."""

import pytest

from vidence.errors import DataError
from vidence.records import Answered, Evidence
from vidence.report.calibration_reasoning import recovered_reasoning

NEEDED = (1, 2, 3, 5)
SPAN = Evidence(kind="oracle", start_s=0.0, end_s=2.0)
MODEL = "phantom:forgetful?memory=2&notes=true"


@pytest.fixture
def asked(runs):
    """A run in which questions that need so many cards are right."""
    items = [
        runs.question(
            f"q{i}",
            f"v{i // 2}",
            "A",
            evidence=(SPAN,) * NEEDED[i % 4],
            tags={
                "task": "read" if i % 4 == 0 else "sum",
                "demand": str(NEEDED[i % 4]),
                "leak": "no",
            },
        )
        for i in range(16)
    ]

    def make(style, *, right, model=MODEL, first=None):
        marks = [len(item.evidence) in right for item in items]
        if first is not None:
            marks[0] = first
        trials = [
            runs.marked(item, Answered(answer="A" if so else "B"), **runs.shown())
            for item, so in zip(items, marks, strict=True)
        ]
        name = f"{style}-{first}-{'-'.join(map(str, right))}"
        return runs.load(name, items=items, trials=trials, model=model, style=style)

    return make


def test_the_effect_is_that_of_what_is_not_forgotten(asked):
    found = recovered_reasoning(asked("direct", right=(1, 2)), asked("cot", right=NEEDED))
    assert [(one.what, one.planted, one.n) for one in found] == [
        ("reasoning adds, all tasks", 0.5, 16),
        ("reasoning adds, task read", 0.0, 4),
        ("reasoning adds, task sum", pytest.approx(2 / 3), 12),
    ]
    assert all(one.is_recovered for one in found)


def test_a_step_that_adds_less_is_seen_in_its_task(asked):
    found = recovered_reasoning(asked("direct", right=(1, 2)), asked("cot", right=(1, 2, 3)))
    assert [(one.is_recovered, one.n_different) for one in found] == [(False, 4), (True, 0), (False, 4)]


def test_one_wrong_answer_is_seen(asked):
    found = recovered_reasoning(asked("direct", right=(1, 2), first=False), asked("cot", right=NEEDED))
    assert [one.n_different for one in found] == [1, 1, 0]
    assert [one.is_recovered for one in found] == [False, False, True]


def test_other_models_are_refused(asked):
    direct, cot = (asked(style, right=NEEDED, model="scripted:m") for style in ("direct", "cot"))
    with pytest.raises(DataError, match="expected phantom:"):
        recovered_reasoning(direct, cot)
