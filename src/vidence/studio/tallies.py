"""What a review of many items comes to, kept between pages, and brought up to date by what was done since.

The states are those that the items repeat (`vidence studio verify` compares them with their transitions); of
the transitions only those are read that a rate, an agreement or a group counts.
"""

import logging
from collections import OrderedDict, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from threading import Lock, Thread
from typing import Final
from uuid import UUID

import msgspec
import numpy as np
from django.db import connection
from django.db.models import QuerySet, TextField
from django.db.models.functions import Cast

from vidence.make.review.files import Reviews
from vidence.make.review.groups import Group, grouped, names_of
from vidence.make.review.protocol import Protocol
from vidence.make.review.rates import VERDICTS, ReviewRates, minutes_of, rates_of
from vidence.make.review.revisions import Event, Revision
from vidence.make.review.states import Folded, ItemState
from vidence.records import Record
from vidence.studio.records.items import ItemRow, RevisionRow, TransitionRow
from vidence.studio.records.people import ProjectRow
from vidence.studio.workflow import protocol_of

LEVEL: Final = 0.95
"""The level of the intervals on pages."""
_SEED: Final = 0
_LEFT_OUT: Final = ("claim", "release", "expire", "say")
"""Kinds that nothing counts, unless one states minutes."""
_MOST_KEPT: Final = 8
_BATCH: Final = 500
_COLUMNS: Final = ("item__item_id", "n", "content", "parent", "origin", "by", "at", "sha256")


class _About(msgspec.Struct):
    """What rates need of a wording: nothing of what it says."""

    source_id: object = ""
    tags: object = None


class _ReadPosition(Record):
    """How far the transitions of a project were read."""

    number: int
    chain_sha256: str


class ProjectTally:
    """One project: its review as far as rates need it, and what was computed of it."""

    def __init__(self, project: ProjectRow, protocol: Protocol, place: _ReadPosition) -> None:
        self.protocol_sha256 = project.protocol.sha256
        self.place = place
        self._protocol = protocol
        self._states: dict[str, ItemState] = {}
        self._revisions: dict[str, Revision] = {}
        self._events: list[Event] = []
        self._rates: ReviewRates | None = None
        self._groups: dict[str, tuple[Group, ...]] = {}
        self._events_of: dict[str, list[Event]] = defaultdict(list)
        self._names: dict[str, dict[str, tuple[str, ...]]] = {}
        mine = TransitionRow.objects.filter(project=project, number__lte=place.number)
        self._left_out = set(_LEFT_OUT) - _stating_minutes(mine)
        self._take_states(ItemRow.objects.filter(project=project, current__isnull=False))
        self._take_revisions(RevisionRow.objects.filter(item__project=project))
        self._take_events(mine)

    def add(self, project: ProjectRow, place: _ReadPosition) -> bool:
        """Take in what was done since; False where all has to be read again."""
        fresh = TransitionRow.objects.filter(
            project=project, number__gt=self.place.number, number__lte=place.number
        )
        if _stating_minutes(fresh) & self._left_out:
            return False
        changed = sorted(set(fresh.values_list("item_id", flat=True)))
        for some in _batches(changed):
            self._take_states(ItemRow.objects.filter(pk__in=some, current__isnull=False))
            self._take_revisions(RevisionRow.objects.filter(item__in=some))
        self._take_events(fresh)
        self.place, self._rates, self._groups = place, None, {}
        return True

    def _take_events(self, rows: "QuerySet[TransitionRow]") -> None:
        fresh = list(_events(rows, without=self._left_out))
        self._events += fresh
        for one in fresh:
            self._events_of[one.item_id].append(one)

    def rates(self, *, level: float) -> ReviewRates:
        """The rates, with the intervals of a level."""
        if self._rates is None:
            rng = np.random.default_rng(_SEED)
            shared = Reviews(
                protocol=self._protocol,
                revisions=self._revisions,
                events=tuple(self._shared()),
                folded=Folded(states=self._states, refused=()),
            )
            found = rates_of(shared, rng=rng, level=level)
            self._rates = msgspec.structs.replace(found, minutes=minutes_of(self._events))
        return self._rates

    def _shared(self) -> list[Event]:
        """What was decided of wordings that two people or more have judged: agreement is of nothing else."""
        judged = [one for one in self._events if one.kind in VERDICTS]
        first: dict[str, str] = {}
        several = {one.revision for one in judged if first.setdefault(one.revision, one.by) != one.by}
        return [one for one in judged if one.revision in several]

    def groups(self, key: str) -> tuple[Group, ...]:
        """The rates of the items of each author, reviewer, week or value of a tag.

        Raises:
            UsageError: there is no such key.
        """
        if key not in self._groups:
            if len(self._names) >= _MOST_KEPT:
                self._names.clear()
            names = self._names.get(key, {})
            fresh = [state for name, state in self._states.items() if name not in names]
            names |= names_of(fresh, key, events_of=self._events_of, content=self._content)
            self._names[key] = names
            self._groups[key] = grouped(self._states.values(), names, self._protocol)
        return self._groups[key]

    def _content(self, item_id: str) -> Mapping[str, object]:
        return self._revisions[self._states[item_id].revision].content

    def _take_states(self, rows: "QuerySet[ItemRow]") -> None:
        decoder = msgspec.json.Decoder(ItemState)
        said = rows.order_by("pk").annotate(said=Cast("standing", TextField())).values_list("item_id", "said")
        for name, standing in said.iterator():
            self._states[name] = decoder.decode(standing)
            for names in self._names.values():
                names.pop(name, None)

    def _take_revisions(self, rows: "QuerySet[RevisionRow]") -> None:
        about = msgspec.json.Decoder(_About)
        for name, n, content, *more, sha256 in (
            rows.order_by("item_id", "n").values_list(*_COLUMNS).iterator()
        ):
            if sha256 not in self._revisions:
                said = about.decode(content)
                parent, origin, by, at = more
                self._revisions[sha256] = Revision(
                    item_id=name,
                    n=n,
                    content={"source_id": said.source_id, "tags": said.tags},
                    parent=parent,
                    origin=origin,
                    by=by,
                    at=at,
                    sha256=sha256,
                )


