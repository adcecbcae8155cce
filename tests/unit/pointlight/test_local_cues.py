"""Local cues: nothing that is measured of single dots tells the figure from a scrambled mask."""

import numpy as np
import pytest

from vidence.errors import UsageError
from vidence.pointlight.figures import staged
from vidence.pointlight.local_cues import CUES, detection, local_cues, roc_area
from vidence.pointlight.specs import spec_of
from vidence.pointlight.stimulus import Stimulus, make_stimulus
from vidence.pointlight.walker import ACTIONS


def masked(action: str, **settings: str) -> list[Stimulus]:
    """Three clips of an action with 39 noise dots."""
    return [
        make_stimulus(
            staged([f"walker:{action}?duration_s={2 + 0.3 * seed}"]),
            spec_of({"n_noise": "39", "width_px": "128", "height_px": "128", "seed": str(seed)} | settings),
        )
        for seed in range(3)
    ]


@pytest.mark.parametrize("framing", ["fixed", "follow"])
@pytest.mark.parametrize("yaw_deg", ["0", "45", "90"])
@pytest.mark.parametrize("action", ACTIONS)
def test_no_local_cue_tells_the_figure_from_its_mask(action: str, yaw_deg: str, framing: str):
    for name, area in detection(masked(action, yaw_deg=yaw_deg, framing=framing)).items():
        assert area == pytest.approx(0.5, abs=0.01), name


@pytest.mark.parametrize("action", ACTIONS)
def test_with_kept_phases_no_part_of_the_clip_does_either(action: str):
    made = masked(action, yaw_deg="45", noise_phases="kept")
    for first in (0, 11, 40):
        for name, area in detection(made, first=first, n_frames=8).items():
            assert area == pytest.approx(0.5, abs=0.01), name


@pytest.mark.parametrize("extra", [{"jitter_m": "0.02"}, {"dropout": "0.2"}, {"life_frames": "4"}])
def test_what_is_done_to_the_figure_is_done_to_the_mask(extra: dict[str, str]):
    for name, area in detection(masked("walk", **extra)).items():
        assert area == pytest.approx(0.5, abs=0.05), name


def test_the_cues_find_a_mask_of_dots_that_stand_still():
    found = detection(masked("run", noise="random", noise_life_frames="1000"))
    assert found["mean speed"] > 0.9  # some of them go elsewhere once
    assert found["still"] < 0.05


def test_cues_of_dots_whose_motion_is_known():
    made = masked("stand")[0]
    places = np.full((5, 3, 2), np.nan)
    places[:, 0] = np.arange(5)[:, None] * [3.0, 4.0]
    places[:, 1] = [1.0, 1.0]
    known = Stimulus(
        **{
            f: getattr(made, f)
            for f in ("spec", "radii_px", "levels", "owners", "names", "fps", "px_per_m", "background")
        },
        centres_px=places,
        depths_m=np.zeros((5, 3)),
    )
    found = local_cues(known)
    assert [found[cue][0] for cue in CUES] == [20.0, 12.0, 5.0, 5.0, 5.0, 0.0]
    assert [found[cue][1] for cue in CUES] == [0.0, 0.0, 0.0, 0.0, 0.0, 1.0]
    assert all(np.isnan(found[cue][2]) for cue in CUES)


def test_an_area_needs_both_sides():
    assert roc_area(np.array([1.0]), np.array([1.0])) == 0.5
    with pytest.raises(UsageError, match="noise dots are needed"):
        roc_area(np.array([1.0]), np.array([]))
