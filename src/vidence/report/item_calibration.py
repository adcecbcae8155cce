"""What the replies of many runs say of each question: its difficulty, its discrimination, its key."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
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
    ItemResponse,
    Numbers,
    calibrate,
    falling,
)
from vidence.tables.table import (
    Measure,
    Table,
    count,
    lines,
    number,
    p_value,
    percent,
    several,
    share,
    tabulate,
)

FORMAT: Literal["vidence-items/1"] = "vidence-items/1"
_MOST_LISTED = 20
_Z = 1.959964


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

    `has_floor` says whether guessing at 1 of the choices fits better than none. `false_alarms` is the share
    of questions with right keys that look doubtful in a simulation of these runs.
    """

    format: Literal["vidence-items/1"] = FORMAT
    benchmark: str
    runs: dict[str, Estimate]
    items: tuple[CalibratedItem, ...]
    has_floor: bool
    false_alarms: float


@dataclass(frozen=True, kw_only=True)
class Replies:
    """The runs on one set of questions, and the share that guessing gets of each, shape (n_items,)."""

    paired: PairedRuns
    floors: Numbers

    @classmethod
    def of(cls, runs: Sequence[Run], *, shared: bool = False) -> "Replies":
        """Put runs beside each other.

        Raises:
            UsageError: fewer than `LEAST_RUNS`, or what `pairing.pair` refuses.
        """
        if len(runs) < LEAST_RUNS:
            raise UsageError(
                f"{several(len(runs), 'run')} given; expected {LEAST_RUNS} or more on the same questions, "
                "since fewer say too little of a question. `vidence import` makes runs of recorded replies"
            )
        paired = pair(runs, shared=shared)
        floors = [1 / len(item.choices) if item.choices else 0.0 for item in paired.items]
        return cls(paired=paired, floors=np.array(floors, np.float64))

    @property
    def notes(self) -> tuple[str, ...]:
        """What is not compared; of lines that were left out, only in how many runs."""
        left = [run.facts.left_out for run in self.paired.runs if run.facts.left_out]
        said = [note for note in self.paired.notes if not any(note.endswith(one) for one in left)]
        return (*said, f"Lines were left out when the questions of {several(len(left), 'run')} were read.")[
            : len(said) + bool(left)
        ]

    def fitted(self) -> ItemResponse:
        """The model of all runs."""
        return calibrate(self.paired.values, floors=self.floors, clusters=self.paired.clusters)


def calibrated(replies: Replies, *, rng: np.random.Generator) -> Calibration:
    """Calibrate every question, and test its key.

    Args:
        replies: of the runs.
        rng: where the draws of the test and of the simulation come from.
    """
    paired, found = replies.paired, replies.fitted()
    p_values = falling(paired.values, found.ability, rng=rng)
    chances = found.chances(discrimination=found.discrimination.clip(0))
    clean = (rng.random(chances.shape) < chances).astype(np.float64)
    n_clusters = len(set(paired.clusters))

    def estimate(value: float, error: float, *, n: int, clusters: int = 1) -> Estimate:
        return Estimate(
            value=value,
            low=value - _Z * error,
            high=value + _Z * error,
            level=0.95,
            n=n,
            n_clusters=clusters,
            method="two-parameter logistic model",
            clustered_by=paired.noun,
        )

    n_items, n_runs = paired.values.shape
    items = [
        CalibratedItem(
            item_id=item.item_id,
            digest=question_digest(item),
            difficulty=estimate(float(found.difficulty[i]), float(found.difficulty_error[i]), n=n_runs),
            discrimination=estimate(
                float(found.discrimination[i]), float(found.discrimination_error[i]), n=n_runs
            ),
            right=float(paired.values[i].mean()),
            p_value=float(p_values[i]),
        )
        for i, item in enumerate(paired.items)
    ]
    return Calibration(
        benchmark=paired.runs[0].plan.benchmark,
        runs={
            name: estimate(float(one), float(error), n=n_items, clusters=n_clusters)
            for name, one, error in zip(paired.names, found.ability, found.ability_error, strict=True)
        },
        items=tuple(
            sorted(
                items, key=lambda i: (not i.is_doubtful, i.p_value if i.is_doubtful else -i.difficulty.value)
            )
        ),
        has_floor=bool(found.floors.any()),
        false_alarms=float((falling(clean, found.ability, rng=rng) < DOUBTFUL).mean()),
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
    n, n_doubtful = len(found.items), sum(one.is_doubtful for one in found.items)
    floor = "with guessing at 1 of the choices" if found.has_floor else "without a floor for guessing"
    first = f"{n:,} questions calibrated by {len(found.runs)} runs; the model {floor} fits better."
    if math.comb(len(found.runs), len(found.runs) // 2) * DOUBTFUL < 1:
        return first, "So few runs cannot make a key doubtful at p below 0.01, whatever they reply; 9 can."
    return (
        first,
        f"{several(n_doubtful, 'key')} doubtful: right answers fall as ability rises (p below {DOUBTFUL}). "
        f"Were every key right, about {found.false_alarms * n:.0f} would be by chance (simulated with these "
        f"runs), and at most {DOUBTFUL * n:.0f}.",
    )


def tables(found: Calibration) -> tuple[Table, ...]:
    """The doubtful keys, the hardest questions, and the abilities of the runs."""
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
    ranked = sorted(found.runs.items(), key=lambda one: -one[1].value)
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
    made.append(
        tabulate(
            "items-runs",
            "Abilities",
            label="run",
            rows=lines(ranked),
            measures=(
                number("ability", lambda one: one, note="mean 0, standard deviation 1 over the runs"),
                count("n", lambda one: one.n, "questions"),
            ),
        )
    )
    return tuple(table for table in made if table.rows)
