"""Tracks given in a file, such as ground truth; nothing is detected, merged or dropped.

mot:gt.txt                          MOTChallenge with identities: ground truth with classes, or ten columns
mot:gt.txt?size=1920x1080&fps=7     measured in another size of the video, at another frame rate
mot:gt.txt?visibility=0.2           boxes less visible than that are left out
"""

import hashlib
import math
import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, ClassVar, Final

import msgspec
import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from vidence.catalog import FilePath, parse_spec, read_settings
from vidence.errors import DataError, UsageError
from vidence.media.video import Video
from vidence.records import Record
from vidence.seeing.boxes import clip
from vidence.seeing.cleaning import fill_gaps
from vidence.seeing.quality import check_once
from vidence.seeing.track_files import MOT_CLASSES, MotRows, frames_by_number, read_mot, rows_of, scale_to
from vidence.seeing.tracks import PERSON, DroppedTrack, Track, TrackBasis

STAGE: Final = "given"
_VERSION: Final = 1
_FORMAT: Final = "mot"
_PERSON_ID: Final = 1
# People in MOT16, too, whom its ground truth does not ask for: on a bicycle, or sitting.
_OTHER_PEOPLE: Final = (2, 7)
_NO_ID: Final = -1
_OUTSIDE: Final = 0.05  # share of boxes with their middle outside of the picture that are still taken for it
_ENDS_EARLY: Final = 0.8


class GivenSettings(Record):
    """Options of a file of tracks."""

    positional: ClassVar[str] = "path"
    path: Annotated[FilePath, Meta(description="tracks in the format of MOTChallenge")]
    size: Annotated[
        str, Meta(description="WIDTHxHEIGHT that boxes were measured in (empty: the video's)")
    ] = ""
    fps: Annotated[float, Meta(ge=0, description="rate that frame numbers count in (0: the video's)")] = 0.0
    visibility: Annotated[
        float, Meta(ge=0, le=1, description="minimum visibility of a box, if the file gives it")
    ] = 0.0

    def __post_init__(self) -> None:
        if self.size and not re.fullmatch(r"[1-9]\d*x[1-9]\d*", self.size):
            raise UsageError(f"size={self.size!r}: expected WIDTHxHEIGHT in pixels, such as 768x576")


@dataclass(frozen=True, kw_only=True)
class InVideo:
    """The tracks of a file in one video.

    `tracks` are the people that are to be considered, `others` people in the file that are not, `dropped`
    why not. `notes` are what a person should know, such as that the tracks end long before the video.
    """

    tracks: tuple[Track, ...]
    others: tuple[Track, ...] = ()
    dropped: tuple[DroppedTrack, ...] = ()
    notes: tuple[str, ...] = ()


