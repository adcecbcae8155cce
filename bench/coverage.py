"""How often intervals hold the truth, how often equal runs are told apart, and what a plan promises.

    python bench/coverage.py [--quick] [--write docs/design/coverage.md]

Everything is simulated with the code that makes the numbers of reports and comparisons: six shares, nine
numbers of videos from 2 to 300, ten layouts of videos of equal and of unequal size, and answers that go
together within a video (beta-binomial) as much as an intra-class correlation of 0 to 0.8 says; then
differences on the same questions (Dirichlet-multinomial), and studies of people (`people.py`). Prints
Markdown, or writes it between the marks in a page. About five minutes on one core; with ``--quick`` two.
"""

import itertools
import math
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from people import GOOD, people_tables
from scipy.special import expit, logit
from simulated import print_page, table

from vidence.statistics.intervals import exact_end, p_values, proportion, share_ends
from vidence.statistics.power import Design, paired_detectable
from vidence.statistics.sandwich import Layout
from vidence.statistics.student import quantile

LEVELS = (0.8, 0.9, 0.95, 0.99)
VIDEOS = (2, 3, 5, 10, 20, 40, 60, 100, 300)
SHARES = (0.02, 0.05, 0.1, 0.3, 0.5, 0.95)
ICCS = (0.0, 0.2, 0.5, 0.8)
# How large videos are, and the questions on most or on the larger ones.
LAYOUTS = (
    ("equal", 1),
    ("equal", 4),
    ("equal", 10),
    ("unequal", 1),
    ("unequal", 4),
    ("unequal", 10),
    ("one with 40 %", 4),
    ("a quarter large", 15),
    ("half large", 5),
    ("half large", 15),
)
APART = (0.05, 0.2, 0.5)
# The difference as a share of the questions that differ.
GAINS = (0.0, 0.5, 0.9)
N_BOOT = 999
# Of 84 designs the largest gap is looked for: 2,000 runs of each, with a standard error of 0.009, show gaps
# of 0.03 and more that are not there.
TIMES_PROMISED = 5
BEGIN, END = "<!-- made by bench/coverage.py -->", "<!-- end -->"


@dataclass(frozen=True)
class Case:
    """What is simulated: the videos, the true share and how much answers about one video go together."""

    sizes: str
    each: int
    n_videos: int
    share: float
    icc: float

    def counts(self) -> np.ndarray:
        return counts_of(self.sizes, self.each, self.n_videos)


def counts_of(sizes: str, each: int, n_videos: int) -> np.ndarray:
    """Questions on each video, shape (n_videos,)."""
    if sizes == "equal":
        return np.full(n_videos, each)
    if sizes == "unequal":
        drawn = np.random.default_rng([n_videos, each]).lognormal(np.log(each), 0.9, n_videos)
        return np.maximum(1, drawn.round()).astype(int)
    if sizes.endswith("large"):
        return np.where(np.arange(n_videos) % (4 if "quarter" in sizes else 2) == 0, each, 1)
    small = np.full(n_videos - 1, each)
    return np.concatenate([[max(1, round(small.sum() * 2 / 3))], small])


def designs() -> Iterator[tuple[str, int, int, float]]:
    for (sizes, each), n_videos, icc in itertools.product(LAYOUTS, VIDEOS, ICCS):
        # Single questions cannot go together, and a quarter without correlation is as unequal sizes.
        is_alike = (each == 1 and sizes == "equal" and icc > 0) or (sizes == "a quarter large" and not icc)
        if not is_alike and (sizes != "one with 40 %" or n_videos > 2):
            yield sizes, each, n_videos, icc


def drawn_sums(case: Case, n_runs: int, rng: np.random.Generator) -> np.ndarray:
    """Right answers on each video, shape (n_runs, n_videos)."""
    counts = case.counts()
    chances: np.ndarray | float = case.share
    if case.icc > 0:
        strength = (1 - case.icc) / case.icc
        chances = rng.beta(case.share * strength, (1 - case.share) * strength, size=(n_runs, len(counts)))
    return rng.binomial(counts, chances, size=(n_runs, len(counts))).astype(float)


