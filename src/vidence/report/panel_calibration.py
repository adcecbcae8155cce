"""Planted against recovered: what views of a panel say of a phantom world, beside what was planted in it."""

from collections.abc import Mapping, Sequence
from itertools import pairwise

import numpy as np

from vidence.engine.panel import ModelFacts
from vidence.report.calibration import Compared
from vidence.report.diagnosis_calibration import Recovered
from vidence.report.panel_grid import Grid, GridCell, open_view
from vidence.report.results import SEED, Run
from vidence.report.scores import Draws
from vidence.tables.table import Table

SOUND, USUAL = "fuser", 16  # the simulated model without a defect, and frames
RULE = "midpoints"
FINDINGS = "findings of"  # marks rows of diagnostics, which are set beside what was planted elsewhere
Pairs = Sequence[tuple[Run, Compared]]


def recovered_by_views(pairs: Pairs) -> tuple[Recovered, ...]:
    """The paired differences of views over runs of simulated models, beside the planted ones.

    Budgets are those of the sound model, selectors its frames of the plan against those of the evidence, and
    each defect is a method whose base is the sound model.

    Args:
        pairs: runs on one phantom world with what was planted.
    """
    sound = [(run, one) for run, one in pairs if one.model == SOUND]
    budgets = {f"{r.plan.n_frames}": (r, c) for r, c in sound if r.plan.selector == RULE}
    usual = [(run, one) for run, one in pairs if run.plan.n_frames == USUAL]
    selectors = {r.plan.selector: (r, c) for r, c in usual if c.model == SOUND}
    models = {c.model: (r, c) for r, c in usual if r.plan.selector == RULE}
    found: list[Recovered] = []
    if len(budgets) > 1:
        steps = [(more, less) for less, more in pairwise(sorted(budgets, key=int))]
        found += _beside(
            "budgets",
            _grid(budgets, model=SOUND),
            table="budgets-neighbours",
            planted=budgets,
            order=steps,
        )
    if len(selectors) > 1:
        first, *others = selectors
        grid = _grid(selectors, model=SOUND)
        found += _beside(
            "selectors",
            grid,
            table="selectors-differences",
            planted=selectors,
            order=[(one, first) for one in others],
        )
    if SOUND in models and len(models) > 1:
        grid = Grid(
            cells=tuple(
                GridCell(
                    benchmark="phantom",
                    model=name,
                    condition="",
                    run=run,
                    about=ModelFacts(base="" if name == SOUND else SOUND),
                )
                for name, (run, _) in models.items()
            )
        )
        defects = [(name, SOUND) for name in models if name != SOUND]
        found += _beside("gain", grid, table="gain", planted=models, order=defects)
    return tuple(found)


def _grid(named: Mapping[str, tuple[Run, Compared]], *, model: str) -> Grid:
    return Grid(
        cells=tuple(
            GridCell(benchmark="phantom", model=model, condition=name, run=run)
            for name, (run, _) in named.items()
        )
    )


def _beside(
    view: str,
    grid: Grid,
    *,
    table: str,
    planted: Mapping[str, tuple[Run, Compared]],
    order: Sequence[tuple[str, str]],
) -> list[Recovered]:
    """The differences of a view, in its order, beside those of what was planted."""
    draws = Draws(rng=np.random.default_rng(SEED))
    (shown,) = (
        one for one in open_view(view).show(grid, draws) if isinstance(one, Table) and one.name == table
    )
    rows = {row.label: row for row in shown.rows if FINDINGS not in row.detail}
    made = []
    for row, (first, second) in zip(rows.values(), order, strict=True):
        ours, theirs = planted[first][1], planted[second][1]
        apart = np.array(ours.planted, float).mean() - np.array(theirs.planted, float).mean()
        made.append(
            Recovered(
                diagnostic=f"panel: {view}",
                label=row.label,
                what="difference",
                planted=float(apart),
                found=shown.estimate(row.key, "difference"),
                n=len(ours.planted),
                n_different=ours.n_different + theirs.n_different,
                is_share=True,
            )
        )
    return made
