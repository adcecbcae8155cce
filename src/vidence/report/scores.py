"""Scores of a run: trials added up by question, averages with their intervals, and what simple rules get."""

import copy
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vidence.errors import UsageError
from vidence.records import Estimate, Item, OutcomeName, source_noun
from vidence.report.results import OUTCOMES, Row, Run
from vidence.statistics.chance import longest_choice, numeric_median
from vidence.statistics.intervals import SHARE, UNBOUNDED, Bounds, mean_interval
from vidence.tables.table import Cell, Column, Line, Measure, Table, count, share, tabulate
from vidence.text import letter_index

NO_VALUE = "(none)"  # of a tag that a question lacks
ANSWERED = "answered"  # the average over readable replies alone
MOST_VALUES = 40
# Rules that look at no video, with what they are called and do; `constant` is followed by its letter.
RULES: Mapping[str, tuple[str, str]] = {
    "chance": ("chance", "blind guessing"),
    "constant": ("always", "always the letter that is right most often in this run"),
    "longest": ("longest", "always the longest choice"),
    "median": ("median", "always the median number, on questions whose choices are numbers"),
}


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
        bounds: Bounds = SHARE,
    ) -> Estimate | None:
        """The mean with its interval, as every table and figure of a report has it; None without values.

        Args:
            values: one for each question, shape (n_items,).
            clusters: the source of each question, by default its video.
            groups: where given, the mean is that over these groups, each alike.
            bounds: the least and the greatest value there can be.
        """
        if not len(values):
            return None
        return mean_interval(values, groups=groups, clusters=clusters, bounds=bounds, level=self.level)


@dataclass(frozen=True, kw_only=True)
class Scored:
    """The scored questions among some trials.

    Shapes: `values` (n_items,): the mean of the scores of a question over its repeats, 0 to 1.
    `clusters` names the source of each question. `n_outcomes` counts the trials of these
    questions. `n_unscored` counts the questions beside them that wait for a judge.
    """

    items: tuple[Item, ...]
    values: NDArray[np.float64]
    clusters: tuple[str, ...]
    n_outcomes: dict[OutcomeName, int]
    n_unscored: int

    @property
    def n_videos(self) -> int:
        """How many videos (or other media) the scored questions are about; of one source, they count once."""
        return len(set(self.clusters))

    @classmethod
    def of(
        cls, rows: Sequence[Row], value: Callable[[Row], float | None] = lambda row: row.correct
    ) -> "Scored":
        """Add up trials by question; the order of the questions is kept."""
        scores: dict[str, list[float]] = {}
        items: dict[str, Item] = {}
        for row in rows:
            items[row.item.item_id] = row.item
            found = scores.setdefault(row.item.item_id, [])
            if (known := value(row)) is not None:
                found.append(known)
        kept = tuple(item for item_id, item in items.items() if scores[item_id])
        return cls(
            items=kept,
            values=np.array([sum(scores[i.item_id]) / len(scores[i.item_id]) for i in kept], np.float64),
            clusters=tuple(item.source_id for item in kept),
            n_outcomes=dict(Counter(row.outcome for row in rows if scores[row.item.item_id])),
            n_unscored=len(items) - len(kept),
        )


@dataclass(frozen=True, kw_only=True)
class SimpleRules:
    """What rules that look at no video get; worked out once for all questions of a run.

    `letter` is the letter that is right most often, the first of equals, and None where no question
    has choices. `hits` has for each question with choices, by its id, what each rule gets on it, 0 to 1;
    ``median`` only where all choices are numbers.
    """

    letter: str | None
    hits: Mapping[str, Mapping[str, float]]

    @classmethod
    def of(cls, items: Sequence[Item]) -> "SimpleRules":
        """Work out the rules on these questions."""
        choice = [item for item in items if item.answer_kind == "choice" and item.choices]
        right = Counter(item.answer for item in choice)
        letter = min(right, key=lambda letter: (-right[letter], letter), default=None)
        hits: dict[str, dict[str, float]] = {}
        for item in choice:
            index = letter_index(item.answer)
            hits[item.item_id] = {
                "chance": 1 / len(item.choices),
                "constant": float(item.answer == letter),
                "longest": float(longest_choice(item.choices) == index),
            }
            if (median := numeric_median(item.choices)) is not None:
                hits[item.item_id]["median"] = float(median == index)
        return cls(letter=letter, hits=hits)

    def on(self, rule: str, items: Sequence[Item]) -> Cell:
        """What a rule gets on those of the questions of which it says something."""
        found = [self.hits.get(item.item_id, {}).get(rule) for item in items]
        known = [hit for hit in found if hit is not None]
        detail = f"on {len(known):,}" if known and rule == "median" else ""
        return Cell(value=float(np.mean(known)) if known else None, detail=detail)


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
    groups = None if tag is None else [item.tags.get(tag, NO_VALUE) for item in scored.items]
    return draws.average(scored.values, clusters=scored.clusters, groups=groups)


def points(rows: Sequence[Row], *, draws: Draws) -> Estimate | None:
    """The mean of the points that a judge gave, each question alike; None where it gave none."""
    given = Scored.of(rows, lambda row: row.score.points)
    return draws.average(given.values, clusters=given.clusters, bounds=UNBOUNDED)


