"""Laws of cleaning, merging, ranking, picking, places and times of tracks."""

import itertools
from dataclasses import replace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from subjects.tracks import track, video
from vidence.seeing import visibility as seen
from vidence.seeing.boxes import areas_px, hull_area, iou, share_inside
from vidence.seeing.cleaning import FilterSettings, fill_gaps, keep_usable, smooth
from vidence.seeing.merging import MergeSettings, merge_fragments
from vidence.seeing.refine import RefineSettings, refine
from vidence.seeing.trackrank import rank

WIDTH, HEIGHT, N_FRAMES = 300, 200, 120
SEEDS = st.integers(0, 2**32 - 1)


def wandering(rng, name, *, is_broken=False):
    """A person who wanders through the frame, with gaps, jumps, and boxes that leave it."""
    n = int(rng.integers(1, 25))
    frames = np.sort(rng.choice(N_FRAMES, n, replace=False)) if rng.random() < 0.3 else None
    first = int(rng.integers(0, N_FRAMES - n + 1))
    centres = rng.uniform((0, 0), (WIDTH, HEIGHT)) + np.cumsum(rng.normal(0, 4, (n, 2)), axis=0)
    centres[rng.random(n) < 0.05] += 150
    half = rng.uniform(5, 40, (n, 2))
    boxes = np.concatenate([centres - half, centres + half], axis=1)
    if is_broken:
        boxes[rng.random(n) < 0.2] = np.nan
        boxes[rng.random(n) < 0.1, 2:] = 0
    return track(
        name,
        boxes.tolist(),
        frames=None if frames is None else frames.tolist(),
        first=first,
        confidences=rng.uniform(-0.1, 1, n).tolist(),
        detected=(rng.random(n) < 0.9).tolist(),
        kind="dog" if rng.random() < 0.1 else "person",
    )


def street(seed, *, is_broken=False):
    rng = np.random.default_rng(seed)
    tracks = [wandering(rng, f"t{i}", is_broken=is_broken) for i in range(int(rng.integers(0, 30)))]
    return video(tracks, size=(WIDTH, HEIGHT), n_frames=N_FRAMES)


def usable(seed):
    return refine(street(seed), RefineSettings(steps=())).video


def boxes_of(tracks):
    return sorted(
        (int(frame), *box)
        for one in tracks
        for frame, box in zip(one.frame_indices, one.boxes_px.tolist(), strict=True)
    )


def same(one, other):
    return (
        one.track_id == other.track_id
        and np.array_equal(one.frame_indices, other.frame_indices)
        and np.array_equal(one.boxes_px, other.boxes_px)
        and np.array_equal(one.is_detected, other.is_detected)
    )


LOW = RefineSettings(filter=FilterSettings(least_s=5 / 30, least_area_px=400, least_in_middle_s=2 / 30))


@given(seed=SEEDS)
def test_every_track_and_box_is_accounted_for(seed):
    before = street(seed, is_broken=True)
    found = refine(before, LOW)
    n_tracks, n_boxes = len(before.tracks), sum(len(t.frame_indices) for t in before.tracks)
    for step in found.account.steps:
        assert min(step.boxes_dropped, step.boxes_added, step.tracks_dropped, step.tracks_merged) >= 0
        assert (n_tracks, n_boxes) == (step.tracks_in, step.boxes_in)
        n_tracks -= step.tracks_dropped + step.tracks_merged
        n_boxes += step.boxes_added - step.boxes_dropped
        assert (n_tracks, n_boxes) == (step.tracks_out, step.boxes_out)
    out = [t.track_id for t in found.video.tracks]
    gone = [d.what for d in found.account.dropped] + [m.after for m in found.account.merges]
    assert sorted(out + gone) == sorted(t.track_id for t in before.tracks)
    for one in found.video.tracks:
        assert (one.boxes_px >= 0).all()
        assert (one.boxes_px <= (WIDTH, HEIGHT, WIDTH, HEIGHT)).all()
        assert (one.boxes_px[:, 2:] - one.boxes_px[:, :2] > 0.999).all()


@given(seed=SEEDS)
def test_the_order_of_tracks_does_not_matter(seed):
    before = street(seed, is_broken=True)
    shuffled = np.random.default_rng(seed).permutation(len(before.tracks))
    other = replace(before, tracks=tuple(before.tracks[i] for i in shuffled))
    one, two = refine(before, LOW), refine(other, LOW)
    assert {t.track_id for t in one.video.tracks} == {t.track_id for t in two.video.tracks}
    assert all(same(t, two.video.track(t.track_id)) for t in one.video.tracks)
    assert one.account.merges == two.account.merges
    ranked, again = rank(one.video), rank(two.video)
    assert ranked.track_ids == again.track_ids
    assert np.array_equal(ranked.scores, again.scores)


@given(seed=SEEDS)
def test_a_step_done_twice_is_done_once(seed):
    tracks = usable(seed).tracks
    for one in tracks:
        assert same(keep_usable(one, width_px=WIDTH, height_px=HEIGHT), one)
        once = fill_gaps(one)
        assert same(fill_gaps(once), once)
    eq_2 = MergeSettings(across_edges=True)  # a whole track may cross an edge where a fragment does not
    once, _ = merge_fragments(tracks, eq_2, size_px=(WIDTH, HEIGHT))
    again, merges = merge_fragments(once, eq_2, size_px=(WIDTH, HEIGHT))
    assert merges == ()
    assert all(map(same, once, again))


