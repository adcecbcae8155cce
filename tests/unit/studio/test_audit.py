"""Events of safety stand in a chain; the database refuses changes, and a chain shows what went around it."""

import pytest

from vidence.studio.audit import APPEND_ONLY, first_break, link, links, note
from vidence.studio.records.work import AuditEventRow


def test_events_are_numbered_and_tied(team):
    note("exported", by="p001", about="films", details={"n": 3, "words": "ä"})
    team.clock.move(0.000001)
    note("signed-out", by="p001")
    assert list(AuditEventRow.objects.order_by("number").values_list("number", "kind")) == [
        (1, "exported"),
        (2, "signed-out"),
    ]
    assert first_break(links()) == ""


def test_signing_in_is_noted_with_no_word_of_the_password(team):
    team.user("Ada", "author")
    team.client().post("/sign-in", {"username": "Ada", "password": "planted-secret"})
    team.signed_in("Ada").post("/sign-out")
    kinds = list(AuditEventRow.objects.order_by("number").values_list("kind", flat=True))
    assert kinds == ["user-added", "sign-in-refused", "signed-in", "signed-out"]
    assert "planted-secret" not in repr(list(AuditEventRow.objects.values_list()))


def chain(*contents):
    rows, before = [], ""
    for number, content in enumerate(contents, start=1):
        before = link(before, content)
        rows.append((number, content, before))
    return rows


def test_the_first_break_of_a_chain_is_named():
    assert first_break([]) == ""
    assert first_break(chain({"a": 1}, {"a": 2}, {"a": 3})) == ""
    rows = chain({"a": 1}, {"a": 2}, {"a": 3})
    changed = [rows[0], (2, {"a": 9}, rows[1][2]), rows[2]]
    assert first_break(changed) == "row 2 is not what its hash says"
    assert first_break([rows[0], rows[2]]) == "row 2 is not there"
    assert first_break(rows[1:]) == "row 1 is not there"
    hidden = [rows[0], (2, {"a": 9}, link(rows[0][2], {"a": 9})), rows[2]]
    assert first_break(hidden) == "row 3 is not what its hash says"


@pytest.mark.parametrize("table", APPEND_ONLY)
@pytest.mark.parametrize("statement", ["UPDATE {} SET id = id + 1", "DELETE FROM {}"])
def test_the_database_refuses_changes(team, table, statement):
    from django.db import DatabaseError, connection, transaction

    rows_of_every_kind(team)
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT COUNT(*) FROM {table}")
        assert cursor.fetchone()[0] > 0
        with pytest.raises(DatabaseError, match="never changed or deleted"), transaction.atomic():
            cursor.execute(statement.format(table))


def rows_of_every_kind(team):
    """A row in each table that only grows."""
    from vidence.studio.projects import add_items
    from vidence.studio.records.items import ItemRow
    from vidence.studio.records.work import DraftLogRow, DraftRow
    from vidence.studio.workflow import Act, act

    user, project = team.user("Ada", "author"), team.project()
    add_items(project, ["q1"], kinds={})
    item = ItemRow.objects.get()
    act(item, Act(kind="submit", role="author", by="p001", content={"question": "Which?"}))
    now = team.clock()
    draft = DraftRow.objects.create(user=user, item=item, project=project, stage="annotate", saved_at=now)
    DraftLogRow.objects.create(draft=draft, version=1, body="{}", request="r", at=now)


def test_what_went_around_the_database_is_found(team):
    """Somebody drops the trigger and changes a byte."""
    from django.db import connection

    from vidence.studio.upkeep import verify

    rows_of_every_kind(team)
    assert list(verify()) == []
    with connection.cursor() as cursor:
        for table in ("studio_transitionrow", "studio_auditeventrow"):
            if connection.vendor == "postgresql":
                cursor.execute(f"DROP TRIGGER {table}_stays ON {table}")
            else:
                cursor.execute(f"DROP TRIGGER {table}_no_update")
                cursor.execute(f"DROP TRIGGER {table}_no_delete")
        cursor.execute("UPDATE studio_transitionrow SET event = replace(event, 'p001', 'p002')")
        cursor.execute("DELETE FROM studio_auditeventrow WHERE number = 1")
    found = list(verify())
    assert found[0] == "events of safety: row 1 is not there"
    assert found[1] == "transitions of films: row 1 is not what its hash says"
    assert found[2].startswith("q1: the event ")
