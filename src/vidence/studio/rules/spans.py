"""Active time out of beats of the heart that the server has stamped: pure, and never more than has passed."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from vidence.records import Record

Seconds = Annotated[float, Meta(gt=0)]
Kind = Literal["active", "idle"]


class Pulse(Record):
    """Heartbeat settings, in seconds: how often pages send one, and which silence ends a span.

    A page says so every `every_s` while it is seen and there was input or playback in the last `input_s`.
    A silence of more than `gap_s` is not counted. One of more than `idle_s` is kept as idle, unless it is
    longer than `away_s`: then nobody was there.
    """

    every_s: Seconds = 15
    input_s: Seconds = 60
    gap_s: Seconds = 90
    idle_s: Seconds = 300
    away_s: Seconds = 4 * 3600


class Span(Record, omit_defaults=True):
    """Time of one person, on one work. `is_clock_back`: the clock had been set back when it began."""

    kind: Kind
    start: datetime
    end: datetime
    work: str = ""
    n_beats: int = 0
    is_clock_back: bool = False

    @property
    def seconds(self) -> float:
        """How long it is."""
        return (self.end - self.start).total_seconds()


class Beaten(Record):
    """The effect of a heartbeat: spans that it closes, and the span open after it.

    `is_told_again`: it came so soon after the last one that it says nothing new.
    """

    closed: tuple[Span, ...]
    open: Span
    is_told_again: bool = False


def beaten(last: Span | None, at: datetime, work: str, *, pulse: Pulse) -> Beaten:
    """The spans after a beat. Whatever the number of tabs, there is one open span; its end is the last beat.

    A clock that goes back by more than a gap closes the span and begins another that says so; by less, the
    beat counts and the span does not grow.

    Args:
        last: the open span; None if there is none.
        at: when the beat came, by the clock of the server.
        work: what the page is about.
        pulse: the rules.
    """
    fresh = Span(kind="active", start=at, end=at, work=work, n_beats=1)
    if last is None:
        return Beaten(closed=(), open=fresh)
    silent_s = (at - last.end).total_seconds()
    if silent_s < -pulse.gap_s:
        return Beaten(closed=(last,), open=msgspec.structs.replace(fresh, is_clock_back=True))
    if silent_s > pulse.gap_s:
        is_idle = pulse.idle_s < silent_s <= pulse.away_s
        idle = Span(kind="idle", start=last.end, end=at, work=last.work)
        return Beaten(closed=(last, idle) if is_idle else (last,), open=fresh)
    end = max(last.end, at)
    grown = msgspec.structs.replace(last, end=end, n_beats=last.n_beats + 1)
    if work != last.work:
        return Beaten(closed=(grown,), open=msgspec.structs.replace(fresh, start=end, end=end))
    return Beaten(closed=(), open=grown, is_told_again=abs(silent_s) < pulse.every_s / 2)


def is_over(last: Span, now: datetime, *, pulse: Pulse) -> bool:
    """Whether no beat can make an open span longer any more."""
    return abs((now - last.end).total_seconds()) > pulse.gap_s


def active_s(spans: Sequence[Span], *, given: Sequence[Span] = ()) -> float:
    """Return the seconds of work; overlapping spans count once.

    Args:
        spans: what was counted.
        given: corrections that were approved. Active ones add what was missed, and idle ones take away.
    """
    worked = _union([span for span in (*spans, *given) if span.kind == "active"])
    taken = _union([span for span in given if span.kind == "idle"])
    cut = sum(
        (
            max(timedelta(0), min(end, until) - max(start, since))
            for start, end in worked
            for since, until in taken
        ),
        timedelta(0),
    )
    return (sum((end - start for start, end in worked), timedelta(0)) - cut).total_seconds()


def _union(spans: Sequence[Span]) -> list[tuple[datetime, datetime]]:
    """The time that spans cover, in pieces that do not meet."""
    entries: list[tuple[datetime, datetime]] = []
    for start, end in sorted((span.start, span.end) for span in spans):
        if entries and start <= entries[-1][1]:
            entries[-1] = (entries[-1][0], max(entries[-1][1], end))
        else:
            entries.append((start, end))
    return entries
