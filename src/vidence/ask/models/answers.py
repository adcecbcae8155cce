"""Interpret a server's answer: a reply, a refusal, or an error of vidence.

The key is never shown: it is removed from all server text before that enters a message.
"""

import email.utils
import json
import logging
import math
import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Literal, Protocol, TypeAlias, TypeVar
from urllib.parse import urlsplit

import msgspec

from vidence.ask.files import json_or_none
from vidence.errors import AccessError, ModelError, RejectedRequestError, TransientModelError

_log = logging.getLogger(__name__)

DecodedT = TypeVar("DecodedT")
IndexedT = TypeVar("IndexedT", bound="Indexed")
Finish: TypeAlias = Literal["stop", "length", "refusal", "other"]

MAX_QUOTED_CHARACTERS = 500
_OVERLOADED = {429, 503, 529}
_NO_ACCESS = {401, 402, 403, 404, 405}
_NO_ACCESS_CODES = {"insufficient_quota", "invalid_api_key", "model_not_found", "billing_not_active"}
_FILTERED_CODES = {"content_filter", "content_policy_violation"}
# How tokenizers that give raw vocabulary entries write a space or a line end.
_BLANKS = " \t\r\n\u0120\u2581\u010a"
_FINISH: dict[str, Finish] = {
    "stop": "stop",
    "eos": "stop",
    "stop_sequence": "stop",
    "end_turn": "stop",
    "tool_use": "stop",
    "length": "length",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "content_filter": "refusal",
    "refusal": "refusal",
    "safety": "refusal",
}


@dataclass(frozen=True, kw_only=True)
class Server:
    """Where requests go, and with which key.

    `key_env` names the environment variable of `key`; `key` is not in the repr. `ends` says how an address of
    this kind ends, for messages.
    """

    address: str
    ends: str = "often in /v1"
    key_env: str
    key: str = field(repr=False)

    @cached_property
    def host(self) -> str:
        """Return the host name, in lower case."""
        return urlsplit(self.address).hostname or ""

    def hide_key(self, text: str) -> str:
        """Return the text without the key."""
        return text.replace(self.key, "[key]") if self.key else text


@dataclass(frozen=True, kw_only=True)
class Answer:
    """An HTTP answer: status, headers (lower-case names) and body."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def is_success(self) -> bool:
        """Whether the status is 2xx."""
        return 200 <= self.status < 300


def decode(answer: Answer, server: Server, *, kind: type[DecodedT], what: str, api: str) -> DecodedT:
    """Decode the JSON of an answer as `kind`; `what` and `api` name it and its vendor in messages.

    Raises:
        TransientModelError: not UTF-8, not JSON, or JSON of another shape.
        RejectedRequestError: JSON that is nested too deeply.
    """
    hint = f"is {server.address} the address of {api}?"
    try:
        answer.body.decode()
        try:
            return msgspec.json.decode(answer.body, type=kind)
        except msgspec.DecodeError as error:
            kept = _kept(answer.body)
            if kept is None:
                raise
            read = msgspec.json.decode(kept, type=kind)
            _tell(f"{server.address} sent what JSON does not allow ({error}); the reply is kept without it")
            return read
    except UnicodeDecodeError as error:
        raise TransientModelError(
            f"{server.address} sent a reply that is not UTF-8 "
            f"(byte {error.start} of {len(answer.body)}); {hint}"
        ) from error
    except msgspec.ValidationError as error:
        raise TransientModelError(f"{server.address} sent JSON that is no {what}: {error}; {hint}") from error
    except RecursionError as error:
        raise RejectedRequestError(f"{server.address} sent JSON that is nested too deeply; {hint}") from error
    except msgspec.DecodeError as error:
        start = " ".join(server.hide_key(answer.body[:200].decode(errors="replace")).split())
        raise TransientModelError(
            f"{server.address} sent a reply that is not JSON ({error}): {start!r}; {hint}"
        ) from error


def _kept(body: bytes) -> bytes | None:
    """Repair a body: U+FFFD for lone surrogates, null for numbers out of range.

    Paid replies are kept; None if the body is still not JSON.
    """

    def number(digits: str) -> float | None:
        return float(digits) if math.isfinite(float(digits)) else None

    def whole(digits: str) -> int | None:
        return int(digits) if len(digits) <= _MOST_DIGITS else None

    try:
        value = json.loads(body, parse_constant=lambda _: None, parse_float=number, parse_int=whole)
    except (ValueError, RecursionError):
        return None
    if isinstance(value, dict) and not isinstance(value.get("usage"), dict):
        value.pop("usage", None)
    result = json.dumps(value, ensure_ascii=False).encode("utf-16", "surrogatepass")
    return result.decode("utf-16", "replace").encode()


@lru_cache(maxsize=256)
def _tell(words: str) -> None:
    """Log a warning once."""
    _log.warning("%s", words)


MOST_TOKENS = 10**9
_MOST_DIGITS = 300


def believed(counts: Sequence[object]) -> int | Literal["absurd"] | None:
    """Return the sum of a server's token counts; None if it reports none.

    >>> believed([12, None, 3]), believed([None]), believed([-60_000_000]), believed(["12"])
    (15, None, 'absurd', 'absurd')
    """
    given = [n for n in counts if n is not None]
    known = [n for n in given if isinstance(n, int) and not isinstance(n, bool) and 0 <= n <= MOST_TOKENS]
    if len(known) < len(given):
        return "absurd"
    return sum(known) if known else None


class Indexed(Protocol):
    """One of several replies in an answer, with the server's index."""

    @property
    def index(self) -> object:
        """The index; ignored unless it is a number."""


