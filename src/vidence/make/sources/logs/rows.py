"""Convert table rows to events: times, words, classes, with all possible faults."""

import ast
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

from msgspec import Meta

from vidence.ask.files import FieldError
from vidence.catalog import FilePath
from vidence.errors import DataError
from vidence.make.pipeline.material import Event
from vidence.make.sources.event_log import EventLog, logged
from vidence.make.sources.logs.files import beside, csv_rows
from vidence.records import Record
from vidence.text import seconds

_SPACES = re.compile(r"\s+")
_EXPECTED_TIME = "expected seconds (12.5) or HH:MM:SS.ff"


@dataclass(frozen=True, kw_only=True)
class Span:
    """The time of an event, ``[start_s, end_s)`` in seconds."""

    start_s: float
    end_s: float


def span(row: Mapping[str, str], start: str, end: str) -> Span:
    """The span in two columns of a row.

    Raises:
        FieldError: there is none.
    """
    times = {}
    for column in (start, end):
        if (value := seconds(row[column])) is None:
            raise FieldError(column, f"{row[column]!r} found; {_EXPECTED_TIME}, not below 0")
        times[column] = value
    if times[end] <= times[start]:
        raise FieldError(end, f"{row[end]} is not after the start, {row[start]}; expected a later time")
    return Span(start_s=times[start], end_s=times[end])


def class_id(text: str) -> int | None:
    """The class in a cell: -1 for an empty cell, None for an invalid one."""
    stripped = text.strip()
    if not stripped or stripped == "-1":
        return -1
    return int(stripped) if stripped.isdecimal() else None


def given_classes(row: Mapping[str, str]) -> tuple[int, int]:
    """The classes of verb and noun in the log, -1 for an empty or absent cell.

    Raises:
        FieldError: a cell that is no class.
    """
    entries = []
    for name in ("verb_class", "noun_class"):
        if (value := class_id(row.get(name, ""))) is None:
            raise FieldError(name, f"{row[name]!r} found; expected a whole number or nothing")
        entries.append(value)
    return entries[0], entries[1]


# --------------------------------------------------------------------------- words and classes


def plain(text: str) -> str:
    """Lower case, single blanks, no closing full stop.

    >>> plain("  Turn-On  the_tap. ")
    'turn on the tap'
    """
    return _SPACES.sub(" ", re.sub(r"[-_]", " ", text)).strip(" .").lower()


def noun_words(text: str) -> str:
    """A noun of the EPIC logs (head first, separated by colons) in normal word order.

    The rest keeps its order: the narrations of EPIC-KITCHENS-100 have it so in all rows that decide.

    >>> noun_words("container:milk")
    'milk container'
    >>> noun_words("liquid:washing:up")
    'washing up liquid'
    >>> noun_words("handle of cupboard")
    'handle of cupboard'
    """
    head, *rest = text.split(":")
    return plain(" ".join((*rest, head)))


@dataclass(frozen=True, kw_only=True)
class Classes:
    """The classes of verbs or nouns: `ids` holds all of them, `of_text` maps a text to its class.

    A text that stands in several classes is not in `of_text`.
    """

    ids: frozenset[int] = frozenset()
    of_text: Mapping[str, int] = field(default_factory=dict)

    def find(self, text: str, given: int) -> int:
        """The class of a text, from the log or else from the table; -1 if none or ambiguous."""
        return given if given >= 0 else self.of_text.get(text, -1)


def literal_list(text: str) -> list[object] | None:
    """A Python list or tuple literal, parsed without running anything; None if it is not one.

    >>> literal_list("['plate', 'top:plate']")
    ['plate', 'top:plate']
    >>> literal_list("__import__('os')") is None
    True
    """
    try:
        literal_eval: object = ast.literal_eval(text.strip())
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return None
    return list(literal_eval) if isinstance(literal_eval, list | tuple) else None


def literal_texts(cell: str) -> tuple[str, ...]:
    """The texts of a Python list literal; none if the cell holds something else."""
    return tuple(value for value in literal_list(cell or "[]") or () if isinstance(value, str))


