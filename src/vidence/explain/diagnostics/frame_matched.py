"""Right answers beside wrong ones with as many frames: does either rest more on one frame of the evidence?"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import msgspec
import numpy as np
from numpy.typing import NDArray

from vidence.records import Clusters, Estimate, Item
from vidence.statistics.intervals import too_few
from vidence.statistics.resampling import USUAL, as_labels, percentile_estimate, replicates
from vidence.tables.table import Measure, RowSpec, Table, Value, has_interval, number, share, tabulate

LEAST_VIDEOS: Final = 10  # from which draws of whole videos make an interval
LEAST_SHARE: Final = 0.1  # of questions with an effect, from which is said what they are like
# Figures of each draw: for right and wrong answers, then right less wrong.
_OF_MEAN, _OF_HELD, _OF_RATIO = slice(0, 3), slice(3, 6), slice(6, 9)


@dataclass(frozen=True, kw_only=True)
class Beyond:
    """One question whose evidence and placebo both have a top-1 share, of as many frames.

    `beyond` is the top-1 share less its floor. `held` is a value whose mean is the share of questions whose
    evidence does anything; None where that cannot be told.
    """

    item: Item
    is_right: bool
    n_frames: int
    beyond: float
    held: float | None


@dataclass(frozen=True, kw_only=True)
class Matched:
    """Right (first) and wrong answers with as many frames, and right less wrong (third).

    `means` are top-1 less floor; `held` the shares of questions with an effect; `ratios` the means over these
    shares, which are those of the questions with an effect; None where that cannot be said.
    """

    n: tuple[int, int]
    means: tuple[Estimate, Estimate, Estimate]
    held: tuple[Estimate, Estimate, Estimate] | None
    ratios: tuple[Estimate | None, Estimate | None, Estimate | None]


def matched(some: Sequence[Beyond], *, rng: np.random.Generator, level: float) -> Matched | None:
    """Means of right and wrong answers, weighted alike by number of frames; None without a common number.

    A number of frames with r right and w wrong answers counts r w / (r + w) in both means. Where a question's
    evidence does nothing, top-1 less floor is 0 on average, since the two kinds of frames can change places.
    So the mean over all questions is that over those with an effect, times their share: dividing by
    the share gives the latter. Intervals are from draws of whole videos.

    Source: Cochran (1954) for the weights.
    Departs: no.
    """
    counts = {n: [0, 0] for n in sorted({one.n_frames for one in some})}
    for one in some:
        counts[one.n_frames][one.is_right] += 1
    common = [n for n, (n_wrong, n_right) in counts.items() if n_wrong and n_right]
    if not common:
        return None
    kept = [one for one in some if one.n_frames in common]
    has_held = all(one.held is not None for one in kept)
    weights = np.array([math.prod(counts[n]) / sum(counts[n]) for n in common])
    sources = Clusters.of([one.item for one in kept])
    names, clusters = as_labels(sources, len(kept), what="clusters")
    cells = np.array([2 * common.index(one.n_frames) + (not one.is_right) for one in kept])
    rows = np.array([[1.0, one.beyond, one.held or 0.0] for one in kept])
    sums = np.zeros((len(names), 2 * len(common), 3))
    np.add.at(sums, (clusters, cells), rows)

    def figures(draws: NDArray[np.float64]) -> NDArray[np.float64]:
        drawn = np.tensordot(draws, sums, axes=1).reshape(len(draws), len(common), 2, 3)
        return _figures(drawn, weights)

    seen = figures(np.ones((1, len(names))))[0]
    drawn = replicates(figures, len(names), rng=rng, n_boot=USUAL.n_boot, width=sums[0].size)
    found = [
        _estimate(value, column, clusters=sources, level=level)
        for value, column in zip(seen.tolist(), drawn.T, strict=True)
    ]
    n_right = sum(one.is_right for one in kept)
    held = [*map(as_share, found[_OF_HELD][:2]), found[_OF_HELD][2]]
    is_told = has_held and all(one.low > LEAST_SHARE for one in held[:2])
    return Matched(
        n=(n_right, len(kept) - n_right),
        means=_three(found[_OF_MEAN]),
        held=_three(held) if has_held else None,
        ratios=_three(found[_OF_RATIO]) if is_told else (None, None, None),
    )


def as_share(found: Estimate) -> Estimate:
    """Storey's share may be estimated below 0 or above 1."""
    value, low, high = (min(max(end, 0.0), 1.0) for end in (found.value, found.low, found.high))
    ends = {} if math.isnan(found.low) else {"low": low, "high": high}
    return msgspec.structs.replace(found, value=value, **ends)


