"""Storage of a review: immutable revisions, and events in hash chains."""

import heapq
import itertools
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, Literal, get_args

import msgspec

from vidence.make.review.protocol import canonical, digest
from vidence.records import Record, by_key

Origin = Literal["submit", "author_revise", "validator_edit", "meta_edit", "translate", "import"]
Kind = Literal[
    "submit",
    "resubmit",
    "claim",
    "release",
    "solve",
    "witness",
    "edit",
    "accept",
    "return",
    "reject",
    "withdraw",
    "reopen",
    "say",
    "expire",
]
Role = Literal["author", "reviewer", "meta", "operator"]
KINDS: Final[tuple[Kind, ...]] = get_args(Kind)
_TIME: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z")

_PSEUDONYM: Final = re.compile(r"\w[\w.-]{0,63}")


# Ten thousands of these are kept at once, and none holds a cycle, so the collector does not look at them.


class Revision(Record, omit_defaults=True, gc=False):
    """A wording of an item: number `n`, from 1, derived from `parent` (empty for the first).

    `content` is the item as it stands in its file. `sha256` is over everything else here and is its name.
    `at` is a time in UTC to the microsecond, such as ``2026-11-22T09:30:00.000000Z``.
    """

    item_id: str
    n: int
    content: dict[str, object]
    parent: str
    origin: Origin
    by: str
    at: str
    sha256: str

    @property
    def fault(self) -> str:
        """Return what is wrong with it by itself; empty if nothing is."""
        if _hashed(self) != self.sha256:
            return f"the revision {self.sha256[:12]!r} is not what its hash says; it was changed, or cut"
        return _name_fault(self.item_id, self.by, self.at)


class Event(Record, omit_defaults=True, gc=False):
    """One person's act on one revision.

    `checks` and `scores` are answers by the ids of the protocol; a ``witness`` names in `checks` the
    conditions that it was given for. `answer` is that of whoever solves, `whose` the person whose claim
    expires. `prev_sha256` is the `event_id` of what the same person did before, and `event_id` is over
    everything else here.
    """

    event_id: str
    item_id: str
    revision: str
    kind: Kind
    role: Role
    by: str
    at: str
    prev_sha256: str = ""
    checks: dict[str, str] = msgspec.field(default_factory=dict)
    scores: dict[str, int] = msgspec.field(default_factory=dict)
    message: str = ""
    answer: str = ""
    minutes: float | None = None
    whose: str = ""

    @property
    def fault(self) -> str:
        """Return what is wrong with it by itself; empty if nothing is."""
        if _hashed(self) != self.event_id:
            return f"the event {self.event_id[:12]!r} is not what its hash says; it was changed, or cut"
        if self.minutes is not None and not 0 <= self.minutes < float("inf"):
            return f"{self.minutes} minutes; expected 0 or more"
        if empty := [name for name, check in self.checks.items() if not check]:
            return f"nothing under {empty[0]!r}; leave out what was not answered"
        return _name_fault(self.item_id, self.by, self.at)


def new_revision(
    item_id: str, content: Mapping[str, object], *, parent: Revision | None, origin: Origin, by: str, at: str
) -> Revision:
    """Return a revision with its number and hash."""
    bare = Revision(
        item_id=item_id,
        n=1 if parent is None else parent.n + 1,
        content=dict(content),
        parent="" if parent is None else parent.sha256,
        origin=origin,
        by=by,
        at=at,
        sha256="",
    )
    return msgspec.structs.replace(bare, sha256=_hashed(bare))


def chained(events: Iterable[Event], *, last: str) -> tuple[Event, ...]:
    """Return one person's events, each chained to the previous one and named by its hash.

    Args:
        events: in order; their own `event_id` and `prev_sha256` do not matter.
        last: the `event_id` of what the person did last; empty if this is the beginning.
    """
    tied: list[Event] = []
    for event in events:
        bare = msgspec.structs.replace(event, prev_sha256=last)
        tied.append(msgspec.structs.replace(bare, event_id=_hashed(bare)))
        last = tied[-1].event_id
    return tuple(tied)


def chains(events: Sequence[Event]) -> tuple[dict[str, tuple[Event, ...]], dict[str, str]]:
    """Return each person's chain from its start, and what breaks it, by event.

    What comes behind a break is no part of a chain. Two events behind the same one break it as well: a
    person who writes in two places has two pseudonyms, or merges before writing on.
    """
    mine: dict[str, dict[str, Event]] = {}
    faults: dict[str, str] = {}
    chains: dict[str, tuple[Event, ...]] = {}
    for event in events:
        mine.setdefault(event.by, {})[event.event_id] = event
    for by, known in mine.items():
        behind = by_key((event.prev_sha256, event) for event in known.values())
        chain: list[Event] = []
        last = ""
        while len(following := behind.get(last, [])) == 1:
            chain += following
            last = following[0].event_id
        for event in behind.get(last, []):
            faults[event.event_id] = f"{by} has two events behind {last[:12] or 'the beginning'!r}; keep one"
        inside = {event.event_id for event in chain}
        for event in known.values():
            if event.event_id not in inside and event.prev_sha256 and event.prev_sha256 not in known:
                gone = event.prev_sha256[:12]
                faults[event.event_id] = (
                    f"the event of {by} before it, {gone!r}, is not there; a line was taken out"
                )
        for before, event in itertools.pairwise(chain):
            if event.at < before.at:
                faults[event.event_id] = (
                    f"{event.at} is before {before.at}, when {by} did what comes before it"
                )
        chains[by] = tuple(chain)
    return chains, faults


def in_order(events: Iterable[Event]) -> tuple[Event, ...]:
    """Return several people's events by time, each person's in chain order.

    Of events concurrently that of the kind that stands first in `KINDS` goes first.
    """
    values, _ = chains(tuple(events))
    heads = [(*_rank(chain[0]), 0) for chain in values.values() if chain]
    heapq.heapify(heads)
    ordered: list[Event] = []
    while heads:
        *_, by, i = heapq.heappop(heads)
        chain = values[by]
        ordered.append(chain[i])
        if i + 1 < len(chain):
            heapq.heappush(heads, (*_rank(chain[i + 1]), i + 1))
    return tuple(ordered)


def _rank(event: Event) -> tuple[str, int, str]:
    return event.at, KINDS.index(event.kind), event.by


def _hashed(entry: Revision | Event) -> str:
    fields = msgspec.structs.asdict(entry)
    del fields["sha256" if isinstance(entry, Revision) else "event_id"]
    if not fields.get("whose", True):  # events that were written before there was the field keep their names
        del fields["whose"]
    return digest(canonical(fields))


def _name_fault(item_id: str, by: str, at: str) -> str:
    if not item_id.strip():
        return "no item_id"
    if not _PSEUDONYM.fullmatch(by):
        return f"{by!r} under 'by'; expected a pseudonym of letters, digits, dots, - and _, such as ann-1"
    return "" if _TIME.fullmatch(at) else f"the time {at!r}; expected UTC such as 2026-11-22T09:30:00.000000Z"
