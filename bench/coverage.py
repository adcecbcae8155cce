"""How often intervals hold the truth, how often equal runs are told apart, and what a plan promises.

    python bench/coverage.py [--quick] [--write docs/design/coverage.md]

Everything is simulated with the code that makes the numbers of reports and comparisons: 8 shares, 7 numbers
of videos from 2 to 300, videos of equal and of unequal size and with one that holds 40 % of the questions,
and answers that go together within a video (beta-binomial) as much as an intra-class correlation of 0, 0.2
and 0.5 says; then studies of people (`people.py`). Prints Markdown, or writes it between the marks in a page.
About nine minutes on one core; with ``--quick`` two.
"""

import argparse
import itertools
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from people import people_tables

from vidence.statistics.intervals import p_values, share_ends
from vidence.statistics.power import Design, paired_detectable
from vidence.statistics.sandwich import Layout

LEVELS = (0.8, 0.9, 0.95, 0.99)
VIDEOS = (2, 3, 5, 10, 30, 100, 300)
SHARES = (0.02, 0.05, 0.1, 0.3, 0.5, 0.7, 0.9, 0.98)
ICCS = (0.0, 0.2, 0.5)
EACH = (1, 4, 10)
SIZES = ("equal", "unequal", "one with 40 %")
APART = (0.05, 0.2, 0.35, 0.5)
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
    small = np.full(n_videos - 1, each)
    return np.concatenate([[max(1, round(small.sum() * 2 / 3))], small])


def designs() -> Iterator[tuple[str, int, int, float]]:
    for sizes, each, n_videos, icc in itertools.product(SIZES, EACH, VIDEOS, ICCS):
        is_alone = sizes == "equal" and each == 1 and icc > 0
        if not is_alone and (sizes != "one with 40 %" or n_videos > 2):
            yield sizes, each, n_videos, icc


def drawn_sums(case: Case, n_runs: int, rng: np.random.Generator) -> np.ndarray:
    """Right answers on each video, shape (n_runs, n_videos)."""
    counts = case.counts()
    chances: np.ndarray | float = case.share
    if case.icc > 0:
        strength = (1 - case.icc) / case.icc
        chances = rng.beta(case.share * strength, (1 - case.share) * strength, size=(n_runs, len(counts)))
    return rng.binomial(counts, chances, size=(n_runs, len(counts))).astype(float)


def coverage(case: Case, n_runs: int, rng: np.random.Generator) -> tuple[list[float], float, float]:
    """How often the interval holds the share at each level, its width at 0.95, and the bootstrap at 0.95.

    The last is the percentile bootstrap over videos; an interval of no width does not count as holding it.
    """
    counts = case.counts().astype(float)
    layout = Layout.of(counts[:, None])
    sums = drawn_sums(case, n_runs, rng)
    means, variances = layout.mean(sums[..., None]), layout.variance(sums[..., None])
    held, width = [], 0.0
    for level in LEVELS:
        low, high = share_ends(means, variances, dof=layout.dof, n_alike=layout.n_alike, level=level)
        held.append(float(((low <= case.share) & (case.share <= high)).mean()))
        width = float((high - low).mean()) if level == 0.95 else width
    some = sums[:400]
    weights = rng.multinomial(len(counts), np.full(len(counts), 1 / len(counts)), size=N_BOOT).astype(float)
    low, high = np.quantile(weights @ some.T / (weights @ counts)[:, None], [0.025, 0.975], axis=0)
    is_held = (low <= case.share + 1e-12) & (case.share <= high + 1e-12) & (high - low > 1e-9)
    return held, width, float(is_held.mean())


def coverage_tables(n_runs: int, rng: np.random.Generator) -> list[str]:
    found = {
        case: coverage(case, n_runs, rng)
        for case in (
            Case(sizes=sizes, each=each, n_videos=n_videos, share=share, icc=icc)
            for (sizes, each, n_videos, icc), share in itertools.product(designs(), SHARES)
        )
    }

    def cells(wanted: Callable[[Case], bool]) -> list[tuple[list[float], float, float]]:
        return [value for case, value in found.items() if wanted(case)]

    rows = []
    for n_videos in VIDEOS:
        some = cells(lambda case, n=n_videos: case.n_videos == n)
        row = [str(n_videos), str(len(some))]
        for i, level in enumerate(LEVELS):
            held = np.array([one[0][i] for one in some])
            row.append(f"{100 * held.mean():.1f} ({100 * (held >= lowest(level)).mean():.0f})")
        old = np.array([one[2] for one in some])
        row.append(f"{100 * old.mean():.1f} ({100 * (old >= lowest(0.95)).mean():.0f})")
        rows.append([*row, f"{100 * np.mean([one[1] for one in some]):.0f}"])
    five = cells(lambda case: case.n_videos >= 5)
    share_good = np.mean([one[0][2] >= lowest(0.95) for one in five])
    heads = ["videos", "designs", *(f"{100 * level:g} %" for level in LEVELS)]
    lines = [
        f"With five or more videos the 95 % interval holds the truth in 93 % or more of "
        f"{n_runs:,} simulated runs in **{100 * share_good:.1f} %** of {len(five):,} designs. "
        "Each cell: mean coverage in per cent, and in brackets the share of designs with at most two points "
        "too little (99 %: half a point).",
        "",
        *table([*heads, "bootstrap, 95 %", "width at 95 %, points"], rows),
        "",
        "At 95 %, by size of the videos and true share (mean over correlations and numbers of questions):",
        "",
    ]
    rows = []
    for sizes, share in itertools.product(SIZES, SHARES):
        row = [sizes, f"{100 * share:g} %"]
        for n_videos in VIDEOS:
            some = cells(lambda c, s=sizes, p=share, n=n_videos: (c.sizes, c.share, c.n_videos) == (s, p, n))
            row.append(f"{100 * np.mean([one[0][2] for one in some]):.0f}" if some else "")
        rows.append(row)
    lines += table(["videos of", "share", *(f"{n} videos" for n in VIDEOS)], rows)
    worst = sorted(((value[0][2], case) for case, value in found.items()), key=lambda pair: pair[0])[:8]
    lines += ["", "The eight worst designs at 95 %:", ""]
    lines += table(
        ["videos", "sizes", "questions on most", "share", "correlation", "coverage, %"],
        [
            [str(c.n_videos), c.sizes, str(c.each), f"{100 * c.share:g} %", f"{c.icc:g}", f"{100 * held:.1f}"]
            for held, c in worst
        ],
    )
    return lines


