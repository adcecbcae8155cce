"""Views of a question: which frames its selector chooses."""

from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from vidence.ask.prompting.compose import ShownFrame
from vidence.ask.prompting.templates import Templates
from vidence.ask.selection.ranking import ranked
from vidence.ask.selection.search import SearchResult
from vidence.contracts import RetryingSelector, ScoringSelector, Selector, Traits, View
from vidence.errors import DataError, UsageError
from vidence.media.address import MediaPath
from vidence.media.clip import Clip
from vidence.media.encode import EncodedFrame, Encoding
from vidence.media.files import Delivery, MediaFacts
from vidence.records import Item, Media, Selection, VideoPart

Source: TypeAlias = tuple[MediaPath, str]  # the file (or folder), here or at an address, and its kind
# Gives frames of a source, by frame index; raises MediaError where there are none.
Deliver: TypeAlias = Callable[
    [Source, Sequence[int], Encoding], Coroutine[None, None, Mapping[int, EncodedFrame]]
]


@dataclass(frozen=True, kw_only=True)
class Clipped:
    """A question, its media as one clip, and each medium's source and content hash."""

    item: Item
    clip: Clip
    sources: tuple[Source, ...]
    hashes: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class ViewContent:
    """What one view of a question shows.

    `starts_s` is the start of each medium in seconds, if they are played one by one.
    """

    selection: Selection
    frames: tuple[ShownFrame, ...]
    duration_s: float
    starts_s: tuple[float, ...] = ()
    video: VideoPart | None = None


@dataclass(frozen=True, kw_only=True)
class OpenView:
    """A view with its selector opened; `words` are the templates for selectors that ask a model."""

    rules: View
    selector: Selector
    encoding: Encoding
    words: Templates

    @cached_property
    def traits(self) -> Traits:
        """Return the selector's traits."""
        return Traits.of(self.selector)

    @cached_property
    def scoring(self) -> ScoringSelector | None:
        """Return the selector if it ranks frames by scores, else None."""
        return self.selector if isinstance(self.selector, ScoringSelector) else None


@dataclass(kw_only=True)
class DecodeCount:
    """Counts decoding work; a video that is opened twice for pixels would show here.

    `n_scoring_passes` were for selectors, which look at other frames before any is chosen.
    """

    n_passes: int = 0
    n_scoring_passes: int = 0
    n_decoded: int = 0
    passes_by_file: dict[str, int] = field(default_factory=dict)

    def add(self, delivery: Delivery, path: str, *, is_scoring: bool) -> None:
        """Count one pass over a file."""
        self.n_decoded += delivery.n_decoded
        if is_scoring:
            self.n_scoring_passes += 1
        else:
            self.n_passes += 1
            self.passes_by_file[path] = self.passes_by_file.get(path, 0) + 1


def check_whole(item: Item) -> None:
    """Reject an item whose video would be sent only in part, or with more than the question is about."""
    if len(item.media) > 1 or any(
        m.kind != "video" or m.start_s is not None or m.end_s is not None for m in item.media
    ):
        raise UsageError(
            f"item {item.item_id!r} is not about exactly one whole video, as the layout 'video' needs; use "
            "the layout 'images'"
        )


def video_type(path: Path) -> str:
    """Return the media type of a file name.

    >>> video_type(Path("a.webm"))
    'video/webm'
    """
    return {
        ".webm": "video/webm",
        ".mov": "video/quicktime",
        ".mkv": "video/x-matroska",
        ".avi": "video/x-msvideo",
    }.get(path.suffix.lower(), "video/mp4")


def clip_of(parts: Sequence[tuple[Media, MediaFacts]]) -> Clip:
    """Return a question's media as one sequence of frames; spans ``[start_s, end_s)`` are cut out.

    Raises:
        DataError: a span contains no frame of its video.
    """
    times: list[np.ndarray[tuple[int], np.dtype[np.float64]]] = []
    media_indices: list[np.ndarray[tuple[int], np.dtype[np.int64]]] = []
    frame_indices: list[np.ndarray[tuple[int], np.dtype[np.int64]]] = []
    for position, (media, facts) in enumerate(parts):
        start_s = -np.inf if media.start_s is None else media.start_s
        end_s = np.inf if media.end_s is None else media.end_s
        is_in = (facts.times_s >= start_s) & (facts.times_s < end_s)
        if start_s == end_s:  # what is on screen then
            until_s = np.append(facts.times_s[1:], facts.probe.counted.duration_s)
            is_in = (facts.times_s <= start_s) & (until_s > start_s)
        kept = np.flatnonzero(is_in).astype(np.int64)
        if len(kept) == 0:
            last_s = float(facts.times_s[-1])
            raise DataError(
                f"{facts.probe.path}: no frame lies in [{start_s:g} s, {end_s:g} s); its "
                f"{len(facts.times_s)} frames end at {last_s:.3f} s"
            )
        times.append(facts.times_s[kept])
        media_indices.append(np.full(len(kept), position, np.int64))
        frame_indices.append(kept)
    rates = [f.probe.counted.fps for _, f in parts]
    return Clip(
        times_s=np.concatenate(times) if times else np.zeros(0),
        media_indices=np.concatenate(media_indices) if times else np.zeros(0, np.int64),
        frame_indices=np.concatenate(frame_indices) if times else np.zeros(0, np.int64),
        fps=rates[0] if len(rates) == 1 else 0.0,
    )


