"""The notebooks of the documentation run from top to bottom, and what their cells show is short."""

import ast
import json
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
NOTEBOOKS = sorted(path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.ipynb"))
MOST_LETTERS = 30_000  # of one output; a figure is the longest
MOST_WORDS = 4_000  # of one output that is no figure


def cells(name: str, kind: str) -> list[dict[str, object]]:
    return [one for one in json.loads((DOCS / name).read_text("utf-8"))["cells"] if one["cell_type"] == kind]


def shown_by(source: str, names: dict[str, object], *, place: str) -> object:
    """Run a cell as a notebook does; what its last line says."""
    tree = ast.parse(source, place)
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, place, "exec"), names)  # noqa: S102 - our own documentation
    if last is None:
        return None
    return eval(compile(ast.Expression(last.value), place, "eval"), names)  # noqa: S307 - the same


def test_there_is_a_notebook():
    assert "tutorials/first-run.ipynb" in NOTEBOOKS


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_a_notebook_is_kept_without_what_it_showed(name):
    notebook = json.loads((DOCS / name).read_text("utf-8"))
    assert (notebook["nbformat"], notebook["nbformat_minor"]) == (4, 5)
    assert len({cell["id"] for cell in notebook["cells"]}) == len(notebook["cells"])
    assert all(not cell["outputs"] and cell["execution_count"] is None for cell in cells(name, "code"))


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_a_notebook_runs_and_its_outputs_are_short(name, tmp_path, monkeypatch):
    pytest.importorskip("pandas")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("VIDENCE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("VIDENCE_STATE", str(tmp_path / "state"))
    names: dict[str, object] = {"__name__": "__main__"}
    for number, cell in enumerate(cells(name, "code")):
        shown = shown_by("".join(cell["source"]), names, place=f"{name}, cell {number}")
        html = shown._repr_html_() if hasattr(shown, "_repr_html_") else ""
        assert len(html) < (MOST_LETTERS if html.startswith("<img") else MOST_WORDS), number
        assert len(repr(shown)) < MOST_WORDS, number
