"""Answers where the disk takes no more: in words, and kept for whoever runs the server."""

import errno
from collections.abc import Mapping
from typing import Final

from django.db import DatabaseError
from django.http import HttpRequest, HttpResponse
from django.utils.deprecation import MiddlewareMixin

from vidence.studio.pages.answers import as_json
from vidence.studio.pages.faults import fault
from vidence.studio.settings import current

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


class DiskFaultMiddleware(MiddlewareMixin):
    """Says "not saved" where a page could not write, and why; the page of the server's state says it too."""

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        """The answer to an error of the disk; any other is not for here."""
        words = reason(exception)
        if not words:
            return None
        studio = current()
        studio.troubles.note(words, at=studio.settings.clock())
        if "application/json" in request.headers.get("Accept", ""):
            return as_json({"words": words}, STATUS)
        return fault(
            request,
            STATUS,
            title="Not saved",
            words=f"Nothing of this was saved: {words}. What was saved before is kept. Go back, keep your "
            "text elsewhere, and tell whoever runs the server.",
        )
