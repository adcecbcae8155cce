"""The models of a panel in several settings: conditions, benchmarks, or the values of a tag."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from vidence.errors import UsageError
from vidence.report.pairing import pair_where_possible
from vidence.report.panel_grid import Grid, GridCell, by_benchmark
from vidence.report.scores import natural_order
from vidence.statistics.rank_changes import Setting

CONDITION, BENCHMARK = "condition", "benchmark"
LEAST_QUESTIONS: Final = 5  # of a value of a tag


@dataclass(frozen=True, kw_only=True)
class LinedUp:
    """The same models in several settings, each on questions that all of them have."""

    title: str
    models: tuple[str, ...]
    settings: dict[str, Setting]
    notes: tuple[str, ...] = ()


def lined_up(grid: Grid, by: str) -> tuple[LinedUp, ...]:
    """The models in the settings of a panel; those with fewer than two settings or models fall away.

    Args:
        grid: the runs.
        by: ``condition``, ``benchmark``, or a tag.

    Raises:
        UsageError: there are no two settings of the same two models.
    """
    if by == BENCHMARK:
        found = [_of_groups("all benchmarks", by_benchmark(grid.scored, _named), by_label=True)]
    elif by == CONDITION:
        found = [
            _of_groups(title, by_benchmark(cells, lambda cell: cell.condition), by_label=False)
            for title, cells in by_benchmark(grid.scored, _named).items()
        ]
    else:
        found = [_of_tag(title, cells, by) for title, cells in by_benchmark(grid.scored, _named).items()]
    kept = tuple(one for one in found if one is not None)
    if not kept:
        what = "conditions" if by == CONDITION else "benchmarks" if by == BENCHMARK else f"values of {by!r}"
        raise UsageError(f"the panel has no two {what} in which the same two models have a score")
    return kept


def _named(cell: GridCell) -> str:
    return ", ".join(filter(None, (cell.benchmark, cell.run.plan.split)))


def _of_groups(title: str, groups: dict[str, list[GridCell]], *, by_label: bool) -> LinedUp | None:
    """Runs by setting: the models that are in all of them, each with one run there."""
    at = {
        name: {(cell.label if by_label else cell.model): cell for cell in cells}
        for name, cells in groups.items()
    }
    models = [model for model in next(iter(at.values()), {}) if all(model in found for found in at.values())]
    if len(at) < 2 or len(models) < 2:
        return None
    settings, notes = dict[str, Setting](), []
    for name, found in at.items():
        paired = pair_where_possible([found[model].run for model in models])
        if paired is None:
            notes.append(f"{name or 'no condition'} is left out: its runs are not on the same questions.")
            continue
        settings[name or "no condition"] = Setting(values=paired.values, clusters=paired.clusters)
    apart = sorted(set[str]().union(*at.values()) - set(models))
    if apart:
        notes.append(f"Left out, since not in every setting: {', '.join(apart)}.")
    if len(settings) < 2:
        return None
    return LinedUp(title=title, models=tuple(models), settings=settings, notes=tuple(notes))


def _of_tag(title: str, cells: Sequence[GridCell], tag: str) -> LinedUp | None:
    """The values of a tag on the questions that all runs of a benchmark share."""
    paired = pair_where_possible([cell.run for cell in cells]) if len(cells) > 1 else None
    if paired is None:
        return None
    places: dict[str, list[int]] = {}
    for i, item in enumerate(paired.items):
        if tag in item.tags:
            places.setdefault(item.tags[tag], []).append(i)
    few = [value for value, at in places.items() if len(at) < LEAST_QUESTIONS]
    settings = {
        value: Setting(values=paired.values[at], clusters=paired.clusters.part(at))
        for value in sorted(places, key=natural_order)
        if len(at := places[value]) >= LEAST_QUESTIONS
    }
    if len(settings) < 2:
        return None
    notes = (
        (f"Left out, with fewer than {LEAST_QUESTIONS} questions: {', '.join(sorted(few))}.",) if few else ()
    )
    return LinedUp(title=title, models=tuple(cell.label for cell in cells), settings=settings, notes=notes)
