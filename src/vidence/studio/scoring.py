"""The scorer of a board: a process of its own, which alone reads the vault and leases jobs from the database.

Of the answers only this comes into the database: whole points that the Ladder shows (`rules.ladder`), and
after the end whole points by stratum. What was scored is kept in the vault: a scorer that was killed before
it wrote back asks no judge again, and leaves a job alone that another scorer has leased since.
"""

import shutil
import uuid
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Final

import anyio
import msgspec
from django.db import transaction
from django.db.models import Q

from vidence.engine.environment import Environment
from vidence.engine.plan import PlanOverrides
from vidence.engine.submission import rules_for, score_submission
from vidence.errors import ModelError, StoreError, UsageError, VidenceError, cause
from vidence.make.release.hidden import ANSWERS_FILE, HiddenAnswer, commitment, rows_of
from vidence.media.whole import PRIVATE, make_private, write_whole
from vidence.records import Item, Record
from vidence.report.results import Row, load_run
from vidence.report.scores import ScoredQuestions
from vidence.studio.database import OTHERS
from vidence.studio.leaderboard import best_of, bound, has_ended, items_of, read
from vidence.studio.records.submissions import LeaderboardRow, SubmissionRow
from vidence.studio.rules.ladder import beats, whole_points

LEASE: Final = timedelta(minutes=3)
"""Duration of a job's lease without renewal."""
MOST_LEASES: Final = 3
"""Attempts after which a job has failed."""
_RENEWED_S: Final = 30.0
_SCORED: Final = "scored"
_REPLIES: Final = "replies.sqlite"
_VALUES: Final = "values.json"
_MOST_VALUES: Final = 20


@dataclass(frozen=True, kw_only=True)
class Vault:
    """The folder of the hidden answers, with the complete questions."""

    folder: Path
    items: tuple[Item, ...]


@dataclass(frozen=True, kw_only=True)
class Marker:
    """What scoring uses: judges, cache and workers, clock."""

    overrides: PlanOverrides
    environment: Environment
    clock: Callable[[], datetime]


class Done(Record):
    """The outcome of a job: why it could not be scored, or empty."""

    team: str
    reason: str = ""


def open_vault(folder: Path, board: LeaderboardRow, *, data: Path, is_judged: bool) -> Vault:
    """Read a leaderboard's complete questions.

    Args:
        folder: what ``vidence items release --hide`` wrote outside the release.
        board: of which split.
        data: the folder of the studio, which the server may read.
        is_judged: whether a judge model is there.

    Raises:
        UsageError: it lies where the server reads, others may read it, it is that of another release, or
            answers in words have no judge.
        DataError: it cannot be read.
    """
    if data.resolve() in (folder.resolve(), *folder.resolve().parents):
        raise UsageError(f"{folder} is in the studio's folder, which the server reads; move it elsewhere")
    if not (path := folder / f"{board.split}.jsonl").is_file():
        raise UsageError(
            f"{folder} has no {path.name}; expected the folder that vidence items release --hide wrote "
            "outside of the release"
        )
    if folder.stat().st_mode & OTHERS:
        raise UsageError(f"others can read {folder}; expected its owner only: chmod -R go-rwx {folder}")
    items = {item.item_id: item for item in rows_of(path, Item)}
    salts = {row.item_id: row.salt for row in rows_of(folder / ANSWERS_FILE, HiddenAnswer)}
    hashes = {name: commitment(salts.get(name, ""), name, item.answer) for name, item in items.items()}
    choices = [(item.item_id, item.choices) for item in items.values()]
    if choices != [(item.item_id, item.choices) for item in items_of(board)] or board.items_sha256 != bound(
        board.items.encode(), hashes
    ):
        raise UsageError(
            f"{folder} has not the questions of the board {board.title!r} with the answers of its release; "
            "expected the folder that the same vidence items release wrote outside of it"
        )
    if board.is_open_ended and not is_judged:
        raise UsageError("some questions are answered in words, which a judge scores; say --judge-model SPEC")
    return Vault(folder=folder, items=tuple(items.values()))


# --------------------------------------------------------------------------- leases


def take(now: datetime) -> SubmissionRow | None:
    """Lease the oldest waiting submission; None if none waits.

    What is returned is the job: its `lease` stays the word that this scorer holds it under.
    """
    with transaction.atomic():
        waiting = SubmissionRow.objects.filter(state="queued").filter(
            Q(leased_until=None) | Q(leased_until__lte=now)
        )
        waiting.filter(n_leases__gte=MOST_LEASES).update(state="failed", lease="")
        row: SubmissionRow | None = waiting.select_for_update().order_by("pk").first()
        if row is not None:
            row.lease, row.leased_until, row.n_leases = uuid.uuid4().hex, now + LEASE, row.n_leases + 1
            row.save(update_fields=["lease", "leased_until", "n_leases"])
    return row


def renew(job: SubmissionRow, now: datetime) -> None:
    """Renew the lease of a job."""
    SubmissionRow.objects.filter(public=job.public, lease=job.lease).update(leased_until=now + LEASE)


def give_back(job: SubmissionRow, now: datetime) -> None:
    """Requeue a job after a while, or fail it after too many attempts."""
    with transaction.atomic():
        row = SubmissionRow.objects.select_for_update().get(public=job.public)
        if row.state == "queued" and row.lease == job.lease:
            row.state = "failed" if row.n_leases >= MOST_LEASES else "queued"
            row.lease, row.leased_until = "", now + LEASE
            row.save(update_fields=["state", "lease", "leased_until"])


