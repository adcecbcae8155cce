"""CLIP: the cosine similarity of frame and text.

clip:/path/to/weights
clip:openai/clip-vit-large-patch14?dtype=float16&logit_scale=true
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, ClassVar

import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from vidence.ask.embedding.local import DualEncoder
from vidence.ask.embedding.weights import Weights, WeightSettings

if TYPE_CHECKING:
    from torch import Tensor


class Settings(WeightSettings):
    """Options of the embedder."""

    logit_scale: Annotated[bool, Meta(description="multiply the cosine with the model's scale")] = False


class Clip(DualEncoder):
    """CLIP with both towers; with `logit_scale` cosines are multiplied with the model's logit scale.

    Texts are cut at `max_tokens`, 77 unless something less is asked for.

    Source: Radford et al. 2021 (arXiv:2103.00020); cosine times logit scale as in the released
    code of BOLT.
    Departs: vectors are normalised and compared in 32 bits whatever the precision of the weights.
    """

    name = "clip"
    types: ClassVar = {"clip": "CLIPModel"}
    usual_size_px = 224

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings, said={"logit_scale": "yes"} if settings.logit_scale else {})
        self._has_scale = settings.logit_scale

    def _understand(self, weights: Weights, texts: Sequence[str]) -> "Tensor":
        ids, mask = weights.tokens(texts)
        read: Tensor = weights.model.get_text_features(input_ids=ids, attention_mask=mask).pooler_output
        return read

    def _score(self, weights: Weights, cosines: NDArray[np.float32]) -> NDArray[np.float32]:
        if not self._has_scale:
            return cosines
        scale: float = weights.model.logit_scale.float().exp().item()
        return cosines * np.float32(scale)


def create(settings: Settings) -> Clip:
    """Create the embedder.

    Raises:
        UsageError: a library is not installed, or no such weights are there.
        AccessError: the hub does not have them, does not let us in, or cannot be reached.
    """
    return Clip(settings)
