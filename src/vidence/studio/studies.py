"""Studies served by the studio: opened from their folders, joined, and answered by participants.

What a participant may do is decided by `vidence.study.progress`; here it is read from tables, and written to
them, in one transaction for each request.
"""

import hashlib
import hmac
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Final

import msgspec
from django.db import transaction
from django.db.models import Q

from vidence.errors import UsageError
from vidence.media.files import located
from vidence.studio.drafts import Conflict, Saved
from vidence.studio.records.items import ItemRow, TransitionRow
from vidence.studio.records.people import UserRow
from vidence.studio.records.studies import ParticipantRow, ResponseRow, StudyEventRow, StudyRow
from vidence.studio.settings import current
from vidence.studio.upkeep import overwrite_removed
from vidence.study.assignment import DrawnFolder
from vidence.study.folder import StudyAnswers
from vidence.study.frames import Picture, read_frames, shown_conditions
from vidence.study.problems import unreadable
from vidence.study.progress import Act, Course, Step, Trial
from vidence.study.study import Event, Participant, PlannedTrial, Response, read_study

_MOST_REQUEST: Final = 64
_MOST_IDENT: Final = 200
_MOST_LATE: Final = 1_000_000
_MOST_ALIKE: Final = 200
_WORD: Final = 32
_VALUES: Final = msgspec.json.Decoder(dict[str, str])
CLOSED: Final = "This study is closed. Your earlier answers are kept; no more are accepted."
_GONE: Final = Q(state__in=("declined", "withdrawn"))


# --------------------------------------------------------------------------- the folder of a study


@dataclass(frozen=True, kw_only=True)
class ServedFolder(DrawnFolder):
    """The parts of a study's folder that participants need, read once."""

    frames: Mapping[str, Mapping[str, tuple[Picture, ...]]]
    texts: Mapping[str, str]
    dealt: dict[int, tuple[PlannedTrial, ...]] = field(default_factory=dict)

    def pictures(self, trial: PlannedTrial) -> tuple[tuple[Path, float | None], ...]:
        """Return the pictures that a trial shows, with the time of each that shows one frame."""
        kept = self.frames.get(trial.item_id, {}).get(trial.condition, ())
        folder = self.file.folder
        return tuple(
            (folder / picture.file, picture.times_s[0] if len(picture.times_s) == 1 else None)
            for picture in kept
        )

    def trials(self, slot: int, responses: Sequence[Response] = ()) -> tuple[PlannedTrial, ...]:
        """Return a participant's trials; computed once if no answer affects them."""
        known = self.dealt.get(slot)
        if known is not None:
            return known
        trials = super().trials(slot, responses)
        if all(phase.items == "all" for phase in self.study.phases):
            self.dealt[slot] = trials
        return trials

    def text(self, name: str) -> str:
        """Read a text for participants from a file next to study.toml; empty without a name."""
        return self.texts.get(name, "")


def read_folder(folder: Path, sha256: str = "") -> ServedFolder:
    """Read a drawn study.

    Args:
        folder: holds study.toml, and what was drawn by it.
        sha256: of study.toml as it was when the study was opened; empty before.

    Raises:
        UsageError: it was changed since it was drawn or opened, it was not drawn, or a text is not there.
        DataError: what was drawn cannot be read.
    """
    file = read_study(folder)
    text = DrawnFolder.read(file)
    if file.sha256 != text.drawn.study_sha256:
        raise UsageError(f"{file.path} was changed after it was drawn; draw it again: vidence study draw")
    if sha256 and file.sha256 != sha256:
        raise UsageError(
            f"{file.path} was changed after the study was opened; put it back as it was, or copy the folder "
            "and open the copy as another study"
        )
    frames = read_frames(folder).items if shown_conditions(file) else {}
    texts = dict.fromkeys(filter(None, (file.study.consent, file.study.debrief)), "")
    for name in texts:
        if why := unreadable(folder / name):
            raise UsageError(why)
        texts[name] = (folder / name).read_text(encoding="utf-8")
    return ServedFolder(**vars(text), frames=frames, texts=texts)


