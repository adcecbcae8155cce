"""How often looks after every source decide falsely, and what they save; how good equivalence verdicts are.

    python bench/sequential.py [--quick] [--write docs/design/coverage.md]

Two runs are simulated on sources of equal size, of unequal size (log-normal) and with one that holds 40 % of
the questions. A question has the same mark in both runs, or is better or worse in the second; the shares of
these vary by source (Dirichlet) by an intra-class correlation of 0.1 and 0.5. The code is that of `vidence`
itself. Prints Markdown, or writes it between the marks in a page. About one minute on one core; with
``--quick`` one.
"""

import itertools
import sys
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from simulated import print_page

from vidence.statistics.intervals import exact_end
from vidence.statistics.sandwich import Layout
from vidence.statistics.sequential import BettingCapital
from vidence.statistics.student import quantile

BEGIN, END = "<!-- made by bench/sequential.py -->", "<!-- end of bench/sequential.py -->"
SIZES = {
    "1,000 of 1 question": np.full(1000, 1),
    "300 of 4": np.full(300, 4),
    "160 of 6": np.full(160, 6),
    "60 of 16": np.full(60, 16),
    "160 of 1 to 17": None,
    "160 of 1 to 59": None,
    "60 of 10, one of 400": np.array([400, *[10] * 60]),
}
for name, spread in zip([name for name, sizes in SIZES.items() if sizes is None], (0.4, 0.9), strict=True):
    drawn_sizes = np.random.default_rng(1).lognormal(np.log(6), spread, 160).round()
    SIZES[name] = np.maximum(1, drawn_sizes).astype(int)
APART, ICCS, MARGINS, DIFFERENCES, LEVEL = (0.1, 0.3), (0.1, 0.5), (0.05, 0.1), (0.05, 0.1, 0.2), 0.95


@dataclass(frozen=True)
class Looked:
    """For each run after how many questions it was decided as a share; 1 and False where it was not."""

    is_clear: np.ndarray
    clear_at: np.ndarray
    is_equivalent: np.ndarray
    equivalent_at: np.ndarray


def totals_of(
    sizes: np.ndarray, difference: float, *, apart: float, icc: float, n_runs: int, rng: np.random.Generator
) -> np.ndarray:
    """The sums of the differences of the sources, in a new random order for each run, with their sizes."""
    apart = max(apart, abs(difference))
    shares = np.array([(apart + difference) / 2, (apart - difference) / 2, 1 - apart])
    drawn = rng.gamma(np.maximum(shares, 1e-12) * (1 - icc) / icc, size=(n_runs, len(sizes), 3))
    chances = drawn / drawn.sum(-1, keepdims=True)
    counts = rng.multinomial(np.broadcast_to(sizes, drawn.shape[:2]), chances)
    order = rng.permuted(np.broadcast_to(np.arange(len(sizes)), drawn.shape[:2]), axis=1)
    found = np.stack([counts[..., 0] - counts[..., 1], np.broadcast_to(sizes, drawn.shape[:2])], -1)
    return np.take_along_axis(found, order[..., None], axis=1).astype(float)


def looked(found: np.ndarray, *, margin: float) -> Looked:
    """Look after every source: when 0 is out, and when everything outside of the margin is."""
    n_runs, n_sources, _ = found.shape
    means = np.array([0.0, -margin, margin])
    capital = BettingCapital(np.tile(means, (n_runs, 1)), most=float(found[..., 1].max()))
    asked = np.cumsum(found[..., 1], axis=1)
    value = np.cumsum(found[..., 0], axis=1) / asked
    out = np.zeros((n_runs, 3), bool)
    at = {"clear": np.ones(n_runs), "equivalent": np.ones(n_runs)}
    done = {name: np.zeros(n_runs, bool) for name in at}
    for i in range(n_sources):
        capital.add(found[:, i, :1], found[:, i, 1:])
        is_out = capital.log >= -np.log1p(-LEVEL)
        # The margin is out on its far side: what is left lies between.
        out |= is_out & np.stack([is_out[:, 0], value[:, i] > -margin, value[:, i] < margin], axis=1)
        for name, now in (("clear", out[:, 0]), ("equivalent", out[:, 1] & out[:, 2])):
            at[name] = np.where(now & ~done[name], asked[:, i] / asked[:, -1], at[name])
            done[name] = done[name] | now
    return Looked(done["clear"], at["clear"], done["equivalent"], at["equivalent"])


