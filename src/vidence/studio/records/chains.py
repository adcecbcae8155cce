"""Rows that nobody changes: the triggers that refuse it, and the chains of hashes that show it."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from django.db.backends.base.base import BaseDatabaseWrapper

from vidence.make.review.protocol import canonical, digest

APPEND_ONLY: Final = (
    "studio_transitionrow",
    "studio_revisionrow",
    "studio_draftlogrow",
    "studio_auditeventrow",
)
"""Tables whose rows are never changed or deleted."""
_REFUSAL: Final = "rows of this table are never changed or deleted"


def guard(connection: BaseDatabaseWrapper) -> None:
    """Let the database itself refuse changes of `APPEND_ONLY`; nothing changes where it does.

    It is said at every start: SQLite drops triggers with a table that a migration makes anew.
    """
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute(
                "CREATE OR REPLACE FUNCTION studio_refuse() RETURNS trigger LANGUAGE plpgsql AS "
                f"$$ BEGIN RAISE EXCEPTION '{_REFUSAL}'; END $$"
            )
        for table in APPEND_ONLY:
            for statement in _statements(table, connection.vendor):
                cursor.execute(statement)


def _statements(table: str, vendor: str) -> Iterator[str]:
    if vendor == "postgresql":
        yield (
            f"CREATE OR REPLACE TRIGGER {table}_stays BEFORE UPDATE OR DELETE OR TRUNCATE ON {table} "
            "FOR EACH STATEMENT EXECUTE FUNCTION studio_refuse()"
        )
        return
    for act in ("UPDATE", "DELETE"):
        yield (
            f"CREATE TRIGGER IF NOT EXISTS {table}_no_{act.lower()} BEFORE {act} ON {table} "
            f"BEGIN SELECT RAISE(ABORT, '{_REFUSAL}'); END"
        )


def link(before: str, content: Mapping[str, object]) -> str:
    """The hash of a row and of the one before it; the first has an empty one before."""
    return digest(before.encode() + b"\n" + canonical(content))


def first_break(rows: Iterable[tuple[int, Mapping[str, object], str]]) -> str:
    """Where a chain breaks first; empty where it does not.

    Args:
        rows: the number, the content and the hash of each row, in the order of their numbers.
    """
    before = ""
    for expected, (number, content, said) in enumerate(rows, start=1):
        if number != expected:
            return f"row {expected} is not there"
        if link(before, content) != said:
            return f"row {number} is not what its hash says"
        before = said
    return ""
