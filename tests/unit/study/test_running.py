"""Answers of people as run folders, models put through the same plan, and rules that leave people out."""

import functools
import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import anyio
import msgspec
import pytest

from vidence.cli.main import main
from vidence.engine.environment import Environment
from vidence.engine.plan import read_plan
from vidence.errors import DataError, StoreError, UsageError
from vidence.report.results import load_run
from vidence.study.assignment import DrawnFolder, all_trials, excluded, is_caught_right, wages
from vidence.study.drawing import draw, read_drawn, read_items, write_drawn
from vidence.study.folder import StudyAnswers, read_answers, write_answers
from vidence.study.running import model_plan, settled, write_people
from vidence.study.study import (
    Catch,
    Event,
    Exclude,
    Field,
    Participant,
    Pay,
    Phase,
    PlannedTrial,
    Response,
    Study,
    read_study,
)

NOW = datetime(2026, 3, 1, 9, tzinfo=UTC)
EXAM = """
preset = "exam"
items = "questions.jsonl"
n_people = 2
[draw]
n = 10
seed = 1
[[phases]]
name = "closed"
condition = "none"
may_change = true
[[phases]]
name = "open"
condition = "none"
may_change = true
keeps = true
[[phases]]
name = "oracle"
condition = "none"
items = "wrong"
keeps = true
[pay]
flat = 1
per_hour = 6
per_answer = 0.1
per_right = 0.5
[catch]
n = 1
[exclude]
catch_below = 0.9
faster_than_s = 2
problems_above = 0.25
"""


class Solved:
    """A study that scripted people solve."""

    def __init__(self, folder, text=EXAM, *, lines=()):
        choices = ["x", "y", "z"]
        mixed = [
            {"item_id": f"q{i}", "question": f"Number {i}?", "choices": choices, "answer": "ABC"[i % 3]}
            for i in range(11)
        ]
        mixed.append({"item_id": "q11", "question": "In words?", "answer": "red door", "answer_kind": "text"})
        name = "free.jsonl" if lines else "questions.jsonl"
        (folder / name).write_text("".join(json.dumps(line) + "\n" for line in lines or mixed))
        (folder / "study.toml").write_text(text)
        self.file = read_study(folder)
        self.environment = Environment(cache_root=folder / "cache")
        write_drawn(self.file, draw(self.file, environment=self.environment))
        self.drawn, self.items = read_drawn(folder), read_items(folder)
        self.people, self.responses, self.events = [], [], []

    def person(self, slot, right, *, state="finished", seconds=10.0, caught=True, problems=0):
        """A participant with so many right answers by phase; an empty one leaves the answer as it is."""
        name, study = f"P{slot + 1:02d}", self.file.study
        own = []
        for phase in study.phases:
            trials = all_trials(study, self.drawn, slot, responses=own, items=self.items)
            asked = [t for t in trials if t.phase == phase.name]
            n_right = right[phase.name]
            for trial in sorted(asked, key=lambda t: int(t.item_id[1:]) if t.kind == "asked" else -1):
                value = trial.expected if caught else "D"
                if trial.kind == "asked":
                    answer = self.items[trial.item_id].answer
                    value = answer if n_right > 0 else "" if n_right == 0 else {"A": "B"}.get(answer, "A")
                    n_right -= 1 if n_right else 0
                own.append(
                    Response(
                        participant=name,
                        trial=trial,
                        values={"answer": value} if value else {},
                        seconds=seconds,
                        problem="no sound" if trial.kind == "asked" and len(own) < problems else "",
                        answered_at=NOW.isoformat() if value else "",
                    )
                )
        self.people.append(
            Participant(name=name, slot=slot, state=state, began_at=NOW.isoformat(), ended_at=NOW.isoformat())
        )
        self.responses += own
        return name

    @property
    def answers(self):
        return StudyAnswers(
            participants=tuple(self.people), responses=tuple(self.responses), events=tuple(self.events)
        )

    def write(self):
        work = functools.partial(
            write_people,
            self.file,
            self.answers,
            environment=self.environment,
            now=NOW,
            on_event=lambda _: None,
        )
        return anyio.run(work)


@pytest.fixture
def solved(tmp_path):
    return Solved(tmp_path)


def n_right(folder):
    rows = load_run(folder).rows
    return sum(row.correct or 0 for row in rows), len(rows)


