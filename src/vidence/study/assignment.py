"""Assign trials and their order to participants, from the seed and the participant's slot alone."""

import hashlib
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import pairwise
from statistics import median

import msgspec
import numpy as np

from vidence.engine.prepare import shuffled
from vidence.explain.errors.packet import PacketLine, read_packet
from vidence.explain.errors.taxonomies import Taxonomy
from vidence.records import Item, Record
from vidence.study.drawing import Drawn, ranked, read_drawn, read_items
from vidence.study.folder import StudyAnswers
from vidence.study.problems import catch_field
from vidence.study.replies import ShownTrial, Stimulus, lines_of, shown_trial, shows_replies, taxonomy_in
from vidence.study.study import Participant, Phase, PlannedTrial, Response, Study, StudyFile, TrialKind
from vidence.text import normal_form


def assignment(study: Study, drawn: Drawn, slot: int) -> tuple[PlannedTrial, ...]:
    """Return a participant's trials that do not depend on answers, in order of place.

    Practice comes first. Catch trials are spread over each phase and are never its first. Phases that ask
    again what was wrong have places kept for them, see `all_trials`.

    Args:
        study: the study.
        drawn: what was drawn for it.
        slot: of the participant, from 0; a design is complete after `Study.n_people` of them.
    """
    return _Deal(study, drawn, slot).fixed()


def all_trials(
    study: Study, drawn: Drawn, slot: int, *, responses: Sequence[Response], items: Mapping[str, Item]
) -> tuple[PlannedTrial, ...]:
    """Return a participant's trials that the answers so far determine, in order of place.

    Args:
        study: the study.
        drawn: what was drawn for it.
        slot: of the participant.
        responses: what was filled in so far.
        items: the drawn items.
    """
    deal = _Deal(study, drawn, slot)
    trials = [*deal.fixed()]
    for before, phase in pairwise(study.phases):
        if phase.items == "wrong":
            kept = study.kept_phases(before.name)
            asked = [t.item_id for t in trials if t.phase in kept and t.kind == "asked"]
            wrong = wrong_items(study, asked, before=before.name, responses=responses, items=items)
            trials += deal.again(phase, wrong)
    return tuple(sorted(trials, key=lambda trial: trial.place))


def wrong_items(
    study: Study,
    asked: Iterable[str],
    *,
    before: str,
    responses: Iterable[Response],
    items: Mapping[str, Item],
) -> frozenset[str]:
    """Return the ids of asked items without a right answer of the participant at the end of a phase.

    A choice is right by its letter. A text is right where it is the answer up to case, marks and blanks:
    another wording is asked again, and a judge marks it after the end.
    """
    name = answer_field(study)
    kept = study.answers_in(before, responses)
    given = {r.trial.item_id: r.values.get(name, "") for r in kept if not r.trial.repeat}
    return frozenset(i for i in asked if not is_right(items[i], given.get(i, "")))


def is_right(item: Item, value: str) -> bool:
    """Whether a value is the answer of an item, by its letter or word for word."""
    if item.answer_kind == "choice":
        return value == item.answer
    return bool(value.strip()) and normal_form(value) == normal_form(item.answer)


def answer_field(study: Study) -> str:
    """Return the name of the field that holds the answer to the item; empty if there is no such field."""
    return next((field.name for field in study.form if field.kind == "answer"), "")


def answer_phases(study: Study) -> tuple[Phase, ...]:
    """The phases that ask for the answer to the item."""
    return tuple(p for p in study.phases if any(field.kind == "answer" for field in study.fields_of(p)))


