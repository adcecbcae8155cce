"""Browser copies of videos that browsers cannot play: made one by one, stored in the cache folder."""

import hashlib
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from vidence.errors import MediaError, cause
from vidence.media.browser import COPY_KEY, plays_as_it_is, read_clock, write_copy
from vidence.media.cache import BoundedFolder, mark_used
from vidence.media.video import Video
from vidence.media.whole import make_private
from vidence.records import Record

_FOLDER: Final = "browser"
_SPARED_S: Final = 3600.0  # a copy may be watched for long after it was asked for

State = Literal["not-needed", "waiting", "making", "ready", "failed"]


class CopyState(Record):
    """The state of a copy: `n_done` of `n_frames` frames; `why` says why it failed, or is empty."""

    state: State
    n_done: int = 0
    n_frames: int = 0
    why: str = ""


@dataclass(frozen=True, kw_only=True)
class Original:
    """A video as it was when opened; `digest` is the SHA-256 of its bytes."""

    video: Video
    digest: str


class Renditions:
    """The copies under one cache folder; one is made at a time, in a thread of its own.

    Args:
        cache_root: our cache folder.
        max_bytes: how much all copies together may have; the least recently used go first.
    """

    def __init__(self, cache_root: Path, *, max_bytes: int) -> None:
        self._folder = cache_root / _FOLDER
        self._max_bytes = max_bytes
        self._lock = threading.Lock()
        self._states: dict[str, CopyState] = {}
        self._maker = ThreadPoolExecutor(max_workers=1, thread_name_prefix="copy-for-browsers")

    def ask(self, original: Original) -> CopyState:
        """Return the state of a video's copy; start one if it is needed and was never requested.

        A copy that failed is not tried again by the same process.

        Raises:
            MediaError: the original cannot be opened any more.
        """
        place = self._place(original.digest)
        if place.exists():
            return CopyState(state="ready", n_done=original.video.n_frames, n_frames=original.video.n_frames)
        with self._lock:
            known = self._states.get(original.digest)
        if known is not None and known.state != "ready":
            return known
        if plays_as_it_is(original.video, read_clock(original.video)):
            return CopyState(state="not-needed", n_frames=original.video.n_frames)
        return self._begin(original)

    def begin(self, original: Original) -> CopyState:
        """Start a copy even if browsers should play the original, because this one does not."""
        state = self.ask(original)
        return self._begin(original) if state.state == "not-needed" else state

    def ready(self, original: Original) -> Path | None:
        """Return the copy if it exists, and mark it as used."""
        place = self._place(original.digest)
        if not place.exists():
            return None
        mark_used(place)
        return place

    def close(self) -> None:
        """Start no more copies, and wait for the current one."""
        self._maker.shutdown(cancel_futures=True)

    def _begin(self, original: Original) -> CopyState:
        waiting = CopyState(state="waiting", n_frames=original.video.n_frames)
        with self._lock:
            known = self._states.get(original.digest)
            if known is not None and known.state in {"waiting", "making"}:
                return known
            self._states[original.digest] = waiting
        self._maker.submit(self._make, original)
        return waiting

    def _make(self, original: Original) -> None:
        """Make a copy; its state records the result."""
        n_frames = original.video.n_frames

        def say(n_done: int) -> None:
            self._say(original, CopyState(state="making", n_done=n_done, n_frames=n_frames))

        say(0)
        try:
            self._write(original, say)
        except MediaError as error:
            self._say(original, CopyState(state="failed", n_frames=n_frames, why=str(error)))
        except OSError as error:
            why = f"no copy can be saved in {self._folder} ({cause(error)})"
            self._say(original, CopyState(state="failed", n_frames=n_frames, why=why))
        else:
            self._say(original, CopyState(state="ready", n_done=n_frames, n_frames=n_frames))

    def _write(self, original: Original, say: Callable[[int], None]) -> None:
        place = self._place(original.digest)
        make_private(place.parent)
        write_copy(original.video, read_clock(original.video), place, progress=say)
        copies = BoundedFolder(
            self._folder, pattern="[0-9a-f]*.mp4", max_bytes=self._max_bytes, spared_s=_SPARED_S
        )
        copies.note(place.stat().st_size)

    def _say(self, original: Original, state: CopyState) -> None:
        with self._lock:
            self._states[original.digest] = state

    def _place(self, digest: str) -> Path:
        name = hashlib.sha256(f"{digest} {COPY_KEY}".encode()).hexdigest()
        return self._folder / f"{name}.mp4"
