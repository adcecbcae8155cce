"""Requests in, replies out, several at a time. Everything here blocks; the waiting is in `transformers`."""

import gc
import io
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from jinja2 import TemplateError
from PIL import Image

from vidence.ask.models._transformers_files import Source
from vidence.ask.models._transformers_load import Loading, blank_tokens, letter_tokens, load
from vidence.contracts import Request
from vidence.errors import AccessError, RejectedRequestError, UsageError
from vidence.records import ImagePart, Reply, TextPart, Usage, VideoPart

if TYPE_CHECKING:
    import torch
    from transformers import BatchFeature, GenerationConfig

DEFAULT_MAX_TOKENS = 1024

# What processors and models by many authors raise for input that they were not made for.
FOREIGN = (ArithmeticError, AssertionError, AttributeError, LookupError, RuntimeError, TypeError, ValueError)

Content: TypeAlias = list[dict[str, str | Image.Image]]
Message: TypeAlias = dict[str, str | Content]


@dataclass(frozen=True, kw_only=True)
class Draw:
    """How a reply is drawn; only requests with equal draws share a batch.

    `seed` is None for greedy decoding and for sampling without a seed. A request with a seed is alone
    in its batch, so that others do not use up its randomness.
    """

    temperature: float
    top_p: float
    max_tokens: int
    seed: int | None = None


def draw_of(request: Request) -> Draw:
    """How the reply to a request is drawn; `sample` makes the seeds of repeated requests different."""
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


def check_images(request: Request) -> None:
    """See that the request carries every image that its prompt names.

    Raises:
        UsageError: it does not.
    """
    for part in request.prompt.parts:
        if isinstance(part, ImagePart) and part.digest not in request.images:
            raise UsageError(
                f"the prompt of item {request.item_id!r} names image {part.digest}, whose bytes are not in "
                "Request.images; whoever makes the request must put them there"
            )


@dataclass(frozen=True, kw_only=True)
class _Job:
    request: Request
    messages: list[Message]
    n_images: int

    @property
    def letters(self) -> tuple[str, ...]:
        """The letters whose log-probabilities are wanted."""
        sampling = self.request.sampling
        wanted = sampling.want_choice_logps or sampling.max_tokens == 1
        return self.request.prompt.letters if wanted else ()


def _job(request: Request) -> _Job | RejectedRequestError:
    try:
        content = [_content(part, request) for part in request.prompt.parts]
    except RejectedRequestError as error:
        return error
    messages: list[Message] = [{"role": "user", "content": content}]
    if request.prompt.system:
        system: Content = [{"type": "text", "text": request.prompt.system}]
        messages.insert(0, {"role": "system", "content": system})
    return _Job(request=request, messages=messages, n_images=sum(c["type"] == "image" for c in content))


def _content(part: TextPart | ImagePart | VideoPart, request: Request) -> dict[str, str | Image.Image]:
    match part:
        case TextPart(text=text):
            return {"type": "text", "text": text}
        case VideoPart(path=path):
            raise RejectedRequestError(
                f"{request.item_id}: transformers: takes images, not the video file {path}; ask with frames"
            )
        case ImagePart(digest=digest):
            return {
                "type": "image",
                "image": decode_image(request.images[digest], f"{request.item_id}: {digest}"),
            }


def decode_image(data: bytes, what: str) -> Image.Image:
    """The image in three colours; `what` names it in the message.

    Raises:
        RejectedRequestError: it cannot be decoded.
    """
    try:
        with Image.open(io.BytesIO(data)) as image:
            return image.convert("RGB")
    except (OSError, ValueError, Image.DecompressionBombError) as error:
        raise RejectedRequestError(f"{what} is no image that can be decoded: {error}") from error


class _UnfitError(Exception):
    """These requests cannot be answered together."""


class _FirstLogps:
    """Keeps the log-probabilities of some tokens at the first position that is not blank.

    Shapes: `rows` has one entry per request, each from token to log-probability.
    """

    def __init__(self, token_ids: set[int], blanks: frozenset[int]) -> None:
        self.rows: list[dict[int, float]] = []
        self._token_ids = sorted(token_ids)
        self._blanks = blanks
        self._open: set[int] = set()

    def __call__(self, input_ids: "torch.Tensor", scores: "torch.Tensor") -> "torch.Tensor":
        """Called by `generate` before each new token; changes nothing."""
        if not self.rows:
            self.rows = [{} for _ in scores]
            self._open = set(range(len(scores))) if self._token_ids else set()
        elif self._open:
            last = input_ids[:, -1].tolist()
            self._open = {i for i in self._open if last[i] in self._blanks}
        if self._open:
            logps = scores.float().log_softmax(-1)[:, self._token_ids].tolist()
            for i in self._open:
                self.rows[i] = dict(zip(self._token_ids, logps[i], strict=True))
        return scores


