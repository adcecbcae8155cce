"""Flags that are the fields of a record: their types, defaults and help stand there, and nowhere else."""

import functools
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import NoneType
from typing import Literal, TypeVar, cast, get_args, get_origin, get_type_hints

import click
import msgspec

from vidence.console.options import Option
from vidence.console.progress import MODES
from vidence.records import Record

F = TypeVar("F", bound=Callable[..., object])
_PLAIN = (int, float, bool, str, Path)


def flag(help_text: str, name: str = "", **more: object) -> msgspec.Meta:
    """A field that is also a flag.

    Args:
        help_text: what it is for.
        name: of the flag, where it is not the field's with dashes.
        more: what click is told besides.
    """
    return msgspec.Meta(description=help_text, extra={"flag": name, "help": help_text, "click": more})


@dataclass(frozen=True, kw_only=True)
class Flag:
    """A field as a flag."""

    field: str
    flag: str
    kind: type
    """int, float, bool, str, Path or tuple."""
    help: str
    default: object
    click: Mapping[str, object]
    """What click is told besides."""

    def option(self) -> Option:
        """The flag as an option of a command."""
        told = {"help": self.help, "default": self.default, **self.click}
        if self.kind is bool:
            told["is_flag"] = True
        elif self.kind is tuple:
            told["multiple"] = True
        elif isinstance(kinds := told.get("type"), tuple):
            told["type"] = click.Choice(kinds)
        elif self.kind is Path:
            told.setdefault("type", click.Path(path_type=Path))
        else:
            told.setdefault("type", self.kind)
        if self.default not in (None, "", (), False) and self.kind is not bool:
            told.setdefault("show_default", True)
        return click.option(self.flag, self.field, **told)  # type: ignore[arg-type]


def flags_of(*kinds: type[Record]) -> tuple[Flag, ...]:
    """The flags of some records, in the order of their fields; fields that are no flags are left out."""
    flags = []
    for kind in kinds:
        defaults = {field.name: field.default for field in msgspec.structs.fields(kind)}
        for name, hint in get_type_hints(kind, include_extras=True).items():
            metas = [m for m in getattr(hint, "__metadata__", ()) if "flag" in (m.extra or ())]
            if not metas:
                continue
            extra, bare = metas[0].extra, hint.__origin__
            more = dict(extra["click"])
            if NoneType in get_args(bare):
                bare = next(k for k in get_args(bare) if k is not NoneType)
            if get_origin(bare) is Literal:
                more.setdefault("type", get_args(bare))
            flags.append(
                Flag(
                    field=name,
                    flag=extra["flag"] or "--" + name.replace("_", "-"),
                    kind=tuple if get_origin(bare) is tuple else bare if bare in _PLAIN else str,
                    help=extra["help"],
                    default=None if defaults[name] is msgspec.NODEFAULT else defaults[name],
                    click=more,
                )
            )
    return tuple(flags)


def record_flags(name: str, kind: type[Record], *, without: Collection[str] = ()) -> Option:
    """Give a command the flags of a record, which it is handed.

    Args:
        name: of the command's argument.
        kind: the record.
        without: fields that keep their defaults.
    """
    flags = [one for one in flags_of(kind) if one.field not in without]

    def added(function: F) -> F:
        @functools.wraps(function)
        def called(**values: object) -> object:
            ours = {one.field: values.pop(one.field) for one in flags}
            return function(**{name: kind(**ours)}, **values)

        for one in reversed(flags):
            called = one.option()(called)
        return cast("F", called)

    return added


FILE = click.Path(path_type=Path, allow_dash=True)
JSON = flag(
    "Write what is said as JSON, for other programs; - prints it.", "--json", type=FILE, metavar="FILE"
)
ON = flag(
    "Where the work is done: local, ray (the Ray cluster that this machine is part of), or "
    "ray://HOST:10001 (default: VIDENCE_ON, else local). Results are the same.",
    metavar="WHERE",
)
PROGRESS = flag(
    "auto is a bar on a terminal and a line every 30 s elsewhere, plain are the lines, none is neither.",
    type=MODES,
)
