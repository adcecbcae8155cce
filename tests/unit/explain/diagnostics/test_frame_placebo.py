"""Which frames are the evidence, and what they do against a placebo where that is planted."""

import math

import msgspec
import numpy as np
import pytest

from conftest import IS_THOROUGH
from subjects.simulated import Simulated, drive, times_shown
from vidence import catalog
from vidence.contracts import Examined
from vidence.errors import UsageError
from vidence.explain.diagnostics.frame_placebo import (
    PlaceboDeltas,
    evidence_positions,
    placebo_positions,
    stills_of,
    top_share,
)
from vidence.explain.diagnostics.frame_shares import FrameSharesFinding
from vidence.records import Estimate, Evidence, Item, Media, Reply
from vidence.tables.table import Table

EVIDENCE = (5.0, 25.0, 45.0)
APART = (14.0, 34.0, 54.0)


def item(number=0):
    spans = tuple(Evidence(start_s=t - 5, end_s=t + 5) for t in EVIDENCE)
    media = (Media(path=f"v{number // 5}.mp4"),)
    return Item(
        item_id=f"q{number}", media=media, question="?", choices=tuple("vwxyz"), answer="C", evidence=spans
    )


def diagnostic(**options):
    spec = catalog.Spec(name="frame-shares", options={"placebo": "n", **options})
    return catalog.create("diagnostic", spec)


def measured(answers, *, number=0, apart=APART, **options):
    views = {"frames": EVIDENCE, "placebo": tuple(sorted((*EVIDENCE, *apart)))}
    return drive(diagnostic(**options).examine(Simulated(item(number), views)), answers)


def reader(worth, noise, rng):
    """Each frame of the evidence adds so many nats to the logit of C; noise comes with every prompt."""

    def answers(ask):
        shown = times_shown(ask)
        logit = 3.0 - sum(worth) + sum(w for t, w in zip(EVIDENCE, worth, strict=True) if t in shown)
        logit += noise * float(rng.standard_normal())
        logits = np.array([0.0, 0.0, logit, 0.0, 0.0])
        logps = logits - np.log(np.exp(logits).sum())
        return Reply(text="C", choice_logps=dict(zip("ABCDE", logps.tolist(), strict=True)))

    return answers


def table_of(found):
    said = diagnostic().summarise(found, rng=np.random.default_rng(0), level=0.95)
    (table,) = (one for one in said if isinstance(one, Table) and one.name == "placebo")
    return table


def planted(worth, noise, n=400 if IS_THOROUGH else 150):
    rng = np.random.default_rng(4)
    return table_of(
        [Examined(item=item(i), finding=measured(reader(worth, noise, rng), number=i).made) for i in range(n)]
    )


def number(table, column, row="all"):
    value = table.value(row, column)
    return value.value if isinstance(value, Estimate) else float(value)


# Independent noise on the logit, three frames: top-1 share.
@pytest.mark.parametrize(
    ("worth", "noise", "top"),
    [((0, 0, 0), 0.3, 0.75), ((0, 0, 0), 1.0, 0.74), ((1, 1, 1), 0.3, 0.43), ((2, 0, 0), 0.3, 0.88)],
)
def test_what_is_planted_is_recovered(worth, noise, top):
    table = planted(worth, noise)
    assert number(table, "top") == pytest.approx(top, abs=0.05)
    assert number(table, "floor") == pytest.approx(0.75, abs=0.06)
    beyond, effect = table.value("all", "beyond"), table.value("all", "effect")
    if not any(worth):
        assert beyond.low < 0 < beyond.high
        assert effect.low < 0 < effect.high
        assert float(table.value("all", "p_holm")) > 0.05
    else:
        assert effect.low > 0.05
        assert (beyond.low > 0) == (worth == (2, 0, 0))


def test_an_evidence_that_does_nothing_is_seldom_said_to_do_something():
    rng, n_clear, n = np.random.default_rng(6), 0, 40 if IS_THOROUGH else 15
    for _ in range(n):
        deltas = rng.standard_normal((50, 6)) + rng.standard_normal((50, 1))
        halves = [(tuple(row[:3].tolist()), tuple(row[3:].tolist())) for row in deltas]
        findings = [
            FrameSharesFinding(is_right=True, deltas=a, beside_deltas=a, placebo_deltas=b) for a, b in halves
        ]
        found = [Examined(item=item(i), finding=one) for i, one in enumerate(findings)]
        effect = table_of(found).value("all", "effect")
        n_clear += not effect.low < 0 < effect.high
    assert n_clear <= 0.15 * n  # expected 0.05 n


