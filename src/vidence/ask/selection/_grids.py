"""Frames to score: ``herbench-2fps``, ``aks-1fps``, ``bolt-1fps``, ``fps:X``, ``uniform:N`` or ``all``.

A question about several media takes the frames of each on their own. A medium for which a rule gives
nothing (it is shorter than one step) gives its first frame, where the released code gives none.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vidence.ask.selection import _candidates, _rules
from vidence.ask.selection.fps import nearest_to_grid
from vidence.media.clip import Clip

# From presentation times in seconds, shape (n,), and frames per second to positions.
_Rule = Callable[[NDArray[np.float64], float], _rules.Positions]

_NAMED: dict[str, _Rule] = {
    "herbench-2fps": lambda times_s, fps: _candidates.herbench_blip_2fps(len(times_s), fps),
    "aks-1fps": lambda times_s, fps: _candidates.aks_1fps(len(times_s), fps),
    "bolt-1fps": lambda times_s, fps: _candidates.bolt(len(times_s), fps, rate=1),
    "all": lambda times_s, fps: np.arange(len(times_s), dtype=np.int64),
}


@dataclass(frozen=True, kw_only=True)
class Grid:
    """A rule for candidates, as the user named it."""

    name: str
    rule: _Rule

    def positions(self, clip: Clip) -> _rules.Positions:
        """Positions in `clip`, ascending, shape (n_candidates,); BOLT's rule may repeat one.

        Raises:
            UsageError: the rule cannot take this frame rate.
        """
        if not clip.n_frames:
            return np.empty(0, np.int64)
        starts = np.flatnonzero(np.diff(clip.media_indices, prepend=-1))
        ends = np.append(starts[1:], clip.n_frames)
        parts = [
            a + self._of_medium(clip.times_s[a:b], clip.fps if len(starts) == 1 else 0.0)
            for a, b in zip(starts, ends, strict=True)
        ]
        return np.concatenate(parts).astype(np.int64)

    def _of_medium(self, times_s: NDArray[np.float64], fps: float) -> _rules.Positions:
        lasting_s = float(times_s[-1] - times_s[0])
        if lasting_s <= 0:
            return np.zeros(1, np.int64)
        found = self.rule(times_s, fps if fps > 0 else (len(times_s) - 1) / lasting_s)
        return found if len(found) else np.zeros(1, np.int64)


def grid(text: str) -> Grid:
    """The rule of that name.

    Raises:
        ValueError: there is none; the message lists them.
    """
    if text in _NAMED:
        return Grid(name=text, rule=_NAMED[text])
    kind, _, number = text.partition(":")
    if kind == "fps" and 0 < (rate := float(number)) < np.inf:
        return Grid(name=text, rule=lambda times_s, fps: nearest_to_grid(times_s, rate))
    if kind == "uniform" and (n := int(number)) > 0:
        return Grid(name=text, rule=lambda times_s, fps: _rules.strided(len(times_s), n))
    raise ValueError(f"expected one of {', '.join(_NAMED)}, fps:X or uniform:N, with X and N above 0")
