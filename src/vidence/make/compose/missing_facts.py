"""Which unknown facts would decide most compositions."""

from collections import Counter
from collections.abc import Iterable

from vidence.make.sources.proof import Verdict


def wanted_facts(verdicts: Iterable[Verdict]) -> list[tuple[str, int]]:
    """The facts that nobody stated and that keep compositions from being decided, best first.

    A composition counts for each fact that its problems name.
    """
    counts: Counter[str] = Counter()
    for verdict in verdicts:
        named = (one for one in verdict.problems if one.reason == "unknown-fact")
        counts.update({fact for problem in named for fact in problem.facts})
    return sorted(counts.items(), key=lambda one: (-one[1], one[0]))
