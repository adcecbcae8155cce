"""Options of a composition: first the values reached by ignoring a condition, then others."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from random import Random
from typing import Annotated

import msgspec
from msgspec import Meta

from vidence.make.compose.prove import check_options
from vidence.make.compose.scene_bits import SceneBits
from vidence.make.compose.search import Composed
from vidence.make.compose.world import World
from vidence.make.sources.composition import DIRECTIONS
from vidence.make.sources.proof import Proof
from vidence.make.sources.scene import KnownFact, ValueOrNumber
from vidence.make.sources.vocabulary import EVENT, PAIR
from vidence.records import Record

_Options = Annotated[int, Meta(ge=2, le=8)]


class OptionRules(Record, omit_defaults=True):
    """The number of options, and how often a value may be right.

    A value that is right `at_least` times or more is so at most `most_right` times as often as its share of
    the offers says.
    """

    n: _Options = 5
    most_right: Annotated[float, Meta(ge=1)] = 1.5
    at_least: Annotated[int, Meta(ge=1)] = 4


class Offer(Record, omit_defaults=True):
    """The options of a composition, the right one first, with the conditions that lead to each.

    `option_of` has for each wrong option the conditions without which it comes out. `without_place` are
    conditions whose witnesses found no place, as where the largest of counts is right.
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


def offer(proof: Proof, scene: SceneBits, rules: OptionRules, *, seed: int) -> Offer | NoOffer:
    """Return the options of a proven composition."""
    rng = Random(f"options/{seed}/{proof.composition}")
    answer, domain = proof.answer.value, proof.answer.domain
    landed = {
        condition.id: _typed(condition.without.values, answer)
        for condition in proof.conditions
        if condition.without.values
    }
    is_counted = domain == "count"
    if is_counted:
        return _counted(proof, landed, rules, rng=rng)
    allowed = {
        name: {v for v in values if not scene.words.is_near(domain, v, answer)}
        for name, values in landed.items()
    }
    cover = cover_of(allowed, most=rules.n - 1)
    if cover is None:
        return NoOffer(
            "options-hide", f"no {rules.n - 1} wrong values have one for each of {', '.join(allowed)}"
        )
    chosen = list(cover)
    for value in _others(domain, scene, rng):
        if len(chosen) == rules.n - 1:
            break
        if value not in (answer, *chosen) and not any(
            scene.words.is_near(domain, value, name) for name in (answer, *chosen)
        ):
            chosen.append(value)
    if len(chosen) < rules.n - 1:
        return NoOffer("too-few-values", f"{domain} has {len(chosen) + 1} values that can be told apart")
    rng.shuffle(chosen)
    return _made(proof, [answer, *chosen], landed)


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


def cover_of(
    values: Mapping[str, Collection[ValueOrNumber]], *, most: int
) -> tuple[ValueOrNumber, ...] | None:
    """Return the fewest values that hit each collection, by exhaustive search; None beyond `most`.

    >>> cover_of({"c1": {"red", "blue"}, "c2": {"blue"}}, most=2)
    ('blue',)
    """
    known = sorted({name for some in values.values() for name in some}, key=str)
    for size in range(most + 1):
        for chosen in combinations(known, size):
            if all(set(chosen) & set(some) for some in values.values()):
                return chosen
    return None


def _others(domain: str, scene: SceneBits, rng: Random) -> Iterable[ValueOrNumber]:
    """Return the values of a domain: those in the scene first, each group in seeded order."""
    if domain == "kind":
        seen: list[ValueOrNumber] = sorted({event.kind for event in scene.events.values()})
        listed: list[ValueOrNumber] = sorted(scene.words.events)
    elif PAIR in domain:
        others = scene.column(EVENT, domain.split(PAIR)[1]).told
        kinds = [scene.events[name].kind for name in scene.members[EVENT]]
        seen = sorted(
            {f"{kind}{PAIR}{value}" for kind, values in zip(kinds, others, strict=True) for value in values}
        )
        listed = []
    elif domain == "direction":
        seen, listed = list(DIRECTIONS), []
    elif domain in scene.words.known:
        known = [fact for fact in scene.scene.facts if isinstance(fact, KnownFact) and fact.table == domain]
        seen, listed = sorted({fact.value for fact in known}, key=str), list(scene.words.known[domain].values)
    else:
        attribute = scene.words.attributes[domain]
        entries = {value for of in attribute.of for value in scene.column(of, domain).values}
        seen, listed = sorted(entries, key=str), list(attribute.values)
    rng.shuffle(seen)
    rng.shuffle(listed)
    return [*seen, *(name for name in listed if name not in seen)]


def _counted(
    proof: Proof, landed: Mapping[str, set[ValueOrNumber]], rules: OptionRules, *, rng: Random
) -> Offer | NoOffer:
    """Return numbers around the answer at a drawn rank, with witnesses in the other places.

    Without a condition of the counted set there are only more, so that witnesses alone would make the
    smallest number right.
    """
    answer = proof.answer.value
    assert isinstance(answer, int)  # noqa: S101 - a count
    n_below = rng.randrange(min(rules.n - 1, answer) + 1)
    n_above = rules.n - 1 - n_below
    fewer = {name: {v for v in map(int, values) if 0 <= v < answer} for name, values in landed.items()}
    more = {name: {v for v in map(int, values) if v > answer} for name, values in landed.items()}
    below = _numbers(fewer, n=n_below, near=range(answer - 1, -1, -1))
    above = _numbers(more, n=n_above, near=range(answer + 1, answer + rules.n))
    others: list[ValueOrNumber] = [*below, *above]
    rng.shuffle(others)
    return _made(proof, [answer, *others], landed)


def _numbers(landed: Mapping[str, set[int]], *, n: int, near: Iterable[int]) -> list[int]:
    """Return `n` numbers on one side of the answer: those that most conditions lead to, then the nearest."""
    chosen: list[int] = []
    left = {name: values for name, values in landed.items() if values}
    while len(chosen) < n and left:
        known = sorted({value for values in left.values() for value in values})
        chosen.append(max(known, key=lambda v: sum(v in values for values in left.values())))
        left = {name: values for name, values in left.items() if chosen[-1] not in values}
    return chosen + [number for number in near if number not in chosen][: n - len(chosen)]


def too_often_right(offers: Sequence[tuple[str, Offer]], rules: OptionRules) -> dict[str, str]:
    """Return compositions to drop, so that no value is right much more often than its share of options.

    Args:
        offers: the offers with their domains, in the order in which they are kept.
        rules: how often is too often.
    """
    gone: dict[str, str] = {}
    shares: Counter[tuple[str, str]] = Counter()
    for domain, offer in offers:
        for value in offer.options:
            shares[domain, str(value)] += 1
    right: Counter[tuple[str, str]] = Counter()
    for domain, offer in offers:
        key = domain, str(offer.options[0])
        most = max(rules.at_least - 1, int(rules.most_right * shares[key] / rules.n))
        if right[key] >= most:
            gone[offer.composition] = (
                f"{key[1]} of {domain} is right {most} times of {shares[key]} offers already"
            )
        else:
            right[key] += 1
    return gone


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
