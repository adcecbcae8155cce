"""Rates split by author, reviewer, week, or a tag of the items; small groups are hidden from peers."""

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Final

from vidence.errors import UsageError
from vidence.make.review.files import Reviews
from vidence.make.review.protocol import Protocol
from vidence.make.review.rates import counted
from vidence.make.review.revisions import Event
from vidence.make.review.states import ENDS, ItemState
from vidence.records import Record, by_key
from vidence.statistics.intervals import proportion
from vidence.tables.table import Column, Row, Table

LEAST_SHOWN: Final = 5
_TAG: Final = "tag:"
_KEYS: Final = ("author", "reviewer", "week", f"{_TAG}NAME")


class Group(Record):
    """The rates of some items, each as `k` of `n` by name, and the number of items."""

    name: str
    n_items: int
    rates: dict[str, tuple[int, int]]


def groups_of(reviews: Reviews, key: str) -> tuple[Group, ...]:
    """Return the rates by author, reviewer, week or tag value.

    An item is in the group of each person who decided about it in the first stage, and in that of the week
    (ISO, of UTC) in which it came to its end; items on their way are in none of a week.

    Args:
        reviews: the review.
        key: ``author``, ``reviewer``, ``week``, or ``tag:NAME``.

    Raises:
        UsageError: there is no such key.
    """
    states = reviews.states.values()
    refused = {event.event_id for event, _ in reviews.folded.refused}
    names = names_of(states, key, events_of=reviews.events_of, content=reviews.content, refused=refused)
    return grouped(states, names, reviews.protocol)


def names_of(
    states: Iterable[ItemState],
    key: str,
    *,
    events_of: Mapping[str, Sequence[Event]],
    content: Callable[[str], Mapping[str, object]],
    refused: Container[str] = (),
) -> dict[str, tuple[str, ...]]:
    """Return the groups of each item, see `groups_of`; unsubmitted items are in no group.

    Args:
        states: of the items.
        key: as there.
        events_of: by item what was done with it, in order.
        content: the last wording of an item.
        refused: the events that had no effect.

    Raises:
        UsageError: there is no such key.
    """
    return {
        state.item_id: tuple(
            _tagged(key, content(state.item_id))
            if key.startswith(_TAG)
            else _names(state, key, events_of.get(state.item_id, ()), refused=refused)
        )
        if state.state != "drafting"
        else ()
        for state in states
    }


def grouped(
    states: Iterable[ItemState], names: Mapping[str, Sequence[str]], protocol: Protocol
) -> tuple[Group, ...]:
    """Return the rates of groups of items.

    Args:
        states: of all items.
        names: the groups that each item is in.
        protocol: the rules.
    """
    groups = by_key((name, state) for state in states for name in names[state.item_id])
    return tuple(
        Group(name=name, n_items=len(mine), rates={rate: (k, n) for rate, _, k, n in counted(mine, protocol)})
        for name, mine in sorted(groups.items())
    )


def _names(state: ItemState, key: str, events: Sequence[Event], *, refused: Container[str]) -> Sequence[str]:
    if key == "author":
        return (state.author,)
    if key == "reviewer":
        decided = [event.by for event in events if event.role == "reviewer" and event.kind in _DECIDING]
        return tuple(dict.fromkeys(decided))
    if key == "week":
        return _weeks(state, events, refused)
    raise _no_key(key)


def _tagged(key: str, content: Mapping[str, object]) -> Sequence[str]:
    if key == _TAG:
        raise _no_key(key)
    tags = content.get("tags")
    return (str(tags.get(key.removeprefix(_TAG), "")) if isinstance(tags, Mapping) else "",)


def _no_key(key: str) -> UsageError:
    return UsageError(f"there is no group {key!r}; expected one of {', '.join(_KEYS)}")


_DECIDING: Final = ("accept", "return", "reject")


def _weeks(state: ItemState, events: Sequence[Event], refused: Container[str]) -> Sequence[str]:
    """Return the week in which each item ended: that of its last event except messages."""
    if state.state not in ENDS:
        return ()
    mine = [
        event.at
        for event in events
        if event.kind in (*_DECIDING, "withdraw") and event.event_id not in refused
    ]
    year, week, _ = datetime.fromisoformat(mine[-1]).isocalendar()
    return (f"{year}-W{week:02d}",)


def group_table(groups: Sequence[Group], key: str, *, level: float = 0.95, shows_all: bool) -> Table:
    """Return groups as a table; shares of fewer than five items are shown only to operators.

    Args:
        groups: the groups.
        key: what they are split by.
        level: of the intervals.
        shows_all: whether an operator looks.
    """
    names = [name for name in groups[0].rates if name != "ended"] if groups else []
    n_hidden = 0
    rows = []
    for group in groups:
        shares = []
        for name in names:
            k, n = group.rates[name]
            is_hidden = 0 < n < LEAST_SHOWN and not shows_all
            n_hidden += is_hidden
            shares.append(proportion(k, n, level=level) if n and not is_hidden else None)
        rows.append(
            Row(
                key=group.name,
                label=group.name or "\u2013",
                values=(group.n_items, group.rates["ended"][0], *shares),
            )
        )
    hidden = f" {n_hidden:,} shares of fewer than {LEAST_SHOWN} items are not shown." if n_hidden else ""
    return Table(
        name=f"rates-by-{key.removeprefix(_TAG)}",
        title=f"Rates by {key.removeprefix(_TAG)}",
        label=key.removeprefix(_TAG),
        columns=(
            Column(key="items", title="items", kind="count"),
            Column(key="ended", title="finished", kind="count"),
            *(Column(key=name, title=name, kind="share") for name in names),
        ),
        rows=tuple(rows),
        note=f"Shares are of finished items.{hidden}",
    )
