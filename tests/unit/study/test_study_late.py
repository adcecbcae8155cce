"""Late frames of a canvas beyond the limit of a phase are a technical failure."""

import pytest

from vidence.study.study import Phase, PlannedTrial, Response, Study


@pytest.mark.parametrize(
    ("limit", "n_late", "problem", "failed"),
    [(2, 2, "", False), (2, 3, "", True), (0, 1, "", True), (None, 99, "", False), (None, 0, "frozen", True)],
)
def test_a_trial_beyond_the_limit_has_failed(limit, n_late, problem, failed):
    study = Study(phases=(Phase(name="lights", condition="dots", most_late=limit),))
    trial = PlannedTrial(place=0, phase="lights", item_id="i", condition="dots")
    response = Response(participant="P01", trial=trial, late_frames=n_late, problem=problem)
    assert study.failed(response) is failed