def test_phases_of_an_exam_are_runs_over_all_that_was_planned(solved):
    solved.person(0, {"closed": 4, "open": 7, "oracle": 2})
    answers, folders = solved.write()
    names = ["P01-closed", "P01-open", "P01-oracle"]
    assert [folder.name for folder in folders] == names
    assert not answers.participants[0].excluded
    # unanswered is asked and wrong; what stays as it is stays; the oracle's is added to what was right
    assert [n_right(folder) for folder in folders] == [(4, 10), (7, 10), (9, 10)]
    plan, facts = read_plan(folders[1])
    assert (plan.benchmark, plan.model.partition("?")[0]) == ("table", "person:P01-open")
    assert facts.study_sha256 == solved.file.sha256
    assert "that were drawn for the study" in " ".join(facts.notes)
    assert {row.outcome for row in load_run(folders[0]).rows} == {"answered", "unreadable"}
    assert solved.write()[1] == folders  # again: nothing is asked, nothing lost


def test_who_is_out_has_no_run_folder_and_loses_the_one_that_was_there(solved):
    right = {"closed": 9, "open": 0, "oracle": 0}
    solved.person(0, right)
    assert len(solved.write()[1]) == 3
    solved.people[0] = Participant(name="P01", slot=0, state="withdrawn")
    solved.person(1, right, caught=False)
    solved.person(2, right, seconds=1.5)
    solved.person(3, right, problems=9)
    solved.person(4, right, state="begun")
    answers, folders = solved.write()
    assert folders == ()
    assert not list((solved.file.folder / "people").iterdir())
    assert [one.excluded for one in answers.participants] == [
        (),
        ("catch_below",),
        ("faster_than_s",),
        ("problems_above",),
        (),
    ]


def test_who_let_the_clock_run_out_has_finished(solved):
    study = solved.file.study
    timed = [msgspec.structs.replace(phase, limit_s=600.0) for phase in study.phases]
    solved.file = replace(solved.file, study=msgspec.structs.replace(study, phases=tuple(timed)))
    solved.person(0, {"closed": 9, "open": 1, "oracle": 0}, state="begun")
    times = ((0, "consented", ""), (0, "phase-began", "closed"), (11, "phase-began", "open"))
    for minutes, kind, phase in (*times, (22, "phase-began", "oracle")):
        at = (NOW + timedelta(minutes=minutes)).isoformat()
        solved.events.append(Event(participant="P01", at=at, kind=kind, note=phase))
    early, late = NOW + timedelta(minutes=31), NOW + timedelta(minutes=33)
    drawn = DrawnFolder.read(solved.file)
    states = [
        settled(replace(drawn, file=solved.file), solved.answers, now=now).participants[0]
        for now in (early, late)
    ]
    assert [one.state for one in states] == ["begun", "finished"]


def test_other_answers_make_another_run(solved):
    name = solved.person(0, {"closed": 4, "open": 0, "oracle": 0})
    first = solved.write()[1]
    solved.responses.clear()
    solved.people.clear()
    assert solved.person(0, {"closed": 5, "open": 0, "oracle": 0}) == name
    assert n_right(solved.write()[1][0]) == (5, 10)
    assert n_right(first[0]) == (5, 10)


def test_a_folder_that_cannot_be_removed_is_named(solved, monkeypatch):
    solved.person(0, {"closed": 4, "open": 0, "oracle": 0})
    solved.write()
    solved.people[0] = Participant(name="P01", slot=0, state="withdrawn")

    def refuse(path):
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr("shutil.rmtree", refuse)
    with pytest.raises(StoreError, match=r"cannot remove .*P01-closed"):
        solved.write()


def test_pay_is_by_the_clock_by_answers_and_by_what_was_right(solved):
    solved.person(0, {"closed": 4, "open": 7, "oracle": 2})
    for minutes, kind, phase in (
        (0, "phase-began", "closed"),
        (30, "phase-ended", "closed"),
        (600, "phase-began", "open"),
        (620, "phase-ended", "open"),
    ):
        at = (NOW + timedelta(minutes=minutes)).isoformat()
        solved.events.append(Event(participant="P01", at=at, kind=kind, note=phase))
    (wage,) = wages(solved.file.study, solved.answers, n_right={"P01": 20})
    answered = sum(1 for r in solved.responses if r.trial.kind == "asked" and r.answered_at)
    oracle_s = sum(r.seconds for r in solved.responses if r.trial.phase == "oracle")
    assert wage.hours == pytest.approx((50 * 60 + oracle_s) / 3600)
    assert wage.n_answers == answered == 4 + 7 + 2
    assert wage.amount == round(1 + 6 * wage.hours + 0.1 * answered + 0.5 * 20, 2)


