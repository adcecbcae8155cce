"""Query a scene for single statements: true, false, or in doubt (open world, margins)."""

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple, TypeAlias

from vidence.make.sources.composition import DIRECTIONS, Comparison, TimeWord
from vidence.make.sources.scene import (
    AttributeFact,
    EventFact,
    ExpectedFact,
    KnownFact,
    PlaceFact,
    RelationFact,
    Scene,
    Span,
    ValueOrNumber,
    fact_id,
    natural,
)
from vidence.make.sources.vocabulary import ENTITY, EVENT

BY_MODEL = "model:"
"The prefix of `by` for facts proposed by a model; a person who confirms one replaces it with their name."
_FEW = 16
"""Up to this many names are sorted by time; more are searched in the sorted list of all."""
LEAST_PEOPLE = 2
"""How many people must independently state what they expect."""


@dataclass(frozen=True)
class Doubt:
    """An undecided statement and the reason; `about` is the fact to look up."""

    reason: Literal["unknown-fact", "too-near", "contradiction"]
    about: str


Truth: TypeAlias = bool | Doubt


@dataclass(frozen=True)
class Truths:
    """The truth of an atom over entities: those it holds for, those it may hold for, reasons for doubt."""

    true: frozenset[str]
    possible: frozenset[str]
    doubts: Mapping[str, Doubt]


def truths_of(values: Mapping[str, Truth]) -> Truths:
    """Merge the truths of several atoms."""
    return Truths(
        frozenset([name for name, truth in values.items() if truth is True]),
        frozenset([name for name, truth in values.items() if truth is not False]),
        {name: truth for name, truth in values.items() if isinstance(truth, Doubt)},
    )


class ReadOff(NamedTuple):
    """A value read from the scene: values (no member picked), doubts, and the reason if empty."""

    outcomes: Sequence[tuple[ValueOrNumber, tuple[()]]]
    doubts: tuple[Doubt, ...]
    dead: tuple[str, ...]


Told: TypeAlias = tuple[tuple[ValueOrNumber, ...], Doubt | None]
"""The known values, and a doubt if there may be others."""


def negated(truth: Truth) -> Truth:
    """Negate a truth value; doubt stays doubt."""
    return truth if isinstance(truth, Doubt) else not truth


