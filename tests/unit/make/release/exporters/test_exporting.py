"""The files of each format, and why a question has no row in one."""

import json

import msgspec
import pytest

from subjects.released import question, questions_of
from vidence.errors import UnknownNameError, UsageError
from vidence.make.release.exporters.exporting import ExportSet, exporters
from vidence.records import Media

FILES = {
    "items": ["items.jsonl"],
    "herbench": ["data/tasks/action_counting.json"],
    "humanpcr": ["humanpcr/human-p.jsonl", "humanpcr/human-r.jsonl"],
    "perceptioncomp": ["perceptioncomp/annotations.json"],
    "mmvu": ["mmvu/validation.json"],
    "huggingface": ["huggingface/data/test-00000-of-00001.parquet"],
}


@pytest.mark.parametrize("name", FILES)
def test_the_files_of_a_format(name):
    made = exporters([name])[0].files(ExportSet(name="set", open_ones=questions_of(name)))
    assert [path.as_posix() for path in made] == FILES[name]


def test_keys_of_perceptioncomp_are_those_of_its_release():
    item = questions_of("perceptioncomp")[1]
    content = next(
        iter(exporters(["perceptioncomp"])[0].files(ExportSet(name="set", open_ones=[item])).values())
    )
    (row,) = json.loads(content)
    assert row.pop("question") == item.question
    assert [row.pop(f"answer_choice_{i}") for i in range(5)] == list(item.choices)
    assert row == {
        "key": "table-001",
        "video_id": "videos/film-001",
        "answer_id": 1,
        "answer": "a blue bowl",
        "category": "movie",
        "difficulty": 2,
        "split": "test",
    }


@pytest.mark.parametrize(
    ("name", "changes", "said"),
    [
        ("herbench", {"choices": (), "answer": "x", "answer_kind": "text"}, "an open question"),
        ("herbench", {"tags": {"task": "AC", "family": "R&T"}}, "family is 'R&T'"),
        ("perceptioncomp", {"choices": ("a", "b"), "answer": "A"}, "not 5 choices"),
        ("perceptioncomp", {"tags": {"difficulty": "2"}}, "no tag category"),
        ("perceptioncomp", {"media": (Media(path="a.webm"),)}, "without .mp4"),
        ("mmvu", {"choices": ("a", "b"), "answer": "A"}, "2 choices"),
        ("mmvu", {"tags": {"subject": "Art", "discipline": "Science"}}, "discipline"),
        ("mmvu", {"tags": {"subject": "Art", "question_type": "open-ended"}}, "question_type"),
        ("mmvu", {"item_id": "test_1"}, "begins with test_"),
        ("mmvu", {"media": (Media(path="a.mp4"),)}, "a folder videos"),
        ("mmvu", {"media": (Media(url="https://a.org/videos/a.mp4"),)}, "only an address"),
        ("humanpcr", {"tags": {"level": "perception", "task": "Held"}}, "a tag dimension"),
        (
            "humanpcr",
            {"tags": {"level": "reasoning", "reasoning": "Planning", "domain": "Others"}},
            "is open",
        ),
        ("humanpcr", {"media": ()}, "one video, or one or several images"),
    ],
)
def test_why_a_question_has_no_row(name, changes, said):
    exporter = exporters([name])[0]
    item = questions_of(name)[0]
    assert exporter.fault(item) == ""
    assert said in exporter.fault(msgspec.structs.replace(item, **changes))


def test_names_of_formats():
    assert [one.name for one in exporters(["mmvu", "items", "mmvu"])] == ["mmvu", "items"]
    with pytest.raises(UnknownNameError, match="coco"):
        exporters(["coco"])
    with pytest.raises(UsageError, match="no format given"):
        exporters([])


def test_images_and_spans_are_said_by_the_formats_that_know_them(tmp_path):
    media = (Media(path="a.png", kind="image"), Media(path="b.png", kind="image"))
    tags = {"level": "perception", "dimension": "Contact", "task": "Held"}
    item = question(1, tags, media=media)
    for name in ("items", "huggingface", "humanpcr"):
        exporter = exporters([name])[0]
        assert exporter.fault(item) == ""
        for path, content in exporter.files(ExportSet(name="set", open_ones=[item])).items():
            (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / path).write_bytes(content)
        assert exporter.read(tmp_path)[0].media == media
