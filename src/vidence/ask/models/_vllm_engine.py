"""One vLLM engine in this process (its workers are processes of their own). Everything here blocks.

Written against the public interface of vLLM 0.32 and 0.33: ``LLM(...)``, ``LLM.chat``,
``LLM.get_tokenizer``, ``SamplingParams``, ``StructuredOutputsParams``.
"""

import gc
import logging
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, TypeAlias

import msgspec
from jinja2 import TemplateError

from vidence.ask.models._transformers_files import Source
from vidence.ask.models._transformers_load import blank_tokens, letter_tokens
from vidence.ask.models._transformers_run import FOREIGN
from vidence.ask.models._vllm_request import Conversation, conversation, drawing, read_output
from vidence.contracts import Request
from vidence.errors import AccessError, ModelError, RejectedRequestError, UsageError
from vidence.records import Record, Reply

if TYPE_CHECKING:
    from vllm import LLM, RequestOutput, SamplingParams

_log = logging.getLogger(__name__)
Job: TypeAlias = tuple[Request, Conversation]

SHUTDOWN_S = 15.0

# Set before vLLM is imported, where the user has not set them: no report of its use to its makers, no
# log of every step, and no copies of this process, which has threads, a database and workers of its own.
ENVIRONMENT = {
    "VLLM_NO_USAGE_STATS": "1",
    "VLLM_LOGGING_LEVEL": "WARNING",
    "VLLM_WORKER_MULTIPROC_METHOD": "spawn",
}


class EngineRules(Record, kw_only=True):
    """How the engine is made and asked; the options of `vllm.create` of the same names."""

    dtype: str = "auto"
    max_model_len: int | None = None
    tensor_parallel_size: int = 1
    gpu_memory_utilization: float | None = None
    limit_mm_per_prompt: int | None = None
    seed: int = 0
    trust_remote_code: bool = False
    thinking: bool | None = None
    structured: Literal["auto", "on", "off"] = "auto"
    engine: dict[str, object] = msgspec.field(default_factory=dict)


def engine_arguments(source: Source, rules: EngineRules) -> dict[str, object]:
    """The arguments of ``vllm.LLM``; what is not set is left to vLLM."""
    images = rules.limit_mm_per_prompt
    fields: dict[str, object | None] = {
        "model": source.place,
        "revision": source.revision or None,
        "tokenizer_revision": source.revision or None,
        "trust_remote_code": rules.trust_remote_code,
        "dtype": rules.dtype,
        "seed": rules.seed,
        "tensor_parallel_size": rules.tensor_parallel_size,
        "max_model_len": rules.max_model_len,
        "gpu_memory_utilization": rules.gpu_memory_utilization,
        "limit_mm_per_prompt": None if images is None else {"image": images},
    }
    return {name: value for name, value in fields.items() if value is not None} | rules.engine


