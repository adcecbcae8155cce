"""The vocabulary of scenes (TOML): categories, attributes, relations, kinds of events, margins."""

import difflib
import hashlib
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Literal, TypeAlias

import msgspec
from msgspec import Meta

from vidence.engine.config_file import read_config
from vidence.errors import DataError
from vidence.records import Record

Skill: TypeAlias = Literal[
    "semantic", "spatial", "temporal", "correspondence", "visual knowledge", "world modelling"
]
AnswerType: TypeAlias = Literal["object", "attribute", "relationship", "location", "action", "event"]
EVENT = "event"
PAIR = "; "
"""What stands between the two halves of a pair of values, and of its domain."""
ENTITY = "entity"
"""The category of everything that is no event."""


class Category(Record):
    """A category of entities."""

    parent: str = ""
    phrase: str = ""
    """What one is called; empty: as the category."""
    plural: str = ""
    """What several are called; empty: the English plural of the phrase."""


class Domain(Record):
    """Values that several attributes have, such as the colours of tops and of signs."""

    values: tuple[str, ...] = ()
    free: bool = False
    ordered: bool = False
    near: tuple[tuple[str, str], ...] = ()


class Attribute(Record):
    """What entities of some categories have one value of at a time."""

    of: tuple[str, ...]
    """Categories; those below them are meant, too."""
    domain: str = ""
    """The domain whose values it has, instead of `values` and what belongs to them."""
    values: tuple[str, ...] = ()
    "The possible values; empty for numbers and for free text (`free`)."
    number: bool = False
    free: bool = False
    ordered: bool = False
    """Whether `values` stand in an order, so that they can be compared."""
    near: tuple[tuple[str, str], ...] = ()
    """Pairs that cannot be distinguished with certainty."""
    skill: Skill = "semantic"
    answer: AnswerType = "attribute"
    has: str = ""
    "The clause for having a `{value}`, as ``with a {value} bag``; for flags, the clause for yes."
    has_not: str = ""
    noun: str = ""
    """What it is called, as ``colour of the bag``; empty: as the attribute."""
    asks: str = ""
    """How one asks for it, as ``What does {who} hold?``."""
    said: dict[str, str] = msgspec.field(default_factory=dict)
    'Wordings of values inside a sentence, if they differ: ``{cup = "a cup"}``.'


class Relation(Record):
    """What holds between two entities: `a NAME b`."""

    of: tuple[str, ...] = (ENTITY,)
    to: tuple[str, ...] = (ENTITY,)
    inverse: str = ""
    symmetric: bool = False
    transitive: bool = False
    frame: str = ""
    skill: Skill = "spatial"
    has: str = ""


class EventKind(Record):
    """A kind of event, with the category of each role."""

    roles: dict[str, str] = msgspec.field(default_factory=dict)
    phrase: str = ""


class Table(Record):
    """A table of what is known beyond the video, such as the countries of flags."""

    values: tuple[str, ...] = ()
    answer: AnswerType = "attribute"
    asks: str = ""
    """How one asks what it says, as ``Which country has the flag {what}?``."""
    file: str = ""
    """A CSV file beside the vocabulary that has it, with the columns `of`, `value` and `link`."""


class Margins(Record):
    """Margins: closer values count as undecided in every statement."""

    time_s: Annotated[float, Meta(ge=0)] = 0.5
    direction_deg: Annotated[float, Meta(ge=0, lt=22.5)] = 10.0
    distance: Annotated[float, Meta(ge=1)] = 1.2


