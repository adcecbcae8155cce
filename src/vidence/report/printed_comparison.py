"""Runs below the rows that papers print, in the columns that hold what they measured."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from vidence.catalog import create, ready
from vidence.engine.specs import label
from vidence.errors import UsageError
from vidence.explain.published.printed_tables import Measure, PublishedCell, PublishedTable, is_blank
from vidence.explain.published.published import beside
from vidence.records import by_key, source_noun
from vidence.report.provenance import asked_sentences, is_asked
from vidence.report.results import WAITING, Row, Run
from vidence.report.scores import Aggregate, Draws, chosen, headline_accuracy
from vidence.report.side_by_side import run_names
from vidence.tables.table import DASH, Cell, Column, Table, videos_row
from vidence.tables.table import Row as TableRow

PROBLEM, REMARK = "†", "*"
APART = "published:apart"
LETTERS = "letters"
"""In a `Measure`: any parser that reads choice letters."""


def published_tables(runs: Sequence[Run], *, draws: Draws) -> tuple[Table, ...]:
    """Return each published table that fits a run, with the runs below the printed rows.

    The last row says how many videos the runs' values come from; printed rows do not.

    A run appears only in tables of its benchmark and split, and only in columns that hold what it measured:
    by the same kind of parser, on the same split, in the same style, on all questions of the column. A run
    that fits no column appears in a final table, with the reasons. Printed values that contradict arithmetic
    carry a dagger, remarks an asterisk; footnotes explain them.

    Args:
        runs: one or more runs.
        draws: source of the bootstrap draws.

    Raises:
        UsageError: no published table fits these runs.
    """
    labels = run_names(runs)
    published_tables: dict[str, tuple[PublishedTable, list[int]]] = {}
    for i, run in enumerate(runs):
        for table in beside(run.plan.benchmark, run.plan.split):
            published_tables.setdefault(table.name, (table, []))[1].append(i)
    tables, apart, signs = [], [], dict[str, str]()
    for table, members in published_tables.values():
        fits = {i: _fits(runs[i], table, draws=draws) for i in members}
        if ours := {i: fit for i, fit in fits.items() if fit.has_value}:
            rows = _joined(runs, labels, ours)
            how = asked_sentences((runs[i], labels[i]) for i in ours)
            how += [sentence for i, fit in ours.items() for sentence in fit.sentences(labels[i])]
            noun = source_noun(row.item for i in ours for row in runs[i].rows)
            tables.append(_with_ours(table, rows, how, noun=noun, signs=signs))
        apart += [(i, table, fit) for i, fit in fits.items() if fit.reasons and not fit.has_value]
    if apart:
        tables.append(_apart(runs, labels, apart, draws=draws))
    if not tables:
        asked = ", ".join(dict.fromkeys(f"{run.plan.benchmark} ({run.plan.split})" for run in runs))
        raise UsageError(f"no published table is about {asked}; `vidence list published` lists them")
    return tuple(tables)


def _joined(runs: Sequence[Run], labels: Sequence[str], ours: "Mapping[int, _Fit]") -> list[TableRow]:
    """Return a row per model: its runs that cover different columns share a row.

    Two runs are of one model if they have the same name or spec. If both have a value in a column, each keeps
    its own row.
    """
    rows: list[list[int]] = []
    for i, fit in ours.items():
        shared = (
            row
            for row in rows
            if all(_is_one_model(runs[i], runs[j]) and _are_apart(fit, ours[j]) for j in row)
        )
        home = next(shared, None)
        if home is None:
            rows.append([i])
        else:
            home.append(i)
    return [
        TableRow(
            key=f"ours:{'+'.join(map(str, row))}",
            label=_shared_label(runs, labels, row),
            values=tuple(
                next((cell for cell in some if cell.value is not None), Cell())
                for some in zip(*(ours[i].cells for i in row), strict=True)
            ),
        )
        for row in rows
    ]


def _is_one_model(first: Run, second: Run) -> bool:
    ours, theirs = first.plan, second.plan
    if ours.name or theirs.name:
        return ours.name == theirs.name
    return ours.model == theirs.model


def _are_apart(first: "_Fit", second: "_Fit") -> bool:
    pairs = zip(first.cells, second.cells, strict=True)
    return not any(cell.value is not None and other.value is not None for cell, other in pairs)


def _shared_label(runs: Sequence[Run], labels: Sequence[str], row: Sequence[int]) -> str:
    """Return a row's label; for several runs what they have in common, if unique."""
    if len(row) == 1:
        return labels[row[0]]
    plain = label(runs[row[0]].plan)
    others = [label(run.plan) for i, run in enumerate(runs) if i not in row]
    return " and ".join(labels[i] for i in row) if plain in others else plain


