"""Revisions and events: named by their hashes, in chains that show what was taken out or changed."""

import msgspec

from subjects.reviewing import Team, at
from vidence.make.review.revisions import Event, chained, chains, in_order, new_revision


def events(by: str, *minutes: int, kind="claim") -> tuple[Event, ...]:
    some = [
        Event(event_id="", item_id="q1", revision="r", kind=kind, role="reviewer", by=by, at=at(minute))
        for minute in minutes
    ]
    return chained(some, last="")


def test_a_revision_is_named_by_all_that_it_holds():
    one = new_revision("q1", {"b": 1, "a": 2}, parent=None, origin="submit", by="ann", at=at(1))
    same = new_revision("q1", {"a": 2, "b": 1}, parent=None, origin="submit", by="ann", at=at(1))
    assert one.sha256 == same.sha256
    assert one.fault == ""
    for changed in ({"content": {"a": 3}}, {"by": "bob"}, {"n": 2}):
        assert "is not what its hash says" in msgspec.structs.replace(one, **changed).fault
    assert new_revision("q1", {}, parent=one, origin="author_revise", by="ann", at=at(2)).parent == one.sha256


def test_events_are_chained_for_each_person():
    first, second = events("ann", 1, 2)
    assert (first.prev_sha256, second.prev_sha256) == ("", first.event_id)
    assert chained([second], last=first.event_id) == (second,)
    assert chains((first, second, *events("bob", 1)))[1] == {}


def test_what_breaks_a_chain_is_named():
    first, second, third = events("ann", 1, 2, 3)
    found, faults = chains((first, third))
    assert found["ann"] == (first,)
    assert "a line was taken out" in faults[third.event_id]
    (fork,) = chained([msgspec.structs.replace(second, kind="release")], last=first.event_id)
    assert set(chains((first, second, fork))[1]) == {second.event_id, fork.event_id}
    (early,) = chained([msgspec.structs.replace(second, at=at(0))], last=first.event_id)
    assert "is before" in chains((first, early))[1][early.event_id]


def test_by_itself_an_event_has_a_time_a_name_and_no_empty_answers():
    (good,) = events("ann", 1)
    for changed, said in (
        ({"at": "2026-11-22T09:00:00Z"}, "expected UTC such as"),
        ({"by": "../ann"}, "expected a pseudonym"),
        ({"item_id": " "}, "no item_id"),
        ({"minutes": -1.0}, "expected 0 or more"),
        ({"checks": {"answer": ""}}, "nothing under 'answer'"),
    ):
        (bad,) = chained([msgspec.structs.replace(good, **changed)], last="")
        assert said in bad.fault


def test_events_of_several_people_are_in_order_of_time_and_sense():
    team = Team()
    team.put("zoe")
    team.act("claim", "bob")
    assert [one.by for one in in_order(reversed(team.reviews.events))] == ["zoe", "bob"]
    at_once = (*events("amy", 1), *events("zoe", 1, 2, kind="submit"))
    assert [(one.by, one.kind) for one in in_order(at_once)] == [
        ("zoe", "submit"),
        ("amy", "claim"),
        ("zoe", "submit"),
    ]


def test_events_from_before_a_claim_could_expire_keep_their_names():
    (event,) = events("ann", 1)
    assert event.event_id == "691c1704938417ac96c578706ad538a2771f872f543d090290860345dd83b45e"
    (other,) = chained([msgspec.structs.replace(event, whose="bob")], last="")
    assert other.event_id != event.event_id
