"""What every request passes: bounds for one address, headers of answers, and words where the disk is full."""

import errno
import hashlib
import ipaddress
from collections.abc import Mapping
from typing import Final

from django.core.cache import cache
from django.db import DatabaseError
from django.http import HttpRequest, HttpResponse
from django.utils.deprecation import MiddlewareMixin

from vidence.studio.access import SAFE
from vidence.studio.pages.answers import as_json
from vidence.studio.pages.faults import fault
from vidence.studio.settings import current

_MINUTE_S: Final = 60
POLICY: Final = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self'",
        "media-src 'self'",
        "connect-src 'self'",
        "form-action 'self'",
        "frame-ancestors 'none'",
        "base-uri 'none'",
    )
)
HEADERS: Final = {
    "Content-Security-Policy": POLICY,
    "Cross-Origin-Resource-Policy": "same-origin",
    "X-Robots-Tag": "noindex, nofollow",
    "Cache-Control": "no-store",
}
STATUS: Final = 507
FULL: Final = "the disk of the server is full"
CLOSED: Final = "the disk of the server cannot be written"
_OF_SQLITE: Final[Mapping[str, str]] = {
    "SQLITE_FULL": FULL,
    "SQLITE_IOERR": CLOSED,
    "SQLITE_READONLY": CLOSED,
    "SQLITE_CANTOPEN": CLOSED,
}
_OF_POSTGRES: Final[Mapping[str, str]] = {"53100": FULL, "58030": CLOSED, "25006": CLOSED}
_OF_FILES: Final[Mapping[int, str]] = {
    errno.ENOSPC: FULL,
    errno.EDQUOT: FULL,
    errno.EFBIG: CLOSED,
    errno.EROFS: CLOSED,
    errno.EIO: CLOSED,
}


class HeadersMiddleware(MiddlewareMixin):
    """Gives each answer the headers that it does not have."""

    def process_response(self, _request: HttpRequest, response: HttpResponse) -> HttpResponse:
        """Add them."""
        for name, value in HEADERS.items():
            response.headers.setdefault(name, value)
        return response


# --------------------------------------------------------------------------- floods


def count(what: str, *, window_s: int, by: int = 1) -> int:
    """Count events of one name in the running window of time, which begins at a multiple of its length.

    Args:
        what: the name.
        window_s: the length of the window.
        by: how many are added; 0 only asks.

    Returns:
        How many there were in the window, with these.
    """
    window = int(current().settings.clock().timestamp()) // window_s
    key = hashlib.sha256(f"{window_s} {window} {what}".encode("utf-8", "replace")).hexdigest()
    cache.add(key, 0, window_s)
    return int(cache.incr(key, by))


def left_s(window_s: int) -> int:
    """The seconds until the running window ends."""
    return window_s - int(current().settings.clock().timestamp()) % window_s


def address_of(request: HttpRequest) -> str:
    """The address that a request comes from; behind a proxy the one that the proxy saw.

    Of IPv6 the first half, since whoever has one such address has all that begin with it.
    """
    said = str(request.META.get("REMOTE_ADDR", ""))
    if current().settings.is_behind_proxy:
        said = str(request.headers.get("X-Forwarded-For", "")).rpartition(",")[2].strip()
    try:
        found = ipaddress.IPv6Address(said)
    except ValueError:
        return said
    return str(found.ipv4_mapped or ipaddress.IPv6Address(int(found) >> 64 << 64))


class FloodMiddleware(MiddlewareMixin):
    """Answers 429 to an address that changes too much in a minute, before a session or a row is read."""

    def process_request(self, request: HttpRequest) -> HttpResponse | None:
        """Count a request that changes something; the refusal, or None."""
        if request.method in SAFE:
            return None
        n_sent = count(f"changes of {address_of(request)}", window_s=_MINUTE_S)
        if n_sent <= current().settings.most_changes_a_minute:
            return None
        seconds = left_s(_MINUTE_S)
        words = f"More came from this address than is answered. Nothing of it was saved; wait {seconds} s."
        answer = fault(request, 429, title="Too much at once", words=words)
        answer.headers["Retry-After"] = str(seconds)
        return answer


# --------------------------------------------------------------------------- a full disk


def reason(error: BaseException) -> str:
    """Why nothing could be written, in words; empty where the error is of another kind."""
    if isinstance(error, DatabaseError):
        said = error.__cause__
        name = str(getattr(said, "sqlite_errorname", "")).split("_")[:2]
        state = str(getattr(said, "sqlstate", ""))
        return _OF_SQLITE.get("_".join(name), "") or _OF_POSTGRES.get(state, "")
    if isinstance(error, OSError) and error.errno is not None:
        return _OF_FILES.get(error.errno, "")
    return ""


def note_trouble(error: BaseException) -> str:
    """Remember that nothing could be written, for the page of the server's state; the `reason`."""
    words, studio = reason(error), current()
    if words:
        studio.troubles.note(words, at=studio.settings.clock())
    return words


class DiskFaultMiddleware(MiddlewareMixin):
    """Says "not saved" where a page could not write, and why; the page of the server's state says it too."""

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        """The answer to an error of the disk; any other is not for here."""
        words = note_trouble(exception)
        if not words:
            return None
        if "application/json" in request.headers.get("Accept", ""):
            return as_json({"words": words}, STATUS)
        return fault(
            request,
            STATUS,
            title="Not saved",
            words=f"Nothing of this was saved: {words}. What was saved before is kept. Go back, keep your "
            "text elsewhere, and tell whoever runs the server.",
        )