@given(seed=SEEDS)
def test_merging_never_loses_moves_or_makes_a_box(seed):
    tracks = usable(seed).tracks
    joined, merges = merge_fragments(tracks, MergeSettings(), size_px=(WIDTH, HEIGHT))
    assert boxes_of(joined) == boxes_of(tracks)
    assert len(joined) == len(tracks) - len(merges)
    assert len({m.before for m in merges}) == len({m.after for m in merges}) == len(merges)
    assert all(0 <= m.gap_frames <= 30 and m.iou > 0 for m in merges)
    assert [m.cost for m in merges] == sorted(m.cost for m in merges)


@given(seed=SEEDS, most=st.floats(0, 200))
def test_a_ceiling_only_leaves_out_the_dear_joins(seed, most):
    tracks = usable(seed).tracks
    _, free = merge_fragments(tracks, MergeSettings(most_cost=None), size_px=(WIDTH, HEIGHT))
    _, capped = merge_fragments(tracks, MergeSettings(most_cost=most), size_px=(WIDTH, HEIGHT))
    pairs = {(m.before, m.after) for m in free if m.cost <= most}
    assert {(m.before, m.after) for m in capped} == pairs


@given(seed=SEEDS)
def test_filling_keeps_what_was_there_and_stays_between(seed):
    for one in usable(seed).tracks:
        full = fill_gaps(one)
        was_there = np.isin(full.frame_indices, one.frame_indices)
        assert np.array_equal(full.boxes_px[was_there], one.boxes_px)
        assert not full.is_detected[~was_there].any()
        assert not ((np.diff(full.frame_indices) > 1) & (np.diff(full.frame_indices) <= 31)).any()
        after = np.searchsorted(one.frame_indices, full.frame_indices[~was_there])
        ends = np.stack([one.boxes_px[after - 1], one.boxes_px[after]])
        filled = full.boxes_px[~was_there]
        assert (filled >= ends.min(axis=0) - 1e-9).all()
        assert (filled <= ends.max(axis=0) + 1e-9).all()


@given(seed=SEEDS)
def test_smoothing_keeps_means_and_bounds_and_moves_with_the_boxes(seed):
    for one in usable(seed).tracks:
        calm = smooth(one)
        breaks = np.flatnonzero(np.diff(one.frame_indices) > 1) + 1
        pairs = zip(np.split(one.boxes_px, breaks), np.split(calm.boxes_px, breaks), strict=True)
        for raw, run in pairs:
            np.testing.assert_allclose(run.mean(axis=0), raw.mean(axis=0), rtol=1e-12, atol=1e-9)
            assert (run.max(axis=0) <= raw.max(axis=0) + 1e-9).all()
            assert (run.min(axis=0) >= raw.min(axis=0) - 1e-9).all()
        moved = smooth(replace(one, boxes_px=one.boxes_px + 7.0))
        np.testing.assert_allclose(moved.boxes_px, calm.boxes_px + 7.0, rtol=1e-12)


@given(seed=SEEDS, factor=st.floats(0.5, 8), later_s=st.floats(0, 100))
def test_scores_know_neither_the_size_of_the_video_nor_when_it_starts(seed, factor, later_s):
    one = refine(street(seed), LOW).video
    grown = replace(
        one,
        times_s=one.times_s + later_s,
        tracks=tuple(replace(t, boxes_px=t.boxes_px * factor) for t in one.tracks),
    )
    np.testing.assert_allclose(rank(grown).scores, rank(one).scores, rtol=1e-6, atol=1e-9)


@given(seed=SEEDS)
def test_overlap_is_mutual_and_a_hull_holds_its_boxes(seed):
    rng = np.random.default_rng(seed)
    boxes = np.cumsum(rng.uniform(0, 20, (12, 2, 2)), axis=1).reshape(12, 4)
    these, those = boxes[:6], boxes[6:]
    np.testing.assert_array_equal(iou(these, those), iou(those, these))
    assert ((iou(these, those) >= 0) & (iou(these, those) <= share_inside(these, those) + 1e-12)).all()
    np.testing.assert_allclose(iou(these, these), (areas_px(these) > 0).astype(float))
    areas = [hull_area(boxes[:n]) for n in range(13)]
    assert all(b >= a - 1e-9 for a, b in itertools.pairwise(areas))
    assert areas[-1] >= areas_px(boxes).max() - 1e-9


@given(seed=SEEDS, tie_s=st.floats(0, 6))
def test_leaders_lead_and_spans_agree(seed, tie_s):
    clip = usable(seed)
    spans = seen.visible(clip)
    assert len(spans) == len(clip.tracks)
    best = max((s.duration_s for s in spans), default=0.0)
    leaders = seen.longest(spans, tie_s=tie_s)
    for one in spans:
        assert (one.track_id in leaders) == (best - one.duration_s < tie_s or one.duration_s == best)
        for other in spans:
            shared = seen.overlap_s(one, other)
            assert shared == seen.overlap_s(other, one) <= min(one.duration_s, other.duration_s) + 1e-12
