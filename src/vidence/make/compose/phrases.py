"""Phrase vocabulary words inside sentences, and parse such phrases.

What a vocabulary does not say itself is made by names and types: a name that begins with a verb as that verb
(`carries`, `stands_at`); with and without for yes and no, and for `none`; `whose NOUN is VALUE` for the rest,
with quotation marks where nothing says how a value is inflected. What may be verb or noun has no words.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import product
from typing import Literal, TypeAlias, get_args

from vidence.errors import DataError
from vidence.installation import packaged
from vidence.make.pipeline.lexicon import listed
from vidence.make.sources.composition import TimeWord
from vidence.make.sources.scene import ValueOrNumber
from vidence.make.sources.vocabulary import EVENT, Attribute, Vocabulary

Sign: TypeAlias = Literal["==", "!="]
SIGNS: tuple[Sign, ...] = ("==", "!=")
_OF_SOMETHING = re.compile(r"(?<!out) of ")
_AFTER_NOUN = re.compile(r" (?:of|in|on|with|for|and) ")
_PEOPLE = frozenset({"person", "man", "woman", "child", "boy", "girl"})
_IS_PLURAL = re.compile(r"[^sui]s$")
_VOWEL = re.compile(r"(?!uni(?![nm])|us[aeu]|ut[ei]|eu|one\b)[aeiou]|hour|heir|hon(est|ou?r)", re.IGNORECASE)
_DETERMINED = re.compile(
    r"(an?|the|no|some|half|his|her|its|their|two|three|\d+) |[A-Z](?![A-Z]+ )|(nothing|nobody|no one)$"
)
_NONE = {"none": "something", "nothing": "something", "nobody": "someone"}
"""What stands for nothing, and its opposite."""
_QUESTIONS = {"how", "what", "when", "where", "which", "who", "why"}
_PARTICIPLE = re.compile(r"\w{2,}[^e]ed")


class WordingError(DataError):
    """A text not written by this module."""


@dataclass(frozen=True)
class ValueStatement:
    """A statement about a value, before it has a number."""

    attribute: str
    how: Sign
    value: ValueOrNumber


def plural(word: str) -> str:
    """Return the plural of a noun phrase, inflecting the last word.

    >>> [plural(one) for one in ("chair", "person", "shopping bag", "glass", "lorry", "toy")]
    ['chairs', 'people', 'shopping bags', 'glasses', 'lorries', 'toys']
    """
    before, space, last = word.rpartition(" ")
    if last.lower() in _said("plurals"):
        plural = _said("plurals")[last.lower()]
    elif re.search(r"(?<!hu)(?<!ger)man$", last):
        plural = f"{last[:-3]}men"
    elif re.search(r"[^aeiou]y$", last):
        plural = f"{last[:-1]}ies"
    else:
        plural = f"{last}es" if re.search(r"(s|x|z|ch|sh)$", last) else f"{last}s"
    return f"{before}{space}{plural}"


def with_article(noun: str) -> str:
    """Prefix a noun with `a` or `an`, unless it is a plural, a mass noun, or has an article.

    >>> [with_article(one) for one in ("hat", "umbrella", "uniform", "glasses", "goat cheese", "two cups")]
    ['a hat', 'an umbrella', 'a uniform', 'glasses', 'goat cheese', 'two cups']
    """
    head = _AFTER_NOUN.split(noun)[0].rpartition(" ")[2]
    if _is_plural(noun) or head in listed("substances") or _DETERMINED.match(noun):
        return noun
    return f"{'an' if _VOWEL.match(noun) else 'a'} {noun}"


def of_several(clause: str) -> str:
    """Return a clause in the plural.

    >>> of_several("that is near"), of_several("that appears later than"), of_several("with a hat")
    ('that are near', 'that appear later than', 'with a hat')
    >>> of_several("that is an owner of")
    'that are owners of'
    """
    match = re.match(r"(that|who) (\w+)(?= |$)(.*)", clause)
    if match is None:
        return clause
    if noun := re.fullmatch(r"is( not)? (?:an?|(the)) ([\w ]+(?= of)|\w+)( of)?", match[2] + match[3]):
        return f"{match[1]} are{noun[1] or ''} {'the ' * bool(noun[2])}{plural(noun[3])}{noun[4] or ''}"
    return f"{match[1]} {_of_many(match[2])}{match[3]}"


def _of_many(verb: str) -> str:
    """Return a verb in the plural.

    >>> [_of_many(one) for one in ("is", "wears", "carries", "lies", "watches", "uses", "can", "pass")]
    ['are', 'wear', 'carry', 'lie', 'watch', 'use', 'can', 'pass']
    """
    if verb in _said("verbs"):
        return _said("verbs")[verb]
    if re.search(r"..[^aeiou]ies$", verb):
        return f"{verb[:-3]}y"
    if re.search(r"(ss|x|zz|ch|sh)es$", verb):
        return verb[:-2]
    return verb[:-1] if re.search(r"[^s]s$", verb) else verb


def yes_or_no(clause: str) -> str:
    """Turn a clause into a yes-no question about `{who}`.

    >>> [yes_or_no(one) for one in ("with a lamp", "who wears a hat", "that is open")]
    ['Does {who} have a lamp, yes or no?', 'Does {who} wear a hat, yes or no?', 'Is {who} open, yes or no?']
    """
    if clause.startswith("with "):
        return f"Does {{who}} have {clause.removeprefix('with ')}, yes or no?"
    if match := re.fullmatch(r"whose (.+) (is|are) ([\w-]+)", clause):
        return f"{match[2].capitalize()} {{who}}'s {match[1]} {match[3]}, yes or no?"
    match = re.match(r"(?:that|who) (\w+)(?= |$)(.*)", clause)
    if match is None:
        return f"Is {{who}} {clause}, yes or no?"
    verb, rest = match[1], match[2]
    if verb in ("is", "was", "can"):
        return f"{verb.capitalize()} {{who}}{rest}, yes or no?"
    many = _of_many(verb)
    if many == verb:
        return f"Is it so that {{who}} {verb}{rest}, yes or no?"
    return f"Does {{who}} {many}{rest}, yes or no?"


class Phrases:
    """Phrases of one vocabulary, to write and to parse."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        """Raises `DataError` if two phrases are identical."""
        self.vocabulary = vocabulary
        self._values: dict[str, ValueStatement] = {}
        self._attributes = [name for name in vocabulary.attributes if not self._unclear(name)]
        for name in self._attributes:
            for value, sign in product(vocabulary.attributes[name].values, SIGNS):
                self._know(ValueStatement(name, sign, value))
        for kind in vocabulary.events:
            self._know(ValueStatement("kind", "==", kind))
        self.categories = self._names(
            "categories", "phrase", {name: self.category(name) for name in (*vocabulary.categories, EVENT)}
        )
        self.plurals = self._names(
            "categories", "plural", {name: self.several(name) for name in (*vocabulary.categories, EVENT)}
        )
        owned = {name: self.owned("{who}", name) for name in self._attributes}
        played = {role: self.player(role) for role in vocabulary.roles()}
        self.owned_by = self._names("attributes", "noun", owned | played)
        self.asked = self._names("attributes", "asks", {name: self.asks(name) for name in self._attributes})

    def _names(self, what: str, field: str, values: Mapping[str, str]) -> dict[str, str]:
        known: dict[str, str] = {}
        for name, phrase in values.items():
            if phrase in known:
                raise DataError(f"two {what}, {known[phrase]} and {name}, read {phrase!r}; change `{field}`")
            known[phrase] = name
        return known

    def _know(self, statement: ValueStatement) -> None:
        message = self.says(statement)
        for form in {message, of_several(message)}:
            if self._values.setdefault(_plain(form), statement) != statement:
                other = self._values[_plain(form)].attribute
                raise DataError(f"{statement.attribute} and {other} both read {message!r}; change `has`")

    # ----------------------------------------------------------------------- names

    def category(self, name: str) -> str:
        """Return the noun of a category."""
        known = self.vocabulary.categories.get(name)
        return (known.phrase if known is not None else "") or name.replace("_", " ")

    def several(self, name: str) -> str:
        """Return the plural noun of a category."""
        known = self.vocabulary.categories.get(name)
        return (known.plural if known is not None else "") or plural(self.category(name))

    def is_person(self, category: str) -> bool:
        """Return whether a category takes `who`."""
        return is_person(self.vocabulary, category)

    def noun(self, name: str) -> str:
        """Return the noun of an attribute or role."""
        known = self.vocabulary.attributes.get(name)
        if known is not None and known.noun:
            return known.noun
        message, thing = self._thing(name), self._coloured(name)
        return f"{message} colour" if thing and thing == message else message

    def _thing(self, name: str) -> str:
        """Return what a name attributes to a thing; of numbers what is counted, or the unit."""
        known, thing = self.vocabulary.attributes.get(name), name.replace("_", " ").removeprefix("has ")
        before, _, unit = thing.rpartition(" ")
        if known is None or not known.number:
            return thing
        if before and unit in _said("units"):
            return f"{before} in {_said('units')[unit]}"
        return f"number of {thing}" if _is_plural(thing) else thing

    def _coloured(self, name: str) -> str:
        """Return what a colour attribute is the colour of; empty for other attributes."""
        known = self.vocabulary.attributes.get(name)
        if known is None:
            return ""
        noun = known.noun or self._thing(name)
        for named in (r"(.+) colou?r", r"colou?r of (?:the )?(.+)"):
            if match := re.fullmatch(named, noun):
                return match[1]
        is_named = bool(known.noun) or noun in ("colour", "color")
        return noun if self._is_coloured(name) and not is_named else ""

    def _is_coloured(self, name: str) -> bool:
        values = {*self.vocabulary.attributes[name].values} - {"none"}
        return bool(values) and all(map(_is_colour, values))

    def _verb(self, name: str) -> str:
        """Return the verb phrase of an attribute; empty if it has a noun."""
        known, message = self.vocabulary.attributes[name], name.replace("_", " ")
        if self._unclear(name):
            what = "is a question word" if name in _QUESTIONS else "may be a verb or a plural"
            raise WordingError(f"{name!r} {what}; say which by `noun`, or `has` and `asks`")
        first, last = message.split()[0], message.split()[-1]
        is_led = last in listed("prepositions")
        is_doing = first.endswith("ing") and first not in listed("things-in-ing")
        if known.noun or self._is_coloured(name):
            return ""
        is_verb = first.endswith("s") and (_stem(first) or (is_led and first != last))
        if is_verb or first in ("is", "can"):
            return message
        if is_flag(known):
            is_role = last in listed("people")
            is_state = first in listed("prepositions") or (is_doing and " " not in message)
            state = message if is_state else _state(message)[0] * (not _state(message)[1])
            return f"is {with_article(message) if is_role else state}" if is_role or state else ""
        is_phrase = is_led or (first == last and bool(_stem(first) or known.answer == "object"))
        return f"is {message}" if is_led or (is_doing and is_phrase) else ""

    def _unclear(self, name: str) -> bool:
        """Return whether an attribute name cannot be inflected automatically."""
        known, first, last = self.vocabulary.attributes[name], name.partition("_")[0], name.rpartition("_")[2]
        stem = _stem(first)
        is_noun = known.noun or first in listed("garments") | {"has", "is"} or (stem and stem != first)
        is_said = known.has and (known.asks or is_flag(known))
        is_bare = is_flag(known) or known.answer == "object"
        if is_noun or is_said or last in listed("prepositions"):
            return False
        return name in _QUESTIONS or (
            is_bare and not _state(last)[0] and (stem != "" or _IS_PLURAL.search(first) is not None)
        )

    def asks(self, name: str) -> str:
        """Return the question phrase for an attribute of `{who}`."""
        known = self.vocabulary.attributes[name]
        if known.asks:
            return known.asks
        if is_flag(known):
            return yes_or_no(self._flag(name, "yes"))
        if verb := self._verb(name):
            return self._asks_by(verb, name)
        noun, thing, place, sort = self.noun(name), self._coloured(name), self._place(name), self._sort(name)
        perhaps, (measured, unit, of) = ", if any" * ("none" in known.values), noun.partition(" in ")
        forms = {
            f"{place.capitalize()} which {noun} is {{who}}?": place,
            f"What {_be(noun)} the {noun} during {{who}}?": self._is_around(name),
            f"What {_be(noun)} the {measured} of {{who}}{unit}{of}?": set(known.of) == {EVENT},
            f"What colour {_be(thing)} {{who}}'s {thing}{perhaps}?": thing,
            f"What {noun} is {{who}}?": noun in ("colour", "color"),
            f"How many {noun[10:]} does {{who}} have?": noun.startswith("number of ") and not known.noun,
            f"What {_be(noun)} {{who}}'s {noun} like{perhaps}?": sort == "like",
            f"What kind of {noun} does {{who}} have{perhaps}?": sort == "kind",
        }
        last_form = f"What {_be(noun)} {self.owned('{who}', name)}?"
        return next((form for form, is_so in forms.items() if is_so), last_form)

    def _place(self, name: str) -> str:
        """Return the preposition of an attribute that is a place, or a part in order; else nothing."""
        known, noun = self.vocabulary.attributes[name], self.noun(name)
        is_ordered = bool(known.values) and {*known.values} <= listed("ordinals")
        is_place = (is_ordered or known.answer == "location") and not (known.noun or known.has or known.said)
        is_clear = is_place and not self._verb(name) and not {*noun.split()} & listed("properties")
        return _said("places").get(noun.split()[-1], "in") if is_clear else ""

    def _is_around(self, name: str) -> bool:
        """Return whether an attribute of events is what they happen in, as the weather."""
        return self.vocabulary.attributes[name].of == (EVENT,) and name in listed("circumstances")

    def _sort(self, name: str) -> Literal["like", "kind", ""]:
        """Return whether values are qualities, kinds, or what the noun itself asks for."""
        known, last = self.vocabulary.attributes[name], self.noun(name).split()[-1]
        is_asked = known.noun or known.number or self._coloured(name) or last in listed("properties")
        if known.answer != "attribute" or is_asked or EVENT in known.of:
            return ""
        return "like" if not known.values or any(map(_is_quality, known.values)) else "kind"

    def _asks_by(self, verb: str, name: str) -> str:
        first, _, rest = verb.partition(" ")
        is_about = rest.rpartition(" ")[2] in listed("prepositions")
        if self.vocabulary.attributes[name].answer == "location":
            how, rest = "Where", rest.rpartition(" ")[0] if is_about and first == "is" else ""
        else:
            acts = _stem(rest if first == "is" else first)
            how = "What" if is_about or self._takes_things(name, acts) or (rest and not acts) else "How"
        ends = f" {rest}" if rest else ""
        return f"{how} is {{who}}{ends}?" if first == "is" else f"{how} does {{who}} {_of_many(first)}{ends}?"

    def _takes_things(self, name: str, verb: str) -> bool:
        known = self.vocabulary.attributes[name]
        return known.answer == "object" or known.number or verb in listed("handling")

    def owned(self, who: str, name: str) -> str:
        """Return a possessive phrase: ``P's age``, ``the shape of the sign of P``, ``what P carries``."""
        if verb := self._verb(name):
            return f"what {who} {verb}"
        noun, thing = self.noun(name), self._coloured(name)
        if sort := self._sort(name):
            return (
                f"the kind of {noun} {who} has" if sort == "kind" else f"what {who}'s {noun} {_be(noun)} like"
            )
        if thing and _be(thing) == "are":
            return f"the colour of {who}'s {thing}"
        return f"the {noun} of {who}" if _OF_SOMETHING.search(noun) else f"{who}'s {noun}"

    def shares(self, name: str) -> str:
        """Return the clause for sharing an earlier value, without the value."""
        if verb := self._verb(name):
            return f"that {verb}"
        noun, thing = self.noun(name), self._coloured(name)
        noun = thing if thing and _be(thing) == "are" else noun
        return f"whose {noun} {_be(noun)}"

    def value(self, attribute: str, value: ValueOrNumber) -> str:
        """Return the phrase of a value."""
        known = self.vocabulary.attributes[attribute]
        if isinstance(value, str):
            return known.said.get(value, value) if known.values else f"“{value}”"
        return str(value)

    # ----------------------------------------------------------------------- statements

    def says(self, statement: ValueStatement) -> str:
        """Return a statement as a clause."""
        if statement.attribute == "kind":
            phrase = self.vocabulary.events[str(statement.value)].phrase
            return f"in which {phrase}" if phrase else f"of the kind “{statement.value}”"
        name = statement.attribute
        return self._of_value(name, statement.how == "==", statement.value)

    def _of_value(self, name: str, is_so: bool, value: ValueOrNumber) -> str:
        known = self.vocabulary.attributes[name]
        if is_flag(known):
            return f"{'' if is_so else 'not '}{self._flag(name, str(value))}"
        if message := known.has if is_so else known.has_not:
            return message.replace("{value}", self.value(name, value))
        verb, thing = self._verb(name), self._coloured(name) or self._thing(name)
        if verb and value in _NONE:
            nothing = "nothing" if value == "none" else value
            return f"that {verb} {nothing if is_so else _NONE[str(value)]}"
        if value == "none" and known.values:
            return f"{'without' if is_so else 'with'} {with_article(thing)}"
        worded = self._inflected(name, value)
        place = self._place(name)
        if value == "bald" or place:  # no hair is bald
            the = "" if str(value)[:1].isupper() or isinstance(value, int) else "the "
            where = f"{value} {thing}" if value in listed("ordinals") else f"{thing} {worded}"
            return f"that is {'' if is_so else 'not '}{f'{place} {the}{where}' if place else value}"
        if not verb and not is_so and "none" in known.values:  # who has no bag has no blue one
            if isinstance(value, str) and _is_colour(value):
                return f"without {with_article(f'{worded} {thing}')}"
            return f"without {with_article(thing)} that {_be(thing)} {worded}"
        return self._pattern(name, "==" if is_so else "!=").replace("{value}", worded)

    def _inflected(self, name: str, value: ValueOrNumber) -> str:
        """Return a value behind the verb of an attribute, or behind its noun."""
        known, verb = self.vocabulary.attributes[name], self._verb(name)
        is_colour = isinstance(value, str) and _is_colour(value)
        if not known.values or value in known.said or is_colour:
            return self.value(name, value)
        if not verb:
            is_plain = known.answer != "object" and _is_quality(str(value))
            return str(value) if is_plain or str(value)[:1].isupper() else f"“{value}”"
        if known.answer == "location":
            return str(value) if _DETERMINED.match(str(value)) else f"the {value}"
        takes_things = self._takes_things(name, _stem(verb.removeprefix("is ").partition(" ")[0]))
        is_text = str(value)[:1].isupper() and _stem(verb) in ("read", "say")
        worded = f"“{value}”" if is_text else str(value)
        return with_article(worded) if takes_things and not is_text else worded

    def _flag(self, name: str, value: str) -> str:
        known, is_so = self.vocabulary.attributes[name], value == "yes"
        if message := known.has if is_so else known.has_not:
            return message
        if verb := self._verb(name):
            return _does(verb, is_so=is_so)
        thing, state = _state(name.replace("_", " "))
        if state:
            return f"whose {thing} {_be(thing)} {'' if is_so else 'not '}{state}"
        return f"{'with' if is_so else 'without'} {with_article(self._thing(name))}"

    def _pattern(self, name: str, how: Sign) -> str:
        known, verb = self.vocabulary.attributes[name], self._verb(name)
        if message := known.has if how == "==" else known.has_not:
            return message
        if verb:
            return f"{_does(verb, is_so=how == '==')} {{value}}"
        be = "is" if known.noun else _be(self._thing(name))
        if self._is_around(name):
            return f"during which the {self._thing(name)} {be} {'' if how == '==' else 'not '}{{value}}"
        return f"whose {known.noun or self._thing(name)} {be} {'' if how == '==' else 'not '}{{value}}"

    def read_value(self, message: str) -> ValueStatement | None:
        """Parse a clause as a statement; None if it is not one."""
        plain = _plain(message)
        return self._values.get(plain) or next(self._open(plain), None)

    def _open(self, message: str) -> Iterator[ValueStatement]:
        """Parse statements on numbers and free texts."""
        for name in self._attributes:
            for sign, is_of_several in product(SIGNS, (False, True)):
                pattern = self._pattern(name, sign)
                form = _plain(of_several(pattern) if is_of_several else pattern)
                before, _, after = form.partition("{value}")
                if not (
                    message.startswith(before)
                    and message.endswith(after)
                    and len(message) > len(before + after)
                ):
                    continue
                inner = message[len(before) : len(message) - len(after)]
                if (value := self._value_of(name, inner)) is not None:
                    yield ValueStatement(name, sign, value)

    def _value_of(self, name: str, message: str) -> ValueOrNumber | None:
        known = self.vocabulary.attributes[name]
        if known.number:
            return _number(message)
        is_free = not known.values and message.startswith("“") and message.endswith("”")
        return message[1:-1] if is_free else None

    # ----------------------------------------------------------------------- relations, roles, times

    def relation(self, name: str) -> str:
        """Return a relation as a clause, without its object.

        Raises:
            WordingError: its name has neither a verb nor a preposition.
        """
        message, first = name.replace("_", " "), name.partition("_")[0]
        if known := self.vocabulary.relations[name].has:
            return known
        if first not in listed("prepositions") and re.search(r"[^sui]s$|^is$", first):
            return f"that {message}"
        if message.rpartition(" ")[2] not in listed("prepositions") and not first.endswith("ing"):
            raise WordingError(f"there are no words for the relation {name!r}; give it `has`")
        is_noun = message.endswith(" of") and not {*message.split()[:-1]} & (
            listed("sides") | listed("prepositions")
        )
        noun = f"the {message}" if first in listed("sole") else with_article(message)
        return f"that is {noun if is_noun else message}"

    def read_relation(self, message: str) -> str | None:
        """Parse a clause as a relation."""
        return _read(message, self.vocabulary.relations, self.relation)

    def read_shared(self, message: str) -> str | None:
        """Parse a clause that compares an attribute with an earlier value."""
        return _read(message, self._attributes, self.shares)

    def time(self, how: TimeWord, category: str) -> str:
        """Return a temporal statement as a clause, without its object."""
        return (category == EVENT and _said("times-of-events").get(how)) or _said("times")[how]

    def read_time(self, message: str) -> TimeWord | None:
        """Parse a clause as a temporal statement."""
        tables = map(_said, ("times", "times-of-events"))
        time = next(filter(None, (_read(message, table, table.__getitem__) for table in tables)), None)
        return next((how for how in get_args(TimeWord) if how == time), None)

    def player(self, role: str) -> str:
        """Return the phrase for the player of a role in the event `{who}`."""
        return _said("players").get(self._role(role), f"the {role.replace('_', ' ')} of {{who}}")

    def played(self, role: str, name: str) -> str:
        """Return the clause for an event with a given player of a role."""
        message = _said("played").get(self._role(role), f"whose {role.replace('_', ' ')} is {{name}}")
        return message.replace("{name}", name)

    def _role(self, role: str) -> str:
        return "who alone" if role == "who" and len(self.vocabulary.roles()) == 1 else role


