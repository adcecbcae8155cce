"""Curves over frames and thinking, against models whose curves are planted."""

import msgspec
import numpy as np
import pytest

from conftest import IS_THOROUGH
from subjects import evidenced
from subjects.evidenced import estimate, reply, said_by, sheet, value
from subjects.simulated import Simulated, drive, times_shown
from vidence.contracts import Examined, View
from vidence.errors import UsageError
from vidence.explain.diagnostics.budgets import doublings
from vidence.records import Evidence, Failed, Item, Media, Reply, Usage
from vidence.tables.charts import Chart

FRAMES = (8, 16, 32, 64)
OPTIONS = {"frames": "8|16|32|64"}


def diagnostic(**options):
    return evidenced.diagnostic("budgets", options)


def item(number=0, *, n_pieces=2, tags=None):
    asked = {"item_id": f"q{number:04d}", "question": "Which?", "choices": ("one", "two", "three")}
    evidence = tuple(Evidence(start_s=float(i), end_s=i + 1.0) for i in range(n_pieces))
    media = (Media(path=f"v{number // 2}.mp4"),)
    return Item(**asked, media=media, answer="ABC"[number % 3], tags=tags or {}, evidence=evidence)


def views(n_most=10**6):
    """Frames one second apart, as many as are wanted and there are."""
    return {f"frames:{n}": tuple(float(t) for t in range(min(n, n_most))) for n in FRAMES}


def needing(items, needed, **options):
    """Every question is right from so many frames on."""
    one, found = diagnostic(**{**OPTIONS, **options}), []
    for asked, enough in zip(items, needed, strict=True):

        def answers(ask, asked=asked, enough=enough):
            return reply(asked, len(times_shown(ask)) >= enough)

        made = drive(one.examine(Simulated(asked, views())), answers).made
        found.append(Examined(item=asked, finding=made))
    return found


def said(found, **options):
    return said_by(diagnostic(**options), found)


def chart(statements, name):
    found = statements[name]
    assert isinstance(found, Chart)
    return found


@pytest.mark.parametrize(
    ("n_frames", "steps"),
    [
        (64, (8, 16, 32, 64)),
        (50, (8, 16, 32, 50)),
        (9, (8, 9)),
        (8, (1, 2, 4, 8)),
        (5, (1, 2, 4, 5)),
        (2, (1, 2)),
        (1, (1,)),
        (512, (8, 16, 32, 64, 128, 256, 512)),
    ],
)
def test_budgets_double_up_to_that_of_the_plan(n_frames, steps):
    assert doublings(n_frames) == steps


def test_frames_are_swept_where_nothing_is_named():
    one = diagnostic()
    assert one.views(selector="fps:1", n_frames=16) == {
        "frames:8": View(selector="fps:1", n_frames=8),
        "frames:16": View(selector="fps:1", n_frames=16),
    }
    assert one.models() == {}
    asks = drive(one.examine(Simulated(item(), views())), lambda ask: Reply(text="A")).asks
    assert [len(times_shown(ask)) for ask in asks] == [8, 16]


def test_all_budgets_are_asked_together():
    driven = drive(
        diagnostic(repeats="2", **OPTIONS).examine(Simulated(item(), views(20))), lambda ask: Reply(text="A")
    )
    assert len(driven.rounds) == 1
    assert [(len(times_shown(ask)), ask.sample) for ask in driven.asks] == [
        (n, sample) for n in (8, 16, 20, 20) for sample in (0, 1)
    ]
    frames = driven.made.sweeps["frames"]
    assert [one.label for one in frames] == ["8", "16", "32", "64"]
    assert [one.delivered for one in frames] == [8, 16, 20, 20]
    assert [len(one.marks) for one in frames] == [2, 2, 2, 2]
    found = said([Examined(item=item(), finding=driven.made)])
    assert value(found, "frames", "32", "delivered") == 20
    assert [value(found, "frames", label, "short") for label in ("8", "16", "32", "64")] == [0, 0, 1, 1]
    assert chart(found, "frames:curve").x_title == "frames asked for (delivered: 8, 16, 20, 20)"


def test_only_what_is_named_is_swept():
    one = diagnostic(thinking="1024|0|4096", setting="budget")
    assert one.views(selector="midpoints", n_frames=4) == {"plan": View(selector="midpoints", n_frames=4)}
    assert one.models() == {f"thinking:{n}": f"+budget={n}" for n in (0, 1024, 4096)}


def test_thinking_says_what_came_of_it():
    subject = Simulated(item(), {"plan": (1.0, 2.0)})
    tokens = {"thinking:off": None, "thinking:high": 300}

    def answers(ask):
        return Reply(text="A", usage=Usage(output_tokens=tokens.get(ask.model)))

    one = diagnostic(thinking="off|high", setting="reasoning_effort")
    sweeps = drive(one.examine(subject), answers).made.sweeps
    told = [(m.label, m.amount, m.delivered) for m in sweeps["thinking"]]
    assert told == [("off", None, None), ("high", None, 300.0)]


