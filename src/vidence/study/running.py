"""Turn a study into run folders, one per person; and run a model on the same plan."""

import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Final

import msgspec

from vidence.engine.environment import Environment
from vidence.engine.evaluate import own_run, run
from vidence.engine.events import Listener
from vidence.engine.people import EXCLUDED_FOLDER, PEOPLE_FOLDER
from vidence.engine.plan import Plan, PlanOverrides, flag_of, read_plan
from vidence.engine.prepare import changed_plan
from vidence.engine.store import RUN_FILE
from vidence.errors import StoreError, UsageError, cause
from vidence.explain.errors.packet import rows_as_jsonl
from vidence.media.whole import write_records
from vidence.records import Record
from vidence.study.assignment import DrawnFolder, answer_field, answer_phases, excluded
from vidence.study.drawing import read_drawn, read_items, study_plan
from vidence.study.folder import StudyAnswers, write_answers
from vidence.study.labels import counted, write_labels
from vidence.study.problems import frames_run
from vidence.study.progress import Course, Debrief
from vidence.study.study import Participant, Phase, PlannedTrial, Response, StudyFile

ANSWERS_FILE: Final = "answers.jsonl"
_OF_ITEMS: Final = ("where", "split", "limit", "sample", "sample_by", "seed", "shuffle_choices", "media")
_OF_FRAMES: Final = ("selector", "frames", "size", "layout", "jpeg_quality")


class PersonAnswer(Record):
    """An answer as ``person:`` models read it; `text` is empty if unanswered.

    `log` is a reply that describes and then chooses, as ``replay:FILE?text=log`` reads it.
    """

    item_id: str
    text: str
    reasoning: str = ""
    log: str = ""


# --------------------------------------------------------------------------- people


async def write_people(
    file: StudyFile, answers: StudyAnswers, *, environment: Environment, now: datetime, on_event: Listener
) -> tuple[StudyAnswers, tuple[Path, ...]]:
    """Write a run folder per person and phase, for people who finished and are not excluded.

    Whose phases have all ended by their clocks has finished, too.

    Those who finished and were left out have theirs apart, so that the score with them can be told.

    A phase has all items that were planned for the person in it. What was not answered is asked all the
    same and counts as wrong. A phase that keeps has the answers of the phase before with the new ones in
    their place.

    Returns:
        The answers with the exclusions beside the participants, and the run folders of people who count.

    Raises:
        DataError: nothing was drawn, or questions cannot be read.
        StoreError: a folder cannot be written, or holds another run.
    """
    study, drawn = file.study, DrawnFolder.read(file)
    answers = excluded(study, settled(drawn, answers, now=now))
    folders: list[Path] = []
    asking = answer_phases(study)
    for person in answers.participants:
        place = EXCLUDED_FOLDER if person.excluded else PEOPLE_FOLDER
        for other in (PEOPLE_FOLDER, EXCLUDED_FOLDER):
            if person.state != "finished" or other != place:
                for name in (person.name, *(f"{person.name}-{phase.name}" for phase in study.phases)):
                    _remove(file.folder / other / name)
        if person.state != "finished":
            continue
        own = answers.of(person.name)
        phases = {
            phase.name: rows
            for phase in asking
            if (rows := tuple(_rows(drawn, phase, person, responses=own)))
        }
        for name, rows in phases.items():
            called = f"{person.name}-{name}" if len(asking) > 1 else person.name
            folder = file.folder / place / called
            plan = _person_plan(file, called, rows, folder=folder, cache_root=environment.cache_root)
            await run(plan, folder, environment=environment, now=now, on_event=on_event)
            folders += [] if person.excluded else [folder]
    return answers, tuple(folders)


def settled(drawn: DrawnFolder, answers: StudyAnswers, *, now: datetime) -> StudyAnswers:
    """Return the answers with participants marked finished whose phases have all ended by the clock.

    Args:
        drawn: the study.
        answers: all answers.
        now: the server's time.
    """

    def is_over(participant: Participant) -> bool:
        own, events = answers.of(participant.name), answers.events_of(participant.name)
        if participant.state != "begun" or not events:
            return False
        course = Course(
            study=drawn.study,
            trials=_trials(drawn, participant, own),
            events=events,
            responses={r.trial.place: r for r in own},
            n_choices=drawn.drawn.n_choices,
        )
        return isinstance(course.step(now), Debrief)

    people = answers.participants
    return replace(
        answers,
        participants=tuple(msgspec.structs.replace(p, state="finished") if is_over(p) else p for p in people),
    )


def _remove(folder: Path) -> None:
    """Remove the run folder of a participant, if there is one.

    Raises:
        StoreError: it cannot be removed.
    """
    try:
        if (folder / RUN_FILE).is_file():
            shutil.rmtree(folder)
    except OSError as error:
        raise StoreError(
            f"cannot remove {folder}, of a participant excluded or with other answers: {cause(error)}"
        ) from error


def _trials(
    drawn: DrawnFolder, person: Participant, responses: Sequence[Response]
) -> tuple[PlannedTrial, ...]:
    """Return a person's trials, without generated items."""
    return tuple(t for t in drawn.trials(person.slot, responses) if t.item_id not in person.own_items)


