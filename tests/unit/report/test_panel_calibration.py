"""Views of planted runs: their differences are the planted ones, and another answer is seen."""

from dataclasses import replace

import numpy as np
import pytest

from vidence.records import Answered
from vidence.report.calibration import Compared
from vidence.report.panel_calibration import recovered_by_views

N = 24


@pytest.fixture
def planted(runs):
    def make(model, n_right, *, n_frames=16, selector="midpoints"):
        right = np.random.default_rng(0).permutation(N) < n_right
        items = [runs.question(f"q{i}", f"v{i // 2}", "A") for i in range(N)]
        trials = [
            runs.marked(item, Answered(answer="A" if so else "B"))
            for item, so in zip(items, right, strict=True)
        ]
        name = f"{model}-{selector}-{n_frames}"
        run = runs.load(
            name, items=items, trials=trials, model=f"scripted:{model}", n_frames=n_frames, selector=selector
        )
        truths = tuple(bool(so) for so in right)
        one = Compared(
            label=name,
            model=model,
            n_frames=n_frames,
            planted=truths,
            recovered=truths,
            demands=(1,) * N,
            videos=tuple(item.source_id for item in items),
            told=(False,) * N,
        )
        return run, one

    return make


def test_every_difference_is_the_planted_one(planted):
    pairs = [
        planted("fuser", 6, n_frames=8),
        planted("fuser", 12),
        planted("fuser", 24, n_frames=32),
        planted("fuser", 20, selector="evidence"),
        planted("blind", 3),
        planted("single", 9),
    ]
    found = recovered_by_views(pairs)
    assert [(one.diagnostic, one.label, round(one.planted * N)) for one in found] == [
        ("panel: budgets", "fuser: 16 less 8 frames", 6),
        ("panel: budgets", "fuser: 32 less 16 frames", 12),
        ("panel: selectors", "fuser: evidence less midpoints", 8),
        ("panel: gain", "blind less fuser", -9),
        ("panel: gain", "single less fuser", -3),
    ]
    assert all(one.is_recovered for one in found)


def test_another_answer_is_seen(planted):
    first, second = planted("fuser", 6, n_frames=8), planted("fuser", 12)
    wrong = replace(second[1], planted=(True,) * N)
    (found,) = recovered_by_views([first, (second[0], wrong)])
    assert not found.is_recovered
    assert found.n_different == 12


def test_of_one_run_there_is_nothing_to_say(planted):
    assert recovered_by_views([planted("fuser", 6)]) == ()
