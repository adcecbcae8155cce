"""`vidence demo`: the measured figures are the planted ones, and a wrong answer is seen."""

import re
import sqlite3
from contextlib import closing

import msgspec
import pytest

FIGURES = re.compile(r"(-?\d+\.\d+) (-?\d+\.\d+) to (-?\d+\.\d+) +(-?\d+\.\d+)$", re.MULTILINE)


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    import os

    from subjects.command_line import CommandLine

    folder = tmp_path_factory.mktemp("demo")
    line = CommandLine(folder, os.environ | {"VIDENCE_CACHE": str(folder / "cache"), "COLUMNS": "120"})
    return line, line("demo", "--out", "out")


def figures_of(out):
    """Measured, low, high, planted of each line of the table."""
    return [tuple(map(float, found)) for found in FIGURES.findall(out)]


def test_every_measured_figure_is_the_planted_one_and_lies_in_its_interval(demo):
    _, done = demo
    assert (done.code, done.err) == (0, "")
    figures = figures_of(done.out)
    assert len(figures) == 6
    for measured, low, high, planted in figures:
        assert low < measured < high
        assert measured == planted
    every, one, text, *differences, mrfs = (measured for measured, *_ in figures)
    assert every > one > text > 0
    assert differences == [pytest.approx(one - every, abs=0.11), pytest.approx(text - every, abs=0.11)]
    assert 1 < mrfs < 8
    assert "All 6 measured figures are the planted ones." in done.out


def test_steps_are_counted_and_no_time_is_named(demo):
    _, done = demo
    assert re.findall(r"^(\d) of 6: ", done.out, re.MULTILINE) == list("123456")
    assert not re.search(r"\d+:\d\d|\d s\b|left", done.out)


def test_the_page_shows_the_table_and_loads_nothing(demo):
    line, _ = demo
    page = (line.folder / "out" / "report.html").read_text()
    for words in (
        "Measured and planted",
        "mean MRFS, all evidence",
        "vidence run table",
        "Runs side by side",
    ):
        assert words in page
    assert "https://" not in page
    assert "http://" not in page.replace("http://www.w3.org", "")


def test_a_second_demo_says_the_same_and_a_wrong_answer_is_seen(demo):
    line, done = demo
    again = line("demo", "--out", "out")
    assert (again.code, again.out) == (0, done.out)
    with closing(sqlite3.connect(line.folder / "out" / "runs" / "fuser" / "run.sqlite")) as db, db:
        rows = db.execute("SELECT seq, json FROM trials ORDER BY seq").fetchall()
        seq, row = next((n, row) for n, text in rows if (row := msgspec.json.decode(text))["score"]["value"])
        row["score"]["value"] = 0.0
        db.execute("UPDATE trials SET json = ? WHERE seq = ?", (msgspec.json.encode(row).decode(), seq))
    wrong = line("demo", "--out", "out")
    assert wrong.code == 1
    assert "3 of 6 measured figures are not the planted ones" in wrong.out
