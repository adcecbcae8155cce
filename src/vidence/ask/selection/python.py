"""A Python function as selector: ``python:FILE.py:NAME``, or ``FILE.py:NAME``.

It receives what its parameters name (``times_s``, ``n_frames``, ``question``, ...) and returns frame
positions, at most `n_frames`; they are shown in time order. A `contracts.Selector` is used directly.
"""

from typing import cast

import numpy as np
from numpy.typing import NDArray

from vidence.ask.functions import Call, FunctionSettings, FunctionSource, Offered, find, has_all
from vidence.ask.selection.uniform import check_budget
from vidence.contracts import Selector
from vidence.errors import UsageError
from vidence.media.clip import Clip
from vidence.records import Item

OFFERED: Offered = {
    "times_s": ("the time of every frame in seconds, an array", lambda clip, *_: clip.times_s.copy()),
    "n_frames": ("how many may be shown", lambda _clip, _item, n_frames: n_frames),
    "fps": ("frames per second", lambda clip, *_: clip.fps),
    "question": ("the words of the question", lambda _, item, __: item.question),
    "item": ("the question as a vidence.Item", lambda _, item, __: item),
    "clip": ("a vidence.media.clip.Clip", lambda clip, *_: clip),
}
RETURNS = "positions among the frames, counted from 0"

WANTED = ("version", "select")


class Settings(FunctionSettings):
    """Options of the selector."""


class FunctionSelector:
    """Distinct positions that a function returns."""

    budget = "at most"

    def __init__(self, result: FunctionSource) -> None:
        self._call = Call.of(result, "selector", offered=OFFERED, returns=RETURNS, attributes=WANTED)
        self.version = result.version

    def select(self, clip: Clip, item: Item, *, n_frames: int) -> NDArray[np.int64]:
        """Return positions in `clip`, in time order.

        Raises:
            UsageError: a budget below 1, or the function returns no such positions.
        """
        check_budget(n_frames)
        if clip.n_frames == 0:
            return np.empty(0, np.int64)
        returned = self._call(clip, item, n_frames)
        chosen = np.asarray(returned)
        if chosen.ndim != 1 or not (np.issubdtype(chosen.dtype, np.integer) or chosen.size == 0):
            raise UsageError(self._call.wrong(returned, expected=f"{RETURNS}, as whole numbers"))
        positions = np.unique(chosen).astype(np.int64)
        if len(chosen) > n_frames or len(positions) < len(chosen):
            raise UsageError(
                f"{self._call.owner} returned {len(chosen)} positions, {len(positions)} of them different; "
                f"expected {n_frames} at most, each once"
            )
        outside = positions[(positions < 0) | (positions >= clip.n_frames)]
        if len(outside):
            raise UsageError(
                f"{self._call.owner} returned position {outside[0]} of a clip with {clip.n_frames} frames; "
                f"expected 0 to {clip.n_frames - 1}"
            )
        return positions


def create(settings: Settings) -> Selector:
    """Create the selector of a function, or return the selector of that name."""
    result = find("selector", settings.function)
    return cast(Selector, result.thing) if has_all(result.thing, WANTED) else FunctionSelector(result)