class Vocabulary(Record):
    """The words of scenes and compositions."""

    categories: dict[str, Category] = msgspec.field(default_factory=dict)
    domains: dict[str, Domain] = msgspec.field(default_factory=dict)
    attributes: dict[str, Attribute] = msgspec.field(default_factory=dict)
    relations: dict[str, Relation] = msgspec.field(default_factory=dict)
    events: dict[str, EventKind] = msgspec.field(default_factory=dict)
    known: dict[str, Table] = msgspec.field(default_factory=dict)
    margins: Margins = Margins()

    def is_a(self, category: str, wanted: str) -> bool:
        """Whether a category is one, or stands below it in the tree."""
        if wanted in (category, ENTITY) and (wanted == category or category != EVENT):
            return True
        parent = self.categories[category].parent if category in self.categories else ""
        return bool(parent) and self.is_a(parent, wanted)

    def inverse(self, relation: str) -> str:
        """The name of a relation read the other way; empty if it has none."""
        known = self.relations[relation]
        return relation if known.symmetric else known.inverse

    def roles(self) -> dict[str, str]:
        """The category of every role; `entity` where kinds of events differ in it."""
        roles: dict[str, str] = {}
        for kind in self.events.values():
            for role, category in kind.roles.items():
                roles[role] = category if roles.get(role, category) == category else ENTITY
        return roles

    def is_near(self, attribute: str, entry: object, other: object) -> bool:
        """Return whether two different values may be equal; of pairs, both components."""
        if PAIR in attribute:
            halves = [str(value).split(PAIR) for value in (entry, other)]
            return entry != other and all(
                len(half) == 2 and (half[at] == halves[0][at] or self.is_near(name, half[at], halves[0][at]))
                for half in halves
                for at, name in enumerate(attribute.split(PAIR))
            )
        known = self.attributes.get(attribute)
        return known is not None and any({entry, other} == set(pair) for pair in known.near)

    def share_a_domain(self, word: str, other: str) -> bool:
        """Whether two attributes have the same values because they say so."""
        if word == other:
            return True
        domains = [self.attributes[name].domain for name in (word, other) if name in self.attributes]
        return len(domains) == 2 and domains[0] == domains[1] != ""

    def with_domains(self) -> "Vocabulary":
        """The vocabulary with the values of domains put into the attributes that name one."""
        domains = {
            name: msgspec.structs.replace(
                attribute, values=known.values, free=known.free, ordered=known.ordered, near=known.near
            )
            if (known := self.domains.get(attribute.domain))
            else attribute
            for name, attribute in self.attributes.items()
        }
        return msgspec.structs.replace(self, attributes=domains)

    def sha256(self) -> str:
        """The hash of what the vocabulary says, whatever its file looks like."""
        return f"sha256:{hashlib.sha256(msgspec.json.encode(self, order='deterministic')).hexdigest()}"


def read_vocabulary(path: Path) -> Vocabulary:
    """A vocabulary from its file.

    Raises:
        UsageError: the file cannot be read, or is no vocabulary; the message has the line.
        DataError: a word is used that does not exist, or categories stand below themselves.
    """
    read = read_config(path, Vocabulary)
    check_vocabulary(read, source=str(path))
    return read.with_domains()


def check_vocabulary(vocabulary: Vocabulary, *, source: str) -> None:
    """Check that the words of a vocabulary belong together.

    Raises:
        DataError: a word is used that does not exist, or categories stand below themselves.
    """
    for fault in _faults(vocabulary):
        raise DataError(f"{source}: {fault}")


def _faults(vocabulary: Vocabulary) -> Iterable[str]:
    categories = {*vocabulary.categories, ENTITY, EVENT}
    for name, category in vocabulary.categories.items():
        if category.parent:
            yield from unknown("category", category.parent, categories, where=f"categories.{name}")
        seen, at = {name}, category.parent
        while at in vocabulary.categories:
            if at in seen:
                yield f"categories.{name}: it stands below itself, by way of {at!r}"
                return
            seen.add(at)
            at = vocabulary.categories[at].parent
    yield from _attribute_faults(vocabulary, categories)
    yield from _relation_faults(vocabulary, categories)
    for name, table in vocabulary.known.items():
        if table.asks and (table.asks.count("{what}") != 1 or not table.asks.endswith("?")):
            yield f"known.{name}.asks: {table.asks!r}; expected a question with {{what}} once"
    for name, kind in vocabulary.events.items():
        for role, of in kind.roles.items():
            yield from unknown("category", of, categories, where=f"events.{name}.roles.{role}")
            if role in vocabulary.attributes or role in RESERVED:
                yield f"events.{name}: the role {role!r} has the name of an attribute; give it another"


