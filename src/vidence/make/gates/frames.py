"""The single frames that drafts are tested with: selection and pictures."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import msgspec
import numpy as np
from numpy.typing import NDArray

from vidence.errors import DataError, MediaError
from vidence.make.gates.model_gates import Asked, DraftFrames, as_items
from vidence.make.gates.rules import OneFrameRules
from vidence.make.pipeline.cache import ArtifactCache, Stage, Unit, digest_of
from vidence.make.pipeline.material import Crop, VideoSource
from vidence.make.pipeline.pictures import PICTURES, PictureFolder
from vidence.make.pipeline.session import BuildContext
from vidence.media.encode import Size
from vidence.media.files import resolve
from vidence.media.video import FrameProblem
from vidence.records import Evidence, Item, Record

_QUALITY = 90
_NOT_HERE = "the video is not here"
_ONE_STILL = "its only medium is one image"


class FrameSet(Record, omit_defaults=True):
    """Pictures of frames of one video; `why` is the reason if there are no pictures."""

    frames: tuple[Crop, ...] = ()
    why: str = ""


@dataclass(frozen=True, kw_only=True)
class FrameSource:
    """A source of frames; `files` are the available videos by id.

    What is no video has its kind in `kinds`: ``image`` or ``frames``.
    """

    files: Mapping[str, Path]
    videos: Mapping[str, VideoSource]
    pictures: PictureFolder
    cache: ArtifactCache
    context: BuildContext
    kinds: Mapping[str, str] = field(default_factory=dict)

    def exhibit(self, item: Item) -> "Exhibit":
        """Return what an item shows."""
        names = [medium.path or medium.url or "" for medium in item.media]
        parts = [self.videos[name] for name in names if name in self.videos]
        if not names or len(parts) < len(names):
            return Exhibit(parts=(), why=_NOT_HERE if names else "it names no medium")
        is_still = tuple(self.kinds.get(name) == "image" for name in names)
        is_here = all(name in self.files for name in names)
        return Exhibit(parts=tuple(parts), is_still=is_still, why="" if is_here else _NOT_HERE)


@dataclass(frozen=True, kw_only=True)
class Exhibit:
    """The images and clips of a question, in order. `why` is the reason if pictures are missing.

    Frames are counted through all of them: a clip of 90 frames behind two images has the frames 2 to 91.
    """

    parts: tuple[VideoSource, ...]
    is_still: tuple[bool, ...] = ()
    why: str = ""

    @property
    def stills(self) -> tuple[int, ...]:
        """Return the positions of the images."""
        return tuple(i for i, still in enumerate(self.is_still) if still)

    @property
    def clips(self) -> tuple[int, ...]:
        """Return the positions of the clips."""
        return tuple(i for i, still in enumerate(self.is_still) if not still)

    def first(self, place: int) -> int:
        """Return the number of the first frame of a part."""
        return sum(part.n_frames for part in self.parts[:place])

    def wanted(self, indices: Set[int]) -> dict[str, set[int]]:
        """Return the frames of each part, by id and in its own numbering."""
        values: dict[str, set[int]] = defaultdict(set)
        for place, part in enumerate(self.parts):
            first = self.first(place)
            if own := {index - first for index in indices if first <= index < first + part.n_frames}:
                values[part.video_id] |= own
        return values

    def have(self, sets: Mapping[str, "FrameSet"]) -> dict[int, Crop]:
        """Return the pictures by frame number."""
        values: dict[int, Crop] = {}
        for place, part in enumerate(self.parts):
            first = self.first(place)
            for frame in sets[part.video_id].frames if part.video_id in sets else ():
                index = first + frame.frame_index
                values[index] = msgspec.structs.replace(frame, frame_index=index) if first else frame
        return values

    def fault(self, sets: Mapping[str, "FrameSet"]) -> str:
        """Return why there are no pictures."""
        result = (sets[part.video_id].why for part in self.parts if part.video_id in sets)
        return self.why or next(filter(None, result), "none of its frames can be read")


def frame_source(
    asked: Sequence[Asked], *, media_root: Path, out: Path, cache: ArtifactCache, context: BuildContext
) -> FrameSource:
    """Return a frame source for media; unreadable ones are left out.

    Args:
        asked: the questions whose media are wanted.
        media_root: the folder that relative paths start from.
        out: the folder of the set, in whose ``pictures`` they are kept.
        cache: where results are kept.
        context: what is taken from outside.
    """
    files: dict[str, Path] = {}
    videos: dict[str, VideoSource] = {}
    kinds: dict[str, str] = {}
    for medium in {
        media.path or media.url or "": media for item in as_items(asked) for media in item.media
    }.values():
        name = medium.path or medium.url or ""
        try:
            path = resolve(media_root, medium)
            video = context.video(path, kind=medium.kind)
        except (MediaError, DataError):
            continue
        probe = video.probe
        files[name], kinds[name] = path, medium.kind
        videos[name] = VideoSource(
            video_id=name,
            path=name,
            n_frames=probe.counted.n_frames,
            fps=probe.counted.fps or 1.0,
            duration_s=probe.counted.duration_s,
            width_px=probe.width_px,
            height_px=probe.height_px,
            sha256=video.content_hash,
        )
    return FrameSource(
        files=files,
        videos=videos,
        kinds=kinds,
        pictures=PictureFolder(out / PICTURES),
        cache=cache,
        context=context,
    )


def middle_frame(span: Evidence, video: VideoSource) -> int | None:
    """Return the frame in the middle of a span; None if the span has neither times nor frames.

    >>> video = VideoSource(video_id="v", path="v.mp4", n_frames=100, fps=10.0, duration_s=10.0, width_px=8,
    ...                     height_px=8)
    >>> middle_frame(Evidence(start_s=2.0, end_s=4.0), video)
    30
    """
    if span.start_s is not None and span.end_s is not None:
        index = int((span.start_s + span.end_s) / 2 * video.fps)
    elif span.frames:
        index = span.frames[len(span.frames) // 2]
    else:
        return None
    return min(max(index, 0), video.n_frames - 1)


def tried_frames(draft: Asked, video: VideoSource, rules: OneFrameRules) -> tuple[int, ...]:
    """Return a clip's frames to test: those that best show the first spans, the central one, span middles.

    An answer that can be read off one frame stands in the one that the maker of the question names first.
    The central frame is that of the span of the video that the question shows, of two the later.
    """
    spans = draft.evidence[: rules.evidence]
    decisive = [span.frames[0] for span in spans if span.frames] if rules.decisive else []
    central = [_central(draft, video)] if rules.central else []
    middles = [middle_frame(span, video) for span in spans]
    tried = [*decisive, *central, *(index for index in middles if index is not None)]
    return tuple(dict.fromkeys(min(index, video.n_frames - 1) for index in tried))


def _central(asked: Asked, video: VideoSource) -> int:
    media = next((medium for medium in asked.media if medium.kind != "image"), None)
    if media is None or (media.start_s is None and media.end_s is None):
        return video.n_frames // 2
    end_s = video.duration_s if media.end_s is None else media.end_s
    return max(0, int(((media.start_s or 0.0) + end_s) / 2 * video.fps))


def _tried_of(item: Item, exhibit: Exhibit, rules: OneFrameRules) -> tuple[tuple[int, ...], str]:
    """Return the frames an item is tested with: each image, and frames of its clips; or the reason why not.

    The evidence is in its first clip.
    """
    if not exhibit.parts:
        return (), exhibit.why
    if exhibit.stills and len(exhibit.parts) == 1:
        return (), _ONE_STILL
    values = [exhibit.first(place) for place in exhibit.stills]
    for n, place in enumerate(exhibit.clips):
        asked = item if n == 0 else msgspec.structs.replace(item, evidence=(), media=(item.media[place],))
        values += [exhibit.first(place) + i for i in tried_frames(asked, exhibit.parts[place], rules)]
    return tuple(values), ""


def cut_frames(drafts: Sequence[Asked], rules: OneFrameRules, source: FrameSource) -> dict[str, DraftFrames]:
    """Return the pictures each draft is tested with, by id; every video is read once.

    Raises:
        StoreError: pictures cannot be written.
    """
    items = as_items(drafts)
    cut_frames = {item.item_id: source.exhibit(item) for item in items}
    wanted = {item.item_id: _tried_of(item, cut_frames[item.item_id], rules) for item in items}
    pairs = [(cut_frames[name], {*indices}) for name, (indices, _) in wanted.items()]
    sets = frame_sets(pairs, source, frame_px=rules.frame_px)
    tried: dict[str, DraftFrames] = {}
    for name, (indices, why) in wanted.items():
        have = cut_frames[name].have(sets)
        frames = tuple(have[index] for index in indices if index in have)
        clip = next((cut_frames[name].parts[i] for i in cut_frames[name].clips), None)
        tried[name] = DraftFrames(
            frames=frames,
            duration_s=clip.duration_s if clip else 0.0,
            fps=clip.fps if clip else 1.0,
            why="" if frames else why or cut_frames[name].fault(sets),
        )
    return tried


def frame_sets(
    wanted: Iterable[tuple[Exhibit, Set[int]]], source: FrameSource, *, frame_px: int
) -> dict[str, FrameSet]:
    """Return the exhibits' frames by video, with their longer side at most `frame_px`.

    Raises:
        StoreError: pictures cannot be written.
    """
    by_video: dict[str, set[int]] = defaultdict(set)
    for exhibit, numbers in wanted:
        for video_id, own in exhibit.wanted(numbers).items():
            by_video[video_id] |= own
    stage = Stage(name="gate-frames", kind=FrameSet, settings=[frame_px, _QUALITY])
    sets: dict[str, FrameSet] = {}
    for video_id, indices in by_video.items():
        file = source.files.get(video_id)
        if file is None:
            sets[video_id] = FrameSet(why=_NOT_HERE)
            continue
        unit = Unit(
            stage=stage,
            name=video_id,
            inputs={"source": digest_of(source.videos[video_id]), "frames": digest_of(sorted(indices))},
            make=partial(
                _cut,
                file,
                sorted(indices),
                kind=source.kinds.get(video_id, "video"),
                frame_px=frame_px,
                source=source,
            ),
            is_usable=lambda frame_set: source.pictures.holds(frame_set.frames),
        )
        sets[video_id] = source.cache.result(unit).value
    return sets


def _cut(file: Path, indices: Sequence[int], *, kind: str, frame_px: int, source: FrameSource) -> FrameSet:
    def make(index: int, image: NDArray[np.uint8]) -> Crop:
        return source.pictures.keep(image, frame_index=index, quality=_QUALITY)

    try:
        video = source.context.video(file, kind=kind)
        read = video.read(indices, make, size=Size(kind="long", pixels=frame_px))
    except MediaError as error:
        return FrameSet(why=f"its video cannot be read ({error})")
    return FrameSet(frames=tuple(entry for entry in read.values() if not isinstance(entry, FrameProblem)))