def open_study(folder: Path, *, is_recruited: bool = False) -> StudyRow:
    """Open a drawn study; an open one stays open, with a shared link if requested.

    Raises:
        UsageError: it is closed, was not drawn, or a medium of it is not on this machine.
    """
    folder = folder.resolve()
    drawn = read_folder(folder)
    for item in drawn.items.values():
        for medium in item.media:
            place = located(folder, medium)
            if not isinstance(place, Path) or not place.exists():
                raise UsageError(
                    f"{item.item_id}: {place} is not on this machine, and only local files can be shown; "
                    "fetch it (vidence get), then draw the study again"
                )
    with transaction.atomic():
        row: StudyRow
        row, _ = StudyRow.objects.get_or_create(
            folder=str(folder),
            defaults={
                "title": (drawn.study.title or folder.name)[:300],
                "sha256": drawn.file.sha256,
                "state": "open",
                "opened_at": current().settings.clock(),
            },
        )
        read_folder(folder, row.sha256)
        if row.state == "closed":
            raise UsageError(f"{folder} is closed; copy the folder to run it as another study")
        if is_recruited and not row.key:
            row.key = _new_key()
            row.save(update_fields=["key"])
    return row


def invite(study: StudyRow, n: int) -> list[ParticipantRow]:
    """Create personal links."""
    with transaction.atomic():
        return [_add(study, state="invited", recruited="link", key=_new_key()) for _ in range(n)]


def _add(study: StudyRow, **columns: object) -> ParticipantRow:
    """Create a participant with the next slot and its pseudonym; call it in a transaction.

    In the place of one who refused or withdrew comes a slot with the same share of the design.
    """
    StudyRow.objects.select_for_update().get(pk=study.pk)
    n, rows = folder_of(study).study.n_people, ParticipantRow.objects.filter(study=study)
    used = set(rows.values_list("slot", flat=True))
    shares = {slot % n for slot in rows.exclude(_GONE).values_list("slot", flat=True)}
    free = (slot for slot in range(len(used) + n) if slot not in used and slot % n not in shares)
    slot = next(free, max(used, default=-1) + 1)
    row: ParticipantRow = ParticipantRow.objects.create(
        study=study, slot=slot, name=f"P{slot + 1:02d}", **columns
    )
    return row


def _new_key() -> str:
    return secrets.token_urlsafe(16)


# --------------------------------------------------------------------------- ways in


@dataclass(frozen=True, kw_only=True)
class Invitation:
    """The target of a link: its participant, or None if consent creates a new one.

    `recruited` is how; `ident` and `parameters` are of a recruiter, `user` is the account.
    """

    study: StudyRow
    recruited: str
    participant: ParticipantRow | None = None
    ident: str = ""
    parameters: Mapping[str, str] = field(default_factory=dict)
    user: UserRow | None = None


def invitation_of(study: StudyRow, key: str, parameters: Mapping[str, str]) -> Invitation | None:
    """Return the target of a link with a key; None if there is no such link.

    Args:
        study: the study.
        key: of the link.
        parameters: of the address, as a recruiter adds them.

    Raises:
        UsageError: the recruiter's parameter is absent, or too long.
    """
    if study.key and hmac.compare_digest(study.key.encode(), key.encode()):
        recruit = folder_of(study).study.recruit
        ident_sent = parameters.get(recruit.participant, "")
        if not 0 < len(ident_sent) <= _MOST_IDENT:
            raise UsageError(
                f"the address has no {recruit.participant}, by which this study identifies participants; "
                "open it from the site that invited you"
            )
        ident = _ident(ident_sent)
        kept = {name: parameters[name][:_MOST_IDENT] for name in recruit.others if name in parameters}
        return Invitation(
            study=study,
            recruited="recruiter",
            participant=ParticipantRow.objects.filter(study=study, ident=ident).first(),
            ident=ident,
            parameters={recruit.participant: ident_sent, **kept},
        )
    participant = ParticipantRow.objects.filter(study=study, key=key).first() if key else None
    return None if participant is None else Invitation(study=study, recruited="link", participant=participant)