RESERVED = ("kind", "begins", "ends", "appears", "place", "head")
"""Names that everything has, so that no attribute or role can be called so."""


def _attribute_faults(vocabulary: Vocabulary, categories: set[str]) -> Iterable[str]:
    for name, domain in vocabulary.domains.items():
        if domain.free + bool(domain.values) != 1:
            yield f"domains.{name}: expected either `values`, or `free = true`"
        yield from _near_faults(domain, where=f"domains.{name}")
    for name, attribute in vocabulary.attributes.items():
        where = f"attributes.{name}"
        for of in attribute.of:
            yield from unknown("category", of, categories, where=where)
        if name in RESERVED:
            yield f"{where}: everything has {name!r} already; choose another name"
        if attribute.asks and (
            attribute.asks.count("{who}") != 1 or not attribute.asks.endswith("?") or ". " in attribute.asks
        ):
            yield f"{where}.asks: {attribute.asks!r}; expected one question with {{who}} once"
        if attribute.domain:
            yield from _domain_faults(vocabulary, attribute, where=where)
        elif attribute.number + attribute.free + bool(attribute.values) != 1:
            yield f"{where}: expected either `values`, or `number = true`, or `free = true`, or a `domain`"
        values = attribute.values or vocabulary.domains.get(attribute.domain, Domain()).values
        for value in attribute.said if values else ():
            yield from unknown("value", value, values, where=f"{where}.said")
        yield from _near_faults(attribute, where=where)


def _near_faults(entry: Attribute | Domain, *, where: str) -> Iterable[str]:
    for pair in entry.near:
        for value in pair if entry.values else ():
            yield from unknown("value", value, entry.values, where=f"{where}.near")


def _domain_faults(vocabulary: Vocabulary, attribute: Attribute, *, where: str) -> Iterable[str]:
    yield from unknown("domain", attribute.domain, vocabulary.domains, where=where)
    known = vocabulary.domains.get(attribute.domain, Domain())
    own = (attribute.values, attribute.free, attribute.ordered, attribute.near)
    if attribute.number or own not in (
        ((), False, False, ()),
        (known.values, known.free, known.ordered, known.near),
    ):
        yield f"{where}: its values are those of the domain {attribute.domain!r}; say nothing of them here"


def _relation_faults(vocabulary: Vocabulary, categories: set[str]) -> Iterable[str]:
    for name, relation in vocabulary.relations.items():
        where = f"relations.{name}"
        for of in (*relation.of, *relation.to):
            yield from unknown("category", of, categories, where=where)
        if relation.symmetric and relation.inverse not in ("", name):
            yield f"{where}: it is symmetric, so that its inverse is itself and not {relation.inverse!r}"
        elif relation.inverse:
            yield from unknown("relation", relation.inverse, vocabulary.relations, where=f"{where}.inverse")
            back = (
                vocabulary.relations[relation.inverse].inverse
                if relation.inverse in vocabulary.relations
                else name
            )
            if back != name:
                yield f"{where}: its inverse {relation.inverse!r} has the inverse {back!r}; expected {name!r}"


def unknown(kind: str, word: object, known: Iterable[object], *, where: str) -> Iterable[str]:
    """A message if a word is not known, with the nearest known one.

    >>> list(unknown("value", "blak", ["black", "white"], where="top"))
    ["top: there is no value 'blak'. Did you mean 'black'? Known: black, white"]
    """
    listed = list(known)
    if word not in listed:
        near = difflib.get_close_matches(str(word), map(str, listed), n=1, cutoff=0.5)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        text = ", ".join(map(str, listed[:_MOST_LISTED])) + (" ..." if len(listed) > _MOST_LISTED else "")
        yield f"{where}: there is no {kind} {word!r}.{hint} Known: {text or 'none'}"


_MOST_LISTED = 20
