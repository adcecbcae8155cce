"""Agreed counts: one number, or a range, per place and window of a video."""

from collections.abc import Sequence
from dataclasses import dataclass

from vidence.make.pipeline.material import PersonCount
from vidence.make.review.people.checks import check_of_video
from vidence.make.review.people.rows import CountRow, Unused

AGREED = "agreed"


@dataclass(frozen=True, kw_only=True)
class Settled:
    """The result of the agreement rows about one place and window.

    `row` is the number that all counters agreed on, None if they have not; `open_rows` are rows that say
    nothing yet, and `why`.
    """

    row: CountRow | None = None
    open_rows: tuple[CountRow, ...] = ()
    why: str = ""


def agreed_counts(
    rows: Sequence[CountRow], *, sha256: str, n_frames: int
) -> tuple[tuple[PersonCount, ...], tuple[Unused, ...]]:
    """Return a video's counts in the order of their first rows, and the unused rows.

    What counters agreed on when they had looked at their difference goes before all that they counted alone.
    Otherwise, where several counted the same, the range reaches from the least to the most that any of them
    holds possible; where their ranges do not meet, nothing is known, and all of their rows are named.

    Args:
        rows: the rows of the video.
        sha256: of its file, as they were counted in.
        n_frames: how many frames it has.
    """
    unused: list[Unused] = []
    by_place: dict[tuple[str, str], list[CountRow]] = {}
    for row in rows:
        span = row.span
        if row.check != check_of_video(sha256):
            unused.append(Unused(where=row.where, why="the video has changed since; count again"))
        elif span is not None and span[1] >= n_frames:
            unused.append(Unused(where=row.where, why=f"the video has {n_frames} frames"))
        else:
            by_place.setdefault((row.window, row.place), []).append(row)
    counts: list[PersonCount] = []
    for both in by_place.values():
        mine = [row for row in both if not row.agreed]
        settled = settle(both)
        unused += [Unused(where=row.where, why=settled.why) for row in settled.open_rows]
        if settled.row is not None:
            counts.append(_agreed(settled.row, mine))
        elif mine and max(row.n_low for row in mine) > min(row.n_high for row in mine):
            agreed_counts = "; ".join(map(_said, mine))
            unused += [Unused(where=row.where, why=f"counters disagree: {agreed_counts}") for row in mine]
        elif mine:
            counts.append(_together(mine))
    return tuple(counts), tuple(unused)


def settle(rows: Sequence[CountRow]) -> Settled:
    """Determine whether the counters of one place and window agreed afterwards, each by their own row.

    They agreed where every one of them has said the same number and range, and all who counted are named.

    Args:
        rows: all rows about it, those without `agreed` among them.
    """
    counters = {row.counter for row in rows if not row.agreed}
    later = [row for row in rows if row.agreed]
    if not later:
        return Settled()
    now = [row for row in later if set(row.agreed) == counters]
    if not now:
        return Settled(open_rows=tuple(later), why="others have counted, or taken back, since they agreed")
    values = {row.counter: (row.n, row.n_low, row.n_high) for row in now}
    if waiting := sorted(counters - set(values)):
        return Settled(open_rows=tuple(later), why=f"{', '.join(waiting)} has not agreed yet")
    if len(set(values.values())) > 1:
        words = "; ".join(map(_said, now))
        return Settled(open_rows=tuple(later), why=f"they say different numbers: {words}")
    return Settled(row=max(now, key=lambda row: len(row.frames) == row.n))


def _agreed(row: CountRow, mine: Sequence[CountRow]) -> PersonCount:
    """Return the agreed number; its moments are those of a counter with that number."""
    exact = [r.frames for r in (row, *mine) if r.frames and len(r.frames) == row.n]
    most = max((count_row.frames for count_row in (row, *mine)), key=len)
    return PersonCount(
        place=row.place,
        window=row.span,
        n=row.n,
        n_low=row.n_low,
        n_high=row.n_high,
        frames=exact[0] if exact else most,
        counters=(*map(_said, mine), f"{AGREED} {row.n} ({row.n_low} to {row.n_high})"),
    )


def _together(mine: Sequence[CountRow]) -> PersonCount:
    """Return the range that covers what each counter considers possible."""
    numbers = sorted(row.n for row in mine)
    return PersonCount(
        place=mine[0].place,
        window=mine[0].span,
        n=numbers[len(numbers) // 2],
        n_low=min(row.n_low for row in mine),
        n_high=max(row.n_high for row in mine),
        frames=max((row.frames for row in mine), key=len),
        counters=tuple(map(_said, mine)),
    )


def _said(row: CountRow) -> str:
    return f"{row.counter} {row.n} ({row.n_low} to {row.n_high})"
