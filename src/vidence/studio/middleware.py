"""Middleware for all requests: rate limits, headers, hidden server paths, error messages."""

import errno
import hashlib
import html
import ipaddress
import os
import re
import tempfile
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Final

import msgspec
from django.core.cache import cache, caches
from django.db import DatabaseError
from django.http import HttpRequest, HttpResponse
from django.urls import is_valid_path
from django.utils.deprecation import MiddlewareMixin

from vidence.errors import UsageError, VidenceError
from vidence.studio.access import SAFE
from vidence.studio.pages.answers import as_json
from vidence.studio.pages.faults import fault
from vidence.studio.records.boards import MadeSetRow
from vidence.studio.records.people import ProjectRow
from vidence.studio.records.studies import StudyRow
from vidence.studio.settings import Trouble, current

_MINUTE_S: Final = 60
_JSON: Final = "application/json"
_WITH_FOLDERS: Final = ((StudyRow, "folder"), (MadeSetRow, "folder"), (MadeSetRow, "people_folder"))
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
FULL: Final = "the server disk is full"
CLOSED: Final = "the server disk cannot be written to"
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
    """Adds missing headers to each response."""

    def process_response(self, _request: HttpRequest, response: HttpResponse) -> HttpResponse:
        """Add the headers."""
        for name, value in HEADERS.items():
            response.headers.setdefault(name, value)
        return response


# --------------------------------------------------------------------------- paths of the server


def shown(text: str) -> str:
    """Return a text for the team with server folders reduced to their names.

    What is an address of the studio stays, also where a folder has the same name.
    """
    pattern, names = _folders(_known_folders())
    if not any(name in text for name in names):
        return text
    return pattern.sub(
        lambda match: match[0] if is_valid_path(match[0]) else names[match[1]] + match[2], text
    )


def _known_folders() -> frozenset[str]:
    """Return the folders from the start arguments, from pages, of the user and of the system."""
    settings = current().settings
    paths = (path if path.is_dir() else path.parent for path in settings.paths)
    folders = (settings.data, settings.cache_root, *settings.media_roots, *paths)
    opened = ProjectRow.objects.values_list("media_root").union(
        *(rows.objects.values_list(column) for rows, column in _WITH_FOLDERS)
    )
    try:
        rows = [entry for (entry,) in opened]
    except DatabaseError:  # the page says so; what was told at the start is known all equal
        rows = []
    return frozenset(
        map(str, (*filter(None, folders), *rows, tempfile.gettempdir(), os.path.expanduser("~")))
    )


@lru_cache(maxsize=8)
def _folders(folders: frozenset[str]) -> tuple[re.Pattern[str], Mapping[str, str]]:
    """Return a pattern for these folders in plain text, HTML and JSON, and the replacements."""
    spelt = (str, html.escape, _in_json, lambda text: html.escape(_in_json(text)))
    names = {
        way(path): way(Path(path).name)
        for folder in folders
        for path in (folder, os.path.realpath(folder))
        if Path(path).name
        for way in spelt
    }
    known = "|".join(map(re.escape, sorted(names, key=len, reverse=True)))
    return re.compile(rf"(?<![\w.-])({known})(?![\w-])([\w./%-]*)"), names


def _in_json(text: str) -> str:
    return msgspec.json.encode(text).decode()[1:-1]


class PathsMiddleware(MiddlewareMixin):
    """Hides server paths from team members; in a solo studio, the user is the one who started it."""

    def process_response(self, _request: HttpRequest, response: HttpResponse) -> HttpResponse:
        """Remove the paths from text responses."""
        is_text = response.headers.get("Content-Type", "").startswith(("text/html", "text/plain", _JSON))
        is_text = is_text and "Content-Encoding" not in response.headers  # times of frames, packed already
        if is_text and not response.streaming and current().settings.mode == "team":
            response.content = shown(response.content.decode()).encode()
        return response


# --------------------------------------------------------------------------- floods


def count(what: str, *, window_s: int, by: int = 1) -> int:
    """Count events of one name in the current time window, which starts at a multiple of its length.

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
    """Return the seconds until the current window ends."""
    return window_s - int(current().settings.clock().timestamp()) % window_s


def address_of(request: HttpRequest) -> str:
    """Return the client's address; behind a proxy, the one that the proxy reports.

    Of IPv6 the first half, since whoever has one such address has all that begin with it.
    """
    address = str(request.META.get("REMOTE_ADDR", ""))
    if current().settings.is_behind_proxy:
        address = str(request.headers.get("X-Forwarded-For", "")).rpartition(",")[2].strip()
    try:
        ipv6_address = ipaddress.IPv6Address(address)
    except ValueError:
        return address
    return str(ipv6_address.ipv4_mapped or ipaddress.IPv6Address(int(ipv6_address) >> 64 << 64))


class FloodMiddleware(MiddlewareMixin):
    """Answers 429 to an address with too many changes per minute, before sessions or rows are read."""

    def process_request(self, request: HttpRequest) -> HttpResponse | None:
        """Count a changing request; return the refusal, or None."""
        if request.method in SAFE:
            return None
        n_sent = count(f"changes of {address_of(request)}", window_s=_MINUTE_S)
        if n_sent <= current().settings.most_changes_a_minute:
            return None
        seconds = left_s(_MINUTE_S)
        words = f"Too many requests from this address. Nothing was saved; wait {seconds} s."
        answer = fault(request, 429, title="Too many requests", words=words)
        answer.headers["Retry-After"] = str(seconds)
        return answer


# --------------------------------------------------------------------------- a full disk


def reason(error: BaseException) -> str:
    """Return why nothing could be written; empty for other errors."""
    if isinstance(error, DatabaseError):
        cause = error.__cause__
        name = str(getattr(cause, "sqlite_errorname", "")).split("_")[:2]
        state = str(getattr(cause, "sqlstate", ""))
        return _OF_SQLITE.get("_".join(name), "") or _OF_POSTGRES.get(state, "")
    if isinstance(error, OSError) and error.errno is not None:
        return _OF_FILES.get(error.errno, "")
    return ""


def note_trouble(error: BaseException) -> str:
    """Record a write failure for the server's status page; return the `reason`."""
    words, kept = reason(error), caches["kept"]
    if words:
        kept.add("troubles", 0, None)
        last = Trouble(words=words, at=current().settings.clock(), n=kept.incr("troubles"))
        kept.set("trouble", last, None)
    return words


class FaultMiddleware(MiddlewareMixin):
    """Explains why a page cannot be shown or saved; disk errors also appear on the status page."""

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        """Return the response to an error of vidence or of the disk; None for others."""
        is_shown = request.method in SAFE
        title, words = "This cannot be shown" if is_shown else "Not saved", str(exception)
        if isinstance(exception, UsageError):
            status = 404 if is_shown else 400
        elif isinstance(exception, VidenceError):
            status = 409
        elif words := note_trouble(exception):
            status, title = STATUS, "Not saved"
        else:
            return None
        if _JSON in request.headers.get("Accept", ""):
            return as_json({"words": words}, status)
        if status == STATUS:
            words = (
                f"Nothing of this was saved: {words}. What was saved before is kept. Go back, keep your "
                "text elsewhere, and tell the operator of the server."
            )
        return fault(request, status, title=title, words=words)
