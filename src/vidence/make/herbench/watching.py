"""Tracks and shots: each video is read once for both, and what was seen is kept."""

import hashlib
from collections.abc import Collection
from dataclasses import replace

import numpy as np

from vidence.catalog import Spec, create
from vidence.errors import MediaError
from vidence.make.herbench.config import TrackingRules
from vidence.make.herbench.following import (
    Looked,
    Looking,
    follow,
    look,
)
from vidence.make.herbench.work import Known, Work
from vidence.make.pipeline.array_forms import Followed, FollowedForm, Seen, SeenForm
from vidence.make.pipeline.kept_video import KeptVideo, kept_video
from vidence.make.pipeline.material import Dropped
from vidence.make.pipeline.progress import Trouble, UnitDone
from vidence.make.pipeline.stages import JsonForm, Kept, Stage
from vidence.seeing.association import Tracker
from vidence.seeing.following import open_describer, open_detector, open_tracker
from vidence.seeing.shooting import Shot, ShotDetector
from vidence.seeing.tracks import Detector, ShotFrames

NEED_TRACKS = ("tracked", "chosen", "a_cards", "b_cards", "crops")
NEED_SHOTS = ("shots", "scene_cards")
_SEEN, _FOLLOWED = SeenForm(), FollowedForm()
_SHOTS: JsonForm[tuple[Shot, ...]] = JsonForm(tuple[Shot, ...])


def watch_all(work: Work, videos: list[Known], *, needs: Collection[str]) -> None:
    """Give every video its tracks and its shots, as far as they are needed and switched on."""
    tracking = work.config.tracking
    wants_tracks = bool(set(NEED_TRACKS) & set(needs))
    wants_shots = bool(set(NEED_SHOTS) & set(needs))
    if tracking is not None and wants_tracks and tracking.end_at_cuts:
        wants_shots = True
    for one in videos:
        reason = "" if one.source.file is not None else "the video is not here"
        if tracking is None:
            one.absent |= dict.fromkeys(NEED_TRACKS, reason or "the configuration has no [tracking]")
        if work.config.shots is None:
            one.absent |= dict.fromkeys(NEED_SHOTS, reason or "the configuration has no [shots]")
        if reason:
            one.absent |= dict.fromkeys((*NEED_TRACKS, *NEED_SHOTS), reason)
    eyes = _Eyes(
        work=work,
        tracking=tracking if wants_tracks else None,
        tracker=open_tracker(tracking.tracker) if tracking is not None and wants_tracks else None,
        shots=_open_shots(work) if wants_shots else None,
    )
    if eyes.tracking is None and eyes.shots is None:
        return
    work.began("watching", len(videos))
    dropped = [gone for one in videos if (gone := eyes.watch(one)) is not None]
    names = [one.video_id for one in videos]
    gone_names = {one.what for one in dropped}
    work.close(
        "watching",
        unit="videos",
        taken=names,
        kept=[name for name in names if name not in gone_names],
        dropped=dropped,
        n_kept=eyes.n_kept,
    )
    if eyes.tracking is not None:
        work.close("tracks", unit="tracks", taken=eyes.taken, kept=eyes.chosen, dropped=eyes.dropped)


def _open_shots(work: Work) -> ShotDetector | None:
    rules = work.config.shots
    if rules is None:
        return None
    detector: ShotDetector = create("shot-detector", Spec(name=rules.detector, options=rules.options))
    return detector


