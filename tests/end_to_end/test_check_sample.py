"""``vidence replies check-sample``: drawn replies, read blind by people, correct the score."""

import csv
import io
import json
import re
import shutil
import sys
from dataclasses import replace

import msgspec
import numpy as np
import pytest

from vidence.engine.environment import Environment
from vidence.errors import UsageError
from vidence.report.checked import FOLDER
from vidence.report.results import load_run
from vidence.report.scores import Aggregate, Draws
from vidence.study.check_sample import draw_sample
from vidence.study.sheets import SheetStudy
from vidence.study.study import read_study

N = 240
JUDGES = {  # each finds every reply right; the first gives points, too
    "one": ("humanpcr", 'scripted:{"extracted answer":"a pan","correctness":true,"score":4}'),
    "two": ("rule-first", 'scripted:{"extracted_answer":"a pan","reason":"so","correct":true}'),
}
GIVEN = {"right": "3", "wrong": "1"}  # the points that people give
UNREAD = "I would take what is at the top."


def is_text(i):
    return i % 4 == 3


def truth(name, i):
    """What a person says of a reply; every answer is A, or a pan."""
    if is_text(i):
        return "right" if i % 16 != 3 else "wrong"
    return "AB"[i % 4] if i % 4 < 2 else "A" if name == "one" else "B"


def reply(name, i):
    said = truth(name, i)
    if is_text(i):
        return "a pan" if said == "right" else "a pot"
    return UNREAD if i % 20 == 2 and name == "one" else said


@pytest.fixture
def runs(vidence, begun):
    """Two runs over choices and free answers, which a judge marked."""
    begun("check-sample", lambda: record(vidence))
    return vidence.folder / "one", vidence.folder / "two"


