"""Aggregate over the members of a set: all values, the commonest, the largest, the longest run."""

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
    """The absence of a value, with the reason."""

    says: str


Together: TypeAlias = ValueOrNumber | tuple[ValueOrNumber, ...] | Doubt | Nothing


def together(aggregate: Aggregate, names: Sequence[str], world: World) -> Together:
    """Return the aggregate of members in order; several sorted values for `values` only."""
    if aggregate.how == "values":
        return _different(aggregate.attribute, names, world)
    values: dict[str, ValueOrNumber] = {}
    for name in names:
        pair, doubt = world.values(name, aggregate.attribute)
        if doubt is not None or len(pair) > 1:
            return doubt or Doubt("unknown-fact", f"{name}.{aggregate.attribute}, one value")
        if pair:
            values[name] = pair[0]
    if aggregate.how == "longest_run":
        return _longest_run(values, world)
    if aggregate.how in ("largest", "smallest"):
        return _extreme(aggregate, list(values.values()), world)
    return _shared(aggregate, Counter(values.values()))


def _different(attribute: str, names: Sequence[str], world: World) -> Together:
    """Return the distinct values of members, sorted; in doubt if two may be equal."""
    entries = [world.values(name, attribute) for name in names]
    doubt = next((doubt for _, doubt in entries if doubt is not None), None)
    if doubt is not None:
        return doubt
    results = sorted(
        {value for values, _ in entries for value in values}, key=lambda v: (isinstance(v, str), v)
    )
    near = next((p for p in combinations(results, 2) if world.words.is_near(attribute, *p)), None)
    return Doubt("too-near", f"{attribute}: {near[0]} and {near[1]}") if near else tuple(results)


def _extreme(aggregate: Aggregate, values: Sequence[ValueOrNumber], world: World) -> Together:
    if not values:
        return Nothing(f"nothing has a {aggregate.attribute}")
    chosen = max if aggregate.how == "largest" else min
    return chosen(values, key=lambda value: world.size(aggregate.attribute, value))


def _shared(aggregate: Aggregate, counts: Mapping[ValueOrNumber, int]) -> Together:
    """Return the value that most, or all, members share."""
    best = [value for value, count in counts.items() if count == max(counts.values())]
    if len(best) == 1 and (aggregate.how == "mode" or len(counts) == 1):
        return best[0]
    shared = " and ".join(map(str, best)) if best else "nothing"
    return Nothing(
        f"{shared}: no {'one value' if aggregate.how == 'shared' else 'commonest'} {aggregate.attribute}"
    )


def _longest_run(values: Mapping[str, ValueOrNumber], world: World) -> Together:
    starts: list[tuple[float, ValueOrNumber]] = []
    for name in values:
        spans = world.spans(name)
        if isinstance(spans, Doubt):
            return spans
        starts.append((min(start for start, _ in spans), values[name]))
    starts.sort(key=lambda numbers: numbers[0])
    for before, after in pairwise(starts):
        if after[0] - before[0] < world.margins.time_s and before[1] != after[1]:
            return Doubt("too-near", f"the order at {before[0]:g} s")
    longest = run = 0
    for position, (_, value) in enumerate(starts):
        run = run + 1 if position and starts[position - 1][1] == value else 1
        longest = max(longest, run)
    return longest
