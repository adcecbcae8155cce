"""The scores of a run as tables: one row for each way to average, and one table for each tag."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from vidence.errors import UsageError
from vidence.records import Estimate
from vidence.report.results import OUTCOMES, Row, Run
from vidence.report.scores import ANSWERED, NO_VALUE, Draws, Scored, SimpleRules, macro_tag
from vidence.statistics.intervals import mean_interval
from vidence.tables.table import Cell, Column, Table
from vidence.tables.table import Row as TableRow

MOST_VALUES = 40
_RULES = "without looking, %"


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
    names = dict.fromkeys(tag for row in run.rows for tag in row.item.tags)
    tags = {tag: sorted({_value(row, tag) for row in run.rows}, key=natural_order) for tag in names}
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


def _value(row: Row, tag: str) -> str:
    return row.item.tags.get(tag, NO_VALUE)


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
    rows = [make.mean_row(micro_key, "mean over questions", run.rows, detail="bootstrap by video")]
    if len(scored.values):
        analytic = mean_interval(
            scored.values, clusters=scored.clusters, rule="student", level=make.draws.level
        )
        label = "mean over questions"
        rows.append(make.row("analytic", label, scored, score=analytic, detail="clustered error"))
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
        groups[_value(row, tag)].append(row)
    return Table(
        name=f"score:{tag}",
        title=f"Score by {tag}",
        figure="scores",
        label=Column(key="name", title=tag),
        columns=make.columns(),
        rows=tuple(make.mean_row(value, value, some) for value, some in groups.items()),
    )
