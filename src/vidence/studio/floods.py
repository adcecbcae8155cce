"""Answers to whoever asks too much at once."""

import hashlib
import math
from typing import Final

from django.http import HttpRequest, HttpResponse
from django.utils.deprecation import MiddlewareMixin

from vidence.studio.access import SAFE
from vidence.studio.settings import current

SEARCHES: Final = frozenset({"q", "words", "by"})
"""Names under which pages are told what to search for or to count by; pictures have other ones."""


class Quiet(MiddlewareMixin):
    """Answers 429 to whoever asks too much, before a session or a row is read."""

    def process_request(self, request: HttpRequest) -> HttpResponse | None:
        """Count what changes something or searches; say when to come again, where that is too much."""
        from vidence.studio.pages.faults import fault
        from vidence.studio.pages.sign_in import address_of

        if request.method in SAFE and not SEARCHES & request.GET.keys():
            return None
        studio = current()
        limits, now = studio.settings.limits, studio.settings.clock()
        wait = studio.floods.wait_s(f"address {address_of(request)}", limits.of_address, now)
        cookie = request.COOKIES.get(studio.cookie, "")
        if cookie and not wait:
            digest = hashlib.sha256(cookie.encode("utf-8", "surrogatepass")).hexdigest()
            wait = studio.floods.wait_s(f"session {digest}", limits.of_session, now)
        if not wait:
            return None
        seconds = math.ceil(wait)
        answer = fault(
            request,
            429,
            title="Too much at once",
            words=f"More came from here than is answered. Nothing was saved by it; try again in {seconds} s.",
        )
        answer.headers["Retry-After"] = str(seconds)
        return answer
