"""The trackers by their names, on boxes whose tracks are known."""

import numpy as np
import pytest

from subjects.tracks import things
from vidence import catalog
from vidence.errors import UsageError
from vidence.seeing.trackers import deepsort, sort

# Two people side by side in 40 frames, each moving by 2 pixels a frame.
WALKERS = things(
    [
        (frame, "person", (left + 2 * frame, 60, left + 2 * frame + 40, 160))
        for frame in range(40)
        for left in (0, 300)
    ]
)
FRAMES = range(40)


def spans(tracks):
    """First and last frame, and the left edge in the first."""
    return sorted((t.first_frame, t.last_frame, float(t.boxes_px[0][0])) for t in tracks)


def test_deepsort_tells_people_apart_by_their_vectors_and_names_who_makes_them():
    tracker = deepsort.create(deepsort.Settings())
    assert tracker.describer == "colour"
    vectors = np.tile(np.eye(2, dtype=np.float32), (40, 1))
    found = tracker.track(WALKERS, frame_indices=FRAMES, fps=25, vectors=vectors)
    assert spans(found) == [(0, 39, 0), (0, 39, 300)]
    named = catalog.create("tracker", "deepsort:mobilenet?max_age_s=7")
    assert (named.describer, named.settings.max_age_s) == ("mobilenet", 7)


def test_an_unknown_describer_is_refused():
    with pytest.raises(UsageError, match="Did you mean 'colour'"):
        deepsort.create(deepsort.Settings(describer="colours"))


def test_sort_follows_both_where_its_library_is():
    pytest.importorskip("trackers")
    tracker = sort.create(sort.Settings())
    assert tracker.identity.startswith("sort trackers ")
    assert [last for _, last, _ in spans(tracker.track(WALKERS, frame_indices=FRAMES, fps=25))] == [39, 39]


def test_sort_without_its_library_says_what_to_install(monkeypatch):
    monkeypatch.setattr(sort.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(UsageError, match="needs the library 'trackers'; run: "):
        sort.create(sort.Settings())
