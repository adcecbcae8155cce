"""A baseline that looks: ``pointlight-nn:FOLDER`` names the choice whose nearest reference clip is nearest.

It finds the dots in the frames that it is sent, relates them from frame to frame, and compares how they lie
and move with the clips of FOLDER, which is in ActPLD's format. It knows no words: a choice is what the
clips with this label (or intention) look like.

The clip in question is never its own reference: clips with the id of the item, the same file, and the same
picture are left out, and with them whatever is of the same recording or shows one of the same people (the
columns `source` and `source_id` of ``clips.csv``; ``leave_out=clip`` keeps these). Otherwise who moves tells
the answer, even where labels were drawn by lot. Where a choice has no reference left, its distance is not
known. To take the others' would tell the answer, for it is most often the right choice that lacks one; so it
guesses among all choices, by the id of the item, and says so in its reasoning.
"""

import functools
import re
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, ClassVar, Literal

import anyio.to_thread
import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from vidence.ask.models.images import pixels_of
from vidence.ask.models.local import LocalModel, drawn, images_shown
from vidence.ask.models.pointlight_features import CentredDots, describe, find_dots, is_same, seen
from vidence.ask.models.pointlight_references import Reference, dots_of, read_references, worded
from vidence.catalog import FilePath
from vidence.contracts import Request
from vidence.errors import AccessError, MediaError, RejectedRequestError, UsageError
from vidence.media.encode import Size
from vidence.records import Record, Reply

Floats = NDArray[np.float64]
VERSION = 3
# How sure the log-probabilities are: a choice twice as far as the mean has exp(-SHARPNESS) of its weight.
SHARPNESS = 6.0
# A feature that is so many standard deviations away counts as this far.
_FARTHEST = 4.0
_KEPT = 64  # sets of frames whose features are kept


class Settings(Record):
    """Options of ``pointlight-nn:`` models: how references are read and neighbours counted."""

    positional: ClassVar[str] = "folder"

    folder: Annotated[FilePath, Meta(description="reference clips, in ActPLD's format")]
    k: Annotated[int, Meta(ge=1, description="neighbours of each choice that are averaged")] = 1
    frames: Annotated[
        int,
        Meta(ge=1, description="consecutive frames of a reference; where more are sent, as many as are sent"),
    ] = 8
    stride: Annotated[int, Meta(ge=1, description="every how many-th frame of a reference is taken")] = 1
    size: Annotated[str, Meta(description="limit of the size of references, as for the selector")] = (
        "long:128"
    )
    leave_out: Annotated[
        Literal["sources", "clip"],
        Meta(description="clips of the same recording or person are no references, or the clip alone"),
    ] = "sources"
    grid: Annotated[str, Meta(description="how a montage is laid out, columns x rows")] = "4x2"

    def __post_init__(self) -> None:
        """Refuse a size or a grid that is none."""
        Size.parse(self.size)
        if not re.fullmatch(r"[1-9]\d*x[1-9]\d*", self.grid):
            raise UsageError(
                f"pointlight-nn: grid={self.grid!r} is none; expected columns x rows, for example 4x2"
            )


@dataclass(frozen=True, kw_only=True)
class _ReferenceViews:
    """References as seen in some frames, with what their features vary by."""

    clips: tuple[tuple[Reference, CentredDots], ...]
    features: tuple[Floats, ...]
    spread: tuple[Floats, ...]