def score_tables(run: Run, *, rng: np.random.Generator, level: float = 0.95) -> tuple[Table, ...]:
    """The aggregates, the headline first, then one table for each tag with 2 to 40 values.

    Unreadable, refused and failed trials count as wrong. Questions that wait for a judge enter no
    mean and are counted apart. Several trials of one question enter as their mean.

    Args:
        run: the run.
        rng: where the draws of the intervals come from; the same state gives the same tables.
        level: coverage of the intervals.

    Raises:
        UsageError: the run has no trials, or its headline is none of ``micro``, ``answered``, ``macro:TAG``.
    """
    if not run.rows:
        raise UsageError(
            f"{run.folder} has no trials yet, so there is nothing to report; `vidence resume` asks"
        )
    items = [row.item for row in run.rows]
    names = dict.fromkeys(tag for item in items for tag in item.tags)
    tags = {
        tag: sorted({row.item.tags.get(tag, NO_VALUE) for row in run.rows}, key=natural_order)
        for tag in names
    }
    draws = Draws(rng=rng, level=level)
    scored = Scored.of(run.rows)
    rules = SimpleRules.of(scored.items)
    measures = _measures(rules, has_unscored=scored.n_unscored > 0, source=source_noun(items))
    many = [f"{tag} ({len(values):,} values)" for tag, values in tags.items() if len(values) > MOST_VALUES]
    headline = tabulate(
        "score",
        "Score",
        label=Column(key="name", title="aggregate"),
        # The headline stands first whatever it averages over.
        rows=sorted(_averages(run, tags, rules=rules, draws=draws), key=lambda line: line.key != "headline"),
        measures=measures,
        notes=(
            "Unreadable, refused and failed trials count as wrong, except in the line 'answered only'.",
            f"Tags with too many values for a table: {', '.join(many)}." if many else "",
        ),
        figure="scores",
    )

    def by_tag(tag: str, values: Sequence[str]) -> Table:
        groups: dict[str, list[Row]] = {value: [] for value in values}
        for row in run.rows:
            groups[row.item.tags.get(tag, NO_VALUE)].append(row)
        return tabulate(
            f"score:{tag}",
            f"Score by {tag}",
            label=Column(key="name", title=tag),
            rows=(Line(value, value, _Mean.of(rows, draws=draws)) for value, rows in groups.items()),
            measures=measures,
            figure="scores",
        )

    return (headline, *(by_tag(tag, values) for tag, values in tags.items() if is_moderate(values)))


def is_moderate(values: Sequence[str]) -> bool:
    """Whether a tag with these values gets a table."""
    return 2 <= len(values) <= MOST_VALUES


def natural_order(value: str) -> tuple[bool, list[tuple[bool, int, str]]]:
    """The key that sorts the values of a tag: numbers in order of size, ``(none)`` last."""
    pieces = re.findall(r"[0-9]+|[^0-9]+", value)
    return value == NO_VALUE, [(not p.isdecimal(), int(p) if p.isdecimal() else 0, p) for p in pieces]


@dataclass(frozen=True, kw_only=True)
class _Mean:
    """What a line of a score table is about: some questions, and their score."""

    scored: Scored
    score: Estimate | None

    @classmethod
    def of(cls, rows: Sequence[Row], *, draws: Draws) -> "_Mean":
        """The mean over the questions of some trials."""
        scored = Scored.of(rows)
        return cls(scored=scored, score=draws.average(scored.values, clusters=scored.clusters))


def _measures(rules: SimpleRules, *, has_unscored: bool, source: str) -> tuple[Measure[_Mean], ...]:
    def rule(key: str) -> Measure[_Mean]:
        title, note = RULES[key]
        if key == "constant":
            title = f"{title} {rules.letter or 'one letter'}"
        return share(
            key, lambda one: rules.on(key, one.scored.items), title, note=note, group="without looking, %"
        )

    def outcome(name: OutcomeName) -> Measure[_Mean]:
        return count(name, lambda one: one.scored.n_outcomes.get(name, 0), group="trials")

    unscored: Measure[_Mean] = count(
        "unmarked", lambda one: one.scored.n_unscored, "not scored", note="wait for a judge; in no mean"
    )
    return (
        count("items", lambda one: len(one.scored.items), "questions"),
        count("videos", lambda one: one.scored.n_videos, f"{source}s"),
        share("accuracy", lambda one: one.score, note="with its interval"),
        *map(rule, RULES),
        *map(outcome, OUTCOMES),
        *([unscored] if has_unscored else []),
    )


def _averages(
    run: Run, tags: Mapping[str, Sequence[str]], *, rules: SimpleRules, draws: Draws
) -> Iterator[Line[_Mean]]:
    """One line for each way to average; ``headline`` is the one that the plan asks for."""
    tag = macro_tag(run.plan.headline)
    is_answered = run.plan.headline == ANSWERED
    micro = _Mean.of(run.rows, draws=draws)
    scored, label = micro.scored, "mean over questions"
    key = "headline" if tag is None and not is_answered else "micro"
    yield Line(key, label, micro)
    # The values of each tag that every question has, and of the headline's tag.
    whole = [one for one, values in tags.items() if is_moderate(values) and NO_VALUE not in values]
    for one in dict.fromkeys([*whole, *([tag] if tag is not None else [])]):
        groups = [item.tags.get(one, NO_VALUE) for item in scored.items]
        macro = _Mean(
            scored=scored, score=draws.average(scored.values, clusters=scored.clusters, groups=groups)
        )
        key = "headline" if one == tag else f"macro:{one}"
        yield Line(key, f"mean over {one}", macro, detail=f"{len(set(groups))} values, each alike")
    answered = _Mean.of([row for row in run.rows if row.outcome == ANSWERED], draws=draws)
    yield Line(
        "headline" if is_answered else ANSWERED,
        "answered only",
        answered,
        detail="as the protocol says" if is_answered else "for comparison",
    )
    numeric = _Mean.of([r for r in run.rows if "median" in rules.hits.get(r.item.item_id, {})], draws=draws)
    if 0 < len(numeric.scored.items) < len(scored.items):
        yield Line("numeric", "numbers as choices", numeric)
