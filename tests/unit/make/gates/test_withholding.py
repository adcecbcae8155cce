"""Which pieces of evidence are needed: one span after the other is withheld from a simulated model."""

import msgspec
import pytest

from subjects.gated import draft, video
from subjects.planted_drafts import Planted, models_of
from vidence.ask.phantom.planted import SimulatedModel, demand, expected
from vidence.make.gates.model_gates import open_ones, remarks
from vidence.make.gates.rules import NeedsAllRules
from vidence.make.gates.withholding import NEEDS_ALL, ask_without, cut_evidence, shown_frames
from vidence.make.pipeline.material import Draft
from vidence.records import Evidence

RULES = NeedsAllRules(model="eye")


@pytest.fixture(scope="module")
def planted(tmp_path_factory) -> Planted:
    return Planted(tmp_path_factory.mktemp("planted"))


def verdicts(
    planted, tmp_path, drafts, *, model: str = "phantom:fuser", rules=RULES, with_files: bool = True
):
    cutting = planted.cutting(tmp_path, with_files=with_files)
    shown = cut_evidence(drafts, rules, cutting)
    with models_of(tmp_path, cutting.pictures.get, eye=model) as sent:
        found = ask_without(drafts, shown, rules, models=sent, seed=1)
    return {one.item_id: one for one in found}


def padded(planted: Planted, one: Draft) -> Draft:
    """The draft with a span more, of which its `k` says that it is needed: a moment that shows no card."""
    ends = max(span.end_s for span in one.evidence)
    decoy = Evidence(kind="oracle", start_s=ends + 0.05, end_s=ends + 0.15)
    return msgspec.structs.replace(one, evidence=(*one.evidence, decoy), k=one.k + 1)


def test_what_proves_needed_is_what_was_planted(planted, tmp_path):
    found = verdicts(planted, tmp_path, planted.drafts)
    for name, item in planted.items.items():
        is_leak = item.tags["leak"] == "yes"
        assert found[name].k_verified == (0 if is_leak else demand(item)), name
        assert found[name].decision == ("dropped" if is_leak else "kept")
    assert {demand(item) for item in planted.items.values()} >= {1, 2, 3}


def test_a_span_that_shows_nothing_needed_is_found_out(planted, tmp_path):
    clean = [one for one in planted.drafts if planted.items[one.draft_id].tags["leak"] != "yes"]
    found = verdicts(planted, tmp_path, [padded(planted, one) for one in clean])
    for one in clean:
        verdict = found[one.draft_id]
        assert (verdict.decision, verdict.k_verified) == ("dropped", one.k)
        assert verdict.n_right == 1  # with the one that was added withheld
    kept = verdicts(
        planted,
        tmp_path,
        [padded(planted, one) for one in clean],
        rules=NeedsAllRules(model="eye", drop=False),
    )
    assert {one.decision for one in kept.values()} == {"kept"}


def test_nothing_is_said_where_the_model_is_not_right_with_everything(planted, tmp_path):
    model = SimulatedModel(name="blind")
    found = verdicts(planted, tmp_path, planted.drafts, model="phantom:blind")
    for name, item in planted.items.items():
        if not expected(model, item, times_s=()):
            assert (found[name].decision, found[name].k_verified) == ("untried", None)
            assert len(found[name].votes) == 1  # nothing is withheld from who does not know
    said = remarks(NEEDS_ALL, list(found.values()))
    assert any("not tried: the model is not right with all of the evidence" in one for one in said)


def test_a_video_that_is_not_here_is_not_tried(planted, tmp_path):
    found = verdicts(planted, tmp_path, planted.drafts, with_files=False)
    assert {(one.decision, one.why) for one in found.values()} == {("untried", "the video is not here")}


def test_a_model_that_fails_leaves_all_untried(planted, tmp_path):
    found = verdicts(planted, tmp_path, planted.drafts[:2], model="scripted:B?fail=500")
    assert {one.decision for one in found.values()} == {"untried"}
    assert open_ones(list(found.values())) == {}


def test_each_span_is_shown_by_its_best_frames_and_its_middle():
    span = Evidence(kind="oracle", start_s=2.0, end_s=4.0, frames=(21, 25, 39))
    assert shown_frames(span, video("v1"), NeedsAllRules(model="m", frames=2)) == (21, 25)
    assert shown_frames(span, video("v1"), NeedsAllRules(model="m", frames=5)) == (21, 25, 39, 30)
    assert shown_frames(draft("a").evidence[0], video("v1"), RULES) == (15,)
    assert shown_frames(Evidence(kind="oracle", frames=(500,)), video("v1"), RULES) == (99,)
