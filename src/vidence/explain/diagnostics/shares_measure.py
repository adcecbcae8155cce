"""What each frame adds to a model's own answer: probabilities over letters, deltas, shares."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from vidence.records import Item, Record

Method: TypeAlias = Literal["", "logprobs", "sampling"]
Exclusion: TypeAlias = Literal[
    "",
    "no choices",
    "too many choices",
    "fewer than two frames",
    "no log-probabilities",
    "unreadable",
    "no positive evidence",
]
# Deltas up to this are rounding.
ROUNDING = 1e-9
# By so much less than a letter that was reported is one that was not, so that it never wins a tie.
BELOW_REPORTED = 1e-10
# What is left for letters that were not reported is never taken for less than this.
LEAST_LEFT = 1e-12
# Added to the count of every letter, so that one never drawn has a probability (Krichevsky-Trofimov).
PRIOR_COUNT = 0.5


class FrameSharesFinding(Record, kw_only=True, omit_defaults=True):
    """What each frame adds to the option that a model picks with all of them.

    With `excluded` the question counts in no mean, and `why` may say more. `method` says where the
    probabilities come from; with ``sampling`` they are estimated from `draws` replies to each prompt, and
    `is_fallback` tells that this was so because the model gives no log-probabilities. Per frame, in the
    order of time: `times_s`, `deltas` (natural logarithms) and `shares`, which add up to 1.
    `probabilities` are those of the letters with all frames, `chosen` the likeliest. `entropy` is that of
    the shares over the one of even shares, from 0 to 1. `n_floored` counts letters that were not reported,
    over all prompts; where there are any, `top_share` is what follows if each had the most that it can have,
    and lies from `top_share_low` to `top_share_high` whatever they had. `n_unread` counts draws that could
    not be read.

    Source: HERBench, section 5.2.
    Departs: the entropy is ours.
    """

    excluded: Exclusion = ""
    why: str = ""
    method: Method = ""
    draws: int = 0
    is_fallback: bool = False
    times_s: tuple[float, ...] = ()
    probabilities: tuple[float, ...] = ()
    chosen: str = ""
    is_right: bool | None = None
    deltas: tuple[float, ...] = ()
    shares: tuple[float, ...] = ()
    top_share: float | None = None
    top_share_low: float | None = None
    top_share_high: float | None = None
    entropy: float | None = None
    n_floored: int = 0
    n_unread: int = 0


@dataclass(frozen=True, kw_only=True)
class OverLetters:
    """The natural-log probabilities over the letters alone, shape (n_letters,); `n_floored` were absent.

    Whatever those had, the true ones lie from `low` to `high`, of the same shape; `low` may be -inf.

    Source: HERBench, section 5.2, step 1.
    Departs: see `of_logps` and `of_draws`.
    """

    logps: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    n_floored: int = 0

    @classmethod
    def exact(cls, logps: NDArray[np.float64]) -> "OverLetters":
        """Those of which every letter is known."""
        return cls(logps=logps, low=logps, high=logps)


def of_logps(reported: Mapping[str, float] | None, letters: Sequence[str]) -> OverLetters | None:
    """The softmax over the letters of what a model reported; None where it reported none of them.

    Models report the likeliest tokens only. Letters that are absent get alike the most that they can have:
    no more than any letter reported, and together no more than what these leave of 1. They may have had
    less, down to nothing, or one more than the others; `low` and `high` take that into account.

    Source: HERBench, section 5.2, step 1.
    Departs: the paper does not say what it does with absent letters.
    """
    wanted = set(letters)
    known = {a: logp for a, logp in (reported or {}).items() if a in wanted and math.isfinite(logp)}
    if not known:
        return None
    reported_sum = sum(math.exp(min(logp, 0.0)) for logp in known.values())
    left = max(1 - reported_sum, LEAST_LEFT)
    n_absent = len(letters) - len(known)
    if not n_absent:
        return OverLetters.exact(_normalised(np.array([known[letter] for letter in letters])))
    floor = min(*known.values(), math.log(left / n_absent)) - BELOW_REPORTED
    logps = _normalised(np.array([known.get(letter, floor) for letter in letters]))
    # One alone may have more than its part of what is left; each may have nothing.
    alone = min(*known.values(), math.log(left))
    highest = alone - math.log(reported_sum + math.exp(alone))
    is_known = np.array([letter in known for letter in letters])
    without_absent = np.array([known.get(letter, 0.0) for letter in letters]) - math.log(reported_sum)
    return OverLetters(
        logps=logps,
        low=np.where(is_known, logps, -math.inf),
        high=np.where(is_known, without_absent, highest),
        n_floored=n_absent,
    )


def of_draws(drawn: Sequence[str], letters: Sequence[str]) -> OverLetters | None:
    """The probabilities estimated from letters that were drawn; None where none was.

    Each letter counts one half more than it was drawn, so that a letter never drawn has a logarithm.

    Source: Krichevsky & Trofimov (1981) for the half.
    Departs: the paper has log-probabilities.
    """
    wanted = set(letters)
    counts = Counter(letter for letter in drawn if letter in wanted)
    if not counts:
        return None
    return OverLetters.exact(_normalised(np.log([counts[letter] + PRIOR_COUNT for letter in letters])))


def _normalised(logps: NDArray[np.float64]) -> NDArray[np.float64]:
    shifted = logps - logps.max()
    return np.asarray(shifted - math.log(float(np.exp(shifted).sum())), np.float64)


@dataclass(frozen=True, kw_only=True)
class Shares:
    """What each frame adds, shapes (n_frames,); `shares` is None where no frame adds anything.

    The true delta of a frame lies from `least` to `most`, which may be infinite, whatever the letters had
    that were not reported.

    Source: HERBench, section 5.2.
    Departs: see `share_out`.
    """

    chosen: int
    deltas: NDArray[np.float64]
    shares: NDArray[np.float64] | None
    least: NDArray[np.float64]
    most: NDArray[np.float64]

    @property
    def top_bounds(self) -> tuple[float, float] | None:
        """The smallest and the largest that the largest share can be; None where no frame can add anything.

        It is largest where one frame adds the most and all others the least. It is smallest where the frame
        with the highest least adds no more than that, and the others as much, as far as they can.
        """
        least, most = np.maximum(self.least, 0.0), np.where(self.most > ROUNDING, self.most, 0.0)
        if not most.any():
            return None
        others = least.sum() - least
        high = max(
            1.0 if math.isinf(m) or o == 0 else m / (m + o) for m, o in zip(most, others, strict=True) if m
        )
        level = float(least.max())
        low = level / float(np.minimum(most, level).sum()) if level else 1 / int((most > 0).sum())
        return low, float(high)

    @property
    def entropy(self) -> float | None:
        """The entropy of the shares over that of even ones: 0 for one frame alone, 1 for even shares."""
        if self.shares is None:
            return None
        there = self.shares[self.shares > 0]
        return float(-(there * np.log(there)).sum() / math.log(len(self.shares))) + 0.0


def share_out(full: OverLetters, without: Sequence[OverLetters]) -> Shares:
    """Deltas and shares of the frames.

    Args:
        full: with all frames.
        without: for each frame, with all others; two or more.

    Source: HERBench, section 5.2, steps 2 to 4.
    Departs: the paper does not say which option it follows: here the likeliest of the letters, of equals
        the first. A delta up to 1e-9 counts as 0.
    """
    chosen = int(np.argmax(full.logps))
    deltas = np.array([full.logps[chosen] - one.logps[chosen] for one in without])
    positive = np.where(deltas > ROUNDING, deltas, 0.0)
    total = float(positive.sum())
    return Shares(
        chosen=chosen,
        deltas=deltas,
        shares=positive / total if total else None,
        least=np.array([full.low[chosen] - one.high[chosen] for one in without]),
        most=np.array([full.high[chosen] - one.low[chosen] for one in without]),
    )


def evidence_positions(item: Item, times_s: Sequence[float]) -> list[int]:
    """One frame for each annotated span, in the order of time: the one nearest to its middle.

    Where the annotation lists frames, all frames are kept; single images beside the video are, too, and
    lie in no span. A span that no frame lies in has the latest frame before its start, unless that belongs
    to another span. No frame is taken twice.

    Source: HERBench, section 5.2, has frames curated by hand.
    Departs: no.
    """
    in_time = sorted(range(len(times_s)), key=times_s.__getitem__)
    if any(evidence.frames for evidence in item.evidence):
        return in_time
    spans = [
        (-math.inf if e.start_s is None else e.start_s, math.inf if e.end_s is None else e.end_s)
        for e in item.evidence
        if e.start_s is not None or e.end_s is not None
    ]
    stills = _stills(item, len(times_s))
    moving = [i for i in in_time if i not in stills]
    free = [i for i in moving if not any(start <= times_s[i] < end for start, end in spans)]
    taken: set[int] = set()
    for start, end in spans:
        inside = [i for i in moving if start <= times_s[i] < end]
        before = [i for i in free if times_s[i] <= start][-1:]
        left = [i for i in inside or before if i not in taken]
        if left:
            bounds = max(start, times_s[left[0]]), min(end, times_s[left[-1]])
            middle = (start + end) / 2 if math.isfinite(start + end) else sum(bounds) / 2
            taken.add(min(left, key=lambda i: (abs(times_s[i] - middle), times_s[i])))
    return [i for i in in_time if i in taken | stills]


def _stills(item: Item, n_frames: int) -> set[int]:
    """Which frames are single images: each is one frame, before or behind those of the only video."""
    kinds = [medium.kind for medium in item.media]
    if "image" not in kinds:
        return set()
    first = next((i for i, kind in enumerate(kinds) if kind != "image"), len(kinds))
    n_behind = kinds.count("image") - first
    return {*range(first), *range(n_frames - n_behind, n_frames)}
