"""Class tables of verbs and nouns: which words mean the same."""

import ast
import csv
import io
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from vidence.errors import DataError
from vidence.make.logs._files import text_of

NEEDED = ("id", "key", "instances")


@dataclass(frozen=True, kw_only=True)
class Classes:
    """The classes of verbs or of nouns. `ids` are all of them, `of_text` gives the class of a text.

    A text that stands in several classes is in `ambiguous` and not in `of_text`.
    """

    ids: frozenset[int] = frozenset()
    of_text: Mapping[str, int] = field(default_factory=dict)
    ambiguous: frozenset[str] = frozenset()

    def find(self, text: str) -> int:
        """The class of a text; -1 where there is none or more than one."""
        return self.of_text.get(text, -1)

    def why_not(self, text: str) -> str:
        """Why a text has no class, for a note."""
        return "in several classes" if text in self.ambiguous else "in no class"


def read(path: Path, *, worded: Callable[[str], str]) -> Classes:
    """Read a table with the columns ``id``, ``key``, ``instances`` (upper or lower case).

    Args:
        path: a CSV file; ``instances`` are Python lists, read as literals and never run.
        worded: how texts are written, the same as for the events.

    Raises:
        DataError: the file cannot be read, has other columns, or a bad row; with its line.
    """
    reader = csv.reader(io.StringIO(text_of(path), newline=""), strict=True)
    ids: list[int] = []
    owners: dict[str, set[int]] = {}
    columns: list[str] = []
    while True:
        line = reader.line_num + 1
        try:
            cells = next(reader)
        except StopIteration:
            break
        except csv.Error as error:
            raise DataError(f"{path}:{line}: {error}; expected a CSV file with quotes in pairs") from error
        if not columns:
            columns = [cell.strip().casefold() for cell in cells]
            if absent := [name for name in NEEDED if name not in columns]:
                raise DataError(f"{path}:{line}: no column {', '.join(absent)}; expected {', '.join(NEEDED)}")
        elif any(cell.strip() for cell in cells):
            class_id, texts = _row(dict(zip(columns, cells, strict=False)), f"{path}:{line}")
            ids.append(class_id)
            for text in texts:
                owners.setdefault(worded(text), set()).add(class_id)
    return Classes(
        ids=frozenset(ids),
        of_text={text: next(iter(of)) for text, of in owners.items() if len(of) == 1},
        ambiguous=frozenset(text for text, of in owners.items() if len(of) > 1),
    )


def _row(row: Mapping[str, str], where: str) -> tuple[int, Sequence[str]]:
    found = row.get("id", "")
    if not found.strip().isdecimal():
        raise DataError(f"{where}: id: {found!r} found; expected a whole number from 0")
    texts = literal_list(row.get("instances", ""))
    if texts is None or not all(isinstance(text, str) for text in texts):
        raise DataError(f"{where}: instances: expected a list of words such as ['take', 'pick-up']")
    return int(found), [row.get("key", ""), *(str(text) for text in texts)]


def literal_list(text: str) -> list[object] | None:
    """A Python list or tuple written out, read without running anything; None where it is none.

    >>> literal_list("['plate', 'top:plate']")
    ['plate', 'top:plate']
    >>> literal_list("__import__('os')") is None
    True
    """
    try:
        found: object = ast.literal_eval(text.strip())
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return None
    return list(found) if isinstance(found, list | tuple) else None
