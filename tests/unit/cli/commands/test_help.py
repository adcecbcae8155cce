"""``vidence help`` shows the pages that messages name."""

import itertools
import re
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from vidence import installation
from vidence.cli.commands import help as pages
from vidence.cli.commands.help import show_page
from vidence.cli.commands.run import run
from vidence.errors import UsageError

ROOT = Path(__file__).parents[4]


def said(*words):
    return CliRunner().invoke(show_page, words, catch_exceptions=False, standalone_mode=False).output


@pytest.mark.parametrize("name", ["item-format", "docs/item-format.md"])
def test_a_page_is_printed_as_it_is_where_no_terminal_is(name):
    assert said(name) == (ROOT / "docs" / "item-format.md").read_text(encoding="utf-8") + "\n"


def test_all_pages_are_listed_with_their_headings():
    lines = said().splitlines()
    assert len(lines) == len(list((ROOT / "docs").rglob("*.md")))
    assert re.search(r"^guides/fetching +Fetching a benchmark$", "\n".join(lines), re.MULTILINE)


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("herbench", "did you mean benchmarks/herbench, making/herbench?"),
        ("item-formt", "did you mean item-format?"),
        ("?", "`vidence help` lists all pages"),
    ],
)
def test_a_name_that_no_page_or_several_have(name, hint):
    with pytest.raises(UsageError, match=hint):
        said(name)


def test_without_pages_it_is_said(monkeypatch):
    monkeypatch.setattr(pages, "pages", dict)
    with pytest.raises(UsageError, match="no pages of documentation"):
        said()


def test_a_python_without_bzip2_cannot_unpack_the_pages(monkeypatch, tmp_path):
    (tmp_path / "docs.json.bz2").touch()
    monkeypatch.setattr(installation, "__file__", str(tmp_path / "installation.py"))
    monkeypatch.setitem(sys.modules, "bz2", None)
    with pytest.raises(UsageError, match="this Python was built without"):
        said()


def test_every_page_that_a_message_names_is_there():
    named = set()
    for path in itertools.chain((ROOT / "src").rglob("*.py"), (ROOT / "src").rglob("*.toml")):
        named |= set(re.findall(r"vidence help ([a-z][\w/-]+)", path.read_text(encoding="utf-8")))
    assert "item-format" in named
    for name in named:
        assert said(name).startswith("# "), name


def test_the_flags_of_a_run_are_told_in_parts():
    shown = CliRunner().invoke(run, ["--help", "--all"], env={"COLUMNS": "100"}).output
    parts = dict(re.findall(r"^(\w.*):\n((?: +.*\n)+)", shown, re.MULTILINE))
    counts = {title: len(re.findall(r"^  -", body, re.MULTILINE)) for title, body in parts.items()}
    assert len(counts) == 6
    assert sum(counts.values()) == len([one for one in run.params if isinstance(one, click.Option)]) + 1
    assert max(counts.values()) <= 15
    assert "--judge-model" in parts["Reading and judging replies"]
