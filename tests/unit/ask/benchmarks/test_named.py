"""Benchmarks by name: which layout is read."""

import gzip
import json

import pytest

from subjects.samples import sample_folder
from vidence import catalog
from vidence.errors import DataError, UsageError

ROW = {
    "video": 1,
    "question": "What?",
    "answer": 1,
    "qid": 0,
    "type": "CW",
    **{f"a{n}": f"x{n}" for n in range(5)},
}


def test_a_file_is_read_by_the_layout_of_its_name(tmp_path):
    for name, answer in (("captioning", "B. it falls"), ("yes_no", "no")):
        (tmp_path / f"{name}.json").write_text(
            json.dumps({"1": {"order": [{"question": "Q?\nA. it rises\nB. it falls", "answer": answer}]}})
        )
    benchmark = catalog.create("benchmark", "tempcompass")
    assert "yes-no" in benchmark.splits or "yes_no" in benchmark.splits
    split = next(split for split in benchmark.splits if split.startswith("yes"))
    (item,) = benchmark.load(tmp_path / "yes_no.json", split=split).items
    assert (item.choices, item.answer) == (("yes", "no"), "B")
    packed = tmp_path / "yes_no.json.gz"
    packed.write_bytes(gzip.compress((tmp_path / "yes_no.json").read_bytes()))
    (tmp_path / "yes_no.json").unlink()
    assert benchmark.load(tmp_path, split=split).items == (item,)


def test_a_copy_of_a_split_is_read_where_the_authors_file_is_not():
    found = catalog.create("benchmark", "mlvu").load(sample_folder("mlvu") / "MLVU_Test", split="test")
    assert [(item.item_id, item.answer) for item in found.items] == [
        ("test-00000-of-00001/0", "F"),
        ("test-00000-of-00001/1", "B"),
    ]


def test_a_split_that_lies_elsewhere_is_fetched_by_its_name(tmp_path):
    with pytest.raises(DataError, match=r"test_mcq_gt.*; vidence get mlvu --split test fetches them"):
        catalog.create("benchmark", "mlvu").load(tmp_path, split="test")


def test_a_folder_of_something_else_is_refused_with_what_is_expected(tmp_path):
    (tmp_path / "other.json").write_text("[]")
    benchmark = catalog.create("benchmark", "video-mme")
    with pytest.raises(
        DataError, match=r"holds no questions as video-mme has them; expected .*test-\*\.parquet"
    ):
        benchmark.load(tmp_path, split="test")
    with pytest.raises(UsageError, match="train"):
        benchmark.load(tmp_path, split="train")
    with pytest.raises(DataError):
        benchmark.load(tmp_path / "other.json", split="test")
    renamed = {
        "question_id": "1",
        "videoID": "a",
        "question_text": "What?",
        "options": ["x", "y"],
        "answer": "A",
    }
    (tmp_path / "test.jsonl").write_text(json.dumps(renamed))
    with pytest.raises(
        DataError, match="other columns: question_id, videoID, question_text, options, answer"
    ):
        benchmark.load(tmp_path, split="test")
