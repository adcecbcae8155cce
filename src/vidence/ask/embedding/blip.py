"""BLIP for image-text retrieval: the probability that frame and text belong together, or a cosine.

blip-itm:/path/to/weights
blip-itm:Salesforce/blip-itm-large-coco?text=lavis
blip-itc:Salesforce/blip-itm-large-coco?max_tokens=35
"""

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

import msgspec
import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from vidence.ask.embedding.local import DualEncoder, LocalEmbedder
from vidence.ask.embedding.weights import Weights, WeightSettings
from vidence.contracts import Embedder
from vidence.errors import UsageError

if TYPE_CHECKING:
    from torch import Tensor

NAMES = ("blip-itc", "blip-itm")
SUMMARIES: Mapping[str, str] = {
    "blip-itc": "BLIP, contrastive: the cosine of the projected vectors of frame and text.",
    "blip-itm": "BLIP, matching: the probability that frame and text belong together.",
}
# Of LAVIS, for scores like those that AKS was made with.
MAX_WORDS = 50
MAX_TOKENS = 35
_DROPPED = re.compile(r"[.!\"()*#:;~]")


class Settings(WeightSettings):
    """Options of both embedders."""

    text: Annotated[
        Literal["plain", "lavis"],
        Meta(description="lavis: prepare texts as LAVIS does it, and cut them at 35 tokens"),
    ] = "plain"


def prepare(text: str) -> str:
    """Lower case, without ``.!"()*#:;~`` and double blanks, at most 50 words.

    Source: LAVIS, processor ``blip_caption`` for evaluation; AKS (arXiv:2502.21271) takes its BLIP scores so.
    Departs: no.

    >>> prepare("Who opens the door: (the man)?  And then...")
    'who opens the door the man ? and then'
    """
    words = _DROPPED.sub(" ", text.lower())
    words = re.sub(r"\s{2,}", " ", words).rstrip("\n").strip(" ")
    return " ".join(words.split(" ")[:MAX_WORDS])


class _Blip(LocalEmbedder):
    """A BLIP model; texts are truncated at `max_tokens`, 512 by default."""

    types: ClassVar = {"blip": "BlipForImageTextRetrieval"}
    usual_size_px = 384

    def __init__(self, settings: Settings) -> None:
        self._has_lavis_texts = settings.text == "lavis"
        if self._has_lavis_texts and not settings.max_tokens:
            settings = msgspec.structs.replace(settings, max_tokens=MAX_TOKENS)
        super().__init__(settings, said={"text": "lavis"} if self._has_lavis_texts else {})

    def _prepared(self, text: str) -> str:
        return prepare(text) if self._has_lavis_texts else text


class BlipItc(_Blip, DualEncoder):
    """The projections of a BLIP model for image-text retrieval.

    Source: Li et al. 2022 (arXiv:2201.12086), contrastive head; the paper of HERBench words its
    "Vanilla-BLIP" so.
    Departs: vectors are normalised and compared in 32 bits whatever the precision of the weights.
    """

    name = "blip-itc"

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


class BlipItm(_Blip):
    """The matching head of a BLIP model for image-text retrieval: the softmax of its two logits, class 1.

    It works on pairs: nothing about a frame alone is kept. With ``text=lavis`` texts begin with the token
    [ENC], the last of the model's vocabulary, instead of [CLS].

    Source: Li et al. 2022 (arXiv:2201.12086), matching head; the released code of HERBench
    (Salesforce/blip-itm-large-coco, 512 tokens) and, with ``text=lavis``, LAVIS and AKS (arXiv:2502.21271).
    Departs: the softmax is taken in 32 bits whatever the precision of the weights; the frame is
    encoded once for all texts.
    """

    name = "blip-itm"

    def match(self, frames: Sequence[NDArray[np.uint8]], texts: Sequence[str]) -> NDArray[np.float32]:
        """Return the probability of each pair, shape (n_frames, n_texts).

        Raises:
            UsageError: no frames or no texts, or one that is none.
            AccessError: the weights cannot be loaded.
        """
        with self._lock:
            prepared = self._to_read(texts)
            weights = self._ready()
            words = [self._tokens(weights, text) for text in prepared]
            entries = []
            for pixels in self._batches(frames):
                with weights.running():
                    seen = weights.model.vision_model(**pixels).last_hidden_state
                    entries.append(np.stack([_probabilities(weights, seen, ids) for ids in words], axis=1))
            return np.concatenate(entries)

    def _tokens(self, weights: Weights, text: str) -> "Tensor":
        ids, _ = weights.tokens([text])
        if self._has_lavis_texts:
            last = weights.model.config.text_config.vocab_size - 1
            if last < len(weights.tokenizer):
                raise UsageError(
                    f"text=lavis needs a vocabulary that ends with [ENC] after the {len(weights.tokenizer)} "
                    f"words of the tokenizer; {weights.place} has {last + 1} words. Use text=plain"
                )
            ids[:, 0] = last
        return ids


def _probabilities(weights: Weights, seen: "Tensor", ids: "Tensor") -> NDArray[np.float32]:
    """Return a text's probability with each image of a batch; shape (n_images,)."""
    model = weights.model
    words = model.text_encoder(
        input_ids=ids.expand(len(seen), -1), attention_mask=None, encoder_hidden_states=seen
    ).last_hidden_state
    values: NDArray[np.float32] = model.itm_head(words[:, 0, :]).float().softmax(-1)[:, 1].cpu().numpy()
    return values


def create(settings: Settings, *, name: str) -> Embedder:
    """Create the embedder of that name, one of `NAMES`.

    Raises:
        UsageError: torch or transformers are not installed, or no such weights are there.
        AccessError: the hub does not have them, does not let us in, or cannot be reached.
    """
    return BlipItc(settings) if name == "blip-itc" else BlipItm(settings)