def invitation_of_account(study: StudyRow, user: UserRow) -> Invitation:
    """Return the target of a study's page for accounts."""
    ident = _ident(f"account\0{user.pk}")
    participant = ParticipantRow.objects.filter(study=study, ident=ident).first()
    return Invitation(study=study, recruited="account", participant=participant, ident=ident, user=user)


def _ident(words: str) -> str:
    """Return a participant's identifier, which only the studio's secret can produce."""
    return hmac.new(current().secret, words.encode(), hashlib.sha256).hexdigest()


def enter(invitation: Invitation, *, agrees: bool, word: str = "") -> str:
    """Record consent or refusal, or let a participant continue in another browser.

    Args:
        invitation: what the link leads to.
        agrees: whether they consent.
        word: of the page of consent, which the browser keeps; the same when it is sent again.

    Returns:
        The word that the browser's cookie keeps; empty after a refusal, of which nothing is kept.

    Raises:
        UsageError: the link was used already, all places are taken, or one who takes part refuses.
    """
    word = word if len(word) == _WORD else _new_key()
    with transaction.atomic():
        study = StudyRow.objects.select_for_update().get(pk=invitation.study.pk)
        if study.state == "closed":
            raise UsageError(CLOSED)
        rows = ParticipantRow.objects.select_for_update().filter(study=study)
        known = invitation.participant  # or who came by the same way since
        row = rows.filter(Q(pk=known.pk) if known else Q(ident=invitation.ident)).first()
        if row is not None and not agrees and row.state in ("begun", "finished"):
            raise UsageError(TAKES_PART)
        if row is not None and invitation.recruited == "link" and row.browser not in ("", digest_of(word)):
            raise UsageError(USED)
        if not agrees:
            if row is not None and row.state == "invited":
                row.state, row.key = "declined", ""
                row.save()
            return ""
        if row is None:
            taking = ParticipantRow.objects.filter(study=study).exclude(_GONE)
            if taking.count() >= folder_of(study).study.n_people:
                raise UsageError("All places of this study are taken. Thank you for your interest.")
            row = _add(
                study,
                state="invited",
                recruited=invitation.recruited,
                ident=invitation.ident,
                parameters=dict(invitation.parameters),
                user=invitation.user,
            )
        row.browser = digest_of(word)
        if row.state == "invited":
            row.state, row.began_at = "begun", current().settings.clock()
            note(row, "consented")
        row.save()
    return word


TAKES_PART: Final = (
    "You are already taking part in this study. To end your part, continue and press Leave the study: what "
    "you wrote is then removed."
)
USED: Final = (
    "This link was already used in another browser, which has your answers. Continue there. If you cannot, "
    "ask the people who invited you for another link: you continue where you stopped."
)


def another_link(participant: ParticipantRow) -> None:
    """Create a new link for a participant to continue in another browser; the old one becomes invalid."""
    participant.key, participant.browser = _new_key(), ""
    participant.save(update_fields=["key", "browser"])


def digest_of(word: str) -> str:
    """Return the stored digest of a browser cookie's secret."""
    return hashlib.sha256(word.encode()).hexdigest()


def folder_of(study: StudyRow) -> ServedFolder:
    """Return an opened study's folder, read once per process."""
    return _kept_folder(Path(study.folder), study.sha256)


_kept_folder = lru_cache(maxsize=8)(read_folder)


# --------------------------------------------------------------------------- a participant at a moment