def test_tokens_of_a_reply_are_the_mean_of_those_that_are_known():
    subject = Simulated(item(), {"plan": (1.0, 2.0)})
    tokens = iter([100, None, 300, 320, 340, 360])
    one = diagnostic(thinking="off|high", setting="reasoning_effort", repeats="3")
    made = drive(one.examine(subject), lambda ask: Reply(text="A", usage=Usage(output_tokens=next(tokens))))
    assert [m.delivered for m in made.made.sweeps["thinking"]] == [200.0, 340.0]


def test_examining_needs_the_budgets_of_the_plan():
    with pytest.raises(UsageError, match="before examine"):
        drive(diagnostic().examine(Simulated(item(), views())), lambda ask: Reply(text="A"))
    with pytest.raises(UsageError, match="1 frame"):
        diagnostic().views(selector="central", n_frames=1)


def planted(n):
    """Of 10 questions 2 need 8 frames, 3 need 16, 3 need 32, and 2 are never right."""
    return [(8, 8, 16, 16, 16, 32, 32, 32, 1000, 1000)[i % 10] for i in range(n)]


def test_the_table_is_what_was_planted():
    found = said(needing([item(n) for n in range(200)], planted(200)))
    for label, accuracy in {"8": 0.2, "16": 0.5, "32": 0.8, "64": 0.8}.items():
        assert value(found, "frames", label, "accuracy") == pytest.approx(accuracy)
        assert value(found, "frames", label, "delivered") == float(label)
        assert value(found, "frames", label, "short") == 0
    for label, step in {"16": 0.3, "32": 0.3, "64": 0.0}.items():
        assert value(found, "frames", label, "step") == pytest.approx(step)
    assert sheet(found, "frames").value("8", "step") is None
    assert value(found, "frames", "16", "p_holm") < 0.001
    assert value(found, "frames", "64", "p_holm") == 1.0
    curve, gain = chart(found, "frames:curve"), chart(found, "frames:gain")
    assert [(p.x, round(p.y.value, 9)) for p in curve.series[0].points] == [
        *((8, 0.2), (16, 0.5), (32, 0.8), (64, 0.8))
    ]
    assert [(p.x, round(p.y.value, 9)) for p in gain.series[0].points] == [(16, 0.3), (32, 0.6), (64, 0.6)]
    assert curve.is_log
    # Paired: the gain from 32 to 64 is nothing in every question; of 100 videos, 1 - 0.025 ** (1 / 100) may
    # still be of another kind.
    last = estimate(found, "frames", "64", "step")
    assert (last.low, last.high) == pytest.approx((-0.0362, 0.0362), abs=1e-4)


def test_groups_by_evidence_have_curves_of_their_own():
    # With much evidence more frames do not help; with little they do, up to 32.
    pieces = [1 if n % 20 < 10 else 5 for n in range(200)]
    needed = [p if n < 4 else 1000 for p, n in zip(planted(200), pieces, strict=True)]
    found = said(needing([item(i, n_pieces=n) for i, n in enumerate(pieces)], needed))
    groups = sheet(found, "frames:groups")
    assert [entry.key for entry in groups.rows] == ["all", "1", "4-5"]
    assert value(found, "frames:groups", "1", "64") == pytest.approx(0.8)
    assert value(found, "frames:groups", "1", "gain") == pytest.approx(0.6)
    assert value(found, "frames:groups", "4-5", "gain") == 0.0
    assert value(found, "frames:groups", "all", "gain") == pytest.approx(0.3)
    assert [series.label for series in chart(found, "frames:curve").series] == ["all", "1", "4-5"]


def test_tags_can_part_the_questions():
    items = [item(n, tags={"task": "read" if n % 2 else "sum"}) for n in range(8)]
    found = said(needing(items, [8] * 8), by="task")
    assert [entry.key for entry in sheet(found, "frames:groups").rows] == ["all", "read", "sum"]
    counted = [item(n, n_pieces=0, tags={"n_evidence": "3" if n % 2 else "7"}) for n in range(8)]
    rows = sheet(said(needing(counted, [8] * 8)), "frames:groups").rows
    assert [entry.key for entry in rows] == ["all", "2-3", "6+"]
    assert diagnostic(by="evidence", groups="2-2|3+").settings.groups == ("2-2", "3+")
    numbered = [item(n, tags={"demand": str(n)} if n else {}) for n in range(8)]
    binned = said(needing(numbered, [8] * 8), by="demand", groups="1|2-4|5+")
    entries = sheet(binned, "frames:groups").rows
    counts = {entry.key: entry.values[0] for entry in entries}
    assert counts == {"all": 8, "1": 1, "2-4": 3, "5+": 3, "other": 1}
    gaps = said(needing(numbered, [8] * 8), by="demand", groups="1-2|4-6")
    assert value(gaps, "frames:groups", "other", "questions") == 3


