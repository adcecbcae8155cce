"""A comparison in sentences that a reviewer can trust. Every number is one of its records."""

import math
from collections.abc import Mapping
from typing import Literal, TypeAlias

import msgspec

from vidence.report.comparison import POWER, Compared, Provenance, Ranked, Setting
from vidence.report.results import OUTCOMES
from vidence.report.scores import ANSWERED
from vidence.report.unread import Unanswered
from vidence.statistics.paired import Comparison
from vidence.tables.table import has_interval, interval_text, p_words, percent, points, several
from vidence.text import some

# Below so many questions that tell two runs apart, a few answers decide.
FEW_APART = 10
MOST_SETTINGS = 4
MOST_PARSERS = 3  # in the first sentence

Verdict: TypeAlias = Literal["clear", "not clear", "equal", "no interval"]
# What follows a difference, in full and in short.
_ENDINGS: Mapping[Verdict, tuple[str, str]] = {
    "clear": ("", ""),
    "not clear": (", which cannot be told from zero", ", not to be told from zero"),
    "equal": ("", ""),
    "no interval": (", and how sure that is cannot be said", ""),
}


def verdict(comparison: Comparison) -> Verdict:
    """What a difference amounts to.

    ``clear``: its interval leaves out 0. ``not clear``: it does not. ``equal``: every question has the same
    score in both runs. ``no interval``: there is none, since all questions are on one video or source.
    """
    if comparison.n_first_higher == comparison.n_second_higher == 0:
        return "equal"
    verdict = comparison.verdict
    if verdict == "clear":
        return "clear"
    return "not clear" if verdict == "not clear" else "no interval"


def sentences(compared: Compared) -> tuple[str, ...]:
    """What there is to say of two runs, the difference first."""
    sentences = [
        _main(compared),
        *_at_margin(compared),
        *_looked(compared),
        *_corrected(compared),
        *_cautions(compared),
        *_other_average(compared),
        *_detectable(compared),
        *_unread(compared),
        *compared.notes,
        *_not_asked(compared.provenance),
        *_settings(compared.settings),
    ]
    return tuple(sentences)


def ranked_sentences(ranked: Ranked) -> tuple[str, ...]:
    """What there is to say of a ranking."""
    ranking = ranked.ranking
    n_clear = sum(pair.is_clear for pair in ranking.pairs)
    average = f", means over {ranked.macro_tag}" if ranked.macro_tag else ""
    best = next((group for group in ranking.groups if ranking.names[0] in group), ())
    first = (
        f"{ranking.names[0]} is first, clearly above all others."
        if len(best) == 1
        else f"The first place is undecided between {_several(best)}."
    )
    return (
        f"{len(ranking.names)} runs on the same {ranked.n_items:,} questions on "
        f"{several(ranked.n_clusters, ranked.clustered_by)}"
        f"{average}: {n_clear} of {len(ranking.pairs)} pairs differ clearly at "
        f"{100 * ranking.level:g} % ({ranking.method}).",
        first,
        *_without_answer(ranked.unanswered),
        *_two_by_two(ranked.unanswered),
        *ranked.notes,
        *_not_asked(ranked.provenance),
        *_settings(ranked.settings),
    )


