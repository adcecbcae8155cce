"""Settings of one studio, from arguments, never from the environment."""

import hashlib
import hmac
import secrets
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from threading import Lock
from typing import Final, Literal, cast

from vidence.records import Record
from vidence.studio.rules.spans import Pulse

Mode = Literal["view", "solo", "team"]
LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
SESSION_S: Final = 12 * 3600
"""How long a browser stays signed in at most."""


def now() -> datetime:
    """The time of this machine, in UTC."""
    return datetime.now(UTC)


class Export(Record):
    """What to export: the number of questions of each list, and whether to include media."""

    most: int
    has_media: bool = False


class StudioSettings(Record):
    """Settings of one studio.

    `data` is the folder of its database and files; in the mode ``view`` a folder of the cache. `paths` are
    what is shown: folders of runs, runs, files of questions, sets. Media are read below `media_roots` only.
    """

    mode: Mode
    data: Path
    hosts: tuple[str, ...] = LOOPBACK
    """Names under which browsers may ask for it; all others are refused."""
    database: str = ""
    """An address ``postgres://…``; empty: SQLite in `data`."""
    media_roots: tuple[Path, ...] = ()
    paths: tuple[Path, ...] = ()
    cache_root: Path | None = None
    """Where facts, frames and copies of videos are kept, as by runs; None: in `data`."""
    cache_max_bytes: int = 20 * 2**30
    """The bound of the kept frames, and that of the copies."""
    first: str = ""
    """At which board of the set in `paths` a browser begins, ``VIDEO/BOARD``; empty: at the start."""
    export: Export | None = None
    """Pages are made to be kept as files: without forms, scripts and players."""
    is_tls: bool = False
    """Whether it speaks TLS itself."""
    is_behind_proxy: bool = False
    """Whether a proxy stands in front, whose ``X-Forwarded-For`` and ``X-Forwarded-Proto`` are believed."""
    clock: Callable[[], datetime] = now
    pulse: Pulse = Pulse()
    "How often pages send a heartbeat, and what silence means."
    most_changes_a_minute: int = 3_600
    """How many requests of one address may change something; a team may share one address."""


class Ticket:
    """The word in the printed address that lets one browser in, once."""

    def __init__(self, word: str) -> None:
        self._digest = hashlib.sha256(word.encode()).digest()
        self._is_open = bool(word)
        self._lock = Lock()

    def redeem(self, word: str) -> bool:
        """Return whether this is the one-time secret, on its first use."""
        given = hashlib.sha256(word.encode("utf-8", "surrogatepass")).digest()
        with self._lock:
            is_right = self._is_open and hmac.compare_digest(given, self._digest)
            self._is_open = self._is_open and not is_right
        return is_right


class Trouble(Record):
    """What could not be written: the last of them, and how many there were since the server began."""

    words: str
    at: datetime
    n: int


@dataclass(frozen=True, kw_only=True)
class Studio:
    """The running studio of this process."""

    settings: StudioSettings
    secret: bytes = field(repr=False)
    """Signs what is given out; of this process, or of the data folder of a team."""
    ticket: Ticket = field(repr=False)

    @property
    def cookie(self) -> str:
        """The name of its cookie: those of one host are shared by its ports, so each server has its own."""
        return f"vidence_{hashlib.sha256(b'cookie' + self.secret).hexdigest()[:8]}"


def new_secret() -> bytes:
    """Return random bytes for a secret."""
    return secrets.token_bytes(32)


def current() -> Studio:
    """The studio that `app.configure` made in this process."""
    from django.conf import settings

    return cast("Studio", settings.STUDIO)