class World:
    """The facts of a scene, by subject. Contradictory facts are not used."""

    def __init__(self, scene: Scene) -> None:
        """Index the facts of a scene."""
        self.scene = scene
        self.words = scene.vocabulary
        self.margins = scene.vocabulary.margins
        self.rank = {name: i for i, name in enumerate(sorted(scene.entities, key=natural))}
        self.excluded = {contradiction.about: contradiction for contradiction in scene.contradictions}
        self.events: dict[str, EventFact] = {}
        self.expected: dict[str, list[ExpectedFact]] = defaultdict(list)
        self.known: dict[tuple[str, ValueOrNumber], KnownFact] = {}
        self.places: dict[str, dict[str, PlaceFact]] = defaultdict(dict)
        self.attributes: dict[tuple[str, str], list[AttributeFact]] = defaultdict(list)
        self.relations: dict[tuple[str, str, str], set[tuple[str, str]]] = defaultdict(set)
        self.denied: dict[tuple[str, str, str], set[tuple[str, str]]] = defaultdict(set)
        self.seen_at: dict[str, tuple[float, ...]] = {}
        self.relation_ids: dict[tuple[str, str, str], str] = {}
        self._categories = {name: entity.category for name, entity in scene.entities.items()}
        for fact in scene.facts:
            if isinstance(fact, AttributeFact | RelationFact | EventFact):
                for name in (fact.id,) if isinstance(fact, EventFact) else (fact.of,):
                    self.seen_at[name] = self.seen_at.get(name, ()) + fact.seen_at
            match fact:
                case AttributeFact():
                    self.attributes[fact.of, fact.name].append(fact)
                case RelationFact():
                    self._relate(fact)
                case EventFact():
                    self.events[fact.id] = fact
                case PlaceFact():
                    self.places[fact.of][fact.plan] = fact
                case KnownFact():
                    self.known[fact.table, fact.of] = fact
                case ExpectedFact():
                    self.expected[fact.of].append(fact)
        self.ends = {name: _ends(entity.spans) for name, entity in scene.entities.items() if entity.spans}
        """When entities are first and last in view."""
        self._by_time = [sorted((times[at], name) for name, times in self.ends.items()) for at in (0, 1)]
        self.unconfirmed = frozenset(
            fact_id(fact) for fact in scene.facts if isinstance(fact.by, str) and fact.by.startswith(BY_MODEL)
        )
        "Facts proposed by a model and not confirmed by a person."
        self._close()
        self._complete: dict[tuple[str, str], bool] = {}
        self._told: dict[tuple[str, str], Told] = {}
        self.truths: dict[tuple[object, ...], Truths] = {}
        """What atoms say of the members of a category."""
        self.read_off: dict[tuple[str, str], ReadOff] = {}
        """What a step finds that only reads an attribute, or a role."""

    @cached_property
    def sha256(self) -> str:
        """The hash of the scene."""
        return self.scene.sha256

    @cached_property
    def vocabulary_sha256(self) -> str:
        """The hash of its vocabulary."""
        return self.words.sha256()

    def ordered(self, names: Iterable[str]) -> list[str]:
        """Sort entities by id."""
        return sorted(names, key=self.rank.__getitem__)

    def is_complete(self, what: str, category: str) -> bool:
        """Return whether unstated values of a category are false."""
        key = what, category
        if key not in self._complete:
            self._complete[key] = any(
                what == message and (not for_ or self.words.is_a(category, for_))
                for message, for_ in self.scene.complete
            )
        return self._complete[key]

    def lists_all(self, category: str, kinds: Sequence[str] = ()) -> bool:
        """Return whether a category is listed completely; for events, also these kinds.

        Events without a kind are of any kind that the vocabulary has.
        """
        if any(message == ENTITY or message in self._above(category) for message, _ in self.scene.complete):
            return True
        kinds = kinds or (tuple(self.words.events) if category == EVENT else ())
        return bool(kinds) and all(self.is_complete(kind, EVENT) for kind in kinds)

    def _above(self, category: str) -> tuple[str, ...]:
        parent = self.words.categories[category].parent if category in self.words.categories else ""
        return (category, *(self._above(parent) if parent else ()))

    def _contradiction(self, *about: str) -> Doubt | None:
        contradiction = self.excluded.get(about)
        return Doubt("contradiction", contradiction.says) if contradiction is not None else None

    # ----------------------------------------------------------------------- attributes

    def _covers(self, name: str, facts: Sequence[AttributeFact]) -> bool:
        """Return whether facts cover all times at which the entity is visible."""
        spans = [fact.span for fact in facts if fact.holds]
        if None in spans:
            return True
        at = self.scene.entities[name].spans
        known = sorted(span for span in spans if span is not None)
        return bool(at) and all(_is_within(span, known) for span in at)

    def compare(self, name: str, attribute: str, *, how: Comparison, value: object) -> Truth:
        """Compare an entity's attribute with a value at any time; `!=` and `not in` negate over all times."""
        if how == "!=":
            return negated(self.compare(name, attribute, how="==", value=value))
        if how == "not in":
            return negated(self.compare(name, attribute, how="in", value=value))
        if (doubt := self._contradiction("attribute", name, attribute)) is not None:
            return doubt
        facts, wanted = self.attributes.get((name, attribute), []), _wanted(value)
        held = [fact.value for fact in facts if fact.holds]
        if any(self._fits(attribute, word, how=how, wanted=wanted) for word in held):
            return True
        if how in ("==", "in") and any(
            self.words.is_near(attribute, word, other) for word in held for other in wanted
        ):
            return Doubt("too-near", f"{name}.{attribute}")
        category = self._categories[name]
        can = any(self.words.is_a(category, of) for of in self.words.attributes[attribute].of)
        if not can or self._covers(name, facts) or self.is_complete(attribute, category):
            return False
        denied = {fact.value for fact in facts if not fact.holds and fact.span is None}
        if how in ("==", "in") and wanted <= denied:
            return False
        return Doubt("unknown-fact", f"{name}.{attribute}")

    def _fits(
        self, attribute: str, number: ValueOrNumber, *, how: Comparison, wanted: frozenset[ValueOrNumber]
    ) -> bool:
        if how in ("==", "in"):
            return number in wanted
        other = next(iter(wanted))
        left, right = self.size(attribute, number), self.size(attribute, other)
        return _ABOVE[how](left, right)

    def size(self, attribute: str, value: ValueOrNumber) -> float:
        """Return a number, or the position of a value in order."""
        if isinstance(value, str):
            return float(self.words.attributes[attribute].values.index(value))
        return float(value)

    def values(self, name: str, attribute: str, at: Span | None = None) -> Told:
        """Return the distinct values of an attribute, optionally at a time."""
        if at is not None:
            return self._values(name, attribute, at)
        if (name, attribute) not in self._told:
            self._told[name, attribute] = self._values(name, attribute, None)
        return self._told[name, attribute]

    def _values(self, name: str, attribute: str, at: Span | None) -> Told:
        if (doubt := self._contradiction("attribute", name, attribute)) is not None:
            return (), doubt
        facts = [fact for fact in self.attributes.get((name, attribute), []) if fact.holds]
        unknown = Doubt("unknown-fact", f"{name}.{attribute}")
        is_closed = self.is_complete(attribute, self._categories[name])
        if at is not None:
            met = [(fact, self.meet((fact.span,), (at,)) if fact.span else True) for fact in facts]
            near = any(isinstance(truth, Doubt) for _, truth in met)
            held = tuple(dict.fromkeys(fact.value for fact, truth in met if truth is True))
            is_told = any(fact.span is None or _is_within(at, [fact.span]) for fact in facts)
            if near:
                return held, Doubt("too-near", f"{name}.{attribute} at {at[0]:g} s")
            return held, None if is_told or is_closed else unknown
        values = tuple(dict.fromkeys(fact.value for fact in facts))
        return values, None if is_closed or self._covers(name, facts) else unknown

    def values_told(self, attribute: str) -> list[ValueOrNumber]:
        """Return every value of an attribute in the facts of the scene."""
        values = {
            fact.value for (_, name), facts in self.attributes.items() for fact in facts if name == attribute
        }
        return sorted(values, key=lambda name: (isinstance(name, str), name))

    def role(self, event: str, role: str) -> str | Doubt | None:
        """Return the player of a role; None if the event has no such role."""
        fact = self.events[event]
        if role in fact.roles:
            return fact.roles[role]
        if role not in self.words.events[fact.kind].roles or self.is_complete(role, EVENT):
            return None
        return Doubt("unknown-fact", f"{event}.{role}")

    # ----------------------------------------------------------------------- relations

    def _relate(self, fact: RelationFact) -> None:
        frame = fact.frame or self.words.relations[fact.name].frame
        if ("relation", fact.of, fact.name, fact.to) in self.excluded:
            return
        place = self.relations if fact.holds else self.denied
        self.relation_ids[fact.of, fact.name, fact.to] = fact_id(fact)
        place[fact.name, frame, "" if fact.span is None else "span"].add((fact.of, fact.to))
        if inverse := self.words.inverse(fact.name):
            place[inverse, frame, "" if fact.span is None else "span"].add((fact.to, fact.of))

    def _close(self) -> None:
        """Add the transitive closure of relations, without time-limited facts."""
        for (name, _, span), pairs in self.relations.items():
            if span or not self.words.relations[name].transitive:
                continue
            after: dict[str, set[str]] = defaultdict(set)
            for word, other in pairs:
                after[word].add(other)
            for word in list(after):
                waiting, reached = list(after[word]), set[str]()
                while waiting:
                    other = waiting.pop()
                    if other not in reached:
                        reached.add(other)
                        waiting += after.get(other, ())
                pairs |= {(word, other) for other in reached}

    def related(self, name: str, relation: str, other: str, *, frame: str = "") -> Truth:
        """Return whether one entity is related to another at any time; never to itself."""
        known = self.words.relations[relation]
        frame = frame or known.frame
        inverse = self.words.inverse(relation)
        for about in ((name, relation, other), (other, inverse, name)):
            if (doubt := self._contradiction("relation", *about)) is not None:
                return doubt
        if any((name, other) in self.relations.get((relation, frame, span), ()) for span in ("", "span")):
            return True
        if name == other or (name, other) in self.denied.get((relation, frame, ""), ()):
            return False
        is_order = known.transitive and not known.symmetric
        if is_order and (other, name) in self.relations.get((relation, frame, ""), ()):
            return False
        closed = self.is_complete(relation, self._categories[name])
        if closed or (inverse and self.is_complete(inverse, self._categories[other])):
            return False
        return Doubt("unknown-fact", f"{name} {relation} {other}")

    # ----------------------------------------------------------------------- time

    def spans(self, of: str | float) -> tuple[Span, ...] | Doubt:
        """Return the spans of an entity, event or time."""
        if isinstance(of, float):
            return ((of, of),)
        spans = self.scene.entities[of].spans
        return spans or Doubt("unknown-fact", f"{of}: when it is in view")

    def timed(self, name: str, how: TimeWord, *, of: str | float | None, seconds: Sequence[float]) -> Truth:
        """Evaluate a temporal statement. Nothing is before, after or during itself."""
        if name == of:
            return False
        difference_s = self.difference_s(name, how, of=of, seconds=seconds)
        if isinstance(difference_s, Doubt):
            return difference_s
        return self._least(difference_s, f"whether {name} is {how} {of if of is not None else seconds}")

    def difference_s(
        self, name: str, how: TimeWord, *, of: str | float | None, seconds: Sequence[float]
    ) -> float | Doubt:
        """Return the seconds by which a temporal statement is true, or false if negative."""
        own = self.spans(name)
        if isinstance(own, Doubt):
            return own
        start, end = _ends(own)
        if of is None:
            return min(start - seconds[0], seconds[1] - start)
        other = self.spans(of)
        if isinstance(other, Doubt):
            return other
        if how == "during":
            return max(_common(a, b) for a in own for b in other)
        return _difference_s(how, (start, end), _ends(other), within_s=seconds[0] if seconds else 0.0)

    def apart_s(self, name: str, other: str, by: str) -> float | Doubt:
        """Return the seconds by which one precedes another."""
        at = 1 if by == "ends" else 0
        first, second = self.ends.get(name), self.ends.get(other)
        if first is None or second is None:
            missing = name if first is None else other
            return Doubt("unknown-fact", f"{missing}: when it is in view")
        return second[at] - first[at]

    def clear_end(self, names: frozenset[str], by: str, *, is_last: bool) -> str | None:
        """Return the first (or last) in time, if it leads by more than the margin; else None.

        That one precedes each other one for certain, so that no pairs have to be compared.
        """
        if not names or not names <= self.ends.keys():
            return None
        at = int(by == "ends")
        order: Iterable[tuple[float, str]]
        if len(names) <= _FEW:
            order = sorted([(self.ends[name][at], name) for name in names], reverse=is_last)
        else:
            order = reversed(self._by_time[at]) if is_last else self._by_time[at]
        there = (values for values in order if values[1] in names)
        (time, name), (other, _) = next(there), next(there, (math.inf, ""))
        apart_s = abs(other - time)
        return name if apart_s > 0 and apart_s >= self.margins.time_s else None

    def _least(self, difference_s: float, about: str) -> Truth:
        """Return whether a difference is positive; in doubt within the margin."""
        if abs(difference_s) < self.margins.time_s or difference_s == 0:
            return Doubt("too-near", about)
        return difference_s > 0

    def meet(self, own: Iterable[Span], other: Sequence[Span]) -> Truth:
        """Return whether two times overlap, considering the margin."""
        common = max(_common(a, b) for a in own for b in other)
        if abs(common) < self.margins.time_s or common == 0:
            return Doubt("too-near", f"whether {other[0][0]:g} to {other[-1][1]:g} s is inside")
        return common > 0

    def precedes(self, name: str, other: str, by: str) -> Truth:
        """Return whether one precedes another in an order."""
        if by == "left to right":
            return self.related(name, "left_of", other)
        apart_s = self.apart_s(name, other, by)
        if isinstance(apart_s, Doubt):
            return apart_s
        return self._least(apart_s, f"whether {name} or {other} is first")

    # ----------------------------------------------------------------------- space

    def offset(self, word: str, other: str) -> tuple[float, float] | Doubt:
        """Return the vector between two entities on a common plan."""
        for name in (word, other):
            if (doubt := self._contradiction("place", name)) is not None:
                return doubt
            if not self.places.get(name):
                return Doubt("unknown-fact", f"{name}: its place on a plan")
        plan = next((plan for plan in sorted(self.places[word]) if plan in self.places[other]), None)
        if plan is None:
            return Doubt("unknown-fact", f"{word} and {other}: their places on one plan")
        (x, y), (to_x, to_y) = self.places[word][plan].at, self.places[other][plan].at
        return to_x - x, to_y - y

    def nearer(self, word: str, other: str, to: str) -> Truth:
        """Return whether one entity is nearer than another, by more than the margin."""
        offsets = [self.offset(to, name) for name in (word, other)]
        lengths = []
        for offset in offsets:
            if isinstance(offset, Doubt):
                return offset
            lengths.append(math.hypot(*offset))
        if max(lengths) <= min(lengths) * self.margins.distance:
            return Doubt("too-near", f"whether {word} or {other} is nearer to {to}")
        return lengths[0] < lengths[1]

    def bearing(self, name: str, other: str) -> float | Doubt:
        """Return the direction between two entities, in degrees counterclockwise from the x axis."""
        offset = self.offset(name, other)
        if isinstance(offset, Doubt):
            return offset
        if offset == (0.0, 0.0):
            return Doubt("too-near", f"{name} and {other} are at the same place")
        return math.degrees(math.atan2(offset[1], offset[0]))

    def heading(self, name: str) -> float | Doubt:
        """Return the heading of an entity from its place."""
        for plan in sorted(self.places.get(name, {})):
            heading = self.places[name][plan].heading
            if heading is not None:
                return self.bearing(name, heading) if isinstance(heading, str) else float(heading)
        return Doubt("unknown-fact", f"{name}: where it faces")

    def sector(self, name: str, seen_from: str, heading: float) -> str | Doubt:
        """Return the sector, one of eight, of an entity in a view."""
        bearing = self.bearing(seen_from, name)
        if isinstance(bearing, Doubt):
            return bearing
        turn = (bearing - heading) % 360
        number = round(turn / _SECTOR_DEG)
        if _SECTOR_DEG / 2 - abs(turn - number * _SECTOR_DEG) < self.margins.direction_deg:
            return Doubt("too-near", f"the direction of {name} from {seen_from}")
        return DIRECTIONS[number % len(DIRECTIONS)]

    # ----------------------------------------------------------------------- knowledge

    def knows(self, table: str, value: ValueOrNumber) -> ValueOrNumber | Doubt:
        """Return a table entry."""
        if (doubt := self._contradiction("known", table, str(value))) is not None:
            return doubt
        fact = self.known.get((table, value))
        return Doubt("unknown-fact", f"{table}({value})") if fact is None else fact.value

    def expects(self, event: str) -> str | Doubt:
        """Return what at least two people expect after an event."""
        facts = [fact for fact in self.expected.get(event, []) if len(set(fact.by)) >= LEAST_PEOPLE]
        if len({fact.value for fact in facts}) > 1:
            return Doubt("contradiction", f"expected({event}): {', '.join(fact_id(fact) for fact in facts)}")
        return facts[0].value if facts else Doubt("unknown-fact", f"expected({event}), by two people")


