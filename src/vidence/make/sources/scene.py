"""Records of a scene (`vidence-scene/1`): entities, facts, completeness."""

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Literal, TypeAlias

import msgspec

from vidence.make.sources.vocabulary import EVENT, Vocabulary
from vidence.records import Record

FORMAT: Literal["vidence-scene/1"] = "vidence-scene/1"
Span: TypeAlias = tuple[float, float]
ValueOrNumber: TypeAlias = str | int | float


SILVER_TRACKS = "silver tracks"
"""The truth label of scenes whose identities come from a tracker."""


class Header(Record, omit_defaults=True):
    """The first line of a scene: its video and vocabulary."""

    scene: str
    vocabulary: str
    """The vocabulary's path, relative to the scene file's folder."""
    video: str = ""
    duration_s: float | None = None
    source_id: str = ""
    category: str = ""
    truth: str = ""
    """The source of the facts: person, tracks, log, model, phantom."""
    format: Literal["vidence-scene/1"] = FORMAT


class Entity(Record, omit_defaults=True):
    """One thing in the world, regardless of shots."""

    entity: str
    category: str
    spans: tuple[Span, ...] = ()
    "When it is in view; empty if unknown."


class AttributeFact(Record, omit_defaults=True, tag_field="fact", tag="attribute"):
    """An entity has, or (`holds` false) does not have, a value, in a span or always."""

    of: str
    name: str
    value: ValueOrNumber
    id: str = ""
    holds: bool = True
    span: Span | None = None
    seen_at: tuple[float, ...] = ()
    by: str = ""


class RelationFact(Record, omit_defaults=True, tag_field="fact", tag="relation"):
    """`of` NAME `to` holds, or does not, in a span or always."""

    name: str
    of: str
    to: str
    id: str = ""
    holds: bool = True
    frame: str = ""
    """`camera`, `plan`, or the entity whose view it is; empty: the vocabulary's frame."""
    span: Span | None = None
    seen_at: tuple[float, ...] = ()
    by: str = ""


class EventFact(Record, omit_defaults=True, tag_field="fact", tag="event"):
    """An event; its id is an entity of the category `event`."""

    id: str
    kind: str
    span: Span
    roles: dict[str, str] = msgspec.field(default_factory=dict)
    seen_at: tuple[float, ...] = ()
    by: str = ""


class PlaceFact(Record, omit_defaults=True, tag_field="fact", tag="place"):
    """An entity's place on a plan, in metres, `y` to the left of `x`; heading in degrees or an entity."""

    of: str
    at: tuple[float, float]
    plan: str = "plan"
    heading: str | float | None = None
    id: str = ""
    by: str = ""


class KnownFact(Record, omit_defaults=True, tag_field="fact", tag="known"):
    """Knowledge from outside the video, with a link."""

    table: str
    of: ValueOrNumber
    value: ValueOrNumber
    link: str = ""
    id: str = ""
    by: str = ""


class ExpectedFact(Record, omit_defaults=True, tag_field="fact", tag="expected"):
    """What people independently expect to follow an event."""

    of: str
    value: str
    by: tuple[str, ...]
    id: str = ""


class Complete(Record, omit_defaults=True):
    """A statement that what is not listed is false.

    `complete` names an attribute, a relation, a role (with `for`: of entities of this category), a category
    (all its members are listed), or a kind of event (all events of the kind are listed; `event`: of all).
    """

    complete: str
    for_: str = msgspec.field(default="", name="for")


Fact: TypeAlias = AttributeFact | RelationFact | EventFact | PlaceFact | KnownFact | ExpectedFact


class Contradiction(Record):
    """Mutually exclusive facts; none of them is used."""

    about: tuple[str, ...]
    """The kind of fact (attribute, relation, place, knowledge) and its subject, which becomes unknown."""
    facts: tuple[str, ...]
    says: str


def fact_id(fact: Fact) -> str:
    """The id of a fact, or one derived from its content.

    >>> fact_id(AttributeFact(of="p3", name="top", value="black"))
    'p3.top=black'
    """
    if fact.id:
        return fact.id
    match fact:
        case AttributeFact():
            fact_id = f"{fact.of}.{fact.name}{'=' if fact.holds else '!='}{fact.value}"
        case RelationFact():
            fact_id = f"{fact.of} {'' if fact.holds else 'not '}{fact.name} {fact.to}"
        case PlaceFact():
            fact_id = f"{fact.of}@{fact.plan}"
        case KnownFact():
            fact_id = f"{fact.table}({fact.of})={fact.value}"
        case ExpectedFact():
            fact_id = f"expected({fact.of})={fact.value}"
        case EventFact():
            fact_id = fact.id
    span = getattr(fact, "span", None)
    return f"{fact_id}[{span[0]:g},{span[1]:g}]" if span and not fact.id else fact_id


@cache
def _defaults(kind: type[Record]) -> Mapping[str, object]:
    return {
        info.name: info.default
        for info in msgspec.structs.fields(kind)
        if info.default is not msgspec.NODEFAULT
    }


def _said(record: Record) -> bytes:
    """A record as JSON without defaults.

    `omit_defaults` leaves out what *is* the default; a copy of it, as pickling makes, is only equal to it.
    """
    copies = {
        name: default
        for name, default in _defaults(type(record)).items()
        if (value := getattr(record, name)) is not default
        and type(value) is type(default)
        and value == default
    }
    if copies:
        record = msgspec.structs.replace(record, **copies)
    return msgspec.json.encode(record, order="deterministic")


@dataclass(frozen=True, kw_only=True)
class Scene:
    """A scene as read, its vocabulary, and its contradictory facts."""

    header: Header
    vocabulary: Vocabulary
    entities: Mapping[str, Entity]
    facts: tuple[Fact, ...]
    complete: frozenset[tuple[str, str]]
    """Pairs (what, for)."""
    contradictions: tuple[Contradiction, ...] = ()
    notes: tuple[str, ...] = field(default=())

    @cached_property
    def members(self) -> Mapping[str, tuple[str, ...]]:
        """The entities and events of each category and its subcategories, in order of ids."""
        words = self.vocabulary
        return {
            category: tuple(
                sorted(
                    (e.entity for e in self.entities.values() if words.is_a(e.category, category)),
                    key=natural,
                )
            )
            for category in (*words.categories, EVENT, "entity")
        }

    @cached_property
    def sha256(self) -> str:
        """The hash of the scene's content, independent of the order of lines."""
        lines, known = sorted(map(_said, self.facts)), sorted(map(_said, self.entities.values()))
        entries = [_said(self.header), *known, *lines]
        entries += [msgspec.json.encode(pair) for pair in sorted(self.complete)]
        return f"sha256:{hashlib.sha256(bytes([10]).join(entries)).hexdigest()}"


_DIGITS = re.compile(r"(\d+)")


def natural(name: str) -> tuple[tuple[int, int, str], ...]:
    """The sort key of ids: numbers inside them compare by size.

    >>> sorted(["p10", "p9", "e1"], key=natural)
    ['e1', 'p9', 'p10']
    """
    parts = _DIGITS.split(name)
    return tuple((0, int(part), part) if part.isdigit() else (1, 0, part) for part in parts if part)
