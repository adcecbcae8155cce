"""SigLIP and SigLIP 2: the logit of a pair, its sigmoid, or the plain cosine.

siglip:/path/to/weights
siglip:google/siglip-so400m-patch14-384?score=sigmoid
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

from vidence.ask.embedding._checkpoint import Checkpoint, require_libraries
from vidence.ask.embedding._local import DualEncoder, open_checkpoint
from vidence.ask.embedding._options import Options
from vidence.ask.embedding._weights import Weights
from vidence.option_readers import one_of

if TYPE_CHECKING:
    from torch import Tensor

LOGIT, SIGMOID, COSINE = "logit", "sigmoid", "cosine"


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

    def __init__(self, checkpoint: Checkpoint, options: Options, *, score: str = LOGIT) -> None:
        super().__init__(checkpoint, options, settings={"score": score})
        self._kind = score

    def _see(self, weights: Weights, pixels: Mapping[str, "Tensor"]) -> "Tensor":
        seen: Tensor = weights.model.get_image_features(**pixels).pooler_output
        return seen

    def _understand(self, weights: Weights, texts: Sequence[str]) -> "Tensor":
        ids, _ = weights.tokens(texts, fill_to=weights.longest)
        read: Tensor = weights.model.get_text_features(input_ids=ids).pooler_output
        return read

    def _score(self, weights: Weights, cosines: NDArray[np.float32]) -> NDArray[np.float32]:
        if self._kind == COSINE:
            return cosines
        scale: float = weights.model.logit_scale.float().exp().item()
        bias: float = weights.model.logit_bias.float().item()
        logits = cosines * np.float32(scale) + np.float32(bias)
        # The half-angle form cannot overflow.
        return logits if self._kind == LOGIT else (0.5 * (1 + np.tanh(0.5 * logits))).astype(np.float32)


def create(argument: str, options: Mapping[str, str]) -> Siglip:
    """SigLIP with the weights in the folder `argument`, or in the repository of that name on the hub.

    Besides what all embedders with weights know (see `vidence.ask.embedding._options.Options`): ``score`` is
    ``logit`` (default), ``sigmoid`` or ``cosine``.

    Raises:
        UsageError: a library is not installed, an option is wrong, or no such weights are there.
        AccessError: the hub does not have them, does not let us in, or cannot be reached.
    """
    kinds = one_of(LOGIT, SIGMOID, COSINE)
    checkpoint, read, own = open_checkpoint(Siglip, argument, options, own={"score": kinds})
    if checkpoint.model_type == "siglip":
        require_libraries(Siglip.name, ("sentencepiece", "google.protobuf"))
    return Siglip(checkpoint, read, score=str(own.get("score", LOGIT)))