class Seat:
    """A participant of a study, from the database.

    Args:
        row: the participant.
    """

    def __init__(self, row: ParticipantRow) -> None:
        self.row, self.study = row, row.study
        self.folder = folder_of(row.study)
        self.now = current().settings.clock()
        self.rows = {value.place: value for value in ResponseRow.objects.filter(participant=row)}
        happened = StudyEventRow.objects.filter(participant=row).order_by("pk")
        self.events = tuple(_event(entry, row.name) for entry in happened)

    @cached_property
    def trials(self) -> tuple[PlannedTrial, ...]:
        """Return the participant's trials, without items that they wrote or reviewed."""
        answered = [response_of(row, self.row.name) for row in self.rows.values()]
        planned = self.folder.trials(self.row.slot, answered)
        own = _own_items(self.row.user)
        return tuple(trial for trial in planned if trial.item_id not in own)

    @cached_property
    def course(self) -> Course:
        """Return the participant's course, which decides what comes next and what is accepted."""
        return Course(
            study=self.folder.study,
            trials=self.trials,
            events=self.events,
            responses={
                place: response_of(row, self.row.name, is_draft=True) for place, row in self.rows.items()
            },
            n_choices=self.folder.drawn.n_choices,
            taxonomy=self.folder.taxonomy,
            # In what was seen a quote of a reply is looked for.
            shown={
                trial.place: self.folder.shown(trial)
                for trial in self.trials
                if trial.run and trial.place in self.rows
            },
        )

    def step(self, place: int | None = None) -> Step:
        """Return what the participant sees now.

        Args:
            place: of the trial that they went to.
        """
        return self.course.step(self.now, place=place)

    def trial_at(self, place: int) -> Trial | None:
        """Return the trial at a place, if it is the current one."""
        step = self.step(place)
        return step if isinstance(step, Trial) and step.planned.place == place else None

    def ran_out(self, step: Trial | None = None) -> bool:
        """Whether a clock ended the previous step: the previous trial, or (without one) the last part."""
        began = [event.note for event in self.events if event.kind == "phase-began"]
        if not began:
            return False
        phase = self.folder.study.phase(began[-1])
        own = self.course.of_phase(phase)
        if step is not None:
            own = () if step.may_leave else own[: step.place_in_phase][-1:]
        elif self.course.phase_ended(phase, self.now) is None:
            return False
        rows = (self.rows.get(trial.place) for trial in own)
        return any(row is None or row.answered_at is None for row in rows)

    def planned(self, place: int) -> PlannedTrial | None:
        """Return the plan of the trial at a place."""
        return next((trial for trial in self.trials if trial.place == place), None)


def planned_at(row: ParticipantRow, place: int) -> PlannedTrial | None:
    """Return the plan of a shown trial; None if it was not shown."""
    kept = ResponseRow.objects.filter(participant=row, place=place).values_list("trial", flat=True).first()
    return None if kept is None else msgspec.json.decode(kept, type=PlannedTrial)


def response_of(row: ResponseRow, name: str, *, is_draft: bool = False) -> Response:
    """Return a trial's response: as handed in, or the current draft."""
    answered = row.answered_at
    return Response(
        participant=name,
        trial=msgspec.json.decode(row.trial, type=PlannedTrial),
        values=_VALUES.decode(row.draft if is_draft or answered is None else row.entered),
        seconds=0.0 if answered is None else (answered - row.shown_at).total_seconds(),
        n_plays=row.n_plays,
        n_changes=row.n_changes,
        late_frames=row.late_frames,
        problem=row.problem,
        shown_at=row.shown_at.isoformat(),
        answered_at="" if answered is None else answered.isoformat(),
    )


def _event(row: StudyEventRow, name: str) -> Event:
    return Event(participant=name, at=row.at.isoformat(), kind=row.kind, place=row.place, note=row.note)


def _own_items(user: UserRow | None) -> frozenset[str]:
    """Return the ids of this studio's items that an account wrote or reviewed."""
    if user is None:
        return frozenset()
    by = TransitionRow.objects.filter(by=user.pseudonym).values("item")
    return frozenset(ItemRow.objects.filter(Q(author=user) | Q(pk__in=by)).values_list("item_id", flat=True))


def locked(row: ParticipantRow) -> Seat:
    """Lock a participant until the transaction ends.

    Raises:
        UsageError: the study is closed.
    """
    fresh = ParticipantRow.objects.select_for_update().get(pk=row.pk)
    # The study is read after the lock, not with it: `close_study` may have been waited for.
    if fresh.study.state == "closed":
        raise UsageError(CLOSED)
    return Seat(fresh)


def note(row: ParticipantRow, kind: str, *, place: int | None = None, words: str = "") -> None:
    """Append to a participant's log, with a limit per kind and trial."""
    at = current().settings.clock()
    if StudyEventRow.objects.filter(participant=row, kind=kind, place=place).count() < _MOST_ALIKE:
        StudyEventRow.objects.create(participant=row, at=at, kind=kind, place=place, note=words)


