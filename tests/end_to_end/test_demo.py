"""`vidence demo`: everything that was planted is recovered, and a wrong answer would be seen."""

import sqlite3

import msgspec
import pytest

from vidence.errors import DataError
from vidence.reporting.calibration import calibration_section, compare
from vidence.reporting.results import load_run


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    import os

    from end_to_end.conftest import CommandLine

    folder = tmp_path_factory.mktemp("demo")
    line = CommandLine(folder, os.environ | {"VIDENCE_CACHE": str(folder / "cache")})
    done = line("demo", "--out", "out")
    return line, done


def test_everything_planted_is_recovered(demo):
    line, done = demo
    assert done.code == 0, done.out + done.err
    assert "everything planted was recovered" in done.out
    assert done.err == ""
    page = (line.folder / "out" / "report.html").read_text()
    assert "Planted against recovered" in page
    assert "http://" not in page.replace("http://www.w3.org", "")
    assert "https://" not in page


def test_the_readers_differ_as_planted(demo):
    line, _ = demo
    share = {}
    for folder in sorted((line.folder / "out" / "runs").iterdir()):
        one = compare(load_run(folder))
        share[folder.name] = sum(one.recovered) / len(one.recovered)
    # more frames show more of the evidence; the annotated evidence shows all of it
    assert share["fuser-midpoints-8"] < share["fuser-midpoints-16"] < share["fuser-midpoints-32"] < 1.0
    assert share["fuser-evidence-16"] == 1.0
    # one question in ten gives its answer away, and that is all that reading without looking gets
    assert share["fuser-none-1"] == share["blind-midpoints-16"] == 0.1
    assert share["single-midpoints-16"] < share["forgetful-midpoints-16"] < share["fuser-midpoints-16"]


def test_a_second_demo_asks_nothing_again(demo):
    line, _ = demo
    again = line("demo", "--out", "out")
    assert again.code == 0
    assert "rendering" not in again.out
    assert "0 questions" in again.out


def test_an_answer_that_differs_is_seen(demo, rng):
    line, _ = demo
    folder = line.folder / "out" / "runs" / "fuser-evidence-16"
    with sqlite3.connect(folder / "trials.sqlite") as db:
        seq, json = db.execute("SELECT seq, json FROM trials ORDER BY seq LIMIT 1").fetchone()
        row = msgspec.json.decode(json)
        row["score"]["value"] = 0.0
        db.execute("UPDATE trials SET json = ? WHERE seq = ?", (msgspec.json.encode(row), seq))
    db.close()
    one = compare(load_run(folder))
    assert one.n_different == 1
    section = calibration_section([one], rng=rng)
    assert "1 of 120 answers differ" in section.paragraphs[1]
    assert line("demo", "--out", "out").code == 1


def test_a_run_of_another_model_is_no_calibration(vidence, questions):
    questions(n_clips=1)
    assert (
        vidence("run", "table", "--data", "questions.jsonl", "--model", "baseline:longest", "--out", "r").code
        == 0
    )
    with pytest.raises(DataError, match=r"baseline:longest.*expected phantom:"):
        compare(load_run(vidence.folder / "r"))
