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
"""Maximum session length."""


def now() -> datetime:
    """Return the current UTC time."""
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
    """Host names that browsers may use; others are rejected."""
    database: str = ""
    """Database address ``postgres://…``; empty: SQLite in `data`."""
    media_roots: tuple[Path, ...] = ()
    paths: tuple[Path, ...] = ()
    cache_root: Path | None = None
    """Cache folder for facts, frames and copies of videos; None: in `data`."""
    cache_max_bytes: int = 20 * 2**30
    """Size limit of cached frames, and that of copies."""
    first: str = ""
    """Initial board of the set in `paths`, ``VIDEO/BOARD``; empty: the start page."""
    export: Export | None = None
    """Static export: pages without forms, scripts and players."""
    is_tls: bool = False
    """Whether it serves TLS itself."""
    is_behind_proxy: bool = False
    """Whether to trust a proxy's ``X-Forwarded-For`` and ``X-Forwarded-Proto``."""
    clock: Callable[[], datetime] = now
    pulse: Pulse = Pulse()
    "How often pages send a heartbeat, and what silence means."
    most_changes_a_minute: int = 3_600
    """Most changing requests per minute and address; a team may share one."""


class Ticket:
    """The one-time secret in the printed address that admits one browser."""

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
    """The last write failure, and the number since the server started."""

    words: str
    at: datetime
    n: int


@dataclass(frozen=True, kw_only=True)
class Studio:
    """The running studio of this process."""

    settings: StudioSettings
    secret: bytes = field(repr=False)
    """Signing key: of this process, or in a team's data folder."""
    ticket: Ticket = field(repr=False)

    @property
    def cookie(self) -> str:
        """Return its cookie's name: ports of one host share cookies, so each server has its own."""
        return f"vidence_{hashlib.sha256(b'cookie' + self.secret).hexdigest()[:8]}"


def new_secret() -> bytes:
    """Return random bytes for a secret."""
    return secrets.token_bytes(32)


def current() -> Studio:
    """Return the studio that `app.configure` created in this process."""
    from django.conf import settings

    return cast("Studio", settings.STUDIO)
