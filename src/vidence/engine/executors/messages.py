"""What a process that does a part of a session's work and the one that began it say to each other.

One call goes back and forth all the time, `Outbound` for `Inbound`: the driver calls, the worker answers when
it has something to say. Every message of a worker has a number, and is said again until the driver has
acknowledged it, which it does after the commit. So a call may be lost, and the driver alone writes.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from vidence.engine.events import Event
from vidence.engine.session import Todo
from vidence.engine.views import DecodeCount
from vidence.errors import VidenceError
from vidence.records import Reply


@dataclass(frozen=True, kw_only=True, slots=True)
class Find:
    """Is there a reply under this key? Where there is none and `claims` says so, its lease is taken."""

    key: bytes
    claims: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class FindResult:
    """The answer to `Find`: the reply, or whether the lease is now the worker's."""

    reply: Reply | None
    is_claimed: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class PutReply:
    """A reply to be remembered. It is answered after the commit, with True."""

    key: bytes
    reply: Reply


@dataclass(frozen=True, kw_only=True, slots=True)
class Release:
    """The worker lets go of a lease."""

    key: bytes


@dataclass(frozen=True, kw_only=True, slots=True)
class QuestionResult:
    """What was made of one question of a unit."""

    unit: int
    item_id: str
    repeat: int
    what: object


@dataclass(frozen=True, kw_only=True, slots=True)
class ProgressEvent:
    """Something that progress displays need to know."""

    event: Event


@dataclass(frozen=True, kw_only=True, slots=True)
class Did:
    """What was spent and decoded since the last of these messages."""

    asking: tuple[int, int]
    """Tokens read and written for answers."""
    judging: tuple[int, int]
    decoded: DecodeCount


@dataclass(frozen=True, kw_only=True, slots=True)
class Ended:
    """The worker can do nothing more: the error says why."""

    error: VidenceError


Message: TypeAlias = Find | PutReply | Release | QuestionResult | ProgressEvent | Did | Ended


@dataclass(frozen=True, kw_only=True, slots=True)
class Unit:
    """Questions about one video, which one worker does."""

    number: int
    todo: Todo


@dataclass(frozen=True, kw_only=True, slots=True)
class Inbound:
    """What the driver says."""

    acknowledged: int
    """Messages up to this number are committed."""
    answers: Mapping[int, FindResult | bool]
    """By the number of the message."""
    units: Sequence[Unit]
    share: int
    """How many requests to each model this worker may have in flight."""
    part: float
    """Which part of the requests and tokens per minute is its."""
    elsewhere: tuple[float, float]
    """US dollars that others have spent: for answers, for judges."""
    is_last: bool
    """There are no units besides those that the worker has."""
    is_over: bool = False
    """Everything is done: close the models."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Outbound:
    """What a worker says."""

    messages: Sequence[tuple[int, Message]]
    n_wanted: int
    """How many more units it has room for."""
    has_ended: bool
    """Whether it does nothing any more."""
