"""Somebody who answers composed questions from things that they saw, by reading the programs by themselves.

No margins, no open world, nothing of `vidence`: what is there is all that there is.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True, eq=False)
class Thing:
    """A thing, a person or an event, as it was seen."""

    category: str
    spans: tuple[tuple[float, float], ...]
    values: dict[str, object] = field(default_factory=dict)

    @property
    def first_s(self) -> float:
        return self.spans[0][0]

    @property
    def last_s(self) -> float:
        return self.spans[-1][1]


Related = Callable[[Thing, str, Thing], bool]


def never(one: Thing, relation: str, other: Thing) -> bool:
    raise AssertionError(f"nothing is known of {relation}")


@dataclass(frozen=True)
class Reader:
    """Answers from things; `ignored` are conditions that are not heeded."""

    things: Sequence[Thing]
    related: Related = never
    ignored: frozenset[str] = frozenset()

    def answers(self, steps: Sequence[dict], known: Mapping[str, object] | None = None) -> list[object]:
        """Every value that the steps allow, as often as there are ways to it."""
        known, (step, *rest) = known or {}, steps
        found = list(self._found(step["value"], known))
        if not rest:
            return found
        return [end for one in found for end in self.answers(rest, {**known, step["variable"]: one})]

    def _found(self, value: dict, known: Mapping[str, object]) -> Iterable[object]:
        if value["op"] == "attribute":
            return [known[value["of"]["name"]].values[value["name"]]]
        if value["op"] == "pair":
            parts = [list(self._found(value[part], known)) for part in ("first", "second")]
            return ["; ".join(both) for both in zip(*parts, strict=True)]
        category, atoms = value["of"]["category"], value["of"].get("atoms", ())
        kept = [
            one
            for one in self.things
            if one.category == category and all(self._fits(one, atom, known) for atom in atoms)
        ]
        if value["op"] == "aggregate" and value["how"] == "count":
            return [len(kept)]
        if value["op"] == "aggregate":
            (first, n), *others = Counter(one.values[value["attribute"]] for one in kept).most_common(2)
            return [] if others and others[0][1] == n else [first]
        if value["op"] == "the" or value["condition"] in self.ignored:
            return kept
        order = sorted(kept, key=lambda one: one.last_s if value["by"] == "ends" else one.first_s)
        return (order[:1] if value["how"] == "first" else order[-1:]) if order else []

    def _fits(self, one: Thing, atom: dict, known: Mapping[str, object]) -> bool:
        if atom["condition"] in self.ignored:
            return True
        if atom["op"] == "compare":
            return compared(one.values.get(atom["attribute"]), atom["how"], worth(atom["value"], known))
        other = known[(atom["of"] if atom["op"] == "timed" else atom["to"])["name"]]
        if atom["op"] == "related":
            is_so = one is not other and self.related(one, atom["relation"], other)
            return is_so == atom.get("holds", True)
        return one is not other and timed(one, atom["how"], other)


def worth(told: dict, known: Mapping[str, object]) -> object:
    """The value, or the values, that an expression stands for."""
    if told["op"] == "arithmetic":
        left, right = worth(told["left"], known), worth(told["right"], known)
        return left + right if told["how"] == "+" else left - right
    return {"value": told.get("value"), "values": told.get("values")}.get(
        told["op"], known.get(told.get("name"))
    )


def compared(value: object, how: str, other: object) -> bool:
    """Whether a value that a thing has is as it should be."""
    if how in ("in", "not in"):
        return (value in other) == (how == "in")
    if how in ("==", "!="):
        return (value == other) == (how == "==")
    return value is not None and {"<": value < other, "<=": value <= other, ">": value > other}.get(
        how, value >= other
    )


def timed(one: Thing, how: str, other: Thing) -> bool:
    return {
        "before": one.last_s < other.first_s,
        "after": one.first_s > other.last_s,
        "appears_before": one.first_s < other.first_s,
        "appears_after": one.first_s > other.first_s,
        "during": any(min(a[1], b[1]) > max(a[0], b[0]) for a in one.spans for b in other.spans),
    }[how]
