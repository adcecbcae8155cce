"""Weights in this process: any image-text-to-text model that the library transformers can load.

    transformers:/path/to/checkpoint
    transformers:Qwen/Qwen2.5-VL-7B-Instruct?dtype=bfloat16&batch_size=16

Requests that are in flight together are answered in batches. The messages are those that a server
of the OpenAI protocol makes of the same prompt, so greedy decoding gives the same replies.
"""

import gc
import importlib.util
import logging
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from copy import copy
from typing import TYPE_CHECKING, Annotated

from jinja2 import TemplateError
from msgspec import Meta

from vidence.ask.models.settings import Count, spec_of
from vidence.ask.models.weights import (
    FOREIGN,
    BatchingModel,
    Draw,
    Job,
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
from vidence.errors import AccessError, UsageError
from vidence.installation import adding
from vidence.records import Reply, Usage
from vidence.weights.checkpoints import Source, check_weights, device_of, loading, locate

if TYPE_CHECKING:
    import torch
    from transformers import BatchFeature, GenerationConfig, PreTrainedModel, ProcessorMixin

GPU_BATCH_SIZE = 8
CPU_BATCH_SIZE = 4

logger = logging.getLogger(__name__)


class Settings(WeightSettings):
    """Options of ``transformers:`` models."""

    device: Annotated[str, Meta(description="auto (all GPUs, else the CPU), cpu, mps, cuda or cuda:N")] = (
        "auto"
    )
    batch_size: Annotated[Count | None, Meta(description="most in a batch; else 8, on the CPU 4")] = None
    attn: Annotated[str, Meta(description="attention, such as sdpa or flash_attention_2")] = ""
    threads: Annotated[Count | None, Meta(description="threads that torch uses on the CPU")] = None

    def __post_init__(self) -> None:
        """Reject invalid devices."""
        if not re.fullmatch(r"auto|cpu|mps|cuda(:\d+)?", self.device):
            raise UsageError(
                f"transformers: device={self.device!r} is not one of auto, cpu, mps, cuda, cuda:NUMBER"
            )


# ------------------------------------------------------------------------------------------ loading


def load(source: Source, settings: Settings) -> tuple["ProcessorMixin", "PreTrainedModel"]:
    """Return processor and model, ready to generate with no settings of their own.

    Raises:
        UsageError: the device does not exist.
        AccessError: not a complete image-text-to-text model with a chat template.
    """
    import torch
    from transformers import AutoModelForImageTextToText, AutoProcessor

    options = source.places | {"trust_remote_code": settings.trust_remote_code}
    device_map = _device_map(settings.device)
    if settings.threads is not None:
        torch.set_num_threads(settings.threads)  # also those of threads that begin to use torch later
    logger.info("loading %s", source.place)
    with loading(source.place, "an image-text-to-text model"):
        processor = AutoProcessor.from_pretrained(source.place, **options)
        model, report = AutoModelForImageTextToText.from_pretrained(
            source.place,
            dtype=settings.dtype if settings.dtype == "auto" else getattr(torch, settings.dtype),
            device_map=device_map,
            attn_implementation=settings.attn or None,
            output_loading_info=True,
            **options,
        )
    check_kind(source, processor, model)
    check_weights(source.place, report)
    _prepare(processor, model)
    logger.info("loaded %s on %s as %s", source.place, model.device, model.dtype)
    return processor, model.eval()


def _device_map(device: str) -> str | dict[str, str] | None:
    import torch

    if device == "auto":
        return "auto" if torch.cuda.is_available() else None
    return None if device_of(device) == "cpu" else {"": device}


def check_kind(source: Source, processor: "ProcessorMixin", model: "PreTrainedModel") -> None:
    """Check that a model chats, and about images.

    Raises:
        AccessError: it does not.
    """
    if getattr(processor, "tokenizer", None) is None or getattr(processor, "image_processor", None) is None:
        raise AccessError(
            f"{source.place} has no processor for images and text (found {type(processor).__name__}); "
            "the files of the processor are missing, or this is a model of another kind"
        )
    if processor.chat_template is None:
        raise AccessError(
            f"{source.place} has no chat template; expected chat_template.jinja. Use the variant "
            "of the model that is tuned for conversation"
        )
    if model.config.is_encoder_decoder:
        raise AccessError(
            f"{source.place} is an encoder-decoder ({model.config.model_type}); expected a decoder that chats"
        )


def _prepare(processor: "ProcessorMixin", model: "PreTrainedModel") -> None:
    """Pad on the left, and keep only the end-of-turn tokens of the model's generation settings."""
    from transformers import GenerationConfig

    tokenizer = processor.tokenizer
    if tokenizer.pad_token is None:
        tokenizer.pad_token = tokenizer.eos_token
    tokenizer.padding_side = "left"
    own = model.generation_config.eos_token_id
    ends = set(own if isinstance(own, list) else [own]) | {tokenizer.eos_token_id}
    model.generation_config = GenerationConfig(
        eos_token_id=sorted(e for e in ends if e is not None), pad_token_id=tokenizer.pad_token_id
    )


# ---------------------------------------------------------------------------------------- answering


class _MemoryError(UnfitError):
    """The device's memory is too small for these requests."""


class FirstLogps:
    """Records log-probabilities of some tokens at the first non-blank position.

    Shapes: `rows` has one entry per request, from token to log-probability.
    """

    def __init__(self, token_ids: set[int], blanks: frozenset[int]) -> None:
        self.rows: list[dict[int, float]] = []
        self._token_ids = sorted(token_ids)
        self._blanks = blanks
        self._open: set[int] = set()

    def __call__(self, input_ids: "torch.Tensor", scores: "torch.Tensor") -> "torch.Tensor":
        """Called by `generate` before each new token; changes no scores."""
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


class Checkpoint(Weights):
    """A processor and a model in memory.

    Raises (when made):
        UsageError, AccessError: as `load`.
    """

    def __init__(self, source: Source, settings: Settings) -> None:
        self._name = source.name
        self._settings = settings
        self._processor, self._model = load(source, settings)
        vocabulary = self._processor.tokenizer.get_vocab()
        self._letters = letter_tokens(vocabulary)
        self._blanks = blank_tokens(vocabulary)
        self._ends = frozenset(self._model.generation_config.eos_token_id)
        self._n_positions = getattr(self._model.config.get_text_config(), "max_position_embeddings", None)

    def batch_size(self, request: Request) -> int:
        """Return 1 for a request with a seed, so that others do not consume its randomness."""
        if draw_of(request).seed is not None:
            return 1
        is_on_cpu = self._model.device.type == "cpu"
        return self._settings.batch_size or (CPU_BATCH_SIZE if is_on_cpu else GPU_BATCH_SIZE)

    def job(self, request: Request) -> Job:
        """See `Weights.job`."""
        return Job(request=request, turns=conversation(request, owner="transformers", image_type="image"))

    def close(self) -> None:
        """Free the device's memory; the checkpoint cannot be used afterwards."""
        import torch

        del self._model, self._processor
        gc.collect()
        torch.cuda.empty_cache()

    def parts(self, jobs: Sequence[Job], reason: UnfitError) -> list[list[int]]:
        """Split by number of images, which many processors need to be equal; else in halves."""
        counts = [job.n_images for job in jobs]
        if isinstance(reason, _MemoryError) or len(set(counts)) == 1:
            return super().parts(jobs, reason)
        return [[i for i, n in enumerate(counts) if n == count] for count in sorted(set(counts))]

    def encode(self, jobs: Sequence[Job]) -> Callable[[], list[Reply]]:
        """Encode requests with one `Draw` (a single request if it has a seed); see `Weights.encode`."""
        inputs = self._processed(jobs)
        return lambda: self._answered(jobs, inputs)

    def _answered(self, jobs: Sequence[Job], inputs: "BatchFeature") -> list[Reply]:
        import torch

        try:
            return self._generate(jobs, copy(inputs).to(self._model.device))
        except torch.OutOfMemoryError as error:
            reason = f"the memory of the device does not suffice ({error}); show fewer frames"
        except torch.AcceleratorError as error:
            raise AccessError(f"the device failed: {error}; start again") from error
        torch.cuda.empty_cache()
        raise _MemoryError(reason)

    def _generate(self, jobs: Sequence[Job], inputs: "BatchFeature") -> list[Reply]:
        lengths = inputs["attention_mask"].sum(1).tolist()
        draw = draw_of(jobs[0].request)
        asked = {
            t for job in jobs for letter in wanted_letters(job.request) for t in self._letters.get(letter, ())
        }
        first = FirstLogps(asked, self._blanks)
        new = self._continued(inputs, draw, n_new=self._room(lengths, draw.max_tokens), watcher=first)
        return [
            self._reply(job, row, n_input=n, logps=logps)
            for job, row, n, logps in zip(jobs, new, lengths, first.rows, strict=True)
        ]

    def _continued(
        self, inputs: "BatchFeature", draw: Draw, *, n_new: int, watcher: FirstLogps
    ) -> list[list[int]]:
        """Return the new tokens of each row; `watcher` sees the scores at each position."""
        import torch

        try:
            config = _generation(draw, max_new_tokens=n_new)
            with torch.inference_mode(), _randomness(draw):
                tokens = self._model.generate(**inputs, generation_config=config, logits_processor=[watcher])
        except (torch.OutOfMemoryError, torch.AcceleratorError):
            raise
        except FOREIGN as error:
            raise UnfitError(f"the model cannot take it: {type(error).__name__}: {error}") from error
        new: list[list[int]] = tokens[:, inputs["input_ids"].shape[1] :].tolist()
        return new

    def _processed(self, jobs: Sequence[Job]) -> "BatchFeature":
        try:
            inputs = self._processor.apply_chat_template(
                [job.turns for job in jobs],
                add_generation_prompt=True,
                tokenize=True,
                return_dict=True,
                return_tensors="pt",
                processor_kwargs={"padding": True},
            )
        except (TemplateError, *FOREIGN) as error:
            raise UnfitError(f"the processor cannot take it: {type(error).__name__}: {error}") from error
        return inputs.to(self._model.dtype)

    def _room(self, lengths: list[int], max_tokens: int) -> int:
        """Return how many tokens may be generated; other requests in the batch must not shorten a reply."""
        left = max_tokens if self._n_positions is None else self._n_positions - max(lengths)
        if left >= max_tokens:
            return max_tokens
        if len(lengths) > 1:
            raise UnfitError("one of the prompts nearly fills the context of the model")
        if left <= 0:
            raise UnfitError(
                f"the prompt has {lengths[0]} tokens, the model takes {self._n_positions}; "
                "show fewer or smaller frames"
            )
        return left

    def _reply(self, job: Job, row: list[int], *, n_input: int, logps: dict[int, float]) -> Reply:
        end = next((i for i, token in enumerate(row) if token in self._ends), None)
        values = row if end is None else row[:end]
        letters = {letter: self._letters.get(letter, ()) for letter in wanted_letters(job.request)}
        return Reply(
            text=self._processor.tokenizer.decode(values, skip_special_tokens=True),
            finish="length" if end is None else "stop",
            model=self._name,
            usage=Usage(input_tokens=n_input, output_tokens=len(values) + (end is not None)),
            choice_logps=likeliest(logps, letters),
        )


def _generation(draw: Draw, *, max_new_tokens: int) -> "GenerationConfig":
    from transformers import GenerationConfig

    if draw.temperature == 0:
        return GenerationConfig(do_sample=False, max_new_tokens=max_new_tokens)
    return GenerationConfig(
        do_sample=True, temperature=draw.temperature, top_p=draw.top_p, top_k=0, max_new_tokens=max_new_tokens
    )


@contextmanager
def _randomness(draw: Draw) -> Iterator[None]:
    """Set the draw's seed, or a fresh one, and restore torch's state afterwards."""
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


def create(settings: Settings) -> BatchingModel:
    """Create the model of a checkpoint in a folder, or in a repository on the hub.

    Before the first request, nothing is loaded except the hub's current commit. Device and batch size are not
    part of the identity, because they do not change replies.

    Raises:
        UsageError: torch or transformers are not installed, an option is invalid, or the checkpoint does not
            exist.
        AccessError: the hub lacks the repository, denies access, or cannot be reached.
    """
    for library in ("torch", "transformers"):
        if importlib.util.find_spec(library) is None:
            raise UsageError(f"transformers:{settings.name} needs {library}; run: {adding('transformers')}")
    source = locate(settings.name, revision=settings.revision, local_only=settings.local_only)
    identity = spec_of(
        f"transformers:{source.name}@{source.content}",
        settings,
        ("dtype", "attn", "trust_remote_code"),
        always=("dtype",),
    )
    size = settings.batch_size or (CPU_BATCH_SIZE if settings.device == "cpu" else GPU_BATCH_SIZE)
    return BatchingModel(identity, lambda: Checkpoint(source, settings), max_in_flight=3 * size, kind=draw_of)