@cache
def _said(table: str) -> Mapping[str, str]:
    return packaged("vidence.make.compose", "phrases.toml", dict[str, dict[str, str]])[table]


def _read(message: str, names: Iterable[str], form: Callable[[str], str]) -> str | None:
    """Return the name with this singular or plural form."""
    plain = _plain(message)
    for name in names:
        try:
            word = _plain(form(name))
        except WordingError:
            continue
        if plain in (word, of_several(word)):
            return name
    return None


def _does(verb: str, *, is_so: bool) -> str:
    """Return a verb phrase as a clause.

    >>> _does("stands at", is_so=False), _does("is seated", is_so=False)
    ('that does not stand at', 'that is not seated')
    """
    first, space, rest = verb.partition(" ")
    denied = {"is": "is not", "can": "cannot"}.get(first, f"does not {_of_many(first)}")
    not_so = f"{denied}{space}{rest}"
    return f"that {verb if is_so else not_so}"


def _state(message: str) -> tuple[str, str]:
    """Split a name into what is in a state, if it says so, and the state; a second half may be empty.

    >>> [_state(one) for one in ("asleep", "wings clipped", "left handed", "well dressed", "lamp")]
    [('asleep', ''), ('wings', 'clipped'), ('left-handed', ''), ('well-dressed', ''), ('', '')]
    """
    thing, _, last = message.rpartition(" ")
    if not (_is_quality(last) or (thing and last.endswith("ing") and last not in listed("things-in-ing"))):
        return "", ""
    of_body = last.removesuffix("ed") in listed("garments") | listed("body")
    is_how = of_body or thing.endswith("ly") or thing in listed("function") | listed("manners")
    return (thing, last) if thing and not is_how else (message.replace(" ", "-" if of_body else " "), "")


