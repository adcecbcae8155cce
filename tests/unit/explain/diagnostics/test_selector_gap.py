"""Both gaps against models with planted defects, over selectors that find a planted share of evidence."""

import math

import msgspec
import pytest

from subjects import evidenced
from subjects.evidenced import (
    INSIDE,
    estimate,
    examine_all,
    frames,
    fuser,
    half_fuser,
    item,
    n_seen,
    said_by,
    sheet,
    value,
)
from subjects.simulated import Simulated, drive, times_shown
from vidence.contracts import Examined, View
from vidence.explain.diagnostics.conditions import PLAN
from vidence.explain.diagnostics.selector_gap import ORACLE, TEXT, recall
from vidence.records import Evidence, Media, Reply

SELECTORS = {"selectors": "good|poor"}


def diagnostic(**options):
    return evidenced.diagnostic("selector-gap", options)


def examined(items, views, parser, **options):
    return examine_all(diagnostic(**options), items, views, parser)


def said(found, **options):
    return said_by(diagnostic(**options), found)


def forgetful(asked, ask):
    """Sees everything that is shown, and puts nothing together."""
    return False


def views(number):
    """The plan finds all in 2 of 10 questions, ``good`` in 7, ``poor`` never; the evidence always."""
    return {
        PLAN: frames(3 if number % 10 < 2 else 1),
        "good": frames(3 if number % 10 < 7 else 2),
        "poor": frames(0),
        ORACLE: INSIDE,
    }


def test_everything_is_shown_with_one_budget():
    one = diagnostic(selectors="aks:clip:W|bolt:clip:W?power=3")
    found = one.views(selector="midpoints", n_frames=16)
    assert found == {
        PLAN: View(selector="midpoints", n_frames=16),
        "aks:clip:W": View(selector="aks:clip:W", n_frames=16),
        "bolt:clip:W?power=3": View(selector="bolt:clip:W?power=3", n_frames=16),
        ORACLE: View(selector="evidence", n_frames=16),
    }
    other = diagnostic(base="fps:1", oracle="oracle").views(selector="midpoints", n_frames=8)
    assert [view.selector for view in other.values()] == ["fps:1", "oracle"]
    assert one.models() == {}


def test_all_frames_of_a_question_are_asked_together():
    driven = drive(diagnostic(**SELECTORS).examine(Simulated(item(), views(9))), lambda ask: Reply(text="A"))
    assert len(driven.rounds) == 1
    shown = [times_shown(ask) for ask in driven.asks]
    assert shown == [frames(1), frames(2), frames(0), INSIDE, ()]
    assert driven.made.recall == {PLAN: 1 / 3, "good": 2 / 3, "poor": 0.0, ORACLE: 1.0}
    assert driven.made.n_frames == {PLAN: 3, "good": 3, "poor": 3, ORACLE: 3}
    assert driven.made.n_pieces == 3
    without = drive(
        diagnostic(blind="false").examine(Simulated(item(), views(0))), lambda ask: Reply(text="A")
    )
    assert [times_shown(ask) for ask in without.asks] == [frames(3), INSIDE]
    assert TEXT not in without.made.marks
    subject = Simulated(item(), {PLAN: (9.9, 19.9, 29.9), ORACLE: INSIDE})
    for slack, share in (("0", 0.0), ("0.2", 1.0)):
        slow = drive(diagnostic(slack_s=slack).examine(subject), lambda ask: Reply(text="A"))
        assert slow.made.recall[PLAN] == share


