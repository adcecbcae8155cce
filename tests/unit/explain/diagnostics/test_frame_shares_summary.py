"""What the shares of many questions say together."""

import pytest

from subjects.evidenced import diagnostic, said_by, sheet
from vidence.contracts import Examined
from vidence.explain.diagnostics.frame_shares import FrameSharesFinding
from vidence.records import Estimate, Failed, Item, Media
from vidence.tables.charts import Violins


def item(number):
    media = (Media(path=f"v{number % 5}.mp4"),)
    return Item(item_id=f"q{number}", media=media, question="?", choices=("a", "b"), answer="A")


def shared(*shares, right=True, entropy=0.5):
    return FrameSharesFinding(
        is_right=right, chosen="A", shares=shares, top_share=max(shares), entropy=entropy
    )


def summary(*findings):
    examined = [Examined(item=item(i), finding=one) for i, one in enumerate(findings)]
    return said_by(diagnostic("frame-shares", {}), examined)


def number(value):
    return value.value if isinstance(value, Estimate) else float(value)


MIXED = (
    shared(0.5, 0.3, 0.2, entropy=0.9),
    shared(0.4, 0.6, entropy=0.97),
    shared(0.8, 0.2, right=False, entropy=0.7),
    shared(1.0, 0.0, 0.0, 0.0, right=False, entropy=0.0),
    FrameSharesFinding(excluded="no positive evidence", is_right=True, n_floored=2),
    FrameSharesFinding(excluded="fewer than two frames"),
    Failed(stage="model", error="X", message="gone"),
)


def test_right_and_wrong_answers_are_compared():
    said = summary(*MIXED)
    assert next(iter(said)) == "frame-shares"
    head = sheet(said, "frame-shares")
    assert number(head.value("all", "top")) == pytest.approx((0.5 + 0.6 + 0.8 + 1) / 4)
    assert number(head.value("right", "top")) == pytest.approx(0.55)
    assert number(head.value("wrong", "top")) == pytest.approx(0.9)
    assert number(head.value("right", "even")) == pytest.approx((1 / 3 + 1 / 2) / 2)
    assert number(head.value("wrong", "frames")) == 3
    # (0.5 - 1/3) / (2/3) = 0.25 and (0.6 - 0.5) / 0.5 = 0.2
    assert number(head.value("right", "beyond-even")) == pytest.approx(0.225)
    assert [e.values[-2] for e in head.rows] == [4, 2, 2]
    # One has deltas and none of them positive: it was answered right, and is in no mean.
    assert [e.values[-1] for e in head.rows] == [1, 1, 0]
    assert "compared against a placebo alone" in head.note
    assert "Noise alone gives some frame a large share, too" in head.note
    assert "0.5 for right" in head.note
    violins = said["top-1 share"]
    assert isinstance(violins, Violins)
    groups = {g.label: g.values for g in violins.groups}
    assert groups == {"answered right": (0.5, 0.6), "answered wrong": (0.8, 1.0)}


def test_what_was_left_out_is_counted():
    left_out = sheet(summary(*MIXED), "questions")
    counts = {e.key: e.values[1] for e in left_out.rows if e.values[1]}
    one_each = ("no positive evidence", "fewer than two frames", "failed", "floored")
    assert counts == {"used": 4} | dict.fromkeys(one_each, 1)
    assert number(left_out.value("failed", "share")) == pytest.approx(1 / 7)


def test_one_group_alone_has_no_difference():
    said = summary(*MIXED[:2])
    head = sheet(said, "frame-shares")
    assert [e.key for e in head.rows] == ["all", "right", "wrong"]
    assert head.value("wrong", "top") is None
    violins = said["top-1 share"]
    assert isinstance(violins, Violins)
    assert [g.label for g in violins.groups] == ["answered right"]
