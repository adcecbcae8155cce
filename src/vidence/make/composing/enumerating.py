"""The proof of a composition of any shape that the search draws, by going through what its steps allow.

`results` does the same by bit operations alone, for the shapes that are drawn most.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Literal, TypeAlias

from vidence.make.composing.ground import Ground
from vidence.make.composing.results import Found, Logic, Refused, Unique
from vidence.make.composing.scene_bits import Masks, SceneBits, bits
from vidence.make.scene_graph.composition import (
    DIRECTIONS,
    Aggregate,
    Arithmetic,
    Atom,
    AttributeOf,
    Compare,
    Composition,
    DirectionOf,
    Expression,
    InDirection,
    Known,
    Literally,
    Members,
    Related,
    Select,
    Step,
    The,
    Timed,
    Values,
    Variable,
    View,
    conditions_in,
    parts,
    variables_in,
)
from vidence.make.scene_graph.proof import (
    Answer,
    Binding,
    ConditionProof,
    StepProof,
    Subsets,
    Without,
    Witness,
)
from vidence.make.scene_graph.scene import ValueOrNumber, natural
from vidence.make.scene_graph.vocabulary import EVENT, AnswerType


@dataclass(frozen=True)
class Looking:
    """How somebody sees the plan; `free`: which of the eight directions, where it is left open."""

    place: str
    heading: float
    free: int | None = None


_Held: TypeAlias = ValueOrNumber | Looking
_Env: TypeAlias = Mapping[str, _Held]
_Outcome: TypeAlias = tuple[_Held, Binding]
"""What a step holds, and what else is bound by it."""
_State: TypeAlias = tuple[dict[str, _Held], Binding, int]


@dataclass
class Met:
    """Whether something was in doubt on the way, and whether a step found several."""

    is_doubtful: bool = False
    is_several: bool = False

    def add(self, other: "Met") -> None:
        """Take over what another has."""
        self.is_doubtful |= other.is_doubtful
        self.is_several |= other.is_several


@dataclass
class Outcome:
    """One result: how many bindings end in each value, the first, and the first with another value."""

    met: Met
    values: dict[ValueOrNumber, int] = field(default_factory=dict)
    first: tuple[ValueOrNumber, Binding] | None = None
    other: tuple[ValueOrNumber, Binding] | None = None

    def share(self, answer: ValueOrNumber) -> float:
        """The share of the bindings that end in the answer."""
        n = sum(self.values.values())
        return round(self.values.get(answer, 0) / n, 6) if n else 0.0


class Enumeration:
    """The results of one composition in one scene."""

    def __init__(self, composition: Composition, scene: SceneBits, ground: Ground) -> None:
        self.composition, self.scene, self.ground, self.steps = composition, scene, ground, composition.steps
        self._inside = [frozenset(conditions_in(step.value)) for step in self.steps]
        self._kept: dict[tuple[int, frozenset[str], str], tuple[list[_State], Met]] = {}
        self._made: dict[tuple[object, ...], tuple[list[_Outcome], Met]] = {}

    # ----------------------------------------------------------------------- results

    def reached(
        self, dropped: frozenset[str] = frozenset(), *, free: str = "", answer: ValueOrNumber | None = None
    ) -> Outcome:
        """Every value with the number of its bindings."""
        states, met = self._states(len(self.steps), dropped, free)
        found = Outcome(met)
        for env, binding, count in states:
            value = env["answer"]
            if isinstance(value, Looking):
                continue
            found.values[value] = found.values.get(value, 0) + count
            found.first = found.first or (value, binding)
            if found.other is None and answer is not None and self.is_other(value, answer):
                found.other = value, binding
        return found

    def is_other(self, value: ValueOrNumber, answer: ValueOrNumber) -> bool:
        """Whether a value certainly is not the answer."""
        return value != answer and not self.scene.words.is_near(self.domain, value, answer)

    @property
    def domain(self) -> str:
        """Of what the answer is a value."""
        match self.steps[-1].value:
            case AttributeOf(name=name):
                return name
            case Known(table=table):
                return table
            case DirectionOf():
                return "direction"
            case _:
                return "count"

    def _states(self, n: int, dropped: frozenset[str], free: str) -> tuple[list[_State], Met]:
        """What the first steps allow; those that later steps cannot tell apart are counted together."""
        if n == 0:
            return [({}, {}, 1)], Met()
        key = n, dropped, free
        if key not in self._kept:
            before, met_before = self._states(n - 1, dropped, free)
            step, met = self.steps[n - 1], Met()
            met.add(met_before)
            live = self._live(n, dropped)
            found: dict[tuple[_Held, ...], _State] = {}
            for env, binding, count in before:
                outcomes, met_here = (
                    (self._anything(step), Met())
                    if step.variable == free
                    else self._outcomes(n - 1, env, dropped)
                )
                met.add(met_here)
                for value, more in outcomes:
                    made = {**env, step.variable: value}
                    bound = {**binding, **more}
                    if step.variable != "answer" and not isinstance(value, Looking):
                        bound[step.variable] = value
                    at = tuple([made[name] for name in live])
                    known = found.get(at)
                    found[at] = (made, bound, count) if known is None else (*known[:2], known[2] + count)
            self._kept[key] = list(found.values()), met
        return self._kept[key]

    def _live(self, n: int, dropped: frozenset[str]) -> tuple[str, ...]:
        read = {name for step in self.steps[n:] for name in read_of(step.value, dropped)}
        return tuple(
            step.variable for step in self.steps[:n] if step.variable in read or n == len(self.steps)
        )

    def _outcomes(self, i: int, env: _Env, dropped: frozenset[str]) -> tuple[list[_Outcome], Met]:
        value = self.steps[i].value
        used = read_of(value, dropped)
        key = i, dropped & self._inside[i], tuple([env[name] for name in used])
        if key not in self._made:
            met = Met()
            self._made[key] = list(self._evaluate(value, _Here(env, dropped, met))), met
        return self._made[key]

    def _anything(self, step: Step) -> list[_Outcome]:
        """Everything that a variable could be."""
        scene, domain = self.scene, domain_of(step.variable, self.composition, scene=self.scene)
        if domain in scene.members:
            return [(name, {}) for name in scene.members[domain]]
        if domain == "kind":
            return [(kind, {}) for kind in sorted({event.kind for event in scene.events.values()})]
        known = scene.words.attributes[domain]
        listed: Sequence[ValueOrNumber] = known.values or sorted(
            {value for of in known.of for value in scene.column(of, domain).values}, key=str
        )
        return [(value, {}) for value in listed]

    # ----------------------------------------------------------------------- steps

    def _evaluate(self, one: Expression, here: "_Here") -> Iterator[_Outcome]:
        match one:
            case The(of=of):
                some = self._set(of, here)
                here.met.is_doubtful |= not some.is_certain
                here.met.is_several |= some.must.bit_count() > 1
                yield from self._members(some, some.must)
            case Select(of=of):
                some = self._set(of, here)
                if one.condition in here.dropped:
                    here.met.is_doubtful |= not some.is_certain
                    yield from self._members(some, some.must)
                else:
                    yield from self._members(some, self._chosen(one, some, here))
            case AttributeOf(of=Variable(name=name), name=word):
                values, is_open = self.scene.told(str(here.env[name]), word)
                here.met.is_doubtful |= is_open
                yield from ((value, {}) for value in values)
            case Aggregate(of=of):
                some = self._set(of, here)
                here.met.is_doubtful |= not some.is_certain
                if some.is_certain:
                    yield from self._together(one, some, here.met)
            case _:
                yield from self._looked(one, here)

    def _looked(self, one: Expression, here: "_Here") -> Iterator[_Outcome]:
        found: ValueOrNumber | None
        match one:
            case View(of=Variable(name=of), facing=Variable(name=at)):
                place = str(here.env[of])
                if one.facing_condition in here.dropped:
                    for number, word in enumerate(DIRECTIONS):
                        yield Looking(place, 0.0, number), {"view": word}
                    return
                heading = self.ground.bearing(place, str(here.env[at]))
                here.met.is_doubtful |= heading is None
                if heading is not None:
                    yield Looking(place, heading), {}
                return
            case DirectionOf(of=Variable(name=of), view=Variable(name=view)):
                found = self._side(str(here.env[of]), here.env[view])
            case Known(table=table, of=Variable(name=of)):
                value = here.env[of]
                found = self.ground.known.get((table, value)) if not isinstance(value, Looking) else None
            case _:
                raise ValueError(
                    f"{self.composition.composition}: a step of a kind that is not evaluated here"
                )
        here.met.is_doubtful |= found is None
        if found is not None:
            yield found, {}

    def _side(self, name: str, view: _Held) -> str | None:
        assert isinstance(view, Looking)  # noqa: S101 - a view
        if view.free is not None:
            return DIRECTIONS[view.free]
        return self.ground.sector(name, view.place, view.heading)

    def _members(self, some: "Some", mask: int) -> Iterator[_Outcome]:
        names = self.scene.members[some.category]
        yield from ((names[i], {}) for i in bits(mask))

    def _together(self, one: Aggregate, some: "Some", met: Met) -> Iterator[_Outcome]:
        """How many there are, or the value that most of them have."""
        if one.how == "count":
            yield some.must.bit_count(), {}
            return
        column = self.scene.column(some.category, one.attribute)
        told = [column.told[i] for i in bits(some.must)]
        if some.must & column.doubtful or any(len(values) > 1 for values in told):
            met.is_doubtful = True
            return
        counts = {value: n for value, who in column.values.items() if (n := (some.must & who).bit_count())}
        best = [value for value, n in counts.items() if n == max(counts.values())]
        if len(best) == 1:
            yield best[0], {}

    # ----------------------------------------------------------------------- sets

    def _set(self, one: Expression, here: "_Here") -> "Some":
        match one:
            case InDirection(of=of, view=Variable(name=view)):
                some = self._set(of, here)
                if one.condition in here.dropped:
                    return some
                masks = self._in_direction(some, here.env[view], one.direction)
                return Some(some.category, some.must & masks.must, some.may & masks.may, some.is_open)
            case Members(category=category):
                must = may = self.scene.everybody[category]
                kinds: list[ValueOrNumber] = []
                for atom in one.atoms:
                    if atom.condition in here.dropped:
                        continue
                    masks = self._masks(atom, category, here.env)
                    must, may = must & masks.must, may & masks.may
                    if isinstance(atom, Compare) and (atom.attribute, atom.how) == ("kind", "=="):
                        kinds += [atom.value.value] if isinstance(atom.value, Literally) else []
                is_listed = bool(kinds) and all(map(self.scene.lists_kind, kinds))
                return Some(category, must, may, not (is_listed or self.scene.lists_all(category)))
            case _:
                raise ValueError(
                    f"{self.composition.composition}: a set of a kind that is not evaluated here"
                )

    def _in_direction(self, some: "Some", view: _Held, direction: str) -> Masks:
        assert isinstance(view, Looking)  # noqa: S101 - a view
        heading = view.heading if view.free is None else view.free * 360 / len(DIRECTIONS)
        must = may = 0
        for i in bits(some.may):
            name = self.scene.members[some.category][i]
            side = self.ground.sector(name, view.place, heading) if name != view.place else ""
            may |= (side is None or side == direction) << i
            must |= (side == direction) << i
        return Masks(must, may)

    def _masks(self, atom: Atom, category: str, env: _Env) -> Masks:
        match atom:
            case Compare(value=Values(values=values), how="in"):
                each = [
                    self.scene.compared(category, atom.attribute, how="==", value=value) for value in values
                ]
                must = may = 0
                for masks in each:
                    must, may = must | masks.must, may | masks.may
                return Masks(must, may)
            case Compare():
                return compared(self.scene, category, atom, value=_value(atom.value, env))
            case Related(to=Variable(name=name), frame=""):
                masks = self.scene.related(category, atom.relation, str(env[name]))
                return masks if atom.holds else masks.without(self.scene.everybody[category])
            case Timed(of=Variable(name=name), seconds=()):
                return self.scene.timed(category, atom.how, str(env[name]))
            case _:
                raise ValueError(f"{atom} is not evaluated here")

    def _chosen(self, one: Select, some: "Some", here: "_Here") -> int:
        """Who certainly comes before all who may be there, as a bit set."""
        must, may = some.must, some.may
        if some.is_open:
            here.met.is_doubtful = True
            return 0
        names = self.scene.members[some.category]
        if isinstance(one.to, Variable):
            apart = self.scene.place[some.category].get(str(here.env[one.to.name]))
            kept = may if apart is None else may & ~(1 << apart)
            must, may = must & kept, kept
        is_before = self._order(one, here.env)
        for i in bits(must):
            if all(is_before(names[i], names[other]) is True for other in bits(may) if other != i):
                return 1 << i
        here.met.is_doubtful |= bool(may)
        return 0

    def _order(self, one: Select, env: _Env) -> Callable[[str, str], bool | None]:
        is_turned = one.how in ("last", "farthest")

        def before(first: str, second: str) -> bool | None:
            first, second = (second, first) if is_turned else (first, second)
            if isinstance(one.to, Variable):
                return self.ground.is_nearer(first, second, str(env[one.to.name]))
            if first not in self.scene.ends or second not in self.scene.ends:
                return None
            at = 1 if one.by == "ends" else 0
            gap = self.scene.ends[second][at] - self.scene.ends[first][at]
            return None if gap == 0 or abs(gap) < self.scene.margin_s else gap > 0

        return before


@dataclass(frozen=True)
class _Here:
    """With what a step is evaluated: variables, conditions left out; and what is met."""

    env: _Env
    dropped: frozenset[str]
    met: Met


@dataclass(frozen=True)
class Some:
    """A set: who certainly is in it, who may be, and whether members may be missing."""

    category: str
    must: int
    may: int
    is_open: bool

    @property
    def is_certain(self) -> bool:
        """Whether nobody is in doubt."""
        return self.must == self.may and not self.is_open


def _value(one: Expression, env: _Env) -> ValueOrNumber:
    match one:
        case Literally(value=value):
            return value
        case Variable(name=name):
            held = env[name]
            assert not isinstance(held, Looking)  # noqa: S101 - a value
            return held
        case Arithmetic(how=how, left=left, right=right):
            first, second = _value(left, env), _value(right, env)
            assert not isinstance(first, str) and not isinstance(second, str)  # noqa: S101, PT018 - numbers
            return first + second if how == "+" else first - second
        case _:
            raise ValueError(f"{one} is not evaluated here")


def compared(scene: SceneBits, category: str, atom: Compare, *, value: ValueOrNumber) -> Masks:
    """Who of a category is as an atom compares it with a value."""
    if atom.how in ("==", "!="):
        return scene.compared(category, atom.attribute, how=atom.how, value=value)
    column, listed = scene.column(category, atom.attribute), scene.words.attributes[atom.attribute].values
    size = _size(listed, value)
    who = 0
    for one, mask in column.values.items():
        other = _size(listed, one)
        fits = {"<": other < size, "<=": other <= size, ">": other > size, ">=": other >= size}[atom.how]
        who |= mask if fits else 0
    return Masks(who, who | column.doubtful)


def _size(listed: Sequence[str], value: ValueOrNumber) -> float:
    return float(listed.index(value)) if isinstance(value, str) else float(value)


def read_of(one: Expression, dropped: frozenset[str]) -> tuple[str, ...]:
    """The variables that an expression reads where some conditions are left out."""
    match one:
        case View(of=of) if one.facing_condition in dropped:
            return variables_in(of)
        case Select(of=of) if one.condition in dropped:
            return read_of(of, dropped)
        case InDirection(of=of) if one.condition in dropped:
            return read_of(of, dropped)
        case InDirection(of=of, view=view):
            return tuple(dict.fromkeys((*read_of(of, dropped), *variables_in(view))))
        case Members(atoms=atoms):
            kept = [name for atom in atoms if atom.condition not in dropped for name in variables_in(atom)]
            return tuple(dict.fromkeys(kept))
        case The(of=of) | Aggregate(of=of):
            return read_of(of, dropped)
        case Select(of=of, to=to):
            more = variables_in(to) if to is not None else ()
            return tuple(dict.fromkeys((*read_of(of, dropped), *more)))
        case _:
            return variables_in(one)


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


# --------------------------------------------------------------------------- the proof


def enumerated_proof(  # noqa: PLR0913 - as `find_proof`, and where things stand
    composition: Composition,
    scene: SceneBits,
    ground: Ground,
    *,
    fits: Callable[[AnswerType, Logic, int], bool] | None = None,
    unique: Unique = "each step",
    most_guess: float = 1.0,
    most_prior: float = 1.0,
) -> Found | Refused:
    """The proof of a composition, or why there is none; as `find_proof`."""
    results = Enumeration(composition, scene, ground)
    whole = results.reached()
    several = whole.met.is_several and unique == "each step"
    several |= unique == "jointly" and sum(whole.values.values()) > 1
    if several or whole.met.is_doubtful or len(whole.values) != 1 or whole.first is None:
        return Refused(reason="no-single-answer")
    answer, binding = whole.first
    names = tuple(one.id for one in composition.conditions)
    singles = {name: _without(results, answer, frozenset([name])) for name in names}
    for outcome, reason in (("unneeded", "unneeded"), ("unknown", "unknown-fact")):
        if bad := tuple(name for name in names if singles[name].outcome == outcome):
            return Refused(reason=reason, conditions=bad)
    logic, answered = logic_of(composition), answer_type(results.domain, scene)
    if fits is not None and not fits(answered, logic, len(names)):
        return Refused(reason="of-another-cell")
    if weak := tuple(name for name in names if singles[name].guess > most_guess):
        return Refused(reason="weak-condition", conditions=weak)
    if (prior := results.reached(frozenset(names)).share(answer)) > most_prior:
        return Refused(reason="easy-to-guess")
    subsets = _subsets(results, names, answer)
    if isinstance(subsets, Refused):
        return subsets
    sets = [one for step in composition.steps for one in parts(step.value) if isinstance(one, Members)]
    return Found(
        composition=composition.composition,
        logic=logic,
        answer=Answer(type=answered, domain=results.domain, value=answer),
        binding=binding,
        conditions=tuple(
            ConditionProof(id=one.id, skill=one.skill, without=singles[one.id])
            for one in composition.conditions
        ),
        steps=tuple(_steps(results, binding, answer, logic=logic)),
        subsets=subsets,
        depth=_depth(composition),
        n_conjunctive=sum(len(one.atoms) > 1 for one in sets),
        prior=prior,
    )


def logic_of(composition: Composition) -> Logic:
    """Conjunctive: one set, whose atoms are all the conditions that there are, two or more."""
    sets = [one for step in composition.steps for one in parts(step.value) if isinstance(one, Members)]
    n = len(composition.conditions)
    return "conjunctive" if len(sets) == 1 and len(sets[0].atoms) == n > 1 else "sequential"


def answer_type(domain: str, scene: SceneBits) -> AnswerType:
    """What kind of thing the answer is."""
    if domain in scene.words.known:
        return scene.words.known[domain].answer
    plain: dict[str, AnswerType] = {"count": "attribute", "kind": "action", "direction": "relationship"}
    return plain.get(domain) or scene.words.attributes[domain].answer


def _without(
    results: Enumeration, answer: ValueOrNumber, dropped: frozenset[str], *, free: str = ""
) -> Without:
    found = results.reached(dropped, free=free, answer=answer)
    counts = {str(value): n for value, n in found.values.items() if value != answer}
    guess = found.share(answer)
    if found.other is not None:
        value, binding = found.other
        entities = results.scene.scene.entities
        names = sorted({str(one) for one in binding.values()} & entities.keys(), key=natural)
        seen_at = sorted({time for name in names for time in results.scene.seen_at.get(name, ())})
        spans = sorted({span for name in names for span in entities[name].spans})
        witness = Witness(binding=binding, value=value, seen_at=tuple(seen_at), spans=tuple(spans))
        outcome: Literal["several-values", "other-value"] = "several-values" if guess else "other-value"
        return Without(outcome=outcome, values=counts, guess=guess, witness=witness)
    if not found.values and not found.met.is_doubtful:
        return Without(outcome="nothing-fits")
    if found.met.is_doubtful or counts:
        return Without(outcome="unknown", values=counts, guess=guess)
    return Without(outcome="unneeded", guess=guess)


def _subsets(results: Enumeration, names: Sequence[str], answer: ValueOrNumber) -> Subsets | Refused:
    """Every set of conditions left out, where single ones do not decide."""
    steps = [step.value for step in results.steps]
    inner = [one for value in steps for one in parts(value) if one is not steps[-1]]
    if not any(isinstance(one, Select | Aggregate) for one in inner):
        return Subsets(mode="singles", tried=len(names))
    tried = len(names)
    for size in range(2, len(names) + 1):
        for ids in combinations(names, size):
            tried += 1
            found = results.reached(frozenset(ids), answer=answer)
            if found.other is None and found.met.is_doubtful:
                return Refused(reason="unknown-fact", conditions=ids)
            if found.other is None and found.values:
                return Refused(reason="sufficient-subset", conditions=ids)
    return Subsets(mode="all", tried=tried)


def _steps(
    results: Enumeration, binding: Binding, answer: ValueOrNumber, *, logic: Logic
) -> Iterator[StepProof]:
    words = results.scene.words.attributes
    for step in results.steps[:-1]:
        domain = domain_of(step.variable, results.composition, scene=results.scene)
        is_number = domain in words and words[domain].number
        without = None
        if logic == "sequential" and domain and not is_number:
            without = _without(results, answer, frozenset(), free=step.variable)
        yield StepProof(variable=step.variable, value=binding.get(step.variable, ""), without=without)


def _depth(composition: Composition) -> int:
    depths: dict[str, int] = {}
    for step in composition.steps:
        inner = max((depths[name] for name in variables_in(step.value)), default=0)
        depths[step.variable] = inner + (step.variable != "answer")
    return max(depths.values())