@dataclass(frozen=True, kw_only=True)
class DrawnFolder:
    """A study folder after `draw`; `lines` are the drawn replies by run and item."""

    file: StudyFile
    drawn: Drawn
    items: Mapping[str, Item]
    lines: Mapping[tuple[str, str], PacketLine]
    taxonomy: Taxonomy | None

    @classmethod
    def read(cls, file: StudyFile) -> "DrawnFolder":
        """Read the drawn study in the folder of `file`.

        Raises:
            DataError: nothing is drawn.
        """
        folder, has_replies = file.folder, shows_replies(file.study)
        return cls(
            file=file,
            drawn=read_drawn(folder),
            items=read_items(folder),
            lines=lines_of(read_packet(folder)) if has_replies else {},
            taxonomy=taxonomy_in(folder) if has_replies else None,
        )

    @property
    def study(self) -> Study:
        """The study as its operator wrote it."""
        return self.file.study

    @property
    def mark(self) -> str:
        """A digest that identifies this draw."""
        return hashlib.sha256(msgspec.json.encode(self.drawn)).hexdigest()[:12]

    def trials(self, slot: int, responses: Sequence[Response] = ()) -> tuple[PlannedTrial, ...]:
        """All trials of a participant as far as what was filled in decides them, see `all_trials`."""
        return all_trials(self.study, self.drawn, slot, responses=responses, items=self.items)

    def shown(self, trial: PlannedTrial) -> ShownTrial:
        """Return what a trial shows besides its media."""
        phase = self.study.phase(trial.phase)
        return shown_trial(self.items[trial.item_id], trial, phase, lines=self.lines)


