"""Planted truth: videos rendered here, whose questions need a known number of pieces of evidence.

Loading renders nothing: `vidence demo` and `vidence.ask.phantom.world.render` make the folder.
"""

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

import msgspec

from vidence.ask import files
from vidence.ask.benchmarks.question_files import QuestionReader, check_split, checked, locate
from vidence.contracts import AskingRules, Benchmark, Loaded
from vidence.records import Item

_FILE = "items.jsonl"
_EXPECTED = (
    f"the file {_FILE} of a phantom world; make one with `vidence demo` or vidence.ask.phantom.world.render"
)


class Phantom:
    """The questions of one rendered world."""

    name = "phantom"
    version = 1
    citation = "none: rendered by vidence"
    licence = "Apache-2.0"
    terms = "Every use: everything is rendered here."
    splits: tuple[str, ...] = ("all",)
    protocols: Mapping[str, AskingRules] = MappingProxyType({"default": AskingRules(size="native")})

    def load(self, data: Path, *, split: str, strict: bool = False) -> Loaded:
        """Read ``items.jsonl`` in the folder `data`, or the file `data` itself.

        Raises:
            DataError: no world there, nothing usable in it, or with `strict` a single bad line.
            UsageError: a split other than ``all``.
        """
        check_split(self.name, split, self.splits)
        file = files.read(locate(data, [_FILE], what=_EXPECTED))
        gathering = QuestionReader(file, strict=strict)
        decoder = msgspec.json.Decoder(Item)
        for line, text in files.lines(file):
            with gathering.row(line):
                gathering.keep(checked(files.decoded(text, decoder)))
        return gathering.loaded(media_root=file.path.parent)


def create() -> Benchmark:
    """The benchmark ``phantom``."""
    return Phantom()
