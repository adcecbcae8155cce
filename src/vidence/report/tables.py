"""The tables of a run: scores, outcomes, parsers, positions, what was spent."""

import copy
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from vidence.errors import UsageError
from vidence.records import Answered, Estimate, Failed, Refused, Unreadable
from vidence.report.judged import judge_tables
from vidence.report.marked import Marked, SimpleRules
from vidence.report.measured import ANSWERED, NO_VALUE, macro_tag
from vidence.report.parsers import changed_table, letter_parsers, parser_table, read_all, table_of_readings
from vidence.report.positions import position_table
from vidence.report.repeated import repeat_tables
from vidence.report.results import FATES, OUTCOMES, Row, Run
from vidence.report.spending import usage_table
from vidence.statistics.intervals import mean_interval
from vidence.tables.cells import Cell, Column, Line, Table, count, estimated, share, words

__all__ = [
    "Cell",
    "Table",
    "all_tables",
    "changed_table",
    "outcome_table",
    "parser_table",
    "position_table",
    "reason_table",
    "score_tables",
    "usage_table",
]

MOST_VALUES = 40
MOST_REASONS = 10


def all_tables(run: Run, *, rng: np.random.Generator, level: float = 0.95) -> tuple[Table, ...]:
    """Every table of a run, the scores first.

    Args:
        run: the run.
        rng: where the draws of the intervals come from.
        level: coverage of the intervals.

    Raises:
        UsageError: the run has no trials, or its headline is no aggregate.
    """
    readings = read_all(run, letter_parsers(run))
    return (
        *score_tables(run, rng=rng, level=level),
        outcome_table(run),
        reason_table(run),
        table_of_readings(readings),
        changed_table(readings),
        position_table(run, rng=rng),
        *judge_tables(run, rng=rng),
        *repeat_tables(run, level=level),
        usage_table(run),
    )


# --------------------------------------------------------------------------- scores


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
    tags = _tags(run.rows)
    marked = Marked.of(run.rows)
    make = _Lines(
        rules=SimpleRules.of(marked.items), has_unmarked=marked.n_unmarked > 0, rng=rng, level=level
    )
    tables = [_headline_table(run, tags, marked, make=make)]
    for tag, values in tags.items():
        if is_moderate(values):
            tables.append(_tag_table(run, tag, values, make=make))
    return tuple(tables)


def _tags(rows: Sequence[Row]) -> dict[str, list[str]]:
    """Each tag with its values in natural order; questions without the tag have the value ``(none)``."""
    names = dict.fromkeys(tag for row in rows for tag in row.item.tags)
    return {tag: sorted({_value(row, tag) for row in rows}, key=natural_order) for tag in names}


def is_moderate(values: Sequence[str]) -> bool:
    """Whether a tag with these values gets a table."""
    return 2 <= len(values) <= MOST_VALUES


def _value(row: Row, tag: str) -> str:
    return row.item.tags.get(tag, NO_VALUE)


def natural_order(value: str) -> tuple[bool, list[tuple[bool, int, str]]]:
    """The key that sorts the values of a tag: numbers in order of size, ``(none)`` last."""
    pieces = re.findall(r"[0-9]+|[^0-9]+", value)
    return value == NO_VALUE, [(not p.isdecimal(), int(p) if p.isdecimal() else 0, p) for p in pieces]


def _columns(first: str, *, letter: str | None) -> tuple[Column, ...]:
    constant = f"always {letter}" if letter else "always one letter"
    return (
        Column(key="name", title=first, is_text=True),
        Column(key="items", title="questions"),
        Column(key="videos", title="videos"),
        Column(key="accuracy", title="accuracy, %", note="with its interval"),
        Column(key="chance", title="chance", group="without looking, %", note="blind guessing"),
        Column(
            key="constant",
            title=constant,
            group="without looking, %",
            note="always the letter that is right most often in this run",
        ),
        Column(key="longest", title="longest", group="without looking, %", note="always the longest choice"),
        Column(
            key="median",
            title="median",
            group="without looking, %",
            note="always the median number, on questions whose choices are numbers",
        ),
        *(Column(key=name, title=name, group="trials") for name in OUTCOMES),
    )


