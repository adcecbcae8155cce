"""What commands show on the terminal: lines, the progress of a run, the licence of data."""

import hashlib
import os
import sys
from collections import Counter
from collections.abc import Callable, Coroutine, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TextIO, TypeVar

import anyio
import click
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    Task,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.text import Text

from vidence.catalog import create
from vidence.contracts import Benchmark
from vidence.engine.events import Event, ExaminedOne, Listener, MediaTrouble, Started, Tried, Waiting
from vidence.errors import VidenceError
from vidence.records import Failed, outcome_name
from vidence.text import visible

T = TypeVar("T")
_MOST_LINES = 20
_LONG_WAIT_S = 20.0  # worth a line even where nobody watches the bar


class Screen(Console):
    """A console that outlives its reader (``| head``).

    What nobody reads of the messages goes unsaid, and the work goes on; where nobody reads the output, the
    command ends as it does without a console.
    """

    def on_broken_pipe(self) -> None:
        """Say no more.

        Raises:
            BrokenPipeError: it was the output.
        """
        if not self.stderr:
            raise BrokenPipeError
        self.quiet = True
        forget(sys.stderr)


def forget(stream: TextIO) -> None:
    """Let what is still written to a stream go nowhere; else it fails again when the process ends."""
    with suppress(OSError, ValueError):  # it has no file, or is closed
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def say(console: Console, *parts: str | tuple[str, str]) -> None:
    """Print words, and pairs of words and their style, on one line.

    Args:
        console: where to.
        parts: what to say, in order.
    """
    line = Text()
    for part in parts:
        words, style = (part, "") if isinstance(part, str) else part
        line.append(visible(words), style=style)
    console.print(line, soft_wrap=True)


def several(n: int, what: str, *, many: str = "") -> str:
    """A number and what it counts: ``1 reply``, ``2 replies``.

    >>> several(1, "reply", many="replies"), several(2_000, "question")
    ('1 reply', '2,000 questions')
    """
    return f"{n:,} {what if n == 1 else many or what + 's'}"


def show_licence(benchmark_name: str, console: Console, *, cache_root: Path) -> None:
    """Say what the data may be used for, unless this user was told before."""
    benchmark: Benchmark = create("benchmark", benchmark_name)
    words = f"{benchmark.name}\n{benchmark.licence}\n{benchmark.terms}"
    mark = cache_root / "terms-shown" / f"{benchmark.name}-{hashlib.sha256(words.encode()).hexdigest()[:16]}"
    with suppress(OSError):
        if mark.exists():
            return
    say(console, (benchmark.name, "bold"), f": {benchmark.citation}")
    say(console, f"licence: {benchmark.licence}")
    say(console, f"terms: {benchmark.terms} (said once)")
    with suppress(OSError):  # it is said once more; what needs the folder says so itself
        mark.parent.mkdir(parents=True, exist_ok=True)
        mark.touch()


class _RateColumn(ProgressColumn):
    """Questions per second; counted only when the line is drawn."""

    def render(self, task: Task) -> Text:
        """The rate as text; nothing before there is one."""
        speed = task.finished_speed or task.speed
        return Text(f"{speed:.1f}/s" if speed else "")


class Display:
    """Draws the events of a run inside ``with display.progress``; without a terminal only troubles."""

    def __init__(self, console: Console, *, doing: str = "asking") -> None:
        self._console = console
        self._outcomes: Counter[str] = Counter()
        self._cost = 0.0
        self._n_troubles = 0
        self._waiting = ""
        self.has_started = False
        self.progress = Progress(
            TextColumn(doing, style="bold"),
            BarColumn(bar_width=24),
            MofNCompleteColumn(),
            _RateColumn(),
            TimeElapsedColumn(),
            TextColumn("left"),
            TimeRemainingColumn(),
            TextColumn("{task.fields[note]}", markup=False),
            console=console,
            disable=not console.is_terminal,
        )
        self._task = self.progress.add_task(doing, total=None, note="")

    def __call__(self, event: Event) -> None:
        """Draw one event."""
        match event:
            case Started():
                self.has_started = True
                self._say_all("note", event.notes)
                self._say_all("left out", event.problems)
                self.progress.update(self._task, total=event.n_planned, completed=event.n_answered_before)
            case Tried():
                self._waiting = ""
                self._cost += event.cost
                self._outcomes[outcome_name(event.trial.score.outcome)] += 1
                self.progress.advance(self._task)
                self._draw_note()
            case ExaminedOne():
                self._waiting = ""
                self._outcomes["failed" if isinstance(event.finding, Failed) else "examined"] += 1
                self.progress.advance(self._task)
                self._draw_note()
            case Waiting():
                if event.wait_s >= _LONG_WAIT_S and not self._console.is_terminal:
                    self._say("waiting", f"{event.wait_s:.0f} s, as the server asks: {event.reason[:200]}")
                self._waiting = (
                    f"waiting {event.wait_s:.0f} s: {event.reason[:60]} ({event.n_allowed} at once)"
                )
                self._draw_note()
            case MediaTrouble():
                self._n_troubles += 1
                if self._n_troubles <= _MOST_LINES:
                    self._say("media", event.message)
                elif self._n_troubles == _MOST_LINES + 1:
                    self._say("media", "more troubles; the report counts them")

    def _draw_note(self) -> None:
        if self.progress.disable:
            return
        counts = ", ".join(f"{n} {name}" for name, n in self._outcomes.items())
        spent = f", ${self._cost:.2f}" if self._cost else ""
        self.progress.update(self._task, note=visible(f"{counts}{spent} {self._waiting}".strip()))

    def _say_all(self, label: str, messages: Sequence[str]) -> None:
        for message in messages[:_MOST_LINES]:
            self._say(label, message)
        if len(messages) > _MOST_LINES:
            self._say(label, f"and {len(messages) - _MOST_LINES} more; the report lists them")

    def _say(self, label: str, message: str) -> None:
        say(self._console, (f"{label}: ", "yellow"), message)


def watched(
    work: Callable[[Listener], Coroutine[None, None, T]],
    console: Console,
    *,
    doing: str,
    what: str,
    kept: str,
    again: str = "the same command",
) -> T:
    """What some work makes, with its events drawn; where it does not end, what is kept and how to go on.

    Args:
        work: is given the listener of its events.
        console: where events are drawn.
        doing: what the work does, as the progress line says it.
        what: the work, as in ``the run in DIR``.
        kept: what is never lost of it, as in ``what was answered is kept``.
        again: what goes on with it.

    Raises:
        VidenceError: as the work raises it; KeyboardInterrupt after Ctrl-C.
    """
    display = Display(console, doing=doing)
    try:
        with display.progress:
            return anyio.run(work, display)
    except KeyboardInterrupt:
        click.echo(f"stopped; {kept}. Go on with: {again}" if display.has_started else "stopped", err=True)
        raise
    except VidenceError:
        if display.has_started:
            click.echo(f"{what} did not finish; {kept}", err=True)
        raise
