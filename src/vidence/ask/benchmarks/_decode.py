"""From one JSON object to a value, or to what is wrong with it."""

import difflib
import re
from collections.abc import Mapping
from typing import TypeVar, get_args, get_type_hints

import msgspec

from vidence.ask.benchmarks.checks import Fault
from vidence.records import Evidence, Item, Media, Provenance

ValueT = TypeVar("ValueT")

# What stands inside a question, under the same names in every format of ours.
_RECORDS: Mapping[str, type] = {"media": Media, "evidence": Evidence, "provenance": Provenance}
_PLACE = re.compile(r"(?P<what>.*?)(?: - at `\$\.?(?P<path>.*)`)?", re.DOTALL)
_UNKNOWN = re.compile(r"Object contains unknown field `(?P<name>.*)`", re.DOTALL)
_REQUIRED = re.compile(r"Object missing required field `(?P<name>.*)`")
_ITEM_DECODER = msgspec.json.Decoder(Item)


def item(line: bytes) -> Item | Fault:
    """Read one object of the item format."""
    return decoded(line, _ITEM_DECODER)


def decoded(line: bytes, decoder: msgspec.json.Decoder[ValueT]) -> ValueT | Fault:
    """Read one object with the decoder of its type."""
    try:
        return decoder.decode(line)
    except UnicodeDecodeError as error:
        return Fault("encoding", f"not UTF-8 ({error.reason}); save the file as UTF-8")
    except msgspec.ValidationError as error:
        return explained(error, record=decoder.type)
    except msgspec.DecodeError as error:
        return Fault("JSON", f"{error}; expected one JSON object")


def text_of(line: bytes, field: str) -> str:
    """The text of one field of an object that cannot be used otherwise; empty where it cannot be read.

    It tells which question a message is about.
    """
    try:
        found = msgspec.json.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return ""
    value = found.get(field) if isinstance(found, dict) else None
    return value if isinstance(value, str) else ""


def explained(error: msgspec.ValidationError, *, record: type = Item) -> Fault:
    """Which field is wrong, and how; an unknown field with the nearest known name.

    `record` is what the object should have been.
    """
    place = _PLACE.fullmatch(str(error))
    what, path = (str(error), "") if place is None else (place["what"], place["path"] or "")
    prefix = f"{path}." if path else ""
    if unknown := _UNKNOWN.fullmatch(what):
        return Fault(prefix + unknown["name"], _unknown_field(path, unknown["name"], record=record))
    if required := _REQUIRED.fullmatch(what):
        return Fault(prefix + required["name"], "absent; this field is required")
    if path.startswith("tags"):
        return Fault("tags", f"{what}; the value of every tag is a text: put it in quotes")
    return Fault(path or "JSON", what + _hint(path, what, record=record))


def _hint(path: str, what: str, *, record: type) -> str:
    """What to write instead, where the message of the decoder does not say it."""
    if what.startswith("Invalid enum value"):
        owner = _RECORDS.get(path.partition("[")[0], record) if "." in path else record
        allowed = get_args(get_type_hints(owner).get(path.rpartition(".")[2]))
        return f"; expected {' or '.join(allowed)}" if allowed else ""
    if path and what.startswith("Expected `str`"):
        return "; put it in quotes"
    return ""


def _unknown_field(path: str, name: str, *, record: type) -> str:
    owner = _RECORDS.get(path.partition("[")[0], record)
    known = [field.name for field in msgspec.structs.fields(owner)]
    near = difflib.get_close_matches(name, known, n=1)
    hint = f" did you mean {near[0]!r}?" if near else ""
    return f"unknown field;{hint} known: {', '.join(known)}"
