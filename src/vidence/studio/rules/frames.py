"""The frames of a video on the clock of a browser: a table of presentation times, packed for the way."""

from collections.abc import Sequence
from fractions import Fraction
from itertools import chain, groupby, pairwise

from vidence.records import Record


class PackedTable(Record):
    """When each frame of a video is presented, as it travels: runs of equal steps between neighbours.

    `time_base` is a tick in seconds as numerator and denominator, `first` the time of frame 0 in ticks,
    `runs` are step, count, step, count... in ticks; `offset_s` is the time of frame 0 on the clock of a
    browser: Chromium keeps the file's own, so that it is above 0 where sound begins earlier, or where the
    file was cut out of another.
    """

    n_frames: int
    time_base: tuple[int, int]
    first: int
    offset_s: float
    runs: tuple[int, ...]


def pack(pts: Sequence[int], *, time_base: Fraction, offset_s: float = 0.0) -> PackedTable:
    """The table of some frames for the way to a browser.

    >>> pack((7, 10, 13, 15), time_base=Fraction(1, 30)).runs
    (3, 2, 2, 1)

    Args:
        pts: when each is presented, in ticks as the file has them, at least one.
        time_base: how many seconds a tick takes.
        offset_s: the time of frame 0 on the clock of a browser.

    Raises:
        ValueError: the times do not ascend strictly, or a tick takes no time.
    """
    steps = [after - before for before, after in pairwise(pts)]
    if not pts or min(steps, default=1) < 1:
        raise ValueError("a table of frames needs ascending times, at least one")
    if time_base <= 0:
        raise ValueError(f"a tick of {time_base} s is none; expected more than 0")
    runs = ((step, sum(1 for _ in group)) for step, group in groupby(steps))
    return PackedTable(
        n_frames=len(pts),
        time_base=(time_base.numerator, time_base.denominator),
        first=pts[0],
        offset_s=offset_s,
        runs=tuple(chain.from_iterable(runs)),
    )
