"""Questions in Parquet tables: columns found by their names, each row as a file of JSON would have it."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from vidence.ask.files import DataFile
from vidence.ask.mapping.sheets import arrow_rows
from vidence.errors import DataError


@dataclass(frozen=True, kw_only=True)
class Columns:
    """Which column of a table is which field.

    `names` are the names that each field's column may have, the likeliest first. One field of each group in
    `needed` must be there. Fields in `nested` may be JSON texts.
    """

    names: Mapping[str, Sequence[str]]
    needed: Sequence[Sequence[str]]
    nested: frozenset[str] = frozenset()

    def found(self, columns: Sequence[str], path: Path) -> dict[str, str]:
        """The column of each field that is there.

        Raises:
            DataError: a needed one is not; all columns that are there, and the names that are expected.
        """
        pairs = {
            field: next((name for name in names if name in columns), None)
            for field, names in self.names.items()
        }
        absent = [group for group in self.needed if not any(pairs[field] for field in group)]
        if absent:
            wanted = "; ".join(" or ".join(name for f in group for name in self.names[f]) for group in absent)
            raise DataError(
                f"{path}: these columns were found: {', '.join(columns)}; these are needed, too: {wanted}"
            )
        return {field: name for field, name in pairs.items() if name is not None}


def read(path: Path, columns: Columns) -> tuple[DataFile, list[tuple[str, bytes]]]:
    """The rows of a table, each with its number from 1.

    Other columns are never read, so that videos in the table cost nothing.

    Returns:
        The file, whose content are the rows that were read, and the rows as JSON objects.

    Raises:
        DataError: it cannot be read, or lacks a needed column.
        UsageError: pyarrow is not installed.
    """
    found: dict[str, str] = {}

    def choose(names: Sequence[str]) -> Sequence[str]:
        found.update(columns.found(names, path))
        return list(dict.fromkeys(found.values()))

    rows: list[tuple[str, bytes]] = []
    for values in arrow_rows(path, choose):
        row = {field: values[name] for field, name in found.items() if values[name] is not None}
        row |= {f: _nested(text) for f in columns.nested if isinstance(text := row.get(f), str)}
        rows.append((str(len(rows) + 1), json.dumps(row, default=str, sort_keys=True).encode()))
    if not rows:
        raise DataError(f"{path} holds no row; expected questions")
    return DataFile(path, b"\n".join(text for _, text in rows)), rows


def _nested(text: str) -> object:
    """What a text says where it is JSON, else the text."""
    try:
        return msgspec.json.decode(text)
    except msgspec.DecodeError:
        return text
