"""`vllm:` and the stand-in against the real library, where it is installed; a tiny LLaVA in a real engine.

Runs on a GPU, and on builds of vLLM for the CPU. The engine is loaded once, which takes a minute or two.
"""

import importlib.util
import inspect
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path

import anyio
import msgspec
import pytest

from servers import vllm_standin
from servers.model_asks import maker
from servers.tiny_requests import GREEDY, ask_together, make_request
from vidence.ask.models.vllm import Settings, engine_arguments
from vidence.ask.models.weights import BatchingModel
from vidence.contracts import Request
from vidence.errors import VidenceError
from vidence.records import Reply
from vidence.weights.checkpoints import Source

create = maker("model", "vllm")
create_transformers = maker("model", "transformers")

pytestmark = [
    pytest.mark.skipif(
        importlib.util.find_spec("vllm") is None, reason="vllm is not installed (extra 'vllm', needs a GPU)"
    ),
    pytest.mark.filterwarnings("ignore"),  # those of vLLM and of what it imports
]
LOAD_S = 600
SCHEMA = {"enum": ["no", "yes"]}


def test_names_parameters_and_fields_are_those_of_the_library():
    import vllm
    from vllm.engine.arg_utils import EngineArgs
    from vllm.exceptions import VLLMClientError, VLLMError, VLLMValidationError
    from vllm.logprobs import Logprob
    from vllm.platforms import current_platform
    from vllm.sampling_params import StructuredOutputsParams
    from vllm.v1.engine.exceptions import EngineDeadError
    from vllm.v1.engine.llm_engine import LLMEngine

    def parameters(function: object) -> set[str]:
        return set(inspect.signature(function).parameters)

    assert parameters(vllm_standin.LLM.enqueue_chat) <= parameters(vllm.LLM.enqueue_chat)
    names = {field.name for field in fields(vllm_standin.SamplingParams)}
    assert names <= set(vllm.SamplingParams.__struct_fields__)
    assert "json" in parameters(StructuredOutputsParams)
    for ours, theirs in (
        (vllm_standin.Logprob, Logprob),
        (vllm_standin.CompletionOutput, vllm.CompletionOutput),
    ):
        assert {field.name for field in fields(ours)} <= {field.name for field in fields(theirs)}
    assert {"has_unfinished_requests", "step"} <= set(dir(LLMEngine))
    assert {"prompt_token_ids", "outputs", "finished", "request_id"} <= parameters(vllm.RequestOutput)
    assert issubclass(VLLMValidationError, VLLMClientError)
    assert issubclass(VLLMClientError, VLLMError)
    assert issubclass(EngineDeadError, VLLMError)
    assert isinstance(current_platform.device_type, str)
    every = Settings(name="p", max_model_len=9, gpu_memory_utilization=0.5, limit_mm_per_prompt=3)
    source = Source(place="p", name="n", revision="r", content="c")
    assert engine_arguments(source, every).keys() <= parameters(vllm.LLM) | parameters(EngineArgs)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from servers.tiny_vllm import build

    return build(tmp_path_factory.mktemp("tiny") / "vlm")


@pytest.fixture(scope="module")
def model(folder: Path) -> Iterator[BatchingModel]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("VLLM_CPU_KVCACHE_SPACE", "1")  # GiB, read by builds for the CPU
        options = {"dtype": "float32", "max_model_len": "2048", "engine": '{"enforce_eager": true}'}
        made = create(str(folder), {**options, "limit_mm_per_prompt": "16"})
        yield made
        anyio.run(made.close)


def outcomes(model: BatchingModel, *requests: Request) -> list[Reply | VidenceError]:
    return ask_together(model, requests, timeout_s=LOAD_S)


def replies(model: BatchingModel, *requests: Request) -> list[Reply]:
    got = outcomes(model, *requests)
    assert [o for o in got if not isinstance(o, Reply)] == []
    return got


MIXED = [
    make_request(text="?"), make_request([1]), make_request([1, 2, 3]), make_request([3, 2, 1]),
    make_request(range(8)), make_request([4], system="You are brief."),
]  # fmt: skip


def test_it_says_what_transformers_says_of_the_same_weights(model: BatchingModel, folder: Path):
    logps = msgspec.structs.replace(GREEDY, want_choice_logps=True)
    requests = [Request(item_id=r.item_id, prompt=r.prompt, sampling=logps, images=r.images) for r in MIXED]
    ours = replies(model, *requests)
    reference = ask_together(create_transformers(str(folder), {"device": "cpu"}), requests)
    assert [r.text for r in ours] == [r.text for r in reference]
    assert [r.usage for r in ours] == [r.usage for r in reference]
    assert [r.finish for r in ours] == [r.finish for r in reference]
    assert len({r.text for r in ours}) > 3
    assert [replies(model, request)[0].text for request in MIXED] == [r.text for r in ours]
    for one, other in zip(ours, reference, strict=True):
        assert one.choice_logps == pytest.approx(other.choice_logps, abs=1e-3)


def test_a_reply_keeps_to_its_schema(model: BatchingModel):
    plain = make_request([1])
    prompt = msgspec.structs.replace(plain.prompt, reply_schema=SCHEMA)
    held = Request(item_id="held", prompt=prompt, sampling=plain.sampling, images=plain.images)
    [one, other] = replies(model, held, plain)
    assert msgspec.json.decode(one.text.strip()) in SCHEMA["enum"]
    assert other.text == replies(model, plain)[0].text != one.text
