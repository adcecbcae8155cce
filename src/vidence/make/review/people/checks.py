"""Checks: twelve letters of what a person saw, by which a row is known to be about the same thing still."""

from collections.abc import Sequence

from vidence.make.pipeline.cache import digest_of
from vidence.make.pipeline.material import Card, SceneCard
from vidence.make.review.people.rows import Act
from vidence.seeing.shooting import Shot
from vidence.seeing.tracks import Track, TrackedVideo, check_letters, listed_others, track_check


def check_of(value: object) -> str:
    """The letters of anything that msgspec can write.

    >>> check_of(["a", 1]) == check_of(("a", 1))
    True
    """
    return check_letters(digest_of(value))


def check_of_track(track: Track) -> str:
    """Those of one track: its frames and boxes, as on the sheets."""
    return track_check(track)


def check_of_everybody(video: TrackedVideo) -> str:
    """Those of all tracks that a person looks at."""
    return check_of([track_check(one) for one in (*video.tracks, *listed_others(video.others, video))])


def check_of_shots(shots: Sequence[Shot], act: Act) -> str:
    """Those of the shots that an act on cuts is about: all that it touches, and the one before."""
    touched = [shot for shot in shots if shot.first_frame <= act.last and shot.last_frame >= act.first - 1]
    return check_of([(shot.first_frame, shot.last_frame, shot.n_mixed) for shot in touched])


def check_of_shot(shot: Shot) -> str:
    """Those of one shot, by which its descriptions are known."""
    return check_of([shot.first_frame, shot.last_frame, shot.n_mixed])


def check_of_video(sha256: str) -> str:
    """Those of a video file, by which counts are known."""
    return check_of(["video", sha256])


def check_of_card(card: Card) -> str:
    """Those of a card: of whom it speaks and what it says."""
    return check_of([card.track_id, card.kind, card.text])


def check_of_scene(card: SceneCard) -> str:
    """Those of a scene card: what it says and what of it is false."""
    return check_of([card.card_id, card.text, [change.after for change in card.changes]])
