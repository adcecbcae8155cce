"""Panels: which runs they are, in which folders, with which settings; rows of papers."""

from pathlib import Path

import pytest

from vidence import catalog
from vidence.engine.environment import Environment
from vidence.engine.panel import (
    Condition,
    ModelFacts,
    PanelBenchmark,
    PanelFile,
    PanelFolder,
    PanelModel,
    PaperRow,
    check_panel,
    given_runs,
    panel_of,
    paper_rows,
    planned,
)
from vidence.engine.prepare import make_plan
from vidence.errors import TrustError, UnknownNameError, UsageError

TABLE = PanelBenchmark(benchmark="table", data="q.jsonl")
ALWAYS = PanelModel(model="scripted:A")


def panel(**fields: object) -> PanelFile:
    return PanelFile(**{"benchmarks": (TABLE,), "models": (ALWAYS,)} | fields)


def runs_of(made: PanelFile):
    return planned(made, beside=Path("/beside"), root=Path("/panels"))


def test_every_benchmark_model_and_condition_is_a_run_with_a_folder_and_a_name():
    made = panel(
        benchmarks=(TABLE, PanelBenchmark(benchmark="mmvu", data="/abs/MMVU", name="Experts")),
        models=(ALWAYS, PanelModel(model="openai:some/gpt?base_url=http://localhost:1/v1")),
        conditions=(
            Condition(name="8 frames", settings={"frames": 8}),
            Condition(name="blind", settings={"selector": "none"}),
        ),
    )
    runs = runs_of(made)
    assert [(run.benchmark, run.label, str(run.folder)) for run in runs][:3] == [
        ("table", "scripted:A, 8 frames", "/panels/table/scripted-A--8-frames"),
        ("table", "scripted:A, blind", "/panels/table/scripted-A--blind"),
        ("table", "gpt, 8 frames", "/panels/table/gpt--8-frames"),
    ]
    assert len({run.folder for run in runs}) == len(runs) == 8
    assert [run.plan.frames for run in runs[::2]] == [8] * 4
    assert {run.plan.name for run in runs} == {run.label for run in runs}
    assert {run.plan.data for run in runs} == {"/beside/q.jsonl", "/abs/MMVU"}


def test_what_is_nearer_to_a_run_holds():
    made = panel(
        settings={"frames": 1, "limit": 1, "jpeg_quality": 1, "seed": 1, "repeats": 9},
        benchmarks=(PanelBenchmark(benchmark="mmvu", data="x", settings={"limit": 2, "frames": 2}),),
        models=(
            PanelModel(
                model="scripted:A", rows=("mmvu/grok",), settings={"jpeg_quality": 3, "temperature": 0.3}
            ),
        ),
        conditions=(Condition(name="", settings={"seed": 4, "jpeg_quality": 4}),),
    )
    [run] = runs_of(made)
    plan = run.plan
    assert (plan.repeats, plan.limit, plan.frames) == (9, 2, 16)  # the panel, the benchmark, the row
    assert (plan.sampling.temperature, plan.jpeg_quality, plan.seed) == (0.3, 4, 4)  # model, condition
    assert run.label == "scripted:A"


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"models": ()}, "the panel has no models"),
        ({"models": (ALWAYS, ALWAYS)}, "two models are called 'scripted:A'"),
        ({"benchmarks": (TABLE, TABLE)}, "two benchmarks are called 'table'"),
        ({"conditions": (Condition(name="a"), Condition(name=""))}, "a condition has no name"),
        ({"max_cost": 0.0}, "max_cost is 0"),
        ({"settings": {"n_frames": 3}}, "did you mean 'frames'"),
        ({"settings": {"name": "x"}}, "no setting of a panel named 'name'"),
        ({"settings": {"jpeg_quality": 0}}, "scripted:A on table: jpeg_quality is 0"),
        ({"models": (PanelModel(model="scripted:A", rows=("mmvu/apy",)),)}, "did you mean 'mmvu/api'"),
        ({"models": (PanelModel(model="scripted:A", rows=("mmvu/api",)),)}, "no benchmark mmvu"),
        (
            {
                "models": (
                    PanelModel(model="scripted:A", name="a b"),
                    PanelModel(model="scripted:B", name="a-b"),
                )
            },
            "a b and a-b would share the folder /panels/table/a-b",
        ),
        (
            {"max_cost": 1.0, "models": (PanelModel(model="openai:m"),)},
            "has none for openai:m, or not the same for all of them; give price_in and price_out of m in its",
        ),
    ],
)
def test_a_panel_that_makes_no_sense_says_why(fields, said):
    with pytest.raises((UsageError, UnknownNameError)) as refused:
        runs_of(panel(**fields))
    assert said.lower() in str(refused.value).lower()


