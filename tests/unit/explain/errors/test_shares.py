"""Planted kinds of errors are recovered: shares, frames, confusions, chains; and what nothing gives."""

import math

import msgspec
import numpy as np
import pytest

from vidence.errors import UsageError
from vidence.explain.errors.labels import Label
from vidence.explain.errors.shares import (
    agreements,
    chain_steps,
    confusion,
    corrected_shares,
    kind_contrasts,
    kind_order,
    kind_shares,
    labellings,
)
from vidence.explain.errors.taxonomies import load_taxonomy
from vidence.statistics.intervals import proportion

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


def test_several_people_count_alike_and_second_looks_do_not_count(plant):
    planted = plant({"a": {"knowledge": 0.5}}, n=100)
    again = planted.labels(labeller="bo", says=lambda kind: "perception")
    found = of(planted, planted.labels(), again)
    by_kind = {one.kind: one for one in kind_shares(found, HUMANPCR, level=0.95)}
    n_wrong = sum(one.is_wrong for one in planted.packet.key.drawn)
    assert by_kind["knowledge"].counts == {"a": n_wrong / 2}
    assert by_kind["knowledge"].over_settings is None
    assert len(found.labels) == 2 * n_wrong
    assert len(found.again) == len(planted.packet.rows) * 2 - 2 * n_wrong


def test_a_second_look_counts_where_the_first_row_has_no_label(plant):
    planted = plant({"a": {"knowledge": 0.5}}, n=100)
    twice = next(one for one in planted.packet.key.drawn if len(one.rows) == 2)
    second = planted.label(twice.rows[1], kind="refusal")
    assert of(planted, [second]).labels == (second,)
    both = of(planted, [second, planted.label(twice.rows[0], kind="knowledge")])
    assert [one.kind for one in both.labels] == ["knowledge"]
    assert both.again == (second,)


def test_close_shares_have_no_order(plant):
    # MMVU's 20, 20 and 18 % of 200 errors: Wilson gives 15 to 26 for each, and no order.
    planted = plant(
        {
            "a": {
                "visual-perception": 0.18,
                "knowledge-in-perception": 0.2,
                "reliance-on-text": 0.2,
                "other": 0.02,
            }
        },
        n=333,
        seed=1,
        taxonomy="mmvu",
    )
    ranking = kind_order(of(planted, planted.labels()), MMVU, level=0.95)
    clear = {frozenset((pair.better, pair.worse)) for pair in ranking.pairs if pair.is_clear}
    close = {"visual-perception", "knowledge-in-perception", "reliance-on-text"}
    assert not [pair for pair in clear if pair <= close]
    assert frozenset({"visual-perception", "other"}) in clear
    interval = proportion(40, 200)
    assert (round(interval.low, 2), round(interval.high, 2)) == (0.15, 0.26)
    assert tuple(round(x, 2) for x in (proportion(10, 50).low, proportion(10, 50).high)) == (0.11, 0.33)


def test_a_planted_effect_of_frames_is_recovered_by_kind(plant):
    planted = plant({"few": FEW, "many": MANY}, n=600, seed=3)
    labelling = of(planted, planted.labels())
    lines = {
        one.kind: one for one in kind_contrasts(labelling, HUMANPCR, first="few", second="many", level=0.95)
    }
    referred, proactive = lines["missing-referred"], lines["missing-proactive"]
    assert referred.comparison.difference.low < -0.16 < referred.comparison.difference.high
    assert referred.p_holm < 0.001
    assert proactive.comparison.difference.low < 0 < proactive.comparison.difference.high
    assert proactive.p_holm > 0.05
    assert lines["knowledge"].p_holm > 0.05
    assert lines["visual-extraction"].p_holm is None
    any_error = lines[""].comparison
    assert any_error.difference.value == pytest.approx(any_error.mean_first - any_error.mean_second)
    # As shares of the errors the others seem to rise, although nothing of them has changed.
    found = shares(planted)
    assert found["knowledge"].shares["many"].value > found["knowledge"].shares["few"].value + 0.05


def test_errors_that_nobody_labelled_leave_their_question_out(plant):
    planted = plant({"few": FEW, "many": MANY}, n=100)
    labels = planted.labels(n=20)
    labelled = {(one.run, one.item_id) for one in labels}
    known = [
        i
        for i in sorted({asked for _, asked in planted.kinds})
        if all((run, i) in labelled or planted.kinds[run, i] == "right" for run in ("few", "many"))
    ]
    (line, *_) = kind_contrasts(of(planted, labels), HUMANPCR, first="few", second="many", level=0.95)
    assert line.comparison.difference.n == len(known)


