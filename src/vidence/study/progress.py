"""Decide what a participant sees next and may send, from the log and the server's clock alone."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final, Literal, TypeAlias

import msgspec

from vidence.errors import UsageError
from vidence.explain.errors.taxonomies import Taxonomy
from vidence.study.forms import faults_of, is_asked
from vidence.study.replies import ShownTrial
from vidence.study.study import Event, Field, Phase, PlannedTrial, Response, Study

GRACE_S: Final = 5.0
"""How long after the end of a phase or a trial what was sent in time is still taken."""
Act: TypeAlias = Literal["save", "freeze", "submit"]


@dataclass(frozen=True, kw_only=True)
class Consent:
    """Instructions and consent; nothing is stored before consent."""


@dataclass(frozen=True, kw_only=True)
class Calibration:
    """Measurement of the participant's screen size."""


@dataclass(frozen=True, kw_only=True)
class Begin:
    """A phase is open; its clock starts when the participant begins."""

    phase: Phase
    n_trials: int


@dataclass(frozen=True, kw_only=True)
class Trial:
    """A trial: `place_in_phase` counts from 0 among the `n_in_phase` of its phase (or of practice).

    `fields_open` can be filled in, `frozen` are the values that cannot be changed any more, `kept` those of
    the phase before that stay where nothing else is given. With `may_leave` the participant can go to any
    trial of the phase, and end the phase. `seconds_left` is None without a limit.
    """

    planned: PlannedTrial
    fields_open: tuple[str, ...]
    frozen: dict[str, str]
    seconds_left: float | None
    place_in_phase: int
    n_in_phase: int
    may_leave: bool = False
    kept: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Review:
    """All trials of a phase are answered and can be changed until the participant or the clock ends it."""

    phase: Phase
    places: tuple[int, ...]
    seconds_left: float | None


@dataclass(frozen=True, kw_only=True)
class Waiting:
    """The next phase opens later."""

    phase: Phase
    until: datetime


@dataclass(frozen=True, kw_only=True)
class Debrief:
    """All phases have ended; the debriefing is shown, and behind it the end."""


@dataclass(frozen=True, kw_only=True)
class Ended:
    """The study is over for this participant."""

    state: Literal["declined", "withdrawn", "finished"]


Step: TypeAlias = Consent | Calibration | Begin | Trial | Review | Waiting | Debrief | Ended


