"""The proof of a composition as the search sees it, or why there is none."""

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations
from typing import Literal

from vidence.make.compose.reached import Logic, Unique, domain_of
from vidence.make.compose.results import Results
from vidence.make.compose.scene_bits import SceneBits
from vidence.make.compose.sets import Pick
from vidence.make.sources.composition import (
    Composition,
)
from vidence.make.sources.proof import (
    Answer,
    Binding,
    ConditionProof,
    StepProof,
    Subsets,
    Without,
    Witness,
)
from vidence.make.sources.scene import ValueOrNumber, natural
from vidence.make.sources.vocabulary import AnswerType
from vidence.records import Record


class CompositionResult(Record):
    """What the search knows of a composition: the fields of a proof that it computes itself.

    The verifier's proof has to say the same in each of them (`differences` in the maker).
    """

    composition: str
    logic: Logic
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


def find_proof(
    composition: Composition,
    scene: SceneBits,
    *,
    fits: Callable[[AnswerType, Logic, int], bool] | None = None,
    unique: Unique = "each step",
    most_guess: float = 1.0,
    most_prior: float = 1.0,
) -> CompositionResult | Refused:
    """The proof of a composition as the search sees it, or why there is none.

    What is cheap to find out is asked first: most programs are refused by it. To leave out sets of conditions
    is cheap where all steps are plain.

    Args:
        composition: the program.
        scene: the facts.
        fits: whether an answer of a type, a logic and a number of conditions are wanted at all.
        unique: what has to be one.
        most_guess: the largest share of right bindings without a condition.
        most_prior: the largest share of right bindings without all conditions.

    Raises:
        ValueError: a step is of a kind that the search does not draw.
    """
    results = Results(composition, scene)
    whole = results.whole(unique)
    if whole is None or whole.first is None:
        return Refused(reason="no-single-answer")
    answer, binding = whole.first
    names = tuple(one.id for one in composition.conditions)
    if refused := _unneeded(results, names, answer):
        return refused
    logic, answered = _logic(results), answer_type(results.domain, scene)
    if fits is not None and not fits(answered, logic, len(names)):
        return Refused(reason="of-another-cell")
    subsets = _subsets(results, names, answer) if results.is_plain else None
    if isinstance(subsets, Refused):
        return subsets
    conditions = tuple(
        ConditionProof(id=c.id, skill=c.skill, without=_without(results, answer, dropped=(c.id,)))
        for c in composition.conditions
    )
    if weak := tuple(one.id for one in conditions if one.without.guess > most_guess):
        return Refused(reason="weak-condition", conditions=weak)
    prior = results.reached(names).share(answer)
    if prior > most_prior:
        return Refused(reason="easy-to-guess")
    subsets = _subsets(results, names, answer) if subsets is None else subsets
    if isinstance(subsets, Refused):
        return subsets
    return CompositionResult(
        composition=composition.composition,
        logic=logic,
        answer=Answer(type=answered, domain=results.domain, value=answer),
        binding=binding,
        conditions=conditions,
        steps=tuple(_steps(results, binding, answer, logic=logic)),
        subsets=subsets,
        depth=_depth(results),
        n_conjunctive=sum(one.n_atoms > 1 for one in results.sets),
        prior=prior,
    )


def _unneeded(results: Results, names: Sequence[str], answer: ValueOrNumber) -> Refused | None:
    """The first condition without which the answer stays; or those without which nobody knows what comes."""
    unknown = list[str]()
    for name in names:
        outcome = results.goes_elsewhere((name,), answer)
        if outcome == "same":
            return Refused(reason="unneeded", conditions=(name,))
        unknown += [name] if outcome == "unknown" else []
    return Refused(reason="unknown-fact", conditions=tuple(unknown)) if unknown else None


def _logic(results: Results) -> Logic:
    """Conjunctive: one set, whose atoms are all the conditions that there are, two or more."""
    sets, n = results.sets, len(results.composition.conditions)
    return "conjunctive" if len(sets) == 1 and sets[0].n_atoms == n > 1 else "sequential"


def answer_type(domain: str, scene: SceneBits) -> AnswerType:
    """What kind of thing the answer is."""
    if domain in scene.words.known:
        return scene.words.known[domain].answer
    plain: dict[str, AnswerType] = {"count": "attribute", "kind": "action", "direction": "relationship"}
    return plain.get(domain) or scene.words.attributes[domain].answer


def _without(
    results: Results, answer: ValueOrNumber, *, dropped: tuple[str, ...] = (), free: str = ""
) -> Without:
    found = results.reached(dropped, free=free, answer=answer)
    counts = {str(value): n for value, n in found.values.items() if value != answer}
    guess = found.share(answer)
    if found.other is not None:
        value, binding = found.other
        entities = results.scene.scene.entities
        names = sorted({str(one) for one in binding.values()} & entities.keys(), key=natural)
        seen_at = sorted({time for name in names for time in results.scene.seen_at.get(name, ())})
        spans = sorted({span for name in names for span in entities[name].spans})
        witness = Witness(binding=binding, value=value, seen_at=tuple(seen_at), spans=tuple(spans))
        outcome: Literal["several-values", "other-value"] = "several-values" if guess else "other-value"
        return Without(outcome=outcome, values=counts, guess=guess, witness=witness)
    if not found.values and not found.is_doubtful:
        return Without(outcome="nothing-fits")
    if found.is_doubtful or counts:
        return Without(outcome="unknown", values=counts, guess=guess)
    return Without(outcome="unneeded", guess=guess)


def _subsets(results: Results, names: Sequence[str], answer: ValueOrNumber) -> Subsets | Refused:
    """Every set of conditions left out, where single ones do not decide."""
    if not any(isinstance(step, Pick) and step.how != "the" for step in results.steps[:-1]):
        return Subsets(mode="singles", tried=len(names))
    tried = len(names)
    for size in range(2, len(names) + 1):
        for some in combinations(names, size):
            tried += 1
            outcome = results.goes_elsewhere(some, answer)
            if outcome in ("same", "unknown"):
                reason = "sufficient-subset" if outcome == "same" else "unknown-fact"
                return Refused(reason=reason, conditions=some)
    return Subsets(mode="all", tried=tried)


def _steps(results: Results, binding: Binding, answer: ValueOrNumber, *, logic: Logic) -> Iterator[StepProof]:
    words = results.scene.words.attributes
    for step in results.composition.steps[:-1]:
        domain = domain_of(step.variable, results.composition, scene=results.scene)
        is_number = domain in words and words[domain].number
        is_whole = logic == "sequential" and domain != "" and not is_number
        without = _without(results, answer, free=step.variable) if is_whole else None
        yield StepProof(variable=step.variable, value=binding.get(step.variable, ""), without=without)


def _depth(results: Results) -> int:
    depths = list[int]()
    for i, name in enumerate(results.variables):
        inner = max((depths[place] for place in results.uses(i)), default=0)
        depths.append(inner + (name != "answer"))
    return max(depths)
