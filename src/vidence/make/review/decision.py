"""From what people said of a sample to what becomes of the rest, by a rule that was stated before."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Literal

import msgspec

from vidence.make.gates.rules import ReviewRules
from vidence.make.pipeline.material import Dropped
from vidence.make.pipeline.output import Question
from vidence.make.review.sample import ReviewSample
from vidence.make.review.sheet import Reviewed
from vidence.records import Estimate, Record
from vidence.statistics.intervals import proportion

REVIEW = "review"
ALL_TASKS = "all"
Rest = Literal["released", "held-back", "none-left", "by-task"]


class TaskReview(Record, omit_defaults=True):
    """What was said of one task. `n` questions, of which `n_queued` were looked at in any case.

    `rejected` is the share of the sample that was rejected, with Wilson's interval; None without a sample.
    `weighted` is the same share with each stratum by its size, since small strata are raised to one. `rest`
    is what becomes of the questions that nobody looked at.
    """

    task: str
    n: int
    n_sample: int
    n_sample_rejected: int
    n_queued: int
    n_queued_rejected: int
    n_rest: int
    rejected: Estimate | None
    weighted: float | None
    rest: Rest
    checks: dict[str, int] = msgspec.field(default_factory=dict)


class ReviewResult(Record):
    """The decision for each task; the last line is over all and decides nothing."""

    rule: str
    level: float
    most_rejected: float
    tasks: tuple[TaskReview, ...]


def rule_words(rules: ReviewRules) -> str:
    """The rule in words."""
    return (
        "Rejected questions are removed. Those of a task that nobody looked at are released if the upper "
        f"end of Wilson's {100 * rules.level:g} % interval of the rate of rejection in the task's sample is "
        f"{100 * rules.most_rejected:g} % or less, and held back otherwise. Questions that were looked at in "
        "any case say nothing about the rest, and no rate is carried over to another task."
    )


def decide_review(
    questions: Sequence[Question], drawn: ReviewSample, *, said: Sequence[Reviewed], rules: ReviewRules
) -> tuple[ReviewResult, tuple[Question, ...], tuple[Dropped, ...]]:
    """What people said, as a decision: the result, the questions that stay, and why the others do not.

    Source: HERBench, section 7.7 (17.8 % of the sample were rejected), without a rule for the rest.
    Departs: the rule and the interval are ours.
    """
    by_id = {one.item_id: one for one in said}
    tasks: dict[str, list[Question]] = defaultdict(list)
    for one in questions:
        tasks[one.draft.task].append(one)
    lines = [_task(name, mine, drawn, said=by_id, rules=rules) for name, mine in sorted(tasks.items())]
    rests = {line.task: line.rest for line in lines}
    kept: list[Question] = []
    dropped: list[Dropped] = []
    for one in questions:
        spoken = by_id.get(one.question_id)
        if spoken is not None and not spoken.is_accepted:
            detail = "; ".join(filter(None, [", ".join(spoken.failed_checks), spoken.note]))
            dropped.append(_gone(one, "rejected-by-a-person", detail))
        elif spoken is None and rests[one.draft.task] == "held-back":
            dropped.append(_gone(one, "task-held-back", ""))
        else:
            kept.append(one)
    overall = _task(ALL_TASKS, questions, drawn, said=by_id, rules=rules)
    result = ReviewResult(
        rule=rule_words(rules),
        level=rules.level,
        most_rejected=rules.most_rejected,
        tasks=(*lines, overall),
    )
    return result, tuple(kept), tuple(dropped)


def _gone(question: Question, reason: str, detail: str) -> Dropped:
    return Dropped(what=question.draft.draft_id, stage=REVIEW, reason=reason, detail=detail)


def _task(
    name: str,
    questions: Sequence[Question],
    drawn: ReviewSample,
    *,
    said: Mapping[str, Reviewed],
    rules: ReviewRules,
) -> TaskReview:
    mine = {one.question_id for one in questions}
    rows = [row for row in drawn.rows if row.question.question_id in mine]
    spoken = {row.question.question_id: said[row.question.question_id] for row in rows}
    sample = [row for row in rows if row.why == "sample"]
    n_rejected = sum(not one.is_accepted for one in spoken.values())
    n_bad = sum(not spoken[row.question.question_id].is_accepted for row in sample)
    rejected = proportion(n_bad, len(sample), level=rules.level) if sample else None
    n_rest = len(questions) - len(rows)
    rest: Rest = "held-back"
    if name == ALL_TASKS:
        rest = "by-task"
    elif not n_rest:
        rest = "none-left"
    elif rejected is not None and rejected.high <= rules.most_rejected:
        rest = "released"
    return TaskReview(
        task=name,
        n=len(questions),
        n_sample=len(sample),
        n_sample_rejected=n_bad,
        n_queued=len(rows) - len(sample),
        n_queued_rejected=n_rejected - n_bad,
        n_rest=n_rest,
        rejected=rejected,
        weighted=_weighted(drawn, {row.stratum for row in sample}, said),
        rest=rest,
        checks=dict(sorted(Counter(c for one in spoken.values() for c in one.failed_checks).items())),
    )


def _weighted(drawn: ReviewSample, strata: set[str], said: Mapping[str, Reviewed]) -> float | None:
    """The share that was rejected, every stratum by its size."""
    n_all = sum(drawn.strata[name] for name in strata)
    if not n_all:
        return None
    share = 0.0
    for name in sorted(strata):
        rows = [row for row in drawn.rows if row.stratum == name and row.why == "sample"]
        bad = sum(not said[row.question.question_id].is_accepted for row in rows)
        share += drawn.strata[name] / n_all * bad / len(rows)
    return share
