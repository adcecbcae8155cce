"""Values of a row by name, by path (``doc.question_id``), or filled into text (``clips/{video}.mp4``)."""

import functools
import math
import operator
import re
from collections.abc import Callable, Collection, Mapping
from typing import TypeAlias

from vidence.ask.files import FieldError
from vidence.text import seconds, some

Row: TypeAlias = Mapping[str, object]
Getter: TypeAlias = Callable[[Row], object]

_NAMED = re.compile(r"\{([^{}]+)\}")
_DASH = re.compile(r"\s*[-,\N{EN DASH}]\s*")
_LISTED = 30


def value_at(row: Row, path: str) -> object:
    """Return the value of a column, or of a path inside it; None if absent.

    A column of exactly that name goes first, so that names with dots in them can be said.

    >>> value_at({"doc": {"ids": ["a", "b"]}, "x.y": 3}, "doc.ids.1"), value_at({"x.y": 3}, "x.y")
    ('b', 3)
    """
    if path in row:
        return row[path]
    if "." not in path:
        return None
    value: object = row
    for step in path.split("."):
        if isinstance(value, Mapping):
            value = value.get(step)
        elif isinstance(value, list) and step.isdecimal() and int(step) < len(value):
            value = value[int(step)]
        else:
            return None
    return value


@functools.cache
def getter(source: str, *, absent: tuple[str, ...] = ()) -> Getter:
    """Return a function that reads a source from a row.

    Args:
        source: a column, a path, or words with ``{column}`` in them; with several of these between bars
            (``resps|filtered_resps``) the first that has a value. Words in which a column has no value have
            none.
        absent: texts that stand for no value.
    """
    ways = [_words(way, absent) if _NAMED.search(way) else _plain(way, absent) for way in source.split("|")]
    if len(ways) == 1:
        return ways[0]

    def first(row: Row) -> object:
        return next((value for way in ways if (value := way(row)) is not None), None)

    return first


def _plain(path: str, absent: Collection[str]) -> Getter:
    if not absent and "." not in path:
        return operator.methodcaller("get", path)

    def plain(row: Row) -> object:
        value = value_at(row, path)
        return None if isinstance(value, str) and value in absent else value

    return plain


def _words(source: str, absent: Collection[str]) -> Getter:
    first, *rest = _NAMED.split(source)
    parts = list(zip(rest[::2], rest[1::2], strict=True))

    def filled(row: Row) -> object:
        words = [first]
        for name, following in parts:
            part = as_text(value_at(row, name), name)
            if not part or part in absent:
                return None
            words += [part, following]
        return "".join(words)

    return filled


def columns_of(source: str) -> tuple[str, ...]:
    """Return the columns named in a source without bars.

    >>> columns_of("{video}_{qid}"), columns_of("answer"), columns_of("")
    (('video', 'qid'), ('answer',), ())
    """
    return tuple(_NAMED.findall(source)) or ((source,) if source else ())


def as_text(value: object, column: str) -> str:
    """Return a value as text; empty for none.

    Tables keep whole numbers as fractions where a cell of the column is empty; they are whole numbers here.

    Raises:
        FieldError: it is neither a text nor a number.
    """
    match value:
        case str():
            return value
        case None:
            return ""
        case bool():
            return str(value).lower()
        case int():
            return str(value)
        case float():
            if math.isnan(value):
                return ""
            return str(int(value)) if value.is_integer() else repr(value)
        case _:
            raise FieldError(column, f"{type(value).__name__} found; expected a text or a number")


def seconds_of(value: object, column: str) -> float | None:
    """Return seconds from a number or ``HH:MM:SS``; None for none.

    Raises:
        FieldError: it is something else.
    """
    text = as_text(value, column).strip()
    number = seconds(text)
    if text and number is None:
        raise FieldError(column, f"{text!r} found; expected seconds, or HH:MM:SS")
    return number


def span_of(value: object, column: str) -> tuple[float, float]:
    """Return start and end in seconds from two times or a text.

    Raises:
        FieldError: it is something else.

    >>> span_of("1:05-1:20.5", "clue"), span_of([65, "80.5"], "clue")
    ((65.0, 80.5), (65.0, 80.5))
    """
    ends = _DASH.split(value.strip()) if isinstance(value, str) else value
    match [seconds_of(end, column) for end in ends] if isinstance(ends, list | tuple) else ():
        case [float() as start_s, float() as end_s]:
            return start_s, end_s
    raise FieldError(column, f"{str(value)[:80]!r} found; expected a span, such as 1:05-1:20 or [65, 80]")


def words_of(value: object, column: str, *, kind: str = "text") -> str:
    """Return the text in a text, message, or list of them; parts of other kinds are left out.

    Args:
        value: a text, an object with ``text`` or ``content``, or a list of these.
        column: whose value it is, for messages.
        kind: which part of an object is taken: ``text`` or ``reasoning``.

    >>> words_of([{"type": "image"}, {"type": "text", "text": "B"}], "content")
    'B'
    """
    if isinstance(value, Mapping):
        if isinstance(entry := value.get(kind), str):
            return entry
        inner = value.get("content")
        return "" if inner is None else words_of(inner, column, kind=kind)
    if isinstance(value, list):
        if kind == "text" and all(isinstance(element, str) for element in value) and len(value) > 1:
            raise FieldError(column, f"{len(value)} replies in one row; expected one")
        return "\n".join(words for element in value if (words := words_of(element, column, kind=kind)))
    return as_text(value, column) if kind == "text" else ""


def listed(row: Row) -> str:
    """List a row's columns, for messages."""
    whole = row.get("@columns")  # of a table of which only some were read
    names = whole if isinstance(whole, tuple) else row
    return some((str(name) for name in names if not str(name).startswith("@")), most=_LISTED)
