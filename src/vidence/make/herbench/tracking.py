"""Tracking step: videos are watched; then tracks of their boxes are cleaned, ranked and picked."""

import hashlib
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Final

import numpy as np
from numpy.typing import NDArray

from vidence.catalog import create, parse_spec
from vidence.errors import DataError, MediaError
from vidence.make.herbench.cards.visits import part_visits
from vidence.make.herbench.config import TrackingRules, option_spec
from vidence.make.herbench.hints import NEED_TRACKS
from vidence.make.herbench.people import name_unused, rows_of
from vidence.make.herbench.session import HerbenchSession, VideoState
from vidence.make.herbench.watching import (
    Boxes,
    ObserverSpecs,
    SeenIn,
    VideoWatch,
    begin_watching,
    open_watch,
    unreadable,
)
from vidence.make.pipeline.cache import Artifact, Stage, Unit, digest_of
from vidence.make.pipeline.kept_video import KeptVideo
from vidence.make.pipeline.ledger import write_file
from vidence.make.pipeline.material import Dropped
from vidence.make.review.people.checks import check_of_shots
from vidence.make.review.people.rows import Act, ShotRow, TrackRow, columns
from vidence.make.review.people.track_acts import apply_shots, apply_tracks
from vidence.make.review.sheets import sheet_bytes
from vidence.media.video import Video
from vidence.seeing.appearance import read_appearances
from vidence.seeing.association import SeeingTracker, Tracker
from vidence.seeing.describers.describing import Describer
from vidence.seeing.false_people import false_people, peopled
from vidence.seeing.following import open_describer, open_detector, open_tracker, track_shots, untracked
from vidence.seeing.given_tracks import GivenTracks, open_tracks
from vidence.seeing.limbs import without_parts
from vidence.seeing.refine import refine
from vidence.seeing.same_person import TrackAppearance, looks_of, without_changed
from vidence.seeing.shooting import Shot, ShotDetector, find_shots
from vidence.seeing.trackrank import pick_diverse, rank
from vidence.seeing.tracks import DroppedTrack, Merge, Span, Track, TrackBasis, TrackedVideo
from vidence.seeing.watching import Detector, LastResort, frames_at, watch
from vidence.tables.table import several

STAGE: Final = "tracks"
BY_PEOPLE_STAGE: Final = "tracks-by-people"
NOT_PICKED: Final = "not-picked"
PROPOSED_FILE: Final = "proposed_shots.csv"
_NEAR: Final = 8  # transitions of two detectors are one if they lie so near
_ALONE: Final = "shots: {} alone looked; a dissolve that it misses makes one shot of two ([shots] second)"
_MOST_COMPARED: Final = 64  # frames of a video that the second detector is shown, at most
NEED_SHOTS: Final = ("shots", "scene_cards")


@dataclass(frozen=True, kw_only=True)
class Tracks:
    """The tracks of one video after refining, those chosen (best first), and the outcome of the rest.

    `raw_ids` are the tracks before refining.
    """

    video: TrackedVideo
    chosen: tuple[str, ...]
    raw_ids: tuple[str, ...]
    dropped: tuple[Dropped, ...] = ()


