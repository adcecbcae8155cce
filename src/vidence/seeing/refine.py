"""Refine associated tracks: clean, fill, smooth, merge, filter."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias, get_args

import msgspec
import numpy as np

from vidence.errors import DataError, UsageError
from vidence.records import Record, by_key
from vidence.seeing.cleaning import FilterSettings, fill_gaps, keep_usable, smooth, why_dropped
from vidence.seeing.merging import MergeSettings, merge_fragments
from vidence.seeing.same_person import TrackAppearance
from vidence.seeing.tracks import (
    PAPER_FPS,
    Account,
    DroppedTrack,
    Merge,
    StepCount,
    Track,
    TrackedVideo,
    frames_in,
)

Step: TypeAlias = Literal["gaps", "smoothing", "merging", "filter"]
STEPS: tuple[Step, ...] = get_args(Step)


class RefineSettings(Record):
    """How tracks are refined; defaults are the paper's where it states one.

    `steps` are those that are done, always in the order of `STEPS`. `most_gap_s` is the longest gap that is
    filled, `smoothing_s` the window that boxes are averaged over and `smoothing_sigma_s` the width of its
    Gaussian, all in seconds. With `for_height_px` above 0 the least area is meant for a video of that height
    and scaled to the video at hand; with 0 it is taken as it is.

    Source: HERBench, section 7.1.
    Departs: see the functions of each step; the paper counts frames, at 30 a second (gaps up to 30 frames, a
    window of 5) and leaves out boxes that jump by more than 50 pixels per frame, which gained nothing (see
    docs/design/decisions.md); `for_height_px` is ours.
    """

    steps: tuple[Step, ...] = STEPS
    most_gap_s: float = 1.0
    smoothing_s: float = 5 / PAPER_FPS
    smoothing_sigma_s: float = 1 / PAPER_FPS
    merging: MergeSettings = MergeSettings()
    filter: FilterSettings = FilterSettings()
    for_height_px: int = 0

    def __post_init__(self) -> None:
        if len(set(self.steps)) != len(self.steps) or not set(self.steps) <= set(STEPS):
            raise UsageError(
                f"refining steps {', '.join(self.steps)}: expected some of {', '.join(STEPS)}, each once"
            )


@dataclass(frozen=True, kw_only=True)
class Refined:
    """The video with its refined tracks, and the outcome of the others."""

    video: TrackedVideo
    account: Account


def refine(
    video: TrackedVideo,
    settings: RefineSettings | None = None,
    *,
    looks: Mapping[str, TrackAppearance] | None = None,
) -> Refined:
    """Clean, fill, smooth, merge and filter the tracks of a video.

    First of all boxes are cut to the frame and those that cannot be used are left out (`keep_usable`).
    The gap between two fragments that are merged is filled like any other. Where the video has `cuts`, the
    tracks of each shot are refined by themselves, so that nobody is joined with somebody behind a cut.
    `looks` are those of the tracks, as far as they are known: fragments that look unlike are not merged.

    Raises:
        DataError: two tracks with one id, boxes in frames that the video does not have, or a track that runs
            across a cut.

    Source: HERBench, section 7.1 and figure 6.
    Departs: the figure does not show where merging stands; ours follows the order of the text.
    """
    settings = settings or RefineSettings()
    check_tracks(video)
    shots = by_key((video.shot_of(track.first_frame).first_frame, track) for track in video.tracks)
    known = looks or {}
    done = [
        _refine_shot(replace(video, tracks=tuple(mine)), settings, looks=known)
        for _, mine in sorted(shots.items())
    ]
    if not done:
        return _refine_shot(video, settings, looks=known)
    return Refined(
        video=replace(
            video,
            tracks=tuple(track for refined in done for track in refined.video.tracks),
            others=tuple(track for refined in done for track in refined.video.others),
        ),
        account=_summed([refined.account for refined in done]),
    )


def _refine_shot(
    video: TrackedVideo, settings: RefineSettings, *, looks: Mapping[str, TrackAppearance]
) -> Refined:
    """Refine the tracks of one shot."""
    work = _Work(tracks=list(video.tracks), size_px=(video.width_px, video.height_px), looks=looks)
    fps = video.fps
    scale = video.height_px / settings.for_height_px if settings.for_height_px else 1.0
    most_gap = frames_in(settings.most_gap_s, fps)

    def usable(track: Track) -> Track | None:
        return keep_usable(track, width_px=video.width_px, height_px=video.height_px)

    work.each("usable", usable, reason="no-usable-box")
    if "gaps" in settings.steps:
        work.each("gaps", lambda track: fill_gaps(track, most_frames=most_gap))
    if "smoothing" in settings.steps:
        n, sigma = _odd(settings.smoothing_s * fps), settings.smoothing_sigma_s * fps
        work.each("smoothing", lambda track: smooth(track, window_frames=n, sigma=sigma))
    if "merging" in settings.steps:
        most = most_gap if "gaps" in settings.steps else 0
        work.merge(settings.merging, fps=fps, most_gap_frames=most)
    if "filter" in settings.steps:
        area = settings.filter.least_area_px * scale**2
        rules = msgspec.structs.replace(settings.filter, least_area_px=area)
        work.filter(rules, video=video)
    account = Account(steps=tuple(work.steps), dropped=tuple(work.dropped), merges=tuple(work.merges))
    others = tuple(track for track in work.left_out if track.class_name == settings.filter.class_name)
    return Refined(video=replace(video, tracks=tuple(work.tracks), others=others), account=account)


def _odd(n_frames: float) -> int:
    """The odd number of frames nearest to a length, 1 at least."""
    return 2 * max(int(n_frames / 2), 0) + 1


def _summed(accounts: Sequence[Account]) -> Account:
    """The accounts of several shots combined."""
    steps = []
    for counts in zip(*(account.steps for account in accounts), strict=True):
        numbers = [msgspec.structs.asdict(count) for count in counts]
        sums = {name: sum(number[name] for number in numbers) for name in numbers[0] if name != "step"}
        steps.append(StepCount(step=counts[0].step, **sums))
    return Account(
        steps=tuple(steps),
        dropped=tuple(track for account in accounts for track in account.dropped),
        merges=tuple(sorted((m for account in accounts for m in account.merges), key=lambda m: m.cost)),
    )


def check_tracks(video: TrackedVideo) -> None:
    """Reject tracks that do not belong to their video.

    Raises:
        DataError: two tracks with one id, a box in a frame that the video does not have, or times of
            frames that do not ascend.
    """
    n_frames, cuts = len(video.times_s), video.cuts
    if twice := [name for name, n in Counter(track.track_id for track in video.tracks).items() if n > 1]:
        raise DataError(
            f"{len(twice)} track ids are used more than once, such as {twice[0]!r}; expected each once"
        )
    for track in video.tracks:
        if track.first_frame < 0 or track.last_frame >= n_frames:
            raise DataError(
                f"the track {track.track_id!r} has boxes in frames {track.first_frame} to "
                f"{track.last_frame}, and the video has frames 0 to {n_frames - 1}; is this the right video? "
                "MOT files count from 1, tracks here from 0"
            )
        if crossed := [cut for cut in cuts if track.first_frame < cut <= track.last_frame]:
            raise DataError(
                f"the track {track.track_id!r} runs from frame {track.first_frame} to {track.last_frame}, "
                f"across the cut at frame {crossed[0]}; end it there"
            )
    if not (np.diff(video.times_s) > 0).all():
        at = int(np.flatnonzero(~(np.diff(video.times_s) > 0))[0])
        raise DataError(
            f"frame {at + 1} is at {video.times_s[at + 1]} s, not after frame {at} at {video.times_s[at]} s; "
            "expected times that ascend"
        )


@dataclass(kw_only=True)
class _Work:
    """The current tracks and the account so far."""

    tracks: list[Track]
    size_px: tuple[int, int]
    looks: Mapping[str, TrackAppearance]
    steps: list[StepCount] = field(default_factory=list)
    dropped: list[DroppedTrack] = field(default_factory=list)
    merges: list[Merge] = field(default_factory=list)
    left_out: list[Track] = field(default_factory=list)

    def each(self, step: str, change: Callable[[Track], Track | None], *, reason: str = "") -> None:
        """Transform every track; None drops it for the given reason."""
        before, self.tracks = self.tracks, []
        dropped = 0
        added = changed = 0
        for track in before:
            now = change(track)
            if now is None:
                detail = f"none of its {len(track.frame_indices)} boxes can be used"
                self.dropped.append(
                    DroppedTrack(what=track.track_id, stage=step, reason=reason, detail=detail)
                )
                dropped += 1
                continue
            self.tracks.append(now)
            changed += now is not track
            added += max(len(now.frame_indices) - len(track.frame_indices), 0)
        self._count(step, before, tracks_dropped=dropped, tracks_changed=changed, boxes_added=added)

    def merge(self, settings: MergeSettings, *, fps: float, most_gap_frames: int) -> None:
        """Join fragments and fill the gaps between them."""
        before = self.tracks
        joined, merges = merge_fragments(before, settings, size_px=self.size_px, fps=fps, looks=self.looks)
        n_boxes = _n_boxes(joined)
        longer = {merge.into for merge in merges}
        self.tracks = [
            fill_gaps(track, most_frames=most_gap_frames) if track.track_id in longer else track
            for track in joined
        ]
        self.merges += merges
        added = _n_boxes(self.tracks) - n_boxes
        self._count(
            "merging", before, tracks_merged=len(merges), tracks_changed=len(longer), boxes_added=added
        )

    def filter(self, settings: FilterSettings, *, video: TrackedVideo) -> None:
        """Keep the tracks that are worth a question."""
        before, self.tracks = self.tracks, []
        dropped = []
        size = {"width_px": video.width_px, "height_px": video.height_px}
        for track in before:
            why = why_dropped(track, settings, fps=video.fps, **size)
            if why is None:
                self.tracks.append(track)
            else:
                dropped.append(why)
                self.left_out.append(track)
        self.dropped += dropped
        self._count("filter", before, tracks_dropped=len(dropped))

    def _count(self, step: str, before: Sequence[Track], *, boxes_added: int = 0, **tracks: int) -> None:
        boxes_in, boxes_out = _n_boxes(before), _n_boxes(self.tracks)
        count = StepCount(
            step=step,
            tracks_in=len(before),
            tracks_out=len(self.tracks),
            boxes_in=boxes_in,
            boxes_out=boxes_out,
            boxes_dropped=boxes_in + boxes_added - boxes_out,
            boxes_added=boxes_added,
            **tracks,
        )
        self.steps.append(count)


def _n_boxes(tracks: Sequence[Track]) -> int:
    return sum(len(track.frame_indices) for track in tracks)
