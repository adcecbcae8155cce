"""A run in SQLite, with its questions, trials and findings.

A written row survives ``kill -9`` (write-ahead log), and a power cut a second later. Trials and findings are
only appended; the last row for a question (and repeat) counts.
"""

import asyncio
import errno
import hashlib
import os
import re
import sqlite3
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass, replace
from itertools import zip_longest
from pathlib import Path
from typing import TypeVar

import msgspec

from vidence.contracts import Examined
from vidence.errors import StoreError, cause
from vidence.installation import packaged_text
from vidence.media.whole import make_private_file
from vidence.records import (
    Failed,
    Item,
    Prompt,
    Record,
    Reply,
    Score,
    Selection,
    SharedParts,
    Step,
    Trial,
    VideoPart,
)

RUN_FILE, PLAN_NAME, _LOCK_FILE = "run.sqlite", "plan.toml", "lock.sqlite"
SUBMISSION_FILE = "submission.jsonl"
RUN_FORMAT = "vidence-run/2"
_NOT_FAILED = ("answered", "unreadable", "refused")
_LOG_TRIES, _LOG_WAIT_S = 600, 0.05

# As bytes, since SQLite keeps no types, and a text that is none must not hide the rows beside it.
_ROW = (
    "SELECT t.seq, CAST(t.item_id AS BLOB), t.repeat, t.selection, CAST(s.json AS BLOB), "
    "CAST(t.json AS BLOB) FROM trials t LEFT JOIN selections s ON s.digest = t.selection "
)
_AFTER = f"{_ROW}WHERE t.seq > ? ORDER BY t.seq LIMIT ?"
_LAST = f"{_ROW}WHERE t.item_id = ? AND t.repeat = ? ORDER BY t.seq DESC LIMIT 1"
_LINE = "SELECT (SELECT value FROM meta WHERE key = 'line'), (SELECT COALESCE(MAX(seq), 0) FROM trials)"
_HAS_FORMAT = "SELECT name FROM sqlite_master WHERE name = 'meta'"
_FORMAT = "SELECT value FROM meta WHERE key = 'format'"
_MAKES = re.compile(r"CREATE \w+ IF NOT EXISTS (\w+)")
# What runs when a table of a stranger's file is used, such as a view without end. Ours is never read.
_PROGRAMS = (
    "SELECT type, name FROM sqlite_master WHERE type IN ('view', 'trigger') AND name != 'verdicts' LIMIT 1"
)
_ASKED_BUT_GONE = "SELECT item_id FROM trials WHERE item_id NOT IN (SELECT item_id FROM items) LIMIT 1"
_MUST_AGREE = ("version", "options", "plan_digest", "content_hash", "model_identities", "prompts_digest")


DecodedT = TypeVar("DecodedT")
RowT = TypeVar("RowT", "TrialRow", "BriefRow")
# Nothing was written yet, or so many files are open that this one has to wait.
_LATER = (errno.ENOENT, errno.EMFILE, errno.ENFILE)
_NOTHING = msgspec.Raw(b"null")


class TrialRow(Record):
    """A trial without its ids and selection, which have columns of their own."""

    prompt: Prompt | None
    reply: Reply | None
    score: Score
    is_remembered: bool
    choice_order: tuple[int, ...] = ()
    steps: tuple[Step, ...] = ()

    def trial(self, item_id: str, repeat: int, selection: Selection | None) -> Trial:
        """Return the complete trial."""
        return Trial(item_id=item_id, repeat=repeat, selection=selection, **msgspec.structs.asdict(self))


class _BriefText(msgspec.Struct, tag="text"):
    """Text of a prompt, skipped when reading."""


class _Picture(msgspec.Struct, tag="image"):
    """An image of a prompt, skipped when reading."""


class _BriefPrompt(msgspec.Struct):
    parts: tuple[_BriefText | _Picture | VideoPart, ...]
    template: str = ""


class BriefRow(msgspec.Struct):
    """A `TrialRow` whose prompt has only the template and the videos."""

    prompt: _BriefPrompt | None
    reply: Reply | None
    score: Score
    is_remembered: bool
    choice_order: tuple[int, ...] = ()
    steps: tuple[Step, ...] = ()

    def trial(self, item_id: str, repeat: int, selection: Selection | None) -> Trial:
        """Return the trial without the text of its prompt."""
        prompt = None
        if self.prompt is not None:
            videos = tuple(part for part in self.prompt.parts if isinstance(part, VideoPart))
            prompt = Prompt(parts=videos, template=self.prompt.template)
        given = msgspec.structs.asdict(self) | {"prompt": prompt}
        return Trial(item_id=item_id, repeat=repeat, selection=selection, **given)


