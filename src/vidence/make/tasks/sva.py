"""Scene verification and arrangement: which descriptions fit, and in which order."""

from collections.abc import Callable, Mapping, Sequence
from itertools import combinations

import numpy as np

from vidence.make.pipeline.material import Corpus, Material, Task
from vidence.make.tasks.candidates import (
    N_CHOICES,
    BalancedDraw,
    Candidate,
    Candidates,
    ComputedTask,
    DraftLog,
    NoCandidate,
    one_of_each,
)
from vidence.make.tasks.orders import other_orders
from vidence.make.tasks.scenes import (
    N_LISTED,
    Scene,
    Scenes,
    SceneSettings,
    about,
    facts,
    in_order,
    new_draws,
    scenes_of,
)
from vidence.make.tasks.wording import joined, number_word, numbered, order_of

NONE_FIRST = "None of the shots happened as it is described here"
FEWER_THAN_TWO = "Fewer than two of the descriptions fit the video"
COUNTS = ("None of them", "One of them", "Two of them", "Three of them", "All four of them")
_WARNING = "Some of the descriptions may be wrong in details; such a description fits no shot of the video."
_WORDS = {
    "first": "The options describe shots, some of them wrongly. Of the shots that are described correctly in "
    "every detail, which one comes first in the video?",
    "last": "The options describe shots, some of them wrongly. Of the shots that are described correctly in "
    "every detail, which one comes last in the video?",
    "order": "Leave out the descriptions that fit no shot. In which order do the shots of the others come?",
    "how-many": "How many of the descriptions fit a shot of the video in every detail?",
    "which": "Which of the descriptions fit a shot of the video in every detail?",
}


Settings = SceneSettings


class Sva(ComputedTask):
    """Four descriptions, some of them false: the first or last true one, their order, how many, which.

    How many are false is drawn so that every kind of answer is right about as often.

    Source: HERBench, sections 3.1 and 7.4, figure 17.
    Departs: the paper lists two to four descriptions; here always four, so that there are at least three
        pieces of evidence. The structures other than ``first`` and ``order`` are ours.
    """

    code = "SVA"
    title = "Scene Verification Arrangement"
    family = "GC&V"
    version = 1
    needs: tuple[str, ...] = ("shots", "scene_cards")
    structures: tuple[str, ...] = ("first", "last", "order", "how-many", "which")

    def __init__(self, settings: SceneSettings) -> None:
        self._settings = settings

    def sources(
        self, material: Material, corpus: Corpus, log: DraftLog, *, most: int, rng: np.random.Generator
    ) -> Sequence[Candidates]:
        """One source for each structure."""
        scenes = scenes_of(material, self._settings, log)
        if not scenes.false:
            log.drop("", reason="no-false-scene-cards", detail="the task mixes them in")
            return []
        return [_candidates(scenes, name, rng=rng) for name in self.structures]


def _candidates(scenes: Scenes, structure: str, *, rng: np.random.Generator) -> Candidates:
    balanced = BalancedDraw(N_CHOICES, rng=rng)

    def draw() -> tuple[Scene, ...] | None:
        n_true = _n_true(structure, card=balanced.next(), rng=rng)
        return scenes.drawn(N_LISTED, n_false=N_LISTED - n_true, rng=rng)

    needed = f"{N_LISTED} shots, some with a false description"
    for drawn in new_draws(draw, structure=structure, needed=needed):
        yield drawn if isinstance(drawn, NoCandidate) else _candidate(drawn, structure, rng=rng)


def _n_true(structure: str, *, card: int, rng: np.random.Generator) -> int:
    """How many descriptions are to be true; `card` counts to five and brings every kind of answer."""
    match structure:
        case "first" | "last":
            return 0 if card == 0 else int(rng.integers(1, N_LISTED))
        case "order":
            return int(rng.integers(2)) if card == 0 else int(rng.integers(2, N_LISTED + 1))
        case "how-many":
            return card
    return int(rng.binomial(N_LISTED, 0.5))  # every set of descriptions is as likely as any other


