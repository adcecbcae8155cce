"""The facts of a scene as bit sets: bit `i` of a category is its `i`-th member, in the order of ids."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from operator import or_
from typing import Any, TypeAlias

from vidence.make.compose.ground import Ground
from vidence.make.sources.composition import Compare, Comparison, TimeWord
from vidence.make.sources.scene import (
    AttributeFact,
    EventFact,
    RelationFact,
    Scene,
    Span,
    ValueOrNumber,
)
from vidence.make.sources.vocabulary import ENTITY, EVENT


@dataclass(frozen=True)
class Masks:
    """Who certainly is so, and who may be; the second holds the first."""

    must: int
    may: int

    def without(self, everybody: int) -> "Masks":
        """The opposite among everybody."""
        return Masks(everybody & ~self.may, everybody & ~self.must)


@dataclass(frozen=True)
class Column:
    """An attribute (or `kind`) over a category: who has each value, and whose values are in doubt."""

    values: dict[ValueOrNumber, int]
    doubtful: int
    told: tuple[tuple[ValueOrNumber, ...], ...]
    """The values of each member, in the order of the facts."""

    def counts(self, mask: int) -> tuple[tuple[ValueOrNumber, int], ...]:
        """How many of some have each value; values that nobody of them has are not there."""
        told = ((value, (mask & who).bit_count()) for value, who in self.values.items())
        return tuple([one for one in told if one[1]])


_Sign: TypeAlias = bool | None


class Rows(dict[Any, Masks]):
    """Of whom a statement is true, by the value that it names; made when it is asked first."""

    def __init__(self, make: Callable[[Any], Masks]) -> None:
        super().__init__()
        self._make = make

    def __missing__(self, value: object) -> Masks:
        found = self[value] = self._make(value)
        return found


def bits(mask: int) -> Iterator[int]:
    """The places of the bits that are set, lowest first.

    >>> list(bits(0b1010))
    [1, 3]
    """
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low


class SceneBits:
    """A scene, asked for whole categories at once. What was asked is kept."""

    def __init__(self, scene: Scene) -> None:
        self.scene, self.words = scene, scene.vocabulary
        self.margin_s = self.words.margins.time_s
        self.members = scene.members
        self.place = {c: {name: i for i, name in enumerate(names)} for c, names in self.members.items()}
        self.everybody = {c: (1 << len(names)) - 1 for c, names in self.members.items()}
        self.events = {one.id: one for one in scene.facts if isinstance(one, EventFact)}
        self._wrong = {one.about for one in scene.contradictions}
        self._told: dict[tuple[str, str], list[AttributeFact]] = defaultdict(list)
        self._stated: dict[tuple[str, str, bool], set[tuple[str, str]]] = defaultdict(set)
        self._always: dict[tuple[str, str], set[tuple[str, str]]] = defaultdict(set)
        self._denied: dict[tuple[str, str], set[tuple[str, str]]] = defaultdict(set)
        for fact in scene.facts:
            if isinstance(fact, AttributeFact):
                self._told[fact.of, fact.name].append(fact)
            elif isinstance(fact, RelationFact):
                self._state(fact)
        self._follow()
        self._columns: dict[tuple[str, str], Column] = {}
        self._comparing: dict[tuple[str, str, str], Rows] = {}
        self._relating: dict[tuple[str, str], Rows] = {}
        self._timing: dict[tuple[str, str], Rows] = {}
        self._listed: dict[str, bool] = {}
        self._told_of: dict[tuple[str, str], tuple[tuple[ValueOrNumber, ...], bool]] = {}
        self._in_order: dict[tuple[str, bool], tuple[list[tuple[float, int]], int]] = {}

    def _state(self, fact: RelationFact) -> None:
        if ("relation", fact.of, fact.name, fact.to) in self._wrong:
            return
        frame, inverse = fact.frame or self.words.relations[fact.name].frame, self.words.inverse(fact.name)
        stated = [(fact.name, (fact.of, fact.to))] + ([(inverse, (fact.to, fact.of))] if inverse else [])
        for name, pair in stated:
            if not fact.holds:
                if fact.span is None:
                    self._denied[name, frame].add(pair)
            elif fact.span is None:
                self._always[name, frame].add(pair)
            else:
                self._stated[name, frame, True].add(pair)

    def _follow(self) -> None:
        """What transitive relations imply, pair by pair until nothing is new."""
        for (name, _), pairs in self._always.items():
            if not self.words.relations[name].transitive:
                continue
            fresh = set(pairs)
            while fresh:
                after = defaultdict(set)
                for one, other in pairs:
                    after[one].add(other)
                fresh = {(a, c) for a, b in fresh for c in after.get(b, ())} - pairs
                pairs.update(fresh)

    # ----------------------------------------------------------------------- completeness

    def is_complete(self, what: str, category: str) -> bool:
        """Whether what nobody stated of a category is false."""
        said = self.scene.complete
        return any(word == what and (not of or self.words.is_a(category, of)) for word, of in said)

    def lists_all(self, category: str) -> bool:
        """Whether every member of a category is listed; of events also where every kind of them is."""
        if category not in self._listed:
            self._listed[category] = self._lists(category)
        return self._listed[category]

    def _lists(self, category: str) -> bool:
        listed = {word for word, _ in self.scene.complete}
        at, above = category, [category]
        while at in self.words.categories and (at := self.words.categories[at].parent):
            above.append(at)
        if category == EVENT and self.words.events and all(map(self.lists_kind, self.words.events)):
            return True
        return ENTITY in listed or bool(listed & set(above))

    def lists_kind(self, kind: ValueOrNumber) -> bool:
        """Whether every event of a kind is listed."""
        return self.is_complete(str(kind), EVENT)

    def category_of(self, name: str) -> str:
        """The category of an entity or event."""
        return self.scene.entities[name].category

    # ----------------------------------------------------------------------- values

    def told(self, name: str, attribute: str) -> tuple[tuple[ValueOrNumber, ...], bool]:
        """The values of an attribute of one entity, each once, and whether others may be missing."""
        key = name, attribute
        if key not in self._told_of:
            self._told_of[key] = self._tell(name, attribute)
        return self._told_of[key]

    def _tell(self, name: str, attribute: str) -> tuple[tuple[ValueOrNumber, ...], bool]:
        if name in self.events and attribute not in self.words.attributes:
            return self._of_event(self.events[name], attribute)
        if ("attribute", name, attribute) in self._wrong:
            return (), True
        held = [fact for fact in self._told.get((name, attribute), ()) if fact.holds]
        is_whole = self.is_complete(attribute, self.category_of(name)) or self._lasts(name, held)
        return tuple(dict.fromkeys(fact.value for fact in held)), not is_whole

    def _of_event(self, event: EventFact, word: str) -> tuple[tuple[ValueOrNumber, ...], bool]:
        if word == "kind":
            return (event.kind,), False
        if word in event.roles:
            return (event.roles[word],), False
        return (), word in self.words.events[event.kind].roles and not self.is_complete(word, EVENT)

    def _lasts(self, name: str, held: Sequence[AttributeFact]) -> bool:
        """Whether facts tell the value for all the time in view."""
        spans = [fact.span for fact in held if fact.span is not None]
        if len(spans) < len(held):
            return True
        views = self.scene.entities[name].spans
        return bool(views) and all(_cover(spans, view) for view in views)

    def column(self, category: str, attribute: str) -> Column:
        """An attribute over a category."""
        key = category, attribute
        if key not in self._columns:
            values: dict[ValueOrNumber, int] = {}
            doubtful, told = 0, []
            for i, name in enumerate(self.members[category]):
                mine, is_open = self.told(name, attribute)
                told.append(mine)
                doubtful |= is_open << i
                for value in mine:
                    values[value] = values.get(value, 0) | 1 << i
            self._columns[key] = Column(values, doubtful, tuple(told))
        return self._columns[key]

    def compared_with(
        self, category: str, atom: Compare, *, value: ValueOrNumber | tuple[ValueOrNumber, ...]
    ) -> Masks:
        """Who of a category is as an atom compares it with a value, or with one of several."""
        if isinstance(value, tuple):
            each = [self.compared(category, atom.attribute, how="==", value=one) for one in value]
            must, may = reduce(or_, [m.must for m in each], 0), reduce(or_, [m.may for m in each], 0)
            return Masks(must, may)
        if atom.how in ("==", "!="):
            return self.compared(category, atom.attribute, how=atom.how, value=value)
        column, listed = self.column(category, atom.attribute), self.words.attributes[atom.attribute].values
        size = _size(listed, value)
        who = 0
        for one, mask in column.values.items():
            other = _size(listed, one)
            fits = {"<": other < size, "<=": other <= size, ">": other > size, ">=": other >= size}[atom.how]
            who |= mask if fits else 0
        return Masks(who, who | column.doubtful)

    def compared(self, category: str, attribute: str, *, how: Comparison, value: ValueOrNumber) -> Masks:
        """Who of a category has (`==`), or has not (`!=`), a value."""
        return self.comparing(category, attribute, how=how)[value]

    def comparing(self, category: str, attribute: str, *, how: Comparison) -> Mapping[ValueOrNumber, Masks]:
        """Who of a category has (`==`), or has not (`!=`), each value."""
        key = category, attribute, how
        if key not in self._comparing:
            self._comparing[key] = Rows(lambda value: self._compare(category, attribute, value, how=how))
        return self._comparing[key]

    def _compare(self, category: str, attribute: str, value: ValueOrNumber, *, how: Comparison) -> Masks:
        if how == "!=":
            equal = self.compared(category, attribute, how="==", value=value)
            return equal.without(self.everybody[category])
        return _masks(self.members[category], lambda name: self._has(name, attribute, value))

    def _has(self, name: str, attribute: str, value: ValueOrNumber) -> _Sign:
        if name in self.events and attribute not in self.words.attributes:
            mine, is_open = self.told(name, attribute)
            return None if is_open else value in mine
        if ("attribute", name, attribute) in self._wrong:
            return None
        facts = self._told.get((name, attribute), ())
        held = [fact for fact in facts if fact.holds]
        if any(fact.value == value for fact in held):
            return True
        if any(self.words.is_near(attribute, fact.value, value) for fact in held):
            return None
        category = self.category_of(name)
        can = any(self.words.is_a(category, of) for of in self.words.attributes[attribute].of)
        if not can or self.is_complete(attribute, category) or self._lasts(name, held):
            return False
        is_denied = any(fact.value == value and not fact.holds and fact.span is None for fact in facts)
        return False if is_denied else None

    # ----------------------------------------------------------------------- relations

    def related(self, category: str, relation: str, to: str) -> Masks:
        """Who of a category stands in a relation to somebody."""
        return self.relating(category, relation)[to]

    def relating(self, category: str, relation: str) -> Mapping[ValueOrNumber, Masks]:
        """Who of a category stands in a relation to each."""
        key = category, relation
        if key not in self._relating:
            names = self.members[category]
            self._relating[key] = Rows(
                lambda to: _masks(names, lambda name: self._is_related(name, relation, str(to)))
            )
        return self._relating[key]

    def _is_related(self, one: str, relation: str, other: str) -> _Sign:
        known, inverse = self.words.relations[relation], self.words.inverse(relation)
        if {("relation", one, relation, other), ("relation", other, inverse, one)} & self._wrong:
            return None
        pair, frame = (one, other), known.frame
        if pair in self._always[relation, frame] or pair in self._stated[relation, frame, True]:
            return True
        if one == other or pair in self._denied[relation, frame]:
            return False
        if known.transitive and not known.symmetric and (other, one) in self._always[relation, frame]:
            return False
        closed = self.is_complete(relation, self.category_of(one))
        if closed or (inverse and self.is_complete(inverse, self.category_of(other))):
            return False
        return None

    # ----------------------------------------------------------------------- time

    @cached_property
    def ground(self) -> Ground:
        """Where things stand on plans, and what tables know."""
        return Ground(self.scene)

    @cached_property
    def ends(self) -> dict[str, Span]:
        """When entities are first and last in view, of those of whom it is said."""
        known = {name: one.spans for name, one in self.scene.entities.items() if one.spans}
        return {name: (min(s for s, _ in all_), max(e for _, e in all_)) for name, all_ in known.items()}

    def timed(self, category: str, how: TimeWord, of: str) -> Masks:
        """Of whom of a category a statement on time is true."""
        return self.timing(category, how)[of]

    def timing(self, category: str, how: TimeWord) -> Mapping[ValueOrNumber, Masks]:
        """Of whom of a category a statement on time is true, by the one that it names."""
        key = category, how
        if key not in self._timing:
            names = self.members[category]
            self._timing[key] = Rows(
                lambda of: _masks(names, lambda name: self._is_timed(name, how, str(of)))
            )
        return self._timing[key]

    def _is_timed(self, name: str, how: TimeWord, of: str) -> _Sign:
        if name == of:
            return False
        if name not in self.ends or of not in self.ends:
            return None
        (start, end), (first, last) = self.ends[name], self.ends[of]
        match how:
            case "during":
                gap = max(
                    _shared(a, b)
                    for a in self.scene.entities[name].spans
                    for b in self.scene.entities[of].spans
                )
            case "before":
                gap = first - end
            case "after":
                gap = start - last
            case "appears_after":
                gap = start - first
            case _:
                gap = first - start
        return None if gap == 0 or abs(gap) < self.margin_s else gap > 0

    def in_order(self, category: str, *, by_end: bool) -> tuple[list[tuple[float, int]], int]:
        """Times and places of the members of a category, earliest first; who has no time, as a bit set."""
        key = category, by_end
        if key not in self._in_order:
            timed, untimed = [], 0
            for i, name in enumerate(self.members[category]):
                if name in self.ends:
                    timed.append((self.ends[name][by_end], i))
                else:
                    untimed |= 1 << i
            self._in_order[key] = sorted(timed), untimed
        return self._in_order[key]


def _masks(names: Sequence[str], sign: Callable[[str], _Sign]) -> Masks:
    must = may = 0
    for i, name in enumerate(names):
        found = sign(name)
        if found is not False:
            may |= 1 << i
            must |= (found is True) << i
    return Masks(must, may)


def _size(listed: Sequence[str], value: ValueOrNumber) -> float:
    return float(listed.index(value)) if isinstance(value, str) else float(value)


def _cover(spans: Sequence[Span], view: Span) -> bool:
    """Whether spans together cover another one."""
    reached = view[0]
    for start, end in sorted(spans):
        if start > reached:
            break
        reached = max(reached, end)
    return reached >= view[1]


def _shared(one: Span, other: Span) -> float:
    """How long two spans have in common, below 0 how far apart; of a moment, how deep it is inside."""
    for moment, (start, end) in ((other, one), (one, other)):
        if moment[0] == moment[1]:
            return min(end - moment[0], moment[0] - start)
    return min(one[1], other[1]) - max(one[0], other[0])
