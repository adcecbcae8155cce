"""The report of a study: scores of people by phase, changes, time, agreement, exclusions, pay, and models."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from statistics import median

import msgspec
import numpy as np

from vidence.engine.people import EXCLUDED_FOLDER, PEOPLE_FOLDER, phase_of
from vidence.engine.plan import PLAN_FILE
from vidence.engine.specs import label as label_of
from vidence.errors import UsageError
from vidence.records import Estimate, Item
from vidence.report.comparison import answers_difference
from vidence.report.pairing import own_answer, paired_answers
from vidence.report.papers import paper_sections
from vidence.report.results import Row, Run, load_run
from vidence.report.scores import Aggregate, Draws
from vidence.report.sections import Section
from vidence.statistics.agreement import Measurement
from vidence.statistics.paired import holm
from vidence.study.assignment import answer_phases, wages
from vidence.study.drawing import Drawn, read_drawn, read_items
from vidence.study.folder import StudyAnswers, read_answers
from vidence.study.labels import Ratings, counted, label_sections
from vidence.study.study import Participant, Phase, Response, StudyFile, read_study
from vidence.tables.table import (
    Cell,
    RowSpec,
    Table,
    count,
    difference,
    number,
    p_value,
    several,
    share,
    tabulate,
    words,
)
from vidence.text import quoted

_STATES = ("invited", "declined", "begun", "finished", "withdrawn")


@dataclass(frozen=True, kw_only=True)
class StudyOutcome:
    """The results of a study.

    `runs` has for each phase the answers of the people who count, `with_excluded` those of all; `models` are
    runs that people are set beside.
    """

    file: StudyFile
    answers: StudyAnswers
    drawn: Drawn
    items: Mapping[str, Item]
    runs: Mapping[str, Run]
    with_excluded: Mapping[str, Run]
    models: tuple[Run, ...] = ()

    @property
    def kept(self) -> tuple[Participant, ...]:
        """Return the participants who count: finished and not excluded."""
        return tuple(p for p in self.answers.participants if p.state == "finished" and not p.excluded)

    @property
    def excluded(self) -> tuple[Participant, ...]:
        """Return the participants who finished but were excluded."""
        return tuple(p for p in self.answers.participants if p.state == "finished" and p.excluded)

    @property
    def states(self) -> Counter[str]:
        """How many people are in each state."""
        return Counter(person.state for person in self.answers.participants)

    @property
    def phases(self) -> tuple[Phase, ...]:
        """Return the phases with scores, in order."""
        return tuple(phase for phase in self.file.study.phases if phase.name in self.runs)

    @property
    def data(self) -> list[Response]:
        """Return the trials shown to participants who count, without practice and catch trials."""
        kept = {participant.name for participant in self.kept}
        return [r for r in self.answers.responses if r.participant in kept and r.trial.kind == "asked"]

    def given(self, phase: str) -> list[Response]:
        """Return the trials of a phase with at least one value filled in."""
        return [r for r in self.data if r.trial.phase == phase and any(r.values.values())]

    def timed(self, phase: str) -> list[Response]:
        """Return those with a measured time: not from sheets, not drafts."""
        return [response for response in self.given(phase) if response.answered_at and response.seconds]


def open_study(folder: Path, *, models: Sequence[Path] = ()) -> StudyOutcome:
    """Read a study folder with answers.

    Args:
        folder: the folder.
        models: run folders that people are set beside.

    Raises:
        UsageError: study.toml cannot be read, or run folders that are not of this study.
        DataError: no answers are there yet, or files that cannot be used.
        StoreError: a damaged run folder.
    """
    file, folder = read_study(folder), folder if folder.is_dir() else folder.parent
    study = file.study
    asking = answer_phases(study)
    runs = _runs_of(folder / PEOPLE_FOLDER, asking)
    return StudyOutcome(
        file=file,
        answers=read_answers(folder),
        drawn=read_drawn(folder),
        items=read_items(folder),
        runs=runs,
        with_excluded=_joined(runs, _runs_of(folder / EXCLUDED_FOLDER, asking)),
        models=tuple(map(load_run, models)),
    )


def _runs_of(folder: Path, phases: Sequence[Phase]) -> dict[str, Run]:
    """Return the runs of people in a folder, with all runs of a phase merged."""
    names = {phase_of(path) for path in folder.glob("*") if (path / PLAN_FILE).exists()}
    known = {phase.name: f"*-{phase.name}" for phase in phases}
    if len(phases) == 1 and names <= {""}:
        known, names = {phases[0].name: "*"}, {phases[0].name} if names else set()
    if unknown := sorted(names - set(known)):
        raise UsageError(
            f"{folder} has run folders of the phase {unknown[0]!r}; expected {', '.join(known)}: "
            f"`vidence study close {quoted(folder.parent)}` writes them again"
        )
    return {name: load_run(folder / pattern) for name, pattern in known.items() if name in names}


def _joined(first: Mapping[str, Run], second: Mapping[str, Run]) -> dict[str, Run]:
    """Merge the answers of two groups of people by phase."""
    return {
        name: replace(run, rows=(*run.rows, *second[name].rows)) if name in second else run
        for name, run in {**second, **first}.items()
    }


# --------------------------------------------------------------------------- the report


@dataclass(frozen=True, kw_only=True)
class StudyReport:
    """The sentences and sections of a report."""

    sentences: tuple[str, ...]
    sections: tuple[Section, ...]

    @property
    def tables(self) -> tuple[Table, ...]:
        """All tables in order."""
        return tuple(table for section in self.sections for table in section.tables)


def report_of(outcome: StudyOutcome, *, draws: Draws, with_published: bool = False) -> StudyReport:
    """Build the report of a study.

    Args:
        outcome: the study.
        draws: the level of intervals, and source of random draws.
        with_published: whether people and models are set beside the rows that papers print.

    Raises:
        UsageError: a model that was asked other questions; printed rows where none fits.
    """
    data = counted(outcome.kept, outcome.data)
    parts: dict[str, Sequence[Table | None]] = {
        "People": [participants_table(outcome)],
        "Scores": [scores_table(outcome, draws=draws), people_table(outcome)] if outcome.runs else [],
        "Exclusions": [exclusions_table(outcome, draws=draws)],
        "Changes between phases": [changes_table(outcome, draws=draws)],
        "Beside models": [models_table(outcome, draws=draws)],
        "Time": [time_table(outcome)],
        "Labels, ratings, agreement": label_sections(
            outcome.file, data, answers=dict(_answers(outcome)), items=outcome.items, draws=draws
        ),
        "Pay": [pay_table(outcome)],
    }
    sections = [
        Section(title=title, tables=there)
        for title, tables in parts.items()
        if (there := tuple(table for table in tables if table is not None))
    ]
    if with_published:
        runs = [
            replace(run, plan=msgspec.structs.replace(run.plan, name=_row_name(outcome, name)))
            for name, run in outcome.runs.items()
        ]
        people = {run.folder for run in runs}
        whole = [*runs, *outcome.models]
        sections += paper_sections(whole, draws=draws, with_published=True, people=people)
    return StudyReport(sentences=tuple(_sentences(outcome)), sections=tuple(sections))


def _row_name(outcome: StudyOutcome, phase: str) -> str:
    return "people" if len(outcome.runs) == 1 else f"people, {_title(outcome.file.study.phase(phase))}"


def _title(phase: Phase) -> str:
    return phase.title or phase.name


def _sentences(outcome: StudyOutcome) -> Iterator[str]:
    n, states = len(outcome.kept), outcome.states
    began = sum(states[state] for state in ("begun", "finished", "withdrawn"))
    yield (
        f"{began} began, {states['finished']} finished, {states['withdrawn']} withdrew, "
        f"{len(outcome.excluded)} excluded: {n} {'person counts' if n == 1 else 'people count'}."
    )
    if n == 1:
        yield "One person: intervals are over videos only, and do not generalise to other people."
    elif n == 2:
        yield "Two people: intervals are very wide, since two people say little about others."
    elif n and outcome.runs:
        yield "Intervals treat people and videos as crossed: they generalise to other people and videos."
    answered = {name for run in outcome.runs.values() for name in run.people}
    without = [person.name for person in outcome.kept if person.name not in answered]
    if without and outcome.runs:
        yield f"No answers of {', '.join(without)} are in any score."


def participants_table(outcome: StudyOutcome) -> Table:
    """Tabulate participants by state and exclusion rule."""
    states = outcome.states
    rules = Counter(rule for participant in outcome.excluded for rule in participant.excluded)
    rows = [(state, state, states[state]) for state in _STATES if states[state]]
    rows += [(f"rule:{rule}", f"excluded: {rule}", n) for rule, n in rules.items()]
    rows.append(("kept", "in the scores", len(outcome.kept)))
    return tabulate(
        "participants",
        "Participants",
        label="participants",
        rows=[RowSpec(key, text, n) for key, text, n in rows],
        measures=(count("n", lambda n: n, "people"),),
        notes=("A person excluded by several rules is in several rows.",) if len(rules) > 1 else (),
    )


# --------------------------------------------------------------------------- scores


def _parts(outcome: StudyOutcome) -> Iterator[RowSpec[tuple[Phase, Sequence[Row]]]]:
    """Return the answers of each phase, then by value of the stratification tag."""
    tag = outcome.file.study.draw.by
    for phase in outcome.phases:
        rows = outcome.runs[phase.name].rows
        yield RowSpec(f"{phase.name}:all", _title(phase), (phase, rows))
        for value in sorted({row.item.tags[tag] for row in rows if tag in row.item.tags}):
            some = [row for row in rows if row.item.tags.get(tag) == value]
            yield RowSpec(f"{phase.name}:{value}", f"{_title(phase)}, {value}", (phase, some))


def _marks(rows: Sequence[Row]) -> list[float]:
    """Return the marks of answers that have one."""
    return [row.correct for row in rows if row.correct is not None]


def scores_table(outcome: StudyOutcome, *, draws: Draws) -> Table:
    """The accuracy of the people who count, by phase, condition and stratum."""
    waiting = sum(len(run.rows) - len(_marks(run.rows)) for run in outcome.runs.values())
    return tabulate(
        "study-scores",
        "Accuracy by phase",
        label="phase",
        rows=_parts(outcome),
        measures=(
            words("condition", lambda part: part[0].condition),
            count("right", lambda part: _whole(sum(_marks(part[1])))),
            count("answers", lambda part: len(_marks(part[1])), "of answers"),
            share("accuracy", lambda part: Aggregate.of(part[1]).estimate(draws)),
            count("people", lambda part: len({row.person for row in part[1]})),
            count("videos", lambda part: len({row.item.source_id for row in part[1]})),
        ),
        notes=(
            f"Mean over answers, with {100 * draws.level:g} % intervals. Unreadable answers count as wrong.",
            f"{several(waiting, 'answer')} without a mark, in no mean." if waiting else "",
        ),
        figure="scores",
    )


def _whole(total: float) -> int | float:
    return int(total) if total == int(total) else total


def people_table(outcome: StudyOutcome) -> Table:
    """Tabulate accuracy per person and phase; excluded people are listed last."""
    excluded = {participant.name for participant in outcome.excluded}
    names = sorted({name for run in outcome.with_excluded.values() for name in run.people})

    def of(phase: str) -> Callable[[str], Cell]:
        def cell(name: str) -> Cell:
            marks = _marks([row for row in outcome.with_excluded[phase].rows if row.person == name])
            if not marks:
                return Cell()
            return Cell(value=float(np.mean(marks)), detail=f"{_whole(sum(marks))} of {len(marks)}")

        return cell

    return tabulate(
        "study-people",
        "Accuracy by person",
        label="person",
        rows=[
            RowSpec(name, name, name, detail="excluded" if name in excluded else "")
            for name in sorted(names, key=lambda name: (name in excluded, name))
        ],
        measures=[share(phase.name, of(phase.name), _title(phase)) for phase in outcome.phases],
    )


def exclusions_table(outcome: StudyOutcome, *, draws: Draws) -> Table | None:
    """Tabulate scores per phase with and without excluded people; None if there are no exclusions."""
    if not any(set(run.people) - set(outcome.runs[name].people) for name, run in _both(outcome)):
        return None
    return tabulate(
        "study-exclusions",
        "Without and with excluded people",
        label="phase",
        rows=[RowSpec(name, _title(outcome.file.study.phase(name)), name) for name, _ in _both(outcome)],
        measures=(
            share("without", lambda name: Aggregate.of(outcome.runs[name].rows).estimate(draws)),
            share("with", lambda name: Aggregate.of(outcome.with_excluded[name].rows).estimate(draws)),
            count("people", lambda name: len(outcome.runs[name].people), "people without"),
            count("all", lambda name: len(outcome.with_excluded[name].people), "people with"),
        ),
    )


def _both(outcome: StudyOutcome) -> list[tuple[str, Run]]:
    return [(name, run) for name, run in outcome.with_excluded.items() if name in outcome.runs]


# --------------------------------------------------------------------------- differences


@dataclass(frozen=True, kw_only=True)
class _Paired:
    """Paired differences of marks on the same questions: two phases, or a model and people."""

    key: str
    label: str
    marks: tuple[tuple[float, float], ...]
    difference: Estimate
    p_value: float
    model: str = ""

    @classmethod
    def of(
        cls, first: Run, second: Run, *, key: str, label: str, model: str = "", level: float
    ) -> "_Paired | None":
        """Pair two runs by person and item content; None if they share nothing."""
        items, others = ({row.item.item_id: row.item for row in run.rows} for run in (first, second))
        pairs = {
            (person, item_id): pair
            for (person, item_id), pair in paired_answers(first, second).items()
            if items[item_id].question == others[item_id].question
        }
        if not pairs:
            return None
        estimate, p_value = answers_difference(pairs, items, level=level)
        marks = tuple(pairs.values())
        return cls(key=key, label=label, marks=marks, difference=estimate, p_value=p_value, model=model)

    def n(self, before: bool, after: bool) -> int:
        """The number of answers by correctness before and after."""
        return sum((a == 1, b == 1) == (before, after) for a, b in self.marks)

    def means(self) -> tuple[float, float]:
        """The means of both sides."""
        first, second = np.mean(self.marks, axis=0)
        return float(first), float(second)


def changes_table(outcome: StudyOutcome, *, draws: Draws) -> Table | None:
    """Tabulate changes between consecutive phases of the same people; None if no phase repeats items."""
    rows = [
        RowSpec(about.key, about.label, about)
        for a, b in pairwise(outcome.phases)
        if (
            about := _Paired.of(
                outcome.runs[a.name],
                outcome.runs[b.name],
                key=f"{a.name}:{b.name}",
                label=f"{_title(a)} to {_title(b)}",
                level=draws.level,
            )
        )
    ]
    if not rows:
        return None
    return tabulate(
        "study-changes",
        "Changes between phases",
        label="phases",
        rows=rows,
        measures=(
            count("answers", lambda d: len(d.marks)),
            count("stays_right", lambda d: d.n(True, True), "stays right"),
            count("gained", lambda d: d.n(False, True), "wrong to right"),
            count("lost", lambda d: d.n(True, False), "right to wrong"),
            count("stays_wrong", lambda d: d.n(False, False), "stays wrong"),
            difference("difference", lambda d: d.difference),
            p_value("p", lambda d: d.p_value),
        ),
        notes=("Answers of the same person to the same item.",),
    )


def models_table(outcome: StudyOutcome, *, draws: Draws) -> Table | None:
    """Tabulate people minus each model on common items; None without models.

    Raises:
        UsageError: a model that was put no question of the study.
    """
    rows = list[_Paired]()
    for place, model in enumerate(outcome.models):
        for phase in outcome.phases:
            name, label = phase.name, _row_name(outcome, phase.name)
            key, called = f"{name}:{place}", label_of(model.plan)
            about = _Paired.of(
                model, outcome.runs[name], key=key, label=label, model=called, level=draws.level
            )
            if about is None:
                raise UsageError(
                    f"{model.folder} shares no question with the phase {phase.name!r} of "
                    f"{outcome.file.path}; "
                    f"run the model on its items: vidence run --study {quoted(outcome.file.path)} --model ..."
                )
            rows.append(about)
    if not rows:
        return None
    adjusted = dict(zip((row.key for row in rows), holm([row.p_value for row in rows]), strict=True))
    return tabulate(
        "study-models",
        "People and models on the same items",
        label="people",
        rows=[RowSpec(row.key, row.label, row) for row in rows],
        measures=(
            words("model", lambda paired: paired.model),
            count("answers", lambda paired: len(paired.marks)),
            share("people", lambda paired: paired.means()[1]),
            share("score", lambda paired: paired.means()[0], "model's score"),
            difference("difference", lambda paired: paired.difference),
            p_value("p", lambda paired: adjusted[paired.key], "p (Holm)"),
        ),
        notes=("The difference is people minus model; each answer counts once for both.",),
    )


# --------------------------------------------------------------------------- time, agreement, pay


def time_table(outcome: StudyOutcome) -> Table | None:
    """Tabulate answer times and media plays; None if no times were measured, as on sheets."""
    rows = [
        RowSpec(phase.name, _title(phase), phase.name)
        for phase in outcome.file.study.phases
        if outcome.timed(phase.name)
    ]
    if not rows:
        return None

    def failed(phase: str) -> int:
        return sum(outcome.file.study.failed(r) for r in outcome.data if r.trial.phase == phase)

    return tabulate(
        "study-time",
        "Time of an answer",
        label="phase",
        rows=rows,
        measures=(
            count("answers", lambda name: len(outcome.timed(name))),
            number(
                "seconds",
                lambda name: median(response.seconds for response in outcome.timed(name)),
                "median seconds",
            ),
            number(
                "plays",
                lambda name: float(median(response.n_plays for response in outcome.timed(name))),
                "median plays",
            ),
            count("changed", lambda name: sum(response.n_changes > 0 for response in outcome.timed(name))),
            count("failed", failed, "technical failures"),
        ),
        notes=(
            "By the server's clock, from the first view of a trial to its last answer. Answers to trials "
            "that failed are in the scores.",
        ),
    )


def _answers(outcome: StudyOutcome) -> Iterator[tuple[str, tuple[Ratings, Measurement]]]:
    """Return each person's answers per phase as numbers: choices, or marks of free answers."""
    for phase in outcome.phases:
        codes, ratings = dict[str | float, float](), dict[tuple[str, str], dict[str, float]]()
        for row in outcome.runs[phase.name].rows:
            answer = own_answer(row) if row.item.answer_kind == "choice" else row.correct
            if answer is not None:
                own = ratings.setdefault((row.item.item_id, ""), {})
                own[row.person] = codes.setdefault(answer, float(len(codes)))
        yield f"answers ({phase.name})", (ratings, "nominal")


