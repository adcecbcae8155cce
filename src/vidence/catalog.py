"""Find things by the name of their file; import one only when it is asked for.

A benchmark, model, selector, reader, judge, task, detector and so on is one file in the folder of its
kind (`FOLDERS`) and defines ``create(...)``. Its name is the name of the file with ``-`` for ``_``. A file
whose name starts with ``_`` is shared code and has no name. Other distributions add theirs through the
entry point groups ``vidence.benchmarks``, ``vidence.models`` and so on: the name of the entry point is the
name, its value the module.
"""

import difflib
import importlib
import importlib.metadata
import importlib.util
import pkgutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import ModuleType
from urllib.parse import unquote

from vidence.errors import UnknownNameError, UsageError

FOLDERS = {
    "benchmark": "vidence.benchmarks",
    "model": "vidence.models",
    "selector": "vidence.selection",
    "reader": "vidence.scoring",
    "judge": "vidence.judging",
    "diagnostic": "vidence.diagnostics",
    "embedder": "vidence.embedding",
    "maker": "vidence.construction.makers",
    "task": "vidence.construction.tasks",
    "shot-detector": "vidence.construction.shots",
    "event-log": "vidence.construction.logs",
    "detector": "vidence.tracking.detectors",
    "describer": "vidence.tracking.describers",
    "tracker": "vidence.tracking.trackers",
    "mocap-format": "vidence.pointlight.formats",
}


def _entry_points(kind: str) -> dict[str, importlib.metadata.EntryPoint]:
    return {e.name: e for e in importlib.metadata.entry_points(group=f"vidence.{kind}s")}


def _file_names(kind: str) -> list[str]:
    spec = importlib.util.find_spec(FOLDERS[kind])
    if spec is None or spec.submodule_search_locations is None:
        raise UsageError(
            f"the installation of vidence is damaged: {FOLDERS[kind]} is missing; install it again"
        )
    found = pkgutil.iter_modules(list(spec.submodule_search_locations))
    return [m.name.replace("_", "-") for m in found if not m.name.startswith("_")]


def names(kind: str) -> tuple[str, ...]:
    """Every name of that kind, sorted; nothing is imported.

    Args:
        kind: one of `FOLDERS`.
    """
    return tuple(sorted({*_file_names(kind), *_entry_points(kind)}))


def find(kind: str, name: str) -> ModuleType:
    """Import the module of that kind and name.

    Raises:
        UnknownNameError: there is none; the message suggests the nearest name.
        UsageError: a plug-in has the name of a built-in one, or is no module with ``create()``.
    """
    plugins, is_ours = _entry_points(kind), name in _file_names(kind)
    if not is_ours and name not in plugins:
        raise UnknownNameError(kind, name, names(kind))
    if is_ours and name in plugins:
        raise UsageError(
            f"{plugins[name].value} is installed as the {kind} {name!r}, a name that vidence has itself; "
            "give it another name in its entry points, or uninstall it"
        )
    if not is_ours:
        module = plugins[name].load()
        if not isinstance(module, ModuleType):
            raise UsageError(
                f"the entry point {name!r} in vidence.{kind}s must name a module, not {module!r}"
            )
    else:
        module = importlib.import_module(f"{FOLDERS[kind]}.{name.replace('-', '_')}")
    if not hasattr(module, "create"):
        raise UsageError(f"{module.__name__} defines no create(); see 'adding a {kind}' in the documentation")
    return module


@dataclass(frozen=True, kw_only=True)
class Spec:
    """What a user wrote to name a thing: ``name:argument?key=value&key=value``.

    >>> parse_spec("openai:Qwen2.5-VL-7B?base_url=http://localhost:8000/v1").options["base_url"]
    'http://localhost:8000/v1'
    >>> parse_spec("fps:2").argument
    '2'
    """

    name: str
    argument: str
    options: Mapping[str, str]


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


def take_options(
    owner: str, options: Mapping[str, str], known: Mapping[str, Callable[[str], object]]
) -> dict[str, object]:
    """The options turned into values by the readers in `known`; others are refused.

    Args:
        owner: whose options they are, for messages.
        options: what the user wrote.
        known: for each option the function that reads its text; it raises ValueError for a bad one.

    Raises:
        UsageError: an option that is not known (the nearest and all known ones are named), or a bad value.
    """
    values: dict[str, object] = {}
    for key, text in options.items():
        if key not in known:
            near = difflib.get_close_matches(key, known, n=1)
            hint = f" Did you mean {near[0]!r}?" if near else ""
            listed = ", ".join(sorted(known)) or "none"
            raise UsageError(f"{owner} has no option {key!r}.{hint} Known options: {listed}")
        try:
            values[key] = known[key](text)
        except ValueError as error:
            raise UsageError(f"{owner}: option {key}={text!r} cannot be read: {error}") from error
    return values
