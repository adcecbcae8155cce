"""A seal for each row: the hash of the row as the studio wrote it, kept by triggers in the same transaction.

All writers pass the triggers: rows, updates of many, raw SQL. They work for connections of the studio alone,
as only these have the function (SQLite) or have set the word (Postgres) that the triggers ask for. What goes
around the triggers leaves a row without its seal, or a seal without its row.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Final

from django.db import transaction
from django.db.backends.base.base import BaseDatabaseWrapper

from vidence.studio.records.work import AuditEventRow

APPEND_ONLY: Final = (
    "studio_transitionrow",
    "studio_revisionrow",
    "studio_draftlogrow",
    "studio_auditeventrow",
)
"""Append-only tables."""
_NOT_COVERED: Final = (
    "sign-ins (django_session), the index of runs (studio_index_...), applied migrations (django_migrations)",
    "a row changed or removed together with its seal, and an older copy restored whole: compare the content",
    "files beside the database: media, questions of studies, releases",
)
FIRST: Final = "rows-sealed"
"""Event logged when rows of an earlier version were sealed."""
SEALS: Final = "studio_seal"
"""The table of seals; databases of earlier versions have none."""
_MAKE_SEALS: Final = (
    f"CREATE TABLE IF NOT EXISTS {SEALS} "
    "(of_table text, of_row bigint, seal text, PRIMARY KEY (of_table, of_row))"
)
_TABLE: Final = re.compile(r"studio_(?!seal$|index_)[a-z0-9_]+")
_COLUMNS: Final = {
    "sqlite": "SELECT m.name, c.name FROM sqlite_master m JOIN pragma_table_xinfo(m.name) c "
    "WHERE m.type = 'table' ORDER BY 1, 2",
    "postgresql": "SELECT table_name, column_name FROM information_schema.columns "
    "WHERE table_schema = current_schema() ORDER BY 1, 2",
}
_TRIGGERS: Final = {
    "sqlite": "SELECT name, tbl_name FROM sqlite_master WHERE type = 'trigger'",
    "postgresql": "SELECT tgname, relname FROM pg_trigger JOIN pg_class ON pg_class.oid = tgrelid "
    "WHERE NOT tgisinternal AND relnamespace = current_schema()::regnamespace",
}
_FUNCTIONS: Final = Path(__file__).with_name("seals.sql")
"""Of Postgres."""
_REFUSAL: Final = "rows of this table are never changed or deleted"


def introduce(connection: BaseDatabaseWrapper, **_more: object) -> None:
    """Allow a new connection to write; receives Django's ``connection_created``."""
    if connection.vendor == "sqlite":
        connection.connection.create_function("studio_seal_of", -1, _seal_of, deterministic=True)
    else:
        with connection.cursor() as cursor:
            cursor.execute("SET studio.writer = 'vidence'")


def _seal_of(*values: object) -> str:
    return sha256(repr(values).encode()).hexdigest()


def sealed_tables(connection: BaseDatabaseWrapper) -> dict[str, tuple[str, ...]]:
    """Return the sealed tables of a studio of any version, with their columns."""
    with connection.cursor() as cursor:
        cursor.execute(_COLUMNS[connection.vendor])
        pairs = cursor.fetchall()
    names = dict.fromkeys(table for table, _ in pairs if _TABLE.fullmatch(table))
    return {name: tuple(column for table, column in pairs if table == name) for name in names}


def changed_rows(connection: BaseDatabaseWrapper) -> dict[tuple[str, object], str]:
    """Return the faults of rows that were changed or deleted outside the studio, by table and row."""
    tables = sealed_tables(connection)
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT of_table, of_row, 'removed' FROM {SEALS}")
        rows = [row for row in cursor.fetchall() if row[0] not in tables]
        for table, columns in tables.items():
            both = f"ON s.of_table = '{table}' AND s.of_row = r.id"
            seal = _expression(connection, table, columns, row="r")
            cursor.execute(
                f"SELECT '{table}', r.id, 'changed or added' FROM \"{table}\" r LEFT JOIN {SEALS} s {both} "
                f"WHERE s.seal IS NULL OR s.seal <> {seal} "
                f"UNION ALL SELECT '{table}', s.of_row, 'removed' FROM {SEALS} s "
                f"LEFT JOIN \"{table}\" r {both} WHERE s.of_table = '{table}' AND r.id IS NULL ORDER BY 2"
            )
            rows += cursor.fetchall()
    return {
        (table, row): f"{str(table).removeprefix('studio_')}, row {row}: {act} by hand"
        for table, row, act in rows
    }


def not_covered() -> Iterator[str]:
    """Yield what `changed_rows` cannot detect."""
    yield from _NOT_COVERED
    if AuditEventRow.objects.filter(kind=FIRST).exists():
        yield f"edits from before rows got seals, as the event {FIRST} says when"


