"""Leaderboards of hidden splits: opened from a public release; submissions checked, counted, ranked.

Nothing here knows a right answer, or where one is: `scoring`, which runs in another process, does.
"""

import hashlib
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, time, timedelta
from pathlib import Path
from typing import Final

import msgspec
from django.db import transaction
from django.db.models import QuerySet

from vidence.ask.files import file_of
from vidence.ask.mapping.rows import rows_in
from vidence.engine.store import SUBMISSION_FILE
from vidence.engine.submission import SUBMITTED, SubmissionCheck, checked, submission_in
from vidence.errors import DataError, UsageError
from vidence.make.pipeline.output import json_lines
from vidence.make.release.hidden import COMMITMENTS_FILE, row_of, rows_of
from vidence.records import Item, Record
from vidence.studio.audit import note
from vidence.studio.records.people import UserRow
from vidence.studio.records.submissions import LeaderboardRow, SubmissionRow
from vidence.studio.settings import current

_QUESTIONS: Final = "questions-{}.jsonl"
_MOST_A_DAY, _MOST_IN_ALL = 2, 20
_JUDGED_IN: Final = timedelta(hours=12)


class HiddenItem(Item):
    """A question of a hidden split as released."""

    answer: str = ""


class Limits(Record):
    """Scored submissions of a team per UTC day and in total, and the last day.

    None keeps the current value; the defaults are 2, 20 and no end.
    """

    most_a_day: int | None = None
    most_in_all: int | None = None
    last_day: datetime | None = None


class Left(Record):
    """The number of submissions that a team may still send."""

    today: int
    in_all: int


class Standing(Record):
    """A team's entry: its best shown score in whole points, with its rank; equal scores share ranks."""

    rank: int
    team: str
    points: int
    day: str
    strata: dict[str, dict[str, tuple[int, int]]]
    """Points and number of questions by tag and value; empty before the end."""


# --------------------------------------------------------------------------- opening


def open_board(release: Path, split: str, limits: Limits, *, title: str = "") -> LeaderboardRow:
    """Open a leaderboard for a hidden split in this studio, or change its limits, end or title.

    Args:
        release: the public folder that ``vidence items release --hide`` wrote, with the format ``items``.
        split: the hidden split; empty if there is only one.
        limits: of each team.
        title: the name on pages; by default that of the folder.

    Raises:
        UsageError: no such split, another board is open here, the board has ended, or would have.
        DataError: the questions cannot be read.
    """
    split, items = _hidden_split(release, split)
    content = json_lines(items)
    hashes = rows_of(release / COMMITMENTS_FILE, dict[str, str])  # and a line with the canary
    sha256 = bound(content, {row["item_id"]: row["sha256"] for row in hashes if row.get("split") == split})
    now = current().settings.clock()
    with transaction.atomic():
        board = LeaderboardRow.objects.select_for_update().first() or LeaderboardRow(opened_at=now)
        if board.pk and board.items_sha256 != sha256:
            raise UsageError(
                f"this folder already has the board of {board.title!r}; open {release} in another folder"
            )
        if board.pk and has_ended(board, now):
            raise UsageError("this board has ended and its strata are published; it cannot be reopened")
        board.title, board.split = title or board.title or release.resolve().name, split
        board.items, board.items_sha256, board.n_items = content.decode(), sha256, len(items)
        board.is_open_ended = any(item.answer_kind == "text" for item in items)
        board.most_a_day = limits.most_a_day or board.most_a_day or _MOST_A_DAY
        board.most_in_all = limits.most_in_all or board.most_in_all or _MOST_IN_ALL
        if day := limits.last_day:
            board.ends_at = datetime.combine(day.date() + timedelta(days=1), time(), UTC)
            if not board.pk and has_ended(board, now):
                raise UsageError(f"{day:%Y-%m-%d} has passed; expected a last day in the future (--ends)")
        board.save()
        note("board-opened", about=board.title, details=msgspec.to_builtins(limits))
    return board


def bound(content: bytes, hashes: Mapping[str, str]) -> str:
    """Return a hash of a leaderboard's questions and the hashes of their answers in the release."""
    return hashlib.sha256(content + msgspec.json.encode(sorted(hashes.items()))).hexdigest()


def _hidden_split(release: Path, split: str) -> tuple[str, list[Item]]:
    """Return the named or only hidden split of a release, with questions without text and media."""
    head, tail = _QUESTIONS.split("{}")
    splits = sorted(path.name[len(head) : -len(tail)] for path in release.glob(_QUESTIONS.format("*")))
    chosen = [name for name in splits if name == split or not split]
    if len(chosen) != 1:
        seen = f"the hidden splits {', '.join(splits)}" if splits else "no hidden split"
        raise UsageError(
            f"{release} has {seen}; expected "
            f"{repr(split) if split else 'one, or --split'}, in a folder that "
            "vidence items release --hide SPLIT wrote with the format items"
        )
    released = rows_of(release / _QUESTIONS.format(chosen[0]), HiddenItem)
    blank = [
        Item(
            item_id=item.item_id,
            question="",
            choices=item.choices,
            answer="",
            answer_kind=item.answer_kind,
            tags=item.tags,
        )
        for item in released
    ]
    return chosen[0], blank


