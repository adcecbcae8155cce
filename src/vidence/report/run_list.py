"""The runs in a folder, one line each: name, progress, score, cost.

A finished run caches its line next to its trials, so that a long list reads no trials. A cached line is valid
only for the plan, trials and version that it was computed from.
"""

import hashlib
import logging
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

import msgspec

from vidence.engine.store import PLAN_NAME, RUN_FILE, RunStore, is_in_use
from vidence.errors import UsageError, VidenceError
from vidence.installation import __version__
from vidence.records import Record

if TYPE_CHECKING:
    from vidence.report.results import Run

_log = logging.getLogger(__name__)
DEEPEST: Final = 4
"""Depth of subfolders to search; runs do not contain runs."""
Standing = Literal["running", "complete", "failures", "stopped", "decided", "not begun", "unusable"]


class ListedRun(Record):
    """A run in a list.

    Of `n_planned` trials, `n_answered` have an outcome from the model, and `n_failed` failed, which `vidence
    resume` asks again. `score` is the report's headline, 0 to 1, `average` its kind, and ``[low, high]`` its
    95 % interval; None if nothing was answered. `cost` is in US dollars, None without prices. `seconds` and
    `tokens` are medians of reply time and output tokens, None if the model does not report them.
    """

    folder: str
    name: str = ""
    benchmark: str = ""
    model: str = ""
    status: Standing = "unusable"
    n_planned: int = 0
    n_answered: int = 0
    n_failed: int = 0
    n_scored: int = 0
    """Number of scored questions; for people, of answers."""
    average: str = ""
    n_hidden: int = 0
    """Questions with hidden answers; without others there is no score."""
    score: float | None = None
    low: float | None = None
    high: float | None = None
    cost: float | None = None
    seconds: float | None = None
    tokens: float | None = None
    started_at: str = ""
    problem: str = ""
    """Why the run cannot be read, if so."""


class _KeptLine(Record):
    """A cached line, with what it was computed from."""

    vidence: str
    plan: str
    last_trial: int
    line: ListedRun


def list_runs(root: Path) -> tuple[ListedRun, ...]:
    """Return the runs in a folder and below, oldest first; a run folder gives itself.

    Raises:
        UsageError: there is no such folder.
    """
    if not root.is_dir():
        raise UsageError(f"there is no folder {root}; give one that holds run folders, such as runs")
    runs = [listed(folder) for folder in run_folders(root)]
    return tuple(sorted(runs, key=lambda run: (run.started_at, run.folder)))


def run_folders(root: Path, *, deepest: int = DEEPEST) -> Iterator[Path]:
    """Yield every run folder below a folder, in path order; links are not followed."""
    if (root / PLAN_NAME).is_file() or (root / RUN_FILE).is_file():
        yield root
        return
    if not deepest:
        return
    try:
        with os.scandir(root) as entries:
            inner = sorted(e.name for e in entries if e.is_dir(follow_symlinks=False) and e.name[0] != ".")
    except OSError as error:  # somebody else's folder, or gone since: nothing of it can be listed
        _log.info("%s is not listed: %s", root, error.strerror)
        return
    for name in inner:
        yield from run_folders(root / name, deepest=deepest - 1)


def listed(folder: Path) -> ListedRun:
    """Return a run folder's line; a damaged one says what is wrong."""
    try:
        with RunStore(folder) as store:
            kept = _kept(folder, store)
        line = _made(folder).line if kept is None else kept
    except VidenceError as error:
        return ListedRun(folder=str(folder), name=folder.name, problem=str(error))
    status: Standing = "running" if is_in_use(folder) else line.status
    return msgspec.structs.replace(line, folder=str(folder), status=status)


def keep_line(folder: Path, run: "Run | None" = None) -> None:
    """Cache the line of a finished run.

    `run` is the run as read after its end, if it was read.
    """
    try:
        with RunStore(folder) as store:
            if _kept(folder, store) is not None:
                return
        kept = _made(folder, run)
        with RunStore(folder, is_writer=True) as store:
            store.keep_line(msgspec.json.encode(kept).decode())
    except VidenceError as error:  # the list makes the line itself, or says what is wrong
        _log.info("%s keeps no line: %s", folder, error)


def _kept(folder: Path, store: RunStore) -> ListedRun | None:
    """Return the cached line; None if there is none or its format differs."""
    text, last_trial = store.line()
    if text is None:
        return None
    try:
        kept = msgspec.json.decode(text, type=_KeptLine)
    except msgspec.DecodeError:  # of another version
        return None
    made_from = (kept.vidence, kept.plan, kept.last_trial)
    is_so = made_from == (__version__, _digest(folder), last_trial)
    return kept.line if is_so else None


def _digest(folder: Path) -> str:
    try:
        return hashlib.sha256((folder / PLAN_NAME).read_bytes()).hexdigest()
    except OSError:  # whoever reads the plan says so
        return ""


def _made(folder: Path, run: "Run | None" = None) -> _KeptLine:
    """Compute a run's line from its plan and trials."""
    import numpy as np  # a list of runs that keep their lines needs none of these

    from vidence.engine.specs import label
    from vidence.report.results import SEED, load_run
    from vidence.report.scores import Draws, headline_accuracy
    from vidence.report.tables import median_reply, spent
    from vidence.tables.table import has_interval

    digest = _digest(folder)
    run = run or load_run(folder, are_brief=True)
    n_failed = sum(row.outcome == "failed" and not row.is_undecided for row in run.rows)
    score = headline_accuracy(run, draws=Draws(rng=np.random.default_rng(SEED)))
    ends = (score.low, score.high) if score is not None and has_interval(score) else (None, None)
    status: Standing = "failures" if n_failed else "complete"
    if run.n_missing:
        status = "decided" if run.ended else "stopped" if run.rows else "not begun"
    seconds, tokens = median_reply(run)
    line = ListedRun(
        folder="",
        name=label(run.plan),
        benchmark=run.plan.benchmark,
        model=run.plan.model,
        status=status,
        n_planned=max(run.facts.n_planned, len(run.rows)),
        n_answered=len(run.rows) - n_failed,
        n_failed=n_failed,
        n_scored=0 if score is None else score.n,
        average=run.plan.headline,
        n_hidden=run.n_hidden,
        score=None if score is None else score.value,
        low=ends[0],
        high=ends[1],
        cost=spent(run),
        seconds=seconds,
        tokens=tokens,
        started_at=run.facts.started_at,
    )
    return _KeptLine(vidence=__version__, plan=digest, last_trial=run.last_trial, line=line)
