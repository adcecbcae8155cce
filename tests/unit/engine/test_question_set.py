"""The questions that a command is about."""

import json

import pytest

from vidence.engine.question_set import QuestionSet, items_in
from vidence.errors import UsageError
from vidence.records import Item, Media


@pytest.fixture
def file(tmp_path, monkeypatch):
    monkeypatch.setenv("VIDENCE_CACHE", str(tmp_path / "cache"))
    row = {"question": "Red?", "choices": ["yes", "no"], "answer": "A"}
    rows = [row | {"item_id": f"q{i}", "tags": {"kind": "ab"[i % 2]}} for i in range(4)]
    path = tmp_path / "q.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in rows) + '{"item_id": 1}\n' * 7)
    return path


def test_a_file_is_read_and_what_is_left_out_is_said(file, capsys):
    read = QuestionSet(what=str(file), where={"kind": "a"}).load()
    assert (read.name, [item.item_id for item in read.items]) == ("q.jsonl", ["q0", "q2"])
    assert (read.plan.benchmark, read.plan.data) == ("table", str(file))
    err = capsys.readouterr().err
    assert err.count("left out: ") == 5
    assert "and 2 more lines left out" in err


def test_a_benchmark_has_its_own_name(file):
    assert QuestionSet(what="table", data=file).load().name == "table"


def test_neither_file_nor_benchmark(tmp_path):
    with pytest.raises(UsageError, match=r"there is no benchmark named .* give the path of their file"):
        QuestionSet(what=str(tmp_path / "none")).load()


def test_paths_are_seen_from_the_file(tmp_path, capsys) -> None:
    (tmp_path / "sets").mkdir()
    item = Item(
        item_id="q",
        question="Who?",
        choices=("A", "b"),
        answer="B",
        media=(Media(path="v.mp4", kind="video"),),
    )
    items_in([item], tmp_path / "sets" / "q.jsonl", media_root=tmp_path / "videos")
    (line,) = (tmp_path / "sets" / "q.jsonl").read_text().splitlines()
    written = json.loads(line)
    assert written["media"][0]["path"] == "../videos/v.mp4"
    assert written["answer"] == "B"
    assert capsys.readouterr().err == f"wrote {tmp_path / 'sets' / 'q.jsonl'}\n"
