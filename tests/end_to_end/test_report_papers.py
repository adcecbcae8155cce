"""``vidence report`` for papers: shaped tables, printed rows, LaTeX and CSV, as a user asks for them."""

import csv
import json
from pathlib import Path

import pytest

GOLDEN = Path(__file__).parents[1] / "golden"


@pytest.fixture
def perceptioncomp(vidence):
    """Two runs on the sample that ships with the tests: always A, always B."""

    def make(*letters, **more):
        for letter in letters:
            done = vidence(
                *("run", "perceptioncomp", "--data", str(GOLDEN / "perceptioncomp" / "1-1114.json")),
                *("--split", "seed500", "--selector", "none", "--model", f"scripted:{letter}"),
                *("--out", f"run-{letter}", "--no-page"),
            )
            assert done.code == 0, done.err

    return make


def test_tables_of_the_paper_on_screen_and_page(vidence, perceptioncomp):
    perceptioncomp("A", "B")
    done = vidence("report", "run-A", "run-B", "--html", "r.html", "--published")
    assert done.code == 0, done.err
    for words in (
        "As in the paper",
        "perceptioncomp: Categories and difficulty",
        "Beside the published tables",
        "PerceptionComp, accuracy by category and difficulty, 500 questions: as printed, and ours",
        "GPT-o3",
        "scripted:A was asked paper: cot, 64 frames, none; scored by robust.",
    ):
        assert words in " ".join(done.out.split())
    page = (vidence.folder / "r.html").read_text()
    assert "As in the paper" in page
    assert "Beside the published tables" in page


def test_latex_and_csv_files(vidence, perceptioncomp):
    perceptioncomp("A", "B")
    done = vidence(
        *("report", "run-A", "run-B", "--latex", "t.tex", "--interval", "brackets", "--tables", "tables")
    )
    assert done.code == 0, done.err
    tex = (vidence.folder / "t.tex").read_text("ascii")
    assert tex.count("\\begin{table") == tex.count("\\end{table") == 1
    assert "scripted:A & " in tex
    names = sorted(p.name for p in (vidence.folder / "tables").iterdir())
    assert {"paper-1.csv", "runs.csv", "runs-score.csv"} <= set(names)
    rows = list(csv.reader((vidence.folder / "tables" / "paper-1.csv").read_text().splitlines()))
    assert [row[0] for row in rows] == ["model", "scripted:A", "scripted:B", "videos"]
    assert f"wrote {len(names)} tables into tables" in done.err


def test_a_single_run_has_all_of_its_tables_in_files(vidence, perceptioncomp):
    perceptioncomp("A")
    done = vidence("report", "run-A", "--tables", "tables", "--json", "r.json", "--csv", "r.csv")
    assert done.code == 0, done.err
    names = {p.stem for p in (vidence.folder / "tables").iterdir()}
    assert {"paper-1", "score", "outcomes", "parsers", "usage"} <= names
    tables = {t["name"] for t in json.loads((vidence.folder / "r.json").read_text())["tables"]}
    assert {"paper-1", "score"} <= tables


def test_published_without_a_published_table_is_refused(vidence, questions):
    questions()
    run = ("run", "table", "--data", "questions.jsonl", "--selector", "none", "--model", "scripted:A")
    assert vidence(*run, "--out", "r", "--no-page").code == 0
    done = vidence("report", "r", "--published")
    assert done.code == 2
    assert "no published table is about table (all)" in done.err
    # LaTeX without a table of the benchmark: the scores, by small tags.
    assert vidence("report", "r", "--latex", "t.tex").code == 0
    assert "\\multicolumn{3}{c}{task}" in (vidence.folder / "t.tex").read_text()
