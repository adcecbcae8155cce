"""Beats, spans and corrections of accounts; what is owed, out of acts and counted time."""

from datetime import timedelta

import pytest

from vidence.errors import UsageError
from vidence.studio.projects import add_items
from vidence.studio.records.items import ItemRow
from vidence.studio.records.work import TimeCorrectionRow, TimeSpanRow
from vidence.studio.rules.spans import Span
from vidence.studio.times import (
    beat,
    close_stale,
    decide,
    end_work,
    file_correction,
    is_running,
    owed,
    spans_on,
    sum_s,
)
from vidence.studio.upkeep import verify
from vidence.studio.workflow import Act, RecordedAct, act, protocol_of


@pytest.fixture
def place(team):
    """A project under MMVU's pay (6 USD an hour), an author and two operators."""
    project = team.project(protocol="mmvu")
    add_items(project, ["q1", "q2"], kinds={})
    return project


@pytest.fixture
def ann(team):
    return team.user("Ann", "author")


@pytest.fixture
def bob(team):
    return team.user("Bob", "reviewer")


@pytest.fixture
def olga(team):
    return team.user("Olga", "operator")


def beats(team, user, project, seconds, *, item=None, step=15):
    for _ in range(int(seconds // step)):
        team.clock.move(step)
        beat(user, project, item)


def of(user, team, project):
    return sum_s(list(spans_on(user, project, team.clock())))


def test_one_open_span_whatever_the_tabs(team, place, ann):
    for second in range(601):
        for tab in range(5):
            if (second + 3 * tab) % 15 == 0:
                beat(ann, place, None)
        team.clock.move(1)
    assert TimeSpanRow.objects.count() == 1
    assert abs(of(ann, team, place) - 600) <= 15
    assert is_running(TimeSpanRow.objects.get())


def test_sleep_is_kept_as_idle_and_not_paid(team, place, ann):
    beat(ann, place, None)
    beats(team, ann, place, 600)
    team.clock.move(7200)
    beats(team, ann, place, 615)
    kinds = [
        (one.kind, (one.end_at - one.start_at).total_seconds()) for one in TimeSpanRow.objects.order_by("pk")
    ]
    assert sorted(kinds) == [("active", 600.0), ("active", 600.0), ("idle", 7215.0)]
    assert of(ann, team, place) == 1200
    end_work(ann)
    (paid,) = owed(place)
    assert (paid.entry.amount, paid.entry.quantity) == (200, pytest.approx(20))
    assert list(verify()) == []


def test_a_clock_of_the_server_that_goes_back_is_flagged(team, place, ann):
    beat(ann, place, None)
    beats(team, ann, place, 60)
    team.clock.move(-3600)
    beats(team, ann, place, 60)
    rows = TimeSpanRow.objects.order_by("pk")
    assert [(one.is_clock_back, one.end_at >= one.start_at) for one in rows] == [(False, True), (True, True)]


def test_time_is_of_the_item_that_was_open(team, place, ann):
    first, second = ItemRow.objects.order_by("item_id")
    beat(ann, place, first)
    beats(team, ann, place, 60, item=first)
    beats(team, ann, place, 30, item=second)
    minutes = [sum_s(TimeSpanRow.objects.filter(user=ann, item=one)) / 60 for one in (first, second)]
    assert minutes == [1.25, 0.25]


def test_stale_spans_are_closed_by_the_next_beat_of_anybody(team, place, ann, olga):
    beat(ann, place, None)
    beats(team, ann, place, 1200)
    team.clock.move(91)
    assert not is_running(TimeSpanRow.objects.get())
    beat(olga, place, None)
    assert TimeSpanRow.objects.filter(user=ann, is_open=True).count() == 0
    assert [one.entry.amount for one in owed(place, ann)] == [200]
    assert close_stale(team.clock()) == 0


def told(team, kind, start_s, end_s):
    now = team.clock()
    return Span(kind=kind, start=now - timedelta(seconds=start_s), end=now - timedelta(seconds=end_s))


def test_a_correction_is_filed_decided_and_paid_and_the_count_stays(team, place, ann, olga):
    beat(ann, place, None)
    beats(team, ann, place, 1200)
    end_work(ann)
    before = list(TimeSpanRow.objects.values_list())
    team.clock.move(3600)
    missed = file_correction(ann, place, told(team, "active", 1800, 600), reason="wrote on paper")
    assert of(ann, team, place) == 1200
    decide(missed, by=olga, is_approved=True)
    assert of(ann, team, place) == 2400
    assert list(TimeSpanRow.objects.filter(source="heartbeat").values_list()) == before
    assert [one.entry.amount for one in owed(place)] == [400]
    idle = file_correction(ann, place, told(team, "idle", 1200, 600), reason="the video ran alone")
    decide(idle, by=olga, is_approved=True)
    assert of(ann, team, place) == 1800
    assert [one.entry.amount for one in owed(place)] == [300]
    assert list(verify()) == []


def test_corrections_that_cannot_be_and_who_decides(team, place, ann, olga):
    for start_s, end_s, reason, said in [
        (0, 600, "long enough", "ends before it begins"),
        (600, -600, "long enough", "in the future"),
        (15 * 86400, 15 * 86400 - 60, "long enough", "14 days"),
        (13 * 3600, 0, "long enough", "12 hours at most"),
        (10 * 3600, 8 * 3600, "long enough", "one day of UTC"),
        (600, 0, "short", "a reason of 5 characters"),
    ]:
        with pytest.raises(UsageError, match=said):
            file_correction(ann, place, told(team, "active", start_s, end_s), reason=reason)
    mine = file_correction(olga, place, told(team, "active", 600, 0), reason="a meeting of all")
    with pytest.raises(UsageError, match="operators cannot decide their own"):
        decide(mine, by=olga, is_approved=True)
    other = file_correction(ann, place, told(team, "active", 600, 0), reason="a meeting of all")
    with pytest.raises(UsageError, match="give a reason"):
        decide(other, by=olga, is_approved=False)
    decide(other, by=olga, is_approved=False, answer="that was the day before")
    with pytest.raises(UsageError, match="already refused"):
        decide(other, by=olga, is_approved=True)
    assert TimeCorrectionRow.objects.get(pk=other.pk).state == "refused"
    assert TimeSpanRow.objects.count() == 0


def do(kind, user, role, **more):
    done = act(ItemRow.objects.get(item_id="q1"), Act(kind=kind, by=user.pseudonym, role=role, **more))
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
    assert sorted(one.is_due for one in owed(place, ann)) == [False, True]
    do("accept", bob, "reviewer", checks=everything(protocol_of(place)))
    assert sorted(one.entry.amount for one in owed(place, ann)) == [200, 203]
    assert sorted(one.entry.amount for one in owed(place, bob)) == [40, 42]
    assert all(one.is_due for one in owed(place))
    assert list(verify()) == []


def test_a_day_is_rounded_once(team, place, ann):
    for _ in range(40):  # each of these alone earns 0.25 of a cent
        work(team, ann, place, 1.5)
        team.clock.move(100)
    assert [one.entry.amount for one in owed(place)] == [10]


def test_who_works_alone_owes_nobody(solo):
    project = solo.project(protocol="mmvu")
    add_items(project, ["q1"], kinds={})
    done = act(ItemRow.objects.get(), Act(kind="submit", by="solo", role="author", content={"question": "?"}))
    assert isinstance(done, RecordedAct)
    assert owed(project) == []