def null_finding(rng, n_frames=3):
    """A model to which no frame matters: noise on every letter of every prompt, the likeliest is followed."""

    def deltas(logps, chosen, frames):
        return tuple(float(logps[0][chosen] - logps[1 + i][chosen]) for i in frames)

    def prompts(n):
        logits = rng.standard_normal((n, 5)) + np.array([0, 0, 1.0, 0, 0])
        return logits - np.log(np.exp(logits).sum(axis=1, keepdims=True))

    alone, beside = prompts(1 + n_frames), prompts(1 + 2 * n_frames)
    first, second = int(alone[0].argmax()), int(beside[0].argmax())
    frames = range(n_frames)
    plain = deltas(alone, first, frames)
    return FrameSharesFinding(
        is_right=first == 2,
        deltas=plain,
        shares=(0.5, 0.5),
        top_share=top_share(plain),
        beside_deltas=deltas(beside, second, frames),
        placebo_deltas=deltas(beside, second, range(n_frames, 2 * n_frames)),
    )


def test_right_less_wrong_holds_0_where_no_frame_matters():
    rng, n, held = np.random.default_rng(3), 200 if IS_THOROUGH else 60, {"beyond": 0, "effect": 0}
    for _ in range(n):
        found = [Examined(item=item(i), finding=null_finding(rng)) for i in range(200)]
        table = table_of(found)
        for key in held:
            difference = table.value("difference", key)
            held[key] += difference.low <= 0 <= difference.high
    assert min(held.values()) >= 0.87 * n  # expected 0.95 n


def test_few_wrong_answers_are_not_compared():
    rng = np.random.default_rng(0)
    found = [Examined(item=item(i), finding=null_finding(rng)) for i in range(30)]
    table = table_of(found)
    assert "difference" not in {row.key for row in table.rows}
    assert "Fewer than 20 right or wrong answers" in table.note


def test_the_placebo_is_asked_behind_the_frames_alone():
    driven = measured(reader((1, 1, 1), 0.0, np.random.default_rng(0)))
    assert [len(one) for one in driven.rounds] == [4, 7]
    every = tuple(sorted((*EVIDENCE, *APART)))
    assert times_shown(driven.rounds[1][0]) == every
    left_out = [set(every) - set(times_shown(ask)) for ask in driven.rounds[1][1:]]
    assert left_out == [{t} for t in (*EVIDENCE, *APART)]
    made = driven.made
    assert len(made.beside_deltas) == len(made.placebo_deltas) == 3
    assert made.placebo_deltas == pytest.approx((0, 0, 0))
    assert all(delta > 0 for delta in made.beside_deltas)
    assert made.placebo_why == ""


def test_the_figures_without_a_placebo_are_as_before():
    answers = reader((1, 1, 1), 0.0, np.random.default_rng(0))
    plain = drive(
        catalog.create("diagnostic", "frame-shares").examine(Simulated(item(), {"frames": EVIDENCE})), answers
    ).made
    beside = measured(answers).made
    assert (plain.shares, plain.deltas, plain.top_share) == (beside.shares, beside.deltas, beside.top_share)
    assert plain.placebo_deltas == ()


def test_where_fewer_frames_lie_apart_there_is_no_floor_and_it_is_said():
    answers = reader((1, 1, 1), 0.3, np.random.default_rng(1))
    found = [
        Examined(item=item(i), finding=measured(answers, number=i, apart=APART[:1]).made) for i in range(12)
    ]
    table = table_of(found)
    assert table.value("all", "floor") is None
    assert number(table, "effect") > 0.2
    assert "12 questions have fewer frames apart than evidence, and no floor." in table.note


def test_where_no_frame_lies_apart_that_is_the_reason():
    answers = reader((1, 1, 1), 0.3, np.random.default_rng(1))
    driven = measured(answers, apart=())
    assert driven.made.placebo_deltas == ()
    assert driven.made.placebo_why == "no frame lies apart from the evidence"
    assert len(driven.rounds) == 1
    without = Simulated(item(), {"frames": EVIDENCE, "placebo": ()})
    assert drive(diagnostic().examine(without), answers).made.placebo_why == "the evidence is not in its view"
    said = diagnostic().summarise(
        [Examined(item=item(), finding=driven.made)], rng=np.random.default_rng(0), level=0.95
    )
    assert "placebo" not in {one.name for one in said}


def test_a_model_without_log_probabilities_beside_the_placebo_says_why():
    def answers(ask):
        known = reader((1, 1, 1), 0.0, np.random.default_rng(0))(ask)
        return known if not set(times_shown(ask)) & set(APART) else Reply(text="C")

    found = measured(answers).made
    assert found.top_share is not None
    assert found.placebo_why.startswith("no log-probabilities: ")


def beside(evidence, placebo):
    return PlaceboDeltas(
        item=item(), is_right=True, evidence=tuple(evidence), placebo=tuple(placebo), alone=tuple(evidence)
    )


def test_shares_of_positive_deltas():
    assert top_share((1.0, 3.0, -5.0)) == 0.75
    assert top_share((0.0, -1.0)) is None
    assert not math.isnan(beside((1, 2), (0, 1)).effect)


