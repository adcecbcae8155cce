"""Terminal output of commands: lines, and the licence of data."""

import hashlib
import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from rich.console import Console
from rich.text import Text

from vidence.catalog import create
from vidence.media.whole import make_private
from vidence.text import visible

if TYPE_CHECKING:
    from vidence.contracts import Benchmark


class Screen(Console):
    """A console that survives the end of its reader (``| head``).

    Unread messages are dropped and the work continues; if the output is unread, the command ends as it would
    without a console.
    """

    def on_broken_pipe(self) -> None:
        """Stop printing.

        Raises:
            BrokenPipeError: the output was closed.
        """
        if not self.stderr:
            raise BrokenPipeError
        self.quiet = True
        forget(sys.stderr)


def forget(stream: TextIO) -> None:
    """Discard further writes to a stream, which would otherwise fail when the process ends."""
    with suppress(OSError, ValueError):  # it has no file, or is closed
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def say(console: Console, *parts: str | tuple[str, str]) -> None:
    """Print words, and pairs of words and style, on one line.

    Args:
        console: the output.
        parts: what to print, in order.
    """
    line = Text()
    for part in parts:
        words, style = (part, "") if isinstance(part, str) else part
        line.append(visible(words), style=style)
    console.print(line, soft_wrap=True)


def several(n: int, what: str, *, many: str = "") -> str:
    """Format a count with its noun: ``1 reply``, ``2 replies``.

    >>> several(1, "reply", many="replies"), several(2_000, "question")
    ('1 reply', '2,000 questions')
    """
    return f"{n:,} {what if n == 1 else many or what + 's'}"


def show_licence(benchmark_name: str, console: Console, *, cache_root: Path) -> None:
    """Show the data's terms of use, once per user."""
    benchmark: Benchmark = create("benchmark", benchmark_name)
    words = f"{benchmark.name}\n{benchmark.licence}\n{benchmark.terms}"
    mark = cache_root / "terms-shown" / f"{benchmark.name}-{hashlib.sha256(words.encode()).hexdigest()[:16]}"
    with suppress(OSError):
        if mark.exists():
            return
    say(console, (benchmark.name, "bold"), f": {benchmark.citation}")
    say(console, f"licence: {benchmark.licence}")
    say(console, f"terms: {benchmark.terms} (shown once)")
    with suppress(OSError):  # it is said once more; what needs the folder says so itself
        make_private(mark.parent)
        mark.touch()