class GivenTracks:
    """The tracks of a file.

    Gaps stay gaps, but for those between two frames that were annotated one by one where not every
    frame of the video was: there boxes are filled in on a straight line.

    Source: HERBench, section 7.1, has tracks found and then validated by people; these are given.
    """

    def __init__(self, settings: GivenSettings) -> None:
        self._settings = settings
        self._path = Path(settings.path)
        self._rows = read_mot(self._path)
        self._check()
        apart = msgspec.structs.replace(settings, path="")
        digest = hashlib.sha256(self._path.read_bytes()).hexdigest()
        self.identity = f"given/{_VERSION} {_FORMAT} {digest} {apart!r}"

    @property
    def basis(self) -> TrackBasis:
        """What tracks of this file rest on."""
        return TrackBasis(kind="given", detector=f"{_FORMAT}:{self._path.name}")

    @property
    def rows(self) -> MotRows:
        """The rows of people to be considered, unchanged."""
        return self._rows.part(self._wanted(self._rows))

    def rows_in(self, video: Video) -> MotRows:
        """Return the rows in frames and pixels of a video.

        Raises:
            DataError: as `of`.
        """
        if not self._settings.size and not self._settings.fps:
            return self.rows
        return rows_of(self.of(video).tracks)

    @property
    def boxes_spec(self) -> str:
        """The spec of a detector with the same boxes, for appearances and stored frames."""
        settings = self._settings
        options = {"confidence": "0", "most": "100000", "scores": "none"}
        options |= {"size": settings.size} if settings.size else {}
        options |= {"fps": f"{settings.fps:g}"} if settings.fps else {}
        spec = "&".join(f"{name}={value}" for name, value in options.items())
        return f"boxes:{self._path}?{spec}"

    def _check(self) -> None:
        rows, path = self._rows, self._path
        if not len(rows.ids):
            raise DataError(f"{path} is empty; expected tracks in the format of MOTChallenge")
        if np.all(rows.ids == _NO_ID):
            raise DataError(
                f"{path} has no identities, the id is -1 in all {len(rows.ids)} lines: these are detections; "
                "give them as detections (boxes:FILE), and a tracker joins them"
            )
        check_once(rows.part(rows.ids != _NO_ID), what=str(path))

    def of(self, video: Video) -> InVideo:
        """Return the tracks in frames and pixels of the video.

        Raises:
            DataError: they are of another video: frames beyond its end, boxes outside of the picture, or
                nobody who is to be considered.
        """
        rows = self._placed(video)
        wanted = self._wanted(rows)
        if not np.any(wanted):
            message = ", ".join(f"{n} {name}" for name, n in _kinds(rows))
            raise DataError(
                f"{self._path} has no box of a person that is to be considered: {message}; expected class "
                "1 and a 1 in column seven"
            )
        step = self._step(video)
        tracks = _tracks(rows.part(wanted), step=step)
        names = {track.track_id for track in tracks}
        left = rows.part(~wanted & self._is_person(rows))
        others = tuple(
            replace(track, track_id=f"{track.track_id}/other") if track.track_id in names else track
            for track in _tracks(left, step=step)
        )
        dropped = tuple(
            DroppedTrack(
                what=track.track_id,
                stage=STAGE,
                reason="not-considered",
                detail="a person of another class, or not to be considered",
            )
            for track in others
        )
        last_s = float(video.times_s[int(rows.frame_indices.max())])
        end_s = float(video.times_s[-1])
        notes = []
        if last_s < _ENDS_EARLY * end_s:
            notes.append(
                f"the tracks of {self._path.name} end at {last_s:.1f} s, and {Path(video.probe.path).name} "
                f"at {end_s:.1f} s; after that the scene counts as empty. If frame numbers have "
                f"another rate than {video.probe.counted.fps:g}, add ?fps="
            )
        return InVideo(tracks=tracks, others=others, dropped=dropped, notes=tuple(notes))

    def _wanted(self, rows: MotRows) -> NDArray[np.bool_]:
        """Boxes of people to be considered."""
        return np.asarray(rows.counts & (rows.ids != _NO_ID))

    def _is_person(self, rows: MotRows) -> NDArray[np.bool_]:
        known = rows.ids != _NO_ID
        if not rows.has_classes:
            return np.asarray(known)
        return np.asarray(known & np.isin(rows.class_ids, (_PERSON_ID, *_OTHER_PEOPLE)))

    def _placed(self, video: Video) -> MotRows:
        """The rows in frames and pixels of the video, without invisible ones."""
        rows = self._rows
        if rows.visibilities is not None:
            rows = rows.part(rows.visibilities >= self._settings.visibility)
        if not len(rows.ids):
            raise DataError(f"no box in {self._path} is as visible as {self._settings.visibility:g}")
        fps, path = self._settings.fps, self._path
        frames, is_first = frames_by_number(rows.frame_indices, video, fps=fps, path=path)
        width, height = video.probe.width_px, video.probe.height_px
        boxes = rows.boxes_px * scale_to(video, self._settings.size)
        middles = (boxes[:, :2] + boxes[:, 2:]) / 2
        outside = np.any((middles < 0) | (middles > [width, height]), axis=1)
        if np.mean(outside) > _OUTSIDE:
            right, bottom = boxes[:, 2:].max(axis=0)
            raise DataError(
                f"{self._path} has {np.count_nonzero(outside):,} of {len(boxes):,} boxes with their middle "
                f"outside of {video.probe.path}, which is {width} x {height}; they reach to {right:.0f} x "
                f"{bottom:.0f}. Is it the right video? If they were measured in another size, say which: "
                "?size=1920x1080"
            )
        boxes, covers = clip(boxes, width_px=width, height_px=height)
        keep = covers & is_first
        rows = replace(rows, frame_indices=frames, boxes_px=boxes).part(keep)
        return rows.part(np.argsort(rows.frame_indices, kind="stable"))

    def _step(self, video: Video) -> int:
        """The distance between annotated frames, in frames of the video."""
        frames = np.unique(self._rows.frame_indices)
        if self._settings.fps:
            return max(math.ceil(video.probe.counted.fps / self._settings.fps), 1)
        return max(int(np.gcd.reduce(np.diff(frames))), 1) if len(frames) > 1 else 1


def _kinds(rows: MotRows) -> list[tuple[str, int]]:
    """The number of boxes of each class, and of those not to be considered."""
    names = [MOT_CLASSES.get(int(i), f"class {i}") for i in rows.class_ids] if rows.has_classes else []
    kinds = [(name, names.count(name)) for name in dict.fromkeys(names)]
    return [*kinds, ("not to be considered", int(np.count_nonzero(rows.marks == 0)))]


def _tracks(rows: MotRows, *, step: int) -> tuple[Track, ...]:
    """A track per id, in order of ids; gaps of one step are filled."""
    tracks = []
    for entry in np.unique(rows.ids):
        mine = rows.part(rows.ids == entry)
        n = len(mine.ids)
        given = Track(
            track_id=str(int(entry)),
            class_name=PERSON,
            frame_indices=mine.frame_indices,
            boxes_px=mine.boxes_px,
            confidences=np.ones(n),
            is_detected=np.ones(n, np.bool_),
        )
        filled = fill_gaps(given, most_frames=step - 1)
        tracks.append(replace(filled, confidences=np.ones(len(filled.frame_indices))))
    return tuple(tracks)


def open_tracks(spec: str, *, folder: Path | None = None) -> GivenTracks:
    """The tracks that a spec names, such as ``mot:gt.txt``.

    Args:
        spec: the format, a colon, the file and options.
        folder: where a path starts from that is not whole; None for where the program runs.

    Raises:
        UsageError: no such format, or an option that there is not.
        DataError: the file cannot be used.
    """
    result = parse_spec(spec)
    if result.name != _FORMAT or not result.argument:
        raise UsageError(f"tracks are {spec!r}; expected mot:FILE, such as mot:gt/street.txt")
    path = result.argument if folder is None else str(folder / result.argument)
    return GivenTracks(
        read_settings(GivenSettings, result.options, argument=path, owner=f"the tracks {result.argument}")
    )