def track_all(work: HerbenchSession, videos: list[VideoState], *, needs: Collection[str]) -> None:
    """Give every video its tracks and its shots, as far as they are needed and switched on."""
    tracking = work.config.tracking
    are_given = any(state.source.rule.tracks for state in videos)
    wants_tracks = (tracking is not None or are_given) and bool(set(NEED_TRACKS) & set(needs))
    wants_shots = bool(set(NEED_SHOTS) & set(needs))
    if wants_tracks and (tracking or TrackingRules()).end_at_cuts:
        wants_shots = True
    for video in videos:
        reason = "" if video.source.file is not None else "the video is not here"
        if reason or (tracking is None and not video.source.rule.tracks):
            video.absent |= dict.fromkeys(NEED_TRACKS, reason or "the configuration has no [tracking]")
        if reason or work.config.shots is None:
            video.absent |= dict.fromkeys(NEED_SHOTS, reason or "the configuration has no [shots]")
    cuts = work.config.shots if wants_shots else None
    watcher = _Watcher(
        work=work,
        rules=(tracking or TrackingRules()) if wants_tracks else None,
        shots=None if cuts is None else create("shot-detector", option_spec(cuts.detector, cuts.options)),
    )
    if watcher.rules is None and watcher.shots is None:
        return
    opened = [open_watch(work, state, wanted=watcher.wanted(state)) for state in videos]
    begin_watching(work, opened)
    dropped = [
        gone for state, watch in zip(videos, opened, strict=True) if (gone := watcher.take(state, watch))
    ]
    names = [state.video_id for state in videos]
    work.close("watching", unit="videos", taken=names, dropped=dropped, n_cached=watcher.n_cached)
    watcher.write_proposed()
    work.sentences += watcher.false_people()
    if watcher.rules is not None:
        work.close(STAGE, unit="tracks", taken=watcher.taken, kept=watcher.chosen, dropped=watcher.dropped)


