"""Output files and formats of commands about finished runs."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from vidence.console.files import screen, write_asked
from vidence.console.flags import CSV, HTML, JSON, LATEX
from vidence.engine.environment import cache_root
from vidence.media.whole import write_file
from vidence.records import Record

if TYPE_CHECKING:
    from vidence.console.screen import Screen
    from vidence.report.results import Run
    from vidence.report.sections import Section
    from vidence.tables.table import Table


class Outputs(Record):
    """A command's output files and formats."""

    html: Annotated[Path | None, HTML] = None
    csv_path: Annotated[Path | None, CSV] = None
    json_path: Annotated[Path | None, JSON] = None
    latex: Annotated[Path | None, LATEX] = None

    def screen(self) -> "Screen":
        """Return `screen` for its files."""
        return screen(self.html, self.csv_path, self.json_path, self.latex)

    def write(
        self,
        tables: "Sequence[Table]",
        *,
        csv: Callable[[Path], object],
        json: Callable[[Path], object],
        html: Callable[[Path], object],
        interval: Literal["pm", "brackets", "none"] = "none",
    ) -> None:
        """Write the files that were asked for; LaTeX has the tables, with their intervals in a form.

        Raises:
            StoreError: one cannot be written.
        """
        from vidence.tables.latex import latex as latex_of

        write_asked(
            (self.csv_path, csv),
            (self.json_path, json),
            (self.latex, lambda file: write_file(file, latex_of(tables, intervals=interval))),
            (self.html, html),
        )


def write_runs(runs: "Sequence[Run]", section: "Section", page: Path, *, level: float) -> None:
    """Write the page of some runs with a section of its own."""
    import numpy as np

    from vidence.report.page import write_page
    from vidence.report.results import SEED

    write_page(
        runs,
        page,
        cache_root=cache_root(),
        media_root=None,
        extra_sections=[section],
        level=level,
        rng=np.random.default_rng(SEED),
    )
