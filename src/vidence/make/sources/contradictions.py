"""Contradictory facts, and indistinguishable entities."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import combinations

import msgspec

from vidence.make.sources.scene import (
    AttributeFact,
    Contradiction,
    Entity,
    EventFact,
    ExpectedFact,
    Fact,
    KnownFact,
    PlaceFact,
    RelationFact,
    Span,
    fact_id,
    natural,
)
from vidence.make.sources.vocabulary import EVENT, Vocabulary


def overlap(span: Span | None, other: Span | None) -> bool:
    """Whether two facts hold at a common time; None is always.

    >>> overlap((0, 5), (5, 9)), overlap(None, (5, 9)), overlap((0, 6), (5, 9))
    (False, True, True)
    """
    if span is None or other is None:
        return True
    return max(span[0], other[0]) < min(span[1], other[1]) or span == other


def find_contradictions(facts: Sequence[Fact], words: Vocabulary) -> Iterator[Contradiction]:
    """Facts that exclude each other: two values at one time, held and denied, a cycle of an order."""
    groups: dict[tuple[str, ...], list[Fact]] = defaultdict(list)
    for fact in facts:
        match fact:
            case AttributeFact():
                groups[fact.of, fact.name].append(fact)
            case RelationFact():
                groups[fact.of, fact.name, fact.to, fact.frame].append(fact)
            case PlaceFact():
                groups["place", fact.of, fact.plan].append(fact)
            case KnownFact():
                groups["known", fact.table, str(fact.of)].append(fact)
            case EventFact() | ExpectedFact():
                pass
    for key, entries in sorted(groups.items()):
        for entry, other in combinations(entries, 2):
            if _exclude(entry, other):
                yield Contradiction(
                    about=contradicted(entry),
                    facts=(fact_id(entry), fact_id(other)),
                    says=f"{' '.join(filter(None, key))}: {_said(entry)} and {_said(other)}",
                )
    yield from _cycles([fact for fact in facts if isinstance(fact, RelationFact)], words)


def contradicted(fact: Fact) -> tuple[str, ...]:
    """What a fact is about, as the key under which nothing is known if facts contradict each other."""
    match fact:
        case AttributeFact():
            return ("attribute", fact.of, fact.name)
        case RelationFact():
            return ("relation", fact.of, fact.name, fact.to)
        case PlaceFact():
            return ("place", fact.of)
        case KnownFact():
            return ("known", fact.table, str(fact.of))
        case EventFact() | ExpectedFact():
            return ("event", fact.id)


def _exclude(fact: Fact, other: Fact) -> bool:
    match fact, other:
        case AttributeFact(), AttributeFact():
            if not overlap(fact.span, other.span) or not (fact.holds or other.holds):
                return False
            return (fact.value == other.value) != (fact.holds == other.holds)
        case RelationFact(), RelationFact():
            return fact.holds != other.holds and overlap(fact.span, other.span)
        case PlaceFact(), PlaceFact():
            return (fact.at, fact.heading) != (other.at, other.heading)
        case KnownFact(), KnownFact():
            return fact.value != other.value
        case _:
            return False


def _said(fact: Fact) -> str:
    by = fact.by if isinstance(fact.by, str) else ", ".join(fact.by)
    return f"{fact_id(fact)}: {msgspec.json.encode(fact).decode()}" + (f" by {by}" if by else "")


def _cycles(facts: Sequence[RelationFact], words: Vocabulary) -> Iterator[Contradiction]:
    """Cycles of relations that are orders: transitive and not symmetric."""
    for name, relation in sorted(words.relations.items()):
        if not relation.transitive or relation.symmetric or name > (relation.inverse or name):
            continue  # an order and its inverse have the same cycles
        edges: dict[str, dict[str, RelationFact]] = defaultdict(dict)
        for fact in facts:
            if fact.holds and fact.name == name:
                edges[fact.of][fact.to] = fact
            elif fact.holds and fact.name == relation.inverse:
                edges[fact.to][fact.of] = fact
        for inside in _knots(edges):
            relation_facts = [fact for a in inside for b, fact in sorted(edges[a].items()) if b in inside]
            says = f"a cycle of {name}: {'; '.join(map(_said, relation_facts))}"
            for fact in relation_facts:
                yield Contradiction(
                    about=contradicted(fact), facts=tuple(map(fact_id, relation_facts)), says=says
                )


def _knots(edges: dict[str, dict[str, RelationFact]]) -> Iterator[list[str]]:
    """Groups of entities of which each comes before each of them, and so before itself."""
    reached = {name: _reached(name, edges) for name in edges}
    done: set[str] = set()
    for edge in sorted(edges, key=natural):
        inside = [o for o in reached[edge] if o in reached and edge in reached[o]]
        if edge in reached[edge] and edge not in done:
            done |= set(inside)
            yield sorted(inside, key=natural)


def _reached(start: str, edges: dict[str, dict[str, RelationFact]]) -> set[str]:
    names: set[str] = set()
    waiting = list(edges[start])
    while waiting:
        name = waiting.pop()
        if name not in names:
            names.add(name)
            waiting += edges.get(name, {})
    return names


def find_twins(entities: dict[str, Entity], facts: Sequence[Fact]) -> Iterator[str]:
    """Return entities with identical facts, which no question can refer to."""
    twins: dict[str, list[str]] = defaultdict(list)
    for fact in facts:
        for word in set(named(fact)):
            text = msgspec.json.encode(_anonymous(fact, word), order="deterministic").decode()
            twins[word].append(text)
    groups: dict[tuple[object, ...], list[str]] = defaultdict(list)
    for name, entity in entities.items():
        if entity.category != EVENT:
            groups[entity.category, entity.spans, tuple(sorted(twins[name]))].append(name)
    for names in groups.values():
        if len(names) > 1:
            yield f"twins: {', '.join(sorted(names, key=natural))} are alike in everything"


def named(fact: Fact) -> Iterator[str]:
    """The entities that a fact names."""
    match fact:
        case RelationFact():
            yield from (fact.of, fact.to)
        case EventFact():
            yield from fact.roles.values()
        case AttributeFact() | PlaceFact() | ExpectedFact():
            yield fact.of
        case KnownFact():
            return


def _anonymous(fact: Fact, name: str) -> list[object]:
    """What a fact says, without its id and source, and with a blank for an entity."""
    raw = msgspec.to_builtins(fact)
    skipped = ("by", "seen_at", *(() if isinstance(fact, EventFact) else ("id",)))
    return [
        [key, {k: "_" if v == name else v for k, v in value.items()} if isinstance(value, dict) else value]
        if value != name
        else [key, "_"]
        for key, value in sorted(raw.items())
        if key not in skipped
    ]
