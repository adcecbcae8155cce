"""From the files of a checkpoint to a processor and a model in memory."""

import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from vidence.ask.models._transformers_files import Source
from vidence.errors import AccessError, UsageError

if TYPE_CHECKING:
    from transformers import PreTrainedModel, ProcessorMixin

logger = logging.getLogger(__name__)

# How vocabularies write blanks: byte-level ones a space and a line end, SentencePiece a space and bytes.
BLANKS = " \t\r\n\u0120\u010a\u2581"
BLANK_BYTES = ("<0x09>", "<0x0A>", "<0x0D>", "<0x20>")


@dataclass(frozen=True, kw_only=True)
class Loading:
    """How to load a checkpoint; the options of `transformers.create` of the same names."""

    device: str = "auto"
    dtype: str = "auto"
    attn: str = ""
    trust_remote_code: bool = False
    local_only: bool = False


def load(source: Source, loading: Loading) -> tuple["ProcessorMixin", "PreTrainedModel"]:
    """The processor and the model, ready to generate without any settings of their own.

    Raises:
        UsageError: the device is not there.
        AccessError: this is no complete image-text-to-text model with a chat template.
    """
    import torch
    from safetensors import SafetensorError
    from transformers import AutoModelForImageTextToText, AutoProcessor

    options = {
        "revision": source.revision or None,
        "trust_remote_code": loading.trust_remote_code,
        "local_files_only": loading.local_only or not source.revision,
    }
    device_map = _device_map(loading.device)
    logger.info("loading %s", source.place)
    try:
        with _no_progress_bars():
            processor = AutoProcessor.from_pretrained(source.place, **options)
            model, report = AutoModelForImageTextToText.from_pretrained(
                source.place,
                dtype=loading.dtype if loading.dtype == "auto" else getattr(torch, loading.dtype),
                device_map=device_map,
                attn_implementation=loading.attn or None,
                output_loading_info=True,
                **options,
            )
    except (ImportError, LookupError, OSError, RuntimeError, SafetensorError, TypeError, ValueError) as error:
        raise AccessError(
            f"{source.place} cannot be loaded as an image-text-to-text model: {type(error).__name__}: {error}"
        ) from error
    _check(source, processor, model)
    _check_weights(source, report)
    _prepare(processor, model)
    logger.info("loaded %s on %s as %s", source.place, model.device, model.dtype)
    return processor, model.eval()


def letter_tokens(vocabulary: Mapping[str, int]) -> dict[str, tuple[int, ...]]:
    """The tokens that write one character, with or without blanks around it, by that character."""
    found: dict[str, list[int]] = {}
    for token, token_id in vocabulary.items():
        bare = token.strip(BLANKS)
        if len(bare) == 1:
            found.setdefault(bare, []).append(token_id)
    return {character: tuple(sorted(ids)) for character, ids in found.items()}


def blank_tokens(vocabulary: Mapping[str, int]) -> frozenset[int]:
    """The tokens that write nothing but blanks."""
    return frozenset(i for token, i in vocabulary.items() if not token.strip(BLANKS) or token in BLANK_BYTES)


def _device_map(device: str) -> str | dict[str, str] | None:
    import torch

    if device == "auto":
        return "auto" if torch.cuda.is_available() else None
    if device.startswith("cuda") and not torch.cuda.is_available():
        raise UsageError(
            f"device={device}: torch {torch.__version__} sees no such device; use device=cpu or auto"
        )
    return None if device == "cpu" else {"": device}


@contextmanager
def _no_progress_bars() -> Iterator[None]:
    from transformers.utils import logging as library_logging

    were_on = library_logging.is_progress_bar_enabled()
    library_logging.disable_progress_bar()
    try:
        yield
    finally:
        if were_on:
            library_logging.enable_progress_bar()


def _check(source: Source, processor: "ProcessorMixin", model: "PreTrainedModel") -> None:
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


def _check_weights(source: Source, report: Mapping[str, object]) -> None:
    for key, fault in (("missing_keys", "lack"), ("mismatched_keys", "have another shape of")):
        names = report.get(key)
        if isinstance(names, set | list | tuple) and names:
            shown = ", ".join(sorted(map(str, names))[:3])
            raise AccessError(
                f"the weights in {source.place} {fault} {len(names)} tensors of the model ({shown}, ...); "
                "they would be random numbers. Fetch the checkpoint again"
            )


def _prepare(processor: "ProcessorMixin", model: "PreTrainedModel") -> None:
    """Pad on the left; keep of the model's own way to generate only where a turn ends."""
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
