"""Decide the unreviewed rest from a sample's verdicts, by a rule stated in advance."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Literal

import msgspec

from vidence.make.gates.rules import ReviewRules
from vidence.make.pipeline.material import Dropped
from vidence.make.pipeline.output import Question
from vidence.make.review.audit import Reviewed
from vidence.make.review.sample import ReviewSample
from vidence.records import Estimate, Record, by_key
from vidence.statistics.intervals import proportion
from vidence.tables.table import Column, Table, count, lines, tabulate

REVIEW = "review"
ALL_TASKS = "all"
_ROUNDING = 1e-9
Rest = Literal["released", "held-back", "waiting", "none-left", "by-task"]


class TaskReview(Record, omit_defaults=True):
    """Verdicts for one task: `n` questions, of which `n_queued` were reviewed regardless of the sample.

    `rejected` is the share of the sample that was rejected, with Wilson's interval; None without a sample.
    `weighted` is the same share with each stratum by its size, since small strata are raised to one. `rest`
    is what becomes of the questions that nobody looked at. `n_waiting` questions of the sample, or that a
    person has to see in any case, have no verdict yet.
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
    n_waiting: int = 0
    checks: dict[str, int] = msgspec.field(default_factory=dict)


class ReviewResult(Record):
    """The decision for each task; the last line is the total and decides nothing."""

    rule: str
    level: float
    most_rejected: float
    tasks: tuple[TaskReview, ...]


def rule_words(rules: ReviewRules) -> str:
    """Return the rule in words."""
    return (
        "Rejected questions are removed. The unreviewed rest of a task is released if the upper "
        f"end of Wilson's {100 * rules.level:g} % interval of the rate of rejection in the task's sample is "
        f"{100 * rules.most_rejected:g} % or less, and held back otherwise. Questions reviewed in "
        "any case say nothing about the rest, and no rate applies to another task."
    )


def clean_needed(rules: ReviewRules, *, n_rejected: int = 0, start: int = 1) -> int:
    """Return how many reviews of a task are needed before its rest is released, given the rejections.

    >>> clean_needed(ReviewRules()), clean_needed(ReviewRules(), n_rejected=1)
    (9, 15)
    """
    n = max(start, n_rejected, 1)
    while proportion(n_rejected, n, level=rules.level).high > rules.most_rejected + _ROUNDING:
        n += 1
    return n


def most_rejectable(n_sample: int, rules: ReviewRules) -> int:
    """Return the most rejections in a sample of this size that still release the rest; -1 if none do.

    >>> most_rejectable(6, ReviewRules()), most_rejectable(20, ReviewRules())
    (-1, 1)
    """
    if not n_sample:
        return -1
    highs = (proportion(k, n_sample, level=rules.level).high for k in range(n_sample + 1))
    return sum(high <= rules.most_rejected + _ROUNDING for high in highs) - 1


class TaskPlan(Record):
    """Possible outcomes of a task's review, computed in advance.

    Of `n` questions `n_sample` are drawn and `n_queued` looked at in any case; `n_rest` nobody looks at. They
    are released with up to `most_rejected` rejections in the sample; -1: not by this sample, `needed` clean
    reviews would release them, or all are looked at.
    """

    task: str
    n: int
    n_sample: int
    n_queued: int
    n_rest: int
    most_rejected: int
    needed: int


def plan_review(
    questions: Sequence[Question], drawn: ReviewSample, rules: ReviewRules
) -> tuple[TaskPlan, ...]:
    """Return the possible outcomes of each task's review, computed in advance."""
    tasks = Counter(question.draft.task for question in questions)
    why = Counter((row.question.draft.task, row.why == "sample") for row in drawn.rows)
    return tuple(
        TaskPlan(
            task=task,
            n=n,
            n_sample=why[task, True],
            n_queued=why[task, False],
            n_rest=n - why[task, True] - why[task, False],
            most_rejected=most_rejectable(why[task, True], rules),
            needed=min(clean_needed(rules), n - why[task, False]),
        )
        for task, n in sorted(tasks.items())
    )


def plan_words(plans: Sequence[TaskPlan], rules: ReviewRules) -> str:
    """Say in one sentence how many reviews release how many questions."""
    n_looked = sum(plan.n_sample + plan.n_queued for plan in plans)
    closed = [plan for plan in plans if plan.n_rest and plan.most_rejected < 0]
    n_open = sum(plan.n_rest for plan in plans) - sum(plan.n_rest for plan in closed)
    words = (
        f"{n_looked:,} of {sum(plan.n for plan in plans):,} questions are reviewed; if all are accepted, "
        f"{n_open:,} unreviewed ones are released with them"
    )
    if not closed:
        return f"{words}."
    more = sum(max(0, plan.needed - plan.n_sample) for plan in closed)
    return (
        f"{words}, and {sum(plan.n_rest for plan in closed):,} of {', '.join(plan.task for plan in closed)} "
        f"are held back in any case: fewer than {clean_needed(rules)} of each are drawn. each_task = "
        f"{clean_needed(rules)} in [review] draws {more:,} more, which release these, too, if none is "
        "rejected."
    )