def _read_classes(path: Path, *, worded: Callable[[str], str]) -> Classes:
    """Read a table with the columns ``id``, ``key``, ``instances`` (upper or lower case).

    Args:
        path: a CSV file; ``instances`` are Python lists, read as literals and never run.
        worded: how texts are written, the same as for the events.

    Raises:
        DataError: the file cannot be read, has other columns, or a bad row; with its line.
    """
    ids: list[int] = []
    owners: dict[str, set[int]] = {}
    for where, row in csv_rows(path, needs=("id", "key", "instances")):
        if isinstance(row, FieldError):
            raise DataError(f"{where}: {row}")
        result, texts = row["id"], literal_list(row["instances"])
        if not result.isdecimal():
            raise DataError(f"{where}: id: {result!r} found; expected a whole number from 0")
        if texts is None or not all(isinstance(text, str) for text in texts):
            raise DataError(f"{where}: instances: expected a list of words such as ['take', 'pick-up']")
        ids.append(int(result))
        for text in (row["key"], *texts):
            owners.setdefault(worded(str(text)), set()).add(int(result))
    return Classes(
        ids=frozenset(ids), of_text={text: next(iter(of)) for text, of in owners.items() if len(of) == 1}
    )


class ClassSettings(Record):
    """Synonym tables of verbs and nouns; by default those next to the log."""

    verb_classes: Annotated[FilePath, Meta(description="table of verb classes, a CSV file")] = ""
    noun_classes: Annotated[FilePath, Meta(description="table of noun classes, a CSV file")] = ""

    def builder(
        self, log: Path, *, worded: Callable[[str], str], noun_worded: Callable[[str], str]
    ) -> "LogBuilder":
        """Read the tables and start a log; `log` is its file or folder.

        Raises:
            DataError: a table that cannot be used.
        """
        verbs = Path(self.verb_classes) if self.verb_classes else beside(log, "verb_classes.csv")
        nouns = Path(self.noun_classes) if self.noun_classes else beside(log, "noun_classes.csv")
        return LogBuilder(
            verbs=_read_classes(verbs, worded=worded) if verbs else Classes(),
            nouns=_read_classes(nouns, worded=noun_worded) if nouns else Classes(),
        )


class LogBuilder:
    """Collects a log's events: fills in classes, keeps ids unique, notes oddities."""

    def __init__(self, *, verbs: Classes, nouns: Classes) -> None:
        self.verbs, self.nouns = verbs, nouns
        self.events: list[Event] = []
        self.problems: list[str] = []
        self._places: dict[str, str] = {}
        self._classless: dict[tuple[str, str], list[str]] = {}

    @contextmanager
    def row(self, where: str) -> Iterator[None]:
        """Context for one row, which is left out if reading it raises a `FieldError`."""
        try:
            yield
        except FieldError as fault:
            self.problems.append(f"{where}: {fault}")

    def add(self, where: str, event: Event) -> None:
        """Add an event from the row at `where`.

        Raises:
            FieldError: it lacks a value, or has the id of another one.
        """
        for name, value in (("verb", event.verb), ("noun", event.noun), ("video_id", event.video_id)):
            if not value:
                raise FieldError(name, "empty; expected a value")
        if (before := self._places.get(event.event_id)) is not None:
            reason = f"{event.event_id!r} was used at {before} before; expected each id once"
            raise FieldError("id", reason)
        self._places[event.event_id] = where
        self.events.append(event)
        for kind, table, text, number in (
            ("verb", self.verbs, event.verb, event.verb_class),
            ("noun", self.nouns, event.noun, event.noun_class),
        ):
            if table.ids and (number < 0 or number not in table.ids):
                self._classless.setdefault((kind, f"{text!r} (class {number})"), []).append(where)

    def event(
        self,
        event_id: str,
        row: Mapping[str, object],
        when: Span,
        *,
        verb: tuple[str, int],
        nouns: Sequence[tuple[str, int]],
        noun: tuple[str, int] | None = None,
    ) -> Event:
        """The event of a row, with the log's verb and noun classes, -1 for none.

        Args:
            event_id: its id.
            row: has ``video_id`` and ``narration``.
            when: its span.
            verb: what is done.
            nouns: everything that is named.
            noun: what it is done to; the first of `nouns` where it is not given.
        """
        noun = nouns[0] if noun is None else noun
        return Event(
            event_id=event_id,
            video_id=str(row["video_id"]),
            start_s=when.start_s,
            end_s=when.end_s,
            narration=str(row["narration"]),
            verb=verb[0],
            noun=noun[0],
            verb_class=self.verbs.find(*verb),
            noun_class=self.nouns.find(*noun),
            nouns=tuple(text for text, _ in nouns),
            noun_classes=tuple(self.nouns.find(*pair) for pair in nouns),
        )

    def log(self, where: Path, extra: Sequence[str] = ()) -> EventLog:
        """The whole log.

        Raises:
            DataError: no event at all.
        """
        notes = [
            f"{places[0]}: {kind} {text} is in no class, or in several; it counts by its own words"
            + (f" (and in {len(places) - 1} more rows)" if len(places) > 1 else "")
            for (kind, text), places in self._classless.items()
        ]
        return logged(self.events, problems=self.problems, notes=[*extra, *notes], where=where)