@dataclass(kw_only=True)
class _Watcher:
    """Watches one video after the other, and remembers the outcome of their tracks."""

    work: HerbenchSession
    rules: TrackingRules | None
    shots: ShotDetector | None
    taken: list[str] = field(default_factory=list)
    chosen: list[str] = field(default_factory=list)
    dropped: list[Dropped] = field(default_factory=list)
    proposed: list[list[str]] = field(default_factory=list)
    n_cached: int = 0

    def __post_init__(self) -> None:
        self._tracker: Tracker | None = None
        self._describer: Describer | None = None
        self._describer_spec = ""
        self._detectors: dict[str, Detector] = {}
        self._givens: dict[str, GivenTracks] = {}
        self._second: ShotDetector | None = None
        self._empty: dict[tuple[str, str], dict[str, tuple[int, int]]] = {}
        if self.shots is not None and (rules := self.work.config.shots) is not None:
            self._second = create("shot-detector", rules.second) if rules.second else None
            self.work.ledger.notes += [] if rules.second else [_ALONE.format(rules.detector)]
        if self.rules is not None:
            self._tracker = tracker = open_tracker(self.rules.tracker)
            self._describer_spec = tracker.describer or "colour"
            self._describer = open_describer(self._describer_spec)

    def wanted(self, state: VideoState) -> ObserverSpecs:
        """Who watches a video; no detector is opened for one that is not here."""
        if self.rules is None or state.source.file is None:
            return ObserverSpecs(shots=self.shots)
        spec = self._spec(state)
        if spec not in self._detectors and isinstance(detector := self._opened(spec), LastResort):
            self.work.ledger.notes.append(detector.caution)
            self.work.trouble(detector.caution)
        if second := self._second_spec(state):
            self._opened(second)
        return ObserverSpecs(
            detector=self._opened(spec),
            detector_spec=spec,
            describer=self._describer,
            describer_spec=self._describer_spec,
            shots=self.shots,
            rate=self.rules.rate,
        )

    def take(self, state: VideoState, watch: VideoWatch | Dropped) -> Dropped | None:
        """Store what is seen in a video, or what is wrong with it."""
        gone = watch if isinstance(watch, Dropped) else None
        try:
            if isinstance(watch, VideoWatch):
                self._take(state, watch.finish())
        except MediaError as error:
            gone = unreadable(self.work, state, error)
        if gone is not None and gone.reason != "no-video":
            state.absent |= dict.fromkeys((*NEED_TRACKS, *NEED_SHOTS), gone.detail)
        return gone

    def _take(self, state: VideoState, seen: SeenIn) -> None:
        self.n_cached += seen.was_cached
        shots = seen.shots
        if shots is not None:
            self._propose(state, seen.video, shots.value)
            if rows := rows_of(self.work, ShotRow, state.video_id):
                people = apply_shots(shots.value, rows, times_s=seen.video.times_s)
                name_unused(self.work, people.unused)
                if people.used:
                    digest = digest_of(people.shots)
                    shots = Artifact(value=people.shots, digest=digest, was_cached=True)
            state.material = replace(state.material, shots=shots.value)
            state.digests["shots"] = shots.digest
        if seen.boxes is not None:
            self._track(state, seen.video, seen.boxes, shots=shots)
        self.work.done("watching", state.video_id, was_cached=seen.was_cached)

    def _propose(self, state: VideoState, video: KeptVideo, shots: Sequence[Shot]) -> None:
        """Take what the second shot detector sees alone, as rows that people can sign."""
        if self._second is None:
            return
        stage = Stage(name="shots-by-second", kind=tuple[Shot, ...], settings=self._second.identity)
        inputs, cache = {"video": state.source.video.sha256}, self.work.cache
        artifact = cache.find(stage, inputs, unit=state.video_id) or cache.put(
            stage, inputs, find_shots(Video(video.scan), self._second), unit=state.video_id
        )
        known = [(shot.last_frame - _NEAR, other.clear_frame + _NEAR) for shot, other in pairwise(shots)]
        for one_shot, other in pairwise(artifact.value):
            first, last = one_shot.last_frame + 1, other.clear_frame - 1
            if not any(low <= other.clear_frame and first <= high + 1 for low, high in known):
                first, last = (first, last) if last > first else (other.first_frame, other.first_frame)
                act = f"gradual:{first}-{last}" if last > first else f"cut-at:{first}"
                check = check_of_shots(shots, Act(name="", first=first, last=last))
                self.proposed.append([state.video_id, check, act, "", f"at {video.times_s[first]:.1f} s"])

    def write_proposed(self) -> None:
        """Write the transitions that the second shot detector proposes, and say how many there are."""
        if self.proposed:
            path = self.work.out / PROPOSED_FILE
            write_file(path, sheet_bytes([columns(ShotRow), *self.proposed]))
            words = (
                f"shots: the second detector alone sees {several(len(self.proposed), 'transition')}; sign "
                f"what is there (by) in {path.name}, and put these rows into {ShotRow.file} of [people]"
            )
            self.work.ledger.notes.append(words)
            self.work.trouble(words)

    def _compare(
        self, state: VideoState, video: KeptVideo, boxes: Boxes, *, detector: str, tracked: TrackedVideo
    ) -> None:
        """Note on how many frames that are empty by people, or by the second detector, boxes show people."""
        looks, judge = frames_at(video.times_s, boxes.rate), "people"
        if tracked.basis.kind == "reviewed":
            spans = [range(t.first_frame, t.last_frame + 1) for t in (*tracked.tracks, *tracked.others)]
            empty = set(looks).difference(*spans)
        elif not (second := self._second_spec(state)):
            return
        else:
            judge = f"{parse_spec(second).name} (people that it misses count as false)"
            looks = looks[:: math.ceil(len(looks) / _MOST_COMPARED)]
            checker = self._opened(second)
            stage = Stage(name="people-by-second", kind=tuple[int, ...], settings=checker.identity)
            inputs, cache = {"video": state.source.video.sha256, "looks": digest_of(looks)}, self.work.cache
            artifact = cache.find(stage, inputs, unit=state.video_id)
            if artifact is None:
                seen = watch(Video(video.scan), looks, detector=checker)
                damaged = {problem.frame_index for problem in seen.problems}
                artifact = cache.put(
                    stage, inputs, tuple(sorted({*looks} - damaged - peopled(seen.detections)))
                )
            empty = set(artifact.value)
        counted = len(empty & peopled(boxes.detections)), len(empty)
        self._empty.setdefault((detector, judge), {})[state.video_id] = counted

    def false_people(self) -> list[str]:
        """Return what is known of false people, in a sentence for each detector and what calls film empty."""
        return [false_people(name, empty, judge=judge) for (name, judge), empty in self._empty.items()]

    def _by_people(
        self, state: VideoState, video: KeptVideo, boxes: Artifact[Boxes], *, made: Artifact[Tracks]
    ) -> Artifact[Tracks]:
        """Return the tracks after people's rows, ranked and picked again; unchanged without usable rows.

        Raises:
            DataError: the file of rows has a fault.
            MediaError: the video cannot be opened any more.
        """
        rows = rows_of(self.work, TrackRow, state.video_id)
        if not rows or self.rules is None:
            return made
        by_people = apply_tracks(made.value.video, rows)
        name_unused(self.work, by_people.unused)
        if not by_people.used:
            return made
        rules, seed = self.rules, self.work.config.seed
        stage = Stage(name=BY_PEOPLE_STAGE, kind=Tracks, settings=[rules, seed])
        inputs = {"tracks": made.digest, "boxes": boxes.digest, "rows": by_people.digest}

        def make() -> Tracks:
            people, others = by_people.tracks, by_people.others
            whole = replace(made.value.video, detections=boxes.value.detections)
            known = _looks(boxes.value, replace(whole, tracks=(*people, *others)), rules=rules)
            basis = TrackBasis(kind="reviewed") if by_people.is_complete else whole.basis
            refined = replace(whole, tracks=people, others=others, looks=_means(known), basis=basis)
            gone = [dropped for dropped in made.value.dropped if dropped.reason != NOT_PICKED]
            acts = _gone(by_people.dropped, ())
            raw_ids, gone = _accounted(made.value.raw_ids, gone, people, by_people=acts)
            rng = drawing(seed, state.video_id)
            return _picked(video, refined, raw_ids=raw_ids, gone=gone, rules=rules, rng=rng)

        return self.work.cache.result(Unit(stage=stage, name=state.video_id, inputs=inputs, make=make))

    def _second_spec(self, state: VideoState) -> str:
        return self.rules.second.replace("{video_id}", state.video_id) if self.rules else ""

    def _opened(self, spec: str) -> Detector:
        if spec not in self._detectors:
            self._detectors[spec] = open_detector(spec)
        return self._detectors[spec]

    def _spec(self, state: VideoState) -> str:
        """Return a video's detector: its boxes file, or the configured detector."""
        if self.rules is None:
            return ""
        if (given := self._given(state)) is not None:
            return given.boxes_spec
        return state.source.boxes(self.work.root) or self.rules.detector

    def _given(self, state: VideoState) -> GivenTracks | None:
        """Return the tracks given for a video; None if detector and tracker find them.

        Raises:
            DataError: they cannot be used, or are of another video.
        """
        spec = state.source.rule.tracks
        if not spec:
            return None
        if state.video_id not in self._givens:
            given = open_tracks(spec.format(video_id=state.video_id), folder=self.work.root)
            try:
                video = state.open(self.work)
            except MediaError:  # reported where it is watched
                video = None
            if video is not None:
                for note in given.of(video).notes:
                    self.work.ledger.notes.append(note)
                    self.work.trouble(note)
            self._givens[state.video_id] = given
        return self._givens[state.video_id]

    def _track(
        self,
        state: VideoState,
        video: KeptVideo,
        boxes: Artifact[Boxes],
        *,
        shots: Artifact[tuple[Shot, ...]] | None,
    ) -> None:
        if self.rules is None or self._tracker is None:
            return
        tracker, rules, seed = self._tracker, self.rules, self.work.config.seed
        given = self._given(state)
        maker = tracker.identity if given is None else given.identity
        stage = Stage(name=STAGE, kind=Tracks, version=12, settings=[maker, rules, seed])
        inputs = {"boxes": boxes.digest, "video": state.source.video.sha256}
        frames: list[Span] = []
        if rules.end_at_cuts and shots is not None:
            inputs["shots"] = shots.digest
            frames = [shot.frames for shot in shots.value]
        rng = drawing(seed, state.video_id)

        def make() -> Tracks:
            if given is None:
                return find_tracks(video, boxes.value, shots=frames, tracker=tracker, rules=rules, rng=rng)
            return take_tracks(video, boxes.value, given, shots=frames, rules=rules, rng=rng)

        unit = Unit(stage=stage, name=state.video_id, inputs=inputs, make=make)
        artifact = self.work.cache.result(unit)
        if given is None:
            artifact = self._by_people(state, video, boxes, made=artifact)
        elif rows_of(self.work, TrackRow, state.video_id):
            raise DataError(
                f"{TrackRow.file} has rows on the tracks of {state.video_id}, which people gave "
                "and which are "
                "taken as they are; leave these rows out, and correct the file of tracks"
            )
        value = artifact.value
        if given is None:
            name = parse_spec(self._spec(state)).name
            self._compare(state, video, boxes.value, detector=name, tracked=value.video)
        self.taken += map(state.named, value.raw_ids)
        self.chosen += map(state.named, value.chosen)
        self.dropped += [state.dropped(gone, stage=STAGE) for gone in value.dropped]
        if value.chosen:
            state.material = replace(state.material, tracked=value.video, chosen=value.chosen)
            state.digests |= dict.fromkeys(("tracked", "chosen"), artifact.digest)
        else:
            n_boxes, n_raw = len(boxes.value.detections.frame_indices), len(value.raw_ids)
            why = f"no track is left: {n_boxes} boxes, {n_raw} tracks before refining"
            state.absent |= dict.fromkeys(NEED_TRACKS, why)


