"""Rates are counted from events, with denominators; MMVU's figures follow from its counts."""

import itertools

import numpy as np
import pytest

from subjects.reviewing import LONG, Team, answers, at
from vidence.errors import UsageError
from vidence.make.review.files import Reviews
from vidence.make.review.protocol import load_protocol
from vidence.make.review.rates import rates_of, rates_tables, rates_words, states_table, states_words
from vidence.make.review.revisions import Event, Revision, chained, new_revision

N, N_REVISED, N_EXCLUDED = 3072, 523, 72  # MMVU, section 3.3


def found_of(reviews: Reviews):
    return rates_of(reviews, rng=np.random.default_rng(0))


def mmvu() -> Reviews:
    """3,072 items, of which 523 are edited or returned, and 72 of these left out."""
    protocol = load_protocol("mmvu")
    good = answers(protocol)
    revisions: list[Revision] = []
    did: dict[str, list[Event]] = {"ann": [], "bob": []}
    minute = itertools.count()

    def act(by: str, kind: str, revision: Revision, **said: object) -> None:
        role = "author" if by == "ann" else "reviewer"
        did[by].append(
            Event(
                event_id="", item_id=revision.item_id, revision=revision.sha256, kind=kind, role=role, by=by,
                at=stamp(), **said,
            )
        )  # fmt: skip

    def stamp() -> str:
        return at(0).replace("00.000000", f"00.{next(minute):06d}")

    for i in range(N):
        one = new_revision(f"q{i:04d}", {"q": i}, parent=None, origin="submit", by="ann", at=stamp())
        revisions.append(one)
        act("ann", "submit", one, minutes=20 + 17 / 60)
        act("bob", "claim", one)
        if i < N_REVISED and i % 2:
            act("bob", "return", one, message=LONG, checks={"answer": "no"})
            one = new_revision(
                one.item_id, {"q": -1 - i}, parent=one, origin="author_revise", by="ann", at=stamp()
            )
            revisions.append(one)
            act("ann", "resubmit", one)
            act("bob", "claim", one)
        elif i < N_REVISED:
            one = new_revision(
                one.item_id, {"q": -1 - i}, parent=one, origin="validator_edit", by="bob", at=stamp()
            )
            revisions.append(one)
            act("bob", "edit", one)
        if i < N_EXCLUDED:
            act("bob", "reject", one, message="cannot be mended")
        else:
            act("bob", "accept", one, checks=good, minutes=4.2)
    events = [event for mine in did.values() for event in chained(mine, last="")]
    return Reviews.of(protocol, revisions, events)


def test_the_rates_of_mmvu_follow_from_its_counts():
    reviews = mmvu()
    found = found_of(reviews)
    assert found.states == {"accepted": N - N_EXCLUDED, "rejected": N_EXCLUDED}
    assert found.n_refused == 0
    rates = {one.name: one for one in found.rates}
    assert (rates["first-pass"].k, rates["first-pass"].n) == (2549, 3072)
    assert round(100 * rates["first-pass"].share.value, 1) == 83.0
    assert (rates["rescued"].k, rates["rescued"].n) == (451, 523)
    assert round(100 * rates["rescued"].share.value, 1) == 86.2
    assert (rates["accepted"].k, rates["ended"].n) == (3000, 3072)
    medians = {(one.role, one.kind): (one.n, one.n_stated, one.median) for one in found.minutes}
    assert medians["author", "submit"] == (3072, 3072, pytest.approx(20.2833, abs=1e-4))
    assert medians["reviewer", "accept"] == (3000, 3000, 4.2)
    assert [table.name for table in rates_tables(found)] == ["rates", "minutes"]


def test_items_on_their_way_are_beside_the_rates():
    team = Team()
    for i in range(4):
        team.put(item_id=f"q{i}")
    team.look("bob")  # q1
    found = found_of(team.reviews)
    rates = {one.name: (one.k, one.n) for one in found.rates}
    assert rates["first-pass"] == (1, 1)
    assert rates["rescued"] == (0, 0)
    assert rates["ended"] == (1, 4)
    assert rates_words(found) == ("4 items: 1 accepted, 3 submitted.",)


def test_agreement_is_of_what_two_people_said_of_one_revision():
    one = Team()
    for i in range(4):
        one.put(item_id=f"q{i}", source_id=f"film{i}")
    other = one.copy()
    for i, expert in enumerate(("yes", "yes", "no", "no")):
        one.act("claim", "bob", item_id=f"q{i}")
        if expert == "yes":
            one.act("accept", "bob", item_id=f"q{i}")
        else:
            one.act("reject", "bob", item_id=f"q{i}", checks={"expert": "no"})
    for i, expert in enumerate(("yes", "no", "no", "no")):
        other.act("claim", "cid", item_id=f"q{i}")
        if expert == "yes":
            other.act("accept", "cid", item_id=f"q{i}")
        else:
            other.act("reject", "cid", item_id=f"q{i}", checks={"expert": "no"})
    found = found_of(one.merged(other).reviews)
    agreed = {(row.field, row.role): row for row in found.agreement}
    expert = agreed["expert", ""]
    assert (expert.n, expert.same) == (4, 3)
    # by hand: seen 3/4, expected (2*1 + 2*3)/16 = 1/2
    assert expert.kappa.value == pytest.approx(0.5)
    assert (agreed["verdict", "reviewer"].n, agreed["verdict", "reviewer"].same) == (4, 3)
    assert agreed["answer", ""].n == 1  # only one revision has two answers
    assert found.n_disputed == 1


def test_the_states_as_a_table():
    team = Team()
    team.put()
    team.act("claim", "bob")
    assert states_words(team.reviews) == ("1 item: 1 in-review.",)
    (row,) = states_table(team.reviews).rows
    assert row.values == ("in-review", 1, 1, "ann", "bob", "")
    assert states_table(team.reviews, only="accepted").rows == ()
    with pytest.raises(UsageError, match="there is no state 'done'"):
        states_table(team.reviews, only="done")
