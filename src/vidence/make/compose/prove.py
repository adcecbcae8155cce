"""Prove a composition: one answer, every condition needed, no smaller set of conditions sufficient."""

import gc
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Annotated, Literal, TypeAlias

import msgspec
from msgspec import Meta

from vidence.make.compose.evaluating import Branch, Evaluation, Notes
from vidence.make.compose.tracing import Trace, seen
from vidence.make.compose.types import Typed, check_types
from vidence.make.compose.world import World
from vidence.make.sources.composition import (
    Aggregate,
    AttributeOf,
    Composition,
    DirectionOf,
    Known,
    Select,
    Variable,
    conditions_in,
    parts,
)
from vidence.make.sources.proof import (
    Answer,
    ConditionProof,
    Problem,
    Proof,
    Reason,
    StepProof,
    Subsets,
    Verdict,
    Without,
    Witness,
)
from vidence.make.sources.scene import Scene, ValueOrNumber
from vidence.records import Record

CHECKER = "prove/1"


Elsewhere: TypeAlias = Literal["same", "different", "unknown"]
"""The result without some conditions: only the answer, another value or none, or unknown."""


class Rules(Record):
    """Options of a proof."""

    most_guess: Annotated[float, Meta(ge=0, le=1)] = 0.5
    """Warn above this share of right bindings without a condition."""
    most_prior: Annotated[float, Meta(ge=0, le=1)] = 0.4
    """Warn above this share of right bindings without any condition."""


def prove(
    composition: Composition,
    world: World,
    *,
    rules: Rules,
    line: int = 0,
    subsets: Literal["all", "singles"] | None = None,
) -> Verdict:
    """Prove a composition in its scene; return proof or reasons.

    Args:
        composition: the program.
        world: the facts of its scene.
        rules: what is asked for.
        line: where it stands in its file.
        subsets: how the sets of conditions are tried; None: single ones where these decide, else all.
    """
    scene = world.scene
    if composition.scene_sha256 not in ("", world.sha256):
        says = f"it was made for another state of the scene {scene.header.scene!r}; make it again"
        return _refused(composition, [Problem(reason="other-scene", says=says)], line)
    if composition.vocabulary_sha256 not in ("", world.vocabulary_sha256):
        says = "it was made with another vocabulary; make it again"
        return _refused(composition, [Problem(reason="other-scene", says=says)], line)
    typed = check_types(composition, scene.vocabulary)
    if isinstance(typed, Problem):
        return _refused(composition, [typed], line)
    return Prover(typed, world, rules=rules, line=line).verdict(subsets)


def prove_all(
    asked: Sequence[tuple[Composition, int]], scenes: Mapping[str, Scene], *, rules: Rules
) -> list[Verdict]:
    """Prove several compositions, in order; each has the line number in its file.

    What is asked of a scene again and again is kept while its compositions are proved, and only so long.

    Args:
        asked: the compositions, each with its line.
        scenes: the scenes by name.
        rules: what a proof asks for.

    Raises:
        UsageError: a composition has too many bindings; the first that has.
    """
    of_scene: dict[str, list[int]] = {}
    for place, (composition, _) in enumerate(asked):
        of_scene.setdefault(composition.scene, []).append(place)
    verdicts: dict[int, Verdict] = {}
    with without_collecting():
        for name, places in of_scene.items():
            world = World(scenes[name])
            for place in places:
                verdicts[place] = prove(asked[place][0], world, rules=rules, line=asked[place][1])
    return [verdicts[place] for place in range(len(asked))]


@contextmanager
def without_collecting() -> Iterator[None]:
    """Disable garbage collection: a proof creates no cycles, and collecting costs a quarter of the time."""
    is_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if is_on:
            gc.enable()


def _refused(composition: Composition, problems: Sequence[Problem], line: int) -> Verdict:
    return Verdict(composition=composition.composition, problems=tuple(problems), line=line)


@dataclass
class _Weakened:
    """The results with some conditions left out."""

    branches: list[Branch]
    notes: Notes
    counts: dict[ValueOrNumber, int]
    """How many bindings end in each value."""


