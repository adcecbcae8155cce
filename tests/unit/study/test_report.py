"""The report of a study with planted answers, worked out here from the plant, and its checklist."""

import functools
import json
import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import anyio
import msgspec
import numpy as np
import pytest

from vidence.cli.main import main
from vidence.engine.environment import Environment
from vidence.errors import DataError, UsageError
from vidence.report.scores import Draws
from vidence.statistics.agreement import krippendorff_alpha
from vidence.statistics.crossed import crossed_interval, crossed_mean
from vidence.study.assignment import all_trials
from vidence.study.checklist import TO_FILL, checklist, checklist_latex
from vidence.study.drawing import draw, read_drawn, read_items, write_drawn
from vidence.study.folder import StudyAnswers, write_answers
from vidence.study.report import open_study, pay_table, report_of, time_table
from vidence.study.running import write_people
from vidence.study.showing import is_study, study_of
from vidence.study.study import Event, Participant, Response, read_study
from vidence.tables.table import DASH

NOW = datetime(2026, 3, 1, 9, tzinfo=UTC)
STUDY = """
title = "Planted"
instructions = "Say what you see.\\nGuess if you must."
items = "questions.jsonl"
n_people = 4
[draw]
by = "task"
seed = 3
[[phases]]
name = "closed"
title = "Closed book"
condition = "none"
aids = "None."
limit_s = 600
[[phases]]
name = "oracle"
title = "Oracle"
condition = "none"
items = "wrong"
keeps = true
aids = "The hint."
[[form]]
name = "answer"
kind = "answer"
[practice]
n = 0
[catch]
n = 1
[exclude]
catch_below = 1.0
[pay]
currency = "EUR"
flat = 2
per_hour = 12
per_right = 0.5
"""
# Right answers of each person in the first phase, and which of the wrong ones the second puts right.
CLOSED = {
    "P01": [1, 1, 0, 0, 1, 0, 1, 0],
    "P02": [1, 0, 0, 1, 1, 0, 0, 0],
    "P03": [1, 1, 1, 0, 1, 0, 1, 1],
    "P04": [0, 0, 0, 0, 0, 0, 0, 1],
}
MENDED = {"P01": {2, 3}, "P02": {1, 2, 5}, "P03": set(), "P04": {0, 1, 2}}
EXCLUDED = "P04"
VIDEOS = ["v0", "v0", "v1", "v1", "v2", "v2", "v3", "v3"]
KEPT = [name for name in CLOSED if name != EXCLUDED]
ORACLE = {
    name: [max(mark, int(i in MENDED[name])) for i, mark in enumerate(marks)]
    for name, marks in CLOSED.items()
}
SECONDS = {"closed": 10.0, "oracle": 4.0}