def first(replies: Sequence[IndexedT]) -> IndexedT:
    """Return the reply with the lowest `index`; its position in the list replaces a missing index."""
    indices = [reply.index if isinstance(reply.index, int) else at for at, reply in enumerate(replies)]
    return replies[indices.index(min(indices))]


def finish_of(word: str | None) -> Finish:
    """Map a server's finish reason to ours; ``other`` if it is absent or unknown."""
    return _FINISH.get((word or "").lower(), "other")


Likely: TypeAlias = tuple[str, float | None]
"""A candidate token, and its natural-log probability."""


def choice_logps(
    positions: Iterable[tuple[str, Sequence[Likely]]], letters: Collection[str]
) -> dict[str, float] | None:
    """Return log-probabilities of the letters at the first non-blank token; None if not reported.

    If a letter has several tokens (with and without a leading space), the most likely one counts.

    Args:
        positions: each token of a reply, with its most likely alternatives (empty: not reported).
        letters: the letters to look for.
    """
    likeliest = next((tops for token, tops in positions if token.strip(_BLANKS)), ())
    if not likeliest or not letters:
        return None
    logps: dict[str, float] = {}
    for token, logp in likeliest:
        letter = token.strip(_BLANKS)
        if letter in letters and logp is not None:
            logps[letter] = max(logp, logps.get(letter, logp))
    return logps


class _Error(msgspec.Struct):
    message: str | None = None
    code: str | int | None = None
    type: str | None = None


class _ErrorBody(msgspec.Struct):
    error: _Error | str | None = None
    message: str | None = None
    detail: str | None = None


def _read_error(body: bytes) -> _Error:
    read = json_or_none(body, _ErrorBody) or _ErrorBody()
    if isinstance(read.error, _Error):
        return read.error
    return _Error(message=read.error or read.message or read.detail or body.decode(errors="replace"))


def retry_after_s(headers: Mapping[str, str], *, now_s: float) -> float | None:
    """Return the wait that a server asks for, in seconds, or None.

    Args:
        headers: with lower-case names; ``retry-after-ms`` takes precedence over ``retry-after``, which holds
            seconds or a date.
        now_s: the current Unix time, for dates.
    """
    for name, unit_s in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        try:
            wait_s = float(headers.get(name, "")) * unit_s
        except ValueError:
            continue
        if math.isfinite(wait_s):
            return max(0.0, wait_s)
    try:
        return max(0.0, email.utils.parsedate_to_datetime(headers.get("retry-after", "")).timestamp() - now_s)
    except (ValueError, OverflowError):
        return None


def _access_advice(server: Server, status: int) -> str:
    if status == 404:
        return f"is the model's name right, and does base_url end where the API begins ({server.ends})?"
    if 300 <= status < 400:
        return "the address moved; give the new one as base_url"
    if not server.key:
        return f"no key was sent: the environment variable {server.key_env} is not set"
    return f"the key was read from the environment variable {server.key_env}; is it the right one?"


def _words(error: _Error, server: Server) -> str:
    words = " ".join(server.hide_key(error.message or "").split()) or "(no message)"
    return words if len(words) <= MAX_QUOTED_CHARACTERS else words[:MAX_QUOTED_CHARACTERS] + "…"


def declined(answer: Answer, server: Server) -> str:
    """Return the message of a content filter that declined a prompt; empty for other answers."""
    if answer.status != 400:
        return ""
    error = _read_error(answer.body)
    is_filtered = not _FILTERED_CODES.isdisjoint({error.code, error.type})
    return _words(error, server) if is_filtered else ""


def fault(answer: Answer, server: Server) -> ModelError:
    """Return the error for an answer that is not a reply."""
    error = _read_error(answer.body)
    fault = f"{server.address} answered {answer.status}: {_words(error, server)}"
    status = answer.status
    if status in _NO_ACCESS or status < 400 or not _NO_ACCESS_CODES.isdisjoint({error.code, error.type}):
        return AccessError(f"{fault} ({_access_advice(server, status)})")
    if status in {408, 409, 425, 429} or status >= 500:
        return TransientModelError(
            fault,
            retry_after_s=retry_after_s(answer.headers, now_s=time.time()),
            is_overload=status in _OVERLOADED,
            is_server_error=status >= 500,
        )
    return RejectedRequestError(fault)


def without_reply(answer: Answer, server: Server, *, lacks: str) -> ModelError:
    """Return the error for status 200 without a reply; some gateways put the true status in the body."""
    code = _read_error(answer.body).code
    if isinstance(code, int) and 400 <= code < 600:
        return fault(Answer(status=code, headers=answer.headers, body=answer.body), server)
    error = fault(Answer(status=502, headers=answer.headers, body=answer.body), server)
    return TransientModelError(f"a reply without {lacks}: {error}")
