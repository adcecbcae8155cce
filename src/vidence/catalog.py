"""Find things by the name of their file; import one only when it is asked for.

A benchmark, model, selector, parser, judge, task, detector and so on is one file in the folder of its kind
(`FOLDERS`) that defines ``create``. Its name is the name of the file with ``-`` for ``_``; a file that holds
several like things lists them as ``NAMES = ("one", "another")``, and its ``create`` takes the name. A file
without ``create`` is code that the family shares. Other distributions add theirs through the entry point
groups ``vidence.benchmarks``, ``vidence.models`` and so on: the name of the entry point is the name, its
value the module.

A thing with options declares them as ``class Settings(Record)``: a type with bounds, a default and a line
of help for each field. Its ``create(settings)`` takes that record; `create` here makes it of what a user
wrote.
"""

import difflib
import functools
import importlib
import importlib.metadata
import importlib.util
import inspect
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Annotated, Any, TypeVar
from urllib.parse import unquote

import msgspec
from msgspec import Meta

from vidence.errors import UnknownNameError, UsageError
from vidence.records import Record

if TYPE_CHECKING:
    from collections.abc import Callable

SettingsT = TypeVar("SettingsT", bound=Record)
FilePath = Annotated[str, Meta(extra={"is_path": True})]
"""The type of a setting that names a file or a folder; it is made absolute in a plan."""

FOLDERS = {
    "benchmark": "vidence.ask.benchmarks",
    "model": "vidence.ask.models",
    "selector": "vidence.ask.selection",
    "parser": "vidence.ask.scoring",
    "judge": "vidence.ask.judging",
    "strategy": "vidence.ask.strategies",
    "diagnostic": "vidence.explain.diagnostics",
    "embedder": "vidence.ask.embedding",
    "maker": "vidence.make.makers",
    "task": "vidence.make.tasks",
    "shot-detector": "vidence.seeing.shots",
    "event-log": "vidence.make.logs",
    "detector": "vidence.seeing.detectors",
    "describer": "vidence.seeing.describers",
    "tracker": "vidence.seeing.trackers",
    "mocap-format": "vidence.pointlight.formats",
}
_SEE = "see 'Adding your own' in the documentation"
_CREATE = re.compile(r"^def create\(", re.MULTILINE)
_NAMES = re.compile(r"^NAMES = \(([^)]*)\)", re.MULTILINE)
_FIRST_LINE = re.compile(r'\A[ru]*"""(.+?)(?:"""|\n|\Z)')


@dataclass(frozen=True, kw_only=True)
class _File:
    """One file of a family: its module, the first line of its docstring, whether several things share it."""

    module: str
    summary: str
    is_shared: bool


@functools.cache
def _files(kind: str) -> Mapping[str, _File]:
    """The plug-ins of a kind by name; the files are read, not imported."""
    spec = importlib.util.find_spec(FOLDERS[kind])
    if spec is None or spec.submodule_search_locations is None:
        raise UsageError(
            f"the installation of vidence is damaged: {FOLDERS[kind]} is missing; install it again"
        )
    found: dict[str, _File] = {}
    for folder in spec.submodule_search_locations:
        for path in sorted(Path(folder).glob("*.py")):
            text = path.read_text(encoding="utf-8")
            if path.stem.startswith("_") or not _CREATE.search(text):
                continue
            first, named = _FIRST_LINE.match(text), _NAMES.search(text)
            file = _File(
                module=f"{FOLDERS[kind]}.{path.stem}",
                summary=first[1].strip().replace("``", "`") if first else "",
                is_shared=named is not None,
            )
            names_in_file = re.findall(r'"([^"]+)"', named[1]) if named else [path.stem.replace("_", "-")]
            found |= dict.fromkeys(names_in_file, file)
    return found


@functools.cache
def _entry_points() -> Mapping[str, Mapping[str, importlib.metadata.EntryPoint]]:
    """The plug-ins of other distributions by kind and name; looked up once in a process."""
    return {
        kind: {e.name: e for e in importlib.metadata.entry_points(group=f"vidence.{plural(kind)}")}
        for kind in FOLDERS
    }


def plural(kind: str) -> str:
    """The word for several things of that kind; entry point groups and lists have this name.

    >>> plural("model"), plural("strategy")
    ('models', 'strategies')
    """
    return kind[:-1] + "ies" if kind.endswith("y") else kind + "s"


