"""Make questions from a clip step by step: the next task for a person, its board, and the next run."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from rich.console import Console

from vidence.console.screen import say
from vidence.errors import UsageError
from vidence.make.pipeline.session import Built


def assisted(make: Callable[[bool], Built], *, config: Path, console: Console) -> Built:
    """Make a dataset, name the next task for a person, open its board; repeat while new work waits.

    A board is opened once: *Done, go on* passes it. Stopped and called again, it goes on with what waits.

    Args:
        make: makes the set; True: as far as the review, since what is released stays as it is.
        config: its file, beside which the studio lies.
        console: where the next act is named.

    Raises:
        UsageError: the studio could not be opened.
        VidenceError: as for `make`.
    """
    passed, studio = set[str](), config.with_name(f"{config.stem}-studio")
    while stop := next((entry for entry in make(True).stops if entry.first not in passed), None):
        passed.add(stop.first)
        say(console, ("next: ", "green"), stop.words)
        words = ("studio", "open", studio, config, "--first", stop.first)
        ended = subprocess.run([sys.executable, "-m", "vidence", *map(str, words)], check=False)  # noqa: S603
        if ended.returncode not in (0, 130):  # it was told to end, as by its button
            raise UsageError(f"the studio ended with {ended.returncode}; mend what it says, and go on")
    return make(False)
