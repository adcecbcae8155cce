"""Facts to look up, those first that would decide most."""

from vidence.make.compose.missing_facts import wanted_facts
from vidence.make.sources.proof import Problem, Verdict


def verdict(name, *facts, reason="unknown-fact"):
    return Verdict(
        composition=name, problems=tuple(Problem(reason=reason, says="", facts=(f,)) for f in facts)
    )


def test_a_composition_counts_once_for_each_fact():
    found = wanted_facts(
        [
            verdict("1", "p3.hat", "p3.hat", "p2.top"),
            verdict("2", "p2.top"),
            verdict("3", "x", reason="too-near"),
        ]
    )
    assert found == [("p2.top", 2), ("p3.hat", 1)]
