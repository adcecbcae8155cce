"""Several runs side by side: the same tables with a column for each run, and the best of several budgets."""

from collections.abc import Sequence

import msgspec

from vidence.catalog import parse_spec
from vidence.report.results import OUTCOMES, Run
from vidence.report.scores import Draws, accuracy
from vidence.tables.table import Cell, Column, Table
from vidence.tables.table import Row as TableRow

_ENDINGS = (".gz", ".jsonl", ".json", ".csv")
# Of a plan, what two runs may differ in and still be the same but for their budget.
_MAY_DIFFER = {
    *("format", "protocol", "n_frames", "data", "memory", "concurrency", "timeout_s", "attempts"),
    *("decode_timeout_s", "max_cost", "price_in", "price_out", "judge_price_in", "judge_price_out"),
}


def run_names(runs: Sequence[Run]) -> tuple[str, ...]:
    """A different name for each run: the model without its options and folders.

    Those that have it in common get the name of their folder too, and then a number.
    """
    names = [_short(run.plan.model) for run in runs]
    names = [f"{n} ({run.name})" if names.count(n) > 1 else n for n, run in zip(names, runs, strict=True)]
    return tuple(
        f"{n.removesuffix(')')}, {i})" if names.count(n) > 1 else n for i, n in enumerate(names, start=1)
    )


def _short(model: str) -> str:
    spec = parse_spec(model)
    argument = spec.argument.rpartition("/")[2]
    for ending in _ENDINGS:
        argument = argument.removesuffix(ending)
    return f"{spec.name}:{argument}" if argument else spec.name


def side_by_side(runs: Sequence[Run], tables: Sequence[Sequence[Table]]) -> tuple[Table, ...]:
    """The headline figures of all runs, then the accuracies of every score table.

    Args:
        runs: the runs.
        tables: for each run its score tables, the one named ``score`` first.
    """
    columns = tuple(Column(key=f"run:{i}", title=name) for i, name in enumerate(run_names(runs)))
    by_name = [{table.name: table for table in some} for some in tables]
    names = dict.fromkeys(name for found in by_name for name in found)
    return (
        _overview(runs, [some[0] for some in tables], columns),
        *(_accuracies(name, [found.get(name) for found in by_name], columns) for name in names),
    )


def _overview(runs: Sequence[Run], scores: Sequence[Table], columns: tuple[Column, ...]) -> Table:
    labels = {"accuracy": "accuracy, %", "items": "questions", "videos": "videos", "chance": "chance, %"}
    labels |= {"constant": "always one letter, %"} | {name: name for name in OUTCOMES}
    rows = [TableRow(key="parser", label="parser", values=tuple(run.parser for run in runs))]
    rows += [
        TableRow(key=key, label=label, values=tuple(score.cell("headline", key) for score in scores))
        for key, label in labels.items()
    ]
    return Table(
        name="runs",
        title="Overview",
        label=Column(key="name", title=""),
        columns=columns,
        rows=tuple(rows),
        note=_same_questions(runs),
    )


def _same_questions(runs: Sequence[Run]) -> str:
    asked = [{(row.item.item_id, row.item.question) for row in run.rows} for run in runs]
    shared = set.intersection(*asked)
    if all(len(some) == len(shared) for some in asked):
        return f"All runs have trials on the same {len(shared):,} questions."
    sizes = ", ".join(f"{len(some):,}" for some in asked)
    return (
        f"The runs have trials on different questions ({sizes}; {len(shared):,} are shared by all), "
        "so their scores are not comparable as they stand."
    )


def _accuracies(name: str, found: Sequence[Table | None], columns: tuple[Column, ...]) -> Table:
    known = [table for table in found if table is not None]
    labels = {row.key: row for table in known for row in table.rows}
    cells = [{} if t is None else {row.key: t.cell(row.key, "accuracy") for row in t.rows} for t in found]
    return Table(
        name=f"runs:{name}",
        title=f"{known[0].title}: accuracy, %",
        label=known[0].label,
        columns=columns,
        rows=tuple(
            TableRow(
                key=key,
                label=row.label,
                detail=row.detail,
                values=tuple(of_run.get(key, Cell()) for of_run in cells),
            )
            for key, row in labels.items()
        ),
    )


# --------------------------------------------------------------------------- frame budgets


def budget_table(runs: Sequence[Run], *, draws: Draws) -> Table | None:
    """One row for each model that was asked the same with several numbers of frames; None without such.

    The best is that of the headline. It has no interval: a choice among budgets on the questions that are
    reported makes it too good, by how much is not known.

    Args:
        runs: two runs or more.
        draws: where the draws of the intervals come from.
    """
    groups: dict[str, list[int]] = {}
    for i, run in enumerate(runs):
        groups.setdefault(_key(run), []).append(i)
    kept = [some for some in groups.values() if len({runs[i].plan.n_frames for i in some}) > 1]
    if not kept:
        return None
    budgets = sorted({runs[i].plan.n_frames for some in kept for i in some})
    names = run_names([runs[some[0]] for some in kept])
    group = "fixed budget, %"
    return Table(
        name="budgets",
        title="Best of several frame budgets",
        note="The last column takes the best budget of each model, chosen on the very questions that are "
        "reported, as HumanPCR does for Human-R. It is too good a score by construction: compare it with "
        "other bests of the same budgets only, never with a fixed budget.",
        label=Column(key="name", title="model"),
        columns=(
            *(Column(key=f"n:{n}", title=f"{n} frames", kind="share", group=group) for n in budgets),
            Column(key="best", title="best of budgets", kind="share", note="chosen on the test questions"),
        ),
        rows=tuple(
            _budget_row(name, {runs[i].plan.n_frames: runs[i] for i in some}, budgets, draws=draws)
            for name, some in zip(names, kept, strict=True)
        ),
    )


def _key(run: Run) -> str:
    """What must be the same: the plan but for the budget, and the questions."""
    built: dict[str, object] = msgspec.to_builtins(run.plan)
    kept = {name: value for name, value in built.items() if name not in _MAY_DIFFER}
    return msgspec.json.encode([kept, run.facts.content_hash, run.parser], order="sorted").decode()


def _budget_row(name: str, by_budget: dict[int, Run], budgets: Sequence[int], *, draws: Draws) -> TableRow:
    found = {n: accuracy(run.rows, run.plan.headline, draws=draws) for n, run in by_budget.items()}
    known = {n: estimate.value for n, estimate in found.items() if estimate is not None}
    best = Cell()
    if known:
        chosen = max(known, key=lambda n: (known[n], -n))
        listed = ", ".join(map(str, sorted(by_budget)))
        best = Cell(value=known[chosen], detail=f"{chosen} frames, of {listed}")
    return TableRow(key=name, label=name, values=(*(found.get(n) for n in budgets), best))
