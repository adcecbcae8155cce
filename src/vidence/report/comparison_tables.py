"""A comparison as tables, as a section of a page, as CSV with a row per question, and as JSON."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Literal, TypeAlias, TypeVar

import msgspec

from vidence.media.whole import write_file
from vidence.records import OutcomeName, by_key
from vidence.report.comparison import POWER, Compared, Provenance, Ranked, Setting, TagDifference
from vidence.report.pairing import PairedRuns
from vidence.report.provenance import trial_origin
from vidence.report.results import OUTCOMES, Run
from vidence.report.scores import ANSWERED
from vidence.report.sections import Section
from vidence.report.unread import ParserComparison, Unanswered
from vidence.statistics.paired import Comparison
from vidence.tables.export import csv_text
from vidence.tables.table import (
    Cell,
    Column,
    Measure,
    RowSpec,
    Table,
    count,
    difference,
    has_interval,
    interval_text,
    lines,
    p_value,
    p_words,
    percent,
    points,
    several,
    share,
    tabulate,
    words,
)
from vidence.text import some

# Below so many questions that tell two runs apart, a few answers decide.
FEW_APART = 10
MOST_SETTINGS = 4
MOST_PARSERS = 3  # in the first sentence
_TWO_BY_TWO = (
    "Compare two runs alone to see whether these, or another parser, reverse the sign of a difference."
)

Verdict: TypeAlias = Literal["clear", "not clear", "equal", "no interval"]
# What follows a difference, in full and in short.
_ENDINGS: Mapping[Verdict, tuple[str, str]] = {
    "clear": ("", ""),
    "not clear": (", which is not distinguishable from zero", ", not distinguishable from zero"),
    "equal": ("", ""),
    "no interval": (", with unknown uncertainty", ""),
}


def verdict(comparison: Comparison) -> Verdict:
    """Classify a difference.

    ``clear``: its interval excludes 0. ``not clear``: it includes 0. ``equal``: all scores are equal. ``no
    interval``: all questions are about one video or source.
    """
    if comparison.n_first_higher == comparison.n_second_higher == 0:
        return "equal"
    verdict = comparison.verdict
    return verdict if verdict in ("clear", "not clear") else "no interval"


def sentences(compared: Compared) -> tuple[str, ...]:
    """Describe the comparison of two runs, the difference first."""
    return (
        _main(compared),
        *_at_margin(compared),
        *_looked(compared),
        *_corrected(compared),
        *_cautions(compared),
        *_other_average(compared),
        *_detectable(compared),
        *_unread_words(compared),
        *compared.notes,
        *_not_asked(compared.provenance),
        *_settings_words(compared.settings),
    )


def ranked_sentences(ranked: Ranked) -> tuple[str, ...]:
    """Describe a ranking."""
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
        f"{several(ranked.n_clusters, ranked.clustered_by)}{average}: {n_clear} of {len(ranking.pairs)} "
        f"pairs differ clearly at {100 * ranking.level:g} % ({ranking.method}).",
        first,
        *_without_answer(ranked.unanswered),
        *([_TWO_BY_TWO] if any(run.n_unread for run in ranked.unanswered) else []),
        *ranked.notes,
        *_not_asked(ranked.provenance),
        *_settings_words(ranked.settings),
    )


def _several(names: Sequence[str]) -> str:
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
    """Say what the sign or verdict depends on, with the differences that would change it."""
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
    """Format a difference with its sign and verdict."""
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
    """Format the test of the difference and McNemar's test."""
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


def _corrected(compared: Compared) -> Iterator[str]:
    """Yield the people-corrected difference if people read samples of both runs."""
    corrected = compared.headline.difference.corrected
    if corrected is not None and not math.isnan(corrected.value):
        comparison = msgspec.structs.replace(compared.headline, difference=corrected)
        is_open = has_interval(corrected) and corrected.low <= 0 <= corrected.high
        ending = _ENDINGS["not clear" if is_open else "clear"][1]
        yield (
            f"As people mark the replies, {_above(compared, comparison)}{ending} "
            f"({_interval(compared, comparison)})."
        )


