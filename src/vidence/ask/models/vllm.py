"""Weights in this process, in a vLLM engine: ``vllm:/path/to/weights?OPTION=VALUE``.

    vllm:/path/to/checkpoint?max_model_len=32768
    vllm:Qwen/Qwen2.5-VL-7B-Instruct?tensor_parallel_size=2&limit_mm_per_prompt=64

Requests join the batch that the engine works on as others leave it. A server (``vllm serve``, asked with
``openai:``) does the same for several runs at once; this one needs no server.

Written against the public interface of vLLM 0.32 and 0.33: ``LLM(...)``, ``LLM.enqueue_chat``,
``LLM.get_tokenizer``, ``LLMEngine.step``, ``SamplingParams``, ``StructuredOutputsParams``.
"""

import gc
import importlib.util
import logging
import os
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import Future, wait
from threading import Lock
from typing import TYPE_CHECKING, Annotated, Literal

import msgspec
from jinja2 import TemplateError
from msgspec import Meta

from vidence.ask.models.answers import finish_of
from vidence.ask.models.settings import Count, spec_of
from vidence.ask.models.weights import (
    FOREIGN,
    BatchingModel,
    Conversation,
    Job,
    Outcome,
    UnfitError,
    Weights,
    WeightSettings,
    blank_tokens,
    conversation,
    draw_of,
    letter_tokens,
    likeliest,
    wanted_letters,
)
from vidence.contracts import Request
from vidence.errors import AccessError, TransientModelError, UsageError
from vidence.installation import adding
from vidence.records import Reply, Usage
from vidence.text import visible
from vidence.weights.checkpoints import Source, locate

if TYPE_CHECKING:
    from vllm import LLM, RequestOutput, SamplingParams

BATCH_SIZE = 64
SHUTDOWN_S = 15.0
TAKE_OVER_S = 0.05  # how soon another thread steps the engine after the last one left
# Set before vLLM is imported, where the user has not set them: no report of its use to its makers, no
# log of every step, and no copies of this process, which has threads, a database and workers of its own.
ENVIRONMENT = {
    "VLLM_NO_USAGE_STATS": "1",
    "VLLM_LOGGING_LEVEL": "WARNING",
    "VLLM_WORKER_MULTIPROC_METHOD": "spawn",
}

_log = logging.getLogger(__name__)


class Settings(WeightSettings):
    """Options of ``vllm:`` models."""

    max_model_len: Annotated[Count | None, Meta(description="most tokens of prompt and reply")] = None
    tensor_parallel_size: Annotated[int, Meta(ge=1, description="GPUs that share the weights")] = 1
    gpu_memory_utilization: Annotated[
        Annotated[float, Meta(gt=0, le=1)] | None,
        Meta(description="share of each GPU's memory that is taken; by default vLLM's"),
    ] = None
    limit_mm_per_prompt: Annotated[Count | None, Meta(description="most images in one prompt")] = None
    seed: Annotated[int, Meta(ge=0, description="of the engine; a plan's seed goes before it")] = 0
    thinking: Annotated[bool | None, Meta(description="enable_thinking of the chat template")] = None
    structured: Annotated[
        Literal["auto", "on", "off"],
        Meta(description="hold a reply to its schema: until the engine refuses it, always, never"),
    ] = "auto"
    engine: Annotated[
        dict[str, object], Meta(description="JSON object of further arguments of `vllm.LLM`")
    ] = msgspec.field(default_factory=dict)
    batch_size: Annotated[int, Meta(ge=1, description="most in the engine at once")] = BATCH_SIZE

    def __post_init__(self) -> None:
        """Reject engine arguments that have their own options."""
        if clash := sorted(_OWN_ARGUMENTS & self.engine.keys()):
            raise UsageError(
                f"vllm:{self.name}: engine must not set {', '.join(clash)}; they have options of their own"
            )


_IN_IDENTITY = ("dtype", "max_model_len", "seed", "trust_remote_code", "thinking", "structured", "engine")
# Options that are arguments of `vllm.LLM` under the same name.
_PASSED = (
    *("dtype", "gpu_memory_utilization", "max_model_len", "seed"),
    *("tensor_parallel_size", "trust_remote_code"),
)
_OWN_ARGUMENTS = {*_PASSED, "limit_mm_per_prompt", "model", "revision", "tokenizer_revision"}


# ------------------------------------------------------------------------------------------ loading


