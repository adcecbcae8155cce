"""Two recorded models and a run on planted videos in the viewer, from all runs to one question in both."""

import re
from datetime import UTC, datetime

import anyio
import pytest
from playwright.sync_api import expect

from conftest import need
from vidence.ask.phantom.plan import WorldSpec
from vidence.ask.phantom.world import render
from vidence.engine.environment import Environment
from vidence.engine.evaluate import run
from vidence.engine.prepare import make_plan

MODELS = ("GPT-5-chat-latest@1-500", "Qwen2.5-VL-7B@1-500")
N_UNREADABLE = (5, 142)
NOW = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.fixture(scope="module")
def runs(checks_dir, tmp_path_factory):
    """Three runs in a folder."""
    folder = tmp_path_factory.mktemp("replays")
    annotations = need(checks_dir / "perceptioncomp" / "annotations_1-1114.json")
    world = WorldSpec(n_videos=1, items_per_video=3, min_s=20, max_s=20, sizes=((320, 180),), n_variable=0)
    render(folder / "world", world, seed=7)
    told = {"selector": "midpoints", "n_frames": 4}
    plans = {"planted": make_plan("phantom", data=folder / "world", model="phantom:fuser", overrides=told)}
    for name in MODELS:
        path = need(checks_dir / "perceptioncomp" / "responses" / f"{name}.jsonl.gz")
        model = f"replay:{path}?id=question_key&text=raw"
        plans[name] = make_plan(
            "perceptioncomp", data=annotations, model=model, overrides={"split": "seed500"}
        )

    async def go() -> None:
        for name, plan in plans.items():
            place = Environment(cache_root=folder / "cache")
            await run(plan, folder / "runs" / name, environment=place, now=NOW, on_event=lambda _: None)

    anyio.run(go)
    return folder / "runs"


@pytest.mark.parity
def test_from_all_runs_to_one_question_in_two_of_them_in_three_acts(runs, page, view_server):
    served = view_server("--no-open", runs)
    page.goto(served.door)
    lines = page.locator("#piece tbody tr")
    expect(lines).to_have_count(3)
    expect(page.locator("[data-unfinished]")).to_have_count(0, timeout=20_000)
    for name, n in zip(MODELS, N_UNREADABLE, strict=True):
        expect(lines.filter(has_text=name)).to_contain_text(f"{n} unreadable", timeout=20_000)

    lines.filter(has_text=MODELS[0]).get_by_role("link", name="unreadable").click()
    page.locator(".piece tbody a").first.click()
    page.get_by_text("Beside it:").locator("..").get_by_role("link", name=MODELS[1]).click()
    told = page.locator("section.told")
    expect(told).to_have_count(2)
    expect(told.get_by_text("A recorded reply: the prompt is not known")).to_have_count(2)
    for one in told.all():
        expect(one.locator("pre").first).to_be_visible()
        expect(one.get_by_text(re.compile(r"robust, version \d"))).to_be_visible()
        expect(one.locator("summary", has_text="eaders ")).to_be_visible()

    address, shown = page.url, told.first.inner_text()
    page.goto(f"{served.url}/runs")
    page.goto(address)
    expect(told).to_have_count(2)
    assert told.first.inner_text() == shown

    page.goto(f"{served.url}/runs")
    for name in MODELS:
        page.get_by_role("checkbox", name=name).check()
    page.get_by_role("button", name="Compare the ticked runs").click()
    rows = page.get_by_role("table", name="What became of the trials of each").locator("tbody tr")
    for name, n in zip(MODELS, N_UNREADABLE, strict=True):
        expect(rows.filter(has_text=name)).to_contain_text(f"{n} unreadable")
    expect(page.locator("#piece")).to_contain_text("points below", timeout=30_000)
