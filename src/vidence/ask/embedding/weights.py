"""Embedders' weights: identification, location, and the loaded model."""

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Literal

import numpy as np
from msgspec import Meta
from numpy.typing import NDArray
from PIL import Image

from vidence.errors import AccessError, UsageError
from vidence.media.encode import Size
from vidence.weights import checkpoints
from vidence.weights.checkpoints import PILLOW, Source, load_model

if TYPE_CHECKING:
    from torch import Tensor

_log = logging.getLogger(__name__)

EXAMPLE = "Salesforce/blip-itm-large-coco"


class WeightSettings(checkpoints.WeightSettings):
    """Options of all embedders with weights."""

    dtype: Annotated[
        Literal["auto", "float32", "float16", "bfloat16"],
        Meta(description="precision of the weights; auto: as they are stored"),
    ] = "float32"
    max_tokens: Annotated[
        int, Meta(ge=0, description="tokens after which texts are cut; 0: the model's limit")
    ] = 0
    size: Annotated[
        str, Meta(description="limit on frames, such as short:384; empty: the side that the model sees")
    ] = ""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.size:
            Size.parse(self.size)


class Weights:
    """A model with tokenizer and image processor, ready to use.

    `limit` is how many tokens a text may have, start and end counted.

    Raises:
        UsageError: the device is not there, or `max_tokens` is more than the model takes.
        AccessError: the files are no complete model of that class.
    """

    def __init__(self, checkpoint: Source, settings: WeightSettings, *, model_class: str) -> None:
        self.place = checkpoint.place
        self._batch = settings.batch
        parts = {"AutoTokenizer": {}, "AutoImageProcessor": PILLOW}
        model, self.tokenizer, self._images = load_model(
            checkpoint, model_class, device=settings.device, parts=parts, dtype=settings.dtype
        )
        if self.tokenizer.pad_token_id is None:
            raise AccessError(f"the tokenizer in {self.place} has no token to pad with; fetch it again")
        self.model, self.device = model, str(model.device)
        self.longest: int = model.config.text_config.max_position_embeddings
        if settings.max_tokens > self.longest:
            raise UsageError(
                f"max_tokens={settings.max_tokens}, but {self.place} takes {self.longest} at most; "
                "lower it, or omit it"
            )
        self.limit = settings.max_tokens or self.longest
        _log.info("loaded %s on %s as %s", self.place, self.device, self.model.dtype)

    def pixels(self, frames: Sequence[NDArray[np.uint8]]) -> dict[str, "Tensor"]:
        """Return the frames as preprocessed by the checkpoint, on the model's device."""
        images = self._images(images=[Image.fromarray(frame) for frame in frames], return_tensors="pt")
        return {
            name: value.to(self.device, self.model.dtype if value.is_floating_point() else value.dtype)
            for name, value in images.items()
        }

    def tokens(self, texts: Sequence[str], *, fill_to: int | None = None) -> tuple["Tensor", "Tensor"]:
        """Return tokens and mask of texts truncated at `limit`, on the model's device; (n_texts, n_tokens).

        Args:
            texts: the texts.
            fill_to: pad all to this many tokens; None: to the longest of them.
        """
        # The mark of the end stays: the tokenizer cuts the words before it.
        cut = self.tokenizer(list(texts), truncation=True, max_length=self.limit, verbose=False)["input_ids"]
        result = self.tokenizer.pad(
            {"input_ids": cut},
            padding="max_length" if fill_to else True,
            max_length=fill_to,
            return_attention_mask=True,
            return_tensors="pt",
        )
        return result["input_ids"].to(self.device), result["attention_mask"].to(self.device)

    @contextmanager
    def running(self) -> Iterator[None]:
        """Run forward passes in this context: without gradients, and with advice if memory is too small.

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
                f"set batch={max(self._batch // 2, 1)} or a smaller dtype"
            ) from error
