"""Choose few questions that predict the score on all."""

from typing import Annotated

import click
import numpy as np

from vidence.cli.commands.calibrate import ManyRuns
from vidence.console.flags import command, flag
from vidence.records import Record

GROUP = "stats"


class SubsetWanted(Record):
    """The runs that choose a subset, and how large it is."""

    given: ManyRuns
    n: Annotated[int, flag("So many questions.", type=click.IntRange(2))] = 100


@command()
def subset(given: SubsetWanted) -> None:
    """Choose questions that predict the score on all, by eight RUN folders or more on the same questions.

    The error is that of cross-validation: each run is left out, the others choose, and its score is
    predicted. Random questions are printed for comparison, and half and twice as many questions.
    """
    from vidence.report import items as of
    from vidence.report.results import SEED

    paired, n = given.given.paired(), given.n
    sizes = sorted({n, *(other for other in (n // 2, 2 * n) if 1 < other < len(paired.items))})
    misses = of.cross_validated(paired, sizes, rng=np.random.default_rng(SEED))
    subset = of.chosen_subset(paired, n, misses[n]) if given.given.out is not None else None
    messages = (of.verdict(n, misses[n]), *paired.notes)
    given.given.show("subset", messages, of.errors_table(misses), found=subset)
