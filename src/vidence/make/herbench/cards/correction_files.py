"""Files in which people give the shots of videos."""

from collections.abc import Collection
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from vidence.ask.files import FieldError
from vidence.make.review.people.rows import ShotSpanRow, columns, each_row, is_about
from vidence.seeing.shooting import Shot, timed
from vidence.seeing.tracks import Span

SHOT_COLUMNS: Final = columns(ShotSpanRow)


def read_shots(
    path: Path, video_id: str, *, times_s: NDArray[np.float64], others: Collection[str] | None = ()
) -> tuple[Shot, ...] | None:
    """The shots of a video as people corrected them; None if the file has no line on the video.

    A shot is named by its frames, by its times, or by both, which must then agree to half a frame. A cut is
    moved by other numbers, added by another line, removed by making one line of two. Frames between two
    shots are in none.

    Args:
        path: a CSV file with the columns `SHOT_COLUMNS`.
        video_id: the video.
        times_s: the times of its frames, shape (n_frames,).
        others: the other videos that the file may speak of; None for any.

    Raises:
        DataError: as for `each_row`; lines cannot be used: outside the video, the last frame
            before the first, two shots that overlap, frames and times that disagree. Each is named.
    """
    spans: dict[str, Span] = {}
    step_s = float(np.median(np.diff(times_s))) if len(times_s) > 1 else 1.0
    ends_s = np.append(times_s[1:], times_s[-1] + step_s)

    def take(row: ShotSpanRow) -> None:
        if not is_about(row, video_id, others=others):
            return
        span = _span(row, times_s=times_s, ends_s=ends_s)
        for where, other in spans.items():
            if span.first_frame <= other.last_frame and other.first_frame <= span.last_frame:
                raise FieldError(
                    "first_frame",
                    f"the shot has frames {span.first_frame} to {span.last_frame}, and that of {where} "
                    f"has {other.first_frame} to {other.last_frame}; expected no overlap",
                )
        spans[row.where] = span

    each_row(path, ShotSpanRow, take)
    return timed(sorted(spans.values(), key=lambda span: span.first_frame), times_s) if spans else None


def _span(row: ShotSpanRow, *, times_s: NDArray[np.float64], ends_s: NDArray[np.float64]) -> Span:
    first = _bound(row, "first_frame", "start_s", moments_s=times_s)
    last = _bound(row, "last_frame", "end_s", moments_s=ends_s)
    clear = _number(row, "clear_frame", most=len(times_s) - 1)
    if last < first:
        raise FieldError("last_frame", f"{last} is before the first frame {first}")
    if clear is not None and not first <= clear <= last:
        raise FieldError(
            "clear_frame",
            f"{clear} found; expected {first} to {last}: the first frame that shows nothing but this shot",
        )
    return Span(first_frame=first, last_frame=last, n_mixed=0 if clear is None else clear - first)


def _bound(row: ShotSpanRow, frames: str, seconds: str, *, moments_s: NDArray[np.float64]) -> int:
    """Return the frame of a shot boundary given by number, time, or both."""
    index = _number(row, frames, most=len(moments_s) - 1)
    bound = getattr(row, seconds)
    if not bound:
        if index is None:
            raise FieldError(frames, f"neither {frames} nor {seconds} is there; expected one of them")
        return index
    try:
        time_s = float(bound)
    except ValueError:
        time_s = float("nan")
    step_s = float(np.median(np.diff(moments_s))) if len(moments_s) > 1 else 1.0
    if not moments_s[0] - step_s <= time_s <= moments_s[-1] + step_s:
        raise FieldError(
            seconds, f"{bound!r} found; expected seconds from {moments_s[0]:.3f} to {moments_s[-1]:.3f}"
        )
    near = int(np.abs(moments_s - time_s).argmin())
    if index is not None and abs(float(moments_s[index]) - time_s) > step_s / 2 + 0.0015:
        raise FieldError(
            seconds,
            f"{bound} s is at frame {near}, but {frames} is {index} ({moments_s[index]:.3f} s); correct one, "
            "or leave its cell empty",
        )
    return near if index is None else index


def _number(row: ShotSpanRow, name: str, *, most: int) -> int | None:
    number = getattr(row, name)
    if not number:
        return None
    if not number.isdecimal() or int(number) > most:
        raise FieldError(name, f"{number!r} found; expected a frame from 0 to {most}")
    return int(number)
