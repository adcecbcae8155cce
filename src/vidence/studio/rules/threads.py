"""What people say to each other about one item: who reads which message, and as what somebody may say one."""

from collections.abc import Collection
from typing import Final

from vidence.make.review.files import Reviews
from vidence.make.review.recording import said_before
from vidence.make.review.revisions import Event, Kind, Role
from vidence.make.review.states import OPERATOR, ItemState
from vidence.studio.rules.review_steps import DECIDING, is_blind, is_hidden

LOOKS: Final[frozenset[Kind]] = frozenset({"solve", "edit", "accept", "return", "reject"})
"""Whoever did one of these with a revision knows what it says."""
MOST_SIGNS: Final = 4_000


def messages_told(
    reviews: Reviews, state: ItemState, *, by: str, roles: Collection[str], counted: Collection[str] = ()
) -> tuple[Event, ...]:
    """The messages of an item that one person reads, in their order.

    Its author reads all of them, whoever looks those that a look shows at its step, and operators what they
    may read of the item. Who is still to look reads their own, and those of revisions that they have decided
    before: a second look is not told what the first one says. Nobody else reads any.

    Args:
        reviews: of the item.
        state: where it stands.
        by: who reads.
        roles: what they may do in its project.
        counted: the counts that they have given of this revision.
    """
    mine = [one for one in reviews.events_of.get(state.item_id, ()) if one.message.strip()]
    blind = is_blind(state, reviews.protocol, by=by, roles=roles, counted=counted)
    if by == state.author:
        told = {one.event_id for one in mine}
    elif blind:
        known = _revisions(reviews, state, by=by, kinds=LOOKS) - {state.revision}
        known |= _revisions(reviews, state, by=by, kinds=DECIDING)
        told = {one.event_id for one in mine if one.by == by or one.revision in known}
    elif OPERATOR in roles or by in state.claims or _revisions(reviews, state, by=by, kinds=LOOKS):
        told = {one.event_id for one in said_before(reviews, state, by=by)}
    else:
        told = {one.event_id for one in mine if one.by == by}
    return tuple(
        one
        for one in mine
        if one.event_id in told and not is_hidden(one, state, reviews.protocol, by=by, is_blind=blind)
    )


def says_as(reviews: Reviews, state: ItemState, *, by: str, roles: Collection[str]) -> Role | None:
    """As what somebody may say something about an item; None where they have nothing to do with it."""
    if by == state.author:
        return "author" if "author" in roles else None
    stage = reviews.protocol.stages[state.stage].role
    if by in state.claims and stage in roles:
        return stage
    for one in reviews.protocol.stages:
        if by in state.people.get(one.role, ()) and one.role in roles:
            return one.role
    if OPERATOR in roles and not is_blind(state, reviews.protocol, by=by, roles=roles):
        return "operator"
    return None


def _revisions(reviews: Reviews, state: ItemState, *, by: str, kinds: Collection[Kind]) -> set[str]:
    """The revisions with which somebody did something of these kinds."""
    events = reviews.events_of.get(state.item_id, ())
    return {one.revision for one in events if one.by == by and one.kind in kinds}