class FindingRow(Record):
    """A diagnostic's finding on one question, or why there is none."""

    finding: msgspec.Raw = _NOTHING
    failed: Failed | None = None


@dataclass(frozen=True, kw_only=True)
class Stored:
    """A row of trials; `seq` increases with every row. A damaged row has no `trial`, but a `problem`."""

    seq: int
    item_id: str
    repeat: int
    trial: Trial | None = None
    problem: str = ""


class Header(Record):
    """What a diagnostic's findings are about; findings with equal headers can be combined."""

    format: str = "vidence-findings/1"
    diagnostic: str
    version: int
    options: dict[str, str]
    plan_digest: str
    content_hash: str
    model_identities: dict[str, str]
    prompts_digest: str
    started_at: str = ""


def diagnosis_name(name: str, options: Mapping[str, str]) -> str:
    """Return the name under which a diagnostic with these options stores its findings.

    >>> diagnosis_name("mrfs", {"max": "8"})
    'mrfs-max-8'
    """
    words = "".join(f"-{key}-{value}" for key, value in sorted(options.items()))
    clean = "".join(c if c.isalnum() or c in "._-" else "_" for c in words)
    return name + clean[:80]


def log_of(path: Path) -> Path:
    """Return the write-ahead log of a store.

    >>> log_of(Path("run.sqlite")).name
    'run.sqlite-wal'
    """
    return path.with_name(path.name + "-wal")


class LogSync:
    """Syncs a store's log to disk every `EVERY_S` seconds, in a thread of its own.

    Syncing at every row would wait for the disk twice per question. The end of a process loses nothing, and a
    power cut loses what was written in the last `EVERY_S` seconds. The thread starts at the first `check`.
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
        """Start the thread if it is not running.

        Raises:
            StoreError: the log could not be synced.
        """
        if self._error is not None:
            raise StoreError(f"{self._log} could not be written to the disk: {self._error}; check the disk")
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
        """Sync the log if it has changed; return its size and time at the start."""
        if self._file is None:
            try:
                self._file = os.open(self._log, os.O_RDWR | getattr(os, "O_BINARY", 0))
            except OSError as error:
                if error.errno in _LATER:
                    return before
                raise
        fstat = os.fstat(self._file)
        now = (fstat.st_size, fstat.st_mtime_ns)
        if now != before:
            os.fsync(self._file)
        return now


@contextmanager
def translated(path: Path) -> Iterator[None]:
    """Convert SQLite's errors to `StoreError`s that name the file and say what to do."""
    try:
        yield
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
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


def decoded(decoder: msgspec.json.Decoder[DecodedT], json: object) -> DecodedT:
    """Decode the JSON in a cell.

    Raises:
        msgspec.DecodeError: it is damaged; SQLite does not enforce types.
    """
    if not isinstance(json, str | bytes):
        raise msgspec.DecodeError(f"expected JSON, found {json!r}")
    return decoder.decode(json)


def _stored(
    row: tuple[int, object, object, object, object, object],
    selections: msgspec.json.Decoder[Selection],
    rows: "msgspec.json.Decoder[RowT]",
) -> Stored:
    """Convert a row; a damaged one gets a `problem`."""
    seq, name, repeat, digest, selection_json, json = row
    item_id = name.decode(errors="replace") if isinstance(name, bytes) else repr(name)
    whole = Stored(seq=seq, item_id=item_id, repeat=repeat if isinstance(repeat, int) else 0)
    try:
        selection = None if digest is None else decoded(selections, selection_json)
        trial = decoded(rows, json).trial(item_id, whole.repeat, selection)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        return replace(whole, problem=f"the row is damaged: {error}")
    return replace(whole, trial=trial)


@contextmanager
def transaction(db: sqlite3.Connection) -> Iterator[None]:
    """All or nothing; nested transactions join the outer one."""
    is_inside = db.in_transaction
    if is_inside:
        yield
        return
    db.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        if db.in_transaction:  # a full disk has ended it already
            db.execute("ROLLBACK")
        raise
    db.execute("COMMIT")


