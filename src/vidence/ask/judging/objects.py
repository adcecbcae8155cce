"""Find objects in what a judge wrote: JSON, and what is meant to be JSON.

Read are single and curly quotes, Python's ``True``, ``False`` and ``None``, keys without quotes, comments,
trailing commas, and apostrophes in single quotes. The text is taken apart into tokens and written again
as JSON; nothing is ever evaluated.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass

# Most characters of one object that is no plain JSON, most opening braces that are tried before one id, and
# most ids.
MOST_CHARS = 20_000
MOST_BRACES = 200
MOST_IDS = 4

_TOKEN = re.compile(
    r"""(?P<space>\s+|//[^\n]*|\#[^\n]*|/\*.*?\*/)
    |(?P<string>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.|'(?!\s*[,:}\]]))*'|\u201c[^\u201d]*\u201d|\u2018[^\u2019]*\u2019)
    |(?P<number>-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?(?!\w))
    |(?P<name>[A-Za-z_]\w*)
    |(?P<sign>[{}\[\]:,])""",
    re.VERBOSE | re.DOTALL,
)
_NAMES = {"true": "true", "false": "false", "null": "null", "none": "null"}
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "/": "/", "\\": "\\", '"': '"', "'": "'"}


@dataclass(frozen=True)
class Object:
    """An object as written: its pairs in order; a key may come twice."""

    pairs: tuple[tuple[str, object], ...]


@dataclass(frozen=True)
class ObjectMention:
    """An object, the words that it was read from, and where they begin."""

    value: Object
    source: str
    start: int


_PLAIN = json.JSONDecoder(object_pairs_hook=lambda pairs: Object(tuple(pairs)))


def _string(token: str) -> str:
    """A string token as JSON; a backslash before a letter that JSON does not know stays."""
    if token[0] == '"':
        try:
            return json.dumps(json.loads(token, strict=False))
        except ValueError:
            pass  # an escape that is none
    return json.dumps(_ESCAPE.sub(lambda m: _ESCAPED.get(m[1], m[0]), token[1:-1]))


def _as_json(text: str, start: int) -> tuple[str, int] | None:
    """The object that begins at `start` written as JSON, and where it ends; None where it is none."""
    written: list[str] = []
    place, depth, end = start, 0, min(len(text), start + MOST_CHARS)
    while token := _TOKEN.match(text, place, end):
        place, kind, word = token.end(), token.lastgroup, token[0]
        if kind == "sign":
            if word in "}]" and written[-1] == ",":
                written.pop()
            depth += (word in "{[") - (word in "}]")
            written.append(word)
        elif kind == "string":
            written.append(_string(word))
        elif kind == "name":
            written.append(_NAMES.get(word.casefold()) or json.dumps(word))
        elif kind == "number":
            written.append(word)
        if depth == 0:
            return " ".join(written), place
    return None


def _object_at(text: str, start: int) -> tuple[Object | None, int]:
    """The object that begins at `start`, and where it ends: plain JSON, or what is meant to be."""
    try:
        value, end = _PLAIN.raw_decode(text, start)
    except (ValueError, RecursionError):
        written = _as_json(text, start)
        return (_read(written[0]), written[1]) if written else (None, start)
    return value, end


def _read(written: str) -> Object | None:
    try:
        value = _PLAIN.decode(written)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, Object) else None


def find_objects(text: str) -> list[ObjectMention]:
    """The objects in a text that do not stand inside another one, in order.

    Raises:
        ValueError: there are more than `MOST_BRACES` opening braces to try.

    >>> [found.value.pairs for found in find_objects("I say {'right': True,}, so there")]
    [(('right', True),)]
    """
    found: list[ObjectMention] = []
    place = -1
    for _ in range(MOST_BRACES):
        place = text.find("{", place + 1)
        if place < 0:
            return found
        written = _as_json(text, place)
        value = _read(written[0]) if written else None
        if written and value:
            found.append(ObjectMention(value, text[place : written[1]], place))
            place = written[1] - 1
    if text.find("{", place + 1) < 0:
        return found
    raise ValueError(f"it has more than {MOST_BRACES} opening braces")


def objects_holding(words: str, text: str) -> list[ObjectMention]:
    """The objects in a text in which some words stand, and which do not stand inside another one, in order.

    Args:
        words: what stands in an object, such as an id; its last `MOST_IDS` places are looked at, and before
            each the last `MOST_BRACES` opening braces.
        text: the text.

    >>> text = "I {a: 1} say {'id': '7f', 'right': True,}, so"
    >>> [found.value.pairs for found in objects_holding("7f", text)]
    [(('id', '7f'), ('right', True))]
    """
    found: list[ObjectMention] = []
    done = 0
    for held in _places(text, words):
        if held < done:
            continue  # in the object before
        for start in _braces_before(text, held, done):
            if start < done:
                continue
            value, end = _object_at(text, start)
            if value is not None and end > held:
                done = end
                found.append(ObjectMention(value, text[start:done], start))
                break
    return found


def _places(text: str, words: str) -> list[int]:
    """The last places at which words stand, in order."""
    places: list[int] = []
    place = len(text)
    while len(places) < MOST_IDS and words and (place := text.rfind(words, 0, place)) >= 0:
        places.append(place)
    return places[::-1]


def _braces_before(text: str, end: int, begin: int) -> list[int]:
    """The last opening braces before a place, in order."""
    braces: list[int] = []
    place = end
    while len(braces) < MOST_BRACES and (place := text.rfind("{", begin, place)) >= 0:
        braces.append(place)
    return braces[::-1]


def whole_object(text: str) -> Object | None:
    """The object that a text is, read as JSON and nothing else; None where it is anything more or less."""
    return _read(text) if text.startswith("{") else None


def inside(value: Object | list[object]) -> Iterator[Object]:
    """The objects that are values of an object, or stand in a list."""
    for one in value if isinstance(value, list) else [held for _, held in value.pairs]:
        if isinstance(one, Object):
            yield one
        elif isinstance(one, list):
            yield from inside(one)
