"""The frames of a video on the clock of a browser: a table of presentation times, packed for the way."""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import accumulate, chain, groupby, pairwise
from typing import Final, Self

from vidence.errors import UsageError
from vidence.records import Record

# What a lone frame lasts on screen where nothing says it.
_LONE_S: Final = Fraction(1, 25)


class PackedTable(Record):
    """A `FrameTable` as it travels: runs of equal steps between neighbours.

    `time_base` is a tick in seconds as numerator and denominator, `first` the time of frame 0 in ticks,
    `runs` are step, count, step, count... in ticks; `offset_s` is the time of frame 0 on the clock of a
    browser.
    """

    n_frames: int
    time_base: tuple[int, int]
    first: int
    offset_s: float
    runs: tuple[int, ...]


@dataclass(frozen=True, kw_only=True)
class FrameTable:
    """When each frame of a video is presented.

    Units: `pts` are ticks of `time_base` seconds as the file has them, strictly ascending, at least one.
    `offset_s` is the time of frame 0 on the clock of a browser: Chromium keeps the file's own, so that it is
    above 0 where sound begins earlier, or where the file was cut out of another.
    """

    pts: tuple[int, ...]
    time_base: Fraction
    offset_s: float = 0.0

    def __post_init__(self) -> None:
        if not self.pts or any(after <= before for before, after in pairwise(self.pts)):
            raise ValueError("a table of frames needs ascending times, at least one")
        if self.time_base <= 0:
            raise ValueError(f"a tick of {self.time_base} s is none; expected more than 0")

    @property
    def n_frames(self) -> int:
        """How many frames there are."""
        return len(self.pts)

    def time_s(self, index: int) -> float:
        """When a frame begins, in seconds from the first, as `vidence.media` counts them.

        Raises:
            UsageError: there is no such frame.
        """
        return float(self._from_first(index))

    def middle_s(self, index: int) -> float:
        """The middle of the time that a frame is on screen, on the clock of a browser.

        A browser that is sent there shows this frame, however it rounds; at its very beginning it may show
        the one before.

        Raises:
            UsageError: there is no such frame.
        """
        begin = self._from_first(index)
        return self.offset_s + float((begin + self._end(index)) / 2)

    def index_at(self, browser_s: float) -> int:
        """The frame on screen at a time of the browser's clock; before all the first, after all the last."""
        # The printed time of a frame is rounded; without this it could miss its frame.
        ticks = (browser_s - self.offset_s + 1e-9) / float(self.time_base) + self.pts[0]
        return max(bisect_right(self.pts, ticks) - 1, 0)

    def painted(self, media_time_s: float) -> int | None:
        """The frame whose own time a browser reports as painted; None where no frame has that time.

        Reported times are rounded, to microseconds or to the ticks of a container; a frame is taken where
        it is nearer than a quarter of the time to its neighbours.
        """
        ticks = (media_time_s - self.offset_s) / float(self.time_base) + self.pts[0]
        behind = min(bisect_right(self.pts, ticks), self.n_frames - 1)
        index = min((max(behind - 1, 0), behind), key=lambda one: abs(self.pts[one] - ticks))
        is_near = abs(self.pts[index] - ticks) < self._nearest_step(index) / 4
        return index if is_near else None

    def pack(self) -> PackedTable:
        """The table for the way to a browser."""
        runs = ((step, sum(1 for _ in group)) for step, group in groupby(self._steps))
        return PackedTable(
            n_frames=self.n_frames,
            time_base=(self.time_base.numerator, self.time_base.denominator),
            first=self.pts[0],
            offset_s=self.offset_s,
            runs=tuple(chain.from_iterable(runs)),
        )

    @classmethod
    def unpack(cls, packed: PackedTable) -> Self:
        """The table that was packed.

        Raises:
            UsageError: the runs do not make so many frames.
        """
        runs = packed.runs
        if len(runs) % 2 or 1 + sum(runs[1::2]) != packed.n_frames:
            raise UsageError(f"{len(runs)} numbers of runs do not make {packed.n_frames} frames")
        steps = chain.from_iterable([step] * n for step, n in zip(runs[::2], runs[1::2], strict=True))
        return cls(
            pts=tuple(accumulate(chain((packed.first,), steps))),
            time_base=Fraction(*packed.time_base),
            offset_s=packed.offset_s,
        )

    @cached_property
    def _steps(self) -> Sequence[int]:
        return [after - before for before, after in pairwise(self.pts)]

    def _check(self, index: int) -> None:
        if not 0 <= index < self.n_frames:
            raise UsageError(f"there is no frame {index}; there are {self.n_frames}, counted from 0")

    def _from_first(self, index: int) -> Fraction:
        self._check(index)
        return (self.pts[index] - self.pts[0]) * self.time_base

    def _end(self, index: int) -> Fraction:
        """When the next frame begins; the last one is taken to last as long as the one before it."""
        if index + 1 < self.n_frames:
            return self._from_first(index + 1)
        last_s = self._steps[-1] * self.time_base if self._steps else _LONE_S
        return self._from_first(index) + last_s

    def _nearest_step(self, index: int) -> float:
        beside = self._steps[max(index - 1, 0) : index + 1]
        return min(beside, default=float(_LONE_S / self.time_base))