def forget() -> None:
    """Look for plug-ins anew; for programs that install distributions while they run."""
    _entry_points.cache_clear()


def names(kind: str) -> tuple[str, ...]:
    """Every name of that kind, sorted; nothing is imported.

    Args:
        kind: one of `FOLDERS`.
    """
    return tuple(sorted({*_files(kind), *_entry_points()[kind]}))


def find(kind: str, name: str) -> ModuleType:
    """Import the module of that kind and name.

    Raises:
        UnknownNameError: there is none; the message suggests the nearest name.
        UsageError: a plug-in has the name of a built-in one, cannot be imported, or is no module with
            ``create()``.
    """
    plugins, ours = _entry_points()[kind], _files(kind)
    if name not in ours and name not in plugins:
        raise UnknownNameError(kind, name, names(kind))
    if name in ours and name in plugins:
        raise UsageError(
            f"{plugins[name].value} is installed as the {kind} {name!r}, a name that vidence has itself; "
            "give it another name in its entry points, or uninstall it"
        )
    if name in ours:
        return importlib.import_module(ours[name].module)
    where = f"the entry point {name!r} in vidence.{plural(kind)}"
    try:
        module = plugins[name].load()
    except (ImportError, AttributeError) as error:
        raise UsageError(f"{where} names {plugins[name].value}, which cannot be imported: {error}") from error
    if not isinstance(module, ModuleType):
        raise UsageError(f"{where} must name a module, not {module!r}")
    if not hasattr(module, "create"):
        raise UsageError(f"{module.__name__} defines no create(); {_SEE}")
    return module


def summary(kind: str, name: str) -> str:
    """What a thing is, in one line; a built-in one is not imported for it, unless several share its file."""
    ours = _files(kind).get(name)
    if ours is not None and not ours.is_shared:
        return ours.summary
    module = find(kind, name)
    if hasattr(module, "NAMES"):
        said: Mapping[str, str] = module.SUMMARIES
        return said[name]
    return next(iter((module.__doc__ or "").splitlines()), "")


def settings_type(kind: str, name: str) -> type[Record] | None:
    """The record of a thing's settings; None for one that has none.

    Raises:
        UsageError: its ``create`` takes settings, and it declares none.
    """
    module = find(kind, name)
    if "settings" not in inspect.signature(module.create).parameters:
        return None
    found = getattr(module, "Settings", None)
    if not (isinstance(found, type) and issubclass(found, Record)):
        raise UsageError(f"{module.__name__} has create(settings), and no class Settings(Record); {_SEE}")
    return found


def create(kind: str, text: "str | Spec", **resources: object) -> Any:  # noqa: ANN401 - what kinds make is said above this file
    """Make the thing that a user named.

    Args:
        kind: one of `FOLDERS`.
        text: a spec such as ``fps:2`` or ``openai:gpt-4.1?api=chat``, or one taken apart.
        resources: what this kind of thing is handed besides, such as a judge's folder of prompts.

    Raises:
        UnknownNameError: there is no such thing.
        UsageError: an option that it does not have, a value that cannot be read, or a plug-in whose
            ``create`` wants something else.
    """
    spec = parse_spec(text) if isinstance(text, str) else text
    module = find(kind, spec.name)
    owner = f"the {kind} {spec.name!r}"
    make: Callable[..., object] = module.create
    named = {"name": spec.name} if hasattr(module, "NAMES") else {}
    settings = settings_type(kind, spec.name)
    made = read_settings(settings or NoSettings, spec.options, argument=spec.argument, owner=owner)
    handed = {**({"settings": made} if settings else {}), **named, **resources}
    try:
        inspect.signature(make).bind(**handed)
    except TypeError as error:
        raise UsageError(
            f"{module.__name__} has create{inspect.signature(make)}, and create({', '.join(handed)}) is "
            f"expected of {owner} ({error}); {_SEE}"
        ) from error
    return make(**handed)


@dataclass(frozen=True, kw_only=True)
class Spec:
    """What a user wrote to name a thing: ``name:argument?key=value&key=value``.

    >>> parse_spec("openai:Qwen2.5-VL-7B?base_url=http://localhost:8000/v1").options["base_url"]
    'http://localhost:8000/v1'
    >>> parse_spec("fps:2").argument
    '2'
    """

    name: str
    argument: str = ""
    options: Mapping[str, str] = field(default_factory=dict)


