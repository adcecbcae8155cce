"""A seal for each row: the hash of the row as the studio wrote it, kept by triggers in the same transaction.

All writers pass the triggers: rows, updates of many, raw SQL. They work for connections of the studio alone,
as only these have the function (SQLite) or have set the word (Postgres) that the triggers ask for. What goes
around the triggers leaves a row without its seal, or a seal without its row.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from typing import Final

from django.db.backends.base.base import BaseDatabaseWrapper

from vidence.records import Record

APPEND_ONLY: Final = (
    "studio_transitionrow",
    "studio_revisionrow",
    "studio_draftlogrow",
    "studio_auditeventrow",
)
"""Tables whose rows are never changed or deleted."""
NOT_COVERED: Final = (
    "sign-ins (django_session), the index of runs (studio_index_...), applied migrations (django_migrations)",
    "a row that was changed or removed with its seal, and an older copy put back whole: compare the content",
    "files beside the database: media, questions of studies, releases",
)
"""What `changed_rows` does not see."""
_SEALS: Final = "studio_seal"
_MAKE_SEALS: Final = (
    f"CREATE TABLE IF NOT EXISTS {_SEALS} "
    "(of_table text, of_row bigint, seal text, PRIMARY KEY (of_table, of_row))"
)
_TABLE: Final = re.compile(r"studio_(?!seal$|index_)[a-z0-9_]+")
_COLUMNS: Final = {
    "sqlite": "SELECT m.name, c.name FROM sqlite_master m JOIN pragma_table_xinfo(m.name) c "
    "WHERE m.type = 'table' ORDER BY 1, 2",
    "postgresql": "SELECT table_name, column_name FROM information_schema.columns "
    "WHERE table_schema = current_schema() ORDER BY 1, 2",
}
_REFUSAL: Final = "rows of this table are never changed or deleted"
_FUNCTIONS: Final = (
    "CREATE OR REPLACE FUNCTION studio_seal_of(name text, content jsonb) RETURNS text IMMUTABLE "
    "LANGUAGE sql AS $$ SELECT encode(sha256(convert_to(name || content::text, 'UTF8')), 'hex') $$",
    "CREATE OR REPLACE FUNCTION studio_keep_seal() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
    "IF current_setting('studio.writer', true) IS DISTINCT FROM 'vidence' THEN "
    "RAISE EXCEPTION 'only the studio writes into %', TG_TABLE_NAME; END IF; "
    "IF TG_OP <> 'INSERT' THEN "
    f"DELETE FROM {_SEALS} WHERE of_table = TG_TABLE_NAME AND of_row = OLD.id; END IF; "
    "IF TG_OP <> 'DELETE' THEN "
    f"INSERT INTO {_SEALS} VALUES (TG_TABLE_NAME, NEW.id, studio_seal_of(TG_TABLE_NAME, to_jsonb(NEW))) "
    "ON CONFLICT (of_table, of_row) DO UPDATE SET seal = excluded.seal; END IF; "
    "RETURN NULL; END $$",
    "CREATE OR REPLACE FUNCTION studio_refuse() RETURNS trigger LANGUAGE plpgsql AS "
    f"$$ BEGIN RAISE EXCEPTION '{_REFUSAL}'; END $$",
)


class ChangedRow(Record):
    """A row that is not as the studio wrote it."""

    table: str
    row: int | str | None
    is_there: bool

    def __str__(self) -> str:
        """The fault in words."""
        name, act = self.table.removeprefix("studio_"), "changed or added" if self.is_there else "removed"
        return f"{name}, row {self.row}: {act} by hand"


def introduce(connection: BaseDatabaseWrapper, **_more: object) -> None:
    """Let a new connection write: the receiver of Django's ``connection_created``."""
    if connection.vendor == "sqlite":
        connection.connection.create_function("studio_seal_of", -1, _seal_of, deterministic=True)
    else:
        with connection.cursor() as cursor:
            cursor.execute("SET studio.writer = 'vidence'")


def _seal_of(*values: object) -> str:
    return sha256(repr(values).encode()).hexdigest()


def sealed_tables(connection: BaseDatabaseWrapper) -> dict[str, tuple[str, ...]]:
    """The tables of a studio of any version whose rows have seals, with their columns."""
    with connection.cursor() as cursor:
        cursor.execute(_COLUMNS[connection.vendor])
        pairs = cursor.fetchall()
    names = dict.fromkeys(table for table, _ in pairs if _TABLE.fullmatch(table))
    return {name: tuple(column for table, column in pairs if table == name) for name in names}


def has_seals(connection: BaseDatabaseWrapper) -> bool:
    """Whether rows of a database have seals, as those of earlier versions have not."""
    return _SEALS in connection.introspection.table_names()


