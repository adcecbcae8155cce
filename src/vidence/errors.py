"""The tree of errors.

An error is raised when the *run* (or the command) cannot go on. What went wrong with one item is
data: an `Outcome` (see `records.py`). Every message gives the value seen, what was expected, and
what to do.

    VidenceError
    ├── UsageError                 an invalid request by the caller
    │   ├── TrustError             a file needs a key, host or code that the user must allow
    │   └── UnknownNameError       no such benchmark, model, selector, reader, ...
    ├── DataError                  a file of questions or answers is invalid
    │   └── MissingMediaError      videos that the questions name are missing
    ├── MediaError                 a video or an image cannot be read
    │   └── DecodeTimeoutError     ... within its deadline
    ├── ModelError                 a model did not answer
    │   ├── TransientModelError    ... this time (429, 5xx, timeout); a retry may succeed
    │   ├── RejectedRequestError   ... and will never answer this request
    │   ├── AccessError            ... and will answer no request (wrong key, no such model)
    │   │   └── MissingKeyError    ... because there is no key; nothing was sent
    │   ├── NoVerdictsError        a judge replies without parsable verdicts
    │   └── ServerDownError        ... any request any more; the run stops
    ├── StoreError                 a run folder or the reply cache is unusable
    ├── AccountError               a construction step lost or duplicated something
    ├── LaterError                 the answer comes with a later pass
    ├── LostClusterError           the head of a cluster is gone
    └── BudgetSpentError           the spending limit of the run is reached
"""

import difflib
from collections.abc import Iterable
from pathlib import Path


class VidenceError(Exception):
    """Base of all errors that vidence raises on purpose."""


def cause(error: Exception) -> str:
    """Return why a call failed, without the number and the path that the system puts around its words.

    >>> cause(FileNotFoundError(2, "No such file or directory", "plan.toml"))
    'No such file or directory'
    """
    return getattr(error, "strerror", None) or str(error)


class UsageError(VidenceError):
    """An invalid request by the caller; the message says what would be valid."""


class TrustError(UsageError):
    """A plan or configuration needs a key, host or code that the user has not allowed; none was used."""


_FOR_QUESTIONS = (
    ". For a data set on the hub give hf:OWNER/NAME to vidence get, then to vidence run; for questions of "
    "your own give the path of their file, with --map where its columns have other names"
)
_FOR_MODELS = (
    ". Name a model as PROVIDER:MODEL, such as openai:gpt-4.1, or openai:MODEL?base_url=ADDRESS for a server "
    "of your own"
)
_OTHER_WAYS = {"benchmark": _FOR_QUESTIONS, "release": _FOR_QUESTIONS, "model": _FOR_MODELS}


class UnknownNameError(UsageError):
    """No plug-in of that kind has this name."""

    def __init__(self, kind: str, name: str, known: Iterable[str]) -> None:
        self.kind = kind
        self.name = name
        self.known = tuple(sorted(known))
        near = difflib.get_close_matches(name.rpartition("/")[2].lower(), self.known, n=1, cutoff=0.5)
        near = near or difflib.get_close_matches(name, self.known, n=1, cutoff=0.5)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        more = _OTHER_WAYS.get(kind, "")
        listed = ", ".join(self.known) or "none"
        super().__init__(f"there is no {kind} named {name!r}.{hint} Known: {listed}{more}")

    def __reduce__(self) -> tuple[type, tuple[str, str, tuple[str, ...]]]:
        return (UnknownNameError, (self.kind, self.name, self.known))


class DataError(VidenceError):
    """A file of questions or answers is invalid."""


class MissingMediaError(DataError):
    """Videos or images that the questions name are missing."""

    def __init__(self, message: str, missing: Iterable[Path | str] = ()) -> None:
        self.missing = tuple(missing)
        super().__init__(message)


class MediaError(VidenceError):
    """A video or image cannot be read; the message names the file and, if known, the frame."""


class DecodeTimeoutError(MediaError):
    """A decoder exceeded its deadline and was killed."""


class ModelError(VidenceError):
    """A model did not answer."""


class TransientModelError(ModelError):
    """A model did not answer this time (429, 5xx, broken connection, timeout).

    `retry_after_s` is the wait that the server asked for, in seconds, or None. `is_overload` distinguishes an
    overloaded server from a broken one; `is_server_error` means the server's fault (5xx), so that sending
    fewer requests may help; `is_unreachable` means that there was no connection or it broke.
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
    """The server will never answer this request (most 4xx)."""


class AccessError(ModelError):
    """The server will answer no request of this run: wrong key, no such model, no such route."""


class MissingKeyError(AccessError):
    """The server requires a key and none is known; nothing was sent."""


class NoVerdictsError(ModelError):
    """A judge gives no parsable verdicts; scores are unchanged."""


class ServerDownError(ModelError):
    """The server stopped answering; the run stops, and everything is kept."""


class StoreError(VidenceError):
    """A run folder or the reply cache is unusable: older format, in use, disk full, damaged."""


class AccountError(VidenceError):
    """A construction step lost, duplicated or invented something: inputs and outputs do not match."""


class LaterError(VidenceError):
    """The request is part of a batch; a later pass has its answer."""


class LostClusterError(VidenceError):
    """The head of a cluster is gone; the same command continues with the rest."""


class BudgetSpentError(VidenceError):
    """The run's spending limit is reached; answers so far are kept."""
