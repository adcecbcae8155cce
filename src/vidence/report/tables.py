"""A run's tables other than scores, and sentences whose numbers come from these tables."""

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from statistics import median
from string import ascii_uppercase

import numpy as np

from vidence.records import Answered, Estimate, Failed, Refused, Unreadable, VideoPart, total_usage
from vidence.report.checked import FOLDER
from vidence.report.items import prediction_sentence, subset_tables
from vidence.report.judge_summary import judge_sentence, judge_tables
from vidence.report.parsers import ROBUST, has_logps, parser_tables
from vidence.report.provenance import is_asked, not_asked
from vidence.report.repeats import repeat_tables
from vidence.report.results import OUTCOMES, STATUSES, Row, Run
from vidence.report.scores import ANSWERED, NUMERIC, RULES, Draws, score_tables
from vidence.statistics.answer_keys import PositionBias, position_bias
from vidence.statistics.groups import group_rule
from vidence.statistics.intervals import plural
from vidence.tables.table import (
    FEW_VIDEOS,
    Cell,
    Column,
    RowSpec,
    Table,
    Value,
    count,
    has_interval,
    interval_text,
    percent,
    several,
    share,
    shown,
    tabulate,
    words,
)
from vidence.text import quoted, sentence

MOST_REASONS = 10
PREFERENCE = "Wrong answers prefer some letters"
LEAST_CUT = 0.1  # share of replies that were cut off, from which on the headline says so
# Some parsers find in a text that it means none of the choices, and say so in words.
LETTERS = frozenset(ascii_uppercase)


def all_tables(
    run: Run, *, rng: np.random.Generator, level: float = 0.95, parsers: Sequence[str] = (ROBUST,)
) -> tuple[Table, ...]:
    """Return all tables of a run, the scores first.

    Args:
        run: the run.
        rng: source of the bootstrap draws.
        level: coverage of the intervals.
        parsers: other parsers to read the replies with; empty: all.

    Raises:
        UsageError: the run has no trials, or its headline is not an aggregate.
    """
    return (
        *score_tables(run, rng=rng, level=level),
        *subset_tables(run, draws=Draws(rng=rng, level=level)),
        outcome_table(run),
        reason_table(run),
        *parser_tables(run, parsers),
        position_table(run, rng=rng),
        *judge_tables(run),
        *(repeat_tables(run, level=level) if run.plan.repeats > 1 else ()),
        usage_table(run),
    )


# --------------------------------------------------------------------------- outcomes


def outcome_table(run: Run) -> Table:
    """Return the outcomes of the planned trials: right, wrong, unreadable, refused, failed, other."""
    result = Counter(row.status for row in run.rows)
    total = len(run.rows) + run.n_missing
    counts = [(str(status), title, result[status]) for status, title in STATUSES.items()]
    rare = {"partly", "unjudged", "undecided", "unmarked", "hidden"}
    if run.no_score:
        rare |= {"right", "wrong"}
    counts = [c for c in counts if c[2] or c[0] not in rare]
    if run.n_missing:
        n = run.ended.n_asked if run.ended is not None else 0
        why = f"not needed (decided after {n:,} questions)" if n else "not asked yet"
        counts.append(("missing", why, run.n_missing))
    n_cut = sum(row.score.is_cut(row.trial.reply) for row in run.rows)
    return tabulate(
        "outcomes",
        "Outcomes",
        label=Column(key="name", title="outcome"),
        rows=(RowSpec(key, title, n) for key, title, n in counts),
        measures=(count("n", int, "trials"), share("share", lambda n: n / total if total else None)),
        notes=[f"{n_cut:,} replies were cut off at the limit of tokens."] if n_cut else (),
        figure="outcomes",
    )