def changed_rows(connection: BaseDatabaseWrapper) -> Iterator[ChangedRow]:
    """The rows that are not as the studio wrote them, and those that are gone."""
    tables = sealed_tables(connection)
    with connection.cursor() as cursor:
        for table, columns in tables.items():
            both = f"ON s.of_table = '{table}' AND s.of_row = r.id"
            seal = _expression(connection, table, columns, row="r")
            cursor.execute(
                f'SELECT r.id, 1 FROM "{table}" r LEFT JOIN {_SEALS} s {both} '
                f"WHERE s.seal IS NULL OR s.seal <> {seal} "
                f'UNION ALL SELECT s.of_row, 0 FROM {_SEALS} s LEFT JOIN "{table}" r {both} '
                f"WHERE s.of_table = '{table}' AND r.id IS NULL ORDER BY 1"
            )
            yield from [ChangedRow(table=table, row=row, is_there=n > 0) for row, n in cursor.fetchall()]
        cursor.execute(f"SELECT of_table, of_row FROM {_SEALS}")
        for table, row in cursor:
            if table not in tables:
                yield ChangedRow(table=str(table), row=row, is_there=False)


def content_of(connection: BaseDatabaseWrapper) -> str:
    """One hash over all seals: the same content has the same."""
    found = sha256()
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT of_table, of_row, seal FROM {_SEALS} ORDER BY of_table, of_row")
        for row in cursor:
            found.update(repr(tuple(row)).encode())
    return found.hexdigest()


def seal_all(connection: BaseDatabaseWrapper, *, but: Sequence[ChangedRow]) -> int:
    """Seal all rows as they are, but those that had no right seal before; how many there are."""
    with connection.cursor() as cursor:
        cursor.execute(f"DELETE FROM {_SEALS}")
        n_rows = 0
        for table, columns in sealed_tables(connection).items():
            seal = _expression(connection, table, columns, row="r")
            cursor.execute(f"INSERT INTO {_SEALS} SELECT '{table}', r.id, {seal} FROM \"{table}\" r")
            n_rows += cursor.rowcount
        for one in but:
            key = [one.table, one.row]
            cursor.execute(f"DELETE FROM {_SEALS} WHERE of_table = %s AND of_row = %s", key)
            cursor.execute(f"INSERT INTO {_SEALS} VALUES (%s, %s, '')", key)
    return n_rows


def guard(connection: BaseDatabaseWrapper) -> None:
    """Make the table of seals, and set the triggers that keep them and refuse changes of `APPEND_ONLY`.

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
    unguard(connection)
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            for function in _FUNCTIONS:
                cursor.execute(function)
        for name, words in wanted.items():
            cursor.execute(f"CREATE TRIGGER {name} {words}")


def unguard(connection: BaseDatabaseWrapper) -> None:
    """Take all triggers away, so that tables can be changed."""
    with connection.cursor() as cursor:
        for name, table in _there(connection).items():
            on = f' ON "{table}"' if connection.vendor == "postgresql" else ""
            cursor.execute(f"DROP TRIGGER {connection.ops.quote_name(name)}{on}")


def _there(connection: BaseDatabaseWrapper) -> dict[str, str]:
    """The triggers on the studio's tables, with their tables."""
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute(
                "SELECT tgname, relname FROM pg_trigger JOIN pg_class ON pg_class.oid = tgrelid "
                "WHERE NOT tgisinternal AND relnamespace = current_schema()::regnamespace"
            )
        else:
            cursor.execute("SELECT name, tbl_name FROM sqlite_master WHERE type = 'trigger'")
        return {name: table for name, table in cursor.fetchall() if table.startswith("studio_")}


def _triggers(connection: BaseDatabaseWrapper, table: str, columns: Sequence[str]) -> Mapping[str, str]:
    """What triggers of a table do, by what they wait for."""
    is_final = table in APPEND_ONLY
    if connection.vendor == "postgresql":
        row = f"AFTER INSERT OR UPDATE OR DELETE ON {table} FOR EACH ROW EXECUTE FUNCTION studio_keep_seal()"
        refused = f"BEFORE UPDATE OR DELETE OR TRUNCATE ON {table} EXECUTE FUNCTION studio_refuse()"
        return {"sealed": row} | ({"stays": refused} if is_final else {})
    seal = _expression(connection, table, columns, row="NEW")
    keep = f"INSERT OR REPLACE INTO {_SEALS} VALUES ('{table}', NEW.id, {seal});"
    # It asks for the function, which other programs lack.
    drop = f"DELETE FROM {_SEALS} WHERE of_table = '{table}' AND of_row = OLD.id AND studio_seal_of() <> '';"
    refused = f"BEFORE {{}} ON {table} BEGIN SELECT RAISE(ABORT, '{_REFUSAL}'); END"
    done = f"AFTER {{}} ON {table} BEGIN {{}} END"
    bodies = {"insert": keep, "update": drop + keep, "delete": drop}
    return {
        act: (refused if is_final and act != "insert" else done).format(act.upper(), words)
        for act, words in bodies.items()
    }


def _expression(connection: BaseDatabaseWrapper, table: str, columns: Sequence[str], *, row: str) -> str:
    """The seal of a row in SQL. SQLite: text in its bytes, as it may be none, and with its type."""
    if connection.vendor == "postgresql":
        return f"studio_seal_of('{table}', to_jsonb({row}))"
    named = f"{table}: {', '.join(columns)}".replace("'", "''")
    said = [f"'{named}'"]
    for column in columns:
        value = f"{row}.{connection.ops.quote_name(column)}"
        said.append(
            f"typeof({value}), CASE typeof({value}) WHEN 'text' THEN CAST({value} AS BLOB) ELSE {value} END"
        )
    return f"studio_seal_of({', '.join(said)})"
