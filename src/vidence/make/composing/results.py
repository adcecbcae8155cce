"""What the steps of a composition allow without some conditions, by bit operations; and the proof of it.

Only the programs that the search writes are known here (`is_known`): steps that pick `the`, `first` or
`last` of a category under atoms, steps that read a value or a role, and an answer that is read or counted.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal, TypeAlias

import msgspec

from vidence.make.composing.scene_bits import TIME_WORDS, Masks, SceneBits, bits
from vidence.make.scene_graph.composition import (
    Aggregate,
    Atom,
    AttributeOf,
    Compare,
    Composition,
    Literally,
    Members,
    Related,
    Select,
    Step,
    The,
    Timed,
    Variable,
    conditions_in,
    variables_in,
)
from vidence.make.scene_graph.proof import (
    Answer,
    Binding,
    ConditionProof,
    StepProof,
    Subsets,
    Without,
    Witness,
)
from vidence.make.scene_graph.scene import ValueOrNumber, natural
from vidence.make.scene_graph.vocabulary import EVENT, AnswerType
from vidence.records import Record

Logic: TypeAlias = Literal["conjunctive", "sequential"]
Unique: TypeAlias = Literal["each step", "jointly", "value"]
"""`each step` finds one thing, or all steps `jointly` do, or one `value` comes out."""
_Env: TypeAlias = dict[str, ValueOrNumber]
_State: TypeAlias = tuple[_Env, Binding, int]


_FEW = 24
"""Of so many the times are sorted; among more the first of all is found sooner."""


class Found(Record):
    """What the search knows of a composition: the fields of a proof that it computes itself.

    The verifier's proof has to say the same in each of them (`differences` in the maker).
    """

    composition: str
    logic: Literal["conjunctive", "sequential"]
    answer: Answer
    binding: Binding
    conditions: tuple[ConditionProof, ...]
    steps: tuple[StepProof, ...]
    subsets: Subsets
    depth: int
    n_conjunctive: int
    prior: float


class Refused(Record):
    """Why a composition proves nothing, and the conditions that could be left out."""

    reason: str
    conditions: tuple[str, ...] = ()
    binding: Binding = msgspec.field(default_factory=dict)
    """What the steps find with all conditions, where conditions could be left out."""


@dataclass(frozen=True)
class Pick:
    """`VARIABLE = the(...)`, `first(...)`, `last(...)`; or, with `counts`, the answer `count(...)`."""

    variable: str
    members: Members
    how: Literal["the", "first", "last", "count"]
    by_end: bool = False
    condition: str = ""


@dataclass(frozen=True)
class Read:
    """`VARIABLE = SOURCE.WORD`: an attribute, a role or `kind`."""

    variable: str
    source: str
    word: str


_Known: TypeAlias = Pick | Read


def step_of(step: Step) -> _Known | None:
    """A step as it is evaluated here; None where it is of another kind."""
    match step.value:
        case The(of=Members() as members, pick=step.variable) if _is_plain(members):
            return Pick(step.variable, members, "the")
        case Select(how="first" | "last" as how, of=Members() as members, pick=step.variable) as one:
            if one.by in ("appears", "begins", "ends") and _is_plain(members):
                return Pick(step.variable, members, how, one.by == "ends", one.condition)
        case AttributeOf(of=Variable(name=name), at=None, name=word):
            return Read(step.variable, name, word)
        case Aggregate(how="count", of=Members() as members) if step.variable == "answer" and _is_plain(
            members
        ):
            return Pick(step.variable, members, "count")
        case _:
            pass
    return None


def _is_plain(members: Members) -> bool:
    return not members.head and all(map(_is_known_atom, members.atoms))


def _is_known_atom(atom: Atom) -> bool:
    match atom:
        case Compare(how="==" | "!=", value=Literally() | Variable()):
            return True
        case Related(to=Variable(), holds=True, frame=""):
            return True
        case Timed(of=Variable(), seconds=(), how=how):
            return how in TIME_WORDS
        case _:
            return False


def is_known(composition: Composition) -> bool:
    """Whether every step is of a kind that is evaluated here."""
    return all(step_of(step) is not None for step in composition.steps)


@dataclass
class Reached:
    """One result: how many bindings end in each value, and whether something is in doubt."""

    values: dict[ValueOrNumber, int]
    other: tuple[ValueOrNumber, Binding] | None = None
    first: tuple[ValueOrNumber, Binding] | None = None
    is_doubtful: bool = False
    is_several: bool = False

    def share(self, answer: ValueOrNumber) -> float:
        """The share of the bindings that end in the answer."""
        n = sum(self.values.values())
        return round(self.values.get(answer, 0) / n, 6) if n else 0.0


class Results:
    """The results of one composition in one scene."""

    def __init__(self, composition: Composition, scene: SceneBits) -> None:
        self.composition, self.scene = composition, scene
        known = [step_of(step) for step in composition.steps]
        self.steps: list[_Known] = [one for one in known if one is not None]
        if len(self.steps) < len(known):
            raise ValueError(f"{composition.composition}: a step is of a kind that is not evaluated here")
        self.inside = [frozenset(conditions_in(step.value)) for step in composition.steps]
        self.uses = [variables_in(step.value) for step in composition.steps]
        self._live = [
            tuple(
                s.variable
                for s in self.steps[: i + 1]
                if any(s.variable in uses for uses in self.uses[i + 1 :])
            )
            for i in range(len(self.steps))
        ]
        self._of = {
            one.variable: (frozenset(atom.condition for atom in one.members.atoms), variables_in(one.members))
            for one in self.steps
            if isinstance(one, Pick)
        }
        self.types = self._typed()
        self._counts: dict[int, tuple[tuple[ValueOrNumber, int], ...]] = {}
        self._others: dict[ValueOrNumber, int] = {}
        self._sets: dict[tuple[object, ...], tuple[int, int, bool]] = {}
        self._kept: dict[tuple[int, frozenset[str], str], tuple[list[_State], bool, bool]] = {}

    def _typed(self) -> dict[str, str]:
        """The category of what each step picks, or the attribute that it reads."""
        found: dict[str, str] = {}
        roles = self.scene.words.roles()
        for step in self.steps:
            if isinstance(step, Pick):
                found[step.variable] = "" if step.how == "count" else step.members.category
            else:
                found[step.variable] = (
                    roles.get(step.word, step.word) if self._is_role(step, found) else step.word
                )
        return found

    def _is_role(self, step: Read, found: dict[str, str]) -> bool:
        is_event = found.get(step.source) == EVENT
        return is_event and step.word != "kind" and step.word not in self.scene.words.attributes

    # ----------------------------------------------------------------------- sets

    def members(self, step: Pick, env: _Env, dropped: frozenset[str]) -> tuple[int, int, bool]:
        """Who certainly is in a set, who may be, and whether members may be missing."""
        own, used = self._of[step.variable]
        key = (step.variable, dropped & own, *[env[name] for name in used])
        if key not in self._sets:
            category, scene = step.members.category, self.scene
            must = may = scene.everybody[category]
            kinds: list[ValueOrNumber] = []
            for atom in step.members.atoms:
                if atom.condition in dropped:
                    continue
                masks = self._masks(atom, category, env)
                must, may = must & masks.must, may & masks.may
                if isinstance(atom, Compare) and (atom.attribute, atom.how) == ("kind", "=="):
                    kinds += [atom.value.value] if isinstance(atom.value, Literally) else []
            is_listed = scene.lists_all(category) or (bool(kinds) and all(map(scene.lists_kind, kinds)))
            self._sets[key] = must, may, not is_listed
        return self._sets[key]

    def _masks(self, atom: Atom, category: str, env: _Env) -> Masks:
        match atom:
            case Compare(value=Literally(value=value)):
                return self.scene.compared(category, atom.attribute, how=atom.how, value=value)
            case Compare(value=Variable(name=name)):
                return self.scene.compared(category, atom.attribute, how=atom.how, value=env[name])
            case Related(to=Variable(name=name)):
                return self.scene.related(category, atom.relation, str(env[name]))
            case Timed(of=Variable(name=name)):
                return self.scene.timed(category, atom.how, str(env[name]))
            case _:
                raise ValueError(f"{atom} is not evaluated here")

    def _picked(self, step: Pick, env: _Env, dropped: frozenset[str]) -> tuple[int, bool, bool]:
        """Who is picked, each in turn, whether that is in doubt, and whether it is several."""
        must, may, is_open = self.members(step, env, dropped)
        if step.how == "the" or step.condition in dropped:
            return must, must != may or is_open, must.bit_count() > 1 and step.how == "the"
        return (*self._chosen(step, must, may=may, is_open=is_open), False)

    def _chosen(self, step: Pick, must: int, *, may: int, is_open: bool) -> tuple[int, bool]:
        if is_open:
            return 0, True
        if not must or may.bit_count() == 1:
            return must, must != may
        order, untimed = self.scene.in_order(step.members.category, by_end=step.by_end)
        if untimed & may:
            return 0, True
        if may.bit_count() <= _FEW:
            times = self.scene.times(step.members.category, by_end=step.by_end)
            order = sorted([(times[i], i) for i in bits(may)])
        there = (one for one in (order if step.how == "first" else reversed(order)) if may >> one[1] & 1)
        at, place = next(there)
        time, _ = next(there)
        # Whoever comes first has to be in the set, and the next one has to come later, for certain.
        is_open = not must >> place & 1 or abs(time - at) < self.scene.margin_s or time == at
        return (0, True) if is_open else (1 << place, False)

    # ----------------------------------------------------------------------- results

    def states(self, n: int, dropped: frozenset[str], free: str = "") -> tuple[list[_State], bool, bool]:
        """What the first steps allow, whether it is in doubt, and whether a step finds several."""
        if n == 0:
            return [({}, {}, 1)], False, False
        key = n, dropped & frozenset[str]().union(*self.inside[:n]), free
        if key not in self._kept:
            self._kept[key] = self._next(n - 1, dropped, free)
        return self._kept[key]

    def _next(self, i: int, dropped: frozenset[str], free: str) -> tuple[list[_State], bool, bool]:
        before, is_doubtful, is_several = self.states(i, dropped, free)
        step, live = self.steps[i], self._live[i]
        found: dict[tuple[ValueOrNumber, ...], _State] = {}
        for env, binding, count in before:
            if step.variable == free:
                values: Sequence[ValueOrNumber] = self._anything(free)
            else:
                values, doubt, several = self._values(step, env, dropped)
                is_doubtful, is_several = is_doubtful or doubt, is_several or several
            for value in values:
                made = {**env, step.variable: value}
                key = tuple([made[name] for name in live])
                known = found.get(key)
                if known is None:
                    found[key] = made, {**binding, step.variable: value}, count
                else:
                    found[key] = known[0], known[1], known[2] + count
        return list(found.values()), is_doubtful, is_several

    def _values(
        self, step: _Known, env: _Env, dropped: frozenset[str]
    ) -> tuple[Sequence[ValueOrNumber], bool, bool]:
        if isinstance(step, Read):
            values, doubt = self.scene.told(str(env[step.source]), step.word)
            return values, doubt, False
        mask, doubt, several = self._picked(step, env, dropped)
        names = self.scene.members[step.members.category]
        return [names[i] for i in bits(mask)], doubt, several

    def _anything(self, variable: str) -> Sequence[ValueOrNumber]:
        """Everything that a variable could be."""
        scene, domain = self.scene, self.types[variable]
        if domain in scene.members:
            return scene.members[domain]
        if domain == "kind":
            return sorted({event.kind for event in scene.events.values()})
        listed = scene.words.attributes[domain].values
        if listed:
            return listed
        told = {
            fact
            for category in scene.words.attributes[domain].of
            for fact in scene.column(category, domain).values
        }
        return sorted(told, key=lambda one: (isinstance(one, str), one))

    def reached(
        self, dropped: frozenset[str], *, free: str = "", answer: ValueOrNumber | None = None
    ) -> Reached:
        """Every value with the number of its bindings; `other` is the first that certainly has another."""
        found = Reached({})
        last = self.steps[-1]
        is_joined = self._is_joined and free != self.steps[-2].variable
        n = len(self.steps) - (2 if is_joined else 1)
        states, found.is_doubtful, found.is_several = self.states(n, dropped, free)
        for env, binding, count in states:
            if is_joined:
                self._add_read(found, (env, binding, count), dropped=dropped, answer=answer)
            else:
                values, doubt = self._last_values(last, env, dropped)
                found.is_doubtful |= doubt
                for value in values:
                    self._add(found, (env, binding, count), value=value, answer=answer)
        return found

    @property
    def _is_joined(self) -> bool:
        """Whether the answer is read off the step before it."""
        last = self.steps[-1]
        if not isinstance(last, Read) or len(self.steps) < 2:
            return False
        before = self.steps[-2]
        return isinstance(before, Pick) and before.variable == last.source

    def _last_values(
        self, last: _Known, env: _Env, dropped: frozenset[str]
    ) -> tuple[Sequence[ValueOrNumber], bool]:
        if isinstance(last, Read):
            return self.scene.told(str(env[last.source]), last.word)
        must, may, is_open = self.members(last, env, dropped)
        return ([], True) if must != may or is_open else ([must.bit_count()], False)

    def _add(
        self, found: Reached, state: _State, *, value: ValueOrNumber, answer: ValueOrNumber | None
    ) -> None:
        _, binding, count = state
        found.values[value] = found.values.get(value, 0) + count
        if found.first is None:
            found.first = value, binding
        if answer is not None and found.other is None and self.is_other(value, answer):
            found.other = value, binding

    def _add_read(
        self, found: Reached, state: _State, *, dropped: frozenset[str], answer: ValueOrNumber | None
    ) -> None:
        """Add what the last pick and what is read of it give, without going through the members."""
        env, binding, count = state
        pick, last = self.steps[-2], self.steps[-1]
        assert isinstance(pick, Pick) and isinstance(last, Read)  # noqa: S101, PT018 - `_is_joined`
        mask, doubt, several = self._picked(pick, env, dropped)
        column = self.scene.column(pick.members.category, last.word)
        found.is_doubtful |= doubt or bool(mask & column.doubtful)
        found.is_several |= several
        counts = self._counts.get(mask)
        if counts is None:
            told = ((value, (mask & who).bit_count()) for value, who in column.values.items())
            counts = self._counts[mask] = tuple(one for one in told if one[1])
        for value, n in counts:
            found.values[value] = found.values.get(value, 0) + n * count
        if found.first is None and mask:
            found.first = self._first(pick, column.told, mask, binding=binding)
        if answer is not None and found.other is None:
            others = mask & self.others(pick.members.category, last.word, answer)
            if others:
                found.other = self._first(pick, column.told, others, binding=binding, answer=answer)

    def _first(
        self,
        pick: Pick,
        told: Sequence[Sequence[ValueOrNumber]],
        mask: int,
        *,
        binding: Binding,
        answer: ValueOrNumber | None = None,
    ) -> tuple[ValueOrNumber, Binding] | None:
        for i in bits(mask):
            for value in told[i]:
                if answer is None or self.is_other(value, answer):
                    return value, {**binding, pick.variable: self.scene.members[pick.members.category][i]}
        return None

    def others(self, category: str, word: str, answer: ValueOrNumber) -> int:
        """Who of a category certainly has another value than the answer."""
        if answer not in self._others:
            who = 0
            for value, mask in self.scene.column(category, word).values.items():
                who |= mask if self.is_other(value, answer) else 0
            self._others[answer] = who
        return self._others[answer]

    @property
    def domain(self) -> str:
        """Of what the answer is a value."""
        last = self.steps[-1]
        return last.word if isinstance(last, Read) else "count"

    def is_other(self, value: ValueOrNumber, answer: ValueOrNumber) -> bool:
        """Whether a value certainly is not the answer."""
        return value != answer and not self.scene.words.is_near(self.domain, value, answer)

    def goes_elsewhere(
        self, dropped: frozenset[str], answer: ValueOrNumber
    ) -> Literal["other", "same", "unknown", "nothing"]:
        """What comes out without some conditions; stops at the first other value."""
        is_doubtful, n = False, 0
        last = self.steps[-1]
        is_joined = self._is_joined
        for env, doubt in self._walk(len(self.steps) - (2 if is_joined else 1), dropped):
            is_doubtful |= doubt
            if env is None:
                continue
            if is_joined:
                pick = self.steps[-2]
                assert isinstance(pick, Pick) and isinstance(last, Read)  # noqa: S101, PT018 - `_is_joined`
                mask, is_open, _ = self._picked(pick, env, dropped)
                if mask & self.others(pick.members.category, last.word, answer):
                    return "other"
                is_doubtful |= is_open or bool(
                    mask & self.scene.column(pick.members.category, last.word).doubtful
                )
                n += bool(mask)
                continue
            values, is_open = self._last_values(last, env, dropped)
            is_doubtful |= is_open
            if any(self.is_other(value, answer) for value in values):
                return "other"
            n += len(values)
        return "unknown" if is_doubtful else "same" if n else "nothing"

    def _walk(self, n: int, dropped: frozenset[str]) -> Iterator[tuple[_Env | None, bool]]:
        """The variables that the first steps allow, one after the other, and doubts on the way."""

        def go(i: int, env: _Env) -> Iterator[tuple[_Env | None, bool]]:
            if i == n:
                yield env, False
                return
            values, doubt, _ = self._values(self.steps[i], env, dropped)
            if doubt:
                yield None, True
            for value in values:
                yield from go(i + 1, {**env, self.steps[i].variable: value})

        yield from go(0, {})


# --------------------------------------------------------------------------- the proof


def find_proof(
    composition: Composition,
    scene: SceneBits,
    *,
    fits: Callable[[AnswerType, Logic, int], bool] | None = None,
    unique: Unique = "each step",
) -> Found | Refused:
    """The proof of a composition as the search sees it, or why there is none.

    Args:
        composition: the program.
        scene: the facts.
        fits: whether an answer of a type, a logic and a number of conditions are wanted at all; asked before
            everything is counted that a proof has.
        unique: what has to be one.
    """
    results = Results(composition, scene)
    whole = results.reached(frozenset())
    several = whole.is_several and unique == "each step"
    several |= unique == "jointly" and sum(whole.values.values()) > 1
    if several or whole.is_doubtful or len(whole.values) != 1 or whole.first is None:
        return Refused(reason="no-single-answer")
    answer, binding = whole.first
    names = tuple(one.id for one in composition.conditions)
    singles = {name: results.goes_elsewhere(frozenset([name]), answer) for name in names}
    for outcome, reason in (("same", "unneeded"), ("unknown", "unknown-fact")):
        if bad := tuple(name for name in names if singles[name] == outcome):
            return Refused(reason=reason, conditions=bad, binding=binding)
    logic = _logic(results)
    answered = answer_type(results.domain, scene)
    if fits is not None and not fits(answered, logic, len(names)):
        return Refused(reason="of-another-cell")
    subsets = _subsets(results, names, answer)
    if isinstance(subsets, Refused):
        return subsets
    conditions = tuple(
        ConditionProof(id=c.id, skill=c.skill, without=_without(results, answer, dropped=frozenset([c.id])))
        for c in composition.conditions
    )
    return Found(
        composition=composition.composition,
        logic=logic,
        answer=Answer(type=answered, domain=results.domain, value=answer),
        binding=binding,
        conditions=conditions,
        steps=tuple(_steps(results, binding, answer, logic=logic)),
        subsets=subsets,
        depth=_depth(results),
        n_conjunctive=sum(len(step.members.atoms) > 1 for step in results.steps if isinstance(step, Pick)),
        prior=results.reached(frozenset(names)).share(answer),
    )


def _logic(results: Results) -> Logic:
    """Conjunctive: one set, whose atoms are all the conditions that there are, two or more."""
    n = len(results.composition.conditions)
    sets = [len(step.members.atoms) for step in results.steps if isinstance(step, Pick)]
    return "conjunctive" if len(sets) == 1 and sets[0] == n > 1 else "sequential"


def answer_type(domain: str, scene: SceneBits) -> AnswerType:
    """What kind of thing the answer is."""
    if domain == "count":
        return "attribute"
    return "action" if domain == "kind" else scene.words.attributes[domain].answer


def _without(
    results: Results, answer: ValueOrNumber, *, dropped: frozenset[str] = frozenset(), free: str = ""
) -> Without:
    found = results.reached(dropped, free=free, answer=answer)
    counts = {str(value): n for value, n in found.values.items() if value != answer}
    guess = found.share(answer)
    if found.other is not None:
        value, binding = found.other
        names = sorted(
            {str(v) for v in binding.values() if str(v) in results.scene.scene.entities}, key=natural
        )
        seen_at = {time for name in names for time in results.scene.seen_at.get(name, ())}
        spans = {span for name in names for span in results.scene.scene.entities[name].spans}
        witness = Witness(
            binding=binding, value=value, seen_at=tuple(sorted(seen_at)), spans=tuple(sorted(spans))
        )
        outcome: Literal["several-values", "other-value"] = "several-values" if guess else "other-value"
        return Without(outcome=outcome, values=counts, guess=guess, witness=witness)
    if not found.values and not found.is_doubtful:
        return Without(outcome="nothing-fits")
    if found.is_doubtful or counts:
        return Without(outcome="unknown", values=counts, guess=guess)
    return Without(outcome="unneeded", guess=guess)


def _subsets(results: Results, names: Sequence[str], answer: ValueOrNumber) -> Subsets | Refused:
    """Every set of conditions left out, where single ones do not decide."""
    if not any(isinstance(one, Pick) and one.how in ("first", "last") for one in results.steps):
        return Subsets(mode="singles", tried=len(names))
    tried = len(names)
    for size in range(2, len(names) + 1):
        for ids in combinations(names, size):
            tried += 1
            outcome = results.goes_elsewhere(frozenset(ids), answer)
            if outcome == "same":
                return Refused(reason="sufficient-subset", conditions=ids)
            if outcome == "unknown":
                return Refused(reason="unknown-fact", conditions=ids)
    return Subsets(mode="all", tried=tried)


def _steps(results: Results, binding: Binding, answer: ValueOrNumber, *, logic: str) -> Iterator[StepProof]:
    for step in results.steps[:-1]:
        is_number = isinstance(step, Read) and _is_number(step, results)
        is_whole = logic == "sequential" and not is_number
        without = _without(results, answer, free=step.variable) if is_whole else None
        yield StepProof(variable=step.variable, value=binding.get(step.variable, ""), without=without)


def _is_number(step: Read, results: Results) -> bool:
    known = results.scene.words.attributes.get(step.word)
    return known is not None and known.number


def _depth(results: Results) -> int:
    depths: dict[str, int] = {}
    for step, uses in zip(results.composition.steps, results.uses, strict=True):
        inner = max((depths[name] for name in uses), default=0)
        depths[step.variable] = inner + (step.variable != "answer")
    return max(depths.values())
