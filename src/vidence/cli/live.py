"""The progress of what Python calls: a line on a terminal, a bar in a notebook, nothing elsewhere."""

import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from html import escape
from typing import Protocol

from rich.console import Console

from vidence.engine.display import Display
from vidence.engine.events import (
    Event,
    ExaminedOne,
    Listener,
    MachineLost,
    MediaTrouble,
    Started,
    TrialStored,
    Waiting,
)
from vidence.records import Failed, outcome_name
from vidence.text import visible

_MOST_TROUBLES = 5


@contextmanager
def watching(progress: bool | None, *, doing: str) -> Iterator[Listener]:
    """A listener that draws what happens while the block runs.

    Args:
        progress: whether to draw; None draws where somebody can see it, in a notebook or on a terminal.
        doing: what is done, as the bar says it.
    """
    if progress is False:
        yield _ignore
    elif is_notebook():
        bar = NotebookBar(doing=doing)
        try:
            yield bar
        finally:
            bar.draw()
    else:
        console = Console(stderr=True)
        if progress is None and not console.is_terminal:
            yield _ignore
            return
        display = Display(console, doing=doing)
        with display.progress:
            yield display


def is_notebook() -> bool:
    """Whether this process answers the cells of a notebook."""
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    return hasattr(shell, "kernel")


class _Handle(Protocol):
    """An output of a cell that can be drawn over."""

    def update(self, shown: object, /) -> None:
        """Draw it over."""


class NotebookBar:
    """One cell output that is drawn anew, a hundred times at most, and stays as it ended."""

    def __init__(self, *, doing: str) -> None:
        self._doing = doing
        self._outcomes: Counter[str] = Counter()
        self._cost = 0.0
        self._n_done, self._n_planned = 0, 0
        self._drawn_at = -1
        self._waiting = ""
        self._notes: list[str] = []
        self._handle: _Handle | None = None

    def __call__(self, event: Event) -> None:
        """Count one event; the bar is drawn where it would look different."""
        match event:
            case Started():
                self._n_planned, self._n_done = event.n_planned, event.n_answered_before
                self.draw()
                return
            case TrialStored():
                self._cost += event.cost
                self._count(outcome_name(event.trial.score.outcome))
            case ExaminedOne():
                self._count("failed" if isinstance(event.finding, Failed) else "examined")
            case Waiting():
                self._waiting = f"waiting {event.wait_s:.0f} s: {event.reason[:80]}"
                self.draw()
                return
            case MediaTrouble() | MachineLost():
                self._notes.append(event.message)
                self.draw()
                return
        at = 100 * self._n_done // max(self._n_planned, 1)
        if at != self._drawn_at:
            self._drawn_at = at
            self.draw()

    def draw(self) -> None:
        """Show how far it is."""
        from IPython.display import HTML, display

        drawing = HTML(self.html)
        if self._handle is None:
            self._handle = display(drawing, display_id=True)
        else:
            self._handle.update(drawing)

    @property
    def html(self) -> str:
        """The bar, and what is worth a line beside it."""
        counts = ", ".join(f"{n:,} {name}" for name, n in self._outcomes.items())
        spent = f"${self._cost:.2f}" if self._cost else ""
        words = " · ".join(filter(None, (counts, spent, self._waiting)))
        troubles = "".join(f"<br>{escape(visible(note))}" for note in self._notes[:_MOST_TROUBLES])
        return (
            f'<progress value="{self._n_done}" max="{max(self._n_planned, 1)}"></progress> '
            f"{escape(self._doing)} {self._n_done:,}/{self._n_planned:,} {escape(visible(words))}{troubles}"
        )

    def _count(self, outcome: str) -> None:
        self._waiting = ""
        self._n_done += 1
        self._outcomes[outcome] += 1


def _ignore(event: object) -> None:
    """The listener of those who do not watch."""
