"""What the simulations of intervals share: a table as Markdown, and a page between two marks."""

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path


def table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """A table as lines of Markdown."""
    lines = [heads, ["---"] * len(heads), *rows]
    return [f"| {' | '.join(line)} |" for line in lines]


def print_page(page: Callable[[int, int], str], marks: tuple[str, str], *, n_runs: tuple[int, int]) -> int:
    """Print the tables of a simulation, or write them into a page; the exit code.

    Args:
        page: makes them from the number of runs of each design and a seed.
        marks: where they begin and end in the page.
        n_runs: how many with ``--quick``, and without.
    """
    quick, full = n_runs
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true", help=f"{quick} runs of each design, not {full:,}")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--write", type=Path, help="a page with the two marks, between which the tables go")
    options = parser.parse_args()
    made = page(quick if options.quick else full, options.seed)
    if options.write is None:
        print(made)
        return 0
    begin, end = marks
    text = options.write.read_text(encoding="utf-8")
    before, _, rest = text.partition(begin)
    _, found, after = rest.partition(end)
    if not found:
        print(f"{options.write} lacks the marks {begin} and {end}", file=sys.stderr)
        return 2
    options.write.write_text(f"{before}{begin}\n\n{made}\n\n{end}{after}", encoding="utf-8")
    return 0
