"""What is owed, out of acts and counted time."""

import pytest

from vidence.studio.ledger import owed
from vidence.studio.projects import add_items
from vidence.studio.records.items import ItemRow
from vidence.studio.records.work import TimeSpanRow
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
