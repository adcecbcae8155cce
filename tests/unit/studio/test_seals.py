"""Rows have seals: every edit by hand of every table and column is named, or its table is left out aloud."""

from contextlib import suppress
from datetime import date, timedelta
from itertools import zip_longest
from uuid import UUID

import pytest

from subjects.full_studio import fill_every_table
from vidence.studio.records.people import MembershipRow
from vidence.studio.seals import (
    APPEND_ONLY,
    changed_rows,
    content_of,
    guard,
    not_covered,
    seal_all,
    sealed_tables,
    unguard,
)
from vidence.studio.upkeep import verify

NEW = 10**6


@pytest.fixture
def by_hand(team):
    """A studio with rows in every table, and a hand that neither triggers nor checks of values hold."""
    from django.db import connection

    fill_every_table(team)
    assert list(verify()) == []
    unguard(connection)
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
            cursor.execute(
                "SELECT format('ALTER TABLE %I DROP CONSTRAINT %I', relname, conname) FROM pg_constraint "
                "JOIN pg_class ON pg_class.oid = conrelid WHERE contype IN ('c', 'f') "
                "AND relname LIKE 'studio_%'"
            )
            for (statement,) in cursor.fetchall():
                cursor.execute(statement)
            yield cursor
            return
        cursor.execute("PRAGMA ignore_check_constraints = ON")
        yield cursor
        cursor.execute("PRAGMA ignore_check_constraints = OFF")