def logit_ends(means: np.ndarray, variances: np.ndarray, layout: Layout) -> tuple[np.ndarray, np.ndarray]:
    """The rule in use before: t on the scale of the logit; Wilson's where videos are alike."""
    other = float(proportion(0, layout.n_alike).high)
    critical, inner = quantile(layout.dof, 0.95), np.clip(means, 1e-9, 1 - 1e-9)
    odds, half = logit(inner), critical * np.sqrt(variances) / (inner * (1 - inner))
    low = np.where(variances > 0, expit(odds - half), (1 - other) * means)
    return low, np.where(variances > 0, expit(odds + half), (1 - other) * means + other)


@dataclass(frozen=True)
class Held:
    """How often an interval holds the truth at each level, and its width at 0.95.

    `before` and `width_before` are those of the rule before, `bootstrap` is the percentile bootstrap over
    videos, whose interval of no width does not count as holding it; all at 0.95.
    """

    levels: tuple[float, ...]
    width: float
    before: float
    width_before: float
    bootstrap: float

    @property
    def is_good(self) -> bool:
        return self.levels[LEVELS.index(0.95)] >= lowest(0.95)


def coverage(case: Case, n_runs: int, rng: np.random.Generator) -> Held:
    counts = case.counts().astype(float)
    layout = Layout.of(counts[:, None])
    sums = drawn_sums(case, n_runs, rng)
    means, variances = layout.mean(sums[..., None]), layout.variance(sums[..., None])

    def holds(ends: tuple[np.ndarray, np.ndarray]) -> float:
        return float(((ends[0] <= case.share) & (case.share <= ends[1])).mean())

    ends = {level: share_ends(means, variances, layout=layout, level=level) for level in LEVELS}
    before = logit_ends(means, variances, layout)
    some = sums[:400]
    weights = rng.multinomial(len(counts), np.full(len(counts), 1 / len(counts)), size=N_BOOT).astype(float)
    low, high = np.quantile(weights @ some.T / (weights @ counts)[:, None], [0.025, 0.975], axis=0)
    is_held = (low <= case.share + 1e-12) & (case.share <= high + 1e-12) & (high - low > 1e-9)
    return Held(
        levels=tuple(map(holds, ends.values())),
        width=float(np.mean(ends[0.95][1] - ends[0.95][0])),
        before=holds(before),
        width_before=float(np.mean(before[1] - before[0])),
        bootstrap=float(is_held.mean()),
    )


def worst_table(found: Mapping[Case, Held]) -> list[str]:
    """The designs in which the interval holds the truth least often."""
    worst = sorted(
        ((value.levels[2], value.before, case) for case, value in found.items()), key=lambda one: one[0]
    )
    return table(
        ["videos", "sizes", "questions on most", "share", "correlation", "coverage, %", "before"],
        [
            [
                str(c.n_videos),
                c.sizes,
                str(c.each),
                f"{100 * c.share:g} %",
                f"{c.icc:g}",
                f"{100 * held:.1f}",
                f"{100 * before:.1f}",
            ]
            for held, before, c in worst[:8]
        ],
    )


