"""One video in one pass: boxes, looks and shots; then tracks, cleaned, ranked and picked."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from vidence.make.cards.visits import part_visits
from vidence.make.herbench.config import TrackingRules
from vidence.make.pipeline.array_forms import Followed, Seen
from vidence.make.pipeline.kept_video import FrameKeeper, KeptVideo
from vidence.make.pipeline.material import Dropped
from vidence.media.video import Video
from vidence.seeing.appearance import read_appearances
from vidence.seeing.association import Tracker
from vidence.seeing.describers.describing import Describer, Portraits
from vidence.seeing.following import Footage, track_shots
from vidence.seeing.limbs import without_parts
from vidence.seeing.refine import refine
from vidence.seeing.same_person import Looks, looks_of, without_changed
from vidence.seeing.shooting import Shot, ShotDetector, ShotObserver, find_shots
from vidence.seeing.trackrank import pick_diverse, rank
from vidence.seeing.tracks import PERSON, Detector, DroppedTrack, Merge, ShotFrames, TrackedVideo
from vidence.seeing.watching import Observer, watch

STAGE: Final = "tracks"


@dataclass(frozen=True, kw_only=True)
class Looking:
    """Who looks at a video: a detector with a tracker, a shot detector, or both."""

    detector: Detector | None = None
    tracker: Tracker | None = None
    describer: Describer | None = None
    shots: ShotDetector | None = None
    every: int = 1


@dataclass(frozen=True, kw_only=True)
class Looked:
    """What one pass over a video gave; None for what was not wanted."""

    seen: Seen | None = None
    shots: tuple[Shot, ...] | None = None


def look(video: KeptVideo, looking: Looking) -> Looked:
    """Read a video once for everybody who wants to look at it.

    A detector that takes each n-th frame only, or that reads the video by itself, cannot share the pass of
    a shot detector, which wants every frame; then there are two.

    Raises:
        MediaError: the video cannot be read.
        DataError: a file of boxes cannot be used.
    """
    if looking.detector is None:
        shots = None if looking.shots is None else find_shots(Video(video.scan), looking.shots)
        return Looked(shots=shots)
    frames = range(0, video.n_frames, looking.every)
    observers: list[Observer] = []
    portraits = None
    if looking.describer is not None:
        portraits = Portraits(looking.describer, class_names=(PERSON,))
        observers.append(portraits)
    cutter = None
    if looking.shots is not None and looking.every == 1:
        size_px = (video.probe.width_px, video.probe.height_px)
        cutter = ShotObserver(looking.shots, n_frames=video.n_frames, size_px=size_px)
        observers.append(cutter)
    if looking.detector.looks or observers:
        observers.append(FrameKeeper(video))
    watched = watch(Video(video.scan), frames, detector=looking.detector, observers=observers)
    seen = Seen(
        detections=watched.detections,
        vectors=None if portraits is None else portraits.of(watched.detections),
        problems=tuple(problem.message for problem in watched.problems),
        finds_parts=getattr(looking.detector, "finds_parts", False),
    )
    shots = None
    if looking.shots is not None:
        shots = (
            find_shots(Video(video.scan), looking.shots) if cutter is None else cutter.shots(video.times_s)
        )
    return Looked(seen=seen, shots=shots)


def follow(
    video: KeptVideo,
    seen: Seen,
    *,
    shots: Sequence[ShotFrames] = (),
    tracker: Tracker,
    rules: TrackingRules,
    rng: np.random.Generator,
) -> Followed:
    """Tracks of the boxes that were seen: associated, refined, ranked, and some picked.

    Args:
        video: for the looks of the tracks that are left.
        seen: the boxes.
        shots: the shots that tracks end with; what is between the beginnings of two is tracked by itself.
        tracker: what makes tracks of them.
        rules: how they are refined, ranked and picked.
        rng: for the picking.

    Raises:
        MediaError: the video cannot be opened any more.

    Source: HERBench, sections 7.1 and 7.3.
    Departs: the paper does not say what becomes of tracks at cuts; ours end there.
    """
    whole = TrackedVideo(
        width_px=video.probe.width_px,
        height_px=video.probe.height_px,
        times_s=video.times_s,
        tracks=(),
        detections=seen.detections,
        shots=tuple(shots),
    )
    found = track_shots(
        seen.detections,
        tracker,
        Footage(
            n_frames=video.n_frames,
            height_px=video.probe.height_px,
            fps=video.probe.counted.fps,
            stride=rules.every,
            cuts=whole.cuts,
        ),
        vectors=seen.vectors,
        finds_parts=seen.finds_parts,
    )
    limbs = list(found.parts)
    cleaned = refine(replace(whole, tracks=found.tracks), rules.refine)
    refined_tracks = cleaned.video.tracks
    if seen.finds_parts:  # once more: fragments of a person are whole only now
        refined_tracks, parts = without_parts(refined_tracks)
        limbs += parts
    stays, visits, away = part_visits(refined_tracks, whole, every=rules.every, stage=STAGE)
    others = (*cleaned.video.others, *visits)
    known = _looks(seen, replace(whole, tracks=(*stays, *others)), rules=rules)
    people, changed, mixed = without_changed(stays, known, rules.same_person, others=others)
    means = {
        name: mean for name, one in known.items() if (mean := one.mean(slice(None), least=1)) is not None
    }
    refined = replace(whole, tracks=people, others=(*others, *changed), looks=means)
    looks = read_appearances(video, people, settings=rules.looks) if people else {}
    ranking = rank(refined, appearances=looks, settings=rules.rank)
    picks = pick_diverse(ranking, rng=rng, weights=rules.rank.weights, settings=rules.pick) if people else ()
    dropped = [
        *_gone((*limbs, *mixed, *cleaned.account.dropped)),
        *_merged(cleaned.account.merges),
        *away,
    ]
    chosen = tuple(pick.track_id for pick in picks)
    return Followed(
        video=replace(refined, detections=None),
        chosen=chosen,
        raw_ids=found.raw_ids,
        dropped=(*dropped, *_not_picked(people_ids=[t.track_id for t in people], chosen=chosen)),
        scores=dict(zip(ranking.track_ids, map(float, ranking.scores), strict=True)),
    )


def _looks(seen: Seen, video: TrackedVideo, *, rules: TrackingRules) -> dict[str, Looks]:
    """What tracks look like; nothing where no boxes were described."""
    if seen.vectors is None:
        return {}
    return looks_of(
        video.tracks,
        seen.detections,
        seen.vectors,
        size_px=(video.width_px, video.height_px),
        most_covered=rules.same_person.most_covered,
    )


def _gone(tracks: Sequence[DroppedTrack]) -> list[Dropped]:
    return [Dropped(what=one.what, stage=STAGE, reason=one.reason, detail=one.detail) for one in tracks]


def _merged(merges: Sequence[Merge]) -> list[Dropped]:
    dropped = []
    for merge in merges:
        gone = {merge.before, merge.after} - {merge.into}
        words = f"joined with {merge.into}, cost {merge.cost:.2f}"
        dropped += [Dropped(what=n, stage=STAGE, reason="merged", detail=words) for n in sorted(gone)]
    return dropped


def _not_picked(*, people_ids: Sequence[str], chosen: Sequence[str]) -> list[Dropped]:
    return [Dropped(what=name, stage=STAGE, reason="not-picked") for name in people_ids if name not in chosen]