# --------------------------------------------------------------------------- what participants do


def show(row: ParticipantRow, place: int) -> tuple[Seat, Trial, ResponseRow] | None:
    """Return the trial at a place, logging its first display; None if it is not the current one.

    Raises:
        UsageError: the study is closed.
    """
    with transaction.atomic():
        seat = locked(row)
        trial = seat.trial_at(place)
        if trial is None:
            return None
        if place in seat.rows:
            return seat, trial, seat.rows[place]
        fresh = ResponseRow.objects.create(
            participant=seat.row,
            place=place,
            trial=msgspec.json.encode(trial.planned).decode(),
            saved_at=seat.now,
            shown_at=seat.now,
        )
        note(seat.row, "shown", place=place)
        seat = Seat(seat.row)
        return seat, seat.trial_at(place) or trial, fresh


@dataclass(frozen=True, kw_only=True)
class Written:
    """A trial's values as sent by a browser, with letters in the item's own order.

    `seen` is the version that it was written on, `request` a word that is the same when it is sent again.
    """

    act: Act
    place: int
    values: Mapping[str, str]
    seen: int
    request: str
    field: str = ""


def write(row: ParticipantRow, sent: Written) -> Saved | Conflict:
    """Store what was filled in, completely or not at all.

    Raises:
        UsageError: it may not be taken; the message can be shown to the participant.
    """
    if not 0 < len(sent.request) <= _MOST_REQUEST:
        raise UsageError(f"a request of {len(sent.request)} characters; expected 1 to {_MOST_REQUEST}")
    with transaction.atomic():
        seat = locked(row)
        kept = seat.rows.get(sent.place)
        if kept is None:
            raise UsageError("this trial has not been shown yet; go back to the page of the study")
        if kept.request == sent.request:
            return Saved(version=kept.version, at=kept.saved_at.isoformat())
        planned = msgspec.json.decode(kept.trial, type=PlannedTrial)
        may_change = seat.folder.study.phase(planned.phase).may_change
        is_closed = kept.answered_at is not None and not may_change
        if is_closed or sent.seen != kept.version:
            at = kept.saved_at.isoformat()
            return Conflict(version=kept.version, at=at, body=kept.draft, is_closed=is_closed)
        seat.course.admit(sent.act, sent.values, place=sent.place, now=seat.now, field=sent.field)
        frozen = {event.note for event in seat.events if event.kind == "frozen" and event.place == sent.place}
        held = {name: value for name, value in _VALUES.decode(kept.draft).items() if name in frozen}
        values = {name: value for name, value in sent.values.items() if value.strip()} | held
        kept.draft = msgspec.json.encode(values).decode()
        kept.version, kept.request, kept.saved_at = kept.version + 1, sent.request, seat.now
        if sent.act == "submit":
            kept.n_changes += kept.answered_at is not None and kept.entered != kept.draft
            kept.entered, kept.answered_at = kept.draft, seat.now
            note(seat.row, "answered", place=sent.place)
        elif sent.act == "freeze":
            note(seat.row, "frozen", place=sent.place, words=sent.field)
        kept.save()
    return Saved(version=kept.version, at=kept.saved_at.isoformat())


def happened(row: ParticipantRow, kind: str, *, place: int, n: int = 1, words: str = "") -> None:
    """Log an event of a trial: ``played``, ``late-frames``, or a ``problem``.

    Raises:
        UsageError: the study is closed, the trial is not seen now, or it was played as often as it may be.
    """
    with transaction.atomic():
        seat = locked(row)
        kept, trial = seat.rows.get(place), seat.trial_at(place)
        if kept is None or trial is None:
            raise UsageError("this trial is not open; go back to the page of the study")
        if kind == "played":
            most = seat.folder.study.phase(trial.planned.phase).most_plays
            if most and kept.n_plays >= most:
                raise UsageError(f"it can be played {most} times, and has been")
            kept.n_plays += 1
        elif kind == "late-frames":
            kept.late_frames = min(kept.late_frames + n, _MOST_LATE)
        else:
            kept.problem = words
        kept.save()
        note(seat.row, kind, place=place, words=words)