# --------------------------------------------------------------------------- tracks of its boxes


def drawing(seed: int, video_id: str) -> np.random.Generator:
    """What tracks of a video are picked with."""
    return np.random.default_rng(list(hashlib.sha256(f"{seed}/{video_id}".encode()).digest()))


def find_tracks(
    video: KeptVideo,
    seen: Boxes,
    *,
    shots: Sequence[Span] = (),
    tracker: Tracker,
    rules: TrackingRules,
    rng: np.random.Generator,
) -> Tracks:
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
    whole = untracked(video, seen.detections, shots=shots)
    looked = frames_at(video.times_s, seen.rate)
    tracks = track_shots(
        whole,
        seen.detections,
        tracker=tracker.seeing(video) if isinstance(tracker, SeeingTracker) else tracker,
        frame_indices=looked,
        vectors=seen.vectors,
        finds_parts=seen.finds_parts,
    )
    limbs = list(tracks.parts)
    raw = replace(whole, tracks=tracks.tracks)
    cleaned = refine(raw, rules.refine, looks=_looks(seen, raw, rules=rules))
    refined_tracks = cleaned.video.tracks
    if seen.finds_parts:  # once more: fragments of a person are whole only now
        refined_tracks, parts = without_parts(refined_tracks)
        limbs += parts
    every = int(np.diff(looked).max(initial=1))
    stays, visits, away = part_visits(refined_tracks, whole, every=every, stage=STAGE)
    others = (*cleaned.video.others, *visits)
    known = _looks(seen, replace(whole, tracks=(*stays, *others)), rules=rules)
    people, changed, mixed = without_changed(stays, known, rules.same_person, others=others)
    refined = replace(whole, tracks=people, others=(*others, *changed), looks=_means(known))
    gone = _gone((*limbs, *mixed, *cleaned.account.dropped), cleaned.account.merges)
    raw_ids, gone = _accounted(tracks.raw_ids, [*gone, *away], people)
    return _picked(video, refined, raw_ids=raw_ids, gone=gone, rules=rules, rng=rng)


