"""How often the intervals of `best-of-n` hold what is planted in its lines over N, and in its rewards.

    python bench/best_of_n.py [--worlds 300]

Two questions on each video; each reply is right with 0.4, the same for all questions or (correlation 0.2)
drawn for each video; the reward gives points of AUC 0.75 before they are cut into five. Prints the table of
the documentation. About four minutes on one core.
"""

import argparse
import sys
from collections.abc import Callable, Iterator

import numpy as np
from scipy import integrate, stats

from vidence.catalog import create
from vidence.explain.planted.readers import (
    Candidates,
    GradedReward,
    candidate_subjects,
    examine_all,
    tables_of,
)
from vidence.explain.planted.simulated import Answers
from vidence.records import Item

P = 0.4
SIZES = (40, 150)
CORRELATIONS = (0.0, 0.2)
At = tuple[str, str, str]


def mean_over(of: Callable[[float], float], icc: float) -> float:
    """The mean of a figure over the chances of the videos."""
    if not icc:
        return of(P)
    strength = (1 - icc) / icc
    drawn = stats.beta(P * strength, (1 - P) * strength)
    return float(integrate.quad(lambda p: of(p) * drawn.pdf(p), 0, 1)[0])


def planted(icc: float) -> dict[str, tuple[At, float]]:
    """Where each figure is stated, and what it must be."""
    reward = GradedReward(rng=np.random.default_rng(0))
    best = {n: mean_over(lambda p, n=n: reward.best(p, n), icc) for n in (2, 4, 8)}
    oracle = mean_over(lambda p: 1 - (1 - p) ** 8, icc)
    lines: dict[str, tuple[At, float]] = {
        f"best of {n}, averaged": (("best-of-n", "self:averaged", f"m{m}"), best[n])
        for m, n in ((1, 2), (2, 4), (3, 8))
    }
    return lines | {
        "best of 8, nested": (("best-of-n", "self:nested", "m3"), best[8]),
        "oracle of 8": (("best-of-n", "oracle", "m3"), oracle),
        "AUC of the points": (("rewards", "self", "auc"), reward.auc),
        "selection efficiency": (("rewards", "self", "efficiency"), (best[8] - P) / (oracle - P)),
    }


def worlds(n: int, icc: float, n_worlds: int) -> Iterator[dict]:
    """The tables of so many worlds."""
    diagnostic = create("diagnostic", "best-of-n")
    for seed in range(n_worlds):
        rng = np.random.default_rng(seed)
        reward, chances = GradedReward(rng=rng), {}

        def answers_of(item: Item, rng=rng, reward=reward, chances=chances) -> Answers:
            strength = (1 - icc) / icc if icc else 0.0
            video = item.media[0].path
            if video not in chances:
                chances[video] = float(rng.beta(P * strength, (1 - P) * strength)) if icc else P
            return Candidates(p=chances[video], points=reward, rng=rng)(item)

        yield tables_of(diagnostic, examine_all(diagnostic, candidate_subjects(n), answers_of), rng=rng)


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--worlds", type=int, default=300)
    n_worlds = parser.parse_args().worlds
    designs = [(n, icc) for icc in CORRELATIONS for n in SIZES]
    cells: dict[str, list[str]] = {}
    for n, icc in designs:
        truth = planted(icc)
        held = dict.fromkeys(truth, 0)
        for tables in worlds(n, icc, n_worlds):
            for name, ((sheet, line, column), value) in truth.items():
                found = tables[sheet].estimate(line, column)
                held[name] += found.low <= value <= found.high
        for name, (_, value) in truth.items():
            cells.setdefault(name, []).append(f"{value:.3f}: {100 * held[name] / n_worlds:.0f}")
    heads = ["figure", *(f"{n} questions, correlation {icc:g}" for n, icc in designs)]
    for row in (heads, ["---"] * len(heads), *([name, *some] for name, some in cells.items())):
        print(f"| {' | '.join(row)} |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
