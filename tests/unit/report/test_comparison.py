"""Comparisons whose numbers can be counted by hand, and the sentences about them."""

import csv
import dataclasses
import io
import json

import msgspec
import numpy as np
import pytest
from rich.console import Console
from scipy import stats

from vidence.errors import UsageError
from vidence.records import Answered, Failed
from vidence.report.comparison import compare_runs, compare_two, rank_runs
from vidence.report.comparison_tables import (
    ranked_sentences,
    section,
    sentences,
    tables_of_many,
    tables_of_two,
    verdict,
    write_comparison_csv,
    write_comparison_json,
)
from vidence.report.pairing import pair
from vidence.report.terminal import draw_section
from vidence.statistics.resampling import Resampling
from vidence.tables.figures import draw_figure
from vidence.tables.latex import latex
from vidence.tables.table import shown, shown_columns, shown_rows
from vidence.tables.terminal import Sheet


class Makes:
    """Pairs of runs from patterns: for each question a 1 or a 0 in each run."""

    def __init__(self, builder):
        self.builder = builder
        self.n = 0

    def items(self, n, *, per_video=1, tasks=("one",)):
        return [
            self.builder.question(f"q{i}", f"v{i // per_video}", "A", tags={"task": tasks[i % len(tasks)]})
            for i in range(n)
        ]

    def run(self, items, marks, **plan):
        self.n += 1
        trials = [
            self.builder.marked(item, Answered(answer="A" if mark else "B"))
            for item, mark in zip(items, marks, strict=True)
        ]
        plan.setdefault("model", f"scripted:{'ab'[self.n - 1] if self.n < 3 else self.n}")
        return self.builder.load(f"run{self.n}", items=items, trials=trials, **plan)

    def two(self, first, second, *, per_video=1, tasks=("one",), **plan):
        items = self.items(len(first), per_video=per_video, tasks=tasks)
        return pair([self.run(items, first, **plan), self.run(items, second, **plan)])


@pytest.fixture
def makes(runs):
    return Makes(runs)


def compared(paired, **options):
    settings = Resampling(n_boot=400, **options)
    return compare_two(paired, rng=np.random.default_rng(0), settings=settings)


def test_the_first_sentence_has_everything_that_a_reviewer_asks_for(makes):
    # Of 100 questions on 100 videos 30 right in both, 10 in the first alone, 40 in the second alone.
    first = [1] * 30 + [1] * 10 + [0] * 40 + [0] * 20
    second = [1] * 30 + [0] * 10 + [1] * 40 + [0] * 20
    found = compared(makes.two(first, second))
    low, high = 100 * found.headline.difference.low, 100 * found.headline.difference.high
    assert verdict(found.headline) == "clear"
    assert sentences(found) == (
        f"scripted:b is 30.0 points above scripted:a (70.0 % against 40.0 %; 95 % interval of the difference "
        f"{low:.1f} to {high:.1f}, paired, clustered by 100 videos; p < 0.001; exact McNemar "
        "p < 0.001 on 100 questions, 40 against 10 discordant).",
        f"A comparison of this size detects a difference of {100 * found.detectable:.1f} points with "
        "80 % power.",
    )
    # (1.984 + 0.845) * sqrt((0.5 - d^2) / 100) = d gives d = 0.193.
    assert found.detectable == pytest.approx(0.193, abs=0.002)


def test_a_difference_that_may_be_nothing_is_said_to_be_so(makes):
    first = [1, 0] * 6 + [1] * 40
    second = [0, 1] * 5 + [1, 1] + [1] * 40
    found = compared(makes.two(first, second))
    assert verdict(found.headline) == "not clear"
    assert sentences(found)[0].startswith(
        "scripted:b is 1.9 points above scripted:a, which is not distinguishable from zero (90.4 % "
        "against 88.5 %; "
    )
    assert "exact McNemar p = 1.00 on 52 questions, 6 against 5 discordant" in sentences(found)[0]


