"""Before working on a project, people read its guidelines and answer qualification trials."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from django.db import transaction
from django.db.models import QuerySet

from vidence.errors import UsageError
from vidence.make.review.protocol import Protocol, Qualification, digest
from vidence.make.review.revisions import Role
from vidence.records import Record
from vidence.studio.audit import note
from vidence.studio.records.items import MediumRow
from vidence.studio.records.people import (
    GuidelineReadRow,
    GuidelineRow,
    MembershipRow,
    ProjectRow,
    QualificationRow,
    TrialRow,
    UserRow,
)
from vidence.studio.settings import current

WORKERS: Final[tuple[Role, ...]] = ("author", "reviewer", "meta")
"""Roles with qualification trials."""


def add_guideline(project: ProjectRow, source: str, *, by: str) -> GuidelineRow:
    """Add a text as the next version of the guidelines; earlier versions are kept.

    Raises:
        UsageError: it is empty, or the same as the last one.
    """
    words = source.replace("\r\n", "\n").strip()
    if not words:
        raise UsageError("the guidelines are empty; write what people should do")
    with transaction.atomic():
        ProjectRow.objects.select_for_update().get(pk=project.pk)
        last = newest(project)
        sha256 = digest(words.encode())
        if last is not None and last.sha256 == sha256:
            raise UsageError(f"nothing has changed; version {last.version} has the same text")
        row: GuidelineRow = GuidelineRow.objects.create(
            project=project,
            version=1 if last is None else last.version + 1,
            source=words,
            sha256=sha256,
            added_at=current().settings.clock(),
        )
        note("guideline-added", by=by, about=project.slug, details={"version": row.version, "sha256": sha256})
    return row


def newest(project: ProjectRow) -> GuidelineRow | None:
    """Return a project's last guidelines version; None if it has none."""
    row: GuidelineRow | None = GuidelineRow.objects.filter(project=project).order_by("-version").first()
    return row


def accept(user: UserRow, guideline: GuidelineRow) -> None:
    """Record that a person has read a version; repeating it changes nothing."""
    with transaction.atomic():
        GuidelineReadRow.objects.get_or_create(
            user=user, guideline=guideline, defaults={"at": current().settings.clock()}
        )
        MembershipRow.objects.filter(user=user, project=guideline.project).update(guideline=guideline)


def read_by(by: str, project: ProjectRow) -> GuidelineRow | None:
    """Return the last guidelines version that a person confirmed; None if there is no confirmation."""
    row: GuidelineRow | None = (
        GuidelineRow.objects.filter(project=project, readings__user__pseudonym=by)
        .order_by("-version")
        .first()
    )
    return row


class Trial(Record):
    """A qualification trial to add: role, content, possible answers, right answer and explanation."""

    role: str
    words: str
    options: tuple[str, ...]
    right: str
    why: str = ""


def add_trial(project: ProjectRow, trial: Trial, *, medium: MediumRow | None = None) -> TrialRow:
    """Add a qualification trial with a known right answer.

    Raises:
        UsageError: there is nothing to read, fewer than two options, or the right one is none of them.
    """
    known = tuple(dict.fromkeys(option.strip() for option in trial.options if option.strip()))
    right = trial.right.strip()
    if trial.role not in WORKERS:
        raise UsageError(f"trial items are for {', '.join(WORKERS)}; {trial.role!r} is not among them")
    if not trial.words.strip():
        raise UsageError("the trial item is empty; write what people should judge")
    if len(known) < 2:
        raise UsageError(f"{len(known)} answers to choose from; expected two or more")
    if right not in known:
        raise UsageError(f"the right answer {right!r} is not among {', '.join(map(repr, known))}")
    row: TrialRow = TrialRow.objects.create(
        project=project,
        role=trial.role,
        words=trial.words.strip(),
        medium=medium,
        options=list(known),
        right=right,
        why=trial.why.strip(),
        at=current().settings.clock(),
    )
    return row


def trials_of(project: ProjectRow, role: str) -> list[TrialRow]:
    """Return a role's qualification trials in order of entry."""
    return list(TrialRow.objects.filter(project=project, role=role, is_used=True).order_by("pk"))


@dataclass(frozen=True, kw_only=True)
class Seat:
    """A person in one role of a project, with its rules."""

    user: UserRow
    project: ProjectRow
    protocol: Protocol
    role: str

    @property
    def runs(self) -> QuerySet[QualificationRow]:
        """Return the attempts at the qualification so far."""
        return QualificationRow.objects.filter(user=self.user, project=self.project, role=self.role)


