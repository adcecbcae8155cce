"""Models with weights in this process: batching, sampling, pictures, letter tokens."""

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal, TypeAlias

import anyio
import anyio.to_thread
import msgspec
import numpy as np
from msgspec import Meta
from PIL import Image

from vidence.ask.models.images import bytes_of, pixels_of
from vidence.catalog import FilePath
from vidence.contracts import Request
from vidence.errors import AccessError, ModelError, RejectedRequestError, VidenceError
from vidence.records import ImagePart, Part, Record, Reply, TextPart, VideoPart

GATHER_S = 0.004  # how long a batch with room left waits for the next request
DEFAULT_MAX_TOKENS = 1024

# What processors and models by many authors raise for input that they were not made for.
FOREIGN = (ArithmeticError, AssertionError, AttributeError, LookupError, RuntimeError, TypeError, ValueError)

# How vocabularies write blanks: byte-level ones a space and a line end, SentencePiece a space and bytes.
BLANKS = " \t\r\n\u0120\u010a\u2581"
BLANK_BYTES = ("<0x09>", "<0x0A>", "<0x0D>", "<0x20>")

Outcome: TypeAlias = Reply | ModelError
Content: TypeAlias = list[dict[str, str | Image.Image]]
Conversation: TypeAlias = list[dict[str, str | Content]]


class WeightSettings(Record):
    """Options of every model with weights in this process."""

    positional: ClassVar[str] = "name"

    name: Annotated[FilePath, Meta(description="folder of the checkpoint, or a repository on the hub")]
    dtype: Annotated[
        Literal["auto", "float32", "bfloat16", "float16"],
        Meta(description="type of the numbers; auto: as stored"),
    ] = "auto"
    revision: Annotated[str, Meta(description="branch, tag or commit of a repository on the hub")] = ""
    trust_remote_code: Annotated[bool, Meta(description="run the checkpoint's own Python code")] = False
    local_only: Annotated[bool, Meta(description="only what the hub's local cache has")] = False


@dataclass(frozen=True, kw_only=True)
class Job:
    """A request, and its messages for chat templates."""

    request: Request
    turns: Conversation

    @property
    def n_images(self) -> int:
        """Return the number of images."""
        return sum(isinstance(part, ImagePart) for part in self.request.prompt.parts)


_Encoded: TypeAlias = tuple[Mapping[int, Job], Callable[[], Sequence[Outcome]]]


class UnfitError(Exception):
    """These requests cannot be answered together; the message says why."""


class Weights(ABC):
    """Loaded weights. Methods block; in threads, one batch is prepared while another is answered."""

    @abstractmethod
    def batch_size(self, request: Request) -> int:
        """Return the largest batch that this request may lead."""

    @abstractmethod
    def job(self, request: Request) -> Job:
        """Return a request with its messages.

        Raises:
            RejectedRequestError: an image that cannot be decoded, or a video file.
        """

    @abstractmethod
    def encode(self, jobs: Sequence[Job]) -> Callable[[], Sequence[Outcome]]:
        """Encode jobs without using the device; call the result in the batch's turn to get the answers.

        Raises (both):
            UnfitError: a job cannot be processed, or not with the others; none was answered.
            AccessError: the device has failed.
        """

    def alone(self, job: Job, reason: UnfitError) -> Outcome:
        """Return the outcome of a job that fails even alone."""
        return RejectedRequestError(f"{job.request.item_id}: {reason}")

    def parts(self, jobs: Sequence[Job], reason: UnfitError) -> list[list[int]]:
        """Split jobs into groups after they could not be answered together."""
        half = len(jobs) // 2
        return [[*range(half)], [*range(half, len(jobs))]]

    def prepare(self, requests: Sequence[Request]) -> Callable[[], list[Outcome]]:
        """Decode and encode requests; call the result for each one's reply or error.

        Raises (both):
            AccessError: the device has failed.
        """
        outcomes: dict[int, Outcome] = {}
        jobs: dict[int, Job] = {}
        with ThreadPoolExecutor() as pool:  # pictures are decoded without the interpreter's lock
            decoded = [pool.submit(self.job, request) for request in requests]
        for i, job in enumerate(decoded):
            try:
                jobs[i] = job.result()
            except RejectedRequestError as error:
                outcomes[i] = error
        batches = self._encoded(jobs) if jobs else []

        def answer() -> list[Outcome]:
            while batches:
                batch, generate = batches.pop()
                try:
                    outcomes.update(zip(batch, generate(), strict=True))
                except UnfitError as error:
                    batches.extend(self._apart(batch, error))
            return [outcomes[i] for i in range(len(requests))]

        return answer

    def _encoded(self, jobs: Mapping[int, Job]) -> list[_Encoded]:
        try:
            return [(jobs, self.encode([*jobs.values()]))]
        except UnfitError as error:
            return self._apart(jobs, error)

    def _apart(self, jobs: Mapping[int, Job], reason: UnfitError) -> list[_Encoded]:
        """Process jobs in groups, so that one unfit job does not affect the others."""
        places, each = [*jobs], [*jobs.values()]
        if len(jobs) == 1:
            return [(jobs, lambda: [self.alone(each[0], reason)])]
        parts = self.parts(each, reason)
        return [batch for part in parts for batch in self._encoded({places[i]: each[i] for i in part})]

    @abstractmethod
    def close(self) -> None:
        """Free the memory; the weights cannot be used afterwards."""


