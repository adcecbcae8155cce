"""Tracks of people in a video: how many appear in a clip."""

from pathlib import Path
from typing import Annotated, Final

import numpy as np
from msgspec import Meta

from vidence.errors import DataError
from vidence.make.pipeline.material import Dropped, tracks_words
from vidence.make.sources.annotations.annotation_records import (
    AnnotationReader,
    AnnotationRecord,
    Annotations,
    Label,
    LabelSpace,
    unusable,
)
from vidence.records import Media, Record
from vidence.seeing.track_files import MotRows, read_mot
from vidence.seeing.tracks import TrackBasis

_COUNT: Final = "count"
_MOST_PEOPLE: Final = 40
_LEAST_CLEAR: Final = 0.1


class Settings(Record):
    """What to read from a file of tracks in MOTChallenge format."""

    video: Annotated[str, Meta(description="path of the video")]
    fps: Annotated[float, Meta(gt=0, description="frames per second of the file")] = 30.0
    clip_s: Annotated[float, Meta(gt=0, description="length of a clip in seconds")] = 2.0
    every_s: Annotated[float, Meta(gt=0, description="from the start of a clip to that of the next")] = 4.0
    detected: Annotated[bool, Meta(description="tracks come from a program, not from people")] = False


class TrackClips:
    """Reads tracks and cuts the video into clips, each with its number of different people.

    A person of whom at most a tenth is to be seen, and of whom the file says so, makes the count doubtful,
    and the clip is left out.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    def read(self, path: Path) -> Annotations:
        """The clips of a video as records.

        Raises:
            DataError: the file cannot be read, or has no person with an identity.
        """
        wanted = self._settings
        rows = read_mot(path)
        rows = rows.part(rows.counts & (rows.ids >= 0))
        if not len(rows.ids):
            raise DataError(f"{path} has no person with an identity; expected MOTChallenge tracks")
        n_frames = int(rows.frame_indices[-1]) + 1
        length, step = (max(1, round(value * wanted.fps)) for value in (wanted.clip_s, wanted.every_s))
        records: list[AnnotationRecord] = []
        dropped: list[Dropped] = []
        for start in range(0, n_frames - length + 1, step):
            part = rows.part((rows.frame_indices >= start) & (rows.frame_indices < start + length))
            what = f"{path.stem}-{_COUNT}-{start:06d}"
            text = _count(part)
            if isinstance(text, tuple):
                dropped.append(unusable(what, *text))
                continue
            span_s = (start / wanted.fps, (start + length) / wanted.fps)
            records.append(self._record(what, text, span_s=span_s, n_people=len(np.unique(part.ids))))
        most = max((int(record.label) for record in records), default=1)
        labels = tuple(Label(name=str(n)) for n in range(1, most + 5))
        space = LabelSpace(name=_COUNT, labels=labels)
        return Annotations(records=tuple(records), spaces={space.name: space}, dropped=tuple(dropped))

    def _record(
        self, what: str, label: str, *, span_s: tuple[float, float], n_people: int
    ) -> AnnotationRecord:
        wanted = self._settings
        basis = TrackBasis(kind="detected" if wanted.detected else "given", detector="mot")
        return AnnotationRecord(
            record_id=what,
            media=(Media(path=wanted.video, start_s=span_s[0], end_s=span_s[1]),),
            label=label,
            space=_COUNT,
            n_people=n_people,
            source_id=wanted.video,
            truth=tracks_words(basis),
        )


def _count(part: MotRows) -> str | tuple[str, str]:
    """The number of people, or why it is doubtful."""
    ids = np.unique(part.ids)
    if not len(ids):
        return "empty", "no box in the clip"
    if len(ids) > _MOST_PEOPLE:
        return "too-many", f"{len(ids)} people; at most {_MOST_PEOPLE}"
    if part.visibilities is not None:
        best = {int(entry): float(part.visibilities[part.ids == entry].max()) for entry in ids}
        if hidden := [number for number, share in best.items() if share <= _LEAST_CLEAR]:
            return "hardly-seen", f"of person {hidden[0]} at most {best[hidden[0]]:.0%} are to be seen"
    return str(len(ids))


def create(settings: Settings) -> AnnotationReader:
    """The reader of this format."""
    return TrackClips(settings)
