"""Run the cells of a panel one by one."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import msgspec
import numpy as np

from vidence.contracts import BoundedDiagnostic
from vidence.engine.diagnose import Account
from vidence.engine.evaluate import Summary
from vidence.engine.panel import PanelRun
from vidence.engine.panel_diagnostics import Examination
from vidence.engine.plan import PLAN_FILE, Plan
from vidence.engine.prepare import load_questions, narrowed
from vidence.engine.store import RunStore
from vidence.errors import BudgetSpentError, UsageError, VidenceError
from vidence.records import Failed, Item, Usage
from vidence.report.opened_run import Run, open_run
from vidence.report.page import write_page
from vidence.report.panel import PanelCell, panel_section
from vidence.report.panel_grid import Grid, grid_of
from vidence.report.panel_registry import Viewed, viewed
from vidence.report.papers import paper_sections
from vidence.report.results import SEED
from vidence.report.run_list import listed
from vidence.report.scores import Draws
from vidence.report.sections import Section, notebook_html
from vidence.report.tables import all_tables
from vidence.tables.table import Table, several


class Ahead:
    """The remaining work of a panel, one line per run and diagnostic; questions are read once."""

    def __init__(self) -> None:
        self._read: dict[tuple[object, ...], tuple[Item, ...] | str] = {}

    def of_run(self, run: PanelRun) -> str:
        """Return the number of remaining trials, and the most that their replies can cost."""
        if not run.has_trials:
            return "no trials; diagnostics alone"
        items = self._questions(run.plan)
        if isinstance(items, str):
            return items
        n = len(items)
        line = listed(run.folder) if _is_there(run.folder) else None
        n_planned = n * run.plan.repeats
        n_left = n_planned - (line.n_answered if line else 0)
        messages = [several(n, "question"), f"{n_left:,} of {several(n_planned, 'trial')} left"]
        messages += _money(run.plan, n_left)
        messages += [f"{line.cost:,.4f} US dollars so far"] if line and line.cost else []
        return ", ".join(messages)

    def of_examination(self, examination: Examination) -> str:
        """Return the number of remaining questions, and the models asked besides the run's."""
        items = self._questions(examination.run.plan)
        if isinstance(items, str):
            return items
        done = set[str]()
        if _is_there(examination.run.folder):
            with RunStore(examination.run.folder) as store:
                if examination.name in store.diagnoses():
                    result = store.findings(examination.name, examination.diagnostic.finding).items()
                    done = {item_id for item_id, known in result if not isinstance(known.finding, Failed)}
        others = ", ".join(f"{name} {spec}" for name, spec in examination.others.items())
        asks = f"; asks {others}, too" if others else ""
        left = [item for item in items if item.item_id not in done]
        n_left = f"{len(left):,} of {several(len(items), 'question')} left"
        bounded = examination.diagnostic
        if not isinstance(bounded, BoundedDiagnostic):
            return f"{n_left}; it does not say how many asks each takes{asks}"
        n_asks = sum(bounded.most_asks(item, n_frames=examination.run.plan.frames) for item in left)
        return f"{n_left}, at most {several(n_asks, 'ask')}, replies of runs among them{asks}"

    def _questions(self, plan: Plan) -> Sequence[Item] | str:
        """Return the questions that a plan asks, or why they cannot be read."""
        place = (plan.benchmark, plan.data, plan.split, plan.map, plan.strict)
        try:
            if place not in self._read:
                self._read[place] = tuple(load_questions(plan).items)
            items = self._read[place]
            return items if isinstance(items, str) else narrowed(items, plan)[0]
        except VidenceError as error:
            questions = f"its questions cannot be read: {error}"
            self._read.setdefault(place, questions)
            return questions


def ahead(runs: Sequence[PanelRun], examinations: Sequence[Examination]) -> Iterator[tuple[str, str]]:
    """Yield a heading and a line for each run and diagnostic of a panel; nothing is asked.

    Args:
        runs: the runs that the panel asks.
        examinations: its diagnostics.
    """
    known = Ahead()
    for run in runs:
        yield run.benchmark, f" · {run.label} · {run.plan.model} · {run.folder}: {known.of_run(run)}"
    for examination in examinations:
        yield examination.label, f": {known.of_examination(examination)}"


def _money(plan: Plan, n_left: int) -> Iterator[str]:
    """Yield the highest cost of the replies; input tokens are unknown beforehand and cost extra."""
    if plan.prices is not None and plan.sampling.max_tokens:
        most = n_left * plan.prices.cost(Usage(output_tokens=plan.sampling.max_tokens))
        yield f"replies at most {most:,.4f} US dollars"


