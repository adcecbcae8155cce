"""Read scenes from JSON Lines; every refusal names the line."""

import json
import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import TypeAlias

import msgspec

from vidence.ask.files import FieldError
from vidence.errors import DataError, UsageError, cause
from vidence.make.sources.logs.files import csv_rows
from vidence.make.sources.scene import (
    AttributeFact,
    Complete,
    Contradiction,
    Entity,
    EventFact,
    ExpectedFact,
    Fact,
    Header,
    KnownFact,
    PlaceFact,
    RelationFact,
    Scene,
    Span,
    fact_id,
    natural,
)
from vidence.make.sources.vocabulary import ENTITY, EVENT, Vocabulary, read_vocabulary, unknown


def overlap(span: Span | None, other: Span | None) -> bool:
    """Whether two facts hold at a common time; None means always.

    >>> overlap((0, 5), (5, 9)), overlap(None, (5, 9)), overlap((0, 6), (5, 9))
    (False, True, True)
    """
    if span is None or other is None:
        return True
    return max(span[0], other[0]) < min(span[1], other[1]) or span == other


def find_contradictions(facts: Sequence[Fact], words: Vocabulary) -> Iterator[Contradiction]:
    """Mutually exclusive facts: two values at one time, held and denied, cyclic orders."""
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
    """The subject of a fact, the key that becomes unknown if facts contradict each other."""
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
    """Cycles in ordering relations: transitive and not symmetric."""
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
    """Groups of entities that all precede each other, and therefore themselves."""
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
    """The content of a fact without id and source, with a blank for an entity."""
    raw = msgspec.to_builtins(fact)
    skipped = ("by", "seen_at", *(() if isinstance(fact, EventFact) else ("id",)))
    return [
        [key, {k: "_" if v == name else v for k, v in value.items()} if isinstance(value, dict) else value]
        if value != name
        else [key, "_"]
        for key, value in sorted(raw.items())
        if key not in skipped
    ]


MOST_ENTITIES = 2000
"""For one scene; a scene of a few minutes has up to 200."""
MOST_FACTS = 200_000
Line: TypeAlias = Header | Entity | Complete | Fact
"""One line of a scenes file."""
Numbered: TypeAlias = tuple[int, Line]


def read_scenes(path: Path) -> dict[str, Scene]:
    """The scenes of a file by name; each starts with its header.

    Raises:
        DataError: a line that is no scene's, a word that the vocabulary has not, a span past the end, a row
            of a table without a value or link; the message has the line.
        UsageError: a vocabulary cannot be read.
    """
    scenes: dict[str, Scene] = {}
    for header, lines in _parts(path, _lines(path)):
        scene = _scene(path, header, lines)
        name = scene.header.scene
        if name in scenes:
            raise DataError(f"{path}:{header}: the scene {name!r} is there twice; give it another name")
        scenes[name] = scene
    if not scenes:
        raise DataError(f"{path}: no scene found; expected a line with `scene` and `vocabulary` first")
    return scenes


def _lines(path: Path) -> Iterator[Numbered]:
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(
            f"the scenes {path} cannot be read: {cause(error)}; `vidence videos scenes` writes such a file"
        ) from error
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            try:
                yield number, read_line(line)
            except (msgspec.DecodeError, ValueError) as error:
                raise DataError(f"{path}:{number}: {error}") from error


def read_line(line: str) -> Line:
    """One line of a scenes file.

    Raises:
        ValueError: it is none, or no JSON; `msgspec.DecodeError` for a field that is not as it must be.
    """
    raw = json.loads(line)
    keys = {"scene": Header, "entity": Entity, "complete": Complete, "fact": Fact}
    kind = next((kind for key, kind in keys.items() if isinstance(raw, dict) and key in raw), None)
    if kind is None:
        raise ValueError(f"expected an object with one of {', '.join(keys)}, found {line[:60]!r}")
    result: Line = msgspec.json.decode(line, type=kind)
    return result


def _parts(path: Path, lines: Iterable[Numbered]) -> Iterator[tuple[int, list[Numbered]]]:
    part: list[Numbered] = []
    for number, line in lines:
        if isinstance(line, Header) and part:
            yield part[0][0], part
            part = []
        if not part and not isinstance(line, Header):
            raise DataError(f"{path}:{number}: this belongs to no scene; a line with `scene` comes first")
        part.append((number, line))
    if part:
        yield part[0][0], part


def _scene(path: Path, first: int, lines: Sequence[Numbered]) -> Scene:
    header = lines[0][1]
    assert isinstance(header, Header)  # noqa: S101 - so `_parts` cut them
    try:
        words = read_vocabulary(path.parent / header.vocabulary)
    except UsageError as error:
        raise UsageError(f"{path}:{first}: {error}") from error
    entries = [(first, fact) for fact in _table_facts(words, path.parent / header.vocabulary)]
    return make_scene(header, [*lines[1:], *entries], words=words, source=str(path), first=first)


def _table_facts(words: Vocabulary, path: Path) -> Iterator[KnownFact]:
    """The facts in tables that a vocabulary names as files."""
    for table, entry in words.known.items():
        for where, row in (
            csv_rows(path.parent / entry.file, needs=("of", "value", "link")) if entry.file else ()
        ):
            if isinstance(row, FieldError) or not (row["of"] and row["value"] and row["link"]):
                why = row if isinstance(row, FieldError) else "an empty cell"
                raise DataError(f"{where}: {why}; known.{table} needs of, value and link in each row")
            yield KnownFact(table=table, of=row["of"], value=row["value"], link=row["link"])


