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
from vidence.studio.workflow import Act, RecordedAct, act, protocol_of


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
    assert isinstance(done, RecordedAct), done
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
    assert list(verify()) == [
        "ledger of films: row 1 is not what its hash says",
        f"ledger of films: entry 1 (annotation of {ann.pseudonym}, {LedgerRow.objects.get().source}) says "
        "201 USD, and its act earns 200 USD (annotation)",
    ]
    guard(connection)


def test_who_works_alone_owes_nobody(solo):
    project = solo.project(protocol="mmvu")
    add_items(project, ["q1"], kinds={})
    done = act(ItemRow.objects.get(), Act(kind="submit", by="solo", role="author", content={"question": "?"}))
    assert isinstance(done, RecordedAct)
    assert LedgerRow.objects.count() == 0


def forged(columns, *, number):
    """Write an entry anew, with a chain that fits, as somebody would who knows how chains are made."""
    from vidence.studio.ledger import _content
    from vidence.studio.records.chains import guard, link

    if connection.vendor != "sqlite":
        pytest.skip("triggers are taken away as SQLite does it")
    with connection.cursor() as cursor:
        cursor.execute("DROP TRIGGER studio_ledgerrow_no_update")
    LedgerRow.objects.filter(number=number).update(**columns)
    last = ""
    for row in LedgerRow.objects.order_by("number"):
        last = link(last, _content(row))
        LedgerRow.objects.filter(pk=row.pk).update(chain_sha256=last)
    guard(connection)
    (said,) = verify()
    return said


@pytest.mark.parametrize(
    ("number", "columns", "said"),
    [
        (1, {"amount_minor": 300}, "says 300 USD, and its act earns 200 USD (annotation)"),
        (1, {"currency": "EUR"}, "says 200 EUR, and its act earns 200 USD (annotation)"),
        (1, {"kind": "validation"}, "entry 1 (validation of p001"),
        (1, {"source": "event:none"}, "and there is no such act"),
        (2, {"amount_minor": 204}, "says 204 USD, and its 20.28 minutes earn 203 USD (time)"),
        (2, {"quantity": 20.3}, "the entries of that day hold 20.30 minutes, its spans 20.28"),
        (3, {"amount_minor": -100}, "says -100 USD, and it takes back 200"),
    ],
)
def test_an_entry_that_does_not_follow_is_named(team, place, ann, number, columns, said):
    do("submit", ann, "author", content={"question": "Which?"})
    work(team, ann, place, 20 * 60 + 17)
    reverse(LedgerRow.objects.get(number=1), by="p009", reason="for a test")
    assert list(verify()) == []
    found = forged(columns, number=number)
    assert found.startswith(f"ledger of films: entry {number} (")
    assert said in found


def test_an_entry_of_somebody_else_is_named(team, place, ann, bob):
    do("submit", ann, "author", content={"question": "Which?"})
    assert f"and the act is one of {ann.pseudonym}" in forged({"user": bob}, number=1)


def test_a_span_that_was_changed_afterwards_is_named(team, place, ann):
    work(team, ann, place, 20 * 60 + 17)
    TimeSpanRow.objects.update(end_at=team.clock() + (team.clock() - TimeSpanRow.objects.get().start_at))
    (said,) = verify()
    assert "the entries of that day hold 20.28 minutes, its spans 40.57" in said


def test_entries_are_compared_with_the_rates_of_their_time(team, place, ann):
    from vidence.studio.rulebooks import keep, use, versions

    add_items(place, ["q2"], kinds={})

    def submit(name):
        item = ItemRow.objects.get(item_id=name)
        said = Act(kind="submit", by=ann.pseudonym, role="author", content={"question": "Which?"})
        assert isinstance(act(item, said), RecordedAct)
        team.clock.move(10)

    submit("q1")
    use(
        keep(place, place.protocol.source.replace("per_annotation = 200", "per_annotation = 250"), by="o"),
        by="o",
    )
    team.clock.move(10)
    place.refresh_from_db()
    submit("q2")
    use(versions(place)[-1], by="o")
    assert [one.amount_minor for one in LedgerRow.objects.order_by("number")] == [200, 250]
    assert list(verify()) == []
    assert "says 200 USD, and its act earns 250 USD" in forged({"amount_minor": 200}, number=2)


def test_time_of_days_on_which_hours_earned_nothing_is_not_missed(team, place, ann):
    from vidence.studio.rulebooks import keep, use, versions

    work(team, ann, place, 600)
    use(keep(place, place.protocol.source.replace("per_hour = 600", "per_hour = 0"), by="o"), by="o")
    place.refresh_from_db()
    team.clock.move(100)
    work(team, ann, place, 600)
    assert LedgerRow.objects.count() == 1
    assert list(verify()) == []
    use(versions(place)[-1], by="o")
    assert list(verify()) == []


def test_without_the_log_of_the_server_any_version_that_was_used_counts(team, place, ann, monkeypatch):
    from vidence.studio import rulebooks
    from vidence.studio.rulebooks import keep, use

    monkeypatch.setattr(rulebooks, "note", lambda *_, **__: None)  # as after an import from another server
    use(
        keep(place, place.protocol.source.replace("per_annotation = 200", "per_annotation = 250"), by="o"),
        by="o",
    )
    place.refresh_from_db()
    team.clock.move(10)
    do("submit", ann, "author", content={"question": "Which?"})
    assert LedgerRow.objects.get().amount_minor == 250
    assert list(verify()) == []
    assert "earns 200 USD (annotation) or 250 USD" in forged({"amount_minor": 260}, number=1)
