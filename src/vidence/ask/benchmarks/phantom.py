"""Planted truth: rendered videos whose questions need a known number of pieces of evidence.

Loading renders nothing: `vidence demo` and `vidence.ask.phantom.world.render` create the folder.
"""

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from vidence.ask.benchmarks.question_files import check_split, locate
from vidence.ask.benchmarks.table import Table, in_item_format
from vidence.contracts import AskingRules, Benchmark, Loaded

_FILE = "items.jsonl"
_EXPECTED = (
    f"the file {_FILE} of a phantom world; make one with `vidence demo` or vidence.ask.phantom.world.render"
)


class Phantom(Table):
    """The questions of a rendered world."""

    name = "phantom"
    citation = "none: rendered by vidence"
    licence = "Apache-2.0"
    terms = "Every use: everything is rendered here."
    protocols: Mapping[str, AskingRules] = MappingProxyType({"default": AskingRules(size="native")})

    def load(self, data: Path, *, split: str, strict: bool = False) -> Loaded:
        """Read ``items.jsonl`` in the folder `data`, or the file `data` itself.

        Raises:
            DataError: no world, nothing usable in it, or with `strict` a bad line.
            UsageError: a split other than ``all``.
        """
        check_split(self.name, split, self.splits)
        return in_item_format(locate(data, [_FILE], what=_EXPECTED), strict=strict)


def create() -> Benchmark:
    """Create the benchmark ``phantom``."""
    return Phantom()
