"""Migrate, back up and check the database."""

import os
import re
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec

from vidence.errors import StoreError, UsageError, cause
from vidence.media.whole import PRIVATE, remove_leftovers, whole_file
from vidence.records import Record
from vidence.studio.database import LOCK_FILE, OTHERS, SQLITE_FILE
from vidence.studio.settings import current, new_secret

if TYPE_CHECKING:
    from django.db.backends.base.base import BaseDatabaseWrapper

KEYS: Final = "keys"
BACKUPS: Final = "backups"
_COPY: Final = "copy"
_LOCK: Final = "lock"
_PREFIX: Final = "studio_"
NETWORKS: Final = frozenset(
    {
        "9p",
        "afs",
        "beegfs",
        "ceph",
        "cifs",
        "davfs",
        "glusterfs",
        "gpfs",
        "lustre",
        "ncpfs",
        "nfs",
        "nfs4",
        "rclone",
        "s3fs",
        "smb3",
        "smbfs",
        "sshfs",
    }
)
"""File systems of other machines."""
_FIELDS_OF_MOUNTS: Final = 3
_OCTAL: Final = re.compile(r"\\([0-7]{3})")
_PRAGMAS: Final = ("journal_mode", "synchronous", "foreign_keys")


def secret_of(data: Path) -> bytes:
    """Return the key that signs a team's sessions, from its folder; create it on first use.

    Raises:
        StoreError: others than the owner may read it, or it is too short.
    """
    path = data / KEYS / "secret"
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        try:
            handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        except FileExistsError:
            pass
        else:
            with os.fdopen(handle, "wb") as file:
                file.write(new_secret())
        for entry in (path.parent, path):
            if os.name == "posix" and entry.stat().st_mode & OTHERS:
                raise StoreError(f"others can read {entry}; expected its owner only: chmod go-rwx {entry}")
        result = path.read_bytes()
    except OSError as error:
        raise StoreError(f"the key of the studio cannot be saved in {path}: {cause(error)}") from error
    if len(result) < len(new_secret()):
        raise StoreError(f"{path} is too short; delete it; everyone then has to sign in again")
    return result


def kind_of_disk(path: Path, mounts: str) -> str:
    """Return the file system type of a path, from ``/proc/self/mounts``; empty if unknown.

    >>> said = ["a / ext4 rw 0 0", "b:/x /srv/lab nfs4 rw 0 0", "c /srv/la tmpfs rw 0 0"]
    >>> kind_of_disk(Path("/srv/lab/team"), chr(10).join(said))
    'nfs4'
    """
    entries = [line.split(" ")[1:3] for line in mounts.splitlines() if line.count(" ") >= _FIELDS_OF_MOUNTS]
    above = {Path(_OCTAL.sub(lambda match: chr(int(match[1], 8)), where)): kind for where, kind in entries}
    return next((above[entry] for entry in (path, *path.parents) if entry in above), "")


def refuse_unsafe_folder(data: Path, *, has_database: bool, mounts: Path = Path("/proc/self/mounts")) -> None:
    """Check that a team's studio can keep its database in a folder.

    Args:
        data: the folder, which is there.
        has_database: whether SQLite is kept in it, which takes locks that networks do not keep.
        mounts: which disks there are; where it is absent nothing is said of networks.

    Raises:
        StoreError: it cannot be written, or it lies on a network.
    """
    if not os.access(data, os.W_OK | os.X_OK):
        raise StoreError(
            f"{data} is not writable: it is mounted read-only, or belongs to another user; a team's "
            "studio writes into it, so take another folder (vidence view only reads)"
        )
    kind = kind_of_disk(data.resolve(), mounts.read_text(encoding="utf-8")) if mounts.is_file() else ""
    if has_database and kind.removeprefix("fuse.") in NETWORKS:
        raise StoreError(
            f"{data} lies on a network ({kind}), where SQLite's locks do not hold and saves can be lost; "
            "take a folder on a disk of this machine, or Postgres (--database)"
        )


