"""The frames that the annotation points at, and others to fill the budget."""

import numpy as np

from vidence.contracts import Selector
from vidence.errors import DataError, UsageError
from vidence.media.clip import Clip
from vidence.records import Evidence, Item
from vidence.selection import _rules

# Annotators write whole seconds: a span may stick out of the video by this much.
SLACK_S = 1.0


def _span(clip: Clip, evidence: Evidence, item_id: str) -> _rules.Positions:
    """The frames with ``start_s <= time < end_s``; where there are none, the one on screen at `start_s`."""
    first_s, last_s = float(clip.times_s[0]), float(clip.times_s[-1])
    end_of_clip_s = last_s + (1 / clip.fps if clip.fps > 0 else 0.0)
    start_s = first_s if evidence.start_s is None else evidence.start_s
    end_s = end_of_clip_s if evidence.end_s is None else evidence.end_s
    inside = first_s - SLACK_S <= start_s <= min(end_s, end_of_clip_s) and end_s <= end_of_clip_s + SLACK_S
    if not inside:
        raise DataError(
            f"item {item_id!r}: evidence from {start_s} s to {end_s} s, but its video has frames from "
            f"{first_s:.3f} s to {end_of_clip_s:.3f} s; correct the times, or choose another selector"
        )
    a, b = np.searchsorted(clip.times_s, [start_s, end_s])
    if a == b:
        on_screen = max(int(np.searchsorted(clip.times_s, start_s, "right")) - 1, 0)
        return np.array([on_screen], np.int64)
    return np.arange(a, b, dtype=np.int64)


def _listed(clip: Clip, evidence: Evidence, item_id: str) -> list[_rules.Positions]:
    """The frames that the annotation names by index, one by one."""
    wanted, there = np.asarray(evidence.frames, np.int64), clip.frame_indices
    absent = np.flatnonzero(~np.isin(wanted, there))
    if len(absent):
        raise DataError(
            f"item {item_id!r}: evidence names frame {wanted[absent[0]]}, but its video has frames "
            f"{there[0]} to {there[-1]}; correct the frames, or choose another selector"
        )
    return list(np.searchsorted(there, wanted).astype(np.int64)[:, None])


def groups(clip: Clip, item: Item) -> list[_rules.Positions]:
    """The positions that each piece of evidence points at, in the order of the annotation.

    A span is one group; of evidence that lists frames, each frame is a group and its span is not used.

    Source: ours.
    Departs: no.

    Raises:
        DataError: no evidence, evidence outside the video, or several media (evidence does not say
            which one it is in).
    """
    located = [e for e in item.evidence if e.frames or e.start_s is not None or e.end_s is not None]
    if not located:
        raise DataError(
            f"item {item.item_id!r} has no annotated evidence; expected spans or frames in 'evidence'. "
            "Choose another selector, for example midpoints, or leave the item out"
        )
    n_media = len(np.unique(clip.media_indices))
    if n_media > 1:
        raise DataError(
            f"item {item.item_id!r} has evidence and {n_media} media; expected one, since evidence does "
            "not say which of them it is in. Choose another selector"
        )
    found: list[_rules.Positions] = []
    for evidence in located:
        if evidence.frames:
            found += _listed(clip, evidence, item.item_id)
        else:
            found.append(_span(clip, evidence, item.item_id))
    return found


def shares(sizes: list[int], budget: int) -> list[int]:
    """How many frames each group gives: one each in turn, until the budget or the frames are spent.

    Source: ours.
    Departs: no.

    >>> shares([1, 100, 100], 8)
    [1, 4, 3]
    """
    given = [0] * len(sizes)
    while budget > 0 and given != sizes:
        for i, size in enumerate(sizes):
            if given[i] < size and budget > 0:
                given[i] += 1
                budget -= 1
    return given


class AnnotatedEvidence:
    """The annotated spans first, shared out evenly, then uniform frames from elsewhere.

    Every span (and every frame that the annotation lists) gives one frame before any gives a second,
    in the order of the annotation while the budget lasts; a span gives the middles of equal segments.
    Where spans overlap, what is left over goes to other frames of the evidence. When the evidence has
    no more frames, the rest of the budget are the middles of equal segments of the frames outside it;
    with `only`, there is no rest. Times are seconds from the first frame of the file; a span shorter
    than a frame gives the frame on screen at its start. All distinct, in the order of time.

    Source: HERBench, section 5.1, footnote 1 (oracle frames plus others up to the budget), and
        section 5.2 (oracle frames only: ``evidence:only``).
    Departs: the paper uses curated frame indices and does not say how it takes them out of spans, nor
        which other frames it takes; both are ours.
    """

    version = 1

    def __init__(self, *, only: bool) -> None:
        self.only = only
        self.budget = "at most" if only else "exact"

    def select(self, clip: Clip, item: Item, *, n_frames: int) -> _rules.Positions:
        """Positions in `clip`, in the order of time; min(n_frames, available), fewer with `only`.

        Raises:
            UsageError: `n_frames` is not positive.
            DataError: see `groups`.
        """
        _rules.check_budget(n_frames)
        if not clip.n_frames:
            return np.empty(0, np.int64)
        found = groups(clip, item)
        chosen = np.zeros(clip.n_frames, np.bool_)
        for group, share in zip(found, shares([len(g) for g in found], n_frames), strict=True):
            if share:
                chosen[group[_rules.midpoints(len(group), share)]] = True
        is_evidence = np.zeros(clip.n_frames, np.bool_)
        is_evidence[np.concatenate(found)] = True
        pools = [is_evidence] if self.only else [is_evidence, ~is_evidence]
        for pool in pools:
            left = np.flatnonzero(pool & ~chosen)
            missing = min(n_frames - int(chosen.sum()), len(left))
            if missing:
                chosen[left[_rules.midpoints(len(left), missing)]] = True
        return np.flatnonzero(chosen).astype(np.int64)


def create(argument: str = "") -> Selector:
    """The selector; the argument ``only`` leaves out the frames outside the evidence.

    Source: see `AnnotatedEvidence`.
    Departs: see `AnnotatedEvidence`.

    Raises:
        UsageError: another argument.
    """
    if argument not in ("", "only"):
        raise UsageError(f"evidence:{argument} means nothing; expected 'evidence' or 'evidence:only'")
    return AnnotatedEvidence(only=argument == "only")