def _at_margin(compared: Compared) -> Iterator[str]:
    """Yield the verdict on equivalence, with its interval."""
    if (decision := compared.at_margin) is not None:
        interval, margin = decision.difference, f"{100 * (decision.margin or 0):g}"
        why = f"no interval: {interval.reason or interval.method}"
        if has_interval(interval):
            where = "lies within" if decision.is_within else "reaches beyond"
            why = (
                f"two one-sided tests: the {100 * interval.level:g} % interval, {interval_text(interval)}, "
                f"{where} -{margin} to {margin}"
            )
        yield f"At a margin of {margin} points: {decision.word} ({why})."


def _looked(compared: Compared) -> Iterator[str]:
    """Yield the result of a comparison tested after every source."""
    if (look := compared.look) is not None:
        estimate = look.difference
        on = f"{several(estimate.n_clusters, estimate.clustered_by)}, {estimate.method}"
        yield f"Looked at after every {estimate.clustered_by}: {look} ({look.ends}; {on})."


def _cautions(compared: Compared) -> Iterator[str]:
    n_apart = compared.over_items.n_first_higher + compared.over_items.n_second_higher
    if 0 < n_apart < FEW_APART:
        tell = "tells" if n_apart == 1 else "tell"
        yield f"Only {several(n_apart, 'question')} {tell} the two apart: a few answers decide."


def _other_average(compared: Compared) -> Iterator[str]:
    if compared.macro_tag:
        comparison = compared.over_items
        yield (
            f"Over questions, each alike: {_above(compared, comparison)}{_ENDINGS[verdict(comparison)][1]} "
            f"({percent(comparison.mean_first)} % against {percent(comparison.mean_second)} %; "
            f"{_interval(compared, comparison)})."
        )


def _detectable(compared: Compared) -> Iterator[str]:
    if compared.detectable is not None:
        what = f"a difference of {100 * compared.detectable:.1f} points"
        if math.isinf(compared.detectable):
            what = "no difference, however large,"
        yield f"A comparison of this size detects {what} with {100 * POWER:g} % power."


def _unread_words(compared: Compared) -> Iterator[str]:
    """Yield the unanswered trials, and the difference without them or with them right or wrong."""
    unread = compared.unread
    if not unread.n_unread:
        return
    yield from _without_answer(unread.runs)
    if (both := unread.both_answered) is None:
        yield "No question has an answer from both."
    else:
        yield (
            f"On the {several(both.difference.n, 'question')} that both answered: "
            f"{_above(compared, both)}{_ENDINGS[verdict(both)][1]} ({_interval(compared, both)})."
        )
    ends = (unread.worst, unread.best)
    text = " and ".join(f"{points(c.difference.value)} ({c.verdict})" for c in ends)
    yield (
        f"With every trial answered, the difference would lie between {text}: all missing answers right in "
        f"{compared.first} and wrong in {compared.second}, or vice versa."
    )


def _without_answer(runs: tuple[Unanswered, ...]) -> Iterator[str]:
    """Yield the unanswered trials of each run; failed ones can be asked again."""
    listed = "; ".join(
        f"{run.name}: {run.n_unread:,} of {run.n_trials:,}, "
        + ", ".join(f"{run.outcomes[name]:,} {name}" for name in OUTCOMES if name != ANSWERED)
        for run in runs
    )
    if any(run.n_unread for run in runs):
        ending = " Resume asks failed ones again." if any(run.outcomes["failed"] for run in runs) else ""
        yield f"Trials without an answer count as wrong here ({listed}).{ending}"


def _not_asked(runs: tuple[Provenance, ...]) -> Iterator[str]:
    """Yield the runs or trials whose plan does not say how they were asked."""
    alike = by_key((run.how, run.run) for run in runs if run.origin in ("recorded", "rule"))
    for how, names in alike.items():
        yield f"{_several(names)} {'was' if len(names) == 1 else 'were'} not asked: {how}."
    for run in runs:
        if run.origin in ("asked", "made") and run.n_sent < run.n_trials:
            n = run.n_trials - run.n_sent
            yield f"{n:,} of {run.n_trials:,} trials of {run.run} failed before anything was sent."


