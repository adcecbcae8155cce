"""The board of counts: agreement of counters, and the people that each counted."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class PersonCount:
    """What one counter says: `n`, surely between `n_low` and `n_high`, each at one of `frames`."""

    counter: str
    n: int
    n_low: int
    n_high: int
    frames: tuple[int, ...] = ()


def agreement(counts: Sequence[PersonCount]) -> str:
    """In words how far counters of the same window and place agree.

    >>> one = PersonCount(counter="a", n=5, n_low=5, n_high=6)
    >>> agreement([one, PersonCount(counter="b", n=6, n_low=6, n_high=6)])
    'they differ by 1, and both ranges hold 6'
    """
    if len(counts) < 2:
        return "counted once; a second counter has not counted yet"
    low, high = max(one.n_low for one in counts), min(one.n_high for one in counts)
    numbers = [one.n for one in counts]
    apart = max(numbers) - min(numbers)
    both = "both" if len(counts) == 2 else "all"
    if apart == 0:
        return f"{both} counted {numbers[0]}"
    if low > high:
        return f"they differ by {apart}, and no number is in {both} ranges: look again together"
    shared = str(low) if low == high else f"{low} to {high}"
    return f"they differ by {apart}, and {both} ranges hold {shared}"


# --------------------------------------------------------------------------- who was counted by whom


@dataclass(frozen=True, kw_only=True)
class Moment:
    """Somebody who was counted: the first frame at which one of `counters` did, and who did not."""

    frame: int
    counters: tuple[str, ...]
    missed_by: tuple[str, ...]


def moments(counts: Sequence[PersonCount], *, within: int) -> tuple[Moment, ...]:
    """The people whom counters noted, in the order of time, with those who noted each.

    Counters press the key at slightly different frames: what different counters noted `within` so many
    frames is taken for one person. The same counter noted two people at two times, however near.

    Args:
        counts: of the same window and place; those without frames noted nobody, and miss nobody.
        within: how many frames two notes of one person may lie apart.
    """
    noted = {one.counter for one in counts if one.frames}
    groups: list[tuple[int, list[str]]] = []
    for frame, counter in sorted((frame, one.counter) for one in counts for frame in one.frames):
        near = (by for first, by in groups if frame - first <= within and counter not in by)
        by = next(near, None)
        if by is None:
            groups.append((frame, [counter]))
        else:
            by.append(counter)
    return tuple(
        Moment(frame=frame, counters=tuple(by), missed_by=tuple(sorted(noted - set(by))))
        for frame, by in groups
    )
