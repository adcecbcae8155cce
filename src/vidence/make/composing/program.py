"""A composition in the making: steps, and conditions numbered as they end."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from vidence.make.composing.atoms import Said
from vidence.make.scene_graph.composition import Compare, Composition, Condition, Expression, Literally, Step
from vidence.make.scene_graph.scene import Scene, natural
from vidence.make.scene_graph.vocabulary import Skill


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

    def atoms(self, said: Sequence[Said]) -> tuple[Compare, ...]:
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
