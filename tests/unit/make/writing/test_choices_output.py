"""The files of a set: rows of HumanPCR's format, and what is left of an earlier session."""

from vidence.make.writing.choices_output import Call, humanpcr_rows, write_set
from vidence.records import Item, Media


def item(name: str, level: str, dimension: str) -> Item:
    return Item(
        item_id=name,
        media=(Media(path="a.jpg", kind="image"),),
        question="What?",
        choices=("a", "b"),
        answer="B",
        tags={"level": level, "dimension": dimension, "task": "held", "source": "s"},
    )


def test_only_levels_and_dimensions_of_the_paper_have_rows():
    items = [item("a", "perception", "Contact"), item("b", "low", "Contact"), item("c", "comprehension", "X")]
    assert {name: [row["id"] for row in rows] for name, rows in humanpcr_rows(items).items()} == {
        "human-p.jsonl": ["a"]
    }


def test_files_of_an_earlier_session_that_are_no_more_are_removed(tmp_path):
    calls = {n: Call(item_id=n, record="r", source_split="val", way="model", label="b") for n in "ab"}
    write_set([item("a", "perception", "Contact"), item("b", "comprehension", "Scene")], calls, tmp_path)
    assert (tmp_path / "human-c.jsonl").is_file()
    files = write_set([item("a", "perception", "Contact")], calls, tmp_path)
    assert {path.name for path in files} == {"items.jsonl", "calls.jsonl", "human-p.jsonl"}
    assert {path.name for path in tmp_path.iterdir()} == {path.name for path in files}