def reason_table(run: Run) -> Table:
    """Return why trials are unreadable, refused or failed, and which rules parsed answers."""
    counts = Counter((row.outcome, _reason(row)) for row in run.rows)
    examples = {
        _reason(row): f"for example: {row.score.outcome.message[:300]}"
        for row in reversed(run.rows)
        if isinstance(row.score.outcome, Failed)  # its message says what to do, but names one file or server
    }
    rows: list[RowSpec[tuple[Cell, int]]] = []
    for outcome in OUTCOMES:  # some of each: many ways to be unreadable must not hide a failure
        reasons = sorted((-n, reason) for (of, reason), n in counts.items() if of == outcome)
        for negative, reason in reasons[:MOST_REASONS]:
            why = Cell(value=reason, detail=examples.get(reason, ""))
            rows.append(RowSpec(f"{outcome}:{reason}", outcome, (why, -negative)))
    n_more = len(counts) - len(rows)
    return tabulate(
        "reasons",
        "How answers were parsed, and why some were not",
        label=Column(key="outcome", title="outcome"),
        rows=rows,
        measures=(
            words("reason", lambda row: row[0], "rule or reason"),
            count("n", lambda row: row[1], "trials"),
        ),
        notes=[f"{n_more:,} more reasons are not shown."] if n_more else (),
    )


def _reason(row: Row) -> str:
    match row.score.outcome:
        case Answered(rule=rule):
            return rule or "no rule is named"
        case Unreadable(reason=reason) | Refused(reason=reason):
            return reason[:200]
        case Failed(stage=stage, error=error):
            return f"{error} ({stage})"


# --------------------------------------------------------------------------- letters


def position_table(run: Run, *, rng: np.random.Generator) -> Table:
    """Return how often each letter was answered and was right, with a test of position bias.

    Only questions with choices count, and only the first repeat.

    Args:
        run: the run.
        rng: source of the test's simulations.
    """
    choice = [row for row in run.rows if row.item.answer_kind == "choice" and row.item.choices]
    rows = [row for row in choice if row.trial.repeat == 0 and not row.item.is_hidden]
    bias = None
    if rows:
        bias = position_bias(
            [row.read if row.read in LETTERS else None for row in rows],
            [row.item.answer for row in rows],
            n_choices=[len(row.item.choices) for row in rows],
            rng=rng,
        )
    questions, shares, wrong = "questions", "share, %", "among wrong answers"
    return tabulate(
        "positions",
        "Letters",
        label=Column(key="letter", title="letter"),
        rows=(RowSpec(letter, letter, (bias, i)) for i, letter in enumerate(bias.letters)) if bias else (),
        measures=(
            count("gold", lambda at: at[0].right[at[1]], "right answer", group=questions),
            count("read", lambda at: at[0].read[at[1]], group=questions),
            share("gold-share", lambda at: at[0].right_shares[at[1]], "right answer", group=shares),
            share("read-share", lambda at: at[0].read_shares[at[1]], "read", group=shares),
            share(
                "accuracy",
                lambda at: at[0].accuracy[at[1]],
                note="on questions whose right answer is this letter",
            ),
            count("wrong", lambda at: at[0].wrong_read[at[1]], "read", group=wrong),
            count(
                "expected",
                lambda at: f"{at[0].wrong_expected[at[1]]:.1f}",
                group=wrong,
                note="expected without a preference",
            ),
        ),
        notes=(bias_sentences(bias) if bias else "Answers hidden." if run.n_hidden else "No choices.",),
        figure="letters",
    )


def bias_sentences(bias: PositionBias) -> str:
    """Describe position bias among wrong answers, and unreadable replies."""
    parts: list[str] = []
    if math.isnan(bias.p_value):
        parts.append(f"Preference for a position: {bias.method}.")
    else:
        p = f"p = {bias.p_value:.4f}" if bias.p_value >= 0.001 else "p < 0.001"
        none = "Wrong answers show no clear preference for a letter"
        parts.append(
            f"{PREFERENCE if bias.p_value < 0.05 else none} ({p}; {bias.method}). "
            "The cause can be the model, or tempting choices in one place."
        )
    if bias.n_unread:
        n = "1 question has" if bias.n_unread == 1 else f"{bias.n_unread:,} questions have"
        parts.append(f"{n} no letter read.")
    if bias.n_outside:
        parts.append(f"{bias.n_outside:,} letters read are not among the choices.")
    return " ".join(parts)


# --------------------------------------------------------------------------- what was used


def spent(run: Run) -> float | None:
    """Return the cost of new replies in US dollars at the plan's prices; None without prices."""
    if (prices := run.plan.prices) is None:
        return None
    return sum(prices.cost(reply.usage) for row in run.rows for reply in row.trial.new_replies)


