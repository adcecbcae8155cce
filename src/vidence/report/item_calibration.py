"""What the replies of many runs say of each question: its difficulty, its discrimination, its key."""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import numpy as np

from vidence.engine.samples import question_digest, read_made
from vidence.errors import UsageError
from vidence.records import Estimate, Item, Record
from vidence.report.pairing import PairedRuns, pair
from vidence.report.results import Run
from vidence.statistics.item_response import (
    DOUBTFUL,
    LEAST_RUNS,
    calibrate,
    falling,
)
from vidence.tables.table import (
    Measure,
    Table,
    lines,
    number,
    p_value,
    percent,
    several,
    share,
    tabulate,
)

FORMAT: Literal["vidence-items/1"] = "vidence-items/1"
_MOST_LISTED = 10
_Z = 1.959964
_SIMULATED = 5  # sets of replies


class CalibratedItem(Record):
    """A question with what its replies say; `p_value` is that of right answers not falling with ability."""

    item_id: str
    digest: str
    difficulty: Estimate
    discrimination: Estimate
    right: float
    p_value: float

    @property
    def is_doubtful(self) -> bool:
        """Whether its key should be looked at."""
        return self.p_value < DOUBTFUL

    @property
    def doubt(self) -> str:
        """Why its key is doubtful, as a sentence."""
        return (
            f"right answers ({percent(self.right)} %) fall as the ability of models rises (p "
            f"{self.p_value:.2g}): the key may be wrong, or the question a trap"
        )


class Calibration(Record):
    """The calibration of a set: doubtful keys first, then from the hardest question to the easiest.

    `runs` are the names of those that calibrated. `false_alarms` is the share of questions with right keys
    that look doubtful in a simulation of these runs.
    """

    format: Literal["vidence-items/1"] = FORMAT
    benchmark: str
    runs: tuple[str, ...]
    items: tuple[CalibratedItem, ...]
    false_alarms: float


def paired_replies(runs: Sequence[Run], *, shared: bool = False) -> PairedRuns:
    """Runs on the same questions, as many as single questions need; see `pairing.pair`.

    Raises:
        UsageError: fewer than `LEAST_RUNS`, or what `pair` refuses.
    """
    if len(runs) < LEAST_RUNS:
        raise UsageError(
            f"{several(len(runs), 'run')} given; expected {LEAST_RUNS} or more on the same questions, "
            "since fewer say too little of a question. `vidence import` makes runs of recorded replies"
        )
    return pair(runs, shared=shared)


def calibrated(paired: PairedRuns, *, rng: np.random.Generator) -> Calibration:
    """Calibrate every question, and test its key.

    Args:
        paired: the runs, of `paired_replies`.
        rng: where the draws of the test and of the simulation come from.
    """
    found = calibrate(paired.values)
    p_values = falling(paired.values, found.ability, rng=rng)
    clean = [falling(found.drawn(rng), found.ability, rng=rng) for _ in range(_SIMULATED)]

    def estimate(value: float, error: float) -> Estimate:
        return Estimate(
            value=value,
            low=value - _Z * error,
            high=value + _Z * error,
            level=0.95,
            n=len(paired.names),
            n_clusters=1,
            method="two-parameter logistic model",
            clustered_by=paired.noun,
        )

    items = [
        CalibratedItem(
            item_id=item.item_id,
            digest=question_digest(item),
            difficulty=estimate(float(found.difficulty[i]), float(found.difficulty_error[i])),
            discrimination=estimate(float(found.discrimination[i]), float(found.discrimination_error[i])),
            right=float(paired.values[i].mean()),
            p_value=float(p_values[i]),
        )
        for i, item in enumerate(paired.items)
    ]
    items.sort(key=lambda i: (not i.is_doubtful, i.p_value if i.is_doubtful else -i.difficulty.value))
    return Calibration(
        benchmark=paired.runs[0].plan.benchmark,
        runs=paired.names,
        items=tuple(items),
        false_alarms=float((np.array(clean) < DOUBTFUL).mean()),
    )


def read_calibration(path: Path) -> Calibration:
    """What ``vidence items calibrate`` wrote; see `read_made`."""
    return read_made(path, Calibration, what="calibration", by="items calibrate")[0]


def doubts(found: Calibration, items: Sequence[Item]) -> dict[str, str]:
    """Why the keys of some questions are doubtful, by their ids.

    Raises:
        UsageError: none of the questions is one that was calibrated.
    """
    known = {one.item_id: one for one in found.items}
    same = [i for i in items if i.item_id in known and known[i.item_id].digest == question_digest(i)]
    if not same:
        raise UsageError(
            f"none of these {len(items):,} questions is one of the {len(known):,} that were calibrated, or "
            "each has another text, choices or answer now; calibrate runs on these questions"
        )
    return {i.item_id: known[i.item_id].doubt for i in same if known[i.item_id].is_doubtful}


def sentences(found: Calibration) -> tuple[str, ...]:
    """What was calibrated, and how many keys are doubtful."""
    n, n_runs = len(found.items), len(found.runs)
    n_doubtful = sum(one.is_doubtful for one in found.items)
    first = f"{n:,} questions calibrated by {n_runs} runs."
    if not n_doubtful and math.comb(n_runs, n_runs // 2) * DOUBTFUL < 1:
        return (
            first,
            f"{n_runs} runs cannot make a key doubtful (p below {DOUBTFUL}) by right or wrong; 9 can.",
        )
    return (
        first,
        f"{several(n_doubtful, 'key')} doubtful: right answers fall as ability rises (p below {DOUBTFUL}). "
        f"Were every key right, about {found.false_alarms * n:.0f} would be by chance (simulated with these "
        f"runs; {DOUBTFUL * n:.0f} if ability did not matter).",
    )


def tables(found: Calibration) -> tuple[Table, ...]:
    """The doubtful keys, and the hardest of the other questions."""
    doubtful = [one for one in found.items if one.is_doubtful]
    others = found.items[len(doubtful) :]
    measures: tuple[Measure[CalibratedItem], ...] = (
        share("right", lambda one: one.right, note="mean of the runs"),
        number("difficulty", lambda one: one.difficulty, note="log-odds of a wrong answer at mean ability"),
        number("discrimination", lambda one: one.discrimination, note="log-odds for each unit of ability"),
        p_value("p", lambda one: one.p_value, note="of right answers not falling with ability"),
    )
    listed = (
        ("doubtful", "Keys that are doubtful", doubtful),
        ("hardest", "The hardest of the other questions", others),
    )
    made = [
        tabulate(
            f"items-{name}",
            title,
            label="question",
            rows=lines((one.item_id, one) for one in some[:_MOST_LISTED]),
            measures=measures,
            notes=(f"The first {_MOST_LISTED} of {len(some):,}." if len(some) > _MOST_LISTED else "",),
        )
        for name, title, some in listed
    ]
    return tuple(table for table in made if table.rows)
