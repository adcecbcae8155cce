"""`vllm:` on a stand-in for the library: options, what the engine is asked, and what goes wrong."""

import importlib.util
import logging
import os
import sys
from pathlib import Path

import anyio
import msgspec
import pytest

from servers.model_asks import maker
from servers.tiny_requests import GREEDY, ask, ask_together, make_request
from servers.vllm_standin import (
    EngineDeadError,
    RequestOutput,
    SamplingParams,
    StandIn,
    Turns,
    VLLMError,
    VLLMValidationError,
    completed,
    install,
)
from vidence.ask.models.vllm import ENVIRONMENT, SHUTDOWN_S
from vidence.ask.models.weights import BatchingModel
from vidence.contracts import Request
from vidence.errors import AccessError, RejectedRequestError, TransientModelError, UsageError
from vidence.records import ImagePart, Reply, Sampling

create = maker("model", "vllm")

SCHEMA = {"type": "object", "properties": {"score": {"type": "integer"}}}


@pytest.fixture(autouse=True)
def _environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ENVIRONMENT:
        monkeypatch.setenv(variable, "")  # so that it is put back afterwards
        monkeypatch.delenv(variable)


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> StandIn:
    return install(monkeypatch)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "weights"
    place.mkdir()
    (place / "config.json").write_text("{}")
    (place / "model.safetensors").write_bytes(b"weights")
    return place


@pytest.fixture
def model(folder: Path, script: StandIn) -> BatchingModel:
    return create(str(folder), {})


def with_schema(request: Request) -> Request:
    prompt = msgspec.structs.replace(request.prompt, reply_schema=SCHEMA)
    return Request(item_id=request.item_id, prompt=prompt, sampling=request.sampling, images=request.images)


def words(turns: Turns) -> str:
    return "".join(part["text"] for part in turns[-1]["content"] if part["type"] == "text")


def test_options_become_arguments_and_what_is_not_set_is_left_to_vllm(model, script, folder):
    assert script.engines == []
    assert ask(model, make_request(sampling=Sampling(want_choice_logps=True))).text == "yes"
    ask(model, make_request([1]))
    [engine] = script.engines
    plain = {"model": str(folder), "trust_remote_code": False, "dtype": "auto", "seed": 0}
    assert engine.arguments == {**plain, "tensor_parallel_size": 1}
    assert script.calls[0][1].logprob_token_ids == [1, 2, 3, 4, 7]
    assert script.calls[0][2] is None
    options = {"dtype": "bfloat16", "max_model_len": "4096", "tensor_parallel_size": "2", "seed": "7"}
    options |= {"gpu_memory_utilization": "0.8", "limit_mm_per_prompt": "64", "trust_remote_code": "true"}
    options |= {"engine": '{"quantization": "fp8", "max_num_seqs": 8}', "thinking": "false"}
    ask(create(str(folder), options), make_request())
    assert script.calls[2][2] == {"enable_thinking": False}
    assert script.engines[1].arguments == {
        **{"model": str(folder), "dtype": "bfloat16", "max_model_len": 4096, "tensor_parallel_size": 2},
        **{"gpu_memory_utilization": 0.8, "limit_mm_per_prompt": {"image": 64}, "seed": 7},
        **{"trust_remote_code": True, "quantization": "fp8", "max_num_seqs": 8},
    }


def test_vllm_is_told_to_be_quiet_and_what_the_user_set_stays(model, monkeypatch):
    monkeypatch.setenv("VLLM_LOGGING_LEVEL", "DEBUG")
    ask(model, make_request())
    assert os.environ["VLLM_NO_USAGE_STATS"] == "1"
    assert os.environ["VLLM_WORKER_MULTIPROC_METHOD"] == "spawn"
    assert os.environ["VLLM_LOGGING_LEVEL"] == "DEBUG"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"gpu_memory_utilization": "1.5"}, "1 or below"),
        ({"gpu_memory_utilization": "0"}, "above 0"),
        ({"tensor_parallel_size": "0"}, "1 or above"),
        ({"dtype": "int8"}, "expected one of auto"),
        ({"thinking": "maybe"}, "true or false"),
        ({"engine": '{"dtype": "half", "model": "x"}'}, "engine must not set dtype, model"),
        ({"revision": "main"}, "has no revisions"),
    ],
)
def test_bad_options_are_refused(script: StandIn, folder: Path, options: dict[str, str], message: str):
    with pytest.raises(UsageError, match=message):
        create(str(folder), options)


