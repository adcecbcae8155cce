"""Diagnostics on planted truth: each recovers what was planted, and does no more asking than it must."""

import math
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import anyio
import numpy as np
import pytest

from vidence.ask.embedding import phantom_codes
from vidence.ask.phantom.plan import WorldSpec, plan_world
from vidence.ask.phantom.planted import SimulatedModel, expected
from vidence.ask.phantom.scene import COLOURS
from vidence.ask.phantom.world import World, render
from vidence.engine.diagnose import Account, diagnose, open_diagnostic
from vidence.engine.environment import Environment
from vidence.engine.prepare import make_plan
from vidence.report.diagnosis import Diagnosed, load_diagnosed
from vidence.tables.table import Table

SEED = 3
SPEC = WorldSpec(n_videos=3, n_variable=1, min_s=24, max_s=24, sizes=((320, 180),), rates=(10,))
FUSER, SINGLE, BLIND = "phantom:fuser", "phantom:single", "phantom:blind"
FORGETFUL = "phantom:forgetful?memory=2"


@dataclass(frozen=True)
class Found:
    """What a diagnostic found and said, and what it took."""

    diagnosed: Diagnosed
    account: Account

    @property
    def by_item(self):
        return {one.item.item_id: one.finding for one in self.diagnosed.examined}

    @property
    def pairs(self):
        return [(one.item, one.finding) for one in self.diagnosed.examined]

    def value(self, sheet, line, column):
        found = next(s for s in self.diagnosed.statements if isinstance(s, Table) and s.name == sheet)
        value = found.value(line, column)
        return value.value if hasattr(value, "value") else value


@dataclass(frozen=True)
class Lab:
    """A small world, and diagnostics on it; frames are cached, replies are not unless a memory is named."""

    folder: Path
    world: World

    def find(self, name, model, *, options=None, selector="evidence", n_frames=16, memory=""):
        chosen = dict(options or {})
        number = sum(1 for _ in self.folder.glob("run-*"))
        out = self.folder / f"run-{number}"
        overrides = {
            "selector": selector,
            "frames": n_frames,
            "memory": str(self.folder / (memory or f"replies-{number}.sqlite")),
        }
        plan = make_plan("phantom", data=self.folder / "world", model=model, overrides=overrides)
        diagnostic = open_diagnostic(name, chosen)

        async def go():
            return await diagnose(
                diagnostic,
                plan,
                out,
                options=chosen,
                environment=Environment(cache_root=self.folder / "cache", n_workers=2),
                now=datetime.now(UTC),
                on_event=lambda event: None,
            )

        account = anyio.run(go)
        return Found(load_diagnosed(diagnostic, out, options=chosen, seed=0, level=0.95), account)


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    folder = tmp_path_factory.mktemp("lab")
    return Lab(folder, render(folder / "world", SPEC, seed=SEED))


def planted_demand(item):
    """How many frames a fuser needs of a ranking with the needed cards first."""
    return 0 if item.tags["leak"] == "yes" else int(item.tags["demand"])


def middles_s(item):
    return [(e.start_s + e.end_s) / 2 for e in item.evidence]


def midpoints_s(item, n_frames):
    """The times of the frames at the middles of equal segments, worked out from the plan of the world."""
    video = next(v for v in plan_world(SPEC, seed=SEED).videos if v.path == item.media[0].path)
    times_s = video.times_s
    return [float(times_s[int(len(times_s) * (i + 0.5) / n_frames)]) for i in range(n_frames)]


def test_mrfs_is_the_planted_demand_in_every_mode_and_a_later_search_asks_nothing(lab):
    for mode in ("exhaustive", "nested-bisect", "official"):
        found = lab.find("mrfs", FUSER, options={"mode": mode}, memory="shared.sqlite")
        is_planted(found, mode)
        # 17 prompts for each question, of which nothing is ever asked twice
        assert found.account.n_asked == (30 * 17 if mode == "exhaustive" else 0)
        assert (found.account.n_remembered > 0) == (mode != "exhaustive")


def is_planted(found, mode):
    assert {i.item_id: f.mrfs for i, f in found.pairs} == {
        i.item_id: planted_demand(i) for i, _ in found.pairs
    }
    assert {f.category for i, f in found.pairs if i.tags["leak"] == "no"} == {"visual-required"}
    for k in range(1, 9):
        assert found.value("by demand", str(k), "mean") == k
    if mode == "nested-bisect":
        # without frames, with all, and at most ceil(log2 16) in between
        assert max(len(f.asked) for _, f in found.pairs) <= 2 + math.ceil(math.log2(16))
    if mode == "exhaustive":
        assert {f.is_monotone for _, f in found.pairs} == {True}
        assert {len(f.asked) for _, f in found.pairs} == {17}


