"""Apply people's rows about tracks: splits, joins, phantoms, wrong boxes, duplicates."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from vidence.make.pipeline.cache import digest_of
from vidence.make.review.people.checks import check_of_everybody, check_of_shots, check_of_track
from vidence.make.review.people.rows import EVERYBODY, Act, ShotRow, TrackRow, Unused
from vidence.seeing.shooting import Shot, timed
from vidence.seeing.tracks import DroppedTrack, Span, Track, TrackedVideo, listed_others


@dataclass(frozen=True, kw_only=True)
class ShotsByPeople:
    """A video's shots after people's rows: `used` rows took effect, `unused` did not."""

    shots: tuple[Shot, ...]
    used: tuple[ShotRow, ...] = ()
    unused: tuple[Unused, ...] = ()


def apply_shots(
    shots: Sequence[Shot], rows: Sequence[ShotRow], *, times_s: NDArray[np.float64]
) -> ShotsByPeople:
    """Apply people's rows to a video's shots, each to the result of the previous ones.

    A row counts where its `check` is that of the shots around its frames as the detector found them, or as
    the rows before left them.

    Args:
        shots: what the detector found.
        rows: those of the video, in the order in which they were given.
        times_s: the times of its frames, shape (n_frames,).
    """
    now = tuple(shots)
    used: list[ShotRow] = []
    unused: list[Unused] = []
    for row in rows:
        act = row.parsed
        why = _why_not(row, act, seen=(now, shots), n_frames=len(times_s))
        spans = [] if why else _done(act, [shot.frames for shot in now])
        if not spans:
            unused.append(Unused(where=row.where, why=why or _in_vain(act)))
            continue
        now = timed(spans, times_s)
        used.append(row)
    return ShotsByPeople(shots=now, used=tuple(used), unused=tuple(unused))


def _why_not(row: ShotRow, act: Act, *, seen: Sequence[Sequence[Shot]], n_frames: int) -> str:
    """Return why a row does not apply to these shots; empty if it does."""
    if act.last >= n_frames:
        return f"the video has {n_frames} frames, the last one is {n_frames - 1}"
    if row.check not in [check_of_shots(shots, act) for shots in seen]:
        return f"the shots at frame {act.first} have changed since; look at them again"
    return ""


def _in_vain(act: Act) -> str:
    """Return why an edit changes nothing."""
    match act.name:
        case "cut-at":
            return f"no shot goes across frame {act.first}: one begins there, or it is in none"
        case "no-cut-at":
            return f"no shot but the first begins with frame {act.first}"
        case _:
            return (
                f"the frames {act.first} to {act.last} leave no shot before or behind them, or a whole one "
                "lies in them"
            )


def _done(act: Act, spans: list[Span]) -> list[Span]:
    """Return the spans after an edit; empty if it changes nothing."""
    match act.name:
        case "cut-at":
            return _cut(spans, act.first)
        case "no-cut-at":
            return _without_cut(spans, act.first)
        case _:
            return _mixed(spans, act.first, act.last)


def _cut(spans: list[Span], at: int) -> list[Span]:
    place = next((i for i, span in enumerate(spans) if span.first_frame < at <= span.last_frame), None)
    if place is None:
        return []
    whole = spans[place]
    before = Span(
        first_frame=whole.first_frame,
        last_frame=at - 1,
        n_mixed=min(whole.n_mixed, at - 1 - whole.first_frame),
    )
    behind = Span(first_frame=at, last_frame=whole.last_frame, n_mixed=max(0, whole.clear_frame - at))
    return [*spans[:place], before, behind, *spans[place + 1 :]]


def _without_cut(spans: list[Span], at: int) -> list[Span]:
    place = next((i for i, span in enumerate(spans) if i and span.first_frame == at), None)
    if place is None:
        return []
    whole = replace(spans[place - 1], last_frame=spans[place].last_frame)
    return [*spans[: place - 1], whole, *spans[place + 1 :]]


def _mixed(spans: list[Span], first: int, last: int) -> list[Span]:
    """Return one cut at `first`, whose shot starts pure after `last`; cuts in between are removed."""
    before = [span for span in spans if span.first_frame < first]
    behind = [span for span in spans if span.last_frame > last]
    if (
        not before
        or not behind
        or any(first <= span.first_frame and span.last_frame <= last for span in spans)
    ):
        return []
    early, late = before[-1], behind[0]
    ends = replace(early, last_frame=first - 1, n_mixed=min(early.n_mixed, first - 1 - early.first_frame))
    begins = Span(first_frame=first, last_frame=late.last_frame, n_mixed=last - first + 1)
    return [*before[:-1], ends, begins, *behind[1:]]


BY_A_PERSON: Final = "by-a-person"
STAGE: Final = "tracks"


@dataclass(frozen=True, kw_only=True)
class TracksByPeople:
    """A video's tracks after people's rows.

    `dropped` are tracks, and boxes of tracks, that went; `used` the rows that count, `unused` the others.
    `touched` are the names, before and after, of all tracks that a row changed. `is_complete` says that a
    person answers for all of them: each has a row, and nobody in the video is without a track.
    """

    tracks: tuple[Track, ...]
    others: tuple[Track, ...]
    dropped: tuple[DroppedTrack, ...] = ()
    used: tuple[TrackRow, ...] = ()
    unused: tuple[Unused, ...] = ()
    touched: tuple[str, ...] = ()
    is_complete: bool = False

    @property
    def digest(self) -> str:
        """Return the digest of the effective rows, regardless of order and remarks."""
        return digest_of([[row.track_id, row.act] for row in self.used])


def apply_tracks(video: TrackedVideo, rows: Sequence[TrackRow]) -> TracksByPeople:
    """Apply people's rows to a video's tracks, each to the result of the previous ones.

    A row counts where its `check` is that of its track as programs made it, or as the rows before left it.
    One on a track that programs made, and that was split since, counts for the part that has its frames. A
    row on everybody counts where each track, or a part of it, has a row that counts.

    Args:
        video: the tracks that programs left: those that may be asked about, and the others.
        rows: those of the video, in the order in which they were given.
    """
    work = _Work(video=video, tracks=video.tracks, others=video.others)
    for row in (track_row for track_row in rows if track_row.track_id != EVERYBODY):
        work.do(row)
    return TracksByPeople(
        is_complete=work.is_complete([track_row for track_row in rows if track_row.track_id == EVERYBODY]),
        tracks=work.tracks,
        others=work.others,
        dropped=tuple(work.dropped),
        used=tuple(work.used),
        unused=tuple(work.unused),
        touched=tuple(dict.fromkeys(work.touched)),
    )


class _CannotError(Exception):
    """A row cannot be applied, with the reason."""


@dataclass(kw_only=True)
class _Work:
    video: TrackedVideo
    tracks: tuple[Track, ...]
    others: tuple[Track, ...]
    dropped: list[DroppedTrack] = field(default_factory=list)
    used: list[TrackRow] = field(default_factory=list)
    unused: list[Unused] = field(default_factory=list)
    touched: list[str] = field(default_factory=list)

    def do(self, row: TrackRow) -> None:
        """Apply a row, or record why not."""
        try:
            self._do(row, row.parsed, self._target(row))
        except _CannotError as why:
            self.unused.append(Unused(where=row.where, why=str(why)))
        else:
            self.used.append(row)

    def is_complete(self, rows: Sequence[TrackRow]) -> bool:
        """Whether a person declared it complete, and each track has a row."""
        about = {row.track_id for row in self.used}
        every = (*self.video.tracks, *listed_others(self.video.others, self.video))
        names = [track.track_id for track in every if track.track_id not in about]
        some = ", ".join(names[:5]) + (", ..." if len(names) > 5 else "")
        why = f"{len(names)} tracks have no row that counts ({some})" if names else ""
        n_used = len(self.used)
        for row in rows:
            has_changed = row.check != check_of_everybody(self.video)
            if message := "the tracks have changed since; look at them again" if has_changed else why:
                self.unused.append(Unused(where=row.where, why=message))
            else:
                self.used.append(row)
        return len(self.used) > n_used

    def _do(self, row: TrackRow, act: Act, track: Track) -> None:
        name = track.track_id
        match act.name:
            case "ok":
                self._move(track, row, is_asked=True)
            case "aside":
                self._move(track, row, is_asked=False)
            case "phantom":
                self._replace(track)
                self._gone(name, row, "a person saw that it shows no one")
                self.touched.append(name)
            case "split":
                self._split(track, act.first, row)
            case "join":
                self._join(track, self._named(act.other), row)
            case "same-as":
                self._same(row, track, self._named(act.other))
            case _:
                self._drop(row, act, track)

    def _target(self, row: TrackRow) -> Track:
        """Return the track that a row is about, in its current state.

        Raises:
            _CannotError: there is none, or it has changed since.
        """
        now = self._find(row.track_id)
        if now is not None and check_of_track(now) == row.check:
            return now
        base = _of_name(row.track_id, (*self.video.tracks, *self.video.others))
        if base is None and now is None:
            raise _CannotError(f"there is no track {row.track_id}")
        if base is None or check_of_track(base) != row.check:
            raise _CannotError(f"the track {row.track_id} has changed since; look at it again")
        if now is not None:
            return now
        act = row.parsed
        if act.first >= 0:  # the part that has these frames
            parts = [t for t in (*self.tracks, *self.others) if t.track_id.startswith(f"{row.track_id}/")]
            for part in parts:
                if part.first_frame <= act.first and act.last <= part.last_frame:
                    return part
        raise _CannotError(
            f"an earlier row has changed the track {row.track_id}; refer to the track that is left of it"
        )

    def _find(self, name: str) -> Track | None:
        return _of_name(name, (*self.tracks, *self.others))

    def _named(self, name: str) -> Track:
        track = self._find(name)
        if track is None:
            parts = f"; it is split, name its part, {name}/1" if self._find(f"{name}/1") else ""
            raise _CannotError(f"there is no track {name}{parts}")
        return track

    def _move(self, track: Track, row: TrackRow, *, is_asked: bool) -> None:
        """Admit a track to questions, or set it aside; it counts as a person either way."""
        if is_asked and track in self.others:
            self._replace(track)
            self.tracks = (*self.tracks, track)
        elif not is_asked and track in self.tracks:
            self._replace(track)
            self.others = (*self.others, track)
            self._gone(track.track_id, row, "a person left it out")

    def _split(self, track: Track, at: int, row: TrackRow) -> None:
        """Replace a track by two, both of which questions may be about."""
        name, first, last = track.track_id, track.first_frame, track.last_frame
        if not first < at <= last:
            raise _CannotError(
                f"the track {name} is to be split at {at}; expected a frame from {first + 1} to {last}"
            )
        place = int(np.searchsorted(track.frame_indices, at))
        parts = [
            replace(track.part(which), track_id=f"{name}/{number}")
            for number, which in enumerate((slice(0, place), slice(place, len(track.frame_indices))), 1)
        ]
        if track in self.others:
            self._replace(track)
            self.tracks = (*self.tracks, *parts)
        else:
            self._replace(track, *parts)
        self._gone(name, row, f"a person saw another person from frame {at}")
        self.touched += [name, *(part.track_id for part in parts)]

    def _join(self, track: Track, other: Track, row: TrackRow) -> None:
        """Join two tracks under the other's name; questions may be about it."""
        name, into = track.track_id, other.track_id
        self._apart(track, other)
        if self.video.shots and self.video.shot_of(track.first_frame) != self.video.shot_of(
            other.first_frame
        ):
            raise _CannotError(
                f"the tracks {name} and {into} are in different shots; tracks end at cuts: correct the "
                "shots, or leave them apart"
            )
        self._replace(track)
        joined = _joined(other, track)
        if other in self.others:
            self._replace(other)
            self.tracks = (*self.tracks, joined)
        else:
            self._replace(other, joined)
        self._gone(name, row, f"a person joined it with {into}")
        self.touched += [name, into]

    def _apart(self, track: Track, other: Track) -> None:
        """Check that two tracks can be one person.

        Raises:
            _CannotError: both have a box in some frame.
        """
        both = np.intersect1d(track.frame_indices, other.frame_indices)
        if len(both):
            raise _CannotError(
                f"the tracks {track.track_id} and {other.track_id} cannot be one person: both have a box in "
                f"{len(both)} frames, {both[0]} to {both[-1]}"
            )

    def _same(self, row: TrackRow, track: Track, other: Track) -> None:
        """Keep both tracks as people present; no question is about either."""
        self._apart(track, other)
        for entry, two in ((track, other), (other, track)):
            if entry in self.tracks:
                self.tracks = tuple(t for t in self.tracks if t is not entry)
                self.others = (*self.others, entry)
                self._gone(entry.track_id, row, f"the same person as {two.track_id}, who comes back")
            self.touched.append(entry.track_id)

    def _drop(self, row: TrackRow, act: Act, track: Track) -> None:
        """Remove some frames' boxes from a track, and the track with its last box."""
        frames = track.frame_indices
        keep = (frames < act.first) | (frames > act.last)
        n_gone = int(np.count_nonzero(~keep))
        name = track.track_id
        if not n_gone:
            raise _CannotError(f"the track {name} has no box in the frames {act.first} to {act.last}")
        if n_gone == len(frames):
            self._replace(track)
            self._gone(name, row, "a person took out all of its boxes")
        else:
            self._replace(track, track.part(keep))
            self._gone(f"{name}, frames {act.first} to {act.last}", row, f"{n_gone} boxes")
        self.touched.append(name)

    def _replace(self, old: Track, *new: Track) -> None:
        self.tracks = tuple(t for track in self.tracks for t in (new if track is old else (track,)))
        self.others = tuple(t for other in self.others for t in (new if other is old else (other,)))

    def _gone(self, what: str, row: TrackRow, detail: str) -> None:
        message = f"{detail}: {row.act}, {row.by}"
        self.dropped.append(DroppedTrack(what=what, stage=STAGE, reason=BY_A_PERSON, detail=message))


def _of_name(name: str, tracks: Sequence[Track]) -> Track | None:
    return next((track for track in tracks if track.track_id == name), None)


def _joined(track: Track, other: Track) -> Track:
    """Merge two tracks in time order, under the name of the first."""
    frames = np.concatenate([track.frame_indices, other.frame_indices])
    order = np.argsort(frames, kind="stable")
    return Track(
        track_id=track.track_id,
        class_name=track.class_name,
        frame_indices=frames[order],
        boxes_px=np.concatenate([track.boxes_px, other.boxes_px])[order],
        confidences=np.concatenate([track.confidences, other.confidences])[order],
        is_detected=np.concatenate([track.is_detected, other.is_detected])[order],
    )


def left_by_people(video: TrackedVideo, result: TracksByPeople) -> TrackedVideo:
    """Return the video with its tracks after people's edits; appearances are those of unsplit tracks."""
    names = {track.track_id for track in (*result.tracks, *result.others)}
    looks = {name: mean for name, mean in video.looks.items() if name in names}
    return replace(video, tracks=result.tracks, others=result.others, looks=looks)
