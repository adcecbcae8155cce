"""Watching step: the videos are read once each, chunk by chunk, for boxes, looks, shots and kept frames."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from vidence.errors import MediaError
from vidence.make.herbench.session import HerbenchSession, VideoState
from vidence.make.pipeline.cache import Artifact, Stage
from vidence.make.pipeline.kept_video import Keeping, KeptVideo
from vidence.make.pipeline.ledger import FramesDone
from vidence.make.pipeline.material import Dropped
from vidence.make.pipeline.watching import Parted, StagedChunks, watch_side_by_side
from vidence.media.video import Video
from vidence.seeing.chunks import Eyes, Watch
from vidence.seeing.describers.describing import Describer
from vidence.seeing.following import watching
from vidence.seeing.shooting import FoundShots, Shot, ShotDetector, ShotScores, find_scored_shots
from vidence.seeing.tracks import PERSON, Detections
from vidence.seeing.watching import Detector, Finder

STAGE: Final = "watching"
SCORES_STAGE: Final = "shot-scores"
"""What the shot detector measured at each frame, kept for people who look at its cuts."""


@dataclass(frozen=True, kw_only=True)
class Boxes:
    """What was found in a video; `vectors` of the boxes where a tracker wants them, shape (n, n_dims).

    `finds_parts` says that the detector takes limbs for people now and then, `rate` how often a second it
    looked (0: at every frame).
    """

    detections: Detections
    vectors: NDArray[np.float32] | None = None
    finds_parts: bool
    rate: float = 0.0


@dataclass(frozen=True, kw_only=True)
class ObserverSpecs:
    """The observers of a video: detector and describer with specs to reopen them, shot detector.

    Without a detector only shots are looked for. `rate` is how often a second it looks (0: at every frame).
    """

    detector: Detector | None = None
    detector_spec: str = ""
    describer: Describer | None = None
    describer_spec: str = ""
    shots: ShotDetector | None = None
    rate: float = 0.0


@dataclass(frozen=True, kw_only=True)
class SeenIn:
    """Results of watching a video; None for what was not requested."""

    video: KeptVideo
    boxes: Artifact[Boxes] | None
    shots: Artifact[tuple[Shot, ...]] | None
    was_cached: bool


class VideoWatch:
    """One video that is to be watched, with the results that are kept of it.

    Raises:
        MediaError: it cannot be read.
    """

    def __init__(
        self, work: HerbenchSession, state: VideoState, video: KeptVideo, *, wanted: ObserverSpecs
    ) -> None:
        """Nothing is read yet."""
        self.video = video
        self.failed: MediaError | None = None
        self._work, self._one, self._wanted = work, state, wanted
        self._inputs = {"video": state.source.video.sha256}
        detector, cutter = wanted.detector, wanted.shots
        self._rate = wanted.rate if isinstance(detector, Finder) else 0.0
        described = "" if wanted.describer is None else wanted.describer.identity
        settings = ["" if detector is None else detector.identity, described, self._rate]
        self._box_stage = Stage(name="boxes", kind=Boxes, version=5, settings=settings)
        self._shot_stage = Stage(
            name="shots", kind=tuple[Shot, ...], settings=None if cutter is None else cutter.identity
        )
        self._score_stage = Stage(name=SCORES_STAGE, kind=ShotScores, settings=self._shot_stage.settings)
        self.watch = None
        if detector is not None and not work.cache.has(self._box_stage, self._inputs):
            self.watch = self._watch(detector)

    @property
    def parted(self) -> Parted | None:
        """What other processes can do of it."""
        if self.watch is None:
            return None
        wanted = self._wanted
        return Parted(watch=self.watch, detector=wanted.detector_spec, describer=wanted.describer_spec)

    def finish(self) -> SeenIn:
        """Watch what is missing, and keep the result.

        Raises:
            MediaError: the video cannot be read.
            DataError: a file of boxes cannot be used.
        """
        if self.failed is not None:
            raise self.failed
        cache, inputs, wanted = self._work.cache, self._inputs, self._wanted
        unit = self._one.video_id
        boxes = None if wanted.detector is None else cache.find(self._box_stage, inputs, unit=unit)
        shots = None if wanted.shots is None else cache.find(self._shot_stage, inputs, unit=unit)
        if shots is not None:
            cache.find(self._score_stage, inputs, unit=unit)
        was_cached = True
        if wanted.detector is not None and boxes is None:
            was_cached = False
            watch = self.watch or self._watch(wanted.detector)
            seen = watch.finish(wanted.shots)
            result = Boxes(
                detections=seen.watched.detections,
                vectors=seen.vectors,
                finds_parts=wanted.detector.finds_parts,
                rate=self._rate,
            )
            boxes = cache.put(self._box_stage, inputs, result, unit=unit)
            if seen.cut is not None:
                shots = self._keep(seen.cut)
            watch.clear()
        if wanted.shots is not None and shots is None:
            was_cached = False
            shots = self._keep(find_scored_shots(Video(self.video.scan), wanted.shots))
        return SeenIn(video=self.video, boxes=boxes, shots=shots, was_cached=was_cached)

    def _keep(self, shots: FoundShots) -> Artifact[tuple[Shot, ...]]:
        """Store the shots with their measurements, which are only for people to look at."""
        cache, unit = self._work.cache, self._one.video_id
        if shots.scores is not None:
            cache.put(self._score_stage, self._inputs, shots.scores, unit=unit)
        return cache.put(self._shot_stage, self._inputs, shots.shots, unit=unit)

    def _watch(self, detector: Detector) -> Watch:
        work, wanted = self._work, self._wanted
        has_shots = wanted.shots is None or work.cache.has(self._shot_stage, self._inputs)
        eyes = Eyes(
            detector=detector,
            describer=wanted.describer,
            classes=(PERSON,),
            shot_size=None if wanted.shots is None or has_shots else wanted.shots.size,
            keeper=Keeping(
                cache_root=work.context.cache_root,
                max_bytes=work.context.cache_max_bytes,
                content_hash=self.video.content_hash,
            ),
        )
        return watching(
            self.video,
            eyes,
            rate=self._rate,
            store=StagedChunks(work.cache, eyes, inputs=self._inputs),
            on_frames=lambda n: work.context.on_event(FramesDone(video_id=self._one.video_id, n_frames=n)),
        )


def open_watch(work: HerbenchSession, state: VideoState, *, wanted: ObserverSpecs) -> VideoWatch | Dropped:
    """A video that is to be watched; why not, where its file is not here or cannot be read."""
    try:
        video = state.open(work)
    except MediaError as error:
        return unreadable(work, state, error)
    if video is None:
        return Dropped(
            what=state.video_id, stage=STAGE, reason="no-video", detail=str(state.source.video.path)
        )
    return VideoWatch(work, state, video, wanted=wanted)


def unreadable(work: HerbenchSession, state: VideoState, error: MediaError) -> Dropped:
    """Say of a video that it cannot be read."""
    work.trouble(str(error))
    return Dropped(what=state.video_id, stage=STAGE, reason="unreadable-frames", detail=str(error))


def begin_watching(work: HerbenchSession, videos: Sequence[VideoWatch | Dropped]) -> None:
    """Say how much is to be watched, and let other processes watch what they can.

    Raises:
        StoreError: results cannot be written.
        VidenceError: there is no cluster, or none of its machines works any more.
    """
    waiting = [video for video in videos if isinstance(video, VideoWatch) and video.watch is not None]
    watches = [watch.watch for watch in waiting if watch.watch is not None]
    n_kept = sum(watch.pass_kept() for watch in watches)
    n_frames = sum(watch.n_frames for watch in watches)
    work.began(STAGE, n_frames, n_done=n_kept, counts_frames=True)
    failed = watch_side_by_side(
        [parted for watch in waiting if (parted := watch.parted) is not None],
        work.context.parallel,
        on_trouble=work.trouble,
    )
    for number, error in failed.items():
        waiting[number].failed = error
