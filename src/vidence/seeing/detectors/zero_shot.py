"""Detect what words name, with networks of the library transformers: Grounding DINO and OWLv2.

grounding-dino:/path/to/weights
owlv2:google/owlv2-base-patch16-ensemble?words=person|dog&device=cuda
"""

from collections.abc import Sequence
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated

import msgspec
import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from vidence.errors import UsageError
from vidence.seeing.boxes import clip, suppress
from vidence.seeing.tracks import PERSON
from vidence.seeing.watching import FrameDetections, Image
from vidence.weights.checkpoints import PILLOW, WeightSettings, find_weights, load_model

if TYPE_CHECKING:
    from torch import Tensor
    from transformers import PreTrainedModel

NAMES = ("grounding-dino", "owlv2")
SUMMARIES = MappingProxyType({name: f"What words name, by {name} with weights of yours." for name in NAMES})
_TYPES = {
    "grounding-dino": {
        "grounding-dino": "GroundingDinoForObjectDetection",
        "mm-grounding-dino": "MMGroundingDinoForObjectDetection",
    },
    "owlv2": {"owlv2": "Owlv2ForObjectDetection"},
}
_EXAMPLES = {"grounding-dino": "IDEA-Research/grounding-dino-tiny", "owlv2": "google/owlv2-base-patch16"}
_VERSION = 1


class Settings(WeightSettings):
    """Options of both detectors."""

    device: Annotated[str, Meta(description="device of torch, such as cpu, cuda or auto")] = "cpu"
    batch: Annotated[int, Meta(ge=1, description="frames per batch")] = 4
    words: Annotated[tuple[str, ...], Meta(min_length=1, description="phrases to detect")] = (PERSON,)
    confidence: Annotated[float, Meta(ge=0, le=1, description="minimum confidence of a box")] = 0.3
    most: Annotated[int, Meta(ge=1, description="boxes to keep per frame, best first")] = 300
    most_iou: Annotated[float, Meta(ge=0, le=1, description="maximum IoU of two boxes of one word")] = 0.7

    def __post_init__(self) -> None:
        super().__post_init__()
        if any("." in word or not word.strip() for word in self.words):
            raise UsageError(f"words={','.join(self.words)!r}: expected words without full stops")


class ZeroShot:
    """Boxes of what words name, labelled with the words.

    The confidence is the largest over the tokens of a word (Grounding DINO), or that of the text "a photo of
    a WORD" (OWLv2).

    Source: Liu et al. 2024 (arXiv:2303.05499); Minderer et al. 2023 (arXiv:2306.09683), as in transformers.
    Departs: each box has one of the words, not a phrase that was put together of their tokens; of boxes of
        one word that overlap by more than `most_iou` the surest stays.
    """

    finds_parts = False

    def __init__(self, settings: Settings, *, name: str) -> None:
        self._settings, self._reads_tokens = settings, name == NAMES[0]
        self._source = find_weights(name, settings, types=_TYPES[name], example=_EXAMPLES[name])
        self.n_together = settings.batch
        named = msgspec.structs.replace(settings, weights="", revision="", device="cpu")
        self.identity = f"zeroshot/{_VERSION} {name} {self._source.content} {named!r}"

    @cached_property
    def _network(self) -> "tuple[PreTrainedModel, ...]":
        kind = {**_TYPES[NAMES[0]], **_TYPES[NAMES[1]]}[self._source.model_type]
        return load_model(self._source, kind, device=self._settings.device, parts={"AutoProcessor": PILLOW})

    def find(self, images: Sequence[Image]) -> list[FrameDetections]:
        """Return the boxes of the words in each picture, by falling confidence.

        Raises:
            UsageError: the device is not there, or a batch is too much for it or for the network.
            AccessError: the weights cannot be loaded.
        """
        import torch

        model, processor = self._network
        words = [word.strip() for word in self._settings.words]
        texts = [w.lower() if self._reads_tokens else f"a photo of a {w}" for w in words]
        try:
            given = processor(images=list(images), text=[texts] * len(images), return_tensors="pt")
            with torch.inference_mode():
                seen = model(**given.to(model.device))
                shares = seen.logits.cpu().double().sigmoid()
                if self._reads_tokens:
                    ids = given["input_ids"][0].cpu()
                    tokens = _tokens_of_words(ids, processor.tokenizer, n_words=len(words))
                    shares = torch.stack([shares[..., mine].amax(-1) for mine in tokens], -1)
        except (IndexError, RuntimeError, ValueError) as error:
            raise UsageError(
                f"{len(images)} pictures cannot be looked at for {len(words)} words ({error}); say a smaller "
                "batch, or fewer or shorter words"
            ) from error
        pairs = zip(images, seen.pred_boxes.cpu().double(), shares, strict=True)
        return [self._found(image, boxes.numpy(), sure.numpy()) for image, boxes, sure in pairs]

    def _found(
        self, image: Image, shares: NDArray[np.float64], confidences: NDArray[np.float64]
    ) -> FrameDetections:
        """The boxes of a picture, from relative centres and sizes, with a confidence for each word."""
        height, width = image.shape[:2]
        longer = max(height, width)  # OWLv2 sees a square
        sides = [width, height] if self._reads_tokens else [longer, longer]
        boxes = np.hstack([shares[:, :2] - shares[:, 2:] / 2, shares[:, :2] + shares[:, 2:] / 2]) * (
            sides * 2
        )
        boxes, covers = clip(boxes, width_px=width, height_px=height)
        labels, best = confidences.argmax(axis=1), confidences.max(axis=1)
        kept = np.flatnonzero(covers & (best >= self._settings.confidence))
        apart = boxes[kept] + 2.0 * longer * labels[kept, None]  # boxes of other words are no rivals
        kept = kept[suppress(apart, best[kept], most_iou=self._settings.most_iou)][: self._settings.most]
        return FrameDetections(
            boxes_px=boxes[kept],
            confidences=best[kept],
            class_ids=labels[kept] + 1,
            class_names=dict(enumerate((word.strip() for word in self._settings.words), start=1)),
        )


def _tokens_of_words(ids: "Tensor", tokenizer: "PreTrainedModel", *, n_words: int) -> "list[Tensor]":
    """The token positions of each word in a text where each word ends with a full stop."""
    is_stop = ids == tokenizer.convert_tokens_to_ids(".")
    is_word = ~is_stop & ~(ids[:, None] == ids.new_tensor(tokenizer.all_special_ids)).any(1)
    return [((is_stop.cumsum(0) == k) & is_word).nonzero()[:, 0] for k in range(n_words)]


def create(settings: Settings, *, name: str) -> ZeroShot:
    """The detector of that name, one of `NAMES`.

    Raises:
        UsageError: no weights are named or there, or torch or transformers are not installed.
        AccessError: the hub does not have them, does not let us in, or cannot be reached.
    """
    return ZeroShot(settings, name=name)
