"""The progress of what Python calls: drawn on a terminal, in plain lines in a notebook, nothing elsewhere."""

from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console

from vidence.engine.display import Display
from vidence.engine.events import Listener


@contextmanager
def watching(progress: bool | None, *, doing: str) -> Iterator[Listener]:
    """A listener that draws what happens while the block runs.

    Args:
        progress: whether to draw; None draws where a user can see it, in a notebook or on a terminal.
        doing: what is done, as the bar says it.
    """
    console = Console(stderr=True)
    if progress is False or (progress is None and not (console.is_terminal or console.is_jupyter)):
        yield lambda event: None
        return
    display = Display(console, doing=doing)
    with display.progress:
        yield display
