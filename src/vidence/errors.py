"""What can go wrong, as one tree.

An error is raised when the *run* (or the command) cannot go on. What went wrong with one item is
data: an `Outcome` (see `records.py`). Every message gives the value seen, what was expected, and
what to do.

    VidenceError
    ├── UsageError                 the caller asked for something that makes no sense
    │   ├── TrustError             a file wants what needs the user's word: a key, a host, code
    │   └── UnknownNameError       no such benchmark, model, selector, reader, ...
    ├── DataError                  a file of questions or answers is not what it should be
    │   └── MissingMediaError      videos that the questions name are not there
    ├── MediaError                 a video or an image cannot be read
    │   └── DecodeTimeoutError     ... within its deadline
    ├── ModelError                 a model did not answer
    │   ├── TransientModelError    ... this time (429, 5xx, time-out); worth another try
    │   ├── RejectedRequestError   ... and will not answer this request
    │   ├── AccessError            ... and will answer no request (wrong key, no such model)
    │   │   └── MissingKeyError    ... since there is no key; nothing was sent
    │   ├── NoVerdictsError        a judge replies, and gives no verdicts that can be read
    │   └── ServerDownError        ... nor anybody else any more; the run stops
    ├── StoreError                 a run folder or the reply memory cannot be used
    ├── AccountError               a step of making questions lost or doubled something
    ├── LaterError                 the answer comes with the next wave of a batch
    ├── LostClusterError           the head of a cluster is gone
    └── BudgetSpentError           the spending limit of the run is reached
"""

import difflib
from collections.abc import Iterable
from pathlib import Path


class VidenceError(Exception):
    """The root of every error that vidence raises on purpose."""


def cause(error: Exception) -> str:
    """Return why a call failed, without the number and the path that the system puts around its words.

    >>> cause(FileNotFoundError(2, "No such file or directory", "plan.toml"))
    'No such file or directory'
    """
    return getattr(error, "strerror", None) or str(error)


class UsageError(VidenceError):
    """The caller asked for something that makes no sense; the message says what would."""


class TrustError(UsageError):
    """A plan or a configuration wants a key, a host or code that the user has not allowed; none was asked."""


_OTHER_WAYS = (
    ". For a data set on the hub give hf:OWNER/NAME to vidence get, then to vidence run; for questions of "
    "your own give the path of their file, with --map where its columns have other names"
)


class UnknownNameError(UsageError):
    """No thing of that kind has this name."""

    def __init__(self, kind: str, name: str, known: Iterable[str]) -> None:
        self.kind = kind
        self.name = name
        self.known = tuple(sorted(known))
        near = difflib.get_close_matches(name.rpartition("/")[2].lower(), self.known, n=1, cutoff=0.5)
        near = near or difflib.get_close_matches(name, self.known, n=1, cutoff=0.5)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        more = _OTHER_WAYS if kind in ("benchmark", "release") else ""
        listed = ", ".join(self.known) or "none"
        super().__init__(f"there is no {kind} named {name!r}.{hint} Known: {listed}{more}")

    def __reduce__(self) -> tuple[type, tuple[str, str, tuple[str, ...]]]:
        return (UnknownNameError, (self.kind, self.name, self.known))


class DataError(VidenceError):
    """A file of questions or answers is not what it should be."""


class MissingMediaError(DataError):
    """Videos or images that the questions name are not there."""

    def __init__(self, message: str, missing: Iterable[Path | str] = ()) -> None:
        self.missing = tuple(missing)
        super().__init__(message)


class MediaError(VidenceError):
    """A video or an image cannot be read; the message names the file and, where known, the frame."""


class DecodeTimeoutError(MediaError):
    """A decoder did not finish before its deadline and was killed."""


class ModelError(VidenceError):
    """A model did not answer."""


class TransientModelError(ModelError):
    """A model did not answer this time (429, 5xx, broken connection, time-out).

    `retry_after_s` is the wait that the server asked for, in seconds, or None.
    `is_overload` tells a server that has too much to do from one that is broken; `is_server_error` that the
    fault is the server's (5xx), so that it is worth a try to send less at once; `is_unreachable` that nothing
    was answered at all, because there was no connection or it broke.
    """

    def __init__(
        self,
        message: str,
        *,
        retry_after_s: float | None = None,
        is_overload: bool = False,
        is_server_error: bool = False,
        is_unreachable: bool = False,
    ) -> None:
        self.retry_after_s = retry_after_s
        self.is_overload = is_overload
        self.is_server_error = is_server_error
        self.is_unreachable = is_unreachable
        super().__init__(message)

    @property
    def is_outage(self) -> bool:
        """Whether the server may be down for everyone, so that waiting can help."""
        return self.is_overload or self.is_server_error or self.is_unreachable


class RejectedRequestError(ModelError):
    """The server will not answer this request however often it is sent (most 4xx)."""


class AccessError(ModelError):
    """The server will answer no request of this run: wrong key, no such model, no such route."""


class MissingKeyError(AccessError):
    """The server wants a key and none is known, so that nothing was sent."""


class NoVerdictsError(ModelError):
    """A judge gives no verdicts that can be read; the scores stay as they were."""


class ServerDownError(ModelError):
    """The server stopped answering; the run stops, and everything is kept."""


class StoreError(VidenceError):
    """A run folder or the reply memory cannot be used: older format, in use, disk full, damaged."""


class AccountError(VidenceError):
    """A step of making questions lost, doubled or invented something: what came in is not what came out."""


class LaterError(VidenceError):
    """What was asked goes with a batch: the same question has its answer in a later pass."""


class LostClusterError(VidenceError):
    """The head of a cluster is gone; the same command goes on with what is left."""


class BudgetSpentError(VidenceError):
    """The spending limit of the run is reached; what was answered is kept."""
