"""A release out of a making: its account, its rules, what has no licence, the release before."""

import json

import msgspec
import pytest

from subjects.released import half_hidden
from vidence.errors import UsageError
from vidence.make.pipeline.ledger import Account
from vidence.make.release.made_release import (
    Making,
    MakingRelease,
    ReleaseExtras,
    refuse_unreviewed,
    release_making,
)
from vidence.records import Provenance


def making(tmp_path, **changes: object) -> Making:
    fields = {
        "name": "things",
        "root": tmp_path,
        "media_root": tmp_path,
        "seed": 0,
        "account": Account(stages=(), questions={}),
        "fresh_secret": bytes(32),
    }
    return Making(**fields | changes)


def test_it_is_what_vidence_release_writes_and_names_what_has_no_licence(tmp_path):
    items = half_hidden()
    items[0] = msgspec.structs.replace(items[0], provenance=Provenance(source="own"))
    rules = MakingRelease(version="1", splits={"validation": 0.5, "test": 0.5}, hidden=("test",))
    proofs = {"proofs.jsonl": {item.item_id: item.item_id.encode() for item in items}}
    extras = ReleaseExtras(rows=proofs)
    found = release_making(items, rules, making(tmp_path, extras=extras), into=tmp_path / "release")
    assert [(one.what, one.stage, one.reason) for one in found.dropped] == [
        ("table-000", "release", "no-licence")
    ]
    assert found.released is not None
    folder = found.released.folder
    open_ids = {item.item_id for item in found.released.parts.open_ones}
    assert set((folder / "proofs.jsonl").read_text().splitlines()[1:]) == open_ids
    home = folder.with_name("things-1.hidden") / "proofs.jsonl"
    assert set(home.read_text().splitlines()) == {item.item_id for item in items[1:]} - open_ids
    again = release_making(items, rules, making(tmp_path, extras=extras), into=tmp_path / "release")
    assert again.released is not None
    assert not again.released.is_new
    after = MakingRelease(version="2", after="release/things-1")
    less = release_making(items[2:], after, making(tmp_path), into=tmp_path / "release").released
    assert less is not None
    gone = (less.folder / "about" / "withdrawn.jsonl").read_text().splitlines()[1:]
    assert [json.loads(line)["item_id"] for line in gone] == [items[1].item_id]


def test_nothing_left_is_said_and_no_folder_is_made(tmp_path):
    bare = [msgspec.structs.replace(item, provenance=None) for item in half_hidden()]
    found = release_making(bare, MakingRelease(version="1"), making(tmp_path), into=tmp_path / "release")
    assert (found.items, found.released, len(found.dropped)) == ((), None, 8)
    assert not (tmp_path / "release").exists()


def test_what_nobody_looks_at_is_refused_unless_it_is_said():
    with pytest.raises(UsageError, match="not reviewed"):
        refuse_unreviewed(MakingRelease(version="1"), is_reviewed=False)
    refuse_unreviewed(MakingRelease(version="1", unreviewed=True), is_reviewed=False)
    refuse_unreviewed(MakingRelease(version="1"), is_reviewed=True)