class RoleProgress(Record):
    """Progress of a person in the qualification trials of a role.

    `n_trials` are asked, and `n_tries` were made of `most_tries`. `until` is when a pass ends; None: it does
    not.
    """

    role: str
    n_trials: int
    n_tries: int
    most_tries: int
    is_passed: bool
    until: datetime | None
    last: tuple[int, int] | None
    pass_mark: float

    @property
    def is_open(self) -> bool:
        """Whether the trials may be answered now."""
        return bool(self.n_trials) and not self.is_passed and self.n_tries < self.most_tries

    @property
    def is_stuck(self) -> bool:
        """Return whether a person who has not passed has no tries left."""
        return bool(self.n_trials) and not self.is_passed and self.n_tries >= self.most_tries

    @property
    def refusal(self) -> str:
        """Return why the role is not open; empty if it is."""
        if self.is_passed or not self.n_trials:
            return ""
        if self.is_stuck:
            return f"the trial items for {self.role} were not passed in {self.n_tries} tries; ask an operator"
        return f"the trial items for {self.role} must be passed first, on the page Qualification"


def standing(seat: Seat) -> RoleProgress:
    """Return the progress of a person in the qualification trials of a role.

    A new version of the guidelines requires them again where the protocol says so, with as many tries.
    """
    rules = seat.protocol.qualification or Qualification()
    runs = seat.runs.filter(guideline=newest(seat.project)) if rules.again else seat.runs
    now = current().settings.clock()
    ran = list(runs.filter(is_set_aside=False).order_by("n_try"))
    passed = [entry for entry in ran if entry.is_passed]
    until = passed[-1].at + timedelta(days=rules.days) if passed and rules.days else None
    is_passed = bool(passed) and (until is None or now < until)
    if passed and not is_passed:  # what ended is asked for anew
        ran = [entry for entry in ran if entry.n_try > passed[-1].n_try]
    last = ran[-1] if ran else None
    return RoleProgress(
        role=seat.role,
        n_trials=0 if seat.protocol.qualification is None else len(trials_of(seat.project, seat.role)),
        n_tries=len(ran),
        most_tries=rules.tries,
        is_passed=is_passed,
        until=until,
        last=None if last is None else (last.n_right, last.n_asked),
        pass_mark=rules.pass_mark,
    )


def answer(seat: Seat, values: Mapping[str, str]) -> QualificationRow:
    """Record one try at all trial items of a role.

    Args:
        seat: who, where, in which role.
        values: by the public name of each trial item what was chosen.

    Raises:
        UsageError: no try is left, or a trial item has no answer.
    """
    with transaction.atomic():
        UserRow.objects.select_for_update().get(pk=seat.user.pk)
        now = standing(seat)
        if not now.is_open:
            raise UsageError(now.refusal or f"{seat.role} needs no qualification, or has passed it")
        trials = trials_of(seat.project, seat.role)
        for i, trial in enumerate(trials, start=1):
            if values.get(str(trial.public)) not in trial.options:
                raise UsageError(f"trial item {i} has no answer; choose one for each")
        answers = {str(row.public): values[str(row.public)] for row in trials}
        n_right = sum(answers[str(row.public)] == row.right for row in trials)
        run: QualificationRow = QualificationRow.objects.create(
            user=seat.user,
            project=seat.project,
            role=seat.role,
            guideline=newest(seat.project),
            n_try=seat.runs.count() + 1,
            answers=answers,
            n_right=n_right,
            n_asked=len(trials),
            is_passed=n_right >= now.pass_mark * len(trials),
            at=current().settings.clock(),
        )
    return run


def let_try_again(seat: Seat, *, by: str) -> None:
    """Discard the tries of a person who has none left, so that they can try again.

    Raises:
        UsageError: there are tries left, or the trial items are passed.
    """
    with transaction.atomic():
        UserRow.objects.select_for_update().get(pk=seat.user.pk)
        now = standing(seat)
        if not now.is_stuck:
            raise UsageError(f"{seat.user.shown} has tries left for {seat.role}, or has passed")
        seat.runs.update(is_set_aside=True)
        note("tries-set-aside", by=by, about=seat.user.pseudonym, details={"role": seat.role})


def refusal(seat: Seat) -> str:
    """Return why a person may not work in a role: guidelines or qualification; empty if they may."""
    last = newest(seat.project)
    if last is not None and not GuidelineReadRow.objects.filter(user=seat.user, guideline=last).exists():
        return f"version {last.version} of the guidelines must be read first, on the page Guidelines"
    now = current().settings.clock()
    ended = MembershipRow.objects.filter(
        user=seat.user, project=seat.project, qualified_until__lte=now
    ).first()
    if ended is not None:
        return f"the qualification of this person ended on {ended.qualified_until:%Y-%m-%d}; ask an operator"
    return standing(seat).refusal
