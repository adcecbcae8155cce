"""Commands defined by a record: its fields are the arguments and flags, with types, defaults and help."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import FunctionType, NoneType, UnionType
from typing import Annotated, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

import click
import msgspec
from click.core import ParameterSource
from click.shell_completion import CompletionItem

from vidence import catalog
from vidence.errors import UsageError
from vidence.records import Record

R = TypeVar("R", bound=Record)
_FIELD = re.compile(r"(?<![\w./'\"`-])[a-z]+(?:_[a-z]+)+(?![\w=/'\"`-]|\.\w)")
PATH = click.Path(path_type=Path)
FILE = click.Path(path_type=Path, dir_okay=False)
FOLDER = click.Path(path_type=Path, file_okay=False)
MODES = ("auto", "plain", "none")
"""Ways to show progress."""
NOT_ALL = 3
"""Exit code if questions failed or were left out."""


@dataclass(frozen=True, kw_only=True)
class _Said:
    """A field's annotation as a flag, an argument, or a value composed of several flags."""

    flag: str = ""
    help: str = ""
    more: Mapping[str, object] = field(default_factory=dict)
    is_argument: bool = False
    flags: "tuple[Flag, ...]" = ()
    made: Callable[[dict[str, object]], object] | None = None


def flag(help_text: str, name: str = "", **more: object) -> msgspec.Meta:
    """Annotate a field as a flag.

    Args:
        help_text: its help.
        name: of the flag, if it is not the field's name with dashes.
        more: settings for click.
    """
    result = _Said(flag=name, help=help_text, more=more)
    return msgspec.Meta(description=help_text, extra={"flag": result})


def argument(metavar: str = "", **more: object) -> msgspec.Meta:
    """Annotate a field as an argument; a tuple takes the rest of the line."""
    named = {"metavar": metavar} if metavar else {}
    return msgspec.Meta(extra={"flag": _Said(is_argument=True, more={**named, **more})})


