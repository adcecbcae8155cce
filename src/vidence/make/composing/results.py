"""What the steps of a composition allow without some conditions, by bit operations.

Only the programs that the search writes are known here (`is_known`): steps that pick `the`, `first` or
`last` of a category under atoms, steps that read a value or a role, and an answer that is read or counted.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import or_
from typing import Literal, TypeAlias

from vidence.make.composing.reached import (
    Elsewhere,
    Reached,
    Unique,
    answer_domain,
    anything,
    domain_of,
)
from vidence.make.composing.scene_bits import TIME_WORDS, Column, Masks, SceneBits, bits
from vidence.make.scene_graph.composition import (
    Aggregate,
    Atom,
    AttributeOf,
    Compare,
    Composition,
    Literally,
    Members,
    Related,
    Select,
    Step,
    The,
    Timed,
    Variable,
)
from vidence.make.scene_graph.proof import (
    Binding,
)
from vidence.make.scene_graph.scene import ValueOrNumber

_Values: TypeAlias = tuple[ValueOrNumber, ...]
"""What the steps so far found, in their order."""
_State: TypeAlias = tuple[_Values, int]


_FEW = 24
"""Of so many the times are sorted; among more the first of all is found sooner."""


@dataclass(frozen=True)
class Pick:
    """`VARIABLE = the(...)`, `first(...)`, `last(...)`; or, with `counts`, the answer `count(...)`."""

    variable: str
    members: Members
    how: Literal["the", "first", "last", "count"]
    by_end: bool = False
    condition: str = ""


@dataclass(frozen=True)
class Read:
    """`VARIABLE = SOURCE.WORD`: an attribute, a role or `kind`."""

    variable: str
    source: str
    word: str


_Known: TypeAlias = Pick | Read


def step_of(step: Step) -> _Known | None:
    """A step as it is evaluated here; None where it is of another kind."""
    match step.value:
        case The(of=Members() as members, pick=step.variable) if _is_plain(members):
            return Pick(step.variable, members, "the")
        case Select(how="first" | "last" as how, of=Members() as members, pick=step.variable) as one:
            if one.by in ("appears", "begins", "ends") and _is_plain(members):
                return Pick(step.variable, members, how, one.by == "ends", one.condition)
        case AttributeOf(of=Variable(name=name), at=None, name=word):
            return Read(step.variable, name, word)
        case Aggregate(how="count", of=Members() as members) if step.variable == "answer" and _is_plain(
            members
        ):
            return Pick(step.variable, members, "count")
        case _:
            pass
    return None


def _is_plain(members: Members) -> bool:
    return not members.head and all(map(_is_known_atom, members.atoms))


def _is_known_atom(atom: Atom) -> bool:
    match atom:
        case Compare(how="==" | "!=", value=Literally() | Variable()):
            return True
        case Related(to=Variable(), holds=True, frame=""):
            return True
        case Timed(of=Variable(), seconds=(), how=how):
            return how in TIME_WORDS
        case _:
            return False


def is_known(composition: Composition) -> bool:
    """Whether every step is of a kind that is evaluated here."""
    return all(step_of(step) is not None for step in composition.steps)


@dataclass(frozen=True)
class _Linked:
    """An atom that reads a variable: its condition, the position of the variable, whom each value leaves."""

    bit: int
    variable: int
    rows: Mapping[ValueOrNumber, Masks]


class _Set:
    """The set of a step in a scene. Conditions are bits, so that those that are left out are one number."""

    def __init__(
        self, pick: Pick, scene: SceneBits, *, bit_of: Mapping[str, int], place_of: Mapping[str, int]
    ) -> None:
        self.pick, self.scene = pick, scene
        self.category = pick.members.category
        self.names = scene.members[self.category]
        self.everybody = scene.everybody[self.category]
        self.choosing = bit_of.get(pick.condition, 0)
        self.fixed: list[tuple[int, Masks, ValueOrNumber | None]] = []
        self.linked: list[_Linked] = []
        for atom in pick.members.atoms:
            self._take(atom, bit_of.get(atom.condition, 0), place_of)
        self.fixed_bits = reduce(or_, [bit for bit, _, _ in self.fixed], 0)
        self.linked_bits = reduce(or_, [one.bit for one in self.linked], 0)
        self._left: dict[int, tuple[int, int, bool]] = {}
        self._chosen: dict[tuple[int, int], tuple[int, bool]] = {}

    def _take(self, atom: Atom, bit: int, place_of: Mapping[str, int]) -> None:
        scene, category = self.scene, self.category
        match atom:
            case Compare(value=Literally(value=value)):
                masks = scene.compared(category, atom.attribute, how=atom.how, value=value)
                is_kind = (atom.attribute, atom.how) == ("kind", "==")
                self.fixed.append((bit, masks, value if is_kind else None))
            case Compare(value=Variable(name=name)):
                rows = scene.comparing(category, atom.attribute, how=atom.how)
                self.linked.append(_Linked(bit, place_of[name], rows))
            case Related(to=Variable(name=name)):
                self.linked.append(_Linked(bit, place_of[name], scene.relating(category, atom.relation)))
            case Timed(of=Variable(name=name)):
                self.linked.append(_Linked(bit, place_of[name], scene.timing(category, atom.how)))
            case _:
                raise ValueError(f"{atom} is not evaluated here")

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

    def members(self, values: _Values, dropped: int) -> tuple[int, int, bool]:
        """Who certainly is in the set, who may be, and whether members may be missing."""
        must, may, is_open = self.left(dropped)
        for one in self.linked:
            if not one.bit & dropped:
                masks = one.rows[values[one.variable]]
                must, may = must & masks.must, may & masks.may
        return must, may, is_open

    def picked(
        self, states: Sequence[_State], dropped: int
    ) -> Iterator[tuple[_Values, int, int, bool, bool]]:
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
                if (must, may) not in self._chosen:
                    self._chosen[must, may] = self._choose(must, may)
                yield values, count, *self._chosen[must, may], False

    def picked_or_all(
        self, states: Sequence[_State], dropped: int, *, is_all: bool
    ) -> Iterator[tuple[_Values, int, int, bool, bool]]:
        """As `picked`; or everybody, where the whole step is left out."""
        if not is_all:
            return self.picked(states, dropped)
        return ((values, count, self.everybody, False, False) for values, count in states)

    def _choose(self, must: int, may: int) -> tuple[int, bool]:
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


class Results:
    """The results of one composition in one scene. `dropped` are the bits of conditions that are left out."""

    def __init__(self, composition: Composition, scene: SceneBits) -> None:
        self.composition, self.scene = composition, scene
        known = [step_of(step) for step in composition.steps]
        self.steps: list[_Known] = [one for one in known if one is not None]
        if len(self.steps) < len(known):
            raise ValueError(f"{composition.composition}: a step is of a kind that is not evaluated here")
        self.bit_of = {one.id: 1 << i for i, one in enumerate(composition.conditions)}
        self.domain = answer_domain(composition)
        self.variables = [step.variable for step in self.steps]
        place_of = {name: i for i, name in enumerate(self.variables)}
        self._sets = [
            _Set(one, scene, bit_of=self.bit_of, place_of=place_of) if isinstance(one, Pick) else None
            for one in self.steps
        ]
        self._source = [place_of[one.source] if isinstance(one, Read) else -1 for one in self.steps]
        self._inside = self._bits_inside()
        self._lives: dict[int, list[tuple[int, ...]]] = {}
        self._counts: dict[int, tuple[tuple[ValueOrNumber, int], ...]] = {}
        self._kept: dict[tuple[int, int, int], tuple[list[_State], bool, bool]] = {}
        self._linked_bits = reduce(or_, [one.linked_bits for one in self._sets if one is not None], 0)

    def _bits_inside(self) -> list[int]:
        """The conditions of the first steps, for each number of steps."""
        inside = [0]
        for one in self._sets:
            own = 0 if one is None else one.fixed_bits | one.linked_bits | one.choosing
            inside.append(inside[-1] | own)
        return inside

    def uses(self, i: int, dropped: int = 0) -> list[int]:
        """The steps that a step reads, by their places; not for conditions that are left out."""
        one = self._sets[i]
        if one is None:
            return [self._source[i]]
        return [linked.variable for linked in one.linked if not linked.bit & dropped]

    def _live(self, i: int, dropped: int) -> tuple[int, ...]:
        """The variables up to a step that later steps read."""
        key = dropped & self._linked_bits
        if key not in self._lives:
            n = len(self.steps)
            later = {place: at for at in range(n) for place in self.uses(at, key)}
            self._lives[key] = [
                tuple([place for place in range(at + 1) if later.get(place, -1) > at]) for at in range(n)
            ]
        return self._lives[key][i]

    # ----------------------------------------------------------------------- states

    def states(self, n: int, dropped: int, free: int = -1) -> tuple[list[_State], bool, bool]:
        """What the first steps allow, whether it is in doubt, and whether a step finds several.

        States that later steps cannot tell apart are one, with the number of bindings and the first of them.

        Args:
            n: how many steps.
            dropped: the conditions that are left out.
            free: the step that is left out as a whole; below 0: none.
        """
        if n == 0:
            return [((), 1)], False, False
        key = n, dropped & (self._inside[n] | self._linked_bits), free if free < n else -1
        if key not in self._kept:
            self._kept[key] = self._next(n - 1, dropped, free)
        return self._kept[key]

    def _next(self, i: int, dropped: int, free: int) -> tuple[list[_State], bool, bool]:
        if free != i and self._reads_off(i) and i - 1 not in self._live(i, dropped):
            return self._next_read(i, dropped, free)
        before, is_doubtful, is_several = self.states(i, dropped, free)
        live = self._live(i, dropped)
        is_one = len(before) == 1 and i in live
        found: dict[_Values, _State] = {}
        for values, count, told, doubt, several in self._told(i, before, dropped=dropped, free=free):
            is_doubtful, is_several = is_doubtful or doubt, is_several or several
            if is_one:
                return [((*values, value), count) for value in told], is_doubtful, is_several
            for value in told:
                _merge(found, (*values, value), count, live=live)
        return list(found.values()), is_doubtful, is_several

    def _told(
        self, i: int, before: Sequence[_State], *, dropped: int, free: int
    ) -> Iterator[tuple[_Values, int, Sequence[ValueOrNumber], bool, bool]]:
        """The states, each with what a step finds in it, and whether that is in doubt, or several."""
        one, step = self._sets[i], self.steps[i]
        if i == free:
            domain = domain_of(step.variable, self.composition, scene=self.scene)
            every = anything(domain, self.scene)
            yield from ((values, count, every, False, False) for values, count in before)
        elif isinstance(step, Read):
            source = self._source[i]
            for values, count in before:
                yield values, count, *self.scene.told(str(values[source]), step.word), False
        elif one is not None:
            names = one.names
            for values, count, mask, doubt, several in one.picked(before, dropped):
                yield values, count, [names[place] for place in bits(mask)], doubt, several

    def _reads_off(self, i: int) -> bool:
        """Whether a step reads what the step before it picks."""
        return i > 0 and self._source[i] == i - 1 and self._sets[i - 1] is not None

    def _next_read(self, i: int, dropped: int, free: int) -> tuple[list[_State], bool, bool]:
        """States after a pick and a value read off it, where nothing else reads the pick: value by value."""
        before, is_doubtful, is_several = self.states(i - 1, dropped, free)
        one, step, live = self._sets[i - 1], self.steps[i], self._live(i, dropped)
        assert one is not None and isinstance(step, Read)  # noqa: S101, PT018 - `_reads_off`
        column = self.scene.column(one.category, step.word)
        found: dict[_Values, _State] = {}
        for values, count, mask, doubt, several in one.picked_or_all(before, dropped, is_all=free == i - 1):
            is_several = is_several or several
            is_doubtful = is_doubtful or doubt or bool(mask & column.doubtful)
            for place, value, n in column.firsts(mask):
                made = (*values, one.names[place], value)
                _merge(found, made, n * count, live=live)
        return list(found.values()), is_doubtful, is_several

    # ----------------------------------------------------------------------- results

    @property
    def is_joined(self) -> bool:
        """Whether the answer is read off the step before it."""
        return self._reads_off(len(self.steps) - 1)

    def whole(self, unique: Unique) -> Reached | None:
        """What comes out with all conditions; None where that is not one, as soon as it is clear."""
        is_each = unique == "each step"
        for n in range(1, len(self.steps) - self.is_joined):
            if not (self._reads_off(n) and n - 1 not in self._live(n, 0)):
                states, is_doubtful, is_several = self.states(n, 0)
                if is_doubtful or (is_several and is_each) or not states:
                    return None
        found = self.reached()
        return found if found.is_one(unique) else None

    def reached(
        self, without: Sequence[str] = (), *, free: str = "", answer: ValueOrNumber | None = None
    ) -> Reached:
        """Every value with the number of its bindings, without some conditions, or a whole step."""
        return self._reached(self._bits(without), self.variables.index(free) if free else -1, answer)

    def _bits(self, conditions: Sequence[str]) -> int:
        return sum(self.bit_of[name] for name in conditions)

    def _reached(self, dropped: int, free: int, answer: ValueOrNumber | None) -> Reached:
        found, last = Reached(), len(self.steps) - 1
        if self.is_joined:
            states, found.is_doubtful, found.is_several = self.states(last - 1, dropped, free)
            self._read_all(found, states, dropped=dropped, free=free, answer=answer)
            return found
        states, found.is_doubtful, found.is_several = self.states(last, dropped, free)
        for values, count in states:
            told, doubt = self._last_values(values, dropped)
            found.is_doubtful |= doubt
            for value in told:
                found.values[value] = found.values.get(value, 0) + count
                if found.first is None:
                    found.first = value, self._binding(values)
                if answer is not None and found.other is None and self.is_other(value, answer):
                    found.other = value, self._binding(values)
        return found

    def _binding(self, values: _Values) -> Binding:
        return dict(zip(self.variables, values, strict=False))

    def _last_values(self, values: _Values, dropped: int) -> tuple[Sequence[ValueOrNumber], bool]:
        last, one = self.steps[-1], self._sets[-1]
        if isinstance(last, Read):
            return self.scene.told(str(values[self._source[-1]]), last.word)
        assert one is not None  # noqa: S101 - what reads nothing, counts
        must, may, is_open = one.members(values, dropped)
        return ([], True) if must != may or is_open else ([must.bit_count()], False)

    def _last_read(self) -> tuple[_Set, Column, str]:
        """The set of the last step but one, and what is read of it."""
        one, last = self._sets[-2], self.steps[-1]
        assert one is not None and isinstance(last, Read)  # noqa: S101, PT018 - `is_joined`
        return one, self.scene.column(one.category, last.word), last.word

    def _read_all(
        self,
        found: Reached,
        states: Sequence[_State],
        *,
        dropped: int,
        free: int,
        answer: ValueOrNumber | None,
    ) -> None:
        """Add what the last pick and what is read of it give, without going through the members."""
        one, column, word = self._last_read()
        is_free = free == len(self.steps) - 2
        others = None if answer is None else self.scene.others(one.category, word, answer)
        counts, total, kept = self._counts, found.values, self._counts.get
        for values, count, mask, doubt, several in one.picked_or_all(states, dropped, is_all=is_free):
            if doubt or several or mask & column.doubtful:
                found.is_doubtful |= doubt or bool(mask & column.doubtful)
                found.is_several |= several
            if not mask:
                continue
            told = kept(mask)
            if told is None:
                told = counts[mask] = column.counts(mask)
            for value, n in told:
                total[value] = total.get(value, 0) + n * count
            if found.first is None:
                found.first = self._first(one, column, mask, values=values)
            if others is not None and found.other is None and mask & others:
                found.other = self._first(one, column, mask & others, values=values, answer=answer)

    def _first(
        self, one: _Set, column: Column, mask: int, *, values: _Values, answer: ValueOrNumber | None = None
    ) -> tuple[ValueOrNumber, Binding] | None:
        for place in bits(mask):
            for value in column.told[place]:
                if answer is None or self.is_other(value, answer):
                    return value, self._binding((*values, one.names[place]))
        return None

    def is_other(self, value: ValueOrNumber, answer: ValueOrNumber) -> bool:
        """Whether a value certainly is not the answer."""
        return value != answer and not self.scene.words.is_near(self.domain, value, answer)

    def goes_elsewhere(self, without: Sequence[str], answer: ValueOrNumber) -> Elsewhere:
        """What comes out without some conditions; stops at the first other value."""
        dropped, last, n = self._bits(without), len(self.steps) - 1, 0
        if self.is_joined:
            one, column, word = self._last_read()
            others = self.scene.others(one.category, word, answer)
            states, is_doubtful, _ = self.states(last - 1, dropped)
            for _, _, mask, doubt, _ in one.picked(states, dropped):
                if mask & others:
                    return "other"
                is_doubtful = is_doubtful or doubt or bool(mask & column.doubtful)
                n += bool(mask)
        else:
            states, is_doubtful, _ = self.states(last, dropped)
            for values, _ in states:
                told, doubt = self._last_values(values, dropped)
                is_doubtful = is_doubtful or doubt
                if any(self.is_other(value, answer) for value in told):
                    return "other"
                n += len(told)
        return "unknown" if is_doubtful else "same" if n else "nothing"


def _merge(found: dict[_Values, _State], made: _Values, count: int, *, live: tuple[int, ...]) -> None:
    """Add a state; of those that later steps cannot tell apart the first stands for all."""
    key = tuple([made[place] for place in live])
    known = found.get(key)
    found[key] = (made, count) if known is None else (known[0], known[1] + count)
