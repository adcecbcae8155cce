"""A checkpoint in memory: frames become pixels, texts become tokens, and both go through the model."""

import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from vidence.ask.embedding._checkpoint import Checkpoint
from vidence.ask.embedding._options import Options
from vidence.errors import AccessError, UsageError

if TYPE_CHECKING:
    from torch import Tensor
    from transformers import BaseImageProcessor, PreTrainedModel, PreTrainedTokenizerBase

_log = logging.getLogger(__name__)


class Weights:
    """The model with its tokenizer and its image processor, ready to be used.

    `limit` is how many tokens a text may have, start and end counted.

    Raises:
        UsageError: the device is not there, or `max_tokens` is more than the model takes.
        AccessError: the files are no complete model of that class.
    """

    def __init__(self, checkpoint: Checkpoint, options: Options, *, model_class: str) -> None:
        self.place = checkpoint.place
        self._batch = options.batch
        device = _device(options.device)
        model, self.tokenizer, self._images = _load(checkpoint, options, model_class=model_class)
        self.model = model.to(device).eval().requires_grad_(False)
        self.device = device
        self.longest: int = model.config.text_config.max_position_embeddings
        if options.max_tokens > self.longest:
            raise UsageError(
                f"max_tokens={options.max_tokens}, but {self.place} takes {self.longest} at most; "
                "say so many or fewer, or leave it out"
            )
        self.limit = options.max_tokens or self.longest
        _log.info("loaded %s on %s as %s", self.place, device, self.model.dtype)

    def pixels(self, frames: Sequence[NDArray[np.uint8]]) -> dict[str, "Tensor"]:
        """The frames as the image processor of the checkpoint makes them, on the device of the model."""
        pictures = [Image.fromarray(frame) for frame in frames]
        made = self._images(images=pictures, return_tensors="pt")
        return {
            name: value.to(self.device, self.model.dtype if value.is_floating_point() else value.dtype)
            for name, value in made.items()
        }

    def tokens(self, texts: Sequence[str], *, fill_to: int | None = None) -> tuple["Tensor", "Tensor"]:
        """Tokens and mask of the texts, cut at `limit`, on the model's device; shape (n_texts, n_tokens).

        Args:
            texts: the texts.
            fill_to: pad all to so many tokens; None: to the longest of them.
        """
        import torch

        # The mark of the end stays: the tokenizer cuts the words before it.
        cut = self.tokenizer(list(texts), truncation=True, max_length=self.limit, verbose=False)["input_ids"]
        n_tokens = max(map(len, cut)) if fill_to is None else fill_to
        ids = torch.full((len(cut), n_tokens), self.tokenizer.pad_token_id, dtype=torch.long)
        mask = torch.zeros_like(ids)
        is_left = self.tokenizer.padding_side == "left"
        for i, words in enumerate(cut):
            where = slice(n_tokens - len(words), None) if is_left else slice(len(words))
            ids[i, where] = torch.tensor(words)
            mask[i, where] = 1
        return ids.to(self.device), mask.to(self.device)

    def is_cut(self, text: str) -> bool:
        """Whether the text has more tokens than are looked at."""
        return len(self.tokenizer(text, truncation=False, verbose=False)["input_ids"]) > self.limit

    @contextmanager
    def running(self) -> Iterator[None]:
        """Forward passes go in here: without gradients, and saying what to do where memory is too small.

        Raises:
            UsageError: a batch does not fit into memory.
        """
        import torch

        try:
            with torch.inference_mode():
                yield
        except torch.OutOfMemoryError as error:
            raise UsageError(
                f"a batch of {self._batch} does not fit into the memory of {self.device} for {self.place}; "
                f"say batch={max(self._batch // 2, 1)} or a smaller dtype"
            ) from error


def _device(device: str) -> str:
    import torch

    if device == "auto":
        return "cuda" if torch.cuda.is_available() else "cpu"
    if device.startswith("cuda") and not torch.cuda.is_available():
        raise UsageError(
            f"device={device}: torch {torch.__version__} sees no such device; use device=cpu or auto"
        )
    return device


def _load(
    checkpoint: Checkpoint, options: Options, *, model_class: str
) -> tuple["PreTrainedModel", "PreTrainedTokenizerBase", "BaseImageProcessor"]:
    import torch
    import transformers
    from safetensors import SafetensorError

    places = {
        "revision": checkpoint.revision or None,
        "local_files_only": options.local_only or not checkpoint.revision,
        "trust_remote_code": False,
    }
    dtype = "auto" if options.dtype == "auto" else getattr(torch, options.dtype)
    try:
        with _no_progress_bars():
            tokenizer = transformers.AutoTokenizer.from_pretrained(checkpoint.place, **places)
            # Pillow everywhere: with torchvision the same frame would have other numbers.
            images = transformers.AutoImageProcessor.from_pretrained(
                checkpoint.place, backend="pil", **places
            )
            model, report = getattr(transformers, model_class).from_pretrained(
                checkpoint.place, dtype=dtype, output_loading_info=True, **places
            )
    except (ImportError, LookupError, OSError, RuntimeError, SafetensorError, TypeError, ValueError) as error:
        raise AccessError(
            f"{checkpoint.place} cannot be loaded as a {model_class}: {type(error).__name__}: {error}"
        ) from error
    _check_weights(checkpoint, report)
    if tokenizer.pad_token_id is None:
        raise AccessError(f"the tokenizer in {checkpoint.place} has no token to pad with; fetch it again")
    return model, tokenizer, images


def _check_weights(checkpoint: Checkpoint, report: Mapping[str, object]) -> None:
    for key, fault in (("missing_keys", "lack"), ("mismatched_keys", "have another shape of")):
        names = report.get(key)
        if isinstance(names, set | list | tuple) and names:
            shown = ", ".join(sorted(map(str, names))[:3])
            raise AccessError(
                f"the weights in {checkpoint.place} {fault} {len(names)} of the model's tensors "
                f"({shown}, ...); they would be random numbers. Fetch the weights again"
            )


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