def act(row: ParticipantRow, what: str, *, px_per_cm: float | None = None, part: int | None = None) -> None:
    """Perform the act of a page other than a trial's: ``calibrate``, ``begin``, ``end-part`` or ``finish``.

    Args:
        row: the participant.
        what: is asked for.
        px_per_cm: of their screen, as they have measured it.
        part: the place of the phase that the page showed; of another one nothing is begun or ended.

    Raises:
        UsageError: it is not what comes now, or the study is closed.
    """
    with transaction.atomic():
        seat = locked(row)
        now = seat.step()
        step, phase = type(now).__name__, getattr(now, "phase", None)
        words = "" if phase is None else phase.name
        if phase is not None and part not in (None, seat.folder.study.phases.index(phase)):
            return
        if (what, step) == ("calibrate", "Calibration") and px_per_cm is not None:
            seat.row.px_per_cm = px_per_cm
            note(seat.row, "calibrated")
        elif (what, step) == ("begin", "Begin"):
            note(seat.row, "phase-began", words=words)
        elif (what, step) == ("end-part", "Review"):
            note(seat.row, "phase-ended", words=words)
        elif (what, step) == ("finish", "Debrief"):
            seat.row.state, seat.row.ended_at = "finished", seat.now
            note(seat.row, "finished")
        elif step not in ("Trial", "Begin", "Review", "Debrief", "Ended"):
            raise UsageError("this step is no longer current; reload the page")
        seat.row.save()


def withdraw(row: ParticipantRow) -> None:
    """Withdraw a participant: delete what they wrote and identifying data; counts stay.

    What is left of an account or a recruiter's id is a digest, by which the same person is not taken again.
    """
    with transaction.atomic():
        person = ParticipantRow.objects.select_for_update().get(pk=row.pk)
        if person.state == "withdrawn":
            return
        ResponseRow.objects.filter(participant=person).update(
            draft="{}", entered="{}", problem="", request=""
        )
        noted = StudyEventRow.objects.filter(participant=person, kind__in=("problem", "late-frames"))
        noted.update(note="")
        person.state, person.ended_at = "withdrawn", current().settings.clock()
        person.key, person.browser, person.parameters, person.user = "", "", {}, None
        person.save()
        note(person, "withdrawn")
    overwrite_removed()


# --------------------------------------------------------------------------- what comes of a study


def close_study(study: StudyRow) -> None:
    """Close a study to further answers, after current writes; closing again changes nothing."""
    with transaction.atomic():
        StudyRow.objects.filter(pk=study.pk, state="open").update(
            state="closed", closed_at=current().settings.clock()
        )
        list(ParticipantRow.objects.select_for_update().filter(study=study).order_by("pk"))
    study.refresh_from_db()


def answers_of(study: StudyRow) -> StudyAnswers:
    """Return all participants' data, by pseudonym."""
    rows = list(ParticipantRow.objects.filter(study=study).order_by("slot"))
    responses = ResponseRow.objects.filter(participant__study=study).order_by("participant__slot", "place")
    events = StudyEventRow.objects.filter(participant__study=study).order_by("pk")
    return StudyAnswers(
        participants=tuple(map(_participant, rows)),
        responses=tuple(
            response_of(row, row.participant.name) for row in responses.select_related("participant")
        ),
        events=tuple(_event(row, row.participant.name) for row in events.select_related("participant")),
    )


def _participant(row: ParticipantRow) -> Participant:
    def text(at: datetime | None) -> str:
        return "" if at is None else at.isoformat()

    return msgspec.convert(
        {
            "name": row.name,
            "slot": row.slot,
            "state": row.state,
            "recruited": row.recruited,
            "own_items": tuple(sorted(_own_items(row.user) & folder_of(row.study).items.keys())),
            "calibration_px_per_cm": row.px_per_cm,
            "began_at": text(row.began_at),
            "ended_at": text(row.ended_at),
        },
        Participant,
    )
