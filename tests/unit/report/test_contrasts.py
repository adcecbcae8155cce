"""Contrasts of a tag inside runs: counted by hand, adjusted together, written into every form."""

import csv
import json

import pytest

from vidence.errors import UsageError
from vidence.records import Answered, Unreadable
from vidence.report.contrasts import (
    JSON_FORMAT,
    contrast_runs,
    section,
    sentences,
    tables,
    write_contrast_csv,
)
from vidence.tables.figures import draw_figure
from vidence.tables.latex import latex
from vidence.tables.table import shown


@pytest.fixture
def leveled(runs):
    """A run with 20 questions of each level, one video for each; how many of a level are right."""

    def make(name, right, *, unread=0, extra=()):
        items, trials = [], []
        for level, n_right in right.items():
            for i in range(20):
                item = runs.question(f"{level}-{i}", f"v{level}-{i}", "A", tags={"level": level})
                answer = Answered(answer="A" if i < n_right else "B")
                items.append(item)
                trials.append(runs.marked(item, Unreadable(reason="?") if i >= 20 - unread else answer))
        for item in extra:
            items.append(item)
            trials.append(runs.marked(item, Answered(answer="A")))
        return runs.load(name, items=items, trials=trials, model=f"scripted:{name}")

    return make


def test_a_difference_and_a_trend_by_hand(leveled):
    found = contrast_runs(
        [leveled("x", {"1": 18, "2": 12, "10": 4})], tag="level", pairs=[("10", "1")], has_trend=True
    )
    assert found.values == ("1", "2", "10")
    difference, trend = found.contrasts
    assert difference.contrast.estimate.value == pytest.approx(-14 / 20)
    assert difference.contrast.estimate.n == 40
    assert trend.contrast.estimate.value == pytest.approx(-7 / 20)
    assert (difference.is_clear, trend.is_clear) == (True, True)
    said = sentences(found)
    assert said[0].startswith(
        "scripted:x: level 10 less 1 is -70.0 points (20.0 % against 90.0 %; 95 % interval "
    )
    assert said[1].startswith(
        "scripted:x: from one level to the next -35.0 points (1: 90.0 %, 2: 60.0 %, 10: 20.0 %; "
    )
    # Over three values the trend is half of the difference of its ends: one hypothesis.
    assert difference.p_holm == trend.p_holm == difference.contrast.p_value == trend.contrast.p_value
    assert said[2] == "2 of 2 distinguishable from zero."
    assert "one hypothesis, counted once" in said[3]


def test_several_runs_are_one_table_and_adjusted_together(leveled):
    both = [leveled("x", {"1": 18, "3": 4}), leveled("y", {"1": 11, "3": 10}, unread=2)]
    found = contrast_runs(both, tag="level", pairs=[("3", "1")])
    x, y = found.contrasts
    assert x.p_holm == pytest.approx(2 * x.contrast.p_value)
    assert (x.is_clear, y.is_clear) == (True, False)
    differences, levels = tables(found)
    assert [row.label for row in differences.rows] == ["scripted:x", "scripted:y"]
    assert shown(levels, "scripted:y:1", "unread").text == "2"
    said = sentences(found)
    assert "which is not distinguishable from zero" in said[1]
    assert "Trials without an answer count as wrong (scripted:y, by level: 1: 2 of 20; 3: 2 of 20)." in said
    # y: 11 and 8 of 20 are right, and of each level 2 that have no answer count as wrong.
    assert x.unread is None
    assert (y.unread.worst.estimate.value, y.unread.best.estimate.value) == pytest.approx((-0.15, 0.05))
    assert y.unread.answered.estimate.n == 36
    assert any(one.startswith("scripted:y, 3 less 1: on answered questions alone") for one in said)
    assert shown(differences, "scripted:y:3>1", "bounds").text == "-15.0 to +5.0"
    assert draw_figure(differences).svg.count('class="point') == 2


def test_replies_without_an_answer_that_could_turn_the_verdict_are_said(leveled):
    found = contrast_runs(
        [leveled("x", {"1": 20, "3": 14}, unread=6)], tag="level", pairs=[("3", "1")], has_trend=True
    )
    difference, trend = found.contrasts
    assert (difference.is_open, trend.is_open) == (True, True)
    assert [one.endswith("they could turn the verdict.") for one in sentences(found)[:4]] == [False, True] * 2


def test_the_sign_follows_the_words(leveled):
    run = leveled("x", {"1": 18, "3": 4})
    one, other = (
        contrast_runs([run], tag="level", pairs=[pair]).contrasts[0].contrast.estimate
        for pair in (("3", "1"), ("1", "3"))
    )
    assert one.value == -other.value
    assert (one.low, one.high) == pytest.approx((-other.high, -other.low))


def test_questions_without_the_tag_are_left_out_and_counted(leveled, runs):
    extra = [runs.question(f"e{i}", f"e{i}", "A", tags={"task": "t"}) for i in range(3)]
    found = contrast_runs([leveled("x", {"1": 9, "3": 9}, extra=extra)], tag="level", pairs=[("3", "1")])
    assert found.runs[0].n_without == 3
    assert found.contrasts[0].p_holm == found.contrasts[0].contrast.p_value  # a single one is not adjusted
    assert not any("Holm" in said for said in sentences(found))
    assert "3 questions of scripted:x without level left out." in sentences(found)
    assert found.contrasts[0].contrast.estimate.n == 40


