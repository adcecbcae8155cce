"""Log-probabilities of choice letters in tables, in the browser and in files."""

import csv
import json
import math
from dataclasses import replace

import msgspec
import pytest

from vidence.records import Answered, Sampling
from vidence.report.export import write_csv, write_json
from vidence.report.parsers import parser_tables
from vidence.report.questions import logp_words
from vidence.report.tables import all_tables, headline
from vidence.tables.table import shown


def logps(**shares):
    return {letter: math.log(share) for letter, share in shares.items()}


@pytest.fixture
def run(runs):
    """Right letters A B C C; the letter of the words is A each time, the most likely one A B A and tied."""
    likely = [logps(A=0.9, B=0.05, Z=0.05), logps(A=0.2, B=0.6), logps(A=0.7, C=0.3)]
    likely += [logps(A=0.4, C=0.4), None]
    items = runs.items[:5]
    trials = [
        runs.marked(item, Answered(answer="A", rule="r"), reply=runs.said("Answer: A", choice_logps=of))
        for item, of in zip(items, likely, strict=True)
    ]
    return runs.load(items=items, trials=trials)


def test_the_parser_of_log_probabilities_stands_beside_the_others(run, rng):
    table = parser_tables(run)[0]
    assert shown(table, "logp", "read").text == "3"
    assert shown(table, "logp", "accuracy").text == "40.0"
    assert shown(table, "logp", "changed").text == "3"  # q2, and q4 and q5, where it reads nothing


def test_the_browser_shows_them(run, page_of):
    assert logp_words(run.rows[1]) == (
        "Log-probabilities of the letters (shares among the choices): A -1.609 (25.0 %), B -0.511 (75.0 %)."
    )
    assert logp_words(run.rows[0]).endswith("Z -2.996.")
    _, page = page_of(run)
    notes = page.text_of("p", class_="note")
    assert sum(note.startswith("Log-probabilities of the letters") for note in notes) == 4


def test_files_have_them(run, tmp_path):
    write_csv([run], tmp_path / "t.csv")
    with (tmp_path / "t.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert json.loads(rows[1]["choice_logps"]) == pytest.approx(logps(A=0.2, B=0.6))
    assert rows[4]["choice_logps"] == ""
    write_json([(run, ())], tmp_path / "t.json")
    trials = json.loads((tmp_path / "t.json").read_text())["trials"]
    assert trials[1]["choice_logps"] == pytest.approx(logps(A=0.2, B=0.6))
    assert trials[4]["choice_logps"] is None


def test_replies_without_the_log_probabilities_that_were_asked_for_are_counted(run, rng):
    wanting = replace(run, plan=msgspec.structs.replace(run.plan, sampling=Sampling(want_choice_logps=True)))
    said = headline(wanting, all_tables(wanting, rng=rng)[0])
    assert any(
        s.startswith("Log-probabilities of the letters were asked for, and 1 of 5 replies") for s in said
    )
    assert not any("Log-probabilities" in s for s in headline(run, all_tables(run, rng=rng)[0]))