def test_without_vllm_a_device_or_an_import_the_message_says_what_to_do(model, folder, monkeypatch):
    with monkeypatch.context() as patch:
        install(patch, device_type="")
        with pytest.raises(UsageError, match=r"needs a GPU.*transformers: on a CPU"):
            ask(create(str(folder), {}), make_request())
    monkeypatch.delattr(sys.modules["vllm"], "LLM")
    with pytest.raises(AccessError, match="installed and cannot be imported"):
        ask(model, make_request())
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(UsageError, match=r"pip install 'vllm"):
        create(str(folder), {})


def test_weights_that_do_not_load_are_no_access_for_everybody(model: BatchingModel, script: StandIn):
    script.load_error = ValueError("no such architecture")
    outcomes = ask_together(model, [make_request([n]) for n in range(3)])
    assert [type(o) for o in outcomes] == [AccessError] * 3
    assert "no such architecture" in str(outcomes[0])


def test_identity_holds_what_changes_the_reply_and_nothing_else(script: StandIn, folder: Path):
    def identity(**options: str) -> str:
        return create(str(folder), options).identity

    same = identity()
    assert same.startswith("vllm:weights@")
    others = ("batch_size", "tensor_parallel_size", "limit_mm_per_prompt")
    assert {identity(**{name: "3"}) for name in others} == {same}
    assert identity(gpu_memory_utilization="0.5", thinking="true") == identity(thinking="true")
    changed = [
        {"dtype": "float32"}, {"max_model_len": "99"}, {"seed": "1"}, {"trust_remote_code": "true"},
        {"thinking": "true"}, {"thinking": "false"}, {"structured": "off"},
        {"engine": '{"quantization": "fp8"}'},
    ]  # fmt: skip
    assert len({same, *(identity(**options) for options in changed)}) == len(changed) + 1
    assert identity(engine='{"a": 1, "b": 2}') == identity(engine='{"b": 2, "a": 1}')
    (folder / "model.safetensors").write_bytes(b"other weights")
    assert identity() != same


def test_requests_are_in_the_engine_at_once_however_each_is_drawn(model: BatchingModel, script: StandIn):
    script.answers = lambda turns, params: completed(f"{words(turns)} {params.max_tokens}")
    requests = [
        make_request(sampling=Sampling(max_tokens=n, temperature=n % 2), text=f"q{n}") for n in range(2, 6)
    ]
    script.is_ready = lambda turns: len(script.calls) == 4
    assert [r.text for r in ask_together(model, requests)] == ["q2 2", "q3 3", "q4 4", "q5 5"]


def test_requests_join_the_engine_as_others_leave_it(folder: Path, script: StandIn):
    """A slow one holds up none of the others, and no more are in the engine than the option says."""
    most = []

    def is_ready(turns: Turns) -> bool:
        most.append(len(script.engines[0].llm_engine.waiting))
        return len(script.calls) >= 3 and (words(turns) != "slow" or len(done) == 8)

    script.is_ready = is_ready
    model = create(str(folder), {"batch_size": "3"})
    done: list[str] = []

    async def one(text: str) -> None:
        await model.reply(make_request(text=text))
        done.append(text)

    async def everything() -> None:
        with anyio.fail_after(30):
            async with anyio.create_task_group() as tasks:
                for text in ("slow", *(f"q{n}" for n in range(8))):
                    tasks.start_soon(one, text)

    anyio.run(everything)
    assert model.max_in_flight == 6
    assert done[-1] == "slow"
    assert max(most) == 3


def refusing(word: str, error: Exception) -> "object":
    def answers(turns: Turns, params: SamplingParams) -> RequestOutput:
        if word in words(turns):
            raise error
        return completed(words(turns))

    return answers


@pytest.mark.parametrize("error", [kind("too long") for kind in (VLLMValidationError, ValueError, VLLMError)])
def test_one_that_cannot_be_taken_does_not_take_the_others_along(model, script, error):
    script.answers = refusing("bad", error)
    requests = [make_request(text="bad" if n == 3 else f"q{n}") for n in range(5)]
    outcomes = ask_together(model, requests)
    assert [o.text for o in outcomes if isinstance(o, Reply)] == ["q0", "q1", "q2", "q4"]
    assert isinstance(outcomes[3], RejectedRequestError)
    assert "item-0: the engine cannot take it" in str(outcomes[3])
    assert "too long" in str(outcomes[3])


