"""Licences of YouTube videos from its Data API v3 (``videos.list``), 50 videos per call.

Source: MMVU, §3.2 (the licence is checked through this API before a question can be submitted).
"""

import hashlib
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Final, TypeVar

import msgspec

from vidence.ask.models.keys import without_keys
from vidence.errors import AccessError, MissingKeyError
from vidence.make.gates.licences import LicenceCheck, outcome_of

if TYPE_CHECKING:
    import httpx2

T = TypeVar("T")
ADDRESS: Final = "https://www.googleapis.com"
KEY_VARIABLE: Final = "YOUTUBE_API_KEY"
ADDRESS_VARIABLE: Final = "VIDENCE_YOUTUBE_API"
PER_CALL: Final = 50
_TIMEOUT_S = 30.0
_TRIES = 4
_FIRST_WAIT_S = 1.0
_MOST_BYTES = 8 << 20
_SPENT = frozenset({"quotaExceeded", "dailyLimitExceeded"})
_TOO_FAST = frozenset({"rateLimitExceeded", "userRateLimitExceeded"})
_NO_ACCESS = frozenset(
    {"keyInvalid", "keyExpired", "badRequest", "accessNotConfigured", "ipRefererBlocked", "API_KEY_INVALID"}
)
_DURATION = re.compile(
    r"P(?:(?P<weeks>\d+)W)?(?:(?P<days>\d+)D)?"
    r"(?:T(?:(?P<hours>\d+)H)?(?:(?P<minutes>\d+)M)?(?:(?P<seconds>\d+(?:\.\d+)?)S)?)?"
)
_SECONDS = {"weeks": 604_800, "days": 86_400, "hours": 3_600, "minutes": 60, "seconds": 1}


class _Status(msgspec.Struct, frozen=True):
    license: str = ""
    privacy: str = msgspec.field(default="", name="privacyStatus")


class _Snippet(msgspec.Struct, frozen=True):
    title: str = ""
    published: str = msgspec.field(default="", name="publishedAt")


class _Content(msgspec.Struct, frozen=True):
    duration: str = ""


class _Video(msgspec.Struct, frozen=True):
    id: str
    status: _Status = _Status()
    snippet: _Snippet = _Snippet()
    content: _Content = msgspec.field(default=_Content(), name="contentDetails")


class _Answer(msgspec.Struct, frozen=True):
    items: list[msgspec.Raw]


class _Reason(msgspec.Struct, frozen=True):
    reason: str = ""


class _ErrorReply(msgspec.Struct, frozen=True):
    message: str = ""
    errors: list[_Reason] = []
    details: list[_Reason] = []


class _Refused(msgspec.Struct, frozen=True):
    error: _ErrorReply


@dataclass(frozen=True, kw_only=True)
class Unread:
    """Why an answer cannot be read; retried if `is_passing`."""

    why: str
    is_passing: bool = False


