"""From one JSON object to a value, or to what is wrong with it."""

import difflib
import re
from typing import TypeVar, get_args, get_type_hints

import msgspec

from vidence.benchmarks._checks import Fault
from vidence.records import Evidence, Item, Media, Provenance

ValueT = TypeVar("ValueT")

_RECORDS = {"": Item, "media": Media, "evidence": Evidence, "provenance": Provenance}
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
        return explained(error)
    except msgspec.DecodeError as error:
        return Fault("JSON", f"{error}; expected one JSON object")


def explained(error: msgspec.ValidationError) -> Fault:
    """Which field is wrong, and how; an unknown field with the nearest known name."""
    place = _PLACE.fullmatch(str(error))
    what, path = (str(error), "") if place is None else (place["what"], place["path"] or "")
    prefix = f"{path}." if path else ""
    if unknown := _UNKNOWN.fullmatch(what):
        return Fault(prefix + unknown["name"], _unknown_field(path, unknown["name"]))
    if required := _REQUIRED.fullmatch(what):
        return Fault(prefix + required["name"], "absent; this field is required")
    if path.startswith("tags"):
        return Fault("tags", f"{what}; the value of every tag is a text: put it in quotes")
    return Fault(path or "JSON", what + _hint(path, what))


def _hint(path: str, what: str) -> str:
    """What to write instead, where the message of the decoder does not say it."""
    if what.startswith("Invalid enum value"):
        record = _RECORDS[path.partition("[")[0] if "." in path else ""]
        # Releases have records of their own, whose fields are not known here.
        allowed = get_args(get_type_hints(record).get(path.rpartition(".")[2]))
        return f"; expected {' or '.join(allowed)}" if allowed else ""
    if path and what.startswith("Expected `str`"):
        return "; put it in quotes"
    return ""


def _unknown_field(path: str, name: str) -> str:
    known = _RECORDS[path.partition("[")[0]].__struct_fields__
    near = difflib.get_close_matches(name, known, n=1)
    hint = f" did you mean {near[0]!r}?" if near else ""
    return f"unknown field;{hint} known: {', '.join(known)}"