@dataclass(kw_only=True)
class AskedPanel:
    """The results of a panel: the runs that were asked, and why others were not."""

    runs: list[PanelRun] = field(default_factory=list)
    """Runs that are complete, or existed already."""
    missing: list[str] = field(default_factory=list)
    not_found: list[str] = field(default_factory=list)
    """Diagnostics that did not finish, and why."""
    n_failed: int = 0
    spent: float = 0.0
    """US dollars spent in this session."""


@dataclass(kw_only=True)
class _Purse:
    """The rest of a panel's spending limit; None without a limit."""

    most: float | None
    spent: float = 0.0

    def limit(self, run: PanelRun) -> float | None:
        """Return what a run may spend; None without a limit."""
        own, most = run.plan.max_cost, self.most
        if most is None or run.plan.prices is None:
            return own
        return most - self.spent if own is None else min(own, most - self.spent)


def ask_panel(
    runs: Sequence[PanelRun],
    *,
    max_cost: float | None,
    ask: Callable[[int, PanelRun, Plan], Summary],
    examinations: Sequence[Examination] = (),
    examine: Callable[[int, Examination, Plan], Account] | None = None,
) -> AskedPanel:
    """Complete every run, one by one, then the diagnostics.

    A run that cannot continue is left as it is and does not stop the others. When the spending limit is
    reached, no further run starts.

    Args:
        runs: the runs of the panel.
        max_cost: spending limit of this session for all of them, in US dollars.
        ask: completes a run; receives its number from 1, the run, and the plan with its spending limit.
        examinations: the diagnostics, each on one run.
        examine: completes a diagnostic, with the same arguments; required if there are any.
    """
    done, purse = AskedPanel(), _Purse(most=max_cost)
    for place, run in enumerate((run for run in runs if run.has_trials), start=1):
        _ask(place, run, done=done, purse=purse, ask=ask)
    for place, examination in enumerate(examinations, start=1):
        if examine is not None:
            _examine(place, examination, done=done, purse=purse, examine=examine)
    # A run of diagnostics alone has a folder only when one of them has begun.
    done.runs += [run for run in runs if not run.has_trials and _is_there(run.folder)]
    done.spent = purse.spent
    return done


def _ask(
    place: int,
    run: PanelRun,
    *,
    done: AskedPanel,
    purse: _Purse,
    ask: Callable[[int, PanelRun, Plan], Summary],
) -> None:
    name = f"{run.benchmark}, {run.label}"
    limit = purse.limit(run)
    if limit is not None and limit <= 0:
        done.missing.append(f"{name}: not asked, since the max_cost of the panel is spent")
        return
    before = _cost(run.folder)
    try:
        summary = ask(place, run, msgspec.structs.replace(run.plan, max_cost=limit))
    except VidenceError as error:
        done.missing.append(f"{name}: {error}")
        is_spent = isinstance(error, BudgetSpentError) and limit is not None
        purse.spent += limit if is_spent and limit is not None else _cost(run.folder) - before
    else:
        purse.spent += summary.cost
        done.n_failed += summary.n_amiss
        done.runs.append(run)


def _examine(
    place: int,
    examination: Examination,
    *,
    done: AskedPanel,
    purse: _Purse,
    examine: Callable[[int, Examination, Plan], Account],
) -> None:
    limit = purse.limit(examination.run)
    if limit is not None and limit <= 0:
        done.not_found.append(f"{examination.label}: not examined, since the max_cost of the panel is spent")
        return
    try:
        account = examine(place, examination, msgspec.structs.replace(examination.run.plan, max_cost=limit))
    except VidenceError as error:
        # What it spent before it stopped is not known, so all that it might have spent counts.
        counted = limit or 0.0
        purse.spent += counted
        is_counted = counted and not isinstance(error, BudgetSpentError)
        message = f"; {counted:.4f} US dollars count as spent, since how much it was is not known"
        done.not_found.append(f"{examination.label}: {error}" + (message if is_counted else ""))
    else:
        purse.spent += account.cost
        done.n_failed += account.n_failed


def taken(runs: Sequence[PanelRun]) -> AskedPanel:
    """Return the runs of a panel without asking; runs without a folder are missing."""
    there = [run for run in runs if _is_there(run.folder)]
    missing = [f"{run.benchmark}, {run.label}: not asked yet" for run in runs if run not in there]
    return AskedPanel(runs=there, missing=missing)


def _is_there(folder: Path) -> bool:
    return (folder / PLAN_FILE).exists()


def _cost(folder: Path) -> float:
    """Return the cost of a run folder's replies so far; 0 without replies."""
    return (listed(folder).cost or 0.0) if folder.exists() else 0.0


