"""RF-DETR with local weights: the detector of HERBench.

rfdetr:/path/to/rf-detr-medium.pth
rfdetr:medium                            the weights that the package has fetched before
rfdetr:/path/to/checkpoint.pth?model=nano&device=cuda&confidence=0.3
"""

import hashlib
import importlib.metadata
import importlib.util
import os
import pickle
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar, Final, Literal

import msgspec
import numpy as np
from msgspec import Meta

from vidence.catalog import FilePath
from vidence.errors import DataError, UsageError
from vidence.installation import adding
from vidence.records import Record
from vidence.seeing.boxes import clip
from vidence.seeing.watching import FrameDetections, Image

if TYPE_CHECKING:
    import supervision as sv
    from rfdetr import RFDETR

_VERSION: Final = 1
_SIZES: Final = ("nano", "small", "medium", "base", "large")
_WITHOUT: Final = (
    "Roboflow publishes weights (rf-detr-nano.pth, rf-detr-medium.pth, ...; see the README of "
    "github.com/roboflow/rf-detr); fetch one once and give its path. Nothing is downloaded here. The "
    "detector hog works without any file: --detector hog"
)


class Settings(Record):
    """Options of RF-DETR."""

    positional: ClassVar[str] = "weights"
    weights: Annotated[
        FilePath, Meta(description="checkpoint of RF-DETR, or its size: what the package fetched before")
    ] = ""
    confidence: Annotated[float, Meta(ge=0, le=1, description="minimum confidence of a box")] = 0.3
    most: Annotated[int, Meta(ge=1, description="boxes to keep per frame, best first")] = 300
    # The larger models of the package have another licence and are not offered.
    model: Annotated[
        Literal["nano", "small", "medium", "base", "large"] | None,
        Meta(description="size of the model, if the checkpoint does not state it"),
    ] = None
    batch: Annotated[int, Meta(ge=1, description="frames per batch")] = 4
    device: Annotated[str, Meta(description="device of torch, such as cpu or cuda")] = "cpu"


class Rfdetr:
    """People and things of all classes of COCO.

    Source: HERBench, section 7.1 (RF-DETR, confidence of at least 0.3, at most 300 boxes in a frame).
    Departs: the paper does not say which size of the model; it is whatever the weights are of.
    """

    finds_parts = False

    def __init__(self, model: "RFDETR", settings: Settings, *, weights: str) -> None:
        self._model = model
        self._settings = settings
        self.n_together = settings.batch
        version = importlib.metadata.version("rfdetr")
        apart_from_file = msgspec.structs.replace(settings, weights="")
        self.identity = f"rfdetr/{_VERSION} package {version} weights {weights} {apart_from_file!r}"

    def find(self, images: Sequence[Image]) -> list[FrameDetections]:
        """The people and things in each picture, surest first."""
        entries = self._model.predict(
            [np.ascontiguousarray(image) for image in images],
            threshold=self._settings.confidence,
            include_source_image=False,
        )
        return [
            self._found(image, seen)
            for image, seen in zip(images, entries if isinstance(entries, list) else [entries], strict=True)
        ]

    def _found(self, image: Image, seen: "sv.Detections") -> FrameDetections:
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
        return FrameDetections(
            boxes_px=boxes[kept],
            confidences=np.minimum(confidences[kept], 1.0),
            class_ids=class_ids[kept],
            class_names={int(i): names[int(i)] for i in class_ids[kept]},
        )


def load(settings: Settings) -> "RFDETR":
    """The model with its weights; nothing is downloaded.

    Raises:
        DataError: the file is no checkpoint of RF-DETR, or of another size than `settings.model`.
    """
    import rfdetr

    # A path that is absolute and exists is never taken for the name of weights to download.
    path = str(Path(settings.weights).resolve())
    try:
        if settings.model:
            result: RFDETR = getattr(rfdetr, f"RFDETR{settings.model.capitalize()}")(
                pretrain_weights=path, device=settings.device
            )
        else:
            result = rfdetr.RFDETR.from_checkpoint(path, device=settings.device)
    except (RuntimeError, ValueError, KeyError, TypeError, OSError, EOFError, pickle.PickleError) as error:
        raise DataError(
            f"{settings.weights} cannot be loaded as weights of RF-DETR ({type(error).__name__}: {error}). "
            f"If the file does not tell its size, say it: rfdetr:{settings.weights}?model=medium. {_WITHOUT}"
        ) from error
    return result


def create(settings: Settings) -> Rfdetr:
    """RF-DETR with the weights in a file.

    Raises:
        UsageError: no file is named, it does not exist, or the package is not installed.
        DataError: the file holds no weights of RF-DETR.
    """
    if not settings.weights:
        raise UsageError(f"which weights? say rfdetr:/path/to/rf-detr-medium.pth. {_WITHOUT}")
    settings = _found(settings)
    if not Path(settings.weights).is_file():
        raise UsageError(
            f"there are no weights at {settings.weights}; expected a checkpoint of RF-DETR. {_WITHOUT}"
        )
    if importlib.util.find_spec("rfdetr") is None:
        raise UsageError(
            f"the detector rfdetr needs the package rfdetr; run: {adding('rfdetr')} . The detector "
            "hog works without it: --detector hog"
        )
    with Path(settings.weights).open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return Rfdetr(load(settings), settings, weights=digest)


def _found(settings: Settings) -> Settings:
    """Return the settings with the weights file of a named size, from the package's cache.

    Raises:
        UsageError: it does not exist; the message has the line that fetches it.
    """
    size = Path(settings.weights).name
    if size not in _SIZES or Path(settings.weights).is_file():
        return settings
    kept = os.environ.get("RF_HOME") or os.environ.get("ROBOFLOW_HOME") or "~/.roboflow/models"
    path = Path(kept).expanduser() / f"rf-detr-{size}.pth"
    if not path.is_file():
        raise UsageError(
            f"the weights of the size {size} are not at {path}, where the package rfdetr keeps what it has "
            f'fetched; once, with network: python -c "import rfdetr; rfdetr.RFDETR{size.capitalize()}()". '
            f"{_WITHOUT}"
        )
    return msgspec.structs.replace(settings, weights=str(path), model=settings.model or size)
