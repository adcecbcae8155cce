"""``vidence report`` for papers: shaped tables, printed rows, LaTeX and CSV, as a user asks for them."""

import csv
from pathlib import Path

import pytest

GOLDEN = Path(__file__).parents[1] / "golden"


@pytest.fixture
def perceptioncomp(vidence, begun):
    """Two runs on the sample that ships with the tests: always A, always B."""

    def make():
        for letter in "AB":
            done = vidence(
                *("run", "perceptioncomp", "--data", str(GOLDEN / "perceptioncomp" / "1-1114.json")),
                *("--split", "seed500", "--selector", "none", "--model", f"scripted:{letter}"),
                *("--out", f"run-{letter}", "--no-page"),
            )
            assert done.code == 0, done.err

    begun("perceptioncomp", make)


def test_tables_of_the_paper_on_screen_and_page(vidence, perceptioncomp):
    done = vidence("report", "run-A", "run-B", "--html", "r.html", "--published", "--all")
    assert done.code == 0, done.err
    for words in (
        "As in the paper",
        "perceptioncomp: Categories and difficulty",
        "Beside the published tables",
        "PerceptionComp, accuracy by category and difficulty, 500 questions: as printed, and ours",
        "GPT-o3",
        "scripted:A and scripted:B were asked: paper protocol, own wording; cot, no frames, none; "
        "scored by robust.",
    ):
        assert words in " ".join(done.out.split())
    page = (vidence.folder / "r.html").read_text()
    assert "As in the paper" in page
    assert "Beside the published tables" in page


def test_latex_and_csv_files(vidence, perceptioncomp):
    done = vidence("report", "run-A", "run-B", "--latex", "t.tex", "--tables", "tables")
    assert done.code == 0, done.err
    tex = (vidence.folder / "t.tex").read_text("ascii")
    assert tex.count("\\begin{table") == tex.count("\\end{table") == 1
    assert "scripted:A & " in tex
    names = sorted(p.name for p in (vidence.folder / "tables").glob("*.csv"))
    assert {"paper-1.csv", "runs.csv", "runs-score.csv"} <= set(names)
    rows = list(csv.reader((vidence.folder / "tables" / "paper-1.csv").read_text().splitlines()))
    assert [row[0] for row in rows] == ["model", "scripted:A", "scripted:B", "videos"]
    assert f"wrote {len(names)} tables into tables" in done.err


def test_imported_prompts_are_named_in_the_report(vidence):
    """Words that nobody can check are taken only on purpose, and then every report says so."""
    (vidence.folder / "words.txt").write_text("Look, then choose.\n{question}\n{options_str}\n")
    flags = ("prompts", "import", "perceptioncomp", "--from", "words.txt", "--as", "choice-cot")
    done = vidence(*flags)
    assert done.code == 2
    assert "has the SHA-256" in done.err
    assert "known of github.com/hrinnnn/PerceptionComp" in done.err
    assert vidence(*flags, "--unchecked").code == 0
    done = vidence(
        *("run", "perceptioncomp", "--data", str(GOLDEN / "perceptioncomp" / "1-1114.json")),
        *("--split", "seed500", "--selector", "none", "--model", "scripted:A"),
        *("--prompts-dir", "prompts/perceptioncomp", "--out", "run", "--no-page"),
    )
    assert done.code == 0, done.err
    done = vidence("report", "run", "--published", "--html", "r.html", "--latex", "t.tex")
    assert done.code == 0, done.err
    says = "paper protocol, imported wording, not checked; cot, no frames, none"
    assert says in " ".join(done.out.split())
    assert says in (vidence.folder / "t.tex").read_text()
    page = (vidence.folder / "r.html").read_text()
    assert says in page
    assert "Look, then choose." in page


def test_recorded_replies_show_no_prompt_and_no_plan(vidence):
    data = str(GOLDEN / "perceptioncomp" / "1-1114.json")
    (vidence.folder / "replies.jsonl").write_text('{"item_id": "1", "text": "<answer>A</answer>"}\n')
    done = vidence(
        *("run", "perceptioncomp", "--data", data, "--split", "seed500", "--recorded-only"),
        *("--model", "replay:replies.jsonl?asked=the API runner", "--out", "run", "--no-page"),
    )
    assert done.code == 0, done.err
    done = vidence("report", "run", "--published", "--html", "r.html", "--latex", "t.tex")
    assert done.code == 0, done.err
    out = " ".join(done.out.split())
    assert (
        "No model was asked: the replies were recorded elsewhere, declared as asked with 'the API runner'."
        in out
    )
    assert "replay:replies was not asked: recorded replies, declared as asked with 'the API runner'" in out
    assert "replay:replies was not asked" in (vidence.folder / "t.tex").read_text()
    page = (vidence.folder / "r.html").read_text()
    assert "A recorded reply: the prompt is not known" in page
    assert "<summary>Prompt</summary>" not in page
    assert "64 frames" not in out
