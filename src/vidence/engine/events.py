"""What a progress display needs to know; the command line draws it, everybody else may ignore it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from vidence.records import Failed, Record, Trial


@dataclass(frozen=True, kw_only=True)
class Started:
    """A run begins: how many trials are planned, and how many of them an earlier session answered.

    `notes` say what is special about the questions, `problems` which lines could not be used.
    """

    n_planned: int
    n_answered_before: int
    notes: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class TrialStored:
    """One trial is stored. `cost` is in US dollars, 0 where no price is known or the reply was remembered."""

    trial: Trial
    cost: float


@dataclass(frozen=True, kw_only=True)
class Waiting:
    """The model did not answer and will be asked again in `wait_s` seconds."""

    reason: str
    wait_s: float
    n_allowed: int


@dataclass(frozen=True, kw_only=True)
class Away:
    """The model does not answer; sent every second until it does, or until patience is spent.

    `left_s` is the patience that is left, `wait_s` the time to the next question whether it is back.
    `has_answered` tells a server that went away from one that was never there.
    """

    reason: str
    left_s: float
    wait_s: float
    has_answered: bool


@dataclass(frozen=True, kw_only=True)
class Back:
    """The model answers again, after so many seconds."""

    after_s: float


@dataclass(frozen=True, kw_only=True)
class Trouble:
    """Something is wrong with a video or with a machine of a cluster; the run goes on."""

    message: str


@dataclass(frozen=True, kw_only=True)
class BatchNews:
    """A batch was sent, or how far it is."""

    message: str


@dataclass(frozen=True, kw_only=True)
class ExaminedOne:
    """A diagnostic is done with one question; its finding is stored."""

    item_id: str
    finding: Record | Failed


@dataclass(frozen=True, kw_only=True)
class JobDone:
    """One job of a construction step is done; `failed` says why nothing came of it."""

    name: str
    failed: Failed | None = None


Event: TypeAlias = Started | TrialStored | Waiting | Away | Back | BatchNews | Trouble | ExaminedOne | JobDone
Listener: TypeAlias = Callable[[Event], None]