def _settings_words(settings: tuple[Setting, ...]) -> Iterator[str]:
    """Yield a warning if the runs differ in more than the model; the table lists everything."""
    if settings:
        result = (f"{setting.name} ({' / '.join(dict.fromkeys(setting.values))})" for setting in settings)
        yield f"What differs besides the model: {some(result, most=MOST_SETTINGS, between='; ')}."


JSON_FORMAT = "vidence-comparison/3"
RowT = TypeVar("RowT")


def section(compared: Compared | Ranked) -> Section:
    """Return the section of a page, tables with figures."""
    match compared:
        case Compared():
            messages, tables = sentences(compared), tables_of_two(compared)
        case Ranked():
            messages, tables = ranked_sentences(compared), tables_of_many(compared)
    return Section(title="Compared question by question", paragraphs=messages, tables=tables)


def write_comparison_csv(paired: PairedRuns, path: Path) -> None:
    """Write one row per question: video, source, tags, and its score in each run, 0 to 1.

    The source is included if several videos share one. After the scores, a column per run says where its
    replies are
    from: ``asked``, ``recorded``, ``rule`` or ``not sent``.

    Raises:
        StoreError: the file cannot be written.
    """
    tags = list(dict.fromkeys(tag for item in paired.items for tag in item.tags))
    media = ("video", "source") if paired.noun == "source" else ("video",)
    names = ("item_id", *media, *(f"tag:{tag}" for tag in tags), *(f"score:{name}" for name in paired.names))
    origins = [_origins(run) for run in paired.runs]
    rows = (
        (
            item.item_id,
            *(item.video_id, item.source_id)[: len(media)],
            *(item.tags.get(tag, "") for tag in tags),
            *scores,
            *(origin[item.item_id] for origin in origins),
        )
        for item, scores in zip(paired.items, paired.values.tolist(), strict=True)
    )
    write_file(path, csv_text([(*names, *(f"origin:{name}" for name in paired.names)), *rows]))


def _origins(run: Run) -> dict[str, str]:
    """Return the origin of the replies to each question; each kind once."""
    origins = by_key((row.item.item_id, trial_origin(run, row)) for row in run.rows)
    return {item_id: " and ".join(dict.fromkeys(kinds)) for item_id, kinds in origins.items()}


def write_comparison_json(paired: PairedRuns, compared: Compared | Ranked, path: Path) -> None:
    """Write sentences, tables and figures as one JSON object; undefined numbers are null.

    Raises:
        StoreError: the file cannot be written.
    """
    runs = [
        {"name": name, "folder": run.name, "plan": run.plan, "facts": run.facts}
        for name, run in zip(paired.names, paired.runs, strict=True)
    ]
    section(compared).write_json(path, JSON_FORMAT, runs=runs, compared=compared)


def _said(is_clear: bool) -> Cell:
    return Cell(value=float(is_clear), text="clear" if is_clear else "not clear")


def _provenance(runs: Sequence[Provenance]) -> Table:
    return tabulate(
        "provenance",
        "How the replies were produced",
        label=Column(key="name", title="run"),
        rows=lines((run.run, run) for run in runs),
        measures=(
            count("trials", lambda provenance: provenance.n_trials),
            count("sent", lambda provenance: provenance.n_sent, "asked"),
            words("how", lambda provenance: provenance.how),
        ),
        notes=(
            "From the trials. What the plan states about frames and prompts holds for trials that were "
            "asked alone.",
        ),
    )


def _settings(names: Sequence[str], settings: Sequence[Setting]) -> Iterator[Table]:
    def of_run(i: int, name: str) -> Measure[Setting]:
        return words(f"run:{i}", lambda setting: setting.values[i], name)

    if settings:
        yield tabulate(
            "settings",
            "What else differs",
            label=Column(key="name", title="setting"),
            rows=lines((setting.name, setting) for setting in settings),
            measures=[of_run(i, name) for i, name in enumerate(names)],
            notes=("Besides the models. A difference of scores may come from any of these.",),
        )