def median_reply(run: Run) -> tuple[float | None, float | None]:
    """Return a reply's median seconds and output tokens, cached replies included; None if unknown.

    Source: HumanPCR, appendix F.4 (inference time of models).
    """
    replies = [reply for row in run.rows for reply in row.trial.replies]
    seconds = [reply.latency_s for reply in replies if reply.latency_s]
    tokens = [n for reply in replies if (n := reply.usage.output_tokens) is not None]
    return (median(seconds) if seconds else None, median(tokens) if tokens else None)


def usage_table(run: Run) -> Table:
    """Return tokens and cost of new replies, and the number of cached ones.

    Tokens are as reported by the model; the cost is in US dollars at the plan's prices.
    """
    n_replies = sum(len(row.trial.replies) for row in run.rows)
    new = [reply.usage for row in run.rows for reply in row.trial.new_replies]
    total = total_usage(new)
    n_in, n_out = total.input_tokens, total.output_tokens
    n_silent = sum(usage.input_tokens is None and usage.output_tokens is None for usage in new)
    remembered = (n_replies - len(new)) / n_replies if n_replies else None
    cost, (seconds, tokens), unknown = spent(run), median_reply(run), "not reported"
    median_s = "not known" if seconds is None else f"{seconds:,.2f}"
    rows: tuple[tuple[str, str, str, Value | Cell], ...] = (
        ("replies", "replies", "", n_replies),
        ("new", "newly asked", "", len(new)),
        (
            *("remembered", "remembered, %", "replies taken from the memory, paid for earlier"),
            Cell(value=remembered, kind="share"),
        ),
        ("input", "input tokens", "of new replies, as reported", unknown if n_in is None else n_in),
        *(
            [("cached", "input tokens from the cache", "the provider's", total.cached_tokens)]
            if total.cached_tokens
            else []
        ),
        ("output", "output tokens", "of new replies, as reported", unknown if n_out is None else n_out),
        ("reply-tokens", "output tokens of a reply", "median", unknown if tokens is None else f"{tokens:,g}"),
        ("reply-seconds", "seconds of a reply", "median", median_s),
        (
            *("cost", "cost, US dollars", run.plan.prices.says if run.plan.prices else ""),
            Cell(value="no prices given") if cost is None else Cell(value=cost, text=f"{cost:,.4f}"),
        ),
    )
    note = f"{n_silent:,} of {len(new):,} new replies report no token counts."
    return tabulate(
        "usage",
        "What was used",
        label=Column(key="name", title="what"),
        rows=(RowSpec(key, label, value, detail=detail) for key, label, detail, value in rows),
        measures=(count("n", lambda value: value, "amount"),),
        notes=(note if n_silent else "",),
    )


def asked(run: Run) -> str:
    """Describe in one line what was asked, of which model and when."""
    how = f"{run.plan.style} answers, {_shown(run)}" if is_asked(run) else "no model asked"
    return f"{run.plan.split}, {how}, parser {run.reader}, {run.facts.started_at[:10]}"


def _shown(run: Run) -> str:
    if most := max((len(row.trial.selection.frames) for row in run.rows if row.trial.selection), default=0):
        # What was shown, not the budget: some rules take more (all, frag), some less (central).
        return f"{run.plan.selector}, {'up to ' if most > 1 else ''}{several(most, 'frame')}"
    if any(isinstance(p, VideoPart) for row in run.rows if row.trial.prompt for p in row.trial.prompt.parts):
        return "videos sent whole"
    return "no frames shown"


