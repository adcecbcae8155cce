"""Audit a printed table: counts that no number of right answers gives, sums and means that do not fit.

The arithmetic is that of `grim` beside this file; here it is put to every cell, and what it
finds is said in words.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction

import msgspec

from vidence.explain.published.grim import (
    Implied,
    audit_row,
    check_mean,
    check_sum,
    fitting,
    implied,
    nearby_sizes,
    printed,
    shared_rules,
)
from vidence.explain.published.printed_tables import (
    ColumnRule,
    Flag,
    FlagKind,
    PublishedColumn,
    PublishedRow,
    PublishedTable,
    RowRule,
    is_blank,
    number,
)
from vidence.records import Record

_REACH = 2  # numbers of questions this near are tried, to say what an impossible value could be
Flags = dict[str, list[Flag]]  # by column, within one row


class Coverage(Record):
    """What an audit could say of the columns of per cent.

    `checked` are those where some values are possible and others not, `vacuous` those with so many
    questions that every printed value is possible, `unknown` those without a known number of questions.
    """

    checked: tuple[str, ...]
    vacuous: tuple[str, ...]
    unknown: tuple[str, ...]


def audited(table: PublishedTable) -> PublishedTable:
    """The table with what arithmetic has against its cells, behind the remarks that are there already."""
    found: dict[str, Flags] = {row.name: defaultdict(list) for row in table.rows}
    for row in table.rows:
        _audit_one(table, row, found[row.name])
    for rule in table.row_rules:
        _audit_total_row(table, rule, found[rule.total])
    rows = []
    for row in table.rows:
        cells = tuple(
            msgspec.structs.replace(cell, flags=(*cell.flags, *found[row.name].get(column.name, ())))
            for column, cell in zip(table.columns, row.cells, strict=True)
        )
        rows.append(msgspec.structs.replace(row, cells=cells))
    return msgspec.structs.replace(table, rows=tuple(rows))


def coverage(table: PublishedTable) -> Coverage:
    """Which columns the audit can say something of."""
    by_kind: dict[str, list[str]] = {"checked": [], "vacuous": [], "unknown": []}
    for column in table.columns:
        if column.kind == "percent":
            known = [
                (figure, n)
                for row in table.rows
                if (figure := _percentage(table.text(row, column.name))) is not None
                and (n := table.n(row, column)) is not None
            ]
            # With a step of s per cent and n questions, every value is possible once 100 / n <= s.
            tells = any(printed(figure).step * n < 100 for figure, n in known)
            by_kind["checked" if tells else "vacuous" if known else "unknown"].append(column.name)
    return Coverage(**{kind: tuple(names) for kind, names in by_kind.items()})


def problems(table: PublishedTable) -> Iterator[tuple[PublishedRow, PublishedColumn, Flag]]:
    """Each flag that is a problem, with its row and column, in the order of the table."""
    for row in table.rows:
        for column, cell in zip(table.columns, row.cells, strict=True):
            for flag in cell.flags:
                if flag.is_problem:
                    yield row, column, flag


# --------------------------------------------------------------------------- one row


def _audit_one(table: PublishedTable, row: PublishedRow, flags: Flags) -> None:
    for column, cell in zip(table.columns, row.cells, strict=True):
        if trouble := _unreadable(column, cell.text):
            flags[column.name].append(trouble)
    rules = [rule for rule in table.rules if _holds(rule, row)]
    sums = [rule for rule in rules if rule.rule == "sum"]
    cells = _counts(table, row, sums, flags=flags)
    for rule in sums:
        _audit_sum(rule, cells, flags)
    for rule in rules:
        if rule.rule != "sum":
            check = _mean_of_row if rule.rule == "mean" else _derived
            flags[rule.total] += check(table, row, rule)


def _holds(rule: ColumnRule, row: PublishedRow) -> bool:
    """Whether the rule is about this row: one that is named, else any, but for means of summaries."""
    return row.name in rule.rows if rule.rows else rule.rule != "mean" or row.kind != "summary"


def _percentage(text: str) -> str | None:
    """The cell as plain digits, None where it is no number from 0 to 100."""
    figure = number(text)
    return figure if figure is not None and 0 <= Fraction(figure) <= 100 else None


def _unreadable(column: PublishedColumn, text: str) -> Flag | None:
    if column.kind == "text" or is_blank(text):
        return None
    figure = number(text)
    if figure is None:
        is_cut = text.endswith(".") and text[:-1].isdecimal()
        says = "digits are lost behind the point" if is_cut else f"{text!r} is no number"
        return Flag(kind="unreadable", says=says)
    if column.kind == "percent" and _percentage(text) is None:
        return Flag(kind="impossible", says="not between 0 and 100 per cent")
    return None


def _counts(
    table: PublishedTable, row: PublishedRow, sums: Sequence[ColumnRule], *, flags: Flags
) -> dict[str, Implied]:
    """What stands behind each cell of a row; flags what is impossible or in the wrong place."""
    values: dict[str, str] = {}
    sizes: dict[str, int] = {}
    for column in table.columns:
        figure = _percentage(table.text(row, column.name)) if column.kind == "percent" else None
        n = table.n(row, column)
        if figure is not None and n is not None:
            values[column.name] = figure
            sizes[column.name] = n - _n_fewer(figure, n, row.missing)
            if sizes[column.name] < n:
                flags[column.name].append(_fewer(figure, n, sizes[column.name]))
    sources: dict[str, str] = {}
    for rule in sums:
        if set(rule.of) <= set(values):
            parts = {part: values[part] for part in rule.of}
            whole = (values[rule.total], sizes[rule.total]) if rule.total in values else None
            sources |= _audit_places(parts, sizes, whole, flags=flags)
    cells: dict[str, Implied] = {}
    for name, figure in values.items():
        found = cells[name] = implied(values[sources.get(name, name)], sizes[name])
        if name in sources:
            continue
        if not found.all:
            parts_of = [rule.of for rule in sums if name in rule.of]
            peers = {peer: sizes[peer] for of in parts_of for peer in of if peer != name and peer in sizes}
            flags[name].append(_impossible(figure, sizes[name], peers))
    _audit_rounding(cells, moved=frozenset(sources), flags=flags)
    return cells


def _audit_rounding(cells: Mapping[str, Implied], *, moved: frozenset[str], flags: Flags) -> None:
    """Flag values that were cut off: harmless where the whole row can have been, else a contradiction."""
    rounded = next((name for name, cell in cells.items() if cell.nearest and not cell.truncated), None)
    for name, cell in cells.items():
        if name in moved or cell.verdict != "truncated only":
            continue
        k = cell.truncated[0]
        says = f"{k:,} of {cell.n:,} are {_as_printed(k, cell)}: cut off, not rounded"
        if rounded is not None:
            says = f"{says} as {rounded} is"
        flags[name].append(Flag(kind="last digit" if rounded is None else "rounding", says=says))


def _n_fewer(figure: str, n: int, missing: int) -> int:
    """How many questions the row must lack for the value to be possible; 0 where that does not help."""
    possible = (i for i in range(min(missing, n - 1) + 1) if implied(figure, n - i).all)
    return next(possible, 0)


def _fewer(figure: str, n: int, size: int) -> Flag:
    k = implied(figure, size).all[0]
    return Flag(kind="fewer", says=f"{k:,} of {size:,}: {n - size:,} fewer than the {n:,} of the column")


def _as_printed(k: int, like: Implied) -> str:
    """The share of `k` with as many digits as a printed value."""
    n_digits = len(like.text.partition(".")[2])
    return f"{100 * k / like.n:.{n_digits}f}"


def _impossible(figure: str, n: int, peers: Mapping[str, int]) -> Flag:
    found = implied(figure, n)
    below = int(Fraction(figure) * n / 100)
    near = " and ".join(f"{k:,} are {_as_printed(k, found)}" for k in (below, below + 1) if k <= n)
    sizes = {f"{peers[peer]:,} ({peer})": peers[peer] for peer in fitting(figure, peers)}
    sizes |= {f"{size:,}": size for size in nearby_sizes(figure, n, reach=_REACH)}
    fits = " or ".join(f"{implied(figure, size).all[0]:,} of {said}" for said, size in sizes.items())
    return Flag(kind="impossible", says=f"no share of {n:,}: {near}{f'; it fits {fits}' if fits else ''}")


def _audit_places(
    values: Mapping[str, str], sizes: Mapping[str, int], whole: tuple[str, int] | None, *, flags: Flags
) -> dict[str, str]:
    """For each column the one where its value seems to be printed, where exactly one way makes all fit."""
    audit = audit_row(values, sizes)
    moves = audit.moves
    if whole is not None and len(moves) > 1:
        least = min(len(move.sources) for move in moves)
        both = audit_row(values, sizes, whole=whole).moves
        moves = tuple(m for m in both if m.adds_up and len(m.sources) == least) or moves
    if len(moves) > 1:
        for column, cell in audit.cells.items():
            if not cell.all:
                says = f"the row would fit in {len(moves)} other orders of its values"
                flags[column].append(Flag(kind="swapped", says=says))
    if len(moves) != 1:
        return {}
    sources = moves[0].sources
    for column, source in sources.items():
        found = implied(values[source], sizes[column])
        says = f"looks like the value of {column}: {found.all[0]:,} of {found.n:,}"
        if not audit.cells[source].all:
            says = f"no share of {sizes[source]:,}; {says}"
        flags[source].append(Flag(kind="swapped", says=says))
    return sources


# --------------------------------------------------------------------------- rules


def _audit_sum(rule: ColumnRule, cells: Mapping[str, Implied], flags: Flags) -> None:
    if not {rule.total, *rule.of} <= set(cells):
        return
    total, parts = cells[rule.total], [cells[part] for part in rule.of]
    if check_sum(parts, total).is_possible:
        return
    low, high = sum(part.low for part in parts), sum(part.high for part in parts)
    # Without one rule for all (flagged at the values) any will do; by one that does not add up, none does.
    is_one_rule = bool(shared_rules((*parts, total)))
    if not total.all or (not is_one_rule and any(low <= k <= high for k in total.all)):
        return
    n_parts = sum(part.n for part in parts)
    nearest = [part for part in rule.of if not cells[part].all]
    guess = f", with the nearest count for {', '.join(nearest)}" if nearest else ""
    names = f"{rule.of[0]} to {rule.of[-1]}" if len(rule.of) > 2 else " and ".join(rule.of)
    says = (
        f"{_span(total.low, total.high)} of {total.n:,}, but {names} add up to {_span(low, high)} of "
        f"{n_parts:,}{guess}"
    )
    flags[rule.total].append(Flag(kind="sum", says=says))


def _span(low: int, high: int) -> str:
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


def _mean_of_row(table: PublishedTable, row: PublishedRow, rule: ColumnRule) -> list[Flag]:
    total = _percentage(table.text(row, rule.total))
    parts = [_percentage(table.text(row, part)) for part in rule.of]
    given = [part for part in parts if part is not None]
    if total is None or len(given) < len(parts):
        return []
    return _mean_flags(given, total, weights=rule.weights, of=f"{len(given)} columns of the row")


def _mean_flags(parts: Sequence[str], total: str, *, weights: Sequence[int], of: str) -> list[Flag]:
    check = check_mean(parts, total, weights=weights or None)
    if check.is_possible:
        return []
    kind: FlagKind = "mean"
    how = "with weights" if weights else "each alike"
    says = f"{of} average {check.recomputed:.{len(total.partition('.')[2]) + 1}f}, {how}"
    if check_mean(parts, total, weights=weights or None, is_truncated=True).is_possible:
        kind, says = "last digit", f"{says}: cut off, not rounded"
    return [Flag(kind=kind, says=says)]


def _range(column: PublishedColumn, text: str) -> tuple[Fraction, Fraction] | None:
    """The least and the greatest number that prints so; a whole number that is no per cent is exact."""
    figure = number(text)
    if figure is None:
        return None
    decimals = len(figure.partition(".")[2])
    half = Fraction(0) if column.kind == "number" and not decimals else Fraction(1, 2 * 10**decimals)
    return Fraction(figure) - half, Fraction(figure) + half


def _derived(table: PublishedTable, row: PublishedRow, rule: ColumnRule) -> list[Flag]:
    """What is wrong with a ratio or difference of two others in its row."""
    names = (rule.total, *rule.of)
    ranges = [_range(table.columns[table.position(name)], table.text(row, name)) for name in names]
    known = [one for one in ranges if one is not None]
    if len(known) < len(names):
        return []
    (least, greatest), (of_low, of_high), (by_low, by_high) = known
    if rule.rule == "difference":
        low, high, what = of_low - by_high, of_high - by_low, "less"
    elif by_low > 0:
        low, high, what = 100 * of_low / by_high, 100 * of_high / by_low, "in per cent of"
    else:
        return []
    if least <= high and greatest >= low:
        return []
    kind: FlagKind = "difference" if rule.rule == "difference" else "ratio"
    return [Flag(kind=kind, says=f"{names[1]} {what} {names[2]} is {float((low + high) / 2):.2f}")]


def _audit_total_row(table: PublishedTable, rule: RowRule, flags: Flags) -> None:
    total = next(row for row in table.rows if row.name == rule.total)
    rows = [row for row in table.rows if row.kind == "model" and row != total]
    for name in rule.columns or [column.name for column in table.columns if column.kind != "text"]:
        figure = number(table.text(total, name))
        parts = [number(table.text(row, name)) for row in rows]
        given = [part for part in parts if part is not None]
        if figure is None or len(given) < len(parts) or not given:
            continue
        if rule.rule == "sum":
            summed = sum((Fraction(part) for part in given), Fraction(0))
            if summed != Fraction(figure):
                says = f"the {len(given)} rows add up to {float(summed):,g}"
                flags[name].append(Flag(kind="sum", says=says))
        elif all(0 <= Fraction(one) <= 100 for one in (figure, *given)):
            weights = (
                [int(number(table.text(row, rule.weights)) or 0) for row in rows] if rule.weights else []
            )
            flags[name].extend(_mean_flags(given, figure, weights=weights, of=f"{len(given)} rows"))
