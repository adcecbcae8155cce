"""Planted against recovered: what going step by step adds to a simulated model, task by task."""

import numpy as np

from vidence.report.calibration import compare
from vidence.report.diagnosis_calibration import Recovered
from vidence.report.reasoning import MEMBER, ReasoningPair, reasoning_effect
from vidence.report.results import SEED, Run
from vidence.report.scores import Draws
from vidence.tables.table import Table


def recovered_reasoning(direct: Run, cot: Run) -> tuple[Recovered, ...]:
    """The effect of reasoning over all questions and in each task, beside the planted one.

    Args:
        direct: a simulated model on a phantom world, asked for the answer.
        cot: the same model and questions, asked to go step by step.

    Raises:
        DataError: a run of something else.
        UsageError: two runs that are no such pair.
    """
    name = compare(direct).model
    pair = ReasoningPair(model=name, direct=direct, cot=cot)
    stated = reasoning_effect([pair], draws=Draws(rng=np.random.default_rng(SEED)))
    tables = {one.name: one for one in stated if isinstance(one, Table)}
    first, second = compare(direct), compare(cot)
    before = {row.item.item_id: right for row, right in zip(direct.rows, first.planted, strict=True)}
    added = [
        (row.item.tags[MEMBER], float(right) - float(before[row.item.item_id]))
        for row, right in zip(cot.rows, second.planted, strict=True)
    ]
    differs = {
        row.item.item_id
        for run, one in ((direct, first), (cot, second))
        for row, planted, found in zip(run.rows, one.planted, one.recovered, strict=True)
        if planted != found
    }

    def beside(task: str) -> Recovered:
        some = [value for own, value in added if task in ("", own)]
        sheet, line = (f"reasoning:{MEMBER}", f"{name}:{task}") if task else ("reasoning", name)
        return Recovered(
            diagnostic="reasoning",
            label=f"{name}, {direct.plan.selector}, directly and step by step",
            what=f"reasoning adds, {f'task {task}' if task else 'all tasks'}",
            planted=sum(some) / len(some),
            found=tables[sheet].estimate(line, "difference"),
            n=len(some),
            n_different=sum(
                row.item.item_id in differs and task in ("", row.item.tags[MEMBER]) for row in cot.rows
            ),
            is_share=True,
        )

    return tuple(beside(task) for task in ("", *sorted({task for task, _ in added})))