def _events(rows: "QuerySet[TransitionRow]", *, without: Iterable[str]) -> Iterator[Event]:
    decoder = msgspec.json.Decoder(Event)
    some = rows.exclude(kind__in=list(without)).order_by("number").values_list("event", flat=True)
    for one in some.iterator():
        yield decoder.decode(one)


def _stating_minutes(rows: "QuerySet[TransitionRow]") -> set[str]:
    """Which of the kinds that are left out state minutes after all."""
    said = rows.filter(kind__in=_LEFT_OUT, event__contains='"minutes":').exclude(
        event__contains='"minutes":null'
    )
    return set(said.values_list("kind", flat=True).distinct())


def _batches(names: list[int]) -> Iterator[list[int]]:
    for start in range(0, len(names), _BATCH):
        yield names[start : start + _BATCH]


_KEPT: Final[OrderedDict[UUID, ProjectTally]] = OrderedDict()
_LOCK: Final = Lock()


def tally_of(project: ProjectRow) -> ProjectTally:
    """The tally of a project as it stands now.

    What is done while it is read comes in with the next one: states and wordings are read after the place in
    the transitions that the tally is said to be of, so that none of them is older.
    """
    with _LOCK:
        last = TransitionRow.objects.filter(project=project).order_by("-number").first()
        place = _ReadPosition(number=0, chain_sha256="") if last is None else _place(last)
        kept = _KEPT.get(project.public)
        is_same = kept is not None and kept.protocol_sha256 == project.protocol.sha256
        if kept is None or not is_same or not _goes_on(kept, project, place):
            kept = ProjectTally(project, protocol_of(project), place)
        _KEPT[project.public] = kept
        _KEPT.move_to_end(project.public)
        while len(_KEPT) > _MOST_KEPT:
            _KEPT.popitem(last=False)
        return kept


def warm() -> None:
    """Read the tallies of all projects in a thread of its own, so that the first page of one need not."""

    def work() -> None:
        try:
            for project in ProjectRow.objects.select_related("protocol").order_by("slug"):
                tally_of(project).rates(level=LEVEL)
        except Exception:  # the page that needs one reads it
            logging.getLogger(__name__).exception("the rates could not be read ahead")
        finally:
            connection.close()

    Thread(target=work, name="rates", daemon=True).start()


def _goes_on(kept: ProjectTally, project: ProjectRow, place: _ReadPosition) -> bool:
    """Bring a tally up to date; False where it is of other transitions."""
    if kept.place == place:
        return True
    if kept.place.number >= place.number:
        return False
    if kept.place.number:
        there = TransitionRow.objects.filter(project=project, number=kept.place.number).first()
        if there is None or _place(there) != kept.place:
            return False
    return kept.add(project, place)


def _place(row: TransitionRow) -> _ReadPosition:
    return _ReadPosition(number=row.number, chain_sha256=row.chain_sha256)