def test_too_few_videos_can_show_nothing(makes):
    # All of 8 questions on 4 videos differ; so would all of them in one of eight throws of four coins.
    found = compared(makes.two([0] * 8, [1] * 8, per_video=2))
    assert found.headline.p_value == 0.125
    assert "which is not distinguishable from zero" in sentences(found)[0]
    assert "A comparison of this size detects no difference, however large, with 80 % power." in sentences(
        found
    )
    one = " ".join(sentences(compared(makes.two([0] * 8, [1] + [0] * 7, per_video=8))))
    assert "with unknown uncertainty" in one
    assert "no interval: too few videos (1)" in one
    assert "like this one" not in one


def test_equal_runs_are_called_equal(makes):
    said = sentences(compared(makes.two([1, 0] * 20, [1, 0] * 20)))
    assert said[0] == "scripted:b and scripted:a have the same scores on all 40 questions (50.0 %)."
    # As many of one kind as of the other.
    swapped = sentences(compared(makes.two([1, 0] * 20, [0, 1] * 20, model="scripted:c")))
    assert "score alike to a tenth of a point, which is not distinguishable from zero (50.0 %" in swapped[0]


@pytest.mark.parametrize(("n_better", "said"), [(5, "not clear"), (6, "clear")])
def test_five_questions_that_differ_are_not_enough(makes, n_better, said):
    found = compared(makes.two([0] * 60, [1] * n_better + [0] * (60 - n_better)))
    assert found.headline.p_value == 2.0 ** (1 - n_better)
    assert (found.headline.difference.low > 0) == (said == "clear")
    assert verdict(found.headline) == said


def test_mcnemar_is_left_out_where_questions_share_videos(makes):
    # On 8 videos the second run is better on all five questions, on 4 it is worse on all.
    first, second = [0] * 40 + [1] * 20, [1] * 40 + [0] * 20
    found = compared(makes.two(first, second, per_video=5))
    assert found.over_items.mcnemar.p_exact < 0.05 < found.headline.p_value
    assert found.over_items.mcnemar.is_clustered
    assert not any("McNemar" in said for said in sentences(found))
    assert "on 60 questions, 40 better and 20 worse" in sentences(found)[0]


def test_macro_means_come_first_where_the_plans_ask_for_them(makes):
    # Task one: 10 questions, 0 against 0.5; task two: 30 questions, alike.
    tasks = ("one", "two", "two", "two")
    first = [0, 1, 1, 0] * 10
    second = [1, 1, 1, 0] * 5 + [0, 1, 1, 0] * 5
    found = compared(makes.two(first, second, tasks=tasks, headline="macro:task"))
    assert found.macro_tag == "task"
    assert found.headline.difference.value == pytest.approx(0.25)
    assert found.over_items.difference.value == pytest.approx(5 / 40)
    said = sentences(found)
    assert said[0].startswith("scripted:b is 25.0 points above scripted:a")
    assert "(58.3 % against 33.3 %, unweighted means over task; 95 % interval" in said[0]
    assert any(s.startswith("Over questions, each alike: scripted:b is 12.5 points above") for s in said)
    table = tables_of_two(found)[0]
    assert [line.key for line in shown_rows(table)] == ["headline", "micro"]
    assert [shown(table, key, "difference").text for key in ("headline", "micro")] == ["+25.0", "+12.5"]


def test_means_of_means_are_compared_as_such(makes):
    items = [
        msgspec.structs.replace(item, tags={"task": task, "kind": kind})
        for item, (task, kind) in zip(makes.items(40), ["aa", "ba", "bb", "bb"] * 10, strict=True)
    ]
    # Kind a of task b, a fourth of the headline, is right in the second run alone.
    loaded = [makes.run(items, [0, i, 1, 0] * 10, headline="macro:task/kind") for i in (0, 1)]
    found = compared(pair(loaded))
    assert found.macro_tag == "task/kind"
    assert found.headline.difference.value == pytest.approx(1 / 4)
    assert (found.headline.mean_second, found.headline.mean_first) == pytest.approx((1 / 8, 3 / 8))
    (pair_of_two,) = rank_runs(pair(loaded), level=0.95).ranking.pairs
    assert abs(pair_of_two.difference.value) == pytest.approx(1 / 4)


