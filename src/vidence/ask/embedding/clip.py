"""CLIP: the cosine of the vectors of frame and text.

clip:/path/to/weights
clip:openai/clip-vit-large-patch14?dtype=float16&logit_scale=yes
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

from vidence.ask.embedding._checkpoint import Checkpoint
from vidence.ask.embedding._local import DualEncoder, open_checkpoint
from vidence.ask.embedding._options import Options
from vidence.ask.embedding._weights import Weights
from vidence.option_readers import yes_or_no

if TYPE_CHECKING:
    from torch import Tensor


class Clip(DualEncoder):
    """CLIP with both towers; with `has_scale` cosines are multiplied with the model's logit scale.

    Texts are cut at `max_tokens`, 77 unless something less is asked for.

    Source: Radford et al. 2021 (arXiv:2103.00020); cosine times logit scale as in the released
    code of BOLT.
    Departs: vectors are normalised and compared in 32 bits whatever the precision of the weights.
    """

    name = "clip"
    types: ClassVar = {"clip": "CLIPModel"}
    usual_size_px = 224

    def __init__(self, checkpoint: Checkpoint, options: Options, *, has_scale: bool = False) -> None:
        settings = {"logit_scale": "yes"} if has_scale else {}
        super().__init__(checkpoint, options, settings=settings)
        self._has_scale = has_scale

    def _see(self, weights: Weights, pixels: Mapping[str, "Tensor"]) -> "Tensor":
        seen: Tensor = weights.model.get_image_features(**pixels).pooler_output
        return seen

    def _understand(self, weights: Weights, texts: Sequence[str]) -> "Tensor":
        ids, mask = weights.tokens(texts)
        read: Tensor = weights.model.get_text_features(input_ids=ids, attention_mask=mask).pooler_output
        return read

    def _score(self, weights: Weights, cosines: NDArray[np.float32]) -> NDArray[np.float32]:
        if not self._has_scale:
            return cosines
        scale: float = weights.model.logit_scale.float().exp().item()
        return cosines * np.float32(scale)


def create(argument: str, options: Mapping[str, str]) -> Clip:
    """CLIP with the weights in the folder `argument`, or in the repository of that name on the hub.

    Besides what all embedders with weights know (see `vidence.ask.embedding._options.Options`):
    ``logit_scale=yes`` multiplies the cosine with the model's scale.

    Raises:
        UsageError: torch or transformers are not installed, an option is wrong, or no such weights are there.
        AccessError: the hub does not have them, does not let us in, or cannot be reached.
    """
    checkpoint, read, own = open_checkpoint(Clip, argument, options, own={"logit_scale": yes_or_no})
    return Clip(checkpoint, read, has_scale=own.get("logit_scale") is True)
