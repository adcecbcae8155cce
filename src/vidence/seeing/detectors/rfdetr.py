"""RF-DETR with weights on this machine: the detector of HERBench.

rfdetr:/path/to/rf-detr-medium.pth
rfdetr:/path/to/checkpoint.pth?model=nano&device=cuda&confidence=0.3
"""

import hashlib
import importlib.metadata
import importlib.util
import pickle
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec
import numpy as np

from vidence.catalog import take_options
from vidence.errors import DataError, UsageError
from vidence.media.video import Video
from vidence.records import Record
from vidence.seeing._settings import share, whole, word
from vidence.seeing.boxes import clip
from vidence.seeing.tracks import Detections
from vidence.seeing.watching import Found, Image, watch

if TYPE_CHECKING:
    import supervision as sv
    from rfdetr import RFDETR

_VERSION: Final = 1
# The classes of the package; the larger ones have another licence and are not offered.
MODELS: Final = {
    "nano": "RFDETRNano",
    "small": "RFDETRSmall",
    "medium": "RFDETRMedium",
    "base": "RFDETRBase",
    "large": "RFDETRLarge",
}
_WITHOUT: Final = (
    "Roboflow publishes weights (rf-detr-nano.pth, rf-detr-medium.pth, ...; see the README of "
    "github.com/roboflow/rf-detr); fetch one once and give its path. Nothing is downloaded here. The "
    "detector hog works without any file: --detector hog"
)


class RfdetrSettings(Record, kw_only=True):
    """How things are looked for.

    `confidence` is the least that a box must have, `most` how many boxes a frame may have. `model` is the
    size (empty: as the file says). `batch` pictures are looked at together, on `device`.
    """

    confidence: float = 0.3
    most: int = 300
    model: str = ""
    batch: int = 4
    device: str = "cpu"


class Rfdetr:
    """People and things of all classes of COCO.

    Source: HERBench, section 7.1 (RF-DETR, confidence of at least 0.3, at most 300 boxes in a frame).
    Departs: the paper does not say which size of the model; it is whatever the weights are of.
    """

    looks = True

    def __init__(self, model: "RFDETR", settings: RfdetrSettings, *, weights: str) -> None:
        self._model = model
        self._settings = settings
        self.n_together = settings.batch
        version = importlib.metadata.version("rfdetr")
        self.identity = f"rfdetr/{_VERSION} package {version} weights {weights} {settings!r}"

    def detect(self, video: Video, frame_indices: Sequence[int]) -> Detections:
        """The people and things in these frames."""
        return watch(video, frame_indices, detector=self).detections

    def find(self, images: Sequence[Image]) -> list[Found]:
        """The people and things in each picture, surest first."""
        made = self._model.predict(
            [np.ascontiguousarray(image) for image in images],
            threshold=self._settings.confidence,
            include_source_image=False,
        )
        return [
            self._found(image, seen)
            for image, seen in zip(images, made if isinstance(made, list) else [made], strict=True)
        ]

    def _found(self, image: Image, seen: "sv.Detections") -> Found:
        boxes = np.asarray(seen.xyxy, np.float64).reshape(-1, 4)
        confidences = np.asarray(seen.confidence, np.float64).reshape(-1)
        class_ids = np.asarray(seen.class_id, np.int64).reshape(-1)
        named = [str(name) for name in seen.data.get("class_name", [])]
        names = {int(i): name for i, name in zip(class_ids, named, strict=False) if name}
        boxes, covers = clip(boxes, width_px=image.shape[1], height_px=image.shape[0])
        # Ids without a name are no class: slots of the network that nothing was trained on.
        is_named = np.array([int(i) in names for i in class_ids], np.bool_)
        kept = np.flatnonzero(covers & is_named & (confidences >= self._settings.confidence))
        kept = kept[np.argsort(-confidences[kept], kind="stable")][: self._settings.most]
        return Found(
            boxes_px=boxes[kept],
            confidences=np.minimum(confidences[kept], 1.0),
            class_ids=class_ids[kept],
            class_names={int(i): names[int(i)] for i in class_ids[kept]},
        )


def load(weights: Path, settings: RfdetrSettings) -> "RFDETR":
    """The model with the weights in a file; nothing is downloaded.

    Raises:
        DataError: the file is no checkpoint of RF-DETR, or of another size than `settings.model`.
    """
    import rfdetr

    # A path that is absolute and exists is never taken for the name of weights to download.
    path = str(weights.resolve())
    try:
        if settings.model:
            made: RFDETR = getattr(rfdetr, MODELS[settings.model])(
                pretrain_weights=path, device=settings.device
            )
        else:
            made = rfdetr.RFDETR.from_checkpoint(path, device=settings.device)
    except (RuntimeError, ValueError, KeyError, TypeError, OSError, EOFError, pickle.PickleError) as error:
        raise DataError(
            f"{weights} cannot be loaded as weights of RF-DETR ({type(error).__name__}: {error}). If the "
            f"file does not tell its size, say it: rfdetr:{weights}?model=medium. {_WITHOUT}"
        ) from error
    return made


def create(argument: str, options: Mapping[str, str]) -> Rfdetr:
    """RF-DETR with the weights in the file `argument`.

    Options: ``confidence``, ``most``, ``model`` (``nano`` to ``large``), ``batch``, ``device``.

    Raises:
        UsageError: no file is named, it is not there, the package is not installed, or a wrong option.
        DataError: the file holds no weights of RF-DETR.
    """
    known: dict[str, Callable[[str], object]] = {
        "confidence": share,
        "most": whole(1),
        "model": word(*MODELS),
        "batch": whole(1),
        "device": str,
    }
    settings = msgspec.convert(take_options("rfdetr", options, known), RfdetrSettings)
    if not argument:
        raise UsageError(f"which weights? say rfdetr:/path/to/rf-detr-medium.pth. {_WITHOUT}")
    weights = Path(argument)
    if not weights.is_file():
        raise UsageError(f"there are no weights at {weights}; expected a checkpoint of RF-DETR. {_WITHOUT}")
    if importlib.util.find_spec("rfdetr") is None:
        raise UsageError(
            "the detector rfdetr needs the package rfdetr; run: pip install 'vidence[rfdetr]'. The detector "
            "hog works without it: --detector hog"
        )
    with weights.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return Rfdetr(load(weights, settings), settings, weights=digest)
