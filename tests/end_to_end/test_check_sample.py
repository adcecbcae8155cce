"""``vidence check-sample``: replies are drawn, read by people who are told nothing, and correct the score."""

import csv
import io
import json
import shutil
import sys
from dataclasses import replace

import msgspec
import pytest

from vidence.engine.environment import Environment
from vidence.errors import UsageError
from vidence.report.checked import checked
from vidence.report.results import load_run
from vidence.study.check_sample import draw_sample
from vidence.study.sheets import SheetStudy
from vidence.study.study import read_study

N = 240
JUDGE = 'scripted:{"extracted answer":"a pan","correctness":true,"score":4}'  # finds every reply right
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
    return UNREAD if i % 20 == 2 else said


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
            refused = vidence("check-sample", name)
            assert (refused.code, "60 replies wait for a judge; `vidence judge one`" in refused.err) == (
                2,
                True,
            )
        judged = vidence("judge", name, "--judge", "humanpcr", "--judge-model", JUDGE)
        assert judged.code == 0, judged.err


def sheet(run, person=1):
    return run / "check" / "sheets" / f"P0{person}.csv"


def rows_of(run, person=1):
    return list(csv.DictReader(io.StringIO(sheet(run, person).read_text())))


def fill(run, *, person=1, upto=N, values=None):
    """Write what a person says into a sheet."""
    study = SheetStudy.read(read_study(run / "check"))
    trials = {study.id_of(person - 1, one): one for one in study.trials(person - 1)}
    rows = rows_of(run, person)
    for row in rows[:upto]:
        i = int(trials[row["trial"]].item_id[1:])
        row["correct" if is_text(i) else "states"] = (values or truth)(run.name, i)
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


def test_a_sample_is_drawn_of_all_outcomes_and_tells_its_readers_nothing(vidence, runs):
    done = vidence("check-sample", "one", "--n", "60", "--people", "2")
    assert done.code == 0, done.err
    assert "60 of 60 drawn replies are unread, so that no score is corrected" in words(done)
    sample = checked(load_run(runs[0]))
    drawn = [sample.draw.strata[item_id] for item_id in sample.draw.drawn]
    assert len(set(sample.draw.drawn)) == len(drawn) == 60
    (judged,) = {one for one in drawn if one.startswith("right, by scripted:")}
    assert set(drawn) == {"right", "wrong", "unreadable", judged}
    assert drawn.count("unreadable") > 60 * 12 / N  # they tell more than others
    rows = rows_of(runs[0])
    assert {row["phase"] for row in rows} == {"letters", "marks"}
    for row in rows:
        shown = {
            name: value for name, value in row.items() if value and name not in {"trial", "frames of reply 1"}
        }
        known = {"phase", "question", "choices", "the reply", "asked for"}
        assert set(shown) == known - {"choices"} | {"the right answer"} if row["phase"] == "marks" else known
        assert "unreadable" not in str(shown)
    assert vidence("check-sample", "one", "--n", "70").code == 2