@pytest.mark.parametrize(
    ("headlines", "note"),
    [
        (("macro:task", "micro"), "The plans ask for different averages (macro:task and micro)"),
        (("answered", "answered"), "The protocol leaves unreadable replies out of each score"),
        (("macro:level", "macro:level"), "Not every question has the tag 'level'"),
    ],
)
def test_other_headlines_fall_back_to_means_over_questions(makes, headlines, note):
    items = makes.items(40)
    loaded = [makes.run(items, [i, 1] * 20, headline=h) for i, h in enumerate(headlines)]
    found = compared(pair(loaded))
    assert found.macro_tag == ""
    assert any(said.startswith(note) for said in sentences(found))
    assert any(said.startswith(note) for said in ranked_sentences(rank_runs(pair(loaded), level=0.95)))


def test_differences_by_tag_are_adjusted_together(makes):
    # Task one: all 20 turn right; task two: nothing changes.
    found = compared(makes.two([0, 1] * 20, [1, 1] * 20, tasks=("one", "two")))
    one, two = found.tags
    assert (one.value, two.value) == ("one", "two")
    assert (one.comparison.difference.value, two.comparison.difference.value) == (1.0, 0.0)
    assert one.p_holm == pytest.approx(min(1, 2 * one.comparison.p_value))
    assert two.p_holm == 1
    assert (one.is_clear, two.is_clear) == (True, False)
    table = next(table for table in tables_of_two(found) if table.name == "difference:task")
    assert [line.cells[-1].text for line in shown_rows(table)] == ["clear", "not clear"]
    assert "for all 2 values of tags" in table.note


def test_repeats_leave_mcnemar_out_and_say_so(makes, runs):
    items = makes.items(4)
    trials = [runs.marked(i, Answered(answer=a), repeat=r) for i in items for r, a in enumerate("AB")]
    first = runs.load("x", items=items, trials=trials, repeats=2, model="scripted:x")
    second = makes.run(items, [1, 1, 1, 1])
    found = compared(pair([first, second]))
    assert found.over_items.mcnemar is None
    said = sentences(found)
    assert "on 4 questions, 4 better and 0 worse" in said[0]
    assert "Repeats of a question count as one value, their mean (scripted:x: 2, scripted:a: 1)." in said
    assert any("What differs besides the model: repeats (2 / 1)" in s for s in said)


def test_what_else_differs_is_listed(makes):
    items = makes.items(40)
    first = makes.run(items, [1, 0] * 20, frames=8, judge="rule-first", judge_models=("scripted:j",))
    second = makes.run(
        items, [1, 1] * 20, frames=16, prompts="mmvu", style="cot", layout="video", size="native"
    )
    found = compared(pair([first, second]))
    assert {s.name: s.values for s in found.settings} == {
        "frames": ("8", "16"),
        "style": ("direct", "cot"),
        "prompts": ("plain", "mmvu"),
        "layout": ("images", "video"),
        "size": ("short:720", "native"),
        "judge_models": ("scripted:j", "none"),
    }
    said = sentences(found)[-1]
    assert said.startswith("What differs besides the model: frames (8 / 16); style (direct / cot)")
    assert said.endswith("and 2 more.")
    table = tables_of_two(found)[-1]
    assert table.name == "settings"
    assert shown(table, "frames", "run:1").text == "16"