def finish(job: SubmissionRow, vault: Vault, values: Mapping[str, float], *, now: datetime) -> bool:
    """Write a job's score back, rounded as on the leaderboard.

    Returns:
        Whether the job was still ours.
    """
    with transaction.atomic():
        LeaderboardRow.objects.select_for_update().get()  # of two submissions of a team the second is later
        row = SubmissionRow.objects.select_for_update().get(public=job.public)
        if row.state != "queued" or row.lease != job.lease:
            return False
        best = best_of(row.team)
        is_shown = best is None or beats(values, _kept(vault, best.public))
        row.points = whole_points(values) if is_shown else None
        row.state, row.lease, row.leased_until, row.scored_at = _SCORED, "", None, now
        row.save(update_fields=["points", "state", "lease", "leased_until", "scored_at"])
    return True


# --------------------------------------------------------------------------- scoring


def work(vault: Vault, marker: Marker) -> Done | None:
    """Score the next submission; None if none waits."""
    job = take(marker.clock())
    if job is None:
        return None
    try:
        is_ours = finish(job, vault, score(job, vault, marker), now=marker.clock())
    except VidenceError as error:
        give_back(job, marker.clock())
        return Done(team=job.team, reason=str(error))
    return Done(team=job.team, reason="" if is_ours else "another scorer has taken it over")


def score(job: SubmissionRow, vault: Vault, marker: Marker) -> dict[str, float]:
    """Return the value of each question, renewing the lease meanwhile.

    Raises:
        ModelError: a judge did not reply.
        VidenceError: it cannot be scored.
    """
    folder = vault.folder / _SCORED / str(job.public)
    if not (folder / _VALUES).exists():
        with ThreadPoolExecutor(1) as threads:
            scoring = threads.submit(_score, job, vault, marker)
            while not wait([scoring], timeout=_RENEWED_S).done:
                renew(job, marker.clock())
            values = scoring.result()
        _keep(folder, values)
    return _kept(vault, job.public)


def _score(job: SubmissionRow, vault: Vault, marker: Marker) -> dict[str, float]:
    """Score the answers of a job in a new run folder in the vault, by the ordinary scorers."""
    folder = vault.folder / _SCORED / str(job.public)
    shutil.rmtree(folder, ignore_errors=True)  # of a scorer that was killed
    make_private(folder)
    rules = rules_for(vault.items, is_judged=bool(marker.overrides.get("judge_models")))
    anyio.run(
        partial(
            score_submission,
            read(job.answers.encode(), vault.items),
            folder,
            overrides={**rules, **marker.overrides, "memory": str(vault.folder / _REPLIES)},
            environment=marker.environment,
            now=marker.clock(),
            on_event=lambda _event: None,
        )
    )
    scored = ScoredQuestions.of(load_run(folder, are_brief=True).rows, _known)
    if len(scored.items) < len(vault.items):
        raise ModelError(f"judges gave no verdict on {len(vault.items) - len(scored.items):,} answers")
    return {item.item_id: float(value) for item, value in zip(scored.items, scored.values, strict=True)}


def _known(row: Row) -> float | None:
    """Return a trial's score; None if no judge replied, which a report counts as wrong."""
    is_lost = row.is_judge_error and not any(verdict.said for verdict in row.score.verdicts)
    return None if is_lost else row.correct


def _keep(folder: Path, values: Mapping[str, float]) -> None:
    try:
        write_whole(folder / _VALUES, msgspec.json.encode(values), mode=PRIVATE, is_durable=True)
    except OSError as error:
        raise StoreError(f"{folder / _VALUES} cannot be written: {cause(error)}") from error


def _kept(vault: Vault, public: uuid.UUID) -> dict[str, float]:
    """Return the values of a scored submission.

    Raises:
        StoreError: they are not in the vault.
    """
    path = vault.folder / _SCORED / str(public) / _VALUES
    try:
        return msgspec.json.decode(path.read_bytes(), type=dict[str, float])
    except (OSError, msgspec.DecodeError) as error:
        raise StoreError(f"{path} cannot be read ({cause(error)}); use the vault as it was") from error


def write_strata(vault: Vault, board: LeaderboardRow, now: datetime) -> int:
    """After the end, write each team's best submission by public tags; return how many."""
    if not has_ended(board, now) or SubmissionRow.objects.filter(state="queued").exists():
        return 0
    rows = [best_of(team) for team in SubmissionRow.objects.values_list("team", flat=True).distinct()]
    n_written = 0
    for row in filter(None, rows):
        if not row.strata:
            row.strata = strata_of(items_of(board), _kept(vault, row.public))
            row.save(update_fields=["strata"])
            n_written += 1
    return n_written


def strata_of(items: Sequence[Item], values: Mapping[str, float]) -> dict[str, dict[str, tuple[int, int]]]:
    """Return points and number of questions by tag and value, for tags with 2 to 20 values."""
    groups: dict[str, dict[str, dict[str, float]]] = defaultdict(lambda: defaultdict(dict))
    for item in items:
        for tag, value in item.tags.items():
            groups[tag][value][item.item_id] = values[item.item_id]
    return {
        tag: {value: (whole_points(some), len(some)) for value, some in sorted(by_value.items())}
        for tag, by_value in sorted(groups.items())
        if 1 < len(by_value) <= _MOST_VALUES
    }
