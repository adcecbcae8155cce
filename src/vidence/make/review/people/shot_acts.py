"""Apply people's rows about cuts to the shots of a detector."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from vidence.make.review.people.checks import check_of_shots
from vidence.make.review.people.rows import Act, ShotRow, Unused
from vidence.seeing.shooting import Shot, timed
from vidence.seeing.tracks import Span


@dataclass(frozen=True, kw_only=True)
class ShotsByPeople:
    """The shots of a video behind the rows about it: `used` are the rows that count, `unused` the others."""

    shots: tuple[Shot, ...]
    used: tuple[ShotRow, ...] = ()
    unused: tuple[Unused, ...] = ()


def apply_shots(
    shots: Sequence[Shot], rows: Sequence[ShotRow], *, times_s: NDArray[np.float64]
) -> ShotsByPeople:
    """The shots of a video as people leave them: each row in its turn, on what those before it left.

    A row counts where its `check` is that of the shots around its frames as the detector found them, or as
    the rows before left them.

    Args:
        shots: what the detector found.
        rows: those of the video, in the order in which they were given.
        times_s: the times of its frames, shape (n_frames,).
    """
    now = tuple(shots)
    used: list[ShotRow] = []
    unused: list[Unused] = []
    for row in rows:
        act = row.parsed
        why = _why_not(row, act, seen=(now, shots), n_frames=len(times_s))
        spans = [] if why else _done(act, [shot.frames for shot in now])
        if not spans:
            unused.append(Unused(where=row.where, why=why or _in_vain(act)))
            continue
        now = timed(spans, times_s)
        used.append(row)
    return ShotsByPeople(shots=now, used=tuple(used), unused=tuple(unused))


def _why_not(row: ShotRow, act: Act, *, seen: Sequence[Sequence[Shot]], n_frames: int) -> str:
    """Why a row says nothing of these shots; empty where it does."""
    if act.last >= n_frames:
        return f"the video has {n_frames} frames, the last one is {n_frames - 1}"
    if row.check not in [check_of_shots(shots, act) for shots in seen]:
        return f"the shots at frame {act.first} have changed since; look at them again"
    return ""


def _in_vain(act: Act) -> str:
    """Why an act changes nothing."""
    match act.name:
        case "cut-at":
            return f"no shot goes across frame {act.first}: one begins there, or it is in none"
        case "no-cut-at":
            return f"no shot but the first begins with frame {act.first}"
        case _:
            return (
                f"the frames {act.first} to {act.last} leave no shot before or behind them, or a whole one "
                "lies in them"
            )


def _done(act: Act, spans: list[Span]) -> list[Span]:
    """The spans behind an act; none where it changes nothing."""
    match act.name:
        case "cut-at":
            return _cut(spans, act.first)
        case "no-cut-at":
            return _joined(spans, act.first)
        case _:
            return _mixed(spans, act.first, act.last)


def _cut(spans: list[Span], at: int) -> list[Span]:
    place = next((i for i, span in enumerate(spans) if span.first_frame < at <= span.last_frame), None)
    if place is None:
        return []
    whole = spans[place]
    before = Span(
        first_frame=whole.first_frame,
        last_frame=at - 1,
        n_mixed=min(whole.n_mixed, at - 1 - whole.first_frame),
    )
    behind = Span(first_frame=at, last_frame=whole.last_frame, n_mixed=max(0, whole.clear_frame - at))
    return [*spans[:place], before, behind, *spans[place + 1 :]]


def _joined(spans: list[Span], at: int) -> list[Span]:
    place = next((i for i, span in enumerate(spans) if i and span.first_frame == at), None)
    if place is None:
        return []
    whole = replace(spans[place - 1], last_frame=spans[place].last_frame)
    return [*spans[: place - 1], whole, *spans[place + 1 :]]


def _mixed(spans: list[Span], first: int, last: int) -> list[Span]:
    """Return one cut at `first`, whose shot starts pure after `last`; cuts in between are removed."""
    before = [span for span in spans if span.first_frame < first]
    behind = [span for span in spans if span.last_frame > last]
    if (
        not before
        or not behind
        or any(first <= span.first_frame and span.last_frame <= last for span in spans)
    ):
        return []
    early, late = before[-1], behind[0]
    ends = replace(early, last_frame=first - 1, n_mixed=min(early.n_mixed, first - 1 - early.first_frame))
    begins = Span(first_frame=first, last_frame=late.last_frame, n_mixed=last - first + 1)
    return [*before[:-1], ends, begins, *behind[1:]]
