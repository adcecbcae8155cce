"""Every composition proved anew by the verifier; where it says anything else, the making stops."""

from collections.abc import Mapping, Sequence

import msgspec

from vidence.engine.workers import MOST_BYTES
from vidence.errors import AccountError
from vidence.make.compose.finding import CompositionResult
from vidence.make.compose.many import prove_all
from vidence.make.compose.offers import Offer
from vidence.make.compose.options import check_options
from vidence.make.compose.prove import Rules
from vidence.make.compose.reached import Unique
from vidence.make.compose.search import Composed
from vidence.make.compose.world import World
from vidence.make.sources.proof import Proof, Verdict
from vidence.make.sources.scene import Scene


def proved(
    composed: Sequence[Composed],
    scenes: Mapping[str, Scene],
    *,
    unique: Unique = "each step",
    n_workers: int = 1,
    most_bytes: int = MOST_BYTES,
) -> list[Proof]:
    """The proofs of the verifier, made by so many processes, `unique` being what has to be one.

    Raises:
        AccountError: it proves something not, or otherwise than the search: a fault of ours.
    """
    asked = [(one.composition, 0) for one in composed]
    rules = Rules(unique=unique, most_guess=1.0, most_prior=1.0)
    worth = min(n_workers, 1 + len(asked) // _WORTH_ONE)
    verdicts = prove_all(asked, scenes, rules=rules, n_workers=worth, most_bytes=most_bytes)
    return [_proof(one, verdict) for one, verdict in zip(composed, verdicts, strict=True)]


def _proof(one: Composed, verdict: Verdict) -> Proof:
    name = one.composition.composition
    if verdict.proof is None or not verdict.is_proven:
        said = "; ".join(f"{problem.name}: {problem.says}" for problem in verdict.problems)
        raise AccountError(f"{name}: the search proved it, and the verifier does not ({said}); {_OURS}")
    for field in differences(one.found, verdict.proof):
        here, there = getattr(one.found, field), getattr(verdict.proof, field)
        raise AccountError(f"{name}: {field} is {here} to the search and {there} to the verifier; {_OURS}")
    return verdict.proof


_WORTH_ONE = 100
"""So many compositions take longer to prove than a process takes to start."""
_OURS = "this is a fault of vidence, and nothing was written. Please report it with the scene"


def differences(found: CompositionResult, proof: Proof) -> tuple[str, ...]:
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
