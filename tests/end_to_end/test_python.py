"""The public functions from Python, as in a notebook: they do what the commands do."""

import asyncio
import json

import msgspec
import pytest

import vidence as package
from servers.openai_stub import OpenAIStub
from vidence.errors import StoreError, UnknownNameError, UsageError
from vidence.tables.charts import table_of
from vidence.tables.export import statement_as_json, table_as_json


def as_json(value: object) -> object:
    """As it comes back from a file."""
    return json.loads(msgspec.json.encode(value))


def test_evaluate_returns_the_run_also_where_a_loop_is_running(tmp_path, questions):
    path = questions(n_clips=2, n_questions=3)

    async def notebook(address: str) -> package.Run:
        return package.evaluate(
            "table",
            data=path,
            model=f"openai:m?base_url={address}",
            out=tmp_path / "run",
            cache=tmp_path / "cache",
            frames=2,
            limit=4,
        )

    with OpenAIStub(answer="Answer: A") as server:
        run = asyncio.run(notebook(server.base_url))
        again = asyncio.run(notebook(server.base_url))
        assert server.n_requests == 4
    assert [row.correct for row in run.rows] == [row.correct for row in again.rows] == [1.0, 0.0, 0.0, 0.0]


def test_a_plan_is_repeated_in_a_new_folder_with_what_is_changed(here, questions):
    first = package.evaluate("table", data=questions(), model="scripted:A", frames=2, limit=4)
    again = package.evaluate(plan=first)
    assert again.folder != first.folder
    assert (again.plan.model, len(again)) == ("scripted:A", 4)
    changed = package.evaluate(plan=first.folder / "plan.toml", model=lambda prompt: "B", limit=2, out="b")
    assert (changed.folder.name, len(changed), changed.plan.frames) == ("b", 2, 2)
    said = here("run", "--plan", str(first.folder), "--out", "c", "--no-page")
    assert said.code == 0, said.err
    assert package.open_run("c").accuracy == again.accuracy
    with pytest.raises(UsageError, match=r"expected evaluate\(questions, model=...\) or evaluate\(plan"):
        package.evaluate("table", plan=first, model="scripted:A")
    with pytest.raises(UsageError, match=r"give the plan\.toml of a run, or its folder"):
        package.evaluate(plan="nothing")


def test_a_panel_is_that_of_the_command_and_may_hold_functions(here, questions):
    data = str(questions())
    panel = {
        "title": "Letters",
        "settings": {"frames": 2},
        "benchmarks": [{"benchmark": "table", "data": data}],
        "models": [
            {"model": lambda prompt: "Answer: B", "name": "mine"},
            {"model": "scripted:A", "name": "Always A"},
        ],
    }
    found = package.panel(panel, progress=False)
    assert isinstance(found, package.Panel)
    assert repr(found) == "Panel('Letters', 2 runs)"
    assert [row.label for row in found.scores.rows] == ["mine", "Always A", "chance"]
    run = found.runs["table", "Always A"]
    assert run.folder.parts[-3:] == ("panel-Letters", "table", "Always-A")
    assert "<table>" in found._repr_html_()
    (here.folder / "p.toml").write_text(
        f'title = "Letters"\nsettings = {{ frames = 2 }}\n[[benchmarks]]\nbenchmark = "table"\n'
        f'data = "{data}"\n[[models]]\nmodel = "scripted:A"\nname = "Always A"\n'
    )
    assert here("panel", "p.toml", "--json", "p.json", "--progress", "none").code == 0
    read = package.panel("p.toml", progress=False)
    whole = json.loads((here.folder / "p.json").read_text())
    assert as_json([table_as_json(read.scores), table_as_json(read.every_run)]) == whole["tables"]
    with pytest.raises(UsageError, match=r"no run of the panel has a score: .*401"):
        package.panel({**panel, "title": "None", "models": [{"model": "scripted:A?fail=401"}]})


def test_contrasts_and_correlations_are_those_of_the_commands(here, questions):
    data = questions(n_clips=8, n_questions=4)
    runs = [
        package.evaluate("table", data=data, model=f"baseline:random?seed={seed}", frames=2)
        for seed in (1, 2, 3, 4)
    ]
    folders = [str(run.folder) for run in runs]
    tag = "task"
    values = sorted({row.item.tags[tag] for row in runs[0]})
    found = package.contrast(*runs[:2], tag=tag, of=values[0], to=values[1], trend=True)
    out = ("--json", "contrast.json")
    said = here(
        "stats", "contrast", *folders[:2], "--tag", tag, "--of", values[0], "--to", values[1], "--trend", *out
    )
    assert said.code == 0, said.err
    written = json.loads((here.folder / "contrast.json").read_text())
    assert written["contrasts"] == as_json(found)
    # of folders, and of several values at once
    assert (
        package.contrast(folders[0], folders[1], tag=tag, of=[values[0]], to=values[1], trend=True) == found
    )

    axes = {"x": f"{tag}={values[0]}", "y": f"{tag}={values[1]}"}
    both = package.correlate(*runs, **axes, names=["a", "b", "c", "d"])
    flags = [*("--x", axes["x"], "--y", axes["y"]), *(f"--as={name}" for name in "abcd")]
    said = here("stats", "correlate", *folders, *flags, "--json", "both.json")
    assert said.code == 0, said.err
    assert json.loads((here.folder / "both.json").read_text())["correlated"] == as_json(both)

    margin = runs[0].tables(against_chance=True)["margin"]
    assert "margin" not in runs[0].tables()
    said = here("report", folders[0], "--against-chance", "--json", "report.json")
    assert said.code == 0, said.err
    tables = json.loads((here.folder / "report.json").read_text())["tables"]
    assert next(one for one in tables if one["name"] == "margin") == as_json(table_as_json(margin))


