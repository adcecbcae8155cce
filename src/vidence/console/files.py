"""Output files of commands; ``-`` is the standard output."""

import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from vidence.errors import UsageError

if TYPE_CHECKING:
    from vidence.console.screen import Screen
    from vidence.tables.table import Table

STANDARD_OUTPUT = Path("-")


@contextmanager
def written(path: Path) -> Iterator[Path]:
    """Yield the file to write for a user's path, and report it afterwards.

    Standard output is written in one piece when the block ends: a partial file would be taken for a complete
    one.
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
    """Write each requested file; paths of None were not requested.

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
    """Return the console for a command's messages; quiet if a file goes to standard output.

    Args:
        paths: all files to write.

    Raises:
        UsageError: two of them are the standard output.
    """
    from vidence.console.screen import Screen

    n = sum(path == STANDARD_OUTPUT for path in paths)
    if n > 1:
        raise UsageError(f"{n} files go to standard output (-); at most one can")
    return Screen(quiet=n > 0)


def write_said(
    path: Path | None,
    command: str,
    *,
    sentences: Sequence[str] = (),
    tables: "Sequence[Table]" = (),
    values: Mapping[str, object] | None = None,
) -> None:
    """Write a command's output as one JSON object, if requested.

    Raises:
        StoreError: it cannot be written.
    """
    if path is not None:
        from vidence.media.whole import write_file
        from vidence.tables.export import said_as_json

        with written(path) as file:
            write_file(file, said_as_json(command, sentences=sentences, tables=tables, values=values or {}))


def show(screen: "Screen", sentences: Sequence[str], tables: "Sequence[Table]") -> None:
    """Print sentences and tables, unless standard output is used by a file."""
    from vidence.console.screen import say
    from vidence.tables.terminal import Sheet

    for sentence in sentences:
        say(screen, sentence)
    sheet = Sheet(screen)
    for table in tables:
        sheet.table(table)