class Checkpoint:
    """A processor and a model in memory.

    Raises (when made):
        UsageError, AccessError: as `load`.
    """

    def __init__(self, source: Source, loading: Loading, *, threads: int | None = None) -> None:
        self._name = source.name
        self._threads = threads
        self._processor, self._model = load(source, loading)
        vocabulary = self._processor.tokenizer.get_vocab()
        self._letters = letter_tokens(vocabulary)
        self._blanks = blank_tokens(vocabulary)
        self._ends = frozenset(self._model.generation_config.eos_token_id)
        self._n_positions = getattr(self._model.config.get_text_config(), "max_position_embeddings", None)

    @property
    def is_on_cpu(self) -> bool:
        """Whether the model computes on the CPU."""
        return bool(self._model.device.type == "cpu")

    def close(self) -> None:
        """Give the memory back to the device; nothing can be answered afterwards."""
        import torch

        del self._model, self._processor
        gc.collect()
        torch.cuda.empty_cache()

    def answer(self, requests: Sequence[Request]) -> list[Reply | RejectedRequestError]:
        """Answer requests that have one `Draw` (a single one if it has a seed).

        Each gets its reply or its own error.

        Raises:
            AccessError: the device has failed.
        """
        import torch

        if self._threads is not None:
            torch.set_num_threads(self._threads)
        jobs = [_job(request) for request in requests]
        answers = iter(self._answer([job for job in jobs if isinstance(job, _Job)]))
        return [next(answers) if isinstance(job, _Job) else job for job in jobs]

    def _answer(self, jobs: list[_Job]) -> list[Reply | RejectedRequestError]:
        import torch

        if not jobs:
            return []
        is_memory = False
        try:
            return [*self._answer_together(jobs)]
        except torch.OutOfMemoryError as error:
            is_memory = True
            reason = f"the memory of the device does not suffice ({error}); show fewer frames"
        except torch.AcceleratorError as error:
            raise AccessError(f"the device failed: {error}; start again") from error
        except _UnfitError as error:
            reason = str(error)
        torch.cuda.empty_cache()
        if len(jobs) == 1:
            return [RejectedRequestError(f"{jobs[0].request.item_id}: {reason}")]
        counts = {job.n_images for job in jobs}
        if len(counts) > 1 and not is_memory:
            groups = [[i for i, job in enumerate(jobs) if job.n_images == n] for n in sorted(counts)]
        else:
            order, half = list(range(len(jobs))), len(jobs) // 2
            groups = [order[:half], order[half:]]
        found = {
            i: a
            for group in groups
            for i, a in zip(group, self._answer([jobs[i] for i in group]), strict=True)
        }
        return [found[i] for i in range(len(jobs))]

    def _answer_together(self, jobs: list[_Job]) -> list[Reply]:
        import torch

        inputs = self._encode(jobs)
        lengths = inputs["attention_mask"].sum(1).tolist()
        draw = draw_of(jobs[0].request)
        asked = {t for job in jobs for letter in job.letters for t in self._letters.get(letter, ())}
        first = _FirstLogps(asked, self._blanks)
        room = self._room(lengths, draw.max_tokens)
        try:
            config = _generation(draw, max_new_tokens=room)
            with torch.inference_mode(), _randomness(draw):
                tokens = self._model.generate(**inputs, generation_config=config, logits_processor=[first])
        except (torch.OutOfMemoryError, torch.AcceleratorError):
            raise
        except FOREIGN as error:
            raise _UnfitError(f"the model cannot take it: {type(error).__name__}: {error}") from error
        new = tokens[:, inputs["input_ids"].shape[1] :].tolist()
        return [
            self._reply(job, row, n_input=n, logps=logps)
            for job, row, n, logps in zip(jobs, new, lengths, first.rows, strict=True)
        ]

    def _encode(self, jobs: list[_Job]) -> "BatchFeature":
        try:
            inputs = self._processor.apply_chat_template(
                [job.messages for job in jobs],
                add_generation_prompt=True,
                tokenize=True,
                return_dict=True,
                return_tensors="pt",
                processor_kwargs={"padding": True},
            )
        except (TemplateError, *FOREIGN) as error:
            raise _UnfitError(f"the processor cannot take it: {type(error).__name__}: {error}") from error
        return inputs.to(self._model.device, self._model.dtype)

    def _room(self, lengths: list[int], max_tokens: int) -> int:
        """How many tokens may be generated; what others in the batch need must not shorten a reply."""
        left = max_tokens if self._n_positions is None else self._n_positions - max(lengths)
        if left >= max_tokens:
            return max_tokens
        if len(lengths) > 1:
            raise _UnfitError("one of the prompts nearly fills the context of the model")
        if left <= 0:
            raise _UnfitError(
                f"the prompt has {lengths[0]} tokens, the model takes {self._n_positions}; "
                "show fewer or smaller frames"
            )
        return left

    def _reply(self, job: _Job, row: list[int], *, n_input: int, logps: dict[int, float]) -> Reply:
        end = next((i for i, token in enumerate(row) if token in self._ends), None)
        said = row if end is None else row[:end]
        by_letter = {
            letter: max(logps[token] for token in self._letters[letter])
            for letter in job.letters
            if letter in self._letters
        }
        return Reply(
            text=self._processor.tokenizer.decode(said, skip_special_tokens=True),
            finish="length" if end is None else "stop",
            model=self._name,
            usage=Usage(input_tokens=n_input, output_tokens=len(said) + (end is not None)),
            choice_logps=by_letter or None,
        )


def _generation(draw: Draw, *, max_new_tokens: int) -> "GenerationConfig":
    from transformers import GenerationConfig

    if draw.temperature == 0:
        return GenerationConfig(do_sample=False, max_new_tokens=max_new_tokens)
    return GenerationConfig(
        do_sample=True,
        temperature=draw.temperature,
        top_p=draw.top_p,
        top_k=0,
        max_new_tokens=max_new_tokens,
    )


@contextmanager
def _randomness(draw: Draw) -> Iterator[None]:
    """The seed of the draw, or a fresh one; torch's own state is put back afterwards."""
    import torch

    if draw.temperature == 0:
        yield
        return
    with torch.random.fork_rng(devices=range(torch.cuda.device_count())):
        if draw.seed is None:
            torch.seed()
        else:
            torch.manual_seed(draw.seed)
        yield
