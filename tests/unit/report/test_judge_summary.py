"""Verdicts of judges in tables, in the headline and in the browser of questions."""

import dataclasses

import msgspec
import pytest

from vidence.ask.judging.verdicts import CONTRADICTION
from vidence.records import Answered, Failed, Score, Unreadable, Verdict
from vidence.report.judge_summary import judge_sentence, judge_tables
from vidence.report.provenance import how_asked
from vidence.report.tables import all_tables, headline, outcome_table
from vidence.tables.table import DASH, shown_rows


def verdict(value, *, judge="scripted:j1", **fields):
    return Verdict(judge_model=judge, value=value, temperature=0.0, **fields)


def open_item(runs, n, answer="dog"):
    return runs.question(f"o{n}", f"v{n}", answer, answer_kind="text", choices=())


def judged(runs, item, verdicts, *, value, outcome=None, points=None, scorer="mmvu-official"):
    score = Score(
        outcome=outcome or Answered(answer="a dog", rule="judge"),
        value=value,
        scorer=scorer,
        scorer_version=1,
        points=points,
        verdicts=tuple(verdicts),
    )
    return msgspec.structs.replace(
        runs.marked(item, Unreadable(reason="-")), score=score, reply=runs.said("a dog")
    )


BROKEN = Failed(stage="scoring", error="JudgeError", message="no verdict could be read")


@pytest.fixture
def panel(runs):
    """Choices by rule, open answers by two judges: right, wrong, split three ways, and an error."""
    choice = runs.question("c", "vc", "A")
    items = [open_item(runs, n) for n in range(5)]
    two = "scripted:j2"
    firsts = [verdict(v, points=p) for v, p in ((1.0, 4), (0.0, 1), (1.0, 3))] + [
        verdict(None, error="no JSON")
    ]
    seconds = [(1.0, 3), (0.0, 0), (0.0, 2), (1.0, 4)]
    marks = [
        *({"value": 1.0, "points": 3.5}, {"value": 0.0, "points": 0.5}),
        *({"value": 0.0, "outcome": BROKEN}, {"value": 1.0, "points": 4}),
    ]
    trials = [
        runs.marked(choice, Answered(answer="A"), reply=runs.said("A")),
        *(
            judged(runs, item, [first, verdict(value, judge=two, points=points)], **rest)
            for item, first, (value, points), rest in zip(items[:4], firsts, seconds, marks, strict=True)
        ),
        runs.marked(items[4], Answered(answer="a cat"), reply=runs.said("a cat")),
    ]
    plan = {"judge_models": ("scripted:j1", two), "judge": "mmvu-official"}
    return runs.load("panel", items=[choice, *items], trials=trials, **plan)


def cells(table):
    return {line.key: [c.text for c in line.cells[1:]] for line in shown_rows(table)}


def test_who_marked_what(panel, rng):
    marks, members = judge_tables(panel)
    assert cells(marks) == {
        "rule:robust": ["1", "16.7", "100.0", DASH],
        "judge:mmvu-official": ["3", "50.0", "66.7", "2.67"],
        "error:mmvu-official": ["1", "16.7", DASH, DASH],
        "waiting:needs-judge": ["1", "16.7", DASH, DASH],
    }
    # j1: 1, 0, 1 and no verdict; j2: 1, 0, 0, 1.
    assert cells(members) == {
        "scripted:j1": ["4", "1", "66.7", "2.67"],
        "scripted:j2": ["4", "0", "50.0", "2.25"],
    }
    assert [line.cells[0].detail for line in shown_rows(members)] == ["temperature 0"] * 2


def test_the_headline_names_judges_and_counts_their_errors_apart(panel, rng):
    said = judge_sentence(panel)
    assert said == (
        "Judged by mmvu-official (scripted:j1 at temperature 0, scripted:j2 at temperature 0): 3 trials by "
        "verdict, 1 by rules, 1 judge error, in no mean."
    )
    tables = all_tables(panel, rng=rng)
    assert said in headline(panel, tables[0])
    assert not any("count as wrong" in s for s in headline(panel, tables[0]))
    assert "Waiting for a judge, and in no mean: 2 more questions." in headline(panel, tables[0])
    assert cells(outcome_table(panel))["unjudged"][0] == "1"
    assert cells(outcome_table(panel))["failed"][0] == "0"
    words = "scored by mmvu-official + robust + needs-judge (scripted:j1, scripted:j2)"
    assert words in how_asked(panel)
    assert {"judges", "judges-members"} <= {t.name for t in tables}


def test_judges_are_named_without_the_address_of_their_server(runs):
    item = open_item(runs, 0)
    servers = [f"openai:lab/m?base_url=http://{host}:8000/v1" for host in ("10.0.0.7", "10.0.0.8")]
    trial = judged(runs, item, [verdict(1.0, judge=judge) for judge in servers], value=1.0)
    run = runs.load(items=[item], trials=[trial])
    said = (how_asked(run), judge_sentence(run), *(row.label for row in judge_tables(run)[1].rows))
    assert said[0].endswith("scored by mmvu-official (m, m (2)), the judge in own wording")
    assert "mmvu-official (m at temperature 0, m (2) at temperature 0)" in said[1]
    assert said[2:] == ("m", "m (2)")


def test_a_run_without_judges_says_nothing_of_them(runs, rng):
    run = runs.load()
    assert judge_tables(run) == ()
    assert judge_sentence(run) == ""
    assert how_asked(run).endswith("scored by robust + needs-judge")


