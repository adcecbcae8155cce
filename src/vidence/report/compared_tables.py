"""A comparison as tables: the differences, the ranking, and what else differs."""

from collections.abc import Sequence

from vidence.report.compared_words import Verdict, verdict
from vidence.report.comparing import Compared, Ranked, Setting, TagDifference
from vidence.statistics.paired import Comparison, Pair
from vidence.tables.cells import (
    Cell,
    Column,
    Line,
    Table,
    count,
    difference,
    estimated,
    p_cell,
    share,
    words,
)

VERDICTS: dict[Verdict, str] = {
    "clear": "clear",
    "unclear": "not clear",
    "undecided": "undecided",
    "equal": "equal",
    "no interval": "no interval",
}


def tables_of_two(compared: Compared) -> tuple[Table, ...]:
    """The difference by each average, by each tag, and what else differs."""
    tables = [_averages(compared)]
    for tag in dict.fromkeys(found.tag for found in compared.tags):
        tables.append(_by_tag(compared, tag))
    if compared.settings:
        tables.append(_settings((compared.first, compared.second), compared.settings))
    return tuple(tables)


def tables_of_many(ranked: Ranked) -> tuple[Table, ...]:
    """The ranking, the differences to the first in it, all pairs, and what else differs."""
    tables = [_ranking(ranked), _to_best(ranked), _pairs(ranked)]
    if ranked.settings:
        tables.append(_settings(ranked.names, ranked.settings))
    return tuple(tables)


# --------------------------------------------------------------------------- two runs


def _columns(compared: Compared, first: str) -> tuple[Column, ...]:
    return (
        Column(key="name", title=first, is_text=True),
        Column(key="items", title="questions"),
        Column(key="videos", title="videos"),
        Column(key="first", title=compared.first, group="accuracy, %"),
        Column(key="second", title=compared.second, group="accuracy, %"),
        Column(key="difference", title="difference, points", note="second less first, with its interval"),
        Column(key="p", title="p", note="test by video: signs of whole videos are turned"),
    )


def _line(key: str, label: Cell, comparison: Comparison, *, n_videos: int) -> tuple[str, list[Cell]]:
    cells = [
        label,
        count(comparison.difference.n),
        count(n_videos),
        share(comparison.mean_second),
        share(comparison.mean_first),
        difference(comparison.difference),
        p_cell(comparison.p_value),
    ]
    return key, cells


def _averages(compared: Compared) -> Table:
    over_items = words("mean over questions")
    lines = []
    if compared.macro_tag:
        label = words(f"mean over {compared.macro_tag}", detail="each value alike")
        lines.append(_line("headline", label, compared.headline, n_videos=compared.n_videos))
    key = "micro" if compared.macro_tag else "headline"
    lines.append(_line(key, over_items, compared.over_items, n_videos=compared.n_videos))
    verdicts = [verdict(compared.headline), verdict(compared.over_items)][-len(lines) :]
    return Table(
        name="difference",
        title=f"Difference: {compared.second} less {compared.first}",
        kind="differences",
        note="A difference is clear if its interval leaves out 0 and the test by video agrees.",
        columns=(*_columns(compared, "average"), Column(key="clear", title="verdict", is_text=True)),
        lines=tuple(
            Line(key=key, cells=(*cells, Cell(text=VERDICTS[said], value=float(said == "clear"))))
            for (key, cells), said in zip(lines, verdicts, strict=True)
        ),
    )


def _by_tag(compared: Compared, tag: str) -> Table:
    n_all = len(compared.tags)
    return Table(
        name=f"difference:{tag}",
        title=f"Difference by {tag}",
        kind="differences",
        note=f"Clear after Holm's adjustment for all {n_all:,} values of tags in these tables; intervals are "
        "not adjusted.",
        columns=(
            *_columns(compared, tag),
            Column(key="holm", title="p, Holm", note="adjusted for all values of all tags"),
            Column(key="clear", title="verdict", is_text=True),
        ),
        lines=tuple(_tag_line(found) for found in compared.tags if found.tag == tag),
    )


