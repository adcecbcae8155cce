"""Find plug-ins by file name; import one only when it is requested.

A benchmark, model, selector, parser, judge, task, detector and so on is a file in the folder of its kind
(`FOLDERS`) that defines ``create``. Its name is the file's name with ``-`` for ``_``; a file with several
similar plug-ins lists them as ``NAMES = ("one", "another")``, and its ``create`` takes the name. A file
without ``create`` is shared code. If a folder of the file's name contains TOML files, each of these is a
plug-in, and ``create`` takes its name. Other distributions add plug-ins through the entry point groups
``vidence.benchmarks``, ``vidence.models`` and so on: the entry point's name is the plug-in's, its value the
module.

A plug-in with options declares them as ``class Settings(Record)``: each field has a type with bounds, a
default and a line of help. Its ``create(settings)`` takes that record; `create` here builds it from a user's
text.
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
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Annotated, Any, TypeVar
from urllib.parse import unquote

import msgspec
from msgspec import Meta

from vidence.errors import UnknownNameError, UsageError
from vidence.installation import entry_points
from vidence.records import Record

if TYPE_CHECKING:
    from collections.abc import Callable

SettingsT = TypeVar("SettingsT", bound=Record)
FilePath = Annotated[str, Meta(extra={"is_path": True})]
"""Type of a setting that names a file or folder, made absolute in plans."""
CodePath = Annotated[str, Meta(extra={"is_code": True})]
"""Type of a setting ``FILE.py:NAME``, made absolute; its code runs only with the user's permission."""
ModelSpec = Annotated[str, Meta(extra={"is_model": True})]
"""Type of a strategy's setting that names a model by spec, or is `SELF`."""
SELF = "self"
"""Denotes the model under test instead of another model's spec."""
FUNCTION = "python"
"""Name of plug-ins from Python functions; ``FILE.py:NAME`` abbreviates ``python:FILE.py:NAME``."""

FOLDERS = {
    "benchmark": "vidence.ask.benchmarks",
    "model": "vidence.ask.models",
    "selector": "vidence.ask.selection",
    "parser": "vidence.ask.scoring",
    "judge": "vidence.ask.judging",
    "strategy": "vidence.ask.strategies",
    "diagnostic": "vidence.explain.diagnostics",
    "view": "vidence.report.panel_views",
    "embedder": "vidence.ask.embedding",
    "maker": "vidence.make.makers",
    "exporter": "vidence.make.release.exporters",
    "task": "vidence.make.herbench.tasks",
    "shot-detector": "vidence.seeing.shots",
    "event-log": "vidence.make.sources.logs",
    "annotation-format": "vidence.make.sources.annotations",
    "scene-source": "vidence.make.sources.scene_sources",
    "detector": "vidence.seeing.detectors",
    "describer": "vidence.seeing.describers",
    "tracker": "vidence.seeing.trackers",
    "mocap-format": "vidence.pointlight.formats",
    "executor": "vidence.engine.cluster",
}
_SEE = "see 'Adding your own' in the documentation"
_CREATE = re.compile(r"^def create\(", re.MULTILINE)
_NAMES = re.compile(r"^NAMES = \(([^)]*)\)", re.MULTILINE)
_ABOUT = re.compile(r'^about = "(.+)"$', re.MULTILINE)
_WORD = re.compile(r"[A-Za-z_]{1,30}")
_FIRST_LINE = re.compile(r'\A[ru]*"""(.+?)(?:"""|\n|\Z)')


@dataclass(frozen=True, kw_only=True)
class _File:
    """A plug-in file: its module, its docstring's first line, and whether several plug-ins share it."""

    module: str
    summary: str
    is_shared: bool
    is_data: bool = False


@functools.cache
def _files(kind: str) -> Mapping[str, _File]:
    """Return the plug-ins of a kind by name, without importing them. A deleted wing has none."""
    folder = Path(__file__).parent.joinpath(*FOLDERS[kind].split(".")[1:])
    files: dict[str, _File] = {}
    for path in sorted(folder.glob("*.py")):
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
        for data in folder.joinpath(path.stem).glob("*.toml"):  # each thing is a file of data there
            about = _ABOUT.search(data.read_text(encoding="utf-8"))
            files[data.stem] = replace(file, summary=about[1] if about else "", is_data=True)
            names_in_file = []
        files |= dict.fromkeys(names_in_file, file)
    return dict(sorted(files.items()))