class _Eyes:
    """Watches one video after the other, and remembers what became of their tracks."""

    def __init__(
        self,
        *,
        work: Work,
        tracking: TrackingRules | None,
        tracker: Tracker | None,
        shots: ShotDetector | None,
    ) -> None:
        self._work = work
        self.tracking = tracking
        self.shots = shots
        self._tracker = tracker
        self._describer = None if tracker is None else open_describer(tracker.describer or "colour")
        self._detectors: dict[str, Detector] = {}
        self.taken: list[str] = []
        self.chosen: list[str] = []
        self.dropped: list[Dropped] = []
        self.n_kept = 0

    def watch(self, one: Known) -> Dropped | None:
        """Give a video what is seen in it; what is wrong with it where nothing can be."""
        if one.source.file is None:
            detail = str(one.source.video.path)
            return Dropped(what=one.video_id, stage="watching", reason="no-video", detail=detail)
        try:
            around = self._work.workshop
            video = kept_video(
                one.source.file, cache_root=around.cache_root, max_bytes=around.cache_max_bytes
            )
            self._watch(one, video)
        except MediaError as error:
            one.absent |= dict.fromkeys((*NEED_TRACKS, *NEED_SHOTS), str(error))
            self._work.workshop.on_event(Trouble(message=str(error)))
            reason = "unreadable-frames"
            return Dropped(what=one.video_id, stage="watching", reason=reason, detail=str(error))
        return None

    def _watch(self, one: Known, video: KeptVideo) -> None:
        shelf, inputs = self._work.shelf, {"video": one.source.video.sha256}
        detector = self._detector(one)
        seen_stage = Stage(name="boxes", version=2, settings=self._seeing(detector))
        shot_stage = Stage(name="shots", settings=None if self.shots is None else self.shots.identity)
        seen = None if detector is None else shelf.find(seen_stage, inputs, _SEEN)
        shots = None if self.shots is None else shelf.find(shot_stage, inputs, _SHOTS)
        wants_boxes = detector is not None and seen is None
        wants_shots = self.shots is not None and shots is None
        if wants_boxes or wants_shots:
            looked = self._look(video, detector if wants_boxes else None, with_shots=wants_shots)
            if looked.seen is not None:
                seen = shelf.put(seen_stage, inputs, _SEEN, value=looked.seen)
            if looked.shots is not None:
                shots = shelf.put(shot_stage, inputs, _SHOTS, value=looked.shots)
        was_kept = not (wants_boxes or wants_shots)
        self.n_kept += was_kept
        if shots is not None:
            one.material = replace(one.material, shots=shots.value)
            one.digests["shots"] = shots.digest
        if seen is not None:
            self._follow(one, video, seen, shots=shots)
        self._work.workshop.on_event(UnitDone(stage="watching", unit=one.video_id, was_kept=was_kept))

    def _detector(self, one: Known) -> Detector | None:
        """The detector for a video: the file of boxes beside it, or the one of the configuration."""
        if self.tracking is None:
            return None
        path, query, options = one.source.rule.detections.partition("?")
        spec = self.tracking.detector
        if path:
            spec = f"boxes:{self._work.root / path.format(video_id=one.video_id)}{query}{options}"
        if spec not in self._detectors:
            self._detectors[spec] = open_detector(spec)
        return self._detectors[spec]

    def _seeing(self, detector: Detector | None) -> list[object]:
        describer = "" if self._describer is None else self._describer.identity
        every = 1 if self.tracking is None else self.tracking.every
        return ["" if detector is None else detector.identity, describer, every]

    def _look(self, video: KeptVideo, detector: Detector | None, *, with_shots: bool) -> Looked:
        looking = Looking(
            detector=detector,
            describer=None if detector is None else self._describer,
            shots=self.shots if with_shots else None,
            every=1 if self.tracking is None else self.tracking.every,
        )
        return look(video, looking)

    def _follow(
        self, one: Known, video: KeptVideo, seen: Kept[Seen], *, shots: Kept[tuple[Shot, ...]] | None
    ) -> None:
        if self.tracking is None or self._tracker is None:
            return
        tracker, rules, seed = self._tracker, self.tracking, self._work.config.seed
        stage = Stage(name="tracks", version=4, settings=[tracker.identity, rules, seed])
        inputs = {"boxes": seen.digest, "video": one.source.video.sha256}
        parted: list[ShotFrames] = []
        if rules.end_at_cuts and shots is not None:
            inputs["shots"] = shots.digest
            parted = [shot.frames for shot in shots.value]
        found = self._work.shelf.find(stage, inputs, _FOLLOWED)
        if found is None:
            rng = np.random.default_rng(list(hashlib.sha256(f"{seed}/{one.video_id}".encode()).digest()))
            followed = follow(video, seen.value, shots=parted, tracker=tracker, rules=rules, rng=rng)
            found = self._work.shelf.put(stage, inputs, _FOLLOWED, value=followed)
        self._account(one, found.value)
        if found.value.chosen:
            one.material = replace(one.material, tracked=found.value.video, chosen=found.value.chosen)
            one.digests |= dict.fromkeys(("tracked", "chosen"), found.digest)
        else:
            n_boxes, n_raw = len(seen.value.detections.frame_indices), len(found.value.raw_ids)
            why = f"no track is left: {n_boxes} boxes, {n_raw} tracks before refining"
            one.absent |= dict.fromkeys(NEED_TRACKS, why)

    def _account(self, one: Known, found: Followed) -> None:
        self.taken += [f"{one.video_id}: {name}" for name in found.raw_ids]
        self.chosen += [f"{one.video_id}: {name}" for name in found.chosen]
        self.dropped += [
            Dropped(
                what=f"{one.video_id}: {gone.what}", stage="tracks", reason=gone.reason, detail=gone.detail
            )
            for gone in found.dropped
        ]
