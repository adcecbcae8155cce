"""Paths in specs: whole where files are read, as they were written elsewhere."""

import re
from pathlib import Path

import msgspec
import pytest

from vidence.engine.diagnosing import _digest
from vidence.engine.opening import specs_asked
from vidence.engine.prepare import make_plan, open_selector
from vidence.engine.specs import whole_model, whole_selector
from vidence.errors import UsageError


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
        ("replay:weights/../said.jsonl", "replay:{}/said.jsonl"),
        ("vllm:weights/../weights", "vllm:{}/weights"),
        ("transformers:said.jsonl", "transformers:said.jsonl"),
        ("vllm:said.jsonl", "vllm:said.jsonl"),
        ("replay:absent.jsonl", "replay:absent.jsonl"),
        ("replay:" + "x" * 300, "replay:" + "x" * 300),
        ("transformers:" + "x" * 300, "transformers:" + "x" * 300),
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
        ("aks:blip-itm:said.jsonl", "aks:blip-itm:said.jsonl"),
        ("frag-scores:model", "frag-scores:model"),
        (
            "frag-scores:model:transformers:weights?grid=all",
            "frag-scores:model:transformers:{}/weights?grid=all",
        ),
        ("frag-scores:model:openai:weights", "frag-scores:model:openai:weights"),
        (
            "tstar:clip:weights?objects=model:transformers:weights?dtype=float32%26thinking=no&side=2",
            "tstar:clip:{0}/weights?objects=model:transformers:{0}/weights?dtype=float32%26thinking=no&side=2",
        ),
        (
            "tstar:clip:w?objects=model%3Areplay%3Asaid.jsonl",
            "tstar:clip:w?objects=model:replay:{}/said.jsonl",
        ),
        ("tstar:clip:w?objects=model", "tstar:clip:w?objects=model"),
        ("tstar:clip:w?objects=model:openai:weights", "tstar:clip:w?objects=model:openai:weights"),
        ("tstar:clip:w?objects=a%26b", "tstar:clip:w?objects=a%26b"),
    ],
)
def test_selectors_keep_scores_weights_and_models_by_whole_paths(here: Path, spec: str, whole: str) -> None:
    assert whole_selector(spec) == whole.format(here)


def test_a_folder_that_a_spec_cannot_hold_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "what?" / "weights").mkdir(parents=True)
    (tmp_path / "what?" / "said.jsonl").write_text("")
    monkeypatch.chdir(tmp_path / "what?")
    for spec, path in [("replay:said.jsonl", "said.jsonl"), ("transformers:weights", "weights")]:
        with pytest.raises(UsageError, match=re.escape(f"{path} is {tmp_path}/what?/{path}") + ".*rename"):
            whole_model(spec)
    with pytest.raises(UsageError, match="rename"):
        whole_selector("tstar:clip:weights")
    with pytest.raises(UsageError, match="rename"):
        whole_selector("tstar:clip:hub/name?objects=model:replay:said.jsonl")
    # Options may hold it, and what is no path here is none of ours.
    assert whole_selector("aks?scores=s.jsonl") == f"aks?scores={tmp_path}/what?/s.jsonl"
    assert whole_model("transformers:hub/name") == "transformers:hub/name"


def test_the_same_file_is_named_alike_from_every_folder(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    above = whole_model("replay:said.jsonl"), whole_selector("aks:clip:weights?scores=said.jsonl")
    (here / "inner").mkdir()
    monkeypatch.chdir(here / "inner")
    below = whole_model("replay:../said.jsonl"), whole_selector("aks:clip:../weights?scores=../said.jsonl")
    assert below == above
    (here / "linked.jsonl").symlink_to(here / "said.jsonl")
    assert whole_model("replay:../linked.jsonl") == above[0]


def test_a_path_in_a_folder_that_is_closed_is_left_to_the_model(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def closed(self: Path) -> bool:
        raise PermissionError(13, "Permission denied", str(self))

    monkeypatch.setattr(Path, "exists", closed)
    monkeypatch.setattr(Path, "is_dir", closed)
    assert whole_model("replay:weights/said.jsonl") == "replay:weights/said.jsonl"
    assert whole_model("vllm:weights") == "vllm:weights"


def test_a_model_that_also_names_objects_is_one_model(here: Path) -> None:
    plan = make_plan(
        "table",
        data=Path("questions.jsonl"),
        model="transformers:weights",
        wishes={"selector": "tstar:clip:w?objects=model:transformers:weights"},
    )
    assert specs_asked(plan, [open_selector(plan.selector)]) == []


def test_findings_are_of_the_same_plan_however_its_files_are_named(here: Path) -> None:
    plan = make_plan("table", data=Path("questions.jsonl"), model="replay:said.jsonl", wishes={})
    as_written = msgspec.structs.replace(plan, model="replay:weights/../said.jsonl")
    other = msgspec.structs.replace(plan, model="replay:else.jsonl")
    assert _digest(as_written) == _digest(plan) != _digest(other)


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
