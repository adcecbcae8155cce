"""What the key of a set gives away: letters, lengths, and rules that see neither video nor question."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

import numpy as np

from vidence.explain.audit.blind import TITLES, board_of, picks
from vidence.explain.audit.checks import exact_form
from vidence.explain.audit.structures import StructureFinding, read_structures, structures_of
from vidence.explain.diagnostics.tables import Figures
from vidence.records import Estimate, Item
from vidence.statistics.answer_keys import LetterBalance, answer_prior, length_rank, letter_balance
from vidence.statistics.chance import (
    NUMBER,
    SIZE_RULES,
    longest_choice,
    margin,
    numeric_median,
    shortest_choice,
)
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


@dataclass(frozen=True, kw_only=True)
class Key:
    """What the key of the questions with choices gives away.

    `length_rank` is the mean length rank of the right choice: 0.5 where length says nothing. `structures` are
    the forms of question, each tested with all others.
    """

    n: int
    balance: LetterBalance
    rules: tuple[Rule, ...]
    length_rank: Estimate | None
    structures: tuple[StructureFinding, ...] = ()

    def rule(self, key: str) -> Rule:
        """The rule of that name."""
        return next(rule for rule in self.rules if rule.key == key)


Hits = Sequence[float | None]  # the chance to be right on each question; None where a rule is silent


def choice_items(items: Sequence[Item]) -> tuple[Item, ...]:
    """Those with choices."""
    return tuple(item for item in items if item.answer_kind == "choice" and item.choices)


def read_key(items: Sequence[Item], *, rng: np.random.Generator, level: float) -> Key | None:
    """Look at the key; None where no question has choices."""
    some = choice_items(items)
    if not some:
        return None
    figures = Figures(rng=rng, level=level)
    balance = letter_balance(
        [item.answer for item in some], n_choices=[len(item.choices) for item in some], rng=rng
    )
    rules = tuple(
        _rule(some, hits(some), name=(key, title, meaning), figures=figures)
        for key, title, meaning, hits in _rules(some)
    )
    several = [item for item in some if len(item.choices) > 1]
    ranks = np.array([length_rank(item.choices, letter_index(item.answer)) for item in several])
    return Key(
        n=len(some),
        balance=balance,
        rules=rules,
        length_rank=figures.mean(ranks, several) if several else None,
        structures=read_structures(structures_of(several), rng=rng, level=level),
    )


def _rules(items: Sequence[Item]) -> Sequence[tuple[str, str, str, Callable[[Sequence[Item]], Hits]]]:
    """Every rule: its key, its title, what it means, and what it gets."""
    right = [item.answer for item in items]
    letter = max(sorted(set(right)), key=right.count)
    by_length = "by characters; where several are, the rule says nothing"
    with_sizes = "where every choice holds one number or range, and one alone has this size"
    return (
        (
            *("constant", f"always {letter}"),
            "the letter that is right most often here: a rule chosen with the key in hand",
            lambda some: [float(item.answer == letter) for item in some],
        ),
        ("longest", "longest choice", by_length, _picked(longest_choice)),
        ("shortest", "shortest choice", by_length, _picked(shortest_choice)),
        (
            *("median", "median number", with_sizes),
            _picked(numeric_median),
        ),
        *((key, title, with_sizes, _picked(pick)) for key, (title, pick) in SIZE_RULES.items()),
        (
            *("median-bare", "median of bare numbers", "where every choice is a number and nothing else"),
            _picked(_bare_median),
        ),
        (
            *("question-words", "most words of the question"),
            "the choice with the largest share of words that the question has too; equals share",
            lambda some: [_overlap_hit(item) for item in some],
        ),
        (
            *("popular", "most popular answer"),
            "the choice that is right most often in other videos when it is offered; equals share",
            lambda some: _priors(some, [""] * len(some)),
        ),
        (
            *("popular-wording", "most popular answer to this wording"),
            "the same among questions in the same words about other videos",
            lambda some: _priors(some, [normal_form(item.question) for item in some]),
        ),
        *((key, TITLES[key], meaning, partial(_blind, key=key)) for key, meaning in _BLIND.items()),
    )


# What else readers of texts go by, see `blind`.
_BLIND: Final = {
    "typical": "the choice that has most words, and neighbours of words, in common with the other choices",
    "odd-one": "the one that has least in common with them",
    "odd-words": "the choice whose words are rarest among the choices of other videos",
    "plain-words": "the one whose words are most common there",
    "popular-words": "the choice with words that are in right answers to questions about other videos",
    "popular-size": "of numbers and ranges the one with the rank by size that is right in other videos",
    "popular-length": "the choice with the rank by length that is right in other videos",
}


def _blind(items: Sequence[Item], *, key: str) -> Hits:
    """What a rule of `blind` gets; None where it takes no choice."""
    boards = {i: board for i, item in enumerate(items) if (board := board_of(item)) is not None}
    if not boards:
        return [None] * len(items)
    found: dict[int, float | None] = {}
    for (i, board), weights in zip(boards.items(), picks([*boards.values()], key), strict=True):
        found[i] = float(weights[min(board.right)]) if weights.any() else None
    return [found.get(i) for i in range(len(items))]


def _rule(items: Sequence[Item], hits: Hits, *, name: tuple[str, str, str], figures: Figures) -> Rule:
    some = [item for item, hit in zip(items, hits, strict=True) if hit is not None]
    got = np.array([hit for hit in hits if hit is not None], np.float64)
    guesses = np.array([1 / len(item.choices) for item in some], np.float64)
    key, title, meaning = name
    return Rule(
        key=key,
        title=title,
        meaning=meaning,
        n=len(some),
        accuracy=figures.mean(got, some) if some else None,
        guessing=float(guesses.mean()) if some else 0.0,
        margin=margin(got, guesses, clusters=[item.source_id for item in some], level=figures.level)
        if some
        else None,
    )


def _picked(pick: Callable[[Sequence[str]], int | None]) -> Callable[[Sequence[Item]], Hits]:
    def hits(items: Sequence[Item]) -> Hits:
        picked = [(pick(item.choices), letter_index(item.answer)) for item in items]
        return [None if i is None else float(i == right) for i, right in picked]

    return hits


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
    is_best = [share == best for share in shares]
    return is_best[letter_index(item.answer)] / sum(is_best) if best else None


def _priors(items: Sequence[Item], contexts: Sequence[str]) -> Hits:
    return answer_prior(
        [[exact_form(choice).casefold() for choice in item.choices] for item in items],
        [letter_index(item.answer) for item in items],
        contexts=contexts,
        clusters=[item.source_id for item in items],
    )
