"""Strict TOML: unknown keys are refused with the nearest known one, wrong values with their line."""

import difflib
import re
import tomllib
import types
import typing
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

import msgspec

from vidence.errors import UsageError
from vidence.records import Record

RecordT = TypeVar("RecordT", bound=Record)
_HEADER = re.compile(r"^\s*(\[\[?)\s*([^\]]+?)\s*\]\]?\s*(?:#.*)?$")
_KEY = re.compile(r"^\s*((?:[\w-]+|\"[^\"]*\")(?:\s*\.\s*(?:[\w-]+|\"[^\"]*\"))*)\s*=")
_STEP = re.compile(r"\.([\w-]+)|\[(\d+)\]")
Step: typing.TypeAlias = str | int


def read_config(path: Path, kind: type[RecordT]) -> RecordT:
    """The record that a TOML file holds.

    Args:
        path: the file.
        kind: the record; its fields are the keys, those that are records are tables.

    Raises:
        UsageError: the file cannot be read, is no TOML, has a key that is not known, lacks one, or has a
            value that makes no sense; the message has the line where it can be found.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"the configuration {path} cannot be read: {error}") from error
    try:
        raw = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"the configuration {path} is no TOML: {error}") from error
    for steps, known in _unknown(raw, kind, ()):
        near = difflib.get_close_matches(str(steps[-1]), known, n=1, cutoff=0.5)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        raise UsageError(
            f"{_place(path, text, steps)}: there is no setting {_name(steps)!r}.{hint} "
            f"Known here: {', '.join(known)}"
        )
    try:
        return msgspec.convert(raw, kind)
    except msgspec.ValidationError as error:
        what, _, where = str(error).partition(" - at `$")
        steps = _steps(where.rstrip("`"))
        name = f"{_name(steps)}: " if steps else ""
        raise UsageError(f"{_place(path, text, steps)}: {name}{what}") from error
    except UsageError as error:
        raise UsageError(f"{path}: {error}") from error


def _unknown(
    value: object, kind: object, steps: tuple[Step, ...]
) -> Iterator[tuple[tuple[Step, ...], Sequence[str]]]:
    """Every key that no field has, with the names that there are."""
    record = _record_in(kind)
    if record is not None and isinstance(value, dict):
        fields = {field.encode_name: field.type for field in msgspec.structs.fields(record)}
        for key, inner in value.items():
            if key not in fields:
                yield (*steps, key), sorted(fields)
            else:
                yield from _unknown(inner, fields[key], (*steps, key))
        return
    inner_kind = _inner(kind)
    if isinstance(value, list):
        for place, one in enumerate(value):
            yield from _unknown(one, inner_kind, (*steps, place))
    elif isinstance(value, dict):
        for key, one in value.items():
            yield from _unknown(one, inner_kind, (*steps, key))


def _record_in(kind: object) -> type[Record] | None:
    """The record that a type is, or is beside None or plain values."""
    if isinstance(kind, type) and issubclass(kind, Record):
        return kind
    if typing.get_origin(kind) in (types.UnionType, typing.Union):
        return next(filter(None, map(_record_in, typing.get_args(kind))), None)
    return None


def _inner(kind: object) -> object:
    """What a tuple, list or mapping holds."""
    options = typing.get_args(kind) if typing.get_origin(kind) in (types.UnionType, typing.Union) else (kind,)
    for option in options:
        arguments = typing.get_args(option)
        if arguments and typing.get_origin(option) in (dict, Mapping):
            return arguments[1]
        if arguments:
            return arguments[0]
    return None


def _steps(where: str) -> tuple[Step, ...]:
    return tuple(name or int(place) for name, place in _STEP.findall(where))


def _name(steps: Sequence[Step]) -> str:
    words = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in steps)
    return words.removeprefix(".")


def _place(path: Path, text: str, steps: Sequence[Step]) -> str:
    """The file and, where the key stands on a line of its own, the line."""
    wanted = tuple(steps)
    while wanted:
        for number, found in _written(text):
            if found == wanted:
                return f"{path}:{number}"
        wanted = wanted[:-1]
    return str(path)


def _written(text: str) -> Iterator[tuple[int, tuple[Step, ...]]]:
    """Every key and header of a TOML text, with its line from 1. Tables inside lines are not looked into."""
    table: tuple[Step, ...] = ()
    counts: dict[tuple[Step, ...], int] = {}
    for number, line in enumerate(text.splitlines(), 1):
        if header := _HEADER.match(line):
            table = _dotted(header[2], counts)
            if header[1] == "[[":
                counts[table] = counts.get(table, -1) + 1
                table = (*table, counts[table])
            yield number, table
        elif key := _KEY.match(line):
            yield number, (*table, *_dotted(key[1], {}))


def _dotted(words: str, counts: Mapping[tuple[Step, ...], int]) -> tuple[Step, ...]:
    """The steps of a dotted name; a table of an array goes to the array's last element."""
    steps: tuple[Step, ...] = ()
    names = [word.strip().strip('"') for word in words.split(".")]
    for i, name in enumerate(names):
        steps = (*steps, name)
        if steps in counts and i < len(names) - 1:
            steps = (*steps, counts[steps])
    return steps
