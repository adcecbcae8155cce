"""The single frames that drafts are tried with: which ones, and their pictures."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from vidence.errors import MediaError
from vidence.make.cards.pictures import PictureFolder
from vidence.make.gates.asking import Tried
from vidence.make.gates.rules import OneFrameRules
from vidence.make.pipeline.cache import ArtifactCache, Stage, Unit, digest_of
from vidence.make.pipeline.material import Crop, Draft, VideoSource
from vidence.make.pipeline.session import BuildContext
from vidence.media.encode import Size
from vidence.media.video import FrameProblem
from vidence.records import Evidence, Record

_QUALITY = 90
_NOT_HERE = "the video is not here"


class FrameSet(Record, omit_defaults=True):
    """The pictures of some frames of one video; `why` says why there is none."""

    frames: tuple[Crop, ...] = ()
    why: str = ""


@dataclass(frozen=True, kw_only=True)
class FrameSource:
    """Where frames are cut from and kept; `files` are the files of videos by id, of those that are here."""

    files: Mapping[str, Path]
    videos: Mapping[str, VideoSource]
    pictures: PictureFolder
    cache: ArtifactCache
    context: BuildContext


def middle_frame(span: Evidence, video: VideoSource) -> int | None:
    """The frame in the middle of a span; None where the span says neither times nor frames.

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


def tried_frames(draft: Draft, video: VideoSource, rules: OneFrameRules) -> tuple[int, ...]:
    """Frames that show the first spans best, the central one (the later of two), their middles; each once.

    An answer that can be read off one frame stands in the one that the maker of the question names first.
    """
    spans = draft.evidence[: rules.evidence]
    decisive = [span.frames[0] for span in spans if span.frames] if rules.decisive else []
    central = [video.n_frames // 2] if rules.central else []
    middles = [middle_frame(span, video) for span in spans]
    tried = [*decisive, *central, *(index for index in middles if index is not None)]
    return tuple(dict.fromkeys(min(index, video.n_frames - 1) for index in tried))


def cut_frames(drafts: Sequence[Draft], rules: OneFrameRules, source: FrameSource) -> dict[str, Tried]:
    """What each draft is tried with, by its id; every video is read once, for all its drafts.

    Raises:
        StoreError: pictures cannot be written.
    """
    wanted = {d.draft_id: tried_frames(d, source.videos[d.video_id], rules) for d in drafts}
    by_video: dict[str, set[int]] = defaultdict(set)
    for draft in drafts:
        by_video[draft.video_id].update(wanted[draft.draft_id])
    sets = frame_sets(by_video, source, frame_px=rules.frame_px)
    tried: dict[str, Tried] = {}
    for draft in drafts:
        video, found = source.videos[draft.video_id], sets[draft.video_id]
        have = {frame.frame_index: frame for frame in found.frames}
        frames = tuple(have[index] for index in wanted[draft.draft_id] if index in have)
        why = "" if frames else found.why or "none of its frames can be read"
        tried[draft.draft_id] = Tried(frames=frames, duration_s=video.duration_s, fps=video.fps, why=why)
    return tried


def frame_sets(
    by_video: Mapping[str, set[int]], source: FrameSource, *, frame_px: int
) -> dict[str, FrameSet]:
    """The pictures of these frames of each video, their longer side at most `frame_px`.

    Raises:
        StoreError: pictures cannot be written.
    """
    stage = Stage(name="gate-frames", kind=FrameSet, settings=[frame_px, _QUALITY])
    found: dict[str, FrameSet] = {}
    for video_id, indices in by_video.items():
        file = source.files.get(video_id)
        if file is None:
            found[video_id] = FrameSet(why=_NOT_HERE)
            continue
        unit = Unit(
            stage=stage,
            name=video_id,
            inputs={"source": digest_of(source.videos[video_id]), "frames": digest_of(sorted(indices))},
            make=partial(_cut, file, sorted(indices), frame_px=frame_px, source=source),
            is_usable=lambda made: source.pictures.holds(made.frames),
        )
        found[video_id] = source.cache.result(unit).value
    return found


def _cut(file: Path, indices: Sequence[int], *, frame_px: int, source: FrameSource) -> FrameSet:
    def make(index: int, image: NDArray[np.uint8]) -> Crop:
        return source.pictures.keep(image, frame_index=index, quality=_QUALITY)

    try:
        video = source.context.video(file)
        read = video.read(indices, make, size=Size(kind="long", pixels=frame_px))
    except MediaError as error:
        return FrameSet(why=f"its video cannot be read ({error})")
    return FrameSet(frames=tuple(one for one in read.values() if not isinstance(one, FrameProblem)))
