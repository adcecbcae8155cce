"""Tracks of people in a video: how many there are in a clip, and which of two is further left."""

from pathlib import Path
from typing import Annotated, Final, Literal

import numpy as np
from msgspec import Meta

from vidence.errors import DataError
from vidence.make.pipeline.material import Dropped
from vidence.make.pipeline.truth import tracks_words
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

_PERSON_ID: Final = 1
_MOST_PEOPLE: Final = 40
_LEAST_CLEAR: Final = 0.1
_LARGER: Final = 1.15


class Settings(Record):
    """What is read of a file of tracks in the format of MOTChallenge."""

    video: Annotated[str, Meta(description="path of the video")]
    fps: Annotated[float, Meta(gt=0, description="frames of the file in a second")] = 30.0
    ask: Annotated[Literal["count", "side"], Meta(description="how many people, or who is further left")] = (
        "count"
    )
    clip_s: Annotated[float, Meta(gt=0, description="length of a clip in seconds")] = 2.0
    every_s: Annotated[float, Meta(gt=0, description="from the start of a clip to that of the next")] = 4.0
    width_px: Annotated[int, Meta(ge=1, description="width that boxes were measured in")] = 1920
    detected: Annotated[bool, Meta(description="tracks were found by a program, not given")] = False


class TrackClips:
    """Reads tracks and cuts the video into clips, each with one label.

    ``count``: how many different people are in the clip. A person of whom at most a tenth is to be seen, and
    of whom the file says so, makes the count doubtful, and the clip is left out. ``side``: whether the person
    who appears largest is further left or further right than the second largest, in every frame of the clip;
    left out where sizes or places are too near.
    """

    name = "tracks"
    version = 1

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    def read(self, path: Path) -> Annotations:
        """The clips of a video as records.

        Raises:
            DataError: the file cannot be read, or has no person with an identity.
        """
        wanted = self._settings
        rows = read_mot(path)
        is_person = rows.class_ids == _PERSON_ID if rows.has_classes else np.ones(len(rows.ids), bool)
        rows = rows.part(is_person & (rows.ids >= 0) & (rows.marks != 0))
        if not len(rows.ids):
            raise DataError(f"{path} has no person with an identity; expected MOTChallenge tracks")
        n_frames = int(rows.frame_indices[-1]) + 1
        length, step = (max(1, round(one * wanted.fps)) for one in (wanted.clip_s, wanted.every_s))
        records: list[AnnotationRecord] = []
        dropped: list[Dropped] = []
        for start in range(0, n_frames - length + 1, step):
            part = rows.part((rows.frame_indices >= start) & (rows.frame_indices < start + length))
            what = f"{path.stem}-{wanted.ask}-{start:06d}"
            found = _count(part) if wanted.ask == "count" else _side(part, length, wanted.width_px)
            if isinstance(found, tuple):
                dropped.append(unusable(what, *found))
                continue
            span_s = (start / wanted.fps, (start + length) / wanted.fps)
            records.append(self._record(what, found, span_s=span_s, n_people=len(np.unique(part.ids))))
        space = _space(wanted.ask, records)
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
            space=wanted.ask,
            n_people=n_people,
            source_id=wanted.video,
            truth=tracks_words(basis),
        )


def _count(part: MotRows) -> str | tuple[str, str]:
    """The number of people, or why it is doubtful."""
    ids = np.unique(part.ids)
    if not len(ids):
        return "nobody", "no box in the clip"
    if len(ids) > _MOST_PEOPLE:
        return "too-many", f"{len(ids)} people; at most {_MOST_PEOPLE}"
    if part.visibilities is not None:
        best = {int(one): float(part.visibilities[part.ids == one].max()) for one in ids}
        hidden = [one for one, share in best.items() if share <= _LEAST_CLEAR]
        if hidden:
            return "hardly-seen", f"of person {hidden[0]} at most {best[hidden[0]]:.0%} are to be seen"
    return str(len(ids))


def _side(part: MotRows, length: int, width_px: int) -> str | tuple[str, str]:
    """On which side the largest person is of the second largest, or why that cannot be asked."""
    said: set[str] = set()
    pairs: set[tuple[int, int]] = set()
    for frame in np.unique(part.frame_indices):
        here = part.part(part.frame_indices == frame)
        heights = here.boxes_px[:, 3] - here.boxes_px[:, 1]
        order = np.argsort(-heights, kind="stable")
        if len(order) < 2:
            return "fewer-than-two", f"{len(order)} people in a frame"
        first, second = order[:2]
        third = heights[order[2]] if len(order) > 2 else 0.0
        if heights[first] < _LARGER * heights[second] or heights[second] < _LARGER * third:
            return "sizes-too-near", f"heights {heights[first]:.0f}, {heights[second]:.0f}, {third:.0f} px"
        middles = here.boxes_px[[first, second]][:, [0, 2]].mean(axis=1)
        if abs(middles[0] - middles[1]) < _LEAST_CLEAR * width_px:
            return "places-too-near", f"{abs(middles[0] - middles[1]):.0f} px apart"
        said.add("left" if middles[0] < middles[1] else "right")
        pairs.add((int(here.ids[first]), int(here.ids[second])))
    if len(said) != 1 or len(pairs) != 1 or len(np.unique(part.frame_indices)) < length:
        return "changes", "who is largest, or on which side, changes in the clip"
    return said.pop()


def _space(ask: str, records: list[AnnotationRecord]) -> LabelSpace:
    if ask == "side":
        return LabelSpace(name=ask, labels=(Label(name="left"), Label(name="right")))
    most = max((int(one.label) for one in records), default=1)
    return LabelSpace(name=ask, labels=tuple(Label(name=str(n)) for n in range(1, most + 5)))


def create(settings: Settings) -> AnnotationReader:
    """The reader of this format."""
    return TrackClips(settings)
