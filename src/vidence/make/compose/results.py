"""What the steps of a composition allow without some conditions, by bit operations.

The programs that the search writes are known here: steps that pick one of a set, read a value or a role, look
from somewhere, and an answer that is read, counted, or found in a table.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from vidence.make.compose.reached import (
    Elsewhere,
    Reached,
    Unique,
    answer_domain,
    anything,
    domain_of,
)
from vidence.make.compose.scene_bits import Column, SceneBits, bits
from vidence.make.compose.sets import Found, Held, Looking, MemberSet, Pick, State
from vidence.make.sources.composition import (
    DIRECTIONS,
    Aggregate,
    AttributeOf,
    Composition,
    DirectionOf,
    Known,
    Select,
    Step,
    The,
    Variable,
    View,
)
from vidence.make.sources.proof import Binding
from vidence.make.sources.scene import ValueOrNumber


@dataclass(frozen=True)
class AttributeRead:
    """`VARIABLE = SOURCE.WORD`: an attribute, a role or `kind`."""

    variable: str
    source: str
    word: str


@dataclass(frozen=True)
class Derived:
    """What follows from single things: a view, a direction in one, what a table says. `of` are variables.

    Without its `condition` a view is of its first variable alone.
    """

    variable: str
    of: tuple[str, ...]
    value: View | DirectionOf | Known
    condition: str = ""


_Evaluated: TypeAlias = Pick | AttributeRead | Derived


def step_of(step: Step) -> _Evaluated:
    """A step as it is evaluated here.

    Raises:
        ValueError: it is of another kind.
    """
    name = step.variable
    match step.value:
        case The(of=of):
            return Pick(name, of, "the")
        case Select(how="first" | "last" as how, of=of, by="appears" | "begins" | "ends" as by) as one:
            return Pick(name, of, how, by == "ends", one.condition)
        case Select(how="nearest" | "farthest" as how, of=of, to=Variable(name=to)) as one:
            return Pick(name, of, how, condition=one.condition, to=to)
        case Aggregate(how="count" | "mode" as how, of=of, attribute=attribute):
            return Pick(name, of, how, attribute=attribute)
        case AttributeOf(of=Variable(name=source), at=None, name=word):
            return AttributeRead(name, source, word)
        case View(of=Variable(name=of), facing=Variable(name=at), facing_condition=condition) as view:
            return Derived(name, (of, at), view, condition)
        case DirectionOf(of=Variable(name=of), view=Variable(name=seen)) as direction:
            return Derived(name, (of, seen), direction)
        case Known(of=Variable(name=of)) as known:
            return Derived(name, (of,), known)
        case _:
            raise ValueError("a step is of a kind that is not evaluated here")


class Results:
    """The results of one composition in one scene. `dropped` are the bits of conditions that are left out.

    Attributes:
        is_plain: whether every step picks or reads, by sets that are plain; leaving out is quick then.

    Raises:
        ValueError: a step is of a kind that the search does not draw.
    """

    def __init__(self, composition: Composition, scene: SceneBits) -> None:
        self.composition, self.scene = composition, scene
        self.bit_of = {one.id: 1 << i for i, one in enumerate(composition.conditions)}
        self.domain = answer_domain(composition)
        self.variables = [step.variable for step in composition.steps]
        place_of = {name: i for i, name in enumerate(self.variables)}
        try:
            self.steps = [step_of(step) for step in composition.steps]
            self._sets = [
                MemberSet(one, scene, bit_of=self.bit_of, place_of=place_of)
                if isinstance(one, Pick)
                else None
                for one in self.steps
            ]
        except ValueError as error:
            raise ValueError(f"{composition.composition}: {error}") from error
        self._source = [place_of[one.source] if isinstance(one, AttributeRead) else -1 for one in self.steps]
        self._of = [
            [place_of[name] for name in one.of] if isinstance(one, Derived) else [] for one in self.steps
        ]
        self._views = [self.bit_of.get(getattr(one, "condition", ""), 0) for one in self.steps]
        self.is_plain = all(
            isinstance(step, AttributeRead) or (one is not None and one.is_plain)
            for step, one in zip(self.steps, self._sets, strict=True)
        )
        self._inside, self._linked_bits = self._bits_inside()
        self._lives: dict[int, list[tuple[int, ...]]] = {}
        self._counts: dict[int, tuple[tuple[ValueOrNumber, int], ...]] = {}
        self._kept: dict[tuple[int, int, int], tuple[list[State], bool, bool]] = {}

    @property
    def sets(self) -> list[MemberSet]:
        """The sets of the steps that have one."""
        return [one for one in self._sets if one is not None]

    def _bits_inside(self) -> tuple[list[int], int]:
        """The conditions of the first steps, for each number of steps; and all that decide what is read."""
        inside, linked = [0], 0
        for one, view in zip(self._sets, self._views, strict=True):
            reads = view if one is None else one.linked_bits
            linked |= reads
            inside.append(inside[-1] | reads | view | (0 if one is None else one.fixed_bits))
        return inside, linked

    def uses(self, i: int, dropped: int = 0) -> list[int]:
        """The steps that a step reads, by their places; not for conditions that are left out."""
        one = self._sets[i]
        if one is None:
            is_free = isinstance(self.steps[i], Derived) and bool(self._views[i] & dropped)
            return (self._of[i][:1] if is_free else self._of[i]) or [self._source[i]]
        read = [linked.variable for linked in one.linked if not linked.bit & dropped]
        return read if one.to < 0 or one.choosing & dropped else [one.to, *read]

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

    def states(self, n: int, dropped: int, free: int = -1) -> tuple[list[State], bool, bool]:
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

    def _next(self, i: int, dropped: int, free: int) -> tuple[list[State], bool, bool]:
        if free != i and self._reads_off(i) and i - 1 not in self._live(i, dropped):
            return self._next_read(i, dropped, free)
        before, is_doubtful, is_several = self.states(i, dropped, free)
        live = self._live(i, dropped)
        is_one = len(before) == 1 and i in live
        found: dict[Found, State] = {}
        for values, count, told, doubt, several in self._told(i, before, dropped=dropped, free=free):
            is_doubtful, is_several = is_doubtful or doubt, is_several or several
            if is_one:
                return [((*values, value), count) for value in told], is_doubtful, is_several
            for value in told:
                _merge(found, (*values, value), count, live=live)
        return list(found.values()), is_doubtful, is_several

    def _told(
        self, i: int, before: Sequence[State], *, dropped: int, free: int
    ) -> Iterator[tuple[Found, int, Sequence[Held], bool, bool]]:
        """The states, each with what a step finds in it, and whether that is in doubt, or several."""
        one = self._sets[i]
        if i == free:
            domain = domain_of(self.variables[i], self.composition, scene=self.scene)
            every = anything(domain, self.scene)
            yield from ((values, count, every, False, False) for values, count in before)
        elif one is None or one.pick.how in ("count", "mode"):
            for values, count in before:
                yield values, count, *self._single(i, values, dropped), False
        else:
            names = one.names
            for values, count, mask, doubt, several in one.picked(before, dropped):
                yield values, count, [names[place] for place in bits(mask)], doubt, several

    def _reads_off(self, i: int) -> bool:
        """Whether a step reads what the step before it picks."""
        return i > 0 and self._source[i] == i - 1 and self._sets[i - 1] is not None

    def _next_read(self, i: int, dropped: int, free: int) -> tuple[list[State], bool, bool]:
        """States after a pick and a value read off it, where nothing else reads the pick: value by value."""
        before, is_doubtful, is_several = self.states(i - 1, dropped, free)
        one, step, live = self._sets[i - 1], self.steps[i], self._live(i, dropped)
        assert one is not None and isinstance(step, AttributeRead)  # noqa: S101, PT018 - `_reads_off`
        column = self.scene.column(one.category, step.word)
        found: dict[Found, State] = {}
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
            told, doubt = self._single(last, values, dropped)
            found.is_doubtful |= doubt
            for value in told:
                assert not isinstance(value, Looking)  # noqa: S101 - no answer is a view
                found.values[value] = found.values.get(value, 0) + count
                if found.first is None:
                    found.first = value, self._binding(values)
                if answer is not None and found.other is None and self.is_other(value, answer):
                    found.other = value, self._binding(values)
        return found

    def _binding(self, values: Found) -> Binding:
        pairs = list(zip(self.variables, values, strict=False))
        bound = {name: value for name, value in pairs if not isinstance(value, Looking)}
        for _, view in pairs:
            if isinstance(view, Looking) and view.free is not None:
                bound["view"] = DIRECTIONS[view.free]
        return bound

    def _single(self, i: int, values: Found, dropped: int) -> tuple[Sequence[Held], bool]:
        """What a step that picks nobody finds, and whether that is in doubt."""
        step, one = self.steps[i], self._sets[i]
        if one is not None:
            return one.together(values, dropped)
        if isinstance(step, AttributeRead):
            return self.scene.told(str(values[self._source[i]]), step.word)
        assert isinstance(step, Derived)  # noqa: S101 - what picks and reads nothing
        found = self._derived(step, [values[place] for place in self._of[i]], bool(self._views[i] & dropped))
        return [one for one in found if one is not None], None in found

    def _derived(self, step: Derived, of: Sequence[Held], is_free: bool) -> Sequence[Held | None]:
        """What follows from single things; None where that is not known."""
        ground, name = self.scene.ground, str(of[0])
        match step.value:
            case View():
                if is_free:
                    return [Looking(name, 0.0, number) for number in range(len(DIRECTIONS))]
                heading = ground.bearing(name, str(of[1]))
                return [None if heading is None else Looking(name, heading)]
            case DirectionOf():
                view = of[1]
                assert isinstance(view, Looking)  # noqa: S101 - a view
                free = view.free
                return [ground.sector(name, view.place, view.heading) if free is None else DIRECTIONS[free]]
            case Known(table=table):
                return [None if isinstance(of[0], Looking) else ground.known.get((table, of[0]))]

    def _last_read(self) -> tuple[MemberSet, Column, str]:
        """The set of the last step but one, and what is read of it."""
        one, last = self._sets[-2], self.steps[-1]
        assert one is not None and isinstance(last, AttributeRead)  # noqa: S101, PT018 - `is_joined`
        return one, self.scene.column(one.category, last.word), last.word

    def _read_all(
        self,
        found: Reached,
        states: Sequence[State],
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
        self, one: MemberSet, column: Column, mask: int, *, values: Found, answer: ValueOrNumber | None = None
    ) -> tuple[ValueOrNumber, Binding] | None:
        for place in bits(mask):
            for value in column.told[place]:
                if answer is None or self.is_other(value, answer):
                    return value, self._binding((*values, one.names[place]))
        return None

    def is_other(self, value: Held, answer: ValueOrNumber) -> bool:
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
                told, doubt = self._single(last, values, dropped)
                is_doubtful = is_doubtful or doubt
                if any(self.is_other(value, answer) for value in told):
                    return "other"
                n += len(told)
        if is_doubtful or not n:
            return "unknown" if is_doubtful else "nothing"
        if not self.is_plain and len(without) == 1 and len(self.reached(without).values) > 1:
            return "unknown"  # values that are too near to tell
        return "same"


def _merge(found: dict[Found, State], made: Found, count: int, *, live: tuple[int, ...]) -> None:
    """Add a state; of those that later steps cannot tell apart the first stands for all."""
    key = tuple([made[place] for place in live])
    known = found.get(key)
    found[key] = (made, count) if known is None else (known[0], known[1] + count)