def test_files_of_answers_come_back_as_they_were_and_wrong_lines_are_named(solved):
    folder = solved.file.folder
    with pytest.raises(
        DataError, match="there are no answers yet; when people have answered, run vidence study"
    ):
        read_answers(folder)
    solved.person(0, {"closed": 4, "open": 7, "oracle": 2})
    solved.events.append(Event(participant="P01", at=NOW.isoformat(), kind="finished"))
    write_answers(folder, solved.answers)
    assert read_answers(folder) == solved.answers
    lines = (folder / "responses.jsonl").read_text().splitlines()
    lines[1] = lines[0]
    lines[3] = lines[3].replace('"P01"', '"P09"')
    (folder / "responses.jsonl").write_text("\n".join(lines))
    with (folder / "participants.jsonl").open("a") as file:
        file.write((folder / "participants.jsonl").read_text())
    with pytest.raises(DataError) as caught:
        read_answers(folder)
    for words in (
        "3 lines of the answers in",
        "line 2: a second response of P01 on trial ",
        "line 4: 'P09' is not a participant; add them, or remove the line",
        "participants.jsonl, line 2: a second participant 'P01'",
    ):
        assert words in str(caught.value)
    (folder / "responses.jsonl").write_text(lines[0] + '\n{"participant": "P01"}\n')
    with pytest.raises(DataError, match=r"responses\.jsonl, line 2: Object missing required field `trial`"):
        read_answers(folder)


def test_a_model_is_put_through_the_same_plan(solved, capsys):
    folder, out = solved.file.folder, solved.file.folder / "model"
    solved.person(0, {"closed": 4, "open": 7, "oracle": 2})
    _, people = solved.write()
    with pytest.raises(SystemExit) as ended:
        main(["run", "--study", str(folder), "--model", "scripted:Answer: B", "--out", str(out), "--no-page"])
    assert ended.value.code == 0
    run, person = load_run(out), load_run(people[0])
    assert [row.item.item_id for row in run.rows] == [row.item.item_id for row in person.rows]
    assert run.facts.study_sha256 == person.facts.study_sha256 == solved.file.sha256
    assert run.facts.content_hash == person.facts.content_hash
    capsys.readouterr()
    with pytest.raises(SystemExit):
        main(["compare", str(out), str(people[0])])
    assert "person:P01-closed" in capsys.readouterr().out


def test_a_phase_that_a_model_cannot_be_put_through_is_refused(solved):
    def plan(**more):
        return model_plan(solved.file, model="baseline:random", overrides={}, **more)

    assert plan(phase="open").selector == "none"
    with pytest.raises(UsageError, match="put the model through a phase that asks all: closed, open"):
        plan(phase="oracle")
    with pytest.raises(UsageError, match="there is no phase named 'opne'"):
        plan(phase="opne")
    whole = solved.file
    for more, words in (
        (
            {"shows": ("question", "knowledge")},
            "shows question, knowledge, and asks for answer, note; put the model",
        ),
        (
            {"fields": ("note",)},
            "shows question, and asks for note; put the model through a phase that shows",
        ),
    ):
        first = msgspec.structs.replace(whole.study.phases[0], **more)
        form = (*whole.study.form, Field(name="note", kind="text"))
        study = msgspec.structs.replace(whole.study, phases=(first, *whole.study.phases[1:]), form=form)
        solved.file = replace(whole, study=study)
        with pytest.raises(UsageError, match=words):
            plan()
    solved.file = whole
    for given in ({"frames": 8}, {"where": {"a": "b"}}, {"sample": 3}):
        with pytest.raises(
            UsageError, match="would change what phase 'closed' of the study shows; remove it"
        ):
            model_plan(solved.file, model="baseline:random", overrides=given)


