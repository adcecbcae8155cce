"""The page of what the studio is checked for names tests that are there."""

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "design" / "studio-checks.md"


def test_every_test_that_is_named_is_there():
    named = re.findall(r"`((?:\w+/)+\w+\.py)(?:::(test_\w+))?`", PAGE.read_text(encoding="utf-8"))
    assert len(named) > 80
    for path, name in named:
        found = ROOT / path if path.startswith(("bench/", "tests/")) else ROOT / "tests" / path
        assert found.is_file(), path
        tree = ast.parse(found.read_text(encoding="utf-8"))
        functions = {one.name for one in tree.body if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef)}
        assert not name or name in functions, f"{path}::{name}"


# Numbers of studies and boards of scores, which the studio does not have.
LATER = {*(f"S-{n}" for n in (17, 22, 24, 25, 26, 27, 28, 38)), *(f"R-{n}" for n in (15, 16, 17, 27, 33, 34))}


def test_every_number_has_its_line_once():
    lines = re.findall(r"^\| ((?:[SRA]-\d+(?:, )?)+)", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    found = [one for line in lines for one in line.split(", ")]
    wanted = {
        *(f"S-{n:02}" for n in range(1, 40)),
        *(f"R-{n:02}" for n in range(1, 35)),
        *(f"A-{n}" for n in range(1, 18)),
    }
    assert sorted(found) == sorted(wanted - LATER)