def record(vidence):
    items = [
        {
            "item_id": f"q{i}",
            "source_id": f"v{i // 3}",
            "tags": {"kind": "rare" if i % 60 == 0 else "even" if i < N // 2 else "late"},
            "question": f"Question {i}?",
            "answer": "a pan" if is_text(i) else "A",
            **({"answer_kind": "text"} if is_text(i) else {"choices": ["x", "y", "z"]}),
        }
        for i in range(N)
    ]
    (vidence.folder / "q.jsonl").write_text("\n".join(map(json.dumps, items)))
    for name in ("one", "two"):
        said = [{"item_id": f"q{i}", "text": reply(name, i)} for i in range(N)]
        (vidence.folder / f"{name}.jsonl").write_text("\n".join(map(json.dumps, said)))
        asked = ("--model", f"replay:{name}.jsonl", "--selector", "none", "--name", name, "--out", name)
        assert vidence("run", "table", "--data", "q.jsonl", *asked, "--no-page").code == 0
        if name == "one":
            refused = vidence("replies", "check-sample", name)
            assert (
                refused.code,
                "60 replies wait for a judge; `vidence replies judge one`" in refused.err,
            ) == (2, True)
        judge, model = JUDGES[name]
        judged = vidence("replies", "judge", name, "--judge", judge, "--judge-model", model)
        assert judged.code == 0, judged.err


def sheet(run, person=1):
    return run / FOLDER / "sheets" / f"P0{person}.csv"


def rows_of(run, person=1):
    return list(csv.DictReader(io.StringIO(sheet(run, person).read_text())))


def fill(run, *, person=1, upto=N, values=None):
    """Write what a person says into a sheet."""
    study = SheetStudy.read(read_study(run / "check"))
    trials = {study.id_of(person - 1, one): one for one in study.trials(person - 1)}
    rows = rows_of(run, person)
    for row in rows[:upto]:
        i = int(trials[row["trial"]].item_id[1:])
        said = (values or truth)(run.name, i)
        has_points = is_text(i) and run.name == "one"
        row["score" if has_points else "correct" if is_text(i) else "states"] = (
            GIVEN.get(said, said) if has_points else said
        )
    with sheet(run, person).open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


def closed(vidence, run, people=1):
    """Take the sheets of a sample."""
    flags = [word for person in range(1, people + 1) for word in ("--sheet", str(sheet(run, person)))]
    return vidence("study", "close", str(run / "check"), *flags)


def words(done):
    return " ".join((done.out + done.err).split())


@pytest.mark.parametrize(("run", "asked"), [("one", "points"), ("two", "marks")])
def test_a_sample_is_drawn_of_all_outcomes_and_tells_its_readers_nothing(vidence, runs, run, asked):
    done = vidence("replies", "check-sample", run, "--n", "60", "--people", "2")
    assert done.code == 0, done.err
    assert "60 of 60 drawn replies are unread; no score is corrected" in words(done)
    folder = vidence.folder / run
    sample = load_run(folder).sample
    drawn = [sample.draw.strata[item_id] for item_id in sample.draw.drawn]
    assert len(set(sample.draw.drawn)) == len(drawn) == 60
    (judged,) = {one for one in drawn if one.startswith("right, by scripted:")}
    unread = {"unreadable"} if run == "one" else set()
    assert set(drawn) == {"right", "wrong", judged, *unread}
    assert not unread or drawn.count("unreadable") > 60 * 12 / N  # they tell more than others
    rows = rows_of(folder)
    assert {row["phase"] for row in rows} == {"letters", asked}
    for row in rows:
        shown = {
            name: value for name, value in row.items() if value and name not in {"trial", "frames of reply 1"}
        }
        known = {"phase", "question", "choices", "the reply", "asked for"}
        assert set(shown) == known - {"choices"} | {"the right answer"} if row["phase"] == asked else known
        assert "unreadable" not in str(shown)
    assert vidence("replies", "check-sample", run, "--n", "70").code == 2


def corrected_tables(vidence):
    """The tables of a panel of both runs in which a corrected value stands."""
    runs_of = (f'[[runs]]\nfolder = "{run}"\nmodel = "M"\ncondition = "{run}"\n' for run in ("one", "two"))
    (vidence.folder / "p.toml").write_text("".join(runs_of))
    views = ("--as", "pivot", "--as", "pairs?against=one")
    panel = json.loads(json_of(vidence, "panel", "p.toml", "--no-ask", *views))
    return {t["name"] for t in panel["tables"] if any(c["key"].endswith(":corrected") for c in t["columns"])}


def test_what_people_read_corrects_the_score_once_all_is_read(vidence, runs):
    one, two = runs
    before = json.loads(json_of(vidence, "report", "one"))
    for run in ("one", "two"):
        assert vidence("replies", "check-sample", run, "--n", "100").code == 0
    fill(one, upto=40)
    assert closed(vidence, one).code == 0
    assert "60 of 100 drawn replies are unread" in words(vidence("replies", "check-sample", "one"))
    assert "accuracy:corrected" not in columns(json.loads(json_of(vidence, "report", "one")))
    fill(one)
    assert closed(vidence, one).code == 0
    done = vidence("replies", "check-sample", "one")
    assert done.code == 0, done.err
    after = json.loads(json_of(vidence, "report", "one"))
    raw, corrected = (columns(after)[key] for key in ("accuracy", "accuracy:corrected"))
    assert {k: raw[k] for k in ("text", "detail")}.items() <= columns(before)["accuracy"].items()
    true = sum(truth("one", i) in {"A", "right"} for i in range(N)) / N
    assert abs(corrected["value"] - true) < abs(raw["value"] - true)
    assert corrected["estimate"]["low"] < true < corrected["estimate"]["high"]
    said = f"100 replies read by a person, {sample_errors(one)} of them marked otherwise: accuracy "
    said += f"{100 * raw['value']:.1f} -> {100 * corrected['value']:.1f} % (interval "
    assert said in words(done)
    assert said in words(vidence("report", "one"))
    latex = json_of(vidence, "report", "one", "--latex")
    assert "as people read" in latex
    assert f" {100 * corrected['value']:.1f} {{" in latex
    lines = {line["key"]: line for line in table(after, "score:kind")["lines"]}
    for kind, places in (("even", range(N // 2)), ("late", range(N // 2, N))):
        of = [i for i in places if i % 60]
        found = lines[kind]["accuracy:corrected"]["estimate"]
        assert found["low"] < sum(truth("one", i) in {"A", "right"} for i in of) / len(of) < found["high"]
    assert re.fullmatch(r"\d read", lines["rare"]["accuracy:corrected"]["detail"])
    answered = {line["key"]: line for line in table(after, "score")["lines"]}["answered"]
    assert answered["accuracy:corrected"]["detail"] == "as rules read"
    alone = words(vidence("compare", "one", "two"))
    assert "People read a sample of one, and not one of two: differences with these stay raw" in alone
    fill(two)
    assert closed(vidence, two).code == 0
    compared = json.loads(json_of(vidence, "compare", "one", "two"))["compared"]
    gap = sum((truth("two", i) in {"A", "right"}) - (truth("one", i) in {"A", "right"}) for i in range(N)) / N
    found = compared["headline"]["difference"]["corrected"]
    assert found["low"] < gap < found["high"]
    assert {one["value"]: one["comparison"]["difference"]["corrected"] for one in compared["tags"]}["late"]
    said = words(vidence("compare", "one", "two", "--all"))
    assert "As people mark the replies, two is" in said
    assert "as people read" in said
    assert corrected_tables(vidence) > {"panel"}
    shutil.copytree(two, two.with_name("three"))
    ranked = json.loads(json_of(vidence, "compare", "one", "two", "three"))
    lines = {line["name"]["text"]: line for line in table(ranked, "ranking")["lines"]}
    assert lines["one"]["accuracy:corrected"]["value"] == corrected["value"]
    assert "difference:corrected" in table(ranked, "pairs")["lines"][0]
    judge, model = JUDGES["one"]  # another judge, which gives points: what people said before stays
    assert vidence("replies", "judge", "two", "--judge", judge, "--judge-model", model).code == 0
    again = columns(json.loads(json_of(vidence, "report", "two")))
    assert again["accuracy:corrected"]["value"] == lines["two (two)"]["accuracy:corrected"]["value"]


def test_points_of_a_judge_are_corrected_by_those_of_people(vidence, runs):
    one, _ = runs
    assert vidence("replies", "check-sample", "one", "--n", "200").code == 0
    fill(one)
    assert closed(vidence, one).code == 0
    rows = [row for row in load_run(one).rows if row.score.points is not None]
    found = Aggregate.of(rows, of_points=True).estimate(Draws(rng=np.random.default_rng(0)))
    true = sum(int(GIVEN[truth("one", i)]) for i in range(N) if is_text(i)) / len(rows)
    assert found.value == 4.0
    assert found.corrected.low < true < found.corrected.high < 4
    judged = table(json.loads(json_of(vidence, "report", "one")), "judges")["lines"][-1]
    assert judged["points:corrected"]["value"] == found.corrected.value
    # People give 0 to 4: they do not correct the points of a judge who gives 2 to 10.
    others = [replace(row, score=msgspec.structs.replace(row.score, scorer="mlvu")) for row in rows]
    other = Aggregate.of(others, of_points=True).estimate(Draws(rng=np.random.default_rng(0)))
    assert (other.value, other.corrected.reason) == (4.0, "another scale")


def test_two_people_count_alike_and_the_terminal_is_a_sheet_too(vidence, runs, monkeypatch):
    one, _ = runs
    assert vidence("replies", "check-sample", "one", "--n", "50", "--people", "2").code == 0
    first = rows_of(one)[0]
    wanted = "3" if first["phase"] == "points" else "c"
    monkeypatch.setattr(sys, "stdin", io.StringIO(f"maybe\n{wanted}\nq\n"))
    done = vidence("replies", "check-sample", "one", "--read")
    assert done.code == 0, done.err
    assert "Reply 1 of 50" in done.out
    assert "'maybe' is not one of" in done.out
    assert "Reply 2 of 50" in done.out
    (label,) = load_run(one).sample.read.items()
    assert label[1] == (1.0 if first["phase"] == "points" else 0.0)
    assert "49 of 50 drawn replies are unread" in words(done)
    monkeypatch.setattr(sys, "stdin", io.StringIO("q\n"))
    again = vidence("replies", "check-sample", "one", "--read")
    assert "Reply 1 of" not in again.out
    assert "Reply 2 of 50" in again.out
    fill(one)
    fill(one, person=2, values=lambda name, i: "wrong" if is_text(i) else truth(name, i))
    assert closed(vidence, one, people=2).code == 0
    read = load_run(one).sample.read
    assert {read[i] for i in read if is_text(int(i[1:])) and truth("one", int(i[1:])) == "right"} == {0.5}


def test_what_no_person_can_have_said_is_refused_with_its_place(vidence, runs):
    one, two = runs
    assert vidence("replies", "check-sample", "one", "--n", "50").code == 0
    fill(one, values=lambda name, i: "right" if is_text(i) else "maybe B")
    refused = closed(vidence, one)
    assert refused.code == 2
    assert "states: 'maybe B'; expected one of A, B, C" in refused.err
    assert not (one / "check/labels").exists()
    fill(one, values=lambda name, i: truth(name, i) if is_text(i) else "E")
    assert closed(vidence, one).code == 0
    assert "expected states with one of A, B, C, none" in words(vidence("report", "one"))
    fill(one)
    assert closed(vidence, one).code == 0
    shutil.copytree(one / "check", two / "check")
    for command in (("replies", "check-sample", "two"), ("report", "two"), ("compare", "one", "two")):
        refused = vidence(*command)
        assert refused.code == 2
        assert "two/check is a sample of other replies than those of" in words(refused)
        assert "draw one with `vidence replies check-sample" in words(refused)
    ratings = one / "check/labels/ratings.csv"
    good = ratings.read_text()
    for line, says in (
        ("q0,one,letters,states,P01,0,E", "states 'E' of"),
        ("nosuch,one,letters,states,P01,0,A", "the reply to 'nosuch' was not drawn; take the line out"),
        ("short,line", "line 52"),
    ):
        drawn = good.splitlines()[1].partition(",")[0]
        ratings.write_text(good + line.replace("q0", drawn) + "\n")
        refused = vidence("report", "one")
        assert (refused.code, says in words(refused)) == (2, True), words(refused)
    ratings.write_text(good)
    sample = one / "check/check.json"
    sample.write_text("{}")
    assert "check.json cannot be read" in words(vidence("report", "one"))


def test_the_seed_decides_which_replies_are_drawn_and_runs_with_repeats_get_no_sample(vidence, runs):
    one, place = load_run(runs[0]), Environment(cache_root=vidence.folder / "cache")
    drawn = []
    for seed in (0, 0, 1):
        draw_sample(one, n=60, n_people=1, seed=seed, environment=place)
        drawn.append(load_run(one.folder).sample.draw.drawn)
        shutil.rmtree(runs[0] / "check")
    assert drawn[0] == drawn[1] != drawn[2]
    several = replace(one, plan=msgspec.structs.replace(one.plan, repeats=3))
    begun = replace(one, facts=msgspec.structs.replace(one.facts, n_planned=N + 7))
    silent = replace(one, rows=())
    for run, says in (
        (several, "it has several replies to a question"),
        (begun, "7 trials were not asked yet; `vidence resume"),
        (silent, "trials were not asked yet"),
    ):
        with pytest.raises(UsageError, match=says):
            draw_sample(run, n=60, n_people=1, seed=0, environment=place)


@pytest.mark.parametrize("n", ["49", "201"])
def test_a_sample_has_50_to_200_replies(vidence, runs, n):
    assert "is not in the range 50<=x<=200" in vidence("replies", "check-sample", "one", "--n", n).err


def sample_errors(run):
    found = load_run(run)
    marks = {row.item.item_id: row.correct for row in found.rows}
    return sum(marks[item_id] != mark for item_id, mark in found.sample.read.items())


def json_of(vidence, *command):
    flag = () if command[-1].startswith("--") else ("--json",)
    done = vidence(*command, *flag, "-")
    assert done.code == 0, done.err
    return done.out


def columns(report):
    """The headline of a report by column."""
    return table(report, "score")["lines"][0]


def table(report, name):
    """The table of this name."""
    (found,) = (one for one in report["tables"] if one["name"] == name)
    return found
