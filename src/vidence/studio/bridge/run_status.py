"""How runs stand: how far each is, its score, what it cost, when it began."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from threading import Lock
from typing import Final, Literal

import msgspec

from vidence.engine.store import RunStore, is_in_use
from vidence.errors import VidenceError
from vidence.report.results import Run
from vidence.report.run_list import ListedRun, listed
from vidence.report.side_by_side import run_names
from vidence.studio.bridge.later import Later, Worker
from vidence.studio.bridge.places import ViewablePath
from vidence.studio.bridge.runs import open_head
from vidence.studio.records.index import IndexRunRow
from vidence.text import visible

_MOST: Final = 1_000
_UNITS: Final = ((86_400, "day"), (3_600, "hour"), (60, "minute"), (1, "second"))
_STATUS: Final = {"failures": "complete, some failed", "decided": "decided early"}


@dataclass(frozen=True, kw_only=True)
class RunStanding:
    """One run in a list. `is_fresh` is whether its score is that of all rows that are there.

    Of its `n_rows` rows `n_read` are in the index; all, where it cannot be read.
    """

    place: ViewablePath
    name: str
    listed: ListedRun
    is_fresh: bool = True
    head: Run | None = None
    n_rows: int = 0
    n_read: int = 0

    @property
    def is_running(self) -> bool:
        """Return whether the run is still going on."""
        return self.listed.status == "running"

    @property
    def is_unread(self) -> bool:
        """Whether rows are missing in the index."""
        return self.n_read < self.n_rows

    @property
    def status(self) -> str:
        """How far it is, in words."""
        if not (self.is_fresh or self.is_running):
            return "being read"
        return _STATUS.get(self.listed.status, self.listed.status)

    @property
    def score(self) -> str:
        """The score in per cent; empty without one."""
        return "" if self.listed.score is None else f"{100 * self.listed.score:.1f}"

    @property
    def interval(self) -> str:
        """Its interval in per cent; empty without one."""
        low, high = self.listed.low, self.listed.high
        return "" if low is None or high is None else f"{100 * low:.1f} to {100 * high:.1f}"

    @property
    def cost(self) -> str:
        """What it cost, in dollars; empty without prices."""
        return "" if self.listed.cost is None else f"{self.listed.cost:,.2f} $"


class Standings:
    """Knows the lines of runs; a run that keeps its line is read at once, others are added up in a thread.

    Args:
        wait_s: how long to wait for all that are asked for.
    """

    def __init__(self, *, wait_s: float) -> None:
        self._wait_s = wait_s
        self._later: Later[ListedRun] = Later(Worker("viewer-lines"), most=_MOST)
        self._last: dict[str, ListedRun] = {}
        self._lock = Lock()

    def of(self, places: Sequence[ViewablePath], *, clock: Callable[[], float]) -> tuple[RunStanding, ...]:
        """Each run; what cannot be read says why.

        Args:
            places: the runs.
            clock: seconds that only grow.
        """
        until_s = clock() + self._wait_s
        index = {run.place: run for run in IndexRunRow.objects.filter(place__in=[p.id for p in places])}
        standings: list[RunStanding] = []
        for place in places:
            try:
                head = open_head(place.folder)
                with RunStore(place.folder) as store:
                    _, n_rows = store.line()
                line, is_fresh = self._line(place, n_rows, wait_s=max(0.0, until_s - clock()))
            except VidenceError as error:
                gone = ListedRun(folder=place.path, name=place.name, problem=visible(str(error)))
                standings.append(RunStanding(place=place, name=place.name, listed=gone))
                continue
            run = index.get(place.id, IndexRunRow())
            standings.append(
                RunStanding(
                    place=place,
                    name="",
                    listed=line,
                    is_fresh=is_fresh,
                    head=head,
                    n_rows=n_rows,
                    n_read=n_rows if run.problem else min(run.last_seq, n_rows),
                )
            )
        return _named(standings)

    def _line(self, place: ViewablePath, n_rows: int, *, wait_s: float) -> tuple[ListedRun, bool]:
        """The line of a run, and whether it is that of now: otherwise the one before, or how it began."""
        key = (place.id, n_rows, _state(place))
        line = self._later.get(key, partial(listed, place.folder), wait_s=wait_s)
        with self._lock:
            if line is not None:
                self._last[place.id] = line
                return line, True
            last = self._last.get(place.id, ListedRun(folder=place.path))
        status: Literal["running", "not begun"] = "running" if is_in_use(place.folder) else "not begun"
        return msgspec.structs.replace(last, status=status), False


def _state(place: ViewablePath) -> tuple[object, ...]:
    """What changes when a run begins, goes on or ends."""
    try:
        names = sorted(path.name for path in place.folder.glob("*.sqlite*"))
        return (*names, (place.folder / "plan.toml").stat().st_mtime_ns)
    except OSError:
        return ()


def _named(standings: Sequence[RunStanding]) -> tuple[RunStanding, ...]:
    heads = [standing.head for standing in standings if standing.head is not None]
    names = iter(run_names(heads))
    return tuple(
        replace(
            standing,
            name=visible(standing.name or next(names)),
            listed=msgspec.structs.replace(standing.listed, problem=visible(standing.listed.problem)),
        )
        for standing in standings
    )


def age(started_at: str, now: datetime) -> str:
    """Format how long ago a run began, in its largest unit; empty if unknown.

    >>> age("2026-01-01T00:00:00+00:00", datetime(2026, 1, 3, 5, tzinfo=UTC))
    '2 days'
    """
    try:
        began = datetime.fromisoformat(started_at)
    except ValueError:
        return ""
    past_s = (now - (began if began.tzinfo else began.replace(tzinfo=UTC))).total_seconds()
    for unit_s, name in _UNITS:
        if past_s >= unit_s:
            n = int(past_s // unit_s)
            return f"{n} {name}{'s' if n > 1 else ''}"
    return "now"
