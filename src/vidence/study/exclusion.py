"""Apply the exclusion rules of a study, and compute each participant's pay."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from statistics import median

import msgspec

from vidence.records import Record
from vidence.study.assignment import answer_field
from vidence.study.folder import StudyAnswers
from vidence.study.problems import catch_field
from vidence.study.study import Participant, Response, Study
from vidence.text import normal_form


def excluded(study: Study, answers: StudyAnswers) -> StudyAnswers:
    """Return the answers with the `Exclude` rules that each participant falls under."""
    participants = tuple(
        msgspec.structs.replace(
            participant, excluded=rules_against(study, participant, answers.of(participant.name))
        )
        for participant in answers.participants
    )
    return replace(answers, participants=participants)


def rules_against(study: Study, participant: Participant, responses: Sequence[Response]) -> tuple[str, ...]:
    """Return the names of the `Exclude` rules that exclude a participant.

    A catch trial that was shown and not answered is not right. Practice counts for no rule; the median time
    is that of the answered trials that are data. Who did not begin, declined or withdrew is out already.
    """
    rules, names = study.exclude, list[str]()
    if participant.state not in ("begun", "finished"):
        return ()
    caught = [response for response in responses if response.trial.kind == "catch"]
    if rules.catch_below is not None and caught:
        right = sum(is_caught_right(study, response) for response in caught) / len(caught)
        if right < rules.catch_below:
            names.append("catch_below")
    asked = [response for response in responses if response.trial.kind == "asked"]
    seconds = [response.seconds for response in asked if response.answered_at]
    if rules.faster_than_s is not None and seconds and median(seconds) < rules.faster_than_s:
        names.append("faster_than_s")
    if rules.without_calibration and participant.calibration_px_per_cm is None:
        names.append("without_calibration")
    failed = sum(study.failed(response) for response in asked) / len(asked) if asked else 0.0
    if rules.problems_above is not None and failed > rules.problems_above:
        names.append("problems_above")
    return tuple(names)


def is_caught_right(study: Study, response: Response) -> bool:
    """Return whether a catch trial was answered as instructed, ignoring case, punctuation and spaces."""
    field = catch_field(study)
    name = answer_field(study) if study.catch.items or field is None else field.name
    given, expected = response.values.get(name, "").strip(), response.trial.expected.strip()
    is_answer = name == answer_field(study) and bool(normal_form(expected))
    return given == expected or (is_answer and normal_form(given) == normal_form(expected))


class Wage(Record):
    """Pay of one participant: the parts of `Pay` and their sum, in its currency.

    `hours` are those of the phases, each from its begin to its end or last answer by the server's clock;
    `n_right` is settled after the end.
    """

    participant: str
    hours: float
    n_answers: int
    n_right: int
    amount: float


def wages(study: Study, answers: StudyAnswers, *, n_right: Mapping[str, int]) -> tuple[Wage, ...]:
    """Compute the pay of all participants who began; excluded ones are paid the same.

    Args:
        study: the study.
        answers: all answers.
        n_right: how many of each participant's answers are right; nothing is paid for what is not there.
    """
    return tuple(
        _wage(study, participant, answers, n_right=n_right.get(participant.name, 0))
        for participant in answers.participants
        if participant.state in ("begun", "finished", "withdrawn")
    )


def _wage(study: Study, participant: Participant, answers: StudyAnswers, *, n_right: int) -> Wage:
    asked = [r for r in answers.of(participant.name) if r.trial.kind == "asked" and r.answered_at]
    hours = sum(_seconds_in(phase.name, participant.name, answers) for phase in study.phases) / 3600
    pay = study.pay
    amount = pay.flat + pay.per_hour * hours + pay.per_answer * len(asked) + pay.per_right * n_right
    return Wage(
        participant=participant.name,
        hours=hours,
        n_answers=len(asked),
        n_right=n_right,
        amount=round(amount, 2),
    )


def _seconds_in(phase: str, participant: str, answers: StudyAnswers) -> float:
    """Return the seconds a participant spent on a phase; without a log, the sum over its trials."""
    own = [r for r in answers.of(participant) if r.trial.phase == phase and r.trial.kind != "practice"]
    at = {e.kind: e.at for e in reversed(answers.events_of(participant)) if e.note == phase}
    if "phase-began" not in at:
        return sum(r.seconds for r in own)
    ended = at.get("phase-ended") or max((r.answered_at for r in own), default="")
    began = datetime.fromisoformat(at["phase-began"])
    return max(0.0, (datetime.fromisoformat(ended or at["phase-began"]) - began).total_seconds())
