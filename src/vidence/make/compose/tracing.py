"""Trace an answer to its facts, completeness assumptions, visible spans and margins."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from vidence.make.compose.evaluating import EvaluatedSet, Held, Walk
from vidence.make.compose.world import Doubt, World
from vidence.make.sources.composition import (
    Aggregate,
    Atom,
    AttributeOf,
    Compare,
    Composition,
    Expression,
    InDirection,
    Known,
    Members,
    Related,
    Select,
    Step,
    The,
    Timed,
    parts,
)
from vidence.make.sources.proof import Binding
from vidence.make.sources.scene import Span, ValueOrNumber, fact_id, natural

_RESERVED = ("kind", "begins", "ends", "appears", "place")


@dataclass
class Trace:
    """The trace of an answer."""

    world: World
    binding: Binding
    variables: Mapping[str, Held]
    facts: set[str] = field(default_factory=set)
    closed: set[str] = field(default_factory=set)
    knowledge: set[str] = field(default_factory=set)
    margins: dict[str, float] = field(default_factory=dict)
    counted: dict[str, None] = field(default_factory=dict)
    """Who is counted or otherwise aggregated."""

    def follow(self, composition: Composition) -> None:
        """Evaluate every step again with all variables bound, recording a trace."""
        for step in composition.steps:
            picked = {
                id(_inner(expression.of)): str(self.binding[expression.pick])
                for expression in parts(step.value)
                if isinstance(expression, The | Select) and expression.pick in self.binding
            }
            for part in parts(step.value):
                self._part(part, step, picked)

    def _part(self, expression: Expression, step: Step, picked: Mapping[int, str]) -> None:
        match expression:
            case Members():
                self._close(expression.category)
                names = (
                    [picked[id(expression)]] if id(expression) in picked else self._everyone(expression, step)
                )
                for atom in expression.atoms:
                    self._close(_word(atom), expression.category)
                    self._atom(atom, names, step)
            case Aggregate():
                self._together(expression, step)
            case AttributeOf():
                for owner in self._values(expression.of, step):
                    self._attribute(str(owner), expression.name)
            case Select():
                self._select(expression, step)
            case Known():
                for asked in self._values(expression.of, step):
                    self._known(expression.table, asked)
            case _:
                return

    def _together(self, aggregate: Aggregate, step: Step) -> None:
        for name in self._everyone(aggregate.of, step):
            self.counted[name] = None
            if aggregate.attribute:
                self._attribute(name, aggregate.attribute)

    def _known(self, table: str, value: ValueOrNumber) -> None:
        fact = self.world.known.get((table, value))
        if fact is not None:
            self.facts.add(fact_id(fact))
            self.knowledge |= {fact.link} - {""}

    def _walk(self, step: Step) -> Walk:
        return Walk(world=self.world, env=self.variables, dropped=frozenset(), step=step.variable)

    def _values(self, expression: Expression, step: Step) -> Iterator[ValueOrNumber]:
        for value, _ in self._walk(step).outcomes(expression):
            if isinstance(value, str | int | float):
                yield value

    def _everyone(self, expression: Expression, step: Step) -> list[str]:
        outcomes = [value for value, _ in self._walk(step).outcomes(expression)]
        return self.world.ordered(
            {name for word in outcomes if isinstance(word, EvaluatedSet) for name in word.must}
        )

    def _close(self, what: str, category: str = "") -> None:
        if not what:
            return
        if category and self.world.is_complete(what, category):
            self.closed.add(f"{category}.{what}")
        elif not category and self.world.lists_all(what):
            self.closed.add(what)

    def _attribute(self, name: str, attribute: str) -> None:
        if name in self.world.events:
            self.facts.add(name)
        elif attribute in _RESERVED:
            self.facts |= (
                {name} if attribute != "place" else {fact_id(f) for f in self.world.places[name].values()}
            )
        for fact in self.world.attributes.get((name, attribute), ()):
            self.facts.add(fact_id(fact))

    def _atom(self, atom: Atom, names: Iterable[str], step: Step) -> None:
        match atom:
            case Compare():
                for name in names:
                    self._attribute(name, atom.attribute)
            case Related():
                for to in self._values(atom.to, step):
                    for name in names:
                        self._pair(name, atom.relation, str(to))
            case Timed():
                self.facts |= set(names)
                of = list(self._values(atom.of, step)) if atom.of is not None else [None]
                for name in names:
                    for word in of:
                        assert word is None or isinstance(word, str | float)  # noqa: S101 - typed
                        self._slack(self.world.difference_s(name, atom.how, of=word, seconds=atom.seconds))

    def _pair(self, name: str, relation: str, to: str) -> None:
        inverse = self.world.words.inverse(relation)
        for key in ((name, relation, to), (to, inverse, name)):
            if key in self.world.relation_ids:
                self.facts.add(self.world.relation_ids[key])

    def _slack(self, difference_s: float | Doubt) -> None:
        if not isinstance(difference_s, Doubt):
            size = round(abs(difference_s), 6)
            self.margins["time_s"] = min(size, self.margins.get("time_s", size))

    def _select(self, selected: Select, step: Step) -> None:
        if selected.along:
            self._row(selected, step)
        elif selected.by in ("appears", "begins", "ends"):
            self._order(selected, step)

    def _order(self, selected: Select, step: Step) -> None:
        """Record the distance of the chosen member from the others."""
        chosen = str(self.binding.get(selected.pick, ""))
        how = "ends" if selected.by == "ends" else "begins"
        names = self._everyone(selected.of, step)
        self.facts |= {chosen} if chosen in names else set()
        for name in names if chosen in names else ():
            if name != chosen:
                self._slack(self.world.apart_s(chosen, name, how))

    def _row(self, selected: Select, step: Step) -> None:
        """Record what determines a member's position in a row."""
        chosen = str(self.binding.get(selected.pick, ""))
        for name in self._everyone(selected.of, step):
            self._pair(chosen, selected.along, name)
            self._pair(name, selected.along, chosen)


def _word(atom: Atom) -> str:
    """Return the value that an atom tests; None if completeness does not apply to it."""
    return atom.attribute if isinstance(atom, Compare) else atom.relation if isinstance(atom, Related) else ""


def _inner(expression: Expression) -> Expression:
    while isinstance(expression, InDirection):
        expression = expression.of
    return expression


def seen(
    world: World, binding: Binding, counted: Iterable[str] = ()
) -> tuple[tuple[float, ...], tuple[Span, ...]]:
    """Return when each bound or counted thing is visible."""
    named = {str(value) for value in binding.values()} | set(counted)
    names = sorted(named & world.scene.entities.keys(), key=natural)
    at = {time for name in names for time in world.seen_at.get(name, ())}
    spans = {span for name in names for span in world.scene.entities[name].spans}
    return tuple(sorted(at)), tuple(sorted(spans))