@pytest.mark.parametrize(
    ("spans", "times", "slack", "share"),
    [
        ([(1.0, 2.0), (5.0, 6.0)], [1.0, 2.0, 4.9], 0.0, 0.5),
        ([(1.0, 2.0), (5.0, 6.0)], [1.0, 4.9], 0.2, 1.0),
        ([(1.0, 2.0)], [2.0], 0.0, 0.0),
        ([(1.0, 2.0)], [2.0], 0.1, 1.0),
        ([(None, 2.0), (5.0, None)], [0.0, 90.0], 0.0, 1.0),
        ([(None, 2.0), (5.0, None)], [3.0], 0.0, 0.0),
        ([(1.0, 2.0)], [], 0.0, 0.0),
        ([(None, None)], [1.0], 0.0, None),
        ([], [1.0], 0.0, None),
    ],
)
def test_recall_counts_the_spans_that_have_a_frame(spans, times, slack, share):
    evidence = tuple(Evidence(start_s=start, end_s=end) for start, end in spans)
    asked = msgspec.structs.replace(item(), evidence=evidence)
    assert recall(asked, times, slack_s=slack) == share
    listed = msgspec.structs.replace(asked, evidence=(Evidence(frames=(3, 4)),))
    several = msgspec.structs.replace(asked, media=(Media(path="a"), Media(path="b")))
    assert recall(listed, [1.0]) is recall(several, [1.0]) is None


def test_a_fuser_loses_only_in_retrieval():
    items = [item(n) for n in range(200)]
    found = said(examined(items, views, fuser, **SELECTORS), **SELECTORS)
    gaps = {PLAN: 0.8, "good": 0.3, "poor": 1.0}
    for name, gap in gaps.items():
        assert value(found, "selector-gap", name, "retrieval") == pytest.approx(gap)
        assert value(found, "selector-gap", name, "loss") == pytest.approx(gap)
        assert value(found, "selector-gap", name, "fusion") == 0.0
        assert value(found, "selector-gap", name, "retrieval_share") == 1.0
        assert value(found, "selector-gap", name, "p_holm") < 0.001
        assert value(found, "lost", name, "retrieval") == pytest.approx(gap)
        assert value(found, "lost", name, "fusion") == 0.0
    assert value(found, "selector-gap", ORACLE, "accuracy") == 1.0
    good = {"recall": 0.7 + 0.3 * 2 / 3, "all": 0.7, "accuracy_all": 1, "accuracy_part": 0, "gap_all": 0}
    for key, expected in (good | {"gap_part": 1}).items():
        assert value(found, "recall", "good", key) == pytest.approx(expected), key
    assert sheet(found, "recall").value("poor", "accuracy_all") is None
    assert sheet(found, "recall").value(ORACLE, "gap_all") is None
    assert sheet(found, "selector-gap").value(ORACLE, "retrieval") is None
    assert value(found, "selector-gap", TEXT, "accuracy") == 0.0
    assert sheet(found, "selector-gap").value(TEXT, "fusion") is None


def test_who_fuses_nothing_loses_only_in_fusion():
    found = said(examined([item(n) for n in range(40)], views, forgetful, **SELECTORS), **SELECTORS)
    for name in (PLAN, "good", "poor"):
        assert value(found, "selector-gap", name, "retrieval") == 0.0
        assert value(found, "selector-gap", name, "fusion") == 1.0
        assert value(found, "selector-gap", name, "retrieval_share") == 0.0
        assert value(found, "selector-gap", name, "p_holm") == 1.0
        assert value(found, "lost", name, "fusion") == 1.0


def test_both_gaps_are_recovered_and_add_up():
    # Half of the questions are fused; what a selector finds does not depend on which half.
    items = [item(n) for n in range(400)]
    found = said(examined(items, views, half_fuser, **SELECTORS), **SELECTORS)
    for name, share_found in {PLAN: 0.2, "good": 0.7, "poor": 0.0}.items():
        accuracy = value(found, "selector-gap", name, "accuracy")
        assert accuracy == pytest.approx(share_found / 2, abs=1e-9)
        retrieval, fusion = (value(found, "selector-gap", name, key) for key in ("retrieval", "fusion"))
        assert retrieval == pytest.approx((1 - share_found) / 2)
        assert fusion == pytest.approx(0.5)
        assert value(found, "selector-gap", name, "loss") == pytest.approx(retrieval + fusion)
        lost = [value(found, "lost", name, key) for key in ("right", "retrieval", "fusion", "other")]
        assert lost == pytest.approx([share_found / 2, (1 - share_found) / 2, 0.5, 0.0])
    interval = estimate(found, "selector-gap", "good", "retrieval")
    assert interval.low < 0.15 < interval.high
    assert (interval.n, interval.n_clusters) == (400, 200)