def headline(run: Run, score: Table) -> tuple[str, ...]:
    """Return the score and its caveats, as sentences.

    Args:
        run: the run.
        score: its first table, ``score``.
    """
    sentences = [_silence(run)] if run.is_silent else [*_hidden(run, score), *_cut_off(run)]
    sentences.extend(check_sentences(run, score))
    if run.plan.subset and not run.no_score:
        known = score.estimate("headline", "accuracy")
        sentences.insert(0, prediction_sentence(run, level=known.level if known else 0.95))
    if left_out := run.facts.left_out:
        sentences.append(left_out)
    sentences.extend(filter(None, (not_asked(run), judge_sentence(run))))
    if "unmarked" in score.keys and score.value("headline", "unmarked"):
        more = several(shown(score, "headline", "unmarked").text, "more question")
        n_open = sum(row.is_undecided and row.correct is None for row in run.rows)
        why = "Waiting for a judge, or left open by judges that differ," if n_open else "Waiting for a judge,"
        sentences.append(f"{why} and in no mean: {more}.")
    sentences.extend(_without_logps(run))
    if guessed := guesses_of(run):
        share = f"{sum(guessed):,} of {len(guessed):,} replies are guesses"
        sentences.append(f"{share}, as the model itself says; its reasoning tells why.")
    if (ended := run.facts.ended) is not None:
        early = (
            f" The score is of a random part of the {plural(ended.difference.clustered_by)}, and its "
            "interval does not allow for the early end; that of the difference does."
        )
        headline = f"The comparison is {ended} (less {run.plan.against}: {ended.ends})."
        sentences.append(f"{headline}{early if run.ended else ''}")
    elif run.n_missing:
        sentences.append(
            f"The run is not complete: {run.n_missing:,} of {run.facts.n_planned:,} trials "
            "were not asked yet."
        )
    return tuple(sentences)


def check_sentences(run: Run, score: Table) -> list[str]:
    """Describe the people-corrected score; empty without a sample."""
    if (check := run.sample) is None or run.no_score:
        return []
    n, folder = len(check.draw.drawn), run.folder
    if check.n_unread:
        return [
            f"{check.n_unread:,} of {n:,} drawn replies are unread; no score is corrected. Read "
            f"them here with `vidence replies check-sample {quoted(folder)} --read`, on pages with "
            f"`vidence study open {quoted(folder / FOLDER)}`, or on a sheet, which "
            f"`vidence study close {quoted(folder / FOLDER)} --sheet FILE` reads."
        ]
    marks = {row.item.item_id: row.correct for row in run.rows}
    n_other = sum(marks.get(item_id) != mark for item_id, mark in check.read.items())
    raw = score.estimate("micro" if run.plan.headline == ANSWERED else "headline", "accuracy")
    sentences = f"{n:,} replies read by a person, {n_other:,} of them marked otherwise"
    if raw is None or raw.corrected is None:
        return [f"{sentences}."]
    ends = interval_text(raw.corrected) if has_interval(raw.corrected) else raw.corrected.reason
    return [
        f"{sentences}: accuracy {percent(raw.value)} -> {percent(raw.corrected.value)} % (interval {ends})."
    ]


def _hidden(run: Run, score: Table) -> list[str]:
    """Return the score and the number of hidden answers, or that there is no score if all are hidden."""
    if not run.n_hidden:
        return _scored(run, score)
    n = several(run.n_hidden, "question")
    how = f"`vidence items score {quoted(run.folder)} --answers FOLDER` scores them where the answers are."
    if run.no_score:
        return [f"No score: answers hidden, of all {n}. {how}"]
    return [*_scored(run, score), f"Answers hidden, and in no score: {n}. {how}"]


def _scored(run: Run, score: Table) -> list[str]:
    """Return the score, the text-only rules, and what could not be scored."""
    return [
        _accuracy(score, of="question" if group_rule(run.plan.headline) is None else "group"),
        *_few_videos(score),
        *_baselines(score),
        _outcomes(score, n_undecided=sum(row.is_undecided for row in run.rows)),
    ]


def why_failed(run: Run) -> str:
    """Return the most frequent reason of failed trials; empty if none failed."""
    reasons = Counter(row.score.outcome.message for row in run.rows if isinstance(row.score.outcome, Failed))
    return sentence(reasons.most_common(1)[0][0][:300]) if reasons else ""


def _silence(run: Run) -> str:
    """Say that the model never answered, and why."""
    n = several(len({row.item.item_id for row in run.rows}), "question")
    return f"No score, since none of {n} was ever answered: {why_failed(run)}"


