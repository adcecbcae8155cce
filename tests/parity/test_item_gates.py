"""Gates and splits on released sets, against figures that were counted apart from them."""

from collections import Counter
from pathlib import Path

import msgspec
import pytest

from conftest import need
from vidence.ask.benchmarks.mmvu import create as mmvu
from vidence.ask.benchmarks.perceptioncomp import create as perceptioncomp
from vidence.make.gates.item_gates import BalanceRules, GateDesk, ItemGateRules, gate_items
from vidence.make.gates.splits import shared_between, split_items
from vidence.records import Item

pytestmark = pytest.mark.parity
SHARES = {"validation": 1 / 3, "test": 2 / 3}


@pytest.fixture(scope="module")
def clips(checks_dir: Path) -> tuple[Item, ...]:
    path = need(checks_dir / "mmvu" / "validation.json.gz")
    return mmvu().load(path, split="validation", strict=True).items


@pytest.fixture(scope="module")
def scenes(checks_dir: Path) -> tuple[Item, ...]:
    path = need(checks_dir / "perceptioncomp" / "annotations_1-1114.json")
    return perceptioncomp().load(path, split="all").items


def test_mmvu_has_98_sources_of_several_clips(clips):
    by_source = {}
    for item in clips:
        by_source.setdefault(item.source_id, set()).add(item.video_id)
    several = {source for source, found in by_source.items() if len(found) > 1}
    assert (len({item.video_id for item in clips}), len(by_source), len(several)) == (583, 453, 98)
    assert sum(item.source_id in several for item in clips) == 392


def test_mmvu_cut_by_file_shares_sources_and_cut_by_source_none(clips):
    by_source = split_items(clips, SHARES, hashes={}, stratify=["discipline", "question_type"], seed=1)
    assert by_source.n_sources == 453
    one, other = by_source.parts.values()
    assert (len(one), len(other)) == (333, 667)
    assert not [found for found in shared_between(one, other, hashes={}) if found.kind == "source"]
    bare = [msgspec.structs.replace(item, source="") for item in clips]
    by_file = split_items(bare, SHARES, hashes={}, seed=1)
    assert by_file.n_sources == 583
    known = {item.item_id: item for item in clips}
    one, other = ([known[item.item_id] for item in mine] for mine in by_file.parts.values())
    kinds = Counter(found.kind for found in shared_between(one, other, hashes={}))
    assert 30 <= kinds["source"] <= 98
    assert not kinds["path"]


def test_gates_that_need_no_model_drop_what_is_doubled_and_says_its_answer(clips, scenes):
    rules = ItemGateRules(balance=BalanceRules(draws=199), split_tag="none")
    found = gate_items(scenes, rules, GateDesk(seed=0))
    assert found.ledger.stages[0].dropped == {"answer-in-question": 4, "repeat": 5}
    above = {one.name for one in found.balance if one.verdict == "above"}
    assert {"outdoor tour", "sport"} <= above
    found = gate_items(clips, rules, GateDesk(seed=0))
    assert found.ledger.stages[0].dropped == {"repeat": 1}
    assert len({one.item_id for one in found.verdicts}) == len(clips)