def engine_arguments(source: Source, settings: Settings) -> dict[str, object]:
    """Return the arguments of ``vllm.LLM``; others keep vLLM's defaults."""
    images = settings.limit_mm_per_prompt
    fields: dict[str, object | None] = {
        **{name: getattr(settings, name) for name in _PASSED},
        "model": source.place,
        "revision": source.revision or None,
        "tokenizer_revision": source.revision or None,
        "limit_mm_per_prompt": None if images is None else {"image": images},
    }
    return {name: value for name, value in fields.items() if value is not None} | settings.engine


def _start(source: Source, settings: Settings) -> "LLM":
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
        return LLM(**engine_arguments(source, settings))
    except (ImportError, OSError, *FOREIGN) as error:
        raise AccessError(
            f"{source.place} cannot be loaded into vLLM: {type(error).__name__}: {error}; "
            "its log above gives the cause"
        ) from error


# ---------------------------------------------------------------------------------------- answering


class Engine(Weights):
    """A checkpoint in vLLM.

    Raises (when made):
        UsageError: there is no device that this build of vLLM can use.
        AccessError: the checkpoint cannot be loaded.
    """

    def __init__(self, source: Source, settings: Settings) -> None:
        self._name = source.name
        self._settings = settings
        self._takes_schemas = settings.structured != "off"
        self._llm = _start(source, settings)
        self._asked: dict[str, Future[RequestOutput]] = {}
        self._fault = ""
        # A request can enter while another thread steps: the engine works in a process of its own.
        self._entering, self._stepping = Lock(), Lock()
        vocabulary = self._llm.get_tokenizer().get_vocab()
        self._letters = letter_tokens(vocabulary)
        self._blanks = blank_tokens(vocabulary)

    def close(self) -> None:
        """End the engine's processes and free memory; the engine cannot be used afterwards."""
        self._llm.llm_engine.engine_core.shutdown(timeout=SHUTDOWN_S)
        del self._llm
        gc.collect()

    def batch_size(self, request: Request) -> int:
        """Return 1: the engine batches requests itself."""
        return 1

    def job(self, request: Request) -> Job:
        """See `Weights.job`."""
        turns = conversation(request, owner="vllm", image_type="image_pil", has_plain_system=True)
        return Job(request=request, turns=turns)

    def encode(self, jobs: Sequence[Job]) -> Callable[[], list[Outcome]]:
        """See `Weights.encode`."""
        return lambda: [self._answered(job, with_schema=self._takes_schemas) for job in jobs]

    def alone(self, job: Job, reason: UnfitError) -> Outcome:
        """Return the outcome of a rejected request, after retrying without its schema if it has one."""
        error = super().alone(job, reason)
        if self._settings.structured != "auto" or job.request.prompt.reply_schema is None:
            return error
        try:
            outcome = self._answered(job, with_schema=False)
        except UnfitError:
            return error
        if self._takes_schemas:
            self._takes_schemas = False
            _log.warning(
                "%s does not take the schema of a reply and is asked without it from now on: %s",
                self._name,
                visible(str(error)),
            )
        return outcome

    def _answered(self, job: Job, *, with_schema: bool) -> Outcome:
        """Return the engine's outcome; one of the waiting threads steps the engine for all."""
        sampling = self._sampling(job.request, with_schema=with_schema)
        with self._entering:
            name = self._enter(job.turns, sampling)
        asked = self._asked.setdefault(name, Future())
        while not asked.done():
            if not self._stepping.acquire(blocking=False):
                wait([asked], timeout=TAKE_OVER_S)
                continue
            try:
                while not asked.done():
                    self._step()
            finally:
                self._stepping.release()
        del self._asked[name]
        return read_output(
            asked.result(), job.request, model=self._name, letter_tokens=self._letters, blanks=self._blanks
        )

    def _enter(self, turns: Conversation, sampling: "SamplingParams") -> str:
        """Pass a request to the engine, and return its name."""
        from vllm.exceptions import VLLMError
        from vllm.v1.engine.exceptions import EngineDeadError

        thinking = self._settings.thinking
        options = None if thinking is None else {"enable_thinking": thinking}
        try:
            names: list[str] = self._llm.enqueue_chat(
                [turns], [sampling], use_tqdm=False, chat_template_kwargs=options
            )
        except EngineDeadError as error:
            raise AccessError(f"the engine of {self._name} has died: {error}; start again") from error
        except (VLLMError, TemplateError, *FOREIGN) as error:
            raise UnfitError(f"the engine cannot take it: {type(error).__name__}: {error}") from error
        return names[0].partition("-")[0]  # outputs are without what the engine adds to it

    def _step(self) -> None:
        """Pass on the requests that the engine has finished."""
        from vllm.exceptions import VLLMError

        engine = self._llm.llm_engine
        try:
            is_busy = not self._fault and engine.has_unfinished_requests()
            for output in engine.step() if is_busy else ():
                if output.finished:
                    self._asked.setdefault(output.request_id, Future()).set_result(output)
            self._fault = self._fault or ("" if is_busy else "lost requests")
        except (VLLMError, *FOREIGN) as error:
            self._fault = f"failed: {type(error).__name__}: {error}"
        for asked in [*self._asked.values()] if self._fault else ():
            if not asked.done():
                asked.set_exception(AccessError(f"the engine of {self._name} {self._fault}; start again"))

    def _sampling(self, request: Request, *, with_schema: bool) -> "SamplingParams":
        from vllm import SamplingParams
        from vllm.sampling_params import StructuredOutputsParams

        schema = request.prompt.reply_schema if with_schema else None
        held_to = None if schema is None else StructuredOutputsParams(json=schema)
        return SamplingParams(**sampling_fields(request, self._letters), structured_outputs=held_to)


