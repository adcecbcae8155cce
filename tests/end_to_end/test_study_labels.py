"""Studies over replies of runs: drawn, dealt, labelled, and read by vidence replies errors and judges."""

import csv
import json
from datetime import UTC, datetime

import anyio
import msgspec
import numpy as np
import pytest

from vidence.engine.environment import Environment
from vidence.errors import UsageError
from vidence.explain.errors.packet import read_packet
from vidence.study.assignment import assignment
from vidence.study.drawing import draw, read_drawn, read_items, write_drawn
from vidence.study.folder import StudyAnswers, read_answers
from vidence.study.replies import lines_of, shown_trial, taxonomy_in
from vidence.study.running import write_closed
from vidence.study.study import Participant, Response, read_study

RUNS = {"even": "10" * 12, "odd": "01" * 11 + "00"}
ERRORS = """
preset = "errors"
runs = ["../even", "../odd"]
[draw]
of = "wrong"
n = 10
[[phases]]
name = "errors"
condition = "none"
shows = ["question", "reply", "reference"]
[[form]]
name = "kind"
kind = "kinds"
options = ["mmvu"]
[[form]]
name = "quote"
kind = "quote"
is_optional = true
"""
JUDGE = 'preset = "judge"\nn_people = 2\nruns = ["../even", "../odd"]\n[draw]\nof = "same"\nn = 8\n'


@pytest.fixture
def study(vidence, leveled_runs):
    """Draws a study of two runs; gives its file."""
    leveled_runs(**RUNS)

    def make(text, *, name="s"):
        folder = vidence.folder / name
        folder.mkdir(exist_ok=True)
        (folder / "study.toml").write_text(text)
        file = read_study(folder)
        write_drawn(file, draw(file, environment=Environment(cache_root=vidence.folder / "cache")))
        return file

    return make


def answered(file, values):
    """What each person says of each trial of theirs."""
    drawn = read_drawn(file.folder)
    return [
        Response(participant=f"P0{slot + 1}", trial=trial, values=values(slot, trial))
        for slot in range(file.study.n_people)
        for trial in assignment(file.study, drawn, slot)
    ]


def close(vidence, file, answers):
    place = Environment(cache_root=vidence.folder / "cache")
    now = datetime(2026, 1, 1, tzinfo=UTC)

    async def go():
        return await write_closed(file, answers, environment=place, now=now, on_event=lambda event: None)

    return anyio.run(go)


def test_errors_are_labelled_in_a_study_and_reported_by_vidence_errors(vidence, study):
    file = study(ERRORS)
    kind = {"even": "logical", "odd": "other"}
    responses = answered(file, lambda slot, trial: {"kind": kind[trial.run]})
    units = {(one.trial.run, one.trial.item_id, one.trial.repeat, one.participant) for one in responses}
    # 20 wrong replies; a fifth by two people, and each gets a tenth of theirs again.
    assert len(units) == len(responses) == 20 + 4 + sum(one.trial.repeat for one in responses) == 26
    people = [Participant(name=f"P0{n}", slot=n - 1, state="finished") for n in (1, 2)]
    people.append(Participant(name="P03", slot=2, state="withdrawn"))
    stray = msgspec.structs.replace(responses[0], participant="P03", values={"kind": "slip"})
    answers = StudyAnswers(participants=tuple(people), responses=(*responses, stray))
    closed = close(vidence, file, answers)
    assert [path.name for path in closed.labels] == ["P01.jsonl", "P02.jsonl"]
    assert closed.runs == ()  # labels are no answers to the questions
    assert read_answers(file.folder).responses == closed.answers.responses
    done = vidence("replies", "errors", "report", "s", "--json", "r.json")
    assert done.code == 0, done.err
    tables = {table["name"]: table for table in json.loads((vidence.folder / "r.json").read_text())["tables"]}
    found = {line["key"]: line for line in tables["kinds:people"]["lines"]}
    assert [found[what][f"n:{run}"]["value"] for run, what in kind.items()] == [10, 10]
    assert found["logical"]["pooled"]["value"] == pytest.approx(0.5)
    assert "20 of 20 wrong replies are labelled by people (P01, P02)" in " ".join(done.out.split())
    text = "".join((file.folder / "drawn.json").read_text().split())
    assert '"run":"even"' in text  # the operator's file; what a page shows says nothing of it
    packet, phase = read_packet(file.folder), file.study.phases[0]
    pages = [
        shown_trial(read_items(file.folder)[one.trial.item_id], one.trial, phase, lines=lines_of(packet))
        for one in responses
    ]
    assert {page.reference for page in pages} == {"A. yes"}
    assert {page.replies[0].reply for page in pages} == {"B"}
    assert not any(word in repr(pages) for word in ("even", "odd", "q1", "replay"))
    assert taxonomy_in(file.folder).title == "MMVU, errors"


