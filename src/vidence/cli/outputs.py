"""Where commands about finished runs write what they found, and in which form."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from vidence.console.files import screen, write_asked
from vidence.console.options import (
    Option,
    csv_option,
    html_option,
    interval_option,
    items_option,
    json_option,
    latex_option,
    level_option,
    together,
)
from vidence.engine.environment import cache_root
from vidence.media.whole import write_file

if TYPE_CHECKING:
    from vidence.console.screen import Screen
    from vidence.report.results import Run
    from vidence.report.sections import Section
    from vidence.tables.table import Table


@dataclass(frozen=True, kw_only=True)
class Outputs:
    """Where a command writes what it found, and in which form."""

    level: float = 0.95
    html: Path | None = None
    csv_path: Path | None = None
    json_path: Path | None = None
    latex: Path | None = None
    interval: Literal["pm", "brackets", "none"] = "none"
    items: int = 0

    def screen(self) -> "Screen":
        """As `screen`, for its files."""
        return screen(self.html, self.csv_path, self.json_path, self.latex)

    def write(
        self,
        tables: "Sequence[Table]",
        *,
        csv: Callable[[Path], object],
        json: Callable[[Path], object],
        html: Callable[[Path], object],
    ) -> None:
        """Write the files that were asked for; LaTeX has the tables.

        Raises:
            StoreError: one cannot be written.
        """
        from vidence.tables.latex import latex as latex_of

        write_asked(
            (self.csv_path, csv),
            (self.json_path, json),
            (self.latex, lambda file: write_file(file, latex_of(tables, intervals=self.interval))),
            (self.html, html),
        )

    def write_runs(self, runs: "Sequence[Run]", section: "Section", page: Path) -> None:
        """Write the page of some runs with a section of its own."""
        import numpy as np

        from vidence.report.page import write_page
        from vidence.report.results import SEED

        write_page(
            runs,
            page,
            cache_root=cache_root(),
            media_root=None,
            n_items=self.items,
            extra_sections=[section],
            level=self.level,
            rng=np.random.default_rng(SEED),
        )


def outputs(*, csv: str, level: str = "", interval: str = "", has_items: bool = False) -> Option:
    """The options of `Outputs`, which a command is handed as ``files``.

    Args:
        csv: what ``--csv`` has a row for.
        level: what ``--level`` says of itself; without it there is none.
        interval: the default of ``--interval``; without it there is none.
        has_items: whether there is ``--items``.
    """
    options = [html_option, csv_option(csv), json_option, latex_option]
    if level:
        options.insert(0, level_option(level))
    if interval:
        options.append(interval_option(interval))
    if has_items:
        options.append(items_option)
    return together("files", Outputs, *options)
