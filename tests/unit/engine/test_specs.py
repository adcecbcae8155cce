"""Paths in specs: whole where files are read, as they were written elsewhere."""

import re
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Annotated, ClassVar
from urllib.parse import quote

import msgspec
import pytest
from msgspec import Meta

from vidence import catalog
from vidence.ask.models import keys
from vidence.catalog import create
from vidence.contracts import Traits
from vidence.engine import engine as engine_module
from vidence.engine import specs
from vidence.engine.diagnose import plan_digest
from vidence.engine.engine import Engine, ModelRules
from vidence.engine.limits import Budget
from vidence.engine.prepare import make_plan
from vidence.engine.specs import model_spec, named_specs, whole_spec
from vidence.errors import UnknownNameError, UsageError
from vidence.records import Record


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
        ("transformers:Qwen/Qwen2.5-VL-3B-Instruct", "transformers:Qwen/Qwen2.5-VL-3B-Instruct"),
        ("replay:weights/../said.jsonl", "replay:{}/said.jsonl"),
        ("vllm:weights/../weights", "vllm:{}/weights"),
        ("transformers:said.jsonl", "transformers:{}/said.jsonl"),
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
    assert whole_spec("model", spec) == whole.format(here)


@pytest.mark.parametrize(
    ("spec", "whole"),
    [
        ("midpoints", "midpoints"),
        ("fps:2", "fps:2"),
        ("aks?scores=a&b=c", "aks?scores={}/a&b=c"),
        ("aks:blip-itm:weights?mode=official", "aks:blip-itm:{}/weights?mode=official"),
        ("aks:blip-itm:some/hub", "aks:blip-itm:some/hub"),
        ("aks:blip-itm:said.jsonl", "aks:blip-itm:{}/said.jsonl"),
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
    assert whole_spec("selector", spec) == whole.format(here)


def test_a_folder_that_a_spec_cannot_hold_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "what?" / "weights").mkdir(parents=True)
    (tmp_path / "what?" / "said.jsonl").write_text("")
    monkeypatch.chdir(tmp_path / "what?")
    for spec, path in [("replay:said.jsonl", "said.jsonl"), ("transformers:weights", "weights")]:
        with pytest.raises(UsageError, match=re.escape(f"{path} is {tmp_path}/what?/{path}") + ".*rename"):
            whole_spec("model", spec)
    with pytest.raises(UsageError, match="rename"):
        whole_spec("selector", "tstar:clip:weights")
    with pytest.raises(UsageError, match="rename"):
        whole_spec("selector", "tstar:clip:hub/name?objects=model:replay:said.jsonl")
    # Options may hold it, and what is no path here is none of ours.
    assert whole_spec("selector", "aks?scores=s.jsonl") == f"aks?scores={tmp_path}/what?/s.jsonl"
    assert whole_spec("model", "transformers:hub/name") == "transformers:hub/name"


def test_a_path_in_a_folder_that_is_closed_is_left_to_the_model(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def closed(self: Path) -> bool:
        raise PermissionError(13, "Permission denied", str(self))

    monkeypatch.setattr(Path, "exists", closed)
    monkeypatch.setattr(Path, "is_dir", closed)
    assert whole_spec("model", "replay:weights/said.jsonl") == "replay:weights/said.jsonl"
    assert whole_spec("model", "vllm:weights") == "vllm:weights"


def test_a_model_that_also_names_objects_is_one_model(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = make_plan(
        "table",
        data=Path("questions.jsonl"),
        model="transformers:weights",
        overrides={"selector": "tstar:clip:w?objects=model:transformers:weights"},
    )
    (asked,) = Traits.of(create("selector", plan.selector)).models
    monkeypatch.setattr(engine_module, "create", lambda kind, spec: object())
    engine = Engine(memory=here / "replies.sqlite", limits=plan.limits, on_event=print)
    engine.add("", ModelRules(spec=plan.model, budget=Budget()))
    assert engine.model(asked) is engine.model("")
    with pytest.raises(UnknownNameError, match="transformers:other"):
        engine.model("transformers:other")


def test_findings_are_of_the_same_plan_however_its_files_are_named(here: Path) -> None:
    plan = make_plan("table", data=Path("questions.jsonl"), model="replay:said.jsonl", overrides={})
    as_written = msgspec.structs.replace(plan, model="replay:weights/../said.jsonl")
    other = msgspec.structs.replace(plan, model="replay:else.jsonl")
    assert plan_digest(as_written) == plan_digest(plan) != plan_digest(other)


def test_a_plan_has_whole_paths_everywhere(here: Path) -> None:
    plan = make_plan(
        "table",
        data=Path("questions.jsonl"),
        model="replay:said.jsonl",
        overrides={"judge_models": ("replay:said.jsonl?id=key",), "selector": "aks?scores=s.json"},
    )
    assert plan.model == f"replay:{here}/said.jsonl"
    assert plan.judge_models == (f"replay:{here}/said.jsonl?id=key",)
    assert plan.selector == f"aks?scores={here}/s.json"
    assert plan.data == f"{here}/questions.jsonl"


def test_what_declares_its_paths_gets_them_whole(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Settings(Record):
        positional: ClassVar[str] = "weights"
        weights: Annotated[catalog.FilePath, Meta(description="a folder")] = ""
        prompts: Annotated[catalog.FilePath, Meta(description="a file")] = ""
        name: str = ""

    module = ModuleType("tests.declared")
    module.Settings = Settings
    module.create = lambda settings: settings
    entry = SimpleNamespace(value="tests.declared", load=lambda: module)
    found = {"model": {"declared": entry}}
    monkeypatch.setattr(catalog, "_entry_points", lambda kind: found.get(kind, {}))
    assert whole_spec("model", "declared:weights?prompts=said.jsonl&name=said.jsonl") == (
        f"declared:{here}/weights?prompts={here}/said.jsonl&name=said.jsonl"
    )
    assert whole_spec("model", "declared:hub/name") == "declared:hub/name"
    plan = make_plan("table", data=Path("q.jsonl"), model="declared:weights", overrides={})
    assert plan.model == f"declared:{here}/weights"


@pytest.mark.parametrize(
    "spec",
    [
        "openai:m?base_url=http://u:sk-canary@h/v1",
        "openai:m?base_url=http://h/v1?api_key=sk-canary",
        "openai:m?api_key_env=sk-canary",
        "openai:m?sk-canary",
        "openai:m?x=1&x=sk-canary",
        'openai:m?extra={"headers":{"authorization":"sk-canary"}}',
        "openai:sk-canaryA1b2C3d4E5f6G7h8I9",
        "openai:m-KEYVALUE-sk-canary",
    ],
)
def test_a_spec_that_may_hold_a_key_is_refused_and_not_shown(spec, monkeypatch):
    monkeypatch.setattr(keys, "_IN_USE", set())
    monkeypatch.setenv("OPENAI_API_KEY", "KEYVALUE-sk-canary")
    for kind, text in (("model", spec), ("selector", f"frag-scores?embedder={quote(f'model:{spec}')}")):
        with pytest.raises(UsageError) as refused:
            specs.check_secrets(kind, text)
        assert "sk-canary" not in str(refused.value)


def test_what_a_selector_passes_on_belongs_to_the_spec_of_its_model():
    text = "frag-scores:model:openai:m?embedder.base_url=http://h/v1&query=question"
    (_, selector), (kind, model) = specs.named_specs("selector", text)
    assert (selector.name, kind, model.name, model.argument) == ("frag-scores", "model", "openai", "m")
    assert model.options == {"base_url": "http://h/v1"}


def test_the_specs_among_the_fields_of_a_plan_are_checked():
    with pytest.raises(UsageError, match="api_key_env must be the name"):
        specs.check_overrides({"judge_models": ("openai:m?api_key_env=a-b",)}, model="scripted:A")
    specs.check_overrides({"judge_models": (), "selector": "fps:1", "strategy": "once"}, model="openai:m")


def test_what_came_later_and_is_not_used_leaves_findings_usable(here: Path) -> None:
    plan = make_plan("table", data=Path("said.jsonl"), model="scripted:A", overrides={})
    assert plan_digest(plan) == plan_digest(msgspec.structs.replace(plan, patience_s=5.0))
    assert plan_digest(plan) != plan_digest(msgspec.structs.replace(plan, media=str(here)))


@pytest.mark.parametrize(
    ("base", "spec", "expected"),
    [
        ("openai:a", "gemini:b", "gemini:b"),
        ("openai:a", "+thinking_budget=8", "openai:a?thinking_budget=8"),
        ("openai:a?x=1&y=2", "+y=3&z=4", "openai:a?x=1&y=3&z=4"),
    ],
)
def test_a_plus_adds_to_the_plans_own_model(base, spec, expected):
    assert model_spec(base, spec) == expected


def test_the_reward_of_a_strategy_gets_its_whole_path(here: Path) -> None:
    assert whole_spec("strategy", "best-of-n?m=1&reward=replay:said.jsonl") == (
        f"best-of-n?m=1&reward=replay:{here}/said.jsonl"
    )
    for same in ("best-of-n?reward=self", "best-of-n?reward=+thinking_budget=8", "best-of-n?m=2", "once"):
        assert whole_spec("strategy", same) == same


def test_a_model_inside_a_strategy_is_named_with_its_own_options() -> None:
    found = list(named_specs("strategy", "best-of-n?reward=+api_key_env=K", base="openai:a?x=1"))
    assert [(kind, spec.name, spec.argument, dict(spec.options)) for kind, spec in found] == [
        ("strategy", "best-of-n", "", {"reward": "+api_key_env=K"}),
        ("model", "openai", "a", {"x": "1", "api_key_env": "K"}),
    ]
    assert [kind for kind, _ in named_specs("strategy", "best-of-n?reward=self")] == ["strategy"]


def test_a_key_in_the_reward_of_a_strategy_is_not_shown(here: Path) -> None:
    key = "sk-" + "a1B2" * 12
    spec = f"best-of-n?reward=openai:m%3Fbase_url=http://user:{key}@x/v1"
    with pytest.raises(UsageError) as refused:
        make_plan(
            "table", data=Path("said.jsonl"), model="scripted:A", overrides={"strategy": spec, "media": "."}
        )
    assert key not in str(refused.value)
