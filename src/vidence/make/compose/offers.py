"""Options of compositions: the values reached by ignoring a condition, then others that are as likely."""

import hashlib
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import prod
from typing import Annotated

import msgspec
import numpy as np
from msgspec import Meta

from vidence.make.compose.prove import check_options
from vidence.make.compose.scene_bits import SceneBits
from vidence.make.compose.search import MOST_COUNTED, Composed
from vidence.make.compose.world import World
from vidence.make.pipeline.matching import Known as Learnt
from vidence.make.pipeline.matching import Unmatched, match_choices
from vidence.make.pipeline.writer import Objection
from vidence.make.sources.composition import (
    DIRECTIONS,
    AttributeOf,
    Compare,
    Known,
    Literally,
    Pair,
    Variable,
    parts,
)
from vidence.make.sources.proof import Proof
from vidence.make.sources.scene import KnownFact, ValueOrNumber
from vidence.make.sources.vocabulary import EVENT, PAIR
from vidence.records import Record

_Options = Annotated[int, Meta(ge=2, le=8)]


class OptionRules(Record, omit_defaults=True):
    """The number of options."""

    n: _Options = 5


class Offer(Record, omit_defaults=True):
    """The options of a composition, the right one first, with the conditions that lead to each.

    `option_of` has for each wrong option the conditions without which it comes out. `without_place` are
    conditions whose witnesses found no place, as those of counts.
    """

    composition: str
    options: tuple[ValueOrNumber, ...]
    option_of: dict[str, tuple[str, ...]] = msgspec.field(default_factory=dict)
    without_place: tuple[str, ...] = ()


@dataclass(frozen=True)
class NoOffer:
    """Why a composition has no valid options."""

    reason: str
    detail: str = ""


@dataclass(frozen=True)
class _Wanted:
    """A composition without its options: what ignoring conditions leads to, and the values that cover it."""

    composed: Composed
    landed: Mapping[str, set[ValueOrNumber]]
    covers: Sequence[tuple[ValueOrNumber, ...]]


def offers(
    some: Sequence[Composed], scenes: Mapping[str, SceneBits], rules: OptionRules, *, seed: int
) -> dict[str, Offer | NoOffer]:
    """Return the options of proven compositions, drawn jointly for each kind of answer.

    Values that ignoring a condition leads to come first, the fewest that serve all conditions; the others are
    as likely as the answer by what other scenes tell (`match_choices`). For counts all are, since without a
    condition there are only more; they are as likely by what other shapes tell: nine counts differ so little
    from scene to scene that leaving out a question's own scene would point to its answer.
    """
    result: dict[str, Offer | NoOffer] = {}
    wanted = defaultdict[tuple[str, str], list[_Wanted]](list)
    for composed in some:
        proof, words = composed.proof, scenes[composed.composition.scene].words
        answer, domain = proof.answer.value, proof.answer.domain
        landed = {
            condition.id: _typed(condition.without.values, answer)
            for condition in proof.conditions
            if condition.without.values
        }
        told = {
            name: {v for v in values if not words.is_near(domain, v, answer)}
            for name, values in landed.items()
        }
        covers = [()] if domain == "count" else covers_of(told, most=rules.n - 1)
        if not covers:
            detail = f"no {rules.n - 1} wrong values have one for each of {', '.join(told)}"
            result[proof.composition] = NoOffer("options-hide", detail)
        else:
            wanted[domain, words.sha256()].append(_Wanted(composed, landed, covers))
    for (domain, _), group in wanted.items():
        result |= _matched(group, domain, scenes, rules=rules, seed=seed)
    return result


def _matched(
    wanted: Sequence[_Wanted], domain: str, scenes: Mapping[str, SceneBits], *, rules: OptionRules, seed: int
) -> Iterator[tuple[str, Offer | NoOffer]]:
    """Yield the options of compositions whose answers are of one domain."""
    rng = np.random.default_rng(list(hashlib.sha256(f"options/{seed}/{domain}".encode()).digest()))
    words = scenes[wanted[0].composed.composition.scene].words
    of_scenes = {name: scene for name, scene in scenes.items() if scene.words.sha256() == words.sha256()}
    told = list(_told(domain, of_scenes))
    rights = Counter(str(entry.composed.proof.answer.value) for entry in wanted)
    covers = []
    for entry in wanted:
        weights = np.array([prod(rights[str(value)] + 0.5 for value in cover) for cover in entry.covers])
        covers.append(entry.covers[int(rng.choice(len(weights), p=weights / weights.sum()))])
    values = {str(value): value for scene in of_scenes.values() for value in _values(domain, scene)}
    values |= {
        str(value): value
        for entry, cover in zip(wanted, covers, strict=True)
        for value in (entry.composed.proof.answer.value, *cover)
    }
    group: dict[str, int] = {}
    for name, value in values.items():
        near = (group[other] for other in group if words.is_near(domain, value, values[other]))
        group[name] = next(near, len(group))
    asked = []
    for entry, cover in zip(wanted, covers, strict=True):
        taken = {group[str(value)] for value in (entry.composed.proof.answer.value, *cover)}
        question = Unmatched(
            question=_words(entry.composed),
            right=str(entry.composed.proof.answer.value),
            source=entry.composed.shape if domain == "count" else entry.composed.composition.scene,
            others=tuple(name for name in values if group[name] not in taken),
            n=rules.n - len(cover),
            best=frozenset(map(str, set().union(*entry.landed.values())))
            if domain == "count"
            else frozenset(),
        )
        asked.append(question)
    matched = match_choices(asked, known=[*asked, *told], group=group, near=lambda *_: False, rng=rng)
    for entry, cover, others in zip(wanted, covers, matched, strict=True):
        proof = entry.composed.proof
        if isinstance(others, Objection):
            yield proof.composition, NoOffer(others.reason, others.detail)
        else:
            options = (proof.answer.value, *cover, *(values[name] for name in others))
            yield proof.composition, _made(proof, options, entry.landed)