def _cut_off(run: Run) -> Iterator[str]:
    """Say that many replies were truncated, and how to avoid it."""
    n = sum(row.trial.reply is not None for row in run.rows)
    n_cut = sum(row.score.is_cut(row.trial.reply) for row in run.rows)
    if n_cut and n_cut >= LEAST_CUT * n:
        limit = run.plan.sampling.max_tokens
        at = "the server's limit of tokens" if limit is None else f"{limit:,} tokens"
        yield f"{n_cut:,} of {n:,} replies were cut off at {at}; --max-tokens sets a higher limit."


def _without_logps(run: Run) -> Iterator[str]:
    """Say that requested log-probabilities are missing; some servers ignore the request."""
    rows = [row for row in run.rows if row.item.answer_kind == "choice" and row.trial.reply]
    if run.plan.sampling.want_choice_logps and (n := sum(not has_logps(row) for row in rows)):
        yield (
            f"Log-probabilities of the letters were asked for, and {n:,} of {len(rows):,} replies came "
            "without: the model gives none, or the reply does not come to a letter."
        )


def guesses_of(run: Run) -> tuple[bool, ...]:
    """Return, for each reply, whether the model says it guessed; empty if it never did."""
    guesses = tuple(row.trial.reply.is_guess for row in run.rows if row.trial.reply is not None)
    return guesses if any(guesses) else ()


def _accuracy(score: Table, *, of: str) -> str:
    estimate = score.value("headline", "accuracy")
    if not isinstance(estimate, Estimate):
        return f"No {of} is scored yet."
    name = score.row("headline").label
    items = several(shown(score, "headline", "items").text, of)
    source = next(column.title for column in score.columns if column.key == "videos").removesuffix("s")
    videos = several(shown(score, "headline", "videos").text, source)
    average = "" if name == "mean over questions" else f", {name}"
    if has_interval(estimate):
        level = f"{100 * estimate.level:g} % interval"
        by = (
            f"{estimate.n_people} people and {source}s crossed"
            if estimate.n_people
            else f"clustered by {source}"
        )
        interval = f"{level} {interval_text(estimate)}, {by}"
    else:
        interval = f"no interval: {estimate.reason}"
    return (
        f"Accuracy {shown(score, 'headline', 'accuracy').text} %{average} ({interval}; {items} on {videos})."
    )


def _few_videos(score: Table) -> list[str]:
    """Return a caution if the headline is about few videos."""
    n = score.value("headline", "videos")
    if not isinstance(n, int) or not 0 < n < FEW_VIDEOS:
        return []
    estimate = score.estimate("headline", "accuracy")
    ending = "the interval is wide for that reason"
    if estimate is None or not has_interval(estimate):
        ending = "the result does not extend to other videos"
    return [f"Caution: only {several(n, 'video')}, so a single one can shift the score far; {ending}."]


def _baselines(score: Table) -> list[str]:
    numeric = next((row.key for row in score.rows if row.key == NUMERIC), None)
    baselines = []
    for column in score.columns:
        cell = shown(score, "headline", column.key)
        # Of some questions the median is said beside the score on them: over all it is a small number.
        if column.key in RULES and cell.value is not None and not (column.key == "median" and numeric):
            applies = f" ({cell.detail})" if cell.detail else ""
            baselines.append(f"{column.title} {cell.text} %{applies}")
    sentences = [f"Without looking: {', '.join(baselines)}."] if baselines else []
    if numeric:
        n, own, median = (shown(score, numeric, key).text for key in ("items", "accuracy", "median"))
        sentences.append(
            f"On the {n} questions whose choices are numbers: accuracy {own} %, median {median} %."
        )
    return sentences


def _outcomes(score: Table, *, n_undecided: int) -> str:
    has_answered = any(row.key == "answered" for row in score.rows)
    everything = "headline" if has_answered else "micro"
    names = ("unreadable", "refused", "failed")
    counts = ", ".join(f"{shown(score, everything, name).text} {name}" for name in names)
    if n_undecided:
        counts += f" ({n_undecided:,} with undecided judges)"
    if not has_answered:
        return f"{counts}: these are left out of the score, as the protocol says."
    if not any(score.value("headline", name) for name in names):
        return f"{counts}."
    without = shown(score, "answered", "accuracy")
    ending = f"; without them {without.text} %" if without.estimate is not None else ""
    return f"{counts}: these count as wrong{ending}."