@dataclass(frozen=True, kw_only=True, repr=False)
class Panel:
    """The results of a panel: a run per cell, and the table and figure of all scores."""

    title: str
    cells: tuple[PanelCell, ...]
    """The runs with trials, with their score tables."""
    missing: tuple[str, ...]
    """Runs without trials, and why."""
    not_found: tuple[str, ...]
    """Diagnostics that did not finish, and why."""
    section: Section
    run_tables: tuple[tuple[Table, ...], ...]
    """All tables of each run, in the order of `cells`."""
    level: float
    grid: Grid
    """All runs, including those that have only findings of diagnostics."""
    studies: tuple[Section, ...] = ()
    """Notes on the studies whose people are among the rows."""

    def view(self, name: str) -> Viewed:
        """Return a view of the panel: a paper's table or figure by name, or a view with options.

        Args:
            name: such as ``humanpcr-fig7`` or ``pairs?by=style``; `vidence list views` and `vidence list
                figures` list all.

        Raises:
            UsageError: no such view, or the runs lack what it shows.
        """
        return viewed(self.grid, name, draws=Draws(rng=np.random.default_rng(SEED), level=self.level))

    def __repr__(self) -> str:
        missing = f", {len(self.missing)} without a score" if self.missing else ""
        return f"Panel({self.title!r}, {len(self.cells)} runs{missing})"

    def _repr_html_(self) -> str:
        return notebook_html(self.title, self.section.paragraphs, self.scores.as_html())

    @property
    def scores(self) -> Table:
        """Return a table with a row per model and condition, and a column per benchmark."""
        return self.section.tables[0]

    @property
    def every_run(self) -> Table:
        """Return a table with a row per run: its score and the text-only baselines."""
        return self.section.tables[1]

    @property
    def runs(self) -> dict[tuple[str, str], Run]:
        """Return the runs by benchmark and by model with condition, as `vidence.open_run` does."""
        return {(cell.benchmark, cell.label): open_run(cell.run.folder) for cell in self.cells}

    def write_page(self, path: Path | str, *, cache_root: Path, n_items: int = 1000) -> None:
        """Write the page of the panel.

        Args:
            path: the file.
            cache_root: the folder of decoded frames.
            n_items: the maximum number of questions on it.

        Raises:
            StoreError: the file cannot be written.
        """
        draws = Draws(rng=np.random.default_rng(SEED), level=self.level)
        runs = [cell.run for cell in self.cells]
        people = {cell.run.folder for cell in self.cells if cell.is_people}
        write_page(
            runs,
            Path(path),
            cache_root=cache_root,
            media_root=None,
            tables=self.run_tables,
            n_items=n_items,
            extra_sections=(
                self.section,
                *self.studies,
                *paper_sections(runs, draws=draws, with_published=False, people=people),
            ),
            level=self.level,
            title=self.title,
            rng=np.random.default_rng(SEED),
        )


def read_panel(title: str, asked: AskedPanel, *, level: float = 0.95) -> Panel:
    """Read the scores of a panel's runs.

    Args:
        title: of the panel.
        asked: its runs.
        level: coverage of the intervals.

    Raises:
        UsageError: none of the runs has trials.
    """
    if not asked.runs:
        raise UsageError(f"no run of the panel has a score: {'; '.join(asked.missing)}")
    cells, tables, missing = list[PanelCell](), [], list(asked.missing)
    loaded: dict[Path, Run] = {}
    for panel_run in asked.runs:
        # The name is what tells runs of one label apart.
        run = replace(open_run(panel_run.folder), name=panel_run.benchmark)
        loaded[panel_run.folder] = run
        if not run.rows:
            if panel_run.has_trials:
                missing.append(
                    f"{panel_run.benchmark}, {panel_run.label}: no trials, so that views of "
                    "findings alone show it"
                )
            continue
        if run.n_hidden:
            n = several(run.n_hidden, "question")
            missing.append(f"{panel_run.benchmark}, {panel_run.label}: answers hidden, of {n}")
        tables.append(all_tables(run, rng=np.random.default_rng(SEED), level=level))
        cells.append(
            PanelCell(
                benchmark=panel_run.benchmark,
                label=panel_run.label,
                run=run,
                score=tables[-1][0],
                is_people=panel_run.about.people,
            )
        )
    draws = Draws(rng=np.random.default_rng(SEED), level=level)
    return Panel(
        title=title,
        cells=tuple(cells),
        missing=tuple(missing),
        not_found=tuple(asked.not_found),
        section=panel_section(title, cells, missing=missing, not_found=asked.not_found, draws=draws),
        run_tables=tuple(tables),
        level=level,
        grid=grid_of(asked.runs, missing=asked.missing, loaded=loaded),
    )
