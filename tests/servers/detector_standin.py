"""A detector that is no small one and needs no library: it finds what is dark, and marks who has opened it.

The folder that it is named with holds its weights; for each time that it is opened there is a file.
"""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar
from uuid import uuid4

import numpy as np

from vidence.errors import UsageError
from vidence.records import Record
from vidence.seeing.tracks import PERSON
from vidence.seeing.watching import FrameDetections, Image

NAME = "standin"


class Settings(Record):
    """Where its weights are."""

    positional: ClassVar[str] = "folder"
    folder: str
    device: str = "cpu"


class Dark:
    """The box of all that is dark."""

    finds_parts = False
    n_together = 1

    def __init__(self, weights: str) -> None:
        self.identity = f"{NAME}/1 {weights}"

    def find(self, images: Sequence[Image]) -> list[FrameDetections]:
        """The box in each picture."""
        return [self._find(image) for image in images]

    def _find(self, image: Image) -> FrameDetections:
        rows, columns = np.nonzero(image.max(axis=2) < 90)
        boxes = [[columns.min(), rows.min(), columns.max() + 1, rows.max() + 1]] if len(rows) else []
        return FrameDetections(
            boxes_px=np.array(boxes, np.float64).reshape(-1, 4),
            confidences=np.ones(len(boxes)),
            class_ids=np.ones(len(boxes), np.int64),
            class_names={1: PERSON},
        )


def put(folder: Path) -> str:
    """Write its weights; its spec."""
    folder.mkdir()
    (folder / "weights").write_text("first")
    return f"{NAME}:{folder}"


def openers(folder: Path) -> list[int]:
    """The processes that have opened it, once for each time."""
    return sorted(int(path.name.split()[1]) for path in folder.glob("by *"))


def create(settings: Settings) -> Dark:
    """The detector.

    Raises:
        UsageError: it has no weights.
    """
    weights = Path(settings.folder) / "weights"
    if not weights.is_file():
        raise UsageError(f"there are no weights at {weights}")
    (weights.parent / f"by {os.getpid()} {uuid4().hex}").touch()
    return Dark(weights.read_text())
