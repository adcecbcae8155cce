"""What rates are counted from is kept between pages, and is what the transitions come to."""

import msgspec
import numpy as np
import pytest

from vidence.errors import UsageError
from vidence.make.review.groups import groups_of
from vidence.make.review.rates import rates_of
from vidence.studio import tallies
from vidence.studio.projects import add_items
from vidence.studio.records.items import ItemRow
from vidence.studio.reviewing import reviews_of
from vidence.studio.rulebooks import keep, use
from vidence.studio.tallies import tally_of
from vidence.studio.workflow import Act, RecordedAct, act, protocol_of

LONG = "Which of the two cups is meant, and when can it be seen?"
KEYS = ("author", "reviewer", "week", "tag:task")


@pytest.fixture
def place(team):
    """MMVU's rules with two looks, so that there is agreement; twelve items at different places."""
    from vidence.make.review.protocol import protocol_bytes
    from vidence.studio.projects import RuleText, add_project

    source = protocol_bytes("mmvu").decode().replace("[[stages]]", "[[stages]]\nlooks = 2", 1)
    project = add_project("films", RuleText(source=source))
    add_items(project, [f"q{n:02}" for n in range(14)], kinds={})
    for n in range(12):
        story(project, n, until=n if n < 6 else 99)
        team.clock.move(86_400)
    return project


def story(project, n, *, since=0, until=99):
    """What is done with one item, from where and as far as said."""
    checks = {one.id: "yes" for one in protocol_of(project).stages[0].checks}
    first = next(iter(checks))
    content = {"question": f"Which cup? {n}", "tags": {"task": "ab"[n % 2]}, "source_id": f"film-{n % 3}"}
    bob, bea = ("bob", "bea") if n % 2 else ("bea", "bob")
    last = "accept" if n % 3 else "reject"
    said = {"checks": checks, "minutes": 1.5 + n}
    no = {"checks": {**checks, first: "no"}, "message": LONG}
    for one in (
        Act(kind="submit", by="ann" if n % 2 else "amy", role="author", content=content, minutes=float(n)),
        Act(kind="claim", by=bob, role="reviewer"),
        Act(kind="claim", by=bea, role="reviewer"),
        Act(kind="say", by=bob, role="reviewer", message=LONG),
        Act(kind="accept", by=bob, role="reviewer", **said),
        Act(kind=last, by=bea, role="reviewer", **(no if last == "reject" else said)),
    )[since:until]:
        item = ItemRow.objects.get(project=project, item_id=f"q{n:02}")
        assert isinstance(done := act(item, one), RecordedAct), done


def from_transitions(project):
    """The same out of all transitions, as the command line counts them."""
    project.refresh_from_db()
    reviews = reviews_of(project)
    found = rates_of(reviews, rng=np.random.default_rng(0), level=0.95)
    return encoded(found, [groups_of(reviews, key) for key in KEYS])


def encoded(*found):
    """Figures as text: where there is no spread, an interval is none and equals nothing, not even itself."""
    return msgspec.json.encode(found)


def kept(project):
    tally = tally_of(project)
    return encoded(tally.rates(level=0.95), [tally.groups(key) for key in KEYS])


def test_what_is_kept_is_what_the_transitions_come_to(place):
    assert kept(place) == from_transitions(place)
    found = tally_of(place).rates(level=0.95)
    assert found.agreement
    assert found.minutes
    assert found.n_disputed
    assert {"accepted", "in-review", "submitted"} <= set(found.states)


def test_what_was_done_since_comes_in(team, place, monkeypatch):
    first = tally_of(place)
    assert tally_of(place) is first
    before = kept(place)
    monkeypatch.setattr(tallies, "protocol_of", None)  # nothing is read from the beginning again
    for n in (12, 13):
        story(place, n)
        assert tally_of(place) is first
        assert kept(place) == from_transitions(place)
    assert kept(place) != before
    for n, since in ((4, 4), (5, 5)):  # what was counted in one group before is in others now
        story(place, n, since=since)
        assert tally_of(place) is first
        assert kept(place) == from_transitions(place)


def test_other_rules_are_counted_from_the_beginning(team, place):
    first = tally_of(place)
    source = place.protocol.source.replace("returns = 1", "returns = 2")
    use(keep(place, source, by="p009"), by="p009")
    place.refresh_from_db()
    assert tally_of(place) is not first
    assert kept(place) == from_transitions(place)


def test_minutes_that_a_claim_states_are_counted(team, place):
    first = tally_of(place)
    item = ItemRow.objects.get(item_id="q12")
    for one in (
        Act(kind="submit", by="ann", role="author", content={"question": "Which?"}),
        Act(kind="claim", by="bob", role="reviewer", minutes=3.0),
    ):
        assert isinstance(act(item, one), RecordedAct)
    assert tally_of(place) is not first
    assert kept(place) == from_transitions(place)
    assert ("reviewer", "claim") in {
        (one.role, one.kind) for one in tally_of(place).rates(level=0.95).minutes
    }


def test_a_project_without_items_has_no_rates(team):
    project = team.project()
    assert kept(project) == from_transitions(project)


def test_a_group_that_is_none_is_refused(place):
    with pytest.raises(UsageError, match="there is no group 'mood'"):
        tally_of(place).groups("mood")


def test_few_projects_are_kept(team):
    for n in range(12):
        tally_of(team.project(f"films-{n}"))
    assert len(tallies._KEPT) <= 8


def test_transitions_that_are_others_are_read_anew(team, place):
    first = tally_of(place)
    first.place = tallies._ReadPosition(number=first.place.number - 1, chain_sha256="0" * 64)
    assert tally_of(place) is not first
    again = tally_of(place)
    again.place = tallies._ReadPosition(number=again.place.number + 5, chain_sha256="0" * 64)
    assert tally_of(place) is not again
