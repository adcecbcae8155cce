"""What every selector in the catalog must do."""

import inspect
import re
from pathlib import Path

import numpy as np
import pytest

from subjects.clips import timed_clip
from vidence import catalog
from vidence.ask.selection.scored import ScoredSettings
from vidence.contracts import Selector
from vidence.errors import UsageError
from vidence.media.clip import Clip
from vidence.records import Evidence, Item


def goes_by_scores(name: str) -> bool:
    """Those take options, and are held to test_scored_selectors.py."""
    settings = catalog.settings_type("selector", name)
    return settings is not None and issubclass(settings, ScoredSettings)


# Every selector as it is, and those that take an argument with one.
PLAIN = tuple(name for name in catalog.ready("selector") if not goes_by_scores(name))
FUNCTION = f"{Path(__file__).parents[1] / 'subjects' / 'functions.py'}:opening"
SPECS = (*PLAIN, FUNCTION, "fps:3", "evidence:only", "oracle:fill", "evidence-apart?gap_s=0.5")
CLIPS = {
    "one frame": timed_clip(np.zeros(1), fps=0.0),
    "two frames": timed_clip(np.array([0.0, 0.5]), fps=2.0),
    "steady": timed_clip(np.arange(97) / 25, fps=25.0),
    "variable": timed_clip(np.cumsum(np.tile([0.02, 0.4, 0.1], 20)) - 0.02, fps=5.8),
    "cut": timed_clip(5 + np.arange(40) / 10, fps=10.0, first_index=50),
}
BUDGETS = (1, 2, 3, 7, 16, 64, 500)


def make(spec: str) -> Selector:
    return catalog.create("selector", spec)


def asking(clip: Clip) -> Item:
    """An item with evidence at the first frame of the clip and in its last quarter."""
    n = clip.n_frames
    spans = (
        (
            Evidence(frames=(int(clip.frame_indices[0]),)),
            Evidence(kind="proactive", start_s=float(clip.times_s[n - 1 - n // 4])),
        )
        if n
        else ()
    )
    return Item(item_id="q1", question="?", answer="A", choices=("x", "y"), evidence=spans)


def expected_sizes(selector: Selector, n_frames: int, available: int) -> range:
    """How many frames may come; a selector says in `budget` when it does not fill it exactly."""
    fill = min(n_frames, available)
    if getattr(selector, "repeats", False):
        return range(n_frames, n_frames + 1)
    sizes = {
        "exact": range(fill, fill + 1),
        "one over": range(fill, min(fill + 1, available) + 1),
        "at most": range(fill + 1),
        "ignored": range(available + 1),
    }
    return sizes[getattr(selector, "budget", "exact")]


@pytest.mark.parametrize("clip", CLIPS.values(), ids=CLIPS)
@pytest.mark.parametrize("spec", SPECS)
def test_positions_are_in_range_in_order_distinct_and_within_the_budget(spec: str, clip: Clip) -> None:
    selector = make(spec)
    for n_frames in BUDGETS:
        chosen = selector.select(clip, asking(clip), n_frames=n_frames)
        assert chosen.dtype == np.int64
        assert chosen.ndim == 1
        assert len(chosen) in expected_sizes(selector, n_frames, clip.n_frames)
        assert ((chosen >= 0) & (chosen < clip.n_frames)).all()
        steps = np.diff(chosen)
        assert (steps >= 0).all() if getattr(selector, "repeats", False) else (steps > 0).all()


@pytest.mark.parametrize("spec", SPECS)
def test_the_same_question_gives_the_same_frames_and_leaves_the_clip_as_it_was(spec: str) -> None:
    clip = CLIPS["variable"]
    selector = make(spec)
    first = selector.select(clip, asking(clip), n_frames=7)
    assert selector.select(clip, asking(clip), n_frames=7).tolist() == first.tolist()
    assert make(spec).select(clip, asking(clip), n_frames=7).tolist() == first.tolist()
    clip = CLIPS["steady"]
    before = clip.times_s.copy(), clip.media_indices.copy(), clip.frame_indices.copy()
    make(spec).select(clip, asking(clip), n_frames=7)
    for array, copy in zip((clip.times_s, clip.media_indices, clip.frame_indices), before, strict=True):
        np.testing.assert_array_equal(array, copy)


@pytest.mark.parametrize("spec", SPECS)
def test_a_clip_without_frames_gives_none_and_a_budget_of_nothing_is_refused(spec: str) -> None:
    empty = timed_clip(np.empty(0), fps=0.0)
    chosen = make(spec).select(empty, asking(empty), n_frames=4)
    assert chosen.tolist() == []
    assert chosen.dtype == np.int64
    selector = make(spec)
    clip = CLIPS["steady"]
    for n_frames in (0, -3):
        if getattr(selector, "budget", "exact") == "ignored":
            assert len(selector.select(clip, asking(clip), n_frames=n_frames)) <= clip.n_frames
        else:
            with pytest.raises(UsageError, match=str(n_frames)):
                selector.select(clip, asking(clip), n_frames=n_frames)
    selector = make(spec)
    assert selector.version >= 1
    told = re.search("time order|order of time", inspect.getdoc(selector.select) or "")
    assert told or spec in ("none", "central")
