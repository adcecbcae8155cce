"""Check codes: twelve letters that identify what a person saw, to detect changes.

What people's files tell of one video beside its tracks and shots stands under short names, as letters or as
the words of cards: what a making has used, and what was said, taken back or changed since.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from vidence.make.pipeline.cache import digest_of
from vidence.make.pipeline.material import Card, SceneCard
from vidence.make.pipeline.output import read_lines
from vidence.make.review.people.rows import Act, CardCheckRow, CountRow, FalseCheckRow, read_rows
from vidence.seeing.shooting import Shot
from vidence.seeing.tracks import Track, TrackedVideo, check_letters, listed_others, track_check

CARD, SCENE, READING, COUNT = "card", "scene card", "reading", "count"
KINDS: Final = (CARD, SCENE, READING, COUNT)
_ABOUT: Final = ("check", "track_id", "shot_id", "at_s")


def check_of(value: object) -> str:
    """Return the code of anything that msgspec can serialise.

    >>> check_of(["a", 1]) == check_of(("a", 1))
    True
    """
    return check_letters(digest_of(value))


def check_of_track(track: Track) -> str:
    """Return the code of one track: its frames and boxes, as on the sheets."""
    return track_check(track)


def check_of_everybody(video: TrackedVideo) -> str:
    """Return the code of all tracks that a person sees."""
    return check_of([track_check(track) for track in (*video.tracks, *listed_others(video.others, video))])


def check_of_shots(shots: Sequence[Shot], act: Act) -> str:
    """Return the code of the shots that a cut edit affects, and the one before."""
    touched = [shot for shot in shots if shot.first_frame <= act.last and shot.last_frame >= act.first - 1]
    return check_of([(shot.first_frame, shot.last_frame, shot.n_mixed) for shot in touched])


def check_of_shot(shot: Shot) -> str:
    """Return the code of a shot, which identifies its descriptions."""
    return check_of([shot.first_frame, shot.last_frame, shot.n_mixed])


def check_of_video(sha256: str) -> str:
    """Return the code of a video file, which identifies counts."""
    return check_of(["video", sha256])


def check_of_card(card: Card) -> str:
    """Return the check of a card: its track and text."""
    return check_of([card.track_id, card.kind, card.text])


def check_of_scene(card: SceneCard) -> str:
    """Return the code of a scene card: its text, and which parts are false."""
    return check_of([card.card_id, card.text, [change.after for change in card.changes]])


def said_by_people(folder: Path, video_id: str) -> dict[str, str]:
    """Return the card texts, reading checks and count checks of a video, by kind and name.

    A card is named by the `check` of its track or shot where its line has one, whatever number that has now.

    Args:
        folder: the folder of people's files; what is not there says nothing.
        video_id: the video.

    Raises:
        DataError: a file has lines that cannot be used.
    """
    words = _words(folder, video_id)
    for card in read_rows(folder, CardCheckRow, videos=None):
        if card.video_id == video_id:
            words[f"{READING}:{card.track_id}/{card.kind} {card.by}"] = check_of(
                [card.check, card.fits, card.leaks]
            )
    for false in read_rows(folder, FalseCheckRow, videos=None):
        if false.video_id == video_id:
            words[f"{READING}:{false.card_id} {false.by}"] = check_of([false.check, false.told, false.occurs])
    for count in read_rows(folder, CountRow, videos=None):
        if count.video_id == video_id:
            about = f"{count.place} {count.window} {count.counter} {' '.join(count.agreed)}"
            numbers = [count.check, count.n, count.n_low, count.n_high, *count.frames]
            words[f"{COUNT}:{about.strip()}"] = check_of(numbers)
    return words


def _words(folder: Path, video_id: str) -> dict[str, str]:
    """Return a video's cards and scene cards, true and false."""
    words: dict[str, str] = {}
    for name, kind in (("cards", CARD), ("scenes", SCENE)):
        path = folder / name / f"{video_id}.jsonl"
        rows = (
            read_lines(path, dict[str, object], fault="expected one JSON object on each line")
            if path.is_file()
            else []
        )
        for row in rows:
            about = next((str(row[key]) for key in _ABOUT if row.get(key) not in (None, "")), "")
            what = row.get("kind") or ("false" if row.get("changes") else "true")
            words[f"{kind}:{about}/{what}"] = str(row.get("text", ""))
            if row.get("false"):
                words[f"{kind}:{about}/false"] = str(row["false"])
    return words


def changed(
    before: Mapping[str, str], now: Mapping[str, str], *, used: Mapping[str, str]
) -> dict[str, list[str]]:
    """Return the names of new, changed and removed cards, readings and counts, by kind.

    What says the same as what is `used` by now, whoever wrote that, is not new. All that is said of the
    number of people at one place in one window is one count.

    >>> changed({"card:3/A": "aa"}, {"card:3/A": "bb", "count:left:top whole p1": "cc"}, used={})
    {'card': ['card:3/A'], 'count': ['count:left:top whole']}
    """
    others = {name for name in {*before, *now} if now.get(name) != before.get(name)}
    names = {_thing(name) for name in others if name not in now or now[name] != used.get(name)}
    values = {kind: sorted(name for name in names if name.startswith(f"{kind}:")) for kind in KINDS}
    return {kind: some for kind, some in values.items() if some}


def _thing(name: str) -> str:
    """Return what a name refers to; for a count, its place and window, by any counter."""
    return " ".join(name.split()[:2]) if name.startswith(f"{COUNT}:") else name
