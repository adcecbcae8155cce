"""A table of entities (CSV): one row each, one column per attribute.

table:people.csv                                  columns entity, category, and attributes
table:people.csv?complete=person|top              all people are listed, and of all of them the top
table:people.csv?vocabulary=street.toml           in the words of a vocabulary of your own
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, ClassVar

from msgspec import Meta

from vidence.ask.files import FieldError, usable
from vidence.catalog import FilePath
from vidence.contracts import Flow
from vidence.errors import DataError
from vidence.make.sources.logs.files import Row, csv_rows
from vidence.make.sources.logs.rows import span
from vidence.make.sources.scene import AttributeFact, Entity, Header, Span, ValueOrNumber
from vidence.make.sources.scene_writing import (
    AsksNobody,
    SceneDraft,
    SceneSet,
    SceneSource,
    Told,
    complete_lines,
)
from vidence.make.sources.vocabulary import Attribute, Category, Vocabulary, read_vocabulary
from vidence.records import Record, by_key

_OURS = ("scene", "entity", "category", "start", "end")
_MOST_SHOWN = 3


class Settings(Record):
    """Options of a table of entities."""

    positional: ClassVar[str] = "path"
    path: Annotated[
        FilePath,
        Meta(description="CSV with the columns entity, category, perhaps scene, start, end, and attributes"),
    ]
    vocabulary: Annotated[
        FilePath, Meta(description="your own vocabulary (empty: derived from the table)")
    ] = ""
    complete: Annotated[
        tuple[str, ...],
        Meta(description="complete parts: categories, and columns in which an empty cell means none"),
    ] = ()
    by: Annotated[str, Meta(description="source of the facts, such as person:1")] = ""


@dataclass
class _Row:
    """One usable row."""

    scene: str
    entity: str
    category: str
    spans: tuple[Span, ...]
    cells: Mapping[str, str]


@dataclass
class _Table(AsksNobody):
    """A table of entities by attributes.

    An entity may have several rows, one for each time at which it is in view: what stands in them holds in
    that time. An empty cell is unknown.
    """

    settings: Settings
    problems: list[str] = field(default_factory=list)

    def read(self) -> Flow[SceneSet]:
        """The scenes of the table.

        Raises:
            DataError: the table has no row that can be used.
        """
        yield from ()
        path = Path(self.settings.path)
        if not path.is_file():
            raise DataError(f"there is no table at {path}; expected a CSV file with entity and category")
        rows = self._rows(path)
        words = read_vocabulary(Path(self.settings.vocabulary)) if self.settings.vocabulary else _words(rows)
        known = {name: () for name in words.categories} | {
            name: attribute.of for name, attribute in words.attributes.items()
        }
        complete = complete_lines(self.settings.complete, known, owner=f"table:{path}")
        scenes = by_key((row.scene, row) for row in rows)
        return SceneSet(
            vocabulary=words,
            scenes=tuple(
                SceneDraft(
                    header=Header(
                        scene=name, vocabulary="", source_id=name, truth=self.settings.by or "table"
                    ),
                    lines=(*self._lines(listed, words), *complete),
                )
                for name, listed in scenes.items()
            ),
            problems=tuple(self.problems),
        )

    def _rows(self, path: Path) -> list[_Row]:
        rows: list[_Row] = []
        for where, row in csv_rows(path, needs=("entity", "category")):
            try:
                rows.append(_row(usable(row), scene=path.stem))
            except FieldError as fault:
                self.problems.append(f"{where}: {fault}")
        if not rows:
            raise DataError(f"{path} has no row that can be used: {'; '.join(self.problems[:_MOST_SHOWN])}")
        return rows

    def _lines(self, rows: list[_Row], words: Vocabulary) -> list[Told]:
        several = by_key((row.entity, row) for row in rows)
        lines: list[Told] = []
        for name, listed in several.items():
            for other in listed[1:]:
                if other.category != listed[0].category:
                    raise DataError(
                        f"{self.settings.path}: {name!r} is {listed[0].category} in one row and "
                        f"{other.category} in another; give two entities two names"
                    )
            spans = tuple(sorted(span for row in listed for span in row.spans))
            lines.append(Entity(entity=name, category=listed[0].category, spans=spans))
            for row in listed:
                for column, cell in row.cells.items():
                    if not cell:
                        continue
                    is_number = column in words.attributes and words.attributes[column].number
                    value: ValueOrNumber | None = _number(cell) if is_number else cell
                    lines.append(
                        AttributeFact(
                            of=name,
                            name=column,
                            value=cell if value is None else value,
                            span=row.spans[0] if len(listed) > 1 and row.spans else None,
                            by=self.settings.by,
                        )
                    )
        return lines


def create(settings: Settings) -> SceneSource:
    """The scenes of a table."""
    return _Table(settings)


def _row(row: Row, *, scene: str) -> _Row:
    for column in ("entity", "category"):
        if not row[column]:
            raise FieldError(column, "empty; expected a name")
    category = _word(row["category"])
    if not category.isidentifier():
        raise FieldError("category", f"{row['category']!r} is no word that a program can have")
    spans: tuple[Span, ...] = ()
    if row.get("start") or row.get("end"):
        when = span({"start": row.get("start", ""), "end": row.get("end", "")}, "start", "end")
        spans = ((when.start_s, when.end_s),)
    cells = {_word(name): cell for name, cell in row.items() if name not in _OURS}
    return _Row(row.get("scene") or scene, row["entity"], category, spans, cells)


def _word(text: str) -> str:
    """A heading as an identifier.

    >>> _word("shop sign")
    'shop_sign'
    """
    return "_".join(text.replace("-", " ").split())


def _number(cell: str) -> ValueOrNumber | None:
    try:
        value = float(cell)
    except ValueError:
        return None
    if not math.isfinite(value):
        return None
    return int(value) if value.is_integer() else value


def _words(rows: list[_Row]) -> Vocabulary:
    """The vocabulary of a table; a column of numbers is numeric."""
    categories = {row.category: Category() for row in rows}
    attributes: dict[str, Attribute] = {}
    for column in dict.fromkeys(name for row in rows for name in row.cells):
        filled = [row for row in rows if row.cells.get(column)]
        if not filled:
            continue
        of = tuple(sorted({row.category for row in filled}))
        values = sorted({row.cells[column] for row in filled})
        if all(_number(value) is not None for value in values):
            attributes[column] = Attribute(of=of, number=True)
        else:
            attributes[column] = Attribute(of=of, values=tuple(values))
    return Vocabulary(categories=dict(sorted(categories.items())), attributes=attributes)
