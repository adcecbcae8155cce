"""Export trials as CSV, JSON lines and Parquet, tables as CSV, and everything as JSON."""

import re
from collections.abc import Sequence
from pathlib import Path

import msgspec
import numpy as np

from vidence.catalog import create, is_known
from vidence.contracts import Benchmark
from vidence.errors import UsageError
from vidence.media.whole import own_folder, write_file
from vidence.records import Estimate
from vidence.report.provenance import how_asked
from vidence.report.results import SEED, Run
from vidence.report.scores import Draws, headline_accuracy
from vidence.report.trials import trial_records, trials_as_csv, trials_as_jsonl, trials_as_parquet
from vidence.tables.export import table_as_csv, table_as_json
from vidence.tables.table import Table, has_interval, interval_text

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
    """Return the hub's data set, the task, and the revision if the run knows a commit."""
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
    """Return the headline of a finished run.

    Raises:
        UsageError: trials are missing or wait for a judge, or the model never answered.
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


JSON_FORMAT = "vidence-report/1"
SEVERAL_FORMAT = "vidence-reports/1"
TABLES_MARK = ".vidence-tables"


def write_csv(runs: Sequence[Run], path: Path) -> None:
    """Write all fields of each trial as CSV (`vidence.report.trials`): UTF-8, comma.

    `correct` is 1 or 0 (or between, for partial scores), and empty if a judge is still to be asked. A text
    that a spreadsheet would run as a formula gets a leading apostrophe; plain numbers stay.

    Raises:
        StoreError: the file cannot be written.
    """
    write_file(path, trials_as_csv(runs))


def write_jsonl(runs: Sequence[Run], path: Path) -> None:
    """Write all fields of each trial as JSON lines (`vidence.report.trials`).

    Raises:
        StoreError: the file cannot be written.
    """
    write_file(path, trials_as_jsonl(runs))


def write_parquet(runs: Sequence[Run], path: Path) -> None:
    """Write all fields of each trial as Parquet (`vidence.report.trials`).

    Raises:
        UsageError: pyarrow is not installed.
        StoreError: the file cannot be written.
    """
    write_file(path, trials_as_parquet(runs))


def write_json(reports: Sequence[tuple[Run, Sequence[Table]]], path: Path) -> None:
    """Write plan, facts, tables and trials of each run as one JSON object; several runs under ``runs``.

    Shares are from 0 to 1; undefined numbers (NaN) are null.

    Raises:
        StoreError: the file cannot be written.
    """
    wholes = [_whole(run, tables) for run, tables in reports]
    whole = wholes[0] if len(wholes) == 1 else {"format": SEVERAL_FORMAT, "runs": wholes}
    write_file(path, msgspec.json.encode(whole) + b"\n")


def _whole(run: Run, tables: Sequence[Table]) -> dict[str, object]:
    return {
        "format": JSON_FORMAT,
        "name": run.name,
        "parser": run.reader,
        "plan": run.plan,
        "facts": run.facts,
        "n_left_out": len(run.facts.problems),
        "tables": [table_as_json(table) for table in tables],
        "trials": list(trial_records(run)),
    }


def write_tables(tables: Sequence[Table], folder: Path) -> tuple[Path, ...]:
    """Write one CSV file per table to a folder that is new, empty or has `TABLES_MARK`.

    Raises:
        UsageError: the folder contains other files.
        StoreError: the folder cannot be created, or a file cannot be written.
    """
    own_folder(folder, TABLES_MARK)
    written: list[Path] = []
    for table in tables:
        name = re.sub(r"[^A-Za-z0-9.-]+", "-", table.name).strip("-.") or "table"
        path = folder / f"{name}.csv"
        n = 2
        while path in written:
            path = folder / f"{name}-{n}.csv"
            n += 1
        write_file(path, table_as_csv(table))
        written.append(path)
    return tuple(written)
