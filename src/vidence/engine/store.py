"""Everything asked and answered: the trials of a run, and the memory of replies, in SQLite.

A row that was written survives ``kill -9`` (write-ahead log). Trials are only ever appended; of
several rows for one question and repeat the last one counts.
"""

import hashlib
import os
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Self

import msgspec

from vidence.contracts import Request
from vidence.errors import StoreError
from vidence.records import (
    Failed,
    ImagePart,
    Item,
    Prompt,
    Record,
    Reply,
    Score,
    Selection,
    TextPart,
    Trial,
)

TRIALS_FILE = "trials.sqlite"
RUN_FORMAT = "vidence-run/1"
MEMORY_FORMAT = "vidence-memory/1"

_RUN_TABLES = """
CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS items (
    position INTEGER PRIMARY KEY, item_id TEXT UNIQUE NOT NULL, json BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS selections (digest BLOB PRIMARY KEY, json BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS trials (
    seq INTEGER PRIMARY KEY AUTOINCREMENT, item_id TEXT NOT NULL, repeat INTEGER NOT NULL,
    is_failed INTEGER NOT NULL, selection BLOB, json BLOB NOT NULL);
CREATE INDEX IF NOT EXISTS trials_by_item ON trials (item_id, repeat, is_failed);
"""
_ASKED_BUT_GONE = "SELECT item_id FROM trials WHERE item_id NOT IN (SELECT item_id FROM items) LIMIT 1"
_MEMORY_TABLES = """
CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS replies (key BLOB PRIMARY KEY, json BLOB NOT NULL) WITHOUT ROWID;
"""


class _TrialRow(Record, kw_only=True):
    prompt: Prompt | None
    reply: Reply | None
    score: Score
    is_remembered: bool
    choice_order: tuple[int, ...] = ()


@contextmanager
def _translated(path: Path) -> Iterator[None]:
    """SQLite's errors as `StoreError`s that name the file and say what to do."""
    try:
        yield
    except msgspec.DecodeError as error:
        raise StoreError(f"{path}: a row is damaged: {error}; move the file and run again") from error
    except sqlite3.DatabaseError as error:
        text = str(error)
        advice = "see whether the disk is sound and the file is whole; a damaged one can be moved away"
        if "full" in text:
            advice = "make room; `vidence resume` goes on where it stopped"
        elif "locked" in text:
            advice = "another process holds it for too long; wait or stop that process"
        elif "unable to open" in text or "readonly" in text:
            advice = "check that the folder exists and may be written to"
        raise StoreError(f"{path}: {text}; {advice}") from error


@contextmanager
def _transaction(db: sqlite3.Connection) -> Iterator[None]:
    """All or nothing."""
    db.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        if db.in_transaction:  # a full disk has ended it already
            db.execute("ROLLBACK")
        raise
    db.execute("COMMIT")


def _open(path: Path, *, tables: str, file_format: str) -> sqlite3.Connection:
    """Open a file for writing, with its tables."""
    with _translated(path):
        connection = sqlite3.connect(path, timeout=30, isolation_level=None, check_same_thread=False)
        try:
            connection.execute("PRAGMA journal_mode=WAL")
            connection.execute("PRAGMA synchronous=NORMAL")
            if _format_of(connection) is None:
                with _transaction(connection):
                    for statement in filter(str.strip, tables.split(";")):
                        connection.execute(statement)
                    connection.execute("INSERT OR IGNORE INTO meta VALUES ('format', ?)", (file_format,))
            _check_format(connection, path, file_format=file_format)
        except BaseException:
            connection.close()
            raise
    return connection


def _open_to_read(path: Path, *, file_format: str) -> sqlite3.Connection:
    """Open a file that stays as it is, also while another process writes into it."""
    # Without a log beside it and without the right to make one, nobody can be writing.
    is_still = not os.access(path.parent, os.W_OK) and not path.with_name(path.name + "-wal").exists()
    address = f"{path.resolve().as_uri()}?{'immutable=1' if is_still else 'mode=ro'}"
    with _translated(path):
        connection = sqlite3.connect(address, uri=True, timeout=30, isolation_level=None)
        try:
            _check_format(connection, path, file_format=file_format)
        except BaseException:
            connection.close()
            raise
    return connection