def test_mrfs_with_a_retriever_in_place_of_the_annotation(lab):
    # one frame of every needed card comes before a second of any: 4 frames in a second see every card
    ranking = "similarity:phantom-codes?grid=fps:4&embedder.distinct=true"
    found = lab.find("mrfs", FUSER, selector=ranking)
    assert {i.item_id: f.mrfs for i, f in found.pairs} == {
        i.item_id: planted_demand(i) for i, _ in found.pairs
    }


@pytest.mark.parametrize(("model", "most"), [(SINGLE, 1), (FORGETFUL, 2), (BLIND, 0)])
def test_what_a_model_cannot_fuse_has_no_demand(lab, model, most):
    found = lab.find("mrfs", model)
    for item, finding in found.pairs:
        demand = planted_demand(item)
        planted = demand if demand <= most else None
        assert finding.mrfs == planted, item.item_id
        assert finding.category == (
            "text-only" if demand == 0 else "visual-required" if planted else "undefined"
        )
    undefined = sum(planted_demand(item) > most for item, _ in found.pairs)
    assert found.value("categories", "undefined", "n") == undefined


def test_a_fuser_shares_evenly_and_a_single_rests_on_one_frame(lab):
    found = lab.find("frame-shares", FUSER)
    for item, finding in found.pairs:
        k = int(item.tags["demand"])
        if item.tags["leak"] == "yes":
            assert finding.excluded == "no positive evidence"
        elif k == 1:
            assert finding.excluded == "fewer than two frames"
        else:
            assert finding.shares == pytest.approx([1 / k] * k)
            assert finding.top_share == pytest.approx(1 / k)
            assert finding.chosen == item.answer
    single = lab.find("frame-shares", SINGLE)
    tops = [f.top_share for _, f in single.pairs if f.top_share is not None]
    assert tops
    assert set(tops) == {1.0}
    assert single.value("frame-shares", "all", "top") == 1.0
    # every prompt once: k + 1 for questions of two and more cards
    asked = sum(int(i.tags["demand"]) + 1 for i, _ in found.pairs if i.tags["demand"] != "1")
    assert found.account.n_asked == asked


def test_modality_ratios_are_the_planted_ones(lab):
    blind = lab.find("modality", BLIND, selector="midpoints")
    assert blind.value("modality", "full", "accuracy") == 0.1  # one question in ten gives its answer away
    assert blind.value("modality", "text", "ratio") == 1.0
    found = lab.find("modality", FUSER, selector="midpoints")
    parser, full, central = SimulatedModel(name="fuser"), [], []
    for item, finding in found.pairs:
        value = {name: marks[0].value for name, marks in finding.marks.items()}
        full.append(expected(parser, item, times_s=midpoints_s(item, 16)))
        central.append(expected(parser, item, times_s=midpoints_s(item, 1)))
        assert value["full"] == value["shuffled"] == value["reversed"] == full[-1]
        assert value["text"] == (item.tags["leak"] == "yes")
        assert value["central"] == central[-1]
    assert found.value("modality", "full", "accuracy") == pytest.approx(sum(full) / 30)
    assert found.value("modality", "text", "ratio") == pytest.approx(3 / sum(full))
    assert found.value("modality", "central", "ratio") == pytest.approx(sum(central) / sum(full))
    assert found.value("modality", "shuffled", "ratio") == 1.0
    assert found.value("solved", "without-video", "questions") == 3


def test_a_blind_panel_drops_exactly_the_leaky_questions(lab):
    for model in (FUSER, BLIND):
        found = lab.find("blind-panel", model, selector="midpoints")
        flagged = {i.item_id for i, f in found.pairs if f.is_flagged}
        assert flagged == {i.item_id for i, _ in found.pairs if i.tags["leak"] == "yes"}
        assert found.value("blind-panel", "flagged", "share") == 0.1


def retrieved_s(item, *, miss, n_frames):
    """What a retriever shows that looks twice a second and misses what is planted; 10 frames per second."""
    retriever = phantom_codes.create(phantom_codes.Settings(miss=miss, seed=5))
    video = int(item.media[0].path.removeprefix("videos/v").removesuffix(".mp4"))
    colours = [e.note.split()[0] for e in item.evidence]
    pieces = [video * len(COLOURS) + list(COLOURS).index(colour) for colour in colours]
    rows = np.array([(plan_world(SPEC, seed=SEED).number, piece, 0, 0) for piece in pieces], np.float32)
    is_found = retriever.compare(rows, [item.question])[:, 0] > 0
    scored, n_seen = [], dict.fromkeys(pieces, 0)
    for time_s in (i / 2 for i in range(48)):
        score = 0.0
        for piece, hit, evidence in zip(pieces, is_found, item.evidence, strict=True):
            if hit and evidence.start_s <= time_s < evidence.end_s:
                n_seen[piece] += 1
                score = 1 / n_seen[piece]
        scored.append((-score, time_s))
    return [time_s for _, time_s in sorted(scored)[:n_frames]]


