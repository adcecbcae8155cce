"""Runs that ask every question several times: how far the score moves, and what the repeats find together."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vidence.records import Clusters, Estimate
from vidence.report.results import Row, Run
from vidence.report.scores import Aggregate, aggregates, few_note, levels
from vidence.statistics.intervals import mean_interval
from vidence.statistics.repeats import (
    Components,
    RepeatSummary,
    components,
    majority,
    pass_all,
    pass_at,
    summarise,
    vote_at,
)
from vidence.tables.table import (
    Cell,
    Column,
    RowSpec,
    Table,
    Value,
    count,
    number,
    percent,
    share,
    tabulate,
    videos_cell,
)
from vidence.text import letter_index

REPEAT_TABLES = ("repeats", "repeats:tags", "repeats:found")
VOTES = (3, 5, 7)  # of so many repeats, beside that of all
MOST_TIMES = 8  # pass@k is shown for every k up to this, then for powers of two and for all repeats


@dataclass(frozen=True, kw_only=True)
class Repeated:
    """The questions of an aggregate that have a score in every repeat.

    `values`, shape (n_items, n_repeats), are their scores. `rows` has for each question its trials in the
    order of the repeats.
    """

    rows: tuple[tuple[Row, ...], ...]
    values: NDArray[np.float64]
    clusters: Clusters
    groups: tuple[str, ...] | None

    @classmethod
    def of(cls, aggregate: Aggregate) -> "Repeated | None":
        """None for fewer than two repeats, or where no question has a score in each of them."""
        found: dict[str, dict[int, Row]] = {}
        for row in aggregate.rows:
            if row.correct is not None:
                found.setdefault(row.item.item_id, {})[row.trial.repeat] = row
        repeats = sorted({repeat for some in found.values() for repeat in some})
        places = [
            i for i, item in enumerate(aggregate.scored.items) if len(found[item.item_id]) == len(repeats)
        ]
        if len(repeats) < 2 or not places:
            return None
        items = [aggregate.scored.items[i] for i in places]
        rows = tuple(tuple(found[item.item_id][repeat] for repeat in repeats) for item in items)
        return cls(
            rows=rows,
            values=np.array([[row.correct for row in some] for some in rows], np.float64),
            clusters=aggregate.scored.clusters.part(places),
            groups=None if aggregate.groups is None else tuple(aggregate.groups[i] for i in places),
        )

    @property
    def n_repeats(self) -> int:
        """How many repeats there are."""
        return int(self.values.shape[1])

    def summary(self, *, level: float) -> RepeatSummary:
        """The scores of the repeats, each averaged as the aggregate is, with their t interval."""
        return summarise(self.scores, level=level)

    @property
    def scores(self) -> list[float]:
        """The score of each repeat, averaged as the aggregate is."""
        return [self.average(self.values[:, i]).value for i in range(self.n_repeats)]

    def components(self, *, level: float) -> Components:
        """Where the uncertainty of the mean comes from."""
        return components(self.values, clusters=self.clusters, groups=self.groups, level=level)

    def average(self, values: NDArray[np.float64], *, level: float = 0.95) -> Estimate:
        """The mean of one value for each question, averaged as the aggregate is, with its interval."""
        return mean_interval(values, clusters=self.clusters, groups=self.groups, level=level)

    def only_choices(self) -> "Repeated | None":
        """Those of the questions that have choices; None where none has."""
        places = [i for i, some in enumerate(self.rows) if some[0].item.answer_kind == "choice"]
        if not places:
            return None
        return Repeated(
            rows=tuple(self.rows[i] for i in places),
            values=self.values[places],
            clusters=self.clusters.part(places),
            groups=None if self.groups is None else tuple(self.groups[i] for i in places),
        )


def repeat_tables(run: Run, *, level: float = 0.95) -> tuple[Table, ...]:
    """The headline in each repeat, its uncertainty, the same for every tag, and what k repeats find.

    Only questions with a score in every repeat enter. Nothing for a run without repeats.

    Args:
        run: the run.
        level: coverage of the intervals.
    """
    lines = aggregates(run)
    headline = Repeated.of(lines[0].about)
    if headline is None:
        return ()
    return (
        _headline(headline, label=lines[0].label, level=level),
        _by_tag(run, lines, level=level),
        _found(headline, level=level),
    )


def _headline(repeated: Repeated, *, label: str, level: float) -> Table:
    summary, parts = repeated.summary(level=level), repeated.components(level=level)
    rows: list[tuple[str, str, Value | Cell]] = [
        (f"repeat:{repeat}", f"repeat {repeat + 1}", score) for repeat, score in enumerate(repeated.scores)
    ]
    errors = (
        ("error-repeats", "standard error from repeats, points", parts.repeat_error),
        ("error-questions", "standard error from the sample of questions, points", parts.sampling_error),
    )
    rows += [
        ("mean", "mean, t interval over repeats", summary.mean),
        (
            *("variance", "sample variance, squared points"),
            Cell(value=_squared_points(summary.variance), kind="points"),
        ),
        ("total", "mean, other questions too", parts.mean),
        *((key, words, percent(error)) for key, words, error in errors),
        ("questions", "questions with a score in every repeat", parts.n_items),
        ("videos", "videos", videos_cell(parts.n_clusters)),
    ]
    return tabulate(
        "repeats",
        "Repeats",
        label=Column(key="name", title=""),
        rows=(RowSpec(key, words, value) for key, words, value in rows),
        measures=(share("value", lambda value: value, label),),
        notes=(
            "The t interval says how far the score moves when the same questions are asked again, as in "
            "table 11 of HumanPCR; the line 'other questions too' also covers other questions and videos.",
            few_note([parts.n_clusters]),
        ),
    )


def _squared_points(variance: float) -> float:
    return 1e4 * variance


def _by_tag(run: Run, lines: Sequence[RowSpec[Aggregate]], *, level: float) -> Table:
    """Mean, variance and t interval of every aggregate and of every value of a tag."""
    named = [*lines]
    for tag, some in levels(run):
        named += [RowSpec(f"{tag}:{line.key}", f"{tag}: {line.label}", line.about) for line in some]
    found = [(line, Repeated.of(line.about)) for line in named]
    rows = [RowSpec(line.key, line.label, repeated) for line, repeated in found if repeated is not None]
    return tabulate(
        "repeats:tags",
        "Repeats by aggregate and tag",
        label=Column(key="name", title="questions"),
        rows=rows,
        measures=(
            count("items", lambda one: len(one.rows), "questions"),
            count("videos", lambda one: videos_cell(len(set(one.clusters)))),
            share("mean", lambda one: one.summary(level=level).mean, note="t interval over repeats"),
            number(
                "variance",
                lambda one: _squared_points(one.summary(level=level).variance),
                kind="points",
                note="sample variance over repeats, squared points",
            ),
            number(
                "sd",
                lambda one: 100 * math.sqrt(one.summary(level=level).variance),
                "standard deviation",
                kind="points",
                note="its root, points",
            ),
            share(
                "total",
                lambda one: one.components(level=level).mean,
                "other questions too",
                note="the same mean; its interval covers other questions and videos",
            ),
        ),
        notes=(few_note(len(set(line.about.clusters)) for line in rows),),
    )


# --------------------------------------------------------------------------- what repeats find together


@dataclass(frozen=True, kw_only=True)
class _MeasureScores:
    """One measure: what was found for each question, and what a guesser may expect; shapes (n_items,)."""

    repeated: Repeated
    values: NDArray[np.float64]
    guessed: NDArray[np.float64]


def _found(repeated: Repeated, *, level: float) -> Table:
    n = repeated.n_repeats
    rows = [*_passes(repeated)]
    choices = repeated.only_choices()
    if choices is not None:
        rows += _votes(choices)
    return tabulate(
        "repeats:found",
        "What repeats find together",
        label=Column(key="name", title="measure"),
        rows=rows,
        measures=(
            count("items", lambda one: len(one.values), "questions"),
            count("videos", lambda one: videos_cell(len(set(one.repeated.clusters)))),
            share(
                "value",
                lambda one: one.repeated.average(one.values, level=level),
                note="averaged as the headline is",
            ),
            share(
                "guesser",
                lambda one: one.repeated.average(one.guessed).value,
                "a guesser",
                note="what drawing a letter each time would get on average",
            ),
        ),
        notes=(
            f"From {n} repeats of each question. pass@k counts luck as well, as the guesser shows. An answer "
            "that could not be read is no vote, and counts as an answer of its own where answers change.",
            few_note(len(set(line.about.repeated.clusters)) for line in rows),
        ),
    )


def _passes(repeated: Repeated) -> Iterator[RowSpec[_MeasureScores]]:
    n_right = np.count_nonzero(repeated.values == 1, axis=1)
    n, luck = repeated.n_repeats, _chances(repeated)
    for k in _times(n):
        values = pass_at(n_right, n_repeats=n, k=k)
        about = _MeasureScores(repeated=repeated, values=values, guessed=1 - (1 - luck) ** k)
        yield RowSpec(f"pass@{k}", f"pass@{k}", about, detail=f"right in one or more of {k}")
    for k in _times(n)[1:]:  # of one repeat it is pass@1
        values = pass_all(n_right, n_repeats=n, k=k)
        about = _MeasureScores(repeated=repeated, values=values, guessed=luck**k)
        yield RowSpec(f"pass^{k}", f"pass^{k}", about, detail=f"right in all of {k}")


def _votes(choices: Repeated) -> Iterator[RowSpec[_MeasureScores]]:
    votes = [[_choice(row) for row in some] for some in choices.rows]
    right = [_right(some[0]) for some in choices.rows]
    values = np.array([majority(some, answer) for some, answer in zip(votes, right, strict=True)])
    luck = _chances(choices)
    voted = _MeasureScores(repeated=choices, values=values, guessed=luck)
    for k in VOTES:
        if k < choices.n_repeats:
            pairs = zip(votes, choices.values, strict=True)
            some = np.array([vote_at(said, scores, k=k) for said, scores in pairs])
            about = _MeasureScores(repeated=choices, values=some, guessed=luck)
            yield RowSpec(f"vote@{k}", f"vote@{k}", about, detail=f"majority of {k}, mean over all ways")
    yield RowSpec("majority", "majority vote", voted, detail="of equals one by chance")
    changes = np.array([float(len(set(some)) > 1) for some in votes])
    drawn = 1 - luck ** (choices.n_repeats - 1)
    changed = _MeasureScores(repeated=choices, values=changes, guessed=drawn)
    yield RowSpec("changes", "the answer changes", changed, detail="share of questions")


def _chances(repeated: Repeated) -> NDArray[np.float64]:
    """How often drawing a letter is right, for each question; never where there are no choices."""
    items = [some[0].item for some in repeated.rows]
    return np.array([1 / len(item.choices) if item.choices else 0.0 for item in items])


def _times(n_repeats: int) -> list[int]:
    """For which k there is a line."""
    powers = (2**i for i in range(n_repeats.bit_length()))
    every = {*range(1, min(n_repeats, MOST_TIMES) + 1), *powers, n_repeats}
    return sorted(k for k in every if k <= n_repeats)


def _choice(row: Row) -> int | str | None:
    """The choice that was read, by its place in the question as it is stored; None where nothing was read."""
    if not row.read:
        return None
    if row.read not in row.item.letters:
        return row.read
    return _stored_place(row, row.read)


def _right(row: Row) -> int:
    return _stored_place(row, row.item.answer)


def _stored_place(row: Row, letter: str) -> int:
    shown_at = letter_index(letter)
    return row.trial.choice_order[shown_at] if row.trial.choice_order else shown_at
