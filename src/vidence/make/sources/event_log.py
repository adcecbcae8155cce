"""What an event log importer yields: the narrated events of each video, and unusable lines."""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from vidence.errors import DataError
from vidence.make.pipeline.material import Event
from vidence.records import by_key

_MOST_SHOWN = 3


@dataclass(frozen=True, kw_only=True)
class EventLog:
    """Narrated events by video, ordered by start, end, and id.

    `problems` are rows that were left out, `notes` what is odd and was kept; each with file and line.
    """

    events: Mapping[str, tuple[Event, ...]]
    problems: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def n_events(self) -> int:
        """The number of events in all videos."""
        return sum(len(event) for event in self.events.values())


class EventLogReader(Protocol):
    """A reader of one event log format; one file in ``make/sources/logs/``.

    `needs` are the columns without which a file cannot be used.
    """

    needs: tuple[str, ...]

    def read(self, path: Path) -> EventLog:
        """The events of a file, or of every log file in a folder.

        Raises:
            DataError: there is nothing at `path`, or not one row in it can be used.
        """


def in_time(events: Sequence[Event]) -> tuple[Event, ...]:
    """The events ordered by start, end, and id."""
    return tuple(sorted(events, key=lambda e: (e.start_s, e.end_s, e.event_id)))


def logged(
    events: Sequence[Event], *, problems: Sequence[str], notes: Sequence[str], where: Path
) -> EventLog:
    """Group events by video; count overlaps and those out of order.

    Args:
        events: in the order of the files.
        problems: what was left out.
        notes: what was kept and is odd.
        where: the file or folder, for messages.

    Raises:
        DataError: there is no event at all.
    """
    if not events:
        text = "; ".join(problems[:_MOST_SHOWN]) or "no row was found"
        more = len(problems) - _MOST_SHOWN
        raise DataError(
            f"{where} holds no event that can be used: {text}" + (f"; and {more} more" if more > 0 else "")
        )
    values = by_key((event.video_id, event) for event in events)
    ordered = {video_id: in_time(values[video_id]) for video_id in sorted(values)}
    pairs = [(a, b) for log in values.values() for a, b in itertools.pairwise(log)]
    n_unsorted = sum(b.start_s < a.start_s for a, b in pairs)
    n_overlapping = sum(b.start_s < a.end_s for log in ordered.values() for a, b in itertools.pairwise(log))
    messages = list(notes)
    if n_unsorted:
        messages.append(
            f"{where}: {n_unsorted} events stand after a later one; all were sorted by their start"
        )
    if n_overlapping:
        messages.append(
            f"{where}: {n_overlapping} of {len(pairs)} events begin before the one before them ends"
        )
    return EventLog(events=ordered, problems=tuple(problems), notes=tuple(messages))