class Prover:
    """Proves one composition: first the answer, then that each condition is needed.

    Args:
        typed: the composition with its types.
        world: the facts of its scene.
        rules: what is asked for.
        line: where it stands in its file.
    """

    def __init__(self, typed: Typed, world: World, *, rules: Rules, line: int = 0) -> None:
        self.typed, self.world, self.rules, self.line = typed, world, rules, line
        self.composition = typed.composition
        self.names = tuple(condition.id for condition in self.composition.conditions)
        self.evaluation = Evaluation(typed, world)

    @cached_property
    def _whole(self) -> "_Weakened":
        return self._left(frozenset())

    @cached_property
    def _branch(self) -> Branch:
        return self._whole.branches[0]

    @property
    def answer(self) -> ValueOrNumber:
        """Return the answer, if it is unique."""
        return self._branch.value

    def answerable(self) -> list[Problem]:
        """Return why the answer is not unique; empty if it is."""
        return list(self._answerable(self._whole))

    def without(self, ids: Iterable[str]) -> Elsewhere:
        """Return the results with some conditions left out; stop at the first other value."""
        return self._quick(frozenset(ids))[0]

    def verdict(self, mode: Literal["all", "singles"] | None = None) -> Verdict:
        """Return proof or reasons; `mode` says which sets of conditions are tried."""
        problems = self.answerable()
        if problems:
            return _refused(self.composition, problems, self.line)
        conditions = []
        for condition in self.composition.conditions:
            without, problem = self._without((condition.id,))
            conditions.append(ConditionProof(id=condition.id, skill=condition.skill, without=without))
            problems += [problem] if problem is not None else []
        subsets, entries = self._subsets(mode or self._mode(), [set(p.conditions) for p in problems])
        problems += entries
        prior = _guess(self._left(frozenset(self.names)).counts, self.answer)
        proof = self._proof(conditions, subsets, prior)
        faults = check_options(self.composition, proof, self.world)
        problems += [msgspec.structs.replace(fault, line=self.line) for fault in faults]
        return Verdict(
            composition=self.composition.composition,
            proof=proof,
            problems=tuple(problems),
            warnings=(*self._warnings(conditions, prior), *self._unconfirmed(proof)),
            line=self.line,
        )

    def _left(self, dropped: frozenset[str], *, free: str = "") -> _Weakened:
        notes, counts = Notes(), dict[ValueOrNumber, int]()
        branches = list(self.evaluation.branches(dropped, notes=notes, free=free))
        for branch in branches:
            counts[branch.value] = counts.get(branch.value, 0) + branch.count
        return _Weakened(branches, notes, counts)

    def _line(self, step: str) -> int:
        return next((entry.line for entry in self.composition.steps if entry.variable == step), 0)

    def _problem(
        self,
        reason: Reason,
        says: str,
        *,
        step: str = "",
        conditions: tuple[str, ...] = (),
        facts: tuple[str, ...] = (),
    ) -> Problem:
        line = self._line(step) or self.line
        return Problem(reason=reason, says=says, step=step, line=line, conditions=conditions, facts=facts)

    # ----------------------------------------------------------------------- one answer

    def _answerable(self, whole: _Weakened) -> Iterator[Problem]:
        values = list(dict.fromkeys(branch.value for branch in whole.branches))
        several = list(whole.notes.several)
        if several:
            step, pick, names = several[0]
            yield self._problem("ambiguous-referent", self._both(pick, names), step=step)
        elif len(values) > 1:
            entry, other = whole.branches[0], next(b for b in whole.branches if b.value != values[0])
            says = f"{entry.value} ({_said(entry)}) and {other.value} ({_said(other)})"
            yield self._problem("several-answers", says, step="answer")
        elif whole.notes.doubts:
            yield from self._doubts(whole.notes)
        elif not values:
            step, says = next(iter(whole.notes.dead), ("answer", "nothing fits"))
            yield self._problem("no-referent", says, step=step)
        elif self.composition.answer not in (None, values[0]):
            says = f"{self.composition.answer!r} is claimed as the answer; the program gives {values[0]!r}"
            yield self._problem("other-answer", says, step="answer")

    def _both(self, pick: str, names: Sequence[str]) -> str:
        """Return two members that both fit, and whether nothing distinguishes them."""
        more = f" and {len(names) - 2} more" if len(names) > 2 else ""
        says = f"{names[0]} and {names[1]}{more} are {pick}"
        notes = [note for note in self.world.scene.notes if all(f" {n}" in f"{note}," for n in names[:2])]
        return f"{says} ({notes[0]})" if notes else says

    def _doubts(self, notes: Notes, ids: tuple[str, ...] = ()) -> Iterator[Problem]:
        for step, doubt in list(notes.doubts)[:_MOST_DOUBTS]:
            words = {"unknown-fact": "not stated:", "too-near": "too near to tell:", "contradiction": ""}
            doubts = f"{words[doubt.reason]} {doubt.about}".strip()
            says = f"without {', '.join(ids)}: {doubts}" if ids else doubts
            yield Problem(
                reason=doubt.reason, says=says, step=step, line=self._line(step) or self.line,
                facts=(doubt.about,),
            )  # fmt: skip

    # ----------------------------------------------------------------------- needed

    def _is_other(self, value: ValueOrNumber) -> bool:
        """Return whether a value certainly differs from the answer."""
        return value != self.answer and not self.world.words.is_near(self.typed.domain, value, self.answer)

    def _without(self, ids: tuple[str, ...], *, free: str = "") -> tuple[Without, Problem | None]:
        left = self._left(frozenset(ids), free=free)
        counts: dict[str, int] = {}
        for value, n in left.counts.items():
            if value != self.answer:
                counts[str(value)] = counts.get(str(value), 0) + n
        other = next((branch for branch in left.branches if self._is_other(branch.value)), None)
        guess = _guess(left.counts, self.answer)
        if other is not None:
            at, spans = seen(self.world, other.binding)
            witness = Witness(binding=other.binding, value=other.value, seen_at=at, spans=spans)
            outcome: Literal["several-values", "other-value"] = "several-values" if guess else "other-value"
            return Without(outcome=outcome, values=counts, guess=guess, witness=witness), None
        if not left.branches and not left.notes.doubts:
            return Without(outcome="nothing-fits"), None
        if left.notes.doubts or counts:
            near = [value for value in counts if value != str(self.answer)]
            says = f"without {', '.join(ids)}: only {', '.join(near)}, too near to {self.answer}"
            doubts = list(self._doubts(left.notes, ids)) or [self._problem("too-near", says)]
            return Without(outcome="unknown", values=counts, guess=guess), doubts[0]
        says = f"without {', '.join(ids)} the answer is still {self.answer}"
        step = next(
            (s.variable for s in self.composition.steps if set(ids) & set(conditions_in(s.value))), ""
        )
        problem = self._problem("unneeded", says, step=step, conditions=ids)
        return Without(outcome="unneeded", guess=guess), problem

    def _mode(self) -> Literal["all", "singles"]:
        """Return whether single conditions suffice: removing more only adds bindings or counted members.

        So it is if every step but the last is `the` over atoms or a value of it, and the last is an
        attribute, a direction or a count.
        """
        last = self.composition.steps[-1].value
        inner = [part for step in self.composition.steps for part in parts(step.value) if part is not last]
        is_plain = isinstance(last, AttributeOf | DirectionOf | Known | Variable) or (
            isinstance(last, Aggregate) and last.how == "count"
        )
        return (
            "singles"
            if is_plain and not any(isinstance(expression, Select | Aggregate) for expression in inner)
            else "all"
        )

    def _subsets(
        self, mode: Literal["all", "singles"], entries: list[set[str]]
    ) -> tuple[Subsets, list[Problem]]:
        """Yield every set of left-out conditions; supersets of sufficient ones are skipped."""
        if mode == "singles":
            return Subsets(mode=mode, tried=len(self.names)), []
        tried, problems = 0, list[Problem]()
        sufficient: list[tuple[str, ...]] = []
        unneeded = [names for names in entries if names]
        for size in range(1, len(self.names) + 1):
            for ids in combinations(self.names, size):
                tried += 1
                kept = tuple(name for name in self.names if name not in ids)
                if size == 1:
                    sufficient += [kept] if set(ids) in unneeded else []
                    continue
                outcome, notes = self._quick(frozenset(ids))
                if outcome == "same":
                    sufficient.append(kept)
                if outcome == "different" or any(names <= set(ids) for names in unneeded):
                    continue
                if outcome == "unknown":
                    problems += list(self._doubts(notes, ids))[:1]
                else:
                    unneeded.append(set(ids))
                    says = f"{', '.join(kept) or 'no condition at all'} already gives {self.answer}"
                    problems.append(self._problem("sufficient-subset", says, conditions=kept))
        return Subsets(mode=mode, tried=tried, sufficient=tuple(sufficient)), problems

    def _quick(self, dropped: frozenset[str]) -> tuple[Elsewhere, Notes]:
        """Return whether another value results; stop at the first."""
        notes, n = Notes(), 0
        for value in self.evaluation.values(dropped, notes=notes):
            if self._is_other(value):
                return "different", notes
            n += 1
        if notes.doubts:
            return "unknown", notes
        return ("same" if n else "different"), notes

    # ----------------------------------------------------------------------- the proof

    def _proof(self, conditions: Sequence[ConditionProof], subsets: Subsets, prior: float) -> Proof:
        trace = Trace(self.world, self._branch.binding, self._branch.variables)
        trace.follow(self.composition)
        steps = []
        for step in self.composition.steps[:-1]:
            value = self._branch.binding.get(step.variable, "")
            kind = self.typed.types[step.variable].kind
            is_whole = self.typed.logic == "sequential" and kind in ("One", "Value", "Direction")
            without = self._without((), free=step.variable)[0] if is_whole else None
            steps.append(StepProof(variable=step.variable, value=value, without=without))
        return Proof(
            composition=self.composition.composition,
            logic=self.typed.logic,
            answer=Answer(type=self.typed.answer_type, domain=self.typed.domain, value=self.answer),
            binding=self._branch.binding,
            conditions=tuple(conditions),
            steps=tuple(steps),
            subsets=subsets,
            depth=self.typed.depth,
            n_conjunctive=self.typed.n_conjunctive,
            prior=prior,
            margins=trace.margins,
            rests_on=tuple(sorted(trace.facts)),
            closed=tuple(sorted(trace.closed)),
            knowledge=tuple(sorted(trace.knowledge)),
            spans=seen(self.world, self._branch.binding, trace.counted)[1],
            counted=tuple(trace.counted),
            scene=self.world.sha256,
            vocabulary=self.world.vocabulary_sha256,
            checker=CHECKER,
        )

    def _warnings(self, conditions: Iterable[ConditionProof], prior: float) -> Iterator[Problem]:
        for condition in conditions:
            if condition.without.guess > self.rules.most_guess and condition.without.outcome != "unneeded":
                says = (
                    f"without {condition.id}, {condition.without.guess:.2f} of the bindings are right "
                    "all the same"
                )
                yield self._problem("weak-condition", says, conditions=(condition.id,))
        if prior > self.rules.most_prior:
            yield self._problem(
                "weak-condition", f"without all conditions {prior:.2f} of the bindings are right"
            )

    def _unconfirmed(self, proof: Proof) -> Iterator[Problem]:
        unconfirmed = tuple(fact for fact in proof.rests_on if fact in self.world.unconfirmed)
        if unconfirmed:
            more = f" and {len(unconfirmed) - _MOST_DOUBTS} more" if len(unconfirmed) > _MOST_DOUBTS else ""
            says = (
                f"a person has to confirm {', '.join(unconfirmed[:_MOST_DOUBTS])}{more}: a model proposed it"
            )
            yield Problem(reason="unconfirmed-fact", says=says, line=self.line, facts=unconfirmed)


