"""Frames of the annotated evidence, and others to fill the budget."""

from itertools import chain, zip_longest
from typing import Annotated, ClassVar, Literal

import numpy as np
from msgspec import Meta

from vidence.ask.selection.ranking import spread
from vidence.ask.selection.uniform import Positions, check_budget, midpoints
from vidence.contracts import Selector
from vidence.errors import DataError
from vidence.media.clip import Clip
from vidence.records import Evidence, Item, Record

# Annotators write whole seconds: a span may stick out of the video by this much.
SLACK_S = 1.0

Frames = Annotated[
    Literal["fill", "only"],
    Meta(description="fill: uniform frames from elsewhere up to the budget; only: none"),
]


class Settings(Record):
    """Options of the selector."""

    positional: ClassVar[str] = "frames"

    frames: Frames = "fill"


def _span(clip: Clip, evidence: Evidence, item_id: str) -> Positions:
    """Return the frames with ``start_s <= time < end_s``; without any, the frame on screen at `start_s`."""
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


def _listed(clip: Clip, evidence: Evidence, item_id: str) -> list[Positions]:
    """Return the frames that the annotation lists by index."""
    wanted, there = np.asarray(evidence.frames, np.int64), clip.frame_indices
    absent = np.flatnonzero(~np.isin(wanted, there))
    if len(absent):
        raise DataError(
            f"item {item_id!r}: evidence names frame {wanted[absent[0]]}, but its video has frames "
            f"{there[0]} to {there[-1]}; correct the frames, or choose another selector"
        )
    return list(np.searchsorted(there, wanted).astype(np.int64)[:, None])


def located(item: Item) -> tuple[Evidence, ...]:
    """Return the evidence with a location: frames, a start or an end."""
    return tuple(e for e in item.evidence if e.frames or e.start_s is not None or e.end_s is not None)


def pieces(clip: Clip, item: Item) -> list[list[Positions]]:
    """Return the positions of each piece of evidence, in groups, in the order of the annotation.

    A span is one group; of evidence that lists frames, each frame is a group and its span is not used.

    Raises:
        DataError: no evidence, evidence outside the video, or several media (evidence does not say
            which one it is in).
    """
    places = located(item)
    if not places:
        raise DataError(
            f"item {item.item_id!r} has no annotated evidence; expected spans or frames in 'evidence'. "
            "Choose another selector, for example midpoints, or omit the item"
        )
    n_media = len(np.unique(clip.media_indices))
    if n_media > 1:
        raise DataError(
            f"item {item.item_id!r} has evidence and {n_media} media; expected one, since evidence does "
            "not say which of them it is in. Choose another selector"
        )
    return [_listed(clip, e, item.item_id) if e.frames else [_span(clip, e, item.item_id)] for e in places]


def shares(sizes: list[int], budget: int) -> list[int]:
    """Return how many frames each group gives: one each in turn, until budget or frames are used up.

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


def _middles(group: Positions, n: int) -> Positions:
    """Return `n` of a group's positions; `n` may be 0."""
    return group[midpoints(len(group), n)] if n else group[:0]


class AnnotatedEvidence(Selector):
    """The annotated spans first, shared out evenly, then uniform frames from elsewhere.

    Every span (and every frame that the annotation lists) gives one frame before any gives a second,
    in the order of the annotation while the budget lasts; a span gives the middles of equal segments.
    Where spans overlap, what is left over goes to other frames of the evidence. When the evidence has
    no more frames, the rest of the budget are the middles of equal segments of the frames outside it;
    with `only`, there is no rest. With `by_piece` the frames that one piece of evidence lists are one
    group and share its turn; with `may_lack` an item without evidence gets uniform frames. Times are
    seconds from the first frame of the file; a span shorter than a frame gives the frame on screen at its
    start. All distinct, in time order.

    Source: HERBench, section 5.1, footnote 1 (oracle frames plus others up to the budget), and
        section 5.2 (oracle frames only: ``evidence:only``).
    Departs: the paper uses curated frame indices and does not say how it takes them out of spans, nor
        which other frames it takes; both are ours.
    """

    version = 1

    def __init__(self, *, only: bool, by_piece: bool = False, may_lack: bool = False) -> None:
        self.only = only
        self.by_piece = by_piece
        self.may_lack = may_lack
        self.budget = "at most" if only else "exact"

    def select(self, clip: Clip, item: Item, *, n_frames: int) -> Positions:
        """Return positions in `clip`, in time order; min(n_frames, available), fewer with `only`.

        Raises:
            UsageError: `n_frames` is not positive.
            DataError: see `pieces`.
        """
        given, rest = self._chosen(clip, item, n_frames)
        return np.unique(np.concatenate([*given, *rest]))

    def rank(self, clip: Clip, item: Item, *, n_frames: int) -> Positions:
        """Return what `select` chooses, best first: one frame per piece of evidence, then a second, ...

        The pieces come in the order of the annotation; the first frame of a piece is the middle one of
        those that it gives. Where pieces overlap, a frame that shows two comes once. The frames outside
        the evidence come last, spread over all of them.

        Raises:
            UsageError: `n_frames` is not positive.
            DataError: see `pieces`.
        """
        given, rest = self._chosen(clip, item, n_frames)
        ordered = [part[spread(len(part))].tolist() for part in (*given, *rest)]
        turns = [p for turn in zip_longest(*ordered[: len(given)]) for p in turn if p is not None]
        return np.array(list(dict.fromkeys([*turns, *chain(*ordered[len(given) :])])), np.int64)

    def _chosen(self, clip: Clip, item: Item, n_frames: int) -> tuple[list[Positions], list[Positions]]:
        """Return each piece's frames (they may overlap); then further ones, and others."""
        check_budget(n_frames)
        if not clip.n_frames:
            return [], [np.empty(0, np.int64)]
        if self.may_lack and not located(item):
            return [], [midpoints(clip.n_frames, n_frames)]
        entries = pieces(clip, item)
        if self.by_piece:
            entries = [[np.unique(np.concatenate(piece))] for piece in entries]
        budgets = iter(shares([len(group) for piece in entries for group in piece], n_frames))
        given = [np.concatenate([_middles(group, next(budgets)) for group in piece]) for piece in entries]
        chosen = np.zeros(clip.n_frames, np.bool_)
        chosen[np.concatenate(given)] = True
        is_evidence = np.zeros(clip.n_frames, np.bool_)
        is_evidence[np.concatenate([group for piece in entries for group in piece])] = True
        rest: list[Positions] = []
        for pool in [is_evidence] if self.only else [is_evidence, ~is_evidence]:
            left = np.flatnonzero(pool & ~chosen).astype(np.int64)
            rest.append(_middles(left, min(n_frames - int(chosen.sum()), len(left))))
            chosen[rest[-1]] = True
        return given, rest


def create(settings: Settings) -> AnnotatedEvidence:
    """Create the selector."""
    return AnnotatedEvidence(only=settings.frames == "only")
