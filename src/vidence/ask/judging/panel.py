"""Combine the scores of several judges."""

from collections import Counter
from collections.abc import Sequence
from typing import Final

import msgspec

from vidence.ask.judging.verdicts import ERROR
from vidence.records import UNDECIDED, Failed, Score, Verdict

PANEL_RULES: Final = ("majority", "mean", "open")
"""Rules for combining different verdicts."""


def combine(scores: Sequence[Score], *, rule: str = "majority") -> Score:
    """Combine the scores that a panel's members gave to one reply.

    At least half of the members must have given a verdict. With ``majority`` the most frequent value counts
    if it is unique; a tie is undecided and counts as wrong. With ``mean`` the mean counts. With ``open`` only
    unanimous verdicts count; otherwise the score is undecided, has no value and is in no mean. The points are
    the mean over the members that gave any. The outcome is that of the first member with the most frequent
    value. If the rules decided without asking, the score is unchanged.

    Args:
        scores: each member's score, from one judge with several models.
        rule: one of `PANEL_RULES`.

    Returns:
        A score with all members' verdicts, including missing ones; a judge error for too few verdicts.

    Raises:
        ValueError: there is no score.

    Source: majority over judges as in PoLL (Verga et al. 2024, Replacing Judges with Juries).
    Departs: a tie is counted separately as undecided.
    """
    if not scores:
        raise ValueError("a panel needs at least one score; got none")
    asked = [score for score in scores if score.verdicts]
    if not asked or len(scores) == 1:
        return scores[0]
    verdicts = tuple(verdict for score in scores for verdict in score.verdicts)
    voted = [score for score in asked if all(v.value is not None for v in score.verdicts)]
    first = asked[0]
    counts = Counter(score.value for score in voted).most_common()
    if 2 * len(voted) < len(asked):
        few = f"{len(voted)} of {len(asked)} judges gave a verdict"
        return _without_value(Failed(stage="scoring", error=ERROR, message=few), first, verdicts)
    message = ", ".join(f"{n} for {value:g}" for value, n in counts if value is not None)
    if rule == "open" and len(counts) > 1:
        differ = Failed(stage="scoring", error=UNDECIDED, message=f"the judges differ: {message}")
        return msgspec.structs.replace(_without_value(differ, first, verdicts), value=None)
    if rule == "majority" and len(counts) > 1 and counts[0][1] == counts[1][1]:
        tied = Failed(stage="scoring", error=UNDECIDED, message=f"the judges are tied: {message}")
        return _without_value(tied, first, verdicts)
    winner = next(score for score in voted if score.value == counts[0][0])
    points = [verdict.points for verdict in verdicts if verdict.points is not None]
    return Score(
        outcome=winner.outcome,
        value=sum(s.value or 0.0 for s in voted) / len(voted) if rule == "mean" else winner.value,
        scorer=winner.scorer,
        scorer_version=winner.scorer_version,
        points=sum(points) / len(points) if points else None,
        verdicts=verdicts,
    )


def _without_value(failed: Failed, like: Score, verdicts: tuple[Verdict, ...]) -> Score:
    return Score(
        outcome=failed, value=0.0, scorer=like.scorer, scorer_version=like.scorer_version, verdicts=verdicts
    )
