"""Every composition proved anew by the verifier; where it says anything else, the making stops."""

from collections.abc import Mapping, Sequence

import msgspec

from vidence.errors import AccountError
from vidence.make.composing.offers import Offer
from vidence.make.composing.results import Found, Unique
from vidence.make.composing.search import Composed
from vidence.make.proving.options import check_options
from vidence.make.proving.prove import Rules, prove
from vidence.make.proving.world import World
from vidence.make.scene_graph.proof import Proof


def proved(
    composed: Sequence[Composed], worlds: Mapping[str, World], *, unique: Unique = "each step"
) -> list[Proof]:
    """The proofs of the verifier, `unique` being what has to be one.

    Raises:
        AccountError: it proves something not, or otherwise than the search: a fault of ours.
    """
    rules = Rules(unique=unique, most_guess=1.0, most_prior=1.0)
    return [_proved(one, worlds[one.composition.scene], rules) for one in composed]


def _proved(one: Composed, world: World, rules: Rules) -> Proof:
    verdict = prove(one.composition, world, rules=rules)
    name = one.composition.composition
    if verdict.proof is None or not verdict.is_proven:
        said = "; ".join(f"{problem.name}: {problem.says}" for problem in verdict.problems)
        raise AccountError(f"{name}: the search proved it, and the verifier does not ({said}); {_OURS}")
    for field in differences(one.found, verdict.proof):
        here, there = getattr(one.found, field), getattr(verdict.proof, field)
        raise AccountError(f"{name}: {field} is {here} to the search and {there} to the verifier; {_OURS}")
    return verdict.proof


_OURS = "this is a fault of vidence, and nothing was written. Please report it with the scene"


def differences(found: Found, proof: Proof) -> tuple[str, ...]:
    """The fields in which two proofs differ, of those that both have."""
    return tuple(name for name in found.__struct_fields__ if getattr(found, name) != getattr(proof, name))


def faults_of_options(one: Composed, offered: Offer, *, proof: Proof, world: World) -> list[str]:
    """What the verifier has against the options, but for the witnesses that are known to have no place."""
    asked = msgspec.structs.replace(one.composition, options=offered.options)
    return [
        problem.name
        for problem in check_options(asked, proof, world)
        if not (problem.reason == "options-hide" and set(problem.conditions) <= set(offered.without_place))
    ]


def witness_notes(offers: Mapping[str, Offer], proofs: Mapping[str, Proof]) -> list[str]:
    """How many conditions nobody can be told to have ignored: a witness without a place, or none at all."""
    unplaced = {name: len(one.without_place) for name, one in offers.items() if one.without_place}
    without = {
        name: n
        for name in offers
        if (n := sum(one.without.witness is None for one in proofs[name].conditions))
    }
    told = (
        (unplaced, "have a witness that is no option (tag no_witness_option)"),
        (without, "have no witness: without them nothing fits (tag no_witness)"),
    )
    return [f"{sum(some.values())} conditions of {len(some)} questions {what}" for some, what in told if some]
