"""Views of a panel by name: a view and its options, or the table or figure of a paper that it gives."""

import functools
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

import msgspec

from vidence.catalog import names, parse_spec
from vidence.errors import UnknownNameError
from vidence.records import Record
from vidence.report.export import write_file
from vidence.report.panel_grid import ALL, Grid, open_view
from vidence.report.scores import Draws
from vidence.tables.charts import Statement, table_of
from vidence.tables.rendering import render
from vidence.tables.table import Table


class PaperView(Record):
    """A table or figure of a paper: the spec of the view that gives it, and whose runs it is about."""

    says: str
    source: str
    view: str
    benchmarks: tuple[str, ...]


@functools.cache
def paper_views() -> Mapping[str, PaperView]:
    """The tables and figures of papers that come out of a panel, by their names."""
    text = (resources.files("vidence.report.panel_views") / "papers.toml").read_text("utf-8")
    return msgspec.convert(tomllib.loads(text), dict[str, PaperView])


@dataclass(frozen=True, kw_only=True)
class Viewed:
    """A view of a panel: its tables and figures under the name that was asked for."""

    name: str
    sentences: tuple[str, ...]
    statements: tuple[Statement, ...]
    folders: tuple[tuple[str, str], ...] = ()
    """The runs that it is about: what each is called, and where it lies."""

    @property
    def tables(self) -> tuple[Table, ...]:
        """The statements as tables; of a figure, the numbers that it is drawn from."""
        return tuple(map(table_of, self.statements))

    def write_page(self, path: Path, *, title: str) -> None:
        """Write the view as one HTML file that loads nothing from elsewhere.

        Args:
            path: the file.
            title: what the panel is called.

        Raises:
            StoreError: the file cannot be written.
        """
        page = render(
            "diagnosis.html.j2",
            eyebrow="vidence panel",
            title=f"{self.name} · {title}",
            sentences=self.sentences,
            statements=self.statements,
            facts=(("Runs", dict(self.folders)),),
        )
        write_file(path, page)


def check_view(name: str) -> None:
    """See that there is a view of that name, before anything is asked for it.

    Raises:
        UnknownNameError: there is none.
        UsageError: an option that the view does not have.
    """
    if name in paper_views():
        return
    if parse_spec(name).name not in names("view"):
        raise UnknownNameError("view of a panel", name, [*names("view"), *paper_views()])
    open_view(name)


def viewed(grid: Grid, name: str, *, draws: Draws) -> Viewed:
    """The runs of a panel as a view shows them.

    Args:
        grid: the runs.
        name: a table or figure of a paper, such as ``humanpcr-fig7``, or the spec of a view.
        draws: where the draws of intervals and tests come from.

    Raises:
        UsageError: no such view, or the runs do not have what it shows.
    """
    check_view(name)
    paper = paper_views().get(name)
    about = grid.of((ALL,) if paper is None else paper.benchmarks)
    said: Sequence[str] = () if paper is None else (f"{paper.source}: {paper.says}",)
    statements = open_view(name if paper is None else paper.view).show(about, draws)
    return Viewed(
        name=name,
        sentences=(*said, *about.gaps()),
        statements=statements,
        folders=tuple(
            (f"{c.benchmark}, {c.run.plan.split}: {c.label}", str(c.run.folder)) for c in about.cells
        ),
    )
