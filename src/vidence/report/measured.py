"""One figure of a run: an average over some of its questions, with its interval."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from vidence.errors import UsageError
from vidence.records import Estimate
from vidence.report.marked import Marked
from vidence.report.results import Row
from vidence.statistics.intervals import mean_interval

NO_VALUE = "(none)"  # of a tag that a question lacks
ANSWERED = "answered"  # the average over readable replies alone


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


def accuracy(
    rows: Sequence[Row], average: str, *, rng: np.random.Generator, level: float = 0.95
) -> Estimate | None:
    """The accuracy over some trials; None where none of their questions is marked.

    Args:
        rows: the trials, of one run.
        average: ``micro``, ``answered`` (over the trials whose reply could be read) or ``macro:TAG``;
            questions without the tag are a group of their own.
        rng: where the draws of the interval come from.
        level: coverage of the interval.

    Raises:
        UsageError: no such average.
    """
    tag = macro_tag(average)
    if average == ANSWERED:
        rows = [row for row in rows if row.outcome == ANSWERED]
    marked = Marked.of(rows)
    if not len(marked.values):
        return None
    if tag is None:
        return mean_interval(marked.values, clusters=marked.clusters, rng=rng, level=level)
    groups = [item.tags.get(tag, NO_VALUE) for item in marked.items]
    return mean_interval(marked.values, groups=groups, clusters=marked.clusters, rng=rng, level=level)


def points(rows: Sequence[Row], *, rng: np.random.Generator, level: float = 0.95) -> Estimate | None:
    """The mean of the points that a judge gave, each question alike; None where it gave none.

    Args:
        rows: the trials, of one run; those without points are left out.
        rng: where the draws of the interval come from.
        level: coverage of the interval.
    """
    values, clusters = _points(rows)
    return mean_interval(values, clusters=clusters, rng=rng, level=level) if len(values) else None


def _points(rows: Sequence[Row]) -> tuple[NDArray[np.float64], tuple[str, ...]]:
    given: dict[str, list[float]] = {}
    videos: dict[str, str] = {}
    for row in rows:
        if row.score.points is not None:
            given.setdefault(row.item.item_id, []).append(row.score.points)
            videos[row.item.item_id] = row.item.video_id
    means = [sum(found) / len(found) for found in given.values()]
    return np.array(means, np.float64), tuple(videos[item_id] for item_id in given)
