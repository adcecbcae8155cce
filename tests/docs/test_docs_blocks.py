"""What stands in the blocks of the documentation works: items load, Python runs."""

import json
import os
from pathlib import Path

import pytest

from vidence.ask.benchmarks import table

DOCS = Path(__file__).parents[2] / "docs"
WITH_PYTHON = sorted(
    path.relative_to(DOCS).as_posix()
    for path in DOCS.rglob("*.md")
    if "```python\n" in path.read_text("utf-8") and path.parent.name != "paths"  # followed as a whole
)


def test_every_item_shown_loads(pages, tmp_path):
    for page in pages:
        shown = [json.loads(block.body) for block in page.blocks("json")]
        items = [one for one in shown if "question" in one]
        if not items:
            continue
        path = tmp_path / "questions.jsonl"
        path.write_text("\n".join(map(json.dumps, items)), encoding="utf-8")
        found = table.create().load(path, split="all", strict=True)
        assert [item.item_id for item in found.items] == [one["item_id"] for one in items], page.name


def test_pages_with_python_are_found():
    assert {"benchmarks/phantom.md", "reference/python.md"} <= set(WITH_PYTHON)


@pytest.mark.parametrize("name", WITH_PYTHON)
def test_python_on_a_page_runs_from_top_to_bottom(page, tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    shown = page[f"docs/{name}"]
    for block in shown.blocks():
        if block.title:  # a file that the page's code uses
            (tmp_path / block.title).write_text(block.body, encoding="utf-8")
    names: dict[str, object] = {"__name__": "page"}
    for number, block in enumerate(b for b in shown.blocks("python") if not b.title):
        exec(compile(block.body, f"{name}, block {number}", "exec"), names)  # noqa: S102 - our own documentation
    assert os.listdir(tmp_path)