@pytest.mark.parametrize("view", ["ranked", "plan"])
def test_a_placebo_of_other_frames_than_the_evidence_is_refused(view):
    with pytest.raises(UsageError, match=f"placebo=n with view={view}"):
        diagnostic(view=view)
    with pytest.raises(UsageError, match="expected one of"):
        diagnostic(placebo="yes")
    views = diagnostic(n="4").views(selector="midpoints", n_frames=8)
    assert (views["placebo"].selector, views["placebo"].n_frames) == ("evidence-apart", 8)


def asked_for(n_spans, **changes):
    """A question with spans of ten seconds."""
    spans = tuple(Evidence(start_s=20.0 * i, end_s=20.0 * i + 10) for i in range(n_spans))
    item = Item(item_id="q1", question="?", choices=tuple("vwxyz"), answer="C", evidence=spans)
    return msgspec.structs.replace(item, **changes)


def test_spans_that_overlap_give_different_frames():
    spans = (Evidence(start_s=0.0, end_s=10.0), Evidence(start_s=0.0, end_s=10.0))
    item = asked_for(0, evidence=spans)
    assert evidence_positions(item, (4.0, 5.0, 6.0)) == [0, 1]
    assert evidence_positions(item, (5.0,)) == [0]


def test_a_span_shorter_than_a_frame_has_the_one_on_screen():
    item = asked_for(0, evidence=(Evidence(start_s=3.2, end_s=3.3), Evidence(start_s=8.0, end_s=9.0)))
    assert evidence_positions(item, (1.0, 3.0, 4.0, 8.5)) == [1, 3]
    # At its very start, too, and the latest of those before it.
    item = asked_for(0, evidence=(Evidence(start_s=3.0, end_s=3.0),))
    assert evidence_positions(item, (1.0, 2.0, 3.0, 4.0)) == [2]
    assert evidence_positions(item, (1.0, 2.0, 3.5, 4.0)) == [1]
    # The frame before belongs to another span: nothing is taken twice or from elsewhere.
    item = asked_for(0, evidence=(Evidence(start_s=2.0, end_s=4.0), Evidence(start_s=5.0, end_s=5.1)))
    assert evidence_positions(item, (3.0, 6.0)) == [0]


def test_open_ends_and_listed_frames():
    item = asked_for(0, evidence=(Evidence(end_s=10.0), Evidence(start_s=20.0)))
    assert evidence_positions(item, (2.0, 5.0, 8.0, 20.0, 26.0, 30.0)) == [1, 4]
    listed = asked_for(0, evidence=(Evidence(frames=(3, 5)), Evidence(note="?")))
    assert evidence_positions(listed, (7.0, 3.0)) == [1, 0]


@pytest.mark.parametrize(
    ("kinds", "times", "kept"),
    [
        (("image", "video"), (0.0, 0.0, 4.0, 9.0, 22.0), [0, 2, 4]),
        (("video", "image"), (0.0, 4.0, 9.0, 22.0, 23.0), [1, 3, 4]),
        (("image", "frames", "image", "image"), (0.0, 4.0, 22.0, 23.0, 23.0), [0, 1, 2, 3, 4]),
        (("image", "image"), (0.0, 0.0), [0, 1]),
    ],
)
def test_single_images_beside_the_video_are_evidence(kinds, times, kept):
    """A picture at 0 s or behind the video lies in no span, though its time does."""
    media = tuple(Media(path=f"m{i}", kind=kind) for i, kind in enumerate(kinds))
    assert evidence_positions(asked_for(2, media=media), times) == kept
    assert stills_of(asked_for(2, media=media), len(times)) <= set(kept)


def test_frames_apart_are_as_many_as_those_of_the_evidence_and_spread():
    item, times = asked_for(2), (4.0, 12.0, 14.0, 16.0, 26.0, 40.0, 50.0)
    evidence, apart = placebo_positions(item, (4.0, 26.0), times)
    assert (evidence, apart) == ([0, 4], [2, 5])
    assert evidence_positions(item, (14.0, 1.0, 4.0, 9.0, 22.0, 26.0)) == [2, 5]  # nearest to each middle
    beside = asked_for(2, media=(Media(path="a", kind="image"), Media(path="b")))  # images are no placebo
    positions = placebo_positions(beside, (0.0, 4.0, 26.0), (0.0, 0.0, 4.0, 14.0, 26.0, 40.0))
    assert positions == ([0, 2, 4], [3, 5])


def test_frames_of_the_evidence_that_are_not_shown_are_no_placebo():
    item, times = asked_for(2), (4.0, 8.0, 26.0, 40.0)
    assert placebo_positions(item, (4.0, 26.0), times) == ([0, 2], [3])
    assert placebo_positions(item, (4.0, 26.0), (4.0, 8.0, 26.0)) == ([0, 2], [])
    assert placebo_positions(item, (4.0, 26.0), (12.0, 40.0)) == ([], [])


def test_the_effect_is_what_the_evidence_costs_beyond_the_placebo():
    deltas = PlaceboDeltas(item=item(), is_right=True, evidence=(3.0, 2.0), placebo=(1.0, 0.0), alone=(1.0,))
    assert (deltas.effect, deltas.is_matched) == (2.0, True)
