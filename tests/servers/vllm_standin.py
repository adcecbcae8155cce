"""Stands in for the library vLLM where it cannot be installed: the names that `vllm:` uses, and no more.

`tests/unit/models/test_vllm_real.py` compares names, parameters and fields with the real library where
that is installed, and puts the same requests to a real engine.

    install(monkeypatch)          # from now on `import vllm` finds this
    StandIn.answers = ...         # what the engine says to a conversation
"""

import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import ModuleType

import pytest

Turns = list[dict[str, object]]
VOCABULARY = {"A": 1, "ĠA": 2, "B": 3, "▁B": 4, "Ċ": 5, "Ġ": 6, "C": 7, "yes": 8, "<0x0A>": 9}


class VLLMError(Exception):
    """The root of vLLM's own errors."""


class VLLMClientError(VLLMError):
    """A request that cannot be taken."""


class VLLMValidationError(VLLMClientError):
    """A field of a request that cannot be taken."""


class EngineDeadError(VLLMError):
    """The engine's process has ended."""


@dataclass
class StructuredOutputsParams:
    json: str | dict[str, object] | None = None


@dataclass(kw_only=True)
class SamplingParams:
    temperature: float = 1.0
    top_p: float = 1.0
    top_k: int = 0
    min_p: float = 0.0
    repetition_penalty: float = 1.0
    max_tokens: int | None = 16
    seed: int | None = None
    logprob_token_ids: list[int] | None = None
    structured_outputs: StructuredOutputsParams | None = None


@dataclass
class Logprob:
    logprob: float
    rank: int | None = None
    decoded_token: str | None = None


@dataclass
class CompletionOutput:
    index: int
    text: str
    token_ids: Sequence[int]
    cumulative_logprob: float | None = None
    logprobs: Sequence[Mapping[int, Logprob]] | None = None
    finish_reason: str | None = None


@dataclass
class RequestOutput:
    prompt_token_ids: list[int] | None
    outputs: list[CompletionOutput]
    finished: bool = True
    request_id: str = ""


def completed(
    text: str,
    token_ids: Sequence[int] = (8,),
    *,
    logprobs: Sequence[Mapping[int, Logprob]] | None = None,
    finish_reason: str | None = "stop",
    n_input: int | None = 3,
) -> RequestOutput:
    """A finished request."""
    said = CompletionOutput(
        index=0, text=text, token_ids=token_ids, logprobs=logprobs, finish_reason=finish_reason
    )
    return RequestOutput(prompt_token_ids=None if n_input is None else [0] * n_input, outputs=[said])


@dataclass
class _Core:
    shut_down: list[float | None] = field(default_factory=list)

    def shutdown(self, timeout: float | None = None) -> None:
        self.shut_down.append(timeout)


@dataclass
class _LLMEngine:
    script: "StandIn"
    waiting: dict[str, tuple[Turns, RequestOutput]] = field(default_factory=dict)
    engine_core: _Core = field(default_factory=_Core)

    def has_unfinished_requests(self) -> bool:
        return bool(self.waiting)

    def step(self) -> list[RequestOutput]:
        time.sleep(0.001)
        if self.script.step_error is not None:
            raise self.script.step_error
        ready = [name for name, (turns, _) in [*self.waiting.items()] if self.script.is_ready(turns)]
        return [replace(self.waiting.pop(name)[1], request_id=name) for name in ready]


class _Tokenizer:
    def get_vocab(self) -> dict[str, int]:
        return dict(VOCABULARY)


@dataclass
class StandIn:
    """What the engines of one test say, and what they were given."""

    answers: Callable[[Turns, SamplingParams], RequestOutput] = lambda turns, params: completed("yes")
    is_ready: Callable[[Turns], bool] = lambda turns: True
    step_error: Exception | None = None
    load_error: Exception | None = None
    engines: list["LLM"] = field(default_factory=list)
    calls: list[tuple[Turns, SamplingParams, dict[str, object] | None]] = field(default_factory=list)


class LLM:
    script: StandIn

    def __init__(self, model: str, **arguments: object) -> None:
        if self.script.load_error is not None:
            raise self.script.load_error
        self.arguments = {"model": model, **arguments}
        self.llm_engine = _LLMEngine(self.script)
        self.script.engines.append(self)

    def get_tokenizer(self) -> _Tokenizer:
        return _Tokenizer()

    def enqueue_chat(
        self,
        messages: list[Turns],
        sampling_params: Sequence[SamplingParams] | None = None,
        use_tqdm: bool = True,
        chat_template_kwargs: dict[str, object] | None = None,
    ) -> list[str]:
        assert not use_tqdm
        [turns], [params] = messages, sampling_params
        name = f"{len(self.script.calls)}"
        self.script.calls.append((turns, params, chat_template_kwargs))
        self.llm_engine.waiting[name] = turns, self.script.answers(turns, params)
        return [f"{name}-c0ffee01"]


@dataclass
class _Platform:
    device_type: str = "cuda"


def install(monkeypatch: pytest.MonkeyPatch, *, device_type: str = "cuda") -> StandIn:
    """Put the stand-in in the place of the library for one test; returns its script."""
    script = StandIn()
    engine_class = type("LLM", (LLM,), {"script": script})
    members: dict[str, dict[str, object]] = {
        "vllm": {"LLM": engine_class, "SamplingParams": SamplingParams},
        "vllm.exceptions": {"VLLMError": VLLMError, "VLLMClientError": VLLMClientError},
        "vllm.platforms": {"current_platform": _Platform(device_type)},
        "vllm.sampling_params": {"StructuredOutputsParams": StructuredOutputsParams},
        "vllm.v1": {},
        "vllm.v1.engine": {},
        "vllm.v1.engine.exceptions": {"EngineDeadError": EngineDeadError},
    }
    for name, content in members.items():
        module = ModuleType(name)
        module.__path__ = []
        module.__spec__ = type(sys.__spec__)(name, None)
        vars(module).update(content)
        monkeypatch.setitem(sys.modules, name, module)
    return script
