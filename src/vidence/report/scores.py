"""Scores of a run: trials added up by question, averages with their intervals, and what simple rules get."""

import copy
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vidence.errors import UsageError
from vidence.records import Estimate, Item, OutcomeName
from vidence.report.results import OUTCOMES, Row, Run
from vidence.statistics.chance import (
    constant_letter,
    guess_rate,
    longest_choice,
    numeric_median,
)
from vidence.statistics.intervals import SHARE, UNBOUNDED, Bounds, mean_interval
from vidence.tables.table import Cell, Column, Table
from vidence.tables.table import Row as TableRow
from vidence.text import letter_index

NO_VALUE = "(none)"  # of a tag that a question lacks
ANSWERED = "answered"  # the average over readable replies alone
MOST_VALUES = 40
_RULES = "without looking, %"


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
            clusters: the video of each question.
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
        choice = [item for item in items if item.answer_kind == "choice" and item.choices]
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
    return draws.average(means, clusters=tuple(videos.values()), bounds=UNBOUNDED)


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
    scored = Scored.of(run.rows)
    make = _Rows(
        rules=SimpleRules.of(scored.items),
        has_unscored=scored.n_unscored > 0,
        draws=Draws(rng=rng, level=level),
    )
    by_tag = [_tag_table(run, tag, values, make=make) for tag, values in tags.items() if is_moderate(values)]
    return (_headline_table(run, tags, scored, make=make), *by_tag)


def is_moderate(values: Sequence[str]) -> bool:
    """Whether a tag with these values gets a table."""
    return 2 <= len(values) <= MOST_VALUES


def natural_order(value: str) -> tuple[bool, list[tuple[bool, int, str]]]:
    """The key that sorts the values of a tag: numbers in order of size, ``(none)`` last."""
    pieces = re.findall(r"[0-9]+|[^0-9]+", value)
    return value == NO_VALUE, [(not p.isdecimal(), int(p) if p.isdecimal() else 0, p) for p in pieces]


@dataclass(frozen=True, kw_only=True)
class _Rows:
    """Makes columns and rows of the score tables of one run."""

    rules: SimpleRules
    has_unscored: bool
    draws: Draws

    def columns(self) -> tuple[Column, ...]:
        letter = self.rules.letter
        notes = {
            "chance": ("chance", "blind guessing"),
            "constant": (
                f"always {letter}" if letter else "always one letter",
                "always the letter that is right most often in this run",
            ),
            "longest": ("longest", "always the longest choice"),
            "median": ("median", "always the median number, on questions whose choices are numbers"),
        }
        columns = [
            Column(key="items", title="questions", kind="count"),
            Column(key="videos", title="videos", kind="count"),
            Column(key="accuracy", title="accuracy", kind="share", note="with its interval"),
            *(
                Column(key=key, title=title, kind="share", group=_RULES, note=note)
                for key, (title, note) in notes.items()
            ),
            *(Column(key=name, title=name, kind="count", group="trials") for name in OUTCOMES),
        ]
        if self.has_unscored:
            note = "wait for a judge; in no mean"
            columns.append(Column(key="unmarked", title="not scored", kind="count", note=note))
        return tuple(columns)

    def row(
        self, key: str, label: str, scored: Scored, *, score: Estimate | None, detail: str = ""
    ) -> TableRow:
        rules = self.rules.on(scored.items)
        median = Cell(value=rules.median, detail=f"on {rules.n_numeric:,}" if rules.n_numeric else "")
        values = [
            *(len(scored.items), scored.n_videos, score),
            *(rules.chance, rules.constant, rules.longest, median),
            *(scored.n_outcomes.get(name, 0) for name in OUTCOMES),
            *([scored.n_unscored] if self.has_unscored else []),
        ]
        return TableRow(key=key, label=label, detail=detail, values=tuple(values))

    def mean_row(self, key: str, label: str, rows: Sequence[Row], *, detail: str = "") -> TableRow:
        """The mean over the questions of some trials."""
        scored = Scored.of(rows)
        score = self.draws.average(scored.values, clusters=scored.clusters)
        return self.row(key, label, scored, score=score, detail=detail)


def _headline_table(run: Run, tags: dict[str, list[str]], scored: Scored, *, make: _Rows) -> Table:
    """One row for each way to average; the row ``headline`` is the one that the plan asks for."""
    headline_tag = macro_tag(run.plan.headline)
    is_answered = run.plan.headline == ANSWERED
    micro_key = "headline" if headline_tag is None and not is_answered else "micro"
    rows = [make.mean_row(micro_key, "mean over questions", run.rows)]
    rows += _macro_rows(tags, scored, headline_tag=headline_tag, make=make)
    rows.append(
        make.mean_row(
            "headline" if is_answered else ANSWERED,
            "answered only",
            [row for row in run.rows if row.outcome == "answered"],
            detail="as the protocol says" if is_answered else "for comparison",
        )
    )
    numeric = [row for row in run.rows if make.rules.is_numeric(row.item)]
    if 0 < len(Scored.of(numeric).items) < len(scored.items):
        rows.append(make.mean_row("numeric", "numbers as choices", numeric))
    return Table(
        name="score",
        title="Score",
        note=_headline_note(tags),
        figure="scores",
        label=Column(key="name", title="aggregate"),
        columns=make.columns(),
        # The headline stands first whatever it averages over.
        rows=tuple(sorted(rows, key=lambda row: row.key != "headline")),
    )


def _macro_rows(
    tags: dict[str, list[str]], scored: Scored, *, headline_tag: str | None, make: _Rows
) -> list[TableRow]:
    """The mean over the values of each tag that every question has, and of the headline's tag."""
    rows: list[TableRow] = []
    chosen = [tag for tag, values in tags.items() if is_moderate(values) and NO_VALUE not in values]
    if headline_tag is not None and headline_tag not in chosen:
        chosen.append(headline_tag)
    for tag in chosen:
        groups = scored.groups(tag) or []
        score = make.draws.average(scored.values, clusters=scored.clusters, groups=groups)
        key = "headline" if tag == headline_tag else f"macro:{tag}"
        detail = f"{len(set(groups))} values, each alike"
        rows.append(make.row(key, f"mean over {tag}", scored, score=score, detail=detail))
    return rows


def _headline_note(tags: dict[str, list[str]]) -> str:
    note = "Unreadable, refused and failed trials count as wrong, except in the line 'answered only'."
    many = [f"{tag} ({len(values):,} values)" for tag, values in tags.items() if len(values) > MOST_VALUES]
    return f"{note} Tags with too many values for a table: {', '.join(many)}." if many else note


def _tag_table(run: Run, tag: str, values: Sequence[str], *, make: _Rows) -> Table:
    groups: dict[str, list[Row]] = {value: [] for value in values}
    for row in run.rows:
        groups[row.item.tags.get(tag, NO_VALUE)].append(row)
    return Table(
        name=f"score:{tag}",
        title=f"Score by {tag}",
        figure="scores",
        label=Column(key="name", title=tag),
        columns=make.columns(),
        rows=tuple(make.mean_row(value, value, some) for value, some in groups.items()),
    )
