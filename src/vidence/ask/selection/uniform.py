"""Uniform frames: the rules of the papers and of their released code, and all or no frames.

Every rule takes ``n_total >= 1`` frames and a budget ``k >= 1`` and gives positions of shape (n,), in
the order of time. Rules that follow released code round as that code does, in floating point.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from vidence.contracts import Selector
from vidence.errors import UsageError
from vidence.media.clip import Clip
from vidence.records import Item

Positions: TypeAlias = NDArray[np.int64]
Rule: TypeAlias = Callable[[int, int], Positions]

NAMES = (
    "all",
    "central",
    "frag",
    "herbench-uniform",
    "midpoints",
    "mmvu-api",
    "mmvu-vllm",
    "none",
    "perceptioncomp",
)
SUMMARIES: Mapping[str, str] = {
    "all": "Every frame, in the order of time, whatever the budget.",
    "central": "The middle frame (the later of two), whatever the budget: a single-image control.",
    "frag": "Every (available / k)-th frame from the first, as FRAG takes its candidates.",
    "herbench-uniform": "The first frame of each of k equal segments, as HERBench takes them.",
    "midpoints": "The middle frame of each of k equal segments; the default.",
    "mmvu-api": "Exactly k frames from the first to the last, as MMVU takes them for API models.",
    "mmvu-vllm": "At most k different frames from the first to the last, as in MMVU with vLLM.",
    "none": "No frames: a text-only control.",
    "perceptioncomp": "At most k different frames from the first to the last, as in PerceptionComp.",
}


def midpoints(n_total: int, k: int) -> Positions:
    """Return the middle frame of each of min(k, n_total) equal segments.

    >>> midpoints(8, 4).tolist()
    [1, 3, 5, 7]
    """
    k = min(k, n_total)
    return (2 * np.arange(k, dtype=np.int64) + 1) * n_total // (2 * k)


def left_edges(n_total: int, k: int) -> Positions:
    """Return the first frame of each of k equal segments; the last frame only if all are taken.

    Source: HERBench, released code (uniform frame selector).
    Departs: no.

    >>> left_edges(8, 4).tolist()
    [0, 2, 4, 6]
    """
    k = min(k, n_total)
    # The released code multiplies by a rounded step; i * n_total // k differs for some lengths.
    return (np.arange(k) * (n_total / k)).astype(np.int64)


def inclusive(n_total: int, k: int) -> Positions:
    """Return exactly k frames from the first to the last, inclusive; frames repeat if k > n_total.

    A budget of one gives the first frame.

    Source: MMVU, released code (frames for API models).
    Departs: no.

    >>> inclusive(3, 5).tolist()
    [0, 0, 1, 1, 2]
    """
    return np.linspace(0, n_total - 1, k, dtype=np.int64)


def inclusive_distinct(n_total: int, k: int) -> Positions:
    """Like `inclusive`, with a budget of at most n_total, so that no frame repeats.

    Source: MMVU, released code (frames for vLLM models); PerceptionComp, released code (API runner).
    Departs: no.

    >>> inclusive_distinct(3, 5).tolist()
    [0, 1, 2]
    """
    return inclusive(n_total, min(k, n_total))


def strided(n_total: int, k: int) -> Positions:
    """Return every (n_total / k)-th frame from the first; a budget of one gives the middle frame.

    Source: FRAG, released code (loading of frames).
    Departs: no. As there, rounding gives k + 1 frames for some lengths: 51 for k = 50 of 1,799.

    >>> strided(8, 4).tolist()
    [0, 2, 4, 6]
    """
    k = min(k, n_total)
    if k == 1:
        return np.array([n_total // 2], np.int64)
    positions = np.arange(0, n_total, n_total / k).astype(np.int64)
    return positions[positions < n_total]


def check_budget(n_frames: int) -> None:
    """Reject a budget that is not positive.

    Raises:
        UsageError: it is 0 or less.
    """
    if n_frames <= 0:
        raise UsageError(
            f"a budget of {n_frames} frames; expected 1 or more. For no frames use the selector 'none'"
        )


@dataclass(frozen=True, kw_only=True)
class Uniform(Selector):
    """Frames by a rule that uses only the number of frames."""

    rule: Rule
    version: int = 1
    budget: str = "exact"
    repeats: bool = False
    needs_media: bool = True

    def select(self, clip: Clip, item: Item, *, n_frames: int) -> Positions:
        """Return positions in `clip`, in time order; none for a clip without frames.

        Raises:
            UsageError: `n_frames` is not positive, and the rule keeps a budget.
        """
        if self.budget != "ignored":
            check_budget(n_frames)
        return self.rule(clip.n_frames, n_frames) if clip.n_frames else np.empty(0, np.int64)


# HumanPCR, table 5, has the controls `central` and `none`; HERBench, section 3, filters its questions with
# `none`. MMVU and PerceptionComp (whose budget is 64) have one rule under two names.
_SELECTORS: Mapping[str, Uniform] = {
    "all": Uniform(rule=lambda n_total, k: np.arange(n_total, dtype=np.int64), budget="ignored"),
    "central": Uniform(rule=lambda n_total, k: midpoints(n_total, 1), budget="ignored"),
    "frag": Uniform(rule=strided, budget="one over"),
    "herbench-uniform": Uniform(rule=left_edges),
    "midpoints": Uniform(rule=midpoints),
    "mmvu-api": Uniform(rule=inclusive, repeats=True),
    "mmvu-vllm": Uniform(rule=inclusive_distinct),
    "none": Uniform(rule=lambda n_total, k: np.empty(0, np.int64), budget="ignored", needs_media=False),
    "perceptioncomp": Uniform(rule=inclusive_distinct),
}


def create(name: str) -> Selector:
    """Create the selector of that name, one of `NAMES`."""
    return _SELECTORS[name]