@dataclass(eq=False)
class _Ticket:
    """A request waiting for its batch, and later its outcome."""

    request: Request
    kind: Hashable
    outcome: Outcome | None = None
    ended: anyio.Event | None = None  # set at the end of the batch that it is in


class BatchingModel:
    """A model with weights in this process, loaded at the first request.

    There is no worker task: a request without a batch leads the next one, and sets the outcomes of the others
    in it. At most one batch is prepared while the device answers others. If a batch fails unexpectedly, its
    leader gets the error and the others take their own turns, so that no request waits forever.
    """

    looks = True
    by_item = False

    def __init__(
        self,
        identity: str,
        load: Callable[[], Weights],
        *,
        max_in_flight: int,
        n_turns: int = 1,
        kind: Callable[[Request], Hashable] = lambda _: None,
    ) -> None:
        """`load` is called once, in a thread; requests of equal `kind` share a batch.

        `n_turns` batches are answered at a time.
        """
        self.identity = identity
        self.max_in_flight = max_in_flight
        self._load = load
        self._kind = kind
        self._checkpoint: Weights | None = None
        self._broken: VidenceError | None = None
        self._waiting: list[_Ticket] = []
        self._preparing = anyio.Lock()
        self._n_turns, self._turns = n_turns, anyio.Semaphore(n_turns)

    async def reply(self, request: Request) -> Reply:
        """Answer together with waiting requests of the same kind; see `Model.reply`.

        Raises:
            RejectedRequestError: a part, an image or a length that the model does not support.
            AccessError: the checkpoint cannot be loaded, the device failed, or the model is closed.
            UsageError: the device does not exist, or the request lacks an image that its prompt names.
        """
        started_s = time.perf_counter()
        for part in request.prompt.parts:
            if isinstance(part, ImagePart):
                bytes_of(part, request)
        ticket = _Ticket(request, self._kind(request))
        self._waiting.append(ticket)
        try:
            while ticket.outcome is None:
                await self._advance(ticket)
        finally:
            self._waiting.remove(ticket)
        if isinstance(ticket.outcome, ModelError):
            raise ticket.outcome
        return msgspec.structs.replace(ticket.outcome, latency_s=time.perf_counter() - started_s)

    async def close(self) -> None:
        """Release the weights after batches in progress have finished."""
        self._broken = AccessError(f"{self.identity} is closed; create it again")
        async with self._preparing, AsyncExitStack() as turns:
            for _ in range(self._n_turns):
                await turns.enter_async_context(self._turns)
            checkpoint, self._checkpoint = self._checkpoint, None
            if checkpoint is not None:
                await anyio.to_thread.run_sync(checkpoint.close)

    async def _advance(self, ticket: _Ticket) -> None:
        """Answer the batch that `ticket` leads, or wait for the end of its batch."""
        async with AsyncExitStack() as turn:
            async with self._preparing:
                if (ended := ticket.ended) is None:
                    checkpoint = await self._loaded()
                    batch = await self._gathered(ticket, checkpoint.batch_size(ticket.request))
                    turn.callback(_end, batch)
                    answer = await anyio.to_thread.run_sync(checkpoint.prepare, [t.request for t in batch])
                    await turn.enter_async_context(self._turns)  # the next is prepared from now on
            if ended is not None:
                await ended.wait()
            else:
                own_thread = anyio.CapacityLimiter(1)  # the event loop's threads are for short work
                outcomes = await anyio.to_thread.run_sync(answer, limiter=own_thread)
                for each, outcome in zip(batch, outcomes, strict=True):
                    each.outcome = outcome

    async def _gathered(self, ticket: _Ticket, size: int) -> list[_Ticket]:
        """Return the batch that `ticket` leads, waiting while it has room and others of its kind arrive."""
        n, batch = 0, [ticket]
        while n < len(batch) < size:
            n = len(batch)
            await anyio.sleep(GATHER_S)
            others = (t for t in self._waiting if t.ended is None and t.kind == ticket.kind)
            batch = [ticket, *(t for t in others if t is not ticket)][:size]
        ended = anyio.Event()
        for each in batch:
            each.ended = ended
        return batch

    async def _loaded(self) -> Weights:
        if self._broken is not None:
            raise self._broken
        if self._checkpoint is None:
            try:
                self._checkpoint = await anyio.to_thread.run_sync(self._load)
            except VidenceError as error:
                self._broken = error
                raise
        return self._checkpoint