class Engine:
    """A checkpoint in vLLM.

    Raises (when made):
        UsageError: there is no device that this build of vLLM can use.
        AccessError: the checkpoint cannot be loaded.
    """

    def __init__(self, source: Source, rules: EngineRules) -> None:
        self._name = source.name
        self._rules = rules
        self._takes_schemas = rules.structured != "off"
        self._llm = _start(source, rules)
        vocabulary = self._llm.get_tokenizer().get_vocab()
        self._letters = letter_tokens(vocabulary)
        self._blanks = blank_tokens(vocabulary)

    def close(self) -> None:
        """End the engine's processes and give the memory back; nothing can be answered afterwards."""
        self._llm.llm_engine.engine_core.shutdown(timeout=SHUTDOWN_S)
        del self._llm
        gc.collect()

    def answer(self, requests: Sequence[Request]) -> list[Reply | ModelError]:
        """Answer requests, however each is drawn. Each gets its reply or its own error.

        Raises:
            AccessError: the engine has failed.
        """
        jobs: list[Job | ModelError] = [_job(request) for request in requests]
        answers = iter(self._answer([job for job in jobs if not isinstance(job, ModelError)]))
        return [job if isinstance(job, ModelError) else next(answers) for job in jobs]

    def _answer(self, jobs: list[Job]) -> list[Reply | ModelError]:
        """Together; where one cannot be taken in halves, so that the others do not suffer for it."""
        if not jobs:
            return []
        try:
            outputs = self._chat(jobs, with_schema=self._takes_schemas)
        except RejectedRequestError as error:
            if len(jobs) == 1:
                return [self._without_schema(jobs[0], error)]
            half = len(jobs) // 2
            return [*self._answer(jobs[:half]), *self._answer(jobs[half:])]
        return [self._read(job, output) for job, output in zip(jobs, outputs, strict=True)]

    def _without_schema(self, job: Job, error: RejectedRequestError) -> Reply | ModelError:
        """A request that was not taken; once more without the schema of its reply, if it has one."""
        is_worth_it = self._takes_schemas and self._rules.structured == "auto"
        if not is_worth_it or job[0].prompt.reply_schema is None:
            return error
        try:
            [output] = self._chat([job], with_schema=False)
        except RejectedRequestError:
            return error
        self._takes_schemas = False
        _log.warning(
            "%s does not take the schema of a reply and is asked without it from now on: %s",
            self._name,
            error,
        )
        return self._read(job, output)

    def _chat(self, jobs: list[Job], *, with_schema: bool) -> "list[RequestOutput]":
        """Raises RejectedRequestError where one of the requests cannot be taken; then none was answered."""
        from vllm.exceptions import VLLMError
        from vllm.v1.engine.exceptions import EngineDeadError

        engine = self._llm.llm_engine
        thinking = self._rules.thinking
        try:
            outputs: list[RequestOutput] = self._llm.chat(
                [turns for _, turns in jobs],
                [self._drawing(request, with_schema=with_schema) for request, _ in jobs],
                use_tqdm=False,
                chat_template_kwargs=None if thinking is None else {"enable_thinking": thinking},
            )
        except EngineDeadError as error:
            raise AccessError(f"the engine of {self._name} has died: {error}; start again") from error
        except (VLLMError, TemplateError, *FOREIGN) as error:
            if engine.has_unfinished_requests():  # answers of a batch that broke must not mix with the next
                raise AccessError(f"the engine of {self._name} failed: {error}; start again") from error
            asked = ", ".join(request.item_id for request, _ in jobs[:3])
            raise RejectedRequestError(
                f"{asked}: the engine cannot take it: {type(error).__name__}: {error}"
            ) from error
        if len(outputs) != len(jobs):
            raise AccessError(
                f"the engine of {self._name} lost {len(jobs) - len(outputs)} requests; start again"
            )
        return outputs

    def _drawing(self, request: Request, *, with_schema: bool) -> "SamplingParams":
        from vllm import SamplingParams
        from vllm.sampling_params import StructuredOutputsParams

        schema = request.prompt.reply_schema if with_schema else None
        held_to = None if schema is None else StructuredOutputsParams(json=schema)
        return SamplingParams(**drawing(request, self._letters), structured_outputs=held_to)

    def _read(self, job: Job, output: "RequestOutput") -> Reply | ModelError:
        try:
            return read_output(
                output, job[0], model=self._name, letter_tokens=self._letters, blanks=self._blanks
            )
        except ModelError as error:
            return error


def _job(request: Request) -> Job | ModelError:
    try:
        return request, conversation(request)
    except RejectedRequestError as error:
        return error


def _start(source: Source, rules: EngineRules) -> "LLM":
    for variable, value in ENVIRONMENT.items():
        os.environ.setdefault(variable, value)
    try:
        from vllm import LLM
        from vllm.platforms import current_platform
    except (ImportError, OSError, RuntimeError) as error:
        raise AccessError(
            f"vllm is installed and cannot be imported: {type(error).__name__}: {error}; "
            "its version must fit torch and the driver of the device"
        ) from error
    if not current_platform.device_type:
        raise UsageError(
            f"vllm:{source.name} needs a GPU, and vLLM sees none (driver missing, or CUDA_VISIBLE_DEVICES "
            "hides it?); use transformers: on a CPU, or a server with openai:"
        )
    _log.info("loading %s into vLLM on %s", source.place, current_platform.device_type)
    try:
        return LLM(**engine_arguments(source, rules))
    except (ImportError, OSError, *FOREIGN) as error:
        raise AccessError(
            f"{source.place} cannot be loaded into vLLM: {type(error).__name__}: {error}; "
            "what its log says before this tells more"
        ) from error