def _words(composed: Composed) -> str:
    """Return the values that a question has for what it asks about, without those of other steps."""
    steps = {step.variable: step.value for step in composed.composition.steps}
    asked = steps["answer"]
    while isinstance(asked, Pair | AttributeOf | Known | Variable):
        match asked:
            case Pair(first=inner) | AttributeOf(of=inner) | Known(of=inner):
                asked = inner
            case Variable(name=name):
                asked = steps[name]
    compared = (part for part in parts(asked) if isinstance(part, Compare) and part.how == "==")
    return " ".join(str(part.value.value) for part in compared if isinstance(part.value, Literally))


def _told(domain: str, scenes: Mapping[str, SceneBits]) -> Iterator[Learnt]:
    """Yield what scenes tell of a kind, an attribute, or both: the other values of what has a value."""
    for source, scene in scenes.items():
        names = ("kind", *scene.words.attributes)
        for category in scene.members if {*domain.split(PAIR)} <= {*names} else ():
            of = names if category == EVENT else names[1:]
            columns = {name: scene.column(category, name).told for name in of}
            for place in range(len(scene.members[category])):
                told = {name: str(column[place][0]) for name, column in columns.items() if column[place]}
                if all(name in told for name in domain.split(PAIR)):
                    right = PAIR.join(told.pop(name) for name in domain.split(PAIR))
                    yield Learnt(question=" ".join(told.values()), right=right, source=source)


def _typed(values: Mapping[str, int], answer: ValueOrNumber) -> set[ValueOrNumber]:
    """Convert results to the type of the answer."""
    if isinstance(answer, str):
        return set(values)
    return {int(value) if value.lstrip("-").isdigit() else float(value) for value in values}


def _made(
    proof: Proof, options: Sequence[ValueOrNumber], landed: Mapping[str, Collection[ValueOrNumber]]
) -> Offer:
    option_of = {
        str(value): tuple(name for name, values in landed.items() if value in values) for value in options[1:]
    }
    placed = {name for names in option_of.values() for name in names}
    return Offer(
        composition=proof.composition,
        options=tuple(options),
        option_of=option_of,
        without_place=tuple(name for name in landed if name not in placed),
    )


def covers_of(
    values: Mapping[str, Collection[ValueOrNumber]], *, most: int
) -> list[tuple[ValueOrNumber, ...]]:
    """Return all sets of the fewest values that hit each collection; none beyond `most`.

    >>> covers_of({"c1": {"red", "blue"}, "c2": {"blue", "grey"}, "c3": {"red", "blue"}}, most=2)
    [('blue',)]
    """
    known = sorted({name for some in values.values() for name in some}, key=str)
    for size in range(most + 1):
        if covers := [
            chosen
            for chosen in combinations(known, size)
            if all(set(chosen) & set(some) for some in values.values())
        ]:
            return covers
    return []


def _values(domain: str, scene: SceneBits) -> Collection[ValueOrNumber]:
    """Return the values of a domain, in a scene and in the vocabulary; counts as the search gives them."""
    if domain == "count":
        return range(1, MOST_COUNTED + 1)
    if domain == "direction":
        return DIRECTIONS
    if domain == "kind":
        return list(scene.words.events)
    if PAIR in domain:
        others = scene.column(EVENT, domain.split(PAIR)[1]).told
        kinds = [scene.events[name].kind for name in scene.members[EVENT]]
        return {f"{kind}{PAIR}{value}": 0 for kind, some in zip(kinds, others, strict=True) for value in some}
    if domain in scene.words.known:
        known = [
            fact.value for fact in scene.scene.facts if isinstance(fact, KnownFact) and fact.table == domain
        ]
        return [*known, *scene.words.known[domain].values]
    attribute = scene.words.attributes[domain]
    return [*attribute.values, *(value for of in attribute.of for value in scene.column(of, domain).values)]


def faults_of_options(composed: Composed, offered: Offer, *, proof: Proof, world: World) -> list[str]:
    """Return the verifier's objections to the options, except for known missing witnesses."""
    asked = msgspec.structs.replace(composed.composition, options=offered.options)
    return [
        problem.name
        for problem in check_options(asked, proof, world)
        if not (problem.reason == "options-hide" and set(problem.conditions) <= set(offered.without_place))
    ]


def witness_notes(offers: Mapping[str, Offer], proofs: Mapping[str, Proof]) -> list[str]:
    """Count conditions without a usable witness: none exists, or no option is free for it."""
    unplaced = {name: len(offer.without_place) for name, offer in offers.items() if offer.without_place}
    without = {
        name: n
        for name in offers
        if (n := sum(condition.without.witness is None for condition in proofs[name].conditions))
    }
    notes = (
        (unplaced, "have a witness that is no option (tag no_witness_option)"),
        (without, "have no witness: without them nothing fits (tag no_witness)"),
    )
    return [
        f"{sum(some.values())} conditions of {len(some)} questions {what}" for some, what in notes if some
    ]