class PointlightModel(LocalModel):
    """The nearest neighbour among the clips of a folder."""

    by_item = True
    max_in_flight = 4

    def __init__(self, references: Sequence[Reference], settings: Settings, *, digest: str) -> None:
        chosen = "&".join(f"{f}={getattr(settings, f)}" for f in Settings.__struct_fields__ if f != "folder")
        self.identity = f"pointlight-nn:{digest}?{chosen} v{VERSION}"
        self._references = tuple(references)
        self._settings = settings
        self._size = Size.parse(settings.size)
        self._dots = functools.lru_cache(_KEPT)(self._dots_of_references)
        self._known = functools.lru_cache(_KEPT)(self._look_at_references)
        self._lock = threading.Lock()

    async def reply(self, request: Request) -> Reply:
        """The letter of the nearest choice, or of a guess; the reasoning says which.

        Raises:
            RejectedRequestError: a whole video, an image that is none, or one whose bytes were not sent.
            AccessError: a reference clip cannot be read.
        """
        return await anyio.to_thread.run_sync(self._answer, request)

    async def close(self) -> None:
        """Forget what was seen of the references."""
        with self._lock:
            self._dots.cache_clear()
            self._known.cache_clear()

    def _answer(self, request: Request) -> Reply:
        letters, choices = request.prompt.letters, request.prompt.choices
        if not letters:
            reason = "pointlight-nn does not apply: the item has no choices"
            return Reply(text="", reasoning=reason, model="pointlight-nn")
        pictures, positions = _shown(request, self._settings.grid)
        looked = seen([find_dots(picture) for picture in pictures])
        if looked is None:
            return self._guess(request, "no two dots are seen in what was sent")
        distances = self._distances(looked, positions, item_id=request.item_id, choices=choices)
        missing = [letters[i] for i, d in enumerate(distances) if d is None]
        if missing:
            return self._guess(request, f"no other clip shows what {', '.join(missing)} says")
        away = np.array(distances, np.float64)
        weights = -SHARPNESS * away / max(float(away.mean()), 1e-9)
        logps = weights - np.logaddexp.reduce(weights)
        said = ", ".join(f"{letter} {d:.3f}" for letter, d in zip(letters, away, strict=True))
        return Reply(
            text=letters[int(away.argmin())],
            reasoning=f"Distance to the nearest clip of each choice: {said}.",
            model="pointlight-nn",
            choice_logps=dict(zip(letters, map(float, logps), strict=True))
            if request.sampling.want_choice_logps
            else None,
        )

    def _guess(self, request: Request, reason: str) -> Reply:
        letters = request.prompt.letters
        even = dict.fromkeys(letters, -float(np.log(len(letters))))
        return Reply(
            text=drawn(letters, request.item_id, request.sample),
            reasoning=f"A guess: {reason}.",
            model="pointlight-nn",
            choice_logps=even if request.sampling.want_choice_logps else None,
            is_guess=True,
        )

    def _distances(
        self, looked: CentredDots, positions: tuple[int, ...], *, item_id: str, choices: Sequence[str]
    ) -> list[float | None]:
        """The mean distance of the k nearest references of each choice; None where there is none."""
        n_frames = max(self._settings.frames, *(p + 1 for p in positions))
        if positions == tuple(range(len(positions))):
            n_frames = len(positions)
        with self._lock:
            known = self._known(n_frames, positions)
        of_this = [r for r in self._references if _is_about(item_id, r.clip_id)]
        same = {r.digest for r in of_this}
        ours = describe(looked)
        squared = np.zeros(len(known.clips))
        for mine, theirs, spread in zip(ours, known.features, known.spread, strict=False):
            z = (theirs - mine) / spread
            squared += np.mean(np.clip(z, -_FARTHEST, _FARTHEST) ** 2, axis=1)
        distance = np.sqrt(squared)
        itself = [
            _is_about(item_id, clip.clip_id) or clip.digest in same or is_same(looked, view)
            for clip, view in known.clips
        ]
        shared: set[str] = set()
        if self._settings.leave_out == "sources":
            found_too = [clip for (clip, _), is_it in zip(known.clips, itself, strict=True) if is_it]
            shared = {source for clip in (*of_this, *found_too) for source in clip.sources}
        is_other = np.array(
            [
                not is_it and not shared & clip.sources
                for (clip, _), is_it in zip(known.clips, itself, strict=True)
            ],
            bool,
        )
        found: list[float | None] = []
        for choice in choices:
            wanted = np.array([worded(choice) in clip.says for clip, _ in known.clips], bool)
            near = np.sort(distance[is_other & wanted])[: self._settings.k]
            found.append(float(near.mean()) if len(near) else None)
        return found

    def _dots_of_references(self, n_frames: int) -> tuple[tuple[Floats, ...], ...]:
        stride = self._settings.stride
        try:
            return tuple(dots_of(r, n_frames, stride=stride, size=self._size) for r in self._references)
        except MediaError as error:
            raise AccessError(f"pointlight-nn cannot read a reference: {error}") from error

    def _look_at_references(self, n_frames: int, positions: tuple[int, ...]) -> _ReferenceViews:
        views = [seen([dots[p] for p in positions if p < len(dots)]) for dots in self._dots(n_frames)]
        clips = tuple((r, v) for r, v in zip(self._references, views, strict=True) if v is not None)
        described = [describe(view) for _, view in clips]
        n_groups = min((len(d) for d in described), default=0)
        features = tuple(np.stack([d[g] for d in described]) for g in range(n_groups))
        return _ReferenceViews(clips=clips, features=features, spread=tuple(_spread(f) for f in features))


def _spread(features: Floats) -> Floats:
    """The standard deviation of each feature, at least a quarter of the mean of its group."""
    deviation = features.std(axis=0)
    made: Floats = np.maximum(deviation, max(0.25 * float(deviation.mean()), 1e-6))
    return made


def _is_about(item_id: str, clip_id: str) -> bool:
    """Whether a question is about a clip: its id, or its id with what is asked behind a slash."""
    return item_id == clip_id or item_id.startswith(f"{clip_id}/")


def _shown(request: Request, grid: str) -> tuple[list[NDArray[np.uint8]], tuple[int, ...]]:
    """The pictures of a request one by one, montages cut, and which frame of the selection each one is."""
    pictures: list[NDArray[np.uint8]] = []
    positions: list[int] = []
    for part in images_shown(request, owner="pointlight-nn"):
        picture = pixels_of(part, request.images)
        pictures += [picture] if len(part.frames) < 2 else _cells(picture, grid, len(part.frames))
        positions += part.frames or (len(positions),)
    in_time = sorted(range(len(positions)), key=lambda i: positions[i])
    return [pictures[i] for i in in_time], tuple(positions[i] for i in in_time)


def _cells(picture: NDArray[np.uint8], grid: str, n_frames: int) -> list[NDArray[np.uint8]]:
    columns, rows = map(int, grid.split("x"))
    height, width = picture.shape[0] // rows, picture.shape[1] // columns
    if n_frames > columns * rows:
        raise RejectedRequestError(
            f"a montage of {n_frames} frames was sent, and grid={grid} holds {columns * rows}; give the "
            "model the grid of the layout, for example pointlight-nn:FOLDER?grid=4x4"
        )
    corners = [(row * height, column * width) for row in range(rows) for column in range(columns)]
    return [picture[top : top + height, left : left + width] for top, left in corners[:n_frames]]


def create(settings: Settings) -> PointlightModel:
    """The model with the clips of a folder as references.

    Raises:
        DataError: the folder is none in ActPLD's format.
    """
    references, digest = read_references(Path(settings.folder).expanduser())
    return PointlightModel(references, settings, digest=digest)