def test_what_people_read_corrects_the_score_once_all_is_read(vidence, runs):
    one, two = runs
    before = json.loads(json_of(vidence, "report", "one"))
    for run in ("one", "two"):
        assert vidence("check-sample", run, "--n", "100").code == 0
    fill(one, upto=40)
    assert closed(vidence, one).code == 0
    assert "60 of 100 drawn replies are unread" in words(vidence("check-sample", "one"))
    assert "corrected" not in columns(json.loads(json_of(vidence, "report", "one")))
    fill(one)
    assert closed(vidence, one).code == 0
    done = vidence("check-sample", "one")
    assert done.code == 0, done.err
    after = json.loads(json_of(vidence, "report", "one"))
    raw, corrected = (columns(after)[key] for key in ("accuracy", "corrected"))
    assert raw == columns(before)["accuracy"]
    true = sum(truth("one", i) in {"A", "right"} for i in range(N)) / N
    assert abs(corrected["value"] - true) < abs(raw["value"] - true)
    assert corrected["estimate"]["low"] < true < corrected["estimate"]["high"]
    said = f"100 replies read by a person, {sample_errors(one)} of them marked otherwise: accuracy "
    said += f"{100 * raw['value']:.1f} -> {100 * corrected['value']:.1f} % (interval "
    assert said in words(done)
    assert said in words(vidence("report", "one"))
    latex = json_of(vidence, "report", "one", "--latex")
    assert f"one corrected by replies that people read: {100 * corrected['value']:.1f} (" in " ".join(
        latex.split()
    )
    alone = words(vidence("compare", "one", "two"))
    assert "People read a sample of one, and not one of two: the difference stays raw" in alone
    fill(two)
    assert closed(vidence, two).code == 0
    compared = json.loads(json_of(vidence, "compare", "one", "two"))["compared"]
    gap = sum((truth("two", i) in {"A", "right"}) - (truth("one", i) in {"A", "right"}) for i in range(N)) / N
    found = compared["corrected"]["difference"]
    assert found["low"] < gap < found["high"]
    assert compared["n_read"] == [100, 100]
    assert "As people mark replies, of which they read 100 and 100: two is" in words(
        vidence("compare", "one", "two")
    )


def test_two_people_count_alike_and_the_terminal_is_a_sheet_too(vidence, runs, monkeypatch):
    one, _ = runs
    assert vidence("check-sample", "one", "--n", "50", "--people", "2").code == 0
    first = rows_of(one)[0]
    wanted = "right" if first["phase"] == "marks" else "c"
    monkeypatch.setattr(sys, "stdin", io.StringIO(f"maybe\n{wanted}\nq\n"))
    done = vidence("check-sample", "one", "--read")
    assert done.code == 0, done.err
    assert "Reply 1 of 50" in done.out
    assert "'maybe' is none of" in done.out
    assert "Reply 2 of 50" in done.out
    (label,) = checked(load_run(one)).read.items()
    assert label[1] == (1.0 if first["phase"] == "marks" else 0.0)
    assert "49 of 50 drawn replies are unread" in words(done)
    monkeypatch.setattr(sys, "stdin", io.StringIO("q\n"))
    again = vidence("check-sample", "one", "--read")
    assert "Reply 1 of" not in again.out
    assert "Reply 2 of 50" in again.out
    fill(one)
    fill(one, person=2, values=lambda name, i: "wrong" if is_text(i) else truth(name, i))
    assert closed(vidence, one, people=2).code == 0
    read = checked(load_run(one)).read
    assert {read[i] for i in read if is_text(int(i[1:])) and truth("one", int(i[1:])) == "right"} == {0.5}


def test_what_no_person_can_have_said_is_refused_with_its_place(vidence, runs):
    one, two = runs
    assert vidence("check-sample", "one", "--n", "50").code == 0
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
    for command in (("check-sample", "two"), ("report", "two"), ("compare", "one", "two")):
        refused = vidence(*command)
        assert refused.code == 2
        assert "two/check is a sample of other replies than those of" in words(refused)
        assert "draw one with `vidence check-sample" in words(refused)
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
        drawn.append(checked(one).draw.drawn)
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
    assert "is not in the range 50<=x<=200" in vidence("check-sample", "one", "--n", n).err


def sample_errors(run):
    found, sample = load_run(run), checked(load_run(run))
    marks = {row.item.item_id: row.correct for row in found.rows}
    return sum(marks[item_id] != mark for item_id, mark in sample.read.items())


def json_of(vidence, *command):
    flag = () if command[-1].startswith("--") else ("--json",)
    done = vidence(*command, *flag, "-")
    assert done.code == 0, done.err
    return done.out


def columns(report):
    """The headline of a report by column."""
    (score,) = (table for table in report["tables"] if table["name"] == "score")
    return score["lines"][0]
