"""A benchmark of one's own in one file."""

import json
import re
from pathlib import Path

import pytest

from vidence import catalog
from vidence.errors import UsageError

GUIDE = Path(__file__).parents[4] / "docs" / "guides" / "adding.md"


@pytest.fixture
def file(tmp_path):
    """The example of the guide."""
    text = re.search(r'```toml title="kitchens.toml"\n(.*?)```', GUIDE.read_text("utf-8"), re.DOTALL)[1]
    path = tmp_path / "kitchens.toml"
    path.write_text(text)
    return path


def test_the_example_of_the_guide_reads_questions_and_has_protocols_and_tables(file):
    row = {"qid": 7, "text": "What?", "options": ["a", "b"], "label": "B", "video": "v", "task": "count"}
    (file.parent / "questions.jsonl").write_text(json.dumps(row))
    benchmark = catalog.create("benchmark", f"toml:{file}")
    (item,) = benchmark.load(file.parent, split="test").items
    assert (item.item_id, item.answer, item.tags, item.media[0].path) == (
        "7",
        "B",
        {"task": "count"},
        "clips/v.mp4",
    )
    assert benchmark.protocols["paper"].frames == 16
    assert [column.title for column in benchmark.paper_tables["Tasks"]] == ["counting", "all"]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('about = "Kitchens', 'abuot = "Kitchens', "abuot"),
        ('item_id = "qid"', "", "the mapping has no item_id"),
        ("frames = 16", 'frames = "many"', "frames"),
        ("[tables]", "[tables", "cannot be read as a benchmark in TOML"),
    ],
)
def test_what_is_wrong_with_a_file_is_said(file, old, new, said):
    file.write_text(file.read_text().replace(old, new))
    with pytest.raises(UsageError, match=re.escape(said)):
        catalog.create("benchmark", f"toml:{file}")


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(UsageError, match=r"none\.toml cannot be read"):
        catalog.create("benchmark", f"toml:{tmp_path / 'none.toml'}")
