"""Replies of a run that a person read, and its score with what they say."""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

import msgspec
import numpy as np
from numpy.typing import ArrayLike

from vidence.ask.files import FieldError, csv_rows, read
from vidence.errors import DataError
from vidence.records import Item, Record
from vidence.report.results import Row, Run
from vidence.statistics.prediction_powered import PseudoMarks

FOLDER: Final = "check"
"""In a run folder: the study that puts drawn replies to people, and `FILE`."""
FILE: Final = "check.json"
LABELS_FOLDER, RATINGS_FILE = "labels", "ratings.csv"
"""Where a study keeps what people said of replies."""
STATES, CORRECT = "states", "correct"
"""What people say: of a question with choices the letter that the reply states, of others a mark."""
NO_LETTER: Final = "none"
MARKS: Mapping[str, float] = {"right": 1.0, "wrong": 0.0}
_NO_REPLY = "no reply"


class CheckDraw(Record):
    """Which replies of a run were drawn for people to read: `FILE`.

    `replies_sha256` is that of all replies of the run, see `digest_of`. `strata` has every question whose
    reply could be drawn, `drawn` those that were.
    """

    format: Literal["vidence-check/1"] = "vidence-check/1"
    replies_sha256: str
    strata: dict[str, str]
    drawn: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Checked:
    """The sample of a run: what was drawn, and what people make of each reply, from 0 to 1."""

    draw: CheckDraw
    read: Mapping[str, float]

    @property
    def n_unread(self) -> int:
        """How many drawn replies no person has read."""
        return len(self.draw.drawn) - len(self.read)

    def pseudo_marks(self, items: Sequence[Item], marks: ArrayLike) -> PseudoMarks:
        """The marks of scored questions, corrected by what was read.

        Args:
            items: all scored questions of the run.
            marks: of each.
        """
        ids = [item.item_id for item in items]
        read = [self.read.get(item_id, np.nan) for item_id in ids]
        strata = [self.draw.strata.get(item_id, _NO_REPLY) for item_id in ids]
        return PseudoMarks.of(marks, read=read, strata=strata)


def digest_of(run: Run) -> str:
    """What tells the replies of a run from those of others; how they are read and judged is not in it."""
    found = hashlib.sha256()
    for row in sorted(run.rows, key=lambda row: (row.item.item_id, row.trial.repeat)):
        reply = row.trial.reply
        words = (reply.text, reply.reasoning) if reply is not None else None
        told = (row.item.item_id, row.trial.repeat, row.trial.choice_order, words)
        found.update(msgspec.json.encode(told))
    return found.hexdigest()


def checked(run: Run) -> Checked | None:
    """The sample that lies with a run; None without one.

    Raises:
        DataError: it is of other replies, cannot be read, or has what no person can have said.
    """
    folder = run.folder / FOLDER
    path = folder / FILE
    if not path.exists():
        return None
    try:
        draw = msgspec.json.decode(path.read_bytes(), type=CheckDraw)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError) as error:
        raise DataError(f"{path} cannot be read: {error}; move {folder} away and draw again") from error
    if draw.replies_sha256 != digest_of(run):
        raise DataError(
            f"{folder} is a sample of other replies than those of {run.folder}: of another run, or of this "
            "one before it was asked again; move it away, and draw one with `vidence check-sample "
            f"{run.folder}`"
        )
    ratings, said = folder / LABELS_FOLDER / RATINGS_FILE, dict[str, list[float]]()
    if ratings.exists():
        drawn = {*draw.drawn}
        rows = {row.item.item_id: row for row in run.rows if row.item.item_id in drawn}
        for item_id, mark in _read(ratings, rows):
            said.setdefault(item_id, []).append(mark)
    return Checked(draw=draw, read={item_id: sum(some) / len(some) for item_id, some in said.items()})


def read_sample(run: Run) -> Checked | None:
    """The sample of a run with a score, where people have read all of it; None otherwise."""
    found = checked(run)
    return None if found is None or found.n_unread or run.no_score else found


def _read(path: Path, rows: Mapping[str, Row]) -> Iterator[tuple[str, float]]:
    """For each line of a table of ratings the item and whether the reply to it is right."""
    needed = ("item_id", "field", "value")
    for line, cells in csv_rows(read(path, what="what people said of replies"), needed=needed):
        place = f"{path}, line {line}"
        if isinstance(cells, FieldError):
            raise DataError(f"{place}: {cells}")
        if (row := rows.get(cells["item_id"])) is None:
            raise DataError(f"{place}: the reply to {cells['item_id']!r} was not drawn; take the line out")
        is_choice, value = row.item.answer_kind == "choice", cells["value"]
        known = (*row.item.letters, NO_LETTER) if is_choice else tuple(MARKS)
        if cells["field"] != (STATES if is_choice else CORRECT) or value not in known:
            raise DataError(
                f"{place}: {cells['field']} {value!r} of {row.item.item_id!r}; expected "
                f"{STATES if is_choice else CORRECT} with one of {', '.join(known)}"
            )
        yield row.item.item_id, float(value == row.item.answer) if is_choice else MARKS[value]