@pytest.mark.parametrize(
    ("first", "second", "says"),
    [
        ("few", "none", "there is no run 'none' in the packet; its runs are few, many"),
        ("few", "few", "a contrast of 'few' with itself"),
    ],
)
def test_a_contrast_needs_two_runs(plant, first, second, says):
    planted = plant({"few": FEW, "many": MANY}, n=50)
    with pytest.raises(UsageError, match=says):
        kind_contrasts(of(planted, planted.labels()), HUMANPCR, first=first, second=second, level=0.95)


def confused(seed):
    """Calls three in ten errors of knowledge errors of perception."""
    draws = np.random.default_rng(seed)
    return lambda kind: "perception" if kind == "knowledge" and draws.random() < 0.3 else kind


def test_a_labeller_with_a_planted_confusion_is_corrected(plant):
    chances = {"a": {"knowledge": 0.4, "perception": 0.2, "refusal": 0.2}}
    truth, n_held, n_model_held, n_all = 0.5, 0, 0, 60
    for seed in range(n_all):
        planted = plant(chances, n=400, seed=seed)
        people = of(planted, planted.labels(n=100))
        model = of(planted, planted.labels(labeller="m", by="model", says=confused(seed)), by="model")
        lines = {one.kind: one for one in corrected_shares(model, people, HUMANPCR, level=0.95)}
        knowledge = lines["knowledge"]
        n_held += knowledge.corrected.low <= truth <= knowledge.corrected.high
        n_model_held += knowledge.model.low <= truth <= knowledge.model.high
        # As wide as people alone at most: the model's labels of the rest are worth something.
        assert knowledge.corrected.high - knowledge.corrected.low < 1.05 * (
            knowledge.people.high - knowledge.people.low
        )
    assert n_held >= 0.88 * n_all
    assert n_model_held <= 0.1 * n_all


def test_the_corrected_share_is_the_sum_of_two_means(plant):
    planted = plant({"a": {"knowledge": 0.4, "perception": 0.2}}, n=200)
    people = of(planted, planted.labels(n=40))
    model = of(planted, planted.labels(labeller="m", by="model", says=confused(1)), by="model")
    lines = {one.kind: one for one in corrected_shares(model, people, HUMANPCR, level=0.95)}
    ours, theirs = model.kinds("m"), people.kinds("ann")
    n_model = sum(kind == "knowledge" for kind in ours.values()) / len(ours)
    off = sum((theirs[r] == "knowledge") - (ours[r] == "knowledge") for r in theirs) / len(theirs)
    assert lines["knowledge"].corrected.value == pytest.approx(n_model + off)
    assert lines["knowledge"].n_both == len(theirs)
    never = lines["refusal"].corrected
    assert (never.value, math.isnan(never.low), never.reason) == (0, True, "all sources are alike")
    assert sum(
        one.corrected.value for one in lines.values() if one.kind != "visual-extraction"
    ) == pytest.approx(1)
    counts = confusion(model, people)
    assert sum(counts.values()) == len(theirs)
    assert counts["knowledge", "perception"] > 0
    assert ("perception", "knowledge") not in counts


def test_agreement_has_its_nulls(plant):
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
    lines = {one.name: one for one in agreements(found, HUMANPCR, rng=rng(), level=0.95)}
    assert lines["ann and cy"].kappa.value == 1
    assert 0.6 < lines["ann and bo"].kappa.value < 0.9
    assert 0.6 < lines["all 3 people, Krippendorff's alpha"].kappa.value < 1
    assert lines["ann, twice"].same.value == 1
    assert lines["m and ann"].same.value < 1
    shuffled = lines["ann and the same shuffled"].kappa
    assert abs(shuffled.value) < 0.02
    assert shuffled.low < 0 < shuffled.high
    assert lines["ann and who always says knowledge"].kappa.value == 0


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


def test_a_chain_that_breaks_off_is_no_longer_counted(plant):
    planted = plant({"a": {"reasoning-chain": 0.9}}, n=20, taxonomy="perceptioncomp", question=FOUR)
    rows = [
        row.row for row in planted.packet.rows if row.row == planted.packet.key.reply_of()[row.row].rows[0]
    ]
    reached = ("right", "right", "not reached", "not reached")
    labels: list[Label] = [
        msgspec.structs.replace(planted.label(rows[0], kind="reasoning-chain"), verdicts=reached),
        msgspec.structs.replace(planted.label(rows[1], kind="reasoning-chain"), step=2),
        planted.label(rows[2], kind="reasoning-chain"),
    ]
    steps = chain_steps(of(planted, labels), level=0.95)
    assert [(one.step, one.n_at_risk, one.n_wrong) for one in steps] == [(1, 2, 0), (2, 2, 1)]
