"""A release of any file of questions: whole, the same bytes, never another one in its place."""

import hashlib
import json
from dataclasses import replace
from unittest import mock

import msgspec
import pytest
import yaml

from subjects.making import contents
from subjects.released import MATERIAL, half_hidden, question, released, rules_of
from vidence.errors import DataError, UsageError
from vidence.make.gates.rules import ReleaseRules
from vidence.make.release import sets
from vidence.make.release.admission import Withdrawn, withdrawn_since
from vidence.make.release.sets import release_set, scan_again


def test_the_same_questions_give_the_same_bytes_also_with_another_fresh_secret(tmp_path):
    first = contents(released(tmp_path).folder)
    material = replace(MATERIAL, fresh_secret=b"another one")
    again = release_set(
        half_hidden(),
        rules_of("items", "mmvu", "huggingface", hidden=frozenset({"test"})),
        material,
        into=tmp_path,
    )
    assert not again.is_new
    assert contents(again.folder) == first
    assert contents(released(tmp_path / "elsewhere").folder) == first


@pytest.mark.parametrize("dies_at", ["write_answers", "write_release", "_exports"])
def test_killed_and_repeated_the_bytes_are_the_same(tmp_path, dies_at):
    released(tmp_path / "whole")
    with mock.patch.object(sets, dies_at, side_effect=KeyboardInterrupt), pytest.raises(KeyboardInterrupt):
        released(tmp_path / "killed")
    assert not (tmp_path / "killed" / "table-1.0.0").exists()
    released(tmp_path / "killed")
    assert contents(tmp_path / "killed") == contents(tmp_path / "whole")


def test_the_canary_stands_in_every_file_and_every_file_has_its_checksum(tmp_path):
    found = released(tmp_path)
    canary = json.loads((found.folder / "about" / "release.json").read_text())["canary"]
    held = contents(found.folder)
    assert [name for name, content in held.items() if canary.encode() not in content] == []
    comment, *lines = held["SHA256SUMS"].decode().splitlines()
    assert comment == f"# canary {canary}"
    sums = dict(reversed(line.split("  ")) for line in lines)
    del held["SHA256SUMS"]
    assert sums == {name: hashlib.sha256(content).hexdigest() for name, content in held.items()}
    assert {"AGREEMENT.md", "CITATION.cff", "DATASHEET.md", "huggingface/README.md"} <= set(held)


def test_the_papers_of_a_release(tmp_path):
    folder = released(tmp_path).folder
    sheet = (folder / "DATASHEET.md").read_text()
    for said in (
        "| validation | 4 | 4 | released |",
        "| test | 4 | 4 | hidden |",
        "the tags n\\_steps",
        "`AGREEMENT.md`",
    ):
        assert said in sheet
    assert "Nothing is known of a review" in sheet
    assert yaml.safe_load((folder / "CITATION.cff").read_text())["license"] == "CC-BY-4.0"
    _, head, body = (folder / "huggingface" / "README.md").read_text().split("---\n", 2)
    card = yaml.safe_load(head)
    assert card["license"] == "cc-by-4.0"
    assert [one["config_name"] for one in card["configs"]] == ["default", "questions-test"]
    for one in card["configs"]:
        assert [path["split"] for path in one["data_files"]] in (["validation"], ["test"])
        assert (folder / "huggingface" / one["data_files"][0]["path"]).is_file()
    assert body.strip() == sheet.strip()
    media = [json.loads(line) for line in (folder / "about" / "media.jsonl").read_text().splitlines()[1:]]
    assert media[0] == {
        "path": "videos/film-000.mp4",
        "source_id": "film 000",
        "licence": "CC-BY-4.0",
        "n_questions": 1,
    }