def make_scene(
    header: Header, lines: Sequence[Numbered], *, words: Vocabulary, source: str, first: int = 1
) -> Scene:
    """A scene from its checked lines, each with its number.

    Raises:
        DataError: a line that says what cannot be, or too many; the message has `source` and the number.
    """
    for fault in line_faults(header, header, known={}, words=words):
        raise DataError(f"{source}:{first}: {fault}")
    n_entities = sum(isinstance(line, Entity | EventFact) for _, line in lines)
    if n_entities > MOST_ENTITIES or len(lines) > MOST_FACTS:
        raise DataError(
            f"{source}:{first}: the scene {header.scene!r} has {n_entities:,} entities and events in "
            f"{1 + len(lines):,} lines; at most {MOST_ENTITIES:,} and {MOST_FACTS:,}: split the video"
        )
    entities: dict[str, Entity] = {}
    for number, line in lines:
        for entity in entity_of(line):
            if entity.entity in entities:
                raise DataError(f"{source}:{number}: the entity {entity.entity!r} is there twice")
            entities[entity.entity] = entity
    for number, line in lines:
        for fault in line_faults(line, header, known=entities, words=words):
            raise DataError(f"{source}:{number}: {fault}")
    facts = tuple(line for _, line in lines if not isinstance(line, Header | Entity | Complete))
    complete = frozenset((line.complete, line.for_) for _, line in lines if isinstance(line, Complete))
    return Scene(
        header=header,
        vocabulary=words,
        entities=entities,
        facts=facts,
        complete=complete,
        contradictions=tuple(find_contradictions(facts, words)),
        notes=tuple(find_twins(entities, facts)),
    )


def entity_of(line: Line) -> Iterator[Entity]:
    """The entity or event introduced by a line, if any."""
    if isinstance(line, Entity):
        yield line
    elif isinstance(line, EventFact):
        yield Entity(entity=line.id, category=EVENT, spans=(line.span,))


def line_faults(
    line: Line, header: Header, *, known: Mapping[str, Entity], words: Vocabulary
) -> Iterator[str]:
    """Return what is wrong with a line of a scene with known entities."""
    yield from _span_faults(line, header.duration_s)
    match line:
        case Header():
            return
        case Entity():
            yield from unknown("category", line.category, words.categories, where=line.entity)
        case Complete():
            words_known = {*words.attributes, *words.relations, *words.roles(), *words.categories}
            listed = words_known | {*words.events, EVENT, ENTITY}
            yield from unknown("word", line.complete, listed, where="complete")
            if line.for_:
                yield from unknown("category", line.for_, {*words.categories, EVENT, ENTITY}, where="for")
        case _:
            for name in named(line):
                yield from unknown("entity", name, known, where=fact_id(line))
            yield from _word_faults(line, known, words)


def _word_faults(line: Fact, known: Mapping[str, Entity], words: Vocabulary) -> Iterator[str]:
    where = fact_id(line)
    match line:
        case AttributeFact():
            yield from unknown("attribute", line.name, words.attributes, where=where)
            if line.name in words.attributes and line.of in known:
                yield from _value_faults(line, known[line.of].category, words)
        case RelationFact():
            yield from unknown("relation", line.name, words.relations, where=where)
            yield from unknown("frame", line.frame, ("", "camera", "plan", *known), where=where)
        case EventFact():
            yield from unknown("kind of event", line.kind, words.events, where=where)
            for role in line.roles:
                yield from unknown("role", role, words.events[line.kind].roles, where=where)
        case PlaceFact():
            if isinstance(line.heading, str):
                yield from unknown("entity", line.heading, known, where=f"{where}.heading")
        case KnownFact():
            yield from unknown("table", line.table, words.known, where=where)
        case ExpectedFact():
            return


def _value_faults(line: AttributeFact, category: str, words: Vocabulary) -> Iterator[str]:
    known = words.attributes[line.name]
    if not any(words.is_a(category, of) for of in known.of):
        yield f"{fact_id(line)}: a {category} has no {line.name!r}; only {', '.join(known.of)}"
    if known.number and isinstance(line.value, str):
        yield f"{fact_id(line)}: {line.value!r} found; expected a number"
    elif not known.number and not isinstance(line.value, str):
        yield f"{fact_id(line)}: {line.value!r} found; expected a text"
    elif known.values:
        yield from unknown("value", line.value, known.values, where=f"{line.of}.{line.name}")


def _span_faults(line: Line, duration_s: float | None) -> Iterator[str]:
    spans: tuple[Span, ...] = getattr(line, "spans", ())
    if isinstance(line, AttributeFact | RelationFact | EventFact) and line.span is not None:
        spans = (line.span,)
    for start_s, end_s in spans:
        if not (math.isfinite(start_s) and math.isfinite(end_s)) or start_s < 0 or end_s < start_s:
            yield f"the span [{start_s:g}, {end_s:g}] is none; expected 0 <= start <= end"
        elif duration_s is not None and end_s > duration_s:
            yield f"the span [{start_s:g}, {end_s:g}] ends after the video, which has {duration_s:g} s"
