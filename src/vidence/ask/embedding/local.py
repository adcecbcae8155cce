"""Shared by embedders with weights: identity, lazy loading, checks, batches."""

import threading
from abc import abstractmethod
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

from vidence.ask.embedding.weights import EXAMPLE, Weights, WeightSettings
from vidence.errors import UsageError
from vidence.media.encode import Size
from vidence.weights.checkpoints import find_weights

if TYPE_CHECKING:
    from torch import Tensor

VERSION = 1
_REMEMBERED_TEXTS = 4096


class LocalEmbedder:
    """An embedder whose weights are loaded at first use; thread-safe.

    `features_identity` is what the features alone depend on: it is the same for two embedders that
    differ only in how texts are cut or in how scores are scaled.
    """

    name: str
    types: ClassVar[Mapping[str, str]]  # of models that fit; for each its class
    usual_size_px: int  # where the configuration does not say

    def __init__(self, settings: WeightSettings, *, said: Mapping[str, str] | None = None) -> None:
        """Find the weights; `said` are further settings that affect scores.

        Raises:
            UsageError: a library or the weights are missing, or are of another type.
            AccessError: the hub does not have them, does not let us in, or cannot be reached.
        """
        self._settings = settings
        self._checkpoint = checkpoint = find_weights(self.name, settings, types=self.types, example=EXAMPLE)
        asked = str(Size.parse(settings.size)) if settings.size else ""
        self.size = asked or f"short:{_image_size_px(checkpoint.config) or self.usual_size_px}"
        where = f"{checkpoint.name}@{checkpoint.content}?dtype={settings.dtype}"
        cut = {"max_tokens": str(settings.max_tokens)} if settings.max_tokens else {}
        more = "".join(f"&{key}={value}" for key, value in {**cut, **(said or {})}.items())
        self.identity = f"{self.name}:{where}{more} v{VERSION}"
        self.features_identity = f"{self.name}:{where} v{VERSION}"
        self._weights: Weights | None = None
        self._lock = threading.RLock()

    def _ready(self) -> Weights:
        if self._weights is None:
            model_class = self.types[self._checkpoint.model_type]
            self._weights = Weights(self._checkpoint, self._settings, model_class=model_class)
        return self._weights

    def _prepared(self, text: str) -> str:
        """Return the text for the tokenizer."""
        return text

    def _to_read(self, texts: Sequence[str]) -> list[str]:
        """Return the texts for the tokenizer."""
        check_texts(self.name, texts)
        return [self._prepared(text) for text in texts]

    def _batches(self, frames: Sequence[NDArray[np.uint8]]) -> Iterator[dict[str, "Tensor"]]:
        check_frames(self.name, frames)
        weights, n = self._ready(), self._settings.batch
        for start in range(0, len(frames), n):
            yield weights.pixels(frames[start : start + n])


def _image_size_px(config: Mapping[str, object]) -> int | None:
    """Return the image size in the model's configuration, if stated."""
    vision = config.get("vision_config")
    size = vision.get("image_size") if isinstance(vision, dict) else None
    return size if isinstance(size, int) and size > 0 else None


class DualEncoder(LocalEmbedder):
    """An embedder with two towers: a pair's score follows from the cosine of two vectors."""

    def __init__(self, settings: WeightSettings, *, said: Mapping[str, str] | None = None) -> None:
        super().__init__(settings, said=said)
        self._read: OrderedDict[str, NDArray[np.float32]] = OrderedDict()

    def _see(self, weights: Weights, pixels: Mapping[str, "Tensor"]) -> "Tensor":
        """Return vectors of images, shape (n_images, n_dims)."""
        seen: Tensor = weights.model.get_image_features(**pixels).pooler_output
        return seen

    @abstractmethod
    def _understand(self, weights: Weights, texts: Sequence[str]) -> "Tensor":
        """Return vectors of texts, shape (n_texts, n_dims)."""

    def _score(self, weights: Weights, cosines: NDArray[np.float32]) -> NDArray[np.float32]:
        """Convert cosines to scores."""
        return cosines

    def features(self, frames: Sequence[NDArray[np.uint8]]) -> NDArray[np.float32]:
        """Return a unit vector per frame, shape (n_frames, n_dims).

        Raises:
            UsageError: no frames, or something that is no frame.
            AccessError: the weights cannot be loaded.
        """
        with self._lock:
            weights, entries = self._ready(), []
            for pixels in self._batches(frames):
                with weights.running():
                    entries.append(_unit(self._see(weights, pixels)))
            return np.concatenate(entries)

    def compare(self, features: NDArray[np.float32], texts: Sequence[str]) -> NDArray[np.float32]:
        """Return how well frames match texts, shape (n_frames, n_texts).

        Raises:
            UsageError: no texts, an empty text, or features of another embedder.
            AccessError: the weights cannot be loaded.
        """
        with self._lock:
            vectors = self._vectors(self._to_read(texts))
            check_features(self.name, features, n_dims=vectors.shape[1])
            return self._score(self._ready(), features @ vectors.T).astype(np.float32, copy=False)

    def _vectors(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return the vectors of texts, cached; shape (n_texts, n_dims)."""
        weights, n = self._ready(), self._settings.batch
        new = [text for text in dict.fromkeys(texts) if text not in self._read]
        for start in range(0, len(new), n):
            with weights.running():
                vectors = _unit(self._understand(weights, new[start : start + n]))
            self._read.update(zip(new[start : start + n], vectors, strict=True))
        values = np.stack([self._read[text] for text in texts])
        for text in texts:
            self._read.move_to_end(text)
        while len(self._read) > _REMEMBERED_TEXTS:
            self._read.popitem(last=False)
        return values


def _unit(vectors: "Tensor") -> NDArray[np.float32]:
    """Return unit vectors in 32 bits, whatever the precision of the weights."""
    import torch

    unit: NDArray[np.float32] = torch.nn.functional.normalize(vectors.float(), dim=-1).cpu().numpy()
    return unit


def check_frames(owner: str, frames: Sequence[NDArray[np.uint8]]) -> None:
    """Reject anything but a list of RGB frames.

    Raises:
        UsageError: no frames, or an array of another shape or type.
    """
    if len(frames) == 0:
        raise UsageError(f"{owner}: was given no frames; expected one or more")
    for i, frame in enumerate(frames):
        if frame.dtype != np.uint8 or frame.ndim != 3 or frame.shape[2] != 3 or 0 in frame.shape:
            raise UsageError(
                f"{owner}: frame {i} is an array of {frame.dtype} of shape {frame.shape}; "
                "expected uint8 of shape (height, width, 3), RGB"
            )


def check_features(owner: str, features: NDArray[np.float32], *, n_dims: int) -> None:
    """Reject features of another embedder.

    Raises:
        UsageError: an array of another shape.
    """
    if features.ndim != 2 or features.shape[1] != n_dims:
        raise UsageError(
            f"features of shape {features.shape} do not belong to {owner}; "
            f"expected (n_frames, {n_dims}) as features() gives them"
        )


def check_texts(owner: str, texts: Sequence[str]) -> None:
    """Reject missing or empty texts.

    Raises:
        UsageError: no texts, or one without words.
    """
    if len(texts) == 0:
        raise UsageError(f"{owner}: was given no texts; expected one or more")
    for i, text in enumerate(texts):
        if not text.strip():
            raise UsageError(f"{owner}: text {i} is {text!r}; expected words to match frames with")