def plan_table(plans: Sequence[TaskPlan]) -> Table:
    """Return the plan of a review as a table."""
    return tabulate(
        "review",
        "What the review can release",
        label=Column(key="task", title="task", kind="text"),
        rows=lines((plan.task, plan) for plan in plans),
        measures=[
            count("n", lambda plan: plan.n, "questions"),
            count("sample", lambda plan: plan.n_sample, "drawn", note="In the sample"),
            count(
                "queued",
                lambda plan: plan.n_queued,
                "in any case",
                note="A model gave the answer, or a gate left it open",
            ),
            count("rest", lambda plan: plan.n_rest, "not looked at"),
            count(
                "rejectable",
                lambda plan: plan.most_rejected if plan.n_rest and plan.most_rejected >= 0 else None,
                "may be rejected",
                note="So many of the sample, and the rest is still released",
            ),
            count(
                "needed",
                lambda plan: plan.needed if plan.n_rest else None,
                note="Reviews without a rejection that release the rest",
            ),
        ],
        notes=["Where none may be rejected, the sample is too small to release the rest of the task."],
    )


def decide_review(
    questions: Sequence[Question], drawn: ReviewSample, *, said: Sequence[Reviewed], rules: ReviewRules
) -> tuple[ReviewResult, tuple[Question, ...], tuple[Dropped, ...]]:
    """Apply the verdicts: return the result, the remaining questions, and reasons for drops.

    Source: HERBench, section 7.7 (17.8 % of the sample were rejected), without a rule for the rest.
    Departs: the rule and the interval are ours.
    """
    by_id = {reviewed.item_id: reviewed for reviewed in said}
    tasks = by_key((question.draft.task, question) for question in questions)
    lines = [_task(name, mine, drawn, said=by_id, rules=rules) for name, mine in sorted(tasks.items())]
    rests = {line.task: line.rest for line in lines}
    asked = {row.question.question_id for row in drawn.rows}
    kept: list[Question] = []
    dropped: list[Dropped] = []
    for question in questions:
        spoken = by_id.get(question.question_id)
        if spoken is not None and not spoken.is_accepted:
            detail = "; ".join(filter(None, [", ".join(spoken.failed_checks), spoken.note]))
            dropped.append(_gone(question, "rejected-by-a-person", detail))
        elif spoken is None and question.question_id in asked:
            dropped.append(_gone(question, "waits-for-a-person", ""))
        elif spoken is None and rests[question.draft.task] in {"held-back", "waiting"}:
            dropped.append(_gone(question, "task-held-back", ""))
        else:
            kept.append(question)
    overall = _task(ALL_TASKS, questions, drawn, said=by_id, rules=rules)
    result = ReviewResult(
        rule=rule_words(rules), level=rules.level, most_rejected=rules.most_rejected, tasks=(*lines, overall)
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
    mine = {question.question_id for question in questions}
    rows = [row for row in drawn.rows if row.question.question_id in mine]
    spoken = {
        question_id: said[question_id] for row in rows if (question_id := row.question.question_id) in said
    }
    drawn_here = [row for row in rows if row.why == "sample"]
    sample = [row for row in drawn_here if row.question.question_id in spoken]
    is_whole = len(sample) == len(drawn_here)
    n_rejected = sum(not reviewed.is_accepted for reviewed in spoken.values())
    n_bad = sum(not spoken[row.question.question_id].is_accepted for row in sample)
    rejected = proportion(n_bad, len(sample), level=rules.level) if sample else None
    n_rest = len(questions) - len(rows)
    rest: Rest = "held-back"
    if name == ALL_TASKS:
        rest = "by-task"
    elif not is_whole:
        rest = "waiting"
    elif not n_rest:
        rest = "none-left"
    elif rejected is not None and rejected.high <= rules.most_rejected:
        rest = "released"
    return TaskReview(
        task=name,
        n=len(questions),
        n_sample=len(sample),
        n_sample_rejected=n_bad,
        n_queued=len(rows) - len(drawn_here),
        n_queued_rejected=n_rejected - n_bad,
        n_rest=n_rest,
        rejected=rejected,
        weighted=_weighted(drawn, {row.stratum for row in sample}, said) if is_whole else None,
        rest=rest,
        n_waiting=len(rows) - len(spoken),
        checks=dict(
            sorted(Counter(c for reviewed in spoken.values() for c in reviewed.failed_checks).items())
        ),
    )


def _weighted(drawn: ReviewSample, strata: set[str], values: Mapping[str, Reviewed]) -> float | None:
    """Return the rejected share, weighting strata by size."""
    n_all = sum(drawn.strata[name] for name in strata)
    if not n_all:
        return None
    share = 0.0
    for name in sorted(strata):
        rows = [row for row in drawn.rows if row.stratum == name and row.why == "sample"]
        bad = sum(not values[row.question.question_id].is_accepted for row in rows)
        share += drawn.strata[name] / n_all * bad / len(rows)
    return share