def _format_of(connection: sqlite3.Connection) -> str | None:
    if not connection.execute("SELECT name FROM sqlite_master WHERE name = 'meta'").fetchone():
        return None
    (found,) = connection.execute("SELECT value FROM meta WHERE key = 'format'").fetchone() or (None,)
    return found


def _check_format(connection: sqlite3.Connection, path: Path, *, file_format: str) -> None:
    found = _format_of(connection)
    if found != file_format:
        raise StoreError(
            f"{path} has format {found!r}, this version of vidence reads {file_format!r}; "
            "use the version that wrote it, or start with a new file"
        )


class TrialStore:
    """The questions of one run and what came of them: ``DIR/trials.sqlite``.

    Opened for writing it holds a lock on the folder until `close`, or until the process dies.
    """

    def __init__(self, folder: Path, *, is_writer: bool = False) -> None:
        self.path = folder / TRIALS_FILE
        self._lock: sqlite3.Connection | None = None
        if not is_writer and not self.path.exists():
            raise StoreError(f"{folder} is not a run folder: {TRIALS_FILE} is missing")
        if is_writer:
            self._lock = _lock_folder(folder)
        try:
            if is_writer:
                self._db = _open(self.path, tables=_RUN_TABLES, file_format=RUN_FORMAT)
            else:
                self._db = _open_to_read(self.path, file_format=RUN_FORMAT)
        except BaseException:
            self._unlock()
            raise
        self._encoder = msgspec.json.Encoder()
        self._rows = msgspec.json.Decoder(_TrialRow)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _unlock(self) -> None:
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    def close(self) -> None:
        """Let go of the file and of the lock."""
        self._db.close()
        self._unlock()

    def put_items(self, items: Iterable[Item]) -> None:
        """Keep the questions of the run, in their order, instead of those that were there.

        Raises:
            StoreError: a question that was asked already is not among them, or one is there twice.
        """
        rows = [(i, item.item_id, self._encoder.encode(item)) for i, item in enumerate(items)]
        with _translated(self.path):
            if self._db.execute("SELECT * FROM items ORDER BY position").fetchall() == rows:
                return
            with _transaction(self._db):
                self._db.execute("DELETE FROM items")
                self._db.executemany("INSERT INTO items VALUES (?, ?, ?)", rows)
                lost = self._db.execute(_ASKED_BUT_GONE).fetchone()
                if lost is not None:
                    raise StoreError(
                        f"{self.path} holds an answer to the question {lost[0]!r}, which is not among those "
                        "to be asked now; choose another --out, or bring back what the run began with"
                    )

    def items(self) -> tuple[Item, ...]:
        """The questions of the run, in their order."""
        decoder = msgspec.json.Decoder(Item)
        with _translated(self.path):
            rows = self._db.execute("SELECT json FROM items ORDER BY position")
            return tuple(decoder.decode(json) for (json,) in rows)

    def add(self, trial: Trial) -> None:
        """Append one trial; it is on disk when this returns."""
        row = _TrialRow(
            prompt=trial.prompt,
            reply=trial.reply,
            score=trial.score,
            is_remembered=trial.is_remembered,
            choice_order=trial.choice_order,
        )
        digest: bytes | None = None
        is_failed = isinstance(trial.score.outcome, Failed)
        with _translated(self.path):
            if trial.selection is not None:
                json = self._encoder.encode(trial.selection)
                digest = hashlib.sha256(json).digest()[:16]
                self._db.execute("INSERT OR IGNORE INTO selections VALUES (?, ?)", (digest, json))
            self._db.execute(
                "INSERT INTO trials (item_id, repeat, is_failed, selection, json) VALUES (?, ?, ?, ?, ?)",
                (trial.item_id, trial.repeat, is_failed, digest, self._encoder.encode(row)),
            )

    def answered(self) -> set[tuple[str, int]]:
        """Item id and repeat of every trial that did not fail; these are never asked again."""
        with _translated(self.path):
            rows = self._db.execute("SELECT item_id, repeat FROM trials WHERE is_failed = 0")
            return {(item_id, repeat) for item_id, repeat in rows}

    def trials(self) -> Iterator[Trial]:
        """The last trial of every question and repeat, in the order of the questions."""
        selections = msgspec.json.Decoder(Selection)
        seen: dict[bytes, Selection] = {}
        query = (
            "SELECT t.item_id, t.repeat, t.selection, s.json, t.json FROM trials t "
            "JOIN items i ON i.item_id = t.item_id LEFT JOIN selections s ON s.digest = t.selection "
            "WHERE t.seq IN (SELECT MAX(seq) FROM trials GROUP BY item_id, repeat) "
            "ORDER BY i.position, t.repeat"
        )
        with _translated(self.path):
            for item_id, repeat, digest, selection_json, json in self._db.execute(query):
                if digest is not None and digest not in seen:
                    seen[digest] = selections.decode(selection_json)
                row = self._rows.decode(json)
                yield Trial(
                    item_id=item_id,
                    repeat=repeat,
                    selection=seen[digest] if digest is not None else None,
                    prompt=row.prompt,
                    reply=row.reply,
                    score=row.score,
                    is_remembered=row.is_remembered,
                    choice_order=row.choice_order,
                )


