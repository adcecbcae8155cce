"""A run folder as a value for Python: its rows, its accuracy, its tables."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from vidence.engine.specs import label
from vidence.records import Estimate
from vidence.report import results
from vidence.report.results import SEED, Row
from vidence.report.scores import Draws, accuracy, margin_table
from vidence.report.tables import all_tables
from vidence.tables.table import Table


@dataclass(frozen=True, kw_only=True, repr=False)
class Run(results.Run):
    """A run, as `vidence.open_run` and `vidence.evaluate` give it.

    ``len(run)`` counts the trials, iterating gives them as rows, each with its question and its score.
    """

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[Row]:
        return iter(self.rows)

    def __repr__(self) -> str:
        score = self.accuracy
        said = "no question is scored" if score is None else f"accuracy {100 * score.value:.1f} %"
        missing = f" of {self.facts.n_planned}" if self.n_missing else ""
        return f"Run({str(self.folder)!r}, {label(self.plan)!r}, {len(self)}{missing} trials, {said})"

    @property
    def accuracy(self) -> Estimate | None:
        """The accuracy by the plan's own average with its 95 % interval: the headline of the report.

        None while no question is scored.
        """
        return accuracy(self.rows, self.plan.headline, draws=Draws(rng=np.random.default_rng(SEED)))

    def tables(self, *, level: float = 0.95, against_chance: bool = False) -> dict[str, Table]:
        """Every table of the report of this run, by its name; the scores come first.

        Args:
            level: coverage of the intervals.
            against_chance: also how far the scores lie above chance, above the best single letter and above
                the longest choice, with intervals.

        Raises:
            UsageError: the run has no trials.
        """
        tables = all_tables(self, rng=np.random.default_rng(SEED), level=level)
        margins = [margin_table(self, level=level)] if against_chance else []
        return {table.name: table for table in (*tables, *margins)}


def open_run(folder: Path | str, *, parser: str | None = None) -> Run:
    """Read a run folder, of a finished run or one that was stopped.

    Args:
        folder: the folder that ``vidence run`` or ``vidence.evaluate`` wrote.
        parser: None takes the scores as they were stored. A name reads every stored reply again with the
            parser of that name; no model is asked.

    Raises:
        StoreError: not a run folder, damaged, or of another format.
        UnknownNameError: no parser has that name.
    """
    return Run(**vars(results.load_run(Path(folder), parser=parser)))