def test_a_ranking_says_what_can_be_told_apart(makes):
    items = makes.items(60)
    best = makes.run(items, [1] * 60, model="scripted:best")
    like = makes.run(items, [1] * 58 + [0] * 2, model="scripted:like", frames=8)
    worst = makes.run(items, [1] * 10 + [0] * 50, model="scripted:worst")
    paired = pair([worst, best, like])
    ranked = rank_runs(paired, level=0.95)
    assert ranked.ranking.names == ("scripted:best", "scripted:like", "scripted:worst")
    said = ranked_sentences(ranked)
    assert said[0].startswith(
        "3 runs on the same 60 questions on 60 videos: 2 of 3 pairs differ clearly at 95 %"
    )
    assert said[1] == "The first place is undecided between scripted:best and scripted:like."
    assert "What differs besides the model: frames (4 / 8)." in said
    ranking, _, pairs, _, settings = tables_of_many(ranked)
    assert [line.cells[1].text for line in shown_rows(ranking)] == ["1 to 2", "1 to 2", "3"]
    assert [line.cells[3].text for line in shown_rows(ranking)] == ["a", "a", "b"]
    first = [("scripted:best", "less scripted:worst"), ("scripted:like", "less scripted:worst")]
    assert [(line.cells[0].text, line.cells[0].detail) for line in shown_rows(pairs)][:2] == first
    assert len(pairs.rows) == 3
    # The settings keep the order in which the runs were named.
    titles = [c.title for c in shown_columns(settings)]
    assert titles == ["setting", "scripted:worst", "scripted:best", "scripted:like"]
    figure = draw_figure(pairs)
    assert [figure.svg.count(f'class="{name}"') for name in ("point-open", "point")] == [0, 2]


def test_two_are_for_comparing_and_many_for_ranking(makes):
    assert "Only 4 questions tell the two apart: a few answers decide." in sentences(
        compared(makes.two([1, 0, 0, 0] * 4, [1, 1, 0, 0] * 4, per_video=2))
    )
    items = makes.items(60, per_video=4)
    ranked = rank_runs(pair([makes.run(items, [1] * 60), makes.run(items, [0] * 60)]), level=0.95)
    names = [table.name for table in section(ranked).tables]
    assert names == ["ranking", "outcomes", "pairs", "provenance"]
    assert ranked_sentences(ranked)[1].endswith("is first, clearly above all others.")
    paired = pair([makes.run(items, [1] * 60) for _ in range(3)])
    with pytest.raises(UsageError, match="3 runs; expected two"):
        compared(paired)


def test_outputs_agree(makes, tmp_path):
    paired = makes.two([1, 0] * 20, [1, 1] * 20)
    found = compared(paired)
    write_comparison_json(paired, found, tmp_path / "all.json")
    whole = json.loads((tmp_path / "all.json").read_text())
    assert whole["format"] == "vidence-comparison/3"
    assert whole["compared"]["headline"]["difference"]["value"] == 0.5
    assert whole["sentences"] == list(sentences(found))
    assert [r["folder"] for r in whole["runs"]] == ["run1", "run2"]
    assert whole["tables"][0]["lines"][0]["difference"]["text"] == "+50.0"
    out = io.StringIO()
    draw_section(section(found), Sheet(Console(file=out, width=80)))
    text = " ".join(out.getvalue().split())
    assert sentences(found)[0] in text
    assert max(len(line) for line in out.getvalue().splitlines()) <= 80


