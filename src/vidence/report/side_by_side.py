"""Several runs side by side: the same tables, one column per run."""

from collections.abc import Sequence

from vidence.catalog import parse_spec
from vidence.report.results import OUTCOMES, Run
from vidence.tables.cells import DASH, Cell, Column, Line, Table, words

_ABSENT = Cell(text=DASH)


_ENDINGS = (".gz", ".jsonl", ".json", ".csv")


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
    names = run_names(runs)
    columns = tuple(Column(key=f"run:{i}", title=name) for i, name in enumerate(names))
    compared = [_overview(runs, [some[0] for some in tables], columns)]
    by_name = [{table.name: table for table in some} for some in tables]
    for table_name in dict.fromkeys(table.name for some in tables for table in some):
        compared.append(_accuracies(table_name, [found.get(table_name) for found in by_name], columns))
    return tuple(compared)


def _overview(runs: Sequence[Run], scores: Sequence[Table], columns: tuple[Column, ...]) -> Table:
    rows = {"accuracy": "accuracy, %", "items": "questions", "videos": "videos", "chance": "chance, %"}
    rows |= {"constant": "always one letter, %"} | {name: name for name in OUTCOMES}
    lines = [Line(key="parser", cells=(words("parser"), *(words(run.parser) for run in runs)))]
    lines += [
        Line(key=key, cells=(words(title), *(score.cell("headline", key) for score in scores)))
        for key, title in rows.items()
    ]
    first = Column(key="name", title="", is_text=True)
    return Table(
        name="runs",
        title="Overview",
        columns=(first, *columns),
        lines=tuple(lines),
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
    labels = {line.key: line.cells[0] for table in known for line in table.lines}
    cells = [{} if t is None else {line.key: t.cell(line.key, "accuracy") for line in t.lines} for t in found]
    lines = [
        Line(key=key, cells=(label, *(of_run.get(key, _ABSENT) for of_run in cells)))
        for key, label in labels.items()
    ]
    first = known[0].columns[0]
    return Table(
        name=f"runs:{name}",
        title=f"{known[0].title}: accuracy, %",
        columns=(first, *columns),
        lines=tuple(lines),
    )
