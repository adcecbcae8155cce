"""What summaries of diagnostics share: shares by video, and the tags by which questions are parted."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import msgspec
import numpy as np

from vidence.explain.diagnostics.paired import Figures, Values
from vidence.records import Estimate, Item

LEAST_VALUES = 2
MOST_VALUES = 40


@dataclass(frozen=True, kw_only=True)
class Counting:
    """How every figure of a summary gets its interval; None where there are no questions."""

    rng: np.random.Generator
    level: float

    def mean(
        self, values: Values, items: Sequence[Item], *, bounds: tuple[float, float] = (0.0, math.inf)
    ) -> Estimate | None:
        """The mean over questions of what is never beyond `bounds`, as no share and no count is below 0.

        The interval is cut there: Student's t does not know that there is nothing beyond.
        """
        if not len(values):
            return None
        found = Figures(rng=self.rng, level=self.level).mean(values, items)
        if math.isnan(found.low):
            return found
        least, most = min(bounds[0], float(values.min())), max(bounds[1], float(values.max()))
        return msgspec.structs.replace(found, low=max(found.low, least), high=min(found.high, most))

    def share(self, wanted: Iterable[bool], items: Sequence[Item]) -> Estimate | None:
        """The share of the items of which something is true."""
        return self.mean(np.array([float(one) for one in wanted]), items)


def by_tag(items: Sequence[Item]) -> dict[str, dict[str, tuple[int, ...]]]:
    """For each tag with 2 to 40 values the positions of the items that have each value.

    Source: as the tables of a report.
    Departs: no.
    """
    found: dict[str, dict[str, list[int]]] = {}
    for position, item in enumerate(items):
        for tag, value in item.tags.items():
            found.setdefault(tag, {}).setdefault(value, []).append(position)
    return {
        tag: {value: tuple(values[value]) for value in sorted(values, key=_in_order)}
        for tag, values in found.items()
        if LEAST_VALUES <= len(values) <= MOST_VALUES
    }


def _in_order(value: str) -> tuple[bool, float, str]:
    """Numbers first, by size; then words."""
    is_number = value.isascii() and value.isdecimal()
    return not is_number, float(value) if is_number else 0.0, value
