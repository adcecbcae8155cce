"""Which bytes of a file a request asks for: the `Range` header, read strictly and never failing."""

import re
from dataclasses import dataclass
from typing import Final

MOST_BYTES: Final = 2 << 20
"""The most bytes of one partial answer; who wants more asks for the next part, as browsers do."""
# Longer numbers are no places in a file that exists, and take their time to read.
_ONE_RANGE: Final = re.compile(r"bytes=[ \t]*([0-9]{0,18})-([0-9]{0,18})[ \t]*", re.ASCII | re.IGNORECASE)


@dataclass(frozen=True, kw_only=True)
class Whole:
    """The whole file is the answer (200)."""

    size: int


@dataclass(frozen=True, kw_only=True)
class ByteRange:
    """The bytes `first` to `last`, both included, are the answer (206)."""

    first: int
    last: int
    size: int

    @property
    def n_bytes(self) -> int:
        """How many bytes that are."""
        return self.last - self.first + 1

    @property
    def content_range(self) -> str:
        """The header that says so.

        >>> ByteRange(first=0, last=1, size=9).content_range
        'bytes 0-1/9'
        """
        return f"bytes {self.first}-{self.last}/{self.size}"


@dataclass(frozen=True, kw_only=True)
class Beyond:
    """No byte of the file is asked for (416)."""

    size: int

    @property
    def content_range(self) -> str:
        """The header that says how large the file is."""
        return f"bytes */{self.size}"


def wanted_bytes(header: str | None, *, size: int) -> Whole | ByteRange | Beyond:
    """What a `Range` header asks for of a file of `size` bytes; it never raises.

    A header that is absent, in another unit, malformed, with several ranges or with more than 18 digits
    counts as none, which RFC 9110 (section 14.2) allows: the answer is the whole file. A part has at most
    `MOST_BYTES`.

    >>> wanted_bytes("bytes=-500", size=2000)
    ByteRange(first=1500, last=1999, size=2000)
    >>> wanted_bytes("bytes=2000-", size=2000)
    Beyond(size=2000)
    """
    match = _ONE_RANGE.fullmatch(header) if header is not None else None
    if match is None or not (match[1] or match[2]):
        return Whole(size=size)
    if not match[1]:
        first, last = max(size - int(match[2]), 0), size - 1
    else:
        first, last = int(match[1]), min(int(match[2] or size - 1), size - 1)
    if first > last or first >= size:
        return Beyond(size=size)
    return ByteRange(first=first, last=min(last, first + MOST_BYTES - 1), size=size)


def holds(if_range: str | None, *, etag: str, changed: str) -> bool:
    """Return whether a `Range` header applies, given the `If-Range` header.

    Args:
        if_range: the header; None if there is none.
        etag: the strong tag of the file as it is now, with its quotes.
        changed: its time of change as the `Last-Modified` header says it.

    >>> holds('W/"a"', etag='"a"', changed="")
    False
    """
    return if_range is None or if_range.strip() in {etag, changed or etag}


def is_known(if_none_match: str | None, *, etag: str) -> bool:
    """Whether the asker has the bytes already, by its `If-None-Match` header (304).

    >>> is_known('"b", W/"a"', etag='"a"')
    True
    """
    if if_none_match is None:
        return False
    tags = {tag.strip().removeprefix("W/") for tag in if_none_match.split(",")}
    return "*" in tags or etag in tags
