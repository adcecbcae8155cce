"""Write docs/guides/flags.md from the commands themselves; with --check only say whether it is up to date."""

import sys
from pathlib import Path

import click

from vidence.cli.finding import all_commands
from vidence.cli.main import app

PAGE = Path(__file__).parents[1] / "docs" / "guides" / "flags.md"
HEAD = """# Every flag

Made by `python scripts/flags.py` from the commands; do not edit by hand. `vidence run --help` says the same
in the terminal, and so for every command.

The column *field* is the name of the setting in `plan.toml`, and of the keyword of
[`vidence.evaluate`](../reference/python.md), which takes `data`, `model` and `out` by themselves. Where a
flag of `run` has no default here, the benchmark's own protocol decides
([benchmarks](../benchmarks/index.md)).
"""
# Flags of `run` that say where to write and not what to ask; they are no part of the plan.
NO_FIELD = {"out", "page", "progress", "replay_columns", "json_path", "on"}


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


def written() -> str:
    """The whole page."""
    context = click.Context(app)
    parts = [HEAD]
    for name, file in all_commands().items():
        command = app.get_command(context, name)
        if command is None:
            raise SystemExit(f"the command {name} is listed and not there")
        if isinstance(command, click.Group):
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
    head = f"{'#' * level} {name}\n\n{purpose}\n\n```text\n{call}\n```\n"
    return [head, table(command, with_fields=name == "run")]


def main() -> int:
    """Write the page, or check it."""
    page = written()
    if "--check" not in sys.argv[1:]:
        PAGE.write_text(page, encoding="utf-8")
        print(f"wrote {PAGE.name}")
        return 0
    if not PAGE.exists() or PAGE.read_text(encoding="utf-8") != page:
        print("docs/guides/flags.md is not what the commands say; run: python scripts/flags.py")
        return 1
    print("flags: up to date")
    return 0


if __name__ == "__main__":
    sys.exit(main())
