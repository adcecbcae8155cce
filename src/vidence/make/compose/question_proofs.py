"""What the proofs say of the options of questions, and of conditions without a witness."""

from collections.abc import Mapping

import msgspec

from vidence.make.compose.offers import Offer
from vidence.make.compose.options import check_options
from vidence.make.compose.search import Composed
from vidence.make.compose.world import World
from vidence.make.sources.proof import Proof


def faults_of_options(one: Composed, offered: Offer, *, proof: Proof, world: World) -> list[str]:
    """What the verifier has against the options, but for the witnesses that are known to have no place."""
    asked = msgspec.structs.replace(one.composition, options=offered.options)
    return [
        problem.name
        for problem in check_options(asked, proof, world)
        if not (problem.reason == "options-hide" and set(problem.conditions) <= set(offered.without_place))
    ]


def witness_notes(offers: Mapping[str, Offer], proofs: Mapping[str, Proof]) -> list[str]:
    """The number of conditions without a usable witness: one without a place, or none at all."""
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
