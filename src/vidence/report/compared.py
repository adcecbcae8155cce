"""A comparison as tables, as a part of a page, as CSV with one row for each question, and as JSON."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from vidence.report.compared_words import Verdict, ranked_sentences, sentences, verdict
from vidence.report.comparing import Compared, Provenance, Ranked, Setting
from vidence.report.export import write_file
from vidence.report.pairing import Paired, cluster_column
from vidence.report.provenance import trial_origin
from vidence.report.results import OUTCOMES, Run
from vidence.report.sections import Section
from vidence.report.unread import Unanswered
from vidence.statistics.paired import Comparison, Pair
from vidence.tables.export import csv_text, table_as_json
from vidence.tables.table import Cell, Column, Row, Table, Value

JSON_FORMAT = "vidence-comparison/3"
_NOT_CLEAR: dict[Verdict, str] = {"unclear": "not clear"}
_P = Column(key="p", title="p", kind="p")
_VERDICT = Column(key="clear", title="verdict", kind="text")


def section(compared: Compared | Ranked) -> Section:
    """What a page shows of a comparison, tables with their figures."""
    match compared:
        case Compared():
            said, tables = sentences(compared), tables_of_two(compared)
        case Ranked():
            said, tables = ranked_sentences(compared), tables_of_many(compared)
    return Section(title="Compared question by question", paragraphs=said, tables=tables)


def write_comparison_csv(paired: Paired, path: Path) -> None:
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
            *(found[item.item_id] for found in origins),
        )
        for item, scores in zip(paired.items, paired.values.tolist(), strict=True)
    )
    write_file(path, csv_text([(*names, *(f"origin:{name}" for name in paired.names)), *rows]))


def _origins(run: Run) -> dict[str, str]:
    """For each question where its replies are from; of repeats each kind once."""
    found: dict[str, dict[str, None]] = {}
    for row in run.rows:
        found.setdefault(row.item.item_id, {})[trial_origin(run, row)] = None
    return {item_id: " and ".join(kinds) for item_id, kinds in found.items()}


def write_comparison_json(paired: Paired, compared: Compared | Ranked, path: Path) -> None:
    """Write sentences, tables and all figures as one JSON object; a number that does not exist is null.

    Raises:
        StoreError: the file cannot be written.
    """
    shown = section(compared)
    whole = {
        "format": JSON_FORMAT,
        "runs": [
            {"name": name, "folder": run.name, "plan": run.plan, "facts": run.facts}
            for name, run in zip(paired.names, paired.runs, strict=True)
        ],
        "sentences": shown.paragraphs,
        "compared": compared,
        "tables": [table_as_json(table) for table in shown.tables],
    }
    write_file(path, msgspec.json.encode(whole) + b"\n")


def _said(is_clear: bool, words: str = "not clear") -> Cell:
    return Cell(value=float(is_clear), text="clear" if is_clear else words)


def _provenance(runs: Sequence[Provenance]) -> Table:
    return Table(
        name="provenance",
        title="How the replies came about",
        note="Told by the trials. What the plan of a run says of frames and prompts is so of trials that "
        "were asked alone.",
        label=Column(key="name", title="run"),
        columns=(
            Column(key="trials", title="trials", kind="count"),
            Column(key="sent", title="asked", kind="count"),
            Column(key="how", title="how", kind="text"),
        ),
        rows=tuple(
            Row(key=one.run, label=one.run, values=(one.n_trials, one.n_sent, one.how)) for one in runs
        ),
    )


def _settings(names: Sequence[str], settings: Sequence[Setting]) -> list[Table]:
    if not settings:
        return []
    table = Table(
        name="settings",
        title="What else differs",
        note="Besides the models. A difference of scores may come from any of these.",
        label=Column(key="name", title="setting"),
        columns=tuple(Column(key=f"run:{i}", title=name, kind="text") for i, name in enumerate(names)),
        rows=tuple(Row(key=s.name, label=s.name, values=s.values) for s in settings),
    )
    return [table]


# --------------------------------------------------------------------------- two runs


def tables_of_two(compared: Compared) -> tuple[Table, ...]:
    """The difference by each average, by each tag, and what else differs."""
    tags = dict.fromkeys(found.tag for found in compared.tags)
    return (
        _averages(compared),
        outcomes(compared.unread.runs),
        *_unread(compared),
        *(_by_tag(compared, tag) for tag in tags),
        _provenance(compared.provenance),
        *_settings((compared.first, compared.second), compared.settings),
    )


def _columns(compared: Compared) -> tuple[Column, ...]:
    return (
        Column(key="items", title="questions", kind="count"),
        cluster_column(compared.clustered_by),
        Column(key="first", title=compared.first, kind="share", group="accuracy, %"),
        Column(key="second", title=compared.second, kind="share", group="accuracy, %"),
        Column(
            key="difference",
            title="difference, points",
            kind="difference",
            note="second less first, with its interval",
        ),
        Column(key="p", title="p", kind="p", note=f"that the difference is 0, by {compared.clustered_by}"),
    )


def _values(comparison: Comparison) -> tuple[Value, ...]:
    found = comparison.difference
    means = (comparison.mean_second, comparison.mean_first)
    return (found.n, found.n_clusters, *means, found, comparison.p_value)


def _averages(compared: Compared) -> Table:
    averages = [
        ("micro" if compared.macro_tag else "headline", "mean over questions", "", compared.over_items)
    ]
    if compared.macro_tag:
        label = f"mean over {compared.macro_tag}"
        averages.insert(0, ("headline", label, "each value alike", compared.headline))
    rows = []
    for key, label, detail, comparison in averages:
        values = (*_values(comparison), _found(comparison))
        rows.append(Row(key=key, label=label, detail=detail, values=values))
    return Table(
        name="difference",
        title=f"Difference: {compared.second} less {compared.first}",
        figure="differences",
        note="A difference is clear if its interval leaves out 0.",
        label=Column(key="name", title="average"),
        columns=(*_columns(compared), _VERDICT),
        rows=tuple(rows),
    )


def outcomes(runs: Sequence[Unanswered]) -> Table:
    """What became of the trials of each run on the compared questions."""
    return Table(
        name="outcomes",
        title="What has no answer",
        note="Trials on the compared questions; all but those with an answer count as wrong.",
        label=Column(key="name", title="run"),
        columns=(
            Column(key="trials", title="trials", kind="count"),
            *(Column(key=name, title=name, kind="count") for name in OUTCOMES),
        ),
        rows=tuple(
            Row(
                key=run.name,
                label=run.name,
                values=(run.n_trials, *(run.outcomes[name] for name in OUTCOMES)),
            )
            for run in runs
        ),
    )


def _unread(compared: Compared) -> Iterator[Table]:
    """The difference without what has no answer, with it right or wrong; and as other parsers read."""
    unread, first, second = compared.unread, compared.first, compared.second
    base = unread.readings[0].comparison
    if unread.n_unread:
        rows: list[tuple[str, str, Comparison]] = [("as-compared", "all wrong, as above", base)]
        if unread.both_answered is not None:
            rows.append(("both-answered", "only questions that both answered", unread.both_answered))
        rows.append(("worst", f"right in {first}, wrong in {second}", unread.worst))
        rows.append(("best", f"wrong in {first}, right in {second}", unread.best))
        yield Table(
            name="unread",
            title="What trials without an answer can change",
            figure="differences",
            note="The difference that complete answers would have given lies between the last two lines.",
            label=Column(key="name", title="trials without an answer are"),
            columns=(*_columns(compared), _VERDICT),
            rows=tuple(
                Row(key=key, label=label, values=(*_values(one), _found(one))) for key, label, one in rows
            ),
        )
    if len(unread.readings) > 1:
        n_others = len(unread.others)
        yield Table(
            name="parsers",
            title="The difference under each parser",
            figure="differences",
            note=f"The stored replies of both runs, read again; nobody was asked. {n_others:,} of "
            f"{len(unread.readings) - 1:,} other parsers change the sign or the verdict.",
            label=Column(key="name", title="parser"),
            columns=(
                Column(key="unread-first", title=first, kind="count", group="without an answer"),
                Column(key="unread-second", title=second, kind="count", group="without an answer"),
                *_columns(compared),
                _VERDICT,
            ),
            rows=tuple(
                Row(
                    key=one.parser,
                    label=one.parser,
                    values=(
                        *one.n_unread,
                        *_values(one.comparison),
                        _found(one.comparison),
                    ),
                )
                for one in unread.readings
            ),
        )


def _found(comparison: Comparison) -> Cell:
    found = verdict(comparison)
    return _said(found == "clear", _NOT_CLEAR.get(found, found))


def _by_tag(compared: Compared, tag: str) -> Table:
    holm = Column(key="holm", title="p, Holm", kind="p", note="adjusted for all values of all tags")
    rows = []
    for found in compared.tags:
        if found.tag == tag:
            is_clear = found.is_clear and verdict(found.comparison) == "clear"
            values = (*_values(found.comparison), found.p_holm, _said(is_clear))
            rows.append(Row(key=found.value, label=found.value, values=values))
    return Table(
        name=f"difference:{tag}",
        title=f"Difference by {tag}",
        figure="differences",
        note=f"Clear after Holm's adjustment for all {len(compared.tags):,} values of tags in these tables; "
        "intervals are not adjusted.",
        label=Column(key="name", title=tag),
        columns=(*_columns(compared), holm, _VERDICT),
        rows=tuple(rows),
    )


# --------------------------------------------------------------------------- more than two


def tables_of_many(ranked: Ranked) -> tuple[Table, ...]:
    """The ranking, what each run is above the one that was named first, all pairs, and what else differs."""
    ranking, base = ranked.ranking, ranked.names[0]
    to_first = _pair_table(
        "to-first",
        f"Each run less {base}",
        [(pair, pair.second, "") for pair in ranking.pairs if pair.first == base],
        label="run",
        note="Clear after Holm's adjustment for all pairs. The run that was named first is the base.",
    )
    pairs = _pair_table(
        "pairs",
        "All pairs",
        [(pair, pair.second, f"less {pair.first}") for pair in ranking.pairs],
        label="pair",
        note=f"{len(ranking.pairs):,} pairs, the run that was named later less the earlier one. "
        f"{ranking.method}.",
    )
    to_first = msgspec.structs.replace(to_first, figure="differences")
    return (
        _ranking(ranked),
        outcomes(ranked.unanswered),
        to_first,
        pairs,
        _provenance(ranked.provenance),
        *_settings(ranked.names, ranked.settings),
    )


def _ranking(ranked: Ranked) -> Table:
    ranking = ranked.ranking
    rows = []
    for name, mean, (best, worst) in zip(ranking.names, ranking.means, ranking.places, strict=True):
        groups = [_letter(i) for i, group in enumerate(ranking.groups) if name in group]
        place = str(best) if best == worst else f"{best} to {worst}"
        rows.append(Row(key=name, label=name, values=(place, mean, " ".join(groups))))
    return Table(
        name="ranking",
        title="Ranking",
        note="Runs that share a letter cannot be told apart. The place is what the clear pairs leave open.",
        label=Column(key="name", title="run"),
        columns=(
            Column(key="place", title="place", kind="count"),
            Column(key="accuracy", title="accuracy", kind="share", note="with its interval"),
            Column(key="groups", title="groups", kind="text"),
        ),
        rows=tuple(rows),
    )


def _letter(position: int) -> str:
    """Letters from a to z, then aa, ab and so on."""
    rest, last = divmod(position, 26)
    return (_letter(rest - 1) if rest else "") + chr(ord("a") + last)


def _pair_table(
    name: str, title: str, pairs: Sequence[tuple[Pair, str, str]], *, label: str, note: str
) -> Table:
    """A row for each pair, with its label and what stands beside that."""
    interval = "with its interval, not adjusted"
    return Table(
        name=name,
        title=title,
        note=note,
        label=Column(key="name", title=label),
        columns=(
            Column(key="difference", title="difference, points", kind="difference", note=interval),
            _P,
            Column(key="holm", title="p, Holm", kind="p", note="adjusted for all pairs"),
            _VERDICT,
        ),
        rows=tuple(
            Row(
                key=f"{pair.second}>{pair.first}",
                label=shown,
                detail=detail,
                values=(pair.difference, pair.p_value, pair.p_holm, _said(pair.is_clear)),
            )
            for pair, shown, detail in pairs
        ),
    )