def _candidate(scenes: tuple[Scene, ...], structure: str, *, rng: np.random.Generator) -> Candidate:
    right, wrong = _MAKERS[structure](scenes, rng)
    question = _WORDS[structure]
    if structure not in ("first", "last"):
        listed = numbered([scene.text for scene in scenes])
        head = f"Here are descriptions of {number_word(len(scenes))} shots:\n{listed}\n{_WARNING}"
        question = f"{head}\n{question}"
    by_time = sorted(scenes, key=lambda scene: scene.shot.first_frame)
    return Candidate(
        structure=structure,
        subject=about(scenes),
        question=question,
        right=right,
        wrong=wrong,
        evidence=tuple(scene.evidence for scene in by_time),
        facts=facts(scenes) | {"true descriptions by time": order_of(_true_in_order(scenes)) or "none"},
    )


def _true_in_order(scenes: Sequence[Scene]) -> tuple[int, ...]:
    """The numbers of the true descriptions in the order of their shots."""
    return tuple(i for i in in_order(scenes) if scenes[i - 1].card.is_faithful)


_Made = tuple[str, tuple[str, ...]]


def _first(scenes: Sequence[Scene], rng: np.random.Generator) -> _Made:
    return _end(scenes, 0)


def _last(scenes: Sequence[Scene], rng: np.random.Generator) -> _Made:
    return _end(scenes, -1)


def _end(scenes: Sequence[Scene], place: int) -> _Made:
    true = _true_in_order(scenes)
    right = scenes[true[place] - 1].text if true else NONE_FIRST
    return right, tuple(t for t in (*(s.text for s in scenes), NONE_FIRST) if t != right)


def _order(scenes: Sequence[Scene], rng: np.random.Generator) -> _Made:
    by_time, true = in_order(scenes), _true_in_order(scenes)
    if len(true) >= 2:
        return order_of(true), (*_near(by_time, true, n=N_CHOICES - 2, rng=rng), FEWER_THAN_TWO)
    size = int(rng.integers(2, N_LISTED + 1))
    others = [i for i in by_time if i not in true]
    kept = {*true, *(others[i] for i in rng.permutation(len(others))[: size - len(true)])}
    tempting = tuple(i for i in by_time if i in kept)
    near = _near(by_time, tempting, n=N_CHOICES - 2, rng=rng)
    return FEWER_THAN_TWO, (order_of(tempting), *near)


def _near(
    by_time: Sequence[int], right: Sequence[int], *, n: int, rng: np.random.Generator
) -> tuple[str, ...]:
    """Orders that go wrong in one way: another order, one description too many, too few, or a wrong one."""
    left_out = [i for i in by_time if i not in right]
    sets = [{*right, i} for i in left_out]
    sets += [set(right) - {i} for i in right]
    sets += [{*right, i} - {j} for i in left_out for j in right]
    chronological = [order_of([i for i in by_time if i in one]) for one in sets if len(one) >= 2]
    orders = other_orders(right, n=N_LISTED, rng=rng)
    return one_of_each(order_of(right), [*chronological, *orders], n=n, rng=rng)


def _how_many(scenes: Sequence[Scene], rng: np.random.Generator) -> _Made:
    right = COUNTS[len(_true_in_order(scenes))]
    return right, tuple(text for text in COUNTS if text != right)


def _which(scenes: Sequence[Scene], rng: np.random.Generator) -> _Made:
    numbers = range(1, len(scenes) + 1)
    every = [_set_words(one) for size in range(len(scenes) + 1) for one in combinations(numbers, size)]
    right = _set_words(sorted(_true_in_order(scenes)))
    return right, one_of_each(right, every, n=N_CHOICES - 1, rng=rng)


def _set_words(numbers: Sequence[int]) -> str:
    if len(numbers) in (0, N_LISTED):
        return COUNTS[len(numbers)]
    return f"Only description{'s' * (len(numbers) > 1)} {joined(numbers)}"


_MAKERS: Mapping[str, Callable[[Sequence[Scene], np.random.Generator], _Made]] = {
    "first": _first,
    "last": _last,
    "order": _order,
    "how-many": _how_many,
    "which": _which,
}


def create(settings: Settings) -> Task:
    """The task."""
    return Sva(settings)