def _several(names: tuple[str, ...]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


# --------------------------------------------------------------------------- the difference


def _main(compared: Compared) -> str:
    comparison = compared.headline
    text, depends = verdict(comparison), _dependence(compared)
    if text == "equal":
        return (
            f"{compared.second} and {compared.first} have the same scores on all "
            f"{several(comparison.difference.n, 'question')} ({percent(comparison.mean_first)} %){depends}."
        )
    over = f", unweighted means over {compared.macro_tag}" if compared.macro_tag else ""
    figures = (
        f"{percent(comparison.mean_first)} % against {percent(comparison.mean_second)} %{over}; "
        f"{_interval(compared, comparison)}; {_tests(compared)}"
    )
    message = f"{_above(compared, comparison)}{_ENDINGS[text][0]}"
    return f"{message}{depends}; {figures}." if depends else f"{message} ({figures})."


def _dependence(compared: Compared) -> str:
    """On what the sign or the verdict depends, with the differences that would turn it; or nothing."""
    unread = compared.unread
    entries = []
    if others := unread.others:
        result = (f"{other.parser}: {_short(other.comparison)}" for other in others)
        entries.append(f"on the parser ({some(result, most=MOST_PARSERS, between='; ')})")
    if unread.is_open:
        ends = f"{_short(unread.worst)} to {_short(unread.best)}"
        entries.append(
            f"on {several(unread.n_unread, 'trial')} without an answer (all wrong or right: {ends})"
        )
    return f", but this depends {' and '.join(entries)}" if entries else ""


def _short(comparison: Comparison) -> str:
    """A difference with its sign, and whether it is clear."""
    is_clear = comparison.verdict == "clear"
    return points(comparison.difference.value) + ("" if is_clear else f" ({comparison.verdict})")


def _above(compared: Compared, comparison: Comparison) -> str:
    value = comparison.difference.value
    text = f"{100 * abs(value):.1f}"
    if float(text) == 0:
        return f"{compared.second} and {compared.first} score alike to a tenth of a point"
    place = "above" if value > 0 else "below"
    points = "point" if text == "1.0" else "points"
    return f"{compared.second} is {text} {points} {place} {compared.first}"


def _interval(compared: Compared, comparison: Comparison) -> str:
    difference = comparison.difference
    if not has_interval(difference):
        few = "" if difference.n_clusters > 1 else f", two {difference.clustered_by}s are the least"
        return f"no interval: {difference.reason}{few}"
    sources = several(difference.n_clusters, difference.clustered_by)
    by = (
        f"{difference.n_people} people and {sources} crossed"
        if difference.n_people
        else f"clustered by {sources}"
    )
    return (
        f"{100 * difference.level:g} % interval of the difference {interval_text(difference)}, paired, {by}"
    )


def _tests(compared: Compared) -> str:
    """The test of the difference, and McNemar's on its questions."""
    message = f"p {p_words(compared.headline.p_value)}"
    nemar = compared.over_items.mcnemar
    over = compared.over_items.difference
    n = several(over.n, "answer" if over.n_people else "question")
    if nemar is None or nemar.is_clustered:
        comparison = compared.over_items
        return (
            f"{message}, on {n}, {comparison.n_first_higher:,} better and "
            f"{comparison.n_second_higher:,} worse"
        )
    return (
        f"{message}; exact McNemar p {p_words(nemar.p_exact)} on {n}, {nemar.n_only_first:,} against "
        f"{nemar.n_only_second:,} discordant"
    )


# --------------------------------------------------------------------------- what to know beside it


def _corrected(compared: Compared) -> list[str]:
    """The difference as people mark the replies, where they read some of both."""
    if (corrected := compared.headline.difference.corrected) is None or corrected.value != corrected.value:
        return []
    comparison = msgspec.structs.replace(compared.headline, difference=corrected)
    is_open = has_interval(corrected) and corrected.low <= 0 <= corrected.high
    ending = _ENDINGS["not clear" if is_open else "clear"][1]
    return [
        f"As people mark the replies, {_above(compared, comparison)}{ending} "
        f"({_interval(compared, comparison)})."
    ]


def _at_margin(compared: Compared) -> list[str]:
    """The verdict on equivalence, with the interval that it rests on."""
    if (decision := compared.at_margin) is None:
        return []
    interval, margin = decision.difference, f"{100 * (decision.margin or 0):g}"
    why = f"no interval: {interval.reason or interval.method}"
    if has_interval(interval):
        where = "lies within" if decision.is_within else "reaches beyond"
        why = (
            f"two one-sided tests: the {100 * interval.level:g} % interval, {interval_text(interval)}, "
            f"{where} -{margin} to {margin}"
        )
    return [f"At a margin of {margin} points: {decision.word} ({why})."]


def _looked(compared: Compared) -> list[str]:
    """What a comparison amounts to that is looked at after every source."""
    if (look := compared.look) is None:
        return []
    estimate = look.difference
    on = f"{several(estimate.n_clusters, estimate.clustered_by)}, {estimate.method}"
    return [f"Looked at after every {estimate.clustered_by}: {look} ({look.ends}; {on})."]


def _cautions(compared: Compared) -> list[str]:
    over_items = compared.over_items
    n_apart = over_items.n_first_higher + over_items.n_second_higher
    if 0 < n_apart < FEW_APART:
        tell = "tells" if n_apart == 1 else "tell"
        return [f"Only {several(n_apart, 'question')} {tell} the two apart: a few answers decide."]
    return []


def _other_average(compared: Compared) -> list[str]:
    if not compared.macro_tag:
        return []
    comparison = compared.over_items
    ending = _ENDINGS[verdict(comparison)][1]
    return [
        f"Over questions, each alike: {_above(compared, comparison)}{ending} "
        f"({percent(comparison.mean_first)} % against {percent(comparison.mean_second)} %; "
        f"{_interval(compared, comparison)})."
    ]


def _detectable(compared: Compared) -> list[str]:
    if compared.detectable is None:
        return []
    if math.isinf(compared.detectable):
        return [
            f"A comparison of this size detects no difference, however large, with {100 * POWER:g} % power."
        ]
    return [
        f"A comparison of this size detects a difference of {100 * compared.detectable:.1f} points with "
        f"{100 * POWER:g} % power."
    ]


def _unread(compared: Compared) -> list[str]:
    """Trials without an answer, and what becomes of the difference without it, or with it right or wrong."""
    unread = compared.unread
    messages = _without_answer(unread.runs)
    if not messages:
        return []
    if (both := unread.both_answered) is None:
        messages.append("No question has an answer from both.")
    else:
        messages.append(
            f"On the {several(both.difference.n, 'question')} that both answered: "
            f"{_above(compared, both)}{_ENDINGS[verdict(both)][1]} ({_interval(compared, both)})."
        )
    ends = (unread.worst, unread.best)
    text = " and ".join(
        f"{points(comparison.difference.value)} ({comparison.verdict})" for comparison in ends
    )
    messages.append(
        f"With every trial answered, the difference would lie between {text}: all missing answers right in "
        f"{compared.first} and wrong in {compared.second}, or vice versa."
    )
    return messages


def _without_answer(runs: tuple[Unanswered, ...]) -> list[str]:
    """The trials that have no answer, for each run; and that failed ones can be asked again."""
    listed = "; ".join(
        f"{run.name}: {run.n_unread:,} of {run.n_trials:,}, "
        + ", ".join(f"{run.outcomes[name]:,} {name}" for name in OUTCOMES if name != ANSWERED)
        for run in runs
    )
    if not any(run.n_unread for run in runs):
        return []
    again = any(run.outcomes["failed"] for run in runs)
    ending = " Resume asks failed ones again." if again else ""
    return [f"Trials without an answer count as wrong here ({listed}).{ending}"]


def _two_by_two(runs: tuple[Unanswered, ...]) -> list[str]:
    if not any(run.n_unread for run in runs):
        return []
    return ["Compare two runs alone to see whether these, or another parser, turn the sign of a difference."]


def _not_asked(runs: tuple[Provenance, ...]) -> list[str]:
    """The runs, or trials, of which the plan does not say how they were asked; the table says it of all."""
    alike: dict[str, list[str]] = {}
    for run in runs:
        if run.origin in ("recorded", "rule"):
            alike.setdefault(run.how, []).append(run.run)
    messages = [
        f"{_several(tuple(some))} {'was' if len(some) == 1 else 'were'} not asked: {how}."
        for how, some in alike.items()
    ]
    for run in runs:
        if run.origin in ("asked", "made") and run.n_sent < run.n_trials:
            n = run.n_trials - run.n_sent
            messages.append(f"{n:,} of {run.n_trials:,} trials of {run.run} failed before anything was sent.")
    return messages


def _settings(settings: tuple[Setting, ...]) -> list[str]:
    """A warning where the runs differ in more than their models; the table lists everything."""
    if not settings:
        return []
    result = (f"{setting.name} ({' / '.join(dict.fromkeys(setting.values))})" for setting in settings)
    return [f"What differs besides the model: {some(result, most=MOST_SETTINGS, between='; ')}."]
