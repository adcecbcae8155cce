"""What a panel would ask, before anything is asked: questions left, and at most how much replies cost."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from vidence.contracts import BoundedDiagnostic
from vidence.engine.panel import PanelRun
from vidence.engine.panel_diagnostics import Examination
from vidence.engine.plan import PLAN_FILE, Plan
from vidence.engine.prepare import load_questions, narrowed
from vidence.engine.store import RunStore
from vidence.errors import VidenceError
from vidence.records import Failed, Item, Usage
from vidence.report.run_list import listed
from vidence.tables.table import several


class Ahead:
    """What is left of the runs and diagnostics of a panel, each in one line; questions are read once."""

    def __init__(self) -> None:
        self._read: dict[tuple[object, ...], tuple[Item, ...] | str] = {}

    def of_run(self, run: PanelRun) -> str:
        """The trials of a run that are left, and what their replies cost at most."""
        if not run.has_trials:
            return "no trials; diagnostics alone"
        items = self._questions(run.plan)
        if isinstance(items, str):
            return items
        n = len(items)
        line = listed(run.folder) if _is_there(run.folder) else None
        n_planned = n * run.plan.repeats
        n_left = n_planned - (line.n_answered if line else 0)
        messages = [several(n, "question"), f"{n_left:,} of {several(n_planned, 'trial')} left"]
        return ", ".join((*messages, *_money(run.plan, n_left), *_so_far(line.cost if line else None)))

    def of_examination(self, examination: Examination) -> str:
        """The questions that a diagnostic has left, and which models it asks besides that of the run."""
        items = self._questions(examination.run.plan)
        if isinstance(items, str):
            return items
        done = set[str]()
        if _is_there(examination.run.folder):
            with RunStore(examination.run.folder) as store:
                if examination.name in store.diagnoses():
                    result = store.findings(examination.name, examination.diagnostic.finding).items()
                    done = {item_id for item_id, known in result if not isinstance(known.finding, Failed)}
        others = ", ".join(f"{name} {spec}" for name, spec in examination.others.items())
        asks = f"; asks {others}, too" if others else ""
        left = [item for item in items if item.item_id not in done]
        n_left = f"{len(left):,} of {several(len(items), 'question')} left"
        bounded = examination.diagnostic
        if not isinstance(bounded, BoundedDiagnostic):
            return f"{n_left}; it does not say how many asks each takes{asks}"
        n_asks = sum(bounded.most_asks(item, n_frames=examination.run.plan.frames) for item in left)
        return f"{n_left}, at most {several(n_asks, 'ask')}, replies of runs among them{asks}"

    def _questions(self, plan: Plan) -> Sequence[Item] | str:
        """The questions that a plan asks; why they cannot be read where that is so."""
        place = (plan.benchmark, plan.data, plan.split, plan.map, plan.strict)
        try:
            if place not in self._read:
                self._read[place] = tuple(load_questions(plan).items)
            items = self._read[place]
            return items if isinstance(items, str) else narrowed(items, plan)[0]
        except VidenceError as error:
            questions = f"its questions cannot be read: {error}"
            self._read.setdefault(place, questions)
            return questions


def ahead(runs: Sequence[PanelRun], examinations: Sequence[Examination]) -> Iterator[tuple[str, str]]:
    """A heading and a line for each run and each diagnostic of a panel; nothing is asked.

    Args:
        runs: the runs that the panel asks.
        examinations: its diagnostics.
    """
    known = Ahead()
    for run in runs:
        yield run.benchmark, f" · {run.label} · {run.plan.model} · {run.folder}: {known.of_run(run)}"
    for examination in examinations:
        yield examination.label, f": {known.of_examination(examination)}"


def _is_there(folder: Path) -> bool:
    return (folder / PLAN_FILE).exists()


def _money(plan: Plan, n_left: int) -> Iterator[str]:
    """At most what the replies cost; what the model reads comes on top, and is known when it is asked."""
    if plan.prices is not None and plan.sampling.max_tokens:
        most = n_left * plan.prices.cost(Usage(output_tokens=plan.sampling.max_tokens))
        yield f"replies at most {most:,.4f} US dollars"


def _so_far(cost: float | None) -> Iterator[str]:
    if cost:
        yield f"{cost:,.4f} US dollars so far"
