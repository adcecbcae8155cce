"""Search for compositions backwards: the question, the entity that answers it, what identifies it."""

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice, product
from random import Random
from typing import Literal, TypeAlias, get_args

from vidence.make.compose.atoms import AskableAttribute, AttributeStatement, Statements
from vidence.make.compose.finding import Fits, Refused, find_proof
from vidence.make.compose.program import Program as _Program
from vidence.make.compose.program import without_atom
from vidence.make.compose.scene_bits import SceneBits, bits
from vidence.make.compose.shapes import CONJUNCTIVE, SEQUENTIAL, MoreShape, Shapes, asked_of, carried
from vidence.make.compose.types import Logic
from vidence.make.sources.composition import (
    MOST_CONDITIONS,
    Aggregate,
    Atom,
    AttributeOf,
    Compare,
    Composition,
    Members,
    Related,
    Select,
    Step,
    The,
    Timed,
    TimeWord,
    Variable,
)
from vidence.make.sources.proof import Proof
from vidence.make.sources.vocabulary import EVENT, PAIR, AnswerType, Skill

_Plain: TypeAlias = Literal[
    "attribute", "count", "carried", "related", "ordered", "then", "ranked", "next", "between", "tally"
]
Shape: TypeAlias = _Plain | MoreShape
ALL_SHAPES: tuple[Shape, ...] = (*get_args(_Plain), *CONJUNCTIVE, *SEQUENTIAL)
_BY_SKILL: Mapping[Skill, tuple[Shape, ...]] = {
    "spatial": ("related", "direction", "nearest"),
    "temporal": ("ordered", "next", "between", "tally"),
    "correspondence": ("carried",),
    "visual knowledge": ("known",),
}
"""The shapes that always require a skill."""
_OF_EVENTS: tuple[Shape, ...] = ("then", "next", "between")
_End: TypeAlias = Literal["first", "last"]
_MENDED = 3
"""How often redundant conditions are removed from one composition."""


@dataclass(frozen=True)
class QuotaCell:
    """A cell of the quotas: answer type, logic, number of conditions, and a skill of one of them."""

    type: AnswerType
    logic: Logic
    n_conditions: int
    skill: Skill | None = None


@dataclass(frozen=True)
class _Link:
    """The link from the last set to known entities: remaining members, atom, condition, skill."""

    may: int
    atom: Callable[[str], Atom]
    skill: Skill
    avoided: tuple[str, ...] = ()


@dataclass(frozen=True)
class Composed:
    """A composition found and proven by the search."""

    composition: Composition
    proof: Proof
    shape: Shape