def _stem(word: str) -> str:
    """Return the listed verb that a word in -s or -ing is a form of; empty if it is of none.

    >>> _stem("carries"), _stem("sitting on"), _stem("wearing"), _stem("hat")
    ('carry', 'sit', 'wear', '')
    """
    first = word.partition(" ")[0]
    stem = first.removesuffix("ing")
    forms = (stem, f"{stem}e", stem[:-1]) if first.endswith("ing") else (_of_many(first),)
    return next((form for form in forms if form in listed("handling") | listed("doing")), "")


def is_person(vocabulary: Vocabulary, category: str) -> bool:
    """Whether the members of a category are people."""
    return any(vocabulary.is_a(category, name) for name in _PEOPLE)


def is_flag(known: Attribute) -> bool:
    """Return whether an attribute has the values yes and no, and phrases for them."""
    return set(known.values) == {"yes", "no"} and "{value}" not in known.has + known.has_not


def _is_colour(value: str) -> bool:
    """Whether a value is the name of a colour, as ``dark blue``."""
    words = re.split(r"[ -]", value)
    return words[-1] in listed("colour-names") and all(
        word in listed("colour-names") | listed("shades") for word in words
    )


def _is_quality(value: str) -> bool:
    """Whether a value is an adjective by the lists, as ``curly`` or ``rolled up``; colours are."""
    words = re.split(r"[ -]", value)
    words = words[:-1] if words[1:] and words[-1] in listed("states") else words
    adjectives = listed("states") | listed("colour-names") | listed("shades")
    return all(word in adjectives or _PARTICIPLE.fullmatch(word) is not None for word in words)


def _is_plural(thing: str) -> bool:
    head = _AFTER_NOUN.split(thing)[0]
    last = head.rpartition(" ")[2]
    is_irregular = last in _said("plurals").values() and last not in _said("plurals")
    return is_irregular or (_IS_PLURAL.search(head) is not None and last not in listed("singular-in-s"))


def _be(thing: str) -> str:
    return "are" if _is_plural(thing) else "is"


def _plain(message: str) -> str:
    """Return a clause as worded for things."""
    return f"that {message[4:]}" if message.startswith("who ") else message


def _number(text: str) -> int | float | None:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return None