@dataclass(frozen=True, kw_only=True)
class _Lines:
    """Makes the lines of the score tables of one run."""

    rules: SimpleRules
    has_unmarked: bool
    rng: np.random.Generator
    level: float

    def fresh(self) -> np.random.Generator:
        """A generator in one and the same state, so that no line depends on the lines before it."""
        return copy.deepcopy(self.rng)

    def columns(self, first: str) -> tuple[Column, ...]:
        columns = _columns(first, letter=self.rules.letter)
        unmarked = Column(key="unmarked", title="not marked", note="wait for a judge; in no mean")
        return (*columns, unmarked) if self.has_unmarked else columns

    def mean(self, marked: Marked) -> Estimate | None:
        if not len(marked.values):
            return None
        return mean_interval(marked.values, clusters=marked.clusters, rng=self.fresh(), level=self.level)

    def macro(self, marked: Marked, groups: Sequence[str]) -> Estimate:
        rng = self.fresh()
        return mean_interval(
            marked.values, groups=groups, clusters=marked.clusters, rng=rng, level=self.level
        )

    def line(self, key: str, label: Cell, marked: Marked, *, score: Estimate | None) -> Line:
        rules = self.rules.on(marked.items)
        cells = [
            label,
            count(len(marked.items)),
            count(marked.n_videos),
            share(None) if score is None else estimated(score),
            share(rules.chance),
            share(rules.constant),
            share(rules.longest),
            share(rules.median, detail=f"on {rules.n_numeric:,}" if rules.n_numeric else ""),
            *(count(marked.n_outcomes.get(name, 0)) for name in OUTCOMES),
        ]
        if self.has_unmarked:
            cells.append(count(marked.n_unmarked))
        return Line(key=key, cells=tuple(cells))


def _headline_table(run: Run, tags: dict[str, list[str]], marked: Marked, *, make: _Lines) -> Table:
    """One line for each way to average; the line ``headline`` is the one that the plan asks for."""
    headline_tag = macro_tag(run.plan.headline)
    is_answered = run.plan.headline == ANSWERED
    micro_key = "headline" if headline_tag is None and not is_answered else "micro"
    by_video = words("mean over questions", detail="bootstrap by video")
    lines = [make.line(micro_key, by_video, marked, score=make.mean(marked))]
    if len(marked.values):
        analytic = mean_interval(marked.values, clusters=marked.clusters, rule="student", level=make.level)
        label = words("mean over questions", detail="clustered error")
        lines.append(make.line("analytic", label, marked, score=analytic))
    lines += _macro_lines(tags, marked, headline_tag=headline_tag, make=make)
    answered = Marked.of([row for row in run.rows if row.outcome == "answered"])
    label = words("answered only", detail="as the protocol says" if is_answered else "for comparison")
    key = "headline" if is_answered else ANSWERED
    lines.append(make.line(key, label, answered, score=make.mean(answered)))
    numeric = Marked.of([row for row in run.rows if make.rules.is_numeric(row.item)])
    if 0 < len(numeric.items) < len(marked.items):
        lines.append(make.line("numeric", words("numbers as choices"), numeric, score=make.mean(numeric)))
    return Table(
        name="score",
        title="Score",
        note=_headline_note(tags),
        kind="scores",
        columns=make.columns("aggregate"),
        # The headline stands first whatever it averages over.
        lines=tuple(sorted(lines, key=lambda line: line.key != "headline")),
    )


def _macro_lines(
    tags: dict[str, list[str]], marked: Marked, *, headline_tag: str | None, make: _Lines
) -> list[Line]:
    """The mean over the values of each tag that every question has, and of the headline's tag."""
    lines: list[Line] = []
    chosen = [tag for tag, values in tags.items() if is_moderate(values) and NO_VALUE not in values]
    if headline_tag is not None and headline_tag not in chosen:
        chosen.append(headline_tag)
    for tag in chosen:
        groups = [item.tags.get(tag, NO_VALUE) for item in marked.items]
        label = words(f"mean over {tag}", detail=f"{len(set(groups))} values, each alike")
        score = make.macro(marked, groups) if groups else None
        key = "headline" if tag == headline_tag else f"macro:{tag}"
        lines.append(make.line(key, label, marked, score=score))
    return lines


