"""Progress: a bar on a terminal, else a line every half minute; and Ctrl-C handling."""

import signal
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from os import _exit
from types import FrameType, TracebackType
from typing import Self

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    Task,
    TextColumn,
    TimeElapsedColumn,
)
from rich.text import Text

from vidence.text import visible

LINE_S = 30.0
"""Seconds between plain lines."""
_N_LINES_OF_A_RATE = 10  # a rate is that of the last minutes: remembered replies come faster than others
_FEWEST = 5  # pieces of work that a time left is estimated from: the first one waits for what is loaded
_ONE_PRESS_S = 0.3  # a launcher hands Ctrl-C on to a command that the terminal has told already
_INTERRUPTED = 130
STOPPING = (
    "stopping when the work in progress is done (local weights: this batch); press Ctrl-C again to stop now"
)


def minutes(time_s: float) -> str:
    """Format a time in minutes and seconds.

    >>> minutes(565.2), minutes(9.4)
    ('9:25', '0:09')
    """
    return f"{int(time_s) // 60}:{int(time_s) % 60:02d}"


def time_words(time_s: float) -> str:
    """Format a time for plain lines.

    >>> time_words(565.2), time_words(7500)
    ('9:25 min', '2:05 h')
    """
    return f"{minutes(time_s)} min" if time_s < 3600 else f"{minutes(time_s / 60)} h"


def rate_words(per_s: float) -> str:
    """Format a rate in the unit in which it is at least 1.

    >>> rate_words(2.34), rate_words(0.05), rate_words(0.001)
    ('2.3/s', '3.0/min', '3.6/h')
    """
    for unit, seconds in (("s", 1), ("min", 60)):
        if per_s * seconds >= 1:
            return f"{per_s * seconds:,.1f}/{unit}"
    return f"{per_s * 3600:.1f}/h"


class _NoteColumn(ProgressColumn):
    """The text after the numbers, built only when drawn."""

    def __init__(self, words: Callable[[], str]) -> None:
        super().__init__()
        self._words = words

    def render(self, task: Task) -> Text:
        """Return the note as text."""
        return Text(self._words())


class Meter:
    """Shows progress inside its context.

    A thread writes the lines, so that they appear even while the work is busy.
    """

    def __init__(
        self,
        console: Console,
        *,
        mode: str = "auto",
        is_transient: bool = False,
        line_s: float = LINE_S,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Prepare; nothing is shown yet.

        Args:
            console: the output.
            mode: one of `flags.MODES`.
            is_transient: whether the bar disappears at the end.
            line_s: seconds between two plain lines.
            clock: the time in seconds.
        """
        self.is_bar = mode == "auto" and console.is_terminal
        self._has_lines = mode == "plain" or (mode == "auto" and not console.is_terminal)
        self._console, self._line_s, self._clock = console, line_s, clock
        self._doing, self._said = "", ""
        self._note: Callable[[], str] = str
        self._total: int | None = None
        self._n_done = self._n_before = 0
        self._began_s = clock()
        self._marks: deque[tuple[float, int]] = deque(maxlen=_N_LINES_OF_A_RATE)
        self._ended = threading.Event()
        self._thread: threading.Thread | None = None
        self._bar = Progress(
            TextColumn("{task.description}", style="bold", markup=False),
            BarColumn(bar_width=24),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            _NoteColumn(lambda: self._pace(self._bar.tasks[self._task].speed)),
            _NoteColumn(self._words),
            console=console,
            disable=not self.is_bar,
            get_time=clock,
            transient=is_transient,
        )
        self._task = self._bar.add_task("", total=None, visible=False)

    def __enter__(self) -> Self:
        self._bar.start()
        if self._has_lines:
            self._ended.clear()
            self._thread = threading.Thread(target=self._write_lines, name="progress", daemon=True)
            self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ended.set()
        if self._thread is not None:
            self._thread.join()
            self._thread = None
        self._bar.stop()

    def begin(self, doing: str, *, total: int | None = None, n_done: int = 0) -> None:
        """Start work: its name, the number of pieces, and how many are done."""
        self._doing, self._total, self._n_done, self._note = doing, total, n_done, str
        self._n_before = n_done
        self._began_s = self._clock()
        self._marks.clear()
        self._marks.append((self._began_s, n_done))
        if self.is_bar:
            self._bar.reset(
                self._task, total=total, completed=n_done, description=visible(doing), visible=True
            )

    def advance(self, n: int = 1) -> None:
        """Count finished pieces."""
        self._n_done += n
        if self.is_bar:
            self._bar.advance(self._task, n)

    def note(self, words: Callable[[], str]) -> None:
        """Set the text after the numbers; called when the line is drawn."""
        self._note = words

    def _words(self) -> str:
        return visible(self._note())

    def _pace(self, per_s: float | None) -> str:
        """Return the rate, and the remaining time once it can be estimated."""
        if not per_s:
            return ""
        if not self._total or self._n_done - self._n_before < min(_FEWEST, self._total / 4):
            return rate_words(per_s)
        return f"{rate_words(per_s)}, {time_words(max(0, self._total - self._n_done) / per_s)} left"

    def line(self) -> str:
        """Return the plain line; the rate is that of the last minutes."""
        now_s = self._clock()
        words = [f"{self._n_done:,}"]
        if self._total is None:
            words = [f"{self._n_done:,} so far" if self._n_done else "getting ready"]
            words.append(f"{time_words(now_s - self._began_s)} elapsed")
        elif self._total:
            words = [f"{self._n_done:,} of {self._total:,} ({100 * self._n_done // self._total} %)"]
        then_s, n_then = self._marks[0] if self._marks else (now_s, self._n_done)
        per_s = (self._n_done - n_then) / (now_s - then_s) if now_s > then_s else 0.0
        if self._total and per_s:
            words.append(self._pace(per_s))
        elif self._total:
            words.append(f"none done in the last {time_words(now_s - then_s)}")
        self._marks.append((now_s, self._n_done))
        return "; ".join(filter(None, (f"{self._doing}: {', '.join(words)}", self._words())))

    def _write_lines(self) -> None:
        while not self._ended.wait(self._line_s):
            if self._doing:
                self._console.print(Text(visible(self.line())), soft_wrap=True)


@contextmanager
def interruptible(console: Console, *, clock: Callable[[], float] = time.monotonic) -> Iterator[None]:
    """Handle the first Ctrl-C at once, and end the process at the second.

    The first one stops the work as usual, which may wait for work in progress: a computing thread cannot be
    stopped. Stored data survives the second one as it does a kill.
    """
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(before):  # it is ignored
        yield
        return
    first_s: float | None = None

    def stop(number: int, frame: FrameType | None) -> None:
        nonlocal first_s
        now_s = clock()
        if first_s is None:
            first_s = now_s
            with suppress(RuntimeError):  # it came in the middle of a write to the same stream
                console.print(Text(STOPPING), soft_wrap=True)
            before(number, frame)
        elif now_s - first_s > _ONE_PRESS_S:
            with suppress(RuntimeError, OSError):
                console.show_cursor()
                console.print(Text("stopped at once"), soft_wrap=True)
                sys.stdout.flush()
                sys.stderr.flush()
            _exit(_INTERRUPTED)

    signal.signal(signal.SIGINT, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
