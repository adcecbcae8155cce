"""Who may begin work: one rule after the other, in words that name it."""

import pytest

from vidence.studio.admission import is_asked, refusal
from vidence.studio.projects import add_items
from vidence.studio.records.items import ItemRow
from vidence.studio.records.people import MembershipRow
from vidence.studio.training import add_guideline
from vidence.studio.workflow import Act, RecordedAct, act, protocol_of


@pytest.fixture
def place(team):
    project = team.project(protocol="mmvu")
    add_items(project, ["q1"], kinds={})
    return project


def asked(place, by, role="reviewer", item=None):
    return refusal(by, place, protocol_of(place), role=role, item=item)


def test_only_what_begins_work_is_asked():
    assert [is_asked(kind, "submit") for kind in ("submit", "claim", "accept", "release")] == [True] * 2 + [
        False
    ] * 2
    assert not is_asked("submit", "import")


def test_a_person_works_in_their_domains(team, place):
    user = team.user("Bob", "reviewer", project="films")
    item = ItemRow.objects.get()
    item.strata = {"domain": "physics"}
    assert asked(place, user.pseudonym, item=item) == ""
    MembershipRow.objects.update(domains=["law", "art"])
    assert asked(place, user.pseudonym, item=item) == (
        "it is of the domain 'physics'; this person works in 'art', 'law'"
    )
    MembershipRow.objects.update(domains=["law", "physics"])
    assert asked(place, user.pseudonym, item=item) == ""
    assert asked(place, user.pseudonym) == ""


def test_who_is_asked(team, place):
    user = team.user("Bob", "reviewer", project="films")
    add_guideline(place, "Write plainly.", by="p009")
    assert "has to be read first" in asked(place, user.pseudonym)
    assert asked(place, user.pseudonym, role="operator") == ""
    assert asked(place, "somebody-else") == ""  # done elsewhere: no account here


def test_who_works_alone_is_not_asked(solo):
    project = solo.project(protocol="mmvu")
    add_guideline(project, "Write plainly.", by="solo")
    for i in range(12):  # more than MMVU's ten a day
        assert asked(project, "solo", role="author") == ""
        add_items(project, [f"q{i}"], kinds={})
        said = Act(kind="submit", by="solo", role="author", content={"question": str(i)})
        assert isinstance(act(ItemRow.objects.get(item_id=f"q{i}"), said), RecordedAct)
