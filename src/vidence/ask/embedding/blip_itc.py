"""BLIP, contrastive: the cosine of the projected vectors of frame and text.

blip-itc:/path/to/weights
blip-itc:Salesforce/blip-itm-large-coco?max_tokens=35
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar

import msgspec

from vidence.ask.embedding import _lavis
from vidence.ask.embedding._checkpoint import Checkpoint
from vidence.ask.embedding._local import DualEncoder, open_checkpoint
from vidence.ask.embedding._options import Options
from vidence.ask.embedding._weights import Weights
from vidence.option_readers import one_of

if TYPE_CHECKING:
    from torch import Tensor


class BlipItc(DualEncoder):
    """The projections of a BLIP model for image-text retrieval.

    Texts are cut at `max_tokens`, 512 unless something less is asked for. With `has_lavis_texts` they are
    prepared as LAVIS does it, and cut at 35.

    Source: Li et al. 2022 (arXiv:2201.12086), contrastive head; the paper of HERBench words its
    "Vanilla-BLIP" so.
    Departs: vectors are normalised and compared in 32 bits whatever the precision of the weights.
    """

    name = "blip-itc"
    types: ClassVar = {"blip": "BlipForImageTextRetrieval"}
    usual_size_px = 384

    def __init__(self, checkpoint: Checkpoint, options: Options, *, has_lavis_texts: bool = False) -> None:
        if has_lavis_texts and not options.max_tokens:
            options = msgspec.structs.replace(options, max_tokens=_lavis.MAX_TOKENS)
        super().__init__(checkpoint, options, settings={"text": "lavis"} if has_lavis_texts else {})
        self._has_lavis_texts = has_lavis_texts

    def _prepared(self, text: str) -> str:
        return _lavis.prepare(text) if self._has_lavis_texts else text

    def _see(self, weights: Weights, pixels: Mapping[str, "Tensor"]) -> "Tensor":
        model = weights.model
        seen: Tensor = model.vision_proj(model.vision_model(**pixels).last_hidden_state[:, 0, :])
        return seen

    def _understand(self, weights: Weights, texts: Sequence[str]) -> "Tensor":
        ids, mask = weights.tokens(texts)
        model = weights.model
        words = model.text_encoder(input_ids=ids, attention_mask=mask).last_hidden_state
        read: Tensor = model.text_proj(words[:, 0, :])
        return read


def create(argument: str, options: Mapping[str, str]) -> BlipItc:
    """BLIP with the weights in the folder `argument`, or in the repository of that name on the hub.

    Besides what all embedders with weights know (see `vidence.ask.embedding._options.Options`): ``text`` is
    ``plain`` (default) or ``lavis``.

    Raises:
        UsageError: torch or transformers are not installed, an option is wrong, or no such weights are there.
        AccessError: the hub does not have them, does not let us in, or cannot be reached.
    """
    kinds = one_of("plain", "lavis")
    checkpoint, read, own = open_checkpoint(BlipItc, argument, options, own={"text": kinds})
    return BlipItc(checkpoint, read, has_lavis_texts=own.get("text") == "lavis")
