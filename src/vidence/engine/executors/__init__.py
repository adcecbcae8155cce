"""Where decoding runs: processes of this machine."""

from collections.abc import Callable
from typing import Protocol, TypeVar

T = TypeVar("T")


class Executor(Protocol):
    """Runs functions elsewhere, so that they cannot block the event loop."""

    async def run(self, key: str, function: Callable[[], T], *, deadline_s: float) -> T:
        """What `function` returns; it must be picklable, and so must be what it returns.

        Args:
            key: the file that the work is about, for messages and for placing the work.
            function: a function, or a `functools.partial` of one.
            deadline_s: how long it may take, in seconds, without waiting for its turn.

        Raises:
            DecodeTimeoutError: it did not finish.
            MediaError: its process crashed, or it raised something unforeseen.
            VidenceError: as it raised it.
        """
