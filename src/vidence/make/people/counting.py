"""What counters agree on: one number, or a range, for each place and window of a video."""

from collections.abc import Sequence

from vidence.make.people.checks import check_of_video
from vidence.make.people.rows import CountRow
from vidence.make.people.track_acts import Unused
from vidence.make.pipeline.material import PersonCount


def agreed_counts(
    rows: Sequence[CountRow], *, sha256: str, n_frames: int
) -> tuple[tuple[PersonCount, ...], tuple[Unused, ...]]:
    """The counts of a video, in the order of their first rows, and the rows that are not used.

    Where several counted the same, the range reaches from the least to the most that any of them holds
    possible; where their ranges do not meet, nothing is known, and all of their rows are named.

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
    for (_, place), mine in by_place.items():
        if max(row.n_low for row in mine) > min(row.n_high for row in mine):
            said = "; ".join(map(_said, mine))
            unused += [Unused(where=row.where, why=f"counters disagree: {said}") for row in mine]
            continue
        first = mine[0]
        numbers = sorted(row.n for row in mine)
        counts.append(
            PersonCount(
                place=place,
                window=first.span,
                n=numbers[len(numbers) // 2],
                n_low=min(row.n_low for row in mine),
                n_high=max(row.n_high for row in mine),
                frames=max((row.frames for row in mine), key=len),
                counters=tuple(map(_said, mine)),
            )
        )
    return tuple(counts), tuple(unused)


def _said(row: CountRow) -> str:
    return f"{row.counter} {row.n} ({row.n_low} to {row.n_high})"
