"""Write docs/reference/options.md from the records of settings; with --check only compare it."""

import sys
from pathlib import Path

from vidence import catalog
from vidence.cli.commands.list import KINDS

PAGE = Path(__file__).parents[1] / "docs" / "reference" / "options.md"
HEAD = """# Everything with a name, and its options

Made by `python scripts/options.py` from the code; do not edit by hand. `vidence list KIND` and
`vidence list KIND NAME` say the same in the terminal, with `--json -` for other programs.

Options are written behind a question mark, as in `NAME:ARGUMENT?option=value&option=value`; in a
configuration file they are keys. Truth values are `true` and `false`; several values are split by `|`.
"""


def cell(text: str) -> str:
    """Text that cannot end a cell of a table."""
    return " ".join(text.split()).replace("|", "\\|")


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


def page() -> str:
    """The whole page."""
    parts = [HEAD]
    for plural, kind in KINDS.items():
        if kind in catalog.FOLDERS:
            parts += [f"## {plural.capitalize()}\n", *(section(kind, name) for name in catalog.names(kind))]
    return "\n".join(parts)


def main() -> int:
    """Write the page, or compare it."""
    text = page()
    if "--check" in sys.argv[1:]:
        is_same = PAGE.exists() and PAGE.read_text(encoding="utf-8") == text
        print("options: up to date" if is_same else f"{PAGE} is old: run python scripts/options.py")
        return 0 if is_same else 1
    PAGE.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