def test_verdicts_are_shown_as_data(runs, page_of, stays_at_home):
    evil = "</pre><script>alert(1)</script>"
    item = open_item(runs, 0)
    trial = judged(
        runs,
        item,
        [
            verdict(1.0, points=3, extracted=evil, reason=evil, said=(evil, '{"correct": true}')),
            verdict(None, judge=evil, error=evil),
            Verdict(judge_model="scripted:k", value=0.5),
            Verdict(judge_model="scripted:l", value=None),
        ],
        value=1.0,
    )
    run = runs.load("r", items=[item], trials=[trial])
    text, page = page_of(run)
    stays_at_home(text, page)
    assert page.open == []
    assert len(page.all("script")) == 1
    assert evil in page.text_of("pre")
    assert {"Judges", "Who scored the replies"} <= set(page.text_of("h2")) | set(page.text_of("h3"))
    notes = page.text_of("p", class_="note")
    assert f"Right, 3 points at temperature 0; it took the answer to be {evil!r}." in notes
    assert f"No verdict at temperature 0: {evil}." in notes
    assert "Partly right (0.5)." in notes
    assert "No verdict: nothing could be read." in notes
    assert '{"correct": true}' in page.text_of("pre")


def test_verdicts_that_contradict_themselves_are_counted(runs, rng):
    items = [runs.question(f"q{n}", f"v{n}", "A") for n in range(3)]
    rules = [CONTRADICTION, CONTRADICTION, "judge/letter"]
    trials = [
        judged(runs, item, [verdict(1.0)], value=1.0, outcome=Answered(answer="B", rule=rule))
        for item, rule in zip(items, rules, strict=True)
    ]
    run = runs.load(items=items, trials=trials, judge_models=("scripted:j1",), judge="mmvu-official")
    marks, *_ = judge_tables(run)
    assert marks.columns[-1].title == "contradictions"
    assert cells(marks)["judge:mmvu-official"][-1] == "2"
    said = " In 2 verdicts the mark contradicts the answer extracted; the mark counts."
    assert judge_sentence(run).endswith(said)
    one = runs.load("one", items=items[2:], trials=trials[2:], judge="mmvu-official")
    assert "contradictions" not in [column.title for column in judge_tables(one)[0].columns]


def test_undecided_judges_are_counted_apart_from_errors(runs, rng):
    tied = Failed(stage="scoring", error="Undecided", message="the judges are tied: 1 for 1, 1 for 0")
    both = [verdict(1.0), verdict(0.0, judge="scripted:j2")]
    items = [open_item(runs, n) for n in range(2)]
    run = runs.load(
        items=items,
        trials=[
            judged(runs, items[0], both, value=0.0, outcome=tied),
            judged(runs, items[1], [verdict(1.0), verdict(1.0, judge="scripted:j2")], value=1.0),
        ],
    )
    assert judge_sentence(run).endswith(
        "1 trials by verdict, 0 by rules, no judge error, 1 undecided between the judges, counted as wrong."
    )
    tables = all_tables(run, rng=rng)
    assert any("1 failed (1 with undecided judges)" in sentence for sentence in headline(run, tables[0]))
    assert cells(outcome_table(run))["undecided"][0] == "1"
    by = {table.name: table for table in tables}["judges"]
    assert [row.key.partition(":")[0] for row in by.rows] == ["judge", "undecided"]


def test_verdicts_that_failed_leave_the_marks_and_are_counted(runs, rng):
    items = [runs.question(f"q{n}", f"v{n}", "A") for n in range(2)] + [open_item(runs, 9)]
    failed = verdict(None, judge="scripted:dead", error="no reply", said=("well",))
    trials = [
        runs.marked(items[0], Answered(answer="A")),
        judged(runs, items[1], [verdict(1.0)], value=1.0),
        runs.marked(items[2], Answered(answer="a cat"), reply=runs.said("a cat")),
    ]
    beside = [
        msgspec.structs.replace(t, score=msgspec.structs.replace(t.score, unanswered=(failed,)))
        for t in trials
    ]
    run = runs.load("kept", items=items, trials=beside, judge_models=("scripted:dead",))
    said = judge_sentence(run)
    assert said.endswith(
        "3 trials got no verdict from scripted:dead: the mark from before stays (1 of them still without "
        "one). vidence replies judge asks about these alone. The first: no reply."
    )
    assert [row.correct for row in run.rows] == [1.0, 1.0, None]
    members = {table.name: table for table in judge_tables(run)}["judges-members"]
    assert cells(members)["scripted:dead"][:2] == ["3", "3"]
    tables = all_tables(run, rng=rng)
    assert said in headline(run, tables[0])
    alone = runs.load("alone", items=items[:1], trials=beside[:1], judge_models=("scripted:dead",))
    assert judge_sentence(alone).startswith("1 trial got no verdict from scripted:dead: the mark")
    assert judge_sentence(alone) in headline(alone, all_tables(alone, rng=rng)[0])


def test_the_wording_of_the_judge_is_said(runs):
    item = open_item(runs, 0)
    trial = judged(runs, item, [verdict(1.0)], value=1.0)
    run = runs.load("w", items=[item], trials=[trial])
    for wording, said in (("", "own"), ("own", "own"), ("authors", "the authors'")):
        facts = msgspec.structs.replace(run.facts, judge_wording=wording)
        assert f", the judge in {said} wording" in how_asked(dataclasses.replace(run, facts=facts))