def names_of(kind: str, *, or_file: bool = False) -> dict[str, object]:
    """Return a setting for `flag` and `argument`: shells complete the names of a kind of plug-in.

    Args:
        kind: of plug-ins, such as ``selector``.
        or_file: complete files as well.
    """

    def complete(
        _context: click.Context, _parameter: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        names = [CompletionItem(name) for name in catalog.names(kind) if name.startswith(incomplete)]
        return [*names, *([CompletionItem(incomplete, type="file")] if or_file else [])]

    return {"shell_complete": complete}


def part(flags: "Sequence[Flag]", function: Callable[[dict[str, object]], object]) -> msgspec.Meta:
    """Annotate a field whose value is composed of several flags."""
    return msgspec.Meta(extra={"flag": _Said(flags=tuple(flags), made=function)})


@dataclass(frozen=True, kw_only=True)
class Flag:
    """A field as a flag or an argument."""

    field: str
    flag: str
    """Names of the flag; empty for an argument."""
    kind: type
    """int, float, bool, str, Path, or the element type of a tuple or dictionary."""
    is_many: bool = False
    """Whether it is a tuple."""
    is_pairs: bool = False
    """Whether it is a dictionary of ``KEY=VALUE``."""
    help: str
    default: object
    """The default; ``msgspec.NODEFAULT`` if it is required."""
    more: Mapping[str, object]
    """Settings for click."""

    def parameter(self) -> click.Parameter:
        """The flag or argument as a parameter of a command."""
        argument_class: Callable[..., click.Parameter] = click.Argument
        option_class: Callable[..., click.Parameter] = click.Option
        more = dict(self.more)
        if self.kind is not bool:
            more.setdefault("type", PATH if self.kind is Path else self.kind)
        if isinstance(kinds := more.get("type"), tuple):
            more["type"] = click.Choice(kinds)
        is_required = self.default is msgspec.NODEFAULT
        # A function reads texts, and no default.
        reads_texts = isinstance(more.get("type"), FunctionType)
        default = None if is_required or reads_texts else self.default
        if not self.flag:
            more |= {"nargs": -1} if self.is_many else {"default": default} if not is_required else {}
            return argument_class([self.field], required=is_required, **more)
        if self.is_pairs:
            more = {"metavar": "KEY=VALUE", **more, "multiple": True, "callback": self._pairs}
        elif self.is_many:
            more |= {"multiple": True, "default": default}
        else:
            more |= {"is_flag": self.kind is bool, "default": default}
        more |= {"required": is_required, "help": self.help}
        if is_required:  # click takes a flag with a default, also None, for given
            more.pop("default", None)
        more["show_default"] = default not in (None, "", (), False, {}) and self.kind is not bool
        return option_class([self.flag, self.field], **more)

    def _pairs(self, _context: click.Context, _flag: click.Parameter, texts: Sequence[str]) -> dict[str, str]:
        return pairs(texts, self.flag)


def flags_of(*kinds: type[Record]) -> tuple[Flag, ...]:
    """Return the flags of records and nested records, in field order."""
    return tuple(flag for kind in kinds for flag in _flags(kind))


def _fields(kind: type[Record]) -> Iterator[tuple[str, object, _Said | None]]:
    """Yield a record's fields: name, type and annotation."""
    for name, hint in get_type_hints(kind, include_extras=True).items():
        bare, metas = (hint.__origin__, hint.__metadata__) if get_origin(hint) is Annotated else (hint, ())
        extras = [meta.extra for meta in metas if isinstance(meta, msgspec.Meta) and meta.extra]
        yield name, bare, next((extra["flag"] for extra in extras if "flag" in extra), None)


def _flags(kind: type[Record]) -> Iterator[Flag]:
    known = {info.name: info for info in msgspec.structs.fields(kind)}
    for name, bare, result in _fields(kind):
        if result is None:
            if isinstance(bare, type) and issubclass(bare, Record):
                yield from _flags(bare)
        elif result.made is not None:
            yield from result.flags
        else:
            outcome = known[name].default_factory
            yield _flag(
                name, bare, result, default=known[name].default if outcome is msgspec.NODEFAULT else outcome()
            )


def _flag(name: str, bare: object, result: _Said, *, default: object) -> Flag:
    more = dict(result.more)
    if get_origin(bare) in (Union, UnionType):
        bare = next(kind for kind in get_args(bare) if kind is not NoneType)
    is_pairs, is_many = get_origin(bare) is dict, get_origin(bare) is tuple and "nargs" not in more
    if get_origin(bare) is tuple:
        bare = get_args(bare)[0]
    if get_origin(bare) is Literal:
        more.setdefault("type", get_args(bare))
    usual = "--" + name.replace("_", "-")
    return Flag(
        field=name,
        flag="" if result.is_argument else result.flag or usual,
        kind=bare if isinstance(bare, type) and bare in (int, float, bool, Path) else str,
        is_many=is_many,
        is_pairs=is_pairs,
        help=result.help,
        default=default,
        more=more,
    )


def record_of(kind: type[R], values: dict[str, object]) -> R:
    """Build a record from its flags' values, which are removed from `values`."""
    given: dict[str, object] = {}
    for name, bare, result in _fields(kind):
        if result is None and isinstance(bare, type) and issubclass(bare, Record):
            given[name] = record_of(bare, values)
        elif result is not None and result.made is not None:
            given[name] = result.made({flag.field: values.pop(flag.field) for flag in result.flags})
        elif (value := values.pop(name, None)) is not None:
            given[name] = value
    return kind(**given)


def given_flags(kind: type[Record]) -> tuple[str, ...]:
    """Return the flags of a record given on the command line, even with their defaults."""
    context = click.get_current_context()
    return tuple(
        flag.flag
        for flag in flags_of(kind)
        if context.get_parameter_source(flag.field) is ParameterSource.COMMANDLINE
    )


def command(
    name: str | None = None,
    *,
    group: click.Group | None = None,
    cls: type[click.Command] = click.Command,
    **settings: object,
) -> Callable[[Callable[[R], object]], click.Command]:
    """Define a command by a function of one record.

    Args:
        name: of the command, where it is not the function's.
        group: the command that it is a part of.
        cls: the class of the command.
        settings: others for click.
    """

    def made(function: Callable[[R], object]) -> click.Command:
        kind = next(hint for key, hint in get_type_hints(function).items() if key != "return")

        flags = flags_of(kind)

        def called(**values: object) -> object:
            try:
                return function(record_of(kind, values))
            except UsageError as error:
                error.args = (_with_flags(str(error), flags), *error.args[1:])
                raise

        called.__name__, called.__doc__ = function.__name__, function.__doc__
        params = [flag.parameter() for flag in flags]
        command = click.command(name, cls=cls, params=params, **settings)(called)
        if group is not None:
            group.add_command(command)
        return command

    return made


def _with_flags(message: str, flags: Sequence[Flag]) -> str:
    """Replace field names in a message by their flags."""
    named = {flag.field: flag.flag.partition("/")[0] for flag in flags if "_" in flag.field and flag.flag}
    return _FIELD.sub(lambda match: named.get(match[0], match[0]), message)


def pairs(texts: Sequence[str], flag: str) -> dict[str, str]:
    """Parse ``KEY=VALUE`` texts; each key once."""
    given: dict[str, str] = {}
    for text in texts:
        key, equals, value = text.partition("=")
        if not equals or not key:
            raise UsageError(f"{flag} {text!r} is not KEY=VALUE")
        if key in given:
            raise UsageError(f"{flag} gives {key!r} twice; give each key once")
        given[key] = value
    return given


def file_flag(help_text: str, name: str = "") -> msgspec.Meta:
    """Annotate a flag that names an output file; ``-`` is the standard output."""
    kind = click.Path(path_type=Path, allow_dash=True, dir_okay=False)
    return flag(help_text, name, type=kind, metavar="FILE")


JSON = file_flag("Write the results as JSON; - writes to standard output.", "--json")
HTML = file_flag("Write one self-contained page.")
CSV = file_flag("Write the rows as CSV.", "--csv")
LATEX = file_flag("Write the tables as LaTeX, for \\input.")
EVERYTHING = flag("Print all tables and sentences in full.", "--all")
LEVEL = flag("Level of the intervals.", type=click.FloatRange(0.5, 1, min_open=True, max_open=True))
PAGE = flag("Also write an HTML page.", "--page/--no-page")
PARSER = flag("Parse the stored replies again with this parser; no model is asked.")
TRUST = flag("Trust the keys, hosts and code that the file names, now and later.")
WHERE = flag("Only questions with this tag; repeatable.", metavar="TAG=VALUE")
JOBS = flag(
    "Parallel processes on each machine (default: the cores); results are the same.",
    type=click.IntRange(1),
    metavar="N",
)
ON = flag(
    "Where to run: local, ray (the Ray cluster of this machine), or "
    "ray://HOST:10001 (default: VIDENCE_ON, else local). Results are the same.",
    metavar="WHERE",
)
PROGRESS = flag(
    "How to show progress: auto (a bar on a terminal, else a line every 30 s), plain (lines), or none.",
    type=MODES,
)