def _lock_folder(folder: Path) -> sqlite3.Connection:
    """An exclusive transaction as a lock: it works on every system and ends with the process."""
    path = folder / "lock.sqlite"
    with _translated(path):
        connection = sqlite3.connect(path, timeout=0, isolation_level=None, check_same_thread=False)
        try:
            connection.execute("BEGIN EXCLUSIVE")
        except sqlite3.DatabaseError as error:
            connection.close()
            if "locked" in str(error):
                raise StoreError(
                    f"another process is running in {folder}; wait until it ends, or choose another --out"
                ) from error
            raise
    return connection


class Memory:
    """Replies under the hash of what was asked; several runs and processes may share one file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StoreError(f"cannot make {path.parent} for the reply memory: {error}") from error
        self._db = _open(path, tables=_MEMORY_TABLES, file_format=MEMORY_FORMAT)
        self._decoder = msgspec.json.Decoder(Reply)
        self._encoder = msgspec.json.Encoder()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the file."""
        self._db.close()

    def get(self, key: bytes) -> Reply | None:
        """The reply to what was asked under this key, or None."""
        with _translated(self.path):
            row = self._db.execute("SELECT json FROM replies WHERE key = ?", (key,)).fetchone()
        return self._decoder.decode(row[0]) if row else None

    def put(self, key: bytes, reply: Reply) -> None:
        """Keep a reply; it is on disk when this returns. The first reply under a key stays."""
        with _translated(self.path):
            self._db.execute(
                "INSERT OR IGNORE INTO replies VALUES (?, ?)", (key, self._encoder.encode(reply))
            )


def memory_key(request: Request, *, identity: str, by_item: bool) -> bytes:
    """The hash of what is sent: model, way of drawing, words, exact image bytes, schema of the reply, sample.

    Names of templates, positions of frames and the id of the item (unless the model reads it) are
    not sent and do not count. The choices count where their log-probabilities are asked for.
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
    reads_choices = request.sampling.want_choice_logps or by_item
    sent: list[object] = [
        identity,
        msgspec.to_builtins(request.sampling),
        prompt.system,
        parts,
        prompt.choices if reads_choices else (),
        request.sample,
        request.item_id if by_item else "",
    ]
    if prompt.reply_schema is not None:  # only then, so that keys of prompts without one stay what they were
        sent.append({"reply_schema": prompt.reply_schema})
    return hashlib.sha256(msgspec.json.encode(sent, order="sorted")).digest()