def pay_table(outcome: StudyOutcome) -> Table | None:
    """Tabulate pay per person by the rules of study.toml; None for unpaid studies."""
    pay = outcome.file.study.pay
    if not (pay.flat or pay.per_hour or pay.per_answer or pay.per_right):
        return None
    right = {
        (row.person, phase, row.item.item_id)
        for phase, run in outcome.with_excluded.items()
        for row in run.rows
        if row.correct == 1
    }
    # What was right in the phase before, and stays, was paid there.
    before = {b.name: a.name for a, b in pairwise(outcome.file.study.phases) if b.keeps}
    n_right = Counter(who for who, phase, item in right if (who, before.get(phase, ""), item) not in right)
    return tabulate(
        "study-pay",
        "Pay",
        label="person",
        rows=[
            RowSpec(wage.participant, wage.participant, wage)
            for wage in wages(outcome.file.study, outcome.answers, n_right=n_right)
        ],
        measures=(
            number("hours", lambda wage: wage.hours, "hours in phases"),
            count("answers", lambda wage: wage.n_answers),
            count("right", lambda wage: wage.n_right, "right answers"),
            number("amount", lambda wage: wage.amount, f"by the rules, {pay.currency}"),
        ),
        notes=("As promised in study.toml; payments are not recorded.",),
    )
