"""What reasoning first adds: planted effects, refusals, and the two by two of weights and prompts."""

import numpy as np
import pytest

from vidence.errors import UsageError
from vidence.records import Answered, Estimate, Unreadable
from vidence.report.reasoning import (
    CONFOUNDED,
    ReasoningPair,
    ThinkingPair,
    reasoning_effect,
    reasoning_section,
    thinking_effect,
)
from vidence.report.scores import Draws
from vidence.tables.charts import Chart
from vidence.tables.figures import draw_figure
from vidence.tables.table import Table

N = 240


class Makes:
    """Runs whose marks are given; eight tasks of two dimensions, two questions to a video."""

    def __init__(self, builder):
        self.builder = builder
        self.n = 0
        self.items = [
            builder.question(
                f"q{i}", f"v{i // 2}", "A", tags={"task": f"t{i % 8}", "dimension": "ab"[i % 8 // 4]}
            )
            for i in range(N)
        ]

    def run(self, marks, *, unread=(), cut=(), items=None, **plan):
        self.n += 1
        trials = []
        for i, (item, mark) in enumerate(zip(items or self.items, marks, strict=True)):
            outcome = Answered(answer="A" if mark else "B")
            if i in unread:
                outcome = Unreadable(reason="no letter")
            reply = self.builder.said("...", finish="length" if i in cut else "stop")
            trials.append(self.builder.marked(item, outcome, reply=reply, **self.builder.shown()))
        plan = {"model": "scripted:m", "style": "direct"} | plan
        return self.builder.load(f"run{self.n}", items=items or self.items, trials=trials, **plan)

    def pair(self, direct, cot, *, name="m", **options):
        return ReasoningPair(model=name, direct=self.run(direct), cot=self.run(cot, style="cot", **options))


@pytest.fixture
def makes(runs):
    return Makes(runs)


def effect(*pairs, **options):
    found = reasoning_effect(pairs, draws=Draws(rng=np.random.default_rng(0)), **options)
    return {one.name: one for one in found}


def drawn(seed, shares):
    """Marks drawn with a share for each task."""
    rng = np.random.default_rng(seed)
    return [int(rng.random() < shares.get(f"t{i % 8}", shares[""])) for i in range(N)]


def test_the_difference_is_step_by_step_less_direct_whoever_is_ahead(makes):
    one = makes.pair([1] * 120 + [0] * 120, [1] * 60 + [0] * 180)
    tables = effect(one)
    table = tables["reasoning"]
    assert table.value("m", "difference").value == pytest.approx(-0.25)
    assert (table.value("m", "first"), table.value("m", "second")) == (0.5, 0.25)
    assert table.value("m", "relative").value == pytest.approx(-0.5)
    assert table.cell("m", "clear").text == "clear"
    chart = tables["reasoning:models"]
    assert isinstance(chart, Chart)
    assert [point.y.value for point in chart.series[0].points] == [0.5, 0.25]
    assert draw_figure(table) is not None
    section = reasoning_section(tuple(tables.values()))
    assert section.figures == (chart,)
    assert table in section.tables


def test_what_was_not_read_stands_beside_the_difference_of_what_was(makes):
    # Of 240 alike, 40 step-by-step replies ran into the limit and say nothing.
    marks = [1] * 160 + [0] * 80
    one = makes.pair(
        marks, [int(m and i >= 40) for i, m in enumerate(marks)], unread=range(40), cut=range(50)
    )
    table = effect(one)["reasoning"]
    assert table.value("m", "difference").value == pytest.approx(-40 / 240)
    columns = ("unread:direct", "unread:cot", "cut:direct", "cut:cot")
    assert [table.value("m", one) for one in columns] == [0, 40, 0, 50]
    both = table.value("m", "both_read")
    assert isinstance(both, Estimate)
    assert (both.value, both.n) == (0.0, 200)


def test_nobody_right_directly_has_no_relative_difference(makes):
    table = effect(makes.pair([0] * N, [1] * 30 + [0] * 210))["reasoning"]
    assert table.value("m", "relative") is None


def test_planted_effects_of_two_tasks_are_found_and_the_others_hold(makes):
    direct = drawn(1, {"": 0.5})
    cot = [{0: int(m or i % 16 < 8), 5: int(m and i % 16 < 8)}.get(i % 8, m) for i, m in enumerate(direct)]
    tables = effect(makes.pair(direct, cot))
    by_task = tables["reasoning:task"]
    for task in range(8):
        found = by_task.value(f"m:t{task}", "difference")
        planted = np.mean([c - d for i, (c, d) in enumerate(zip(cot, direct, strict=True)) if i % 8 == task])
        assert found.value == pytest.approx(planted)
        assert (abs(found.value) > 0.1) == (task in (0, 5))


def test_effects_that_hold_in_every_task_are_not_called_different(makes):
    rng = np.random.default_rng(5)
    direct = [int(rng.random() < 0.4) for _ in range(N)]
    cot = [int(rng.random() < 0.6) for _ in range(N)]
    alike = effect(makes.pair(direct, cot))["reasoning:siblings"]
    assert [row.key for row in alike.rows] == ["m:a", "m:b"]
    assert all(alike.value(row.key, "p_holm") > 0.05 for row in alike.rows)
    apart = [int(rng.random() < (0.95 if i % 8 == 0 else 0.2 if i % 8 == 1 else 0.4)) for i in range(N)]
    spread = effect(makes.pair(direct, apart))["reasoning:siblings"]
    assert spread.value("m:a", "p_holm") < 0.01
    assert spread.value("m:a", "tau") > 0.1
    assert spread.value("m:a", "dof") == 3


def test_holm_is_over_all_models_and_over_the_grid(makes):
    pairs = [makes.pair(drawn(i, {"": 0.4}), drawn(i + 10, {"": 0.55}), name=f"m{i}") for i in range(3)]
    tables = effect(*pairs)
    alone = [effect(one)["reasoning"].value(one.model, "p_holm") for one in pairs]
    together = [tables["reasoning"].value(one.model, "p_holm") for one in pairs]
    assert min(together) == pytest.approx(min(1, 3 * min(alone)))
    assert len(tables["reasoning:task"].rows) == 24
    assert "all 30 models and values" in tables["reasoning:task"].note
    assert [row.detail for row in tables["reasoning:dimension"].rows] == ["a", "b"] * 3


def test_intervals_of_what_does_nothing_hold_0(makes):
    n_held = 0
    for seed in range(8):
        one = makes.pair(drawn(seed, {"": 0.5}), drawn(100 + seed, {"": 0.5}), name=f"m{seed}")
        found = effect(one)["reasoning"].value(f"m{seed}", "difference")
        n_held += found.low <= 0 <= found.high
    assert n_held >= 7


# ------------------------------------------------------------------ what is refused


def test_other_frames_or_readers_are_refused_and_named_when_they_are_shared(makes):
    direct = makes.run([1] * N)
    other = makes.run([0] * N, style="cot", n_frames=3)
    one = ReasoningPair(model="m", direct=direct, cot=other)
    with pytest.raises(UsageError, match=r"differ in more than the style: n_frames \d+ and 3\. Ask again"):
        effect(one)
    assert "differs in more than the style: n_frames" in effect(one, shared=True)["reasoning"].note


def test_swapped_and_equal_styles_are_refused(makes):
    direct, cot = makes.run([1] * N), makes.run([1] * N, style="cot")
    with pytest.raises(UsageError, match=r"run2 was asked step by step and .*run1 directly; expected"):
        effect(ReasoningPair(model="m", direct=cot, cot=direct))
    with pytest.raises(UsageError, match="both asked with the style 'direct'; expected one 'direct'"):
        effect(ReasoningPair(model="m", direct=direct, cot=makes.run([1] * N)))
    other = makes.run([1] * N, style="cot", model="scripted:other")
    with pytest.raises(UsageError, match="model scripted:m and scripted:other"):
        effect(ReasoningPair(model="m", direct=direct, cot=other))


def test_no_pair_and_a_model_twice_are_refused(makes):
    with pytest.raises(UsageError, match="no pair of runs; expected"):
        effect()
    one = makes.pair([1] * N, [0] * N)
    with pytest.raises(UsageError, match="'m' is named twice"):
        effect(one, one)


def test_other_questions_are_refused_and_shared_ones_compared(makes):
    fewer = ReasoningPair(
        model="m",
        direct=makes.run([1] * N),
        cot=makes.run([0] * 100, items=makes.items[:100], style="cot"),
    )
    with pytest.raises(UsageError, match="do not have scores for the same questions"):
        effect(fewer)
    assert effect(fewer, shared=True)["reasoning"].value("m", "items") == 100


# ------------------------------------------------------------------ weights and prompts


def thinking(*pairs):
    return thinking_effect(pairs, draws=Draws(rng=np.random.default_rng(0)))


def test_the_diagonal_alone_is_confounded_with_the_prompt(makes):
    one = ThinkingPair(
        family="q",
        instruct_direct=makes.run([1] * 60 + [0] * 180, model="scripted:i"),
        thinking_cot=makes.run([1] * 120 + [0] * 120, model="scripted:t", style="cot"),
    )
    (table,) = thinking(one)
    assert isinstance(table, Table)
    assert CONFOUNDED in table.title
    assert table.row("q:both").detail == f"weights and prompt ({CONFOUNDED})"
    assert table.value("q:both", "difference").value == pytest.approx(0.25)


def test_all_four_runs_part_weights_from_prompt(makes):
    shares = {"instruct_direct": 60, "instruct_cot": 84, "thinking_direct": 96, "thinking_cot": 180}
    runs = {name: makes.run([1] * n + [0] * (N - n), model=f"scripted:{name}") for name, n in shares.items()}
    table, crossed = thinking(ThinkingPair(family="q", **runs))
    expected = {"weights:direct": 0.15, "weights:cot": 0.4, "prompt:instruct": 0.1}
    expected |= {"prompt:thinking": 0.35, "both": 0.5}
    for key, planted in expected.items():
        assert table.value(f"q:{key}", "difference").value == pytest.approx(planted), key
    assert CONFOUNDED not in table.title
    assert CONFOUNDED in table.note
    assert crossed.value("q", "difference").value == pytest.approx(0.25)


def test_a_family_of_one_run_is_refused(makes):
    with pytest.raises(UsageError, match="q: 1 run; expected two or more of instruct, direct"):
        thinking(ThinkingPair(family="q", instruct_direct=makes.run([1] * N)))
    with pytest.raises(UsageError, match="no family of models"):
        thinking()
