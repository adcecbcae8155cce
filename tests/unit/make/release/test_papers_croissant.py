"""Croissant metadata: MLCommons' own library accepts it, and reads the questions by it."""

import json

import mlcroissant
import pytest

from subjects.released import MATERIAL, half_hidden, released, rules_of
from vidence.make.gates.rules import ReleaseRules
from vidence.make.release.sets import release_set

pytestmark = pytest.mark.filterwarnings("ignore")  # of the library's own libraries


def test_the_library_of_the_format_accepts_a_release_and_reads_its_questions(tmp_path):
    folder = released(tmp_path).folder
    read = mlcroissant.Dataset(jsonld=str(folder / "croissant.json"))
    assert not read.metadata.issues.errors
    assert {one.name for one in read.metadata.distribution} >= {
        "items.jsonl",
        "questions-test.jsonl",
        "huggingface/data/validation-00000-of-00001.parquet",
    }
    questions = {item.item_id: item for item in half_hidden()}
    for name, split, has_answers in (("items", "validation", True), ("questions-test", "test", False)):
        rows = list(read.records(name))
        assert len(rows) == 4
        for row in rows:
            text = {key.partition("/")[2]: value for key, value in row.items()}
            item = questions[text["item_id"].decode()]
            assert text["question"].decode() == item.question
            assert [choice.decode() for choice in text["choices"] or ()] == list(item.choices)
            assert [path.decode() for path in text["media/path"]] == [item.media[0].path]
            assert text["tags/split"].decode() == split
            assert ("answer" in text) == ("evidence/start_s" in text) == has_answers


@pytest.mark.parametrize("version", ["1.2.3", "2026-11"])
def test_foreign_words_and_versions_do_not_break_it(version, tmp_path):
    about = ReleaseRules(version=version, title='A "set"\n: #', authors=("A: B",), date="2026-11-21")
    found = release_set(half_hidden(), rules_of("items", about=about), MATERIAL, into=tmp_path)
    read = json.loads((found.folder / "croissant.json").read_text())
    assert read["description"] == 'A "set"\n: #: 8 questions, released with vidence.'
    assert read.get("version") == (version if version == "1.2.3" else None)
    assert not mlcroissant.Dataset(jsonld=read).metadata.issues.errors