def test_one_group_is_no_group():
    found = said(needing([item(n) for n in range(4)], [8] * 4))
    assert "frames:groups" not in found
    assert "Not parted by pieces of evidence" in sheet(found, "frames").note
    nowhere = said(needing([item(n) for n in range(4)], [8] * 4), by="task")
    assert "Not parted by task" in sheet(nowhere, "frames").note


def thinking(values, right_from, *, tokens=True, n=40):
    """Every question is right from so many tokens on; a reply is ten tokens longer than was allowed."""
    one, found = diagnostic(thinking=values), []
    for asked in (item(number) for number in range(n)):

        def answers(ask, asked=asked):
            budget = int(ask.model.removeprefix("thinking:"))
            usage = Usage(output_tokens=budget + 10 + int(asked.item_id[-1]) % 2) if tokens else Usage()
            right = reply(asked, budget >= right_from)
            return msgspec.structs.replace(right, usage=usage)

        made = drive(one.examine(Simulated(asked, {"plan": (1.0, 2.0)})), answers).made
        found.append(Examined(item=asked, finding=made))
    return found


def test_no_thinking_is_in_the_table_and_the_curve():
    found = said(thinking("0|1024|2048|4096", 2048))
    assert value(found, "thinking", "0", "accuracy") == 0.0
    assert value(found, "thinking", "2048", "step") == pytest.approx(1.0)
    assert sheet(found, "thinking").value("0", "short") is None
    curve = chart(found, "thinking:curve")
    assert [p.x for p in curve.series[0].points] == [0, 1024, 2048, 4096]
    assert not curve.is_log
    assert curve.x_title == "tokens to think with (tokens of the reply: 10.5, 1034.5, 2058.5, 4106.5)"


def test_settings_in_words_make_a_table_alone():
    one = diagnostic(thinking="low|high", setting="reasoning_effort")
    made = drive(one.examine(Simulated(item(), {"plan": (1.0,)})), lambda ask: Reply(text="A")).made
    found = said([Examined(item=item(), finding=made)])
    assert set(found) == {"thinking"}
    assert [entry.key for entry in sheet(found, "thinking").rows] == ["low", "high"]


def test_several_sweeps_are_told_apart():
    one = diagnostic(thinking="high|64|128", setting="budget", **OPTIONS)
    shown = views() | {"plan": (1.0,)}
    made = drive(one.examine(Simulated(item(), shown)), lambda ask: Reply(text="A")).made
    found = said([Examined(item=item(), finding=made)])
    assert list(found) == [
        f"{kind}{part}" for kind in ("frames", "thinking") for part in ("", ":curve", ":gain")
    ]
    assert [p.x for p in chart(found, "thinking:curve").series[0].points] == [64, 128]
    assert [entry.key for entry in sheet(found, "thinking").rows] == ["high", "64", "128"]


def test_what_has_no_mark_is_left_out_and_counted():
    found = needing([item(n) for n in range(4)], [8] * 4)
    broken = drive(
        diagnostic(**OPTIONS).examine(Simulated(item(9), views())), lambda ask: Reply(text="broken")
    ).made
    failed = Failed(stage="media", error="MediaError", message="gone")
    found += [Examined(item=item(9), finding=broken), Examined(item=item(8), finding=failed)]
    headline = sheet(said(found), "frames")
    assert headline.value("8", "questions") == 4
    assert "1 failed" in headline.note
    assert "without a score" in headline.note
    only_broken = said([Examined(item=item(9), finding=broken)])
    assert sheet(only_broken, "frames").rows == ()
    assert set(only_broken) == {"frames"}


def test_intervals_hold_the_planted_gain():
    # 30 % need 8 frames, 30 % more need 16: a gain of 0.3.
    held = 0
    n = 20 if IS_THOROUGH else 8
    for seed in range(n):
        rng = np.random.default_rng(seed)
        needed = rng.choice([8, 16, 1000], size=120, p=[0.3, 0.3, 0.4]).tolist()
        found = said(needing([item(n) for n in range(120)], needed, frames="8|16"))
        gain = estimate(found, "frames", "16", "step")
        held += gain.low <= 0.3 <= gain.high
    assert held >= (17 if IS_THOROUGH else 6)


def test_how_often_a_question_is_asked_at_most():
    # 8, 16 and 32 frames where a plan has 32; none to double where it has one.
    assert diagnostic(repeats="2").most_asks(item(), n_frames=32) == 6
    assert diagnostic().most_asks(item(), n_frames=1) == 0
    swept = diagnostic(thinking="0|64|128", setting="budget", repeats="2")
    assert swept.most_asks(item(), n_frames=32) == 6