class TurnWriter:
    """Writes all rows of one turn of the event loop in one transaction, at the end of the turn.

    A transaction costs as much as the rest of a row. Outside a loop, rows are written at once.
    """

    def __init__(self, db: sqlite3.Connection, path: Path) -> None:
        self._db = db
        self._path = path
        self._rows: list[tuple[str, tuple[object, ...]]] = []
        self._error: StoreError | None = None

    @property
    def is_idle(self) -> bool:
        """Whether everything is written."""
        return not self._rows

    def add(self, statement: str, row: tuple[object, ...]) -> None:
        """Queue a row.

        Raises:
            StoreError: an earlier row could not be written.
        """
        self._check()
        self._rows.append((statement, row))
        if len(self._rows) == 1:
            try:
                asyncio.get_running_loop().call_soon(self._end_turn)
            except RuntimeError:
                self.flush()

    def flush(self) -> None:
        """Write all queued rows.

        Raises:
            StoreError: a row cannot be written.
        """
        self._check()
        rows, self._rows = self._rows, []
        if rows:
            with translated(self._path), transaction(self._db):
                for statement, row in rows:
                    self._db.execute(statement, row)

    def _end_turn(self) -> None:
        try:
            self.flush()
        except StoreError as error:  # there is nobody to tell now
            self._error = error

    def _check(self) -> None:
        if self._error is not None:
            raise self._error


@contextmanager
def opened_file(path: Path, *, file_format: str, tables: str = "") -> Iterator[sqlite3.Connection]:
    """Open a file with the tables of an SQL file; without that, as it is, shared with other writers."""
    address = str(path)
    if not tables:
        # Without a log beside it and without the right to make one, nobody can be writing.
        is_still = not os.access(path.parent, os.W_OK) and not path.with_name(path.name + "-wal").exists()
        address = f"{path.resolve().as_uri()}?{'immutable=1' if is_still else 'mode=ro'}"
    with translated(path):
        if tables:
            _make_file(path)
        db = sqlite3.connect(
            address, uri=not tables, timeout=30, isolation_level=None, check_same_thread=not tables
        )
    with closing(db):
        with translated(path):
            if tables:
                _keep_log(db)
                db.execute("PRAGMA synchronous=NORMAL")
            if program := db.execute(_PROGRAMS).fetchone():
                raise StoreError(
                    f"{path} holds a {program[0]}, {program[1]!r}, which would run when it is used and which "
                    "vidence never writes; use the original file"
                )
            has_format = db.execute(_HAS_FORMAT).fetchone() is not None
            row = db.execute(_FORMAT).fetchone() if has_format else None
            # An earlier version may have made the file without tables that were added since.
            if tables and (not has_format or row == (file_format,)):
                text = packaged_text("vidence.engine", tables)
                known = {name for (name,) in db.execute("SELECT name FROM sqlite_master")}
                if not known.issuperset(_MAKES.findall(text)):
                    with transaction(db):
                        for statement in filter(str.strip, text.split(";")):
                            db.execute(statement)
                        db.execute("INSERT OR IGNORE INTO meta VALUES ('format', ?)", (file_format,))
                    row = db.execute(_FORMAT).fetchone()
        file = row[0] if row else None
        if file != file_format:
            raise StoreError(
                f"{path} has format {file!r}, this version of vidence reads {file_format!r}; use the version "
                "that wrote it, or a new file"
            )
        yield db


def _make_file(path: Path) -> None:
    """Create the file, private to this user as its log will be."""
    try:
        make_private_file(path)
    except OSError as error:
        raise StoreError(
            f"{path}: cannot be made ({cause(error)}); check that the folder exists and may be written to"
        ) from error


def _refuse_links(folder: Path) -> None:
    """Reject symbolic links in a run folder, which may come from another user.

    Raises:
        StoreError: the folder contains a link.
    """
    try:
        links = sorted(entry.name for entry in os.scandir(folder) if entry.is_symlink())
    except OSError:  # whoever writes into it says so
        return
    if links:
        raise StoreError(
            f"{folder / links[0]} is a link, which would write outside the run folder; remove it"
        )


