"""Further shapes of compositions: views, plans, tables.

Each is drawn backwards from what the scene has; whether it is proven is asked afterwards (`finding`).
"""

from collections.abc import Callable, Sequence
from random import Random
from typing import Literal, TypeAlias

from vidence.make.compose.atoms import AskableAttribute, Statements
from vidence.make.compose.phrases import is_flag, is_person
from vidence.make.compose.program import Program
from vidence.make.compose.scene_bits import SceneBits
from vidence.make.compose.types import Logic
from vidence.make.compose.world import Doubt
from vidence.make.sources.composition import (
    AttributeOf,
    DirectionOf,
    Expression,
    Known,
    Members,
    Pair,
    Select,
    The,
    Variable,
    View,
)
from vidence.make.sources.vocabulary import EVENT, PAIR, AnswerType

MoreShape: TypeAlias = Literal["known", "direction", "nearest"]
CONJUNCTIVE: tuple[MoreShape, ...] = ("known",)
SEQUENTIAL: tuple[MoreShape, ...] = ("direction", "nearest")
_LEAST_SEEN = 3
"""Who looks, what they face, and what is sought."""


def carried(statements: Statements, category: str) -> tuple[str, ...]:
    """Return the attributes that one thing can share with another: no numbers, no flags."""
    words = statements.scene.words.attributes
    names = statements.attributes_of(category)
    return tuple(name for name in names if not (words[name].number or is_flag(words[name])))


