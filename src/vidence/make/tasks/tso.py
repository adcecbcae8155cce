"""``tso``: temporal shot ordering: in which order described shots come."""

from collections.abc import Mapping, Sequence

import msgspec
import numpy as np

from vidence.catalog import take_options
from vidence.contracts import Flow
from vidence.make.pipeline.material import Corpus, Made, Material, Task
from vidence.make.tasks import _scenes
from vidence.make.tasks._drafting import Deck, Idea, Ideas, Ledger, NoIdea, computed
from vidence.make.tasks._orders import wrong_orders
from vidence.make.tasks._scenes import N_LISTED, Scene, SceneRules, Scenes
from vidence.make.tasks._wording import joined, number_word, numbered, order_of

ABSTAIN = "At least two of the descriptions fit no shot of the video"
_FEWEST_FALSE = 2
# Abstaining is right as often as one letter in five is.
_ABSTAIN_IN = 5
_WORDS = {
    "order": "In which order do these shots come in the video?",
    "first": "Which of these shots comes first in the video?",
    "last": "Which of these shots comes last in the video?",
}


class Tso:
    """Four described shots: their order, the first, the last, which come between two of them.

    Where there are false descriptions, an option says that at least two descriptions fit no shot; it is right
    in one draft of five, and the descriptions of such a draft are false in two places or more. Without false
    descriptions there is no such option, and questions other than the order list five shots.

    Source: HERBench, section 3.1 and figure 10.
    Departs: the paper prints one structure; the other three are ours. How often abstaining is right is not
        printed.
    """

    code = "TSO"
    title = "Temporal Shot Ordering"
    stem = "temporal_shot_ordering"
    family = "TR&C"
    version = 1
    needs: tuple[str, ...] = ("shots", "scene_cards")
    structures: tuple[str, ...] = ("order", "first", "last", "between")

    def __init__(self, rules: SceneRules) -> None:
        self._rules = rules

    def draft(
        self, material: Material, corpus: Corpus, *, most: int, rng: np.random.Generator
    ) -> Flow[Sequence[Made]]:
        """Up to `most` questions about the order of a video's shots; nobody is asked."""

        def sources(ledger: Ledger) -> list[Ideas]:
            scenes = _scenes.scenes_of(material, self._rules, ledger)
            return [_ideas(scenes, name, rng=rng) for name in self.structures]

        return computed(self, material, sources, most=most, rng=rng)


def _ideas(scenes: Scenes, structure: str, *, rng: np.random.Generator) -> Ideas:
    can_abstain = len(scenes.false) >= _FEWEST_FALSE
    n_listed = N_LISTED if can_abstain or structure == "order" else N_LISTED + 1
    deck = Deck(_ABSTAIN_IN, rng=rng)

    def draw() -> tuple[Scene, ...] | None:
        is_false = can_abstain and deck.draw() == 0
        n_most = min(n_listed, len(scenes.false))
        n_false = int(rng.integers(_FEWEST_FALSE, n_most + 1)) if is_false else 0
        return scenes.drawn(n_listed, n_false=n_false, rng=rng)

    needed = f"{n_listed} shots with true descriptions that tell them apart"
    for drawn in _scenes.new_draws(draw, structure=structure, needed=needed):
        yield (
            drawn if isinstance(drawn, NoIdea) else _idea(drawn, structure, can_abstain=can_abstain, rng=rng)
        )


def _idea(scenes: tuple[Scene, ...], structure: str, *, can_abstain: bool, rng: np.random.Generator) -> Idea:
    is_abstain = any(not scene.card.is_faithful for scene in scenes)
    make = _between if structure == "between" else _ends if structure in ("first", "last") else _order
    words, right, wrong = make(scenes, structure, rng)
    if can_abstain:
        tempting = (right, *wrong)[: _ABSTAIN_IN - 1]
        right, wrong = (ABSTAIN, tempting) if is_abstain else (right, (*wrong[: _ABSTAIN_IN - 2], ABSTAIN))
    listed = numbered([scene.text for scene in scenes])
    return Idea(
        structure=structure,
        subject=_scenes.about(scenes),
        question=f"Here are descriptions of {number_word(len(scenes))} shots:\n{listed}\n{words}",
        right=right,
        wrong=wrong,
        evidence=tuple(scene.evidence for scene in sorted(scenes, key=lambda s: s.shot.first_frame)),
        facts=_scenes.facts(scenes) | {"order of their shots": order_of(_scenes.in_order(scenes))},
    )


_Made = tuple[str, str, tuple[str, ...]]


def _order(scenes: Sequence[Scene], structure: str, rng: np.random.Generator) -> _Made:
    right = _scenes.in_order(scenes)
    return _WORDS[structure], order_of(right), wrong_orders(right, n=_ABSTAIN_IN - 1, rng=rng)


def _ends(scenes: Sequence[Scene], structure: str, rng: np.random.Generator) -> _Made:
    numbers = _scenes.in_order(scenes)
    right = numbers[0] if structure == "first" else numbers[-1]
    wrong = tuple(f"Shot {i}" for i in sorted(numbers) if i != right)
    return _WORDS[structure], f"Shot {right}", wrong


def _between(scenes: Sequence[Scene], structure: str, rng: np.random.Generator) -> _Made:
    """Which shots come between two drawn ones; which option is to be right is drawn first, all alike."""
    numbers = _scenes.in_order(scenes)
    n_others = len(numbers) - 2
    drawn = int(rng.integers(n_others + 2))
    n_between = 1 if drawn < n_others else 0 if drawn == n_others else int(rng.integers(2, n_others + 1))
    place = int(rng.integers(len(numbers) - n_between - 1))
    inside = numbers[place + 1 : place + 1 + n_between]
    ends = sorted((numbers[place], numbers[place + 1 + n_between]))
    others = sorted(set(numbers) - set(ends))
    if n_others == 2:
        several = f"Both shot {others[0]} and shot {others[1]}"
        none = f"Neither shot {others[0]} nor shot {others[1]}"
    else:
        several = f"More than one of the shots {joined(others)}"
        none = f"None of the shots {joined(others)}"
    options = (*(f"Only shot {i}" for i in others), several, none)
    right = none if not inside else f"Only shot {inside[0]}" if len(inside) == 1 else several
    words = (
        f"Counting only these shots, which come between shot {ends[0]} and shot {ends[1]} in the video, "
        "whichever of these two comes first?"
    )
    return words, right, tuple(text for text in options if text != right)


def create(options: Mapping[str, str]) -> Task:
    """The task.

    Options: ``alike`` (word likeness above which descriptions do not tell shots apart, 0.6), ``shortest_s``
    (shortest shot, 0.5), ``mixed`` (yes: mix in false descriptions where there are some).

    Raises:
        UsageError: an option that is not known or cannot be read.
    """
    return Tso(msgspec.convert(take_options("tso", options, _scenes.OPTIONS), SceneRules))