def test_a_study_is_drawn_once_and_again_the_same(vidence, study):
    file = study(ERRORS)
    before = {path.name: path.read_bytes() for path in file.folder.iterdir()}
    study(ERRORS)
    assert {path.name: path.read_bytes() for path in file.folder.iterdir()} == before
    for text, says in (
        (ERRORS.replace("n = 10", "n = 5"), "another draw of this study"),
        (ERRORS.replace("n = 10", "n = 13"), "even has 12 wrong replies, 13 are to be drawn of each run"),
        (ERRORS.replace("n = 10", 'n = 10\nby = "level"'), "by of [draw] is about items"),
        (f"{ERRORS}[practice]\nn = 2\n", "no drawn reply is reserved for practice"),
    ):
        with pytest.raises(UsageError) as refused:
            study(text)
        assert says in str(refused.value)
    # Of a part of the set that the runs were asked, only replies to it are drawn.
    (vidence.folder / "other").mkdir()
    lines = (vidence.folder / "items.jsonl").read_text().splitlines()[:3]
    (vidence.folder / "other/few.jsonl").write_text("\n".join(lines))
    with pytest.raises(UsageError, match="even has 1 wrong replies, 10 are to be drawn of each run"):
        study(ERRORS.replace("runs =", 'items = "few.jsonl"\nruns ='), name="other")


def is_right(run, item_id):
    return RUNS[run][int(item_id[1:])] == "1"


def says(drawn):
    """What two people say: the truth, but the second finds a pair tied, and errs on a question."""

    def values(slot, trial):
        item_id = trial.item_id
        if trial.phase.startswith("pairs"):
            if slot and item_id == drawn[0]:
                return {"better": "tie"}
            is_first = is_right(trial.run, item_id) >= is_right(trial.other, item_id)
            return {"better": "first" if is_first else "second"}
        mark = is_right(trial.run, item_id) != (slot == 1 and item_id == drawn[1])
        return {"correct": "right" if mark else "wrong", "score": "4" if mark else "1"}

    return values


def by_hand(drawn):
    """The same as a table: one row for each person and reply, the pair in the row of its better reply."""
    for slot in (0, 1):
        for item_id in drawn:
            for run, other in (("even", "odd"), ("odd", "even")):
                mark = is_right(run, item_id) != (slot == 1 and item_id == drawn[1])
                is_tie = slot == 1 and item_id == drawn[0]
                beats = other if is_right(run, item_id) > is_right(other, item_id) and not is_tie else ""
                ties = other if is_tie and run == "even" else ""
                yield [item_id, run, f"P0{slot + 1}", int(mark), 4 if mark else 1, beats, ties]


def judged(vidence):
    """Verdicts of a judge that finds right what the truth says, but for every fifth reply."""
    judge = ("--judge-model", 'scripted:{"extracted_answer":"A","correct":true}', "--judge", "mmvu-official")
    done = vidence("replies", "judges", "even", "odd", *judge, "--lines", "l.jsonl")
    assert done.code == 0, done.err
    lines = [json.loads(line) for line in (vidence.folder / "l.jsonl").read_text().splitlines()]
    values = {}
    for n, line in enumerate(lines):
        run = line["run"].removeprefix("replay:")
        values[run, line["item_id"]] = line["value"] = float(is_right(run, line["item_id"]) != (n % 5 == 0))
    (vidence.folder / "l.jsonl").write_text("\n".join(map(json.dumps, lines)))
    return values


