"""Logs of kitchens that nobody was in: events with known counts, orders and absences."""

from collections.abc import Sequence

import numpy as np

from subjects.planted_people import source
from vidence.make.pipeline.material import Corpus, Event, Material

VERBS = ("open", "wash", "cut", "stir", "peel", "fill", "fold", "dry", "shake", "squeeze")
NOUNS = (
    *("kettle", "carrot", "blender", "lemon", "apron", "whisk", "pumpkin", "toaster", "rice"),
    *("ladder", "grater", "candle", "basil", "noodle", "scale", "radio", "cork", "funnel"),
)


def event(
    number: int,
    verb: str,
    noun: str,
    *,
    video_id: str = "v",
    start_s: float | None = None,
    end_s: float | None = None,
    others: Sequence[str] = (),
) -> Event:
    """An event with the classes of `VERBS` and `NOUNS`, -1 for other words; by default 2 s of every 4."""
    begins = 4.0 * number if start_s is None else start_s
    nouns = (noun, *others)
    return Event(
        event_id=f"{video_id}_{number}",
        video_id=video_id,
        start_s=begins,
        end_s=begins + 2.0 if end_s is None else end_s,
        narration=" and ".join((f"{verb} {noun}", *others)),
        verb=verb,
        noun=noun,
        verb_class=VERBS.index(verb) if verb in VERBS else -1,
        noun_class=NOUNS.index(noun) if noun in NOUNS else -1,
        nouns=nouns,
        noun_classes=tuple(NOUNS.index(one) if one in NOUNS else -1 for one in nouns),
    )


def events(pairs: Sequence[tuple[str, str]], *, video_id: str = "v") -> tuple[Event, ...]:
    """One event for each pair, one after the other."""
    return tuple(event(i, verb, noun, video_id=video_id) for i, (verb, noun) in enumerate(pairs))


def material(found: Sequence[Event], *, video_id: str = "v") -> Material:
    """A video of which only the log is known."""
    return Material(source=source(video_id, 100), events=tuple(found))


def kitchen(seed: int, *, video_id: str, n_events: int = 60, overlapping: bool = False) -> tuple[Event, ...]:
    """Random events; some pairs are done again and again, and some do not occur."""
    rng = np.random.default_rng(seed)
    verbs = rng.permutation(len(VERBS))[:7]
    nouns = rng.permutation(len(NOUNS))[:10]
    found, at = [], 0.0
    for number in range(n_events):
        # Low places come more often than high ones.
        verb = VERBS[verbs[int(7 * rng.random() ** 2)]]
        noun = NOUNS[nouns[int(10 * rng.random() ** 2)]]
        lasts = float(rng.integers(1, 5))
        found.append(event(number, verb, noun, video_id=video_id, start_s=at, end_s=at + lasts))
        at += lasts + float(rng.integers(-2 if overlapping else 1, 3))
        at = max(at, found[-1].start_s)
    return tuple(found)


def kitchens(n: int = 12, *, n_events: int = 60, overlapping: bool = False) -> Corpus:
    """The logs of several videos, ``k0`` and so on."""
    return Corpus(
        events={
            f"k{i}": kitchen(i, video_id=f"k{i}", n_events=n_events, overlapping=overlapping)
            for i in range(n)
        }
    )
