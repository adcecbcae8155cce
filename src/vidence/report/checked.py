"""Replies of a run that people read, and the score corrected by their readings."""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Final, Literal

import msgspec
import numpy as np

from vidence.ask.files import FieldError, csv_rows, read, read_json
from vidence.ask.judging.humanpcr import RIGHT_FROM, SCALE
from vidence.errors import DataError
from vidence.records import Estimate, Item, Record, Trial, by_key
from vidence.statistics.prediction_powered import LEAST_READ, PseudoMarks, corrected
from vidence.text import quoted

FOLDER: Final = "check"
"""Subfolder of a run folder with the study of the drawn replies, and with `FILE`."""
FILE: Final = "check.json"
LABELS_FOLDER, RATINGS_FILE = "labels", "ratings.csv"
"""Where a study stores people's ratings of replies."""
STATES, CORRECT, POINTS = "states", "correct", "score"
"""Columns of people's ratings, see `answers_to`."""
_OF_TEXTS: Mapping[str, Mapping[str, tuple[float, float]]] = {
    CORRECT: {"right": (1.0, np.nan), "wrong": (0.0, np.nan)},
    POINTS: {str(n): (float(n >= RIGHT_FROM), n / SCALE) for n in range(SCALE + 1)},
}


class CheckDraw(Record):
    """The replies of a run that were drawn for people to read: `FILE`.

    `replies_sha256` is the hash of all replies of the run, see `digest_of`. `strata` contains every question
    whose reply could be drawn, `drawn` those that were.
    """

    format: Literal["vidence-check/1"] = "vidence-check/1"
    replies_sha256: str
    strata: dict[str, str]
    drawn: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Checked:
    """The sample of a run: the replies drawn, and people's score of each, 0 to 1.

    `read` is whether it is right, `points` its share of all points if the judge gives points.
    """

    draw: CheckDraw
    read: Mapping[str, float]
    points: Mapping[str, float]

    @property
    def n_unread(self) -> int:
        """Return the number of drawn replies that no person has read."""
        return len(self.draw.drawn) - len(self.read)

    def pseudo_marks(self, items: Sequence[Item], *, points: bool = False) -> PseudoMarks:
        """Return the scores, or shares of points, of some questions, corrected by the readings.

        An empty reply is wrong without being read.
        """
        places, *whole = self._whole
        return whole[points].part([places.get(item.item_id, len(places)) for item in items])

    @cached_property
    def _whole(self) -> tuple[Mapping[str, int], PseudoMarks, PseudoMarks]:
        """Return the positions of all replies in the frame of the sample, and their scores and points."""
        places = {item_id: place for place, item_id in enumerate(self.draw.strata)}
        strata, unknown = (*self.draw.strata.values(), ""), np.full(len(places) + 1, 0.5)
        reads = [[*(known.get(i, np.nan) for i in places), 0.0] for known in (self.read, self.points)]
        marks, points = (PseudoMarks.of(unknown, read=read, strata=strata) for read in reads)
        return places, marks, points


def as_read(
    raw: Estimate,
    samples: Sequence[Checked | None],
    items: Sequence[Item],
    *,
    clusters: Sequence[str],
    groups: Sequence[str] | None = None,
    points: bool = False,
) -> Estimate:
    """Add the people-corrected value to an estimate; all scores and differences pass through here.

    A difference between two runs of which only one was read stays raw: errors that both share cancel in it,
    which they would not if one side were corrected.

    Args:
        raw: the estimate.
        samples: the sample of the run whose mean it is, or the samples of both runs of a difference.
        items: the questions that it covers.
        clusters: the source of each.
        groups: as for `mean_interval`.
        points: whether it is of a judge's points.
    """
    known = [sample.pseudo_marks(items, points=points) for sample in samples if sample is not None]
    if len(known) < len(samples):
        return raw
    if (n := min(marks.n_read for marks in known)) < min(LEAST_READ, len(items)):
        return uncorrected(raw, f"{n} read")
    estimate, _ = corrected(*known, clusters=clusters, groups=groups, level=raw.level)
    if points:
        ends = {name: SCALE * getattr(estimate, name) for name in ("value", "low", "high")}
        estimate = msgspec.structs.replace(estimate, **ends)
    return msgspec.structs.replace(raw, corrected=estimate)


def uncorrected(raw: Estimate, why: str) -> Estimate:
    """Mark an estimate as having too few readings to correct it, and say why."""
    none = msgspec.structs.replace(raw, value=np.nan, low=np.nan, high=np.nan, reason=why)
    return msgspec.structs.replace(raw, corrected=none)


def digest_of(trials: Sequence[Trial]) -> str:
    """Return a hash of a run's replies, independent of how they are parsed and judged."""
    sha256 = hashlib.sha256()
    for trial in sorted(trials, key=lambda trial: (trial.item_id, trial.repeat)):
        reply = trial.reply
        words = (reply.text, reply.reasoning) if reply is not None else None
        sha256.update(msgspec.json.encode((trial.item_id, trial.repeat, trial.choice_order, words)))
    return sha256.hexdigest()


def answers_to(item: Item) -> Mapping[str, Mapping[str, tuple[float, float]]]:
    """Return what people can answer about a reply, by field, with its score and share of points.

    For a question with choices, people say which letter the reply states; for others, whether it is right, or
    how many points it deserves if a judge gives points.
    """
    if item.answer_kind != "choice":
        return _OF_TEXTS
    return {STATES: {letter: (float(letter == item.answer),) * 2 for letter in (*item.letters, "none")}}


def checked(folder: Path, asked: Sequence[tuple[Item, Trial]]) -> Checked | None:
    """Read the sample from a run folder; None if there is none.

    Args:
        folder: that of the run.
        asked: all its trials, each with its question as it was shown.

    Raises:
        DataError: it belongs to other replies, cannot be read, or contains invalid ratings.
    """
    path = folder / FOLDER / FILE
    if not path.exists():
        return None
    draw = read_json(path, CheckDraw, advice=f"move {path.parent} away and draw again")
    if draw.replies_sha256 != digest_of([trial for _, trial in asked]):
        raise DataError(
            f"{path.parent} is a sample of other replies than those of {folder}: of another run, or of this "
            f"one before it was asked again; move it away, and draw one with "
            f"`vidence replies check-sample {quoted(folder)}`"
        )
    ratings, drawn = path.parent / LABELS_FOLDER / RATINGS_FILE, {*draw.drawn}
    items = {item.item_id: item for item, _ in asked if item.item_id in drawn}
    values = by_key(_read(ratings, items) if ratings.exists() else ())
    read, points = (
        {item_id: sum(mark[i] for mark in some) / len(some) for item_id, some in values.items()}
        for i in (0, 1)
    )
    return Checked(draw=draw, read=read, points=points)


def _read(path: Path, items: Mapping[str, Item]) -> Iterator[tuple[str, tuple[float, float]]]:
    """Yield item, score and share of points for each line of a table of ratings."""
    needed = ("item_id", "field", "value")
    for line, cells in csv_rows(read(path, what="what people said of replies"), needed=needed):
        place = f"{path}, line {line}"
        if isinstance(cells, FieldError):
            raise DataError(f"{place}: {cells}")
        item_id, field, value = (cells[name] for name in needed)
        if item_id not in items:
            raise DataError(f"{place}: the reply to {item_id!r} was not drawn; take the line out")
        known = answers_to(items[item_id])
        if value not in known.get(field, ()):
            expected = " or ".join(f"{name} with one of {', '.join(known[name])}" for name in known)
            raise DataError(f"{place}: {field} {value!r} of {item_id!r}; expected {expected}")
        yield item_id, known[field][value]
