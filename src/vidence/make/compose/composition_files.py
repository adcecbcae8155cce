"""Compositions from a file: programs as people write them, or JSON lines."""

from collections.abc import Mapping
from pathlib import Path

from vidence.errors import DataError
from vidence.make.compose.parsing import ParsedComposition, parse_compositions
from vidence.make.compose.types import with_skills
from vidence.make.sources.composition import Composition, read_composition_line
from vidence.make.sources.scene import Scene
from vidence.make.sources.vocabulary import unknown

MOST_COMPOSITIONS = 200_000
"""Of one file."""
_MARK = '{"canary":'
"""How the line of a release begins that holds no composition."""


def read_compositions(path: Path, scenes: Mapping[str, Scene]) -> list[tuple[Composition, int]]:
    """The compositions of a file, each with the line on which it begins.

    Args:
        path: JSON lines if it begins with ``{``, else programs.
        scenes: the scenes by name; they have the vocabularies.

    Raises:
        DataError: the file cannot be read, a line is no composition, or one names no scene that is there, or
            a name that another has.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"the compositions {path} cannot be read: {error}") from error
    if text.lstrip().startswith("{"):
        found = [
            _from_json(path, number, line)
            for number, line in enumerate(text.split("\n"), start=1)
            if line and not line.startswith(_MARK)
        ]
    else:
        found = parse_compositions(text, source=str(path.name))
    if len(found) > MOST_COMPOSITIONS:
        raise DataError(f"{path}: {len(found):,} compositions; at most {MOST_COMPOSITIONS:,}: split the file")
    made: list[tuple[Composition, int]] = []
    names: set[str] = set()
    for one in found:
        composition = one.composition
        for fault in unknown("scene", composition.scene, scenes, where=f"{path}:{one.line}"):
            raise DataError(fault)
        if composition.composition in names:
            raise DataError(f"{path}:{one.line}: the composition {composition.composition!r} is there twice")
        names.add(composition.composition)
        made.append((with_skills(one, scenes[composition.scene].vocabulary), one.line))
    return made


def _from_json(path: Path, number: int, line: str) -> ParsedComposition:
    try:
        composition = read_composition_line(line)
    except DataError as error:
        raise DataError(f"{path}:{number}: {error}") from error
    return ParsedComposition(composition=composition, skills=None, line=number)