def _picked(
    video: KeptVideo,
    tracked: TrackedVideo,
    *,
    raw_ids: Sequence[str],
    gone: Sequence[Dropped],
    rules: TrackingRules,
    rng: np.random.Generator,
) -> Tracks:
    """The tracks that are left, with those that are picked, best first; the others go to the account."""
    chosen: tuple[str, ...] = ()
    if tracked.tracks:
        looks = read_appearances(video, tracked.tracks, settings=rules.looks)
        ranking = rank(tracked, appearances=looks, settings=rules.rank)
        picks = pick_diverse(ranking, rng=rng, weights=rules.rank.weights, settings=rules.pick)
        chosen = tuple(pick.track_id for pick in picks)
    left = [track.track_id for track in tracked.tracks if track.track_id not in chosen]
    return Tracks(
        video=replace(tracked, detections=None),
        chosen=chosen,
        raw_ids=tuple(raw_ids),
        dropped=(*gone, *(Dropped(what=name, stage=STAGE, reason=NOT_PICKED) for name in left)),
    )


def _accounted(
    raw_ids: Sequence[str],
    gone: Sequence[Dropped],
    left: Sequence[Track],
    *,
    by_people: Sequence[Dropped] = (),
) -> tuple[tuple[str, ...], list[Dropped]]:
    """The account of tracks: parts of those that people split count as found, too."""
    names = [track.track_id for track in left]
    values = {person.what: person for person in by_people if person.what not in names}
    kept = [dropped for dropped in gone if dropped.what not in names and dropped.what not in values]
    return tuple(dict.fromkeys((*raw_ids, *values, *names))), [*kept, *values.values()]


