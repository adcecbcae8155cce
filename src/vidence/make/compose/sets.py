"""The set of a step in a scene: who is in it without some conditions, and who of them is picked."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial, reduce
from operator import or_
from typing import Any, Literal, TypeAlias

from vidence.make.compose.scene_bits import Masks, Rows, SceneBits, bits
from vidence.make.sources.composition import (
    DIRECTIONS,
    Arithmetic,
    Atom,
    Compare,
    Expression,
    InDirection,
    Literally,
    Members,
    Related,
    Timed,
    Values,
    Variable,
)
from vidence.make.sources.scene import ValueOrNumber


@dataclass(frozen=True)
class Looking:
    """How somebody sees the plan; `free`: which of the eight directions, where it is left open."""

    place: str
    heading: float
    free: int | None = None


Held: TypeAlias = ValueOrNumber | Looking
Found: TypeAlias = tuple[Held, ...]
"""What the steps so far found, in their order."""
State: TypeAlias = tuple[Found, int]
"""What the steps found, and in how many bindings."""
_FEW = 24
"""Of so many the times are sorted; among more the first of all is found sooner."""


@dataclass(frozen=True)
class Pick:
    """`VARIABLE = the(...)`, `first(...)`, `nearest(...)`; or what a set is counted or asked for together.

    `to` is the variable of what something is nearest to; `attribute` the one whose commonest value is meant.
    """

    variable: str
    of: Expression
    how: Literal["the", "first", "last", "nearest", "farthest", "count", "mode"]
    by_end: bool = False
    condition: str = ""
    to: str = ""
    attribute: str = ""


@dataclass(frozen=True)
class Linked:
    """What reads a variable: its condition, the position of the variable, whom each value leaves."""

    bit: int
    variable: int
    rows: Mapping[Any, Masks]


class MemberSet:
    """The set of a step in a scene. Conditions are bits, so that those that are left out are one number.

    `is_plain`: every atom says a value, or is a relation or a time to what an earlier step found.
    """

    def __init__(
        self, pick: Pick, scene: SceneBits, *, bit_of: Mapping[str, int], place_of: Mapping[str, int]
    ) -> None:
        self.pick, self.scene, self._bit_of, self._place_of = pick, scene, bit_of, place_of
        self.is_plain = pick.how in ("the", "first", "last", "count")
        self.choosing = bit_of.get(pick.condition, 0)
        self.to = place_of[pick.to] if pick.to else -1
        self.fixed: list[tuple[int, Masks, ValueOrNumber | None]] = []
        self.linked: list[Linked] = []
        sides: list[InDirection] = []
        of = pick.of
        while isinstance(of, InDirection):
            sides.append(of)
            of = of.of
        if not isinstance(of, Members) or of.head:
            raise ValueError(f"{pick.variable}: a set is of a kind that is not evaluated here")
        self.category = of.category
        self.names, self.everybody = scene.members[of.category], scene.everybody[of.category]
        self.n_atoms = len(of.atoms)
        for atom in of.atoms:
            self._take(atom)
        for side in sides:
            rows = Rows(partial(self._in_direction, side.direction))
            self._link(side.condition, side.view, rows, is_plain=False)
        self.fixed_bits = reduce(or_, [bit for bit, _, _ in self.fixed], 0)
        self.linked_bits = reduce(or_, [one.bit for one in self.linked], self.choosing if pick.to else 0)
        self._left: dict[int, tuple[int, int, bool]] = {}
        self._chosen: dict[tuple[int, int, Held], tuple[int, bool]] = {}

    def _link(
        self, condition: str, to: Expression | None, rows: Mapping[Any, Masks], *, is_plain: bool = True
    ) -> None:
        if not isinstance(to, Variable):
            raise ValueError(f"{condition} is not evaluated here")
        self.linked.append(Linked(self._bit_of.get(condition, 0), self._place_of[to.name], rows))
        self.is_plain &= is_plain

    def _take(self, atom: Atom) -> None:
        scene, category, everybody = self.scene, self.category, self.everybody
        bit = self._bit_of.get(atom.condition, 0)
        match atom:
            case Compare(value=Literally(value=value)):
                kind = value if (atom.attribute, atom.how) == ("kind", "==") else None
                self.fixed.append((bit, compared(scene, category, atom, value=value), kind))
                self.is_plain &= atom.how in ("==", "!=")
            case Compare(value=Values(values=values)):
                self.fixed.append((bit, compared(scene, category, atom, value=values), None))
                self.is_plain = False
            case Compare(value=Variable(), how="==" | "!="):
                rows = scene.comparing(category, atom.attribute, how=atom.how)
                self._link(atom.condition, atom.value, rows)
            case Compare(value=Variable()):
                rows = Rows(lambda value: compared(scene, category, atom, value=value))
                self._link(atom.condition, atom.value, rows, is_plain=False)
            case Compare(value=Arithmetic(how=how, left=left, right=Literally(value=int() | float() as n))):
                more = n if how == "+" else -n
                rows = Rows(lambda value: compared(scene, category, atom, value=value + more))
                self._link(atom.condition, left, rows, is_plain=False)
            case Related(frame=""):
                held = scene.relating(category, atom.relation)
                rows = held if atom.holds else Rows(lambda other: held[other].without(everybody))
                self._link(atom.condition, atom.to, rows, is_plain=atom.holds)
            case Timed(seconds=()):
                self._link(atom.condition, atom.of, scene.timing(category, atom.how))
            case _:
                raise ValueError(f"{atom} is not evaluated here")

    def _in_direction(self, direction: str, view: Looking) -> Masks:
        heading = view.heading if view.free is None else view.free * 360 / len(DIRECTIONS)
        must = may = 0
        for i, name in enumerate(self.names):
            side = self.scene.ground.sector(name, view.place, heading) if name != view.place else ""
            may |= (side is None or side == direction) << i
            must |= (side == direction) << i
        return Masks(must, may)

    def left(self, dropped: int) -> tuple[int, int, bool]:
        """Whom the atoms without variables leave: certainly, perhaps; whether members may be missing."""
        key = dropped & self.fixed_bits
        if key not in self._left:
            must = may = self.everybody
            kinds = list[ValueOrNumber]()
            for bit, masks, kind in self.fixed:
                if not bit & dropped:
                    must, may = must & masks.must, may & masks.may
                    kinds += [kind] if kind is not None else []
            scene = self.scene
            is_listed = scene.lists_all(self.category) or (bool(kinds) and all(map(scene.lists_kind, kinds)))
            self._left[key] = must, may, not is_listed
        return self._left[key]

    def members(self, values: Found, dropped: int) -> tuple[int, int, bool]:
        """Who certainly is in the set, who may be, and whether members may be missing."""
        must, may, is_open = self.left(dropped)
        for one in self.linked:
            if not one.bit & dropped:
                masks = one.rows[values[one.variable]]
                must, may = must & masks.must, may & masks.may
        return must, may, is_open

    def picked(self, states: Sequence[State], dropped: int) -> Iterator[tuple[Found, int, int, bool, bool]]:
        """The states, each with who is picked in turn, and whether that is in doubt, or several."""
        all_must, all_may, is_open = self.left(dropped)
        linked = [(one.variable, one.rows) for one in self.linked if not one.bit & dropped]
        is_the = self.pick.how == "the"
        is_everybody = is_the or bool(self.choosing & dropped)
        for values, count in states:
            must, may = all_must, all_may
            for variable, rows in linked:
                masks = rows[values[variable]]
                must, may = must & masks.must, may & masks.may
            if is_everybody:
                yield values, count, must, is_open or must != may, is_the and bool(must & (must - 1))
            elif is_open:
                yield values, count, 0, True, False
            else:
                key = must, may, values[self.to] if self.to >= 0 else ""
                found = self._chosen.get(key)
                if found is None:
                    found = self._chosen[key] = self._choose(must, may, str(key[2]))
                yield values, count, *found, False

    def picked_or_all(
        self, states: Sequence[State], dropped: int, *, is_all: bool
    ) -> Iterator[tuple[Found, int, int, bool, bool]]:
        """As `picked`; or everybody, where the whole step is left out."""
        if not is_all:
            return self.picked(states, dropped)
        return ((values, count, self.everybody, False, False) for values, count in states)

    def _choose(self, must: int, may: int, to: str) -> tuple[int, bool]:
        if to:
            return self._nearest(must, may, to)
        if not must or may.bit_count() == 1:
            return must, must != may
        order, untimed = self.scene.in_order(self.category, by_end=self.pick.by_end)
        if untimed & may:
            return 0, True
        if may.bit_count() <= _FEW:
            times = self.scene.times(self.category, by_end=self.pick.by_end)
            order = sorted([(times[i], i) for i in bits(may)])
        there = (one for one in (order if self.pick.how == "first" else reversed(order)) if may >> one[1] & 1)
        at, place = next(there)
        time, _ = next(there)
        # Whoever comes first has to be in the set, and the next one has to come later, for certain.
        is_open = not must >> place & 1 or abs(time - at) < self.scene.margin_s or time == at
        return (0, True) if is_open else (1 << place, False)

    def _nearest(self, must: int, may: int, to: str) -> tuple[int, bool]:
        """Who certainly is nearest to something, or farthest from it, before all who may be there."""
        apart = self.scene.place[self.category].get(to)
        kept = may if apart is None else may & ~(1 << apart)
        is_nearer = self.scene.ground.is_nearer
        for i in bits(must & kept):
            others = [(self.names[i], self.names[other]) for other in bits(kept) if other != i]
            pairs = others if self.pick.how == "nearest" else [(b, a) for a, b in others]
            if all(is_nearer(a, b, to) is True for a, b in pairs):
                return 1 << i, False
        return 0, bool(kept)

    def together(self, values: Found, dropped: int) -> tuple[Sequence[ValueOrNumber], bool]:
        """How many there are, or the value that most of them have; and whether that is in doubt."""
        must, may, is_open = self.members(values, dropped)
        if must != may or is_open:
            return [], True
        if self.pick.how == "count":
            return [must.bit_count()], False
        column = self.scene.column(self.category, self.pick.attribute)
        if must & column.doubtful or any(len(column.told[i]) > 1 for i in bits(must)):
            return [], True
        counts = {value: n for value, n in column.counts(must)}
        best = [value for value, n in counts.items() if n == max(counts.values())]
        return best if len(best) == 1 else [], False


def compared(
    scene: SceneBits, category: str, atom: Compare, *, value: ValueOrNumber | tuple[ValueOrNumber, ...]
) -> Masks:
    """Who of a category is as an atom compares it with a value, or with one of several."""
    if isinstance(value, tuple):
        each = [scene.compared(category, atom.attribute, how="==", value=one) for one in value]
        return Masks(reduce(or_, [one.must for one in each], 0), reduce(or_, [one.may for one in each], 0))
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
