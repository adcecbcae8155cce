"""BLIP, matching: the probability that frame and text belong together, from looking at both at once.

blip-itm:/path/to/weights
blip-itm:Salesforce/blip-itm-large-coco?text=lavis
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar

import msgspec
import numpy as np
from numpy.typing import NDArray

from vidence.ask.embedding import _lavis
from vidence.ask.embedding._checkpoint import Checkpoint
from vidence.ask.embedding._local import LocalEmbedder, open_checkpoint
from vidence.ask.embedding._options import Options
from vidence.ask.embedding._weights import Weights
from vidence.errors import UsageError
from vidence.option_readers import one_of

if TYPE_CHECKING:
    from torch import Tensor


class BlipItm(LocalEmbedder):
    """The matching head of a BLIP model for image-text retrieval: the softmax of its two logits, class 1.

    It works on pairs: nothing about a frame alone is kept. Texts are cut at `max_tokens`, 512 unless
    something less is asked for. With `is_lavis` texts are prepared and cut (at 35) as LAVIS does it, and
    begin with the token [ENC], the last of the model's vocabulary, instead of [CLS].

    Source: Li et al. 2022 (arXiv:2201.12086), matching head; the released code of HERBench
    (Salesforce/blip-itm-large-coco, 512 tokens) and, with `is_lavis`, LAVIS and AKS (arXiv:2502.21271).
    Departs: the softmax is taken in 32 bits whatever the precision of the weights; the frame is
    encoded once for all texts.
    """

    name = "blip-itm"
    compares = False
    types: ClassVar = {"blip": "BlipForImageTextRetrieval"}
    usual_size_px = 384

    def __init__(self, checkpoint: Checkpoint, options: Options, *, is_lavis: bool = False) -> None:
        if is_lavis and not options.max_tokens:
            options = msgspec.structs.replace(options, max_tokens=_lavis.MAX_TOKENS)
        super().__init__(checkpoint, options, settings={"text": "lavis"} if is_lavis else {})
        self._is_lavis = is_lavis

    def _prepared(self, text: str) -> str:
        return _lavis.prepare(text) if self._is_lavis else text

    def features(self, frames: Sequence[NDArray[np.uint8]]) -> NDArray[np.float32]:
        """There are none.

        Raises:
            UsageError: always.
        """
        raise UsageError(f"{self.name} has no features for {len(frames)} frames alone; use match()")

    def compare(self, features: NDArray[np.float32], texts: Sequence[str]) -> NDArray[np.float32]:
        """There is nothing to compare.

        Raises:
            UsageError: always.
        """
        raise UsageError(
            f"{self.name} cannot compare features of shape {features.shape} with {len(texts)} texts; "
            "use match()"
        )

    def match(self, frames: Sequence[NDArray[np.uint8]], texts: Sequence[str]) -> NDArray[np.float32]:
        """The probability of each pair, shape (n_frames, n_texts).

        Raises:
            UsageError: no frames or no texts, or one that is none.
            AccessError: the weights cannot be loaded.
        """
        with self._lock:
            prepared = self._to_read(texts)
            weights = self._ready()
            words = [self._tokens(weights, text) for text in prepared]
            made = []
            for pixels in self._batches(frames):
                with weights.running():
                    seen = weights.model.vision_model(**pixels).last_hidden_state
                    made.append(np.stack([_probabilities(weights, seen, ids) for ids in words], axis=1))
            return np.concatenate(made)

    def _tokens(self, weights: Weights, text: str) -> "Tensor":
        ids, _ = weights.tokens([text])
        if self._is_lavis:
            last = weights.model.config.text_config.vocab_size - 1
            if last < len(weights.tokenizer):
                raise UsageError(
                    f"text=lavis needs a vocabulary that ends with [ENC] after the {len(weights.tokenizer)} "
                    f"words of the tokenizer; {weights.place} has {last + 1} words. Say text=plain"
                )
            ids[:, 0] = last
        return ids


def _probabilities(weights: Weights, seen: "Tensor", ids: "Tensor") -> NDArray[np.float32]:
    """Of one text with each image of a batch; shape (n_images,)."""
    model = weights.model
    words = model.text_encoder(
        input_ids=ids.expand(len(seen), -1),
        attention_mask=None,
        encoder_hidden_states=seen,
    ).last_hidden_state
    found: NDArray[np.float32] = model.itm_head(words[:, 0, :]).float().softmax(-1)[:, 1].cpu().numpy()
    return found


def create(argument: str, options: Mapping[str, str]) -> BlipItm:
    """BLIP with the weights in the folder `argument`, or in the repository of that name on the hub.

    Besides what all embedders with weights know (see `vidence.ask.embedding._options.Options`): ``text`` is
    ``plain`` (default) or ``lavis``.

    Raises:
        UsageError: torch or transformers are not installed, an option is wrong, or no such weights are there.
        AccessError: the hub does not have them, does not let us in, or cannot be reached.
    """
    kinds = one_of("plain", "lavis")
    checkpoint, read, own = open_checkpoint(BlipItm, argument, options, own={"text": kinds})
    return BlipItm(checkpoint, read, is_lavis=own.get("text") == "lavis")
