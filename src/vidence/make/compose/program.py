"""Compositions of a file, and one in the making: steps, and conditions numbered as they end."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from vidence.errors import DataError
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
    parts,
    read_composition_line,
)
from vidence.make.sources.scene import Scene, natural
from vidence.make.sources.vocabulary import Skill, unknown


@dataclass
class Program:
    """A composition in the making: steps, and the skill of each condition, numbered as they end.

    Variables have letters from P on, so that none of them reads as the letter of an option.
    """

    steps: list[Step] = field(default_factory=list)
    skills: dict[str, Skill] = field(default_factory=dict)

    def condition(self, skill: Skill) -> str:
        """The name of one more condition."""
        name = f"c{len(self.skills) + 1}"
        self.skills[name] = skill
        return name

    def atoms(self, said: Sequence[AttributeStatement]) -> tuple[Compare, ...]:
        """Statements as conditions."""
        return tuple(
            Compare(
                attribute=one.attribute,
                how=one.how,
                value=Literally(value=one.value),
                condition=self.condition(one.skill),
            )
            for one in said
        )

    def add(self, variable: str, value: Expression) -> str:
        """One more step; gives the name of its variable."""
        self.steps.append(Step(variable=variable, value=value))
        return variable

    def composition(self, name: str, scene: Scene, *, vocabulary_sha256: str) -> Composition:
        """The composition of these steps."""
        return Composition(
            composition=name,
            scene=scene.header.scene,
            steps=tuple(self.steps),
            conditions=tuple(
                Condition(id=one, skill=skill)
                for one, skill in sorted(self.skills.items(), key=lambda pair: natural(pair[0]))
            ),
            scene_sha256=scene.sha256,
            vocabulary_sha256=vocabulary_sha256,
        )


def changed(expression: Expression, change: Callable[[Expression], Expression]) -> Expression:
    """An expression in which each part was changed, inner parts first."""
    fields: dict[str, object] = {}
    for name in expression.__struct_fields__:
        value = getattr(expression, name)
        if isinstance(value, tuple) and value and all(isinstance(one, Expression) for one in value):
            made: list[Expression] = []
            for one in value:
                made.append(changed(one, change))
            fields[name] = tuple(made)
        elif isinstance(value, Expression):
            fields[name] = changed(value, change)
    return change(msgspec.structs.replace(expression, **fields))


def is_free_atom(atom: Expression) -> bool:
    """Whether an atom says something of a value, so that no step is left unused without it."""
    return isinstance(atom, Compare) and isinstance(atom.value, Literally | Values)


def without_atom(composition: Composition, condition: str) -> Composition | None:
    """A composition without an atom that says something of a value; None where the condition is another one.

    What links two steps is no such atom: without it a step would not be used.
    """
    atoms = [one for step in composition.steps for one in parts(step.value) if is_free_atom(one)]
    if condition not in {one.condition for one in atoms if isinstance(one, Compare)}:
        return None

    def drop(one: Expression) -> Expression:
        if not isinstance(one, Members):
            return one
        kept = tuple(atom for atom in one.atoms if atom.condition != condition)
        return msgspec.structs.replace(one, atoms=kept)

    kept = [one for one in composition.conditions if one.id != condition]
    names = {one.id: f"c{i}" for i, one in enumerate(kept, start=1)}

    def rename(one: Expression) -> Expression:
        found = {name: getattr(one, name) for name in _NAMES if getattr(one, name, "")}
        return msgspec.structs.replace(one, **{name: names[value] for name, value in found.items()})

    steps = tuple(
        Step(variable=step.variable, value=changed(changed(step.value, drop), rename))
        for step in composition.steps
    )
    conditions = tuple(Condition(id=names[one.id], skill=one.skill) for one in kept)
    return msgspec.structs.replace(composition, steps=steps, conditions=conditions)


_NAMES = ("condition", "facing_condition", "turned_condition", "head")


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
