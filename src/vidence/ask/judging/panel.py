"""Several judges on one reply: what most of them say."""

from collections import Counter
from collections.abc import Sequence

from vidence.ask.judging.verdicts import ERROR, UNDECIDED
from vidence.records import Failed, Score, Verdict


def combine(scores: Sequence[Score]) -> Score:
    """One score out of those that the members of a panel gave to one reply.

    The value that most of the given verdicts have counts, provided that at least half of the members
    gave a verdict and no other value is as frequent. The points are the mean over the members that gave
    any. The outcome is that of the first member with the winning value. Where the rules decided and
    nobody was asked, the score stays as it is.

    Args:
        scores: what each member's flow made of the reply, by one judge with several models.

    Returns:
        A score that holds the verdicts of all members, also of those that gave none; undecided
        for a tie, and a judge error for too few verdicts.

    Raises:
        ValueError: there is no score.

    Source: majority over judges as in PoLL (Verga et al. 2024, Replacing Judges with Juries).
    Departs: a tie is nobody's verdict; it is counted apart as undecided.
    """
    if not scores:
        raise ValueError("a panel needs at least one score; got none")
    asked = [score for score in scores if score.verdicts]
    if not asked or len(scores) == 1:
        return scores[0]
    verdicts = tuple(verdict for score in scores for verdict in score.verdicts)
    voted = [score for score in asked if _has_value(score)]
    first = asked[0]
    counts = Counter(score.value for score in voted).most_common()
    if 2 * len(voted) < len(asked):
        few = f"{len(voted)} of {len(asked)} judges gave a verdict"
        return _without_value(Failed(stage="scoring", error=ERROR, message=few), first, verdicts)
    if len(counts) > 1 and counts[0][1] == counts[1][1]:
        said = ", ".join(f"{n} for {value:g}" for value, n in counts if value is not None)
        tied = Failed(stage="scoring", error=UNDECIDED, message=f"the judges are tied: {said}")
        return _without_value(tied, first, verdicts)
    winner = next(score for score in voted if score.value == counts[0][0])
    points = [verdict.points for verdict in verdicts if verdict.points is not None]
    return Score(
        outcome=winner.outcome,
        value=winner.value,
        scorer=winner.scorer,
        scorer_version=winner.scorer_version,
        points=sum(points) / len(points) if points else None,
        verdicts=verdicts,
    )


def _has_value(score: Score) -> bool:
    return all(verdict.value is not None for verdict in score.verdicts)


def _without_value(failed: Failed, like: Score, verdicts: tuple[Verdict, ...]) -> Score:
    return Score(
        outcome=failed,
        value=0.0,
        scorer=like.scorer,
        scorer_version=like.scorer_version,
        verdicts=verdicts,
    )