class Shapes:
    """The possible programs of these shapes in a scene."""

    def __init__(self, scene: SceneBits, statements: Statements, rng: Random) -> None:
        self.scene, self.statements, self.rng = scene, statements, rng
        self.world = scene.world
        placed = [c for c in (*statements.categories, *self._single_things()) if self._placed(c)]
        self._on_plan = tuple(dict.fromkeys(placed))
        self._asked = tuple(attribute for attribute in statements.asked() if attribute.category != EVENT)
        self._makers: dict[str, Callable[[AnswerType, int], Program | None]] = {
            "known": self._known,
            "direction": self._direction,
            "nearest": self._nearest,
        }

    def of(self, kind: AnswerType, logic: Logic) -> tuple[MoreShape, ...]:
        """Return the shapes with answers of a type in this scene."""
        can: dict[MoreShape, bool] = dict.fromkeys((*CONJUNCTIVE, *SEQUENTIAL), False)
        asked = self._of_type(kind)
        n_placed = sum(len(self._placed(category)) for category in self._on_plan)
        on_plan = {attribute.category for attribute in asked} & set(self._on_plan)
        can["known"] = bool(self._tables(kind))
        can["direction"] = kind == "relationship" and n_placed >= _LEAST_SEEN
        can["nearest"] = bool(on_plan) and n_placed >= _LEAST_SEEN
        return tuple(name for name in (CONJUNCTIVE if logic == "conjunctive" else SEQUENTIAL) if can[name])

    def draw(self, shape: str, kind: AnswerType, n: int) -> Program | None:
        """Draw a program of a shape with about `n` conditions; None if none is found."""
        return self._makers[shape](kind, n)

    # ----------------------------------------------------------------------- what there is

    def _single_things(self) -> tuple[str, ...]:
        """Return completely listed categories with a single member."""
        scene = self.scene
        return tuple(c for c in scene.words.categories if len(scene.members[c]) == 1 and scene.lists_all(c))

    def _placed(self, category: str) -> list[str]:
        excluded, places = self.world.excluded, self.world.places
        names = self.scene.members[category]
        return [name for name in names if name in places and ("place", name) not in excluded]

    def _of_type(self, kind: AnswerType) -> list[AskableAttribute]:
        return [attribute for attribute in self._asked if attribute.type == kind]

    def _tables(self, kind: AnswerType) -> list[tuple[str, str, str]]:
        """Return the tables, with the categories and attributes that they map from."""
        tables = {
            table: {of for name, of in self.world.known if name == table} for table in self.scene.words.known
        }
        return [
            (table, category, name)
            for table, values in tables.items()
            if self.scene.words.known[table].answer == kind
            for category in self.statements.categories
            for name in self.statements.attributes_of(category)
            if len(values & self.scene.column(category, name).values.keys()) > 1
        ]

    # ----------------------------------------------------------------------- pieces

    def _named(
        self, program: Program, variable: str, name: str, *, n: int, avoided: Sequence[str] = ()
    ) -> bool:
        """Return a step that ends with a variable for a thing, identified by attributes."""
        category = self.scene.category_of(name)
        if not self.scene.lists_all(category):
            return False
        place = self.scene.place[category][name]
        statements = self.statements.single(category, place, self.rng, n=n, avoided=avoided)
        if statements is None:
            return False
        members = Members(category=category, atoms=program.atoms(statements))
        program.add(variable, The(of=members, pick=variable))
        return True

    def _one(
        self, kind: AnswerType, *, among: Sequence[str] | None = None
    ) -> tuple[AskableAttribute, str] | None:
        """Return a question target and an entity to ask it about."""
        asked = [
            attribute for attribute in self._of_type(kind) if among is None or attribute.category in among
        ]
        if not asked:
            return None
        chosen = self.rng.choice(asked)
        return chosen, self.rng.choice(self.scene.members[chosen.category])

    # ----------------------------------------------------------------------- conjunctive

    def _known(self, kind: AnswerType, n: int) -> Program | None:
        """Return the table entry for an entity's value."""
        tables = self._tables(kind)
        if not tables:
            return None
        table, category, attribute = self.rng.choice(tables)
        program = Program()
        name = self.rng.choice(self.scene.members[category])
        if not self._named(program, "P", name, n=n, avoided=[attribute]):
            return None
        program.add("X", asked_of("P", attribute))
        program.add("answer", Known(table=table, of=Variable(name="X")))
        return program

    # ----------------------------------------------------------------------- on a plan

    def _looking(self, *, apart: Sequence[str] = ()) -> tuple[str, str, float] | None:
        """Return a possible view: viewer, target, heading."""
        names = [name for category in self._on_plan for name in self._placed(category) if name not in apart]
        people = [name for name in names if is_person(self.scene.words, self.scene.category_of(name))]
        viewer = self.rng.choice(people or names) if names else ""
        others = [name for name in names if name != viewer]
        if not others:
            return None
        faced = self.rng.choice(others)
        heading = self.world.bearing(viewer, faced)
        return None if isinstance(heading, Doubt) else (viewer, faced, heading)

    def _view(self, program: Program, viewer: str, faced: str, *, n: int) -> bool:
        """Return a step `V`, the view of a person who faces something."""
        if not self._named(program, "P", viewer, n=max(n - 1, 1)):
            return False
        if not self._named(program, "Q", faced, n=1):
            return False
        view = View(
            of=Variable(name="P"), facing=Variable(name="Q"), facing_condition=program.condition("spatial")
        )
        program.add("V", view)
        return True

    def _direction(self, kind: AnswerType, n: int) -> Program | None:
        """Return the direction of a thing in the view of a person who faces another."""
        name = self.rng.choice(self._placed(self.rng.choice(self._on_plan)))
        for _ in range(_VIEWS):
            looking = self._looking(apart=[name])
            if looking is not None and isinstance(self.world.sector(name, looking[0], looking[2]), str):
                break
        else:
            return None
        program, share = Program(), max((n - 1) // 2, 1)
        if not self._view(program, *looking[:2], n=n - 1 - share):
            return None
        if not self._named(program, "R", name, n=share):
            return None
        program.add("answer", DirectionOf(of=Variable(name="R"), view=Variable(name="V")))
        return program

    def _nearest(self, kind: AnswerType, n: int) -> Program | None:
        """Return statements about the thing nearest to, or farthest from, another."""
        drawn = self._one(kind, among=self._on_plan)
        if drawn is None:
            return None
        asked, name = drawn
        place = self.scene.place[asked.category][name]
        names = [other for category in self._on_plan for other in self._placed(category) if other != name]
        program = Program()
        n_own = self.rng.randint(0, max(n - 2, 0))
        if not names or not self._named(program, "P", self.rng.choice(names), n=max(n - 1 - n_own, 1)):
            return None
        statements = self.statements.some(asked.category, place, self.rng, n=n_own, avoided=[asked.attribute])
        members = Members(category=asked.category, atoms=program.atoms(statements))
        how: Literal["nearest", "farthest"] = self.rng.choice(("nearest", "farthest"))
        condition, to = program.condition("spatial"), Variable(name="P")
        program.add("R", Select(how=how, of=members, pick="R", condition=condition, to=to))
        program.add("answer", asked_of("R", asked.attribute))
        return program


_VIEWS = 12
"""How many views are tried for one that distinguishes directions."""


def asked_of(variable: str, attribute: str) -> Expression:
    """Return the attribute of a variable to ask for; for events perhaps the kind in a pair."""
    first, *second = (AttributeOf(of=Variable(name=variable), name=part) for part in attribute.split(PAIR))
    return Pair(first=first, second=second[0]) if second else first
