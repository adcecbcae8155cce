"""Questions whose frames are nothing but their times: those of the package, by a short name for tests."""

from collections.abc import Sequence

import numpy as np

from vidence.contracts import Ask, Diagnostic, Examined
from vidence.explain.planted.simulated import (
    Answers,
    Driven,
    Simulated,
    drive,
    times_shown,
)
from vidence.records import Estimate, ImagePart, Item
from vidence.tables.table import Table

__all__ = [
    "Answers",
    "Driven",
    "Simulated",
    "drive",
    "examined",
    "taken_elsewhere",
    "times_shown",
    "told",
    "value",
]


def examined(diagnostic: Diagnostic, item: Item, answers: Answers) -> Examined:
    """What a diagnostic finds of a question with two frames."""
    subject = Simulated(item, {"plan": (0.0, 1.0)})
    return Examined(item=item, finding=drive(diagnostic.examine(subject), answers).made)


def told(diagnostic: Diagnostic, found: Sequence[Examined]) -> dict[str, Table]:
    """The tables of a diagnostic by their names."""
    made = diagnostic.summarise(found, rng=np.random.default_rng(0), level=0.95)
    return {one.name: one for one in made if isinstance(one, Table)}


def taken_elsewhere(ask: Ask) -> tuple[float, ...]:
    """The times of the frames that another view encodes."""
    parts = [part.digest.split() for part in ask.prompt.parts if isinstance(part, ImagePart)]
    return tuple(float(words[0]) for words in parts if len(words) > 1)


def value(table: Table, row: str, column: str) -> float:
    """The number in a cell, also where it has an interval."""
    found = table.value(row, column)
    return found.value if isinstance(found, Estimate) else found  # type: ignore[return-value]
