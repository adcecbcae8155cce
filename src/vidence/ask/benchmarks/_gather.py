"""Keep the good lines of question files, and say of every bad one what is wrong with it."""

import hashlib
from pathlib import Path

from vidence.ask.benchmarks.checks import Fault, remarks
from vidence.ask.benchmarks.question_files import QuestionFile
from vidence.contracts import Loaded
from vidence.errors import DataError
from vidence.records import Item

_FORMAT = "the format is in docs/item-format.md"


class Gathering:
    """The questions of one or several files as they are read; with `strict` the first bad line ends it.

    `format_hint` ends the message when nothing usable was found.
    """

    def __init__(self, *files: QuestionFile, strict: bool, format_hint: str = _FORMAT) -> None:
        self.items: list[Item] = []
        self.notes: list[str] = []
        self._files = files
        self._is_strict = strict
        self._format_hint = format_hint
        self._problems: list[str] = []
        self._place_of: dict[str, str] = {}

    def add(
        self, line: str, found: Item | Fault, *, file: QuestionFile | None = None, item_id: str = ""
    ) -> None:
        """Take the checked item of a line, unless its id was used before, in this file or another one.

        Args:
            line: where the question stands.
            found: the question, or what is wrong with it.
            file: the file that the line is in; the first one where it is not said.
            item_id: the id of a question that is wrong, where it could be read.

        Raises:
            DataError: the line is bad and reading is strict.
        """
        file = self._files[0] if file is None else file
        if isinstance(found, Item) and found.item_id in self._place_of:
            first = self._place_of[found.item_id]
            found = Fault("item_id", f"{found.item_id!r} was used {first} before; expected an id of its own")
        if isinstance(found, Item):
            place = f"on line {line}" if len(self._files) == 1 else f"in {file.path.name}:{line}"
            self._place_of[found.item_id] = place
            self.items.append(found)
            return
        named = f" (question {item_id!r})" if item_id else ""
        problem = f"{file.path.name}:{line}: {found.field}: {found.reason}{named}"
        if self._is_strict:
            raise DataError(
                f"{problem} (in {file.path.parent}; reading is strict: mend the line, or read without)"
            )
        self._problems.append(problem)

    def loaded(self, *, media_root: Path, revision: str = "") -> Loaded:
        """What was kept, with everything that there is to say about it.

        Raises:
            DataError: nothing was kept.
        """
        if not self.items:
            first = f"; the first of {len(self._problems)}: {self._problems[0]}" if self._problems else ""
            where = self._files[0].path if len(self._files) == 1 else self._files[0].path.parent
            raise DataError(f"{where} holds no usable question{first}; {self._format_hint}")
        return Loaded(
            items=tuple(self.items),
            media_root=media_root,
            content_hash=self._content_hash(),
            revision=revision,
            problems=tuple(self._problems),
            notes=(*self.notes, *remarks(self.items)),
        )

    def _content_hash(self) -> str:
        """The hash of the only file; of several, the hash over their names and hashes in their order."""
        if len(self._files) == 1:
            return self._files[0].content_hash
        lines = (f"{file.path.name.removesuffix('.gz')} {file.content_hash}\n" for file in self._files)
        return hashlib.sha256("".join(lines).encode()).hexdigest()