def other(value):
    """Another value of the same kind; what a column of JSON holds is text to SQLite."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return value + 1000
    if isinstance(value, date):
        return value + timedelta(days=10)
    if isinstance(value, UUID):
        return UUID(int=value.int ^ 1)
    if isinstance(value, str) and value[:1] in ("{", "["):
        return '{"other": 1}'
    return f"{value[:-1]}{'e' if value[-1:] != 'e' else 'f'}" if isinstance(value, str) else "1"


def edits(cursor, table, columns):
    """What a hand may do with a table: what it is, the row that is then wrong, and statements with values."""
    names = [f'"{one}"' for one in columns]
    cursor.execute(f'SELECT {", ".join(names)} FROM "{table}" ORDER BY id LIMIT 2')
    first, second = (dict(zip(columns, row, strict=True)) for row in cursor.fetchall())
    one, two = first["id"], second["id"]
    for column in columns:
        said = f'UPDATE "{table}" SET "{column}" = %s WHERE id = %s'
        a, b = first[column], second[column]
        yield f"{column} is another", one, [(said, [other(a), one])]
        if a is not None:
            yield f"{column} is unknown", one, [(said, [None, one])]
        if a != b and column != "id":
            free = (
                other(other(a)) if not isinstance(a, str) else '{"free": 1}' if a[:1] in ("{", "[") else "-"
            )
            yield f"{column} of two", two, [(said, [free, one]), (said, [a, two]), (said, [b, one])]
    yield "deleted", one, [(f'DELETE FROM "{table}" WHERE id = %s', [one])]
    copied = [NEW if name == "id" else value and other(value) for name, value in first.items()]
    marks = ", ".join(["%s"] * len(columns))
    yield "inserted", NEW, [(f'INSERT INTO "{table}" ({", ".join(names)}) VALUES ({marks})', copied)]


def test_every_edit_of_every_column_is_named(by_hand):
    """One edit of each table at a time; some are refused by the database, as NULL for a name."""
    from django.db import IntegrityError, connection, transaction

    tables = sealed_tables(connection)
    assert len(tables) > 25
    done, unseen = set(), []
    for at_once in zip_longest(*(list(edits(by_hand, *one)) for one in tables.items())):
        wrong = {}
        with transaction.atomic():
            for table, edit in zip(tables, at_once, strict=True):
                if edit is None:
                    continue
                what, row, statements = edit
                with suppress(IntegrityError), transaction.atomic():
                    for statement, values in statements:
                        by_hand.execute(statement, values)
                    wrong[f"{table.removeprefix('studio_')}, row {row}: "] = f"{table}: {what}"
            named = tuple(verify())
            unseen += [
                what for words, what in wrong.items() if not any(one.startswith(words) for one in named)
            ]
            done |= set(wrong.values())
            transaction.set_rollback(True)
    assert unseen == []
    assert {f"{table}: {act}" for table in tables for act in ("deleted", "inserted")} <= done
    assert {f"{table}: {one} is another" for table, columns in tables.items() for one in columns} <= done
    assert list(verify()) == []


@pytest.mark.parametrize(
    "value", ["CAST(x'ff00' AS TEXT)", "title || char(0)", "CAST(title AS BLOB)", "1e999"]
)
def test_what_is_no_text_is_named_too(by_hand, value):
    from django.db import connection

    if connection.vendor != "sqlite":
        pytest.skip("Postgres takes no such values")
    by_hand.execute(f"UPDATE studio_projectrow SET title = {value} WHERE slug = 'films'")
    assert list(verify()) == ["projectrow, row 1: changed or added by hand"]


def test_an_edit_of_the_seals_is_named(by_hand):
    from django.db import transaction

    of_role = "WHERE of_table = 'studio_membershiprow' AND of_row = {}"
    by_hand.execute("SELECT id FROM studio_membershiprow ORDER BY id LIMIT 2")
    (a,), (b,) = by_hand.fetchall()
    for statement in (
        f"UPDATE studio_seal SET seal = 'x' {of_role}",
        f"UPDATE studio_seal SET seal = (SELECT seal FROM studio_seal {of_role.format(b)}) {of_role}",
        f"UPDATE studio_seal SET of_row = {NEW} {of_role}",
        f"DELETE FROM studio_seal {of_role}",
        f"INSERT INTO studio_seal VALUES ('studio_membershiprow', {NEW}, 'x')",
        f"INSERT INTO studio_seal VALUES ('studio_nothing', {NEW}, 'x')",
    ):
        with transaction.atomic():
            by_hand.execute(statement.format(a))
            found = [one.split(":")[0] for one in verify()]
            assert found
            assert set(found) <= {
                f"membershiprow, row {a}",
                f"membershiprow, row {NEW}",
                f"nothing, row {NEW}",
            }
            transaction.set_rollback(True)


def test_every_table_has_seals_or_is_said_to_be_left_out(team):
    from django.db import connection

    said = " ".join(not_covered()).replace("...", "")
    tables = set(connection.introspection.table_names()) - set(sealed_tables(connection)) - {"studio_seal"}
    assert {one for one in tables if one not in said and not one.startswith("studio_index_")} == set()


def test_the_same_content_has_the_same_hash(by_hand):
    from django.db import connection, transaction

    before = content_of(connection)
    with transaction.atomic():
        by_hand.execute("DELETE FROM studio_membershiprow")
        by_hand.execute("DELETE FROM studio_seal WHERE of_table = 'studio_membershiprow'")
        assert list(verify()) == []  # said to be left out, but for the hash
        assert content_of(connection) != before
        transaction.set_rollback(True)
    assert content_of(connection) == before


@pytest.mark.parametrize("table", APPEND_ONLY)
@pytest.mark.parametrize("statement", ["UPDATE {} SET id = id + 1", "DELETE FROM {}"])
def test_the_database_refuses_changes_of_what_only_grows(team, table, statement):
    from django.db import DatabaseError, connection, transaction

    fill_every_table(team)
    with (
        pytest.raises(DatabaseError, match="never changed or deleted"),
        transaction.atomic(),
        connection.cursor() as cursor,
    ):
        cursor.execute(statement.format(table))


def test_rows_changed_by_hand_stay_so_when_all_are_sealed_again(by_hand):
    from django.db import connection

    by_hand.execute("UPDATE studio_qualificationrow SET is_passed = NOT is_passed")
    by_hand.execute("DELETE FROM studio_guidelinereadrow")
    before = list(verify())
    assert len(before) == 4
    seal_all(connection, but=changed_rows(connection))
    guard(connection)
    assert list(verify()) == before
    team_of_two = MembershipRow.objects.filter(user__pseudonym="p001")
    assert team_of_two.update(roles=["operator"]) > 0
    assert list(verify()) == before
