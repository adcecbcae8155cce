"""What was written is on the disk a second later, without waiting for the disk at every row."""

import errno
import os
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

from vidence.errors import StoreError

# Nothing was written yet, or so many files are open that this one has to wait.
_LATER = (errno.ENOENT, errno.EMFILE, errno.ENFILE)


def log_of(path: Path) -> Path:
    """The write-ahead log of a store.

    >>> log_of(Path("run.sqlite")).name
    'run.sqlite-wal'
    """
    return path.with_name(path.name + "-wal")


class LogSync(AbstractContextManager["LogSync"]):
    """Brings the log of a store to the disk every `EVERY_S` seconds, in a thread of its own.

    A log that is synced at every row would cost two waits for the disk for each question. So the end of a
    process loses nothing, and a power cut what was written in the last `EVERY_S` seconds and the time that
    the disk takes. The thread begins with the first `check`.
    """

    EVERY_S = 1.0

    def __init__(self, log: Path) -> None:
        self.beat: Callable[[], None] | None = None
        """Done as often, in that thread."""
        self._log = log
        self._stopping = threading.Event()
        self._thread: threading.Thread | None = None
        self._error: OSError | None = None
        self._file: int | None = None

    def check(self) -> None:
        """See that the thread runs.

        Raises:
            StoreError: the disk did not take the log.
        """
        if self._error is not None:
            raise StoreError(
                f"{self._log} could not be brought to the disk: {self._error}; see whether the disk is sound"
            )
        if self._thread is None:
            self._thread = threading.Thread(target=self._work, name="vidence-keeper", daemon=True)
            self._thread.start()

    def close(self) -> None:
        """End the thread."""
        self._stopping.set()
        if self._thread is not None:
            self._thread.join()
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def __exit__(self, *_: object) -> None:
        self.close()

    def _work(self) -> None:
        synced: tuple[int, int] | None = None
        is_last = False
        while not is_last:
            is_last = self._stopping.wait(self.EVERY_S)
            try:
                synced = self._synced(synced)
            except OSError as error:
                self._error = error
            if self.beat is not None:
                self.beat()

    def _synced(self, before: tuple[int, int] | None) -> tuple[int, int] | None:
        """Sync the log where it has changed; its size and time when that began."""
        if self._file is None:
            try:
                self._file = os.open(self._log, os.O_RDWR | getattr(os, "O_BINARY", 0))
            except OSError as error:
                if error.errno in _LATER:
                    return before
                raise
        found = os.fstat(self._file)
        now = (found.st_size, found.st_mtime_ns)
        if now != before:
            os.fsync(self._file)
        return now