@dataclass(frozen=True, kw_only=True)
class Course:
    """One participant's progress through a study, according to the log.

    `trials` are those of `assignment.all_trials`; `responses` are by place, also those that were saved and
    not submitted (without `answered_at`); `n_choices` are those of the drawn items. `taxonomy` has the kinds
    of errors; `shown` what trials show, by place, in which quotes are looked for.
    """

    study: Study
    trials: Sequence[PlannedTrial]
    events: Sequence[Event]
    responses: Mapping[int, Response]
    n_choices: Mapping[str, int]
    taxonomy: Taxonomy | None = None
    shown: Mapping[int, ShownTrial] = field(default_factory=dict)

    # ------------------------------------------------------------------ where they are

    def step(self, now: datetime, *, place: int | None = None) -> Step:
        """Return what the participant sees.

        Args:
            now: the server's time.
            place: of the trial that they went to, in a phase whose answers may be changed.
        """
        if ended := self._ended():
            return ended
        if not self._at("consented"):
            return Consent()
        if self.study.calibrates and not self._at("calibrated"):
            return Calibration()
        practice = [trial for trial in self.trials if trial.kind == "practice"]
        if open_now := [trial for trial in practice if self._is_open(trial, now)]:
            return self._trial(open_now[0], practice, now)
        for phase in self.study.phases:
            own = self.of_phase(phase)
            if not own or self.phase_ended(phase, now) is not None:
                continue
            return self._in_phase(phase, own, now, place=place)
        return Debrief()

    def _ended(self) -> Ended | None:
        kinds = {event.kind for event in self.events}
        if "withdrawn" in kinds:
            return Ended(state="withdrawn")
        if "declined" in kinds:
            return Ended(state="declined")
        return Ended(state="finished") if "finished" in kinds else None

    def _in_phase(
        self, phase: Phase, own: Sequence[PlannedTrial], now: datetime, *, place: int | None
    ) -> Step:
        if self._at("phase-began", note=phase.name) is None:
            opens_at = datetime.fromisoformat(phase.opens_at) if phase.opens_at else now
            if opens_at > now:
                return Waiting(phase=phase, until=opens_at)
            return Begin(phase=phase, n_trials=len(own))
        wanted = next((trial for trial in own if trial.place == place), None)
        if wanted is not None and phase.may_change and not self._is_late(wanted, now):
            return self._trial(wanted, own, now)
        if left := [trial for trial in own if self._is_open(trial, now)]:
            return self._trial(left[0], own, now)
        return Review(
            phase=phase,
            places=tuple(trial.place for trial in own),
            seconds_left=_left(self._phase_end(phase), now),
        )

    def _trial(self, planned: PlannedTrial, own: Sequence[PlannedTrial], now: datetime) -> Trial:
        phase = self.study.phase(planned.phase)
        is_timed = planned.kind != "practice"
        ends = [self._trial_end(planned), self._phase_end(phase) if is_timed else None]
        seconds = [left for end in ends if (left := _left(end, now)) is not None]
        return Trial(
            planned=planned,
            fields_open=tuple(field.name for field in self._fields_open(planned)),
            frozen={name: self._values(planned).get(name, "") for name in self._frozen(planned)},
            seconds_left=min(seconds) if seconds else None,
            place_in_phase=list(own).index(planned),
            n_in_phase=len(own),
            may_leave=is_timed and phase.may_change,
            kept=self._kept(planned),
        )

    def _kept(self, planned: PlannedTrial) -> Mapping[str, str]:
        phase = self.study.phase(planned.phase)
        before = self.study.phases[max(0, self.study.phases.index(phase) - 1)]
        if planned.kind != "asked" or not phase.keeps or before is phase:
            return {}
        of = (planned.item_id, planned.repeat, planned.run)
        kept = self.study.answers_in(before.name, self.responses.values())
        trials = {(r.trial.item_id, r.trial.repeat, r.trial.run): r.values for r in kept}
        return trials.get(of, {})

    # ------------------------------------------------------------------ clocks

    def of_phase(self, phase: Phase) -> tuple[PlannedTrial, ...]:
        """The trials of a phase; practice is before all phases."""
        return tuple(trial for trial in self.trials if trial.phase == phase.name and trial.kind != "practice")

    def phase_ended(self, phase: Phase, now: datetime) -> datetime | None:
        """When a phase ended; None if it has not begun or goes on.

        It ends by its clock, by the participant's word, or (where nothing may be changed) when its last
        trial is answered or has run out.
        """
        if self._at("phase-began", note=phase.name) is None:
            return None
        ends = [self._at("phase-ended", note=phase.name), self._phase_end(phase)]
        own = self.of_phase(phase)
        if not phase.may_change and own and not any(self._is_open(trial, now) for trial in own):
            ends.append(max(self._answered_at(t) or self._trial_end(t) or now for t in own))
        over = [end for end in ends if end is not None and end <= now]
        return min(over) if over else None

    def _phase_end(self, phase: Phase) -> datetime | None:
        began = self._at("phase-began", note=phase.name)
        return None if began is None or phase.limit_s is None else began + timedelta(seconds=phase.limit_s)

    def _trial_end(self, planned: PlannedTrial) -> datetime | None:
        limit_s = self.study.phase(planned.phase).trial_limit_s
        moment = self._at("shown", place=planned.place)
        return None if limit_s is None or moment is None else moment + timedelta(seconds=limit_s)

    def _answered_at(self, planned: PlannedTrial) -> datetime | None:
        response = self.responses.get(planned.place)
        at = response.answered_at if response is not None else ""
        return datetime.fromisoformat(at) if at else None

    def _is_late(self, planned: PlannedTrial, now: datetime) -> bool:
        end = self._trial_end(planned)
        return end is not None and end <= now

    def _is_open(self, planned: PlannedTrial, now: datetime) -> bool:
        return self._answered_at(planned) is None and not self._is_late(planned, now)

    def _at(self, kind: str, *, note: str | None = None, place: int | None = None) -> datetime | None:
        """Return the time of the first event of a kind."""
        for event in self.events:
            if event.kind == kind and note in (None, event.note) and place in (None, event.place):
                return datetime.fromisoformat(event.at)
        return None

    # ------------------------------------------------------------------ what may be taken

    def admit(
        self, act: Act, values: Mapping[str, str], *, place: int, now: datetime, field: str = ""
    ) -> None:
        """Check whether data sent about a trial are accepted; nothing is changed.

        Args:
            act: ``save`` what was filled in so far, ``freeze`` the field `field`, or ``submit`` the trial.
            values: those of the trial, letters in the item's own order; empty ones are not filled in, and
                those of frozen fields can be left out.
            place: of the trial.
            now: the server's time.
            field: the field that is frozen.

        Raises:
            UsageError: it may not; the message can be shown to the participant.
        """
        if ended := self._ended():
            words = {"finished": "you have finished it", "withdrawn": "you have withdrawn from it"}
            raise UsageError(f"the study is over for you: {words.get(ended.state, 'you have declined it')}")
        planned = next((trial for trial in self.trials if trial.place == place), None)
        if planned is None or not self._at("consented"):
            raise UsageError("this trial is not yours; go back to the page of the study")
        self._check_open(planned, now)
        values = {name: value for name, value in values.items() if value.strip()}
        held = self._values(planned)
        for name in self._frozen(planned):
            if values.setdefault(name, held.get(name, "")) != held.get(name, ""):
                raise UsageError(f"{name} was sent as {held.get(name)!r} and can no longer be changed")
        self._check_values(act, values, planned)
        if act == "freeze":
            freezing = [entry.name for entry in self._fields_open(planned, values) if entry.is_frozen]
            if field not in freezing or field not in values:
                raise UsageError(f"{field} cannot be sent yet; fill it in first")

    def _check_open(self, planned: PlannedTrial, now: datetime) -> None:
        phase, grace = self.study.phase(planned.phase), timedelta(seconds=GRACE_S)
        if planned.kind != "practice" and self._at("phase-began", note=phase.name) is None:
            raise UsageError("this part of the study has not begun yet")
        if self._answered_at(planned) is not None and not phase.may_change:
            raise UsageError("this trial is answered, and answers cannot be changed here")
        if planned.kind != "practice":
            later = self.study.phases[self.study.phases.index(phase) + 1 :]
            is_past = any(self._at("phase-began", note=entry.name) for entry in later)
            ended_at, end = self._at("phase-ended", note=phase.name), self._phase_end(phase)
            if is_past or ended_at is not None or (end is not None and end + grace < now):
                raise UsageError("this part of the study has ended; its answers are final")
        end = self._trial_end(planned)
        if end is not None and end + grace < now:
            raise UsageError("the time for this trial has run out; continue with the next")

    def _values(self, planned: PlannedTrial) -> Mapping[str, str]:
        response = self.responses.get(planned.place)
        return {} if response is None else response.values

    def _frozen(self, planned: PlannedTrial) -> tuple[str, ...]:
        place = planned.place
        return tuple(e.note for e in self.events if e.kind == "frozen" and e.place == place)

    def _reached(self, planned: PlannedTrial, values: Mapping[str, str]) -> list[Field]:
        """Return the fields up to the first that is still to be locked, including fields not asked."""
        frozen, reached = self._frozen(planned), list[Field]()
        for entry in self.study.fields_of(self.study.phase(planned.phase)):
            reached.append(entry)
            if entry.is_frozen and entry.name not in frozen and is_asked(entry, values):
                break
        return reached

    def _fields_open(self, planned: PlannedTrial, values: Mapping[str, str] | None = None) -> list[Field]:
        """The fields that can be filled in."""
        values, frozen = self._values(planned) if values is None else values, self._frozen(planned)
        reached = self._reached(planned, values)
        return [entry for entry in reached if entry.name not in frozen and is_asked(entry, values)]

    def _check_values(self, act: Act, values: Mapping[str, str], planned: PlannedTrial) -> None:
        fields, n_choices = self._reached(planned, values), self.n_choices.get(planned.item_id, 0)
        if act != "submit":
            fields = [msgspec.structs.replace(entry, is_optional=True) for entry in fields]
        faults = faults_of(
            fields,
            values,
            shown=self.shown.get(planned.place, ShownTrial()),
            letters=[chr(ord("A") + i) for i in range(n_choices)],
            taxonomy=self.taxonomy,
        )
        if faults:
            raise UsageError("; ".join(faults))
        now_open = self._fields_open(planned, values)
        if act == "submit" and now_open and now_open[-1].is_frozen:
            raise UsageError(f"{now_open[-1].name}: send it to see the rest")


def _left(end: datetime | None, now: datetime) -> float | None:
    return None if end is None else max(0.0, (end - now).total_seconds())
