"""Laws of auditing printed tables: what was counted honestly is never called impossible."""

from decimal import ROUND_DOWN, ROUND_HALF_EVEN, ROUND_HALF_UP, Decimal

from hypothesis import given
from hypothesis import strategies as st

from vidence.explain.published.printed_tables import (
    ColumnRule,
    Notes,
    PublishedTable,
    read_table,
    with_n,
    with_rules,
)
from vidence.explain.published.table_audit import audited, problems

ROUNDINGS = (ROUND_HALF_UP, ROUND_HALF_EVEN, ROUND_DOWN)


def table_of(header: list[str], rows: list[list[str]]) -> PublishedTable:
    text = "\n".join(",".join(line) for line in [header, *rows])
    return read_table(text, name="t", where="t.csv", notes=Notes())


def shown(k: int, n: int, digits: int, rounding: str) -> str:
    return str((Decimal(100 * k) / Decimal(n)).quantize(Decimal(1).scaleb(-digits), rounding=rounding))


@st.composite
def honest_rows(draw: st.DrawFn) -> tuple[PublishedTable, bool]:
    """A table of parts and their whole, printed by one rounding; whether digits were rounded, not cut off."""
    sizes = draw(st.lists(st.integers(1, 600), min_size=1, max_size=4))
    digits, rounding = draw(st.integers(0, 3)), draw(st.sampled_from(ROUNDINGS))
    counts = [draw(st.integers(0, n)) for n in sizes]
    parts = [f"p{i}" for i in range(len(sizes))]
    cells = [shown(k, n, digits, rounding) for k, n in zip(counts, sizes, strict=True)]
    whole = shown(sum(counts), sum(sizes), digits, rounding)
    table = table_of(["model", *parts, "all"], [["X", *cells, whole]])
    table = with_n(table, dict(zip(parts, sizes, strict=True)) | {"all": sum(sizes)}, where="here")
    rules = [ColumnRule(rule="sum", total="all", of=tuple(parts))]
    return with_rules(table, rules, where="here"), rounding != ROUND_DOWN


@given(honest_rows())
def test_a_table_of_true_counts_has_no_problem(made):
    table, is_rounded = made
    checked = audited(table)
    assert list(problems(checked)) == []
    if is_rounded:
        assert all(not cell.flags for row in checked.rows for cell in row.cells)


@given(honest_rows())
def test_an_audit_changes_no_printed_text_and_finds_the_same_twice(made):
    table, _ = made
    checked = audited(table)
    assert [[c.text for c in row.cells] for row in checked.rows] == [
        [c.text for c in row.cells] for row in table.rows
    ]
    assert audited(table) == checked


@given(st.integers(2, 999), st.integers(0, 3), st.data())
def test_a_value_between_two_counts_is_always_found(n, digits, data):
    step = Decimal(1).scaleb(-digits)
    possible = {shown(k, n, digits, rounding) for k in range(n + 1) for rounding in ROUNDINGS}
    value = str((data.draw(st.integers(0, 100 * 10**digits)) * step).quantize(step))
    table = with_n(table_of(["model", "a"], [["X", value]]), {"a": n}, where="here")
    assert bool(list(problems(audited(table)))) == (value not in possible)
