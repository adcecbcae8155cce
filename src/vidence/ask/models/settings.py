"""What the options of models share: counts, and the options that change a model's replies."""

from collections.abc import Collection, Iterable
from typing import Annotated, TypeAlias
from urllib.parse import quote

import msgspec
from msgspec import Meta

from vidence.records import Record

Count: TypeAlias = Annotated[int, Meta(ge=1)]
"""A whole number above zero."""


def spec_of(head: str, settings: Record, fields: Iterable[str], *, always: Collection[str] = ()) -> str:
    """A spec with those options that change a model's replies: its identity for the reply memory.

    Args:
        head: what stands before the options.
        settings: the options in use.
        fields: those that change the replies; they are left out where they have their default.
        always: those that are never left out.
    """
    defaults = {known.name: known.default for known in msgspec.structs.fields(settings)}
    entries = {name: getattr(settings, name) for name in fields}
    kept = {k: v for k, v in entries.items() if k in always or v not in (defaults[k], {})}
    return f"{head}?" + "&".join(f"{name}={_text(value)}" for name, value in kept.items())


def _text(value: object) -> str:
    if isinstance(value, dict):
        return quote(msgspec.json.encode(value, order="sorted").decode(), safe="{}:,[]")
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:g}" if isinstance(value, float) else str(value)
