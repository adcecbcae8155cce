"""How far the score moves when the same questions are asked again."""

import numpy as np

from vidence.report.results import Run
from vidence.statistics.repeats import components, summarise
from vidence.tables.cells import Cell, Column, Line, Table, count, estimated, percent, share, words

REPEATS = "repeats"
_TWO = 2


def repeat_tables(run: Run, *, level: float = 0.95) -> tuple[Table, ...]:
    """The score of each repeat, their mean with its t interval, and what the uncertainty is made of.

    Only questions with a mark in every repeat enter. Nothing for a run without repeats.

    Args:
        run: the run.
        level: coverage of the intervals.
    """
    marks: dict[str, dict[int, float]] = {}
    videos: dict[str, str] = {}
    for row in run.rows:
        if row.correct is not None:
            marks.setdefault(row.item.item_id, {})[row.trial.repeat] = row.correct
            videos[row.item.item_id] = row.item.video_id
    repeats = sorted({repeat for found in marks.values() for repeat in found})
    whole = [item_id for item_id, found in marks.items() if len(found) == len(repeats)]
    if len(repeats) < _TWO or not whole:
        return ()
    values = np.array([[marks[item_id][repeat] for repeat in repeats] for item_id in whole])
    scores = values.mean(axis=0)
    summary = summarise(scores, level=level)
    parts = components(values, clusters=[videos[item_id] for item_id in whole], level=level)
    lines = [
        _line(f"repeat:{repeat}", f"repeat {repeat + 1}", share(float(score)))
        for repeat, score in zip(repeats, scores, strict=True)
    ]
    lines += [
        _line("mean", "mean, t interval over repeats", estimated(summary.mean)),
        _line("variance", "sample variance, squared points", Cell(text=f"{1e4 * summary.variance:.2f}")),
        _line("total", "mean, other questions too", estimated(parts.mean)),
        _line("error-repeats", "standard error from repeats, points", Cell(text=percent(parts.repeat_error))),
        _line(
            "error-questions",
            "standard error from the sample of questions, points",
            Cell(text=percent(parts.sampling_error)),
        ),
        _line("questions", "questions with a mark in every repeat", count(len(whole))),
    ]
    note = (
        "The t interval says how far the score moves when the same questions are asked again, as in table 11 "
        "of HumanPCR; the line below it also covers other questions and videos."
    )
    columns = (
        Column(key="name", title="", is_text=True),
        Column(key="value", title="accuracy, %"),
    )
    return (Table(name=REPEATS, title="Repeats", columns=columns, lines=tuple(lines), note=note),)


def _line(key: str, label: str, cell: Cell) -> Line:
    return Line(key=key, cells=(words(label), cell))
