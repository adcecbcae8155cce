"""List benchmarks, models, selectors, parsers, prompts and other plug-ins."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import click

from vidence import catalog
from vidence.cli.commands import prompts
from vidence.console.files import STANDARD_OUTPUT, write_said
from vidence.console.flags import JSON, argument, command
from vidence.errors import UnknownNameError, UsageError
from vidence.records import Record

if TYPE_CHECKING:
    from vidence.catalog import Option

SECTION = "Start here"
ORDER = 3

KINDS: Mapping[str, str] = {catalog.plural(kind): kind for kind in catalog.FOLDERS}
# What the things of each kind are for.
PURPOSES: Mapping[str, str] = {
    "benchmarks": "sets of questions, for vidence run",
    "models": "providers and simulated models, for --model",
    "selectors": "rules that choose frames, for --selector",
    "parsers": "rules that extract the answer from a reply, for --parser",
    "judges": "judging protocols, for --judge with --judge-model",
    "strategies": "answering strategies, for --strategy",
    "diagnostics": "measurements that explain a score, for vidence diagnose",
    "views": "tables and figures over all runs, for vidence panel --as",
    "embedders": "models that match frames with texts, for scoring selectors",
    "makers": "pipelines that make questions, for vidence make",
    "exporters": "formats of a release, for vidence items release --format",
    "tasks": "the kinds of questions that the maker herbench makes",
    "shot-detectors": "detectors of cuts in a video, for vidence videos track and make",
    "event-logs": "formats of narrated events, for vidence make",
    "annotation-formats": "labels, captions, boxes, tracks, for vidence make choices",
    "scene-sources": "sources of scenes for composed questions, for vidence videos scenes",
    "detectors": "detectors of people in frames, for vidence videos track and make",
    "describers": "appearance descriptors of people, for trackers",
    "trackers": "algorithms that link boxes to tracks, for vidence videos track and make",
    "mocap-formats": "files of motion capture, for vidence lights mocap and render",
    "executors": "where work runs, for --on",
    "protocols": "named protocols of benchmarks, for --protocol",
    "prompts": "sets of prompt templates, for --prompts",
    "rows": "settings of the models in paper tables, for vidence panel",
    "figures": "tables and figures of papers by name, for vidence panel --as",
    "published": "tables of the papers as printed, for vidence report --published",
    "prices": "US dollars per million tokens of models, for --max-cost",
    "mappings": "layouts of other questions and results, for --map and vidence import",
}


def _complete(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """Complete kinds, or names of the given kind."""
    kind = context.params.get("kind")
    words = plurals() if parameter.name == "kind" else _described(kind) if kind in plurals() else ()
    return [word for word in words if word.startswith(incomplete)]


class Listed(Record):
    """What to list."""

    kind: Annotated[str | None, argument(shell_complete=_complete)] = None
    name: Annotated[str | None, argument(shell_complete=_complete)] = None
    json_path: Annotated[Path | None, JSON] = None


@command("list")
def list_names(given: Listed) -> None:
    """List all plug-ins, those of one KIND, or one NAME with all its options."""
    words, values = _said(given.kind, given.name)
    if given.json_path != STANDARD_OUTPUT:
        click.echo(words)
    write_said(given.json_path, "list", values=values)


def _said(kind: str | None, name: str | None) -> tuple[str, Mapping[str, object]]:
    """Return what to list, as text and as data."""
    if kind is None:
        return "\n".join(map(_everything, plurals())), {
            "kinds": {word: tuple(_described(word)) for word in plurals()}
        }
    if kind not in plurals():
        for of, plural in ((of, catalog.plural(of)) for of in catalog.FOLDERS):
            if kind in catalog.names(of):
                raise UsageError(f"{kind} is one of the {plural}; use vidence list {plural} {kind}")
        raise UnknownNameError("kind", kind, plurals())
    if name is None:
        described = _described(kind)
        return _two_columns(described), {"kind": kind, "names": described}
    if kind == "mappings":
        return _mapping(name)
    if kind in _OTHERS:
        raise UsageError(f"{kind} have no options; use vidence list {kind}")
    return _one(KINDS[kind], name)


def plurals() -> tuple[str, ...]:
    """Return the kinds that can be listed, as users write them."""
    return (*KINDS, *_OTHERS)


def _described(plural: str) -> Mapping[str, str]:
    """Return the names of one kind with their descriptions."""
    if plural in _OTHERS:
        return _OTHERS[plural]()
    return {name: catalog.summary(KINDS[plural], name) for name in catalog.names(KINDS[plural])}


def _everything(plural: str) -> str:
    """Describe one kind with a line per name; lines with several names are joined."""
    heading, values = f"{plural}: {PURPOSES[plural]}", _described(plural)
    if plural in ("protocols", "prompts", "prices"):
        return f"{heading}\n  {', '.join(values)}"
    described = {f"  {name}": summary for name, summary in values.items()}
    return "\n".join(filter(None, (heading, _two_columns(described))))


def _two_columns(described: Mapping[str, str]) -> str:
    width = max(map(len, described), default=0)
    return "\n".join(f"{name:{width}}  {text}".rstrip() for name, text in described.items())


def _one(kind: str, name: str) -> tuple[str, Mapping[str, object]]:
    """Describe one plug-in with its options, as text and as data."""
    settings = catalog.settings_type(kind, name)
    options = catalog.options_of(settings) if settings else ()
    summary = catalog.summary(kind, name)
    described = {"kind": kind, "name": name, "summary": summary, "options": [_as_json(o) for o in options]}
    argument = next((f":{o.name.upper()}" for o in options if o.is_argument), "")
    lines = [f"{kind} {name}{argument}: {summary}"]
    for option in options:
        default = "must be given" if option.default is None else f"default {option.default}"
        lines += [f"  {option.name}: {option.kind} ({default})", f"      {option.help}"]
    return "\n".join(lines if options else [*lines, "  no options"]), described


def _mapping(name: str) -> tuple[str, Mapping[str, object]]:
    """Return a mapping as in its file, as a template for your own."""
    import tomli_w

    from vidence.ask.mapping.mapping import as_table, presets

    if name not in presets():
        raise UnknownNameError("mapping", name, presets())
    table = as_table(presets()[name])
    return tomli_w.dumps(table).rstrip(), {"kind": "mapping", "name": name, "fields": table}


def _as_json(option: "Option") -> dict[str, object]:
    default = None if option.default is None else json.loads(option.default)
    return {
        "name": option.name,
        "expects": option.kind,
        "is_required": option.default is None,
        "default": default,
        "is_argument": option.is_argument,
        "help": option.help,
    }


def _protocols() -> Mapping[str, str]:
    fields = {name: catalog.create("benchmark", name).protocols for name in catalog.ready("benchmark")}
    return {f"{name}/{protocol}": "" for name, protocols in fields.items() for protocol in protocols}


def _rows() -> Mapping[str, str]:
    from vidence.engine.panel import paper_rows

    return {name: row.says for name, row in paper_rows().items()}


def _mappings() -> Mapping[str, str]:
    from vidence.ask.mapping.mapping import presets

    return {name: preset.about for name, preset in presets().items()}


def _prices() -> Mapping[str, str]:
    from vidence.ask.models.prices import price_table

    return {name: prices.summary for name, prices in price_table().items()}


def _figures() -> Mapping[str, str]:
    from vidence.report.panel_registry import paper_views

    return {name: view.says for name, view in paper_views().items()}


def _published() -> Mapping[str, str]:
    from vidence.explain.published import published

    return {name: published.load(name).title for name in published.names()}


# Names that are no files of code.
_OTHERS = {
    "protocols": _protocols,
    "prompts": prompts.listed,
    "rows": _rows,
    "figures": _figures,
    "published": _published,
    "prices": _prices,
    "mappings": _mappings,
}
