"""Bounds on what one address may send in a while, counted in Django's cache."""

import hashlib
from typing import Final

from django.core.cache import cache
from django.http import HttpRequest, HttpResponse
from django.utils.deprecation import MiddlewareMixin

from vidence.studio.access import SAFE
from vidence.studio.pages.faults import fault
from vidence.studio.settings import current

_MINUTE_S: Final = 60


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
    """The address that a request comes from; behind a proxy the one that the proxy saw."""
    if current().settings.is_behind_proxy:
        return str(request.headers.get("X-Forwarded-For", "")).rpartition(",")[2].strip()
    return str(request.META.get("REMOTE_ADDR", ""))


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
