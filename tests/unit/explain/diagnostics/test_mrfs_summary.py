"""What the demands of many questions say together."""

import random

import msgspec
import numpy as np
import pytest

from subjects import evidenced
from subjects.evidenced import said_by, sheet
from subjects.simulated import Simulated, drive, times_shown
from vidence.contracts import Examined
from vidence.explain.diagnostics.mrfs import MrfsFinding
from vidence.records import Estimate, Failed, Item, Media, Reply
from vidence.tables.table import Table

MODES = ("nested-bisect", "exhaustive", "official")


def diagnostic(**options):
    return evidenced.diagnostic("mrfs", options)


def finding(k, *, text=False, n=16, full=None):
    """What an exhaustive search over `n` frames finds where `k` are enough (None: none is)."""
    right = {i: k is not None and i >= k for i in range(1, n + 1)} | {0: text}
    if full is not None:
        right[n] = full
    category = "text-only" if text else "visual-required" if right[n] else "undefined"
    number = 0 if text else k if right[n] else None
    return MrfsFinding(category=category, mrfs=number, right=right, asked=(0, 16), n_delivered=n)


def item(number, task="TSO", benchmark=""):
    media, tags = (Media(path=f"v{number % 4}.mp4"),), {"task": task, "id": str(number)}
    names = {"item_id": f"q{number}", "benchmark": benchmark}
    return Item(**names, question="?", answer="A", choices=("a", "b"), media=media, tags=tags)


def summary(all_of, **options):
    return said_by(diagnostic(**options), all_of)


def number(value):
    return value.value if isinstance(value, Estimate) else float(value)


def of_run(all_of, *, model, **options):
    made = diagnostic(**options)
    said = made.of_run(model=model, selector="midpoints").summarise(
        all_of, rng=np.random.default_rng(0), level=0.95
    )
    return next(one for one in said if isinstance(one, Table) and one.name == "mrfs")


MIXED = [
    Examined(item=item(0, "TSO"), finding=finding(9)),
    Examined(item=item(1, "TSO"), finding=finding(11)),
    Examined(item=item(2, "AC"), finding=finding(4)),
    Examined(item=item(3, "AC"), finding=finding(None)),
    Examined(item=item(4, "AC"), finding=finding(2, text=True)),
    Examined(item=item(5, "AC"), finding=finding(3, full=False)),
    Examined(item=item(6, "TSO"), finding=finding(5, text=True, full=False)),
    Examined(item=item(7, "TSO"), finding=Failed(stage="model", error="X", message="gone")),
]


def test_means_are_over_the_questions_that_need_frames():
    said = summary(MIXED, mode="exhaustive")
    assert next(iter(said)) == "mrfs"
    head = sheet(said, "mrfs")
    assert number(head.value("all", "mean")) == pytest.approx((9 + 11 + 4) / 3)
    assert number(head.value("all", "restricted")) == pytest.approx((9 + 11 + 4 + 17 + 17) / 5)
    assert head.value("all", "median") is None
    assert "No quantiles of fewer than 10 questions." in head.note
    assert head.value("all", "n") == 3
    # With all frames: q0, q1, q2 and q4 right; q3, q5 and q6 wrong; q7 is not known.
    assert number(head.value("all", "accuracy")) == pytest.approx(4 / 7)
    mean = head.value("all", "mean")
    assert mean.n_clusters == 3
    assert mean.low < mean.value < mean.high


def test_categories_are_shares_of_all_questions():
    categories = sheet(summary(MIXED), "categories")
    shares = {entry.key: (number(entry.values[0]), entry.values[1]) for entry in categories.rows}
    needs = {"text-only": (0.25, 2), "visual-required": (0.375, 3)}
    assert shares == needs | {"undefined": (0.25, 2), "error": (0.125, 1)}
    heights = {point.x: point.y.value for point in summary(MIXED)["distribution"].series[0].points}
    assert (min(heights), max(heights), sum(heights.values())) == (1.0, 16.0, pytest.approx(1))
    assert {x for x, y in heights.items() if y} == {4.0, 9.0, 11.0}
    ten = [Examined(item=item(i), finding=finding(k)) for i, k in enumerate((1, 2, 2, 3, 4, 6, 8, 8, 9, 16))]
    head = sheet(summary(ten), "mrfs")
    assert [head.value("all", key) for key in ("q25", "median", "q75")] == [2.25, 5, 8]
    assert "No quantiles" not in head.note
    assert sheet(summary(ten[:9]), "mrfs").value("all", "median") is None
    assert categories.note == "Most frequent error (1 times): gone"


def test_each_tag_has_its_table_and_its_figure():
    said = summary(MIXED)
    tasks = sheet(said, "by task")
    assert [e.key for e in tasks.rows] == ["AC", "TSO"]
    assert number(tasks.value("AC", "mean")) == 4
    assert number(tasks.value("AC", "restricted")) == pytest.approx((4 + 17 + 17) / 3)
    assert number(tasks.value("AC", "undefined")) == 0.5
    assert number(tasks.value("TSO", "accuracy")) == pytest.approx(2 / 3)
    figure = said["accuracy by task"]
    dots = {dot.label: (dot.x.value, dot.y.value) for dot in figure.dots}
    assert dots == {"AC": (4, 0.5), "TSO": (10, pytest.approx(2 / 3)), "all": (8, pytest.approx(4 / 7))}


