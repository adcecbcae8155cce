"""Planted kinds of errors are recovered: shares, frames, confusions, chains; and what nothing gives."""

import math

import msgspec
import numpy as np
import pytest

from vidence.explain.errors.shares import agreements, chain_steps, kind_shares, labellings, report
from vidence.explain.errors.taxonomies import load_taxonomy

HUMANPCR, CHAINS, MMVU = map(load_taxonomy, ("humanpcr", "perceptioncomp", "mmvu"))
FOUR = "\u2460 A man waves. \u2461 He sits. \u2462 He leaves. \u2463 He is back. Where?"
# More frames take away missing-referred and nothing else.
FEW = {"missing-proactive": 0.15, "missing-referred": 0.20, "knowledge": 0.15}
MANY = {"missing-proactive": 0.15, "missing-referred": 0.04, "knowledge": 0.15}


def rng():
    return np.random.default_rng(0)


def of(planted, *labels, by="person"):
    found = labellings(planted.packet.key, [one for some in labels for one in some])
    return next(one for one in found if one.by == by)


def shares(planted, *, level=0.95):
    labelling = of(planted, planted.labels())
    return {one.kind: one for one in kind_shares(labelling, HUMANPCR, level=level)}


def test_planted_shares_are_recovered(plant):
    planted = plant({"few": FEW, "many": MANY}, n=400, seed=2)
    found = shares(planted, level=0.99)
    said = list(planted.kinds.items())
    for run, chances in (("few", FEW), ("many", MANY)):
        total = sum(chances.values())
        for kind, chance in chances.items():
            assert found[kind].counts[run] == sum(r == run and k == kind for (r, _), k in said)
            estimate = found[kind].shares[run]
            assert estimate.low < chance / total < estimate.high, (run, kind)
    whole = found["visual-extraction"].pooled.value
    assert math.isclose(whole, sum(found[kind].pooled.value for kind in HUMANPCR.parts("visual-extraction")))
    assert found["refusal"].pooled.value == 0


def test_the_mean_over_settings_is_not_the_pooled_share(plant):
    planted = plant({"good": {"knowledge": 0.05, "perception": 0.05}, "bad": {"perception": 0.9}}, n=300)
    found = shares(planted)["knowledge"]
    own = [found.shares[run].value for run in ("good", "bad")]
    assert found.over_settings.value == pytest.approx(sum(own) / 2)
    n = [sum(one.is_wrong for one in planted.packet.key.drawn if one.run == run) for run in ("good", "bad")]
    assert found.pooled.value == pytest.approx((own[0] * n[0] + own[1] * n[1]) / sum(n))
    assert found.pooled.value < 0.1 < found.over_settings.value


def test_several_people_count_alike(plant):
    planted = plant({"a": {"knowledge": 0.5}}, n=100)
    again = planted.labels(labeller="bo", says=lambda kind: "perception")
    found = of(planted, planted.labels(), again)
    by_kind = {one.kind: one for one in kind_shares(found, HUMANPCR, level=0.95)}
    n_wrong = sum(one.is_wrong for one in planted.packet.key.drawn)
    assert by_kind["knowledge"].counts == {"a": n_wrong / 2}
    assert by_kind["knowledge"].over_settings is None


def confused(seed):
    """Calls three in ten errors of knowledge errors of perception."""
    draws = np.random.default_rng(seed)
    return lambda kind: "perception" if kind == "knowledge" and draws.random() < 0.3 else kind


def test_people_and_models_agree_as_far_as_was_planted(plant):
    planted = plant({"a": {"knowledge": 0.4, "perception": 0.2, "refusal": 0.2}}, n=300)
    found = labellings(
        planted.packet.key,
        [
            *planted.labels(),
            *planted.labels(labeller="bo", says=confused(0)),
            *planted.labels(labeller="cy"),
            *planted.labels(labeller="m", by="model", says=confused(5)),
        ],
    )
    lines = {one.name: one for one in agreements(found, rng=rng(), level=0.95)}
    assert lines["ann and cy"].kappa.value == 1
    assert 0.6 < lines["ann and bo"].kappa.value < 0.9
    assert lines["m and ann"].same.value < 1


