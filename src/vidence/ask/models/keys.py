"""API keys of this process: read from the environment, and removed from everything stored or shown."""

import re
from collections.abc import Iterable, Mapping
from typing import TypeVar
from urllib.parse import quote

import msgspec

from vidence.errors import UsageError
from vidence.records import Record

RecordT = TypeVar("RecordT", bound=Record)

SHOWN: str = "[key]"
"""Replacement for a key."""
LEAST_CHARACTERS = 8
"""Shortest secret; shorter values, such as `EMPTY` for local servers, are not removed."""
_IN_USE: set[str] = set()
_NAMES = re.compile(
    r"(?:^|[-_.])(?:authorization|cookies?|passw(?:or)?d|secret|credentials?|bearer|api[-_]?key|apikey)$"
    r"|^(?:x-)?(?:access|auth|session|security)[-_]?token$|^token$|^auth$",
    re.IGNORECASE,
)
# How the keys of providers begin; words of a name, such as that of a checkpoint, are none.
_VALUES = re.compile(
    r"^(?:Bearer|Basic|Token)\s+\S|^(?:sk|pk|rk)-(?=\S*[A-Z])(?=\S*\d)[\w-]{20,}"
    r"|^(?:gh[opsu]_|hf_|github_pat_)\w{30,}|^AIza[\w-]{30,}|^AKIA[A-Z0-9]{16}$|^xox[abps]-[\w-]{20,}"
)


def note_key(key: str) -> None:
    """Register a key, so that `without_keys` removes it until this process ends."""
    if len(key) >= LEAST_CHARACTERS:
        _IN_USE.update((key, quote(key, safe="")))


def without_keys(text: str) -> str:
    """Replace keys in a text by `SHOWN`."""
    for key in sorted(_IN_USE, key=len, reverse=True):  # a key may begin with another one
        if key in text:
            text = text.replace(key, SHOWN)
    return text


def clean_record(record: RecordT) -> RecordT:
    """Remove keys from all texts of a record, including names in tables."""
    written = msgspec.json.encode(record)
    if not any(msgspec.json.encode(key)[1:-1] in written for key in _IN_USE):
        return record
    return msgspec.convert(_cleaned(msgspec.to_builtins(record)), type(record))


def clean_error(error: BaseException) -> None:
    """Remove keys from an error and its causes."""
    seen: BaseException | None = error
    while seen is not None:
        seen.args = tuple(without_keys(arg) if isinstance(arg, str) else arg for arg in seen.args)
        seen = seen.__cause__ or seen.__context__


def _cleaned(value: object) -> object:
    match value:
        case str():
            return without_keys(value)
        case dict():
            return {_cleaned(name): _cleaned(entry) for name, entry in value.items()}
        case list() | tuple():
            return [_cleaned(entry) for entry in value]
        case _:
            return value


def check_no_key(owner: str, extra: Mapping[str, object]) -> None:
    """Reject fields of `extra` that look like keys.

    These fields are stored with the run; keys are read from the environment instead.

    Raises:
        UsageError: a field has the name or the value of a key; the message shows no value.
    """
    if (name := _key_in(extra)) is not None:
        raise UsageError(
            f"{owner}: extra holds what looks like a key (in {name!r}; its value is not shown), and extra is "
            "stored with the run; put the key into an environment variable and name it with api_key_env=NAME"
        )


def looks_like_key(text: str) -> bool:
    """Whether a text starts as providers' keys do, or contains a key in use."""
    return bool(_VALUES.search(text.strip())) or without_keys(text) != text


def _key_in(value: object, name: str = "extra") -> str | None:
    """Return the name of the first field that looks like a key, or None."""
    inner: Iterable[tuple[object, str]] = ()
    if isinstance(value, Mapping):
        inner = ((entry, str(key)) for key, entry in value.items())
    elif isinstance(value, list | tuple):
        inner = ((entry, name) for entry in value)
    elif isinstance(value, str) and value.strip() and (_NAMES.search(name) or looks_like_key(value)):
        return name
    return next((text for pair in inner if (text := _key_in(*pair)) is not None), None)