def test_tags_with_one_value_or_too_many_have_no_table():
    same = [Examined(item=item(i), finding=finding(2)) for i in range(41)]
    assert not [name for name in summary(same) if name.startswith("by ")]
    fewer = summary(same[:40])
    assert [name for name in fewer if name.startswith("by ")] == ["by id"]
    assert [e.key for e in sheet(fewer, "by id").rows[:3]] == ["0", "1", "2"]


def test_what_the_search_met_is_counted():
    findings = [
        msgspec.structs.replace(finding(4), is_monotone=False, is_changed=True),
        msgspec.structs.replace(finding(4), is_monotone=True, is_changed=False, asked=(0, 16, 8, 4)),
        msgspec.structs.replace(finding(2, n=3), is_changed=False),
        finding(3, full=False),
        finding(5, text=True, full=False),
    ]
    met = sheet(summary([Examined(item=item(i), finding=f) for i, f in enumerate(findings)]), "search")
    counts = {entry.key: entry.values[1:3] for entry in met.rows}
    search = {"asks": (None, 5), "not-monotone": (1, 2), "lost": (2, 5), "misled": (1, 5)}
    assert counts == search | {"short": (1, 5), "changed": (1, 3), "failed": (0, 5)}
    assert number(met.value("changed", "share")) == pytest.approx(1 / 3)
    assert number(met.value("asks", "asks")) == pytest.approx((2 + 4 + 2 + 2 + 2) / 5)
    failed = [
        msgspec.structs.replace(finding(6), right=finding(6).right | dict.fromkeys(gone))
        for gone in ((4,), (3, 4), ())
    ]
    met = sheet(summary([Examined(item=item(i), finding=f) for i, f in enumerate(failed)]), "search")
    assert met.row("failed").values[1:3] == (2, 3)
    assert met.row("failed").detail == "3 probes in all"


def test_the_heading_says_definition_mode_ranking_and_orders():
    note = sheet(summary(MIXED), "mrfs").note
    assert "As HERBench defines it: luck counts as demand." in note
    assert "Mode nested-bisect, x = 16 frames, ranked by the selector of the plan." in note
    stricter = sheet(summary(MIXED, selector="aks:blip-itm", orders="3"), "mrfs").note
    assert "ranked by aks:blip-itm. Right only where 3 rotations of the choices are" in stricter
    assert "As HERBench defines it" not in stricter


def test_herbench_is_told_what_its_paper_prints():
    all_of = [Examined(item=item(0, benchmark="herbench"), finding=finding(3))]
    assert "5.49" not in sheet(summary(MIXED), "mrfs").note
    standard = {"protocol": "herbench-standard", "selector": "aks:blip-itm:W?mode=official"}
    ours = of_run(all_of, model="vllm:Qwen/Qwen2.5-VL-7B-Instruct", **standard)
    assert "HERBench prints 5.49 (Qwen2.5-VL, aks:blip-itm, x = 16)." in ours.note
    assert ours.title == (
        "Minimum required frames (MRFS), ranked by aks:blip-itm:W?mode=official (herbench-standard)"
    )
    other = of_run(all_of, model="openai:gpt-5", max="8", orders="2", text_only="false")
    assert (
        "HERBench's 5.49 (Qwen2.5-VL, aks:blip-itm, x = 16) is not set beside this mean, since it has the "
        "model openai:gpt-5 (expected Qwen2.5-VL); the ranking midpoints (expected aks:blip-itm); x = 8 "
        "(expected 16); orders=2 (expected 1); text_only=false (expected true)."
    ) in other.note
    assert other.title.endswith(", ranked by midpoints")
    unknown = sheet(summary(all_of), "mrfs")
    assert "a model that is not known here; the ranking of an unknown selector" in unknown.note
    assert "those right without frames were not" in str(summary(MIXED, mode="official"))


@pytest.mark.parametrize("mode", MODES)
def test_the_mean_over_planted_demands_is_the_planted_mean(mode):
    found = []
    for demand in range(1, 9):
        for video in range(2):
            times = random.Random(video).sample(range(16), 16)
            needed = frozenset(times[:demand])
            subject = Simulated(item(demand * 2 + video, task=str(demand)), {"ranked": tuple(times)})

            def fuser(ask, needed=needed):
                return Reply(text="A" if needed <= set(times_shown(ask)) else "B")

            made = drive(diagnostic(mode=mode).examine(subject), fuser).made
            found.append(Examined(item=subject.item, finding=made))
    said = summary(found, mode=mode)
    for demand in range(1, 9):
        assert number(sheet(said, "by task").value(str(demand), "mean")) == demand
    assert number(sheet(said, "mrfs").value("all", "mean")) == 4.5


def test_the_interval_of_a_mean_demand_ends_at_one_frame_and_at_all_of_them():
    few = [Examined(item=item(i), finding=finding(k)) for i, k in enumerate((1, 1, 14))]  # three videos
    said = summary(few)
    mean = sheet(said, "mrfs").value("all", "mean")
    assert mean.value == pytest.approx(16 / 3)
    # Student's t alone would say -13.3 to 24.0.
    assert (mean.low, mean.high) == pytest.approx((1.317, 14.264), abs=0.01)
