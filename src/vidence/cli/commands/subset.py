"""Choose few questions that predict the score on all."""

from typing import Annotated

import click
import numpy as np

from vidence.cli.commands.calibrate import ManyRuns
from vidence.console.flags import command, flag
from vidence.records import Record

GROUP = "stats"


class SubsetWanted(Record):
    """The runs to choose a subset with, and its size."""

    given: ManyRuns
    n: Annotated[int, flag("Number of questions.", type=click.IntRange(2))] = 100


@command()
def subset(given: SubsetWanted) -> None:
    """Choose a subset that predicts the full score, from eight or more RUN folders on the same questions.

    The error is cross-validated: each run is left out in turn, the subset is chosen from the others, and
    its score predicted. Random subsets, and subsets of half and twice the size, are printed for comparison.
    """
    from vidence.report import items as of
    from vidence.report.results import SEED

    paired, n = given.given.paired(), given.n
    sizes = sorted({n, *(other for other in (n // 2, 2 * n) if 1 < other < len(paired.items))})
    misses = of.cross_validated(paired, sizes, rng=np.random.default_rng(SEED))
    subset = of.chosen_subset(paired, n, misses[n]) if given.given.out is not None else None
    messages = (of.verdict(n, misses[n]), *paired.notes)
    given.given.show("subset", messages, of.errors_table(misses), found=subset)