def coverage_tables(n_runs: int, rng: np.random.Generator) -> list[str]:
    found = {
        case: coverage(case, n_runs, rng)
        for case in (
            Case(sizes=sizes, each=each, n_videos=n_videos, share=share, icc=icc)
            for (sizes, each, n_videos, icc), share in itertools.product(designs(), SHARES)
        )
    }

    def cells(wanted: Callable[[Case], bool]) -> list[Held]:
        return [value for case, value in found.items() if wanted(case)]

    def covered(held: Sequence[float], level: float = 0.95) -> str:
        return f"{100 * np.mean(held):.1f} ({100 * np.mean(np.array(held) >= lowest(level)):.0f})"

    rows = []
    for n_videos in VIDEOS:
        some = cells(lambda case, n=n_videos: case.n_videos == n)
        rows.append(
            [
                str(n_videos),
                str(len(some)),
                *(covered([one.levels[i] for one in some], level) for i, level in enumerate(LEVELS)),
                covered([one.before for one in some]),
                covered([one.bootstrap for one in some]),
                f"{100 * np.mean([one.width for one in some]):.0f}",
                f"{100 * np.mean([one.width_before for one in some]):.0f}",
            ]
        )
    five = cells(lambda case: case.n_videos >= 5)
    wider = [one.width / one.width_before for one in five if one.before >= lowest(0.95)]
    heads = ["videos", "designs", *(f"{100 * level:g} %" for level in LEVELS)]
    lines = [
        f"With five or more videos the 95 % interval holds the truth in 93 % or more of "
        f"{n_runs:,} simulated runs in **{100 * np.mean([one.is_good for one in five]):.1f} %** of "
        f"{len(five):,} designs; that of the rule before (t on the scale of the logit) in "
        f"{100 * len(wider) / len(five):.1f} %. Where the rule before did, the interval is wider by "
        f"{100 * np.median(wider) - 100:.1f} % (median; mean {100 * np.mean(wider) - 100:.0f} %). "
        "Each cell: mean coverage in per cent, and in brackets the share of designs with at most two points "
        "too little (99 %: half a point).",
        "",
        *table([*heads, "before, 95 %", "bootstrap, 95 %", "width at 95 %, points", "before"], rows),
    ]
    lines += ["", "The eight worst designs at 95 %:", "", *worst_table(found)]
    return lines


def lowest(level: float) -> float:
    """What counts as good coverage: at most two points too little, half a point at 99 %."""
    return level - (0.005 if level > 0.98 else 0.02)