class Search:
    """Searches one scene; the same seed gives the same compositions.

    Attributes:
        most_guess: the largest share of right bindings without a condition; others are refused.
        most_prior: the largest share of right bindings without all conditions.
        often: shapes that are drawn only where no other gives a cell.
    """

    def __init__(
        self,
        scene: SceneBits,
        *,
        rng: Random,
        negations: bool = True,
        least: int = 2,
        shapes: Sequence[Shape] = ALL_SHAPES,
    ) -> None:
        self.scene, self.rng, self.least = scene, rng, least
        self.name = scene.scene.header.scene
        self.statements = Statements(scene, negations=negations)
        self.asked = self.statements.asked()
        self.refused: Counter[str] = Counter()
        self.most_guess = self.most_prior = 1.0
        self.often: frozenset[Shape] = frozenset()
        self.n_left_out = 0
        """How many conditions without a witness were left out."""
        self._vocabulary = scene.words.sha256()
        self._related_to: dict[tuple[str, str, int], list[str]] = {}
        self._near_to: dict[tuple[int, TimeWord], list[str]] = {}
        self._given = defaultdict[tuple[Shape, AnswerType, int], Counter[int]](Counter)
        """How many conditions the programs of a shape had, by what was wanted."""
        self._settled: dict[tuple[Step, ...], Composed | str] = {}
        """The result of programs: a composition, or why there is none, whatever is wanted."""
        self._allowed = frozenset(shapes)
        self._shapes: dict[tuple[AnswerType, Logic, Skill | None], tuple[Shape, ...]] = {}
        self.more = Shapes(scene, self.statements, rng)
        self._makers: dict[str, Callable[[QuotaCell, AskableAttribute], _Program | None]] = {
            "attribute": self._attribute,
            "count": self._count,
            "carried": self._carried,
            "related": self._related,
            "ordered": self._ordered,
            "then": self._then,
            "ranked": self._ranked,
            "next": self._next,
            "between": self._between,
            "tally": self._tally,
        }

    def shapes(self, wanted: QuotaCell) -> tuple[Shape, ...]:
        """Return the shapes that can fill a cell in this scene, preferring those with its skill."""
        key = wanted.type, wanted.logic, wanted.skill
        if key not in self._shapes:
            shapes = (*self._plain(wanted), *self.more.of(wanted.type, wanted.logic))
            allowed = tuple(name for name in shapes if name in self._allowed)
            favoured = _BY_SKILL.get(wanted.skill, ()) if wanted.skill is not None else ()
            self._shapes[key] = tuple(name for name in allowed if name in favoured) or allowed
        return self._shapes[key]

    def _plain(self, wanted: QuotaCell) -> tuple[_Plain, ...]:
        words, names = self.scene.words, list[_Plain]()
        listed = bool(self.scene.events) and self.scene.lists_all(EVENT)
        if wanted.logic == "conjunctive":
            names = ["attribute"] if self._asked(wanted.type, entities=True) else []
            is_counted = wanted.type == "attribute" and self._counted()
            return (*names, "count") if is_counted else tuple(names)
        if (
            wanted.type == "action"
            and self._asked("action")
            and any(kind.roles for kind in words.events.values())
        ):
            names.append("then")
        is_of_event = listed and any(attribute.category == EVENT for attribute in self._asked(wanted.type))
        names += ["next", "between", "ranked"] if is_of_event else []
        names += ["tally"] if listed and wanted.type == "attribute" and self._counted() else []
        if self._asked(wanted.type, entities=True):
            names += ["carried"]
            names += ["related"] if words.relations else []
            names += ["ordered", "ranked"] if self.scene.ends else []
        return tuple(dict.fromkeys(names))

    def _counted(self) -> tuple[str, ...]:
        """Return the countable categories."""
        is_listed = self.scene.lists_all(EVENT) and len(self.scene.members[EVENT]) > 1
        return (*self.statements.categories, *((EVENT,) if is_listed else ()))

    def _asked(self, kind: AnswerType, *, entities: bool = False) -> list[AskableAttribute]:
        return [
            attribute
            for attribute in self.asked
            if attribute.type == kind and not (entities and attribute.category == EVENT)
        ]

    def tried(self, wanted: QuotaCell, *, number: int, fits: Fits | None = None) -> Composed | None:
        """Make one attempt at a cell; the result may fill another cell that `fits`."""
        shape = self._shape(wanted)
        if shape is None:
            self.refused["no-shape"] += 1
            return None
        program = self._drawn(shape, wanted)
        n = 0 if program is None else len(program.skills)
        self._given[shape, wanted.type, wanted.n_conditions].update([n])
        if program is None:
            self.refused["nothing-found"] += 1
            return None
        if fits is not None and not any(fits(wanted.type, wanted.logic, left) for left in (n, n - 1)):
            self.refused["of-another-cell"] += 1
            return None
        composition = program.composition(
            f"{self.name}/{number:05d}", self.scene.scene, vocabulary_sha256=self._vocabulary
        )
        return self._proved(composition, shape, fits=fits)

    def _shape(self, wanted: QuotaCell) -> Shape | None:
        """Choose a shape of a cell's size, preferably with its skill and rarely drawn."""
        shapes, anything = self.shapes(wanted), self.shapes(replace(wanted, skill=None))
        able = [shape for shape in (*shapes, *anything) if self._may_give(shape, wanted)]
        rare = [shape for shape in able if shape not in self.often]
        first = [shape for shape in rare or able if shape in shapes]
        return self.rng.choice(first or rare or able or shapes) if shapes else None

    def is_rare(self, wanted: QuotaCell, *, often: Collection[Shape]) -> bool:
        """Return whether a shape that is not drawn often may still give a cell."""
        rare = (shape for shape in self.shapes(wanted) if shape not in often)
        return any(self._may_give(shape, wanted) for shape in rare)

    def _may_give(self, shape: Shape, wanted: QuotaCell) -> bool:
        """Return whether a shape may still give programs of the size of a cell, or one condition more."""
        n = wanted.n_conditions
        given = self._given[shape, wanted.type, n]
        return bool(given[n] or given[n + 1]) or given.total() < _PATIENCE

    def _drawn(self, shape: Shape, wanted: QuotaCell) -> _Program | None:
        if shape not in self._makers:
            return self.more.draw(shape, wanted.type, wanted.n_conditions)
        asked = list(self.asked) if shape in ("count", "tally") else self._asked(wanted.type)
        if shape not in ("count", "tally", "ranked"):
            asked = [
                attribute for attribute in asked if (attribute.category == EVENT) == (shape in _OF_EVENTS)
            ]
        if shape == "then":
            asked = [attribute for attribute in asked if attribute.attribute == "kind"]
        return self._makers[shape](wanted, self.rng.choice(asked)) if asked else None

    def _find(self, composition: Composition, fits: Fits | None) -> Proof | Refused:
        return find_proof(
            composition, self.scene.world, fits=fits, most_guess=self.most_guess, most_prior=self.most_prior
        )

    def _proved(self, composition: Composition, shape: Shape, *, fits: Fits | None) -> Composed | None:
        """Return a composition without redundant conditions, if it is proven."""
        drawn = composition.steps
        settled = self._settled.get(drawn)
        if isinstance(settled, Composed):
            proof = settled.proof
            if fits is None or fits(proof.answer.type, proof.logic, len(proof.conditions)):
                return settled
        if settled is not None:
            self.refused["of-another-cell" if isinstance(settled, Composed) else settled] += 1
            return None
        for _ in range(_MENDED):
            if not self.least <= len(composition.conditions) <= MOST_CONDITIONS:
                reason = "too-few-conditions"
                break
            proved = self._find(composition, fits)
            if isinstance(proved, Proof):
                self._settled[drawn] = settled = Composed(composition, proved, shape)
                return settled
            reason = proved.reason
            mended = without_atom(composition, proved.conditions[0]) if reason == "unneeded" else None
            if mended is None:
                break
            self.n_left_out += 1
            composition = mended
        self.refused[reason] += 1
        if reason != "of-another-cell":
            self._settled[drawn] = reason
        return None

    # ----------------------------------------------------------------------- conjunctive

    def _member(self, category: str) -> int:
        return self.rng.randrange(len(self.scene.members[category]))

    def _attribute(self, wanted: QuotaCell, asked: AskableAttribute) -> _Program | None:
        member = self._member(asked.category)
        statements = self.statements.single(
            asked.category, member, self.rng, n=wanted.n_conditions, avoided=[asked.attribute]
        )
        if not statements:
            return None
        program = _Program()
        self._the(program, "P", category=asked.category, atoms=program.atoms(statements))
        program.add("answer", asked_of("P", asked.attribute))
        return program

    def _the(self, program: _Program, variable: str, *, category: str, atoms: Sequence[Atom]) -> str:
        return program.add(variable, The(of=Members(category=category, atoms=tuple(atoms)), pick=variable))

    def _count(self, wanted: QuotaCell, asked: AskableAttribute) -> _Program | None:
        category = self.rng.choice(self._counted())
        taken, rest = self._several(category, self.scene.everybody[category], n=wanted.n_conditions)
        if len(taken) < self.least or rest.bit_count() > MOST_COUNTED:
            return None
        program = _Program()
        program.add(
            "answer", Aggregate(how="count", of=Members(category=category, atoms=program.atoms(taken)))
        )
        return program

    def _several(self, category: str, among: int, *, n: int) -> tuple[list[AttributeStatement], int]:
        """Return statements that each exclude a member (`alone`), and the remaining members."""
        members = list(bits(among))
        known = self.statements.drawn(category, self.rng.choice(members), self.rng) if members else []
        taken, rest, alone = list[AttributeStatement](), among, list[int]()
        for statement in known:
            if len(taken) == n:
                break
            left, shut_out = rest & statement.masks.must, rest & ~statement.masks.must
            still = [shut & statement.masks.must for shut in alone]
            if statement.attribute not in {t.attribute for t in taken} and left and shut_out and all(still):
                taken.append(statement)
                rest, alone = left, [*still, shut_out]
        return taken, rest

    # ----------------------------------------------------------------------- sequential

    def _anchor(self, program: _Program, name: str, *, n: int, avoided: Sequence[str] = ()) -> bool:
        """Return steps that end with `P` for an entity, identified by attributes or acts."""
        roles = self._roles(name) if self.rng.random() < _BY_EVENT else []
        if roles:
            event, role = self.rng.choice(roles)
            statements = (
                self.statements.single(EVENT, self.scene.place[EVENT][event], self.rng, n=1)
                if self.scene.lists_all(EVENT)
                else None
            )
            if statements:
                pick = self._the(program, "Q", category=EVENT, atoms=program.atoms(statements))
                program.add("P", AttributeOf(of=Variable(name=pick), name=role))
                return True
        category = self.scene.category_of(name)
        if category not in self.statements.categories:
            return False
        place = self.scene.place[category][name]
        statements = self.statements.single(category, place, self.rng, n=n, avoided=avoided)
        if statements:
            self._the(program, "P", category=category, atoms=program.atoms(statements))
            return True
        for statement in self._tellable(category, place, avoided):
            how = self._end(category, self.scene.everybody[category] & statement.masks.may, place)
            if how is not None:
                self._at_end(program, "P", category=category, atoms=program.atoms([statement]), how=how)
                return True
        return False

    def _tellable(self, category: str, member: int, avoided: Sequence[str]) -> list[AttributeStatement]:
        return self.statements.drawn(category, member, self.rng, avoided=avoided)

    def _end(self, category: str, may: int, member: int) -> _End | None:
        """Return whether a member is the first or last of some to appear."""
        order, untimed = self.scene.in_order(category, by_end=False)
        if untimed & may or may.bit_count() < 2:
            return None
        if member == next(i for _, i in order if may >> i & 1):
            return "first"
        return "last" if member == next(i for _, i in reversed(order) if may >> i & 1) else None

    def _at_end(
        self, program: _Program, variable: str, *, category: str, atoms: Sequence[Atom], how: _End
    ) -> None:
        members, name = Members(category=category, atoms=tuple(atoms)), program.condition("temporal")
        by: Literal["begins", "appears"] = "begins" if category == EVENT else "appears"
        program.add(variable, Select(how=how, of=members, pick=variable, condition=name, by=by))

    def _roles(self, name: str) -> list[tuple[str, str]]:
        """Return the events in which an entity certainly plays a role alone."""
        return [
            (event, role)
            for event, fact in self.scene.events.items()
            for role, who in fact.roles.items()
            if who == name and role not in self.scene.words.attributes
        ]

    def _shares(self, wanted: QuotaCell) -> tuple[int, int]:
        """Return the numbers of conditions of an anchor and of the last set, without its link."""
        free = max(wanted.n_conditions - 1, 1)
        anchor = self.rng.randint(1, max(free - 1, 1))
        return anchor, free - anchor

    def _carried(self, wanted: QuotaCell, asked: AskableAttribute) -> _Program | None:
        scene, n = self.scene, self._shares(wanted)
        target = self._member(asked.category)
        linked = [a for a in carried(self.statements, asked.category) if a != asked.attribute]
        if not linked:
            return None
        link = self.rng.choice(linked)
        values = scene.column(asked.category, link).told[target]
        if len(values) != 1 or values[0] == "none":  # what nobody has, nobody shares
            return None
        holders = [
            (category, i, held)
            for category in self.statements.categories
            for held in self.statements.attributes_of(category)
            if scene.words.share_a_domain(held, link)
            for i in bits(scene.column(category, held).values.get(values[0], 0))
            if (category, i) != (asked.category, target)
        ]
        if not holders:
            return None
        category, place, held = self.rng.choice(holders)
        program = _Program()
        if not self._anchor(program, scene.members[category][place], n=n[0], avoided=[held]):
            return None
        program.add("X", AttributeOf(of=Variable(name="P"), name=held))
        compared = scene.compared(asked.category, link, how="==", value=values[0])
        result = _Link(
            compared.may,
            lambda name: Compare(attribute=link, how="==", value=Variable(name="X"), condition=name),
            "correspondence",
            (link,),
        )
        return self._ended(program, asked, target=target, n=n[1], link=result)

    def _ended(
        self, program: _Program, asked: AskableAttribute, *, target: int, n: int, link: _Link
    ) -> _Program | None:
        """Return the program completed with the linked set and the answer."""
        avoided = [*link.avoided, asked.attribute]
        statements = self.statements.single(
            asked.category, target, self.rng, n=n, avoided=avoided, may=link.may
        )
        how = None
        if statements is None:
            statements = tuple(self._tellable(asked.category, target, avoided)[:1])
            how = self._end(
                asked.category, link.may & (statements[0].masks.may if statements else link.may), target
            )
            if how is None:
                return None
        atoms = (*program.atoms(statements), link.atom(program.condition(link.skill)))
        if how is None:
            self._the(program, "R", category=asked.category, atoms=atoms)
        else:
            self._at_end(program, "R", category=asked.category, atoms=atoms, how=how)
        program.add("answer", asked_of("R", asked.attribute))
        return program

    def _related(self, wanted: QuotaCell, asked: AskableAttribute) -> _Program | None:
        scene, words, n = self.scene, self.scene.words, self._shares(wanted)
        target = self._member(asked.category)
        known = [
            r
            for r, entry in words.relations.items()
            if any(words.is_a(asked.category, of) for of in entry.of)
        ]
        if not known:
            return None
        relation = self.rng.choice(known)
        others = self._partners(asked.category, relation, target)
        if not others:
            return None
        other = self.rng.choice(others)
        program = _Program()
        if not self._anchor(program, other, n=n[0]):
            return None
        link = _Link(
            scene.related(asked.category, relation, other).may,
            lambda name: Related(relation=relation, to=Variable(name="P"), condition=name),
            words.relations[relation].skill,
        )
        return self._ended(program, asked, target=target, n=n[1], link=link)

    def _partners(self, category: str, relation: str, member: int) -> list[str]:
        """Return the related members of a category; cached, since members are drawn again."""
        key = category, relation, member
        if key not in self._related_to:
            words = self.scene.words
            self._related_to[key] = [
                name
                for other in self.statements.categories
                if any(words.is_a(other, to) for to in words.relations[relation].to)
                for name in self.scene.members[other]
                if self.scene.related(category, relation, name).must >> member & 1
            ]
        return self._related_to[key]

    def _ordered(self, wanted: QuotaCell, asked: AskableAttribute) -> _Program | None:
        """Identify an entity as the first to appear after another, or the last before."""
        scene, category = self.scene, asked.category
        how: Literal["first", "last"] = self.rng.choice(("first", "last"))
        target = self._member(category)
        n_anchor = self.rng.randint(1, max(wanted.n_conditions - 2, 1))
        n_own, may = wanted.n_conditions - 2 - n_anchor, scene.everybody[category]
        taken = self.statements.some(category, target, self.rng, n=n_own, avoided=[asked.attribute])
        for statement in taken:
            may &= statement.masks.may
        anchor = self._before(category, target, may=may, how=how)
        program = _Program()
        if anchor is None or not self._anchor(program, anchor, n=n_anchor):
            return None
        word: Literal["appears_after", "appears_before"] = (
            "appears_after" if how == "first" else "appears_before"
        )
        atoms: tuple[Atom, ...] = (
            *program.atoms(taken),
            Timed(how=word, of=Variable(name="P"), condition=program.condition("temporal")),
        )
        members, name = Members(category=category, atoms=atoms), program.condition("temporal")
        program.add("R", Select(how=how, of=members, pick="R", condition=name, by="appears"))
        program.add("answer", asked_of("R", asked.attribute))
        return program

    def _before(self, category: str, target: int, *, may: int, how: str) -> str | None:
        """Identify an entity that appears between two others (`last`: in reverse)."""
        scene = self.scene
        name = scene.members[category][target]
        if name not in scene.ends:
            return None
        at, margin = scene.ends[name][0], scene.margin_s
        order, _ = scene.in_order(category, by_end=False)
        if how == "first":
            earlier = [time for time, i in order if time < at and may >> i & 1]
            low, high = max(earlier, default=-1.0) - margin, at - margin
        else:
            later = [time for time, i in order if time > at and may >> i & 1]
            low, high = at + margin, min(later, default=float("inf")) + margin
        there = [
            other
            for kind in self.statements.categories
            for time, i in scene.in_order(kind, by_end=False)[0]
            if low <= time <= high and (other := scene.members[kind][i]) != name
        ]
        return self.rng.choice(there) if there else None

    def _then(self, wanted: QuotaCell, asked: AskableAttribute) -> _Program | None:
        """Identify an event as the first of a person after another event, or the last before."""
        scene = self.scene
        roles = [
            (event, role, who)
            for event, fact in scene.events.items()
            for role, who in fact.roles.items()
            if scene.category_of(who) in self.statements.categories and role not in scene.words.attributes
        ]
        if not roles:
            return None
        event, role, who = self.rng.choice(roles)
        how: Literal["first", "last"] = self.rng.choice(("first", "last"))
        word: Literal["after", "before"] = "after" if how == "first" else "before"
        target = scene.place[EVENT][event]
        others = [e for e in scene.events if scene.timed(EVENT, word, e).must >> target & 1]
        if not others:
            return None
        statements = self.statements.single(EVENT, scene.place[EVENT][self.rng.choice(others)], self.rng, n=1)
        program = _Program()
        category = scene.category_of(who)
        looks = self.statements.single(
            category, scene.place[category][who], self.rng, n=max(wanted.n_conditions - 4, 1)
        )
        if not statements or not looks:
            return None
        self._the(program, "P", category=category, atoms=program.atoms(looks))
        self._the(program, "T", category=EVENT, atoms=program.atoms(statements))
        atoms = (
            Compare(
                attribute=role, how="==", value=Variable(name="P"), condition=program.condition("semantic")
            ),
            Timed(how=word, of=Variable(name="T"), condition=program.condition("temporal")),
        )
        members, name = Members(category=EVENT, atoms=atoms), program.condition("temporal")
        program.add("U", Select(how=how, of=members, pick="U", condition=name, by="begins"))
        program.add("answer", AttributeOf(of=Variable(name="U"), name="kind"))
        return program

    def _ranked(self, wanted: QuotaCell, asked: AskableAttribute) -> _Program | None:
        """Identify the first or last to appear among several."""
        category, n, avoided = asked.category, wanted.n_conditions - 1, asked.attribute.split(PAIR)
        taken = self.statements.some(category, self._member(category), self.rng, n=n, avoided=avoided)
        if not taken:
            return None
        program = _Program()
        how: _End = self.rng.choice(("first", "last"))
        self._at_end(program, "R", category=category, atoms=program.atoms(taken), how=how)
        program.add("answer", asked_of("R", asked.attribute))
        return program

    def _event(self, program: _Program, event: str, *, n: int, variable: str = "T") -> bool:
        """Return a step for an event, identified by attributes, time or player."""
        place, roles = self.scene.place[EVENT][event], self.scene.events[event].roles
        statements = self.statements.single(EVENT, place, self.rng, n=n)
        if statements:
            self._the(program, variable, category=EVENT, atoms=program.atoms(statements))
            return True
        for statement in self._tellable(EVENT, place, ()):
            how = self._end(EVENT, self.scene.everybody[EVENT] & statement.masks.may, place)
            if how is not None:
                self._at_end(program, variable, category=EVENT, atoms=program.atoms([statement]), how=how)
                return True
        known = [
            attribute_statement
            for attribute_statement in self._tellable(EVENT, place, ())
            if attribute_statement.how == "=="
        ]
        if not roles or not known:
            return False
        role = self.rng.choice(sorted(roles))
        if not self._anchor(program, roles[role], n=max(n - 2, 1)):
            return False
        atoms = program.atoms(known[:1])
        played = Compare(
            attribute=role, how="==", value=Variable(name="P"), condition=program.condition("semantic")
        )
        self._the(program, variable, category=EVENT, atoms=(*atoms, played))
        return True

    def _next(self, wanted: QuotaCell, asked: AskableAttribute) -> _Program | None:
        """Identify an event as the first after another, or the last before, regardless of the player."""
        target = self._member(EVENT)
        how: _End = self.rng.choice(("first", "last"))
        word: Literal["after", "before"] = "after" if how == "first" else "before"
        known = self._tellable(EVENT, target, asked.attribute.split(PAIR))
        near, program = self._near(target, word), _Program()
        if not near or not self._event(program, self.rng.choice(near), n=max(wanted.n_conditions - 3, 1)):
            return None
        atoms: tuple[Atom, ...] = (
            *program.atoms(known[:1]),
            Timed(how=word, of=Variable(name="T"), condition=program.condition("temporal")),
        )
        self._at_end(program, "U", category=EVENT, atoms=atoms, how=how)
        program.add("answer", asked_of("U", asked.attribute))
        return program

    def _near(self, target: int, word: Literal["after", "before"]) -> list[str]:
        """Return the events nearest to an event that takes place after them, or before."""
        if (target, word) not in self._near_to:
            ends, world, name = self.scene.ends, self.scene.world, self.scene.members[EVENT][target]
            by_distance = sorted(self.scene.events, key=lambda event: abs(ends[event][0] - ends[name][0]))
            there = (event for event in by_distance if world.timed(name, word, of=event, seconds=()) is True)
            self._near_to[target, word] = list(islice(there, _NEAREST))
        return self._near_to[target, word]

    def _between(self, wanted: QuotaCell, asked: AskableAttribute) -> _Program | None:
        """Identify an event as the only one of a kind, or of all, between two others."""
        scene, target, program = self.scene, self._member(EVENT), _Program()
        known = self._tellable(EVENT, target, asked.attribute.split(PAIR))[: self.rng.randint(0, 1)]
        may = scene.everybody[EVENT] & (known[0].masks.may if known else -1)
        pairs = [
            (first, last)
            for first, last in product(self._near(target, "after"), self._near(target, "before"))
            if may & scene.timed(EVENT, "after", first).may & scene.timed(EVENT, "before", last).may
            == 1 << target
        ]
        ends = self.rng.choice(pairs) if pairs else ()
        if not ends or not all(
            self._event(program, end, n=1, variable=v) for v, end in zip("TS", ends, strict=True)
        ):
            return None
        atoms: tuple[Atom, ...] = (
            *program.atoms(known),
            Timed(how="after", of=Variable(name="T"), condition=program.condition("temporal")),
            Timed(how="before", of=Variable(name="S"), condition=program.condition("temporal")),
        )
        self._the(program, "U", category=EVENT, atoms=atoms)
        program.add("answer", asked_of("U", asked.attribute))
        return program

    def _tally(self, wanted: QuotaCell, asked: AskableAttribute) -> _Program | None:
        """Count members during, after or before an event."""
        scene, category = self.scene, self.rng.choice(self._counted())
        word: Literal["during", "after", "before"] = self.rng.choice(("during", "after", "before"))
        event, program = self.rng.choice(scene.members[EVENT]), _Program()
        if not self._event(program, event, n=max(wanted.n_conditions - 2, 1)):
            return None
        there = scene.timed(category, word, event).must
        n = max(wanted.n_conditions - len(program.skills) - 1, 1)
        taken, rest = self._several(category, there, n=n)
        if not taken or not 0 < rest.bit_count() <= MOST_COUNTED:
            return None
        atoms: tuple[Atom, ...] = (
            *program.atoms(taken),
            Timed(how=word, of=Variable(name="T"), condition=program.condition("temporal")),
        )
        program.add("answer", Aggregate(how="count", of=Members(category=category, atoms=atoms)))
        return program


_PATIENCE = 100
"""After this many draws without a program of the wanted size, another shape is preferred."""
MOST_COUNTED = 9
_NEAREST = 8
"""From this many events the one is drawn after which something happens next."""
_BY_EVENT = 0.3
