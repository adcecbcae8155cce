"""Runs below printed rows: in the columns that hold what they measured, and apart where none does."""

from dataclasses import replace

import msgspec
import numpy as np
import pytest

from vidence.errors import UsageError
from vidence.explain.published.printed_tables import Measure
from vidence.records import Verdict
from vidence.report.printed_comparison import APART, measured_rows, published_tables
from vidence.report.scores import Draws
from vidence.tables.table import DASH, shown_columns, shown_rows


@pytest.fixture
def draws():
    return Draws(rng=np.random.default_rng(0))


def asked(runs, tags, marks, *, kind="choice", name="a", scorer="", **plan):
    """A run of one question for each (tags, mark), scored by the parser `scorer`."""
    fields = {"answer_kind": kind, "choices": ("x", "y") if kind == "choice" else ()}
    run = runs.asked(name, marks, tags=tags, fields=fields, **plan)
    if not scorer:
        return run
    scores = [
        msgspec.structs.replace(r.score, scorer=scorer, value=float(m or 0))
        for r, m in zip(run.rows, marks, strict=True)
    ]
    rows = [
        replace(r, score=s, trial=msgspec.structs.replace(r.trial, score=s))
        for r, s in zip(run.rows, scores, strict=True)
    ]
    return replace(run, rows=tuple(rows))


def ours(table):
    """The cells of our last row by the titles of their columns."""
    last = [row for row in shown_rows(table) if row.key != "videos"][-1]
    return dict(zip([c.title for c in shown_columns(table)], last.cells, strict=True))


def texts(table):
    return {title: cell.text for title, cell in ours(table).items()}


def seed500(runs, marks, name="a", **plan):
    tags = [{"category": "sport", "difficulty": "1"}, {"category": "shopping", "difficulty": "2"}]
    return asked(runs, tags * 2, marks, name=name, benchmark="perceptioncomp", split="seed500", **plan)


def test_our_row_stands_under_the_printed_ones(runs, draws):
    tables = published_tables([seed500(runs, [1, 0, 1, 1], model="scripted:ours")], draws=draws)
    table = next(t for t in tables if t.name == "published:perceptioncomp-table2")
    titles = [c.title for c in shown_columns(table)]
    assert titles[:5] == ["Model", "Size", "Frames", "Outdoor Tour", "Shopping"]
    human, ours, videos = shown_rows(table)[0], shown_rows(table)[-2], shown_rows(table)[-1]
    # As printed in the paper.
    assert human.cells[0].text == "Human"
    assert human.cells[5].text == "81.08"
    assert human.cells[-1].text == "82.40"
    assert human.cells[5].detail.startswith("†")
    sign = human.cells[5].detail
    assert any(note.startswith(f"{sign} no share of 15") for note in table.footnotes)
    cells = dict(zip([c.title for c in shown_columns(table)], ours.cells, strict=True))
    assert ours.key == "ours:0"
    assert (videos.key, videos.cells[0].text) == ("videos", "videos of ours")
    counts = dict(zip([c.title for c in shown_columns(table)], videos.cells, strict=True))
    told = [(counts[name].text, counts[name].detail) for name in ("Shopping", "Sports", "Overall")]
    assert told == [("2", "few"), ("2", "few"), ("4", "few")]
    assert counts["Outdoor Tour"].text == counts["Size"].text == DASH
    assert cells["Model"].text == "scripted:ours"
    assert cells["Outdoor Tour"].text == DASH
    assert (cells["Sports"].text, cells["Shopping"].text, cells["Overall"].text) == ("100.0", "50.0", "75.0")
    assert table.footnotes[0] == (
        "scripted:ours was asked: paper protocol, own wording; direct, no frames, midpoints; scored by "
        "robust. A simulated model: the replies are computed."
    )
    assert "Table 2" in table.note


def test_signs_of_footnotes_are_all_explained(runs, draws):
    for table in published_tables([seed500(runs, [1, 0, 1, 1])], draws=draws):
        printed = [line for line in shown_rows(table) if line.key.startswith("printed:")]
        used = {sign for line in printed for cell in line.cells for sign in cell.detail.split()}
        told = {note.split()[0] for note in table.footnotes if note[0] in "†*"}
        assert used == told


def test_a_run_without_a_printed_table_is_refused(runs, draws):
    with pytest.raises(
        UsageError, match=r"no published table is about table \(all\); `vidence list published`"
    ):
        published_tables([runs.load("a")], draws=draws)
    # Of the right benchmark, with none of its tags: only the overall value stands there.
    bare = asked(runs, [{}], [1], name="b", benchmark="humanpcr", split="human-r")
    with pytest.raises(UsageError, match="no published table"):
        published_tables([bare], draws=draws)


