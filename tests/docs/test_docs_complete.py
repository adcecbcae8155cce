"""Everything that a user can name is in the documentation, and everything public describes itself."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

import vidence
from vidence import catalog, errors
from vidence.ask.mapping.mapping import NAMED
from vidence.ask.prompting.templates import sets
from vidence.report.results import OUTCOMES

ROOT = Path(__file__).parents[2]
PACKAGE = Path(vidence.__file__).parent
# Where the table of each kind stands.
TABLES = {
    "benchmark": "docs/benchmarks/index.md",
    "model": "docs/guides/models.md",
    "selector": "docs/guides/frames.md",
    "parser": "docs/guides/parsers.md",
    "judge": "docs/guides/judges.md",
    "strategy": "docs/guides/running.md",
    "embedder": "docs/guides/frames.md",
    "view": "docs/guides/panel.md",
    "maker": "docs/making/index.md",
    "exporter": "docs/making/release.md",
    "task": "docs/making/herbench.md",
    "detector": "docs/making/herbench.md",
    "tracker": "docs/making/herbench.md",
    "describer": "docs/making/herbench.md",
    "shot-detector": "docs/making/herbench.md",
    "event-log": "docs/making/herbench.md",
    "annotation-format": "docs/making/choices.md",
    "scene-source": "docs/making/compose.md",
}


def named_in_tables(text: str) -> set[str]:
    """The names in the first cells of the tables of a page."""
    first_cells = re.findall(r"^\| *([^|\n]*`[^|\n]*)\|", text, re.MULTILINE)
    codes = [code for cell in first_cells for code in re.findall(r"`([^`]+)`", cell)]
    return {re.split(r"[:?]", code)[0] for code in codes}


@pytest.mark.parametrize("kind", TABLES)
def test_every_name_of_the_catalog_is_in_its_table(page, kind):
    missing = set(catalog.names(kind)) - named_in_tables(page[TABLES[kind]].text)
    assert missing == set()


def test_every_set_of_prompts_is_in_its_table(page):
    assert set(sets()) - named_in_tables(page["docs/guides/prompts.md"].text) == set()


def test_every_benchmark_has_a_page(page):
    of_files = {"toml", *(path.stem for path in NAMED.glob("*.toml"))}  # named.md is of all of them
    for name in set(catalog.names("benchmark")) - of_files:
        assert f"# `{name}`" in page[f"docs/benchmarks/{name}.md"].text


def test_the_page_of_licences_is_up_to_date():
    command = [sys.executable, str(ROOT / "scripts" / "licences.py"), "--check"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_error_and_every_outcome_is_explained(page):
    text = page["docs/guides/errors.md"].text
    public = [
        n for n, v in vars(errors).items() if isinstance(v, type) and issubclass(v, errors.VidenceError)
    ]
    assert {name for name in public if f"`{name}`" not in text} == set()
    assert {name for name in OUTCOMES if name not in page["docs/glossary.md"].text} == set()


def undescribed(tree: ast.AST, where: str) -> list[str]:
    """The public classes and functions without a docstring; functions inside functions do not count."""
    found = []
    for node in ast.iter_child_nodes(tree):
        if not isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        if node.name.startswith("_") or "overload" in map(ast.unparse, node.decorator_list):
            continue  # what is overloaded has its docstring at its last definition
        if not ast.get_docstring(node):
            found.append(f"{where}:{node.lineno}: {node.name}")
        if isinstance(node, ast.ClassDef):
            found += undescribed(node, where)
    return found


def test_everything_public_has_a_docstring():
    missing = []
    for path in sorted(PACKAGE.rglob("*.py")):
        if path.parent.name == "migrations":  # Django writes them
            continue
        where = path.relative_to(PACKAGE).as_posix()
        tree = ast.parse(path.read_text(encoding="utf-8"))
        if not ast.get_docstring(tree) and path.stat().st_size:
            missing.append(where)
        missing += undescribed(tree, where)
    assert missing == []


def test_a_missing_docstring_would_be_seen():
    methods = "class A:\n    'a'\n    def b(self): ...\n    def _c(self): ...\n"
    tree = ast.parse(methods + "def d(): ...\n@overload\ndef e(): ...\n")
    assert undescribed(tree, "x") == ["x:3: b", "x:5: d"]