def _entry_points(kind: str) -> Mapping[str, importlib.metadata.EntryPoint]:
    """Return other distributions' plug-ins of a kind by name."""
    return {e.name: e for e in entry_points().select(group=f"vidence.{plural(kind)}")}


def plural(kind: str) -> str:
    """Return the plural of a kind, which names its entry point group and list.

    >>> plural("model"), plural("strategy")
    ('models', 'strategies')
    """
    return kind[:-1] + "ies" if kind.endswith("y") else kind + "s"


def forget() -> None:
    """Search for plug-ins again, for programs that install distributions at run time."""
    entry_points.cache_clear()


def names(kind: str) -> tuple[str, ...]:
    """Return every name of a kind, sorted, without importing.

    Args:
        kind: one of `FOLDERS`.
    """
    return tuple(sorted({*_files(kind), *_entry_points(kind)}))


def is_known(kind: str, text: str) -> bool:
    """Whether a spec names an existing plug-in of this kind.

    >>> is_known("benchmark", "toml:mine.toml"), is_known("benchmark", "questions.json")
    (True, False)
    """
    return text.partition(":")[0].partition("?")[0] in names(kind)


def check_name(kind: str, text: str) -> None:
    """Check that a plug-in exists before anything is opened for it.

    Args:
        kind: one of `FOLDERS`.
        text: a spec.

    Raises:
        UnknownNameError: there is none; the message suggests the nearest name.
    """
    name = parse_spec(text).name
    if name not in names(kind):
        raise UnknownNameError(kind, name, names(kind))