@pytest.mark.parametrize("n_runs", [2, 3])
def test_only_runs_that_asked_are_said_to_have_asked(makes, tmp_path, n_runs):
    items = makes.items(20)
    marks = [i % 2 for i in range(20)]
    runs = [
        makes.run(items, marks, model="openai:one", frames=8),
        makes.run(items, [1] * 20, model="replay:two.jsonl?id=key", frames=64, selector="all"),
        makes.run(items, [0] * 20, model="baseline:longest", prompts="other"),
    ][:n_runs]
    failed = Failed(stage="media", error="MediaError", message="gone")
    row = msgspec.structs.replace(runs[0].rows[0].trial.score, outcome=failed)
    rows = (dataclasses.replace(runs[0].rows[0], score=row), *runs[0].rows[1:])
    trial = msgspec.structs.replace(rows[0].trial, score=row)
    runs[0] = dataclasses.replace(
        runs[0], rows=(dataclasses.replace(rows[0], trial=trial), *runs[0].rows[1:])
    )
    paired = pair(runs)
    found = compared(paired) if n_runs == 2 else rank_runs(paired, level=0.95)
    told = [(one.origin, one.n_sent, one.n_trials) for one in found.provenance]
    assert told == [("asked", 19, 20), ("recorded", 0, 20), ("rule", 0, 20)][:n_runs]
    # the plan of a run that asked nobody describes nothing that happened
    assert not {"frames", "selector", "prompts"} & {one.name for one in found.settings}
    shown_section = section(found)
    said = " ".join(shown_section.paragraphs)
    assert "replay:two was not asked: recorded replies, nothing is declared of how they were asked" in said
    assert ("baseline:longest was not asked: a rule that sees neither frames nor prompt" in said) == (
        n_runs > 2
    )
    assert "1 of 20 trials of one failed before anything was sent." in said
    table = next(table for table in shown_section.tables if table.name == "provenance")
    assert [shown(table, one.run, "sent").text for one in found.provenance] == ["19", "0", "0"][:n_runs]
    assert "paper protocol" in shown(table, "one", "how").text
    assert "recorded replies" in latex(shown_section.tables)
    write_comparison_csv(paired, tmp_path / "marks.csv")
    rows = list(csv.DictReader((tmp_path / "marks.csv").read_text().splitlines()))
    assert [row["origin:one"] for row in rows] == ["not sent"] + ["asked"] * 19
    assert {row["origin:replay:two"] for row in rows} == {"recorded"}


def test_settings_of_runs_that_asked_stand_beside_those_that_did_not(makes):
    items = makes.items(4)
    runs = [
        makes.run(items, [1, 0, 1, 0], model="openai:one", frames=8),
        makes.run(items, [1, 1, 1, 0], model="openai:two", frames=16),
        makes.run(items, [1, 1, 1, 1], model="replay:three.jsonl?id=key", frames=32),
    ]
    found = rank_runs(pair(runs), level=0.95)
    assert {one.name: one.values for one in found.settings} == {"frames": ("8", "16", "not asked")}


NOTE = "The 40 videos are of 20 sources; intervals and tests are clustered by source."


def from_films(makes, n_runs):
    """Runs on 40 videos of 20 films."""
    question = makes.builder.question
    tags = [{"task": "one" if i < 38 else "few"} for i in range(40)]
    items = [question(f"q{i}", f"v{i}", "A", source=f"film{i // 2}", tags=tags[i]) for i in range(40)]
    return pair([makes.run(items, [(i * (n + 3)) % 5 > n for i in range(40)]) for n in range(n_runs)])


@pytest.mark.parametrize("n_runs", [2, 3])
def test_where_videos_share_a_source_every_word_says_so(makes, tmp_path, n_runs):
    paired = from_films(makes, n_runs)
    found = compared(paired) if n_runs == 2 else rank_runs(paired, level=0.95)
    assert (found.clustered_by, found.n_clusters, found.n_videos) == ("source", 20, 40)
    shown_section = section(found)
    said = " ".join(shown_section.paragraphs)
    assert NOTE in said
    assert "20 sources" in said.replace(NOTE, "")
    write_comparison_json(paired, found, tmp_path / "all.json")
    whole = json.loads((tmp_path / "all.json").read_text())
    words = json.dumps([whole["sentences"], whole["tables"]]) + latex(shown_section.tables)
    assert "video" not in words.replace(NOTE, "")
    write_comparison_csv(paired, tmp_path / "marks.csv")
    header, first = list(csv.reader((tmp_path / "marks.csv").read_text().splitlines()))[:2]
    assert header[:3] == ["item_id", "video", "source"]
    assert first[:3] == ["q0", "v0.mp4", "film0"]
    if n_runs == 2:
        assert "too few sources (1)" in words
        by_tag = next(table for table in shown_section.tables if table.name == "difference:task")
        assert shown(by_tag, "few", "sources").text == "1"
        assert "clustered by 20 sources" in said
        assert whole["compared"]["headline"]["difference"]["clustered_by"] == "source"


