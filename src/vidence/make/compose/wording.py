"""Word compositions in plain English, and parse that English to the same program.

The sentences are ours; phrases for values, relations and events come from the vocabulary (`phrases`).
"""

import re
from collections.abc import Callable, Mapping
from itertools import product

import msgspec

from vidence.make.compose.phrases import Phrases, ValueStatement, WordingError, of_several
from vidence.make.compose.shapes import asked_of
from vidence.make.sources.composition import (
    Aggregate,
    Atom,
    AttributeOf,
    Compare,
    Composition,
    DirectionOf,
    Expression,
    Known,
    Literally,
    Members,
    Order,
    Pair,
    Related,
    Select,
    Step,
    The,
    Timed,
    Variable,
    View,
)
from vidence.make.sources.vocabulary import EVENT, PAIR, Vocabulary

DIGITS = "①②③④⑤⑥⑦⑧⑨⑩"
_ORDERS: tuple[Order, ...] = ("appears", "begins")
_ENDS, _FAR = ("first", "last"), ("nearest", "farthest")
_DIGIT = re.compile(f"([{DIGITS}])")
_SENTENCE = re.compile(r"(?<=\.) (?=[A-Z])")
_NAME = r"([A-Z]\w*)"


class PlainWords:
    """Wording of one vocabulary, to write and to parse."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        """Raises `DataError` if two statements are worded alike."""
        self.vocabulary, self.phrases = vocabulary, Phrases(vocabulary)
        self._readers: tuple[tuple[str, Callable[[re.Match[str]], Step]], ...] = (
            *(
                (_around(message, "{who}"), lambda m, name=name: _answer(_attribute(m[1], name)))
                for message, name in self.phrases.asked.items()
            ),
            *(
                (
                    _around(self._event(name), "{who}").replace(_NAME, r"\1").replace(r"\1", _NAME, 1),
                    lambda m, name=name: _answer(asked_of(m[1], f"kind{PAIR}{name}")),
                )
                for name in self.phrases.asked.values()
                if EVENT in vocabulary.attributes[name].of
            ),
            *(
                (
                    _around(self._table(name), "{what}"),
                    lambda m, name=name: _answer(Known(table=name, of=Variable(name=m[1]))),
                )
                for name in vocabulary.known
            ),
            *(
                (
                    rf"{_NAME} is {_around(message, '{who}')}\.",
                    lambda m, name=name: Step(variable=m[1], value=_attribute(m[2], name)),
                )
                for message, name in self.phrases.owned_by.items()
            ),
            (rf"What happens in {_NAME}\?", lambda m: _answer(_attribute(m[1], "kind"))),
            (
                rf"In which direction is {_NAME} in the view {_NAME}\?",
                lambda m: _answer(DirectionOf(of=Variable(name=m[1]), view=Variable(name=m[2]))),
            ),
            (
                rf"How many (.+?) are there(?: ([{DIGITS}].+))?\?",
                lambda m: _answer(Aggregate(how="count", of=self._members(m[1], m[2], many=True))),
            ),
            (
                rf"Imagine standing where {_NAME} is, ([{DIGITS}]) facing {_NAME}: "
                rf"this is the view {_NAME}\.",
                self._view,
            ),
            (
                rf"Of (?:all the|all|the) (?:other )?(.+?)(?: ([{DIGITS}].+))?, "
                rf"{_NAME} is the one (?:that|who) (.+)\.",
                self._selected,
            ),
            (rf"{_NAME} is the (?:only )?([^{DIGITS}]+?)(?: ([{DIGITS}].+))?\.", self._the),
        )

    # ----------------------------------------------------------------------- written

    def write(self, composition: Composition) -> str:
        """Return the question text of a composition.

        Raises:
            WordingError: there are no words for one of its steps.
        """
        sets = {step.variable: getattr(step.value, "of", None) for step in composition.steps}
        kinds = {name: some.category for name, some in sets.items() if isinstance(some, Members)}
        return " ".join(self._sentence(step, kinds) for step in composition.steps)

    def _sentence(self, step: Step, kinds: Mapping[str, str]) -> str:
        name = step.variable
        match step.value:
            case AttributeOf(of=Variable(name=of), name=word, at=None):
                return self._said_attribute(name, word, of)
            case The(of=Members() as some, pick=pick) if pick == name:
                category, clauses = self._clauses(some, many=False)
                return (
                    f"{name} is the {category} {clauses}." if clauses else f"{name} is the only {category}."
                )
            case Select(of=Members() as some, pick=pick) as one if pick == name:
                category, clauses = self._clauses(some, many=True)
                of = kinds.get(one.to.name, "") if isinstance(one.to, Variable) else ""
                other = "other " * bool(of and self.vocabulary.is_a(of, some.category))
                among = (
                    f"Of the {other}{category} {clauses}"
                    if clauses
                    else f"Of all {'the ' * bool(other)}{other}{category}"
                )
                which = "who" if self.phrases.is_person(some.category) else "that"
                return f"{among}, {name} is the one {which} {self._digit(one.condition)} {self._place(one)}."
            case Aggregate(how="count", of=Members() as some):
                category, clauses = self._clauses(some, many=True)
                return f"How many {category} are there{' ' if clauses else ''}{clauses}?"
            case _:
                return self._seen_or_known(step)

    def _seen_or_known(self, step: Step) -> str:
        match step.value:
            case View(of=Variable(name=of), facing=Variable(name=at), heading=None, turned=0.0) as one:
                mark = self._digit(one.facing_condition)
                known = f"Imagine standing where {of} is, {mark} facing {at}"
                return f"{known}: this is the view {step.variable}."
            case DirectionOf(of=Variable(name=of), view=Variable(name=view)):
                return f"In which direction is {of} in the view {view}?"
            case Pair(
                first=AttributeOf(of=Variable(name=of), name="kind"), second=AttributeOf(name=name)
            ) if step.value == asked_of(of, f"kind{PAIR}{name}"):
                return self._event(name).replace("{who}", of)
            case Known(table=table, of=Variable(name=of)):
                return self._table(table).replace("{what}", of)
            case _:
                raise WordingError(f"{step.variable}: there are no words for a step of this kind")

    def _event(self, name: str) -> str:
        asked = self.phrases.asks(name)
        return f"What happens in {{who}}, and {asked[:1].lower()}{asked[1:]}"

    def _table(self, name: str) -> str:
        return self.vocabulary.known[name].asks or f"Which {name.replace('_', ' ')} goes with {{what}}?"

    def _said_attribute(self, name: str, word: str, of: str) -> str:
        if name == "answer":
            asked = "What happens in {who}?" if word == "kind" else self.phrases.asks(word)
            return asked.replace("{who}", of)
        if word in self.vocabulary.attributes:
            return f"{name} is {self.phrases.owned(of, word)}."
        return f"{name} is {self.phrases.player(word).replace('{who}', of)}."

    def _place(self, selected: Select) -> str:
        match selected:
            case Select(how="first" | "last" as how, by=by) if by in _ORDERS:
                return f"{by} {how}"
            case Select(how="nearest", to=Variable(name=to)):
                return f"is nearest to {to}"
            case Select(how="farthest", to=Variable(name=to)):
                return f"is farthest from {to}"
            case _:
                raise WordingError(f"{selected.pick}: there are no words for {selected.how} of this kind")

    def _clauses(self, some: Members, *, many: bool) -> tuple[str, str]:
        """Return the noun of the members and their numbered clauses."""
        if some.head:
            raise WordingError("there are no words for a set of this kind")
        category = some.category
        marked = [
            f"{self._digit(atom.condition)} {self._atom(atom, category, many=many)}" for atom in some.atoms
        ]
        joined = ", ".join(marked[:-1]) + (" and " if marked[1:] else "") + (marked[-1] if marked else "")
        return self.phrases.several(category) if many else self.phrases.category(category), joined

    def _digit(self, condition: str) -> str:
        return DIGITS[int(condition.removeprefix("c")) - 1]

    def _atom(self, atom: Atom, category: str, *, many: bool) -> str:
        said_atom = self._said_atom(atom, category)
        said_atom = of_several(said_atom) if many else said_atom
        is_somebody = said_atom.startswith("that ") and self.phrases.is_person(category)
        return f"who {said_atom[5:]}" if is_somebody else said_atom

    def _said_atom(self, atom: Atom, category: str) -> str:
        match atom:
            case Compare(attribute=name, how="==" | "!=" as how, value=Literally(value=value)):
                return self.phrases.says(ValueStatement(name, how, value))
            case Compare(attribute=name, how="==", value=Variable(name=variable)):
                if name in self.vocabulary.roles():
                    return self.phrases.played(name, variable)
                return f"{self.phrases.shares(name)} {variable}"
            case Related(relation=relation, to=Variable(name=variable), holds=True, frame=""):
                return f"{self.phrases.relation(relation)} {variable}"
            case Timed(how=how, of=Variable(name=variable), seconds=()):
                return f"{self.phrases.time(how, category)} {variable}"
            case _:
                raise WordingError(f"{atom.condition}: there are no words for a condition of this kind")

    # ----------------------------------------------------------------------- read

    def read(self, text: str) -> tuple[Step, ...]:
        """Parse a text into steps.

        Raises:
            WordingError: it says none; the message has the piece.
        """
        return tuple(self._read(sentence) for sentence in _SENTENCE.split(text.strip()))

    def _read(self, sentence: str) -> Step:
        for pattern, make in self._readers:
            if match := re.fullmatch(pattern, sentence):
                return make(match)
        raise WordingError(f"no sentence of ours: {sentence!r}")

    def _view(self, match: re.Match[str]) -> Step:
        of, at = Variable(name=match[1]), Variable(name=match[3])
        return Step(variable=match[4], value=View(of=of, facing=at, facing_condition=_condition(match[2])))

    def _the(self, match: re.Match[str]) -> Step:
        of = self._members(match[2], match[3], many=False)
        return Step(variable=match[1], value=The(of=of, pick=match[1]))

    def _selected(self, match: re.Match[str]) -> Step:
        members, pick = self._members(match[1], match[2], many=True), match[3]
        result = re.fullmatch(rf"([{DIGITS}]) (.+)", match[4])
        if result is None:
            raise WordingError(f"no condition of ours: {match[4]!r}")
        some = Select(how="first", of=members, pick=pick, condition=_condition(result[1]))
        to = Variable(name=result[2].rpartition(" ")[2])
        known = [
            *(msgspec.structs.replace(some, how=how, by=by) for how, by in product(_ENDS, _ORDERS)),
            *(msgspec.structs.replace(some, how=how, to=to) for how in _FAR),
        ]
        for selected in known:
            if self._place(selected) == result[2]:
                return Step(variable=pick, value=selected)
        raise WordingError(f"no order of ours: {result[2]!r}")

    def _members(self, message: str, clauses: str | None, *, many: bool) -> Members:
        """Return a set with its clauses in words."""
        names = self.phrases.plurals if many else self.phrases.categories
        if message not in names:
            raise WordingError(f"there is no category {message!r}")
        category = names[message]
        pieces = _DIGIT.split(clauses or "")[1:]
        atoms = list[Atom]()
        for i, (digit, piece) in enumerate(zip(pieces[::2], pieces[1::2], strict=True), start=1):
            words = piece.strip()
            if 2 * i < len(pieces):
                words = words.removesuffix(",").removesuffix(" and")
            atoms.append(self._clause(words, _condition(digit), category))
        return Members(category=category, atoms=tuple(atoms))

    def _clause(self, message: str, condition: str, category: str) -> Atom:
        if (statement := self.phrases.read_value(message)) is not None:
            value = Literally(value=statement.value)
            return Compare(attribute=statement.attribute, how=statement.how, value=value, condition=condition)
        if category == EVENT and (played := self._played(message, condition)) is not None:
            return played
        start, _, name = message.rpartition(" ")
        variable = Variable(name=name)
        if (how_ := self.phrases.read_time(start)) is not None:
            return Timed(how=how_, of=variable, condition=condition)
        if (related := self.phrases.read_relation(start)) is not None:
            return Related(relation=related, to=variable, condition=condition)
        if (shared := self.phrases.read_shared(start)) is not None:
            return Compare(attribute=shared, how="==", value=variable, condition=condition)
        raise WordingError(f"no condition of ours: {message!r}")

    def _played(self, message: str, condition: str) -> Compare | None:
        forms = {role: self.phrases.played(role, "{who}") for role in self.vocabulary.roles()}
        for role, form in [*forms.items(), *((role, of_several(form)) for role, form in forms.items())]:
            if match := re.fullmatch(_around(form, "{who}"), message):
                return Compare(attribute=role, how="==", value=Variable(name=match[1]), condition=condition)
        return None


def _around(message: str, blank: str) -> str:
    """Return a pattern that matches a text with a name in it."""
    return _NAME.join(map(re.escape, message.split(blank)))


def _answer(value: Expression) -> Step:
    return Step(variable="answer", value=value)


def _attribute(of: str, name: str) -> AttributeOf:
    return AttributeOf(of=Variable(name=of), name=name)


def _condition(digit: str) -> str:
    return f"c{DIGITS.index(digit) + 1}"
