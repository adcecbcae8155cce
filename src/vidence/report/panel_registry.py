"""Views of a panel by name: a view with options, or the paper's table or figure that it reproduces."""

import functools
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from vidence.catalog import names, parse_spec
from vidence.errors import UnknownNameError, UsageError
from vidence.installation import packaged
from vidence.records import Record
from vidence.report.panel_grid import ALL, Grid, open_view
from vidence.report.scores import Draws
from vidence.report.sections import Section
from vidence.tables.charts import Statement, table_of
from vidence.tables.table import Table


class PaperView(Record):
    """A table or figure of a paper: the spec of the view, and the benchmarks that it is about."""

    says: str
    source: str
    view: str
    benchmarks: tuple[str, ...]


@functools.cache
def paper_views() -> Mapping[str, PaperView]:
    """Return the tables and figures of papers that panels can produce, by name."""
    return packaged("vidence.report.panel_views", "papers.toml", dict[str, PaperView])


def whole_papers() -> Mapping[str, tuple[str, ...]]:
    """Return the names of each paper's tables and figures, by prefix such as ``actpld``."""
    papers: dict[str, tuple[str, ...]] = {}
    for name in paper_views():
        paper = name.partition("-")[0]
        papers[paper] = (*papers.get(paper, ()), name)
    return papers


@dataclass(frozen=True, kw_only=True)
class Viewed:
    """A view of a panel: its tables and figures under the requested name."""

    name: str
    sentences: tuple[str, ...]
    statements: tuple[Statement, ...]
    folders: tuple[tuple[str, str], ...] = ()
    """The runs shown: name and folder."""
    missing: tuple[str, ...] = ()
    """For a whole paper: the tables and figures that the runs cannot produce, and why."""

    @property
    def tables(self) -> tuple[Table, ...]:
        """Return the statements as tables; a figure as its data."""
        return tuple(map(table_of, self.statements))

    def write_page(self, path: Path, *, title: str) -> None:
        """Write the view as one self-contained HTML file.

        Args:
            path: the file.
            title: of the panel.

        Raises:
            StoreError: the file cannot be written.
        """
        page = Section(title=f"{self.name} · {title}", paragraphs=self.sentences, figures=self.statements)
        page.write_page(path, eyebrow="vidence panel", facts=(("Runs", dict(self.folders)),))


def check_view(name: str) -> None:
    """Check that a view exists, before anything is asked for it.

    Raises:
        UnknownNameError: there is no such view.
        UsageError: the view lacks an option.
    """
    if name in paper_views() or name in whole_papers():
        return
    if parse_spec(name).name not in names("view"):
        raise UnknownNameError(
            "view", parse_spec(name).name, [*names("view"), *whole_papers(), *paper_views()]
        )
    open_view(name)


def check_about(name: str, benchmarks: Collection[str]) -> None:
    """Check that a paper, or its table or figure, is about one of some benchmarks, before they are asked.

    Raises:
        UsageError: it is about others.
    """
    papers = [paper_views().get(word) for word in whole_papers().get(name, (name,))]
    about = dict.fromkeys(benchmark for paper in papers if paper for benchmark in paper.benchmarks)
    if about and not about.keys() & {ALL, *benchmarks}:
        raise UsageError(
            f"{name} is about {' or '.join(about)}, and the panel has {', '.join(benchmarks)}; "
            "leave it out, or add that benchmark"
        )


def viewed(grid: Grid, name: str, *, draws: Draws) -> Viewed:
    """Show the runs of a panel in a view.

    Args:
        grid: the runs.
        name: a table or figure of a paper, such as ``humanpcr-fig7``; the paper, such as ``humanpcr``, for
            all that the runs can produce; or the spec of a view.
        draws: source of the bootstrap draws and tests.

    Raises:
        UsageError: no such view, or the runs lack what it shows.
    """
    check_view(name)
    if name in whole_papers():
        return _whole_paper(grid, name, draws=draws)
    paper = paper_views().get(name)
    about = grid.of((ALL,) if paper is None else paper.benchmarks)
    messages: Sequence[str] = () if paper is None else (f"{paper.source}: {paper.says}",)
    statements = open_view(name if paper is None else paper.view).show(about, draws)
    return Viewed(
        name=name,
        sentences=(*messages, *about.gaps(), *about.left_out()),
        statements=statements,
        folders=_folders(about),
    )


def _folders(grid: Grid) -> tuple[tuple[str, str], ...]:
    return tuple((f"{c.benchmark}, {c.run.plan.split}: {c.label}", str(c.run.folder)) for c in grid.cells)


def _whole_paper(grid: Grid, paper: str, *, draws: Draws) -> Viewed:
    """Return all tables and figures of a paper that the runs can produce, in the paper's order.

    Raises:
        UsageError: they can produce none.
    """
    statements, missing = list[Statement](), list[str]()
    about = grid.of(tuple({name for n in whole_papers()[paper] for name in paper_views()[n].benchmarks}))
    for name in whole_papers()[paper]:
        try:
            result = viewed(grid, name, draws=draws)
        except UsageError as error:
            missing.append(f"{name}: {error}")
            continue
        view = paper_views()[name]
        for place, statement in enumerate(result.statements, start=1):
            if place > 1:
                title, note = f"{name}: {statement.title}", statement.note
            else:
                says, _, more = view.says.partition(". ")
                title, note = f"{view.source}. {says}", f"{more} {statement.note}".strip()
            named = f"{name}-{place}" if place > 1 else name
            statements.append(msgspec.structs.replace(statement, name=named, title=title, note=note))
    if not statements:
        raise UsageError(f"the runs of the panel give nothing of {paper}: {'; '.join(missing)}")
    alone = () if about.people else ("No comparison with people: no run of the panel is of people.",)
    return Viewed(
        name=paper,
        sentences=(*(f"Not shown: {word}." for word in missing), *alone, *about.gaps(), *about.left_out()),
        statements=tuple(statements),
        folders=_folders(about),
        missing=tuple(missing),
    )
