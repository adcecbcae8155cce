"""Laws of a review: whatever people try, and in whatever order, the guards hold."""

import numpy as np
import pytest

from subjects.reviewing import CONTENT, LONG, Team, answers, at
from vidence.make.review.files import Reviews
from vidence.make.review.protocol import Check, Protocol, Stage, load_protocol
from vidence.make.review.revisions import KINDS, Event, chained, new_revision
from vidence.make.review.states import ItemState, advance, allowed_kinds, drafting

PEOPLE = ("ann", "bob", "cid", "dan", "eve", "fay")
ROLES = ("author", "reviewer", "meta", "operator")
TWICE = Protocol(
    title="two looks",
    stages=(Stage(role="reviewer", checks=(Check(id="right", words="Is it?"),), looks=2),),
)
PROTOCOLS = (*map(load_protocol, ("humanpcr-r", "mmvu", "perceptioncomp", "herbench")), TWICE)
VERDICTS = {"accept", "return", "reject"}


def tried(state: ItemState, known: dict, protocol: Protocol, rng: np.random.Generator, minute: int) -> Event:
    """Something that somebody tries: often sensible, never always."""
    kinds = allowed_kinds(state, protocol) if rng.random() < 0.85 else KINDS
    kind = str(rng.choice(list(kinds)))
    by = str(rng.choice(state.claims if state.claims and rng.random() < 0.7 else PEOPLE))
    if kind in ("submit", "resubmit", "withdraw") and state.author and rng.random() < 0.7:
        by = state.author
    role = {"submit": "author", "resubmit": "author", "withdraw": "author", "reopen": "operator"}.get(
        kind, protocol.stages[state.stage].role
    )
    if kind == "claim" and state.state == "reviewed":
        role = "meta"
    if rng.random() < 0.1:
        role = str(rng.choice(ROLES))
    revision = state.revision
    if kind in ("submit", "resubmit", "edit") or rng.random() < 0.05:
        origins = {"submit": "submit", "resubmit": "author_revise"}
        edits = protocol.stages[state.stage].edits
        one = new_revision(
            "q1",
            CONTENT | {"minute": minute},
            parent=known.get(state.revision),
            origin=origins.get(kind, edits[0] if edits else "validator_edit"),
            by=by,
            at=at(minute),
        )
        known[one.sha256] = one
        revision = one.sha256
    stage = next((one for one in protocol.stages if one.role == role), protocol.stages[0])
    said: dict[str, object] = {}
    if kind in VERDICTS and rng.random() < 0.9:
        good = answers(protocol, stage.role)
        failed = stage.checks[0].id
        said["checks"] = good if kind == "accept" else good | {failed: "no"}
        said["scores"] = {one.id: one.high for one in stage.scores}
    if kind == "witness":
        said["checks"] = {"second": "yes"}
    return Event(
        event_id="",
        item_id="q1",
        revision=revision,
        kind=kind,
        role=role,
        by=by,
        at=at(minute),
        message=LONG if rng.random() < 0.9 else "",
        answer="A" if kind == "solve" else "",
        **said,
    )


def check(state: ItemState, events: list[Event], protocol: Protocol) -> None:
    looks = [one for one in events if one.kind in VERDICTS | {"edit", "solve", "witness"}]
    assert state.author not in {one.by for one in events if one.kind in VERDICTS}
    assert 0 <= state.returns_left <= protocol.returns
    by_role = {role: {one.by for one in looks if one.role == role} for role in ROLES}
    assert not by_role["reviewer"] & by_role["meta"]
    if state.state == "accepted":
        last = [one for one in events if one.revision == state.revision and one.kind == "accept"]
        assert any(one.role == protocol.stages[-1].role for one in last)
    for one in events:
        if one.kind in VERDICTS and one.role != "operator" and protocol.stages[0].solves:
            before = events[: events.index(one)]
            assert any(
                e.kind == "solve" and (e.by, e.revision) == (one.by, one.revision) for e in before
            ) or any(e.kind == "solve" and e.by == one.by for e in before)
        if one.kind == "return":
            assert len(one.message) >= protocol.least_message
            assert one.checks


@pytest.mark.parametrize("protocol", PROTOCOLS, ids=lambda one: one.title)
def test_whatever_is_tried_the_guards_hold(protocol):
    rng = np.random.default_rng(19)
    ends: set[str] = set()
    for _ in range(250):
        state, known, events = drafting("q1", protocol), {}, []
        for minute in range(24):
            event = tried(state, known, protocol, rng, minute)
            found = advance(state, event, revisions=known, protocol=protocol)
            if isinstance(found, str):
                assert f"q1 is {state.state}; {event.kind} by {event.by}: " in found
                assert "allowed now: " in found
                continue
            if state.is_ended:
                assert event.role == "operator"
            if state.state == "returned":
                assert event.kind in ("resubmit", "withdraw")
            events.append(event)
            if event.kind == "return" and found.state == "returned":
                assert found.returns_left == state.returns_left - 1
            state = found
            check(state, events, protocol)
        ends.add(state.state)
    assert {"accepted", "rejected"} <= ends


@pytest.mark.parametrize("protocol", PROTOCOLS[:2], ids=lambda one: one.title)
def test_copies_that_are_merged_either_way_come_to_the_same(protocol):
    rng = np.random.default_rng(7)
    disputed = 0
    for _ in range(60):
        first = Team(protocol)
        first.put()
        second = first.copy()
        for team, people in ((first, ("bob", "cid")), (second, ("dan", "eve"))):
            team.minute += int(rng.integers(0, 5))
            for by in people:
                verdict = str(rng.choice(["accept", "reject", "return"]))
                team.look(by, "accept") if verdict == "accept" else team.look(
                    by, verdict, message=LONG, checks={protocol.stages[0].checks[0].id: "no"}
                )
        ours, theirs = first.merged(second), second.merged(first)
        assert ours.reviews.folded == theirs.reviews.folded
        assert ours.merged(theirs).reviews.folded == ours.reviews.folded
        assert 0 <= ours.reviews.states["q1"].returns_left <= protocol.returns
        disputed += ours.reviews.states["q1"].is_disputed
        acted = [one for one in ours.reviews.events if one.kind in VERDICTS]
        refused = {one.event_id for one, _ in ours.reviews.folded.refused}
        kept = {said.event_id for said in ours.reviews.states["q1"].decisions}
        assert {one.event_id for one in acted} == kept | (refused & {one.event_id for one in acted})
    assert disputed


def test_a_changed_byte_of_an_event_is_seen():
    team = Team()
    team.put()
    team.look("bob", message="well made")
    for event in team.reviews.events:
        for field in ("item_id", "revision", "by", "message", "answer"):
            changed = type(event)(**{**{f: getattr(event, f) for f in event.__struct_fields__}, field: "x"})
            assert changed.fault or getattr(event, field) == "x"
    assert chained(team.reviews.events[:1], last="")[0] == team.reviews.events[0]
    assert Reviews.of(team.protocol, team.reviews.revisions.values(), team.reviews.events[::-1]).events == (
        team.reviews.events
    )
