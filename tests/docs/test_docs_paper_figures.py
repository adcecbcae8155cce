"""The page of panels names every table and figure of the five papers, and what it names is there."""

import re

import pytest

from vidence import catalog
from vidence.cli.finding import all_commands
from vidence.report.panel_registry import paper_views

IN_THE_PAPER = {
    "HumanPCR": (12, 31),
    "HERBench": (5, 21),
    "PerceptionComp": (3, 4),
    "MMVU": (10, 29),
    "ActPLD": (8, 10),
}
"""The numbers of the last table and the last figure."""


@pytest.fixture
def lines(page):
    text = page["docs/guides/panel.md"].text
    rows = text[text.index("## All tables and figures") :].splitlines()
    return [[cell.strip() for cell in row.strip("|").split("|")] for row in rows if row.startswith("| ")][1:]


def numbered(cell):
    """The names in a cell such as ``T1, F5 to F7``."""
    for part in cell.split(", "):
        first, _, last = part.partition(" to ")
        yield from (f"{first[0]}{i}" for i in range(int(first[1:]), int((last or first)[1:]) + 1))


@pytest.mark.parametrize("paper", IN_THE_PAPER)
def test_every_table_and_figure_stands_there_once(lines, paper):
    n_tables, n_figures = IN_THE_PAPER[paper]
    said = [name for row in lines if row[0] == paper for name in numbered(row[1])]
    wanted = [f"T{i}" for i in range(1, n_tables + 1)] + [f"F{i}" for i in range(1, n_figures + 1)]
    assert sorted(said) == sorted(wanted)


def test_what_gives_them_is_there(lines):
    named = {word for row in lines for word in re.findall(r"`([^`]+)`", row[3])}
    commands = {word.removeprefix("vidence ") for word in named if word.startswith("vidence ")}
    assert [text for text in commands if not text.startswith(tuple(all_commands()))] == []
    others = {word.partition(":")[0] for word in named if not word.startswith("vidence ")}
    assert others - set(paper_views()) - set(catalog.names("view")) == {"perceptioncomp"}  # a taxonomy
    assert set(paper_views()) <= others


def test_who_has_nothing_says_why(lines):
    assert all(len(row) == 4 and row[3] for row in lines)