def test_a_leak_fails_the_release_and_leaves_nothing(tmp_path):
    told = next(item for item in half_hidden() if item.tags["split"] == "test")
    telling = replace(MATERIAL, agreement=f"An example: {told.rationale}")
    rules = rules_of("items", hidden=frozenset({"test"}))
    with pytest.raises(
        DataError, match=r"would reveal hidden answers in 1 files: AGREEMENT\.md: the rationale"
    ):
        release_set(half_hidden(), rules, telling, into=tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["table-1.0.0.hidden"]


def test_what_others_add_later_is_found_by_a_second_scan(tmp_path):
    folder = released(tmp_path).folder
    outside = tmp_path / "table-1.0.0.hidden"
    assert scan_again(folder, outside) == ()
    (folder / "NEWS.md").write_text("table-001 is about a blue bowl; more soon.\n")
    assert [(one.file, one.item_id) for one in scan_again(folder, outside)] == [("NEWS.md", "table-001")]
    with pytest.raises(UsageError, match="expected a release of vidence items release"):
        scan_again(tmp_path, outside)


# --------------------------------------------------------------------------- splits


def test_splits_are_cut_by_source(tmp_path):
    items = [question(i, {}, source=f"film {i // 3}") for i in range(30)]
    rules = rules_of("items", shares={"train": 0.5, "test": 0.5}, hidden=frozenset({"test"}))
    parts = release_set(items, rules, MATERIAL, into=tmp_path).parts
    ours, theirs = ({one.source for one in mine} for mine in (parts.open_ones, parts.hidden.public))
    assert len(ours) == len(theirs) == 5
    assert not ours & theirs


def test_a_hidden_split_shares_no_source_with_another(tmp_path):
    items = [msgspec.structs.replace(item, source="one film") for item in half_hidden()]
    with pytest.raises(UsageError, match="1 sources have questions in test and validation"):
        released(tmp_path, items)
    open_ones = released(tmp_path, items, hidden=frozenset())
    assert (
        "1 of 1 sources have questions in more than one split"
        in (open_ones.folder / "DATASHEET.md").read_text()
    )


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"hidden": frozenset({"secret"})}, "no question is in the split 'secret'"),
        ({"formats": ()}, "no format given"),
        ({"formats": ("herbench",)}, "herbench cannot say 8 of 8"),
    ],
)
def test_what_makes_no_sense_is_refused(tmp_path, changes, said):
    rules = replace(rules_of("items", hidden=frozenset({"test"})), **changes)
    with pytest.raises(UsageError, match=said):
        release_set(half_hidden(), rules, MATERIAL, into=tmp_path)
    assert not (tmp_path / "table-1.0.0").exists()


def test_a_split_is_no_path(tmp_path):
    with pytest.raises(UsageError, match=r"'\.\./x' is no name of a split"):
        released(tmp_path, [question(0, {}, split="../x")], hidden=frozenset())


# --------------------------------------------------------------------------- withdrawn


def test_ids_that_were_withdrawn_are_never_used_again(tmp_path):
    first = released(tmp_path)
    rest = half_hidden()[2:]
    gone = withdrawn_since(
        first.folder, rest, now_withdrawn=[Withdrawn(item_id="table-000", reason="wrong")], version="1.1.0"
    )
    assert [(one.item_id, one.reason, one.version) for one in gone] == [
        ("table-000", "wrong", ""),
        ("table-001", "left out", "1.1.0"),
    ]
    material = replace(MATERIAL, withdrawn=gone)
    rules = rules_of("items", about=ReleaseRules(version="1.1.0"), hidden=frozenset({"test"}))
    second = release_set(rest, rules, material, into=tmp_path)
    carried = withdrawn_since(second.folder, rest, now_withdrawn=(), version="1.2.0")
    assert carried == gone
    with pytest.raises(
        UsageError, match="2 ids belong to questions that were withdrawn: table-000, table-001"
    ):
        release_set(half_hidden(), rules, material, into=tmp_path / "third")
    with pytest.raises(UsageError, match="is no release"):
        withdrawn_since(tmp_path, rest, now_withdrawn=(), version="2")
