"""Check the types of programs before evaluation, and infer the skills of conditions."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

import msgspec

from vidence.make.compose.parsing import ParsedComposition
from vidence.make.sources.composition import (
    DIRECTIONS,
    MOST_CONDITIONS,
    MOST_DEPTH,
    MOST_NESTED_SETS,
    MOST_STEPS,
    Aggregate,
    Arithmetic,
    Atom,
    AttributeOf,
    Compare,
    Composition,
    Condition,
    DirectionOf,
    Expected,
    Expression,
    InDirection,
    Known,
    Literally,
    Members,
    Order,
    Pair,
    Related,
    RelatedTo,
    Select,
    Step,
    The,
    Timed,
    Values,
    Variable,
    View,
    children,
    conditions_in,
    parts,
    variables_in,
)
from vidence.make.sources.proof import Problem, Reason
from vidence.make.sources.scene import ValueOrNumber
from vidence.make.sources.vocabulary import (
    ENTITY,
    EVENT,
    PAIR,
    AnswerType,
    Attribute,
    Skill,
    Vocabulary,
    unknown,
)

Kind: TypeAlias = Literal[
    "Set", "One", "Value", "Number", "Direction", "Pair", "Place", "Time", "View", "Values"
]

Logic: TypeAlias = Literal["conjunctive", "sequential"]


@dataclass(frozen=True)
class Type:
    """The type of an expression: `Set[person]`, `Value[hair]`, `Number`.

    >>> str(Type("One", "person")), str(Type("Number"))
    ('One[person]', 'Number')
    """

    kind: Kind
    domain: str = ""

    def __str__(self) -> str:
        return f"{self.kind}[{self.domain}]" if self.domain else self.kind


class _Fault(Exception):
    def __init__(self, says: str, at: Expression) -> None:
        self.says, self.at = says, at
        super().__init__(says)


@dataclass(frozen=True, kw_only=True)
class Typed:
    """A well-typed composition."""

    composition: Composition
    types: Mapping[str, Type]
    answer_type: AnswerType
    domain: str
    depth: int
    logic: Logic
    n_conjunctive: int


def with_skills(written: ParsedComposition, words: Vocabulary) -> Composition:
    """Return a composition with the skills of conditions, from comments or the vocabulary."""
    composition, skills = written.composition, written.skills
    if skills is None:
        return composition
    values = skills_of(composition, words)
    conditions = tuple(
        Condition(id=condition.id, skill=skills.get(condition.id, values.get(condition.id, "semantic")))
        for condition in composition.conditions
    )
    return msgspec.structs.replace(composition, conditions=conditions)


def skills_of(composition: Composition, words: Vocabulary) -> dict[str, Skill]:
    """Return the skill of each condition according to the vocabulary."""
    skills: dict[str, Skill] = {}
    for expression in (part for step in composition.steps for part in parts(step.value)):
        match expression:
            case Compare(attribute=name) if name in words.attributes:
                skills[expression.condition] = words.attributes[name].skill
            case Related() | RelatedTo() if expression.relation in words.relations:
                skills[expression.condition] = words.relations[expression.relation].skill
            case Timed():
                skills[expression.condition] = "temporal"
            case InDirection():
                skills[expression.condition] = "spatial"
            case Select(by=by, attribute=attribute):
                known = words.attributes.get(attribute)
                is_time = by is not None and by != "left to right"
                skills[expression.condition] = known.skill if known else "temporal" if is_time else "spatial"
            case View():
                skills |= {expression.facing_condition: "spatial", expression.turned_condition: "spatial"}
    return skills


def check_types(composition: Composition, words: Vocabulary) -> Typed | Problem:
    """Type-check a composition; return it, or its first error."""
    types: dict[str, Type] = {}
    for step in composition.steps:
        if step.variable in types:
            return _problem(step, f"{step.variable} is made twice")
        try:
            types[step.variable] = _Checker(words, types, composition).type_of(step.value)
        except _Fault as fault:
            column = f", column {fault.at.column}" if fault.at.column else ""
            return _problem(step, f"step {step.variable}{column}: {fault.says}")
    last = composition.steps[-1] if composition.steps else Step(variable="", value=Variable(name=""))
    if last.variable != "answer":
        return _problem(last, f"the last step is {last.variable!r}; expected answer")
    answered = _answer_type(types["answer"], words)
    if answered is None:
        return _problem(
            last, f"the answer is a {types['answer']}; expected a Value, Number, Direction, Pair or One"
        )
    for problem in _form(composition):
        return problem
    logic, n_conjunctive = _logic(composition)
    return Typed(
        composition=composition,
        types=types,
        answer_type=answered[0],
        domain=answered[1],
        depth=depth_of(composition),
        logic=logic,
        n_conjunctive=n_conjunctive,
    )


def _problem(step: Step, says: str, reason: Reason = "type-error") -> Problem:
    return Problem(reason=reason, says=says, step=step.variable, line=step.line)


def _answer_type(kind: Type, words: Vocabulary) -> tuple[AnswerType, str] | None:
    match kind.kind:
        case "Number" | "Pair" if not kind.domain or kind.kind == "Pair":
            is_event = kind.domain.startswith(f"kind{PAIR}")
            return ("event" if is_event else "attribute"), kind.domain or "count"
        case "Value" | "Number":
            if kind.domain in words.known:
                return words.known[kind.domain].answer, kind.domain
            if kind.domain == "kind":
                return "action", "kind"
            if kind.domain == "expected":
                return "event", "expected"
            return words.attributes[kind.domain].answer, kind.domain
        case "Direction":
            return "relationship", "direction"
        case "One":
            return ("event" if kind.domain == EVENT else "object"), kind.domain
        case _:
            return None


def _form(composition: Composition) -> Iterator[Problem]:
    """Check a composition as a whole: unused variables, condition ids, size."""
    steps = composition.steps
    for position, step in enumerate(steps[:-1]):
        if not any(step.variable in variables_in(later.value) for later in steps[position + 1 :]):
            yield _problem(step, f"{step.variable} is never used", "unused-variable")
    used = [name for step in steps for name in conditions_in(step.value)]
    named = [condition.id for condition in composition.conditions]
    if sorted(used) != sorted(named) or len(set(used)) != len(used):
        yield _problem(steps[-1], f"conditions {', '.join(named)} are listed, and {', '.join(used)} are used")
    nested = max(_nested(step.value) for step in steps)
    for n, most, what in (
        (len(used), MOST_CONDITIONS, "conditions"),
        (len(steps), MOST_STEPS, "steps"),
        (depth_of(composition), MOST_DEPTH, "depth"),
        (nested, MOST_NESTED_SETS, "nested sets"),
    ):
        if n > most:
            yield _problem(steps[-1], f"{what}: {n} found; at most {most}")


def _nested(expression: Expression) -> int:
    inner = max((_nested(child) for child in children(expression)), default=0)
    return inner + isinstance(expression, Members | RelatedTo)


def depth_of(composition: Composition) -> int:
    """Return the longest chain of dependent steps, counting unnamed picks."""
    depths: dict[str, int] = {}
    for step in composition.steps:
        is_named = step.variable != "answer"
        depths[step.variable] = _depth(step.value, step.variable if is_named else "", depths) + is_named
    return max(depths.values(), default=0)


def _depth(expression: Expression, name: str, depths: Mapping[str, int]) -> int:
    if isinstance(expression, Variable):
        return depths.get(expression.name, 0)
    inner = max((_depth(child, "", depths) for child in children(expression)), default=0)
    return inner + (isinstance(expression, The | Select) and expression.pick != name)


def _logic(composition: Composition) -> tuple[Logic, int]:
    sets = [
        part
        for step in composition.steps
        for part in parts(step.value)
        if isinstance(part, Members | RelatedTo)
    ]
    conjunctions = [
        expression for expression in sets if isinstance(expression, Members) and len(expression.atoms) > 1
    ]
    n_atoms = sum(len(conjunction.atoms) for conjunction in conjunctions)
    is_one = len(sets) == 1 and n_atoms == len(composition.conditions) > 1
    return ("conjunctive" if is_one else "sequential"), len(conjunctions)


@dataclass(frozen=True)
class _Checker:
    words: Vocabulary
    variables: Mapping[str, Type]
    composition: Composition

    def type_of(self, expression: Expression) -> Type:
        match expression:
            case Literally(value=value):
                return Type("Value", "text") if isinstance(value, str) else Type("Number")
            case Values():
                return Type("Values")
            case Variable():
                return self._variable(expression)
            case Members() | RelatedTo() | InDirection():
                return self._set(expression)
            case The():
                return Type("One", self._want(expression.of, "Set").domain)
            case Select():
                return self._select(expression)
            case AttributeOf():
                return self._attribute_of(expression)
            case _:
                return self._rest(expression)

    def _rest(self, expression: Expression) -> Type:
        match expression:
            case Aggregate():
                return self._aggregate(expression)
            case Arithmetic():
                self._want(expression.left, "Number")
                self._want(expression.right, "Number")
                return Type("Number")
            case View():
                return self._view(expression)
            case Pair():
                return self._pair(expression)
            case DirectionOf():
                self._want(expression.of, "One", "Place")
                self._want(expression.view, "View")
                return Type("Direction")
            case Known():
                self._word("table", expression.table, self.words.known, at=expression)
                self._want(expression.of, "Value", "Number")
                return Type("Value", expression.table)
            case Expected():
                if (kind := self._want(expression.of, "One")).domain != EVENT:
                    raise _Fault(f"expected() takes One[event], not {kind}", expression)
                return Type("Value", "expected")
            case _:
                raise _Fault(
                    "a condition stands where a value is expected; put it inside a category", expression
                )

    def _view(self, view: View) -> Type:
        self._want(view.of, "One", "Place")
        if view.facing is not None:
            self._want(view.facing, "One", "Place")
        if view.like is not None:
            self._want(view.like, "View")
        return Type("View")

    def _pair(self, pair: Pair) -> Type:
        halves = [self._want(half, "Value", "Number", "Direction") for half in (pair.first, pair.second)]
        return Type("Pair", PAIR.join(half.domain or half.kind.lower() for half in halves))

    def _want(self, expression: Expression, *kinds: Kind) -> Type:
        kind = self.type_of(expression)
        if kind.kind not in kinds:
            raise _Fault(f"{kind} found; expected {' or '.join(kinds)}", expression)
        return kind

    def _word(self, kind: str, word: str, known: Iterable[str], *, at: Expression) -> None:
        for says in unknown(kind, word, known, where=kind):
            raise _Fault(says, at)

    def _variable(self, variable: Variable) -> Type:
        if variable.name in self.variables:
            return self.variables[variable.name]
        if variable.name in [step.variable for step in self.composition.steps]:
            raise _Fault(f"{variable.name} is used before it is made; put its step first", variable)
        raise _Fault(next(iter(unknown("variable", variable.name, self.variables, where="name"))), variable)

    def _set(self, expression: Members | RelatedTo | InDirection) -> Type:
        match expression:
            case Members():
                self._word(
                    "category", expression.category, (*self.words.categories, EVENT, ENTITY), at=expression
                )
                for atom in expression.atoms:
                    self._atom(atom, expression.category)
                return Type("Set", expression.category)
            case RelatedTo():
                self._word("relation", expression.relation, self.words.relations, at=expression)
                self._fits(expression.to, self.words.relations[expression.relation].to)
                of = self.words.relations[expression.relation].of
                return Type("Set", of[0] if len(of) == 1 else ENTITY)
            case InDirection():
                if expression.toward is not None:
                    self._want(expression.toward, "Direction")
                else:
                    self._word("direction", expression.direction, DIRECTIONS, at=expression)
                self._want(expression.view, "View")
                return self._want(expression.of, "Set")

    def _fits(self, expression: Expression, categories: tuple[str, ...]) -> None:
        kind = self._want(expression, "One")
        if not any(self._related(kind.domain, category) for category in categories):
            raise _Fault(f"{kind} found; expected One[{' | '.join(categories)}]", expression)

    def _related(self, name: str, other: str) -> bool:
        """Check that a relation applies to two categories."""
        return self.words.is_a(name, other) or self.words.is_a(other, name)

    def _known_attribute(self, name: str, category: str, at: Expression) -> Attribute:
        self._word("attribute", name, self.words.attributes, at=at)
        known = self.words.attributes[name]
        if not any(self._related(category, of) for of in known.of):
            raise _Fault(f"a {category} has no {name!r}; only Value[{name}] of {' | '.join(known.of)}", at)
        return known

    def _select(self, selected: Select) -> Type:
        kind = self._want(selected.of, "Set")
        if (selected.how == "nth") != (selected.n is not None):
            raise _Fault(f"{selected.how}: a number `n` goes with nth, and with nothing else", selected)
        if selected.to is not None:
            self._want(selected.to, "One", "Place")
        elif selected.attribute:
            known = self._known_attribute(selected.attribute, kind.domain, selected)
            if not (known.number or known.ordered):
                raise _Fault(
                    f"Value[{selected.attribute}] has no order; expected Number or an ordered one", selected
                )
        elif selected.by == "left to right":
            self._word("relation", "left_of", self.words.relations, at=selected)
        elif selected.along:
            self._along(selected)
        elif selected.by is None:
            raise _Fault(f"{selected.how}: it lacks `by`, `to` or `attribute`", selected)
        return Type("One", kind.domain)

    def _along(self, selected: Select) -> None:
        """Check that a relation used for sorting is an order."""
        self._word(
            "order or relation", selected.along, (*get_args(Order), *self.words.relations), at=selected
        )
        known = self.words.relations[selected.along]
        if known.symmetric or not known.transitive:
            raise _Fault(
                f"{selected.along} is no order; expected a relation that is transitive, not symmetric",
                selected,
            )

    def _attribute_of(self, attribute_of: AttributeOf) -> Type:
        kind = self._want(attribute_of.of, "One")
        if attribute_of.at is not None:
            self._want(attribute_of.at, "One", "Time")
        if attribute_of.name == "place":
            return Type("Place")
        if attribute_of.name in ("begins", "ends", "appears"):
            return Type("Time")
        if kind.domain == EVENT:
            return self._of_event(attribute_of)
        return _value_type(
            attribute_of.name, self._known_attribute(attribute_of.name, kind.domain, attribute_of)
        )

    def _of_event(self, attribute_of: AttributeOf) -> Type:
        if attribute_of.name == "kind":
            return Type("Value", "kind")
        roles = self.words.roles()
        if attribute_of.name in roles:
            return Type("One", roles[attribute_of.name])
        if attribute_of.name in self.words.attributes:
            return _value_type(
                attribute_of.name, self._known_attribute(attribute_of.name, EVENT, attribute_of)
            )
        self._word("role", attribute_of.name, ("kind", *roles), at=attribute_of)
        return Type("One", ENTITY)

    def _aggregate(self, aggregate: Aggregate) -> Type:
        kind = self._want(aggregate.of, "Set", *(("Values",) if aggregate.how == "count" else ()))
        if aggregate.how == "count":
            return Type("Number")
        known = self._known_attribute(aggregate.attribute, kind.domain, aggregate)
        if aggregate.how in ("largest", "smallest") and not (known.number or known.ordered):
            raise _Fault(
                f"Value[{aggregate.attribute}] has no order; expected Number or an ordered one", aggregate
            )
        if aggregate.how == "values":
            return Type("Values", aggregate.attribute)
        return Type("Number") if aggregate.how == "longest_run" else _value_type(aggregate.attribute, known)

    # ----------------------------------------------------------------------- atoms

    def _atom(self, atom: Atom, category: str) -> None:
        match atom:
            case Compare():
                self._compare(atom, category)
            case Related():
                self._word("relation", atom.relation, self.words.relations, at=atom)
                relation = self.words.relations[atom.relation]
                if not any(self._related(category, of) for of in relation.of):
                    raise _Fault(
                        f"{atom.relation}: {category} found; expected {' | '.join(relation.of)}", atom
                    )
                self._fits(atom.to, relation.to)
            case Timed(of=None):
                if len(atom.seconds) != 2 or atom.how != "begins_in":
                    raise _Fault(f"{atom.how}: expected an event, or two seconds for begins_in", atom)
            case Timed(of=of):
                assert of is not None  # noqa: S101 - the case before
                self._want(of, "One", "Time")
                if len(atom.seconds) != (atom.how == "within"):
                    raise _Fault(f"{atom.how}: {len(atom.seconds)} numbers of seconds found", atom)

    def _compare(self, atom: Compare, category: str) -> None:
        name, roles = atom.attribute, self.words.roles()
        if category == EVENT and name in roles:
            self._equal_only(atom)
            self._fits(atom.value, (roles[name],))
            return
        if category == EVENT and name == "kind":
            self._equal_only(atom, "in", "not in")
            self._values(atom, Type("Value", "kind"), tuple(self.words.events))
            return
        known = self._known_attribute(name, category, atom)
        if not (known.number or known.ordered):
            self._equal_only(atom, "in", "not in")
        self._values(atom, _value_type(name, known), known.values)

    def _equal_only(self, atom: Compare, *also: str) -> None:
        if atom.how not in ("==", "!=", *also):
            raise _Fault(f"Value[{atom.attribute}] has no order, so that {atom.how} says nothing", atom)

    def _values(self, atom: Compare, wanted: Type, known: tuple[str, ...]) -> None:
        """Check that the right side is comparable with the attribute."""
        values: tuple[ValueOrNumber, ...] = ()
        kind = self.type_of(atom.value)
        if (kind.kind == "Values") != (atom.how in ("in", "not in")):
            raise _Fault(f"{atom.how}: {kind} found; expected {wanted} for ==, Values for in", atom.value)
        if isinstance(atom.value, Values):
            values = atom.value.values
        elif isinstance(atom.value, Literally):
            values = (atom.value.value,)
        else:
            self._found_before(atom, kind, wanted)
        for value in values:
            if isinstance(value, str) != (wanted.kind == "Value"):
                raise _Fault(f"{value!r} found; expected {wanted}", atom.value)
            if known:
                for says in unknown("value", value, known, where=atom.attribute):
                    raise _Fault(says, atom.value)

    def _found_before(self, atom: Compare, kind: Type, wanted: Type) -> None:
        """Check that earlier results are comparable with the attribute."""
        if kind.kind == "Values":
            if not self._comparable(_member_type(kind, self.words), wanted):
                raise _Fault(f"{kind} found; expected Values[{wanted.domain}]", atom.value)
            return
        self._want(atom.value, "Value", "Number")
        if not self._comparable(kind, wanted, is_order=atom.how in ("<", "<=", ">", ">=")):
            raise _Fault(f"{kind} found; expected {wanted}", atom.value)

    def _comparable(self, kind: Type, wanted: Type, *, is_order: bool = False) -> bool:
        """Return whether two types are comparable: numbers, a common domain, or common values."""
        if kind.kind != wanted.kind:
            return False
        if kind.kind == "Number" or self.words.share_a_domain(kind.domain, wanted.domain):
            return True
        return not is_order and bool(set(self._domain(kind.domain)) & set(self._domain(wanted.domain)))

    def _domain(self, name: str) -> tuple[str, ...]:
        if name in self.words.attributes:
            return self.words.attributes[name].values
        return self.words.known[name].values if name in self.words.known else tuple(self.words.events)


def _member_type(kind: Type, words: Vocabulary) -> Type:
    """Return the element type of `Values`."""
    known = words.attributes.get(kind.domain)
    return Type("Value", kind.domain) if known is None else _value_type(kind.domain, known)


def _value_type(name: str, known: Attribute) -> Type:
    return Type("Number", name) if known.number else Type("Value", name)
