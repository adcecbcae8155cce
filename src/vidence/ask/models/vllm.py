"""Weights in this process, in a vLLM engine: ``vllm:/path/to/weights?OPTION=VALUE``.

    vllm:/path/to/checkpoint?max_model_len=32768
    vllm:Qwen/Qwen2.5-VL-7B-Instruct?tensor_parallel_size=2&limit_mm_per_prompt=64

Requests that are in flight together are answered in batches. A server (``vllm serve``, asked with
``openai:``) does the same for several runs at once; this one needs no server.
"""

import importlib.util
from collections.abc import Callable, Hashable, Mapping
from urllib.parse import quote

import msgspec

from vidence import option_readers
from vidence.ask.models._batching import BatchingModel
from vidence.ask.models._transformers_files import Source, locate
from vidence.ask.models._vllm_engine import Engine, EngineRules
from vidence.catalog import take_options
from vidence.contracts import Request
from vidence.errors import UsageError

READS_FILES = True  # plans keep the whole path
BATCH_SIZE = 64


class Options(EngineRules, kw_only=True):
    """What can be set behind the ``?`` of the spec.

    `dtype`: ``auto`` (vLLM's choice), ``float32``, ``bfloat16`` or ``float16``.
    `max_model_len`: tokens of prompt and reply together; by default what the model takes.
    `tensor_parallel_size`: GPUs that share the weights.
    `gpu_memory_utilization`: the share of each GPU's memory that is taken, above 0 and up to 1.
    `limit_mm_per_prompt`: most images in one prompt.
    `seed`: of the engine; a plan's seed goes before it.
    `trust_remote_code`: ``yes`` runs Python code that comes with the checkpoint.
    `thinking`: ``yes`` or ``no`` is given to the chat template as ``enable_thinking``.
    `structured`: what is done with a prompt's `reply_schema`: ``auto``, ``on``, ``off``.
    `engine`: a JSON object of further arguments of ``vllm.LLM``.
    `batch_size`: most requests given to the engine at once.
    `revision`: branch, tag or commit of a repository on the hub.
    `local_only`: ``yes`` takes what the hub's local cache has and asks nobody.
    """

    batch_size: int = BATCH_SIZE
    revision: str = ""
    local_only: bool = False


def _part(text: str) -> float:
    value = option_readers.positive_number(text)
    if value > 1:
        raise ValueError("expected a number above 0, up to 1")
    return value


_READERS: Mapping[str, Callable[[str], object]] = {
    "dtype": option_readers.one_of("auto", "float32", "bfloat16", "float16"),
    "max_model_len": option_readers.positive_whole,
    "tensor_parallel_size": option_readers.positive_whole,
    "gpu_memory_utilization": _part,
    "limit_mm_per_prompt": option_readers.positive_whole,
    "seed": option_readers.whole_from_zero,
    "trust_remote_code": option_readers.yes_or_no,
    "thinking": option_readers.yes_or_no,
    "structured": option_readers.one_of("auto", "on", "off"),
    "engine": option_readers.json_object,
    "batch_size": option_readers.positive_whole,
    "revision": str,
    "local_only": option_readers.yes_or_no,
}
_OWN_ARGUMENTS = (set(EngineRules.__struct_fields__) - {"thinking", "structured", "engine"}) | {
    "model",
    "revision",
    "tokenizer_revision",
}


class VLLMModel(BatchingModel[Engine]):
    """One checkpoint in a vLLM engine. A script that asks it needs ``if __name__ == "__main__":``."""

    def __init__(self, source: Source, options: Options) -> None:
        super().__init__(_identity(source, options), max_in_flight=2 * options.batch_size)
        self._source = source
        self._options = options

    def _kind(self, request: Request) -> Hashable:
        return None  # the engine draws each request of a batch in its own way

    def _batch_size(self, checkpoint: Engine, request: Request) -> int:
        return self._options.batch_size

    def _load(self) -> Engine:
        return Engine(self._source, self._options)


def _identity(source: Source, options: Options) -> str:
    """GPUs, memory and the size of batches are not part of it: they do not decide what is said."""
    engine = quote(msgspec.json.encode(options.engine, order="sorted").decode(), safe="{}:,[]")
    thinking = {None: "", True: "yes", False: "no"}[options.thinking]
    changes_the_reply = {
        "dtype": options.dtype,
        "max_model_len": "" if options.max_model_len is None else str(options.max_model_len),
        "seed": str(options.seed) if options.seed else "",
        "trust_remote_code": "yes" if options.trust_remote_code else "",
        "thinking": thinking,
        "structured": "" if options.structured == "auto" else options.structured,
        "engine": engine if options.engine else "",
    }
    query = "&".join(f"{k}={v}" for k, v in changes_the_reply.items() if v)
    return f"vllm:{source.name}@{source.content}?{query}"


def create(name: str, options: Mapping[str, str]) -> VLLMModel:
    """The checkpoint in the folder `name`, or in the repository of that name on the hub.

    Nothing is loaded before the first request, except that the hub is asked which commit it has. For
    the options see `Options`.

    Raises:
        UsageError: vLLM is not installed, an option is wrong, or nothing is there.
        AccessError: the hub does not have the repository, does not let us in, or cannot be reached.
    """
    read = msgspec.convert(take_options("vllm:", options, _READERS), Options)
    if not name:
        raise UsageError("vllm: needs a folder or a name on the hub, for example vllm:/path/to/checkpoint")
    clash = sorted(_OWN_ARGUMENTS & read.engine.keys())
    if clash:
        raise UsageError(
            f"vllm:{name}: engine must not set {', '.join(clash)}; they have options of their own"
        )
    if importlib.util.find_spec("vllm") is None:
        raise UsageError(
            f"vllm:{name} needs vLLM, which runs on Linux with a GPU; run: pip install 'vidence[vllm]'"
        )
    return VLLMModel(locate(name, revision=read.revision, local_only=read.local_only), read)
