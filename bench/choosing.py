"""How long choosing takes once the scores are there: AKS and BOLT on the 3,600 scores of an hour.

    python bench/choosing.py [--scores 3600] [--repeats 50]

No part of `run.py`: nothing is decoded and nobody is asked.
"""

import argparse
import sys
import time
from collections.abc import Callable
from functools import partial
from statistics import median

import measure
import numpy as np
from harness import Row
from run import as_markdown

MOST_MS = 5.0


def milliseconds(function: Callable[[], object], repeats: int) -> tuple[float, float]:
    """Median and worst of some calls, after one that is not counted."""
    function()
    taken = []
    for _ in range(repeats):
        start = time.perf_counter()
        function()
        taken.append((time.perf_counter() - start) * 1000)
    return median(taken), max(taken)


def rows(n_scores: int, repeats: int) -> list[Row]:
    """Every rule and budget, on scores that are flat, peaky and mostly nothing."""
    from vidence.selection import aks, bolt

    rng = np.random.default_rng(0)
    kinds = {
        "flat": rng.random(n_scores),
        "peaky": np.exp(-((np.arange(n_scores) - n_scores / 3) ** 2) / 50),
        "sparse": (rng.random(n_scores) < 0.01) * rng.random(n_scores),
    }
    defaults = aks.AksSettings()
    rules: dict[str, Callable[[np.ndarray, int], object]] = {
        "aks official": lambda s, k: aks.official(s, k, defaults),
        "aks repaired, ranked": lambda s, k: aks.repaired(s, k, defaults),
        "bolt official": lambda s, k: bolt.official(s, k, 3.0),
        "bolt repaired, ranked": lambda s, k: bolt.repaired(s, k, 3.0),
    }
    found = []
    for name, rule in rules.items():
        for k in (16, 64, 256):
            times = {kind: milliseconds(partial(rule, s, k), repeats) for kind, s in kinds.items()}
            worst_kind = max(times, key=lambda kind: times[kind][0])
            middle, worst = times[worst_kind]
            found.append(
                Row(
                    what=f"{name}, {k} of {n_scores:,} ({worst_kind} scores, the slowest kind)",
                    measured=f"{middle:.2f} ms, worst of {repeats}: {worst:.2f} ms",
                    target=f"{MOST_MS:g} ms",
                    holds=middle < MOST_MS,
                )
            )
    return found


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--scores", type=int, default=3600)
    parser.add_argument("--repeats", type=int, default=50)
    options = parser.parse_args()
    print(f"{measure.machine()}\n")
    print(as_markdown(rows(options.scores, options.repeats)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