# --------------------------------------------------------------------------- which column


@dataclass(kw_only=True)
class _Fit:
    """A run's values for the columns of a table after the first.

    `reasons` say why columns with its questions stay empty, `remarks` what to know of the others; both by
    text, with the columns' names.
    """

    cells: tuple[Cell, ...] = ()
    reasons: dict[str, list[str]] = field(default_factory=dict)
    remarks: dict[str, list[str]] = field(default_factory=dict)

    @property
    def has_value(self) -> bool:
        """Whether any column has a value."""
        return any(cell.value is not None for cell in self.cells)

    def sentences(self, name: str) -> Iterator[str]:
        """Yield reasons and remarks as footnotes on the named run."""
        for why, columns in self.reasons.items():
            yield f"{name} has no value under {', '.join(columns)}: {why}."
        for what, columns in self.remarks.items():
            yield f"{name}: {what} ({', '.join(columns)})."


def _fits(run: Run, table: PublishedTable, *, draws: Draws) -> _Fit:
    fit = _Fit()
    cells = []
    for column in table.columns[1:]:
        measure = column.measure
        cell = Cell()
        if measure is not None and (rows := chosen(run.rows, measure.where)):
            kept, why = measured_rows(run, rows, measure)
            why = run.no_score or why
            if why:
                fit.reasons.setdefault(why, []).append(column.name)
            else:
                aggregate = Aggregate.of(kept, measure.average, of_points=column.kind == "number")
                cell = Cell(
                    value=aggregate.estimate(draws), kind="points" if aggregate.of_points else "share"
                )
                for remark, n_here in _remarks(run, kept, measure, n=column.n):
                    fit.remarks.setdefault(remark, []).append(f"{column.name}{n_here}")
        cells.append(cell)
    fit.cells = tuple(cells)
    return fit


def measured_rows(run: Run, rows: Sequence[Row], measure: Measure) -> tuple[Sequence[Row], str]:
    """Return the trials that measured what a column holds, or why there are none.

    Args:
        run: the run.
        rows: its trials on questions of the column.
        measure: what the column holds.
    """
    if why := "; ".join(_unlike(run, measure)):
        return (), why
    kept, why = scored_alike(rows, parser=measure.parser, alike=measure.alike)
    if n_hidden := sum(row.item.is_hidden for row in rows):
        return (), f"{n_hidden:,} of {len(rows):,} answers are hidden, and the rest is another subset"
    if n_waiting := sum(row.score.scorer == WAITING for row in kept):
        return (), f"{n_waiting:,} of {len(kept):,} replies wait for a judge, and the rest is another subset"
    return kept, why


def scored_alike(rows: Sequence[Row], *, parser: Sequence[str], alike: str) -> tuple[Sequence[Row], str]:
    """Return the trials that were scored as a column states, or why there are none.

    Args:
        rows: trials on questions of the column.
        parser: permitted scorers; see `Measure`.
        alike: a tag in which they must agree, or empty.
    """
    groups = by_key(
        (row.item.tags.get(alike, "") if alike else "", row) for row in rows if not row.item.is_hidden
    )
    fitting = {value: some for value, some in groups.items() if not _strangers(some, parser)}
    if not groups:
        return (), "answers hidden"
    if len(fitting) > 1:
        return (), f"the run mixes {' and '.join(fitting)}, which the paper does not"
    if not fitting:
        by = dict.fromkeys(name for some in groups.values() for name in _strangers(some, parser))
        return (), f"the printed values are by {_named(parser)}, these by {', '.join(by)}"
    [kept] = fitting.values()
    return kept, ""


def _unlike(run: Run, measure: Measure) -> Iterator[str]:
    """Yield how the run differs from the printed values, apart from its scorer."""
    plan = run.plan
    if measure.split and plan.split not in measure.split:
        yield f"the printed values are of the split {' or '.join(measure.split)}, these of {plan.split}"
    if measure.style and is_asked(run) and plan.style not in measure.style:
        yield f"the printed values are of {' or '.join(measure.style)} prompts, these of {plan.style} ones"
    for tag, value in plan.where.items():
        if measure.where.get(tag) != (value,):
            yield f"the run was asked only questions with {tag}={value}"


def _strangers(rows: Sequence[Row], parsers: Sequence[str]) -> list[str]:
    """Return the scorers of these replies other than parsers and judges; pending replies have none."""
    by = dict.fromkeys(row.score.scorer for row in rows)
    return [name for name in by if name != WAITING and parsers and not is_one_of(name, parsers)]


