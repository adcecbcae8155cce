"""Detect cuts by how much the frame changes; needs no network and no torch.

content
content?ratio=4
"""

from typing import Annotated, Final

import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from vidence.media.encode import Size
from vidence.seeing.shooting import ShotScores, spans_between
from vidence.seeing.shots.dissolves import DissolveMeter
from vidence.seeing.shots.jumps import CutRule, JumpMeter, small
from vidence.seeing.tracks import Span

NAME: Final = "content"
VERSION: Final = 2
# So many frames may lie between a fade and the cut or the blank frames that it leads to.
_REACH: Final = 8


class Settings(CutRule):
    """Options of the detector."""

    dissolves: Annotated[bool, Meta(description="also detect dissolves")] = True


class Content:
    """A `ShotDetector` that compares neighbouring frames.

    A cut is a jump that stands out from the two before it and the two behind it, where what moves a little
    does not count (see `CutRule`). Frames that show nothing are in no shot, so that a fade through black or
    white parts two shots. Dissolves are found where the pictures on both sides are still enough (see
    `DissolveMeter`); ``transnetv2`` finds more of them.

    Source: none. HERBench uses TransNetV2 (section 7.4) and nothing without a network.
    Departs: no network looks at the frames.
    """

    size = Size(kind="short", pixels=54)

    def __init__(self, settings: Settings) -> None:
        self._settings = cut = settings
        rule = f"ratio {cut.ratio:g} least {cut.least:g} window {cut.window} blank {cut.blank:g}"
        self.identity = f"{NAME}-{VERSION} jumps {rule}{' dissolves' if cut.dissolves else ''}"

    def watch(self) -> "_JumpWatch":
        """Start with a new video."""
        return _JumpWatch(self._settings)


class _JumpWatch:
    def __init__(self, rule: Settings) -> None:
        self._rule = rule
        self._meter = JumpMeter()
        self._dissolves = DissolveMeter() if rule.dissolves else None

    def see(self, picture: NDArray[np.uint8]) -> None:
        """Look at the next frame."""
        cells = small(picture)
        self._meter.see(cells)
        if self._dissolves is not None:
            self._dissolves.see(cells)

    def spans(self) -> tuple[Span, ...]:
        """The shots of all frames that were seen."""
        hard = [*self._meter.cuts(self._rule), *self._meter.blanks(self._rule)]
        slow = [] if self._dissolves is None else self._dissolves.gaps()
        # A dissolve beside a cut or blank frames is the fade there.
        slow = [gap for gap in slow if not any(gap.is_near(entry, reach=_REACH) for entry in hard)]
        return spans_between([*hard, *slow], n_frames=len(self._meter.jumps))

    def scores(self) -> ShotScores:
        """The jumps to all frames that were seen."""
        return ShotScores(
            values=self._meter.jumps.astype(np.float32),
            least=self._rule.least,
            what=f"jump from the frame before, 0 to 1; a cut is {self._rule.ratio:g} times those around it",
        )


def create(settings: Settings) -> Content:
    """Shots by how much the picture changes."""
    return Content(settings)
