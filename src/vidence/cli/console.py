"""What commands show on the terminal: lines, the progress of a run, the licence of data."""

import hashlib
import math
import os
import sys
from collections import Counter
from collections.abc import Callable, Coroutine, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, TextIO, TypeVar

import anyio
import click
from rich.console import Console
from rich.text import Text

from vidence.catalog import create
from vidence.cli.progress import Meter, interruptible, minutes
from vidence.contracts import Benchmark
from vidence.engine.events import (
    Away,
    Back,
    Event,
    ExaminedOne,
    Listener,
    MachineLost,
    MediaTrouble,
    Started,
    TrialStored,
    Waiting,
)
from vidence.errors import VidenceError
from vidence.media.whole import make_private
from vidence.records import Failed, outcome_name
from vidence.text import visible

T = TypeVar("T")
F = TypeVar("F", bound=Callable[..., Any])
_MOST_LINES = 20
_LONG_WAIT_S = 20.0  # worth a line even where nobody watches the bar
_AWAY_LINE_S = 60.0  # between lines about a server that is away, where nobody watches the bar


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


def trust_option(function: F) -> F:
    """Give a command ``--trust``, the user's word for what a file names (`engine.trust`)."""
    words = "Allow the keys, hosts and code that the file names; it is remembered."
    return click.option("--trust", is_flag=True, help=words)(function)


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
        make_private(mark.parent)
        mark.touch()


class Waits:
    """What is said of a server that is waited for: in the bar, and in lines where nobody watches it."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._next_line_s = math.inf  # the patience at which the next line is due

    def words(self, event: Waiting | Away | Back) -> str:
        """What the bar says of a server that does not answer; nothing when it does."""
        match event:
            case Waiting():
                if event.wait_s >= _LONG_WAIT_S and not self._console.is_terminal:
                    words = f"{event.wait_s:.0f} s, as the server asks: {event.reason[:200]}"
                    say(self._console, ("waiting: ", "yellow"), words)
                return f"waiting {event.wait_s:.0f} s: {event.reason[:60]}"
            case Away():
                return self._count_down(event)
            case Back():
                self._next_line_s = math.inf
                say(self._console, ("answered again", "green"), f" after {minutes(event.after_s)} min")
                return ""

    def _count_down(self, event: Away) -> str:
        """The words of the countdown; a line, too, at the beginning and every minute."""
        if event.left_s <= self._next_line_s:
            self._next_line_s = event.left_s - (math.inf if self._console.is_terminal else _AWAY_LINE_S)
            never = "" if event.has_answered else "nothing was ever answered; "
            words = f"trying on for {minutes(event.left_s)} min (--patience): {never}{event.reason[:300]}"
            say(self._console, ("no answer: ", "yellow"), words)
        return f"no answer, trying on for {minutes(event.left_s)}: next in {event.wait_s:.0f} s"


class Display:
    """Shows the events of a run inside ``with display.progress``."""

    def __init__(self, console: Console, *, doing: str = "asking", mode: str = "auto") -> None:
        """Nothing is shown yet; `doing` is what the work does, `mode` is one of `cli.progress.MODES`."""
        self._console, self._doing = console, doing
        self._outcomes: Counter[str] = Counter()
        self._cost = 0.0
        self._n_troubles = 0
        self._waiting = ""
        self._waits = Waits(console)
        self.has_started = False
        self.has_any = False  # whether there is anything that could be kept
        self.progress = Meter(console, mode=mode)
        self.progress.begin(doing)

    def __call__(self, event: Event) -> None:
        """Draw one event."""
        match event:
            case Started():
                self.has_started = True
                self.has_any = event.n_answered_before > 0
                self._say_all("note", event.notes)
                self._say_all("left out", event.problems)
                self.progress.begin(self._doing, total=event.n_planned, n_done=event.n_answered_before)
            case TrialStored():
                self.has_any, self._waiting = True, ""
                self._cost += event.cost
                self._outcomes[outcome_name(event.trial.score.outcome)] += 1
                self.progress.advance()
                self._draw_note()
            case ExaminedOne():
                self.has_any, self._waiting = True, ""
                self._outcomes["failed" if isinstance(event.finding, Failed) else "examined"] += 1
                self.progress.advance()
                self._draw_note()
            case Waiting() | Away() | Back():
                at_once = f" ({event.n_allowed} at once)" if isinstance(event, Waiting) else ""
                self._waiting = self._waits.words(event) + at_once
                self._draw_note()
            case MediaTrouble() | MachineLost():
                self._n_troubles += 1
                if self._n_troubles <= _MOST_LINES:
                    self._say("media", event.message)
                elif self._n_troubles == _MOST_LINES + 1:
                    self._say("media", "more troubles; the report counts them")

    def _draw_note(self) -> None:
        counts = ", ".join(f"{n:,} {name}" for name, n in self._outcomes.items() if name != "failed")
        failed = f"{self._outcomes['failed']:,} failed"
        spent = f"${self._cost:.2f}" if self._cost else ""
        self.progress.note(f"{', '.join(filter(None, (counts, failed, spent)))} {self._waiting}".strip())

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
    progress: str = "auto",
) -> T:
    """What some work makes, with its events drawn; where it does not end, what is kept and how to go on.

    Args:
        work: is given the listener of its events.
        console: where events are drawn.
        doing: what the work does, as the progress line says it.
        what: the work, as in ``the run in DIR``.
        kept: what is never lost of it, as in ``what was answered is kept``.
        again: what goes on with it.
        progress: how it is shown, one of `cli.progress.MODES`.

    Raises:
        VidenceError: as the work raises it; KeyboardInterrupt after Ctrl-C.
    """
    display = Display(console, doing=doing, mode=progress)

    async def go() -> T:
        with interruptible(console):  # inside: the loop has a way of its own to stop at Ctrl-C
            return await work(display)

    try:
        with display.progress:
            return anyio.run(go)
    except KeyboardInterrupt:
        click.echo(f"stopped; {kept}. Go on with: {again}" if display.has_started else "stopped", err=True)
        raise
    except VidenceError:
        if display.has_any:
            click.echo(f"{what} did not finish; {kept}", err=True)
        raise
