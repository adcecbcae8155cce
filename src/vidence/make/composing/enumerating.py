"""What the steps of a composition of any shape that the search draws allow, binding by binding.

`results` does the same by bit operations alone, for the shapes that are drawn most.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from vidence.make.composing.reached import (
    Elsewhere,
    Reached,
    Unique,
    answer_domain,
    anything,
    domain_of,
)
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
    variables_in,
)
from vidence.make.scene_graph.proof import (
    Binding,
)
from vidence.make.scene_graph.scene import ValueOrNumber


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


class Enumeration:
    """The results of one composition in one scene."""

    def __init__(self, composition: Composition, scene: SceneBits) -> None:
        self.composition, self.scene, self.steps = composition, scene, composition.steps
        self.domain = answer_domain(composition)
        self._inside = [frozenset(conditions_in(step.value)) for step in self.steps]
        self._kept: dict[tuple[int, frozenset[str], str], tuple[list[_State], Met]] = {}
        self._made: dict[tuple[object, ...], tuple[list[_Outcome], Met]] = {}

    # ----------------------------------------------------------------------- results

    def whole(self, unique: Unique) -> Reached | None:
        """What comes out with all conditions; None where that is not one."""
        found = self.reached()
        return found if found.is_one(unique) else None

    def reached(
        self, without: Sequence[str] = (), *, free: str = "", answer: ValueOrNumber | None = None
    ) -> Reached:
        """Every value with the number of its bindings, without some conditions, or a whole step."""
        states, met = self._states(len(self.steps), frozenset(without), free)
        found = Reached(is_doubtful=met.is_doubtful, is_several=met.is_several)
        for env, binding, count in states:
            value = env["answer"]
            if isinstance(value, Looking):
                continue
            found.values[value] = found.values.get(value, 0) + count
            found.first = found.first or (value, binding)
            if found.other is None and answer is not None and self.is_other(value, answer):
                found.other = value, binding
        return found

    def goes_elsewhere(self, without: Sequence[str], answer: ValueOrNumber) -> Elsewhere:
        """What comes out without some conditions; without one, a value too near to tell is unknown."""
        found = self.reached(without, answer=answer)
        if found.other is not None:
            return "other"
        is_near = len(without) == 1 and any(value != answer for value in found.values)
        if found.is_doubtful or is_near:
            return "unknown"
        return "same" if found.values else "nothing"

    def is_other(self, value: ValueOrNumber, answer: ValueOrNumber) -> bool:
        """Whether a value certainly is not the answer."""
        return value != answer and not self.scene.words.is_near(self.domain, value, answer)

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
        domain = domain_of(step.variable, self.composition, scene=self.scene)
        return [(value, {}) for value in anything(domain, self.scene)]

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
                heading = self.scene.ground.bearing(place, str(here.env[at]))
                here.met.is_doubtful |= heading is None
                if heading is not None:
                    yield Looking(place, heading), {}
                return
            case DirectionOf(of=Variable(name=of), view=Variable(name=view)):
                found = self._side(str(here.env[of]), here.env[view])
            case Known(table=table, of=Variable(name=of)):
                value = here.env[of]
                found = (
                    self.scene.ground.known.get((table, value)) if not isinstance(value, Looking) else None
                )
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
        return self.scene.ground.sector(name, view.place, view.heading)

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
            side = self.scene.ground.sector(name, view.place, heading) if name != view.place else ""
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
                return self.scene.ground.is_nearer(first, second, str(env[one.to.name]))
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