LOGS = [{"set": "single", "task": "3afc", "target": "label"}] * 4
DESCRIPTIONS = [{"set": "single", "task": "description", "target": "label"}] * 4
ACTPLD = {"benchmark": "actpld", "split": "all", "style": "cot", "headline": "answered"}


def test_thought_logs_stand_under_description_matching_and_never_under_3afc(runs, draws):
    run = asked(runs, LOGS, [1, 0, 0, None], scorer="description-match", **ACTPLD)
    (table,) = published_tables([run], draws=draws)
    cells = texts(table)
    assert (cells["3AFC, Label"], cells["Description Matching, Label"]) == (DASH, "33.3")
    notes = [note for note in table.footnotes if note.startswith("scripted:test")]
    assert notes[1] == (
        "scripted:test has no value under 3AFC, Label: the printed values are by the letter of the reply or "
        "logp, these by description-match."
    )
    # Two people who choose right in 27 and 29 of 30: 11 and 13 of their descriptions match by these rules.
    assert notes[2].startswith("scripted:test: marked by rules")
    assert notes[2].endswith("(Description Matching, Label).")
    assert "reach 36.67 and 43.33 by label" in notes[2]


def test_letters_stand_under_3afc_and_descriptions_beside_them(runs, draws):
    letters = asked(runs, LOGS, [1, 1, 0, 1], **ACTPLD)
    (table,) = published_tables([letters], draws=draws)
    cells = texts(table)
    assert (cells["3AFC, Label"], cells["Description Matching, Label"]) == ("75.0", DASH)
    more = {**ACTPLD, "name": "b", "kind": "text", "scorer": "description-match"}
    both = replace(letters, rows=(*letters.rows, *asked(runs, DESCRIPTIONS, [1, 0, 0, 0], **more).rows))
    (table,) = published_tables([both], draws=draws)
    cells = texts(table)
    assert (cells["3AFC, Label"], cells["Description Matching, Label"]) == ("75.0", "25.0")


def test_logs_and_descriptions_are_never_mixed(runs, draws):
    run = asked(runs, [*LOGS, *DESCRIPTIONS], [1] * 8, scorer="description-match", **ACTPLD)
    (apart,) = published_tables([run], draws=draws)
    assert apart.name == APART
    assert apart.value("apart:0:actpld-table2", "table") == "actpld-table2"
    why = apart.value("apart:0:actpld-table2", "why")
    assert "the run mixes 3afc and description, which the paper does not" in why
    assert texts(apart)["score, %"] == "100.0"


def test_what_a_judge_marked_needs_no_ceiling(runs, draws):
    run = asked(runs, LOGS, [1, 0, 0, 0], scorer="description-match", **ACTPLD)
    verdict = Verdict(judge_model="scripted:j", value=1.0)
    rows = [replace(r, score=msgspec.structs.replace(r.score, verdicts=(verdict,))) for r in run.rows]
    (table,) = published_tables([replace(run, rows=tuple(rows))], draws=draws)
    assert not any("marked by rules" in note for note in table.footnotes)
    assert "the judge in own wording" in table.footnotes[0]


def test_the_validation_set_stands_under_validation_alone(runs, draws):
    tags = [{"discipline": "Science"}, {"discipline": "Engineering"}]
    run = asked(runs, tags, [1, 0], benchmark="mmvu", split="validation", style="cot")
    (table,) = published_tables([run], draws=draws)
    cells = texts(table)
    assert cells.pop("Validation") == "50.0"
    assert cells.pop("Model") == "scripted:test"
    assert set(cells.values()) == {DASH}
    assert (
        "scripted:test has no value under Science, Engineering, Test: the printed values are of the split "
        "test, these of validation." in table.footnotes
    )


def test_another_style_stands_apart_with_the_reason(runs, draws):
    run = asked(runs, [{"discipline": "Science"}], [1], benchmark="mmvu", split="validation", style="direct")
    (apart,) = published_tables([run], draws=draws)
    why = apart.value("apart:0:mmvu-table3", "why")
    assert "the printed values are of cot prompts, these of direct ones" in why
    assert "was asked: paper protocol, own wording; direct" in apart.footnotes[0]