def migrate() -> None:
    """Migrate the configured studio's database, including the index of runs.

    All migrations that are to be done are one transaction: what ends in the middle leaves the old tables.

    Raises:
        StoreError: it cannot be written, or was made by a later version.
    """
    from django.db import DatabaseError, connection

    try:
        refuse_unsafe_database(connection)
        with _alone(connection):
            _migrate(connection)
    except DatabaseError as error:
        raise StoreError(f"the database of the studio cannot be used: {error}") from error


def overwrite_removed() -> None:
    """Purge deleted data from an SQLite file; call it after the transaction.

    Removed rows are overwritten (``secure_delete``), but the journal has them until it is written back.
    """
    from django.db import connection

    if connection.vendor == "sqlite" and not connection.in_atomic_block:
        with connection.cursor() as cursor:
            cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def _migrate(connection: "BaseDatabaseWrapper") -> None:
    from django.db.migrations.executor import MigrationExecutor

    from vidence.studio.records.index import make_tables
    from vidence.studio.seals import guard

    executor = MigrationExecutor(connection)
    known = set(executor.loader.disk_migrations)
    later = sorted(name for name in executor.loader.applied_migrations if name not in known)
    if later:
        raise StoreError(f"the database was brought to {'.'.join(later[-1])!r} by a later vidence; update it")
    if executor.migration_plan(executor.loader.graph.leaf_nodes()):
        _migrate_whole(connection)
    make_tables()
    guard(connection)


@contextmanager
def _alone(connection: "BaseDatabaseWrapper") -> Iterator[None]:
    """Serialise processes: if two start together, the second finds everything done.

    An immediate transaction of a file beside the database is the lock; it ends with the process.
    """
    if connection.vendor != "sqlite" or connection.is_in_memory_db():
        yield
        return
    from django.db import transaction

    path = current().settings.data / LOCK_FILE
    with _opened(path, alias=_LOCK, transaction_mode="IMMEDIATE"), transaction.atomic(_LOCK):
        yield


def _migrate_whole(connection: "BaseDatabaseWrapper") -> None:
    """Apply all pending migrations, or none.

    Django does one migration after the other, and notes the one that makes an index after it has committed
    it: ended in between, the next start would make tables that are there. SQLite ignores a change of its
    checks inside a transaction, so they are put off before it; Django checks at the end of each migration.
    Rows get a new seal, but those that were changed by hand.
    """
    from django.core.management import call_command
    from django.db import transaction

    from vidence.studio import audit, seals

    is_off = connection.disable_constraint_checking()
    try:
        with transaction.atomic():
            is_sealed = seals.SEALS in connection.introspection.table_names()
            changed = seals.changed_rows(connection) if is_sealed else {}
            seals.unguard(connection)
            call_command("migrate", interactive=False, verbosity=0)
            seals.guard(connection)
            n_rows = seals.seal_all(connection, but=changed)
            if n_rows and not is_sealed:
                audit.note(seals.FIRST, details={"n_rows": n_rows})
    finally:
        if is_off:
            connection.enable_constraint_checking()


def mode_of(connection: "BaseDatabaseWrapper") -> dict[str, str]:
    """Return SQLite's durability settings; empty for other databases."""
    if connection.vendor != "sqlite":
        return {}
    with connection.cursor() as cursor:
        result = {}
        for name in _PRAGMAS:
            cursor.execute(f"PRAGMA {name}")
            result[name] = str(cursor.fetchone()[0])
    return result


def refuse_unsafe_database(connection: "BaseDatabaseWrapper") -> None:
    """Check that a database is durable, and that writers wait for each other.

    Raises:
        StoreError: SQLite could not be set so (a network disk, as a rule).
    """
    if connection.vendor != "sqlite":
        return
    mode = mode_of(connection)
    wanted = {"journal_mode": "wal", "synchronous": "2", "foreign_keys": "1"}
    if mode != wanted or connection.transaction_mode != "IMMEDIATE":
        raise StoreError(
            f"SQLite says {mode}; expected {wanted}: its folder may lie on a network disk, take a local one"
        )


