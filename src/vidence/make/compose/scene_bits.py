"""Facts of a scene as bit sets: bit `i` of a category is its `i`-th member, by id."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from vidence.make.compose.world import Doubt, Truth, World
from vidence.make.sources.composition import Comparison, TimeWord
from vidence.make.sources.scene import Scene, ValueOrNumber


@dataclass(frozen=True)
class Masks:
    """Certain and possible members; the second set contains the first."""

    must: int
    may: int

    def without(self, everybody: int) -> "Masks":
        """Return the complement."""
        return Masks(everybody & ~self.may, everybody & ~self.must)


@dataclass(frozen=True)
class Column:
    """An attribute (or `kind`) of a category: the members with each value, and doubtful members."""

    values: dict[ValueOrNumber, int]
    doubtful: int
    told: tuple[tuple[ValueOrNumber, ...], ...]
    """The values of each member, in the order of the facts."""


def bits(mask: int) -> Iterator[int]:
    """Yield the positions of the set bits, lowest first.

    >>> list(bits(0b1010))
    [1, 3]
    """
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low


class SceneBits:
    """A scene queried by whole categories, with cached results."""

    def __init__(self, scene: Scene) -> None:
        self.scene, self.words, self.world = scene, scene.vocabulary, World(scene)
        self.margin_s = self.words.margins.time_s
        self.members = scene.members
        self.place = {c: {name: i for i, name in enumerate(names)} for c, names in self.members.items()}
        self.everybody = {c: (1 << len(names)) - 1 for c, names in self.members.items()}
        self.events, self.ends = self.world.events, self.world.ends
        self._columns: dict[tuple[str, str], Column] = {}
        self._comparing: dict[tuple[str, str, str, ValueOrNumber], Masks] = {}
        self._relating: dict[tuple[str, str, str], Masks] = {}
        self._timing: dict[tuple[str, str, str], Masks] = {}
        self._listed: dict[str, bool] = {}
        self._told_of: dict[tuple[str, str], tuple[tuple[ValueOrNumber, ...], bool]] = {}
        self._in_order: dict[tuple[str, bool], tuple[list[tuple[float, int]], int]] = {}

    # ----------------------------------------------------------------------- completeness

    def lists_all(self, category: str) -> bool:
        """Return whether a category is listed completely; for events, every kind."""
        if category not in self._listed:
            self._listed[category] = self.world.lists_all(category)
        return self._listed[category]

    def category_of(self, name: str) -> str:
        """Return the category of an entity or event."""
        return self.scene.entities[name].category

    # ----------------------------------------------------------------------- values

    def told(self, name: str, attribute: str) -> tuple[tuple[ValueOrNumber, ...], bool]:
        """Return the distinct values of an attribute of an entity, and whether others may be missing."""
        key = name, attribute
        if key not in self._told_of:
            self._told_of[key] = self._tell(name, attribute)
        return self._told_of[key]

    def _tell(self, name: str, attribute: str) -> tuple[tuple[ValueOrNumber, ...], bool]:
        if name not in self.events or attribute in self.words.attributes:
            values, doubt = self.world.values(name, attribute)
            return values, doubt is not None
        role = self.events[name].kind if attribute == "kind" else self.world.role(name, attribute)
        return ((role,) if isinstance(role, str) else ()), isinstance(role, Doubt)

    def column(self, category: str, attribute: str) -> Column:
        """Return an attribute over a category."""
        key = category, attribute
        if key not in self._columns:
            values: dict[ValueOrNumber, int] = {}
            doubtful, entries = 0, []
            for i, name in enumerate(self.members[category]):
                mine, is_open = self.told(name, attribute)
                entries.append(mine)
                doubtful |= is_open << i
                for value in mine:
                    values[value] = values.get(value, 0) | 1 << i
            self._columns[key] = Column(values, doubtful, tuple(entries))
        return self._columns[key]

    def compared(self, category: str, attribute: str, *, how: Comparison, value: ValueOrNumber) -> Masks:
        """Return the members for which a comparison with a value holds."""
        key = category, attribute, how, value
        if key not in self._comparing:
            self._comparing[key] = self._compare(category, attribute, value, how=how)
        return self._comparing[key]

    def _compare(self, category: str, attribute: str, value: ValueOrNumber, *, how: Comparison) -> Masks:
        if how == "!=":
            equal = self.compared(category, attribute, how="==", value=value)
            return equal.without(self.everybody[category])
        return _masks(self.members[category], lambda name: self._is(name, attribute, value, how=how))

    def _is(self, name: str, attribute: str, value: ValueOrNumber, *, how: Comparison) -> Truth:
        if name in self.events and attribute not in self.words.attributes:
            mine, is_open = self.told(name, attribute)
            return Doubt("unknown-fact", attribute) if is_open else value in mine
        return self.world.compare(name, attribute, how=how, value=value)

    # ----------------------------------------------------------------------- relations

    def related(self, category: str, relation: str, to: str) -> Masks:
        """Return the members related to something."""
        key = category, relation, to
        if key not in self._relating:
            self._relating[key] = _masks(
                self.members[category], lambda name: self.world.related(name, relation, to)
            )
        return self._relating[key]

    # ----------------------------------------------------------------------- time

    def timed(self, category: str, how: TimeWord, of: str) -> Masks:
        """Return the members for which a temporal statement holds."""
        key = category, how, of
        if key not in self._timing:
            self._timing[key] = _masks(
                self.members[category], lambda name: self.world.timed(name, how, of=of, seconds=())
            )
        return self._timing[key]

    def in_order(self, category: str, *, by_end: bool) -> tuple[list[tuple[float, int]], int]:
        """Return times and positions of members, earliest first, and members without time as a bit set."""
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


def _masks(names: Sequence[str], is_so: Callable[[str], Truth]) -> Masks:
    must = may = 0
    for i, name in enumerate(names):
        truth = is_so(name)
        if truth is not False:
            may |= 1 << i
            must |= (truth is True) << i
    return Masks(must, may)