# --------------------------------------------------------------------------- two runs


def tables_of_two(compared: Compared) -> tuple[Table, ...]:
    """Return tables of the difference by average and by tag, and of differing settings."""
    tags = dict.fromkeys(tag.tag for tag in compared.tags)
    return (
        _averages(compared),
        outcomes(compared.unread.runs),
        *_unread(compared),
        *(_by_tag(compared, tag) for tag in tags),
        _provenance(compared.provenance),
        *_settings((compared.first, compared.second), compared.settings),
    )


def _measures(compared: Compared, of: Callable[[RowT], Comparison]) -> tuple[Measure[RowT], ...]:
    """Return the columns that all comparisons share."""
    group, noun = "accuracy, %", compared.clustered_by
    return (
        count("items", lambda row: of(row).difference.n, "questions"),
        count(f"{noun}s", lambda row: of(row).difference.n_clusters),
        share("first", lambda row: of(row).mean_second, compared.first, group=group),
        share("second", lambda row: of(row).mean_first, compared.second, group=group),
        difference(
            "difference",
            lambda row: of(row).difference,
            "difference, points",
            note="second less first, with its interval",
        ),
        p_value("p", lambda row: of(row).p_value, note=f"that the difference is 0, by {noun}"),
    )


def _of_part(row: ParserComparison | TagDifference) -> Comparison:
    return row.comparison


def _with_verdict(compared: Compared) -> tuple[Measure[Comparison], ...]:
    return (*_measures(compared, lambda comparison: comparison), words("clear", _found, "verdict"))


def _averages(compared: Compared) -> Table:
    tag, over_items = compared.macro_tag, ("mean over questions", compared.over_items)
    rows = [RowSpec("headline", *over_items)]
    if tag:
        headline = RowSpec("headline", f"mean over {tag}", compared.headline, detail="each value alike")
        rows = [headline, RowSpec("micro", *over_items)]
    return tabulate(
        "difference",
        f"Difference: {compared.second} less {compared.first}",
        label=Column(key="name", title="average"),
        rows=rows,
        measures=_with_verdict(compared),
        notes=("A difference is clear if its interval leaves out 0.",),
        figure="differences",
    )


def outcomes(runs: Sequence[Unanswered]) -> Table:
    """Return a table of the trial outcomes of each run on the compared questions."""

    def n_of(name: OutcomeName) -> Measure[Unanswered]:
        return count(name, lambda run: run.outcomes[name])

    return tabulate(
        "outcomes",
        "Trials without an answer",
        label=Column(key="name", title="run"),
        rows=lines((run.name, run) for run in runs),
        measures=(count("trials", lambda run: run.n_trials), *map(n_of, OUTCOMES)),
        notes=("Trials on the compared questions; those without an answer count as wrong.",),
    )


def _unread(compared: Compared) -> Iterator[Table]:
    """Yield tables of the difference without unanswered trials, with these right or wrong, and by parser."""
    unread, first, second = compared.unread, compared.first, compared.second
    if unread.n_unread:
        rows = [RowSpec("as-compared", "all wrong, as above", unread.readings[0].comparison)]
        if (both := unread.both_answered) is not None:
            rows.append(RowSpec("both-answered", "only questions that both answered", both))
        rows.append(RowSpec("worst", f"right in {first}, wrong in {second}", unread.worst))
        rows.append(RowSpec("best", f"wrong in {first}, right in {second}", unread.best))
        yield tabulate(
            "unread",
            "Bounds from trials without an answer",
            label=Column(key="name", title="trials without an answer are"),
            rows=rows,
            measures=_with_verdict(compared),
            notes=("The difference that complete answers would have given lies between the last two lines.",),
            figure="differences",
        )
    if len(unread.readings) > 1:
        group = "without an answer"
        yield tabulate(
            "parsers",
            "The difference under each parser",
            label=Column(key="name", title="parser"),
            rows=lines((reading.parser, reading) for reading in unread.readings),
            measures=(
                count("unread-first", lambda comparison: comparison.n_unread[0], first, group=group),
                count("unread-second", lambda comparison: comparison.n_unread[1], second, group=group),
                *_measures(compared, _of_part),
                words("clear", lambda comparison: _found(comparison.comparison), "verdict"),
            ),
            notes=(
                f"The stored replies of both runs, read again; no model was asked. {len(unread.others):,} of "
                f"{len(unread.readings) - 1:,} other parsers change the sign or the verdict.",
            ),
            figure="differences",
        )


