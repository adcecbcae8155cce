"""What people say of tracks, done row by row: splits, joins, phantoms, wrong boxes, one person seen twice."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np

from vidence.errors import DataError
from vidence.make.pipeline.cache import digest_of
from vidence.make.review.people.checks import check_of_track
from vidence.make.review.people.rows import Act, TrackRow
from vidence.seeing.corrections import Corrected, TrackVerdict, correct
from vidence.seeing.tracks import DroppedTrack, Track, TrackedVideo

BY_A_PERSON: Final = "by-a-person"
STAGE: Final = "tracks"


@dataclass(frozen=True, kw_only=True)
class Unused:
    """A row that was not used: where it stands, and why."""

    where: str
    why: str

    def __str__(self) -> str:
        return f"{self.where}: not used: {self.why}"


@dataclass(frozen=True, kw_only=True)
class TracksByPeople:
    """The tracks of a video behind the rows about it.

    `dropped` are tracks, and boxes of tracks, that went; `used` the rows that count, `unused` the others.
    `touched` are the names, before and after, of all tracks that a row changed.
    """

    tracks: tuple[Track, ...]
    others: tuple[Track, ...]
    dropped: tuple[DroppedTrack, ...] = ()
    used: tuple[TrackRow, ...] = ()
    unused: tuple[Unused, ...] = ()
    touched: tuple[str, ...] = ()

    @property
    def digest(self) -> str:
        """Of what the rows that count say, wherever they stand and whatever else is noted beside."""
        return digest_of([[row.track_id, row.act] for row in self.used])


def apply_tracks(video: TrackedVideo, rows: Sequence[TrackRow]) -> TracksByPeople:
    """The tracks of a video as people leave them: each row in its turn, on what those before it left.

    A row counts where its `check` is that of its track as programs made it, or as the rows before left it.
    One on a track that programs made, and that was split since, counts for the part that has its frames.

    Args:
        video: the tracks that programs left: those that may be asked about, and the others.
        rows: those of the video, in the order in which they were given.
    """
    work = _Work(video=video, tracks=video.tracks, others=video.others)
    for row in rows:
        work.do(row)
    return TracksByPeople(
        tracks=work.tracks,
        others=work.others,
        dropped=tuple(work.dropped),
        used=tuple(work.used),
        unused=tuple(work.unused),
        touched=tuple(dict.fromkeys(work.touched)),
    )


class _CannotError(Exception):
    """A row cannot be used, for a reason."""


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
        """Do what a row says, or note why not."""
        try:
            self._do(row, row.parsed, self._target(row))
        except _CannotError as why:
            self.unused.append(Unused(where=row.where, why=str(why)))
        else:
            self.used.append(row)

    def _do(self, row: TrackRow, act: Act, track: Track) -> None:
        name = track.track_id
        match act.name:
            case "ok":
                self._correct(TrackVerdict(track_id=name, verdict="ok"), row)
            case "phantom":
                self._correct(TrackVerdict(track_id=name, verdict="phantom"), row)
                self.touched.append(name)
            case "split":
                self._correct(TrackVerdict(track_id=name, verdict="switch", at_frames=(act.first,)), row)
                self.touched += [name, f"{name}/1", f"{name}/2"]
            case "join":
                self._named(act.other)
                self._correct(TrackVerdict(track_id=name, verdict="merge", into=act.other), row)
                self.touched += [name, act.other]
            case "same-as":
                self._same(row, track, self._named(act.other))
            case _:
                self._drop(row, act, track)

    def _target(self, row: TrackRow) -> Track:
        """The track that a row is about, as it is by now.

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
        raise _CannotError(f"a row before has changed the track {row.track_id}; say it of what is left of it")

    def _find(self, name: str) -> Track | None:
        return _of_name(name, (*self.tracks, *self.others))

    def _named(self, name: str) -> Track:
        found = self._find(name)
        if found is None:
            raise _CannotError(f"there is no track {name}")
        return found

    def _correct(self, verdict: TrackVerdict, row: TrackRow) -> None:
        """Change the tracks as a verdict on the sheets does."""
        try:
            made: Corrected = correct(self.tracks, self.others, [verdict], video=self.video)
        except DataError as error:
            words = str(error).rpartition("\n")[2].removeprefix(": ")
            raise _CannotError(words) from error
        self.tracks, self.others = made.tracks, made.others
        for gone in made.dropped:
            self._gone(gone.what, row, gone.detail)

    def _same(self, row: TrackRow, track: Track, other: Track) -> None:
        """Both count as somebody who is there, and nobody is asked about either."""
        both = np.intersect1d(track.frame_indices, other.frame_indices)
        if len(both):
            raise _CannotError(
                f"the tracks {track.track_id} and {other.track_id} cannot be one person: both have a box in "
                f"{len(both)} frames, {both[0]} to {both[-1]}"
            )
        for one, two in ((track, other), (other, track)):
            if one in self.tracks:
                self.tracks = tuple(t for t in self.tracks if t is not one)
                self.others = (*self.others, one)
                self._gone(one.track_id, row, f"the same person as {two.track_id}, who comes back")
            self.touched.append(one.track_id)

    def _drop(self, row: TrackRow, act: Act, track: Track) -> None:
        """Take the boxes of some frames out of a track; the track goes with its last box."""
        frames = track.frame_indices
        keep = (frames < act.first) | (frames > act.last)
        n_gone = int(np.count_nonzero(~keep))
        name = track.track_id
        if not n_gone:
            raise _CannotError(f"the track {name} has no box in the frames {act.first} to {act.last}")
        if n_gone == len(frames):
            self._replace(track, None)
            self._gone(name, row, "a person took out all of its boxes")
        else:
            self._replace(track, track.part(keep))
            self._gone(f"{name}, frames {act.first} to {act.last}", row, f"{n_gone} boxes")
        self.touched.append(name)

    def _replace(self, old: Track, new: Track | None) -> None:
        left = () if new is None else (new,)
        self.tracks = tuple(t for one in self.tracks for t in (left if one is old else (one,)))
        self.others = tuple(t for one in self.others for t in (left if one is old else (one,)))

    def _gone(self, what: str, row: TrackRow, detail: str) -> None:
        said = f"{detail}: {row.act}, {row.by}"
        self.dropped.append(DroppedTrack(what=what, stage=STAGE, reason=BY_A_PERSON, detail=said))


def _of_name(name: str, tracks: Sequence[Track]) -> Track | None:
    return next((track for track in tracks if track.track_id == name), None)


def left_by_people(video: TrackedVideo, result: TracksByPeople) -> TrackedVideo:
    """The video with its tracks as people leave them; looks are those of tracks that were not split."""
    names = {track.track_id for track in (*result.tracks, *result.others)}
    looks = {name: mean for name, mean in video.looks.items() if name in names}
    return replace(video, tracks=result.tracks, others=result.others, looks=looks)
