"""Tracks with identities (MOTChallenge): who is in view when, enters and leaves where, is left of others.

tracks:gt.txt?fps=30&identities=true&size=1920x1080&complete=person    annotated by people
tracks:result.txt?fps=7&identities=silver&size=768x576                 made by a tracker
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Annotated, ClassVar, Final, Literal

import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from vidence.catalog import FilePath
from vidence.contracts import Flow
from vidence.errors import DataError, UsageError
from vidence.installation import packaged
from vidence.make.sources.scene import (
    SILVER_TRACKS,
    AttributeFact,
    Entity,
    EventFact,
    Header,
    RelationFact,
    Span,
)
from vidence.make.sources.scene_writing import (
    AsksNobody,
    SceneDraft,
    SceneSet,
    SceneSource,
    Told,
    complete_lines,
)
from vidence.make.sources.vocabulary import Vocabulary
from vidence.records import Record
from vidence.seeing.track_files import read_mot
from vidence.seeing.tracks import PERSON

_SIDES: Final = ("left", "right", "top", "bottom", "inside")
ALREADY, STILL = "there already", "still there"
"""Instead of a side: in the picture from the first frame on, and to the last."""
_CLEAR: Final = 3.0
"A track more than this many times `edge` from every border begins or ends inside the picture."
_APART: Final = 0.25
"""Centres are to the left of each other from this share of the mean width of the two boxes on."""


_STAYS: Final = {
    "less than 1 s": (0, 1), "1 to 2 s": (1, 2), "2 to 5 s": (2, 5), "5 to 10 s": (5, 10),
    "10 to 20 s": (10, 20), "20 to 60 s": (20, 60), "more than a minute": (60, np.inf),
}  # fmt: skip
"""Ranges of the time in view, from the first box to the last, in seconds; not stated close to a limit."""


class Settings(Record):
    """Options of tracks."""

    positional: ClassVar[str] = "path"
    path: Annotated[FilePath, Meta(description="tracks in the format of MOTChallenge, with identities")]
    fps: Annotated[float, Meta(gt=0, description="frames per second")]
    identities: Annotated[
        Literal["true", "silver"],
        Meta(description="whether people annotated identities; false: a tracker assigned them"),
    ]
    size: Annotated[str, Meta(description="WIDTHxHEIGHT of the picture in pixels (empty: no sides)")] = ""
    edge: Annotated[
        float,
        Meta(gt=0, lt=0.1, description="distance that counts as at the border, as a share of the picture"),
    ] = 0.01
    gap_s: Annotated[
        float, Meta(ge=0, description="seconds without a box after which a person counts as out of view")
    ] = 1.0
    hold_s: Annotated[float, Meta(ge=0, description="seconds for which a person must be left of another")] = (
        0.5
    )
    nearer: Annotated[
        float, Meta(gt=1, description="factor by which the nearest person must be nearer than all others")
    ] = 1.2
    complete: Annotated[tuple[str, ...], Meta(description="complete parts: person, enter, leave")] = ()
    scene: Annotated[str, Meta(description="name of the scene (empty: that of the file)")] = ""

    def __post_init__(self) -> None:
        if self.size and not re.fullmatch(r"[1-9]\d*x[1-9]\d*", self.size):
            raise UsageError(f"size={self.size!r}: expected WIDTHxHEIGHT in pixels, such as 768x576")


@dataclass(frozen=True)
class _Person:
    """One identity. Shapes: `frames` (n,) ascending, `boxes_px` (n, 4) as left, top, right, bottom."""

    id: str
    frames: NDArray[np.int64]
    boxes_px: NDArray[np.float64]


@dataclass
class _Tracks(AsksNobody):
    """Tracks of people.

    Who is in the picture from the first frame on does not enter, and who is in it to the last does not leave.
    Somebody at the left or right border is there, whatever the lower border cuts off.
    `left_of` holds where the centres of two boxes are apart for some time and is denied where they never are.
    `nearest_to` is who comes nearest to somebody, by the middle of the lower edge in heights of the boxes.
    What is too near to be told is not stated.
    """

    settings: Settings

    def read(self) -> Flow[SceneSet]:
        """The scene of the file.

        Raises:
            DataError: it cannot be read, has no identities, or no person.
        """
        yield from ()
        path = Path(self.settings.path)
        people, last_frame = _people(path)
        known: dict[str, tuple[str, ...]] = {PERSON: (), "enter": ("event",), "leave": ("event",)}
        complete = complete_lines(self.settings.complete, known, owner=f"tracks:{path}")
        lines: list[Told] = []
        for person in people:
            lines += self._person(person, last_frame)
        for person, other in combinations(people, 2):
            lines += self._sides(person, other)
        for person in people:
            lines += self._nearest(person, people)
        is_true = self.settings.identities == "true"
        header = Header(
            scene=self.settings.scene or path.stem,
            vocabulary="",
            duration_s=self._time(last_frame + 1),
            source_id=path.stem,
            truth="given tracks" if is_true else SILVER_TRACKS,
        )
        return SceneSet(
            vocabulary=packaged("vidence.make.sources.scene_sources", "tracks.toml", Vocabulary),
            scenes=(SceneDraft(header=header, lines=(*lines, *complete)),),
            notes=() if is_true else tuple(_broken(lines, len(people))),
        )

    def _time(self, frame: int) -> float:
        return round(frame / self.settings.fps, 3)

    def _span(self, first: int, last: int) -> Span:
        return self._time(first), self._time(last + 1)

    def _person(self, person: _Person, last_frame: int) -> list[Told]:
        cuts = np.flatnonzero(np.diff(person.frames) > self.settings.gap_s * self.settings.fps + 1) + 1
        spans = tuple(self._span(int(part[0]), int(part[-1])) for part in np.split(person.frames, cuts))
        lines: list[Told] = [Entity(entity=person.id, category=PERSON, spans=spans)]
        first, last = int(person.frames[0]), int(person.frames[-1])
        for kind, attribute, frame, box, otherwise in (
            ("enter", "enters", first, person.boxes_px[0], ALREADY if first == 0 else ""),
            ("leave", "leaves", last, person.boxes_px[-1], STILL if last == last_frame else ""),
        ):
            side, event = otherwise or self._side(box), f"{kind}-{person.id}"
            about = {(person.id, attribute): [ALREADY if kind == "enter" else STILL]}
            if not otherwise:
                span = self._span(frame, frame)
                lines.append(EventFact(id=event, kind=kind, roles={"who": person.id}, span=span))
                about[event, "side"] = []
            for (of, name), never in about.items():
                values = [side] if side else [*never, *self._far_sides(box)]
                lines += [AttributeFact(of=of, name=name, value=v, holds=bool(side)) for v in values]
        seconds = self._time(last + 1 - first)
        stays = [
            text for text, (a, b) in _STAYS.items() if a < seconds * 1.1 + 0.1 and b > seconds / 1.1 - 0.1
        ]
        is_clear = len(stays) == 1
        stated = stays if is_clear else [text for text in _STAYS if text not in stays]
        lines += [AttributeFact(of=person.id, name="stays", value=text, holds=is_clear) for text in stated]
        return lines

    def _far(self, box: NDArray[np.float64]) -> NDArray[np.float64]:
        """How far a box is from the left, right, top and bottom, in shares of the picture."""
        width, height = map(int, self.settings.size.split("x"))
        far = np.array([box[0], width - box[2], box[1], height - box[3]])
        return far / [width, width, height, height]

    def _far_sides(self, box: NDArray[np.float64]) -> list[str]:
        """The borders that a box certainly is not at."""
        if not self.settings.size:
            return []
        return [_SIDES[i] for i in np.flatnonzero(self._far(box) >= _CLEAR * self.settings.edge)]

    def _side(self, box: NDArray[np.float64]) -> str:
        """Return the border that a box touches, or inside; empty if unclear."""
        if not self.settings.size:
            return ""
        far = self._far(box)
        for pair in (0, 2):  # left and right, then top and bottom
            near = np.flatnonzero(far[pair : pair + 2] <= self.settings.edge)
            if len(near) == 1:
                return _SIDES[pair + int(near[0])]
        return "inside" if np.all(far >= _CLEAR * self.settings.edge) else ""

    def _sides(self, person: _Person, other: _Person) -> list[Told]:
        frames, a, b = _together(person, other)
        apart = (b[:, 0] + b[:, 2] - a[:, 0] - a[:, 2]) / 2  # above 0: `one` is on the left
        least = _APART * (a[:, 2] - a[:, 0] + b[:, 2] - b[:, 0]) / 2
        lines: list[Told] = []
        for left, right, to_left in ((person, other, apart), (other, person, -apart)):
            run = _longest_run(frames[to_left > least])
            if len(run) >= max(1.0, self.settings.hold_s * self.settings.fps):
                span = self._span(int(run[0]), int(run[-1]))
                lines.append(RelationFact(name="left_of", of=left.id, to=right.id, span=span))
            elif np.all(to_left < -least):  # also where they are never in view together
                lines.append(RelationFact(name="left_of", of=left.id, to=right.id, holds=False))
        return lines

    def _nearest(self, to: _Person, people: list[_Person]) -> list[Told]:
        others = [person for person in people if person is not to]
        values = {other.id: _distance(other, to) for other in others}
        if not any(np.isfinite(value) for value in values.values()):
            return [RelationFact(name="nearest_to", of=n, to=to.id, holds=False) for n in values]
        least = min(values.values())
        near = [name for name, value in values.items() if value <= least * self.settings.nearer]
        lines: list[Told] = [
            RelationFact(name="nearest_to", of=name, to=to.id, holds=False)
            for name in values
            if name not in near
        ]
        return [*lines, RelationFact(name="nearest_to", of=near[0], to=to.id)] if len(near) == 1 else lines


def create(settings: Settings) -> SceneSource:
    """The scene of a file of tracks."""
    return _Tracks(settings)


def _people(path: Path) -> tuple[list[_Person], int]:
    """Return all people of a file and its last frame; of ground truth, counted pedestrians only."""
    rows = read_mot(path)
    if len(rows.ids) == 0 or np.all(rows.ids < 0):
        raise DataError(f"{path} has no identities; expected tracks, as frame,id,left,top,width,height,...")
    last_frame = int(rows.frame_indices.max())
    if rows.has_classes:
        rows = rows.part(rows.counts)
    people = []
    for number in np.unique(rows.ids[rows.ids >= 0]):
        own = rows.part(rows.ids == number)
        if len(np.unique(own.frame_indices)) < len(own.frame_indices):
            raise DataError(f"{path}: identity {number} has two boxes in one frame; expected one")
        people.append(_Person(f"p{number}", own.frame_indices, own.boxes_px))
    if not people:
        raise DataError(f"{path} has no person whose boxes count")
    return people, last_frame


def _broken(lines: list[Told], n_people: int) -> Iterator[str]:
    """Return how many tracks begin or end inside the picture, as when a tracker loses a person."""
    for name, how in (("enters", "begin"), ("leaves", "end")):
        inside = [
            line
            for line in lines
            if isinstance(line, AttributeFact) and (line.name, line.value) == (name, "inside")
        ]
        if inside:
            yield (
                f"{len(inside)} of {n_people} tracks {how} inside the picture. If the tracker lost "
                "a person, one person counts as several; people must review every question"
            )


def _together(
    person: _Person, other: _Person
) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]]:
    """The frames that two are both in, and their boxes there."""
    frames, mine, theirs = np.intersect1d(person.frames, other.frames, return_indices=True)
    return frames, person.boxes_px[mine], other.boxes_px[theirs]


def _longest_run(frames: NDArray[np.int64]) -> NDArray[np.int64]:
    """The longest part of ascending frames without a gap, the first if there are several.

    >>> _longest_run(np.array([1, 2, 5, 6, 7, 9])).tolist()
    [5, 6, 7]
    """
    return max(np.split(frames, np.flatnonzero(np.diff(frames) > 1) + 1), key=len)


def _distance(person: _Person, to: _Person) -> float:
    """How near two come, in mean heights of their boxes; infinite where they are never in view together."""
    _, a, b = _together(person, to)
    if len(a) == 0:
        return float("inf")
    foot_x = (a[:, 0] + a[:, 2] - b[:, 0] - b[:, 2]) / 2
    heights = (a[:, 3] - a[:, 1] + b[:, 3] - b[:, 1]) / 2
    return float(np.min(np.hypot(foot_x, a[:, 3] - b[:, 3]) / heights))
