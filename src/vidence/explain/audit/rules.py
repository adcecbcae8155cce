"""What rules that see neither video nor question get on a set of questions, and what each is."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vidence.explain.audit.choices import exact_form
from vidence.explain.diagnostics.paired import Figures
from vidence.records import Estimate, Item
from vidence.statistics.answer_keys import answer_prior, length_rank
from vidence.statistics.chance import NUMBER, longest_choice, numeric_median, shortest_choice
from vidence.text import letter_index, normal_form

FEW = 10  # fewer questions than these tell nothing of a rule


@dataclass(frozen=True, kw_only=True)
class Rule:
    """One rule on the questions of which it says something.

    `accuracy` and `margin` (over guessing on the same questions) are None where it says nothing.
    """

    key: str
    title: str
    meaning: str
    n: int
    accuracy: Estimate | None
    guessing: float
    margin: Estimate | None

    @property
    def beats_guessing(self) -> bool:
        """The interval of the margin lies above 0, over enough questions to say so."""
        return self.margin is not None and self.n >= FEW and self.margin.low > 0


Hits = Sequence[float | None]  # the chance to be right on each question; None where a rule is silent


def choice_items(items: Sequence[Item]) -> tuple[Item, ...]:
    """Those with choices."""
    return tuple(item for item in items if item.answer_kind == "choice" and item.choices)


def best_letter(items: Sequence[Item]) -> str:
    """The letter that is right most often; of equals the first."""
    right = [item.answer for item in items]
    return max(sorted(set(right)), key=right.count)


def all_rules(items: Sequence[Item], *, figures: Figures) -> tuple[Rule, ...]:
    """Every rule on the questions with choices; there is at least one of these."""
    letter = best_letter(items)
    wording = [normal_form(item.question) for item in items]
    made: list[tuple[str, str, str, Hits]] = [
        (
            "constant",
            f"always {letter}",
            "the letter that is right most often here: a rule chosen with the key in hand",
            [float(item.answer == letter) for item in items],
        ),
        ("longest", "longest choice", "by characters; of equals the first", _picks(items, longest_choice)),
        ("shortest", "shortest choice", "by characters; of equals the first", _picks(items, shortest_choice)),
        (
            "median",
            "median number",
            "where every choice holds exactly one number",
            _picks(items, numeric_median),
        ),
        (
            "median-bare",
            "median of bare numbers",
            "where every choice is a number and nothing else",
            _picks(items, _bare_median),
        ),
        (
            "question-words",
            "most words of the question",
            "the choice with the largest share of words that the question has too; equals share",
            [_overlap_hit(item) for item in items],
        ),
        (
            "popular",
            "most popular answer",
            "the choice that is right most often in other videos when it is offered; equals share",
            _priors(items, [0] * len(items)),
        ),
        (
            "popular-wording",
            "most popular answer to this wording",
            "the same among questions in the same words about other videos",
            _priors(items, wording),
        ),
    ]
    return tuple(
        _rule(items, hits, key=key, title=title, meaning=meaning, figures=figures)
        for key, title, meaning, hits in made
    )


def length_ranks(items: Sequence[Item], *, figures: Figures) -> Estimate | None:
    """The mean length rank of the right choice: 0.5 where length says nothing."""
    several = [item for item in items if len(item.choices) > 1]
    if not several:
        return None
    ranks = np.array([length_rank(item.choices, letter_index(item.answer)) for item in several])
    return figures.mean(ranks, several)


def _rule(items: Sequence[Item], hits: Hits, *, key: str, title: str, meaning: str, figures: Figures) -> Rule:
    spoken = [(item, hit) for item, hit in zip(items, hits, strict=True) if hit is not None]
    some = [item for item, _ in spoken]
    got: NDArray[np.float64] = np.array([hit for _, hit in spoken], np.float64)
    guesses: NDArray[np.float64] = np.array([1 / len(item.choices) for item in some], np.float64)
    return Rule(
        key=key,
        title=title,
        meaning=meaning,
        n=len(some),
        accuracy=figures.mean(got, some) if some else None,
        guessing=float(guesses.mean()) if some else 0.0,
        margin=figures.mean(got - guesses, some) if some else None,
    )


def _picks(items: Sequence[Item], pick: Callable[[Sequence[str]], int | None]) -> Hits:
    picked = [pick(item.choices) for item in items]
    return [
        None if i is None else float(i == letter_index(item.answer))
        for i, item in zip(picked, items, strict=True)
    ]


def _bare_median(choices: Sequence[str]) -> int | None:
    is_bare = all(NUMBER.fullmatch(choice.strip()) for choice in choices)
    return numeric_median(choices) if is_bare else None


def _overlap_hit(item: Item) -> float | None:
    """None where the question has no word of any choice."""
    asked = set(normal_form(item.question).split())
    shares = []
    for choice in item.choices:
        words = set(normal_form(choice).split())
        shares.append(len(words & asked) / len(words) if words else 0.0)
    best = max(shares)
    if best == 0:
        return None
    is_best = [share == best for share in shares]
    return is_best[letter_index(item.answer)] / sum(is_best)


def _priors(items: Sequence[Item], contexts: Sequence[str | int]) -> Hits:
    return answer_prior(
        [[exact_form(choice).casefold() for choice in item.choices] for item in items],
        [letter_index(item.answer) for item in items],
        contexts=contexts,
        clusters=[item.video_id for item in items],
    )
