"""Whether the options of a composition keep what its proof shows."""

from collections.abc import Iterator

from vidence.make.compose.world import World
from vidence.make.sources.composition import Composition
from vidence.make.sources.proof import Problem, Proof


def check_options(composition: Composition, proof: Proof, world: World) -> Iterator[Problem]:
    """What is wrong with the options; nothing where there are none.

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
    offered = {str(one) for one in options if one != right}
    for one in proof.conditions:
        values = one.without.values
        if values and not offered & set(values):
            says = f"without {one.id} comes {', '.join(sorted(values))}, of which no option is one"
            yield Problem(reason="options-hide", says=says, conditions=(one.id,))