def check_some(view: OpenView, question: Clipped) -> None:
    """Reject a selection without frames if the video has frames and the selector shows some.

    Raises:
        DataError: always in this case; the question would be asked as if it had no video.
    """
    if question.clip.n_frames and view.traits.needs_media:
        raise DataError(
            f"item {question.item.item_id!r}: {view.rules.selector} chose none of {question.clip.n_frames} "
            f"frames under a budget of {view.rules.n_frames}; use another budget (AKS as released "
            "needs 2^all_depth), another selector, or none"
        )


def few_words(view: OpenView, question: Clipped, n_chosen: int) -> list[str]:
    """Return a note if a score-based selector chose fewer frames than budget and video allow."""
    wanted = min(view.rules.n_frames, question.clip.n_frames)
    if view.rules.retry or n_chosen >= wanted or view.scoring is None:
        return []
    return [f"{n_chosen} frames chosen, {view.rules.n_frames} allowed"]


def parted(view: OpenView, clip: Clip, item: Item) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Split positions into single images, which are always shown, and frames to choose from.

    Selectors without a budget (all, the central one, none) choose from everything.
    """
    is_image = np.array([medium.is_still for medium in item.media], bool)
    if view.traits.budget == "ignored":
        is_image[:] = False
    is_still = is_image[clip.media_indices]
    return np.flatnonzero(is_still).astype(np.int64), np.flatnonzero(~is_still).astype(np.int64)


def budget_left(n_frames: int, n_stills: int) -> int:
    """Return the budget left after single images, at least one frame."""
    return max(1, n_frames - n_stills)


def moving_part(view: OpenView, question: Clipped) -> Clipped | None:
    """Return the question with the frames to choose from; None if it has only single images."""
    stills, moving = parted(view, question.clip, question.item)
    if not len(stills):
        return question
    return replace(question, clip=question.clip.part(moving)) if len(moving) else None


def positions_of(
    view: OpenView, clip: Clip, item: Item, *, scores: NDArray[np.float64] | SearchResult | None = None
) -> NDArray[np.int64]:
    """Return the positions that a view shows, in order.

    Single images are always shown, and count; the budget thins the videos between them, down to one frame. In
    a ranked view they come first, in the item's order.

    Args:
        view: its rules.
        clip: the frames.
        item: the question.
        scores: one per candidate among the frames that are not single images, for a selector that ranks by
            computed scores; or a search's result, as positions among them.
    """
    stills, moving = parted(view, clip, item)
    if not len(stills):
        return _chosen(view, clip, item, n_frames=view.rules.n_frames, scores=scores)
    if not len(moving):
        return stills[:0] if view.rules.retry else stills
    left = budget_left(view.rules.n_frames, len(stills))
    chosen = moving[_chosen(view, clip.part(moving), item, n_frames=left, scores=scores)]
    if view.rules.retry and not len(chosen):
        return chosen
    both = np.concatenate([stills, chosen])
    return both if view.rules.is_ranked else np.sort(both)


def _chosen(
    view: OpenView,
    clip: Clip,
    item: Item,
    *,
    n_frames: int,
    scores: NDArray[np.float64] | SearchResult | None,
) -> NDArray[np.int64]:
    """Return the positions that the view's rule chooses, without single images."""
    selector = view.selector
    if view.rules.retry:
        if not isinstance(selector, RetryingSelector):
            return np.zeros(0, np.int64)
        return selector.again(clip, item, n_frames=n_frames, retry=view.rules.retry)
    if isinstance(scores, SearchResult):
        return scores.positions if view.rules.is_ranked else np.sort(scores.positions)
    if view.rules.is_ranked:
        return ranked(selector, clip, item, n_frames=n_frames, scores=scores)
    if scores is not None and view.scoring is not None:
        return view.scoring.select(clip, item, n_frames=n_frames, scores=scores)
    return selector.select(clip, item, n_frames=n_frames)
