"""SigLIP and SigLIP 2: the logit of a pair, its sigmoid, or the plain cosine.

siglip:/path/to/weights
siglip:google/siglip-so400m-patch14-384?score=sigmoid
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from vidence.ask.embedding.local import DualEncoder
from vidence.ask.embedding.weights import Weights, WeightSettings
from vidence.weights.checkpoints import require_libraries

if TYPE_CHECKING:
    from torch import Tensor


class Settings(WeightSettings):
    """Options of the embedder."""

    score: Annotated[
        Literal["logit", "sigmoid", "cosine"],
        Meta(description="cosine times scale plus bias, the sigmoid of that, or the cosine"),
    ] = "logit"


class Siglip(DualEncoder):
    """SigLIP or SigLIP 2 with both towers.

    `score` is ``logit`` (cosine times the model's scale plus its bias), ``sigmoid`` (of that: the model's
    probability that the two belong together) or ``cosine``. All three rank frames alike. Texts are cut at
    `max_tokens` and then filled up to the length of the model, 64, without a mask: so it was trained.

    Source: Zhai et al. 2023 (arXiv:2303.15343); Tschannen et al. 2025 (arXiv:2502.14786).
    Departs: vectors are normalised and compared in 32 bits whatever the precision of the weights.
    """

    name = "siglip"
    types: ClassVar = {"siglip": "SiglipModel", "siglip2": "Siglip2Model"}
    usual_size_px = 256

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings, said={"score": settings.score})
        if self._checkpoint.model_type == "siglip":
            require_libraries(self.name, ("sentencepiece", "google.protobuf"))
        self._kind = settings.score

    def _understand(self, weights: Weights, texts: Sequence[str]) -> "Tensor":
        ids, _ = weights.tokens(texts, fill_to=weights.longest)
        read: Tensor = weights.model.get_text_features(input_ids=ids).pooler_output
        return read

    def _score(self, weights: Weights, cosines: NDArray[np.float32]) -> NDArray[np.float32]:
        if self._kind == "cosine":
            return cosines
        scale: float = weights.model.logit_scale.float().exp().item()
        bias: float = weights.model.logit_bias.float().item()
        logits = cosines * np.float32(scale) + np.float32(bias)
        # The half-angle form cannot overflow.
        return logits if self._kind == "logit" else (0.5 * (1 + np.tanh(0.5 * logits))).astype(np.float32)


def create(settings: Settings) -> Siglip:
    """Create the embedder.

    Raises:
        UsageError: a library is not installed, or no such weights are there.
        AccessError: the hub does not have them, does not let us in, or cannot be reached.
    """
    return Siglip(settings)
