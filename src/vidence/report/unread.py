"""How a comparison of two runs depends on unanswered trials, and on the parser."""

import dataclasses
from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np

from vidence.catalog import create, names, ready
from vidence.contracts import Scorer
from vidence.records import OutcomeName, Record
from vidence.report.pairing import PairedRuns
from vidence.report.results import OUTCOMES, Row, Run, read_again
from vidence.report.scores import ANSWERED, ScoredQuestions
from vidence.statistics.paired import Comparison, compare

_Mark: TypeAlias = Callable[[Row], float | None]
# The name of the reading of the comparison itself.
AS_COMPARED = "as compared"


class Unanswered(Record):
    """The outcomes of a run's trials on the compared questions."""

    name: str
    n_trials: int
    outcomes: dict[OutcomeName, int]

    @property
    def n_unread(self) -> int:
        """Return the number of unanswered trials: unreadable, refused or failed."""
        return self.n_trials - self.outcomes["answered"]


class ParserComparison(Record):
    """The comparison under another parser; `n_unread` counts both runs' unanswered trials."""

    parser: str
    comparison: Comparison
    n_unread: tuple[int, int]


class Unread(Record):
    """How a difference depends on unanswered trials. Every difference is the second minus the first.

    `runs` count the outcomes. `both_answered` is the difference on the questions that both runs answered in
    every repeat; None if there are none. `worst` counts the second run's unanswered trials as wrong and the
    first's as right, `best` the reverse: complete answers would have given a difference between these.
    `readings` has the replies under each applicable parser (`applicable_parsers`), the runs' own parsers
    first as `AS_COMPARED`; only that one if no reply to a question with choices is stored.

    All comparisons use the headline's average.
    """

    runs: tuple[Unanswered, Unanswered]
    both_answered: Comparison | None
    worst: Comparison
    best: Comparison
    readings: tuple[ParserComparison, ...]

    @property
    def n_unread(self) -> int:
        """Return the number of both runs' unanswered trials."""
        return sum(run.n_unread for run in self.runs)

    @property
    def others(self) -> tuple[ParserComparison, ...]:
        """Return other parsers' readings that change the verdict or the sign (`is_other`)."""
        first = self.readings[0].comparison
        return tuple(reading for reading in self.readings[1:] if is_other(reading.comparison, first))

    @property
    def is_open(self) -> bool:
        """Whether unanswered trials could change the verdict or the sign (`is_other`)."""
        first = self.readings[0].comparison
        return is_other(self.worst, first) or is_other(self.best, first)


def is_other(comparison: Comparison, base: Comparison) -> bool:
    """Whether the verdict or the sign differs.

    If neither difference is clear, a change of sign does not count.
    """
    if comparison.verdict != base.verdict:
        return True
    return comparison.verdict != "not clear" and comparison.difference.value * base.difference.value < 0


def unanswered(paired: PairedRuns) -> tuple[Unanswered, ...]:
    """Return the outcomes of each run's trials on the compared questions."""
    ids = {item.item_id for item in paired.items}
    entries = []
    for name, run in zip(paired.names, paired.runs, strict=True):
        outcomes = [row.outcome for row in run.rows if row.item.item_id in ids]
        counts = {outcome: outcomes.count(outcome) for outcome in OUTCOMES}
        entries.append(Unanswered(name=name, n_trials=len(outcomes), outcomes=counts))
    return tuple(entries)


def unread(paired: PairedRuns, *, tag: str = "", level: float = 0.95) -> Unread:
    """Compare two runs again: without unanswered trials, with these right or wrong, and by other parsers.

    Args:
        paired: two runs on the same questions.
        tag: the tag of a macro mean; empty for the mean over questions.
        level: coverage of the intervals; 1 minus the level of the tests.
    """
    silent = {row.item.item_id for run in paired.runs for row in run.rows if row.outcome != ANSWERED}
    both = paired.part([i for i, item in enumerate(paired.items) if item.item_id not in silent])
    counted, readings = unanswered(paired), []
    for name, runs in {AS_COMPARED: paired.runs, **_read_by_parsers(paired.runs)}.items():
        again = _with_values(paired, runs, lambda row: row.correct)
        first, second = unanswered(again)
        comparison = difference(again, tag, level=level)
        readings.append(
            ParserComparison(parser=name, comparison=comparison, n_unread=(first.n_unread, second.n_unread))
        )
    return Unread(
        runs=(counted[0], counted[1]),
        both_answered=difference(both, tag, level=level) if both.items else None,
        worst=difference(_with_values(paired, paired.runs, _filled(1.0), _filled(0.0)), tag, level=level),
        best=difference(_with_values(paired, paired.runs, _filled(0.0), _filled(1.0)), tag, level=level),
        readings=tuple(readings),
    )


def difference(paired: PairedRuns, tag: str, *, level: float) -> Comparison:
    """Return the second run minus the first, as mean over questions or over the values of a tag."""
    groups = paired.groups(tag) if tag else None
    first, second = paired.values.T
    return compare(second, first, clusters=paired.clusters, groups=groups, level=level)


def _filled(value: float) -> _Mark:
    """Score a trial, with this value if it has no answer."""
    return lambda row: row.correct if row.correct is None or row.outcome == ANSWERED else value


def _with_values(paired: PairedRuns, runs: Sequence[Run], *marks: _Mark) -> PairedRuns:
    """Return the same questions with other scores, from a scoring function per run or for all."""
    each = marks if len(marks) == len(runs) else marks * len(runs)
    columns = []
    for run, mark in zip(runs, each, strict=True):
        scored = ScoredQuestions.of(run.rows, mark)
        known = dict(zip((item.item_id for item in scored.items), scored.values.tolist(), strict=True))
        columns.append([known[item.item_id] for item in paired.items])
    values = np.array(columns, np.float64).T
    return dataclasses.replace(paired, runs=tuple(runs), values=values)


def _read_by_parsers(runs: Sequence[Run]) -> dict[str, tuple[Run, ...]]:
    """Return the runs as each applicable parser reads them; none if no such reply is stored."""
    if not any(row.trial.reply and row.item.answer_kind == "choice" for run in runs for row in run.rows):
        return {}
    known = applicable_parsers(runs[0].plan.benchmark, ready("parser"))
    scorers: dict[str, Scorer] = {name: create("parser", name) for name in known}
    return {
        name: tuple(_read(run, scorer, name) for run in runs)
        for name, scorer in scorers.items()
        if scorer.reads_letters and any(run.reader != name for run in runs)
    }


def applicable_parsers(benchmark: str, parsers: Sequence[str]) -> tuple[str, ...]:
    """Return the parsers that apply to replies of a benchmark.

    Those of other benchmarks are excluded: they expect other prompts, and extract letters from prose.

    Args:
        benchmark: the name of the benchmark.
        parsers: the names of parsers; a benchmark's parser starts with its name.

    >>> applicable_parsers("herbench", ["herbench-official", "mmvu-official", "robust"])
    ('herbench-official', 'robust')
    """
    others = [f"{name}-" for name in names("benchmark") if name != benchmark]
    return tuple(parser for parser in parsers if not any(map(parser.startswith, others)))


def _read(run: Run, scorer: Scorer, name: str) -> Run:
    rows = tuple(
        Row(item=row.item, trial=row.trial, score=read_again(row.item, row.trial, scorer)) for row in run.rows
    )
    return dataclasses.replace(run, rows=rows, parser=name)