class Copied(Record):
    """A copy of the database. `unsure` says why it is unchecked, `content` is the hash of all its rows."""

    path: Path
    n_rows: dict[str, int]
    unsure: tuple[str, ...] = ()
    content: str = ""

    def __str__(self) -> str:
        """Return a summary in one line."""
        message = "NOT checked" if self.unsure else f"checked, content {self.content}"
        return f"{self.path}: {sum(self.n_rows.values()):,} rows in {len(self.n_rows)} tables, {message}"


def backup(data: Path, *, to: Path | None, at: datetime) -> Copied:
    """Copy the database while it is in use, and check the copy.

    Args:
        data: the folder of the studio.
        to: the file of the copy; by default one in ``backups`` whose name is the time.
        at: now.

    Raises:
        UsageError: the database is no SQLite, or the file is there.
        StoreError: it cannot be written, or the copy is not sound.
    """
    from django.db import DatabaseError, connection

    if connection.vendor != "sqlite":
        raise UsageError("the database is Postgres: copy it with pg_dump")
    path = to or data / BACKUPS / f"studio-{at:%Y%m%dT%H%M%S_%fZ}.sqlite3"
    if path.exists():
        raise UsageError(f"{path} already exists; expected a new file")
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with whole_file(path, mode=PRIVATE, is_durable=True) as part:
            with connection.cursor() as cursor:
                cursor.execute("VACUUM INTO %s", [str(part)])
            return _checked(part, name=path)
    except (DatabaseError, OSError) as error:
        raise StoreError(f"{path} cannot be written: {cause(error)}") from error


def _checked(path: Path, *, name: Path) -> Copied:
    """Check that a copy is an intact studio database with rows as the studio wrote them.

    Args:
        path: the copy.
        name: what the user calls it.

    Raises:
        StoreError: it is not sound.
    """
    from django.db import DatabaseError

    from vidence.studio import seals

    content = ""
    unsure = [f"{name} has no seals, as if an earlier version made it: edits by hand cannot be detected"]
    try:
        with _opened(path) as copy:
            if faults := [*_sound(copy)]:
                raise StoreError(f"the copy {name} is damaged: {faults[0]}")
            n_rows = count_tables(copy)
            if seals.SEALS in copy.introspection.table_names():
                unsure = [*seals.changed_rows(copy).values()]
                content = seals.content_of(copy)
    except DatabaseError as error:
        raise StoreError(f"{name} is not a copy of a studio: {error}") from error
    if not n_rows:
        raise StoreError(f"{name} is not a copy of a studio: it has none of its tables")
    return Copied(path=name, n_rows=n_rows, unsure=tuple(unsure), content=content)


def without_studio(folder: Path) -> None:
    """Check that a folder holds no studio; what a killed `restore` left in it is removed.

    Raises:
        UsageError: it does, or it holds something else.
    """
    if folder.is_dir():
        remove_leftovers(folder)
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageError(f"{folder} is not empty; expected a new or empty folder")


def restore(folder: Path, copy: Path) -> Copied:
    """Restore a studio from a backup, and check it completely.

    The configured studio lies in a folder of its own; its database moves into `folder` in the end. A row that
    was changed by hand stays without its seal, so that each later `verify` names it, too.

    Args:
        folder: the folder of the studio, which has no database yet.
        copy: what `backup` wrote.

    Raises:
        StoreError: the copy is none, or is damaged.
    """
    from django.db import connection

    there = current().settings.data / SQLITE_FILE
    try:
        with whole_file(there, mode=PRIVATE, is_durable=True) as part:
            shutil.copyfile(copy, part)
    except OSError as error:
        raise StoreError(f"{there} cannot be written: {cause(error)}") from error
    try:
        done = _checked(there, name=copy)
        migrate()
        unsure = done.unsure or tuple(verify())
    finally:
        connection.close()
    there.replace(folder / SQLITE_FILE)
    return msgspec.structs.replace(done, path=folder / SQLITE_FILE, unsure=unsure)


