"""From a clip to questions in one sitting: what a person does next, its board, and on."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Final

from rich.console import Console

from vidence.console.screen import say
from vidence.errors import UsageError
from vidence.make.pipeline.session import Built

_ENDED: Final = (0, 130)  # of a studio that was told to end, as by its button


def assisted(make: Callable[[], Built], *, config: Path, console: Console) -> Built:
    """Make a set, name what a person does next, open its board, and go on until nothing new waits.

    A board is opened once: *Done, go on* passes it. Stopped and called again, it goes on with what waits.

    Raises:
        UsageError: the studio could not be opened.
        VidenceError: as for `make`.
    """
    passed = set[str]()
    while True:
        built = make()
        stop = next((one for one in built.stops if f"{one.video_id}/{one.board}" not in passed), None)
        if stop is None:
            return built
        passed.add(first := f"{stop.video_id}/{stop.board}")
        say(console, ("next: ", "green"), stop.words)
        studio = built.folder.with_name(f"{built.folder.name}-studio")
        words = ("studio", "open", studio, config, "--first", first)
        ended = subprocess.run([sys.executable, "-m", "vidence", *map(str, words)], check=False)  # noqa: S603
        if ended.returncode not in _ENDED:
            raise UsageError(f"the studio ended with {ended.returncode}; mend what it says, and go on")
