"""The documentation of the item format says what the loader does."""

import json
import re
from pathlib import Path

from vidence.ask.benchmarks import table
from vidence.records import Item, item_schema

DOCS = Path(__file__).parents[4] / "docs"


def blocks(page: str, language: str) -> list[str]:
    text = (DOCS / page).read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.DOTALL | re.MULTILINE)


def normal(schema: str) -> str:
    """Without the blanks at the starts of docstring lines, which differ between versions of Python."""
    return re.sub(r"(\\n) +", r"\1", schema)


def test_the_published_schema_is_that_of_the_record() -> None:
    published = json.loads((DOCS / "item-format.schema.json").read_text(encoding="utf-8"))
    assert normal(json.dumps(published)) == normal(json.dumps(item_schema()))
    item = published["$defs"]["Item"]
    assert item["required"] == ["item_id", "question"]
    assert item["additionalProperties"] is False
    assert set(item["properties"]) == set(Item.__struct_encode_fields__)


def test_the_examples_are_items_and_the_full_one_shows_every_field(tmp_path: Path) -> None:
    path = tmp_path / "examples.jsonl"
    examples = [json.loads(block) for block in blocks("item-format.md", "json")]
    path.write_text("\n".join(json.dumps(example) for example in examples), encoding="utf-8")
    found = table.create().load(path, split="all", strict=True)
    assert [item.answer for item in found.items] == ["B", "D"]
    assert found.notes == ()
    *_, whole = (json.loads(block) for block in blocks("item-format.md", "json"))
    assert set(whole) == set(Item.__struct_encode_fields__)


def test_the_csv_example_is_read(tmp_path: Path) -> None:
    path = tmp_path / "example.csv"
    (example,) = blocks("benchmarks/table.md", "csv")
    path.write_text(example, encoding="utf-8")
    found = table.create().load(path, split="all", strict=True)
    assert [(item.item_id, item.answer) for item in found.items] == [("kitchen-1", "B"), ("kitchen-2", "C")]
    assert found.items[0].media[0].end_s == 70.5