def test_a_broken_image_never_gets_to_the_engine(model: BatchingModel, script: StandIn):
    good = make_request([1])
    part = ImagePart(digest="d", width_px=4, height_px=3)
    bad = Request(
        item_id="bad",
        prompt=msgspec.structs.replace(good.prompt, parts=(part,)),
        sampling=GREEDY,
        images={"d": b"no image"},
    )
    outcomes = ask_together(model, [bad, good])
    assert isinstance(outcomes[0], RejectedRequestError)
    assert isinstance(outcomes[1], Reply)
    assert len(script.calls) == 1
    assert isinstance(ask_together(model, [bad])[0], RejectedRequestError)
    assert len(script.calls) == 1


def test_a_reply_that_was_broken_off_may_be_asked_for_again(model: BatchingModel, script: StandIn):
    script.answers = lambda turns, params: completed(
        "", finish_reason="abort" if "bad" in words(turns) else "stop"
    )
    outcomes = ask_together(model, [make_request(text="bad"), make_request(text="good")])
    assert [type(o) for o in outcomes] == [TransientModelError, Reply]


def test_an_engine_that_broke_ends_the_run(model, folder, script, monkeypatch):
    ask(model, make_request())
    with monkeypatch.context() as patch:
        patch.setattr(script.engines[0].llm_engine, "has_unfinished_requests", lambda: False)
        with pytest.raises(AccessError, match="lost requests"):
            ask(model, make_request())
    script.answers = refusing("?", EngineDeadError("out of memory"))
    with pytest.raises(AccessError, match="has died: out of memory; start again"):
        ask(create(str(folder), {}), make_request(text="?"))
    script.step_error = RuntimeError("device-side assert")
    outcomes = ask_together(create(str(folder), {}), [make_request(text=f"q{n}") for n in range(3)])
    assert {str(error) for error in outcomes} == {
        "the engine of weights failed: RuntimeError: device-side assert; start again"
    }


def test_closing_ends_the_engine_and_closing_twice_is_fine(model: BatchingModel, script: StandIn):
    ask_together(model, [make_request()], close=True)
    ask_together(model, [], close=True)
    assert script.engines[0].llm_engine.engine_core.shut_down == [SHUTDOWN_S]
    with pytest.raises(AccessError, match="is closed"):
        ask(model, make_request())


def only_plain(turns: Turns, params: SamplingParams) -> RequestOutput:
    if params.structured_outputs is not None:
        raise ValueError("the schema cannot be compiled")
    return completed("plain")


def test_the_schema_goes_with_the_prompts_that_have_one_or_not_at_all(model, script, folder):
    ask_together(model, [with_schema(make_request()), make_request()])
    held_to = [params.structured_outputs for _, params, _ in script.calls]
    assert sorted((h and h.json for h in held_to), key=str) == [None, SCHEMA]  # asked at once, in any order
    script.answers = only_plain
    with pytest.raises(RejectedRequestError, match="cannot be compiled"):
        ask(create(str(folder), {"structured": "on"}), with_schema(make_request()))
    assert ask(create(str(folder), {"structured": "off"}), with_schema(make_request())).text == "plain"


def test_a_schema_that_is_not_taken_is_left_out_but_only_that(model: BatchingModel, script: StandIn, caplog):
    script.answers = refusing("bad", ValueError("too long"))
    with pytest.raises(RejectedRequestError, match="too long"):
        ask(model, with_schema(make_request(text="bad")))
    ask(model, with_schema(make_request(text="good")))
    assert script.calls[-1][1].structured_outputs is not None
    script.answers = only_plain
    outcomes = ask_together(model, [with_schema(make_request([n])) for n in range(3)])
    assert [o.text for o in outcomes] == ["plain"] * 3
    n_calls = len(script.calls)
    ask(model, with_schema(make_request([9])))
    assert len(script.calls) == n_calls + 1
    told = [r for r in caplog.records if r.levelno == logging.WARNING]
    assert len(told) == 1
    assert "the schema cannot be compiled" in told[0].getMessage()