def test_a_run_of_a_study_that_was_drawn_again_is_not_gone_on_with(solved, capsys):
    folder, out = solved.file.folder, solved.file.folder / "model"
    command = ["run", "--study", str(folder), "--model", "scripted:B", "--out", str(out), "--no-page"]
    for wrong, words in (
        ([*command, "--phase", "oracle"], "put the model through a phase that asks all"),
        (["run", "table", *command[1:]], "leave BENCHMARK, --data and --plan out"),
        (["run", "table", "--model", "scripted:B", "--phase", "x"], "--phase goes with --study"),
    ):
        with pytest.raises(SystemExit) as ended:
            main(wrong)
        assert ended.value.code == 2
        assert words in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(command)
    drawn = json.loads((folder / "drawn.json").read_text())
    (folder / "drawn.json").write_text(json.dumps(drawn | {"study_sha256": "1" * 64}))
    with pytest.raises(SystemExit):
        main(command)
    assert "the study was drawn again" in capsys.readouterr().err
    drawn["asked"].append({"item_id": "lost"})
    (folder / "drawn.json").write_text(json.dumps(drawn))
    with pytest.raises(SystemExit):
        main(command)
    assert "1 of 11 questions of the study are not in the set, such as 'lost'" in " ".join(
        capsys.readouterr().err.split()
    )


def test_excluded_rules_are_written_beside_participants(solved):
    solved.person(0, {"closed": 1, "open": 0, "oracle": 0}, caught=False, seconds=1.0, problems=99)
    (one,) = excluded(solved.file.study, solved.answers).participants
    assert one.excluded == ("catch_below", "faster_than_s", "problems_above")


def test_items_of_ones_own_are_in_no_run_and_are_waited_for_by_nothing(solved):
    solved.person(0, {"closed": 4, "open": 0, "oracle": 0})
    own = solved.drawn.asked[0].item_id
    solved.people[0] = msgspec.structs.replace(solved.people[0], own_items=(own,))
    solved.responses = [r for r in solved.responses if r.trial.item_id != own]
    for folder in solved.write()[1]:
        items = [row.item.item_id for row in load_run(folder).rows]
        assert (len(items), own in items) == (9, False)


def test_rules_leave_out_those_who_began_and_stayed():
    study = Study(calibrates=True, exclude=Exclude(without_calibration=True))
    states = ("invited", "declined", "begun", "finished", "withdrawn")
    people = tuple(Participant(name=f"P{i}", slot=i, state=state) for i, state in enumerate(states))
    found = excluded(study, StudyAnswers(participants=people, responses=()))
    assert [one.state for one in found.participants if one.excluded] == ["begun", "finished"]


@pytest.mark.parametrize(
    ("given", "expected", "field", "is_right"),
    [
        (" amber. ", "Amber", "answer", True),
        ("B", "A", "answer", False),
        ("", "A", "answer", False),
        ("-1", "1", "level", False),
        ("1", "1", "level", True),
    ],
)
def test_a_catch_trial_is_right_by_its_words(given, expected, field, is_right):
    form = (Field(name=field, kind="answer" if field == "answer" else "scale", low=-2, high=2),)
    trial = PlannedTrial(place=0, phase="p", kind="catch", item_id="c", condition="none", expected=expected)
    response = Response(participant="P01", trial=trial, values={field: given})
    assert is_caught_right(Study(form=form, catch=Catch(n=1)), response) is is_right


def test_who_answered_on_sheets_is_paid():
    trial = PlannedTrial(place=0, phase="p", item_id="q", condition="none")
    answer = Response(participant="P01", trial=trial, values={"answer": "A"}, answered_at=NOW.isoformat())
    people = (
        Participant(name="P01", slot=0, state="finished", recruited="file"),
        Participant(name="P02", slot=1, state="invited"),
    )
    study = Study(phases=(Phase(name="p"),), pay=Pay(flat=2, per_answer=0.5, per_right=1))
    answers = StudyAnswers(participants=people, responses=(answer,))
    (wage,) = wages(study, answers, n_right={"P01": 1})
    assert (wage.participant, wage.amount) == ("P01", 3.5)


def test_a_free_question_that_was_not_answered_is_wrong_under_a_judge(solved, capsys):
    lines = [
        {"item_id": f"t{i}", "question": "In words?", "answer": "red door", "answer_kind": "text"}
        for i in range(3)
    ]
    folder = solved.file.folder / "free"
    folder.mkdir()
    again = Solved(
        folder, EXAM.replace("n = 10", "n = 3").replace("questions.jsonl", "free.jsonl"), lines=lines
    )
    again.person(0, {"closed": 1, "open": 0, "oracle": 0})
    closed = again.write()[1][0]
    with pytest.raises(SystemExit) as ended:
        main(["replies", "judge", str(closed), "--judge-model", "scripted:x"])
    assert ended.value.code == 0
    assert sorted(row.correct for row in load_run(closed).rows) == [0.0, 0.0, 1.0]
    assert "3 questions on 3 videos" in " ".join(capsys.readouterr().out.split())
