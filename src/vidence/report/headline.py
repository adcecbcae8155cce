"""A run in plain words. Every number is taken from its tables, so that all outputs say the same."""

from vidence.records import Estimate, VideoPart
from vidence.report.judged import judge_sentence
from vidence.report.results import Run
from vidence.tables.format import has_interval, interval_text, shown
from vidence.tables.table import Table


def asked(run: Run) -> str:
    """What was asked, of whom and when, in one line."""
    plan = run.plan
    return (
        f"{plan.split}, {plan.style} answers, {_shown(run)}, parser {run.parser}, {run.facts.started_at[:10]}"
    )


def _shown(run: Run) -> str:
    most = max((len(row.trial.selection.frames) for row in run.rows if row.trial.selection), default=0)
    if most:
        # What was shown, not the budget: some rules take more (all, frag), some less (central).
        return f"{run.plan.selector}, {'up to ' if most > 1 else ''}{_several(f'{most:,}', 'frame')}"
    if any(isinstance(p, VideoPart) for row in run.rows if row.trial.prompt for p in row.trial.prompt.parts):
        return "videos sent whole"
    return "no frames shown"


def headline(run: Run, score: Table) -> tuple[str, ...]:
    """The score and what to know beside it, as sentences.

    Args:
        run: the run.
        score: its first table, named ``score``.
    """
    sentences = [
        _accuracy(score),
        *_baselines(score),
        _outcomes(score, n_judge_errors=sum(row.is_judge_error for row in run.rows)),
    ]
    if judged := judge_sentence(run):
        sentences.append(judged)
    if "unmarked" in score.keys and score.value("headline", "unmarked"):
        more = _several(_text(score, "unmarked"), "more question")
        sentences.append(f"Waiting for a judge, and in no mean: {more}.")
    if unlike := _without_logps(run):
        sentences.append(unlike)
    if guessed := guesses_of(run):
        share = f"{sum(guessed):,} of {len(guessed):,} replies are guesses"
        sentences.append(f"{share}, as the model itself says; its reasoning tells why.")
    if run.n_missing:
        sentences.append(
            f"The run is not complete: {run.n_missing:,} of {run.facts.n_planned:,} trials "
            "were not asked yet."
        )
    return tuple(sentences)


def _without_logps(run: Run) -> str:
    """That log-probabilities were wanted and are not there; some servers ignore the request."""
    if not run.plan.sampling.want_choice_logps:
        return ""
    replies = [row.trial.reply for row in run.rows if row.item.answer_kind == "choice" and row.trial.reply]
    n_without = sum(reply.choice_logps is None for reply in replies)
    if not n_without:
        return ""
    return (
        "Log-probabilities of the letters were asked for, and "
        f"{n_without:,} of {len(replies):,} replies came without: the model gives none, or the reply does "
        "not come to a letter."
    )


def guesses_of(run: Run) -> tuple[bool, ...]:
    """For each reply whether the model says that it guessed; empty where it never did."""
    told = tuple(row.trial.reply.is_guess for row in run.rows if row.trial.reply is not None)
    return told if any(told) else ()


def _text(score: Table, column: str, *, row: str = "headline") -> str:
    return shown(score, row, column).text


def _accuracy(score: Table) -> str:
    estimate = score.value("headline", "accuracy")
    if not isinstance(estimate, Estimate):
        return "No question is scored yet."
    name = score.row("headline").label
    items = _several(_text(score, "items"), "question")
    videos = _several(_text(score, "videos"), "video")
    average = "" if name == "mean over questions" else f", {name}"
    if has_interval(estimate):
        level = f"{100 * estimate.level:g} % interval"
        interval = f"{level} {interval_text(estimate)}, clustered by video"
    else:
        alike = "all questions are on one video" if estimate.n_clusters == 1 else "all videos score alike"
        interval = f"no interval, since {alike}"
    return f"Accuracy {_text(score, 'accuracy')} %{average} ({interval}; {items} on {videos})."


def _several(n: str, what: str) -> str:
    return f"{n} {what}" if n == "1" else f"{n} {what}s"


def _baselines(score: Table) -> list[str]:
    said = []
    for column in score.columns:
        cell = shown(score, "headline", column.key)
        if column.key in {"chance", "constant", "longest", "median"} and cell.value is not None:
            numeric = f" ({cell.detail} with numbers)" if cell.detail else ""
            said.append(f"{column.title} {cell.text} %{numeric}")
    return [f"Without looking: {', '.join(said)}."] if said else []


def _outcomes(score: Table, *, n_judge_errors: int) -> str:
    has_answered = any(row.key == "answered" for row in score.rows)
    everything = "headline" if has_answered else "micro"
    names = ("unreadable", "refused", "failed")
    counts = ", ".join(f"{_text(score, name, row=everything)} {name}" for name in names)
    if n_judge_errors:
        counts += f" ({n_judge_errors:,} by a judge error)"
    if not has_answered:
        return f"{counts}: these are left out of the score, as the protocol says."
    if not any(score.value("headline", name) for name in names):
        return f"{counts}."
    without = shown(score, "answered", "accuracy")
    ending = f"; without them {without.text} %" if without.estimate is not None else ""
    return f"{counts}: these count as wrong{ending}."
