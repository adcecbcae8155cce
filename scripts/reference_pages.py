"""A hook of mkdocs: the pages that are generated from the commands and from the records of options."""

from pathlib import Path

import click
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

from vidence import catalog
from vidence.cli.commands.list import KINDS
from vidence.cli.finding import CommandGroup, all_commands, find_command
from vidence.cli.main import app
from vidence.engine.plan import plan_settings

FLAGS_HEAD = """# Every flag

Generated from the commands when this site is built; `vidence run --help --all` prints the same.

The column *field* is the name of the setting in `plan.toml`, and of the keyword of
[`vidence.evaluate`](../reference/python.md), which takes `data`, `model` and `out` by themselves. Where a
flag of `run` has no default here, the benchmark's own protocol decides
([benchmarks](../benchmarks/index.md)).
"""
OPTIONS_HEAD = """# Everything with a name, and its options

Generated from the code when this site is built. `vidence list KIND` and `vidence list KIND NAME` print the
same in the terminal, with `--json -` for other programs.

Options are written behind a question mark, as in `NAME:ARGUMENT?option=value&option=value`; in a
configuration file they are keys. Truth values are `true` and `false`; several values are split by `|`.
"""
# Flags of `run` that say where to write and not what to ask; they are no part of the plan.
NO_FIELD = {"settings", "out", "page", "progress", "replay_columns", "json_path", "on"}


def cell(text: str) -> str:
    """Text that cannot end a cell of a table."""
    return " ".join(text.split()).replace("|", "\\|")


def value(option: click.Option) -> str:
    """What goes with a flag."""
    if option.is_flag:
        return ""
    if isinstance(option.type, click.Choice):
        return ", ".join(f"`{choice}`" for choice in option.type.choices)
    plain = {"integer": "whole number", "float": "number"}
    return f"`{option.metavar}`" if option.metavar else plain.get(option.type.name, option.type.name)


def default(option: click.Option) -> str:
    """The default, where the command has one."""
    known = option.default
    if option.is_flag and option.secondary_opts and isinstance(known, bool):
        return f"`{(option.opts if known else option.secondary_opts)[0]}`"
    return f"`{known}`" if isinstance(known, str | int | float | Path) and not isinstance(known, bool) else ""


def table(command: click.Command, *, with_fields: bool) -> str:
    """The flags of one command."""
    titles = ["flag", "value", "default", *(["field"] if with_fields else []), "what it does"]
    rows = []
    for option in command.params:
        if not isinstance(option, click.Option) or option.hidden:
            continue
        names = " ".join(f"`{name}`" for name in (*option.opts, *option.secondary_opts))
        field = [] if not with_fields else ["" if option.name in NO_FIELD else f"`{option.name}`"]
        rows.append([names, value(option), default(option), *field, option.help or ""])
    if not rows:
        return "No flags.\n"
    lines = [titles, ["---"] * len(titles), *rows]
    return "".join(f"| {' | '.join(map(cell, line))} |\n" for line in lines)


def plan_table() -> str:
    """The fields of a plan that have no flag."""
    rows = "".join(f"| `{name}` | {cell(text)} |\n" for name, text in plan_settings().items())
    return f"For `--set FIELD=VALUE`:\n\n| field | what it is |\n| --- | --- |\n{rows}"


def flags_page() -> str:
    """All commands and their flags as a page."""
    context = click.Context(app)
    parts = [FLAGS_HEAD]
    for name, file in all_commands().items():
        command = find_command(name)
        if isinstance(command, CommandGroup):
            parts.append(f"## {name}\n\n{file.help} Commands: {', '.join(command.files())}.\n")
        elif isinstance(command, click.Group):
            parts.append(f"## {name}\n\n{file.help}\n")
            for part, one in command.commands.items():
                parts += described(f"{name} {part}", one, one.help or "", context=context, level=3)
        else:
            parts += described(name, command, file.help, context=context)
    return "\n".join(parts)


def described(
    name: str, command: click.Command, purpose: str, *, context: click.Context, level: int = 2
) -> list[str]:
    """One command under a heading: what it is for, how it is called, its flags."""
    arguments = [p.make_metavar(context) for p in command.params if isinstance(p, click.Argument)]
    has_flags = any(isinstance(p, click.Option) for p in command.params)
    call = " ".join(["vidence", name, *arguments, *(["[flags]"] if has_flags else [])])
    more = [plan_table()] if name == "run" else []
    head = f"{'#' * level} {name}\n\n{purpose}\n\n```text\n{call}\n```\n"
    return [head, table(command, with_fields=name == "run"), *more]


def section(kind: str, name: str) -> str:
    """One thing: what it is, and a table of its options."""
    settings = catalog.settings_type(kind, name)
    options = catalog.options_of(settings) if settings else ()
    argument = next((f":{option.name.upper()}" for option in options if option.is_argument), "")
    lines = [f"### `{name}{argument}`", "", catalog.summary(kind, name)]
    if options:
        lines += ["", "| option | value | default | what it does |", "|---|---|---|---|"]
    for option in options:
        default = "" if option.default is None else f"`{cell(option.default)}`"
        lines.append(f"| `{option.name}` | {cell(option.kind)} | {default} | {cell(option.help)} |")
    return "\n".join(lines) + "\n"


def options_page() -> str:
    """Everything of the catalog and its options as a page."""
    parts = [OPTIONS_HEAD]
    for plural, kind in KINDS.items():
        if kind in catalog.FOLDERS:
            parts += [f"## {plural.capitalize()}\n", *(section(kind, name) for name in catalog.names(kind))]
    return "\n".join(parts)


PAGES = {"guides/flags.md": flags_page, "reference/options.md": options_page}


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the generated pages to those that lie in the folder."""
    for name, page in PAGES.items():
        files.append(File.generated(config, name, content=page()))
    return files
