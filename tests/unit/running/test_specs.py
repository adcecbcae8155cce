"""Paths in specs: whole where files are read, as they were written elsewhere."""

from pathlib import Path

import pytest

from vidence.running.prepare import make_plan
from vidence.running.specs import whole_model, whole_selector


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to stand in, with a file and a folder."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "said.jsonl").write_text("")
    (tmp_path / "weights").mkdir()
    return tmp_path


@pytest.mark.parametrize(
    ("spec", "whole"),
    [
        ("replay:said.jsonl", "replay:{}/said.jsonl"),
        ("replay:said.jsonl?id=key&text=a%26b", "replay:{}/said.jsonl?id=key&text=a%26b"),
        ("transformers:weights?dtype=float32", "transformers:{}/weights?dtype=float32"),
        ("vllm:./weights", "vllm:{}/weights"),
        ("pointlight-nn:weights", "pointlight-nn:{}/weights"),
        ("transformers:Qwen/Qwen2.5-VL-3B-Instruct", "transformers:Qwen/Qwen2.5-VL-3B-Instruct"),
        ("replay:absent.jsonl", "replay:absent.jsonl"),
        ("replay:", "replay:"),
        ("replay:/said/else.jsonl", "replay:/said/else.jsonl"),
        ("openai:weights?base_url=http://x/v1", "openai:weights?base_url=http://x/v1"),
        ("scripted:said.jsonl", "scripted:said.jsonl"),
        ("opneai:weights", "opneai:weights"),
    ],
)
def test_models_that_read_files_get_their_whole_path(here: Path, spec: str, whole: str) -> None:
    assert whole_model(spec) == whole.format(here)


@pytest.mark.parametrize(
    ("spec", "whole"),
    [
        ("midpoints", "midpoints"),
        ("fps:2", "fps:2"),
        ("aks?scores=a&b=c", "aks?scores={}/a&b=c"),
        ("aks:blip-itm:weights?mode=official", "aks:blip-itm:{}/weights?mode=official"),
        ("aks:blip-itm:some/hub", "aks:blip-itm:some/hub"),
        ("frag-scores:model", "frag-scores:model"),
        (
            "frag-scores:model:transformers:weights?grid=all",
            "frag-scores:model:transformers:{}/weights?grid=all",
        ),
        ("frag-scores:model:openai:weights", "frag-scores:model:openai:weights"),
    ],
)
def test_selectors_keep_scores_weights_and_models_by_whole_paths(here: Path, spec: str, whole: str) -> None:
    assert whole_selector(spec) == whole.format(here)


def test_a_path_that_a_spec_cannot_hold_stays_as_it_was_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "what?").mkdir()
    (tmp_path / "what?" / "said.jsonl").write_text("")
    monkeypatch.chdir(tmp_path / "what?")
    assert whole_model("replay:said.jsonl") == "replay:said.jsonl"


def test_a_plan_has_whole_paths_everywhere(here: Path) -> None:
    plan = make_plan(
        "table",
        data=Path("questions.jsonl"),
        model="replay:said.jsonl",
        wishes={"judge_models": ("replay:said.jsonl?id=key",), "selector": "aks?scores=s.json"},
    )
    assert plan.model == f"replay:{here}/said.jsonl"
    assert plan.judge_models == (f"replay:{here}/said.jsonl?id=key",)
    assert plan.selector == f"aks?scores={here}/s.json"
    assert plan.data == f"{here}/questions.jsonl"
