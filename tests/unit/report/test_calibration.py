"""The opening of the demonstration: its figures are those of the runs."""

import numpy as np
import pytest

from vidence.report.calibration import Compared, opening_section
from vidence.tables.charts import table_of
from vidence.tables.rendering import drawing_of


def compared(model, n_frames, recovered, planted=None, selector="midpoints"):
    n = len(recovered)
    return Compared(
        label=f"{model}, {selector}, {n_frames} frames",
        model=model,
        n_frames=n_frames,
        planted=tuple(recovered if planted is None else planted),
        recovered=tuple(recovered),
        demands=tuple([1, 2, 4, 8][i % 4] for i in range(n)),
        videos=tuple(f"v{i // 4}" for i in range(n)),
        told=tuple(i == 0 for i in range(n)),
    )


ALL, NONE, SOME = [True] * 12, [False] * 12, [True, True, False, False] * 3


@pytest.fixture
def section():
    runs = (
        compared("fuser", 8, NONE),
        compared("fuser", 16, ALL),
        compared("fuser", 16, ALL, selector="evidence"),
        compared("forgetful", 16, SOME, planted=ALL),
        compared("blind", 16, NONE),
    )
    return opening_section(runs, rng=np.random.default_rng(0), outcome="So were 3 of 3 others.")


def test_it_says_what_was_asked_what_came_out_and_what_to_do(section):
    asked, found, following = section.paragraphs
    assert "3 videos" in asked
    assert "12 questions" in asked
    assert "54 of 60 answers" in found
    assert found.endswith("So were 3 of 3 others.")
    assert "vidence run table" in following


def test_it_has_three_figures_with_the_numbers_of_the_runs(section):
    scores, frames, cards = section.figures
    assert all(drawing_of(one) is not None for one in section.figures)
    assert [row.values[0].value for row in scores.rows] == [0.0, 1.0, 1.0, 0.5, 0.0]
    assert scores.value("forgetful, midpoints, 16 frames", "planted") == 1.0
    assert [(p.x, p.y.value) for p in frames.series[0].points] == [(8.0, 0.0), (16.0, 1.0)]
    fuser, forgetful = cards.series
    assert [p.y.value for p in fuser.points] == [1.0, 1.0, 1.0, 1.0]
    assert [p.y.value for p in forgetful.points] == [1.0, 1.0, 0.0, 0.0]
    # Of the three questions that need one card one tells its answer, and is left out.
    assert [p.y.n for p in fuser.points] == [2, 3, 3, 3]
    assert [row.label for row in table_of(cards).rows] == ["1", "2", "3 to 4", "5 to 8"]
