"""What pages read out of forms and answer to scripts, the same in every family of pages."""

from typing import Final

import msgspec
from django.http import HttpResponse

_MOST_DIGITS: Final = 9
"""Beyond these nothing is counted here, and Python takes long for thousands."""


def as_json(told: object, status: int = 200) -> HttpResponse:
    """An answer to a script."""
    return HttpResponse(msgspec.json.encode(told), content_type="application/json", status=status)


def whole_number(text: str) -> int | None:
    """A whole number of 0 or more that a form sent; None for anything else.

    >>> whole_number(" 41 "), whole_number("-1"), whole_number("٤"), whole_number("9" * 5000)
    (41, None, None, None)
    """
    said = text.strip()
    return int(said) if said.isascii() and said.isdigit() and len(said) <= _MOST_DIGITS else None
