"""Compositions in plain words, and the way back: what is written here is read here as the same program.

The sentences are ours. Words for values and relations come from the vocabulary (`has`, `has_not`, `phrase`).
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from vidence.errors import DataError
from vidence.make.composing.results import Pick, Read, step_of
from vidence.make.scene_graph.composition import (
    Aggregate,
    Atom,
    AttributeOf,
    Compare,
    Composition,
    Expression,
    Literally,
    Members,
    Order,
    Related,
    Select,
    Step,
    The,
    Timed,
    TimeWord,
    Variable,
)
from vidence.make.scene_graph.scene import ValueOrNumber
from vidence.make.scene_graph.vocabulary import EVENT, Vocabulary

DIGITS = "①②③④⑤⑥⑦⑧⑨⑩"
_TIMES: Mapping[TimeWord, str] = {
    "during": "that is there during",
    "before": "that is over before",
    "after": "that begins after the end of",
    "appears_after": "that appears after",
    "appears_before": "that appears before",
}
_SEEN: Mapping[TimeWord, str] = {
    "before": "that is out of view before",
    "after": "that comes into view after the end of",
}
"""Of things, in place of what is said of events."""
_ORDERS: Mapping[Order, str] = {"appears": "appears", "begins": "begins", "ends": "ends"}
_DONE: Mapping[str, str] = {"who": "that is done by", "whom": "that is done to"}
"""Roles of events that have words of their own."""
_DIGIT = re.compile(f"([{DIGITS}])")
_SENTENCE = re.compile(r"(?<=\.) (?=(?:[A-Z]\w* is |What |How |Who |Which |Where ))")
_NAME = r"([A-Z]\w*)"


class WordingError(DataError):
    """A text is none that is written here."""


@dataclass(frozen=True)
class _Value:
    """A statement about a value, before it has a number."""

    attribute: str
    how: Literal["==", "!="]
    value: ValueOrNumber


class PlainWords:
    """The words of one vocabulary, in both directions."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        """Raises `DataError` where two statements would read alike."""
        self.vocabulary = vocabulary
        self._values: dict[str, _Value] = {}
        for name, one in vocabulary.attributes.items():
            for value in one.values:
                self._know(_Value(name, "==", value))
                self._know(_Value(name, "!=", value))
        self._asks = {name: one.asks for name, one in vocabulary.attributes.items() if one.asks}
        if len(set(self._asks.values())) < len(self._asks):
            raise DataError("two attributes have the same question; change `asks`")
        for kind in vocabulary.events:
            self._know(_Value("kind", "==", kind))
        self._categories = {self.category(name): name for name in (*vocabulary.categories, EVENT)}
        if len(self._categories) <= len(vocabulary.categories):
            raise DataError("two categories have the same phrase; give each its own")

    def _know(self, one: _Value) -> None:
        said = self._say_value(one.attribute, one.how, one.value)
        if said in self._values:
            raise DataError(
                f"{one.attribute} and {self._values[said].attribute} both read {said!r}; change `has`"
            )
        self._values[said] = one

    def category(self, name: str) -> str:
        """What a category is called."""
        return (self.vocabulary.categories[name].phrase if name in self.vocabulary.categories else "") or name

    # ----------------------------------------------------------------------- written

    def write(self, composition: Composition) -> str:
        """The question of a composition that the search made."""
        return " ".join(self._step(step) for step in composition.steps)

    def _step(self, step: Step) -> str:
        known = step_of(step)
        if isinstance(known, Read):
            word = known.word.replace("_", " ")
            if step.variable != "answer":
                return f"{step.variable} is the {word} of {known.source}."
            if known.word == "kind":
                return f"What kind of event is {known.source}?"
            asks = self._asks.get(known.word, "")
            return asks.replace("{of}", known.source) or f"What is the {word} of {known.source}?"
        if not isinstance(known, Pick):
            raise WordingError(f"{step.variable}: there are no words for a step of this kind")
        is_event = known.members.category == EVENT
        said = [
            f"{self._digit(atom.condition)} {self._atom(atom, is_event=is_event)}"
            for atom in known.members.atoms
        ]
        if isinstance(step.value, Select):
            order = _ORDERS[step.value.by or "appears"]
            said.append(f"{self._digit(known.condition)} that {order} {known.how} of all these")
        clauses = ", ".join(said)
        category = self.category(known.members.category)
        if known.how == "count":
            kind = "events" if known.members.category == EVENT else f"of the kind {category}"
            return f"How many {kind} are there {clauses}?"
        return f"{step.variable} is the {category} {clauses}."

    def _digit(self, condition: str) -> str:
        return DIGITS[int(condition.removeprefix("c")) - 1]

    def _atom(self, atom: Atom, *, is_event: bool) -> str:
        match atom:
            case Timed(how=how, of=Variable(name=variable)) if how in _SEEN and not is_event:
                return f"{_SEEN[how]} {variable}"
            case Compare(attribute=name, how=how, value=Literally(value=value)):
                return self._say_value(name, how, value)
            case Compare(attribute=name, how="==", value=Variable(name=variable)) if name in _DONE:
                return f"{_DONE[name]} {variable}"
            case Compare(attribute=name, value=Variable(name=variable)):
                return f"whose {name.replace('_', ' ')} is {variable}"
            case Related(relation=relation, to=Variable(name=variable)):
                return f"{self._relation(relation)} {variable}"
            case Timed(how=how, of=Variable(name=variable)) if how in _TIMES:
                return f"{_TIMES[how]} {variable}"
            case _:
                raise WordingError(f"{atom.condition}: there are no words for a condition of this kind")

    def _say_value(self, name: str, how: str, value: ValueOrNumber) -> str:
        if name == "kind":
            phrase = self.vocabulary.events[str(value)].phrase
            return f"in which {phrase}" if phrase else f"of the kind {value}"
        known = self.vocabulary.attributes[name]
        pattern = known.has if how == "==" else known.has_not
        shown = str(value) if known.values else f"“{value}”"
        if pattern:
            return pattern.replace("{value}", shown)
        return f"whose {name.replace('_', ' ')} is {'' if how == '==' else 'not '}{shown}"

    def _relation(self, name: str) -> str:
        return self.vocabulary.relations[name].has or f"that is {name.replace('_', ' ')}"

    # ----------------------------------------------------------------------- read

    def read(self, text: str) -> tuple[Step, ...]:
        """The steps that a text says.

        Raises:
            WordingError: it says none; the message has the piece.
        """
        return tuple(self._read(sentence) for sentence in _SENTENCE.split(text.strip()))

    def _read(self, sentence: str) -> Step:
        if found := re.fullmatch(rf"What kind of event is {_NAME}\?", sentence):
            return Step(variable="answer", value=AttributeOf(of=Variable(name=found[1]), name="kind"))
        for name, asks in self._asks.items():
            if found := re.fullmatch(re.escape(asks).replace(r"\{of\}", _NAME, 1), sentence):
                return Step(variable="answer", value=AttributeOf(of=Variable(name=found[1]), name=name))
        if found := re.fullmatch(rf"What is the (.+) of {_NAME}\?", sentence):
            return Step(variable="answer", value=self._attribute(found[1], found[2]))
        if found := re.fullmatch(
            rf"How many (?:events|of the kind ([^{DIGITS}]+)) are there ([{DIGITS}].+)\?", sentence
        ):
            atoms, _ = self._clauses(found[2])
            members = self._members(found[1] or self.category(EVENT), atoms)
            return Step(variable="answer", value=Aggregate(how="count", of=members))
        if found := re.fullmatch(rf"{_NAME} is the ([^{DIGITS}]+?) ([{DIGITS}].+)\.", sentence):
            atoms, order = self._clauses(found[3])
            members = self._members(found[2], atoms)
            return Step(variable=found[1], value=_picked(found[1], members, order))
        if found := re.fullmatch(rf"{_NAME} is the (.+) of {_NAME}\.", sentence):
            return Step(variable=found[1], value=self._attribute(found[2], found[3]))
        raise WordingError(f"no sentence of ours: {sentence!r}")

    def _attribute(self, said: str, source: str) -> AttributeOf:
        names = (*self.vocabulary.attributes, *self.vocabulary.roles())
        name = next((one for one in names if one.replace("_", " ") == said), None)
        if name is None:
            raise WordingError(f"nothing has {said!r}")
        return AttributeOf(of=Variable(name=source), name=name)

    def _members(self, said: str, atoms: tuple[Atom, ...]) -> Members:
        if said not in self._categories:
            raise WordingError(f"there is no category {said!r}")
        return Members(category=self._categories[said], atoms=atoms)

    def _clauses(self, said: str) -> tuple[tuple[Atom, ...], tuple[str, Order, str] | None]:
        """The atoms, and the selector with its order and condition."""
        pieces = _DIGIT.split(said)[1:]
        atoms, order = list[Atom](), None
        for digit, clause in zip(pieces[::2], pieces[1::2], strict=True):
            condition = f"c{DIGITS.index(digit) + 1}"
            words = clause.strip().removesuffix(",")
            found = re.fullmatch(r"that (appears|begins|ends) (first|last) of all these", words)
            if found:
                order = (
                    found[2],
                    next(name for name, word in _ORDERS.items() if word == found[1]),
                    condition,
                )
            else:
                atoms.append(self._clause(words, condition))
        return tuple(atoms), order

    def _clause(self, said: str, condition: str) -> Atom:
        if (known := self._values.get(said)) is not None:
            return Compare(
                attribute=known.attribute,
                how=known.how,
                value=Literally(value=known.value),
                condition=condition,
            )
        start, _, name = said.rpartition(" ")
        linked = self._linked(start, Variable(name=name), condition) if re.fullmatch(_NAME, name) else None
        found = linked or next(self._open(said, condition), None)
        if found is None:
            raise WordingError(f"no condition of ours: {said!r}")
        return found

    def _linked(self, start: str, variable: Variable, condition: str) -> Atom | None:
        """A condition that ends with a variable."""
        for how, words in (*_TIMES.items(), *_SEEN.items()):
            if words == start:
                return Timed(how=how, of=variable, condition=condition)
        for relation in self.vocabulary.relations:
            if self._relation(relation) == start:
                return Related(relation=relation, to=variable, condition=condition)
        for name in (*self.vocabulary.attributes, *self.vocabulary.roles()):
            if _DONE.get(name) == start:
                return Compare(attribute=name, how="==", value=variable, condition=condition)
            if start == f"whose {name.replace('_', ' ')} is":
                return Compare(attribute=name, how="==", value=variable, condition=condition)
        return None

    def _open(self, said: str, condition: str) -> Iterator[Compare]:
        """Statements about numbers and texts that no list has."""
        for name, one in self.vocabulary.attributes.items():
            if one.values:
                continue
            for how in ("==", "!="):
                before, _, after = self._say_value(name, how, "\0").partition("“\0”")
                if said.startswith(f"{before}“") and said.endswith(f"”{after}"):
                    value: ValueOrNumber = said[len(before) + 1 : len(said) - len(after) - 1]
                    if one.number:
                        value = _number(str(value))
                    yield Compare(
                        attribute=name,
                        how="==" if how == "==" else "!=",
                        value=Literally(value=value),
                        condition=condition,
                    )


def _picked(variable: str, members: Members, order: tuple[str, Order, str] | None) -> Expression:
    if order is None:
        return The(of=members, pick=variable)
    how, by, condition = order
    return Select(
        how="first" if how == "first" else "last", of=members, pick=variable, condition=condition, by=by
    )


def _number(text: str) -> int | float:
    try:
        return int(text)
    except ValueError:
        pass
    try:
        return float(text)
    except ValueError as error:
        raise WordingError(f"{text!r} is no number") from error
