"""What a question's media are as one sequence of frames, and which of them a selector shows."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import cast

import numpy as np
from numpy.typing import NDArray

from vidence.ask.selection.ranking import ranked
from vidence.ask.selection.seeking import SearchResult
from vidence.contracts import ScoringSelector, Selector
from vidence.engine.showing import Clipped, ViewRules
from vidence.errors import DataError, UsageError
from vidence.media.clip import Clip
from vidence.media.facts import MediaFacts
from vidence.records import Item, Media


def check_whole(item: Item) -> None:
    """Refuse what would be sent only in part, or with more than the question is about."""
    if len(item.media) > 1 or any(
        m.kind != "video" or m.start_s is not None or m.end_s is not None for m in item.media
    ):
        raise UsageError(
            f"item {item.item_id!r} is not about exactly one whole video, and the layout 'video' sends "
            "nothing else; use the layout 'images' for it"
        )


def video_type(path: Path) -> str:
    """The media type that a file name stands for.

    >>> video_type(Path("a.webm"))
    'video/webm'
    """
    kinds = {
        ".webm": "video/webm",
        ".mov": "video/quicktime",
        ".mkv": "video/x-matroska",
        ".avi": "video/x-msvideo",
    }
    return kinds.get(path.suffix.lower(), "video/mp4")


def clip_of(parts: Sequence[tuple[Media, MediaFacts]]) -> Clip:
    """One question's media as one sequence of frames; spans ``[start_s, end_s)`` are cut out.

    Raises:
        DataError: a span holds no frame of its video.
    """
    times: list[np.ndarray[tuple[int], np.dtype[np.float64]]] = []
    media_indices: list[np.ndarray[tuple[int], np.dtype[np.int64]]] = []
    frame_indices: list[np.ndarray[tuple[int], np.dtype[np.int64]]] = []
    for position, (media, facts) in enumerate(parts):
        start_s = -np.inf if media.start_s is None else media.start_s
        end_s = np.inf if media.end_s is None else media.end_s
        kept = np.flatnonzero((facts.times_s >= start_s) & (facts.times_s < end_s)).astype(np.int64)
        if len(kept) == 0:
            last_s = float(facts.times_s[-1])
            raise DataError(
                f"{facts.probe.path}: no frame lies in [{start_s:g} s, {end_s:g} s); "
                f"its {len(facts.times_s)} frames end at {last_s:.3f} s"
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


def needs_media(selector: Selector) -> bool:
    """Whether a selector shows frames at all; ``none`` says that it does not."""
    return bool(getattr(selector, "needs_media", True))


def check_some(view: ViewRules, question: Clipped) -> None:
    """Refuse a choice of no frame at all, where there are frames and the selector shows some.

    Raises:
        DataError: always in such a case; the question would be asked as if it had no video.
    """
    if question.clip.n_frames and needs_media(view.selector):
        raise DataError(
            f"item {question.item.item_id!r}: {view.selector_name} chose none of {question.clip.n_frames} "
            f"frames under a budget of {view.n_frames}. Give it another budget (AKS as released gives none "
            "where the budget is below 2^all_depth) or another selector; to ask in words alone, take none"
        )


def few_words(view: ViewRules, question: Clipped, n_chosen: int) -> list[str]:
    """A note where a selector that goes by scores chose fewer frames than the budget and the video allow."""
    wanted = min(view.n_frames, question.clip.n_frames)
    if view.retry or n_chosen >= wanted or not hasattr(view.selector, "score_rules"):
        return []
    return [f"{n_chosen} frames chosen, {view.n_frames} allowed"]


def parted(selector: Selector, clip: Clip, item: Item) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The positions of single images, which are always shown, and of all else, from which is chosen.

    Selectors that ignore the budget (all, the central one, none) choose from everything.
    """
    is_image = np.array([medium.kind == "image" for medium in item.media], bool)
    if getattr(selector, "budget", "") == "ignored":
        is_image[:] = False
    is_still = is_image[clip.media_indices]
    return np.flatnonzero(is_still).astype(np.int64), np.flatnonzero(~is_still).astype(np.int64)


def budget_left(n_frames: int, n_stills: int) -> int:
    """What single images leave of a budget: one frame at least."""
    return max(1, n_frames - n_stills)


def moving_part(selector: Selector, question: Clipped) -> Clipped | None:
    """The question with the frames that are chosen from; None where all that it has are single images."""
    stills, moving = parted(selector, question.clip, question.item)
    if not len(stills):
        return question
    return replace(question, clip=question.clip.part(moving)) if len(moving) else None


def positions_again(
    selector: Selector, clip: Clip, item: Item, *, n_frames: int, retry: int
) -> NDArray[np.int64]:
    """The positions to show when a reply could not be read; none where the selector has no others.

    Args:
        selector: the rule.
        clip: the frames.
        item: the question.
        n_frames: the budget.
        retry: which retry it is, from 1.
    """
    again = getattr(selector, "again", None)
    if again is None:
        return np.zeros(0, np.int64)
    positions: NDArray[np.int64] = again(clip, item, n_frames=n_frames, retry=retry)
    return positions


def positions_of(
    view: ViewRules, clip: Clip, item: Item, *, scores: NDArray[np.float64] | SearchResult | None = None
) -> NDArray[np.int64]:
    """The positions that a view shows, in its order.

    Single images are always shown, and count; the budget thins the videos between them, down to one frame.
    In a ranked view they come first, in the order of the item.

    Args:
        view: its rules.
        clip: the frames.
        item: the question.
        scores: one for each candidate among the frames that are no single images, for a selector that goes
            by scores which are not in a file; or what a search ended with, in positions among them.
    """
    stills, moving = parted(view.selector, clip, item)
    if not len(stills):
        return _chosen(view, clip, item, n_frames=view.n_frames, scores=scores)
    if not len(moving):
        return stills[:0] if view.retry else stills
    left = budget_left(view.n_frames, len(stills))
    chosen = moving[_chosen(view, clip.part(moving), item, n_frames=left, scores=scores)]
    if view.retry and not len(chosen):
        return chosen
    both = np.concatenate([stills, chosen])
    return both if view.is_ranked else np.sort(both)


def _chosen(
    view: ViewRules,
    clip: Clip,
    item: Item,
    *,
    n_frames: int,
    scores: NDArray[np.float64] | SearchResult | None,
) -> NDArray[np.int64]:
    """What the rule of a view chooses, single images apart."""
    selector = view.selector
    if view.retry:
        return positions_again(selector, clip, item, n_frames=n_frames, retry=view.retry)
    if isinstance(scores, SearchResult):
        return scores.positions if view.is_ranked else np.sort(scores.positions)
    if view.is_ranked:
        return ranked(selector, clip, item, n_frames=n_frames, scores=scores)
    if scores is None:
        return selector.select(clip, item, n_frames=n_frames)
    scoring = cast("ScoringSelector", selector)  # it was given scores
    return scoring.select(clip, item, n_frames=n_frames, scores=scores)
