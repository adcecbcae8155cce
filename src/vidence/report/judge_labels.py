"""People's ratings of replies: a table with a row per rater and reply."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from vidence.ask.files import FieldError
from vidence.ask.mapping.columns import Row
from vidence.ask.mapping.rows import read_rows
from vidence.errors import DataError, UsageError
from vidence.records import Record, by_key
from vidence.tables.table import several
from vidence.text import some

MOST_POINTS = 4.0
"""Largest number of points that people and judges give; the scale starts at 0."""
_COLUMNS = ("item_id", "model", "repeat", "rater", "correct", "score", "beats", "ties")
_NEEDED = ("item_id", "model", "rater", "correct")
_SHOWN = 5
SEPARATOR = ";"
"""Separator of run names in a cell."""
_TRUE, _FALSE = frozenset({"1", "1.0", "true", "yes"}), frozenset({"0", "0.0", "false", "no"})

Key: TypeAlias = tuple[str, str, int]
"""A reply: run name, item, repeat."""


class Label(Record):
    """One rater's rating of one reply.

    `beats` are runs whose replies to the same question are worse, `ties` those whose replies are equally
    good. `correct` is None if the rater only compared it.
    """

    run: str
    item_id: str
    repeat: int
    rater: str
    correct: float | None
    points: float | None = None
    beats: tuple[str, ...] = ()
    ties: tuple[str, ...] = ()

    @property
    def key(self) -> Key:
        """Return the reply's key."""
        return self.run, self.item_id, self.repeat


@dataclass(frozen=True, kw_only=True)
class Labels:
    """All labels of a file."""

    labels: tuple[Label, ...]

    @property
    def raters(self) -> tuple[str, ...]:
        """Return all raters, in the order of the file."""
        return tuple(dict.fromkeys(label.rater for label in self.labels))

    def of_replies(self) -> dict[Key, list[Label]]:
        """Return the labels of each reply."""
        return by_key((label.key, label) for label in self.labels)


def majority(labels: Sequence[Label]) -> float | None:
    """Return the raters' majority label; None for a tie, or without raters."""
    mean = mean_correct(labels)
    return None if mean in (None, 0.5) else float(mean > 0.5)


def mean_correct(labels: Sequence[Label]) -> float | None:
    """Return the share of raters who find the reply right; None without ratings."""
    given = [label.correct for label in labels if label.correct is not None]
    return sum(given) / len(given) if given else None


def mean_points(labels: Sequence[Label]) -> float | None:
    """Return the mean of the points given; None if there are none."""
    given = [label.points for label in labels if label.points is not None]
    return sum(given) / len(given) if given else None


def read_labels(path: Path, *, names: Mapping[str, str], replies: frozenset[Key]) -> Labels:
    """Read a table of labels: ``item_id, model, repeat, rater, correct, score, beats, ties``.

    Args:
        path: the file.
        names: what a run may be called in it, and what it is called here.
        replies: every reply that there is.

    Raises:
        DataError: the file cannot be read, or a line cannot be used; the message names the line.
        UsageError: nothing is left.
    """
    table = read_rows(path, what="labels of people")
    labels: list[Label] = []
    unknown: list[str] = []
    seen: dict[tuple[Key, str], str] = {}
    for line, row in table.lines:
        place = f"{path}, line {line}"
        if isinstance(row, FieldError):
            raise DataError(f"{place}: {row}") from row
        label, problem = _label(place, row, names=names, replies=replies)
        if label is None:
            unknown.append(problem)
            continue
        before = seen.setdefault((label.key, label.rater), place)
        if before != place:
            raise DataError(
                f"{place}: {label.rater!r} has labelled item {label.item_id!r} of {label.run!r}, repeat "
                f"{label.repeat}, before ({before.removeprefix(f'{path}, ')}); keep one of the two"
            )
        labels.append(label)
    if unknown:
        raise DataError(
            f"{several(len(unknown), 'label')} of replies that are not there: "
            f"{some(unknown, most=_SHOWN, between='; ')}. Mend the file, or name the runs that they are about"
        )
    if not labels:
        raise UsageError(f"{path} holds no label of a reply in these runs; known are {_known(names)}")
    return Labels(labels=tuple(labels))


def _known(names: Mapping[str, str]) -> str:
    return ", ".join(map(repr, names)) or "none"


def _label(
    place: str, row: Row, *, names: Mapping[str, str], replies: frozenset[Key]
) -> tuple[Label | None, str]:
    """Return a label, or why its reply is missing."""
    if missing := [name for name in _NEEDED if name not in row]:
        raise DataError(
            f"{place}: no column {missing[0]!r}; a table of labels has {', '.join(_NEEDED)}, and may have "
            "repeat, score, beats and ties"
        )
    texts = {name: "" if (value := row.get(name)) is None else str(value).strip() for name in _COLUMNS}
    repeat = texts["repeat"] or "0"
    if not repeat.isdecimal():
        raise DataError(f"{place}, column 'repeat': expected a whole number from 0, found {repeat!r}")
    if not texts["rater"]:
        raise DataError(f"{place}, column 'rater': expected a name, found nothing")
    is_compared = bool(texts["beats"] or texts["ties"])
    correct = None if is_compared and not texts["correct"] else _correct(place, texts["correct"])
    others = {column: _listed(texts[column], names) for column in ("beats", "ties")}
    for column, named in {"model": (texts["model"],), **others}.items():
        if unknown := [name for name in named if name and name not in names]:
            return None, f"{place}: no run is called {unknown[0]!r} ({column}; known: {_known(names)})"
    label = Label(
        run=names.get(texts["model"], ""),
        item_id=texts["item_id"],
        repeat=int(repeat),
        rater=texts["rater"],
        correct=correct,
        points=_points(place, texts["score"]),
        beats=tuple(names[name] for name in others["beats"]),
        ties=tuple(names[name] for name in others["ties"]),
    )
    if label.key not in replies:
        return None, f"{place}: {texts['model']!r} has no reply to {label.item_id!r}, repeat {label.repeat}"
    if label.run in (*label.beats, *label.ties):
        raise DataError(f"{place}, column 'beats': a reply cannot be better than itself ({label.run!r})")
    return label, ""


def _listed(text: str, names: Mapping[str, str]) -> tuple[str, ...]:
    """Return the runs in a cell, separated by ``;``."""
    if text in names:
        return (text,)
    return tuple(filter(None, (part.strip() for part in text.split(SEPARATOR))))


def _correct(place: str, text: str) -> float:
    if text.casefold() in _TRUE | _FALSE:
        return float(text.casefold() in _TRUE)
    raise DataError(f"{place}, column 'correct': expected 1 or 0, found {text!r}")


def _points(place: str, text: str) -> float | None:
    if not text:
        return None
    try:
        points = float(text)
    except ValueError:
        points = math.nan
    if not 0 <= points <= MOST_POINTS:
        raise DataError(f"{place}, column 'score': expected a number from 0 to 4, or nothing, found {text!r}")
    return points


def run_by_name(names: Sequence[str], others: Sequence[Sequence[str]]) -> dict[str, str]:
    """Return the run name for each name that a table may use.

    Args:
        names: the name of each run.
        others: other names of each run, such as its model; ambiguous ones are dropped.
    """
    values = {name: name for name in names}
    for name, words in zip(names, others, strict=True):
        for word in dict.fromkeys(words):
            if sum(word in some for some in others) == 1:
                values.setdefault(word, name)
    return values