def test_marks_and_pairs_of_a_study_give_the_figures_of_the_same_table_by_hand(vidence, study):
    file = study(JUDGE)
    drawn = [one.item_id for one in read_drawn(file.folder).asked]
    responses = answered(file, says(drawn))
    assert len(responses) == 2 * 2 * (16 + 8)
    people = tuple(Participant(name=f"P0{n}", slot=n - 1, state="finished") for n in (1, 2))
    closed = close(vidence, file, StudyAnswers(participants=people, responses=tuple(responses)))
    assert [path.name for path in closed.labels] == ["human.csv", "human-rationale.csv", "ratings.csv"]
    values, rows = judged(vidence), list(by_hand(drawn))
    with (vidence.folder / "hand.csv").open("w", newline="") as sheet:
        heading = ["item_id", "model", "rater", "correct", "score", "beats", "ties"]
        csv.writer(sheet).writerows([heading, *rows])
    found = {}
    for path in ("s/labels/human.csv", "s/labels/human-rationale.csv", "hand.csv"):
        done = vidence(
            "replies", "judges", "even", "odd", "--human", path, "--recorded", "l.jsonl", "--json", "j.json"
        )
        assert done.code == 0, done.err
        found[path] = json.loads((vidence.folder / "j.json").read_text())["judges"]
    ours, arm, hand = found.values()
    assert ours == arm == hand
    # Figures of our own. Two replies have tied raters; a pair that one rater finds tied counts by the other.
    marks = {}
    for item_id, run, _, mark, *_ in rows:
        marks.setdefault((run, item_id), []).append(mark)
    agreed = [(values[reply], own[0]) for reply, own in marks.items() if len(set(own)) == 1]
    assert ours["n_tied"] == 2
    assert ours["agreement"][0]["phi"]["value"] == pytest.approx(np.corrcoef(np.transpose(agreed))[0, 1])
    (wins,) = ours["wins"]
    by_judge = {i: values["even", i] - values["odd", i] for i in drawn}
    by_people = {i: is_right("even", i) - is_right("odd", i) for i in drawn}
    assert wins["n_ties_judge"] == sum(value == 0 for value in by_judge.values())
    assert wins["n_ties_people"] == sum(value == 0 for value in by_people.values())
    same = sum(np.sign(by_judge[i]) == np.sign(by_people[i]) for i in drawn) / 8
    assert (wins["n"], wins["same"]["value"]) == (8, pytest.approx(same))
    done = vidence("study", "report", "s", "--json", "r.json")
    assert done.code == 0, done.err
    named = [table["name"] for table in json.loads((vidence.folder / "r.json").read_text())["tables"]]
    assert {"ratings:marks:score", "votes:marks:correct", "agreement"} <= set(named)


def test_people_label_on_sheets_and_nothing_is_taken_of_a_wrong_one(vidence, leveled_runs):
    leveled_runs(**RUNS)
    (vidence.folder / "s").mkdir()
    (vidence.folder / "s/study.toml").write_text(ERRORS)
    done = vidence("study", "draw", "s", "--sheets", "2")
    assert done.code == 0, done.err
    assert "20 questions of table, split, to 2 people: 26 trials in total as data" in done.err
    kinds = {"P01": "logical", "P02": "other"}
    for who, kind in kinds.items():
        path = vidence.folder / f"s/sheets/{who}.csv"
        rows = list(csv.DictReader(path.read_text().splitlines(keepends=True)))
        for row in rows:
            row["kind"] = kind
        if who == "P02":
            rows[3] |= {"kind": "slip", "quote": "it rains"}
        with path.open("w", newline="") as file:
            sheet = csv.DictWriter(file, rows[0])
            sheet.writeheader()
            sheet.writerows(rows)
    sheets = [word for who in kinds for word in ("--sheet", f"s/sheets/{who}.csv")]
    done = vidence("study", "close", "s", *sheets)
    assert done.code == 2
    assert "2 problems in 2 sheets, and nothing was read" in done.err
    assert "kind: 'slip'; expected one of visual-perception" in done.err
    assert not (vidence.folder / "s/responses.jsonl").exists()
    done = vidence("study", "close", "s", *sheets[:2])
    assert done.code == 0, done.err
    (vidence.folder / sheets[3]).write_text(
        (vidence.folder / sheets[3]).read_text().replace("slip,it rains", "other,")
    )
    done = vidence("study", "close", "s", *sheets[2:])
    assert done.code == 0, done.err
    answers = read_answers(vidence.folder / "s")
    assert [(one.name, one.state) for one in answers.participants] == [
        ("P01", "finished"),
        ("P02", "finished"),
    ]
    done = vidence("replies", "errors", "report", "s", "--json", "r.json")
    assert done.code == 0, done.err
    tables = {table["name"]: table for table in json.loads((vidence.folder / "r.json").read_text())["tables"]}
    agreed = {line["key"]: line for line in tables["agreement"]["lines"]}
    assert (agreed["P01 and P02"]["n"]["value"], agreed["P01 and P02"]["same"]["value"]) == (4, 0)
    assert agreed["P01 and P01 again"]["same"]["value"] == 1
    done = vidence("study", "report", "s", "--json", "s.json")
    assert done.code == 0, done.err
    names = [table["name"] for table in json.loads((vidence.folder / "s.json").read_text())["tables"]]
    assert {"kinds:people", "agreement"} <= set(names)
