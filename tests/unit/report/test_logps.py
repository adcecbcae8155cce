"""Log-probabilities of choice letters in tables, in the browser and in files."""

import csv
import json
import math

import pytest

from vidence.records import Answered
from vidence.report.export import write_csv, write_json
from vidence.report.logps import logp_tables, logp_words, stated
from vidence.report.parsers import parser_tables
from vidence.report.tables import all_tables
from vidence.tables.figures import draw_figure
from vidence.tables.table import shown


def logps(**shares):
    return {letter: math.log(share) for letter, share in shares.items()}


@pytest.fixture
def run(runs):
    """Right letters A B C C; the letter of the words is A each time, the most likely one A B A and tied."""
    likely = [
        logps(A=0.9, B=0.05, Z=0.05),
        logps(A=0.2, B=0.6),
        logps(A=0.7, C=0.3),
        logps(A=0.4, C=0.4),
        None,
    ]
    items = runs.items[:5]
    trials = [
        runs.marked(item, Answered(answer="A", rule="r"), reply=runs.said("Answer: A", choice_logps=of))
        for item, of in zip(items, likely, strict=True)
    ]
    return runs.load(items=items, trials=trials)


def test_the_most_likely_letter_and_its_share_are_taken(run):
    found = stated(run.rows)
    assert [(one.confidence, one.correct) for one in found] == [
        (pytest.approx(0.9 / 0.95), 1.0),
        (pytest.approx(0.75), 1.0),
        (pytest.approx(0.7), 0.0),
    ]


def test_calibration_is_said_with_its_interval(run):
    summary, bins = logp_tables(run, level=0.9)
    text = {row.key: shown(summary, row.key, "value") for row in summary.rows}
    assert (text["replies"].text, text["replies"].detail) == ("3", "of 5")
    assert text["videos"].detail == "few"
    assert text["accuracy"].value == pytest.approx(2 / 3)
    first = 0.9 / 0.95
    assert text["brier"].value == pytest.approx(((1 - first) ** 2 + 0.25**2 + 0.7**2) / 3)
    # Three bins of one answer, but .75 and .7 are apart: (.7, .8] holds .75, (.6, .7] holds .7.
    assert text["ece"].value == pytest.approx((1 - first + 0.25 + 0.7) / 3)
    assert text["accuracy"].detail == "too few videos (1)"
    assert text["accuracy"].estimate.level == 0.9
    assert [(row.label, shown(bins, row.key, "accuracy").text) for row in bins.rows] == [
        ("60 to 70 %", "0.0"),
        ("70 to 80 %", "100.0"),
        ("90 to 100 %", "100.0"),
    ]


def test_the_reliability_figure_marks_what_was_said(run):
    _, bins = logp_tables(run)
    drawing = draw_figure(bins)
    assert "mean probability" in [words for _, words in drawing.legend]
    assert 'x="75.000%"' in drawing.svg
    assert " (few)" in drawing.svg


def test_runs_without_log_probabilities_have_no_such_tables(runs, rng):
    plain = runs.load()
    assert logp_tables(plain) == ()
    assert logp_words(plain.rows[0]) == ""
    assert "logp" not in [row.key for row in parser_tables(plain)[0].rows]


def test_the_parser_of_log_probabilities_stands_beside_the_others(run, rng):
    table = next(table for table in all_tables(run, rng=rng) if table.name == "parsers")
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
    assert "Log-probabilities" in page.text_of("h2")


def test_files_have_them(run, tmp_path):
    write_csv(run, tmp_path / "t.csv")
    with (tmp_path / "t.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0])[-1] == "choice_logps"
    assert json.loads(rows[1]["choice_logps"]) == pytest.approx(logps(A=0.2, B=0.6))
    assert rows[4]["choice_logps"] == ""
    write_json(run, (), tmp_path / "t.json")
    trials = json.loads((tmp_path / "t.json").read_text())["trials"]
    assert trials[1]["choice_logps"] == pytest.approx(logps(A=0.2, B=0.6))
    assert "choice_logps" not in trials[4]