def drawn_differences(
    counts: np.ndarray, *, apart: float, gain: float, icc: float, n_runs: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Sums of differences by video, (n_runs, n_videos), and how many questions differ, (n_runs,)."""
    shares = np.array([(apart + gain) / 2, (apart - gain) / 2, 1 - apart])
    chances = np.broadcast_to(shares, (n_runs, len(counts), 3))
    if icc:
        drawn = rng.gamma(shares * (1 - icc) / icc, size=chances.shape) + 1e-300
        chances = drawn / drawn.sum(axis=-1, keepdims=True)
    ahead, behind, _ = np.moveaxis(rng.multinomial(counts[None], chances), -1, 0)
    return (ahead - behind).astype(float), (ahead + behind).sum(axis=1)


def share_clear(counts: np.ndarray, sums: np.ndarray, n_apart: np.ndarray, level: float = 0.95) -> float:
    layout = Layout.of(counts[:, None].astype(float))
    totals = sums[..., None]
    found = p_values(
        layout.mean(totals), layout.variance(totals), n_apart=n_apart, dof=layout.dof, n_alike=layout.n_alike
    )
    return float((found < 1 - level).mean())


def differences(n_runs: int, rng: np.random.Generator) -> list[str]:
    """How often the interval of a difference holds it, and how often equal runs are told apart."""
    kept: dict[int, list[tuple[float, ...]]] = {n: [] for n in VIDEOS}
    for (sizes, each, n_videos, icc), apart, share in itertools.product(designs(), APART, GAINS):
        counts, gain = counts_of(sizes, each, n_videos), share * apart
        runs = max(400, n_runs // max(1, int(counts.sum() / 300)))
        sums, n_apart = drawn_differences(counts, apart=apart, gain=gain, icc=icc, n_runs=runs, rng=rng)
        layout = Layout.of(counts[:, None].astype(float))
        means, variances = layout.mean(sums[..., None]), layout.variance(sums[..., None])
        half, other = quantile(layout.dof, 0.95) * np.sqrt(variances), exact_end(layout.n_alike, 0.95)
        low = np.where(variances > 0, means - half, (1 - other) * means - other)
        high = np.where(variances > 0, means + half, (1 - other) * means + other)
        is_few = 2 * 0.5**n_apart >= 0.05
        low, high = np.where(is_few, np.minimum(low, 0), low), np.where(is_few, np.maximum(high, 0), high)
        held = float(((low <= gain) & (gain <= high)).mean())
        clear = share_clear(counts, sums, n_apart) if not gain else math.nan
        kept[n_videos].append((share, held, clear))
    rows = []
    for n, some in kept.items():
        shares, held, clear = np.array(some).T
        clear = clear[~np.isnan(clear)]
        covered = [held[shares == share] for share in GAINS]
        rows.append(
            [
                str(n),
                str(len(some)),
                *(f"{100 * one.mean():.1f} ({100 * (one >= GOOD).mean():.0f})" for one in covered),
                *(f"{value:.3f}" for value in (clear.mean(), np.quantile(clear, 0.95), clear.max())),
            ]
        )
    heads = ["videos", "designs", *(f"differ by {100 * share:g} %" for share in GAINS)]
    return table([*heads, "equal runs told apart", "95th percentile", "highest"], rows)


def promises(n_runs: int, rng: np.random.Generator) -> list[str]:
    """For each size of run: the power that is found where `power` promises 0.8."""
    rows = []
    for n_videos in (5, 6, 8, 10, 20, 50, 100, 300):
        gaps, n_none = [], 0
        for each, icc, apart in itertools.product((1, 4, 10), (0.0, 0.1), (0.1, 0.3, 0.5)):
            if each == 1 and icc:
                continue
            design = Design(n_items=n_videos * each, n_clusters=n_videos, icc=icc)
            gain = paired_detectable(discordance=apart, design=design, rng=rng)
            if not np.isfinite(gain):
                n_none += 1
                continue
            drawn = drawn_differences(
                design.counts(), apart=apart, gain=gain, icc=icc, n_runs=n_runs, rng=rng
            )
            gaps.append(share_clear(design.counts(), *drawn) - 0.8)
        largest = f"{max(map(abs, gaps)):.3f}" if gaps else ""
        within = f"{sum(abs(gap) <= 0.03 for gap in gaps)} of {len(gaps)}"
        mean = f"{np.mean(gaps):+.3f}" if gaps else ""
        rows.append([str(n_videos), str(n_none), mean, largest, within])
    heads = ["videos", "designs in which nothing is found", "mean difference", "largest", "within 0.03"]
    return table(heads, rows)


def crossed(n_runs: int, rng: np.random.Generator) -> list[str]:
    """How good the interval over people and items is."""
    said, rows, worst = people_tables(n_runs, rng)
    heads = ["people", "designs", "people and videos crossed", "videos alone", "width, points"]
    wrong = ["two phases that are alike", "people and a model that are alike"]
    named = ["people", "items", "on a video", "answered", "share", "variance of people, of items"]
    return [
        said,
        "",
        *table([*heads, *wrong], rows),
        "",
        "The eight worst designs:",
        "",
        *table([*named, "coverage, %"], worst),
    ]


def page(n_runs: int, seed: int) -> str:
    """The tables, as Markdown."""
    rng = np.random.default_rng(seed)
    return "\n".join(
        [
            "## How often the interval of a mean holds the truth",
            "",
            *coverage_tables(n_runs, rng),
            "",
            "## How often the interval of a difference holds it, and equal runs are told apart",
            "",
            "Two runs that differ on 5, 20 or 50 % of the questions, by 0, 50 or 90 % of these; 95 % "
            f"intervals, level 0.05; 400 to {n_runs:,} simulated pairs of each design, fewer where it is "
            "large. In brackets the share of designs with 93 % or more.",
            "",
            *differences(n_runs, rng),
            "",
            "## What `power` promises and `compare` finds",
            "",
            "At the difference that `vidence stats power` names for power 0.8 (1, 4 and 10 questions on each "
            "video, correlation 0 and 0.1, runs that differ on 10, 30 and 50 % of the questions), the share "
            f"of {TIMES_PROMISED * n_runs:,} simulated pairs of runs whose difference `compare` calls clear, "
            "less 0.8.",
            "",
            *promises(TIMES_PROMISED * n_runs, rng),
            "",
            "## How often the interval over people and items holds the truth",
            "",
            *crossed(n_runs // 2, np.random.default_rng(seed)),
        ]
    )


if __name__ == "__main__":
    sys.exit(print_page(page, (BEGIN, END), n_runs=(400, 2000)))
