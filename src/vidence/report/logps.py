"""Log-probabilities of the choice letters: how likely the model took its answers, and how right it was."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from vidence.ask.scoring.logp import letter_probabilities, read_logps
from vidence.records import Answered, Estimate
from vidence.report.results import Row, Run
from vidence.report.scores import few_note
from vidence.statistics.confidence import N_BINS, calibration_bins, ece, ece_by_luck
from vidence.statistics.intervals import mean_interval
from vidence.tables.table import (
    Cell,
    Column,
    Line,
    Table,
    count,
    number,
    percent,
    share,
    tabulate,
    videos_cell,
)

LOGP_TABLES = ("confidence", "confidence-bins")


@dataclass(frozen=True, kw_only=True)
class Stated:
    """The most likely letter of one trial: how likely it was among the letters, and whether it is right."""

    video: str
    confidence: float
    correct: float


def has_logps(row: Row) -> bool:
    """Whether the reply of a trial came with log-probabilities of choice letters."""
    return row.trial.reply is not None and bool(row.trial.reply.choice_logps)


def stated(rows: Sequence[Row]) -> tuple[Stated, ...]:
    """The confidences of the trials in which one letter was the most likely."""
    found = []
    for row in rows:
        reply, item = row.trial.reply, row.item
        if reply is None or item.answer_kind != "choice":
            continue
        likely = letter_probabilities(reply.choice_logps, item.letters)
        read = read_logps(item, reply)
        if isinstance(read, Answered):
            correct = float(read.answer == item.answer)
            one = Stated(video=item.source_id, confidence=likely[read.answer], correct=correct)
            found.append(one)
    return tuple(found)


def logp_words(row: Row) -> str:
    """The log-probabilities of a reply and what they come to, in a sentence; empty where there are none."""
    reply = row.trial.reply
    if reply is None or not reply.choice_logps:
        return ""
    likely = letter_probabilities(reply.choice_logps, row.item.letters)
    said = [
        f"{letter} {logp:.3f}" + (f" ({percent(likely[letter])} %)" if letter in likely else "")
        for letter, logp in sorted(reply.choice_logps.items())
    ]
    return f"Log-probabilities of the letters (shares among the choices): {', '.join(said)}."


def logp_tables(run: Run, *, level: float = 0.95) -> tuple[Table, ...]:
    """How well the log-probabilities of the letters are calibrated; nothing where no reply has any.

    Args:
        run: the run.
        level: coverage of the intervals.
    """
    rows = [row for row in run.rows if row.item.answer_kind == "choice" and row.trial.reply is not None]
    known = stated(rows)
    if not known:
        return ()
    return _summary(known, n_replies=len(rows), level=level), _bins(known, level=level)


def _mean(values: Sequence[float], of: Sequence[Stated], *, level: float) -> Estimate:
    return mean_interval(values, clusters=[one.video for one in of], level=level)


def _summary(known: Sequence[Stated], *, n_replies: int, level: float) -> Table:
    confidences, correct = [one.confidence for one in known], [one.correct for one in known]
    squares = [(one.confidence - one.correct) ** 2 for one in known]
    error = ece(confidences, correct)
    rows = (
        ("replies", "replies with a most likely letter", Cell(value=len(known), detail=f"of {n_replies:,}")),
        ("videos", "videos", videos_cell(len({one.video for one in known}))),
        ("accuracy", "the most likely letter is right, %", _share(_mean(correct, known, level=level))),
        ("confidence", "mean probability of that letter, %", _share(_mean(confidences, known, level=level))),
        ("ece", f"expected calibration error, {N_BINS} bins", Cell(value=error, kind="number")),
        (
            *("ece-luck", "the same of a calibrated model with as many answers"),
            Cell(value=ece_by_luck(confidences), kind="number"),
        ),
        ("brier", "Brier score", Cell(value=_mean(squares, known, level=level), kind="number")),
    )
    return tabulate(
        "confidence",
        "Calibration of the log-probabilities",
        label=Column(key="name", title=""),
        rows=(Line(key, label, cell) for key, label, cell in rows),
        measures=(number("value", lambda cell: cell, "value"),),
        notes=(
            "Probabilities are among the choice letters that the model reported, at the first position of "
            "the answer. The Brier score is 0 at best, and 0.25 where 50 % is said each time. The "
            "calibration error is above 0 by luck alone; the line below it says how far on average, if "
            "answers about one video were independent.",
            few_note([len({one.video for one in known})]),
        ),
    )


def _share(estimate: Estimate) -> Cell:
    return Cell(value=estimate, kind="share")


def _bins(known: Sequence[Stated], *, level: float) -> Table:
    confidences = np.array([one.confidence for one in known])
    lines = []
    for found in calibration_bins(confidences, [one.correct for one in known]):
        is_first = found.low == 0
        inside = [
            one for one in known if (found.low < one.confidence or is_first) and one.confidence <= found.high
        ]
        label = f"{percent(found.low, digits=0)} to {percent(found.high, digits=0)} %"
        lines.append(Line(f"bin:{found.low:g}", label, inside))
    return tabulate(
        "confidence-bins",
        "How often the most likely letter is right, by its probability",
        label=Column(key="name", title="probability of the letter"),
        rows=lines,
        measures=(
            count("items", len, "replies"),
            count("videos", lambda some: videos_cell(len({one.video for one in some}))),
            share(
                "confidence",
                lambda some: sum(one.confidence for one in some) / len(some),
                "mean probability",
            ),
            share(
                "accuracy",
                lambda some: _mean([one.correct for one in some], some, level=level),
                "right",
                note="with its interval",
            ),
        ),
        notes=(
            "A calibrated model is right as often as the probability says: the bar ends at the mark.",
            few_note(len({one.video for one in line.about}) for line in lines),
        ),
        figure="reliability",
    )
