"""The reply cache in SQLite: no request is sent twice."""

import hashlib
import os
import sqlite3
import time
from collections.abc import Callable
from contextlib import ExitStack, closing, suppress
from pathlib import Path

import msgspec

from vidence.contracts import Request
from vidence.engine.environment import machine
from vidence.engine.store import LogSync, TurnWriter, decoded, log_of, opened_file, transaction, translated
from vidence.errors import StoreError, cause
from vidence.media.whole import is_running, make_private
from vidence.records import ImagePart, Reply, TextPart

MEMORY_FORMAT = "vidence-memory/1"
LEASE_S = 20.0  # how long a process that was not seen keeps others from asking
_HOLDER = (
    "SELECT l.owner, o.home, o.pid, o.until_s FROM leases l LEFT JOIN owners o ON o.owner = l.owner "
    "WHERE l.key = ?"
)
_CLAIM = (
    "INSERT OR IGNORE INTO leases SELECT ?1, ?2 WHERE NOT EXISTS (SELECT key FROM replies WHERE key = ?1)"
)
_RELEASE = "DELETE FROM leases WHERE key = ? AND owner = ?"
_PUT = "INSERT OR IGNORE INTO replies VALUES (?, ?)"


def memory_key(request: Request, *, identity: str, by_item: bool) -> bytes:
    """Return the hash of a request: model, sampling, text, exact image bytes, reply schema, sample number.

    Template names, frame positions and the item id (unless the model reads it) are not sent and do not count.
    Choices count if their log-probabilities are requested.
    """
    prompt = request.prompt
    parts: list[object] = []
    for part in prompt.parts:
        match part:
            case TextPart():
                parts.append(part.text)
            case ImagePart():
                parts.append([part.media_type, part.digest])
            case _:
                parts.append({"video": part.digest, "type": part.media_type})
    sent: list[object] = [
        identity,
        request.sampling,
        prompt.system,
        parts,
        prompt.choices if (request.sampling.want_choice_logps or by_item) else (),
        request.sample,
        request.item_id if by_item else "",
    ]
    if prompt.reply_schema is not None:  # only then, so that keys of prompts without one stay what they were
        sent.append({"reply_schema": prompt.reply_schema})
    return hashlib.sha256(msgspec.json.encode(sent, order="sorted")).digest()


class Memory(ExitStack):
    """Replies by the hash of their requests; several runs and processes may share one file.

    A caller leases a key before asking, so that two concurrent runs ask once. A lease ends with the reply, on
    release, or `LEASE_S` seconds after its process was last seen; a dead process on this machine is detected
    at once. Also a context manager, with a `close`.

    Args:
        path: the file.
        clock: the time in seconds, the same for all processes.
    """

    def __init__(self, path: Path, *, clock: Callable[[], float] = time.time) -> None:
        super().__init__()
        self.path = path
        self._clock = clock
        try:
            make_private(path.parent)
        except OSError as error:
            raise StoreError(f"cannot make {path.parent} for the reply memory: {cause(error)}") from error
        self._db = self.enter_context(opened_file(path, file_format=MEMORY_FORMAT, tables="memory.sql"))
        self._decoder = msgspec.json.Decoder(Reply)
        self._owner = 0
        self._held: set[bytes] = set()
        self._beat_s = 0.0
        self._keeper = LogSync(log_of(path))
        self.callback(self._keeper.close)
        self._writer = TurnWriter(self._db, path)
        self._unwritten: set[bytes] = set()
        self.callback(self._writer.flush)

    def get(self, key: bytes) -> Reply | None:
        """Return the reply under this key, or None."""
        if key in self._unwritten:
            self._writer.flush()
        with translated(self.path):
            row = self._db.execute("SELECT json FROM replies WHERE key = ?", (key,)).fetchone()
            return decoded(self._decoder, row[0]) if row else None

    def put(self, key: bytes, reply: Reply) -> None:
        """Store a reply; it survives the end of the process once this turn of the event loop is over.

        The first reply under a key stays. A power cut may lose those of the last `LogSync.EVERY_S` seconds.
        """
        self._keeper.check()
        if self._writer.is_idle:
            self._unwritten.clear()
        self._unwritten.add(key)
        self._writer.add(_PUT, (key, msgspec.json.encode(reply)))
        self.release(key)

    def holds(self, key: bytes) -> bool:
        """Whether this process has the lease on a key."""
        return key in self._held

    def claim(self, key: bytes) -> bool:
        """Lease a key; False if another process holds it or its reply is stored."""
        with translated(self.path):
            if not self._owner:
                self._sign_in()
            if not self._has_taken(key):
                holder = self._db.execute(_HOLDER, (key,)).fetchone()
                if holder is None or holder[0] == self._owner or self._is_alive(*holder[1:]):
                    return False
                self._db.execute(_RELEASE, (key, holder[0]))
                if not self._has_taken(key):
                    return False
        self._held.add(key)
        return True

    def _has_taken(self, key: bytes) -> bool:
        return self._db.execute(_CLAIM, (key, self._owner)).rowcount == 1

    def release(self, key: bytes) -> None:
        """Release a lease without a reply; no effect if it is not held."""
        if key in self._held:
            self._held.remove(key)
            self._writer.add(_RELEASE, (key, self._owner))

    def _is_alive(self, home: str | None, pid: int | None, until_s: float | None) -> bool:
        """Whether a lease's owner is alive: it was seen recently (a clock set back is ignored)."""
        if until_s is None or not 0 < until_s - self._clock() <= 2 * LEASE_S:
            return False
        return home != machine() or pid is None or is_running(pid)

    def _sign_in(self) -> None:
        now_s = self._clock()
        with transaction(self._db):
            self._db.execute(
                "DELETE FROM owners WHERE until_s NOT BETWEEN ? AND ?", (now_s, now_s + 2 * LEASE_S)
            )
            self._db.execute("DELETE FROM leases WHERE owner NOT IN (SELECT owner FROM owners)")
            row = (machine(), os.getpid(), now_s + LEASE_S)
            cursor = self._db.execute("INSERT INTO owners (home, pid, until_s) VALUES (?, ?, ?)", row)
            self._owner = cursor.lastrowid or 0
        self.callback(self._sign_out)
        self._keeper.beat = self._beat

    def _sign_out(self) -> None:
        self._keeper.close()
        # The disk is full, or others write for long: the leases end by themselves.
        with suppress(sqlite3.DatabaseError), transaction(self._db):
            self._db.execute("DELETE FROM leases WHERE owner = ?", (self._owner,))
            self._db.execute("DELETE FROM owners WHERE owner = ?", (self._owner,))

    def _beat(self) -> None:
        """Refresh this process's leases; runs in another thread with its own connection."""
        now_s = self._clock()
        if not 0 <= now_s - self._beat_s < LEASE_S / 4:
            # Others write for long, or the disk is full: asking says so.
            with (
                suppress(sqlite3.DatabaseError),
                closing(sqlite3.connect(self.path, timeout=LEASE_S / 4, isolation_level=None)) as db,
            ):
                db.execute("PRAGMA synchronous=NORMAL")
                db.execute("UPDATE owners SET until_s = ? WHERE owner = ?", (now_s + LEASE_S, self._owner))
                self._beat_s = now_s