def parse_spec(text: str) -> Spec:
    """Take a spec apart. Values may be percent-encoded; a ``+`` is a plus sign.

    Raises:
        UsageError: an option without ``=`` or given twice, or no name.
    """
    head, _, query = text.partition("?")
    name, _, argument = head.partition(":")
    if not name:
        raise UsageError(f"{text!r} names nothing; expected name:argument?key=value, for example fps:2")
    options: dict[str, str] = {}
    for pair in filter(None, query.split("&")):
        key, equals, value = pair.partition("=")
        if not equals or not key:
            raise UsageError(f"{pair!r} in {text!r} is not key=value")
        if key in options:
            raise UsageError(f"{key!r} is given twice in {text!r}")
        options[key] = unquote(value)
    return Spec(name=name, argument=argument, options=options)


# --------------------------------------------------------------------------- settings


class NoSettings(Record):
    """The settings of a thing that has none."""


@dataclass(frozen=True, kw_only=True)
class Option:
    """One field of a record of settings, as lists, messages and documentation show it.

    `kind` says in words what is expected, `default` is JSON (None: must be given), `is_argument` is True for
    the field that the text behind the colon of a spec fills, `is_path` for one that names a file.
    """

    name: str
    kind: str
    default: str | None
    help: str
    is_argument: bool
    is_path: bool


def options_of(settings: type[Record]) -> tuple[Option, ...]:
    """The fields of a record of settings, in their order."""
    found = []
    for known, info in zip(msgspec.structs.fields(settings), _fields(settings), strict=True):
        plain, meta = _without_metadata(info.type)
        default = None if known.required else msgspec.json.encode(_default(known)).decode()
        found.append(
            Option(
                name=known.name,
                kind=_expected(plain),
                default=default,
                help=str(meta.get("description", "")),
                is_argument=known.name == argument_field(settings),
                is_path=bool(meta.get("is_path")),
            )
        )
    return tuple(found)


def _fields(settings: type[Record]) -> tuple[msgspec.inspect.Field, ...]:
    found = msgspec.inspect.type_info(settings)
    if not isinstance(found, msgspec.inspect.StructType):
        raise TypeError(f"{settings!r} is no record")
    return found.fields


def argument_field(settings: type[Record]) -> str:
    """The field that ``name:argument`` fills: the class's ``positional``, or empty where there is none."""
    return str(getattr(settings, "positional", ""))


def _default(field: msgspec.structs.FieldInfo) -> object:
    if field.default is not msgspec.NODEFAULT:
        return field.default
    return field.default_factory()


def _without_metadata(kind: msgspec.inspect.Type) -> tuple[msgspec.inspect.Type, dict[str, object]]:
    """A type without its annotations, and what they say."""
    said: dict[str, object] = {}
    while isinstance(kind, msgspec.inspect.Metadata):
        said |= {**(kind.extra_json_schema or {}), **(kind.extra or {})}
        kind = kind.type
    if isinstance(kind, msgspec.inspect.UnionType):
        inner = [t for t in kind.types if not isinstance(t, msgspec.inspect.NoneType)]
        if len(inner) == 1:
            plain, more = _without_metadata(inner[0])
            return plain, {**more, **said}
    return kind, said


def _bounds(kind: msgspec.inspect.IntType | msgspec.inspect.FloatType) -> str:
    said = []
    low, high = (kind.ge, kind.le)
    if low is not None and high is not None:
        return f"from {low:g} to {high:g}"
    if low is not None:
        said.append(f"{low:g} or above")
    if kind.gt is not None:
        said.append(f"above {kind.gt:g}")
    if high is not None:
        said.append(f"{high:g} or below")
    if kind.lt is not None:
        said.append(f"below {kind.lt:g}")
    return ", ".join(said)


