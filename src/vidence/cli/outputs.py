"""Options that commands have in common: how runs are read, what is written where; `-` is standard output."""

import dataclasses
import functools
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeVar, cast

import click
from click.core import ParameterSource

from vidence.engine.environment import cache_root
from vidence.errors import UsageError

if TYPE_CHECKING:
    from vidence.cli.console import Screen
    from vidence.records import Item
    from vidence.report.results import Run
    from vidence.report.sections import Section
    from vidence.tables.table import Table

F = TypeVar("F", bound=Callable[..., Any])
STANDARD_OUTPUT = Path("-")
PATH = click.Path(path_type=Path)


class Option(Protocol):
    """A flag that a command is given."""

    def __call__(self, function: F, /) -> F:
        """The function with the flag."""


def file_option(flag: str, name: str, says: str) -> Option:
    """A flag that names a file to write; ``-`` is the standard output."""
    kind = click.Path(path_type=Path, allow_dash=True)
    return click.option(flag, name, type=kind, metavar="FILE", help=says)


def seen_from(folder: Path, item: "Item", media_root: Path) -> "Item":
    """The item with the paths of its media as they are seen from another folder."""
    import msgspec

    media = tuple(
        msgspec.structs.replace(one, path=os.path.relpath(media_root / one.path, folder.resolve()))
        if one.path and not Path(one.path).is_absolute()
        else one
        for one in item.media
    )
    return msgspec.structs.replace(item, media=media)


def items_in(items: "Iterable[Item]", path: Path, *, media_root: Path) -> None:
    """Write questions in the item format, with paths as they are seen from the file; ``-`` prints them.

    Raises:
        StoreError: the file cannot be written.
    """
    import msgspec

    from vidence.ask.benchmarks.question_files import said_answer
    from vidence.report.export import write_file

    folder = Path() if path == STANDARD_OUTPUT else path.parent
    said = (msgspec.structs.replace(item, answer=said_answer(item)) for item in items)
    lines = "".join(msgspec.json.encode(seen_from(folder, item, media_root)).decode() + "\n" for item in said)
    with written(path) as file:
        write_file(file, lines)


@contextmanager
def written(path: Path) -> Iterator[Path]:
    """The file to write into for a path that the user gave, which is then said.

    What is for the standard output goes there in one piece when the block has ended, and nothing before:
    half a file would be read as a whole one.
    """
    if path != STANDARD_OUTPUT:
        yield path
        click.echo(f"wrote {path}", err=True)
        return
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "output"
        yield file
        with file.open("rb") as source:
            shutil.copyfileobj(source, sys.stdout.buffer)
        sys.stdout.buffer.flush()


def write_asked(*wanted: tuple[Path | None, Callable[[Path], object]]) -> None:
    """Write each file that was asked for; None was not.

    Args:
        wanted: the path that the user gave, and what writes into a file.

    Raises:
        StoreError: one cannot be written.
    """
    for path, write in wanted:
        if path is not None:
            with written(path) as file:
                write(file)


def screen(*paths: Path | None) -> "Screen":
    """Where people read what a command says; it is quiet where a file goes to the standard output.

    Args:
        paths: all that the command is asked to write.

    Raises:
        UsageError: two of them are the standard output.
    """
    from vidence.cli.console import Screen

    n = sum(path == STANDARD_OUTPUT for path in paths)
    if n > 1:
        raise UsageError(f"{n} files are to be written to the standard output (-); give one of them at most")
    return Screen(quiet=n > 0)


def write_said(
    path: Path | None,
    command: str,
    *,
    sentences: Sequence[str] = (),
    tables: "Sequence[Table]" = (),
    values: Mapping[str, object] | None = None,
) -> None:
    """Write what a command says as one JSON object, where that was asked for.

    Raises:
        StoreError: it cannot be written.
    """
    from vidence.report.export import write_file
    from vidence.tables.export import said_as_json

    if path is not None:
        with written(path) as file:
            write_file(file, said_as_json(command, sentences=sentences, tables=tables, values=values or {}))


def show(shown: "Screen", sentences: Sequence[str], tables: "Sequence[Table]") -> None:
    """Say sentences and tables, where the standard output is not taken by a file."""
    from vidence.cli.console import say
    from vidence.tables.terminal import print_table

    for sentence in sentences:
        say(shown, sentence)
    for table in tables:
        print_table(table, shown)


parser_option = click.option(
    "--parser", help="Read all stored replies again with this parser; nothing is asked."
)
html_option = file_option("--html", "html", "Write one self-contained page.")
json_option = file_option(
    "--json", "json_path", "Write what is said as JSON, for other programs; - prints it."
)
latex_option = file_option("--latex", "latex", "Write the tables for a paper, for \\input.")
items_option = click.option(
    "--items", type=click.IntRange(min=0), default=300, show_default=True, help="Most items on the page."
)


def csv_option(what: str) -> Option:
    """``--csv``, which writes one row per `what`."""
    return file_option("--csv", "csv_path", f"Write one row per {what}.")


def flags_given(context: click.Context, flags: Mapping[str, str]) -> list[str]:
    """Those of some flags, by the names of their parameters, that the user gave."""
    return [
        flag
        for name, flag in flags.items()
        if context.get_parameter_source(name) is not ParameterSource.DEFAULT
    ]


def level_option(says: str) -> Option:
    """``--level``, with what it says of itself."""
    within = click.FloatRange(0.5, 1, min_open=True, max_open=True)
    return click.option("--level", type=within, default=0.95, show_default=True, help=says)


def interval_option(default: str) -> Option:
    """``--interval``, the form of intervals in LaTeX."""
    return click.option(
        "--interval",
        type=click.Choice(["pm", "brackets", "none"]),
        default=default,
        show_default=True,
        help="How --latex writes intervals: half the width behind a plus-minus, both ends, or not at all.",
    )


def together(name: str, kind: type, *options: Option) -> Option:
    """Options whose values a command is handed as one.

    Args:
        name: of the command's argument.
        kind: a dataclass with fields that are called as the options; others keep their defaults.
        options: in the order of the help.
    """
    names = [field.name for field in dataclasses.fields(kind)]

    def added(function: F) -> F:
        @functools.wraps(function)
        def called(**values: object) -> object:
            ours = {one: values.pop(one) for one in names if one in values}
            return function(**{name: kind(**ours)}, **values)

        for option in reversed(options):
            called = option(called)
        return cast("F", called)

    return added


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
        from vidence.report.export import write_file
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
