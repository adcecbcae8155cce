"""Several judges of one reply become one score."""

from collections.abc import Sequence

from vidence.records import Failed, Score


def combine(scores: Sequence[Score]) -> Score:
    """The majority of the judges decides; without one nothing is guessed.

    Args:
        scores: one score of each member of the panel, in the order of the seats; each with one verdict.

    Returns:
        The first score that agrees with the majority, with the mean of the points of those who gave some
        and the verdicts of all. Where fewer than half give a verdict or as many say right as wrong, the
        outcome is `Failed` (``JudgeError``) and the value 0.0.

    Source: ours.
    Departs: no.
    """
    verdicts = tuple(verdict for score in scores for verdict in score.verdicts)
    values = [verdict.value for verdict in verdicts if verdict.value is not None]
    points = [verdict.points for verdict in verdicts if verdict.points is not None]
    n_right, n_wrong = values.count(1.0), values.count(0.0)
    first = scores[0]
    if 2 * len(values) < len(scores) or n_right == n_wrong:
        message = f"the panel has no majority: {n_right} say right, {n_wrong} wrong, of {len(scores)} judges"
        outcome = Failed(stage="scoring", error="JudgeError", message=message)
        return Score(
            outcome=outcome,
            value=0.0,
            scorer=first.scorer,
            scorer_version=first.scorer_version,
            verdicts=verdicts,
        )
    value = float(n_right > n_wrong)
    agreeing = next(score for score in scores if score.verdicts and score.verdicts[0].value == value)
    return Score(
        outcome=agreeing.outcome,
        value=value,
        scorer=first.scorer,
        scorer_version=first.scorer_version,
        points=sum(points) / len(points) if points else None,
        verdicts=verdicts,
    )
