"""What a panel would ask, in lines: questions left, trials left, at most how much their replies cost."""

import json
from types import SimpleNamespace

import pytest

from vidence.engine.diagnose import open_diagnostic
from vidence.engine.panel import PanelRun
from vidence.engine.panel_diagnostics import Examination
from vidence.engine.prepare import make_plan
from vidence.records import Answered
from vidence.report.panel_runs import ahead


@pytest.fixture
def data(tmp_path):
    rows = [
        {"item_id": f"q{i}", "question": "?", "choices": ["a", "b"], "answer": "A", "media": []}
        for i in range(3)
    ]
    path = tmp_path / "q.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)))
    return path


def run_of(data, folder, *, has_trials=True, **settings):
    plan = make_plan("table", data=data, model="scripted:A", overrides=settings)
    place = {"benchmark": "table", "model": "m", "condition": ""}
    return PanelRun(**place, plan=plan, folder=folder, has_trials=has_trials)


def lines(*runs, examinations=()):
    return [f"{heading}{line}" for heading, line in ahead(runs, examinations)]


def test_questions_and_trials_and_the_most_that_replies_cost(data, tmp_path):
    priced = {"price_out": 10.0, "max_tokens": 1000, "repeats": 2}
    [line] = lines(run_of(data, tmp_path / "r", **priced))
    # 3 questions, twice, 1,000 tokens each at 10 dollars per million
    assert line.endswith("/r: 3 questions, 6 of 6 trials left, replies at most 0.0600 US dollars")
    [line] = lines(run_of(data, tmp_path / "r", limit=2))
    assert line.endswith("/r: 2 questions, 2 of 2 trials left")


def test_a_run_of_diagnostics_alone_and_questions_that_are_not_there(data, tmp_path):
    first, second = lines(
        run_of(data, tmp_path / "r", has_trials=False), run_of(tmp_path / "none.jsonl", tmp_path / "s")
    )
    assert first.endswith("/r: no trials; diagnostics alone")
    assert "/s: its questions cannot be read: " in second


def test_what_was_answered_is_not_left(data, tmp_path, runs):
    items = [runs.question(f"q{i}", "v", "A") for i in range(3)]
    trials = [runs.marked(items[0], Answered(answer="A"))]
    folder = runs.write("r", items=items, trials=trials, facts={"n_planned": 3})
    [line] = lines(run_of(data, folder))
    assert "2 of 3 trials left" in line


def test_a_diagnostic_says_whom_it_asks_beside_the_model(data, tmp_path):
    diagnostic = open_diagnostic("best-of-n", {"rewards": "self|scripted:B"})
    one = Examination(run=run_of(data, tmp_path / "r"), diagnostic=diagnostic, options={"form": "score"})
    [line] = lines(examinations=[one])
    assert line.startswith(
        "best-of-n (form score) on table, m: 3 of 3 questions left, at most 120 asks, replies of runs"
    )  # of each question 8 candidates, which two models weigh, each once more where it cannot be read
    assert "scripted:B, too" in line


def test_a_diagnostic_that_does_not_say_how_much_it_asks_is_named_as_such(data, tmp_path):
    silent = SimpleNamespace(name="mine", models=dict)
    [line] = lines(
        examinations=[Examination(run=run_of(data, tmp_path / "r"), diagnostic=silent, options={})]
    )
    assert line.endswith("3 of 3 questions left; it does not say how many asks each takes")