def count_tables(connection: "BaseDatabaseWrapper") -> dict[str, int]:
    """Return the number of rows of each sealed table, in a database of any version."""
    from vidence.studio.seals import sealed_tables

    tables: dict[str, int] = {}
    with connection.cursor() as cursor:
        for name in sealed_tables(connection):
            cursor.execute(f"SELECT COUNT(*) FROM {connection.ops.quote_name(name)}")  # noqa: S608 - a name
            tables[name.removeprefix(_PREFIX)] = cursor.fetchone()[0]
    return tables


def newest_copy(data: Path) -> Path | None:
    """Return the newest backup in the folder, by name; None if it is empty."""
    return max((data / BACKUPS).glob("studio-*.sqlite3"), default=None)


def check_copy(path: Path, *, by: str) -> str:
    """Open and read a copy completely, and log the result; return the fault, or empty.

    Args:
        path: the copy.
        by: the pseudonym of whoever wants to know.
    """
    from vidence.studio import audit

    fault, n_rows = "", 0
    try:
        copied = _checked(path, name=path)
        n_rows, fault = sum(copied.n_rows.values()), "; ".join(copied.unsure[:1])
    except StoreError as error:
        fault = str(error)
    details = {"fault": fault, "n_rows": n_rows}
    audit.note("copy-damaged" if fault else "copy-sound", by=by, about=path.name, details=details)
    return fault


@contextmanager
def _opened(path: Path, *, alias: str = _COPY, **more: str) -> Iterator["BaseDatabaseWrapper"]:
    """Open a second database of the same kind temporarily."""
    from django.db import connections

    bare = {**connections.databases["default"], "NAME": path}
    connections.databases[alias] = {**bare, "OPTIONS": {"timeout": 20, **more}}
    try:
        yield connections[alias]
    finally:
        connections[alias].close()
        del connections[alias]
        del connections.databases[alias]


def verify() -> Iterator[str]:
    """Yield the database's faults: damage, rows changed by hand, broken chains, wrong states."""
    from django.db import connection

    from vidence.studio.seals import changed_rows

    if faults := [*_sound(connection), *changed_rows(connection).values()]:
        yield from faults  # what is derived from such rows says nothing
        return
    yield from _chains()
    yield from _items()


def _sound(connection: "BaseDatabaseWrapper") -> Iterator[str]:
    if connection.vendor != "sqlite":
        return
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA integrity_check")
        yield from (str(row[0]) for row in cursor.fetchall() if row[0] != "ok")
        cursor.execute("PRAGMA foreign_key_check")
        yield from (
            f"{row[0]}, row {row[1]}: refers to a missing row of {row[2]}" for row in cursor.fetchall()
        )


def _chains() -> Iterator[str]:
    from vidence.studio import audit
    from vidence.studio.records.items import TransitionRow
    from vidence.studio.records.people import ProjectRow
    from vidence.studio.workflow import chain_content, to_event

    if broken := audit.first_break(audit.links()):
        yield f"events of safety: {broken}"
    for project in ProjectRow.objects.order_by("slug"):
        rows = TransitionRow.objects.filter(project=project).order_by("number").iterator()
        links: Iterator[tuple[int, Mapping[str, object], str]] = (
            (row.number, chain_content(row.number, to_event(row)), row.chain_sha256) for row in rows
        )
        if broken := audit.first_break(links):
            yield f"transitions of {project.slug}: {broken}"


def _items() -> Iterator[str]:
    from vidence.make.review.states import ItemState
    from vidence.studio.records.items import ItemRow
    from vidence.studio.workflow import columns_of, events_of, protocol_of, revisions_of, standing

    for item in ItemRow.objects.select_related("project__protocol").order_by("pk").iterator():
        faults = [revision.fault for revision in revisions_of(item).values()]
        faults += [event.fault for event in events_of(item)]
        if any(faults):
            yield f"{item.item_id}: {next(filter(None, faults))}"
            continue
        state = standing(item, protocol_of(item.project))
        item_state = msgspec.convert(item.standing, ItemState) if item.standing else state
        repeated = columns_of(state)
        if state != item_state or any(getattr(item, name) != value for name, value in repeated.items()):
            yield f"{item.item_id} says {item.state}, and its transitions lead to {state.state}"
