"""Statements about a category, and which of them identify a member."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from operator import and_
from random import Random
from typing import Literal

from vidence.make.compose.scene_bits import Masks, SceneBits
from vidence.make.sources.scene import ValueOrNumber
from vidence.make.sources.vocabulary import EVENT, PAIR, AnswerType, Skill

_TRIED = 6
"""How many statements are considered for each one taken."""


@dataclass(frozen=True)
class AttributeStatement:
    """A statement that an attribute (or kind) is, or is not, a value; with the members it holds for."""

    attribute: str
    how: Literal["==", "!="]
    value: ValueOrNumber
    masks: Masks
    skill: Skill


@dataclass(frozen=True)
class AskableAttribute:
    """A question target of a category: the attribute and its answer type."""

    category: str
    attribute: str
    type: AnswerType


class Statements:
    """The statements about the members of each category of a scene."""

    def __init__(self, scene: SceneBits, *, negations: bool) -> None:
        self.scene, self._negations = scene, negations
        self._attributes: dict[str, tuple[str, ...]] = {}
        self._of: dict[str, tuple[AttributeStatement, ...]] = {}
        self._about: dict[tuple[str, int], tuple[AttributeStatement, ...]] = {}

    @cached_property
    def categories(self) -> tuple[str, ...]:
        """Return the entity categories with complete listings and at least two members."""
        scene = self.scene
        return tuple(c for c in scene.words.categories if len(scene.members[c]) > 1 and scene.lists_all(c))

    def attributes_of(self, category: str) -> tuple[str, ...]:
        """The attributes of a category."""
        if category not in self._attributes:
            words = self.scene.words
            self._attributes[category] = tuple(
                name
                for name, attribute in words.attributes.items()
                if any(words.is_a(category, of) for of in attribute.of)
            )
        return self._attributes[category]

    def asked(self) -> tuple[AskableAttribute, ...]:
        """Return the question targets: attributes with two or more values, kinds of events."""
        attributes = [
            AskableAttribute(category, name, self.scene.words.attributes[name].answer)
            for category in self.categories
            for name in self.attributes_of(category)
            if len(self.scene.column(category, name).values) > 1
        ]
        if self.scene.lists_all(EVENT):
            attributes += [
                AskableAttribute(
                    EVENT, name, self.scene.words.attributes[name].answer if name != "kind" else "action"
                )
                for name in self.names(EVENT)
                if len(self.scene.column(EVENT, name).values) > 1
            ]
            attributes += [
                AskableAttribute(EVENT, f"kind{PAIR}{name}", "event") for name in self.attributes_of(EVENT)
            ]
        return tuple(attributes)

    def names(self, category: str) -> tuple[str, ...]:
        """Return the attributes of a category, with the kind for events."""
        return (*(("kind",) if category == EVENT else ()), *self.attributes_of(category))

    def of(self, category: str) -> tuple[AttributeStatement, ...]:
        """Return statements that hold for some members but not all."""
        if category not in self._of:
            self._of[category] = tuple(self._made(category))
        return self._of[category]

    def _made(self, category: str) -> Iterator[AttributeStatement]:
        scene, everybody = self.scene, self.scene.everybody[category]
        for name in self.names(category):
            skill: Skill = scene.words.attributes[name].skill if name != "kind" else "semantic"
            known = scene.words.attributes.get(name)
            signs: tuple[Literal["==", "!="], ...] = ("==", "!=") if self._negations else ("==",)
            for value in scene.column(category, name).values:
                is_split = known is None or known.number or len(known.values) == 2  # not the one: the other
                for how in signs[:1] if is_split else signs:
                    masks = scene.compared(category, name, how=how, value=value)
                    if masks.must and masks.may != everybody:
                        yield AttributeStatement(name, how, value, masks, skill)

    def about(self, category: str, member: int) -> tuple[AttributeStatement, ...]:
        """Return statements that hold for one member."""
        key = category, member
        if key not in self._about:
            self._about[key] = tuple(
                statement for statement in self.of(category) if statement.masks.must >> member & 1
            )
        return self._about[key]

    def drawn(
        self, category: str, member: int, rng: Random, *, avoided: Collection[str] = ()
    ) -> list[AttributeStatement]:
        """Return the true statements about a member in seeded order, and a single denial at the end."""
        known = [
            statement for statement in self.about(category, member) if statement.attribute not in avoided
        ]
        rng.shuffle(known)
        denials = [statement for statement in known if statement.how == "!="]
        return [*(statement for statement in known if statement.how == "=="), *denials[:1]]

    def single(
        self, category: str, member: int, rng: Random, *, n: int, avoided: Collection[str] = (), may: int = -1
    ) -> tuple[AttributeStatement, ...] | None:
        """Return about `n` statements that together identify one member, among all or among `may`.

        Each shuts somebody out. Of some drawn in seeded order the one is taken that leaves about as many as
        are needed for as many statements as are wanted; what the others make needless is dropped again.
        None if no statements do.
        """
        known, among = (
            self.drawn(category, member, rng, avoided=avoided),
            self.scene.everybody[category] & may,
        )
        target, rest, taken = 1 << member, among, list[AttributeStatement]()
        while rest != target and len(taken) < max(n + 1, 2):
            used = {statement.attribute for statement in taken}
            free = [
                statement
                for statement in known
                if statement.attribute not in used and rest & ~statement.masks.may
            ][:_TRIED]
            if not free:
                return None
            left = max(n - len(taken), 1)
            wish = 1.0 if left == 1 else rest.bit_count() ** (1 - 1 / left)
            best = min(free, key=lambda statement: abs((rest & statement.masks.may).bit_count() - wish))
            taken.append(best)
            rest &= best.masks.may
        return tuple(needed(taken, among, target)) if rest == target else None

    def alike(self) -> str:
        """Say how many members of each category all their attributes together do not single out."""
        counts = {name: len(self.scene.members[name]) for name in (*self.categories, EVENT)}
        return ", ".join(
            f"{sum(self._is_alike(name, i) for i in range(n))} of {n} ({name})"
            for name, n in counts.items()
            if n
        )

    def _is_alike(self, category: str, member: int) -> bool:
        masks = (statement.masks.may for statement in self.about(category, member))
        return reduce(and_, masks, self.scene.everybody[category]) != 1 << member

    def some(
        self, category: str, member: int, rng: Random, *, n: int, avoided: Collection[str] = ()
    ) -> list[AttributeStatement]:
        """Return up to `n` statements about a member, each on a different attribute."""
        taken: dict[str, AttributeStatement] = {}
        for statement in self.drawn(category, member, rng, avoided=avoided):
            taken.setdefault(statement.attribute, statement)
        return list(taken.values())[: max(n, 0)]


def needed(taken: Sequence[AttributeStatement], may: int, target: int) -> list[AttributeStatement]:
    """Remove statements that the others imply."""
    kept = list(taken)
    for statement in taken:
        others = [other for other in kept if other is not statement]
        rest = may
        for other in others:
            rest &= other.masks.may
        if rest == target:
            kept = others
    return kept