def test_chains_recover_a_planted_hazard(plant):
    planted = plant({"a": {"perceptual": 0.9}}, n=600, taxonomy="perceptioncomp", question=FOUR)
    draws, labels = rng(), []
    hazards = (0.1, 0.3, 0.5, 1.0)
    for row in planted.packet.rows:
        step = next(j for j, h in enumerate(hazards, 1) if draws.random() < h)
        verdicts = ("right",) * (step - 1) + ("partial" if step == 2 else "wrong",)
        verdicts += ("not reached",) * (4 - step)
        labels.append(msgspec.structs.replace(planted.label(row.row, kind="perceptual"), verdicts=verdicts))
    steps = chain_steps(of(planted, labels), level=0.95)
    assert [one.step for one in steps] == [1, 2, 3, 4]
    assert [one.n_partial for one in steps] == [0, steps[1].n_wrong, 0, 0]
    for one, hazard in zip(steps, hazards, strict=True):
        assert one.share.low <= hazard <= one.share.high
    assert [one.n_at_risk - one.n_wrong for one in steps[:-1]] == [one.n_at_risk for one in steps[1:]]
    _, tables = said_of(planted, labels, CHAINS)
    assert tables["chains:people"].estimate("step-4", "share").value == 1


def test_a_chain_that_breaks_off_is_no_longer_counted(plant):
    planted = plant({"a": {"reasoning-chain": 0.9}}, n=20, taxonomy="perceptioncomp", question=FOUR)
    rows = [row.row for row in planted.packet.rows]
    reached = ("right", "right", "not reached", "not reached")
    second = ("right", "wrong", "not reached", "not reached")
    labels = [
        msgspec.structs.replace(planted.label(rows[0], kind="reasoning-chain"), verdicts=reached),
        msgspec.structs.replace(planted.label(rows[1], kind="reasoning-chain"), verdicts=second),
        planted.label(rows[2], kind="reasoning-chain"),
    ]
    steps = chain_steps(of(planted, labels), level=0.95)
    assert [(one.step, one.n_at_risk, one.n_wrong) for one in steps] == [(1, 2, 0), (2, 2, 1)]


CHANCES = {"knowledge": 0.3, "missing-proactive": 0.2}


def said_of(planted, labels, taxonomy=HUMANPCR, **more):
    found = report(planted.packet, labels, taxonomy, rng=rng(), **more)
    return " ".join(found.sentences), {table.name: table for table in found.tables}


def test_what_is_not_labelled_is_counted_and_no_kind(plant):
    planted = plant({"a": CHANCES, "b": CHANCES}, n=100)
    labels = planted.labels(n=30)
    words, tables = said_of(planted, labels)
    n_wrong = sum(one.is_wrong for one in planted.packet.key.drawn)
    n = len({(one.run, one.item_id) for one in labels})
    assert (
        f"{n} of {n_wrong} wrong replies are labelled by people (ann); {n_wrong - n} are not labelled"
        in words
    )
    assert "None of them has a label yet" in said_of(planted, ())[0]
    kinds = tables["kinds:people"]
    assert kinds.cell("visual-extraction", "printed").text == "37.42"
    assert kinds.columns[-1].title == "Figure 8, appendix G.3, mean over settings"
    assert kinds.estimate("knowledge", "mean") is not None
    counted = [kinds.value(kind.name, f"n:{run}") for kind in HUMANPCR.labels for run in ("a", "b")]
    assert sum(counted) == n


def test_models_stand_apart(plant):
    planted = plant({"a": CHANCES, "b": CHANCES}, n=100)
    labels = [*planted.labels(n=40), *planted.labels(labeller="m", by="model")]
    words, tables = said_of(planted, labels)
    assert "by the model m" in words
    assert {"kinds:people", "kinds:m", "agreement"} <= tables.keys()
    alone, _ = said_of(planted, planted.labels(labeller="m", by="model"))
    assert "No person has labelled anything" in alone
