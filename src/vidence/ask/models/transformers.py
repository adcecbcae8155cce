"""Weights in this process: any image-text-to-text model that the library transformers can load.

    transformers:/path/to/checkpoint
    transformers:Qwen/Qwen2.5-VL-7B-Instruct?dtype=bfloat16&batch_size=16

Requests that are in flight together are answered in batches. The messages are those that a server
of the OpenAI protocol makes of the same prompt, so greedy decoding gives the same replies.
"""

import importlib.util
import re
from collections.abc import Callable, Mapping

import msgspec

from vidence import option_readers
from vidence.ask.models._batching import BatchingModel
from vidence.ask.models._transformers_files import Source, locate
from vidence.ask.models._transformers_load import Loading
from vidence.ask.models._transformers_run import Checkpoint, Draw, draw_of
from vidence.catalog import take_options
from vidence.contracts import Request
from vidence.errors import UsageError
from vidence.records import Record

READS_FILES = True  # plans keep the whole path
GPU_BATCH_SIZE = 8
CPU_BATCH_SIZE = 4


class Options(Record, kw_only=True):
    """What can be set behind the ``?`` of the spec.

    `device`: ``auto`` (all GPUs, the CPU where there is none), ``cpu``, ``cuda``, ``cuda:1``, ``mps``.
    `dtype`: ``auto`` (as stored), ``float32``, ``bfloat16`` or ``float16``.
    `batch_size`: most requests in a batch; by default 8, on the CPU 4.
    `attn`: the implementation of attention, such as ``sdpa`` or ``flash_attention_2``.
    `revision`: branch, tag or commit of a repository on the hub.
    `trust_remote_code`: ``yes`` runs Python code that comes with the checkpoint.
    `local_only`: ``yes`` takes what the hub's local cache has and asks nobody.
    `threads`: threads that torch uses on the CPU.
    """

    device: str = "auto"
    dtype: str = "auto"
    batch_size: int | None = None
    attn: str = ""
    revision: str = ""
    trust_remote_code: bool = False
    local_only: bool = False
    threads: int | None = None


def _device(text: str) -> str:
    if not re.fullmatch(r"auto|cpu|mps|cuda(:\d+)?", text):
        raise ValueError("expected auto, cpu, mps, cuda or cuda:NUMBER")
    return text


_READERS: Mapping[str, Callable[[str], object]] = {
    "device": _device,
    "dtype": option_readers.one_of("auto", "float32", "bfloat16", "float16"),
    "batch_size": option_readers.positive_whole,
    "attn": str,
    "revision": str,
    "trust_remote_code": option_readers.yes_or_no,
    "local_only": option_readers.yes_or_no,
    "threads": option_readers.positive_whole,
}


class TransformersModel(BatchingModel[Checkpoint]):
    """One checkpoint in this process."""

    def __init__(self, source: Source, options: Options) -> None:
        default = CPU_BATCH_SIZE if options.device == "cpu" else GPU_BATCH_SIZE
        super().__init__(_identity(source, options), max_in_flight=2 * (options.batch_size or default))
        self._source = source
        self._options = options

    def _kind(self, request: Request) -> Draw:
        return draw_of(request)

    def _batch_size(self, checkpoint: Checkpoint, request: Request) -> int:
        if draw_of(request).seed is not None:
            return 1
        return self._options.batch_size or (CPU_BATCH_SIZE if checkpoint.is_on_cpu else GPU_BATCH_SIZE)

    def _load(self) -> Checkpoint:
        options = self._options
        loading = Loading(
            device=options.device,
            dtype=options.dtype,
            attn=options.attn,
            trust_remote_code=options.trust_remote_code,
            local_only=options.local_only,
        )
        return Checkpoint(self._source, loading, threads=options.threads)


def _identity(source: Source, options: Options) -> str:
    """The device and the size of batches are not part of it: they do not decide what is said."""
    changes_the_reply = {
        "dtype": options.dtype,
        "attn": options.attn,
        "trust_remote_code": "yes" if options.trust_remote_code else "",
    }
    query = "&".join(f"{k}={v}" for k, v in changes_the_reply.items() if v)
    return f"transformers:{source.name}@{source.content}?{query}"


def create(name: str, options: Mapping[str, str]) -> TransformersModel:
    """The checkpoint in the folder `name`, or in the repository of that name on the hub.

    Nothing is loaded before the first request, except that the hub is asked which commit it has. For
    the options see `Options`.

    Raises:
        UsageError: torch or transformers are not installed, an option is wrong, or nothing is there.
        AccessError: the hub does not have the repository, does not let us in, or cannot be reached.
    """
    read = msgspec.convert(take_options("transformers:", options, _READERS), Options)
    if not name:
        raise UsageError(
            "transformers: needs a folder or a name on the hub, for example transformers:/path/to/checkpoint"
        )
    for library in ("torch", "transformers"):
        if importlib.util.find_spec(library) is None:
            raise UsageError(f"transformers:{name} needs {library}; run: pip install 'vidence[transformers]'")
    return TransformersModel(locate(name, revision=read.revision, local_only=read.local_only), read)
