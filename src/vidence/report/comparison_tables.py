"""A comparison as tables, as a part of a page, as CSV with one row for each question, and as JSON."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TypeVar

from vidence.media.whole import write_file
from vidence.records import OutcomeName
from vidence.report.comparison import Compared, Provenance, Ranked, Setting, TagDifference
from vidence.report.comparison_sentences import ranked_sentences, sentences, verdict
from vidence.report.pairing import PairedRuns
from vidence.report.provenance import trial_origin
from vidence.report.results import OUTCOMES, Run
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
    lines,
    p_value,
    share,
    tabulate,
    words,
)

JSON_FORMAT = "vidence-comparison/3"
RowT = TypeVar("RowT")


def section(compared: Compared | Ranked) -> Section:
    """What a page shows of a comparison, tables with their figures."""
    match compared:
        case Compared():
            messages, tables = sentences(compared), tables_of_two(compared)
        case Ranked():
            messages, tables = ranked_sentences(compared), tables_of_many(compared)
    return Section(title="Compared question by question", paragraphs=messages, tables=tables)


def write_comparison_csv(paired: PairedRuns, path: Path) -> None:
    """Write one row for each question: its video and source, its tags, and its score in each run, 0 to 1.

    The source stands there where some videos share one. Behind the scores stands for each run where its
    replies to the question are from: ``asked``, ``recorded``, ``rule`` or ``not sent``.

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
    """For each question where its replies are from; of repeats each kind once."""
    origins: dict[str, dict[str, None]] = {}
    for row in run.rows:
        origins.setdefault(row.item.item_id, {})[trial_origin(run, row)] = None
    return {item_id: " and ".join(kinds) for item_id, kinds in origins.items()}


def write_comparison_json(paired: PairedRuns, compared: Compared | Ranked, path: Path) -> None:
    """Write sentences, tables and all figures as one JSON object; a number that does not exist is null.

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
    """The difference by each average, by each tag, and what else differs."""
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
    """The columns of every comparison, of what a row is about."""
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
    """What became of the trials of each run on the compared questions."""

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
    """The difference without what has no answer, with it right or wrong; and as other parsers read."""
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
        rows=lines(
            (tag_difference.value, tag_difference)
            for tag_difference in compared.tags
            if tag_difference.tag == tag
        ),
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
    """The ranking, all pairs, and what else differs."""
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
        notes=(
            "Runs that share a letter do not differ clearly. Places are those that the clear pairs allow.",
        ),
    )


def _letter(position: int) -> str:
    """Letters from a to z, then aa, ab and so on."""
    rest, last = divmod(position, 26)
    return (_letter(rest - 1) if rest else "") + chr(ord("a") + last)


def _pairs(ranked: Ranked) -> Table:
    """A row for each pair, those with the run that was named first above; these are drawn."""
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