def board_here() -> LeaderboardRow | None:
    """Return this studio's leaderboard; None if none is open."""
    row: LeaderboardRow | None = LeaderboardRow.objects.first()
    return row


def items_of(board: LeaderboardRow) -> tuple[Item, ...]:
    """Return a leaderboard's public questions."""
    lines = board.items.encode().splitlines()
    return tuple(row_of(line, Item, place=Path(board.title)) for line in lines)


def has_ended(board: LeaderboardRow, now: datetime) -> bool:
    """Whether submissions are closed."""
    return board.ends_at is not None and now >= board.ends_at


# --------------------------------------------------------------------------- submitting


def read(content: bytes, items: Sequence[Item]) -> SubmissionCheck:
    """Read a submission and check it against the questions.

    Raises:
        DataError: a line is no answer, or the answers are not one for each question among its options.
    """
    file = file_of(Path(SUBMISSION_FILE), content, what=SUBMITTED)
    submission = submission_in(rows_in(file))
    if again := [at for row, at in zip(submission.rows, submission.places, strict=True) if row.repeat]:
        raise DataError(
            f"{again[0]}: an answer of a repeat; expected one answer to each question: send those of a run "
            "without --repeats"
        )
    check = checked(submission, items)
    if not check.is_clean:
        raise DataError("\n".join(check.sentences(is_taken=False)))
    return check


def accept(user: UserRow, check: SubmissionCheck) -> SubmissionRow:
    """Count a checked submission and queue it, in one transaction.

    What failed through no fault of the team does not count.

    Raises:
        UsageError: no board, no team, the board has ended, the team has none left, or sent the same before.
    """
    now = current().settings.clock()
    answers = json_lines(check.rows)
    sha256 = hashlib.sha256(answers).hexdigest()
    with transaction.atomic():
        board = LeaderboardRow.objects.select_for_update().first()
        team = UserRow.objects.values_list("team", flat=True).get(pk=user.pk)
        if board is None or not team:
            raise UsageError("no board is open here, or your account has no team; ask an operator")
        if has_ended(board, now):
            raise UsageError("the board has ended; nothing was saved")
        same = counted(team).filter(sha256=sha256).first()
        if same is not None:
            raise UsageError(
                f"your team sent the same answers on {same.at:%Y-%m-%d %H:%M} UTC; not counted again"
            )
        n_failed = SubmissionRow.objects.filter(team=team, state="failed").count()
        if n_failed >= board.most_in_all:
            raise UsageError(f"{n_failed} submissions of your team could not be scored; ask an operator why")
        rest = left(board, team, now)
        if not rest.in_all:
            raise UsageError(
                f"your team has sent all of its {board.most_in_all} submissions; nothing was saved"
            )
        if not rest.today:
            raise UsageError(
                f"your team has sent its {board.most_a_day} submissions of today; send this one after "
                "midnight UTC; nothing was saved"
            )
        row = SubmissionRow(team=team, user=user, at=now, day=now.date(), answers=answers.decode())
        row.sha256, row.state = sha256, "queued"
        row.save(force_insert=True)
        note("submitted", by=user.pseudonym, about=team)
    return row


def counted(team: str) -> "QuerySet[SubmissionRow]":
    """Return the team's submissions that count against its limits."""
    return SubmissionRow.objects.filter(team=team).exclude(state="failed")


def left(board: LeaderboardRow, team: str, now: datetime) -> Left:
    """Return the number of submissions that a team may still send."""
    rows = counted(team)
    in_all = max(0, board.most_in_all - rows.count())
    today = max(0, board.most_a_day - rows.filter(day=now.date()).count())
    return Left(today=min(today, in_all), in_all=in_all)


# --------------------------------------------------------------------------- what is shown


def is_out(row: SubmissionRow, board: LeaderboardRow, now: datetime) -> bool:
    """Whether a submission's outcome is shown.

    Where answers are judged, the time until a score would tell which of them needed no judge; there it is
    shown from a midnight on, twelve hours at least after it was sent: what is sent right before one tells no
    more.
    """
    if row.state != "scored" or not board.is_open_ended:
        return bool(row.state == "scored")
    return bool(max(row.scored_at, row.at + _JUDGED_IN).date() < now.date())


def best_of(team: str) -> SubmissionRow | None:
    """Return a team's submission with the best shown score."""
    row: SubmissionRow | None = (
        SubmissionRow.objects.filter(team=team, state="scored", points__isnull=False)
        .order_by("-points")
        .first()
    )
    return row


def standings(board: LeaderboardRow, now: datetime) -> list[Standing]:
    """Return the teams ranked by their best shown scores."""
    rows = SubmissionRow.objects.filter(state="scored", points__isnull=False).order_by("points", "-at", "-pk")
    best = {row.team: row for row in rows.defer("answers") if is_out(row, board, now)}
    ranked = sorted(best.values(), key=lambda row: (-row.points, row.at))
    return [
        Standing(
            rank=1 + sum(other.points > row.points for other in ranked),
            team=row.team,
            points=row.points,
            day=f"{row.day}",
            strata=row.strata if has_ended(board, now) else {},
        )
        for row in ranked
    ]
