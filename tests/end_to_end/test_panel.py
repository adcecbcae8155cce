"""``vidence panel``: models, conditions and benchmarks in one file; one table, one figure, one page."""

import json

import pytest

from vidence.engine.plan import read_plan

BENCHMARKS = """
title = "Letters and rules"
[settings]
selector = "none"
[[benchmarks]]
benchmark = "table"
data = "questions.jsonl"
"""
MODELS = """
[[models]]
model = "scripted:A"
name = "Always A"
[[models]]
model = "baseline:longest"
"""
CONDITIONS = """
[[conditions]]
name = "direct"
[[conditions]]
name = "two"
settings = { limit = 2 }
"""


@pytest.fixture
def written(vidence, questions):
    """Write the file of a panel beside its questions."""

    def make(text):
        questions()
        (vidence.folder / "p.toml").write_text(text)

    return make


def test_a_panel_is_runs_with_one_table_one_figure_and_one_page(vidence, written):
    written(BENCHMARKS + MODELS + CONDITIONS)
    plan = vidence("panel", "p.toml", "--check")
    assert plan.code == 0, plan.err
    assert plan.err.count("runs/panel-p/table/") == 4
    assert not (vidence.folder / "runs").exists()
    done = vidence("panel", "p.toml", "--latex", "t.tex", "--json", "p.json")
    assert done.code == 0, done.err
    assert "[4/4] table, baseline:longest, two" in done.err
    assert "Letters and rules" in done.out
    assert "Always A, direct" in (vidence.folder / "t.tex").read_text()
    whole = json.loads((vidence.folder / "p.json").read_text())
    assert [run["name"] for run in whole["runs"]] == [
        "Always A, direct",
        "Always A, two",
        "baseline:longest, direct",
        "baseline:longest, two",
    ]
    page = (vidence.folder / "runs/panel-p/panel.html").read_text()
    assert "<title>Letters and rules · vidence</title>" in page
    assert page.index("Every run") < page.index("Scores")
    listed = json.loads(vidence("runs", "--json", "-").out)["runs"]
    assert [one["status"] for one in listed] == ["complete"] * 4
    assert {one["n_planned"] for one in listed} == {6, 2}
    # each is an ordinary run, and the same command has nothing left to ask
    assert vidence("report", "runs/panel-p/table/Always-A--two").code == 0
    again = vidence("panel", "p.toml", "--no-page")
    assert again.code == 0
    assert "6 of 6 were answered before" in again.err
    folder = vidence.folder / "runs/panel-p/table/Always-A--two"
    assert read_plan(folder)[0].name == "Always A, two"


def test_a_run_that_cannot_go_on_stops_no_other(vidence, written):
    written(BENCHMARKS + MODELS.replace("scripted:A", "scripted:A?fail=401") + "max = 1\n")
    wrong = vidence("panel", "p.toml")
    assert wrong.code == 2
    assert "p.toml:14: there is no setting 'models[1].max'" in wrong.err
    written(BENCHMARKS + MODELS.replace("scripted:A", "scripted:A?fail=401"))
    done = vidence("panel", "p.toml", "--no-page")
    assert done.code == 3
    assert "no score: table, Always A: " in done.err
    assert "baseline:longest" in done.out
    written(BENCHMARKS + MODELS)
    # the reason of the run is printed, too, where the runs do not give the only view that is wanted
    changed = vidence("panel", "p.toml", "--no-page", "--as", "pairs?by=thinking")
    assert changed.code == 3
    assert "not shown: pairs?by=thinking: no thinking model" in " ".join(changed.err.split())
    assert 'model: "scripted:A?fail=401" there, "scripted:A" here' in changed.err


def test_why_replies_failed_and_which_media_are_missing_is_said(vidence, written):
    written(BENCHMARKS + MODELS.replace("scripted:A", "scripted:A?fail=400"))
    done = vidence("panel", "p.toml", "--no-page")
    again = vidence("panel", "p.toml", "--no-page", "--no-ask")
    assert (done.code, again.code) == (3, 0)
    for out in (done.out, again.out):
        assert "Always A on table failed most often for: scripted failure 400" in " ".join(out.split())
    (vidence.folder / "empty").mkdir()
    (vidence.folder / "p.toml").write_text(of_clips().replace("trials = false", 'media = "empty"') + MODELS)
    done = vidence("panel", "p.toml", "--no-page", "--out", "other", "--as", "pairs?by=thinking")
    said = " ".join(done.err.split())
    assert "no score: Other, Always A: " in said
    assert " missing, which 6 of 6 questions need" in said
    assert "not shown: pairs?by=thinking" in said


def test_the_panel_of_somebody_else_needs_the_users_word(vidence, written):
    written(BENCHMARKS + '[[models]]\nmodel = "openai:m?base_url=https://stranger.example/v1"\n')
    done = vidence("panel", "p.toml")
    assert done.code == 2
    assert "to ask https://stranger.example, with the key in OPENAI_API_KEY" in done.err
    assert not (vidence.folder / "runs").exists()