def _rows(
    drawn: DrawnFolder, phase: Phase, person: Participant, *, responses: Sequence[Response]
) -> Iterator[PersonAnswer]:
    """Return a person's answers in a phase to the planned items."""
    study = drawn.study
    name = answer_field(study)
    given = {r.trial.item_id: r.values for r in study.answers_in(phase.name, responses) if not r.trial.repeat}
    trials, kept = _trials(drawn, person, responses), study.kept_phases(phase.name)
    planned = (t.item_id for t in trials if t.phase in kept and t.kind == "asked" and not t.repeat)
    words = [field.name for field in study.form if field.kind == "text"]
    for item_id in sorted(set(planned)):
        values = given.get(item_id, {})
        rows = "\n".join(values[word] for word in words if values.get(word))
        text = values.get(name, "")
        log = "\n".join(filter(None, (rows, f"Answer: {text}" if text else "")))
        yield PersonAnswer(item_id=item_id, text=text, reasoning=rows, log=log)


def _person_plan(
    file: StudyFile, name: str, rows: tuple[PersonAnswer, ...], *, folder: Path, cache_root: Path
) -> Plan:
    """Write the plan of a person's run; remove an existing run with other answers."""
    path = folder / ANSWERS_FILE
    content = rows_as_jsonl(rows)
    if path.is_file() and path.read_bytes() != content:
        _remove(folder)
    own_run(folder)
    write_records(path, rows)
    plan = study_plan(file, model=f"person:{name}?answers={path.resolve()}", cache_root=cache_root)
    return msgspec.structs.replace(
        plan, study=str(file.folder.resolve()), recorded_only=True, shuffle_choices=False, repeats=1
    )


# --------------------------------------------------------------------------- models


def model_plan(
    file: StudyFile, *, model: str, phase: str = "", overrides: PlanOverrides, cache_root: Path | None = None
) -> Plan:
    """Return the plan that runs a model on a phase: same items, choices and frames.

    Under ``whole`` and ``once`` a model is shown what the benchmark's protocol shows; the layout ``video``
    sends it the whole file. The order of the choices is that of the participant in slot 0.

    Args:
        file: the study, which was drawn.
        model: a model spec.
        phase: its name; empty: the first.
        overrides: other settings of the plan.
        cache_root: our cache folder.

    Raises:
        UsageError: the phase asks what only a person's earlier answers decide or shows replies; or a setting
            would change what the phase shows.
        DataError: nothing was drawn.
    """
    study = file.study
    asked = study.phase(phase) if phase else study.phases[0]
    read_drawn(file.folder)
    if asked.items == "wrong":
        raise UsageError(
            f"phase {asked.name!r} asks again what was wrong before; put the model through a phase that asks "
            f"all: {', '.join(entry.name for entry in study.phases if entry.items == 'all')}"
        )
    if asked.shows != ("question",) or asked not in answer_phases(study):
        raise UsageError(
            f"phase {asked.name!r} shows {', '.join(asked.shows)}, and asks for "
            f"{', '.join(field.name for field in study.fields_of(asked))}; put the model through a phase "
            "that shows the question alone and asks for its answer (of replies: "
            "vidence replies errors label, vidence replies judge)"
        )
    plan = study_plan(file, model=model, cache_root=cache_root)
    run_of = frames_run(asked.condition)
    fixed = (*_OF_ITEMS, *(_OF_FRAMES if run_of or asked.condition == "none" else ()))
    if clash := [name for name in fixed if overrides.get(name) is not None]:
        raise UsageError(
            f"{flag_of(clash[0])} would change what phase {asked.name!r} of the study shows; remove it"
        )
    if run_of:
        source = read_plan(file.folder / run_of)[0]
        plan = msgspec.structs.replace(plan, **{name: getattr(source, name) for name in _OF_FRAMES})
    elif asked.condition == "none":
        plan = msgspec.structs.replace(plan, selector="none")
    plan = msgspec.structs.replace(
        plan, study=str(file.folder.resolve()), shuffle_choices=study.shuffle_choices, seed=study.draw.seed
    )
    return changed_plan(plan, overrides=overrides)


@dataclass(frozen=True, kw_only=True)
class ClosedStudy:
    """The answers with exclusions per participant, and the files written."""

    answers: StudyAnswers
    files: tuple[Path, ...]
    runs: tuple[Path, ...]
    labels: tuple[Path, ...]


async def write_closed(
    file: StudyFile, answers: StudyAnswers, *, environment: Environment, now: datetime, on_event: Listener
) -> ClosedStudy:
    """Write participants, responses and events, the run folders of people, and labels.

    Args:
        file: the drawn study.
        answers: all answers, from pages or sheets; those of before are replaced.
        environment: where caches lie.
        now: the time of the runs.
        on_event: hears of the runs.

    Raises:
        DataError: nothing was drawn, or a response is no label.
        StoreError: a file or folder cannot be written.
    """
    answers, runs = await write_people(file, answers, environment=environment, now=now, on_event=on_event)
    files = write_answers(file.folder, answers)
    responses = counted(answers.participants, answers.responses)
    labels = write_labels(file, responses, items=read_items(file.folder))
    return ClosedStudy(answers=answers, files=files, runs=runs, labels=labels)
