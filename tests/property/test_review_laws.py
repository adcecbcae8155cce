"""Laws of a review: whatever people try, and in whatever order, the guards hold."""

import msgspec
import numpy as np
import pytest

from conftest import IS_THOROUGH
from subjects.reviewing import CONTENT, LONG, Team, answers, at
from vidence.make.review.files import Reviews
from vidence.make.review.protocol import Check, Protocol, Stage, load_protocol
from vidence.make.review.revisions import KINDS, Event, chained, chains, new_revision
from vidence.make.review.states import ENDS, ItemState, advance, allowed_kinds, drafting

PEOPLE = ("ann", "bob", "cid", "dan", "eve", "fay")
ROLES = ("author", "reviewer", "meta", "operator")
TWICE = Protocol(
    title="two looks", stages=(Stage(role="reviewer", checks=(Check(id="right", words="Is it?"),), looks=2),)
)
OWN = ("humanpcr-r", "mmvu", "perceptioncomp", "herbench", "humanpcr-pc", "actpld")
PROTOCOLS = (*map(load_protocol, OWN), TWICE)
N_SEQUENCES = 10_000 if IS_THOROUGH else 4_000
VERDICTS = {"accept", "return", "reject"}


def tried(state: ItemState, known: dict, protocol: Protocol, rng: np.random.Generator, minute: int) -> Event:
    """Something that somebody tries: often sensible, never always."""
    kinds = allowed_kinds(state, protocol) if rng.random() < 0.85 else KINDS
    kind = str(rng.choice(list(kinds)))
    by = str(rng.choice(state.claims if state.claims and rng.random() < 0.7 else PEOPLE))
    if kind in ("submit", "resubmit", "withdraw") and state.author and rng.random() < 0.7:
        by = state.author
    usual = dict.fromkeys(("submit", "resubmit", "withdraw"), "author")
    usual |= dict.fromkeys(("reopen", "expire"), "operator")
    if kind == "reject" and state.state in ("accepted", "returned"):
        usual["reject"] = "operator"
    role = usual.get(kind, protocol.stages[state.stage].role)
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
        whose=str(rng.choice(state.claims)) if kind == "expire" and state.claims else "",
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


def check_step(before: ItemState, event: Event, after: ItemState, protocol: Protocol) -> None:
    """What holds of every step that the guards let pass."""
    if before.is_ended:
        assert event.role == "operator"
    if before.state == "rejected":
        assert event.kind == "reopen"
    if before.state == "returned" and after.state != "returned":
        assert event.kind in ("resubmit", "withdraw") or (event.kind, event.role) == ("reject", "operator")
        assert event.role == "operator" or event.by == before.author
    if event.kind == "expire":
        assert event.role == "operator"
        assert set(before.claims) - set(after.claims) == {event.whose}
    if event.kind == "say":
        assert after == before
    if event.kind in ("submit", "resubmit", "edit"):
        assert (after.n, after.revision) == (before.n + 1, event.revision)
        assert after.decisions == ()
    elif event.kind != "reopen":
        assert (after.n, after.revision) == (before.n, before.revision)
    if (before.state in ENDS or before.reopening) and after.n_reopened > before.n_reopened:
        assert before.reopening not in ("", event.by)
    assert set(after.since) == set(after.claims)
    n_returned = (
        before.returns_left - after.returns_left,
        event.kind == "return" and after.state == "returned",
    )
    assert n_returned in ((1, True), (0, False))


@pytest.mark.parametrize("protocol", PROTOCOLS, ids=lambda one: one.title)
def test_whatever_is_tried_the_guards_hold(protocol):
    rng = np.random.default_rng(19)
    ends: set[str] = set()
    kinds: set[str] = set()
    for number in range(-(-N_SEQUENCES // len(PROTOCOLS))):
        state, known, events = drafting("q1", protocol), {}, []
        n_returned = 0
        for minute in range(24):
            event = tried(state, known, protocol, rng, minute)
            found = advance(state, event, revisions=known, protocol=protocol)
            if isinstance(found, str):
                assert f"q1 is {state.state}; {event.kind} by {event.by}: " in found
                assert "allowed now: " in found
                continue
            check_step(state, event, found, protocol)
            events.append(event)
            kinds.add(event.kind)
            n_returned += event.kind == "return" and found.state == "returned"
            state = found
        check(state, events, protocol)
        assert n_returned == protocol.returns - state.returns_left
        ends.add(state.state)
        if number % 10 == 0:
            check_rows(state, events, known, protocol, rng)
    assert {"accepted", "rejected"} <= ends
    assert {"submit", "claim", "release", "expire", "say", "withdraw", "reopen"} <= kinds


def check_rows(state: ItemState, events: list[Event], known: dict, protocol: Protocol, rng) -> None:
    """A state is what its rows come to, and a row that is changed or taken out is the first broken one."""
    mine: dict[str, list[Event]] = {}
    for one in events:
        mine.setdefault(one.by, []).append(one)
    tied = {by: list(chained(some, last="")) for by, some in mine.items()}
    rows = [tied[one.by].pop(0) for one in events]
    named = {one.revision for one in rows}
    revisions = [one for one in known.values() if one.sha256 in named]
    reviews = Reviews.of(protocol, revisions, rows)
    assert reviews.folded.refused == ()
    if not rows:
        return
    found = reviews.states["q1"]
    assert [one.verdict for one in found.decisions] == [one.verdict for one in state.decisions]
    assert msgspec.structs.replace(found, decisions=()) == msgspec.structs.replace(state, decisions=())
    whole = [*revisions, *rows]
    assert _broken(whole) == set()
    place = int(rng.integers(len(revisions), len(whole)))
    changed = [*whole]
    changed[place] = msgspec.structs.replace(whole[place], message="something else")
    assert changed[place].fault
    behind = [i for i in range(place + 1, len(whole)) if whole[i].by == whole[place].by]
    assert _broken([*whole[:place], *whole[place + 1 :]]) == {whole[i].event_id for i in behind[:1]}


def _broken(rows) -> set[str]:
    """The events whose chain is broken before them."""
    return set(chains([one for one in rows if isinstance(one, Event)])[1])


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