def _headline_note(tags: dict[str, list[str]]) -> str:
    note = "Unreadable, refused and failed trials count as wrong, except in the line 'answered only'."
    many = [f"{tag} ({len(values):,} values)" for tag, values in tags.items() if len(values) > MOST_VALUES]
    return f"{note} Tags with too many values for a table: {', '.join(many)}." if many else note


def _tag_table(run: Run, tag: str, values: Sequence[str], *, make: _Lines) -> Table:
    groups: dict[str, list[Row]] = {value: [] for value in values}
    for row in run.rows:
        groups[_value(row, tag)].append(row)
    marked = [(value, Marked.of(rows)) for value, rows in groups.items()]
    return Table(
        name=f"score:{tag}",
        title=f"Score by {tag}",
        kind="scores",
        columns=make.columns(tag),
        lines=tuple(make.line(value, words(value), some, score=make.mean(some)) for value, some in marked),
    )


# --------------------------------------------------------------------------- outcomes


def outcome_table(run: Run) -> Table:
    """What became of the planned trials: right, wrong, unreadable, refused, failed, and the rest."""
    found = Counter(row.fate for row in run.rows)
    total = len(run.rows) + run.n_missing
    counts = [(fate, title, found[fate]) for fate, title in FATES.items()]
    counted = [c for c in counts if c[2] or c[0] not in {"partly", "unjudged", "unmarked"}]
    lines = [
        Line(key=key, cells=(words(title), count(n), share(n / total if total else None)))
        for key, title, n in [
            *counted,
            *([("missing", "not asked yet", run.n_missing)] if run.n_missing else []),
        ]
    ]
    n_cut = sum(row.trial.reply is not None and row.trial.reply.finish == "length" for row in run.rows)
    return Table(
        name="outcomes",
        title="Outcomes",
        note=f"{n_cut:,} replies were cut off at the limit of tokens." if n_cut else "",
        kind="outcomes",
        columns=(
            Column(key="name", title="outcome", is_text=True),
            Column(key="n", title="trials"),
            Column(key="share", title="share, %"),
        ),
        lines=tuple(lines),
    )


def reason_table(run: Run) -> Table:
    """Why trials are unreadable, refused or failed, and by which rule answers were read."""
    found = Counter((row.outcome, _reason(row)) for row in run.rows)
    examples = {_reason(row): _example(row) for row in reversed(run.rows)}
    ordered = sorted(found.items(), key=lambda pair: (OUTCOMES.index(pair[0][0]), -pair[1], pair[0][1]))
    shown: Counter[str] = Counter()
    lines = []
    for (outcome, reason), n in ordered:
        shown[outcome] += 1
        if shown[outcome] <= MOST_REASONS:  # of each: many ways to be unreadable must not hide a failure
            cells = (words(outcome), words(reason, detail=examples[reason]), count(n))
            lines.append(Line(key=f"{outcome}:{reason}", cells=cells))
    n_more = len(ordered) - len(lines)
    return Table(
        name="reasons",
        title="How answers were read, and why some were not",
        note=f"{n_more:,} more reasons are not shown." if n_more else "",
        columns=(
            Column(key="outcome", title="outcome", is_text=True),
            Column(key="reason", title="rule or reason", is_text=True),
            Column(key="n", title="trials"),
        ),
        lines=tuple(lines),
    )


def _reason(row: Row) -> str:
    match row.score.outcome:
        case Answered(rule=rule):
            return rule or "no rule is named"
        case Unreadable(reason=reason) | Refused(reason=reason):
            return reason[:200]
        case Failed(stage=stage, error=error):
            return f"{error} ({stage})"


def _example(row: Row) -> str:
    """What happened to one failed trial: its message says what to do, but names one file or server."""
    outcome = row.score.outcome
    return f"for example: {outcome.message[:300]}" if isinstance(outcome, Failed) else ""