def test_a_view_is_a_table_a_figure_and_a_page_and_needs_no_asking_again(vidence, written):
    written(BENCHMARKS + MODELS + CONDITIONS)
    assert vidence("panel", "p.toml", "--no-page").code == 0
    views = ("--as", "pivot", "--as", "pivot?rows=task&columns=model", "--as", "pairs?against=direct")
    done = vidence("panel", "p.toml", "--no-ask", *views, "--tables", "tables", "--latex", "t.tex")
    assert done.code == 0, done.err
    assert "[1/4]" not in done.err
    assert "accuracy by task" in done.out
    pages = {path.name for path in (vidence.folder / "runs/panel-p").glob("*.html")}
    assert pages == {
        "panel.html",
        "pivot.html",
        "pivot-rows-task-columns-model.html",
        "pairs-against-direct.html",
    }
    assert "<svg" in (vidence.folder / "runs/panel-p/pivot-rows-task-columns-model.html").read_text()
    assert (vidence.folder / "tables/pairs.csv").read_text().startswith("compared,")
    assert "accuracy by task" in (vidence.folder / "t.tex").read_text()


def test_run_folders_have_a_place_in_a_panel(vidence, written):
    written(BENCHMARKS + MODELS)
    assert vidence("panel", "p.toml", "--no-page").code == 0
    folders = "".join(
        f'[[runs]]\nfolder = "runs/panel-p/table/{name}"\nmodel = "M"\ncondition = "{name}"\n'
        for name in ("Always-A", "baseline-longest")
    )
    (vidence.folder / "q.toml").write_text(f'title = "Given"\n{folders}')
    both = ("--as", "pairs?by=thinking", "--as", "pairs?against=Always-A")
    done = vidence("panel", "q.toml", *both, "--no-page")
    assert done.code == 3, done.err
    assert "not shown: pairs?by=thinking: no thinking model of the panel" in " ".join(done.err.split())
    assert "M: baseline-longest less" in done.out
    (vidence.folder / "q.toml").write_text(
        f'title = "Given"\n{folders}'.replace("baseline-longest", "Always-A")
    )
    twice = vidence("panel", "q.toml")
    assert twice.code == 2
    assert "both M, Always-A on table" in twice.err


def test_what_was_not_asked_is_missing_and_an_unknown_view_asks_nothing(vidence, written):
    written(BENCHMARKS + MODELS)
    wrong = vidence("panel", "p.toml", "--as", "humanpcr-fig77")
    assert wrong.code == 2
    assert "humanpcr-fig7" in wrong.err
    other = vidence("panel", "p.toml", "--as", "herbench-fig5")
    assert other.code == 2
    assert "herbench-fig5 is about herbench, and the panel has table" in " ".join(other.err.split())
    other = vidence("panel", "p.toml", "--as", "actpld")
    assert "actpld is about actpld, and the panel has table" in " ".join(other.err.split())
    assert not (vidence.folder / "runs").exists()
    none = vidence("panel", "p.toml", "--no-ask")
    assert none.code == 3
    assert "no score: table, Always A: not asked yet" in none.err


DIAGNOSTICS = """
[[diagnostics]]
diagnostic = "mrfs"
options = { max = 4, mode = "exhaustive" }
models = ["Always A"]
"""


def of_clips(n_frames=8):
    """The benchmarks of a panel, asked with frames; of the second only diagnostics ask."""
    asked = BENCHMARKS.replace('selector = "none"', f'selector = "midpoints"\nframes = {n_frames}')
    return asked + asked[asked.index("[[") :] + 'name = "Other"\ntrials = false\n'


def test_a_panel_makes_its_diagnostics_and_shows_them_side_by_side(vidence, written):
    written(of_clips() + MODELS + DIAGNOSTICS)
    plan = vidence("panel", "p.toml", "--check")
    assert plan.code == 0, plan.err
    assert "runs/panel-p/table/Always-A: 6 questions, 6 of 6 trials left" in plan.err
    assert "runs/panel-p/Other/Always-A: no trials; diagnostics alone" in plan.err
    assert "mrfs (max 4, mode exhaustive) on Other, Always A: 6 of 6 questions left" in plan.err
    assert not (vidence.folder / "runs").exists()
    done = vidence("panel", "p.toml", "--as", "herbench-table1")
    assert done.code == 0, done.err
    assert "[2/2] mrfs (max 4, mode exhaustive) on Other, Always A" in done.err
    assert "[2/2] table, baseline:longest" in done.err
    assert "no score" not in done.err
    shown = done.out[done.out.index("mrfs by benchmark and model") :]
    assert "Other" in shown
    assert (vidence.folder / "runs/panel-p/herbench-table1.html").exists()
    again = vidence("panel", "p.toml", "--no-page")
    assert "0 questions examined, 6 already done" in again.err
    left = vidence("panel", "p.toml", "--check").err
    assert "0 of 6 trials left" in left
    assert "0 of 6 questions left" in left
