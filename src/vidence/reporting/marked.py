"""Trials added up by question: values, videos, outcomes, and what simple rules get on the same questions."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vidence.records import Item
from vidence.reporting.results import OutcomeName, Row
from vidence.statistics.chance import (
    constant_letter,
    guess_rate,
    letter_index,
    longest_choice,
    numeric_median,
)


@dataclass(frozen=True, kw_only=True)
class Marked:
    """The marked questions among some trials.

    Shapes: `values` (n_items,): the mean of the marks of a question over its repeats, 0 to 1.
    `clusters` names the video of each question. `n_outcomes` counts the trials of these
    questions. `n_unmarked` counts the questions beside them that wait for a judge.
    """

    items: tuple[Item, ...]
    values: NDArray[np.float64]
    clusters: tuple[str, ...]
    n_outcomes: dict[OutcomeName, int]
    n_unmarked: int

    @property
    def n_videos(self) -> int:
        """How many videos (or other media) the marked questions are about."""
        return len(set(self.clusters))

    @classmethod
    def of(cls, rows: Sequence[Row]) -> "Marked":
        """Add up trials by question; the order of the questions is kept."""
        marks: dict[str, list[float]] = {}
        items: dict[str, Item] = {}
        for row in rows:
            items[row.item.item_id] = row.item
            found = marks.setdefault(row.item.item_id, [])
            if row.correct is not None:
                found.append(row.correct)
        kept = tuple(item for item_id, item in items.items() if marks[item_id])
        return cls(
            items=kept,
            values=np.array([np.mean(marks[item.item_id]) for item in kept], np.float64),
            clusters=tuple(item.video_id for item in kept),
            n_outcomes=dict(Counter(row.outcome for row in rows if marks[row.item.item_id])),
            n_unmarked=len(items) - len(kept),
        )


@dataclass(frozen=True, kw_only=True)
class Baselines:
    """What rules that look at no video get on some questions, as shares; None where a rule says nothing.

    `median` is the accuracy on the `n_numeric` questions whose choices are all numbers.
    """

    chance: float | None
    constant: float | None
    longest: float | None
    median: float | None
    n_numeric: int


def is_numeric(item: Item) -> bool:
    """Whether every choice of the question is a number."""
    return bool(item.choices) and numeric_median(item.choices) is not None


def best_letter(items: Sequence[Item]) -> str | None:
    """The letter that is right most often, the first of equals; None without questions with choices."""
    choice = _with_choices(items)
    if not choice:
        return None
    shares = constant_letter([i.answer for i in choice], n_choices=[len(i.choices) for i in choice])
    return max(shares, key=lambda letter: shares[letter])


def baselines(items: Sequence[Item], *, letter: str | None) -> Baselines:
    """The baselines on these questions; those without choices are left out.

    Args:
        items: the questions.
        letter: what the constant rule always answers; a question without that letter counts as wrong.
    """
    choice = _with_choices(items)
    if not choice:
        return Baselines(chance=None, constant=None, longest=None, median=None, n_numeric=0)
    right = [letter_index(item.answer) for item in choice]
    longest = [longest_choice(item.choices) == i for item, i in zip(choice, right, strict=True)]
    medians = [(numeric_median(item.choices), i) for item, i in zip(choice, right, strict=True)]
    hits = [median == i for median, i in medians if median is not None]
    return Baselines(
        chance=guess_rate([len(item.choices) for item in choice]),
        constant=None if letter is None else float(np.mean([item.answer == letter for item in choice])),
        longest=float(np.mean(longest)),
        median=float(np.mean(hits)) if hits else None,
        n_numeric=len(hits),
    )


def _with_choices(items: Sequence[Item]) -> list[Item]:
    return [item for item in items if item.answer_kind == "choice" and item.choices]
