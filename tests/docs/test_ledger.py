"""Every ability in docs/design/ledger.md names a command, tests and tables that exist."""

import re
import shlex
from pathlib import Path

import click
import pytest

from vidence import catalog
from vidence.cli.main import app
from vidence.report.panel_registry import paper_views

ROOT = Path(__file__).parents[2]
LEDGER = ROOT / "docs" / "design" / "ledger.md"
_ROW = re.compile(
    r"^\| (?P<id>[MHBPAU]\d+) \| .*? \| .*? \| `(?P<command>[^`]+)` "
    r"\| (?P<tests>[^|]*) \| (?P<sources>[^|]*) \|$"
)
ROWS = [match for line in LEDGER.read_text(encoding="utf-8").splitlines() if (match := _ROW.match(line))]


def in_order(text: str) -> list[str]:
    """The files of a cell; a file without a folder lies in that of the file before it."""
    files: list[str] = []
    for name in re.findall(r"`([^`]+)`", text):
        folder = files[-1].rpartition("/")[0] if files and "/" not in name else ""
        files.append(f"{folder}/{name}" if folder else name)
    return files


def leaf(words: list[str]) -> tuple[click.Command, list[str]]:
    """The command that words name, and the words that are left."""
    command: click.Command = app
    while isinstance(command, click.Group):
        part = command.get_command(click.Context(command), words[0])
        assert part is not None, f"there is no command {words[0]}"
        command, words = part, words[1:]
    return command, words


def test_the_ledger_has_all_its_rows():
    assert len(ROWS) == len({row["id"] for row in ROWS})
    by_part = {part: sum(row["id"].startswith(part) for row in ROWS) for part in "MHBPAU"}
    assert by_part == {"M": 14, "H": 24, "B": 22, "P": 12, "A": 12, "U": 35}
    lines = LEDGER.read_text(encoding="utf-8").splitlines()
    assert sum(bool(re.match(r"\| [MHBPAU]\d+ ", line)) for line in lines) == len(ROWS)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["id"])
def test_the_command_of_an_ability_is_understood(row):
    program, *words = shlex.split(row["command"])
    assert program == "vidence"
    command, rest = leaf(words)
    options = {
        name for p in command.params if isinstance(p, click.Option) for name in (*p.opts, *p.secondary_opts)
    }
    unknown = [word for word in rest if word.startswith("--") and word.partition("=")[0] not in options]
    assert not unknown
    command.make_context(command.name or "", rest)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["id"])
def test_the_tests_of_an_ability_are_there(row):
    files = in_order(row["tests"])
    assert files
    assert [file for file in files if not (ROOT / "tests" / file).is_file()] == []


def test_the_named_tables_and_figures_are_those_of_the_program():
    part = LEDGER.read_text(encoding="utf-8").split("## Tables and figures by name")[1]
    rows = [line.split("|")[2] for line in part.splitlines() if line.startswith("| ") and "`" in line]
    names = {name for row in rows for name in re.findall(r"`([^`]+)`", row)}
    assert len(names) == 37
    assert names <= set(paper_views())


def test_names_of_the_catalog_in_commands_exist():
    for row in ROWS:
        words = shlex.split(row["command"])
        for flag, kind in (("--selector", "selector"), ("--strategy", "strategy"), ("--judge", "judge")):
            if flag in words:
                assert catalog.parse_spec(words[words.index(flag) + 1]).name in catalog.names(kind)
