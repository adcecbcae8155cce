"""Released sets through our exporters and back: the same questions, choices, answers and tags."""

import gzip
import json

import pytest

from conftest import need
from subjects.released import rules_of
from vidence.ask.benchmarks.mmvu import create as mmvu
from vidence.ask.benchmarks.perceptioncomp import create as perceptioncomp
from vidence.ask.benchmarks.table import create as table
from vidence.make.gates.rules import ReleaseRules
from vidence.make.release.sets import SetMaterial, release_set

pytestmark = pytest.mark.parity
SHARES = {"validation": 1 / 3, "test": 2 / 3}
ABOUT = ReleaseRules(version="1.0.0", without_licence=("all",))


def without(tags, *names):
    return {name: text for name, text in tags.items() if name not in names}


def test_mmvu_comes_back_and_its_open_half_gives_nothing_of_the_hidden_one_away(checks_dir, tmp_path):
    path = need(checks_dir / "mmvu" / "validation.json.gz")
    loaded = mmvu().load(path, split="validation", strict=True)
    whole = release_set(
        loaded.items,
        rules_of("mmvu", "items", "huggingface", about=ABOUT),
        SetMaterial(),
        into=tmp_path / "whole",
    )
    assert whole.losses == {"mmvu": {"tag split": 1000}, "items": {}, "huggingface": {}}
    back = mmvu().load(whole.folder / "mmvu", split="validation", strict=True)
    assert back.revision == loaded.revision
    assert back.items == loaded.items
    cut = rules_of("mmvu", "items", "huggingface", about=ABOUT, shares=SHARES, hidden=frozenset({"test"}))
    found = release_set(loaded.items, cut, SetMaterial(fresh_secret=b"x"), into=tmp_path / "cut")
    assert (len(found.parts.open_ones), len(found.parts.hidden.public)) == (333, 667)
    assert found.parts.hidden.tags == ()


def test_perceptioncomp_comes_back_with_letters_as_choices(checks_dir, tmp_path):
    path = need(checks_dir / "perceptioncomp" / "annotations_1-1114.json")
    items = perceptioncomp().load(path, split="all").items
    found = release_set(
        items, rules_of("perceptioncomp", "items", "huggingface", about=ABOUT), SetMaterial(), into=tmp_path
    )
    back = perceptioncomp().load(
        found.folder / "perceptioncomp" / "annotations.json", split="all", strict=True
    )
    ours = table().load(found.folder / "items.jsonl", split="all", strict=True)
    assert len(back.items) == len(ours.items) == len(items) == 1114
    for item, one, other in zip(items, back.items, ours.items, strict=True):
        for came in (one, other):
            assert (came.question, came.choices, came.answer, came.media, came.source) == (
                item.question,
                item.choices,
                item.answer,
                item.media,
                item.source,
            )
        assert without(one.tags, "has_extra_option") == without(item.tags, "has_extra_option")
        assert without(other.tags, "canary") == item.tags
    lettered = [item for item in ours.items if any(text in item.letters for text in item.choices)]
    assert lettered, "some questions offer letters"


def test_our_own_questions_of_clips_come_back(data_dir, tmp_path):
    items = table().load(need(data_dir / "questions.jsonl"), split="all").items
    found = release_set(items, rules_of("items", "huggingface", about=ABOUT), SetMaterial(), into=tmp_path)
    assert found.losses == {"items": {}, "huggingface": {}}


def test_mmvu_without_its_answers_is_read_as_the_test_split(checks_dir, tmp_path):
    path = need(checks_dir / "mmvu" / "validation.json.gz")
    rows = json.loads(gzip.decompress(path.read_bytes()))
    public = [
        {name: row[name] for name in row if name != "answer"} | {"id": f"test_{i}"}
        for i, row in enumerate(rows)
    ]
    (tmp_path / "test.json").write_text(json.dumps(public))
    known = mmvu().load(path, split="validation", strict=True)
    hidden = mmvu().load(tmp_path, split="test", strict=True)
    assert all(item.is_hidden for item in hidden.items)
    assert [(one.question, one.choices, one.media, one.tags) for one in hidden.items] == [
        (one.question, one.choices, one.media, one.tags) for one in known.items
    ]
