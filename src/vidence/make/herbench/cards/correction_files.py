"""Files in which people give the shots of videos."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from vidence.ask.files import DataFile, FieldError, csv_rows, read
from vidence.errors import DataError
from vidence.seeing.shooting import Shot, timed
from vidence.seeing.tracks import Span
from vidence.text import first_lines

SHOT_COLUMNS: Final = (
    *("video_id", "shot_id", "first_frame", "last_frame", "clear_frame", "start_s", "end_s", "note"),
)


@dataclass(frozen=True, kw_only=True)
class _Bounds:
    where: str
    span: Span


def read_shots(
    path: Path, video_id: str, *, times_s: NDArray[np.float64], others: Collection[str] | None = ()
) -> tuple[Shot, ...] | None:
    """The shots of a video as people corrected them; None where the file has no line on the video.

    A shot is named by its frames, by its times, or by both, which must then agree to half a frame. A cut is
    moved by other numbers, added by another line, removed by making one line of two. Frames between two
    shots are in none.

    Args:
        path: a CSV file with the columns `SHOT_COLUMNS`.
        video_id: the video.
        times_s: the times of its frames, shape (n_frames,).
        others: the other videos that the file may speak of; None for any.

    Raises:
        DataError: the file cannot be read, or lines of it cannot be used: outside the video, the last frame
            before the first, two shots that overlap, frames and times that disagree. Each is named.
    """
    found: list[_Bounds] = []
    step_s = float(np.median(np.diff(times_s))) if len(times_s) > 1 else 1.0
    ends_s = np.append(times_s[1:], times_s[-1] + step_s)

    def take(where: str, row: Mapping[str, str]) -> None:
        span = _span(row, times_s=times_s, ends_s=ends_s)
        for one in found:
            if span.first_frame <= one.span.last_frame and one.span.first_frame <= span.last_frame:
                raise FieldError(
                    "first_frame",
                    f"the shot has frames {span.first_frame} to {span.last_frame}, and that of {one.where} "
                    f"has {one.span.first_frame} to {one.span.last_frame}; expected no overlap",
                )
        found.append(_Bounds(where=where, span=span))

    file = read(path, what="corrections")
    each_row(file, take, known=SHOT_COLUMNS, video_id=video_id, others=others)
    spans = sorted((one.span for one in found), key=lambda span: span.first_frame)
    return timed(spans, times_s) if spans else None


def _span(row: Mapping[str, str], *, times_s: NDArray[np.float64], ends_s: NDArray[np.float64]) -> Span:
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


def _bound(row: Mapping[str, str], frames: str, seconds: str, *, moments_s: NDArray[np.float64]) -> int:
    """The frame at which a shot begins or ends, told by its number, by its time, or by both."""
    index = _number(row, frames, most=len(moments_s) - 1)
    said = row.get(seconds, "")
    if not said:
        if index is None:
            raise FieldError(frames, f"neither {frames} nor {seconds} is there; expected one of them")
        return index
    try:
        time_s = float(said)
    except ValueError:
        time_s = float("nan")
    step_s = float(np.median(np.diff(moments_s))) if len(moments_s) > 1 else 1.0
    if not moments_s[0] - step_s <= time_s <= moments_s[-1] + step_s:
        raise FieldError(
            seconds, f"{said!r} found; expected seconds from {moments_s[0]:.3f} to {moments_s[-1]:.3f}"
        )
    near = int(np.abs(moments_s - time_s).argmin())
    if index is not None and abs(float(moments_s[index]) - time_s) > step_s / 2 + 0.0015:
        raise FieldError(
            seconds,
            f"{said} s is at frame {near}, but {frames} is {index} ({moments_s[index]:.3f} s); correct one, "
            "or leave its cell empty",
        )
    return near if index is None else index


def _number(row: Mapping[str, str], name: str, *, most: int) -> int | None:
    said = row.get(name, "")
    if not said:
        return None
    if not said.isdecimal() or int(said) > most:
        raise FieldError(name, f"{said!r} found; expected a frame from 0 to {most}")
    return int(said)


def each_row(
    file: DataFile,
    take: Callable[[str, Mapping[str, str]], None],
    *,
    known: Sequence[str],
    needed: Sequence[str] = (),
    video_id: str,
    others: Collection[str] | None,
) -> None:
    """Have every line on one video taken.

    Args:
        file: the file.
        take: takes the place of a line, and the line; refuses it with a `FieldError`.
        known: its columns.
        needed: those that it must have.
        video_id: the video.
        others: the other videos that it may speak of; None for any.

    Raises:
        DataError: lines cannot be used; all that is wrong with them in one error.
    """
    faults: list[str] = []
    for line, row in csv_rows(file, needed=needed, known=known, delimiters=",;\t"):
        where = f"{file.path}:{line}"
        try:
            if isinstance(row, FieldError):
                raise row
            if _is_of(row.get("video_id", ""), video_id, others=others):
                take(where, row)
        except FieldError as fault:
            faults.append(f"{where}: {fault}")
    if faults:
        raise DataError(first_lines(faults))


def _is_of(said: str, video_id: str, *, others: Collection[str] | None) -> bool:
    """Whether a line is on a video; in the file of one video a line need not name it.

    Raises:
        FieldError: it names a video that the file does not speak of, or none in a file of several.
    """
    if said == video_id or (not said and others is not None and not others):
        return True
    if said and (others is None or said in others):
        return False
    known = ", ".join(sorted((video_id, *(others or ())))[:5])
    raise FieldError(
        "video_id", f"{said!r} found; expected {known}: the line is on another video, or on none"
    )