def test_a_part_of_the_questions_is_no_overall_value(runs, draws):
    tags = [{"category": "sport", "difficulty": "1"}] * 3
    sport = {"benchmark": "perceptioncomp", "split": "seed500", "where": {"category": "sport"}}
    (table,) = published_tables([asked(runs, tags, [1, 1, 0], **sport)], draws=draws)
    cells = texts(table)
    assert (cells["Sports"], cells["Level 1"], cells["Overall"]) == ("66.7", DASH, DASH)
    assert any("the run was asked only questions with category=sport" in note for note in table.footnotes)
    some = asked(runs, tags, [1, 1, 0], name="b", limit=3, benchmark="perceptioncomp", split="seed500")
    (table,) = published_tables([some], draws=draws)
    assert any(
        "only the first 3 questions were asked (Sports 3, Level 1 3, Overall 3)" in note
        for note in table.footnotes
    )


def test_replies_that_wait_for_a_judge_leave_another_subset(runs):
    run = asked(runs, [{}], [1], kind="text")
    assert measured_rows(run, run.rows, Measure(parser=("letters",))) == (
        (),
        "1 of 1 replies wait for a judge, and the rest is another subset",
    )
    judged = asked(runs, [{}], [1], kind="text", name="b", scorer="rule-first")
    assert measured_rows(judged, judged.rows, Measure(parser=("humanpcr",)))[1] == (
        "the printed values are by humanpcr, these by rule-first"
    )
    assert measured_rows(judged, judged.rows, Measure()) == (list(judged.rows), "")


def humanpcr(runs, name, **plan):
    """A run on HumanPCR-P and -C, and one on Human-R, of which a table of the paper has columns of both."""
    choice = [{"level": level, "dimension": "d", "task": "t"} for level in ("perception", "comprehension")]
    first = asked(runs, choice, [1, 0], name=f"{name}-pc", benchmark="humanpcr", split="all", **plan)
    open_ended = [{"level": "reasoning", "dimension": "d", "task": "t"}]
    plan |= {"scorer": "humanpcr", "benchmark": "humanpcr", "split": "human-r", "style": "cot"}
    return [first, asked(runs, open_ended, [1], kind="text", name=f"{name}-r", **plan)]


def rows_of(found):
    (table,) = (t for t in found if t.name == "published:humanpcr-table3")
    return [row for row in shown_rows(table) if row.key.startswith("ours:")]


def test_runs_of_one_model_on_different_parts_share_a_row(runs, draws):
    found = humanpcr(runs, "m", model="scripted:m")
    (row,) = rows_of(published_tables(found, draws=draws))
    alone = [[one.value for one in rows_of(published_tables([r], draws=draws))[0].cells] for r in found]
    together = [cell.value for cell in row.cells]
    assert together[1:] == [
        a if a is not None else b for a, b in zip(*(one[1:] for one in alone), strict=True)
    ]
    assert sum(v is not None for v in together) > max(sum(v is not None for v in one) for one in alone)
    assert row.cells[0].text == "scripted:m"


def test_runs_of_two_models_or_on_one_part_keep_their_rows(runs, draws):
    first, second = humanpcr(runs, "m", model="scripted:m"), humanpcr(runs, "n", model="scripted:n")
    assert len(rows_of(published_tables([first[0], second[1]], draws=draws))) == 2
    assert len(rows_of(published_tables([*first, *second], draws=draws))) == 2
    again = humanpcr(runs, "o", model="scripted:m")
    assert len(rows_of(published_tables([first[0], again[0]], draws=draws))) == 2


def test_points_of_a_judge_stand_under_printed_points(runs, draws):
    tags = [{"task": task} for task in ("sub_scene", "sub_scene", "summary")]
    run = asked(runs, tags, [1, 1, 1], kind="text", scorer="mlvu", benchmark="mlvu", split="dev-open")
    rows = [
        replace(row, score=msgspec.structs.replace(row.score, points=points))
        for row, points in zip(run.rows, (4.0, 8.0, 9.0), strict=True)
    ]
    (table,) = published_tables([replace(run, rows=tuple(rows))], draws=draws)
    # The mean of 6 and 9, and no share of right answers.
    assert texts(table)["G-Avg"].startswith("7.5")
    assert texts(table)["SSC"].startswith("6.0")
    assert texts(table)["M-Avg"] == DASH
    printed = dict(zip([c.title for c in shown_columns(table)], shown_rows(table)[0].cells, strict=True))
    assert (printed["Model"].text, printed["G-Avg"].text) == ("GPT-4o", "5.8")
