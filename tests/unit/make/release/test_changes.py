"""What a release changes of the one before: text, choices, their order, answer, media, split, by id."""

import json
import shutil
from dataclasses import replace

import msgspec
import pytest

from subjects.released import MATERIAL, half_hidden, questions_of, released, rules_of
from vidence.errors import DataError, UsageError
from vidence.make.gates.rules import ReleaseRules
from vidence.make.release.changes import Change, changes_words, read_before
from vidence.make.release.sets import release_set
from vidence.records import Item

SWAPPED = ("a blue bowl", "a red cup", "a green plate", "a tall vase", "an old spoon")


def changed(item: Item, **changes: object) -> Item:
    return msgspec.structs.replace(item, **changes)


def again(into, items, *formats, **changes: object):
    about = ReleaseRules(version="2.0.0", licence="CC-BY-4.0")
    rules = rules_of(*(formats or ("items",)), **{"about": about, "hidden": frozenset({"test"})} | changes)
    material = replace(MATERIAL, before=read_before(into / "table-1.0.0"))
    return release_set(items, rules, material, into=into)


def of(found) -> dict[str, tuple[str, tuple[str, ...]]]:
    return {one.item_id: (one.what, one.fields) for one in found.changes.all}


def test_what_changed_is_named_by_id_and_field(tmp_path):
    items = half_hidden()
    released(tmp_path, items)
    media = (changed(items[6].media[0], path="clips/film-006.mp4", end_s=9.0),)
    now = [
        changed(items[0], question="What is put there first?"),
        changed(items[1], answer="C"),
        changed(items[2], choices=(*items[2].choices[:4], "a new spoon")),
        changed(items[3]),
        changed(items[4], choices=SWAPPED),
        changed(items[6], media=media),
        changed(items[7], tags=items[7].tags | {"split": "validation"}),
        changed(items[5], item_id="table-100", source="another film"),
    ]
    found = again(tmp_path, now)
    assert of(found) == {
        "table-000": ("changed", ("question",)),
        "table-001": ("changed", ("answer",)),
        "table-002": ("changed", ("choices",)),
        "table-004": ("changed", ("order",)),
        "table-005": ("left out", ()),
        "table-006": ("changed", ("media",)),
        "table-007": ("changed", ("split",)),
        "table-100": ("added", ()),
    }
    said = changes_words(found.changes, every=True)
    assert said[0] == "Since version 1.0.0: 1 question added, 1 left out, 6 changed."
    assert "Changed right answer: table-001." in said
    rows = (found.folder / "about" / "changes.jsonl").read_text().splitlines()[1:]
    assert "table-001" not in {json.loads(row)["item_id"] for row in rows}, "of a hidden answer nothing"
    assert len(rows) == 7
    sheet = (found.folder / "DATASHEET.md").read_text()
    assert "Changed since the release before" in sheet
    assert "right answer" not in sheet.split("Changed since")[1]


def test_the_same_questions_have_no_changes_and_the_same_bytes(tmp_path):
    released(tmp_path)
    found = again(tmp_path, half_hidden())
    assert found.changes.all == ()
    assert "no question was added" in (found.folder / "DATASHEET.md").read_text()
    assert not again(tmp_path, half_hidden()).is_new


def test_another_folder_of_media_is_no_change_and_another_hash_is(tmp_path):
    items = [changed(item, tags=item.tags | {"split": "test"}) for item in half_hidden()[:2]]
    said = [
        changed(one, media=(changed(one.media[0], sha256=digest * 64),))
        for one, digest in zip(items, "ab", strict=True)
    ]
    released(tmp_path, said, hidden=frozenset())
    moved = [
        changed(one, media=(changed(one.media[0], path=f"elsewhere/film-00{i}.mp4", sha256="a" * 64),))
        for i, one in enumerate(items)
    ]
    found = again(tmp_path, moved, hidden=frozenset())
    assert of(found) == {"table-001": ("changed", ("media",))}


@pytest.mark.parametrize("name", ["mmvu", "herbench", "humanpcr"])
def test_a_release_in_another_format_is_compared_by_what_it_says(tmp_path, name):
    items = questions_of(name)
    release_set(items, rules_of(name), MATERIAL, into=tmp_path)
    now = [changed(items[0], answer="E"), changed(items[1], question="Now what?"), *items[2:]]
    found = again(tmp_path, now, hidden=frozenset())
    assert of(found) == {
        items[0].item_id: ("changed", ("answer",)),
        items[1].item_id: ("changed", ("question",)),
    }


def test_hidden_answers_that_are_not_there_are_not_compared_and_others_are_refused(tmp_path):
    released(tmp_path)
    items = [changed(item, answer="C" if item.choices else item.answer) for item in half_hidden()]
    answers = tmp_path / "table-1.0.0.hidden" / "answers.jsonl"
    lines = answers.read_text()
    answers.write_text(lines.replace('"answer":"B"', '"answer":"A"'))
    with pytest.raises(DataError, match="holds other answers"):
        read_before(tmp_path / "table-1.0.0")
    shutil.rmtree(tmp_path / "table-1.0.0.hidden")
    found = again(tmp_path, items)
    assert found.changes.n_unknown == 4
    assert set(of(found)) == {"table-000", "table-004", "table-006"}
    assert any(
        "answers of 4 questions were hidden" in one for one in changes_words(found.changes, every=True)
    )


def test_what_cannot_be_read_of_it_is_counted(tmp_path):
    release_set(half_hidden(), rules_of("mmvu", hidden=frozenset({"test"})), MATERIAL, into=tmp_path)
    shutil.rmtree(tmp_path / "table-1.0.0.hidden")
    found = again(tmp_path, half_hidden())
    assert found.changes.n_untold == 4
    assert found.changes.all == ()


def test_what_is_no_release_is_refused(tmp_path):
    with pytest.raises(UsageError, match="no release of vidence release"):
        read_before(tmp_path)


def test_a_change_says_what(tmp_path):
    assert msgspec.json.encode(Change(item_id="a", what="added")) == b'{"item_id":"a","what":"added"}'