def take_tracks(
    video: KeptVideo,
    seen: Boxes,
    given: GivenTracks,
    *,
    shots: Sequence[Span] = (),
    rules: TrackingRules,
    rng: np.random.Generator,
) -> Tracks:
    """Tracks that people gave, as they are: ranked, and some picked.

    Nothing is joined, cleaned or dropped for its looks; gaps stay. Who goes out of view and comes back is
    counted at every visit (``ID``, ``ID/2``), but not picked: how long they are there is no single span.

    Args:
        video: for the looks of the tracks.
        seen: their boxes, with what is in them.
        given: the tracks.
        shots: the shots; where a person is followed across a cut, they are left out.
        rules: how tracks are ranked and picked.
        rng: for the picking.

    Raises:
        MediaError: the video cannot be opened any more.
        DataError: the tracks are of another video.

    Source: HERBench, sections 7.1 and 7.3.
    Departs: nothing is detected, associated, cleaned and validated here; a person has done it.
    """
    known = given.of(video)
    everybody = (*known.tracks, *known.others)
    firsts = np.array([shot.first_frame for shot in shots[1:]], np.int64)
    crosses = any(np.any((firsts > t.first_frame) & (firsts <= t.last_frame)) for t in everybody)
    whole = untracked(video, seen.detections, shots=() if crosses else shots)
    whole = replace(whole, tracks=known.tracks, others=known.others, basis=given.basis)
    looks = _looks(seen, replace(whole, tracks=everybody), rules=rules)
    whole = replace(whole, looks=_means(looks))
    stays, visits, away = part_visits(known.tracks, whole, every=1, stage=STAGE)
    tracks = _picked(
        video,
        replace(whole, tracks=stays),
        raw_ids=[track.track_id for track in everybody],
        gone=(*_gone(known.dropped, ()), *away),
        rules=rules,
        rng=rng,
    )
    # The first visit is named after the person, which cards may refer to.
    named = [replace(visit, track_id=visit.track_id.removesuffix("/1")) for visit in visits]
    return replace(tracks, video=replace(tracks.video, tracks=(*stays, *named)))


def _looks(seen: Boxes, video: TrackedVideo, *, rules: TrackingRules) -> dict[str, TrackAppearance]:
    """What tracks look like; nothing if no boxes were described."""
    return looks_of(
        video.tracks,
        seen.detections,
        seen.vectors,
        size_px=(video.width_px, video.height_px),
        most_covered=rules.same_person.most_covered,
    )


def _means(looks: Mapping[str, TrackAppearance]) -> dict[str, NDArray[np.float32]]:
    """What each track looks like in all, where anything is known of it."""
    return {
        name: mean for name, look in looks.items() if (mean := look.mean(slice(None), least=1)) is not None
    }


def _gone(tracks: Sequence[DroppedTrack], merges: Sequence[Merge]) -> list[Dropped]:
    """Tracks that were dropped, and those that became part of another."""
    dropped = [Dropped(what=t.what, stage=STAGE, reason=t.reason, detail=t.detail) for t in tracks]
    for merge in merges:
        into = {merge.before, merge.after} - {merge.into}
        words = f"joined with {merge.into}, cost {merge.cost:.2f}"
        dropped += [Dropped(what=n, stage=STAGE, reason="merged", detail=words) for n in sorted(into)]
    return dropped