def _found(comparison: Comparison) -> Cell:
    text = verdict(comparison)
    return Cell(value=float(text == "clear"), text=text)


def _by_tag(compared: Compared, tag: str) -> Table:
    def said(tag_difference: TagDifference) -> Cell:
        return _said(tag_difference.is_clear and verdict(tag_difference.comparison) == "clear")

    return tabulate(
        f"difference:{tag}",
        f"Difference by {tag}",
        label=Column(key="name", title=tag),
        rows=lines((d.value, d) for d in compared.tags if d.tag == tag),
        measures=(
            *_measures(compared, _of_part),
            p_value(
                "holm",
                lambda tag_difference: tag_difference.p_holm,
                "p, Holm",
                note="adjusted for all values of all tags",
            ),
            words("clear", said, "verdict"),
        ),
        notes=(
            f"Clear after Holm's adjustment for all {len(compared.tags):,} values of tags in these tables; "
            "intervals are not adjusted.",
        ),
        figure="differences",
    )


# --------------------------------------------------------------------------- more than two


def tables_of_many(ranked: Ranked) -> tuple[Table, ...]:
    """Return the ranking, all pairs, and differing settings."""
    return (
        _ranking(ranked),
        outcomes(ranked.unanswered),
        _pairs(ranked),
        _provenance(ranked.provenance),
        *_settings(ranked.names, ranked.settings),
    )


def _ranking(ranked: Ranked) -> Table:
    ranking = ranked.ranking
    letters = {_letter(i): group for i, group in enumerate(ranking.groups)}

    def place(i: int) -> str:
        best, worst = ranking.places[i]
        return str(best) if best == worst else f"{best} to {worst}"

    def groups(i: int) -> str:
        return " ".join(letter for letter, group in letters.items() if ranking.names[i] in group)

    return tabulate(
        "ranking",
        "Ranking",
        label=Column(key="name", title="run"),
        rows=lines((name, i) for i, name in enumerate(ranking.names)),
        measures=(
            count("place", place),
            share("accuracy", lambda i: ranking.means[i], note="with its interval"),
            words("groups", groups),
        ),
        notes=("Runs that share a letter do not differ clearly. Places follow from the clear pairs.",),
    )


def _letter(position: int) -> str:
    """Return a letter from a to z, then aa, ab and so on."""
    rest, last = divmod(position, 26)
    return (_letter(rest - 1) if rest else "") + chr(ord("a") + last)


def _pairs(ranked: Ranked) -> Table:
    """Return a table with a row per pair, first run's pairs first; these are plotted."""
    ranking, base = ranked.ranking, ranked.names[0]
    return tabulate(
        "pairs",
        "All pairs",
        label=Column(key="name", title="pair"),
        rows=(
            RowSpec(
                f"{pair.second}>{pair.first}",
                pair.second,
                pair,
                detail=f"less {pair.first}",
                is_drawn=pair.first == base,
            )
            for pair in sorted(ranking.pairs, key=lambda pair: pair.first != base)
        ),
        measures=(
            difference(
                "difference",
                lambda pair: pair.difference,
                "difference, points",
                note="with its interval, not adjusted",
            ),
            p_value("p", lambda pair: pair.p_value),
            p_value("holm", lambda pair: pair.p_holm, "p, Holm", note="adjusted for all pairs"),
            words("clear", lambda pair: _said(pair.is_clear), "verdict"),
        ),
        notes=(
            f"{len(ranking.pairs):,} pairs, the run that was named later less the earlier one. Clear after "
            f"Holm's adjustment for all of them. The figure has those with {base}, which was named first.",
        ),
        figure="differences",
    )
