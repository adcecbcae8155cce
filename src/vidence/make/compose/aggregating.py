"""What the members of a set have together: all values, the commonest, the largest, the longest run."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import TypeAlias

from vidence.make.compose.world import Doubt, World
from vidence.make.sources.composition import Aggregate
from vidence.make.sources.scene import ValueOrNumber


@dataclass(frozen=True)
class Nothing:
    """That there is no such value, and why."""

    says: str


Together: TypeAlias = ValueOrNumber | tuple[ValueOrNumber, ...] | Doubt | Nothing


def together(one: Aggregate, names: Sequence[str], world: World) -> Together:
    """What members, in their order, have together; several sorted values for `values` only."""
    if one.how == "values":
        return _different(one.attribute, names, world)
    values: dict[str, ValueOrNumber] = {}
    for name in names:
        told, doubt = world.values(name, one.attribute)
        if doubt is not None or len(told) > 1:
            return doubt or Doubt("unknown-fact", f"{name}.{one.attribute}, one value")
        if told:
            values[name] = told[0]
    if one.how == "longest_run":
        return _longest_run(values, world)
    if one.how in ("largest", "smallest"):
        return _extreme(one, list(values.values()), world)
    return _shared(one, Counter(values.values()))


def _different(attribute: str, names: Sequence[str], world: World) -> Together:
    """Every value that members have, once and sorted; in doubt where two cannot be told apart."""
    told = [world.values(name, attribute) for name in names]
    doubt = next((doubt for _, doubt in told if doubt is not None), None)
    if doubt is not None:
        return doubt
    found = sorted({one for values, _ in told for one in values}, key=lambda v: (isinstance(v, str), v))
    near = next((p for p in combinations(found, 2) if world.words.is_near(attribute, *p)), None)
    return Doubt("too-near", f"{attribute}: {near[0]} and {near[1]}") if near else tuple(found)


def _extreme(one: Aggregate, values: Sequence[ValueOrNumber], world: World) -> Together:
    if not values:
        return Nothing(f"nothing has a {one.attribute}")
    chosen = max if one.how == "largest" else min
    return chosen(values, key=lambda value: world.size(one.attribute, value))


def _shared(one: Aggregate, counts: Mapping[ValueOrNumber, int]) -> Together:
    """The value that most members have, or that all have."""
    best = [value for value, count in counts.items() if count == max(counts.values())]
    if len(best) == 1 and (one.how == "mode" or len(counts) == 1):
        return best[0]
    said = " and ".join(map(str, best)) if best else "nothing"
    return Nothing(f"{said}: no {'one value' if one.how == 'shared' else 'commonest'} {one.attribute}")


def _longest_run(values: Mapping[str, ValueOrNumber], world: World) -> Together:
    starts: list[tuple[float, ValueOrNumber]] = []
    for name in values:
        spans = world.spans(name)
        if isinstance(spans, Doubt):
            return spans
        starts.append((min(start for start, _ in spans), values[name]))
    starts.sort(key=lambda one: one[0])
    for before, after in pairwise(starts):
        if after[0] - before[0] < world.margins.time_s and before[1] != after[1]:
            return Doubt("too-near", f"the order at {before[0]:g} s")
    longest = run = 0
    for position, (_, value) in enumerate(starts):
        run = run + 1 if position and starts[position - 1][1] == value else 1
        longest = max(longest, run)
    return longest
