"""The options that our own trackers share."""

from collections.abc import Callable, Mapping, Sequence
from typing import Final

import msgspec
import numpy as np
from numpy.typing import NDArray

from vidence.catalog import take_options
from vidence.seeing._settings import number, share, whole
from vidence.seeing.association import AssociationSettings, associate
from vidence.seeing.tracks import Detections, Track

_VERSION: Final = 1


def class_list(text: str) -> tuple[str, ...]:
    """Names of classes with a comma between them; ``all`` for every class."""
    names = tuple(name.strip() for name in text.split(",") if name.strip())
    if not names:
        raise ValueError("expected names of classes with a comma between them, or all")
    return () if names == ("all",) else names


READERS: Final[Mapping[str, Callable[[str], object]]] = {
    "high": share,
    "high_iou": share,
    "low_iou": share,
    "last_iou": share,
    "max_age": whole(1),
    "n_init": whole(1),
    "place": number(0.0),
    "most_distance": number(0.0),
    "alike": number(0.0),
    "clear_by": number(0.0),
    "gallery": whole(1),
    "classes": class_list,
}


class Associating:
    """A tracker made of `association.associate`; `describer` is the spec of its vectors, or empty."""

    def __init__(self, name: str, settings: AssociationSettings, *, describer: str = "") -> None:
        self.describer = describer
        self.settings = settings
        self.classes = settings.classes
        self.identity = f"{name}/{_VERSION} {settings!r}"

    def track(
        self,
        detections: Detections,
        *,
        frame_indices: Sequence[int],
        fps: float,
        vectors: NDArray[np.float32] | None = None,
    ) -> tuple[Track, ...]:
        """The tracks, in the order of their first box."""
        return associate(detections, self.settings, frame_indices=frame_indices, vectors=vectors)


def read_settings(
    owner: str, options: Mapping[str, str], *, without: Sequence[str] = ()
) -> AssociationSettings:
    """The settings that these options ask for.

    Raises:
        UsageError: an option that is not known, or a value that cannot be read.
    """
    known = {key: read for key, read in READERS.items() if key not in without}
    return msgspec.convert(take_options(owner, options, known), AssociationSettings)
