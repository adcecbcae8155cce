"""Scores of a run: trials added up by question, averages with their intervals, and what simple rules get."""

import copy
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vidence.errors import UsageError
from vidence.records import Estimate, Item
from vidence.report.results import OutcomeName, Row
from vidence.statistics.chance import (
    constant_letter,
    guess_rate,
    longest_choice,
    numeric_median,
)
from vidence.statistics.intervals import mean_interval
from vidence.text import letter_index

NO_VALUE = "(none)"  # of a tag that a question lacks
ANSWERED = "answered"  # the average over readable replies alone


@dataclass(frozen=True, kw_only=True)
class Draws:
    """Where the draws of intervals and tests come from, and the level of intervals."""

    rng: np.random.Generator
    level: float = 0.95

    def fresh(self) -> np.random.Generator:
        """A generator in one and the same state, so that no figure depends on those before it."""
        return copy.deepcopy(self.rng)

    def average(
        self,
        values: NDArray[np.float64],
        *,
        clusters: Sequence[str],
        groups: Sequence[str] | None = None,
    ) -> Estimate | None:
        """The mean with its interval, as every table and figure of a report has it; None without values.

        Args:
            values: one for each question, shape (n_items,).
            clusters: the video of each question.
            groups: where given, the mean is that over these groups, each alike.
        """
        if not len(values):
            return None
        if groups is None:
            return mean_interval(values, clusters=clusters, rng=self.fresh(), level=self.level)
        return mean_interval(values, groups=groups, clusters=clusters, rng=self.fresh(), level=self.level)


@dataclass(frozen=True, kw_only=True)
class Scored:
    """The scored questions among some trials.

    Shapes: `values` (n_items,): the mean of the scores of a question over its repeats, 0 to 1.
    `clusters` names the video of each question. `n_outcomes` counts the trials of these
    questions. `n_unscored` counts the questions beside them that wait for a judge.
    """

    items: tuple[Item, ...]
    values: NDArray[np.float64]
    clusters: tuple[str, ...]
    n_outcomes: dict[OutcomeName, int]
    n_unscored: int

    @property
    def n_videos(self) -> int:
        """How many videos (or other media) the scored questions are about."""
        return len(set(self.clusters))

    def groups(self, tag: str | None) -> list[str] | None:
        """The value of a tag for each question; None without a tag."""
        return None if tag is None else [item.tags.get(tag, NO_VALUE) for item in self.items]

    @classmethod
    def of(cls, rows: Sequence[Row]) -> "Scored":
        """Add up trials by question; the order of the questions is kept."""
        scores: dict[str, list[float]] = {}
        items: dict[str, Item] = {}
        for row in rows:
            items[row.item.item_id] = row.item
            found = scores.setdefault(row.item.item_id, [])
            if row.correct is not None:
                found.append(row.correct)
        kept = tuple(item for item_id, item in items.items() if scores[item_id])
        return cls(
            items=kept,
            values=np.array([sum(scores[i.item_id]) / len(scores[i.item_id]) for i in kept], np.float64),
            clusters=tuple(item.video_id for item in kept),
            n_outcomes=dict(Counter(row.outcome for row in rows if scores[row.item.item_id])),
            n_unscored=len(items) - len(kept),
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


# --------------------------------------------------------------------------- averages


def macro_tag(average: str) -> str | None:
    """The tag of ``macro:TAG``, None for ``micro`` and ``answered``.

    Raises:
        UsageError: it is none of the three.
    """
    kind, _, tag = average.partition(":")
    if average in ("micro", ANSWERED):
        return None
    if kind == "macro" and tag:
        return tag
    raise UsageError(f"the average {average!r} is not known; expected 'micro', 'answered' or 'macro:TAG'")


def chosen(rows: Sequence[Row], where: Mapping[str, Sequence[str]]) -> list[Row]:
    """The trials whose question has for each tag one of the values."""
    return [row for row in rows if all(row.item.tags.get(tag) in values for tag, values in where.items())]


def accuracy(rows: Sequence[Row], average: str, *, draws: Draws) -> Estimate | None:
    """The accuracy over some trials; None where none of their questions is scored.

    Args:
        rows: the trials, of one run.
        average: ``micro``, ``answered`` (over the trials whose reply could be read) or ``macro:TAG``;
            questions without the tag are a group of their own.
        draws: where the draws of the interval come from, and its level.

    Raises:
        UsageError: no such average.
    """
    tag = macro_tag(average)
    if average == ANSWERED:
        rows = [row for row in rows if row.outcome == ANSWERED]
    scored = Scored.of(rows)
    return draws.average(scored.values, clusters=scored.clusters, groups=scored.groups(tag))


def points(rows: Sequence[Row], *, draws: Draws) -> Estimate | None:
    """The mean of the points that a judge gave, each question alike; None where it gave none."""
    given: dict[str, list[float]] = {}
    videos: dict[str, str] = {}
    for row in rows:
        if row.score.points is not None:
            given.setdefault(row.item.item_id, []).append(row.score.points)
            videos[row.item.item_id] = row.item.video_id
    means = np.array([sum(found) / len(found) for found in given.values()], np.float64)
    return draws.average(means, clusters=tuple(videos.values()))
