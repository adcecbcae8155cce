"""The memory of replies of a team: the same as that of one machine, in a database of Postgres.

Its clock is that of the database, so that those of the machines do not matter. Leases end by themselves a
while after their owner was last seen.
"""

import importlib
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from types import ModuleType
from typing import Any, Final

import msgspec

from vidence.engine.store import LEASE_S
from vidence.errors import StoreError, UsageError
from vidence.installation import adding
from vidence.records import Reply

FORMAT: Final = "vidence-memory/1"
_TABLES: Final = (
    "CREATE TABLE IF NOT EXISTS vidence_meta (key TEXT PRIMARY KEY, value TEXT NOT NULL)",
    "CREATE TABLE IF NOT EXISTS vidence_replies (key BYTEA PRIMARY KEY, json BYTEA NOT NULL)",
    "CREATE TABLE IF NOT EXISTS vidence_leases (key BYTEA PRIMARY KEY, owner BIGINT NOT NULL, "
    "until TIMESTAMPTZ NOT NULL)",
    "CREATE SEQUENCE IF NOT EXISTS vidence_owners",
    "INSERT INTO vidence_meta VALUES ('format', 'vidence-memory/1') ON CONFLICT DO NOTHING",
)
_SETTING_UP: Final = 0x7669_6465  # an advisory lock: two processes may make the tables at the same time
_CLAIM: Final = (
    "INSERT INTO vidence_leases VALUES (%s, %s, clock_timestamp() + make_interval(secs => %s)) "
    "ON CONFLICT (key) DO UPDATE SET owner = excluded.owner, until = excluded.until "
    "WHERE vidence_leases.until < clock_timestamp() RETURNING owner"
)
_HAS_REPLY: Final = "SELECT 1 FROM vidence_replies WHERE key = %s"
_BEAT: Final = (
    "UPDATE vidence_leases SET until = clock_timestamp() + make_interval(secs => %s) WHERE owner = %s"
)
_PUT: Final = "INSERT INTO vidence_replies VALUES (%s, %s) ON CONFLICT DO NOTHING"
_RELEASE: Final = "DELETE FROM vidence_leases WHERE key = %s AND owner = %s"


class TeamMemory(ExitStack):
    """Replies under the hash of what was asked, for all machines of a team; as `store.Memory`.

    Each statement is committed by itself: in one transaction two drivers could each wait for what the
    other has leased.

    Args:
        address: that of the database; it is shown nowhere, since it may hold a password.
        lease_s: how long a process that was not seen keeps others from asking.

    Raises:
        UsageError: the driver for Postgres is not installed.
        StoreError: the database cannot be used.
    """

    def __init__(self, address: str, *, lease_s: float = LEASE_S) -> None:
        super().__init__()
        self._psycopg = _library()
        self._address = address
        self._lease_s = lease_s
        self._decoder = msgspec.json.Decoder(Reply)
        self._held: set[bytes] = set()
        self._stopping = threading.Event()
        self._beating: threading.Thread | None = None
        self._owner = 0
        with ExitStack() as opening:
            self._db = opening.enter_context(self._connected())
            self._set_up()
            self.push(opening.pop_all())
        self.callback(self._sign_out)

    # ---------------------------------------------------------------- replies

    def get(self, key: bytes) -> Reply | None:
        """The reply to what was asked under this key, or None."""
        row = self._done("SELECT json FROM vidence_replies WHERE key = %s", key)
        if row is None:
            return None
        try:
            return self._decoder.decode(row[0])
        except msgspec.DecodeError as error:
            raise StoreError(f"the reply memory of the team holds a damaged reply: {error}") from error

    def put(self, key: bytes, reply: Reply) -> None:
        """Keep a reply; no end of this process can lose it when this returns. The first one stays."""
        self._done(_PUT, key, msgspec.json.encode(reply))
        self.release(key)

    def claim(self, key: bytes) -> bool:
        """Take the lease on a key; False while somebody has it, and when its reply is there."""
        if self._done(_CLAIM, key, self._owner, self._lease_s) is None:
            return False
        self._held.add(key)
        self._beat_from_now_on()
        if self._done(_HAS_REPLY, key) is not None:  # asked last: who had the lease may have brought it
            self.release(key)
        return key in self._held

    def release(self, key: bytes) -> None:
        """Let go of a lease without a reply; nothing where it is not held."""
        if key in self._held:
            self._held.remove(key)
            self._done(_RELEASE, key, self._owner)

    async def find(self, key: bytes, *, claims: bool) -> Reply | None:
        """As `get`."""
        return self.get(key)

    async def take(self, key: bytes) -> bool:
        """As `claim`."""
        return self.claim(key)

    async def keep(self, key: bytes, reply: Reply) -> None:
        """As `put`."""
        self.put(key, reply)

    @contextmanager
    def together(self) -> Iterator[None]:
        """Each statement inside is committed when it is made."""
        yield

    # ---------------------------------------------------------------- the database

    def _connected(self) -> Any:  # noqa: ANN401 - psycopg is not always installed
        with self._translated():
            return self._psycopg.connect(self._address, autocommit=True, application_name="vidence")

    def _set_up(self) -> None:
        self._done("SET synchronous_commit TO off")  # a crash of the server may cost the last half second
        self._done("SELECT pg_advisory_lock(%s)", _SETTING_UP)
        try:
            for statement in _TABLES:
                self._done(statement)
            found = self._done("SELECT value FROM vidence_meta WHERE key = 'format'")
            if found is None or found[0] != FORMAT:
                raise StoreError(
                    f"the reply memory of the team has format {found and found[0]!r}, this vidence "
                    f"reads {FORMAT!r}; use the version that wrote it, or another database"
                )
            self._done("DELETE FROM vidence_leases WHERE until < clock_timestamp()")
            owner = self._done("SELECT nextval('vidence_owners')")
            self._owner = int(owner[0]) if owner else 0
        finally:
            self._done("SELECT pg_advisory_unlock(%s)", _SETTING_UP)

    def _done(self, statement: str, *values: object) -> tuple[Any, ...] | None:
        """Do a statement; the first row where it gives some."""
        with self._translated():
            cursor = self._db.execute(statement, values or None)
            row: tuple[Any, ...] | None = cursor.fetchone() if cursor.description else None
            return row

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except self._psycopg.Error as error:
            said = (str(error).strip() or type(error).__name__).splitlines()[0]
            raise StoreError(
                f"the reply memory of the team (VIDENCE_MEMORY): {said}; "
                "see whether the database can be reached and written to; what was answered is kept"
            ) from error

    # ---------------------------------------------------------------- being there

    def _beat_from_now_on(self) -> None:
        if self._beating is None:
            self._beating = threading.Thread(target=self._beat, name="vidence-leases", daemon=True)
            self._beating.start()

    def _beat(self) -> None:
        """Say that this process is there, on a connection of its own."""
        while not self._stopping.wait(self._lease_s / 4):
            # The database is away: asking says so, and the leases end by themselves.
            with suppress(StoreError), self._connected() as db, suppress(self._psycopg.Error):
                db.execute(_BEAT, (self._lease_s, self._owner))

    def _sign_out(self) -> None:
        self._stopping.set()
        if self._beating is not None:
            self._beating.join()
        with suppress(StoreError):
            self._done("DELETE FROM vidence_leases WHERE owner = %s", self._owner)


def _library() -> ModuleType:
    try:
        return importlib.import_module("psycopg")
    except ImportError as error:
        raise UsageError(
            f"a reply memory in Postgres needs its driver, which is not installed: {adding('postgres')}"
        ) from error