def within(found: np.ndarray, *, margin: float, level: float) -> np.ndarray:
    """Whether the interval of all questions at the level ``1 - 2 alpha`` lies within the margin."""
    held = np.zeros(len(found), bool)
    for i, run in enumerate(found):  # the sizes stand in another order in each
        layout = Layout.of(run[:, 1:])
        mean, variance = float(layout.mean(run[:, :1])), float(layout.variance(run[:, :1]))
        half = quantile(layout.dof, 2 * level - 1) * np.sqrt(variance)
        low, high = mean - half, mean + half
        if variance == 0:
            other = exact_end(layout.n_alike, 2 * level - 1)
            low, high = (1 - other) * mean - other, (1 - other) * mean + other
        held[i] = -margin < low and high < margin
    return held


def percent(values: list[float]) -> str:
    return f"{100 * np.mean(values):.0f}"


def sequential_table(n_runs: int, rng: np.random.Generator) -> Iterator[str]:
    yield "| sources | false *clear* | false *equivalent*, ±5 | ±10 | " + " | ".join(
        [f"{100 * d:g} points" for d in DIFFERENCES] + ["alike, ±10 |"]
    )
    yield "|" + " --- |" * 8
    highest = 0.0
    for name, sizes in SIZES.items():
        designs = list(itertools.product(APART, ICCS))

        def runs(
            difference: float, margin: float = 0.1, sizes: np.ndarray = sizes, designs: list = designs
        ) -> list[Looked]:
            return [
                looked(
                    totals_of(sizes, difference, apart=apart, icc=icc, n_runs=n_runs, rng=rng), margin=margin
                )
                for apart, icc in designs
            ]

        alike = runs(0.0)
        false = [[one.is_clear.mean() for one in alike]]
        for margin in MARGINS:
            some = [one for sign in (1, -1) for one in runs(sign * margin, margin)]
            false.append([one.is_equivalent.mean() for one in some])
        highest = max(highest, *itertools.chain(*false))
        cells = [f"{100 * np.mean(some):.1f} ({100 * max(some):.1f})" for some in false]
        for difference in DIFFERENCES:
            some = runs(difference)
            decided, saved = (
                [one.is_clear.mean() for one in some],
                [1 - one.clear_at.mean() for one in some],
            )
            cells.append(f"{percent(decided)} ({percent(saved)})")
        saved = [1 - one.equivalent_at.mean() for one in alike]
        cells.append(f"{percent([one.is_equivalent.mean() for one in alike])} ({percent(saved)})")
        yield f"| {name} | " + " | ".join(cells) + " |"
    yield ""
    yield f"The highest rate of false decisions of all designs is {100 * highest:.1f} of 100."


def equivalence_table(n_runs: int, rng: np.random.Generator) -> Iterator[str]:
    yield "| sources | ±5: 10 % apart | 30 % apart | all one way | ±10: 10 % apart | 30 % apart | alike, ±5 |"
    yield "|" + " --- |" * 7
    for name, sizes in SIZES.items():
        cells = []
        for margin, aparts in ((0.05, (0.1, 0.3, 0.0)), (0.1, (0.1, 0.3))):
            for apart in aparts:
                some = [
                    within(
                        totals_of(sizes, margin, apart=apart, icc=icc, n_runs=n_runs, rng=rng),
                        margin=margin,
                        level=LEVEL,
                    ).mean()
                    for icc in ICCS
                ]
                cells.append(f"{100 * max(some):.0f}")
        some = [
            within(
                totals_of(sizes, 0.0, apart=0.1, icc=icc, n_runs=n_runs, rng=rng), margin=0.05, level=LEVEL
            ).mean()
            for icc in ICCS
        ]
        yield f"| {name} | " + " | ".join([*cells, percent(some)]) + " |"


def page(n_runs: int, seed: int) -> str:
    rng = np.random.default_rng(seed)
    return "\n".join(
        [
            "## Looking after every source",
            "",
            f"Of {n_runs:,} simulated runs of each design (10 and 30 % of the questions differ, correlation "
            "0.1 and 0.5), looked at after every source, per 100: false decisions on average (in the worst "
            "design), where the runs are equally good (*clear*) or differ by exactly the margin "
            "(*equivalent*); then how many are decided (and which share of the questions is saved) at a true "
            "difference of 5, 10 and 20 points, and at a margin of 10 points where they are alike.",
            "",
            *sequential_table(n_runs, rng),
            "",
            "## Equivalence",
            "",
            f"`vidence compare --margin` after all questions, {n_runs // 4:,} runs of each design: how "
            "often, of 100, runs that differ by exactly the margin have an interval within it (5 are meant; "
            "the worse of two correlations), where 10 or 30 % of the questions differ, or no more than the "
            "margin, all in one direction; and how often runs that are alike are found equivalent.",
            "",
            *equivalence_table(n_runs // 4, rng),
        ]
    )


if __name__ == "__main__":
    sys.exit(print_page(page, (BEGIN, END), n_runs=(400, 2000)))
