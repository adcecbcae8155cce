"""Events of the engine for progress displays."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from vidence.records import Failed, Record, Trial


@dataclass(frozen=True, kw_only=True)
class Started:
    """A run starts: the number of planned trials, and how many an earlier session has answered.

    `notes` describe special features of the questions, `problems` the lines that could not be used.
    """

    n_planned: int
    n_answered_before: int
    notes: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class TrialStored:
    """A trial is stored. `cost` is in US dollars; 0 if the price is unknown or the reply was cached."""

    trial: Trial
    cost: float


@dataclass(frozen=True, kw_only=True)
class Waiting:
    """The model did not answer and will be tried again in `wait_s` seconds."""

    reason: str
    wait_s: float
    n_allowed: int


@dataclass(frozen=True, kw_only=True)
class Away:
    """The model does not answer; sent every second until it does or until patience runs out.

    `left_s` is the remaining patience, `wait_s` the time to the next probe. `has_answered` distinguishes a
    server that went down from one that never answered.
    """

    reason: str
    left_s: float
    wait_s: float
    has_answered: bool


@dataclass(frozen=True, kw_only=True)
class Back:
    """The model answers again, after this many seconds."""

    after_s: float


@dataclass(frozen=True, kw_only=True)
class Trouble:
    """A problem with a video or with a machine of a cluster; the run continues."""

    message: str


@dataclass(frozen=True, kw_only=True)
class BatchNews:
    """A batch was sent, or has progressed."""

    message: str


@dataclass(frozen=True, kw_only=True)
class ExaminedOne:
    """A diagnostic has examined a question; its finding is stored."""

    item_id: str
    finding: Record | Failed


@dataclass(frozen=True, kw_only=True)
class JobDone:
    """A job of a construction step has ended; `failed` has the reason if it failed."""

    name: str
    failed: Failed | None = None


Event: TypeAlias = Started | TrialStored | Waiting | Away | Back | BatchNews | Trouble | ExaminedOne | JobDone
Listener: TypeAlias = Callable[[Event], None]