def _three(found: Sequence[Estimate]) -> tuple[Estimate, Estimate, Estimate]:
    right, wrong, difference = found
    return right, wrong, difference


def _figures(drawn: NDArray[np.float64], weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """The nine figures of each draw, of sums of shape (n_draws, n_strata, right and wrong, 3).

    A stratum of which one side was not drawn is left out of that draw.
    """
    sizes = drawn[..., 0]
    is_there = (sizes > 0).all(axis=2)
    means = np.divide(
        drawn[..., 1:], sizes[..., None], out=np.zeros_like(drawn[..., 1:]), where=sizes[..., None] > 0
    )
    used = np.where(is_there, weights, 0.0)
    total = used.sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        sides = np.einsum("ds,dsgf->dgf", used, means) / total[:, None, None]
        ratios = np.where(sides[..., 1] > 0, sides[..., 0] / sides[..., 1], np.nan)
    both = np.concatenate([np.moveaxis(sides, 2, 1), ratios[:, None]], axis=1)  # (n_draws, figure, side)
    apart = both[..., :1] - both[..., 1:]
    return np.asarray(np.concatenate([both, apart], axis=2).reshape(len(drawn), 9), np.float64)


def _estimate(value: float, draws: NDArray[np.float64], *, clusters: Clusters, level: float) -> Estimate:
    size = len(clusters), clusters.n
    found = percentile_estimate(value, draws, size=size, name="means matched by frames", level=level)
    found = msgspec.structs.replace(found, clustered_by=clusters.noun)
    if clusters.n >= LEAST_VIDEOS:
        return found
    reason = too_few(clusters.n, clusters.noun)
    none = f"means matched by frames; no interval: {reason}"
    return msgspec.structs.replace(found, low=math.nan, high=math.nan, method=none, reason=reason)


# --------------------------------------------------------------------------- the table


def matched_table(some: Sequence[Beyond], *, rng: np.random.Generator, level: float) -> list[Table]:
    """Right answers beside wrong ones; nothing where no number of frames has both."""
    found = matched(some, rng=rng, level=level)
    if found is None:
        return []
    held, n_left = found.held, len(some) - sum(found.n)
    measures: list[Measure[int]] = [
        number("beyond", lambda i: found.means[i], "top-1 less floor", kind="difference")
    ]
    if held is not None:
        kept = held

        def of_held(i: int) -> Value:
            return kept[i]

        measures += [
            share("held", of_held, "evidence does anything", note="Of the questions."),
            number("ratio", lambda i: found.ratios[i], "top-1 less floor where it does", kind="difference"),
        ]
    measures.append(number("n", lambda i: (*found.n, sum(found.n))[i], "questions"))
    labels = {"right": "answered right", "wrong": "answered wrong", "difference": "right less wrong"}
    return [
        tabulate(
            "placebo-matched",
            "Right against wrong answers with as many frames",
            label="questions",
            rows=[RowSpec(key, label, i) for i, (key, label) in enumerate(labels.items())],
            measures=measures,
            notes=(
                _verdict(found),
                "Both means weigh each number of frames alike. Where the evidence does nothing, top-1 less "
                "floor is 0 on average; over the share whose evidence does anything it is that of those "
                "questions."
                if held is not None
                else "Both means weigh each number of frames alike.",
                f"{n_left:,} questions have a number of frames that no answer of the other kind has."
                if n_left
                else "",
                "Intervals from draws of whole videos.",
            ),
        )
    ]


def _verdict(found: Matched) -> str:
    """Whether wrong answers rest more on one frame than right ones do."""
    if found.held is None:
        what, difference = "re-encoding", found.means[2]
        where = f"against the floor of {what}"
    else:
        where = "among questions whose evidence does anything"
        if found.ratios[2] is None:
            return (
                "Of right or of wrong answers too few have evidence that does anything (perhaps below "
                f"{100 * LEAST_SHARE:g} %): whether wrong ones rest more on one frame is not said."
            )
        difference = found.ratios[2]
    if not has_interval(difference):
        return f"No interval: {difference.reason}." if difference.reason else ""
    if difference.low <= 0 <= difference.high:
        return f"Not told that right and wrong answers differ in how much they rest on one frame, {where}."
    which = "Wrong" if difference.value < 0 else "Right"
    return f"{which} answers rest more on one frame, {where}."
