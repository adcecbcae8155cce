"""Scores as the Hugging Face hub shows them: ``.eval_results/*.yaml`` in the repository of a model.

The format is the hub's own (huggingface.co/docs/hub/eval-results); its library builds the entries.
"""

import re
from collections.abc import Sequence

import numpy as np

from vidence.catalog import create, is_known
from vidence.contracts import Benchmark
from vidence.errors import UsageError
from vidence.records import Estimate
from vidence.report.provenance import how_asked
from vidence.report.results import SEED, Run
from vidence.report.scores import Draws, headline_accuracy
from vidence.tables.table import has_interval, interval_text

_TASK = re.compile(r"(?P<owner>[\w.-]+)/(?P<name>[\w.-]+):(?P<task>[^\s:]+)")
_COMMIT = re.compile(r"[0-9a-f]{40}")


def eval_results(runs: Sequence[Run], *, task: str | None = None) -> str:
    """The scores of some runs of one model as YAML for a file ``.eval_results/NAME.yaml`` of its repository.

    The value is the headline of the report in per cent; `notes` say how it was asked, with the interval.

    Args:
        runs: the runs.
        task: ``OWNER/NAME:TASK``, the data set of the benchmark on the hub and the task of its ``eval.yaml``;
            None takes the data set that the benchmark was released as, and its own name for the task.

    Raises:
        UsageError: the runs are of several models, one is not done or waits for a judge, or where the
            benchmark lies on the hub is not known.
    """
    from huggingface_hub import EvalResultEntry, eval_result_entries_to_yaml
    from huggingface_hub.utils import yaml_dump

    models = list(dict.fromkeys(run.facts.model_identity for run in runs))
    if len(models) > 1:
        raise UsageError(
            f"--hub writes a file for the repository of one model, and these runs are of {len(models)}: "
            f"{', '.join(models)}; give those of one model"
        )
    entries = []
    for run in runs:
        dataset, name, revision = _place(run, task)
        score = _score(run)
        entries.append(
            EvalResultEntry(
                dataset_id=dataset,
                task_id=name,
                value=round(100 * score.value, 2),
                dataset_revision=revision,
                date=run.facts.started_at[:10] or None,
                notes=_notes(run, score),
            )
        )
    dump: str = yaml_dump(eval_result_entries_to_yaml(entries), sort_keys=False)
    return dump


def _place(run: Run, task: str | None) -> tuple[str, str, str | None]:
    """The data set on the hub, the task, and the revision where the run knows a commit."""
    commit = _COMMIT.search(run.facts.benchmark_revision)
    revision = commit[0] if commit else None
    if task is not None:
        match = _TASK.fullmatch(task)
        if match is None:
            raise UsageError(
                f"--hub-task is {task!r}; expected OWNER/NAME:TASK, a data set of the hub and a task of its "
                "eval.yaml"
            )
        return f"{match['owner']}/{match['name']}", match["task"], revision
    name = run.plan.benchmark
    release = None
    if is_known("benchmark", name):
        benchmark: Benchmark = create("benchmark", name)
        release = getattr(benchmark, "release", None)
    if release is None or not release.hub:
        raise UsageError(
            f"{name} has no known place on the hub; name the benchmark's data set and task there with "
            "--hub-task OWNER/NAME:TASK"
        )
    return release.hub, name, revision


def _score(run: Run) -> Estimate:
    """The headline of a run that is done.

    Raises:
        UsageError: trials are missing, or wait for a judge, or the model never answered.
    """
    estimate = headline_accuracy(run, draws=Draws(rng=np.random.default_rng(SEED)))
    n_waiting = sum(row.correct is None and not row.item.is_hidden for row in run.rows)
    if run.no_score:
        why = run.no_score
    elif run.ended is not None:
        why = f"the run ended early ({run.ended}); a run without --until asks all"
    elif run.n_missing:
        why = f"{run.n_missing:,} of {run.facts.n_planned:,} trials are missing; go on with vidence resume"
    elif n_waiting:
        replies = "1 reply waits" if n_waiting == 1 else f"{n_waiting:,} replies wait"
        why = f"{replies} for a judge; ask one with vidence replies judge"
    elif estimate is None:
        why = "it has no trials"
    else:
        return estimate
    raise UsageError(f"{run.folder} has no score to publish: {why}")


def _notes(run: Run, estimate: Estimate) -> str:
    notes = [how_asked(run)]
    if has_interval(estimate):
        notes.append(f"{100 * estimate.level:g} % interval {interval_text(estimate)}, {estimate.method}")
    chosen = [f"{key}={value}" for key, value in run.plan.where.items()]
    plan = run.plan
    if plan.limit or plan.sample or plan.sample_by or plan.subset or chosen:
        notes.append(
            f"a part of the questions ({run.facts.n_items:,}{''.join(', ' + name for name in chosen)})"
        )
    return "; ".join([*notes, f"vidence {run.facts.vidence}"])