def lowest(level: float) -> float:
    """What counts as good coverage: at most two points too little, half a point at 99 %."""
    return level - (0.005 if level > 0.98 else 0.02)


def drawn_differences(
    counts: np.ndarray, *, apart: float, gain: float, icc: float, n_runs: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Sums of differences by video, (n_runs, n_videos), and how many questions differ, (n_runs,).

    A Polya urn for questions that go together.
    """
    shares = np.cumsum([(apart + gain) / 2, (apart - gain) / 2])
    size = (n_runs, len(counts))
    fates = np.full((counts.max(), *size), 2, np.int8)
    for i in range(counts.max()):
        fates[i] = (rng.random(size)[..., None] >= shares).sum(axis=-1)
        if i and icc:
            is_copy = rng.random(size) < i * icc / (1 - icc + i * icc)
            which = rng.integers(0, i, size=size)
            copied = np.take_along_axis(fates, which[None], axis=0)[0]
            fates[i] = np.where(is_copy, copied, fates[i])
    is_there = np.arange(counts.max())[:, None, None] < counts
    ahead, behind = (((fates == fate) & is_there).sum(axis=0) for fate in (0, 1))
    return (ahead - behind).astype(float), (ahead + behind).sum(axis=1)


def share_clear(counts: np.ndarray, sums: np.ndarray, n_apart: np.ndarray, level: float = 0.95) -> float:
    layout = Layout.of(counts[:, None].astype(float))
    totals = sums[..., None]
    found = p_values(
        layout.mean(totals),
        layout.variance(totals),
        n_apart=n_apart,
        dof=layout.dof,
        n_alike=layout.n_alike,
    )
    return float((found < 1 - level).mean())


def false_findings(n_runs: int, rng: np.random.Generator) -> list[str]:
    """How often two runs that are equally good are told apart."""
    found: dict[int, list[float]] = {n: [] for n in VIDEOS}
    for (sizes, each, n_videos, icc), apart in itertools.product(designs(), APART):
        counts = counts_of(sizes, each, n_videos)
        runs = max(400, n_runs // max(1, int(counts.sum() / 300)))
        counts = np.minimum(counts, 200)
        drawn = drawn_differences(counts, apart=apart, gain=0.0, icc=icc, n_runs=runs, rng=rng)
        found[n_videos].append(share_clear(counts, *drawn))
    rows = [
        [str(n), str(len(some)), f"{np.mean(some):.3f}", f"{np.quantile(some, 0.95):.3f}", f"{max(some):.3f}"]
        for n, some in found.items()
    ]
    return table(["videos", "designs", "mean", "95th percentile", "highest"], rows)


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


def table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    lines = [heads, ["---"] * len(heads), *rows]
    return [f"| {' | '.join(line)} |" for line in lines]


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
            "## How often equal runs are told apart",
            "",
            "Two runs that are equally good and differ on 5, 20, 35 or 50 % of the questions; level 0.05.",
            "",
            *false_findings(n_runs, rng),
            "",
            "## What `power` promises and `compare` finds",
            "",
            "At the difference that `vidence power` names for power 0.8 (1, 4 and 10 questions on each "
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


def main() -> int:
    """Print the tables, or write them into a page."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true", help="400 runs of each design in place of 2,000")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--write", type=Path, help="a page with the two marks, between which the tables go")
    options = parser.parse_args()
    made = page(400 if options.quick else 2000, options.seed)
    if options.write is None:
        print(made)
        return 0
    text = options.write.read_text(encoding="utf-8")
    before, _, rest = text.partition(BEGIN)
    _, found, after = rest.partition(END)
    if not found:
        print(f"{options.write} lacks the marks {BEGIN} and {END}", file=sys.stderr)
        return 2
    options.write.write_text(f"{before}{BEGIN}\n\n{made}\n\n{END}{after}", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