def _end(batch: Sequence[_Ticket]) -> None:
    """Wake the requests of a batch; those without an outcome can join another."""
    ended = batch[0].ended
    for ticket in batch:
        if ticket.outcome is None:
            ticket.ended = None
    if ended is not None:
        ended.set()


# ------------------------------------------------------------------------------------- one request


@dataclass(frozen=True, kw_only=True)
class Draw:
    """Sampling settings; only requests with equal settings share a batch.

    `seed` is None for greedy decoding and for sampling without a seed. A request with a seed is alone in its
    batch, so that others do not consume its randomness.
    """

    temperature: float
    top_p: float
    max_tokens: int
    seed: int | None = None


def draw_of(request: Request) -> Draw:
    """Return a request's sampling settings; `sample` gives repeated requests different seeds."""
    sampling = request.sampling
    max_tokens = DEFAULT_MAX_TOKENS if sampling.max_tokens is None else sampling.max_tokens
    if not sampling.temperature:
        return Draw(temperature=0.0, top_p=1.0, max_tokens=max_tokens)
    seed = None
    if sampling.seed is not None:
        sequence = np.random.SeedSequence([sampling.seed % 2**64, request.sample])
        seed = int(sequence.generate_state(1)[0])
    top_p = 1.0 if sampling.top_p is None else sampling.top_p
    return Draw(temperature=sampling.temperature, top_p=top_p, max_tokens=max_tokens, seed=seed)


def wanted_letters(request: Request) -> tuple[str, ...]:
    """Return the letters whose log-probabilities are needed: if requested, and for a single token."""
    sampling = request.sampling
    return request.prompt.letters if sampling.want_choice_logps or sampling.max_tokens == 1 else ()


def conversation(
    request: Request, *, owner: str, image_type: str, has_plain_system: bool = False
) -> Conversation:
    """Return the messages of a request: its parts in order, with decoded pictures.

    Args:
        request: the request.
        owner: the provider, for messages.
        image_type: the library's name for a picture.
        has_plain_system: whether the system message is a text rather than a list of parts.

    Raises:
        RejectedRequestError: an image that cannot be decoded, or a video file.
    """
    prompt = request.prompt
    content = [_content(part, request, owner=owner, image_type=image_type) for part in prompt.parts]
    turns: Conversation = [{"role": "user", "content": content}]
    if prompt.system:
        system: Content = [{"type": "text", "text": prompt.system}]
        turns.insert(0, {"role": "system", "content": prompt.system if has_plain_system else system})
    return turns


def _content(part: Part, request: Request, *, owner: str, image_type: str) -> dict[str, str | Image.Image]:
    match part:
        case TextPart(text=text):
            return {"type": "text", "text": text}
        case ImagePart():
            try:
                return {"type": image_type, image_type: Image.fromarray(pixels_of(part, request.images))}
            except RejectedRequestError as error:
                raise RejectedRequestError(f"{request.item_id}: {error}") from error
        case VideoPart(path=path):
            raise RejectedRequestError(
                f"{request.item_id}: {owner}: takes images, not the video file {path}; ask with frames"
            )


def likeliest(logps: Mapping[int, float], letters: Mapping[str, Collection[int]]) -> dict[str, float] | None:
    """Return the largest log-probability among each letter's tokens; None if none is known."""
    values = {letter: [logps[t] for t in tokens if t in logps] for letter, tokens in letters.items()}
    return {letter: max(known) for letter, known in values.items() if known} or None


def letter_tokens(vocabulary: Mapping[str, int]) -> dict[str, tuple[int, ...]]:
    """Return the tokens that write one character, with or without blanks, by character."""
    tokens: dict[str, list[int]] = {}
    for token, token_id in vocabulary.items():
        bare = token.strip(BLANKS)
        if len(bare) == 1:
            tokens.setdefault(bare, []).append(token_id)
    return {character: tuple(sorted(ids)) for character, ids in tokens.items()}


def blank_tokens(vocabulary: Mapping[str, int]) -> frozenset[int]:
    """Return the tokens that write only blanks."""
    return frozenset(i for token, i in vocabulary.items() if not token.strip(BLANKS) or token in BLANK_BYTES)
