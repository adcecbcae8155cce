"""Build compositions step by step, and read them from files."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from vidence.errors import DataError, cause
from vidence.make.compose.atoms import AttributeStatement
from vidence.make.compose.parsing import ParsedComposition, parse_compositions
from vidence.make.compose.types import with_skills
from vidence.make.sources.composition import (
    Compare,
    Composition,
    Condition,
    Expression,
    Literally,
    Members,
    Step,
    Values,
    changed,
    parts,
    read_composition_line,
    renamed,
)
from vidence.make.sources.scene import Scene, natural
from vidence.make.sources.vocabulary import Skill, unknown


@dataclass
class Program:
    """A composition under construction: steps, and the skill of each condition, in final numbering.

    Variables have letters from P on, so that none of them reads as the letter of an option.
    """

    steps: list[Step] = field(default_factory=list)
    skills: dict[str, Skill] = field(default_factory=dict)

    def condition(self, skill: Skill) -> str:
        """Return the id of a new condition."""
        name = f"c{len(self.skills) + 1}"
        self.skills[name] = skill
        return name

    def atoms(self, statements: Sequence[AttributeStatement]) -> tuple[Compare, ...]:
        """Return statements as conditions, those on kinds of events first."""
        return tuple(
            Compare(
                attribute=statement.attribute,
                how=statement.how,
                value=Literally(value=statement.value),
                condition=self.condition(statement.skill),
            )
            for statement in sorted(statements, key=lambda statement: statement.attribute != "kind")
        )

    def add(self, variable: str, value: Expression) -> str:
        """Add a step; return its variable."""
        self.steps.append(Step(variable=variable, value=value))
        return variable

    def composition(self, name: str, scene: Scene, *, vocabulary_sha256: str) -> Composition:
        """Return the composition of these steps."""
        return Composition(
            composition=name,
            scene=scene.header.scene,
            steps=tuple(self.steps),
            conditions=tuple(
                Condition(id=word, skill=skill)
                for word, skill in sorted(self.skills.items(), key=lambda pair: natural(pair[0]))
            ),
            scene_sha256=scene.sha256,
            vocabulary_sha256=vocabulary_sha256,
        )


def is_free_atom(atom: Expression) -> bool:
    """Return whether an atom tests a value, so that removing it leaves no step unused."""
    return isinstance(atom, Compare) and isinstance(atom.value, Literally | Values)


def without_atom(composition: Composition, condition: str) -> Composition | None:
    """Return a composition without a value-testing atom; None if the condition is of another form.

    What links two steps is no such atom: without it a step would not be used.
    """
    atoms = [part for step in composition.steps for part in parts(step.value) if is_free_atom(part)]
    if condition not in {atom.condition for atom in atoms if isinstance(atom, Compare)}:
        return None

    def drop(expression: Expression) -> Expression:
        if not isinstance(expression, Members):
            return expression
        kept = tuple(atom for atom in expression.atoms if atom.condition != condition)
        return msgspec.structs.replace(expression, atoms=kept)

    kept = [entry for entry in composition.conditions if entry.id != condition]
    names = {entry.id: f"c{i}" for i, entry in enumerate(kept, start=1)}

    steps = tuple(
        Step(variable=step.variable, value=renamed(changed(step.value, drop), names))
        for step in composition.steps
    )
    conditions = tuple(Condition(id=names[entry.id], skill=entry.skill) for entry in kept)
    return msgspec.structs.replace(composition, steps=steps, conditions=conditions)


MOST_COMPOSITIONS = 200_000
"""Per file."""
_MARK = '{"canary":'
"""The start of a release's line that holds no composition."""


def read_compositions(path: Path, scenes: Mapping[str, Scene]) -> list[tuple[Composition, int]]:
    """Read the compositions of a file, with line numbers.

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
        raise DataError(f"the compositions {path} cannot be read: {cause(error)}") from error
    if text.lstrip().startswith("{"):
        compositions = [
            _from_json(path, number, line)
            for number, line in enumerate(text.split("\n"), start=1)
            if line and not line.startswith(_MARK)
        ]
    else:
        compositions = parse_compositions(text, source=str(path.name))
    if len(compositions) > MOST_COMPOSITIONS:
        raise DataError(
            f"{path}: {len(compositions):,} compositions; at most {MOST_COMPOSITIONS:,}: split the file"
        )
    entries: list[tuple[Composition, int]] = []
    names: set[str] = set()
    for parsed_composition in compositions:
        composition = parsed_composition.composition
        for fault in unknown("scene", composition.scene, scenes, where=f"{path}:{parsed_composition.line}"):
            raise DataError(fault)
        if composition.composition in names:
            raise DataError(
                f"{path}:{parsed_composition.line}: the composition {composition.composition!r} "
                "is there twice"
            )
        names.add(composition.composition)
        entries.append(
            (with_skills(parsed_composition, scenes[composition.scene].vocabulary), parsed_composition.line)
        )
    return entries


def _from_json(path: Path, number: int, line: str) -> ParsedComposition:
    try:
        composition = read_composition_line(line)
    except DataError as error:
        raise DataError(f"{path}:{number}: {error}") from error
    return ParsedComposition(composition=composition, skills=None, line=number)
