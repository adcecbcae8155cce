"""The street that the tests of tracking walk on."""

import pytest

from vidence.media.video import open_video
from videos.walkers import STREET, STREET_FRAMES, film


@pytest.fixture(scope="session")
def street(tmp_path_factory):
    """Its video."""
    return open_video(film(tmp_path_factory.mktemp("street") / "street.mp4", STREET, n_frames=STREET_FRAMES))
