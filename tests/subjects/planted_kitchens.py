"""A planted log of a kitchen: who reads it knows how often everything is done, and in which order."""

from collections.abc import Sequence

import numpy as np

from vidence.records import Record
from vidence.tables.export import csv_text

_COUNTS = (7, 6, 5, 4, 4, 3)  # how often what is done again and again is done
_N_ONCE = 9
_LENGTH_S, _PAUSE_S = (1.5, 4.0), (0.8, 2.5)
# What is done in a kitchen; each pair has words of its own, so that nothing counts as something else.
_DEEDS = (
    *(("wash", "carrot"), ("peel", "carrot"), ("grate", "carrot"), ("wash", "spoon"), ("dry", "spoon")),
    *(("stir", "soup"), ("taste", "soup"), ("salt", "soup"), ("fold", "towel"), ("wash", "towel")),
    *(("knead", "dough"), ("roll", "dough"), ("weigh", "dough"), ("peel", "onion"), ("cut", "onion")),
    *(("cut", "lemon"), ("squeeze", "lemon"), ("wash", "lemon"), ("weigh", "flour"), ("sift", "flour")),
    *(("dry", "pan"), ("wash", "pan"), ("heat", "pan"), ("grate", "cheese"), ("cut", "cheese")),
)


class Deed(Record):
    """Something that is done, from `start_s` to `end_s`."""

    verb: str
    noun: str
    start_s: float
    end_s: float


class Kitchen(Record):
    """All that is done in one video, in the order of time; no two things at once."""

    name: str
    deeds: tuple[Deed, ...]


def plan_kitchen(name: str, *, rng: np.random.Generator) -> Kitchen:
    """Draw what is done, how often, and when; what is done once stands between what is done often."""
    drawn = [_DEEDS[i] for i in rng.permutation(len(_DEEDS))]
    often = [deed for deed, n in zip(drawn, _COUNTS, strict=False) for _ in range(n)]
    once = drawn[len(_COUNTS) : len(_COUNTS) + _N_ONCE]
    every = often + once
    at_s = 2.0
    deeds = []
    for i in rng.permutation(len(every)):
        end_s = at_s + float(rng.uniform(*_LENGTH_S))
        verb, noun = every[i]
        deeds.append(Deed(verb=verb, noun=noun, start_s=round(at_s, 2), end_s=round(end_s, 2)))
        at_s = end_s + float(rng.uniform(*_PAUSE_S))
    return Kitchen(name=name, deeds=tuple(deeds))


def log_of(kitchens: Sequence[Kitchen]) -> str:
    """The log as a table in CSV, with the columns of the plain format."""
    names = ("video_id", "start", "end", "narration", "verb", "noun")
    rows = [
        (kitchen.name, str(deed.start_s), str(deed.end_s), told, deed.verb, deed.noun)
        for kitchen in kitchens
        for deed in kitchen.deeds
        for told in (f"{deed.verb} the {deed.noun}",)
    ]
    return csv_text([names, *rows], is_data=True)
