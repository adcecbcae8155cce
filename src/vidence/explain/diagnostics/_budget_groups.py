"""The groups of questions whose curves are drawn apart: by how much evidence they need, or by a tag."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from vidence.explain.diagnostics._summary import by_tag
from vidence.option_readers import words_apart
from vidence.records import Item

EVIDENCE = "evidence"
COUNT_TAG = "n_evidence"  # where a benchmark counts evidence that it does not list
OTHER = "other"
_BIN = re.compile(r"(\d+)(?:-(\d+)|(\+))?")


def bins_apart(text: str) -> tuple[str, ...]:
    """Bins of whole numbers split by ``|``: ``1``, ``2-3``, ``6+``.

    Raises:
        ValueError: one is no bin.
    """
    found = words_apart(text)
    for one in found:
        ends = _BIN.fullmatch(one)
        if ends is None or (ends[2] is not None and int(ends[2]) < int(ends[1])):
            raise ValueError(f"{one!r} is no bin; expected bins such as 1, 2-3 or 6+, split by |")
    return found


@dataclass(frozen=True, kw_only=True)
class Grouping:
    """What parts the questions: ``evidence`` or a tag; without bins each value is a group."""

    by: str = EVIDENCE
    bins: tuple[str, ...] = ("0", "1", "2-3", "4-5", "6+")

    @property
    def title(self) -> str:
        """What the groups are called."""
        return "pieces of evidence" if self.by == EVIDENCE else self.by

    def parted(self, items: Sequence[Item]) -> dict[str, tuple[int, ...]]:
        """The positions of the items of each group, in order; empty where there are not two groups."""
        values = [self._value(item) for item in items]
        if not self.bins:
            return by_tag(items).get(self.by, {})
        found: dict[str, list[int]] = {name: [] for name in (*self.bins, OTHER)}
        for position, value in enumerate(values):
            found[self._bin(value)].append(position)
        groups = {name: tuple(positions) for name, positions in found.items() if positions}
        return groups if len(groups) > 1 else {}

    def _value(self, item: Item) -> str:
        if self.by == EVIDENCE:
            return item.tags.get(COUNT_TAG, str(len(item.evidence)))
        return item.tags.get(self.by, "")

    def _bin(self, value: str) -> str:
        if not value.isdecimal():
            return OTHER
        return next((name for name in self.bins if _holds(name, int(value))), OTHER)


def _holds(name: str, value: int) -> bool:
    first, dash, last = name.rstrip("+").partition("-")
    if name.endswith("+"):
        return value >= int(first)
    return int(first) <= value <= int(last if dash else first)