class _Deal:
    """The stimuli of one participant: stimulus and repeat number, for each phase."""

    def __init__(self, study: Study, drawn: Drawn, slot: int) -> None:
        self.study, self.drawn, self.slot = study, drawn, slot
        self.seed = study.draw.seed
        self._asked: dict[str, list[tuple[Stimulus, int]]] = {}

    def fixed(self) -> tuple[PlannedTrial, ...]:
        """All trials but those of phases that ask what was wrong."""
        first = self.study.phases[0]
        trials = [
            self.trial(stimulus, first, place=place, kind="practice")
            for place, stimulus in enumerate(self.drawn.practice)
        ]
        for phase in self.study.phases:
            if phase.items == "all":
                trials += self.phase_trials(phase, self.asked_in(phase), first=self.first_place(phase))
        return tuple(trials)

    def again(self, phase: Phase, wrong: Collection[str]) -> tuple[PlannedTrial, ...]:
        """Return the trials of a phase that repeats some items."""
        asked = [pair for pair in self.asked_in(phase) if pair[0].item_id in wrong and not pair[1]]
        return self.phase_trials(phase, asked, first=self.first_place(phase)) if asked else ()

    # ------------------------------------------------------------------ which

    def asked_in(self, phase: Phase) -> list[tuple[Stimulus, int]]:
        """Return the stimuli of a phase in order; a phase of wrong items has those of the phase before."""
        if phase.name not in self._asked:
            self._asked[phase.name] = self._dealt(phase)
        return self._asked[phase.name]

    def _dealt(self, phase: Phase) -> list[tuple[Stimulus, int]]:
        place = self.study.phases.index(phase)
        if phase.items == "wrong":
            return self.asked_in(self.study.phases[place - 1])
        dealt = self.drawn.shown_in(phase.name)
        rank = {stimulus: i for i, stimulus in enumerate(ranked(dealt, f"deal/{self.seed}", name=_name))}
        again: list[Stimulus] = []
        if self.study.design == "split":
            dealt = tuple(
                s for s in dealt if self.slot % self.study.n_people in self._people(rank[s], len(rank))
            )
            n_again = round(self.study.overlap.again * len(dealt))
            again = ranked(dealt, f"again/{self.seed}/{self.slot}", name=_name)[:n_again]
        elif self.study.design == "latin-square":
            rotated = [entry for entry in self.study.phases if entry.items == "all"]
            turn = rotated.index(phase)
            dealt = tuple(s for s in dealt if (rank[s] + self.slot) % len(rotated) == turn)
        salt = f"order/{self.seed}/{self.slot}/{phase.name}"
        if self.study.order == "mixed":
            dealt = tuple(ranked(dealt, salt, name=_name))
            again = ranked(again, f"{salt}/again", name=_name)
        return [*((stimulus, 0) for stimulus in dealt), *((stimulus, 1) for stimulus in again)]

    def _people(self, rank: int, n: int) -> tuple[int, ...]:
        """Return the slots that get a stimulus in the design ``split``, by its rank among `n`."""
        n_people = self.study.n_people
        first = rank % n_people
        if rank >= round(self.study.overlap.two * n):
            return (first,)
        return first, (first + 1 + rank // n_people % (n_people - 1)) % n_people

    # ------------------------------------------------------------------ in which order

    def first_place(self, phase: Phase) -> int:
        """Return the first place of a phase, after as many trials as all earlier phases can have."""
        before = self.study.phases[: self.study.phases.index(phase)]
        n_catch = self.study.catch.n
        return len(self.drawn.practice) + sum(len(self.asked_in(entry)) + n_catch for entry in before)

    def phase_trials(
        self, phase: Phase, asked: Sequence[tuple[Stimulus, int]], *, first: int
    ) -> tuple[PlannedTrial, ...]:
        """The trials of a phase, catch trials among them, from a place on."""
        trials = [self.trial(stimulus, phase, repeat=repeat) for stimulus, repeat in asked]
        for at, item_id in sorted(self._catch(phase, len(trials)), reverse=True):
            trials.insert(at, self.trial(Stimulus(item_id=item_id), phase, kind="catch"))
        return tuple(msgspec.structs.replace(trial, place=first + i) for i, trial in enumerate(trials))

    def _catch(self, phase: Phase, n_asked: int) -> list[tuple[int, str]]:
        """Choose the positions of a phase's catch trials: one in each equal part, never first."""
        n = self.study.catch.n
        if not n or not n_asked:
            return []
        place = self.study.phases.index(phase)
        known = ranked(self.drawn.catch, f"catch/{self.seed}/{self.slot}")
        chosen = [known[(place * n + i) % len(known)] for i in range(n)]
        rng = np.random.default_rng(_seed(f"catch/{self.seed}/{self.slot}/{phase.name}"))
        edges = np.linspace(1, n_asked + 1, n + 1)
        places = [
            int(rng.integers(int(edges[i]), max(int(edges[i]), int(edges[i + 1]) - 1) + 1)) for i in range(n)
        ]
        return list(zip(places, chosen, strict=True))

    def trial(
        self, stimulus: Stimulus, phase: Phase, *, place: int = 0, kind: TrialKind = "asked", repeat: int = 0
    ) -> PlannedTrial:
        """A stimulus as a trial; which of two replies stands first is drawn for each participant."""
        run, other = stimulus.run, stimulus.other
        if other and _seed(f"side/{self.seed}/{self.slot}/{_name(stimulus)}")[0] % 2:
            run, other = other, run
        is_asking = kind == "catch" and not self.study.catch.items
        return PlannedTrial(
            place=place,
            phase=phase.name,
            kind=kind,
            item_id=stimulus.item_id,
            repeat=repeat,
            condition="none" if is_asking else phase.condition,
            choice_order=self._choice_order(stimulus.item_id, repeat),
            run=run,
            other=other,
            expected=self.drawn.catch[stimulus.item_id] if kind == "catch" else "",
        )

    def _choice_order(self, item_id: str, repeat: int) -> tuple[int, ...]:
        """The order of the choices; that of slot 0 is the one in which models are shown them."""
        n_choices = self.drawn.n_choices.get(item_id, 0)
        if not self.study.shuffle_choices or not n_choices:
            return ()
        own = f"/{self.slot}" if self.slot else ""
        return shuffled(f"{self.seed}/{item_id}/{repeat}{own}", n_choices)


def _name(stimulus: Stimulus) -> str:
    return "/".join((stimulus.item_id, stimulus.run, stimulus.other))


def _seed(words: str) -> list[int]:
    return list(hashlib.sha256(words.encode()).digest())


def excluded(study: Study, answers: StudyAnswers) -> StudyAnswers:
    """Return the answers with the `Exclude` rules that each participant falls under."""
    participants = tuple(
        msgspec.structs.replace(p, excluded=rules_against(study, p, answers.of(p.name)))
        for p in answers.participants
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