def sampling_fields(request: Request, letter_tokens: Mapping[str, Collection[int]]) -> dict[str, object]:
    """Return the fields of ``vllm.SamplingParams``, except structured output.

    Settings that are not in the plan have neutral values, regardless of the checkpoint's
    ``generation_config.json``.

    Args:
        request: the request.
        letter_tokens: the tokens that write each letter.
    """
    draw = draw_of(request)
    fields: dict[str, object] = {
        "temperature": draw.temperature,
        "top_p": draw.top_p,
        "top_k": 0,
        "min_p": 0.0,
        "repetition_penalty": 1.0,
        "max_tokens": draw.max_tokens,
        "seed": draw.seed,
    }
    tokens = sorted({t for letter in wanted_letters(request) for t in letter_tokens.get(letter, ())})
    return fields | ({"logprob_token_ids": tokens} if tokens else {})


def read_output(
    output: "RequestOutput",
    request: Request,
    *,
    model: str,
    letter_tokens: Mapping[str, Collection[int]],
    blanks: Collection[int],
) -> Outcome:
    """Return the reply in the engine's output, or the error if it stopped the request.

    Args:
        output: of this request, finished.
        request: the request.
        model: the name of the checkpoint.
        letter_tokens: the tokens that write each letter.
        blanks: the tokens that write only blanks.
    """
    completion = output.outputs[0]
    if completion.finish_reason in {"abort", "error", None}:
        return TransientModelError(
            f"{request.item_id}: the engine broke the reply off (finish_reason {completion.finish_reason!r})"
        )
    letters = {letter: letter_tokens.get(letter, ()) for letter in wanted_letters(request)}
    first = next((i for i, token in enumerate(completion.token_ids) if token not in blanks), None)
    at_first = {} if first is None or not completion.logprobs else completion.logprobs[first]
    logps = {token: result.logprob for token, result in at_first.items()}
    return Reply(
        text=completion.text,
        finish=finish_of(completion.finish_reason),
        model=model,
        usage=Usage(
            input_tokens=None if output.prompt_token_ids is None else len(output.prompt_token_ids),
            output_tokens=len(completion.token_ids),
        ),
        choice_logps=likeliest(logps, letters),
    )


def create(settings: Settings) -> BatchingModel:
    """Create the model of a checkpoint in a folder, or in a repository on the hub.

    Before the first request, nothing is loaded except the hub's current commit. GPUs, memory and batch size
    are not part of the identity, because they do not change replies. A script that uses the model needs ``if
    __name__ == "__main__":``.

    Raises:
        UsageError: vLLM is not installed, an option is invalid, or the checkpoint does not exist.
        AccessError: the hub lacks the repository, denies access, or cannot be reached.
    """
    if importlib.util.find_spec("vllm") is None:
        raise UsageError(
            f"vllm:{settings.name} needs vLLM, which runs on Linux with a GPU; run: {adding('vllm')}"
        )
    source = locate(settings.name, revision=settings.revision, local_only=settings.local_only)
    n = settings.batch_size
    identity = spec_of(f"vllm:{source.name}@{source.content}", settings, _IN_IDENTITY, always=("dtype",))
    return BatchingModel(identity, lambda: Engine(source, settings), max_in_flight=2 * n, n_turns=n)