def test_a_value_on_few_videos_has_no_interval(runs):
    items = [runs.question(f"q{i}", f"v{i % 3}", "A", tags={"level": "ab"[i % 2]}) for i in range(24)]
    trials = [runs.marked(item, Answered(answer="A")) for item in items]
    found = contrast_runs([runs.load("x", items=items, trials=trials)], tag="level", pairs=[("a", "b")])
    said = sentences(found)[0]
    assert "no interval: too few videos (3) in a" in said
    assert "with unknown uncertainty" in said
    assert shown(tables(found)[0], "scripted:test:a>b", "clear").text == "too few videos"


def test_a_run_that_asked_nobody_says_so(runs):
    tags = [{"level": "ab"[i % 2]} for i in range(24)]
    for model, is_asked in (("replay:x.jsonl", False), ("openai:y", True)):
        run = runs.asked(model[:6], [i % 3 != 0 for i in range(24)], tags=tags, model=model)
        said = sentences(contrast_runs([run], tag="level", pairs=[("a", "b")]))
        assert any("replay:x was not asked: recorded replies" in one for one in said) != is_asked


def test_where_videos_share_a_source_every_word_says_so(runs, tmp_path):
    items = [
        runs.question(f"q{i}", f"v{i}", "A", source=f"film{i % 15}", tags={"level": "abc"[i % 3]})
        for i in range(60)
    ]
    trials = [runs.marked(item, Answered(answer="AB"[i % 4 == 0])) for i, item in enumerate(items)]
    run = runs.load("x", items=items, trials=trials)
    found = contrast_runs([run], tag="level", pairs=[("a", "b")], has_trend=True)
    note = "The 60 videos are of 15 sources; intervals and tests are clustered by source."
    said = sentences(found)
    assert note in said
    assert "40 questions on 10 sources" in said[0]
    assert "too few sources (5) in a" in said[0]
    assert shown(tables(found)[0], "scripted:test:a>b", "clear").text == "too few sources"
    section(found).write_json(tmp_path / "all.json", JSON_FORMAT, contrasts=found)
    words = json.loads((tmp_path / "all.json").read_text())
    written = json.dumps([words["sentences"], words["tables"]]) + latex(tables(found))
    assert "video" not in written.replace(note, "")
    write_contrast_csv(found, tmp_path / "all.csv")
    header = (tmp_path / "all.csv").read_text().splitlines()[0].split(",")
    assert header[4:7] == ["questions", "sources", "shared_sources"]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"tag": "none", "pairs": [("3", "1")]}, "scripted:x has the tag 'none'; its tags are level"),
        ({"tag": "level", "pairs": [("4", "1")]}, "has level '4'; there is 1, 3"),
        ({"tag": "level", "pairs": [("3", "3")]}, "a value cannot be compared with itself"),
        ({"tag": "level"}, "nothing to contrast; level is 1, 3: say --of and --to, or --trend"),
    ],
)
def test_what_cannot_be_contrasted_is_refused(leveled, options, said):
    with pytest.raises(UsageError) as error:
        contrast_runs([leveled("x", {"1": 9, "3": 9})], **options)
    assert said in str(error.value)


def test_runs_without_trials_are_refused(runs):
    with pytest.raises(UsageError, match="a contrast needs two values"):
        contrast_runs([runs.load("y", trials=runs.trials[:1])], tag="level", has_trend=True)
    with pytest.raises(UsageError, match="has no trials yet"):
        contrast_runs([runs.load("x", trials=())], tag="level", has_trend=True)
    with pytest.raises(UsageError, match="no run"):
        contrast_runs([], tag="level", has_trend=True)


def test_a_trend_needs_every_value_in_every_run(leveled):
    both = [leveled("x", {"1": 9, "2": 9, "3": 9}), leveled("y", {"1": 9, "3": 9})]
    with pytest.raises(UsageError, match="no scored question of scripted:y has level '2'"):
        contrast_runs(both, tag="level", has_trend=True)


def test_every_form_has_the_same_figures(leveled, tmp_path):
    run = leveled("x", {"1": 18, "2": 12, "3": 4})
    found = contrast_runs([run], tag="level", pairs=[("3", "1")], has_trend=True)
    write_contrast_csv(found, tmp_path / "c.csv")
    rows = list(csv.DictReader((tmp_path / "c.csv").read_text().splitlines()))
    assert [(row["of"], row["to"], float(row["difference"])) for row in rows] == [
        ("3", "1", -0.7),
        ("trend", "", -0.35),
    ]
    section(found).write_json(tmp_path / "c.json", JSON_FORMAT, contrasts=found)
    whole = json.loads((tmp_path / "c.json").read_text())
    assert whole["contrasts"]["contrasts"][0]["contrast"]["estimate"]["value"] == pytest.approx(-0.7)
    assert [table["name"] for table in whole["tables"]] == ["contrasts", "levels"]
    assert "$-$70.0" in latex(section(found).tables)