def test_a_limit_of_spending_needs_no_price_of_what_is_never_paid():
    assert len(runs_of(panel(max_cost=1.0))) == 1
    priced = PanelModel(model="openai:m", settings={"price_in": 1.0})
    assert len(runs_of(panel(max_cost=1.0, models=(ALWAYS, priced)))) == 2


def test_what_the_file_of_a_panel_wants_needs_the_users_word(tmp_path):
    stranger = PanelModel(model="openai:m?base_url=https://stranger.example/v1")
    place = Environment(cache_root=tmp_path / "cache", state_root=tmp_path / "state")
    runs = runs_of(panel(models=(ALWAYS, stranger)))
    source = Path("p.toml")
    with pytest.raises(
        TrustError, match=r"p\.toml needs your consent for:\n  to ask https://stranger\.example"
    ):
        check_panel(runs, source=source, environment=place, is_trusted=False)
    check_panel(runs, source=source, environment=place, is_trusted=True)
    check_panel(runs, source=source, environment=place, is_trusted=False)  # it is remembered


# (frames, temperature, longest reply), as the papers print it or as their released scripts have it.
ROWS = {
    "mmvu/api": (32, 1.0, 1024),
    "mmvu/grok": (16, 1.0, 1024),
    "mmvu/thinking": (32, 1.0, 8192),
    "mmvu/open-2": (2, 1.0, 1024),
    "mmvu/open-4": (4, 1.0, 1024),
    "mmvu/open-8": (8, 1.0, 1024),
    "mmvu/open-16": (16, 1.0, 1024),
    "herbench/all": (16, 0.0, 50),
    "perceptioncomp/proprietary": (64, 1.0, None),
    "perceptioncomp/gpt": (50, 1.0, None),
    "perceptioncomp/instruct": (64, 1.0, None),
    "perceptioncomp/thinking": (64, 0.7, 16384),
    "humanpcr/choice": (32, 1.0, 1024),
    "humanpcr/reasoning": (32, 1.0, 4096),
    "humanpcr/open-32": (32, 1.0, 1024),
    "humanpcr/open-64": (64, 1.0, 1024),
    "humanpcr/open-128": (128, 1.0, 1024),
}


@pytest.mark.parametrize(("name", "row"), paper_rows().items())
def test_a_row_of_a_paper_is_a_plan(name: str, row: PaperRow):
    benchmark = name.partition("/")[0]
    assert benchmark in catalog.names("benchmark")
    plan = make_plan(benchmark, data=Path("x"), model="scripted:A", overrides=row.settings)
    if name in ROWS:
        assert (plan.frames, plan.sampling.temperature, plan.sampling.max_tokens) == ROWS[name]
    else:
        assert name in {"mmvu/whole-video", "actpld/frames", "actpld/montage"}
    assert row.says.endswith(".")
    assert row.source


def test_rows_say_in_the_layout_what_frames_do_not():
    layouts = {
        name: make_plan(
            name.partition("/")[0], data=Path("x"), model="scripted:A", overrides=paper_rows()[name].settings
        ).layout
        for name in ("mmvu/whole-video", "actpld/frames", "actpld/montage")
    }
    assert layouts == {
        "mmvu/whole-video": "video",
        "actpld/frames": "images",
        "actpld/montage": "montage:4x2",
    }
    assert set(ROWS) | set(layouts) == set(paper_rows())