class Planted:
    """A study whose people answered as planted."""

    def __init__(self, folder, word="Number"):
        lines = [
            {
                "item_id": f"q{i}",
                "source_id": VIDEOS[i],
                "question": f"{word} {i}?",
                "choices": ["x", "y", "z"],
                "answer": "ABC"[i % 3],
                "tags": {"task": "even" if i % 2 == 0 else "odd"},
            }
            for i in range(8)
        ]
        (folder / "questions.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
        (folder / "study.toml").write_text(STUDY)
        self.folder, self.file = folder, read_study(folder)
        self.environment = Environment(cache_root=folder / "cache")
        write_drawn(self.file, draw(self.file, environment=self.environment))
        self.drawn, self.items = read_drawn(folder), read_items(folder)

    def responses(self, slot, name):
        own = []
        for phase, marks in (("closed", CLOSED[name]), ("oracle", ORACLE[name])):
            trials = all_trials(self.file.study, self.drawn, slot, responses=own, items=self.items)
            for trial in (t for t in trials if t.phase == phase):
                if trial.kind == "catch":
                    value = trial.expected if name != EXCLUDED else "D"
                else:
                    right = self.items[trial.item_id].answer
                    value = right if marks[int(trial.item_id[1:])] else {"A": "B"}.get(right, "A")
                own.append(
                    Response(
                        participant=name,
                        trial=trial,
                        values={"answer": value},
                        seconds=SECONDS[phase],
                        n_plays=2,
                        answered_at=NOW.isoformat(),
                    )
                )
        return own

    def close(self):
        people = [
            Participant(
                name=name, slot=slot, state="finished", began_at=NOW.isoformat(), recruited="recruiter"
            )
            for slot, name in enumerate(CLOSED)
        ]
        people += [
            Participant(name="P05", slot=4, state="withdrawn", began_at=NOW.isoformat()),
            Participant(name="P06", slot=5, state="declined"),
        ]
        events = [
            Event(participant=name, at=(NOW + timedelta(minutes=at)).isoformat(), kind=kind, note="closed")
            for name in CLOSED
            for at, kind in ((0, "phase-began"), (30, "phase-ended"))
        ]
        answers = StudyAnswers(
            participants=tuple(people),
            responses=tuple(one for slot, name in enumerate(CLOSED) for one in self.responses(slot, name)),
            events=tuple(events),
        )
        write = functools.partial(
            write_people, environment=self.environment, now=NOW, on_event=lambda _: None
        )
        closed, _ = anyio.run(write, self.file, answers)
        write_answers(self.folder, closed)
        return self

    def asked(self, name, *words):
        """A model that was put through the study."""
        command = ["run", "--study", str(self.folder), "--model", *words, "--out", str(self.folder / name)]
        with pytest.raises(SystemExit):
            main([*command, "--no-page", "--name", name])
        return self.folder / name


@pytest.fixture(scope="module")
def planted(tmp_path_factory):
    return Planted(tmp_path_factory.mktemp("planted")).close()


@pytest.fixture(scope="module")
def model(planted):
    return planted.asked("model", "scripted:Answer: A")


@pytest.fixture
def draws(rng):
    return Draws(rng=rng)


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def tables(planted, draws, **options):
    found = open_study(planted.folder, **options)
    made = report_of(found, draws=draws)
    return found, {table.name: table for table in made.tables}, made


def answers_of(marks, names=KEPT, *, only=range(8)):
    return {
        "values": [marks[name][i] for name in names for i in only],
        "people": [name for name in names for _ in only],
        "clusters": [VIDEOS[i] for _ in names for i in only],
    }


def test_accuracy_is_by_phase_and_stratum_over_the_people_who_count(planted, draws):
    _, by_name, made = tables(planted, draws)
    table = by_name["study-scores"]
    for phase, marks in (("closed", CLOSED), ("oracle", ORACLE)):
        for stratum, only in (("all", range(8)), ("even", range(0, 8, 2)), ("odd", range(1, 8, 2))):
            key = f"{phase}:{stratum}"
            answers = answers_of(marks, only=only)
            assert table.value(key, "right") == sum(answers["values"])
            assert table.value(key, "answers") == 3 * len(only)
            expected = crossed_interval(**answers)
            found = table.estimate(key, "accuracy")
            assert (found.value, found.low, found.high) == (expected.value, expected.low, expected.high)
            assert (table.value(key, "people"), table.value(key, "videos")) == (3, 4)
    assert table.value("oracle:all", "condition") == "none"
    assert made.sentences[0] == "5 began, 4 finished, 1 withdrew, 1 excluded: 3 people count."


def test_each_person_has_a_row_and_the_excluded_stand_below(planted, draws):
    table = tables(planted, draws)[1]["study-people"]
    assert [row.key for row in table.rows] == ["P01", "P02", "P03", "P04"]
    assert table.row("P04").detail == "excluded"
    assert table.cell("P03", "closed").detail == "6 of 8"
    assert table.cell("P02", "oracle").detail == "6 of 8"
    assert table.value("P04", "oracle") == 0.5


def test_the_score_is_told_without_and_with_the_excluded(planted, draws):
    table = tables(planted, draws)[1]["study-exclusions"]
    for phase, marks in (("closed", CLOSED), ("oracle", ORACLE)):
        without = crossed_interval(**answers_of(marks))
        whole = crossed_interval(**answers_of(marks, names=list(CLOSED)))
        assert table.estimate(phase, "without").low == pytest.approx(without.low)
        assert table.estimate(phase, "with").value == pytest.approx(whole.value)
        assert table.estimate(phase, "with").high == pytest.approx(whole.high)
        assert (table.value(phase, "people"), table.value(phase, "all")) == (3, 4)


def test_changes_are_counted_and_tested_by_person_and_item(planted, draws):
    table = tables(planted, draws)[1]["study-changes"]
    cells = {
        key: table.value("closed:oracle", key) for key in ("stays_right", "gained", "lost", "stays_wrong")
    }
    n_right, n_gained = sum(sum(CLOSED[name]) for name in KEPT), sum(len(MENDED[name]) for name in KEPT)
    assert cells == {
        "stays_right": n_right,
        "gained": n_gained,
        "lost": 0,
        "stays_wrong": 24 - n_right - n_gained,
    }
    gains = {name: list(np.subtract(ORACLE[name], CLOSED[name])) for name in KEPT}
    mean = crossed_mean(**answers_of(gains), items=[f"q{i}" for _ in KEPT for i in range(8)])
    expected, p_value = mean.difference()
    found = table.estimate("closed:oracle", "difference")
    assert (found.value, found.low, found.high) == pytest.approx((5 / 24, expected.low, expected.high))
    assert table.value("closed:oracle", "p") == pytest.approx(p_value)


def test_time_agreement_and_pay_are_those_of_the_plant(planted, draws):
    _, by_name, _ = tables(planted, draws)
    time = by_name["study-time"]
    n_wrong = sum(8 - sum(CLOSED[name]) for name in KEPT)
    assert [time.value("closed", key) for key in ("answers", "seconds", "plays")] == [24, 10.0, 2.0]
    assert [time.value("oracle", key) for key in ("answers", "seconds")] == [n_wrong, 4.0]
    agreement = by_name["agreement"]
    wrong = [1.0 if i % 3 == 0 else 0.0 for i in range(8)]
    ratings = [[float(i % 3) if CLOSED[name][i] else wrong[i] for name in KEPT] for i in range(8)]
    alpha = krippendorff_alpha(ratings, measurement="nominal", rng=np.random.default_rng(0))
    (closed, _) = (row.key for row in agreement.rows)
    assert (agreement.value(closed, "n"), agreement.value(closed, "raters")) == (8, 3)
    assert agreement.estimate(closed, "alpha").value == pytest.approx(alpha.value)
    alike = [len(set(row)) == 1 for row in ratings]
    assert agreement.estimate(closed, "same").value == pytest.approx(np.mean(alike))
    pay = by_name["study-pay"]
    oracle_s = 4.0 * (8 - sum(CLOSED["P01"])) + 4.0
    assert pay.value("P01", "hours") == pytest.approx(0.5 + oracle_s / 3600)
    n_right = sum(CLOSED["P01"]) + len(MENDED["P01"])  # what stays right is paid once
    assert pay.value("P01", "right") == n_right
    assert pay.value("P01", "amount") == pytest.approx(
        2 + 12 * (0.5 + oracle_s / 3600) + n_right / 2, abs=0.006
    )
    assert {row.key for row in pay.rows} == {"P01", "P02", "P03", "P04", "P05"}


def test_an_answer_that_is_given_again_in_the_next_phase_is_paid_once(planted):
    found = open_study(planted.folder)
    again = [r for r in found.answers.responses if r.participant == "P01" and r.trial.phase == "closed"]
    trials = [msgspec.structs.replace(r.trial, phase="oracle", place=90 + i) for i, r in enumerate(again)]
    more = [msgspec.structs.replace(r, trial=trial) for r, trial in zip(again, trials, strict=True)]
    answers = replace(found.answers, responses=(*found.answers.responses, *more))
    n_right = sum(CLOSED["P01"]) + len(MENDED["P01"])
    assert pay_table(replace(found, answers=answers)).value("P01", "right") == n_right


def test_times_are_of_answers_and_failures_of_all_trials(planted):
    """What was seen and not answered, drafts, and sheets have no time; a trial that failed is a failure."""
    found = open_study(planted.folder)
    first = next(one for one in found.data if one.trial.phase == "closed")
    kept = {
        "handed in": {"seconds": 8.0, "answered_at": NOW.isoformat(), "values": {"answer": "A"}},
        "draft": {"values": {"answer": "A"}, "problem": "no sound"},
        "seen": {"problem": "no picture"},
    }
    blank = {"values": {}, "seconds": 0.0, "answered_at": ""}
    responses = tuple(msgspec.structs.replace(first, **(blank | own)) for own in kept.values())
    found = replace(found, answers=replace(found.answers, responses=responses))
    table = time_table(found)
    cells = [table.value("closed", key) for key in ("answers", "seconds", "failed")]
    assert cells == [1, 8.0, 2]
    assert len(found.given("closed")) == 2
    sheet = replace(found, answers=replace(found.answers, responses=responses[1:]))
    assert time_table(sheet) is None


def test_people_are_set_beside_a_model_on_the_same_items(planted, model, draws):
    found, by_name, _ = tables(planted, draws, models=[model])
    table = by_name["study-models"]
    of_model = [float(i % 3 == 0) for i in range(8)]
    gaps = {name: list(np.subtract(CLOSED[name], of_model)) for name in KEPT}
    expected, _ = crossed_mean(
        **answers_of(gaps), items=[f"q{i}" for _ in KEPT for i in range(8)]
    ).difference()
    row = table.estimate("closed:0", "difference")
    assert (row.value, row.low, row.high) == pytest.approx((expected.value, expected.low, expected.high))
    assert table.value("closed:0", "score") == pytest.approx(3 / 8)
    assert row.n_people == 3
    entries = {one.number: one for one in checklist(found, report_of(found, draws=draws).tables)}
    assert entries["0.9"].recorded == "model: 8"
    assert entries["3.4"].recorded.startswith("model: put through this very study, the same words of 8 of 8")
    assert "points" in entries["4.1"].recorded
    assert entries["4.4"].recorded == "model: yes"
    assert entries["3.3.1"].recorded == "Models had prompts, people pages in a browser (model)."


def test_a_model_that_was_asked_other_questions_is_refused(planted, tmp_path, draws):
    other = Planted(tmp_path, word="Letter").asked("other", "scripted:Answer: A")
    with pytest.raises(UsageError, match=r"other shares no question with the phase 'closed'.*run --study"):
        tables(planted, draws, models=[other])


def test_the_checklist_claims_what_was_recorded_and_nothing_else(planted, draws):
    found, _, made = tables(planted, draws)
    entries = {one.number: one for one in checklist(found, made.tables)}
    assert len(entries) == 71
    left = {number for number, one in entries.items() if one.left == TO_FILL}
    # Of these nothing is in the study: they are never filled in.
    assert {"0.1", "0.5", "0.7", "1.5", "1.6", "1.8", "1.9", "1.10", "2.1", "2.3", "2.4", "2.5"} <= left
    assert {"2.6.1", "2.6.2", "3.5.1", "5.1.1", "5.1.4", "5.2", "5.2.2", "5.3"} <= left
    assert {"0.9", "3.3", "3.4", "4.1", "4.1.1", "4.3", "4.4"} <= left  # no model was given
    assert all(one.recorded == "" for number, one in entries.items() if number in left)
    said = {number: one.recorded for number, one in entries.items() if one.recorded}
    assert said["1.1"] == "3 of 5 who began"
    assert said["1.2"] == "8 items of table"
    assert said["1.3"] == "Closed book: 3 answers; Oracle: 1 to 3 answers"
    assert said["2.2"] == "4 by a recruiter's link for many, 1 by a link for one person."
    assert said["2.7.1"] == "EUR 2 flat; EUR 12 an hour"
    assert said["2.7.2.1"] == "EUR 0.5 a right answer"
    assert said["3.2.1"].startswith("Left out, by the rules of study.toml, unchanged since the draw: ")
    assert said["3.2.1"].endswith("less than 100 % of the catch trials right.")
    assert said["3.2.2"] == "1 of 5 people (catch_below: 1)."
    assert said["4.6"].startswith("Closed book: 54.2 % without, 43.8 % with them")
    assert "Say what you see.\nGuess if you must." in said["5.1.2"]
    assert said["5.1.3"] == "Closed book: median 10.0 s an answer; Oracle: median 4.0 s an answer"
    assert said["5.1.5"] == "Of 5 who began, 4 finished, 0 stopped, 1 withdrew; 1 declined before."
    latex = checklist_latex(list(entries.values()))
    assert latex.count(r"\item[") == 71
    assert (
        said["4.2"]
        == "Yes, intervals with people and videos as crossed random factors, for people and models."
    )
    one = {
        k: replace(run, rows=tuple(r for r in run.rows if r.person == "P01")) for k, run in found.runs.items()
    }
    alone = {entry.number: entry.recorded for entry in checklist(replace(found, runs=one), ())}
    assert alone["4.2.1"] == "intervals with videos as clusters, for one person alone"
    assert r"Closed book: 54.2 \% without" in latex
    fewer = [one for one in found.answers.responses if one.trial.item_id != "q0" and one.participant != "P01"]
    few = replace(found, answers=replace(found.answers, responses=tuple(fewer)))
    told = {entry.number: entry.recorded for entry in checklist(few, ())}
    assert told["1.3"].startswith("Closed book: 0 to 2 answers; ")
    assert told["1.4"].startswith("Closed book: 0 to 7 items; ")


def test_the_commands_write_page_latex_and_json(planted, model, capsys):
    folder = planted.folder
    files = {name: folder / f"report.{name}" for name in ("html", "json", "tex")}
    command = ["report", str(folder), str(model), "--html", str(files["html"])]
    with pytest.raises(SystemExit) as ended:
        main([*command, "--json", str(files["json"]), "--latex", str(files["tex"])])
    assert ended.value.code == 0
    said = capsys.readouterr().out
    assert "54.2" in said
    assert "3 people count" in said
    page = files["html"].read_text()
    assert "Reporting checklist" in page
    assert "for the authors to fill in" in page
    read = json.loads(files["json"].read_text())
    assert len(read["checklist"]) == 71
    assert read["sha256"] == planted.file.sha256
    assert {"study-scores", "study-changes"} <= {table["name"] for table in read["tables"]}
    assert r"\item[5.1.2]" in files["tex"].read_text()
    with pytest.raises(SystemExit):
        main(["report", str(folder / "people" / "P01-closed"), str(folder / "people" / "P02-closed")])
    assert "P01-closed" in capsys.readouterr().out


def test_a_panel_has_people_beside_models_with_exclusions_and_checklist(planted, model, tmp_path, capsys):
    rows = "".join(
        f'[[runs]]\nfolder = "{planted.folder}/people/*-{phase}"\ncondition = "{phase}"\n'
        for phase in ("closed", "oracle")
    )
    file = tmp_path / "panel.toml"
    file.write_text(f'title = "Both"\n{rows}[[runs]]\nfolder = "{model}"\n')
    with pytest.raises(SystemExit) as ended:
        main(["panel", str(file), "--out", str(tmp_path / "out"), "--latex", str(tmp_path / "out.tex")])
    assert ended.value.code == 0
    said = capsys.readouterr().out
    assert "people, closed" in said
    assert "1 excluded: 3 people count" in said
    assert "Reporting checklist" in said
    page = (tmp_path / "out" / "panel.html").read_text()
    assert "EUR 12 an hour" in page
    assert "people, oracle" in (tmp_path / "out.tex").read_text()


def test_a_study_without_answers_and_strange_run_folders_are_named(tmp_path):
    study = Planted(tmp_path)
    with pytest.raises(DataError, match="there are no answers yet"):
        open_study(tmp_path)
    study.close()
    (tmp_path / "people" / "P01-closed").rename(tmp_path / "people" / "P01-middle")
    with pytest.raises(
        UsageError, match=r"run folders of the phase 'middle'; expected closed, oracle: `vidence"
    ):
        open_study(tmp_path)


def test_a_row_of_a_panel_is_known_to_be_of_a_study(planted, tmp_path):
    assert is_study(planted.folder)
    assert not is_study(planted.folder / "people" / "P01-closed")
    assert study_of(planted.folder / "people" / "*-open") == study_of(planted.folder) == planted.folder
    assert study_of(planted.folder / "people" / "P01-closed") == planted.folder
    assert study_of(tmp_path) is None


def test_people_of_each_phase_stand_under_the_printed_rows(tmp_path, capsys):
    release = [
        {
            "id": f"validation_{i}",
            "video": f"https://example.org/videos/Art/{i}.mp4",
            "question_type": "multiple-choice",
            "metadata": {"subject": "Art"},
            "question": f"What is in {i}?",
            "choices": {letter: f"thing {letter} of {i}" for letter in "ABCDE"},
            "answer": "A",
        }
        for i in range(8)
    ]
    (tmp_path / "validation.json").write_text(json.dumps(release))
    toml = 'preset = "exam"\nitems = "mmvu"\ndata = "validation.json"\n[draw]\nn = 8\n'
    for name in ("closed", "open"):
        toml += f'[[phases]]\nname = "{name}"\ncondition = "none"\n'
    (tmp_path / "study.toml").write_text(toml)
    file, environment = read_study(tmp_path), Environment(cache_root=tmp_path / "cache")
    write_drawn(file, draw(file, environment=environment))
    drawn, items = read_drawn(tmp_path), read_items(tmp_path)
    responses = [
        Response(participant=f"P0{slot + 1}", trial=trial, values={"answer": "AB"[trial.phase == "closed"]})
        for slot in range(2)
        for trial in all_trials(file.study, drawn, slot, responses=(), items=items)
    ]
    people = tuple(Participant(name=f"P0{slot + 1}", slot=slot, state="finished") for slot in range(2))
    write = functools.partial(write_people, environment=environment, now=NOW, on_event=lambda _: None)
    closed, _ = anyio.run(write, file, StudyAnswers(participants=people, responses=tuple(responses)))
    write_answers(tmp_path, closed)
    with pytest.raises(SystemExit):
        main(["study", "report", str(tmp_path), "--published"])
    said = capsys.readouterr().out
    assert "Human Open-book" in said
    assert [len(re.findall(rf"people, {name} +{DASH} +{DASH} +{score}", said)) for name, score in ROWS] == [
        1,
        1,
    ]


# At 0 and 100 %, two people who are alike leave 0 to 94.4 %, and 5.6 to 100 %, of other people open.
ROWS = (("closed", "0.0 0.0 to 94.4"), ("open", "100.0 5.6 to 100.0"))