def test_a_planted_retrieval_defect_is_a_retrieval_gap(lab):
    chosen = "similarity:phantom-codes?grid=fps:2&embedder.distinct=true&embedder.miss=0.3&embedder.seed=5"
    found = lab.find("selector-gap", FUSER, selector="midpoints", n_frames=8, options={"selectors": chosen})
    parser = SimulatedModel(name="fuser")
    n_right = 0
    for item, finding in found.pairs:
        value = {name: marks[0].value for name, marks in finding.marks.items()}
        assert value["evidence-frames"] == 1.0
        assert value["plan"] == expected(parser, item, times_s=midpoints_s(item, 8))
        assert (value[chosen] == 1.0) == (item.tags["leak"] == "yes" or finding.recall[chosen] == 1.0)
        n_right += value[chosen] == 1.0
        if item.tags["frame_rate"] == "constant":
            shown_s = retrieved_s(item, miss=0.3, n_frames=8)
            assert value[chosen] == expected(parser, item, times_s=shown_s), item.item_id
    assert 5 < n_right < 25
    assert found.value("selector-gap", chosen, "retrieval") == pytest.approx(1 - n_right / 30)
    assert found.value("selector-gap", chosen, "fusion") == 0.0


def test_a_planted_fusion_defect_is_a_fusion_gap(lab):
    found = lab.find("selector-gap", FORGETFUL, selector="midpoints")
    parser = SimulatedModel(name="forgetful", memory=2)
    plan = [expected(parser, i, times_s=midpoints_s(i, 16)) for i, _ in found.pairs]
    # with all cards in sight: one, one and two cards, and the one that is told
    oracle = [expected(parser, i, times_s=middles_s(i)) for i, _ in found.pairs]
    assert sum(oracle) == 3 * 4
    assert [f.marks["plan"][0].value == 1.0 for _, f in found.pairs] == plan
    assert [f.marks["evidence-frames"][0].value == 1.0 for _, f in found.pairs] == oracle
    assert found.value("selector-gap", "plan", "fusion") == pytest.approx(1 - 12 / 30)
    assert found.value("selector-gap", "plan", "retrieval") == pytest.approx((12 - sum(plan)) / 30)


def test_a_sweep_of_budgets_shows_the_planted_steps(lab):
    found = lab.find("budgets", FUSER, selector="midpoints", options={"frames": "8|16|32"})
    enough = {"lasting": 8, "long": 16, "short": 32}
    n_of = dict.fromkeys(enough, 0)
    for item, finding in found.pairs:
        right = {int(one.label): one.marks[0].value == 1.0 for one in finding.sweeps["frames"]}
        assert right == {
            n: expected(SimulatedModel(name="fuser"), item, times_s=midpoints_s(item, n)) for n in right
        }
        if item.tags["leak"] == "no" and item.tags["frame_rate"] == "constant":
            assert right == {n: n >= enough[item.tags["lifetime"]] for n in right}, item.item_id
            n_of[item.tags["lifetime"]] += 1
    assert n_of["long"] > 0
    assert n_of["short"] > 0


def test_a_search_finds_the_cards_by_looking_at_the_frames_it_wants(lab):
    # in 24 seconds the first mosaic shows every second, and so every card that lasts as long
    chosen = "tstar:phantom-codes"
    found = lab.find("selector-gap", FUSER, selector="midpoints", n_frames=8, options={"selectors": chosen})
    n_few = 0
    for item, finding in found.pairs:
        value = {name: marks[0].value for name, marks in finding.marks.items()}
        is_whole = finding.recall[chosen] == 1.0
        assert (value[chosen] == 1.0) == (item.tags["leak"] == "yes" or is_whole), item.item_id
        if item.tags["lifetime"] != "short" and item.tags["frame_rate"] == "constant":
            n_seen = sum(int(e.end_s - e.start_s) + 1 for e in item.evidence)
            n_few += n_seen <= 8
            assert is_whole or n_seen > 8, item.item_id
    assert n_few > 3


def right_in_all(found):
    return {item.item_id: all(t.mark.value == 1.0 for t in finding.turns) for item, finding in found.pairs}


@pytest.mark.parametrize(
    ("model", "reader"),
    [(FUSER, SimulatedModel(name="fuser")), ("phantom:letter-biased?letter=C", SimulatedModel(name="fuser"))],
)
def test_rotations_leave_who_knows(lab, model, reader):
    """A letter throughout is right in one order of a question that is not known, and never in all."""
    found = lab.find("rotations", model, selector="midpoints")
    known = {i.item_id: expected(reader, i, times_s=midpoints_s(i, 16)) for i, _ in found.pairs}
    assert right_in_all(found) == known
    assert 0 < sum(known.values()) < len(known)
    assert found.value("rotations", "all", "share") == pytest.approx(sum(known.values()) / len(known))
    if model != FUSER:
        assert found.value("follows", "wrong", "letter") == 1.0
