"""What the words of a vocabulary read like inside a sentence, and which words a phrase of a sentence is.

What a vocabulary does not say itself is made by the type of the values: with and without for yes and no, and
for `none`; `whose NOUN is VALUE` for the rest.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Literal, TypeAlias

from vidence.errors import DataError
from vidence.make.sources.composition import TimeWord
from vidence.make.sources.scene import ValueOrNumber
from vidence.make.sources.vocabulary import EVENT, Attribute, Vocabulary

Sign: TypeAlias = Literal["==", "!="]
SIGNS: tuple[Sign, ...] = ("==", "!=")
TIMES: Mapping[TimeWord, str] = {
    "during": "that is there during",
    "before": "that is out of view before",
    "after": "that comes into view after the end of",
    "appears_after": "that appears later than",
    "appears_before": "that appears earlier than",
}
_OF_EVENTS: Mapping[TimeWord, str] = {
    "during": "that goes on during",
    "before": "that is over before",
    "after": "that begins after the end of",
}
_ROLES: Mapping[str, tuple[str, str]] = {
    "who": ("the one who acts in", "in which {name} acts"),
    "whom": ("the one with whom somebody acts in", "in which somebody acts with {name}"),
    "where": ("the place of", "that happens at {name}"),
    "what": ("the thing of", "that is about {name}"),
}
"""Who plays a role in an event, and of an event who plays the role in it."""
_PLURALS = {"person": "people", "man": "men", "woman": "women", "child": "children", "foot": "feet",
            "goose": "geese", "mouse": "mice", "knife": "knives", "shelf": "shelves", "scarf": "scarves",
            "leaf": "leaves", "loaf": "loaves", "sheep": "sheep", "fish": "fish"}  # fmt: skip
_MANY = {"is": "are", "was": "were", "has": "have", "does": "do", "goes": "go"}
_OF_SOMETHING = re.compile(r"(?<!out) of ")
_COLOURS = frozenset({
    "amber", "beige", "black", "blond", "blonde", "blue", "brown", "burgundy", "cream", "crimson", "cyan",
    "gold", "golden", "gray", "green", "grey", "khaki", "lilac", "magenta", "maroon", "navy", "olive",
    "orange", "pink", "purple", "red", "silver", "tan", "teal", "turquoise", "violet", "white", "yellow",
    "multicoloured", "multicolored",
})  # fmt: skip
_SHADES = frozenset({"dark", "light", "bright", "pale", "deep", "and"})
_PEOPLE = frozenset({"person", "man", "woman", "child", "boy", "girl"})


class WordingError(DataError):
    """A text is none that is written here."""


@dataclass(frozen=True)
class ValueStatement:
    """A statement about a value, before it has a number."""

    attribute: str
    how: Sign
    value: ValueOrNumber


def plural(word: str) -> str:
    """The plural of a noun; of several words the last changes.

    >>> [plural(one) for one in ("chair", "person", "shopping bag", "glass", "lorry", "toy")]
    ['chairs', 'people', 'shopping bags', 'glasses', 'lorries', 'toys']
    """
    before, space, last = word.rpartition(" ")
    if last.lower() in _PLURALS:
        made = _PLURALS[last.lower()]
    elif re.search(r"[^aeiou]y$", last):
        made = f"{last[:-1]}ies"
    else:
        made = f"{last}es" if re.search(r"(s|x|z|ch|sh)$", last) else f"{last}s"
    return f"{before}{space}{made}"


def with_article(noun: str) -> str:
    """A noun with `a` or `an`; none before what reads like a plural.

    >>> [with_article(one) for one in ("hat", "umbrella", "glasses")]
    ['a hat', 'an umbrella', 'glasses']
    """
    if re.search(r"[^sui]s$", noun):
        return noun
    return f"{'an' if noun[:1].lower() in 'aeiou' else 'a'} {noun}"


def of_several(clause: str) -> str:
    """A clause as it stands behind a plural.

    >>> of_several("that is near"), of_several("that appears later than"), of_several("with a hat")
    ('that are near', 'that appear later than', 'with a hat')
    """
    found = re.match(r"(that|who) (\w+)(?= |$)(.*)", clause)
    if found is None:
        return clause
    return f"{found[1]} {_of_many(found[2])}{found[3]}"


def _of_many(verb: str) -> str:
    """A verb as it stands behind a plural.

    >>> [_of_many(one) for one in ("is", "wears", "carries", "lies", "watches", "uses", "can", "pass")]
    ['are', 'wear', 'carry', 'lie', 'watch', 'use', 'can', 'pass']
    """
    if verb in _MANY:
        return _MANY[verb]
    if re.search(r"..[^aeiou]ies$", verb):
        return f"{verb[:-3]}y"
    if re.search(r"(ss|x|zz|ch|sh)es$", verb):
        return verb[:-2]
    return verb[:-1] if re.search(r"[^s]s$", verb) else verb


def yes_or_no(clause: str) -> str:
    """A clause as a question of `{who}`.

    >>> [yes_or_no(one) for one in ("with a lamp", "who wears a hat", "that is open")]
    ['Does {who} have a lamp, yes or no?', 'Does {who} wear a hat, yes or no?', 'Is {who} open, yes or no?']
    """
    if clause.startswith("with "):
        return f"Does {{who}} have {clause.removeprefix('with ')}, yes or no?"
    found = re.match(r"(?:that|who) (\w+)(?= |$)(.*)", clause)
    if found is None:
        return f"Is {{who}} {clause}, yes or no?"
    verb, rest = found[1], found[2]
    if verb in ("is", "was"):
        return f"{verb.capitalize()} {{who}}{rest}, yes or no?"
    many = _of_many(verb)
    if many == verb:
        return f"Is it so that {{who}} {verb}{rest}, yes or no?"
    return f"Does {{who}} {many}{rest}, yes or no?"


class Phrases:
    """The phrases of one vocabulary, in both directions."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        """Raises `DataError` where two phrases would read alike."""
        self.vocabulary = vocabulary
        self._values: dict[str, ValueStatement] = {}
        for name, one in vocabulary.attributes.items():
            for value in one.values:
                for sign in ("==", "!="):
                    self._know(ValueStatement(name, sign, value))
        for kind in vocabulary.events:
            self._know(ValueStatement("kind", "==", kind))
        self.categories = self._names(
            "categories", "phrase", {name: self.category(name) for name in (*vocabulary.categories, EVENT)}
        )
        self.plurals = self._names(
            "categories", "plural", {name: self.several(name) for name in (*vocabulary.categories, EVENT)}
        )
        self.nouns = self._names(
            "attributes",
            "noun",
            {name: self.noun(name) for name in (*vocabulary.attributes, *vocabulary.roles())},
        )
        self.asked = self._names(
            "attributes", "asks", {name: self.asks(name) for name in vocabulary.attributes}
        )

    def _names(self, what: str, field: str, said: Mapping[str, str]) -> dict[str, str]:
        known: dict[str, str] = {}
        for name, phrase in said.items():
            if phrase in known:
                raise DataError(f"two {what}, {known[phrase]} and {name}, read {phrase!r}; change `{field}`")
            known[phrase] = name
        return known

    def _know(self, one: ValueStatement) -> None:
        said = self.says(one)
        for form in {said, of_several(said)}:
            if self._values.setdefault(_plain(form), one) != one:
                other = self._values[_plain(form)].attribute
                raise DataError(f"{one.attribute} and {other} both read {said!r}; change `has`")

    # ----------------------------------------------------------------------- names

    def category(self, name: str) -> str:
        """What one of a category is called."""
        known = self.vocabulary.categories.get(name)
        return (known.phrase if known is not None else "") or name.replace("_", " ")

    def several(self, name: str) -> str:
        """What several of a category are called."""
        known = self.vocabulary.categories.get(name)
        return (known.plural if known is not None else "") or plural(self.category(name))

    def is_person(self, category: str) -> bool:
        """Whether one says `who` of them."""
        return is_person(self.vocabulary, category)

    def noun(self, name: str) -> str:
        """What an attribute or a role is called."""
        known = self.vocabulary.attributes.get(name)
        if known is not None and known.noun:
            return known.noun
        said = name.replace("_", " ")
        thing = self._coloured(name)
        return f"{said} colour" if thing and thing == said else said

    def _coloured(self, name: str) -> str:
        """Of what an attribute is the colour; empty where it is none, or of what has it as a whole."""
        known = self.vocabulary.attributes.get(name)
        if known is None:
            return ""
        said = known.noun or name.replace("_", " ")
        for named in (r"(.+) colou?r", r"colou?r of (?:the )?(.+)"):
            if found := re.fullmatch(named, said):
                return found[1]
        values = [value for value in known.values if value != "none"]
        is_named = bool(known.noun) or said in ("colour", "color")
        return said if values and not is_named and all(map(_is_colour, values)) else ""

    def whose(self, name: str) -> str:
        """How a clause on the value of an attribute begins, as ``whose hat is``."""
        known = self.vocabulary.attributes.get(name)
        thing = self._coloured(name)
        if known is None or known.noun or thing != name.replace("_", " "):
            return f"whose {self.noun(name)} is"
        return f"whose {thing} {_be(thing)}"

    def asks(self, name: str) -> str:
        """How one asks for an attribute of `{who}`."""
        known = self.vocabulary.attributes[name]
        if known.asks:
            return known.asks
        if is_flag(known):
            return yes_or_no(self._flag(name, "yes"))
        noun, thing = self.noun(name), self._coloured(name)
        if set(known.of) == {EVENT}:
            return f"What is the {noun} of {{who}}?"
        if thing:
            return f"What colour {_be(thing)} {{who}}'s {thing}{', if any' * ('none' in known.values)}?"
        if noun in ("colour", "color"):
            return f"What {noun} is {{who}}?"
        return f"What is {self.owned('{who}', name)}?"

    def owned(self, who: str, name: str) -> str:
        """The attribute of somebody, as ``P's age``, ``the shape of the sign of P``."""
        noun = self.noun(name)
        return f"the {noun} of {who}" if _OF_SOMETHING.search(noun) else f"{who}'s {noun}"

    def value(self, attribute: str, value: ValueOrNumber) -> str:
        """How a value is said."""
        known = self.vocabulary.attributes[attribute]
        if isinstance(value, str):
            return known.said.get(value, value) if known.values else f"“{value}”"
        return str(value)

    # ----------------------------------------------------------------------- statements

    def says(self, one: ValueStatement) -> str:
        """A statement as a clause."""
        if one.attribute == "kind":
            phrase = self.vocabulary.events[str(one.value)].phrase
            return f"in which {phrase}" if phrase else f"of the kind “{one.value}”"
        name = one.attribute
        return self._of_value(name, one.how == "==", one.value)

    def _of_value(self, name: str, is_so: bool, value: ValueOrNumber) -> str:
        known = self.vocabulary.attributes[name]
        if is_flag(known):
            return f"{'' if is_so else 'not '}{self._flag(name, str(value))}"
        if value == "none" and known.values:
            return f"{'without' if is_so else 'with'} {with_article(name.replace('_', ' '))}"
        return self._pattern(name, "==" if is_so else "!=").replace("{value}", self.value(name, value))

    def _flag(self, name: str, value: str) -> str:
        known, thing = self.vocabulary.attributes[name], with_article(name.replace("_", " "))
        if value == "yes":
            return known.has or f"with {thing}"
        return known.has_not or f"without {thing}"

    def _pattern(self, name: str, how: Sign) -> str:
        known = self.vocabulary.attributes[name]
        said = known.has if how == "==" else known.has_not
        return said or f"{self.whose(name)} {'' if how == '==' else 'not '}{{value}}"

    def read_value(self, said: str) -> ValueStatement | None:
        """The statement that a clause is; None where it is none."""
        plain = _plain(said)
        return self._values.get(plain) or next(self._open(plain), None)

    def _open(self, said: str) -> Iterator[ValueStatement]:
        """Statements about numbers, and texts that no list has."""
        for name in self.vocabulary.attributes:
            for sign, is_of_several in product(SIGNS, (False, True)):
                pattern = self._pattern(name, sign)
                form = _plain(of_several(pattern) if is_of_several else pattern)
                before, _, after = form.partition("{value}")
                if not (said.startswith(before) and said.endswith(after) and len(said) > len(before + after)):
                    continue
                inner = said[len(before) : len(said) - len(after)]
                if (value := self._value_of(name, inner)) is not None:
                    yield ValueStatement(name, sign, value)

    def _value_of(self, name: str, said: str) -> ValueOrNumber | None:
        known = self.vocabulary.attributes[name]
        if known.values:
            return next((value for value in known.values if self.value(name, value) == said), None)
        if known.number:
            return _number(said)
        return said[1:-1] if said.startswith("“") and said.endswith("”") else None

    # ----------------------------------------------------------------------- relations, roles, times

    def relation(self, name: str) -> str:
        """A relation as a clause, but for what it is to."""
        return self.vocabulary.relations[name].has or f"that is {name.replace('_', ' ')}"

    def read_relation(self, said: str) -> str | None:
        """The relation that a clause names."""
        plain = _plain(said)
        forms = {name: _plain(self.relation(name)) for name in self.vocabulary.relations}
        return next((name for name, one in forms.items() if plain in (one, of_several(one))), None)

    def time(self, how: TimeWord, category: str) -> str:
        """A statement on time as a clause, but for what it compares with."""
        return (_OF_EVENTS.get(how) if category == EVENT else None) or TIMES[how]

    def read_time(self, said: str) -> TimeWord | None:
        """The statement on time that a clause is."""
        plain = _plain(said)
        for known in (TIMES, _OF_EVENTS):
            for how, one in known.items():
                if plain in (one, of_several(one)):
                    return how
        return None

    def player(self, role: str) -> str:
        """Who plays a role in an event, but for the event."""
        return _ROLES[role][0] if role in _ROLES else f"the {self.noun(role)} of"

    def played(self, role: str, name: str) -> str:
        """That an event is one in which somebody plays a role."""
        return (
            _ROLES[role][1].replace("{name}", name)
            if role in _ROLES
            else f"whose {self.noun(role)} is {name}"
        )


def is_person(vocabulary: Vocabulary, category: str) -> bool:
    """Whether the members of a category are people."""
    return any(vocabulary.is_a(category, one) for one in _PEOPLE)


def is_flag(known: Attribute) -> bool:
    """Whether an attribute has the values yes and no, and phrases for them."""
    return set(known.values) == {"yes", "no"} and "{value}" not in known.has + known.has_not


def _is_colour(value: str) -> bool:
    """Whether a value is the name of a colour, as ``dark blue``."""
    words = re.split(r"[ -]", value)
    return words[-1] in _COLOURS and all(word in _COLOURS | _SHADES for word in words)


def _be(thing: str) -> str:
    return "are" if with_article(thing) == thing else "is"


def _plain(said: str) -> str:
    """A clause as it reads of things."""
    return f"that {said[4:]}" if said.startswith("who ") else said


def _number(text: str) -> int | float | None:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return None