def find(kind: str, name: str) -> ModuleType:
    """Import the module of a plug-in.

    Raises:
        UnknownNameError: there is none; the message suggests the nearest name.
        UsageError: a plug-in has the name of a built-in one, cannot be imported, or is no module with
            ``create()``.
    """
    plugins, ours = _entry_points(kind), _files(kind)
    if name not in ours and name not in plugins:
        raise UnknownNameError(kind, name, names(kind))
    if name in ours and name in plugins:
        raise UsageError(
            f"{plugins[name].value} is installed as the {kind} {name!r}, a name that vidence uses "
            "itself; rename its entry point, or uninstall it"
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
    """Return a plug-in's description in one line; built-in ones are imported only if several share a file."""
    ours = _files(kind).get(name)
    if ours is not None and (ours.is_data or not ours.is_shared):
        return ours.summary
    module = find(kind, name)
    if hasattr(module, "NAMES"):
        values: Mapping[str, str] = module.SUMMARIES
        return values[name]
    return next(iter((module.__doc__ or "").splitlines()), "")


def settings_type(kind: str, name: str) -> type[Record] | None:
    """Return a plug-in's settings record; None if it has none.

    Raises:
        UsageError: its ``create`` takes settings, and it declares none.
    """
    module = find(kind, name)
    if "settings" not in inspect.signature(module.create).parameters:
        return None
    settings_type = getattr(module, "Settings", None)
    if not (isinstance(settings_type, type) and issubclass(settings_type, Record)):
        raise UsageError(f"{module.__name__} has create(settings) but no class Settings(Record); {_SEE}")
    return settings_type


def ready(kind: str) -> tuple[str, ...]:
    """Return every name of a kind that needs no argument.

    Args:
        kind: one of `FOLDERS`.
    """
    records = ((name, settings_type(kind, name) or NoSettings) for name in names(kind))
    return tuple(
        name for name, of in records if not any(info.required for info in msgspec.structs.fields(of))
    )


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
    ours = _files(kind).get(spec.name)
    named = {"name": spec.name} if hasattr(module, "NAMES") or (ours and ours.is_data) else {}
    settings = settings_type(kind, spec.name)
    record = read_settings(settings or NoSettings, spec.options, argument=spec.argument, owner=owner)
    handed = {**({"settings": record} if settings else {}), **named, **resources}
    try:
        inspect.signature(make).bind(**handed)
    except TypeError as error:
        raise UsageError(
            f"{module.__name__} defines create{inspect.signature(make)}; {owner} needs "
            f"create({', '.join(handed)}) ({error}); {_SEE}"
        ) from error
    return make(**handed)


@dataclass(frozen=True, kw_only=True)
class Spec:
    """What a user wrote to name a thing: ``name:argument?key=value&key=value``.

    >>> parse_spec("openai:Qwen2.5-VL-7B?base_url=http://localhost:8000/v1").options["base_url"]
    'http://localhost:8000/v1'
    >>> parse_spec("fps:2").argument
    '2'
    >>> parse_spec("models.py:answer").name, parse_spec("models.py:answer").argument
    ('python', 'models.py:answer')
    """

    name: str
    argument: str = ""
    options: Mapping[str, str] = field(default_factory=dict)


def parse_spec(text: str) -> Spec:
    """Parse a spec. Values may be percent-encoded; ``+`` is a plus sign.

    Raises:
        UsageError: an option without ``=`` or given twice, or no name.
    """
    head, _, query = spelled_out(text).partition("?")
    name, _, argument = head.partition(":")
    if not name:
        raise UsageError(f"{text!r} has no name; expected name:argument?key=value, for example fps:2")
    options: dict[str, str] = {}
    for pair in filter(None, query.split("&")):
        key, equals, value = pair.partition("=")
        if not equals or not key:
            result = repr(pair) if _WORD.fullmatch(pair) else "(not shown)"  # it may be a secret
            raise UsageError(f"option {result} of {head!r} is not key=value")
        if key in options:
            raise UsageError(f"{key!r} is given twice in the options of {head!r}")
        options[key] = unquote(value)
    return Spec(name=name, argument=argument, options=options)


def spelled_out(text: str) -> str:
    """Return a spec with the name that ``FILE.py:NAME`` abbreviates.

    >>> spelled_out("models.py:answer?threads=4"), spelled_out("fps:2")
    ('python:models.py:answer?threads=4', 'fps:2')
    """
    return f"{FUNCTION}:{text}" if text.partition("?")[0].partition(":")[0].endswith(".py") else text


# --------------------------------------------------------------------------- settings


class NoSettings(Record):
    """The settings of a plug-in without options."""


@dataclass(frozen=True, kw_only=True)
class Option:
    """One field of a record of settings, as lists, messages and documentation show it.

    `kind` says in words what is expected, `default` is JSON (None: must be given), `is_argument` is True for
    the field that the text after the colon of a spec fills.
    """

    name: str
    kind: str
    default: str | None
    help: str
    is_argument: bool


def options_of(settings: type[Record]) -> tuple[Option, ...]:
    """Return the fields of a settings record, in order."""
    options = []
    for known in msgspec.structs.fields(settings):
        kind, fields = plain_type(known.type)
        default = known.default if known.default_factory is msgspec.NODEFAULT else known.default_factory()
        options.append(
            Option(
                name=known.name,
                kind=_expected(kind),
                default=None if known.required else msgspec.json.encode(default).decode(),
                help=str(fields.get("description", "")),
                is_argument=known.name == argument_field(settings),
            )
        )
    return tuple(options)


def argument_field(settings: type[Record]) -> str:
    """Return the field that ``name:argument`` fills: the class's ``positional``, or empty."""
    return str(getattr(settings, "positional", ""))


def plain_type(hint: object) -> tuple[msgspec.inspect.Type, dict[str, object]]:
    """Return a field's type without None and annotations, and the annotations."""
    kind, fields = msgspec.inspect.type_info(hint), dict[str, object]()
    while True:
        match kind:
            case msgspec.inspect.Metadata():
                fields = {**(kind.extra_json_schema or {}), **(kind.extra or {}), **fields}
                kind = kind.type
            case msgspec.inspect.UnionType(types=(inner, msgspec.inspect.NoneType())):
                kind = inner
            case _:
                return kind, fields


def _expected(kind: msgspec.inspect.Type) -> str:
    """Describe the permitted values of a type."""
    match kind:
        case msgspec.inspect.IntType() | msgspec.inspect.FloatType():
            words = "a whole number" if isinstance(kind, msgspec.inspect.IntType) else "a number"
            if kind.ge is not None and kind.le is not None:
                return f"{words} from {kind.ge:g} to {kind.le:g}"
            above = [(kind.ge, "{:g} or above"), (kind.gt, "above {:g}")]
            below = [(kind.le, "{:g} or below"), (kind.lt, "below {:g}")]
            bounds = [text.format(bound) for bound, text in above + below if bound is not None]
            return f"{words} {', '.join(bounds)}".rstrip()
        case msgspec.inspect.BoolType():
            return "true or false"
        case msgspec.inspect.LiteralType():
            return "one of " + ", ".join(map(str, kind.values))
        case msgspec.inspect.VarTupleType():
            return f"several values split by |, each {_expected(kind.item_type)}"
        case msgspec.inspect.DictType():
            return "a JSON object"
        case msgspec.inspect.Metadata():
            return _expected(kind.type)
        case _:
            return "a text"


def read_settings(
    settings: type[SettingsT], given: Mapping[str, object], *, argument: str = "", owner: str
) -> SettingsT:
    """Build a settings record from a user's texts or values.

    Args:
        settings: the record.
        given: options by name, as texts (a spec) or as values (a configuration file). Those that begin with
            the ``prefix`` of a field are together its value.
        argument: the text behind the colon of a spec; empty for none.
        owner: whose settings they are, for messages.

    Raises:
        UsageError: an option that is not known (the nearest and all known ones are named), a value that
            cannot be read, or an option that must be given and is not.
    """
    known, values = {field.name: field for field in msgspec.structs.fields(settings)}, dict(given)
    for name, info in known.items():
        prefix = str(plain_type(info.type)[1].get("prefix", ""))
        if prefix and (names := [key for key in values if key.startswith(prefix)]):
            values[name] = {key.removeprefix(prefix): values.pop(key) for key in names}
    first = argument_field(settings)
    if argument:
        if not first:
            raise UsageError(f"{owner} takes no argument, got {argument!r}; write just the name")
        if first in values:
            raise UsageError(f"{owner}: {first} is given twice, as {argument!r} and as {values[first]!r}")
        values[first] = argument
    for key in values:
        if key not in known:
            near = difflib.get_close_matches(key, known, n=1)
            hint = f" Did you mean {near[0]!r}?" if near else ""
            listed = ", ".join(sorted(known)) or "none"
            raise UsageError(f"{owner} has no option {key!r}.{hint} Known options: {listed}")
    for name, info in known.items():
        if info.required and name not in values:
            place = f"its {name} after a colon" if name == first else f"{name}=..."
            raise UsageError(f"{owner} needs {place}: {_expected(plain_type(info.type)[0])}")
    return settings(**{k: _read(v, known[k].type, f"{owner}: option {k}") for k, v in values.items()})


def _read(given: object, hint: object, owner: str) -> object:
    """Convert an option's value to its field's type."""
    kind, _ = plain_type(hint)
    expected, value = "", given
    try:
        if isinstance(given, str) and isinstance(kind, msgspec.inspect.VarTupleType):
            value = tuple(part.strip() for part in given.split("|"))
        elif isinstance(given, str) and isinstance(kind, msgspec.inspect.DictType):
            value = msgspec.json.decode(given)
        pair = msgspec.convert(value, hint, strict=not isinstance(value, str | tuple))
        if isinstance(pair, tuple) and ("" in pair or len(set(pair)) != len(pair)):
            expected = "different values, split by |"
        elif not isinstance(pair, float) or math.isfinite(pair):
            return pair
        cause = None
    except msgspec.DecodeError as error:
        cause = error
    raise UsageError(f"{owner}={given!r} cannot be read: expected {expected or _expected(kind)}") from cause