def is_one_of(name: str, parsers: Sequence[str]) -> bool:
    """Whether a scorer is among these; `LETTERS` is any parser that reads choice letters."""
    if name in parsers:
        return True
    return LETTERS in parsers and name in ready("parser") and create("parser", name).reads_letters


def _named(parsers: Sequence[str]) -> str:
    return " or ".join("the letter of the reply" if name == LETTERS else name for name in parsers)


def is_by_rules(rows: Sequence[Row]) -> bool:
    """Whether no judge scored any of these replies."""
    return not any(row.score.verdicts for row in rows)


def _remarks(run: Run, rows: Sequence[Row], measure: Measure, *, n: int | None) -> Iterator[tuple[str, str]]:
    """Yield remarks on a value in a column of `n` questions, and additions to its name."""
    plan = run.plan
    n_here = len({row.item.item_id for row in rows})
    if measure.by_rules and is_by_rules(rows):
        yield measure.by_rules, ""
    part = [f"the first {plan.limit:,} questions"] if plan.limit is not None else []
    part += [f"{plan.sample:,} sampled questions"] if plan.sample is not None else []
    part += ["questions of a subset"] if plan.subset else []
    part += ["questions with a recorded reply"] if plan.recorded_only else []
    if part and n_here != n:
        yield f"only {' of the '.join(part)} were asked", f" {n_here:,}"


# --------------------------------------------------------------------------- the tables


def _with_ours(
    table: PublishedTable, ours: Sequence[TableRow], how: Sequence[str], *, noun: str, signs: dict[str, str]
) -> Table:
    """Add our rows to a printed table; `signs` are those of all tables of a report, by meaning."""
    own: dict[str, str] = {}
    printed = []
    for n, row in enumerate(table.rows):
        first, *others = [printed_cell(cell, own, signs) for cell in row.cells]
        detail = first.detail or ""
        printed.append(
            TableRow(key=f"printed:{n}", label=str(first.value), detail=detail, values=tuple(others))
        )
    first_column, *columns = [
        Column(key=f"column:{i}", title=c.name, note=c.means, kind="text" if c.kind == "text" else "number")
        for i, c in enumerate(table.columns)
    ]
    source = ", ".join(filter(None, (table.source.paper, table.source.where)))
    videos = videos_row(ours, columns, label=f"{noun}s of ours")
    return Table(
        name=f"published:{table.name}",
        title=f"{table.title}: as printed, and ours",
        note=f"Printed values are from {source}. Ours stand below, with their intervals. "
        f"{PROBLEM}: arithmetic contradicts the printed value; {REMARK}: a remark.",
        label=first_column,
        columns=tuple(columns),
        rows=(*printed, *ours, *([] if videos is None else [videos])),
        footnotes=(*how, *table.notes, *(f"{sign} {says}" for says, sign in own.items())),
    )


def printed_cell(cell: PublishedCell, footnotes: dict[str, str], signs: dict[str, str]) -> Cell:
    """Add footnote signs to a printed cell.

    Args:
        cell: the cell.
        footnotes: those of its table, extended with new ones.
        signs: those of all tables that share signs, extended with new ones.
    """
    for flag in cell.flags:
        sign = f"{PROBLEM if flag.is_problem else REMARK}{len(signs) + 1}"
        footnotes[flag.says] = signs.setdefault(flag.says, sign)
    detail = " ".join(dict.fromkeys(footnotes[flag.says] for flag in cell.flags))
    return Cell(value=DASH if is_blank(cell.text) else cell.text, detail=detail)


def _apart(
    runs: Sequence[Run],
    labels: Sequence[str],
    apart: Sequence[tuple[int, PublishedTable, _Fit]],
    *,
    draws: Draws,
) -> Table:
    """Return a table of the runs that fit no column, with the reasons."""
    headlines: Mapping[int, Cell] = {
        i: Cell(value=headline_accuracy(runs[i], draws=draws), kind="share")
        for i in dict.fromkeys(i for i, *_ in apart)
    }
    return Table(
        name=APART,
        title="Runs without a printed row",
        note="These runs measured something other than what the table prints.",
        label=Column(key="name", title="model"),
        columns=(
            Column(key="score", title="score", kind="share", note="the headline of the run"),
            Column(key="table", title="table", kind="text"),
            Column(key="why", title="why not there", kind="text"),
        ),
        rows=tuple(
            TableRow(
                key=f"apart:{i}:{table.name}",
                label=labels[i],
                values=(headlines[i], table.name, "; ".join(fit.reasons)),
            )
            for i, table, fit in apart
        ),
        footnotes=tuple(asked_sentences((runs[i], labels[i]) for i in headlines)),
    )
