"""Keep the good lines of a file, and say of every bad one what is wrong with it."""

from pathlib import Path

from vidence.benchmarks._checks import Fault, remarks
from vidence.benchmarks._files import QuestionFile
from vidence.contracts import Loaded
from vidence.errors import DataError
from vidence.records import Item


class Gathering:
    """The questions of one file as they are read; with `strict` the first bad line ends it."""

    def __init__(self, file: QuestionFile, *, strict: bool) -> None:
        self.items: list[Item] = []
        self.notes: list[str] = []
        self._file = file
        self._is_strict = strict
        self._problems: list[str] = []
        self._line_of: dict[str, str] = {}

    def add(self, line: str, found: Item | Fault) -> None:
        """Take the checked item of a line, unless its id was used before.

        Raises:
            DataError: the line is bad and reading is strict.
        """
        if isinstance(found, Item) and found.item_id in self._line_of:
            first = self._line_of[found.item_id]
            found = Fault(
                "item_id", f"{found.item_id!r} was used on line {first} before; expected an id of its own"
            )
        if isinstance(found, Item):
            self._line_of[found.item_id] = line
            self.items.append(found)
            return
        problem = f"{self._file.path.name}:{line}: {found.field}: {found.reason}"
        if self._is_strict:
            raise DataError(
                f"{problem} (in {self._file.path.parent}; reading is strict: mend the line, or read without)"
            )
        self._problems.append(problem)

    def loaded(self, *, media_root: Path, revision: str = "") -> Loaded:
        """What was kept, with everything that there is to say about it.

        Raises:
            DataError: nothing was kept.
        """
        if not self.items:
            first = f"; the first of {len(self._problems)}: {self._problems[0]}" if self._problems else ""
            raise DataError(
                f"{self._file.path} holds no usable question{first}; the format is in docs/item-format.md"
            )
        return Loaded(
            items=tuple(self.items),
            media_root=media_root,
            content_hash=self._file.content_hash,
            revision=revision,
            problems=tuple(self._problems),
            notes=(*self.notes, *remarks(self.items)),
        )
