"""From the fields of a row to an event: times, words, classes, and everything that can be wrong with them."""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from vidence.catalog import take_options
from vidence.make.events.log import EventLog, logged
from vidence.make.logs import _classes
from vidence.make.logs._classes import Classes
from vidence.make.logs._files import Fault, beside
from vidence.make.pipeline.material import Event

_CLOCK = re.compile(r"(?:(\d+):)?(\d+):(\d+(?:\.\d+)?)")
_EXPECTED_TIME = "expected seconds (12.5) or HH:MM:SS.ff"


def seconds(text: str) -> float | None:
    """A time in seconds, from seconds or from ``HH:MM:SS.ff`` or ``MM:SS.ff``; None for anything else.

    >>> seconds("00:01:02.50"), seconds("3.25"), seconds("-1"), seconds("soon")
    (62.5, 3.25, None, None)
    """
    if found := _CLOCK.fullmatch(text.strip()):
        hours, minutes, rest = found.groups()
        return round(3600 * int(hours or 0) + 60 * int(minutes) + float(rest), 6)
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) and value >= 0 else None


@dataclass(frozen=True, kw_only=True)
class Span:
    """When something happens, ``[start_s, end_s)`` in seconds."""

    start_s: float
    end_s: float


def span(row: Mapping[str, str], start: str, end: str) -> Span | Fault:
    """The span in two columns of a row, or what is wrong with it."""
    times = {}
    for column in (start, end):
        if (value := seconds(row[column])) is None:
            return Fault(field=column, reason=f"{row[column]!r} found; {_EXPECTED_TIME}, not below 0")
        times[column] = value
    if times[end] <= times[start]:
        return Fault(
            field=end, reason=f"{row[end]} is not after the start, {row[start]}; expected a later time"
        )
    return Span(start_s=times[start], end_s=times[end])


def class_id(text: str) -> int | None:
    """A class as it stands in a cell: -1 for an empty cell, None for what is no class."""
    stripped = text.strip()
    if not stripped or stripped == "-1":
        return -1
    return int(stripped) if stripped.isdecimal() else None


def given_classes(row: Mapping[str, str]) -> tuple[int, int] | Fault:
    """The classes of verb and noun as the log gives them, -1 for an empty or absent cell."""
    found = []
    for name in ("verb_class", "noun_class"):
        if (value := class_id(row.get(name, ""))) is None:
            return Fault(field=name, reason=f"{row[name]!r} found; expected a whole number or nothing")
        found.append(value)
    return found[0], found[1]


@dataclass(frozen=True, kw_only=True)
class Tables:
    """The class tables that belong to a log; empty where there are none."""

    verbs: Classes = field(default_factory=Classes)
    nouns: Classes = field(default_factory=Classes)


@dataclass(frozen=True, kw_only=True)
class TableOptions:
    """Where the class tables are: ``verb_classes=FILE``, ``noun_classes=FILE``; otherwise beside the log.

    Raises:
        UsageError: another option.
    """

    verbs: Path | None = None
    nouns: Path | None = None

    @classmethod
    def taken(cls, owner: str, options: Mapping[str, str]) -> "TableOptions":
        """The options as a user wrote them."""
        found = take_options(owner, options, {"verb_classes": Path, "noun_classes": Path})
        paths = {key: value for key, value in found.items() if isinstance(value, Path)}
        return cls(verbs=paths.get("verb_classes"), nouns=paths.get("noun_classes"))

    def tables(self, log: Path, *, worded: Callable[[str], str], noun_worded: Callable[[str], str]) -> Tables:
        """Read them; `log` is the log or its folder.

        Raises:
            DataError: a table that cannot be used.
        """
        verbs = self.verbs or beside(log, "verb_classes.csv")
        nouns = self.nouns or beside(log, "noun_classes.csv")
        return Tables(
            verbs=_classes.read(verbs, worded=worded) if verbs else Classes(),
            nouns=_classes.read(nouns, worded=noun_worded) if nouns else Classes(),
        )


class Gathering:
    """Takes the events of a log one by one: classes filled in, ids unique, oddities noted."""

    def __init__(self, tables: Tables) -> None:
        self.tables = tables
        self.events: list[Event] = []
        self.problems: list[str] = []
        self._places: dict[str, str] = {}
        self._classless: dict[tuple[str, str], list[str]] = {}

    def refuse(self, where: str, fault: Fault) -> None:
        """A row that is left out."""
        self.problems.append(fault.at(where))

    def add(self, where: str, event: Event | Fault) -> None:
        """An event of the row at `where`, or what is wrong with it."""
        if isinstance(event, Fault):
            self.refuse(where, event)
            return
        for name, value in (("verb", event.verb), ("noun", event.noun), ("video_id", event.video_id)):
            if not value:
                self.refuse(where, Fault(field=name, reason="empty; expected a value"))
                return
        if (before := self._places.get(event.event_id)) is not None:
            reason = f"{event.event_id!r} was used at {before} before; expected each id once"
            self.refuse(where, Fault(field="id", reason=reason))
            return
        self._places[event.event_id] = where
        self.events.append(event)
        for kind, text, found in (
            ("verb", event.verb, event.verb_class),
            ("noun", event.noun, event.noun_class),
        ):
            table = self._table(kind)
            if table.ids and (found < 0 or found not in table.ids):
                self._classless.setdefault((kind, f"{text!r} (class {found})"), []).append(where)

    def _table(self, kind: str) -> Classes:
        return self.tables.verbs if kind == "verb" else self.tables.nouns

    def verb_class(self, text: str, given: int) -> int:
        """The class of a verb: as the log gives it, otherwise by the table; -1 for an unknown one."""
        return given if given >= 0 else self.tables.verbs.find(text)

    def noun_class(self, text: str, given: int) -> int:
        """The class of a noun: as the log gives it, otherwise by the table; -1 for an unknown one."""
        return given if given >= 0 else self.tables.nouns.find(text)

    def log(self, where: Path, extra: Sequence[str] = ()) -> EventLog:
        """All of it.

        Raises:
            DataError: no event at all.
        """
        notes = [
            f"{places[0]}: {kind} {text} is in no class, or in several; it counts by its own words"
            + (f" (and in {len(places) - 1} more rows)" if len(places) > 1 else "")
            for (kind, text), places in self._classless.items()
        ]
        return logged(self.events, problems=self.problems, notes=[*extra, *notes], where=where)
