"""Laws of the uniform rules, the time grid and annotated evidence."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from subjects.clips import timed_clip
from vidence.ask.selection import uniform
from vidence.ask.selection.candidates import nearest_to_grid
from vidence.ask.selection.evidence import AnnotatedEvidence, shares
from vidence.media.clip import Clip
from vidence.records import Evidence, Item

COUNTS = st.integers(1, 20_000)
BUDGETS = st.integers(1, 300)


@pytest.mark.parametrize("rule", [uniform.midpoints, uniform.left_edges, uniform.inclusive_distinct])
@given(n_total=COUNTS, k=BUDGETS)
def test_a_rule_fills_the_budget_with_different_frames_in_order(rule, n_total, k):
    positions = rule(n_total, k)
    assert len(positions) == min(k, n_total)
    assert positions[0] >= 0
    assert positions[-1] < n_total
    assert (np.diff(positions) > 0).all()


@given(n_total=COUNTS, k=st.integers(2, 300))
def test_inclusive_frames_reach_both_ends(n_total: int, k: int) -> None:
    positions = uniform.inclusive(n_total, k)
    assert len(positions) == k
    assert (positions[0], positions[-1]) == (0, n_total - 1)
    assert (np.diff(positions) >= 0).all()


@given(n_total=COUNTS, k=BUDGETS)
def test_each_midpoint_lies_in_its_own_segment_and_mirrors(n_total: int, k: int) -> None:
    positions = uniform.midpoints(n_total, k)
    k = len(positions)
    for i, position in enumerate(positions.tolist()):
        assert i * n_total <= position * k + k - 1
        assert position * k < (i + 1) * n_total
    # Seen from the end the middles are the same, up to the frame that rounding takes.
    mirrored = n_total - 1 - positions[::-1]
    assert (np.abs(mirrored - positions) <= 1).all()


@given(
    gaps=st.lists(st.integers(1, 400), min_size=0, max_size=60),
    grid=st.integers(1, 500),
    start=st.integers(0, 5000),
)
def test_each_frame_on_the_grid_is_nearest_to_a_point_and_each_point_has_its_frame(gaps, grid, start):
    # Whole milliseconds, so that the search over the points below is exact.
    times_ms = start + np.concatenate([[0], np.cumsum(gaps, dtype=np.int64)]).astype(np.int64)
    expected = set()
    for point in range(start, int(times_ms[-1]) + 1, grid):
        expected.add(int(np.argmin(np.abs(times_ms - point))))
    assert nearest_to_grid(times_ms / 1000, 1000 / grid).tolist() == sorted(expected)


@st.composite
def annotated(draw: st.DrawFn) -> tuple[Clip, Item]:
    n_frames = draw(st.integers(1, 80))
    clip = timed_clip(np.arange(n_frames) / 8, fps=8.0)
    evidence = []
    for _ in range(draw(st.integers(1, 6))):
        if draw(st.booleans()):
            frames = draw(st.lists(st.integers(0, n_frames - 1), min_size=1, max_size=4))
            evidence.append(Evidence(frames=tuple(frames)))
        else:
            a, b = sorted(draw(st.lists(st.integers(0, n_frames), min_size=2, max_size=2)))
            evidence.append(Evidence(start_s=a / 8, end_s=b / 8))
    return clip, Item(item_id="q", question="?", answer="A", evidence=tuple(evidence))


def allowed(clip: Clip, evidence: Evidence) -> set[int]:
    """The frames of one piece of evidence, found frame by frame."""
    if evidence.frames:
        return set(evidence.frames)
    assert evidence.start_s is not None
    assert evidence.end_s is not None
    inside = {i for i, t in enumerate(clip.times_s) if evidence.start_s <= t < evidence.end_s}
    return inside or {max(i for i, t in enumerate(clip.times_s) if t <= evidence.start_s)}


@given(case=annotated(), n_frames=st.integers(1, 100))
def test_evidence_comes_first_and_fills_the_budget(case: tuple[Clip, Item], n_frames: int) -> None:
    clip, item = case
    pieces = [allowed(clip, evidence) for evidence in item.evidence]
    evidence_frames = set().union(*pieces)
    only = set(AnnotatedEvidence(only=True).select(clip, item, n_frames=n_frames).tolist())
    filled = set(AnnotatedEvidence(only=False).select(clip, item, n_frames=n_frames).tolist())
    assert only <= evidence_frames
    assert len(only) == min(n_frames, len(evidence_frames))
    assert len(filled) == min(n_frames, clip.n_frames)
    assert filled & evidence_frames == only
    n_groups = sum(len(e.frames) or 1 for e in item.evidence)
    if n_frames >= n_groups:
        for evidence, piece in zip(item.evidence, pieces, strict=True):
            assert piece <= only if evidence.frames else piece & only


@given(sizes=st.lists(st.integers(1, 30), min_size=1, max_size=8), budget=st.integers(0, 200))
def test_shares_spend_the_budget_and_differ_only_where_frames_run_out(sizes: list[int], budget: int) -> None:
    given_frames = shares(sizes, budget)
    assert sum(given_frames) == min(budget, sum(sizes))
    assert all(0 <= got <= size for got, size in zip(given_frames, sizes, strict=True))
    most = max(given_frames)
    assert all(got >= most - 1 for got, size in zip(given_frames, sizes, strict=True) if got < size)