def _keep_log(db: sqlite3.Connection) -> None:
    """Switch to a write-ahead log; SQLite does not wait here while another process creates the file."""
    for _ in range(_LOG_TRIES - 1):
        try:
            db.execute("PRAGMA journal_mode=WAL")
        except sqlite3.OperationalError as error:
            if "locked" not in str(error):
                raise
            time.sleep(_LOG_WAIT_S)
        else:
            return
    db.execute("PRAGMA journal_mode=WAL")


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Hold an exclusive transaction as a folder lock; it works on every system and ends with the process."""
    path = folder / _LOCK_FILE
    is_ours = False
    while not is_ours:
        with translated(path):
            _make_file(path)
            db = sqlite3.connect(path, timeout=0, isolation_level=None, check_same_thread=False)
            before = _identity(path)
            try:
                db.execute("BEGIN EXCLUSIVE")
            except sqlite3.DatabaseError as error:
                db.close()
                if "locked" in str(error):
                    raise StoreError(
                        f"another process works in {folder}; wait until it ends, or choose another --out"
                    ) from error
                raise
        is_ours = before is not None and before == _identity(path)
        if not is_ours:
            db.close()  # whoever held it has removed the file meanwhile: it locks nothing
    with closing(db):
        try:
            yield
        finally:
            with suppress(OSError):  # some systems keep a file that is open
                path.unlink()


def is_in_use(folder: Path) -> bool:
    """Whether a process works in a run folder; a killed process leaves its file but no lock."""
    path = folder / _LOCK_FILE
    try:
        with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True, timeout=0)) as db:
            db.execute(_HAS_FORMAT).fetchone()
    except sqlite3.OperationalError as error:  # there need not be a lock
        return "locked" in str(error)
    return False


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        stat = path.stat()
    except FileNotFoundError:
        return None
    return stat.st_dev, stat.st_ino


class RunStore(ExitStack):
    """A run's questions, trials and findings: ``DIR/run.sqlite``.

    Opened for writing, it locks the folder until it is closed or the process ends; there is then this one
    file only. Also a context manager, with a `close`.
    """

    def __init__(self, folder: Path, *, is_writer: bool = False) -> None:
        super().__init__()
        self.path = folder / RUN_FILE
        if not self.path.exists() and not is_writer:
            raise StoreError(f"{folder} is not a run folder: {RUN_FILE} is missing")
        with ExitStack() as opening:
            if is_writer:
                _refuse_links(folder)
                opening.enter_context(_locked(folder))
            tables = "run.sql" if is_writer else ""
            self._file = opening.enter_context(opened_file(self.path, file_format=RUN_FORMAT, tables=tables))
            self._writer = TurnWriter(self._file, self.path)
            self._kept: set[bytes] = set()
            if is_writer:
                opening.callback(self._end_log)
            self._keeper = LogSync(log_of(self.path))
            opening.callback(self._keeper.close)
            opening.callback(self._writer.flush)
            self.push(opening.pop_all())

    @property
    def _db(self) -> sqlite3.Connection:
        self._writer.flush()
        return self._file

    def _end_log(self) -> None:
        with suppress(sqlite3.DatabaseError):  # somebody reads, or the disk is full: the log stays
            self._db.execute("PRAGMA busy_timeout = 0")
            self._db.execute("PRAGMA journal_mode = DELETE")

    @staticmethod
    def _json(value: object) -> str:
        return msgspec.json.encode(value).decode()

    def put_items(self, items: Sequence[Item]) -> None:
        """Replace the run's questions, in order.

        Raises:
            StoreError: a question that was asked is missing, or a question occurs twice.
        """

        def rows() -> Iterator[tuple[int, str, str]]:
            return ((i, item.item_id, self._json(item)) for i, item in enumerate(items))

        with translated(self.path):
            kept = self._db.execute("SELECT position, item_id, json FROM items ORDER BY position")
            if all(ours == theirs for ours, theirs in zip_longest(rows(), kept)):
                return
            with transaction(self._db):
                self._db.execute("DELETE FROM items")
                self._db.executemany("INSERT INTO items (position, item_id, json) VALUES (?, ?, ?)", rows())
                if (lost := self._db.execute(_ASKED_BUT_GONE).fetchone()) is not None:
                    raise StoreError(
                        f"{self.path} holds an answer to the question {lost[0]!r}, which is not asked now; "
                        "choose another --out, or restore the questions that the run began with"
                    )

    def items(self) -> tuple[Item, ...]:
        """Return the run's questions, in order."""
        decoder = msgspec.json.Decoder(Item)
        with translated(self.path):
            rows = self._db.execute("SELECT json FROM items ORDER BY position")
            sharing = SharedParts()
            return tuple(sharing.item(decoded(decoder, json)) for (json,) in rows)

    def add(self, trial: Trial) -> None:
        """Append a trial; it survives the end of the process once this turn of the event loop is over.

        A power cut may lose those of the last `LogSync.EVERY_S` seconds; they are asked again, from the reply
        cache if it has them.
        """
        self._keeper.check()
        digest: bytes | None = None
        if trial.selection is not None:
            json = self._json(trial.selection)
            digest = hashlib.sha256(json.encode()).digest()[:16]
            if digest not in self._kept:
                self._kept.add(digest)
                self._writer.add("INSERT OR IGNORE INTO selections VALUES (?, ?)", (digest, json))
        row = TrialRow(**{name: getattr(trial, name) for name in TrialRow.__struct_fields__})
        self._writer.add(
            "INSERT INTO trials (item_id, repeat, selection, json) VALUES (?, ?, ?, ?)",
            (trial.item_id, trial.repeat, digest, self._json(row)),
        )

    def answered(self) -> set[tuple[str, int]]:
        """Return item id and repeat of every trial that did not fail; these are never asked again."""
        with translated(self.path):
            rows = self._db.execute(
                "SELECT item_id, repeat FROM trials WHERE outcome IN (?, ?, ?)", _NOT_FAILED
            )
            return {(item_id, repeat) for item_id, repeat in rows}

    def n_stored(self) -> dict[tuple[str, int], int]:
        """Return how often each trial was stored: once, and again for every retry or judgement."""
        with translated(self.path):
            rows = self._db.execute("SELECT item_id, repeat, COUNT(*) FROM trials GROUP BY item_id, repeat")
            return {(item_id, repeat): n for item_id, repeat, n in rows}

    def trials(self, *, are_brief: bool = False) -> Iterator[Trial]:
        """Yield the last trial of every question and repeat, in the order of the questions.

        Args:
            are_brief: load only the template and the videos of prompts, which many trials share; `prompts`
                loads the rest.
        """
        selections = msgspec.json.Decoder(Selection)
        brief, whole = msgspec.json.Decoder(BriefRow), msgspec.json.Decoder(TrialRow)
        seen: dict[bytes, Selection] = {}
        scores: dict[Score, Score] = {}
        briefs: dict[Prompt, Prompt] = {}
        query = (
            "SELECT t.item_id, t.repeat, t.selection, s.json, t.json FROM trials t "
            "JOIN items i ON i.item_id = t.item_id LEFT JOIN selections s ON s.digest = t.selection "
            "WHERE t.seq IN (SELECT MAX(seq) FROM trials GROUP BY item_id, repeat) "
            "ORDER BY i.position, t.repeat"
        )
        with translated(self.path):
            for item_id, repeat, digest, selection_json, json in self._db.execute(query):
                if digest is not None and digest not in seen:
                    seen[digest] = decoded(selections, selection_json)
                if not isinstance(item_id, str) or not isinstance(repeat, int):
                    raise msgspec.DecodeError(
                        f"expected a question and a number, found {item_id!r}, {repeat!r}"
                    )
                row = decoded(brief, json) if are_brief else decoded(whole, json)
                trial = row.trial(item_id, repeat, seen[digest] if digest is not None else None)
                prompt, score = trial.prompt, trial.score
                if are_brief and prompt is not None:
                    prompt = briefs.setdefault(prompt, prompt)
                yield msgspec.structs.replace(trial, prompt=prompt, score=scores.setdefault(score, score))

    def rows_after(self, seq: int, n: int) -> list[Stored]:
        """Return up to `n` rows added after a sequence number, in order, with brief prompts.

        Each row is decoded separately; damaged rows carry a problem.

        Args:
            seq: 0 for all.
            n: the maximum number.
        """
        selections, rows = msgspec.json.Decoder(Selection), msgspec.json.Decoder(BriefRow)
        with translated(self.path):
            return [_stored(row, selections, rows) for row in self._db.execute(_AFTER, (seq, n)).fetchall()]

    def trial(self, item_id: str, repeat: int = 0) -> Stored | None:
        """Return the last trial of one question with its full prompt; None before the first."""
        with translated(self.path):
            row = self._db.execute(_LAST, (item_id, repeat)).fetchone()
        if row is None:
            return None
        return _stored(row, msgspec.json.Decoder(Selection), msgspec.json.Decoder(TrialRow))

    def item(self, item_id: str) -> Item | None:
        """Return a question of the run, with choices in their own order; None if it is not in the run."""
        with translated(self.path):
            row = self._db.execute("SELECT json FROM items WHERE item_id = ?", (item_id,)).fetchone()
            return None if row is None else decoded(msgspec.json.Decoder(Item), row[0])

    def line(self) -> tuple[str | None, int]:
        """Return the summary cached for lists of runs, and a number that grows with every stored trial."""
        with translated(self.path):
            kept, last_trial = self._db.execute(_LINE).fetchone()
        return kept, last_trial

    def keep_line(self, text: str) -> None:
        """Cache the summary for lists of runs."""
        with translated(self.path):
            self._db.execute("INSERT OR REPLACE INTO meta VALUES ('line', ?)", (text,))

    def prompts(self, asked: Iterable[tuple[str, int]]) -> dict[tuple[str, int], Prompt | None]:
        """Return the prompts of the last trials of these questions, by item id and repeat."""
        rows = msgspec.json.Decoder(TrialRow)
        query = "SELECT json FROM trials WHERE item_id = ? AND repeat = ? ORDER BY seq DESC LIMIT 1"
        with translated(self.path):
            prompts = {pair: self._db.execute(query, pair).fetchone() for pair in asked}
            return {pair: decoded(rows, row[0]).prompt for pair, row in prompts.items() if row is not None}

    def begin_diagnosis(self, name: str, header: Header) -> None:
        """Prepare to store findings under this name.

        Raises:
            StoreError: the name holds findings of something else.
        """
        with translated(self.path):
            self._db.execute("INSERT OR IGNORE INTO diagnoses VALUES (?, ?)", (name, self._json(header)))
        result = self.header(name)
        for field in _MUST_AGREE:
            if getattr(result, field) != getattr(header, field):
                raise StoreError(
                    f"{self.path} holds findings of {name} with another {field.replace('_', ' ')} "
                    f"({getattr(result, field)!r}, now {getattr(header, field)!r}); choose another folder "
                    "with --out"
                )

    def header(self, name: str) -> Header:
        """Return the header of the findings under this name.

        Raises:
            StoreError: there are none.
        """
        with translated(self.path):
            row = self._db.execute("SELECT header FROM diagnoses WHERE name = ?", (name,)).fetchone()
            if row is None:
                raise StoreError(f"{self.path} holds no findings of {name}; run `vidence diagnose` first")
            return decoded(msgspec.json.Decoder(Header), row[0])

    def diagnoses(self) -> dict[str, Header]:
        """Return the headers of this run's findings, by name."""
        with translated(self.path):
            rows = self._db.execute("SELECT name, header FROM diagnoses ORDER BY name").fetchall()
            return {name: msgspec.json.decode(header, type=Header) for name, header in rows}

    def add_finding(self, name: str, examined: Examined) -> None:
        """Append a finding; it survives the end of the process.

        A power cut may lose the last ones, as with `add`; they are then examined again.
        """
        self._keeper.check()
        if isinstance(examined.finding, Failed):
            row = FindingRow(failed=examined.finding)
        else:
            row = FindingRow(finding=msgspec.Raw(msgspec.json.encode(examined.finding)))
        with translated(self.path):
            self._db.execute(
                "INSERT INTO findings (diagnosis, item_id, json) VALUES (?, ?, ?)",
                (name, examined.item.item_id, self._json(row)),
            )

    def finding(self, name: str, item_id: str, finding: type[Record]) -> Record | Failed | None:
        """Return the last finding on a question; None if it was not examined. Arguments as for `findings`."""
        query = "SELECT json FROM findings WHERE diagnosis = ? AND item_id = ? ORDER BY seq DESC LIMIT 1"
        with translated(self.path):
            result = self._db.execute(query, (name, item_id)).fetchone()
            if result is None:
                return None
            row = decoded(msgspec.json.Decoder(FindingRow), result[0])
            return row.failed or msgspec.json.decode(row.finding, type=finding)

    def findings(self, name: str, finding: type[Record]) -> dict[str, Examined]:
        """Return the last finding on every examined question, by item id, in the order of the questions.

        Args:
            name: as from `diagnosis_name`.
            finding: the diagnostic's finding type.
        """
        rows = msgspec.json.Decoder(FindingRow)
        query = (
            "SELECT i.item_id, f.json FROM findings f JOIN items i ON i.item_id = f.item_id "
            "WHERE f.seq IN (SELECT MAX(seq) FROM findings WHERE diagnosis = ? GROUP BY item_id) "
            "ORDER BY i.position"
        )
        items = {item.item_id: item for item in self.items()}
        findings: dict[str, Examined] = {}
        with translated(self.path):
            for item_id, json in self._db.execute(query, (name,)):
                row = decoded(rows, json)
                value = row.failed or msgspec.json.decode(row.finding, type=finding)
                findings[item_id] = Examined(item=items[item_id], finding=value)
        return findings
