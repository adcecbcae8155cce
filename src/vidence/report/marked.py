"""Trials added up by question: values, videos, outcomes, and what simple rules get on the same questions."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vidence.records import Item
from vidence.report.results import OutcomeName, Row
from vidence.statistics.chance import constant_letter, guess_rate, longest_choice, numeric_median
from vidence.text import letter_index


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
            values=np.array([sum(marks[i.item_id]) / len(marks[i.item_id]) for i in kept], np.float64),
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


@dataclass(frozen=True, kw_only=True)
class _Hits:
    """Whether the rules are right on one question; `median` is None where a choice is no number."""

    longest: bool
    median: bool | None


@dataclass(frozen=True, kw_only=True)
class SimpleRules:
    """What rules that look at no video answer; worked out once for all questions of a run.

    `letter` is the letter that is right most often, the first of equals, and None where no question
    has choices.
    """

    letter: str | None
    _hits: dict[str, _Hits]

    @classmethod
    def of(cls, items: Sequence[Item]) -> "SimpleRules":
        """Work out the rules on these questions."""
        choice = _with_choices(items)
        if not choice:
            return cls(letter=None, _hits={})
        shares = constant_letter([i.answer for i in choice], n_choices=[len(i.choices) for i in choice])
        return cls(
            letter=max(shares, key=lambda letter: shares[letter]),
            _hits={item.item_id: _hits(item) for item in choice},
        )

    def is_numeric(self, item: Item) -> bool:
        """Whether every choice of the question is a number."""
        hits = self._hits.get(item.item_id)
        return hits is not None and hits.median is not None

    def on(self, items: Sequence[Item]) -> Baselines:
        """The baselines on some of the questions; those without choices are left out."""
        choice = [item for item in items if item.item_id in self._hits]
        if not choice:
            return Baselines(chance=None, constant=None, longest=None, median=None, n_numeric=0)
        hits = [self._hits[item.item_id] for item in choice]
        medians = [h.median for h in hits if h.median is not None]
        return Baselines(
            chance=guess_rate([len(item.choices) for item in choice]),
            constant=sum(item.answer == self.letter for item in choice) / len(choice),
            longest=sum(h.longest for h in hits) / len(hits),
            median=sum(medians) / len(medians) if medians else None,
            n_numeric=len(medians),
        )


def _hits(item: Item) -> _Hits:
    right = letter_index(item.answer)
    median = numeric_median(item.choices)
    return _Hits(
        longest=longest_choice(item.choices) == right, median=None if median is None else median == right
    )


def _with_choices(items: Sequence[Item]) -> list[Item]:
    return [item for item in items if item.answer_kind == "choice" and item.choices]