def content_of(connection: BaseDatabaseWrapper) -> str:
    """Return one hash over all seals; equal content gives equal hashes."""
    result = sha256()
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT of_table, of_row, seal FROM {SEALS} ORDER BY of_table, of_row")
        for row in cursor:
            result.update(repr(tuple(row)).encode())
    return result.hexdigest()


def seal_all(connection: BaseDatabaseWrapper, *, but: Iterable[tuple[str, object]]) -> int:
    """Seal all rows as they are, except those without a valid seal before; return how many these are."""
    with connection.cursor() as cursor:
        cursor.execute(f"DELETE FROM {SEALS}")
        for table, columns in sealed_tables(connection).items():
            seal = _expression(connection, table, columns, row="r")
            cursor.execute(f"INSERT INTO {SEALS} SELECT '{table}', r.id, {seal} FROM \"{table}\" r")
        cursor.execute(f"SELECT COUNT(*) FROM {SEALS}")
        n_rows: int = cursor.fetchone()[0]
        cursor.executemany(
            f"INSERT INTO {SEALS} VALUES (%s, %s, '') ON CONFLICT (of_table, of_row) DO UPDATE SET seal = ''",
            list(but),
        )
    return n_rows


def guard(connection: BaseDatabaseWrapper) -> None:
    """Create the table of seals, and the triggers that maintain them and protect `APPEND_ONLY` tables.

    Called at every start; where they are, nothing changes.
    """
    with connection.cursor() as cursor:
        cursor.execute(_MAKE_SEALS)
    wanted = {}
    for table, columns in sealed_tables(connection).items():
        for act, words in _triggers(connection, table, columns).items():
            wanted[f"{table}_{act}_{sha256(words.encode()).hexdigest()[:8]}"] = words
    if wanted.keys() == _there(connection).keys():
        return
    with transaction.atomic(), connection.cursor() as cursor:
        unguard(connection)
        if connection.vendor == "postgresql":
            cursor.execute(_FUNCTIONS.read_text(encoding="utf-8"))
        for name, words in wanted.items():
            cursor.execute(f"CREATE TRIGGER {name} {words}")


def unguard(connection: BaseDatabaseWrapper) -> None:
    """Remove all triggers, so that tables can be changed."""
    with connection.cursor() as cursor:
        for name, table in _there(connection).items():
            on = f' ON "{table}"' if connection.vendor == "postgresql" else ""
            cursor.execute(f"DROP TRIGGER {connection.ops.quote_name(name)}{on}")


def _there(connection: BaseDatabaseWrapper) -> dict[str, str]:
    """Return the triggers on the studio's tables, with their tables."""
    with connection.cursor() as cursor:
        cursor.execute(_TRIGGERS[connection.vendor])
        return {name: table for name, table in cursor.fetchall() if table.startswith("studio_")}


def _triggers(connection: BaseDatabaseWrapper, table: str, columns: Sequence[str]) -> Mapping[str, str]:
    """Return the bodies of a table's triggers by event."""
    is_final = table in APPEND_ONLY
    if connection.vendor == "postgresql":
        row = f"AFTER INSERT OR UPDATE OR DELETE ON {table} FOR EACH ROW EXECUTE FUNCTION studio_keep_seal()"
        refused = f"BEFORE UPDATE OR DELETE OR TRUNCATE ON {table} EXECUTE FUNCTION studio_refuse()"
        return {"sealed": row} | ({"stays": refused} if is_final else {})
    seal = _expression(connection, table, columns, row="NEW")
    keep = f"INSERT OR REPLACE INTO {SEALS} VALUES ('{table}', NEW.id, {seal});"
    # It asks for the function, which other programs lack.
    drop = f"DELETE FROM {SEALS} WHERE of_table = '{table}' AND of_row = OLD.id AND studio_seal_of() <> '';"
    refused = f"BEFORE {{}} ON {table} BEGIN SELECT RAISE(ABORT, '{_REFUSAL}'); END"
    done = f"AFTER {{}} ON {table} BEGIN {{}} END"
    bodies = {"insert": keep, "update": drop + keep, "delete": drop}
    return {
        act: (refused if is_final and act != "insert" else done).format(act.upper(), words)
        for act, words in bodies.items()
    }


def _expression(connection: BaseDatabaseWrapper, table: str, columns: Sequence[str], *, row: str) -> str:
    """Return the SQL of a row's seal. SQLite: text as bytes, because it may be invalid, with its type."""
    if connection.vendor == "postgresql":
        return f"studio_seal_of('{table}', to_jsonb({row}))"
    named = f"{table}: {', '.join(columns)}".replace("'", "''")
    messages = [f"'{named}'"]
    for column in columns:
        value = f"{row}.{connection.ops.quote_name(column)}"
        messages.append(
            f"typeof({value}), CASE typeof({value}) WHEN 'text' THEN CAST({value} AS BLOB) ELSE {value} END"
        )
    return f"studio_seal_of({', '.join(messages)})"
