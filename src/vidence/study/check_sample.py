"""Check a sample of a run's replies in a study: drawn by strata, rated without knowing the run."""

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final, TypeAlias

import msgspec

from vidence.ask.benchmarks.question_files import said_answer
from vidence.engine.environment import Environment
from vidence.errors import UsageError
from vidence.explain.errors.packet import rows_as_jsonl
from vidence.media.whole import own_folder, write_file, write_into
from vidence.records import Answered
from vidence.report.checked import CORRECT, FILE, FOLDER, POINTS, STATES, CheckDraw, digest_of
from vidence.report.results import Row, Run
from vidence.statistics.prediction_powered import allocated
from vidence.study.drawing import draw, ranked, write_drawn
from vidence.study.folder import PARTICIPANTS_FILE, StudyAnswers, read_answers, write_answers
from vidence.study.labels import counted, write_labels
from vidence.study.replies import ShownTrial
from vidence.study.sheets import SheetStudy, name_of, with_sheets, write_sheets
from vidence.study.study import STUDY_FILE, STUDY_MARK, Field, Participant, Response, read_study
from vidence.text import quoted

_QUESTIONS: Final = "questions.jsonl"
_STUDY: Final = 'preset = "check"\nruns = [".."]\nitems = "{items}"\nn_people = {n}\n[draw]\nseed = {seed}\n'
_SPREADS: Final = (0.15, 0.3, 0.5)
"""How much marks should vary where a rule read the answer, a judge marked it, or nothing was read."""
Put: TypeAlias = Callable[[ShownTrial, Field, str], str]
"""Puts a trial to a person: what it shows, what is asked, the how many-th it is; nothing said ends it."""


def draw_sample(run: Run, *, n: int, n_people: int, seed: int, environment: Environment) -> tuple[Path, ...]:
    """Draw replies of a run, and write them as a study with blank sheets into its folder `FOLDER`.

    Strata are outcomes and by whom they were marked; within one, the rules by which answers were read are
    drawn from alike. Nobody is shown what was read, marked, or, of questions with choices, what is right.

    Returns:
        The sheets, and what says how they are filled in.

    Raises:
        UsageError: a run whose score a sample cannot correct.
        StoreError: a file cannot be written.
    """
    _check(run)
    of = {row.item.item_id: row for row in run.rows if _has_words(row)}
    strata = {item_id: _stratum(row) for item_id, row in of.items()}
    drawn = _drawn(of, strata, n=n, seed=seed)
    folder = run.folder / FOLDER
    own_folder(folder, STUDY_MARK)
    items = (msgspec.structs.replace(of[i].item, answer=said_answer(of[i].item), media=()) for i in drawn)
    message = _STUDY.format(items=_QUESTIONS, n=n_people, seed=seed)
    write_into(folder, {_QUESTIONS: rows_as_jsonl(tuple(items)), STUDY_FILE: message})
    file = read_study(folder)
    study = draw(file, environment=environment)
    field_of = {phase.name: phase.fields[0] for phase in file.study.phases}  # each asks one thing
    by_phase = {
        phase: tuple(stimulus for stimulus in pair if _asked(of[stimulus.item_id]) == field_of[phase])
        for phase, pair in study.drawn.by_phase.items()
    }
    write_drawn(file, replace(study, drawn=msgspec.structs.replace(study.drawn, by_phase=by_phase)))
    sheets = write_sheets(SheetStudy.read(file), n=n_people)
    check_draw = CheckDraw(
        replies_sha256=digest_of([row.trial for row in run.rows]), strata=strata, drawn=drawn
    )
    write_file(folder / FILE, msgspec.json.encode(check_draw))
    return sheets


def _check(run: Run) -> None:
    """Reject runs whose score a sample of replies cannot correct."""
    n_waiting = sum(row.correct is None and not row.item.is_hidden for row in run.rows)
    if run.people or run.plan.repeats > 1:
        why = "it has several replies to a question; use a run that asked each question once"
    elif run.n_missing:
        why = f"{run.n_missing:,} trials were not asked yet; `vidence resume {quoted(run.folder)}` asks them"
    elif n_waiting:
        why = f"{n_waiting:,} replies wait for a judge; `vidence replies judge {quoted(run.folder)}` asks it"
    elif not any(map(_has_words, run.rows)):
        why = "no reply with text has a score"
    else:
        return
    raise UsageError(f"{run.folder} cannot be sampled: {why}")


def _has_words(row: Row) -> bool:
    reply = row.trial.reply
    return reply is not None and bool(reply.text.strip()) and row.correct is not None


def _stratum(row: Row) -> str:
    judges = dict.fromkeys(verdict.judge_model or "a judge" for verdict in row.score.verdicts)
    return f"{row.status}, by {', '.join(judges)}" if judges else row.status


def _asked(row: Row) -> str:
    if row.item.answer_kind == "choice":
        return STATES
    return CORRECT if row.score.points is None else POINTS


def _spread(row: Row) -> float:
    rule, judged, unread = _SPREADS
    return unread if row.outcome != "answered" else judged if row.score.verdicts else rule


def _drawn(of: Mapping[str, Row], strata: Mapping[str, str], *, n: int, seed: int) -> tuple[str, ...]:
    """Draw the replies of each stratum, by optimal allocation."""
    groups: dict[str, list[str]] = {}
    for item_id in ranked(of, f"check/{seed}"):
        groups.setdefault(strata[item_id], []).append(item_id)
    spreads = [_spread(of[some[0]]) for some in groups.values()]
    numbers = allocated([len(some) for some in groups.values()], spreads, n)
    return tuple(i for some, k in zip(groups.values(), numbers, strict=True) for i in _every(some, k, of=of))


def _every(some: Sequence[str], k: int, *, of: Mapping[str, Row]) -> Iterator[str]:
    """Draw `k` replies, with each answer-reading rule in proportion to its share."""

    def rule(item_id: str) -> str:
        outcome = of[item_id].score.outcome
        return outcome.rule if isinstance(outcome, Answered) else ""

    by_rule = sorted(some, key=rule)  # those of a rule stay in their drawn order
    start = int.from_bytes(hashlib.sha256(some[0].encode()).digest()[:8]) / 2**64
    return (by_rule[int((i + start) * len(some) / k)] for i in range(k))


def ask_here(folder: Path, put: Put, *, at: str) -> None:
    """Ask one person about the replies of a sample, from the first unread one; store the answers.

    Args:
        folder: that of the sample.
        put: asks the person.
        at: the time, ISO 8601 in UTC.

    Raises:
        UsageError: the first person answers on pages.
        StoreError: a file cannot be written.
    """
    study, who = SheetStudy.read(read_study(folder)), name_of(0)
    before = StudyAnswers(participants=(), responses=())
    if (folder / PARTICIPANTS_FILE).exists():
        before = read_answers(folder)
    trials, entries = study.trials(0), {response.trial.place: response for response in before.of(who)}
    for number, trial in enumerate(trials, 1):
        if trial.place in entries:
            continue
        (field,) = study.study.fields_of(study.study.phase(trial.phase))
        if not (value := put(study.shown(trial), field, f"{number} of {len(trials)}")):
            return
        values = {field.name: value}
        entries[trial.place] = Response(participant=who, trial=trial, values=values, answered_at=at)
        is_whole = len(entries) == len(trials)
        person = Participant(name=who, slot=0, state="finished" if is_whole else "begun", recruited="file")
        own = StudyAnswers(participants=(person,), responses=tuple(entries.values()))
        answers = with_sheets(before, own)
        write_answers(folder, answers)
        write_labels(study.file, counted(answers.participants, answers.responses), items=study.items)
