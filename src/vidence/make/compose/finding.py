"""Prove a composition from the search with the verifier, or explain why there is no proof."""

from collections.abc import Callable
from typing import TypeAlias

from vidence.errors import UsageError
from vidence.make.compose.prove import Prover, Rules
from vidence.make.compose.types import Logic, check_types
from vidence.make.compose.world import World
from vidence.make.sources.composition import Composition
from vidence.make.sources.proof import Problem, Proof
from vidence.make.sources.vocabulary import AnswerType
from vidence.records import Record

Fits: TypeAlias = Callable[[AnswerType, Logic, int], bool]
"""Whether any cell wants this answer type, logic and number of conditions."""


class Refused(Record):
    """Why a composition has no proof, and which conditions are redundant."""

    reason: str
    conditions: tuple[str, ...] = ()


def find_proof(
    composition: Composition,
    world: World,
    *,
    fits: Fits | None = None,
    most_guess: float = 1.0,
    most_prior: float = 1.0,
) -> Proof | Refused:
    """Return the proof of a composition, or why it has no proof.

    What is cheap to find out is asked first, since most of what is drawn is refused by it.

    Args:
        composition: the program.
        world: the facts of its scene.
        fits: what is wanted; None: anything.
        most_guess: the largest share of right bindings without a condition.
        most_prior: the largest share of right bindings without all conditions.
    """
    typed = check_types(composition, world.words)
    if isinstance(typed, Problem):
        return Refused(reason=typed.reason)
    rules = Rules(most_guess=1.0, most_prior=1.0)
    prover = Prover(typed, world, rules=rules)
    try:
        refused = _refused(prover)
        if refused is not None:
            return refused
        if fits is not None and not fits(typed.answer_type, typed.logic, len(prover.names)):
            return Refused(reason="of-another-cell")
        verdict = prover.verdict()
    except UsageError:
        return Refused(reason="too-many-bindings")
    if verdict.proof is None or verdict.problems:
        return Refused(reason=verdict.problems[0].reason)
    if any(condition.without.guess > most_guess for condition in verdict.proof.conditions):
        return Refused(reason="weak-condition")
    return Refused(reason="easy-to-guess") if verdict.proof.prior > most_prior else verdict.proof


def _refused(prover: Prover) -> Refused | None:
    """Return why the answer is not unique, or which condition is redundant."""
    if prover.answerable():
        return Refused(reason="no-single-answer")
    is_known = True
    for name in prover.names:
        outcome = prover.without((name,))
        if outcome == "same":
            return Refused(reason="unneeded", conditions=(name,))
        is_known = is_known and outcome != "unknown"
    return None if is_known else Refused(reason="unknown-fact")
