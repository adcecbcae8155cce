"""How replies were scored: by rules, judges or a panel; agreement and failures."""

from collections.abc import Sequence

import numpy as np

from vidence.ask.judging.verdicts import n_contradictions
from vidence.engine.specs import short_names
from vidence.records import Estimate, by_key
from vidence.report.results import SEED, WAITING, Row, Run
from vidence.report.scores import Aggregate, Draws
from vidence.tables.table import Cell, Column, Table, several
from vidence.tables.table import Row as TableRow
from vidence.text import visible

JUDGE_TABLES = ("judges", "judges-members")
_CONTRARY = Column(
    key="contrary",
    title="contradictions",
    kind="count",
    note="verdicts that contradict the answer that they extracted; they count as the judge scored them",
)
_MOST_WHY = 200


def judge_tables(run: Run) -> tuple[Table, ...]:
    """Return tables of what judges did in a run; empty if none was asked.

    Args:
        run: the run.
    """
    asked = [row for row in run.rows if row.score.verdicts or row.score.unanswered]
    if not asked:
        return ()
    return _marks(run), _members(asked)


def judge_sentence(run: Run) -> str:
    """Say which judge scored how much, with which models and temperature; empty if none was asked."""
    judged = [row for row in run.rows if row.score.verdicts]
    if not judged:
        return _kept_sentence(run)
    drawn = dict.fromkeys((v.judge_model, v.temperature) for row in judged for v in row.score.verdicts)
    short = short_names(model for model, _ in drawn)
    models = ", ".join(f"{short[model]} at {_temperature(t)}" for model, t in drawn)
    n_errors = sum(row.is_judge_error for row in judged)
    n_rules = sum(not row.score.verdicts and row.correct is not None for row in run.rows)
    names = ", ".join(dict.fromkeys(row.score.scorer for row in judged))
    n_tied = sum(row.is_undecided for row in judged)
    errors = f"{n_errors:,} judge {'error' if n_errors == 1 else 'errors'}, in no mean"
    n_contrary = n_contradictions(row.score for row in judged)
    contrary = (
        f" In {several(n_contrary, 'verdict')} the mark contradicts the answer extracted; the mark counts."
        if n_contrary
        else ""
    )
    n_open = sum(row.is_undecided and row.correct is None for row in judged)
    tied = f", {n_tied - n_open:,} undecided between the judges, counted as wrong" if n_tied > n_open else ""
    tied += f", {n_open:,} left open since the judges differ, in no mean" if n_open else ""
    counted = (
        f"Judged by {names} ({models}): {len(judged) - n_errors - n_tied:,} trials by verdict, "
        f"{n_rules:,} by rules, {errors if n_errors else 'no judge error'}{tied}."
    )
    return f"{counted}{contrary} {_kept_sentence(run)}".rstrip()


def _kept_sentence(run: Run) -> str:
    """Say how many verdicts are missing, so that earlier scores stay; empty if none are."""
    rows = [row for row in run.rows if row.score.unanswered]
    if not rows:
        return ""
    models = ", ".join(short_names(v.judge_model for row in rows for v in row.score.unanswered).values())
    n_waiting = sum(row.correct is None for row in rows)
    waiting = f" ({n_waiting:,} of them still without one)" if n_waiting else ""
    why = visible(next((v.error for row in rows for v in row.score.unanswered if v.error), ""))
    why = f"{why[:_MOST_WHY]}…" if len(why) > _MOST_WHY else why.rstrip(".")
    first = f" The first: {why}{'' if why.endswith(('?', '…')) else '.'}" if why else ""
    return (
        f"{several(len(rows), 'trial')} got no verdict from {models}: the mark from before stays{waiting}. "
        f"vidence replies judge asks about these alone.{first}"
    )


def _temperature(temperature: float | None) -> str:
    return "the server's temperature" if temperature is None else f"temperature {temperature:g}"


# --------------------------------------------------------------------------- who scored what


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None


def _points(given: Sequence[float], mean: Estimate | None = None) -> Cell:
    return Cell(value=mean or _mean(given), detail=f"on {len(given):,}" if given else "")


# How trials were scored, and what to say of that with the name of the scorer.
_KINDS = {
    "rule": "rules ({})",
    "judge": "verdicts ({})",
    "error": "judge errors ({})",
    "undecided": "undecided judges ({})",
    "waiting": "not scored yet, or nothing to judge",
}


def _kind(row: Row) -> str:
    if row.is_judge_error:
        return "error"
    if row.is_undecided:
        return "undecided"
    if row.score.verdicts:
        return "judge"
    return "waiting" if row.score.scorer == WAITING else "rule"


def _marks(run: Run) -> Table:
    groups = by_key(
        ((kind, row.score.scorer), row) for kind in _KINDS for row in run.rows if _kind(row) == kind
    )
    has_contrary = n_contradictions(row.score for row in run.rows) > 0
    rows = []
    for (kind, name), some in groups.items():
        values = [row.correct for row in some if row.correct is not None]
        given = [row.score.points for row in some if row.score.points is not None]
        mean = Aggregate.of(some, of_points=True).estimate(Draws(rng=np.random.default_rng(SEED)))
        contrary = (n_contradictions(row.score for row in some),) if has_contrary else ()
        marks = (len(some), len(some) / len(run.rows), _mean(values), _points(given, mean), *contrary)
        rows.append(TableRow(key=f"{kind}:{name}", label=_KINDS[kind].format(name), values=marks))
    return Table(
        name="judges",
        title="Who scored the replies",
        note="Judge errors are in no mean; undecided judges count as wrong, but for those left open.",
        label=Column(key="by", title="scored by"),
        columns=(
            Column(key="n", title="trials", kind="count"),
            Column(key="share", title="share", kind="share"),
            Column(
                key="right",
                title="right",
                kind="share",
                note="of the trials in this line, judge errors left out",
            ),
            Column(key="points", title="mean points", kind="points", note="on the scale of the judge"),
            *([_CONTRARY] if has_contrary else []),
        ),
        rows=tuple(rows),
    )


def _members(judged: Sequence[Row]) -> Table:
    rows = []
    entries = [v for row in judged for v in (*row.score.verdicts, *row.score.unanswered)]
    for model, name in short_names(v.judge_model for v in entries).items():
        verdicts = [v for v in entries if v.judge_model == model]
        values = [v.value for v in verdicts if v.value is not None]
        temperatures = dict.fromkeys(_temperature(v.temperature) for v in verdicts)
        given = _points([v.points for v in verdicts if v.points is not None])
        rows.append(
            TableRow(
                key=model,
                label=name,
                detail=", ".join(temperatures),
                values=(len(verdicts), len(verdicts) - len(values), _mean(values), given),
            )
        )
    return Table(
        name="judges-members",
        title="Judges",
        label=Column(key="judge", title="model"),
        columns=(
            Column(key="n", title="asked", kind="count"),
            Column(
                key="errors", title="no verdict", kind="count", note="no reply, or none that could be read"
            ),
            Column(key="right", title="found right", kind="share", note="of its verdicts"),
            Column(key="points", title="mean points", kind="points"),
        ),
        rows=tuple(rows),
    )