@pytest.mark.parametrize("average", ["micro", "answered", "macro:task"])
def test_a_run_has_the_numbers_of_the_report(here, questions, average):
    run = package.evaluate(
        "table", data=questions(n_clips=3), model="baseline:random?seed=3", headline=average, frames=2
    )
    assert run.folder.parent.name == "runs"
    assert here("report", str(run.folder), "--json", "r.json").code == 0
    written = json.loads((here.folder / "r.json").read_text())
    tables = run.tables()
    assert [table for name, table in zip(tables, written["tables"], strict=False)] == [
        as_json(table_as_json(table)) for table in tables.values()
    ]
    assert run.accuracy == tables["score"].estimate("headline", "accuracy")
    assert len(run) == len(list(run)) == len(written["trials"]) == 9
    assert [row.item.item_id for row in run] == [trial["item_id"] for trial in written["trials"]]
    assert f"9 trials, accuracy {100 * run.accuracy.value:.1f} %" in repr(run)


def test_compare_has_the_figures_of_the_command(here, questions):
    path = questions(n_clips=4)
    runs = [
        package.evaluate("table", data=path, model=model, out=out, frames=2)
        for model, out in (("scripted:A", "a"), ("scripted:B", "b"), ("baseline:random", "c"))
    ]
    two, three = package.compare(runs[0], "b"), package.compare(*runs, level=0.9)
    assert here("compare", "a", "b", "--json", "two.json").code == 0
    assert here("compare", "a", "b", "c", "--level", "0.9", "--json", "three.json").code == 0
    for name, found in (("two", two), ("three", three)):
        assert json.loads((here.folder / f"{name}.json").read_text())["compared"] == as_json(found)
    with pytest.raises(UsageError, match="named twice"):
        package.compare("a", runs[0])


def test_diagnose_takes_a_benchmark_with_a_model_as_the_command_does(here, questions):
    path = questions()
    found = package.diagnose(
        "blind-panel?runs=2", "table", data=path, model="baseline:random", out="r", frames=2, limit=3
    )
    words = ("--data", str(path), "--model", "baseline:random", "--frames", "2", "--limit", "3", "--out", "r")
    assert here("diagnose", "blind-panel?runs=2", "table", *words, "--json", "d.json").code == 0
    written = json.loads((here.folder / "d.json").read_text("utf-8"))
    assert written["statements"] == [as_json(statement_as_json(one)) for one in found.statements]
    with pytest.raises(UnknownNameError, match="Did you mean 'frames'"):
        package.diagnose("blind-panel", "table", data=path, model="baseline:random", n_frame=2)
    with pytest.raises(UsageError, match="a benchmark needs model="):
        package.diagnose("blind-panel", "table", data=path)


def test_diagnose_has_the_statements_of_the_command(here, questions):
    run = package.evaluate("table", data=questions(), model="scripted:A", out="r", frames=2)
    found = package.diagnose("blind-panel", run, runs=2, seed=5)
    assert here("diagnose", "blind-panel?runs=2", "r", "--set", "seed=5", "--json", "d.json").code == 0
    written = json.loads((here.folder / "d.json").read_text())
    assert written["statements"] == [as_json(statement_as_json(one)) for one in found.statements]
    assert list(found.tables().values()) == [table_of(one) for one in found.statements]
    same = package.diagnose("blind-panel?runs=2&seed=5", "r", level=0.9)
    assert same.examined == found.examined
    with pytest.raises(UsageError, match="Did you mean 'seed'"):
        package.diagnose("blind-panel", run, sed=5)
    with pytest.raises(StoreError, match="not a run folder"):
        package.diagnose("blind-panel", "nowhere")


def test_video_gives_frames_with_their_times(here, questions):
    questions(n_clips=1)
    video = package.Video("clip0.mp4")
    assert (len(video), len(video[2:5]), video.at(1.5).index) == (40, 3, 15)
    assert isinstance(video[0], package.Frame)
    assert video[-1].time_s == pytest.approx(3.9)