def _expected(kind: msgspec.inspect.Type) -> str:
    """What a value must be, in words."""
    match kind:
        case msgspec.inspect.IntType():
            return " ".join(filter(None, ("a whole number", _bounds(kind))))
        case msgspec.inspect.FloatType():
            return " ".join(filter(None, ("a number", _bounds(kind))))
        case msgspec.inspect.BoolType():
            return "true or false"
        case msgspec.inspect.LiteralType():
            return "one of " + ", ".join(map(str, kind.values))
        case msgspec.inspect.VarTupleType():
            inner, _ = _without_metadata(kind.item_type)
            return f"several values split by |, each {_expected(inner)}"
        case msgspec.inspect.DictType():
            return "a JSON object"
        case _:
            return "a text"


def read_settings(
    settings: type[SettingsT], given: Mapping[str, object], *, argument: str = "", owner: str
) -> SettingsT:
    """A record of settings from what a user wrote; texts become what the fields want.

    Args:
        settings: the record.
        given: options by name, as texts (a spec) or as values (a configuration file).
        argument: the text behind the colon of a spec; empty for none.
        owner: whose settings they are, for messages.

    Raises:
        UsageError: an option that is not known (the nearest and all known ones are named), a value that
            cannot be read, or an option that must be given and is not.
    """
    known = {option.name: option for option in options_of(settings)}
    values = _gathered(settings, given)
    if argument:
        first = argument_field(settings)
        if not first:
            raise UsageError(f"{owner} takes no argument, got {argument!r}; write just the name")
        if first in values:
            raise UsageError(f"{owner}: {first} is given twice, as {argument!r} and as {values[first]!r}")
        values[first] = argument
    types = {f.name: f.type for f in _fields(settings)}
    read: dict[str, object] = {}
    for key, value in values.items():
        if key not in known:
            near = difflib.get_close_matches(key, known, n=1)
            hint = f" Did you mean {near[0]!r}?" if near else ""
            listed = ", ".join(sorted(known)) or "none"
            raise UsageError(f"{owner} has no option {key!r}.{hint} Known options: {listed}")
        read[key] = _prepared(value, _without_metadata(types[key])[0])
    for option in known.values():
        if option.default is None and option.name not in read:
            place = f"{option.name}=..." if not option.is_argument else f"its {option.name} behind a colon"
            raise UsageError(f"{owner} wants {place}: {option.kind}")
    return _converted(settings, read, values, known=known, owner=owner)


def _gathered(settings: type[Record], given: Mapping[str, object]) -> dict[str, object]:
    """The options, with those that begin with a field's ``prefix`` together as the value of that field."""
    values = dict(given)
    for field_info in _fields(settings):
        prefix = str(_without_metadata(field_info.type)[1].get("prefix", ""))
        if prefix and (found := [key for key in values if key.startswith(prefix)]):
            values[field_info.name] = {key.removeprefix(prefix): values.pop(key) for key in found}
    return values


def _prepared(value: object, kind: msgspec.inspect.Type) -> object:
    """A text as the value that it stands for, where msgspec does not do it itself."""
    if not isinstance(value, str):
        return value
    if isinstance(kind, msgspec.inspect.VarTupleType):
        return tuple(part.strip() for part in value.split("|"))
    if isinstance(kind, msgspec.inspect.DictType):
        try:
            return msgspec.json.decode(value)
        except msgspec.DecodeError:
            return value
    return value


def _converted(
    settings: type[SettingsT],
    read: Mapping[str, object],
    written: Mapping[str, object],
    *,
    known: Mapping[str, Option],
    owner: str,
) -> SettingsT:
    hints = {f.name: f.type for f in msgspec.structs.fields(settings)}
    for key, value in read.items():
        try:
            made = msgspec.convert(value, hints[key], strict=not isinstance(value, str | tuple))
        except msgspec.ValidationError as error:
            hint = " (this was yes or no before)" if value in ("yes", "no") else ""
            raise UsageError(
                f"{owner}: option {key}={written[key]!r} cannot be read: expected {known[key].kind}{hint}"
            ) from error
        if isinstance(made, float) and not math.isfinite(made):
            raise UsageError(
                f"{owner}: option {key}={written[key]!r} cannot be read: expected {known[key].kind}"
            )
        if isinstance(made, tuple) and ("" in made or len(set(made)) != len(made)):
            raise UsageError(
                f"{owner}: option {key}={written[key]!r} cannot be read: expected different values, "
                "split by |"
            )
    try:
        return msgspec.convert(dict(read), settings, strict=False)
    except msgspec.ValidationError as error:
        raise UsageError(f"{owner}: {error}") from error
