"""Tracks as people correct them: phantoms taken out, changes of person split, fragments joined."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Final, Literal

import numpy as np

from vidence.errors import DataError
from vidence.records import Record
from vidence.seeing.tracks import DroppedTrack, Track, TrackedVideo
from vidence.text import first_lines

STAGE: Final = "reviewed"
_LETTERS: Final = str.maketrans("0123456789", "ghjkmnpqrs")
_CHECK_CHARS: Final = 12
_LEAST_OTHER_S: Final = 0.5


class TrackVerdict(Record, omit_defaults=True):
    """What a person says of one track.

    ``ok``: one person from its first frame to its last. ``phantom``: nobody is there, or somebody whom
    another track shows at the same time; it counts nowhere. ``drop``: a person of their own, who counts where
    people are counted, and about whom nothing is to be asked. ``switch``: it goes over to somebody
    else at each of `at_frames`, the first frames of the parts ``ID/2``, ``ID/3``, ... behind ``ID/1``.
    ``merge``: it is the same person as the track `into`, whose name it takes.
    """

    track_id: str
    verdict: Literal["ok", "phantom", "drop", "switch", "merge"]
    at_frames: tuple[int, ...] = ()
    into: str = ""
    check: str = ""
    """Of the track that was looked at; empty where nobody knows."""
    where: str = ""
    """File and line, for messages."""


def track_check(track: Track) -> str:
    """Twelve letters that change with the frames and boxes of a track.

    They hold no digit: a spreadsheet takes ``4811828e6756`` for a number and writes another one back.
    """
    frames = np.ascontiguousarray(track.frame_indices.astype("<i8"))
    boxes = np.ascontiguousarray(np.rint(track.boxes_px).astype("<i8"))
    digest = hashlib.sha256(frames.tobytes() + boxes.tobytes()).hexdigest()
    return check_letters(digest)


def check_letters(digest: str) -> str:
    """Twelve letters of a hexadecimal digest."""
    return digest[:_CHECK_CHARS].translate(_LETTERS)


@dataclass(frozen=True, kw_only=True)
class Corrected:
    """Tracks after corrections.

    `is_complete` says that a person answers for all of them: each has a verdict, and nobody was missed.
    """

    tracks: tuple[Track, ...]
    others: tuple[Track, ...]
    dropped: tuple[DroppedTrack, ...]
    is_complete: bool


def correct(
    tracks: Sequence[Track],
    others: Sequence[Track],
    verdicts: Sequence[TrackVerdict],
    *,
    video: TrackedVideo,
    all_at: str = "",
) -> Corrected:
    """Tracks as people corrected them; those without a verdict stay as they are.

    First tracks are split, then phantoms go, then fragments are joined. What is ``ok``, a part of a split
    track, or joined, is somebody who may be asked about, also where a program had left the track out.

    Args:
        tracks: the people who may be asked about.
        others: the people whom programs left out.
        verdicts: at most one for each track, or for a part of a split one.
        video: for its shots and times.
        all_at: file and line where a person says that everybody in the video has a track; empty where nobody
            does.

    Raises:
        DataError: a verdict on a track that there is not, or on another track than was looked at; a split
            outside the track; a join with a phantom, with the track itself, over a cut, or of two tracks
            that overlap in time; everybody is said to have a track, and tracks have no verdict. All are
            named, each with its file and line.
    """
    work = _Correction(
        tracks={one.track_id: one for one in tracks},
        others={one.track_id: one for one in others},
        video=video,
    )
    work.check(verdicts)
    work.split([one for one in verdicts if one.verdict == "switch"])
    rest = [one for one in verdicts if one.verdict != "switch" and work.find(one) is not None]
    for one in rest:
        work.settle(one)
    work.merge({one.track_id: one for one in rest if one.verdict == "merge"})
    said = {one.track_id for one in verdicts}
    open_ones = [one.track_id for one in (*tracks, *listed_others(others, video)) if one.track_id not in said]
    if all_at and open_ones:
        some = ", ".join(open_ones[:5]) + (", ..." if len(open_ones) > 5 else "")
        work.faults.append(
            f"{all_at}: everybody is said to have a track, and {len(open_ones)} tracks have no verdict "
            f"({some}); give each one"
        )
    if work.faults:
        raise DataError(f"the verdicts on tracks cannot be used:\n{first_lines(work.faults)}")
    return Corrected(
        tracks=tuple(work.tracks.values()),
        others=tuple(work.others.values()),
        dropped=tuple(work.dropped),
        is_complete=bool(all_at),
    )


def listed_others(
    others: Sequence[Track], video: TrackedVideo, *, least_s: float = _LEAST_OTHER_S
) -> tuple[Track, ...]:
    """Those whom programs left out who are long enough in view for a person to look at: half a second."""
    spans = ((one, *video.span_s(one)) for one in others)
    return tuple(one for one, start_s, end_s in spans if end_s - start_s >= least_s)


@dataclass(kw_only=True)
class _Correction:
    tracks: dict[str, Track]
    others: dict[str, Track]
    video: TrackedVideo
    dropped: list[DroppedTrack] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    phantoms: dict[str, TrackVerdict] = field(default_factory=dict)

    def check(self, verdicts: Sequence[TrackVerdict]) -> None:
        """See that the verdicts were given on these very tracks, each once."""
        seen: dict[str, TrackVerdict] = {}
        stale: list[TrackVerdict] = []
        for one in verdicts:
            first = seen.setdefault(one.track_id, one)
            if first is not one:
                self.faults.append(
                    f"{one.where}: a second verdict on the track {one.track_id}, after {first.where}"
                )
            track = self.tracks.get(one.track_id, self.others.get(one.track_id))
            if track is not None and one.check and one.check != track_check(track):
                stale.append(one)
        if stale:
            names = ", ".join(one.track_id for one in stale[:5]) + (", ..." if len(stale) > 5 else "")
            raise DataError(
                f"{stale[0].where}: {len(stale)} verdicts were given on other tracks ({names}): the video, "
                "the boxes or settings of [tracking] have changed since; write the sheets anew into another "
                "folder (--sheets), look at these tracks again, and take over what still holds"
            )

    def track(self, track_id: str) -> Track | None:
        return self.tracks.get(track_id, self.others.get(track_id))

    def find(self, one: TrackVerdict) -> Track | None:
        """The track, or the part of one, that a verdict is on; a fault where there is none."""
        track = self.track(one.track_id)
        if track is None:
            known = [*self.tracks, *self.others]
            some = ", ".join(known[:5]) + (", ..." if len(known) > 5 else "")
            whole = one.track_id.rpartition("/")[0]
            why = f"; the track {whole} is not split that often" if self._was_split(whole) else ""
            self.faults.append(
                f"{one.where}: there is no track {one.track_id!r}; there are {len(known)} "
                f"({some or 'none'}){why}"
            )
        return track

    def _was_split(self, track_id: str) -> bool:
        return f"{track_id}/1" in self.tracks

    def split(self, verdicts: Sequence[TrackVerdict]) -> None:
        """Cut tracks where they go over to somebody else; the parts take their place."""
        for one in verdicts:
            track = self.find(one)
            if track is None:
                continue
            first, last = track.first_frame, track.last_frame
            wrong = [at for at in one.at_frames if not first < at <= last]
            if wrong or list(one.at_frames) != sorted(set(one.at_frames)):
                self.faults.append(
                    f"{one.where}: the track {one.track_id} is to be split at "
                    f"{', '.join(map(str, one.at_frames))}; expected frames from {first + 1} to {last}, "
                    "ascending"
                )
                continue
            places = [
                0,
                *np.searchsorted(track.frame_indices, one.at_frames).tolist(),
                len(track.frame_indices),
            ]
            parts = {
                f"{one.track_id}/{number}": replace(
                    track.part(slice(start, end)), track_id=f"{one.track_id}/{number}"
                )
                for number, (start, end) in enumerate(pairwise(places), 1)
                if end > start
            }
            self.others.pop(one.track_id, None)
            at = list(self.tracks).index(one.track_id) if one.track_id in self.tracks else len(self.tracks)
            every = [(name, one) for name, one in self.tracks.items() if name not in parts]
            every[at:at] = parts.items()
            self.tracks = {name: some for name, some in every if name != one.track_id}
            detail = f"a person saw somebody else from frame {', '.join(map(str, one.at_frames))}"
            self._gone(one.track_id, "split-by-people", detail)

    def settle(self, one: TrackVerdict) -> None:
        """Take a phantom out, leave somebody out, or let somebody in."""
        match one.verdict:
            case "phantom":
                self.tracks.pop(one.track_id, None)
                self.others.pop(one.track_id, None)
                self.phantoms[one.track_id] = one
                self._gone(one.track_id, "phantom", "a person saw nobody there")
            case "drop":
                if one.track_id in self.tracks:
                    self.others[one.track_id] = self.tracks.pop(one.track_id)
                    self._gone(one.track_id, "dropped-by-people", "a person left it out")
            case "ok":
                if one.track_id in self.others:
                    self.tracks[one.track_id] = self.others.pop(one.track_id)
            case _:
                pass

    def merge(self, verdicts: Mapping[str, TrackVerdict]) -> None:
        """Join the tracks that are one person, whatever the chain of verdicts."""
        groups: dict[str, list[TrackVerdict]] = {}
        for one in verdicts.values():
            root, seen = one.into, {one.track_id}
            while root in verdicts and root not in seen:
                seen.add(root)
                root = verdicts[root].into
            if root in seen:
                self.faults.append(
                    f"{one.where}: the track {one.track_id} is joined with itself ({one.into}); "
                    "let one of these tracks be ok"
                )
            elif root in self.phantoms:
                self.faults.append(
                    f"{one.where}: the track {one.track_id} is joined with {root}, which is a phantom "
                    f"({self.phantoms[root].where}); one of them is wrong"
                )
            elif self.track(root) is None:
                parts = f"; it is split, name its part, {root}/1" if self._was_split(root) else ""
                self.faults.append(
                    f"{one.where}: the track {one.track_id} is joined with {root!r}, which there is "
                    f"not{parts}"
                )
            else:
                groups.setdefault(root, []).append(one)
        for root, mine in groups.items():
            self._join(root, mine)

    def _join(self, root: str, mine: Sequence[TrackVerdict]) -> None:
        every = {**self.others, **self.tracks}
        joined = every[root]
        for one in mine:
            other = every[one.track_id]
            both = np.intersect1d(joined.frame_indices, other.frame_indices)
            starts = {self.video.shot_of(track.first_frame) for track in (joined, other)}
            if len(both):
                self.faults.append(
                    f"{one.where}: the tracks {one.track_id} and {root} cannot be one person: both have a "
                    f"box in {len(both)} frames, {both[0]} to {both[-1]}; split one of them first"
                )
                continue
            if self.video.shots and len(starts) > 1:
                self.faults.append(
                    f"{one.where}: the tracks {one.track_id} and {root} are in different shots; tracks end "
                    "at cuts: correct the shots, or leave them apart"
                )
                continue
            joined = _joined(joined, other)
            self.tracks.pop(one.track_id, None)
            self.others.pop(one.track_id, None)
            self._gone(one.track_id, "merged", f"a person joined it with {root}")
        self.others.pop(root, None)
        self.tracks[root] = joined

    def _gone(self, what: str, reason: str, detail: str) -> None:
        self.dropped.append(DroppedTrack(what=what, stage=STAGE, reason=reason, detail=detail))


def _joined(one: Track, other: Track) -> Track:
    """Both in the order of time, under the name of the first."""
    frames = np.concatenate([one.frame_indices, other.frame_indices])
    order = np.argsort(frames, kind="stable")
    return Track(
        track_id=one.track_id,
        class_name=one.class_name,
        frame_indices=frames[order],
        boxes_px=np.concatenate([one.boxes_px, other.boxes_px])[order],
        confidences=np.concatenate([one.confidences, other.confidences])[order],
        is_detected=np.concatenate([one.is_detected, other.is_detected])[order],
    )
