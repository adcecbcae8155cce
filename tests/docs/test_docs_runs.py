"""The page about names, lists and panels: its file is a panel, and its table of rows has all of them."""

from pathlib import Path

from vidence.engine.config_file import read_config
from vidence.engine.panel import PanelFile, paper_rows, planned

PAGE = "docs/guides/runs.md"


def test_the_panel_on_the_page_is_one(page, tmp_path):
    (block,) = page[PAGE].blocks("toml")
    path = tmp_path / str(block.title)
    path.write_text(block.body)
    runs = planned(read_config(path, PanelFile), beside=Path("/beside"), root=Path("/panels"))
    assert len(runs) == 8
    assert {(run.benchmark, run.plan.frames) for run in runs if run.model == "GPT-4.1"} >= {("mmvu", 32)}
    assert {run.plan.selector for run in runs if run.model == "Qwen2.5-VL-7B"} >= {"mmvu-vllm"}
    assert {run.plan.media for run in runs if run.benchmark == "Kitchen"} == {"/beside/videos"}


def test_every_row_of_a_paper_stands_on_the_page(page):
    text = page[PAGE].text
    for name in paper_rows():
        stem, dash, ending = name.rpartition("-")
        is_listed = f"`{name}`" in text or (dash and f"`{stem}-" in text and f"`-{ending}`" in text)
        assert is_listed, name
