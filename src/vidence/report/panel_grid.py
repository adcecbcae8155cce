"""The runs of a panel as a grid of models, conditions and benchmarks, the input of views."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Generic, Protocol, TypeVar

import msgspec

from vidence.catalog import create, is_known
from vidence.contracts import TagsAsRead
from vidence.engine.diagnose import open_diagnostic
from vidence.engine.panel import UNKNOWN, ModelFacts, PanelRun
from vidence.engine.store import RunStore
from vidence.errors import UsageError
from vidence.records import Item, Record, by_key
from vidence.report.diagnosis import Diagnosed, load_diagnosed
from vidence.report.pairing import own_item
from vidence.report.results import OUTCOMES, Row, Run, load_run
from vidence.report.scores import ANSWERED, Draws
from vidence.tables.charts import Statement

ALL = "*"
SettingsT = TypeVar("SettingsT", bound=Record)


@dataclass(frozen=True, kw_only=True)
class GridCell:
    """One run of a panel, with its place. It may have findings of diagnostics but no trials."""

    benchmark: str
    model: str
    condition: str
    run: Run
    about: ModelFacts = UNKNOWN

    @property
    def label(self) -> str:
        """Return the model and its condition."""
        return ", ".join(filter(None, (self.model, self.condition)))

    @property
    def row(self) -> tuple[str, str]:
        """Return the model and condition, which the runs of a row share."""
        return self.model, self.condition

    @property
    def has_score(self) -> bool:
        """Whether there are trials, the model answered at least once, and an answer is known."""
        return bool(self.run.rows) and not self.run.no_score

    def found(self, diagnostic: str, *, level: float) -> tuple[Diagnosed, ...]:
        """Return a diagnostic's findings, one result per set of options; empty for people.

        Raises:
            UsageError: no question could be examined.
        """
        if self.run.people:
            return ()
        with RunStore(self.run.folder) as store:
            headers = store.diagnoses()
        return tuple(
            load_diagnosed(
                open_diagnostic(diagnostic, header.options),
                self.run.folder,
                options=header.options,
                level=level,
            )
            for header in headers.values()
            if header.diagnostic == diagnostic
        )


@dataclass(frozen=True, kw_only=True)
class Grid:
    """All runs of a panel; `missing` lists those without trials, and why."""

    cells: tuple[GridCell, ...]
    missing: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        _check_apart(self.cells)
        _check_releases(self.cells)

    @property
    def scored(self) -> tuple[GridCell, ...]:
        """Return the runs of models that have a score."""
        return tuple(cell for cell in self.cells if cell.has_score and not cell.about.people)

    @property
    def people(self) -> tuple[GridCell, ...]:
        """Return the runs of people that have a score; means over models exclude them."""
        return tuple(cell for cell in self.cells if cell.has_score and cell.about.people)

    @property
    def unscored(self) -> str:
        """Say that no run has a score, and why."""
        reasons = dict.fromkeys(cell.run.no_score for cell in self.cells if cell.run.no_score)
        return ": ".join(filter(None, ("no run of the panel has a score", ", ".join(reasons))))

    def of(self, benchmarks: Sequence[str]) -> "Grid":
        """Return the runs on some benchmarks by name; all for ``*``.

        Raises:
            UsageError: there are none.
        """
        kept = tuple(c for c in self.cells if ALL in benchmarks or c.run.plan.benchmark in benchmarks)
        if not kept:
            there = ", ".join(dict.fromkeys(cell.run.plan.benchmark for cell in self.cells)) or "no run"
            raise UsageError(f"the panel has no run on {' or '.join(benchmarks)}; there is {there}")
        return replace(self, cells=kept)

    def gaps(self) -> tuple[str, ...]:
        """Describe what the grid lacks: runs without trials, and conditions that only some models have."""
        conditions = list(dict.fromkeys(cell.condition for cell in self.cells))
        models = list(dict.fromkeys(cell.model for cell in self.cells))
        there = {cell.row for cell in self.cells}
        gaps = [f"Missing: {name}." for name in self.missing]
        for condition in conditions:
            own = [model for model in models if (model, condition) in there]
            if len(own) < len(models):
                named = f"The condition {condition!r}" if condition else "No condition"
                gaps.append(f"{named} is there for {', '.join(own)} alone, of {len(models)} models.")
        return tuple(gaps)

    def left_out(self) -> tuple[str, ...]:
        """Say how many replies are in the means of runs that average readable replies only."""
        cells = [c for c in (*self.scored, *self.people) if c.run.plan.headline == ANSWERED]
        out = "; ".join(map(_left_out, cells))
        return (f"Replies in the means: {out}.",) if cells else ()


def _left_out(cell: GridCell) -> str:
    """Say how many replies of a run are in its means, and what happened to the others."""
    counts: Counter[str] = Counter(row.outcome for row in cell.run.rows)
    others = [f"{counts[name]:,} {name}" for name in OUTCOMES if name != ANSWERED and counts[name]]
    others += [f"{cell.run.n_missing:,} not asked yet"] if cell.run.n_missing else []
    name = cell.label if cell.benchmark == cell.run.plan.benchmark else f"{cell.label} ({cell.benchmark})"
    out = f"{name} {counts[ANSWERED]:,} of {len(cell.run.rows) + cell.run.n_missing:,}"
    return f"{out} ({', '.join(others)})" if others else out


class PanelView(Protocol):
    """A kind of table and figure over the runs of a panel.

    `name` is that of its file.
    """

    name: str

    def show(self, grid: Grid, draws: Draws) -> tuple[Statement, ...]:
        """Return its tables and figures, the main one first.

        Raises:
            UsageError: the runs lack what it shows, or cannot be compared.
        """
        ...


class SettingsView(Generic[SettingsT]):
    """A view that holds its options."""

    def __init__(self, settings: SettingsT) -> None:
        self.settings = settings


def open_view(spec: str) -> PanelView:
    """Open the view of a spec, such as ``pivot?rows=task&columns=model``."""
    view: PanelView = create("view", spec)
    return view


def grid_of(
    runs: Sequence[PanelRun],
    *,
    missing: Sequence[str] = (),
    loaded: Mapping[Path, Run] = MappingProxyType({}),
) -> Grid:
    """Read the runs of a panel from their folders.

    Args:
        runs: the runs.
        missing: the runs without trials, and why.
        loaded: runs already read, by folder.

    Raises:
        StoreError: a folder is not a run folder, or is damaged.
        UsageError: two runs have one place, or a benchmark has several releases.
    """
    return Grid(
        cells=tuple(
            GridCell(
                benchmark=run.benchmark,
                model=run.model,
                condition=run.condition,
                run=as_measured(loaded[run.folder] if run.folder in loaded else load_run(run.folder)),
                about=run.about,
            )
            for run in runs
        ),
        missing=tuple(missing),
    )


def _check_apart(cells: Sequence[GridCell]) -> None:
    places: dict[tuple[str, ...], GridCell] = {}
    for cell in cells:
        place = (cell.benchmark, cell.run.plan.benchmark, cell.run.plan.split, *cell.row)
        other = places.setdefault(place, cell)
        if other is not cell:
            raise UsageError(
                f"{other.run.folder} and {cell.run.folder} are both {cell.label} on {cell.benchmark}; give "
                "one of them another model or condition"
            )


def _check_releases(cells: Sequence[GridCell]) -> None:
    """Reject runs of one benchmark with different revisions, or a different question under one id."""
    revisions: dict[tuple[str, str], dict[str, GridCell]] = {}
    for cell in cells:
        known = revisions.setdefault((cell.benchmark, cell.run.plan.split), {})
        known.setdefault(cell.run.facts.benchmark_revision or "none named", cell)
    for values in revisions.values():
        if len(values) > 1:
            message = "; ".join(f"{cell.label}: {revision}" for revision, cell in values.items())
            raise _of_releases(next(iter(values.values())).benchmark, f"revision ({message})")
    seen: dict[tuple[str, str, str], tuple[object, GridCell]] = {}
    for cell in cells:
        for item_id, item in {row.item.item_id: own_item(row) for row in cell.run.rows}.items():
            place = (cell.benchmark, cell.run.plan.split, item_id)
            first, other = seen.setdefault(place, (_content(item), cell))
            if first != _content(item):
                what = f"question {item_id!r} ({other.label} against {cell.label})"
                raise _of_releases(cell.benchmark, what)


def _content(item: Item) -> object:
    return item.question, item.choices, item.answer


def _of_releases(benchmark: str, what: str) -> UsageError:
    return UsageError(
        f"the runs on {benchmark} are of several releases: they differ in {what}; run them on one release, "
        "or leave out those of the other"
    )


def by_benchmark(
    cells: Sequence[GridCell], key: Callable[[GridCell], str] = lambda cell: cell.benchmark
) -> dict[str, list[GridCell]]:
    """Group runs by benchmark, or by another key."""
    return by_key((key(cell), cell) for cell in cells)


def as_measured(run: Run) -> Run:
    """Return the run with the tags that its benchmark assigns for the judge of the replies.

    ActPLD's `thought-log` judges the description in the reply to a question with choices: such a trial
    belongs to the task ``description``. Runs of other benchmarks are unchanged.
    """
    if not is_known("benchmark", run.plan.benchmark):
        return run
    benchmark = create("benchmark", run.plan.benchmark)
    if not isinstance(benchmark, TagsAsRead):
        return run
    return replace(run, rows=tuple(_measured(row, benchmark, parser=run.parser) for row in run.rows))


def _measured(row: Row, benchmark: TagsAsRead, *, parser: str) -> Row:
    tags = dict(benchmark.tags_as_read(row.item, parser=parser))
    if tags == row.item.tags:
        return row
    return replace(row, item=msgspec.structs.replace(row.item, tags=tags))