_MOST_DOUBTS = 5


def _guess(counts: Mapping[ValueOrNumber, int], answer: ValueOrNumber) -> float:
    n = sum(counts.values())
    return round(counts.get(answer, 0) / n, 6) if n else 0.0


def _said(branch: Branch) -> str:
    return ", ".join(f"{name} = {value}" for name, value in branch.binding.items()) or "no binding"


def check_options(composition: Composition, proof: Proof, world: World) -> Iterator[Problem]:
    """Return what is wrong with the options; empty if they are valid.

    A reader who ignores a condition has to find a value to land on among the options (`options-hide`), unless
    nothing at all fits without it. No option but the right one may be true: neither one that cannot be told
    apart from the answer, nor the answer once more.
    """
    options, right = composition.options, proof.answer.value
    if not options:
        return
    if right not in options:
        says = f"the answer {right!r} is none of {', '.join(map(str, options))}"
        yield Problem(reason="right-option-missing", says=says)
    for position, option in enumerate(options):
        is_again = option == right and right in options[:position]
        if is_again or world.words.is_near(proof.answer.domain, option, right):
            says = f"{option!r} is there twice" if is_again else f"{option!r} cannot be told from {right!r}"
            yield Problem(reason="option-may-be-true", says=says)
    offered = {str(name) for name in options if name != right}
    for condition in proof.conditions:
        values = condition.without.values
        if values and not offered & set(values):
            says = f"without {condition.id} comes {', '.join(sorted(values))}, of which no option is one"
            yield Problem(reason="options-hide", says=says, conditions=(condition.id,))