def _tag_line(found: TagDifference) -> Line:
    key, cells = _line(found.value, words(found.value), found.comparison, n_videos=found.n_videos)
    is_clear = found.is_clear and verdict(found.comparison) == "clear"
    said = "clear" if is_clear else "not clear"
    return Line(key=key, cells=(*cells, p_cell(found.p_holm), Cell(text=said, value=float(is_clear))))


def _settings(names: Sequence[str], settings: Sequence[Setting]) -> Table:
    return Table(
        name="settings",
        title="What else differs",
        note="Besides the models. A difference of scores may come from any of these.",
        columns=(
            Column(key="name", title="setting", is_text=True),
            *(Column(key=f"run:{i}", title=name, is_text=True) for i, name in enumerate(names)),
        ),
        lines=tuple(
            Line(key=s.name, cells=(words(s.name), *(words(value) for value in s.values))) for s in settings
        ),
    )


# --------------------------------------------------------------------------- more than two


def _ranking(ranked: Ranked) -> Table:
    ranking = ranked.ranking
    lines = []
    for name, mean, (best, worst) in zip(ranking.names, ranking.means, ranking.places, strict=True):
        groups = [_letter(i) for i, group in enumerate(ranking.groups) if name in group]
        place = str(best) if best == worst else f"{best} to {worst}"
        cells = (words(name), words(place), estimated(mean), words(" ".join(groups)))
        lines.append(Line(key=name, cells=cells))
    return Table(
        name="ranking",
        title="Ranking",
        note="Runs that share a letter cannot be told apart. The place is what the clear pairs leave open.",
        columns=(
            Column(key="name", title="run", is_text=True),
            Column(key="place", title="place"),
            Column(key="accuracy", title="accuracy, %", note="with its interval"),
            Column(key="groups", title="groups", is_text=True),
        ),
        lines=tuple(lines),
    )


def _letter(position: int) -> str:
    """Letters from a to z, then aa, ab and so on."""
    rest, last = divmod(position, 26)
    return (_letter(rest - 1) if rest else "") + chr(ord("a") + last)


def _pair_columns(first: str) -> tuple[Column, ...]:
    return (
        Column(key="name", title=first, is_text=True),
        Column(
            key="difference",
            title="difference, points",
            note="with the interval of the clustered error and Student's t, not adjusted",
        ),
        Column(key="p", title="p"),
        Column(key="holm", title="p, Holm", note="adjusted for all pairs"),
        Column(key="clear", title="verdict", is_text=True),
    )


def _pair_line(label: Cell, pair: Pair) -> Line:
    return Line(
        key=f"{pair.better}>{pair.worse}",
        cells=(
            label,
            difference(pair.difference),
            p_cell(pair.p_value),
            p_cell(pair.p_holm),
            Cell(text="clear" if pair.is_clear else "not clear", value=float(pair.is_clear)),
        ),
    )


def _to_best(ranked: Ranked) -> Table:
    best = ranked.ranking.names[0]
    pairs = [pair for pair in ranked.ranking.pairs if pair.better == best]
    return Table(
        name="to-best",
        title=f"{best} less each other run",
        note="Clear after Holm's adjustment for all pairs. The first run was picked by its score, which "
        "favours it a little.",
        kind="differences",
        columns=_pair_columns("run"),
        lines=tuple(_pair_line(words(pair.worse), pair) for pair in pairs),
    )


def _pairs(ranked: Ranked) -> Table:
    ranking = ranked.ranking
    return Table(
        name="pairs",
        title="All pairs",
        note=f"{len(ranking.pairs):,} pairs, the better less the worse. {ranking.method}.",
        columns=_pair_columns("pair"),
        lines=tuple(
            _pair_line(words(pair.better, detail=f"less {pair.worse}"), pair) for pair in ranking.pairs
        ),
    )
