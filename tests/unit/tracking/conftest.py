"""A street with three people in clothes of their own, one of whom stands still."""

import pytest

from vidence.media.video import open_video
from videos.walkers import Walker, film

WALKERS = (
    Walker(left_px=10, top_px=60, speed_px=(5, 0)),
    Walker(left_px=270, top_px=75, speed_px=(-4, 0), coat=(20, 120, 40), legs=(90, 60, 30)),
    Walker(left_px=140, top_px=140, coat=(30, 60, 200), legs=(20, 20, 20), frames=(0, 30)),
)
N_FRAMES = 40


@pytest.fixture(scope="session")
def street(tmp_path_factory):
    """The video of the street."""
    path = tmp_path_factory.mktemp("street") / "street.mp4"
    return open_video(film(path, WALKERS, n_frames=N_FRAMES))