def test_a_condition_changes_options_of_every_model():
    made = panel(
        models=(PanelModel(model="gemini:g?thinking_budget=1&structured=off", name="g"),),
        conditions=tuple(Condition(name=str(n), options={"thinking_budget": n}) for n in (1024, 2048)),
    )
    assert [run.plan.model for run in runs_of(made)] == [
        "gemini:g?thinking_budget=1024&structured=off",
        "gemini:g?thinking_budget=2048&structured=off",
    ]
    with pytest.raises(UsageError, match="the option base_url of a condition"):
        runs_of(panel(conditions=(Condition(name="x", options={"base_url": "http://h?a"}),)))


def test_the_facts_of_a_model_travel_with_its_runs():
    one = PanelModel(model="scripted:A", family="F", base="B", size_b=7.0, people=True)
    assert one.facts() == ModelFacts(family="F", base="B", size_b=7.0, people=True)
    [run] = runs_of(panel(models=(one,)))
    assert run.about == one.facts()
    assert PanelModel(model="scripted:A").facts() == ModelFacts()
    assert not ModelFacts().people


def test_a_run_that_is_there_has_the_name_of_its_benchmark_and_its_place(bench, fake_model):
    bench.write(1)
    bench.run(fake_model(), name="mine")
    there = (PanelFolder(folder="run"), PanelFolder(folder="run", model="M", condition="blind", family="F"))
    named = PanelBenchmark(benchmark="table", data="q.jsonl", name="Kitchens")
    first, second = given_runs(panel(benchmarks=(named,), runs=there), beside=bench.folder)
    assert (first.benchmark, first.model, first.condition) == ("Kitchens", "mine", "")
    assert (second.benchmark, second.model, second.condition) == ("Kitchens", "M", "blind")
    assert (second.about, second.folder) == (ModelFacts(family="F"), bench.folder / "run")
    other = PanelBenchmark(benchmark="table", data="r.jsonl", name="Streets")
    for benchmarks in ((named, other), (TABLE,), (PanelBenchmark(benchmark="mmvu", name="Experts"),)):
        (run, _) = given_runs(panel(benchmarks=benchmarks, runs=there), beside=bench.folder)
        assert run.benchmark == "table"


def test_a_panel_that_a_program_holds_is_that_of_a_file():
    held = {
        "title": "T",
        "benchmarks": [{"benchmark": "table", "data": "q"}],
        "models": [{"model": "scripted:A"}],
    }
    made = panel_of(held, chance="x")
    assert (made.title, [one.model for one in made.models]) == ("T", ["scripted:A"])
    assert held["models"] == [{"model": "scripted:A"}]

    def always(prompt):
        return "A"

    two = panel_of({**held, "models": [{"model": always, "name": "f"}, {"model": "scripted:B"}]}, chance="x")
    assert [one.name for one in two.models] == ["f", ""]
    assert two.models[1].model == "scripted:B"
    for changes, said in (
        ({"title": ""}, "the panel has no title"),
        ({"models": 3}, "not a panel"),
        ({"models": ["scripted:A"]}, "not a panel"),
        ({"max_cost": -1.0}, "max_cost is -1.0; expected more than 0"),
        ({"models": []}, "the panel has no models"),
    ):
        with pytest.raises(UsageError, match=said):
            panel_of({**held, **changes}, chance="x")


def test_one_condition_needs_no_name_and_runs_alone_need_no_models():
    assert len(runs_of(panel(conditions=(Condition(name="", settings={"frames": 3}),)))) == 1
    alone = PanelFile(runs=(PanelFolder(folder="run"),))
    assert (alone.benchmarks, alone.models) == ((), ())
    with pytest.raises(UsageError, match="the panel has no benchmarks"):
        PanelFile(runs=(PanelFolder(folder="run"),), models=(ALWAYS,))
    with pytest.raises(UsageError, match="a condition has no name"):
        panel(conditions=(Condition(name=""), Condition(name="x")))
