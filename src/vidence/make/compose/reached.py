"""What comes out of a composition, however it is evaluated: values with their bindings; and their domains."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from vidence.make.compose.scene_bits import SceneBits
from vidence.make.sources.composition import (
    Aggregate,
    AttributeOf,
    Composition,
    DirectionOf,
    Known,
    Members,
    Select,
    The,
    Variable,
    parts,
)
from vidence.make.sources.proof import Binding
from vidence.make.sources.scene import ValueOrNumber
from vidence.make.sources.vocabulary import EVENT

Logic: TypeAlias = Literal["conjunctive", "sequential"]
Unique: TypeAlias = Literal["each step", "jointly", "value"]
"""`each step` finds one thing, or all steps `jointly` do, or one `value` comes out."""
Elsewhere: TypeAlias = Literal["other", "same", "unknown", "nothing"]
"""What comes out without some conditions: for certain another value, the answer alone, or nobody knows."""


@dataclass
class Reached:
    """One result: how many bindings end in each value, and whether something is in doubt.

    `first` is the first value with its binding, `other` the first that certainly has another value than the
    answer. `is_several`: a step that has to find one thing finds several.
    """

    values: dict[ValueOrNumber, int] = field(default_factory=dict)
    other: tuple[ValueOrNumber, Binding] | None = None
    first: tuple[ValueOrNumber, Binding] | None = None
    is_doubtful: bool = False
    is_several: bool = False

    def share(self, answer: ValueOrNumber) -> float:
        """The share of the bindings that end in the answer."""
        n = sum(self.values.values())
        return round(self.values.get(answer, 0) / n, 6) if n else 0.0

    def is_one(self, unique: Unique) -> bool:
        """Whether one value comes out for certain, and what has to be one is."""
        is_several = (self.is_several and unique == "each step") or (
            unique == "jointly" and sum(self.values.values()) > 1
        )
        return not is_several and not self.is_doubtful and len(self.values) == 1


def answer_domain(composition: Composition) -> str:
    """Of what the answer is a value: an attribute, a table, ``direction`` or ``count``."""
    match composition.steps[-1].value:
        case AttributeOf(name=name):
            return name
        case Known(table=table):
            return table
        case DirectionOf():
            return "direction"
        case _:
            return "count"


def domain_of(variable: str, composition: Composition, *, scene: SceneBits) -> str:
    """The category of what a step picks, or the attribute that it reads; empty for a view."""
    steps = {step.variable: step.value for step in composition.steps}
    match steps[variable]:
        case The(of=of) | Select(of=of):
            return next(one.category for one in parts(of) if isinstance(one, Members))
        case AttributeOf(of=Variable(name=name), name=word):
            is_event = domain_of(name, composition, scene=scene) == EVENT
            is_role = is_event and word != "kind" and word not in scene.words.attributes
            return scene.words.roles().get(word, word) if is_role else word
        case Aggregate(how="mode", attribute=word):
            return word
        case _:
            return ""


def anything(domain: str, scene: SceneBits) -> Sequence[ValueOrNumber]:
    """Everything that a variable of a domain could be."""
    if domain in scene.members:
        return scene.members[domain]
    if domain == "kind":
        return sorted({event.kind for event in scene.events.values()})
    known = scene.words.attributes[domain]
    told = {value for of in known.of for value in scene.column(of, domain).values}
    return known.values or sorted(told, key=lambda one: (isinstance(one, str), one))
