"""Files in which people correct tracks and shots: the templates that they fill, and how they are read."""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import msgspec
import numpy as np
from numpy.typing import NDArray

from vidence.ask.files import DataFile, FieldError, csv_rows, read
from vidence.errors import DataError
from vidence.make.pipeline.cache import digest_of
from vidence.seeing.corrections import TrackVerdict
from vidence.seeing.shooting import Shot, timed
from vidence.seeing.tracks import Span
from vidence.text import first_lines

EVERYBODY, ALL = "everybody", "all"
TRACK_COLUMNS: Final = (
    *("video_id", "track_id", "check", "picked", "first_frame", "last_frame", "first_s", "last_s"),
    *("begins", "ends", "verdict", "note"),
)
SHOT_COLUMNS: Final = (
    *("video_id", "shot_id", "first_frame", "last_frame", "clear_frame", "start_s", "end_s", "note"),
)
VERDICTS: Final = "ok, phantom, drop, switch@FRAME or merge:TRACK"
_SWITCH: Final = re.compile(r"switch\s*@\s*(\d+(?:\s*[,;]\s*\d+)*)", re.IGNORECASE)
_MERGE: Final = re.compile(r"merge\s*:\s*(\S.*)", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True)
class Verdicts:
    """What people said of the tracks of one video; `all_at` is the line that says that nobody is missing."""

    verdicts: tuple[TrackVerdict, ...] = ()
    all_at: str = ""
    n_open: int = 0
    """Lines without a verdict."""

    @property
    def digest(self) -> str:
        """The same for the same words, wherever they stand."""
        said = [msgspec.structs.replace(one, where="") for one in self.verdicts]
        return digest_of([said, bool(self.all_at)])


NO_VERDICTS: Final = Verdicts()


def read_verdicts(path: Path, video_id: str, *, others: Collection[str] | None = ()) -> Verdicts:
    """The verdicts on the tracks of a video. A line without one is counted and says nothing.

    Args:
        path: a CSV file with the columns `TRACK_COLUMNS`, of which ``track_id`` and ``verdict`` are needed.
        video_id: the video.
        others: the other videos that the file may speak of; None for any.

    Raises:
        DataError: the file cannot be read, has an unknown column, or lines that cannot be used, each named.
    """
    verdicts: list[TrackVerdict] = []
    all_at, n_open = "", 0

    def take(where: str, row: Mapping[str, str]) -> None:
        nonlocal all_at, n_open
        track_id, said = row["track_id"], row["verdict"]
        if not said:
            n_open += track_id != EVERYBODY
        elif track_id == EVERYBODY:
            if said.casefold() != ALL:
                raise FieldError(
                    "verdict", f"{said!r} for {EVERYBODY}; expected {ALL} (nobody is missing) or nothing"
                )
            all_at = where
        else:
            verdicts.append(_verdict(row, where))

    needed = ("track_id", "verdict")
    file = read(path, what="corrections")
    each_row(file, take, known=TRACK_COLUMNS, needed=needed, video_id=video_id, others=others)
    return Verdicts(verdicts=tuple(verdicts), all_at=all_at, n_open=n_open)


def _verdict(row: Mapping[str, str], where: str) -> TrackVerdict:
    track_id, said, check = row["track_id"], row["verdict"], row.get("check", "")
    if not track_id:
        raise FieldError("track_id", f"nothing before the verdict {said!r}; expected the id of a track")
    match said.casefold():
        case "ok" | "phantom" | "drop" as plain:
            return TrackVerdict(track_id=track_id, verdict=plain, check=check, where=where)
        case _:
            pass
    if found := _SWITCH.fullmatch(said):
        frames = tuple(int(at) for at in re.split(r"\s*[,;]\s*", found[1]))
        return TrackVerdict(track_id=track_id, verdict="switch", at_frames=frames, check=check, where=where)
    if found := _MERGE.fullmatch(said):
        into = found[1].strip()
        return TrackVerdict(track_id=track_id, verdict="merge", into=into, check=check, where=where)
    raise FieldError("verdict", f"{said!r} on the track {track_id}; expected {VERDICTS}, or nothing")


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
