"""Weights in this process: any image-text-to-text model that the library transformers can load.

    transformers:/path/to/checkpoint
    transformers:Qwen/Qwen2.5-VL-7B-Instruct?dtype=bfloat16&batch_size=16

Requests that are in flight together are answered in batches. The messages are those that a server
of the OpenAI protocol makes of the same prompt, so greedy decoding gives the same replies.
"""

import importlib.util
import re
import time
from collections.abc import Callable, Mapping

import anyio
import anyio.to_thread
import msgspec

from vidence.catalog import take_options
from vidence.contracts import Request
from vidence.errors import AccessError, RejectedRequestError, UsageError, VidenceError
from vidence.models import _options
from vidence.models._transformers_files import Source, locate
from vidence.models._transformers_load import Loading
from vidence.models._transformers_run import Checkpoint, check_images, draw_of, free_memory
from vidence.records import Record, Reply

GPU_BATCH_SIZE = 8
CPU_BATCH_SIZE = 4
GATHER_S = 0.004  # how long a batch with room left waits for requests on their way


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
    "dtype": _options.one_of("auto", "float32", "bfloat16", "float16"),
    "batch_size": _options.positive_whole,
    "attn": str,
    "revision": str,
    "trust_remote_code": _options.yes_or_no,
    "local_only": _options.yes_or_no,
    "threads": _options.positive_whole,
}


class _Ticket:
    """A request that waits for its batch, and later what came of it."""

    def __init__(self, request: Request) -> None:
        self.request = request
        self.draw = draw_of(request)
        self.outcome: Reply | RejectedRequestError | None = None


class TransformersModel:
    """One checkpoint in this process.

    There is no worker to watch: whoever gets the turn answers a batch that its own request leads and
    leaves the others their outcomes. If that breaks in a way nobody foresaw, the leader gets the
    error and the others take their own turns; so nobody waits for ever.
    """

    looks = True
    by_item = False

    def __init__(self, source: Source, options: Options) -> None:
        self.identity = _identity(source, options)
        default = CPU_BATCH_SIZE if options.device == "cpu" else GPU_BATCH_SIZE
        self.max_in_flight = 2 * (options.batch_size or default)
        self._source = source
        self._options = options
        self._checkpoint: Checkpoint | None = None
        self._broken: VidenceError | None = None
        self._waiting: list[_Ticket] = []
        self._turn = anyio.Lock()

    async def reply(self, request: Request) -> Reply:
        """Answer, together with waiting requests that are drawn in the same way; see `Model.reply`.

        Raises:
            RejectedRequestError: a part, an image or a length that the model does not take.
            AccessError: the checkpoint cannot be loaded, the device failed, or the model is closed.
            UsageError: the device is not there, or the request lacks an image that its prompt names.
        """
        started_s = time.perf_counter()
        check_images(request)
        ticket = _Ticket(request)
        self._waiting.append(ticket)
        try:
            async with self._turn:
                outcome = ticket.outcome or await self._lead(ticket)
        finally:
            self._waiting.remove(ticket)
        if isinstance(outcome, RejectedRequestError):
            raise outcome
        return msgspec.structs.replace(outcome, latency_s=time.perf_counter() - started_s)

    async def close(self) -> None:
        """Let go of the weights; a batch that is being answered is finished first."""
        self._broken = AccessError(f"{self.identity} is closed; make it again")
        async with self._turn:
            if self._checkpoint is not None:
                self._checkpoint = None
                await anyio.to_thread.run_sync(free_memory)

    async def _lead(self, ticket: _Ticket) -> Reply | RejectedRequestError:
        """Answer a batch that `ticket` is in; only who has the turn may call it."""
        checkpoint = await self._loaded()
        size = self._options.batch_size or (CPU_BATCH_SIZE if checkpoint.is_on_cpu else GPU_BATCH_SIZE)
        if ticket.draw.seed is not None:
            size = 1
        if len(self._waiting) < size:
            await anyio.sleep(GATHER_S)
        others = [t for t in self._waiting if t.outcome is None and t.draw == ticket.draw and t is not ticket]
        batch = [ticket, *others[: size - 1]]

        def answer() -> Reply | RejectedRequestError:
            outcomes = checkpoint.answer([t.request for t in batch])
            for each, outcome in zip(batch, outcomes, strict=True):
                each.outcome = outcome
            return outcomes[0]

        return await anyio.to_thread.run_sync(answer)

    async def _loaded(self) -> Checkpoint:
        if self._broken is not None:
            raise self._broken
        if self._checkpoint is None:
            try:
                self._checkpoint = await anyio.to_thread.run_sync(self._load)
            except VidenceError as error:
                self._broken = error
                raise
        return self._checkpoint

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
