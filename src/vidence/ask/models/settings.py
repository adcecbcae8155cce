"""Shared by models' options: counts, and which options change replies."""

from collections.abc import Collection, Iterable
from typing import Annotated, TypeAlias
from urllib.parse import quote

import msgspec
from msgspec import Meta

from vidence.records import Record

Count: TypeAlias = Annotated[int, Meta(ge=1)]
"""A whole number above zero."""


def spec_of(head: str, settings: Record, fields: Iterable[str], *, always: Collection[str] = ()) -> str:
    """Return a spec with the options that change replies: a model's identity in the reply cache.

    Args:
        head: the text before the options.
        settings: the options in use.
        fields: options that change replies, left out if they have their default.
        always: options that are always included.
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