_SECTOR_DEG = 45.0
_ABOVE: Mapping[str, Callable[[float, float], bool]] = {
    "<": lambda value, other: value < other,
    "<=": lambda value, other: value <= other,
    ">": lambda value, other: value > other,
    ">=": lambda value, other: value >= other,
}


def _wanted(value: object) -> frozenset[ValueOrNumber]:
    if isinstance(value, str | int | float):
        return frozenset([value])
    return frozenset(value) if isinstance(value, tuple) else frozenset()


def _ends(spans: Sequence[Span]) -> Span:
    return min(start for start, _ in spans), max(end for _, end in spans)


def _difference_s(how: TimeWord, own: Span, other: Span, *, within_s: float) -> float:
    """Return the seconds by which a statement on two spans is true.

    >>> _difference_s("before", (0, 5), (8, 9), within_s=0)
    3
    >>> _difference_s("within", (0, 5), (8, 9), within_s=2)
    -1
    """
    (start, end), (first, last) = own, other
    match how:
        case "before":
            return first - end
        case "after":
            return start - last
        case "appears_after":
            return start - first
        case "appears_before":
            return first - start
        case "within":
            return within_s - max(start - last, first - end, 0.0)
        case _:
            raise ValueError(f"{how} is no order of two times")


def _common(span: Span, other: Span) -> float:
    """Return the overlap of two spans in seconds; for moments, the depth; negative for gaps.

    >>> _common((0, 5), (3, 9)), _common((0, 5), (1, 1)), _common((0, 5), (8, 9))
    (2, 1, -3)
    """
    if span[0] == span[1] or other[0] == other[1]:
        (start, end), (at, _) = (other, span) if span[0] == span[1] else (span, other)
        return min(end - at, at - start)
    return min(span[1], other[1]) - max(span[0], other[0])


def _is_within(span: Span, known: Sequence[Span]) -> bool:
    """Return whether sorted spans cover a span.

    >>> _is_within((0, 9), [(0, 5), (5, 10)]), _is_within((0, 9), [(0, 5), (6, 10)])
    (True, False)
    """
    at = span[0]
    for start, end in known:
        if start <= at:
            at = max(at, end)
    return at >= span[1]
