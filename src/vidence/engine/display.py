"""Show the engine's events on the terminal: a progress bar, problems, and how to continue."""

import math
from collections import Counter
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import contextmanager
from typing import TypeVar

import anyio
import click
from rich.console import Console

from vidence.console.progress import Meter, interruptible, minutes
from vidence.console.screen import say
from vidence.engine.events import (
    Away,
    Back,
    BatchNews,
    Event,
    ExaminedOne,
    Listener,
    Started,
    TrialStored,
    Trouble,
    Waiting,
)
from vidence.errors import VidenceError
from vidence.records import Failed, outcome_name

T = TypeVar("T")
_MOST_LINES = 20
_LONG_WAIT_S = 20.0  # worth a line even where no person watches the bar
_AWAY_LINE_S = 60.0  # between lines about a server that is away, where no person watches the bar


class Waits:
    """Messages about a server that does not answer: in the bar, or as lines without a terminal."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._next_line_s = math.inf  # the patience at which the next line is due

    def words(self, event: Waiting | Away | Back) -> str:
        """Return the bar's text about a server that does not answer; empty when it answers."""
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
        """Return the countdown text; also print a line at the start and every minute."""
        if event.left_s <= self._next_line_s:
            self._next_line_s = event.left_s - (math.inf if self._console.is_terminal else _AWAY_LINE_S)
            never = "" if event.has_answered else "no request has succeeded; "
            words = f"trying on for {minutes(event.left_s)} min (--patience): {never}{event.reason[:300]}"
            say(self._console, ("no answer: ", "yellow"), words)
        return f"no answer, trying on for {minutes(event.left_s)}: next in {event.wait_s:.0f} s"


class Display:
    """Shows the events of a run inside ``with display.progress``."""

    def __init__(self, console: Console, *, doing: str = "asking", mode: str = "auto") -> None:
        """`doing` names the work, and `mode` is one of `console.flags.MODES`; nothing is shown yet."""
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
        self.progress.note(self._note)

    def __call__(self, event: Event) -> None:
        """Show one event."""
        match event:
            case Started():
                self.has_started = True
                self.has_any = event.n_answered_before > 0
                self._say_all("note", event.notes)
                self._say_all("left out", event.problems)
                self.progress.begin(self._doing, total=event.n_planned, n_done=event.n_answered_before)
                self.progress.note(self._note)
            case TrialStored():
                self.has_any, self._waiting = True, ""
                self._cost += event.cost
                self._outcomes[outcome_name(event.trial.score.outcome)] += 1
                self.progress.advance()
            case ExaminedOne():
                self.has_any, self._waiting = True, ""
                self._outcomes["failed" if isinstance(event.finding, Failed) else "examined"] += 1
                self.progress.advance()
            case Waiting() | Away() | Back():
                at_once = f" ({event.n_allowed} at once)" if isinstance(event, Waiting) else ""
                self._waiting = self._waits.words(event) + at_once
            case BatchNews():
                self._say("batch", event.message)
            case Trouble():
                self._n_troubles += 1
                if self._n_troubles <= _MOST_LINES:
                    self._say("media", event.message)
                elif self._n_troubles == _MOST_LINES + 1:
                    self._say("media", "more troubles; the report counts them")

    def _note(self) -> str:
        counts = ", ".join(f"{n:,} {name}" for name, n in tuple(self._outcomes.items()) if name != "failed")
        failed = f"{self._outcomes['failed']:,} failed" if self._outcomes else ""
        spent = f"${self._cost:.2f}" if self._cost else ""
        return f"{', '.join(filter(None, (counts, failed, spent)))} {self._waiting}".strip()

    def _say_all(self, label: str, messages: Sequence[str]) -> None:
        for message in messages[:_MOST_LINES]:
            self._say(label, message)
        if len(messages) > _MOST_LINES:
            self._say(label, f"and {len(messages) - _MOST_LINES} more; the report lists them")

    def _say(self, label: str, message: str) -> None:
        say(self._console, (f"{label}: ", "yellow"), message)


def watched(  # noqa: PLR0913 - the words of one message
    work: Callable[[Listener], Coroutine[None, None, T]],
    console: Console,
    *,
    doing: str,
    what: str,
    kept: str,
    again: str = "the same command",
    progress: str = "auto",
) -> T:
    """Run work while showing its events; if it stops early, say what is kept and how to continue.

    Args:
        work: receives the event listener.
        console: where to draw.
        doing: name of the activity in the progress line.
        what: the work, as in ``the run in DIR``.
        kept: what is never lost, as in ``stored replies are kept``.
        again: the command that continues.
        progress: one of `console.flags.MODES`.

    Raises:
        VidenceError: raised by the work; KeyboardInterrupt after Ctrl-C.
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
            click.echo(f"{what} did not finish; {kept}. Go on with: {again}", err=True)
        raise


@contextmanager
def watching(progress: bool | None, *, doing: str) -> Iterator[Listener]:
    """Yield a listener that shows progress during a Python caller's block; plain lines in a notebook.

    Args:
        progress: whether to show progress; None: if this is a notebook or a terminal.
        doing: name of the activity in the bar.
    """
    console = Console(stderr=True)
    if progress is False or (progress is None and not (console.is_terminal or console.is_jupyter)):
        yield lambda event: None
        return
    display = Display(console, doing=doing)
    with display.progress:
        yield display