def test_right_without_the_evidence_makes_the_gap_negative():
    def contrary(asked, ask):
        return n_seen(ask) == 1

    def shown(number):
        return {PLAN: frames(1), ORACLE: INSIDE}

    found = said(examined([item(n) for n in range(8)], shown, contrary))
    assert value(found, "selector-gap", PLAN, "retrieval") == -1.0
    assert value(found, "lost", PLAN, "other") == 1.0
    # Nothing is lost, so there is nothing to share out.
    assert math.isnan(value(found, "selector-gap", PLAN, "retrieval_share"))


def test_tags_part_the_questions():
    items = [item(n, kind="fused" if n % 4 < 2 else "not") for n in range(40)]
    found = said(examined(items, views, half_fuser, **SELECTORS), **SELECTORS)
    assert value(found, "selector-gap:kind", "fused", "fusion") == 0.0
    assert value(found, "selector-gap:kind", "not", "fusion") == 1.0
    assert value(found, "selector-gap:kind", "fused", "retrieval:poor") == 1.0
    assert value(found, "selector-gap:kind", "not", "retrieval:poor") == 0.0
    assert value(found, "selector-gap:kind", "fused", "evidence-frames") == 1.0


def one_of_three(number):
    return {PLAN: frames(1), ORACLE: INSIDE}


def test_without_evidence_a_question_can_be_skipped():
    asked = [item(0), item(1, has_evidence=False)]
    found = examined(asked, one_of_three, fuser, missing="skip")
    assert found[1].finding.marks == {}
    headline = sheet(said(found, missing="skip"), "selector-gap")
    assert headline.value(PLAN, "questions") == 1
    assert "1 were not asked" in headline.note


def test_without_evidence_the_frames_of_the_plan_can_stand_in():
    asked = [item(0), item(1, has_evidence=False)]

    def shown(number):
        found = {PLAN: frames(1), ORACLE: INSIDE}
        return found if number == 0 else {PLAN: frames(1)}

    found = examined(asked, shown, fuser, missing="fill")
    assert found[1].finding.is_filled
    assert found[1].finding.marks[ORACLE] == found[1].finding.marks[PLAN]
    statements = said(found, missing="fill")
    assert value(statements, "selector-gap", PLAN, "retrieval") == 0.5
    assert "1 questions have no evidence" in sheet(statements, "selector-gap").note
    # It has no recall either, even where a recall was measured.
    assert value(statements, "recall", PLAN, "questions") == 1
    filled = msgspec.structs.replace(found[1].finding, recall=found[0].finding.recall)
    statements = said([found[0], Examined(item=asked[1], finding=filled)], missing="fill")
    assert value(statements, "recall", PLAN, "questions") == 1


def test_shares_end_at_nothing_and_everything_and_gaps_do_not():
    # One of ten questions on five videos is lost: Student's t reaches beyond both ends.
    def shown(number):
        return {PLAN: frames(0 if number == 0 else 3), ORACLE: INSIDE}

    items = [item(n, kind="odd" if n % 2 else "even") for n in range(20)]
    found = said(examined(items, shown, fuser))
    recall = estimate(found, "recall", PLAN, "recall")
    assert recall.value == 0.95
    assert 0.5 < recall.low < recall.high < 1
    gap = estimate(found, "selector-gap:kind", "even", "retrieval:plan")
    assert gap.value == 0.1
    assert gap.low < 0
