"""`vidence demo`: the measured figures are the planted ones, and a wrong answer is seen."""

import html
import os
import re
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import msgspec
import pytest

from servers.openai_stub import OpenAIStub
from subjects.command_line import CommandLine

FIGURES = re.compile(r"(-?\d+\.\d+) (-?\d+\.\d+) to (-?\d+\.\d+) +(-?\d+\.\d+)$", re.MULTILINE)


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
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
    assert "All 6 figures equal the planted ones." in done.out


def test_steps_are_counted_and_no_time_is_named(demo):
    _, done = demo
    assert re.findall(r"^(\d) of 7: ", done.out, re.MULTILINE) == list("1234567")
    assert not re.search(r"\d+:\d\d|\d s\b|left", done.out)


def test_the_page_shows_the_table_and_loads_nothing(demo):
    line, _ = demo
    page = (line.folder / "out" / "report.html").read_text()
    for words in (
        "Measured and planted",
        "mean MRFS, all evidence",
        "Runs side by side",
        'aria-label="Bars: Accuracy of each model"',
        "The model that uses all evidence looked (61.7 points more than without frames), did not find all",
        "did not combine it (73.3 points are lost with the evidence shown)",
        "The model that uses text only did not look (0.0 points more than without frames)",
    ):
        assert words in page
    assert "https://" not in page
    assert "http://" not in page.replace("http://www.w3.org", "")


def test_the_next_steps_of_the_page_work_with_a_video_of_ones_own(demo, tmp_path):
    line, _ = demo
    page = html.unescape((line.folder / "out" / "report.html").read_text())
    here = CommandLine(tmp_path, line.env)
    shutil.copy(next((line.folder / "out" / "world").rglob("*.mp4")), tmp_path / "kitchen.mp4")
    (question,) = re.findall(r'<pre[^>]*>(\{"item_id".*?\})</pre>', page)
    (tmp_path / "questions.jsonl").write_text(question + "\n")
    commands = re.findall(r"<pre[^>]*>vidence (.*?)</pre>", page)
    assert [command.split()[0] for command in commands] == ["run", "diagnose"]
    with OpenAIStub(answer="Answer: A") as server:
        here.env.update(OPENAI_BASE_URL=server.base_url, OPENAI_API_KEY="k")
        for command in commands:
            done = here(*command.split())
            assert done.code == 0, done.err
    assert (tmp_path / "runs" / "own" / "report.html").exists()


def test_the_readme_shows_what_the_demonstration_prints(demo):
    _, done = demo
    readme = (Path(__file__).parents[2] / "README.md").read_text()
    commands, result = re.findall(r"^```\w*\n(.*?)^```$", readme, re.DOTALL | re.MULTILINE)
    assert commands == "pip install .\nvidence demo\n"
    printed = " ".join(done.out.split())
    for sentence in result.strip().split("\n\n"):
        assert " ".join(sentence.split()) in printed
    assert len(readme.splitlines()) <= 60


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
    assert "3 of 6 figures differ from the planted ones" in wrong.out
