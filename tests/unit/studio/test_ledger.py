"""What is owed: written with what it is for, in a chain, never changed."""

import pytest
from django.db import DatabaseError, connection, transaction

from vidence.errors import UsageError
from vidence.studio.ledger import owed, reverse, settle
from vidence.studio.projects import add_items
from vidence.studio.records.items import ItemRow
from vidence.studio.records.work import AuditEventRow, LedgerRow, TimeSpanRow
from vidence.studio.rules.caps import day_of
from vidence.studio.times import beat, end_work
from vidence.studio.upkeep import verify
from vidence.studio.workflow import Act, Done, act, protocol_of


@pytest.fixture
def place(team):
    project = team.project(protocol="mmvu")
    add_items(project, ["q1"], kinds={})
    return project


@pytest.fixture
def ann(team):
    return team.user("Ann", "author")


@pytest.fixture
def bob(team):
    return team.user("Bob", "reviewer")


def do(kind, user, role, **more):
    done = act(ItemRow.objects.get(), Act(kind=kind, by=user.pseudonym, role=role, **more))
    assert isinstance(done, Done), done
    return done


def work(team, user, project, seconds):
    beat(user, project, None)
    for _ in range(int(seconds // 15)):
        team.clock.move(15)
        beat(user, project, None)
    team.clock.move(seconds % 15)
    beat(user, project, None)
    row = TimeSpanRow.objects.get(user=user, is_open=True)
    row.end_at = team.clock()  # the last beat may come too soon to be counted
    row.save()
    end_work(user)


def everything(protocol):
    return {one.id: "yes" for one in protocol.stages[0].checks}


def test_the_amounts_of_the_paper(team, place, ann, bob):
    """MMVU, appendix A.5: 20:17 and an annotation are 4.03 USD; 4:12 and a validation 0.82 USD."""
    work(team, ann, place, 20 * 60 + 17)
    do("submit", ann, "author", content={"question": "Which?"}, minutes=99.0)
    work(team, bob, place, 4 * 60 + 12)
    do("claim", bob, "reviewer")
    assert [one.is_due for one in owed(ann, place)] == [False, True]
    do("accept", bob, "reviewer", checks=everything(protocol_of(place)))
    found = {user: owed(user, place) for user in (ann, bob)}
    assert [one.row.amount_minor for one in found[ann]] == [200, 203]
    assert [one.row.amount_minor for one in found[bob]] == [40, 42]
    assert all(one.is_due for rows in found.values() for one in rows)
    assert list(verify()) == []


def test_settling_twice_writes_once_and_a_day_is_rounded_once(team, place, ann):
    begin = team.clock()
    for _ in range(40):  # each of these alone earns 0.25 of a cent
        work(team, ann, place, 1.5)
        team.clock.move(100)
    day = day_of(begin)[0]
    pay = protocol_of(place).pay
    before = LedgerRow.objects.count()
    settle(ann, place, pay=pay, day=day)
    assert LedgerRow.objects.count() == before
    assert sum(one.amount_minor for one in LedgerRow.objects.all()) == 10
    settle(ann, place, pay=None, day=day)
    assert LedgerRow.objects.count() == before


def test_an_entry_is_taken_back_by_another(team, place, ann):
    do("submit", ann, "author", content={"question": "Which?"})
    row = LedgerRow.objects.get()
    with pytest.raises(UsageError, match="no reason"):
        reverse(row, by="p009", reason=" ")
    made = reverse(row, by="p009", reason="entered for a test")
    assert (made.amount_minor, made.reverses, made.number) == (-200, row, 2)
    for one in (row, made):
        with pytest.raises(UsageError, match="taken back already"):
            reverse(one, by="p009", reason="again")
    assert [one.is_due for one in owed(ann, place)] == [False, False]
    assert AuditEventRow.objects.filter(kind="entry-reversed").count() == 1
    assert list(verify()) == []


@pytest.mark.parametrize("table", ["studio_ledgerrow", "studio_transitionrow", "studio_auditeventrow"])
@pytest.mark.parametrize("statement", ["UPDATE {} SET number = 7", "DELETE FROM {}"])
def test_no_row_is_changed_by_sql(team, place, ann, table, statement):
    do("submit", ann, "author", content={"question": "Which?"})
    with pytest.raises(DatabaseError, match="never changed or deleted"), transaction.atomic():
        connection.cursor().execute(statement.format(table))


def test_a_changed_amount_is_found_by_its_row(team, place, ann):
    from vidence.studio.records.chains import guard

    do("submit", ann, "author", content={"question": "Which?"})
    if connection.vendor != "sqlite":
        pytest.skip("triggers are taken away as SQLite does it")
    with connection.cursor() as cursor:
        cursor.execute("DROP TRIGGER studio_ledgerrow_no_update")
        cursor.execute("UPDATE studio_ledgerrow SET amount_minor = 201")
    assert list(verify()) == ["ledger of films: row 1 is not what its hash says"]
    guard(connection)


def test_who_works_alone_owes_nobody(solo):
    project = solo.project(protocol="mmvu")
    add_items(project, ["q1"], kinds={})
    done = act(ItemRow.objects.get(), Act(kind="submit", by="solo", role="author", content={"question": "?"}))
    assert isinstance(done, Done)
    assert LedgerRow.objects.count() == 0