# ------------------------------------------------------------------ a margin, and looks after every source


def test_a_margin_gives_one_of_four_words_with_the_interval_that_it_rests_on(makes):
    nearly = makes.two([1, 0] * 100, [1, 0] * 96 + [0, 1] * 4)
    found = compare_runs(nearly, margin=4)
    at, said = found.at_margin, sentences(found)[1]
    assert (at.decided, at.is_within, round(at.difference.level, 9)) == ("equivalent", True, 0.9)
    assert said.startswith("At a margin of 4 points: equivalent (two one-sided tests: the 90 % interval, ")
    assert said.endswith("lies within -4 to 4).")
    # With a question on each video the interval is that of two t tests, each at 5 %.
    differences = nearly.values[:, 1] - nearly.values[:, 0]
    by_hand = stats.ttest_1samp(differences, 0).confidence_interval(0.9)
    assert (at.difference.low, at.difference.high) == pytest.approx((by_hand.low, by_hand.high))
    said = sentences(compare_runs(nearly, margin=1))[1]
    assert "At a margin of 1 points: not decided" in said
    assert "reaches beyond -1 to 1" in said
    small = compare_runs(makes.two([1, 0] * 100, [1, 0] * 94 + [1, 1] * 6), margin=6)
    assert (small.at_margin.decided, small.at_margin.is_within) == ("better", True)
    assert "better, but by less than the margin (" in sentences(small)[1]


def test_a_margin_is_of_two_runs(makes):
    runs = [makes.run(makes.items(2), marks) for marks in ([1, 0], [0, 1], [1, 1])]
    with pytest.raises(UsageError, match=r"--margin says of two runs .*; name two"):
        compare_runs(pair(runs), margin=5)


def test_looks_say_when_it_was_decided_first(makes):
    found = compare_runs(makes.two([0, 0, 1] * 100, [1, 1, 1] * 100, per_video=3), anytime=True)
    assert found.look.decided == "better"
    said = next(s for s in sentences(found) if s.startswith("Looked at after every video"))
    n = found.look.n_decisive
    assert 0 < n < 30
    assert f"decided after {3 * n} of 300 questions ({n} of 100 videos): better (+66.7 points, " in said
    assert "95 % at all looks together; 100 videos, confidence sequence by betting (aGRAPA))." in said
    alike = compare_runs(makes.two([0, 1] * 20, [1, 0] * 20), anytime=True, margin=50)
    assert "Looked at after every video: not decided after 40 of 40 questions" in " ".join(sentences(alike))
    assert alike.look.margin == 0.5


def test_one_question_has_no_interval_in_every_form(makes):
    found = compare_runs(makes.two([1], [0]), margin=2, anytime=True)
    assert "nan" not in repr(found)
    assert "-100.0 points (too few videos (1))" in repr(found)
    assert "no interval: too few videos (1), two videos are the least" in sentences(found)[0]
    assert sentences(found)[1] == "At a margin of 2 points: not decided (no interval: too few videos (1))."
    assert not any("nan" in s for s in sentences(found))


@pytest.mark.parametrize("margin", [0, -2, 100, float("nan")])
def test_a_margin_that_is_none_is_refused(makes, margin):
    with pytest.raises(UsageError, match="expected above 0 and below 100"):
        compare_runs(makes.two([1, 0], [0, 1]), margin=margin)


def test_looks_are_at_two_runs(makes):
    items = makes.items(4)
    paired = pair([makes.run(items, [1, 0, 1, 0]) for _ in range(3)])
    with pytest.raises(UsageError, match=r"two runs of models, not of .*; name two"):
        compare_runs(paired, anytime=True)
