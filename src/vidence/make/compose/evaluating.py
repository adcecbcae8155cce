"""Evaluate a composition with some conditions left out: `result(D)`.

Everything is enumerated over facts. Bindings that cannot be distinguished by what later steps use are counted
together, with the first of them as their example, so that chains over large sets stay small.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from vidence.errors import DataError, UsageError
from vidence.make.compose.aggregating import Nothing, together
from vidence.make.compose.types import Type, Typed
from vidence.make.compose.world import Doubt, ReadOff, Truth, Truths, World, negated, truths_of
from vidence.make.sources.composition import (
    DIRECTIONS,
    Aggregate,
    Arithmetic,
    Atom,
    AttributeOf,
    Compare,
    DirectionOf,
    Expected,
    Expression,
    InDirection,
    Known,
    Literally,
    Members,
    Pair,
    Related,
    RelatedTo,
    Select,
    The,
    Timed,
    Values,
    Variable,
    View,
    children,
    conditions_in,
)
from vidence.make.sources.proof import Binding
from vidence.make.sources.scene import ValueOrNumber
from vidence.make.sources.vocabulary import ENTITY, EVENT, PAIR

MOST_BRANCHES = 200_000
"""Per result; only programs with nearly uninformative steps exceed it."""


@dataclass(frozen=True)
class EvaluatedSet:
    """An evaluated set: certain members, possible members, and the reason for doubt."""

    must: frozenset[str]
    may: frozenset[str]
    doubts: Mapping[str, Doubt] = field(compare=False)
    unlisted: Doubt | None = None
    "Whether there may be unlisted members."

    def doubt(self) -> Doubt | None:
        """The reason why the set is not determined; None if it is."""
        if self.unlisted is not None or len(self.may) == len(self.must):
            return self.unlisted
        return self.doubts[min(self.may - self.must)]


@dataclass(frozen=True)
class Viewpoint:
    """A view: a position and a heading in degrees, or (`free`) any of eight headings."""

    place: str
    heading: float
    free: int | None = None


Held: TypeAlias = ValueOrNumber | tuple[ValueOrNumber, ...] | EvaluatedSet | Viewpoint
"""The value of a variable: an id for entities and events, sorted for `values`."""
Picks: TypeAlias = tuple[tuple[str, ValueOrNumber], ...]
_Outcome: TypeAlias = tuple[Held, Picks]
_Env: TypeAlias = Mapping[str, Held]
_Trail: TypeAlias = "tuple[_Trail, Picks, str, Held] | None"
"""How a binding arose: the previous one, the members picked, the variable and its value."""
_State: TypeAlias = tuple[dict[str, Held], _Trail, int]
"""Variables, the first binding with them, and how many there are."""


@dataclass
class Notes:
    """Findings besides values: doubts, empty steps, steps with several members."""

    doubts: dict[tuple[str, Doubt], None] = field(default_factory=dict)
    dead: dict[tuple[str, str], None] = field(default_factory=dict)
    several: dict[tuple[str, str, tuple[str, ...]], None] = field(default_factory=dict)
    """Step, pick, and the members."""

    def __bool__(self) -> bool:
        """Return whether there are any findings."""
        return bool(self.doubts or self.dead or self.several)

    def add(self, other: "Notes") -> None:
        """Merge findings, without duplicates."""
        self.doubts.update(other.doubts)
        self.dead.update(other.dead)
        self.several.update(other.several)


@dataclass(slots=True)
class Branch:
    """Bindings with the same result: their number and the first of them."""

    value: ValueOrNumber
    count: int
    variables: Mapping[str, Held]
    before: _Trail
    """The steps before the last."""
    picks: Picks
    """The members picked by the last step."""

    @property
    def binding(self) -> Binding:
        """The first of the bindings."""
        return {**_bound(self.before), **dict(self.picks)}


class Evaluation:
    """The results of one composition in one scene."""

    def __init__(self, typed: Typed, world: World) -> None:
        self.typed, self.world, self.steps = typed, world, typed.composition.steps
        self._inside = [frozenset(conditions_in(step.value)) for step in self.steps]
        self._reads: dict[tuple[int, frozenset[str]], tuple[str, ...]] = {}
        self._memo: dict[tuple[object, ...], tuple[Sequence[_Outcome], Notes | None]] = {}
        self._narrowed: dict[tuple[object, ...], tuple[EvaluatedSet, Sequence[Atom]]] = {}
        self._plain = [_plain_read(step.value) for step in self.steps]
        self._kept: dict[tuple[object, ...], tuple[list[_State], Notes]] = {}
        self._lives: dict[frozenset[str], list[tuple[str, ...]]] = {}

    def _read(self, position: int, dropped: frozenset[str]) -> tuple[str, ...]:
        """Return the variables that a step reads outside the left-out conditions."""
        key = (position, dropped & self._inside[position])
        if key not in self._reads:
            self._reads[key] = variables_read(self.steps[position].value, dropped)
        return self._reads[key]

    def _live(self, position: int, dropped: frozenset[str]) -> tuple[str, ...]:
        """Return the variables up to a step that later steps read."""
        if dropped not in self._lives:
            n = len(self.steps)
            later = [
                frozenset(name for other in range(at + 1, n) for name in self._read(other, dropped))
                for at in range(n)
            ]
            self._lives[dropped] = [
                tuple(step.variable for step in self.steps[: at + 1] if step.variable in later[at])
                for at in range(n)
            ]
        return self._lives[dropped][position]

    def branches(
        self, dropped: frozenset[str] = frozenset(), *, notes: Notes, free: str = ""
    ) -> Iterator[Branch]:
        """Yield every possible (binding, value) with some conditions left out; the last step is lazy.

        Args:
            dropped: the conditions that are left out.
            notes: takes what was met beside values.
            free: a variable whose whole step is left out: it is any member, or value, of its type.

        Raises:
            UsageError: there are too many.
        """
        states, before = self._states(len(self.steps) - 1, dropped, free)
        notes.add(before)
        for env, trail, count in states:
            outcomes, met = self._step(len(self.steps) - 1, env, dropped)
            if met is not None:
                notes.add(met)
            for value, picks in outcomes:
                if not isinstance(value, (tuple, EvaluatedSet, Viewpoint)):
                    yield Branch(value, count, env, trail, picks)

    def values(self, dropped: frozenset[str], *, notes: Notes) -> Iterator[ValueOrNumber]:
        """Yield every possible value with some conditions left out, perhaps repeatedly.

        Whoever looks for one other value stops at it. What later steps cannot tell apart is tried once.
        """
        tried: list[set[tuple[Held, ...]]] = [set() for _ in self.steps]
        return self._walked(0, {}, dropped=dropped, notes=notes, tried=tried)

    def _walked(
        self,
        position: int,
        env: _Env,
        *,
        dropped: frozenset[str],
        notes: Notes,
        tried: Sequence[set[tuple[Held, ...]]],
    ) -> Iterator[ValueOrNumber]:
        outcomes, met = self._step(position, env, dropped)
        if met is not None:
            notes.add(met)
        for value, _ in outcomes:
            if position == len(self.steps) - 1:
                if not isinstance(value, tuple | EvaluatedSet | Viewpoint):
                    yield value
                continue
            values = {**env, self.steps[position].variable: value}
            key = tuple([values[name] for name in self._live(position, dropped)])
            if key not in tried[position]:
                tried[position].add(key)
                yield from self._walked(position + 1, values, dropped=dropped, notes=notes, tried=tried)

    def _states(self, n_steps: int, dropped: frozenset[str], free: str) -> tuple[list[_State], Notes]:
        """Return the states after the first steps, cached by their conditions and live variables."""
        if n_steps == 0:
            return [({}, None, 1)], Notes()
        inside = frozenset[str]().union(*self._inside[:n_steps])
        key = (n_steps, dropped & inside, free, self._live(n_steps - 1, dropped))
        if key not in self._kept:
            self._kept[key] = self._next(n_steps - 1, dropped, free)
        return self._kept[key]

    def _next(self, position: int, dropped: frozenset[str], free: str) -> tuple[list[_State], Notes]:
        before, earlier = self._states(position, dropped, free)
        step, live, notes = self.steps[position], self._live(position, dropped), Notes()
        notes.add(earlier)
        values: dict[tuple[Held, ...], _State] = {}
        is_live, older = step.variable in live, [name for name in live if name != step.variable]
        anything = self._anything(self.typed.types[free]) if step.variable == free else None
        for env, trail, count in before:
            outcomes, met = (anything, None) if anything is not None else self._step(position, env, dropped)
            if met is not None:
                notes.add(met)
            same = tuple([env[name] for name in older])
            for value, picks in outcomes:
                key = (*same, value) if is_live else same
                if (known := values.get(key)) is not None:
                    values[key] = (known[0], known[1], known[2] + count)
                else:
                    entries = {**env, step.variable: value}
                    values[key] = entries, (trail, picks, step.variable, value), count
        if len(values) > MOST_BRANCHES:
            name = self.typed.composition.composition
            raise UsageError(f"{name}: more than {MOST_BRANCHES:,} bindings; use fewer steps")
        return list(values.values()), notes

    def _step(
        self, position: int, env: _Env, dropped: frozenset[str]
    ) -> tuple[Sequence[_Outcome], Notes | None]:
        """Return the outcomes of a step, and its findings."""
        plain = self._plain[position]
        if plain is not None:
            return self._read_off(position, str(env[plain[0]]), plain[1])
        read = self._read(position, dropped)
        key = (position, dropped & self._inside[position], *[env[name] for name in read])
        pair = self._memo.get(key)
        if pair is None:
            step = self.steps[position]
            walk = Walk(
                world=self.world, env=env, dropped=dropped, step=step.variable, narrowed=self._narrowed
            )
            outcomes = list(walk.outcomes(step.value))
            pair = self._memo[key] = outcomes, walk.notes if walk.notes else None
        return pair

    def _read_off(self, position: int, name: str, attribute: str) -> tuple[Sequence[_Outcome], Notes | None]:
        """Read a value regardless of time; cached per scene, since many compositions need it."""
        off = self.world.read_off.get((name, attribute))
        if off is None:
            walk = Walk(world=self.world, env={}, dropped=frozenset(), step="")
            values = list(walk.values(name, attribute, None))
            doubts, dead = [doubt for _, doubt in walk.notes.doubts], [says for _, says in walk.notes.dead]
            off = ReadOff([(value, ()) for value in values], tuple(doubts), tuple(dead))
            self.world.read_off[name, attribute] = off
        if not (off.doubts or off.dead):
            return off.outcomes, None
        step = self.steps[position].variable
        notes = Notes(
            {(step, doubt): None for doubt in off.doubts}, {(step, says): None for says in off.dead}
        )
        return off.outcomes, notes

    def _anything(self, kind: Type) -> list[_Outcome]:
        world = self.world
        if kind.kind == "One":
            return [(name, ()) for name in world.scene.members[kind.domain]]
        if kind.kind == "Direction":
            return [(name, ()) for name in DIRECTIONS]
        known: list[ValueOrNumber] = []
        if kind.domain == "kind":
            known += sorted({event.kind for event in world.events.values()})
        elif kind.domain in world.words.attributes:
            known += world.words.attributes[kind.domain].values or world.values_told(kind.domain)
        elif kind.domain in world.words.known:
            known += sorted({str(fact.value) for fact in world.known.values() if fact.table == kind.domain})
        return [(name, ()) for name in known]


def variables_read(expression: Expression, dropped: frozenset[str]) -> tuple[str, ...]:
    """Return the distinct variables that an expression reads with some conditions left out.

    A condition that is left out is not evaluated, nor is what it compares with.
    """
    inner: Sequence[Expression] = children(expression)
    match expression:
        case Variable(name=name):
            return (name,)
        case Compare() | Related() | Timed() | RelatedTo() if expression.condition in dropped:
            inner = ()
        case InDirection() | Select() if expression.condition in dropped:
            inner = (expression.of,)
        case View() if {expression.facing_condition, expression.turned_condition} & dropped:
            inner = (expression.of,)
        case _:
            pass
    return tuple(dict.fromkeys(name for part in inner for name in variables_read(part, dropped)))


def _bound(trail: _Trail) -> Binding:
    """Return a binding in the order of its steps."""
    steps = []
    while trail is not None:
        steps.append(trail)
        trail = trail[0]
    binding: Binding = {}
    for _, picks, variable, value in reversed(steps):
        binding |= dict(picks)
        if not isinstance(value, tuple | EvaluatedSet | Viewpoint):
            binding[variable] = value
    return binding


def _plain_read(expression: Expression) -> tuple[str, str] | None:
    """Return variable and attribute of a step that is just `variable.attribute`."""
    match expression:
        case AttributeOf(of=Variable(name=name), at=None, name=attribute):
            return name, attribute
        case _:
            return None


@dataclass
class Walk:
    """Evaluates one step under given variables."""

    world: World
    env: _Env
    dropped: frozenset[str]
    step: str
    notes: Notes = field(default_factory=Notes)
    narrowed: dict[tuple[object, ...], tuple[EvaluatedSet, Sequence[Atom]]] = field(default_factory=dict)
    """The members left by a set's leading constant atoms; shared by all walks of a program."""

    def _doubt(self, doubt: Doubt | None) -> None:
        if doubt is not None:
            self.notes.doubts[self.step, doubt] = None

    def _dead(self, says: str) -> None:
        self.notes.dead[self.step, says] = None

    def outcomes(self, expression: Expression) -> Iterator[_Outcome]:
        """Yield every value of an expression, with the members picked on the way."""
        match expression:
            case Literally(value=value):
                yield value, ()
            case Variable(name=name):
                yield self.env[name], ()
            case Members() | RelatedTo() | InDirection():
                yield from self._sets(expression)
            case The():
                yield from self._the(expression)
            case Select():
                yield from self._select(expression)
            case AttributeOf():
                yield from self._attribute_of(expression)
            case Aggregate():
                yield from self._aggregate(expression)
            case _:
                yield from self._rest(expression)

    def _rest(self, expression: Expression) -> Iterator[_Outcome]:
        match expression:
            case Arithmetic() | Pair():
                yield from self._joined(expression)
            case View():
                yield from self._view(expression)
            case DirectionOf():
                yield from self._direction(expression)
            case Known(table=table, of=of):
                for value, picks in self.outcomes(of):
                    assert isinstance(value, str | int | float)  # noqa: S101 - typed
                    yield from self._known(self.world.knows(table, value), picks)
            case Expected(of=of):
                for event, picks in self.outcomes(of):
                    yield from self._known(self.world.expects(str(event)), picks)

    def _joined(self, expression: Arithmetic | Pair) -> Iterator[_Outcome]:
        if isinstance(expression, Pair):
            for (a, first), (b, second) in self._pairs(expression.first, expression.second):
                yield _paired(a, b), first + second
            return
        for (a, first), (b, second) in self._pairs(expression.left, expression.right):
            assert isinstance(a, int | float) and isinstance(b, int | float)  # noqa: S101, PT018 - typed
            yield (a + b if expression.how == "+" else a - b), first + second

    def _pairs(self, expression: Expression, other: Expression) -> Iterator[tuple[_Outcome, _Outcome]]:
        firsts = list(self.outcomes(expression))
        for second in list(self.outcomes(other)) if firsts else ():
            yield from ((first, second) for first in firsts)

    def _known(self, value: ValueOrNumber | Doubt, picks: Picks) -> Iterator[_Outcome]:
        if isinstance(value, Doubt):
            self._doubt(value)
        else:
            yield value, picks

    # ----------------------------------------------------------------------- sets

    def _sets(self, expression: Expression) -> Iterator[tuple[EvaluatedSet, Picks]]:
        match expression:
            case Members():
                category = expression.category
                if expression.head in self.dropped and expression.head:
                    category = EVENT if category == EVENT else ENTITY
                yield from self._members(expression, category)
            case RelatedTo():
                whole = self._whole(self.world.words.relations[expression.relation].of)
                if expression.condition in self.dropped:
                    yield whole, ()
                    return
                for to, picks in list(self.outcomes(expression.to)):
                    truths = {
                        name: self.world.related(name, expression.relation, str(to)) for name in whole.may
                    }
                    yield _narrowed(whole, truths_of(truths)), picks
            case InDirection():
                yield from self._in_direction(expression)
            case _:
                for text, picks in self.outcomes(expression):
                    assert isinstance(text, EvaluatedSet)  # noqa: S101 - typed
                    yield text, picks

    def _whole(self, categories: Sequence[str]) -> EvaluatedSet:
        """Return the union of several categories."""
        all_of = [
            self._everybody(self.world.scene.members[category], category, ()) for category in categories
        ]
        names = frozenset[str]().union(*(evaluated.must for evaluated in all_of))
        return EvaluatedSet(
            names, names, {}, next((evaluated.unlisted for evaluated in all_of if evaluated.unlisted), None)
        )

    def _everybody(self, names: Sequence[str], category: str, kinds: Sequence[str]) -> EvaluatedSet:
        unlisted = None
        if not self.world.lists_all(category, kinds):
            unlisted = Doubt("unknown-fact", f"whether every {category} is listed (complete: {category})")
        everybody = frozenset(names)
        return EvaluatedSet(everybody, everybody, {}, unlisted)

    def _members(self, members: Members, category: str) -> Iterator[tuple[EvaluatedSet, Picks]]:
        key = (
            id(members),
            category,
            *[atom.condition for atom in members.atoms if atom.condition in self.dropped],
        )
        if key not in self.narrowed:
            self.narrowed[key] = self._first_narrowed(members, category)
        evaluated, rest = self.narrowed[key]
        yield from self._narrow(evaluated, rest, category)

    def _first_narrowed(self, members: Members, category: str) -> tuple[EvaluatedSet, Sequence[Atom]]:
        """Apply the leading atoms with constant values; return the set and the remaining atoms."""
        kept = [atom for atom in members.atoms if atom.condition not in self.dropped]
        kinds = [
            atom.value.value
            for atom in kept
            if isinstance(atom, Compare) and atom.attribute == "kind" and atom.how == "=="
            if isinstance(atom.value, Literally) and isinstance(atom.value.value, str)
        ]
        evaluated = self._everybody(self.world.scene.members[category], category, kinds)
        for n, atom in enumerate(kept):
            if not (isinstance(atom, Compare) and isinstance(atom.value, Literally | Values)):
                return evaluated, kept[n:]
            for operand, _ in self._operands(atom):
                evaluated = _narrowed(evaluated, self._truths(atom, operand, category))
        return evaluated, ()

    def _narrow(
        self, evaluated: EvaluatedSet, atoms: Sequence[Atom], category: str
    ) -> Sequence[tuple[EvaluatedSet, Picks]]:
        """Filter a set by atoms, for each value they may compare with."""
        narrowed: list[tuple[EvaluatedSet, Picks]] = [(evaluated, ())]
        for atom in atoms:
            narrowed = [
                (_narrowed(entry, self._truths(atom, operand, category)), picks + more)
                for entry, picks in narrowed
                for operand, more in self._operands(atom)
            ]
        return narrowed

    def _operands(self, atom: Atom) -> Iterator[tuple[Held | tuple[ValueOrNumber, ...] | None, Picks]]:
        match atom:
            case Compare(value=Values(values=values)):
                yield values, ()
            case Compare(value=value):
                yield from list(self.outcomes(value))
            case Related(to=to):
                yield from list(self.outcomes(to))
            case Timed(of=None):
                yield None, ()
            case Timed(of=of):
                assert of is not None  # noqa: S101 - the case before
                yield from list(self.outcomes(of))

    def _truths(self, atom: Atom, operand: object, category: str) -> Truths:
        """Return the truth of an atom for each member of a category; cached per scene."""
        key: tuple[object, ...]
        match atom:
            case Compare():
                key = (category, "compare", atom.attribute, atom.how, operand)
            case Related():
                key = (category, "related", atom.relation, (atom.holds, atom.frame), operand)
            case Timed():
                key = (category, "timed", atom.how, atom.seconds, operand)
        kept = self.world.truths
        if key not in kept:
            names = self.world.scene.members[category]
            kept[key] = truths_of({name: self._truth(name, atom, operand) for name in names})
        return kept[key]

    def _truth(self, name: str, atom: Atom, operand: object) -> Truth:
        world = self.world
        match atom:
            case Compare() if name in world.events and atom.attribute not in world.words.attributes:
                return self._event_truth(name, atom, operand)
            case Compare():
                return world.compare(name, atom.attribute, how=atom.how, value=operand)
            case Related():
                truth = world.related(name, atom.relation, str(operand), frame=atom.frame)
                return truth if atom.holds else negated(truth)
            case Timed():
                assert operand is None or isinstance(operand, str | float)  # noqa: S101 - typed
                return world.timed(name, atom.how, of=operand, seconds=atom.seconds)

    def _event_truth(self, name: str, atom: Compare, operand: object) -> Truth:
        if atom.attribute == "kind":
            kind: str | Doubt | None = self.world.events[name].kind
        else:
            kind = self.world.role(name, atom.attribute)
        if isinstance(kind, Doubt):
            return kind
        is_so = kind in operand if isinstance(operand, tuple) else kind == operand
        return is_so == (atom.how in ("==", "in"))

    def _in_direction(self, direction: InDirection) -> Iterator[tuple[EvaluatedSet, Picks]]:
        if direction.condition in self.dropped:
            yield from self._sets(direction.of)
            return
        for (text, first), (seen, second) in self._pairs(direction.of, direction.view):
            assert isinstance(text, EvaluatedSet) and isinstance(seen, Viewpoint)  # noqa: S101, PT018 - typed
            sectors = {
                name: self.world.sector(name, seen.place, seen.heading) if name != seen.place else ""
                for name in text.may
            }
            ways = (
                [(direction.direction, ())]
                if direction.toward is None
                else list(self.outcomes(direction.toward))
            )
            for way, more in ways:
                truths = {n: s if isinstance(s, Doubt) else s == way for n, s in sectors.items()}
                yield _narrowed(text, truths_of(truths)), first + second + more

    # ----------------------------------------------------------------------- one of a set

    def _everyone(self, evaluated: EvaluatedSet, picks: Picks, pick: str) -> Iterator[_Outcome]:
        """Yield every certain member; possible further members are a doubt."""
        self._doubt(evaluated.doubt())
        if not evaluated.may:
            self._dead(f"{pick} is empty: no member fits")
        for name in self.world.ordered(evaluated.must):
            yield name, (*picks, (pick, name))

    def _the(self, the: The) -> Iterator[_Outcome]:
        for evaluated, picks in self._sets(the.of):
            if len(evaluated.must) > 1:
                names = tuple(self.world.ordered(evaluated.must))
                self.notes.several[self.step, the.pick, names] = None
            yield from self._everyone(evaluated, picks, the.pick)

    def _select(self, selected: Select) -> Iterator[_Outcome]:
        is_free = selected.condition in self.dropped
        for evaluated, picks in self._sets(selected.of):
            if is_free:
                yield from self._everyone(evaluated, picks, selected.pick)
                continue
            for to, more in [(None, ())] if selected.to is None else list(self.outcomes(selected.to)):
                chosen = self._chosen(selected, evaluated, to)
                if isinstance(chosen, str):
                    yield chosen, (*picks, *more, (selected.pick, chosen))
                elif isinstance(chosen, Doubt):
                    self._doubt(chosen)

    def _chosen(self, selected: Select, evaluated: EvaluatedSet, to: Held | None) -> str | Doubt | None:
        """Return the member at the wanted rank among all possible members."""
        if evaluated.unlisted is not None:
            return evaluated.unlisted
        if to is not None:
            kept = evaluated.may - {str(to)}
            evaluated = EvaluatedSet(evaluated.must & kept, kept, evaluated.doubts)
        elif selected.how in ("first", "last") and selected.by in ("appears", "begins", "ends"):
            clear = self.world.clear_end(evaluated.may, selected.by, is_last=selected.how == "last")
            if clear in evaluated.must:
                return clear
        doubt = None
        for name in self._candidates(selected, evaluated, to):
            before = {
                o: self._precedes(selected, (o, name), to) for o in self.world.ordered(evaluated.may - {name})
            }
            near = next((truth for truth in before.values() if isinstance(truth, Doubt)), None)
            maybe = next((o for o in before if o not in evaluated.must and before[o] is True), None)
            if near is not None or maybe is not None:
                doubt = doubt or near or evaluated.doubts[str(maybe)]
            elif sum(truth is True for truth in before.values()) == (selected.n or 1) - 1:
                ties = [o for o in before if not before[o] and not self._precedes(selected, (name, o), to)]
                return self._no_tie(selected, evaluated, name=name, ties=ties)
        if doubt is None and evaluated.may - evaluated.must:
            doubt = evaluated.doubt()
        if doubt is None:
            self._dead(f"no member is {selected.how} for {selected.pick}")
        return doubt

    def _candidates(self, selected: Select, evaluated: EvaluatedSet, to: Held | None) -> Sequence[str]:
        """Return the candidates for a rank: for the first, only members that no later one surpasses."""
        names = self.world.ordered(evaluated.must)
        if selected.n not in (None, 1) or not names:
            return names
        best = names[0]
        for name in names[1:]:
            if self._precedes(selected, (name, best), to) is True:
                best = name
        return [best]

    def _no_tie(
        self, selected: Select, evaluated: EvaluatedSet, *, name: str, ties: Sequence[str]
    ) -> str | Doubt | None:
        """Return the member, unless others have the same rank."""
        if not ties:
            return name
        certain = [other for other in ties if other in evaluated.must]
        if not certain:
            return evaluated.doubts[ties[0]]
        self.notes.several[self.step, selected.pick, (name, *certain)] = None
        self._dead(f"{name} and {certain[0]} are alike as to {selected.how}")
        return None

    def _precedes(self, selected: Select, pair: tuple[str, str], to: Held | None) -> Truth:
        """Return whether the first of two precedes the second in the order of a selector."""
        first, second = pair
        if selected.how in ("last", "farthest", "most"):
            first, second = second, first
        if to is not None:
            return self.world.nearer(first, second, str(to))
        if selected.attribute:
            sizes = []
            for name in (first, second):
                values, doubt = self.world.values(name, selected.attribute)
                if doubt is not None or len(values) != 1:
                    return doubt or Doubt("unknown-fact", f"{name}.{selected.attribute}, one value")
                sizes.append(self.world.size(selected.attribute, values[0]))
            return sizes[0] < sizes[1]
        if selected.along:
            return self.world.related(first, selected.along, second)
        return self.world.precedes(first, second, str(selected.by))

    # ----------------------------------------------------------------------- values

    def _attribute_of(self, attribute_of: AttributeOf) -> Iterator[_Outcome]:
        times: Iterator[_Outcome] | list[tuple[None, Picks]]
        times = [(None, ())] if attribute_of.at is None else self.outcomes(attribute_of.at)
        owners = list(self.outcomes(attribute_of.of))
        for time, more in list(times) if owners else ():
            for name, picks in owners:
                for value in self.values(str(name), attribute_of.name, time):
                    yield value, picks + more

    def values(self, name: str, attribute: str, time: Held | None) -> Iterator[ValueOrNumber]:
        """Return a property of something: values, rank, time, or the player of a role."""
        world = self.world
        if attribute == "place":
            yield name
        elif attribute in ("begins", "ends", "appears"):
            spans = world.spans(name)
            if isinstance(spans, Doubt):
                self._doubt(spans)
            else:
                yield float(max(s[1] for s in spans) if attribute == "ends" else min(s[0] for s in spans))
        elif name in world.events and attribute not in world.words.attributes:
            kind = world.events[name].kind if attribute == "kind" else world.role(name, attribute)
            if isinstance(kind, Doubt):
                self._doubt(kind)
            elif kind is None:
                self._dead(f"{name} has no {attribute}")
            else:
                yield kind
        else:
            yield from self._plain_values(name, attribute, time)

    def _plain_values(self, name: str, attribute: str, time: Held | None) -> Iterator[ValueOrNumber]:
        spans = None
        if time is not None:
            assert isinstance(time, str | float)  # noqa: S101 - typed
            spans = self.world.spans(time)
        if isinstance(spans, Doubt):
            self._doubt(spans)
            return
        values, doubt = self.world.values(name, attribute, spans[0] if spans else None)
        self._doubt(doubt)
        if not values and doubt is None:
            self._dead(f"{name} has no {attribute}")
        yield from values

    def _aggregate(self, aggregate: Aggregate) -> Iterator[_Outcome]:
        for text, picks in list(self.outcomes(aggregate.of)):
            if isinstance(text, tuple):  # different values, to be counted
                yield len(text), picks
                continue
            assert isinstance(text, EvaluatedSet)  # noqa: S101 - typed
            doubt = text.doubt()
            if doubt is not None:
                self._doubt(doubt)
            elif aggregate.how == "count":
                yield len(text.must), picks
            else:
                value = together(aggregate, self.world.ordered(text.must), self.world)
                if isinstance(value, Nothing):
                    self._dead(value.says)
                elif isinstance(value, tuple):
                    yield value, picks
                else:
                    yield from self._known(value, picks)

    # ----------------------------------------------------------------------- views

    def _view(self, view: View) -> Iterator[_Outcome]:
        for place, picks in list(self.outcomes(view.of)):
            conditions = {view.facing_condition, view.turned_condition} - {""}
            if conditions & self.dropped:
                for number, word in enumerate(DIRECTIONS):
                    yield Viewpoint(str(place), 45.0 * number, number), (*picks, ("view", word))
                continue
            if view.like is not None:
                for seen, more in list(self.outcomes(view.like)):
                    assert isinstance(seen, Viewpoint)  # noqa: S101 - typed
                    yield Viewpoint(str(place), seen.heading + view.turned, seen.free), picks + more
                continue
            if view.facing is None:
                heading = view.heading if view.heading is not None else self.world.heading(str(place))
                yield from self._headed(view, str(place), heading=heading, picks=picks)
                continue
            for target, more in list(self.outcomes(view.facing)):
                bearing = self.world.bearing(str(place), str(target))
                yield from self._headed(view, str(place), heading=bearing, picks=picks + more)

    def _direction(self, direction_of: DirectionOf) -> Iterator[_Outcome]:
        for (name, first), (seen, second) in self._pairs(direction_of.of, direction_of.view):
            assert isinstance(seen, Viewpoint)  # noqa: S101 - typed
            if seen.free is not None:
                yield DIRECTIONS[seen.free], first + second
            else:
                sector = self.world.sector(str(name), seen.place, seen.heading)
                yield from self._known(sector, first + second)

    def _headed(self, view: View, place: str, *, heading: float | Doubt, picks: Picks) -> Iterator[_Outcome]:
        if isinstance(heading, Doubt):
            self._doubt(heading)
        else:
            yield Viewpoint(place, heading + view.turned), picks


def _paired(first: Held, second: Held) -> str:
    """Combine two values into one answer.

    Raises:
        DataError: one of them has what stands between them.
    """
    for value in (first, second):
        if PAIR in str(value):
            raise DataError(f"{value!r} has {PAIR!r} in it and cannot stand in a pair; change the value")
    return f"{first}{PAIR}{second}"


def _narrowed(evaluated: EvaluatedSet, truths: Truths) -> EvaluatedSet:
    """Return a set without the members for which an atom is false."""
    may = evaluated.may & truths.possible
    doubts = evaluated.doubts
    if unsure := may & truths.doubts.keys():
        doubts = {**{name: truths.doubts[name] for name in unsure}, **evaluated.doubts}
    return EvaluatedSet(evaluated.must & truths.true, may, doubts, evaluated.unlisted)
