"""Strict TOML: unknown keys are rejected with the closest known key, wrong values with their line."""

import difflib
import re
import types
import typing
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, TypeVar

import msgspec
from msgspec import Meta

from vidence.catalog import plain_type
from vidence.errors import UsageError, cause
from vidence.installation import toml_of
from vidence.media.bounded import text_bounded
from vidence.records import Record

RecordT = TypeVar("RecordT", bound=Record)
Step: typing.TypeAlias = str | int
_MISSING = re.compile(r"Object missing required field `(.+)`")
_EXPECTED = re.compile(r"Expected `([^`]+)`(?: (>=|<=|>|<) ([-+.\w]+)$)?")
_GOT = re.compile(r"^, got `[^`]+`")
_BOUNDS = {">=": "{:g} or more", "<=": "{:g} or less", ">": "more than {:g}", "<": "less than {:g}"}
_TYPES = {
    "int": "a whole number",
    "float": "a number",
    "str": "a text",
    "bool": "true or false",
    "array": "a list",
    "object": "a table",
}
# Bounded values that settings share.
Count: typing.TypeAlias = Annotated[int, Meta(ge=1)]
CountOrNone: typing.TypeAlias = Annotated[int, Meta(ge=0)]
Share: typing.TypeAlias = Annotated[float, Meta(gt=0, le=1)]


def read_config(path: Path, kind: type[RecordT]) -> RecordT:
    """Read a TOML file into a record.

    Args:
        path: the file.
        kind: the record type; its fields are the keys, and fields that are records are tables.

    Raises:
        UsageError: the file cannot be read, is not TOML, has an unknown key, lacks a required key, or has an
            invalid value; the message has the line if it can be determined.
    """
    try:
        text = text_bounded(path)
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"the configuration {path} cannot be read: {cause(error)}; expected TOML") from error
    return config_of(text, kind, name=str(path))


def config_of(text: str, kind: type[RecordT], *, name: str) -> RecordT:
    """Parse a TOML text into a record.

    Args:
        text: the text.
        kind: the record type; its fields are the keys, and fields that are records are tables.
        name: the name of the file, for messages.

    Raises:
        UsageError: as for `read_config`.
    """
    try:
        raw = toml_of(text)
    except ValueError as error:
        raise UsageError(f"the configuration {name} is not TOML: {error}") from error
    for steps, what in _faults(raw, kind, ()):
        raise UsageError(f"{_place(name, text, steps)}: {what}")
    return msgspec.convert(raw, kind)


def _faults(value: object, kind: object, steps: tuple[Step, ...]) -> Iterator[tuple[tuple[Step, ...], str]]:
    """Yield the faults of a value with their places, innermost first.

    The class variable `gone` of a record has a sentence for each setting that it had once.
    """
    record, inner = _record_in(kind), _inner(kind)
    if record is not None and isinstance(value, dict):
        fields = {field.encode_name: field.type for field in msgspec.structs.fields(record)}
        for key, entry in value.items():
            if key in fields:
                yield from _faults(entry, fields[key], (*steps, key))
            else:
                gone: Mapping[str, str] = getattr(record, "gone", {})
                unknown = _unknown(_name((*steps, key)), key, known=sorted(fields))
                yield (*steps, key), gone.get(key, unknown)
    elif isinstance(value, list | dict):
        for step, entry in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _faults(entry, inner, (*steps, step))
    try:
        msgspec.convert(value, kind)
    except msgspec.ValidationError as error:
        name = f"{_name(steps)}: " if steps else ""
        yield steps, f"{name}{_in_words(str(error).partition(' - at `$')[0], value, kind)}"
    except UsageError as error:
        yield steps, str(error)


def _in_words(message: str, value: object, kind: object) -> str:
    """Reword an msgspec message in the project's style: what was read, then what was expected.

    >>> _in_words("Expected `int` >= 1", 0, int), _in_words("Expected `object | null`, got `str`", "x", None)
    ('0 found; expected a whole number of 1 or more', "'x' found; expected a table")
    """
    if (missing := _MISSING.fullmatch(message)) is not None:
        return f"`{missing[1]}` is missing; give it"
    text = "a list" if isinstance(value, list) else "a table" if isinstance(value, dict) else repr(value)
    if message.startswith("Invalid enum value"):
        inner, _ = plain_type(kind)
        known = inner.values if isinstance(inner, msgspec.inspect.LiteralType) else ()
        return f"{text} found; expected one of {', '.join(map(repr, known))}"
    expected = _EXPECTED.match(message)
    if expected is None:
        return f"{message}; {text} found"
    names = [_TYPES.get(part, part) for part in expected[1].split(" | ") if part != "null"]
    bound = f" of {_BOUNDS[expected[2]].format(float(expected[3]))}" if expected[2] else ""
    rest = "" if expected[2] else _GOT.sub("", message[expected.end() :])
    return f"{text} found; expected {' or '.join(names)}{bound}{rest}"


def _unknown(name: str, key: str, *, known: Sequence[str]) -> str:
    near = difflib.get_close_matches(key, known, n=1, cutoff=0.5)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    return f"there is no setting {name!r}.{hint} Known here: {', '.join(known)}"


def _record_in(kind: object) -> type[Record] | None:
    """Return the record type of an annotation, alone or in a union with None or plain values."""
    if isinstance(kind, type) and issubclass(kind, Record):
        return kind
    if typing.get_origin(kind) in (types.UnionType, typing.Union):
        return next(filter(None, map(_record_in, typing.get_args(kind))), None)
    return None


def _inner(kind: object) -> object:
    """Return the element type of a tuple, list or mapping; `object` for other types."""
    options = typing.get_args(kind) if typing.get_origin(kind) in (types.UnionType, typing.Union) else (kind,)
    for option in options:
        arguments = typing.get_args(option)
        if arguments and typing.get_origin(option) in (dict, Mapping):
            return arguments[1]
        if arguments:
            return arguments[0]
    return object


def _name(steps: Sequence[Step]) -> str:
    words = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in steps)
    return words.removeprefix(".")


def _place(name: str, text: str, steps: Sequence[Step]) -> str:
    """Return the file and line where a value begins, or else where its table begins."""
    for n_steps in range(len(steps), 0, -1):
        if (line := _line(text.splitlines(), steps[:n_steps])) is not None:
            return f"{name}:{line}"
    return name


def _line(lines: Sequence[str], steps: Sequence[Step]) -> int | None:
    """Return the line of a value: after the longest valid prefix of the text that lacks the value."""
    start = 1
    for end in range(1, len(lines) + 1):
        try:
            raw: object = toml_of("\n".join(lines[:end]))
        except ValueError:
            continue  # inside a value of several lines
        if _holds(raw, steps):
            return start
        start = end + 1
    return None


def _holds(raw: object, steps: Sequence[Step]) -> bool:
    for step in steps:
        match raw:
            case dict() if step in raw:
                raw = raw[step]
            case list() if isinstance(step, int) and step < len(raw):
                raw = raw[step]
            case _:
                return False
    return True
