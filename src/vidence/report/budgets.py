"""The best of several frame budgets, apart from the fixed ones: it is chosen on the test questions."""

from collections.abc import Sequence

import msgspec

from vidence.report.measured import accuracy
from vidence.report.paper_shaped import Drawn
from vidence.report.results import Run
from vidence.report.side_by_side import run_names
from vidence.tables.cells import DASH, Cell, Column, Line, Table, estimated, percent, words

# Of a plan, what two runs may differ in and still be the same but for their budget.
_MAY_DIFFER = {
    *("format", "protocol", "n_frames", "data", "memory", "concurrency", "timeout_s", "attempts"),
    *("decode_timeout_s", "max_cost", "price_in", "price_out", "judge_price_in", "judge_price_out"),
}


def budget_table(runs: Sequence[Run], *, drawn: Drawn) -> Table | None:
    """One line for each model that was asked the same with several numbers of frames; None without such.

    The best is that of the headline. It has no interval: a choice among budgets on the questions that are
    reported makes it too good, by how much is not known.

    Args:
        runs: two runs or more.
        drawn: where the draws of the intervals come from.
    """
    groups: dict[str, list[int]] = {}
    for i, run in enumerate(runs):
        groups.setdefault(_key(run), []).append(i)
    kept = [some for some in groups.values() if len({runs[i].plan.n_frames for i in some}) > 1]
    if not kept:
        return None
    budgets = sorted({runs[i].plan.n_frames for some in kept for i in some})
    names = run_names([runs[some[0]] for some in kept])
    return Table(
        name="budgets",
        title="Best of several frame budgets",
        note="The last column takes the best budget of each model, chosen on the very questions that are "
        "reported, as HumanPCR does for Human-R. It is too good a score by construction: compare it with "
        "other bests of the same budgets only, never with a fixed budget.",
        columns=(
            Column(key="name", title="model", is_text=True),
            *(Column(key=f"n:{n}", title=f"{n} frames", group="fixed budget, %") for n in budgets),
            Column(key="best", title="best of budgets, %", note="chosen on the test questions"),
        ),
        lines=tuple(
            _line(name, {runs[i].plan.n_frames: runs[i] for i in some}, budgets, drawn=drawn)
            for name, some in zip(names, kept, strict=True)
        ),
    )


def _key(run: Run) -> str:
    """What must be the same: the plan but for the budget, and the questions."""
    built: dict[str, object] = msgspec.to_builtins(run.plan)
    kept = {name: value for name, value in built.items() if name not in _MAY_DIFFER}
    return msgspec.json.encode([kept, run.facts.content_hash, run.parser], order="sorted").decode()


def _line(name: str, by_budget: dict[int, Run], budgets: Sequence[int], *, drawn: Drawn) -> Line:
    found = {
        n: accuracy(run.rows, run.plan.headline, rng=drawn.fresh(), level=drawn.level)
        for n, run in by_budget.items()
    }
    known = {n: estimate for n, estimate in found.items() if estimate is not None}
    cells = [estimated(known[n]) if n in known else Cell(text=DASH) for n in budgets]
    best = Cell(text=DASH)
    if known:
        chosen = max(known, key=lambda n: (known[n].value, -n))
        best = Cell(
            text=percent(known[chosen].value),
            detail=f"{chosen} frames, of {', '.join(map(str, sorted(by_budget)))}",
            value=known[chosen].value,
        )
    return Line(key=name, cells=(words(name), *cells, best))