class YouTube:
    """The API at an address.

    Args:
        key: the key of a project that may use the API.
        address: the server, without a path.
        now: the time that answers are dated with.
        wait: how to wait for some seconds.
    """

    def __init__(
        self,
        key: str,
        *,
        address: str = ADDRESS,
        now: Callable[[], datetime],
        wait: Callable[[float], None] = time.sleep,
    ) -> None:
        if not key:
            raise MissingKeyError(
                f"no key for the YouTube Data API; put one into the environment variable {KEY_VARIABLE}, or "
                "have two people check and pass their sheet with --manual"
            )
        self._key = key
        self._address = f"{address.rstrip('/')}/youtube/v3/videos"
        self._now = now
        self._wait = wait
        self._spent = ""

    def check(self, videos: Sequence[str]) -> Iterator[list[LicenceCheck]]:
        """Check each video, 50 per call, in order.

        What the server cannot say is ``unknown`` with the reason; once it says that the day's quota is spent,
        nothing more is asked of it.

        Raises:
            AccessError: the key is refused.
        """
        import httpx2

        distinct = list(dict.fromkeys(videos))
        with httpx2.Client(timeout=_TIMEOUT_S) as client:
            for start in range(0, len(distinct), PER_CALL):
                asked = distinct[start : start + PER_CALL]
                if self._spent:
                    yield [self._unknown(name, self._spent) for name in asked]
                else:
                    yield self._of_call(client, asked)

    def _of_call(self, client: "httpx2.Client", asked: Sequence[str]) -> list[LicenceCheck]:
        parameters = {"part": "status,snippet,contentDetails", "id": ",".join(asked), "key": self._key}
        pair = ask_patiently(client, self._address, parameters, read=self._answer, wait=self._wait)
        if isinstance(pair, Unread):
            return [self._unknown(name, without_keys(pair.why)) for name in asked]
        return [self._one(video, *pair) for video in asked]

    def _answer(self, status: int, body: bytes) -> tuple[dict[str, tuple[_Video, bytes]], bytes] | Unread:
        """Return the videos of an answer, and its bytes.

        Raises:
            AccessError: the key is refused.
        """
        if status == 200:
            videos = _videos(body)
            if videos is None:
                return Unread(why="the server's answer is no list of videos", is_passing=True)
            return videos, body
        reason, message = _refusal(body)
        if reason in _SPENT:
            self._spent = f"the day's quota is spent ({reason}); ask again tomorrow"
            return Unread(why=self._spent)
        if reason in _NO_ACCESS or status == 401:
            raise AccessError(
                f"the YouTube Data API refuses the key in {KEY_VARIABLE} ({status} {reason}: "
                f"{without_keys(message)}); use the key of a project that has that API enabled"
            )
        is_passing = status >= 500 or status == 429 or reason in _TOO_FAST
        return Unread(why=f"the server answered {status} {reason or message}".strip(), is_passing=is_passing)

    def _one(self, video: str, values: dict[str, tuple[_Video, bytes]], body: bytes) -> LicenceCheck:
        digest = hashlib.sha256(body).hexdigest()
        if video not in values:
            return LicenceCheck(
                video=video,
                outcome="gone",
                at=self._now(),
                why="the platform does not list it: removed, private, or no video of this name",
                answer_sha256=digest,
            )
        result, raw = values[video]
        outcome = outcome_of(result.status.license)
        return LicenceCheck(
            video=video,
            outcome=outcome,
            at=self._now(),
            licence=result.status.license,
            why=""
            if outcome != "unknown"
            else f"the answer names no known licence: {result.status.license!r}",
            privacy=result.status.privacy,
            title=result.snippet.title,
            published=result.snippet.published,
            duration_s=seconds_of(result.content.duration),
            answer=msgspec.json.decode(raw, type=dict[str, object]),
            answer_sha256=digest,
        )

    def _unknown(self, video: str, why: str) -> LicenceCheck:
        return LicenceCheck(video=video, outcome="unknown", at=self._now(), why=why)


def ask_patiently(
    client: "httpx2.Client",
    address: str,
    parameters: Mapping[str, str],
    *,
    read: Callable[[int, bytes], T | Unread],
    wait: Callable[[float], None],
) -> T | Unread:
    """Query a public API, up to four times with increasing delays.

    Args:
        client: of HTTP.
        address: what is asked.
        parameters: with what.
        read: reads a status and a body; one of more than 8 MB is empty.
        wait: how to wait for some seconds.
    """
    import httpx2

    unread: T | Unread = Unread(why="")
    for attempt in range(_TRIES):
        if attempt:
            wait(_FIRST_WAIT_S * 2 ** (attempt - 1))
        try:
            unread = read(*_reply(client, address, parameters))
        except httpx2.HTTPError as error:
            keys = without_keys(str(error)) or type(error).__name__
            unread = Unread(why=f"the server did not answer ({keys})", is_passing=True)
        if not isinstance(unread, Unread) or not unread.is_passing:
            break
    return unread


def _reply(client: "httpx2.Client", address: str, parameters: Mapping[str, str]) -> tuple[int, bytes]:
    body = bytearray()
    with client.stream("GET", address, params=parameters) as answer:
        for block in answer.iter_bytes():
            body += block
            if len(body) > _MOST_BYTES:
                return answer.status_code, b""
    return answer.status_code, bytes(body)


def seconds_of(duration: str) -> float | None:
    """Return the seconds of an ISO 8601 duration; None if it is not one.

    >>> seconds_of("PT6M13S"), seconds_of("P1DT2H"), seconds_of("six minutes")
    (373.0, 93600.0, None)
    """
    match = _DURATION.fullmatch(duration)
    if not match or not any(match.groupdict().values()):
        return None
    return sum(_SECONDS[unit] * float(n) for unit, n in match.groupdict().items() if n)


def _videos(body: bytes) -> dict[str, tuple[_Video, bytes]] | None:
    """Return an answer's videos by id, with their bytes; None if it is not a list of videos."""
    try:
        raws = [bytes(raw) for raw in msgspec.json.decode(body, type=_Answer).items]
        videos = [msgspec.json.decode(raw, type=_Video) for raw in raws]
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    return {video.id: (video, raw) for video, raw in zip(videos, raws, strict=True)}


def _refusal(body: bytes) -> tuple[str, str]:
    """Return the reason and message of an error response; empty if it has none."""
    try:
        reply = msgspec.json.decode(body, type=_Refused).error
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return "", ""
    reasons = [detail.reason for detail in (*reply.details, *reply.errors) if detail.reason]
    return (reasons[0] if reasons else ""), reply.message
