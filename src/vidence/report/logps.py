"""Log-probabilities of letters and texts of choices: how likely the answers were, and how often right."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from vidence.ask.scoring.logp import Norm, letter_probabilities, text_scores
from vidence.records import Estimate
from vidence.report.results import Row, Run
from vidence.report.scores import few_note
from vidence.statistics.confidence import N_BINS, calibration_bins, ece, ece_by_luck
from vidence.statistics.intervals import mean_interval
from vidence.tables.table import (
    DASH,
    Cell,
    Column,
    RowSpec,
    Table,
    count,
    number,
    percent,
    share,
    tabulate,
    videos_cell,
)

LOGP_TABLES = ("confidence", "confidence-bins", "text-confidence", "text-confidence-bins")
NORMS: Mapping[Norm, str] = {"byte": "per byte", "token": "per token", "text": "as a whole"}


@dataclass(frozen=True, kw_only=True)
class Stated:
    """The likeliest choice of one trial: its share among the choices, and whether it is right."""

    video: str
    confidence: float
    correct: float


def has_logps(row: Row) -> bool:
    """Whether the reply of a trial came with log-probabilities of choice letters."""
    return row.trial.reply is not None and bool(row.trial.reply.choice_logps)


def has_text_logps(row: Row) -> bool:
    """Whether the reply of a trial came with log-probabilities of the texts of the choices."""
    return row.trial.reply is not None and bool(row.trial.reply.choice_text_logps)


def shares(row: Row, norm: Norm | None = None) -> dict[str, float]:
    """The share of each choice: of its letter, or of its text; empty where they are not known.

    Args:
        row: the trial.
        norm: what log-probabilities of texts are divided by before the softmax; None takes the letters.
    """
    reply, letters = row.trial.reply, row.item.letters
    if reply is None or row.item.answer_kind != "choice":
        return {}
    if norm is None:
        return letter_probabilities(reply.choice_logps, letters)
    return letter_probabilities(text_scores(reply.choice_text_logps, letters, norm=norm), letters)


def stated(rows: Sequence[Row], norm: Norm | None = None) -> tuple[Stated, ...]:
    """The confidences of the trials in which one choice was the likeliest; `norm` as in `shares`."""
    found = []
    for row in rows:
        likely = shares(row, norm)
        most = [letter for letter, share in likely.items() if share == max(likely.values())]
        if len(most) == 1:
            correct = float(most[0] == row.item.answer)
            found.append(Stated(video=row.item.source_id, confidence=likely[most[0]], correct=correct))
    return tuple(found)


def logp_words(row: Row) -> str:
    """The log-probabilities of a reply and what they come to, in sentences; empty where there are none."""
    return " ".join(filter(None, (_letter_words(row), _text_words(row))))


def _letter_words(row: Row) -> str:
    reply = row.trial.reply
    if reply is None or not reply.choice_logps:
        return ""
    likely = shares(row)
    said = [
        f"{letter} {logp:.3f}" + (f" ({percent(likely[letter])} %)" if letter in likely else "")
        for letter, logp in sorted(reply.choice_logps.items())
    ]
    return f"Log-probabilities of the letters (shares among the choices): {', '.join(said)}."


def _text_words(row: Row) -> str:
    reply = row.trial.reply
    if reply is None or not reply.choice_text_logps:
        return ""
    likely = shares(row, "text")
    said = [
        f"{letter} {one.logp / one.n_bytes:.3f} ({one.logp:.2f}"
        + (f", {percent(likely[letter])} %)" if letter in likely else ")")
        for letter, one in sorted(reply.choice_text_logps.items())
    ]
    return (
        "Log-probabilities of the texts of the choices per byte (as a whole, and shares of these): "
        f"{', '.join(said)}."
    )


def logp_tables(run: Run, *, level: float = 0.95) -> tuple[Table, ...]:
    """How well log-probabilities of letters and texts are calibrated; nothing where no reply has any.

    Args:
        run: the run.
        level: coverage of the intervals.
    """
    rows = [row for row in run.rows if row.item.answer_kind == "choice" and row.trial.reply is not None]
    tables: list[Table] = []
    if known := stated(rows):
        tables += [
            _summary(_OF_LETTERS, {"value": ("value", known)}, n_replies=len(rows), level=level),
            _bins(_OF_LETTERS, known, level=level),
        ]
    if any(map(has_text_logps, rows)):
        by_norm = {norm: stated(rows, norm) for norm in NORMS}
        columns = {str(norm): (title, by_norm[norm]) for norm, title in NORMS.items()}
        tables.append(_summary(_OF_TEXTS, columns, n_replies=len(rows), level=level))
        if whole := by_norm["text"]:
            tables.append(_bins(_OF_TEXTS, whole, level=level))
    return tuple(tables)


@dataclass(frozen=True, kw_only=True)
class _Words:
    """What is said of one kind of log-probabilities."""

    name: str
    title: str
    answer: str
    note: str
    bins: str
    label: str


_LUCK = (
    "The Brier score is 0 at best, and 0.25 where 50 % is said each time. The calibration error is above 0 "
    "by luck alone; the line below it says how far on average, if answers about one video were independent."
)
_OF_LETTERS = _Words(
    name="confidence",
    title="Calibration of the log-probabilities",
    answer="most likely letter",
    note="Probabilities are among the choice letters that the model reported, at the first position of "
    f"the answer. {_LUCK}",
    bins="How often the most likely letter is right, by its probability",
    label="probability of the letter",
)
_OF_TEXTS = _Words(
    name="text-confidence",
    title="Calibration of the log-probabilities of the texts of the choices",
    answer="likeliest text",
    note="How likely the bare text of each choice is right behind the prompt, without the end of the turn. "
    "The likeliest text has the highest log-probability divided by its bytes (what the parser logp-text "
    "reads), by its tokens, or by nothing; the probability is its share of the exponentials of these. Only "
    "that of the text as a whole is one: divided by a length it is a score, the flatter the longer the texts "
    f"are. {_LUCK}",
    bins="How often the likeliest text as a whole is right, by its probability",
    label="probability of the text",
)


def _mean(values: Sequence[float], of: Sequence[Stated], *, level: float) -> Estimate:
    return mean_interval(values, clusters=[one.video for one in of], level=level)


def _summary(
    words: _Words,
    columns: Mapping[str, tuple[str, Sequence[Stated]]],
    *,
    n_replies: int,
    level: float,
) -> Table:
    """One column for each way to take the likeliest choice: its title, and what was stated."""
    cells = {key: _cells(known, n_replies=n_replies, level=level) for key, (_, known) in columns.items()}
    labels = {
        "replies": f"replies with a {words.answer}",
        "videos": "videos",
        "accuracy": f"the {words.answer} is right, %",
        "confidence": "mean probability of it, %",
        "ece": f"expected calibration error, {N_BINS} bins",
        "ece-luck": "the same of a calibrated model with as many answers",
        "brier": "Brier score",
    }
    return tabulate(
        words.name,
        words.title,
        label=Column(key="name", title=""),
        rows=(RowSpec(name, label, name) for name, label in labels.items()),
        measures=tuple(number(key, cells[key].__getitem__, title) for key, (title, _) in columns.items()),
        notes=(
            words.note,
            few_note([len({one.video for one in known}) for _, known in columns.values()]),
        ),
    )


def _cells(known: Sequence[Stated], *, n_replies: int, level: float) -> dict[str, Cell]:
    """The figures of one column by the name of their line; dashes where nothing was stated."""
    replies = Cell(value=len(known), detail=f"of {n_replies:,}")
    videos = videos_cell(len({one.video for one in known}))
    if not known:
        none = dict.fromkeys(("accuracy", "confidence", "ece", "ece-luck", "brier"), Cell(value=DASH))
        return {"replies": replies, "videos": videos, **none}
    confidences, correct = [one.confidence for one in known], [one.correct for one in known]
    squares = [(one.confidence - one.correct) ** 2 for one in known]
    return {
        "replies": replies,
        "videos": videos,
        "accuracy": _share(_mean(correct, known, level=level)),
        "confidence": _share(_mean(confidences, known, level=level)),
        "ece": Cell(value=ece(confidences, correct), kind="number"),
        "ece-luck": Cell(value=ece_by_luck(confidences), kind="number"),
        "brier": Cell(value=_mean(squares, known, level=level), kind="number"),
    }


def _share(estimate: Estimate) -> Cell:
    return Cell(value=estimate, kind="share")


def _bins(words: _Words, known: Sequence[Stated], *, level: float) -> Table:
    confidences = np.array([one.confidence for one in known])
    lines = []
    for found in calibration_bins(confidences, [one.correct for one in known]):
        is_first = found.low == 0
        inside = [
            one for one in known if (found.low < one.confidence or is_first) and one.confidence <= found.high
        ]
        label = f"{percent(found.low, digits=0)} to {percent(found.high, digits=0)} %"
        lines.append(RowSpec(f"bin:{found.low:g}", label, inside))
    return tabulate(
        f"{words.name}-bins",
        words.bins,
        label=Column(key="name", title=words.label),
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
