"""The trials of a run folder, ready to be counted: each with its question and the score that counts."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, TypeAlias

import msgspec

from vidence.catalog import create
from vidence.contracts import Scorer
from vidence.engine.people import person_folders, person_of
from vidence.engine.plan import Facts, Plan, read_plan
from vidence.engine.scoring import score_reply
from vidence.engine.store import RunStore
from vidence.errors import StoreError, UsageError
from vidence.records import NEEDS_JUDGE, Answered, Failed, Item, OutcomeName, Score, Trial, outcome_name
from vidence.report.checked import Checked, checked
from vidence.statistics.paired import Decision

SEED = 0  # of every interval and test of a report: the same numbers from the same runs, bit for bit
PEOPLE = "people"
"""What the row of the people of a study is called, and the model of its plan."""
WAITING = NEEDS_JUDGE
OUTCOMES: tuple[OutcomeName, ...] = ("answered", "unreadable", "refused", "failed")
Status: TypeAlias = (
    Literal["right", "partly", "wrong", "unreadable", "refused", "failed"]
    | Literal["unjudged", "undecided", "unmarked", "hidden"]
)
# What becomes of a trial, and how to say it.
STATUSES: dict[Status, str] = {
    "right": "right",
    "partly": "partly right",
    "wrong": "wrong",
    "unreadable": "unreadable",
    "refused": "refused",
    "failed": "failed",
    "unjudged": "judge error",
    "undecided": "judges undecided",
    "unmarked": "waits for a judge",
    "hidden": "read, answer hidden",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Row:
    """One trial beside its question, whose choices stand in the order in which they were shown.

    `score` is the score as the chosen parser gives it. `person` is who answered, where a run is that of
    several people. `sample` is that of the run, where people have read all of it.
    """

    item: Item
    trial: Trial
    score: Score
    person: str = ""
    sample: Checked | None = None

    @property
    def correct(self) -> float | None:
        """1.0 for right, 0.0 for wrong, None where no score is known (`Score.counted`)."""
        return self.score.counted

    @property
    def read(self) -> str:
        """The letter (or the text) that was read, or nothing."""
        outcome = self.score.outcome
        return outcome.answer if isinstance(outcome, Answered) else ""

    @property
    def outcome(self) -> OutcomeName:
        """Answered, unreadable, refused or failed."""
        return outcome_name(self.score.outcome)

    @property
    def is_judge_error(self) -> bool:
        """Whether judges were asked and no verdict came of it."""
        return self.score.has_judge_error

    @property
    def is_undecided(self) -> bool:
        """Whether the judges of a panel are tied."""
        return self.score.is_undecided

    @property
    def status(self) -> Status:
        """The outcome, judge errors apart from other failures, and for answers the mark."""
        if self.is_judge_error:
            return "unjudged"
        if self.is_undecided:
            return "undecided"
        if self.outcome != "answered":
            return self.outcome
        match self.correct:
            case None:
                return "hidden" if self.item.is_hidden else "unmarked"
            case 1.0:
                return "right"
            case 0.0:
                return "wrong"
            case _:
                return "partly"


@dataclass(frozen=True, kw_only=True)
class Run:
    """One run folder as read with one parser; `rows` are in the order of the questions.

    Where they `are_brief`, of their prompts only the template and the videos are there. `sample` is what
    people read, or are to read, of the replies. `last_trial` is that of `RunStore.line` before all was read.
    """

    folder: Path
    name: str
    plan: Plan
    facts: Facts
    rows: tuple[Row, ...]
    parser: str
    are_brief: bool = False
    sample: Checked | None = None
    last_trial: int = 0

    @property
    def people(self) -> tuple[str, ...]:
        """Who answered, by pseudonym, where this is what several run folders of people hold."""
        return tuple(dict.fromkeys(row.person for row in self.rows if row.person))

    @property
    def reader(self) -> str:
        """The parser that read the choices, and the judge that read them where it could not, or all."""
        by = {row.score.scorer for row in self.rows if row.item.answer_kind == "choice"}
        if self.plan.judge not in by:
            return self.parser
        return self.plan.judge if len(by) == 1 else f"{self.parser} + {self.plan.judge}"

    @property
    def is_silent(self) -> bool:
        """Whether the model never answered: there are trials, and all failed for want of a reply."""
        outcomes = [row.score.outcome for row in self.rows]
        return bool(outcomes) and all(isinstance(o, Failed) and o.stage == "model" for o in outcomes)

    @property
    def n_hidden(self) -> int:
        """How many questions have a trial and a hidden answer: they are in no score."""
        return len({row.item.item_id for row in self.rows if row.item.is_hidden})

    @property
    def no_score(self) -> str:
        """Why the run has no score whatever is judged; empty where it may have one."""
        if self.is_silent:
            return "the model never answered"
        if self.rows and self.n_hidden == len({row.item.item_id for row in self.rows}):
            return "answers hidden"
        return ""

    @property
    def n_missing(self) -> int:
        """How many planned trials are not there (the run was stopped, or is still going on)."""
        return max(0, self.facts.n_planned - len(self.rows))

    @property
    def ended(self) -> Decision | None:
        """Why the run asked no more, where its comparison was decided before all was asked."""
        return self.facts.ended if self.n_missing else None


def read_again(item: Item, trial: Trial, scorer: Scorer) -> Score:
    """The score of a stored trial under another parser; no model is asked.

    A trial without a reply stays as it is; one whose first parser or judge broke is read again. One on
    which this parser breaks has failed. Answers that are texts and not letters keep their stored score.

    Args:
        item: the question with its choices in the order in which they were shown.
        trial: the trial.
        scorer: the parser.
    """
    stored = trial.score
    if item.answer_kind == "text":
        return stored
    return score_reply(item, stored.outcome if trial.reply is None else trial.reply, scorer)


def with_prompts(run: Run, rows: Sequence[Row]) -> Sequence[Row]:
    """Some rows of a run with all that was sent.

    Raises:
        StoreError: the run folder cannot be read any more.
    """
    if not run.are_brief:
        return rows
    with RunStore(run.folder) as store:
        prompts = store.prompts((row.item.item_id, row.trial.repeat) for row in rows)
    return [
        replace(
            row, trial=msgspec.structs.replace(row.trial, prompt=prompts[row.item.item_id, row.trial.repeat])
        )
        for row in rows
    ]


def load_run(folder: Path, *, parser: str | None = None, are_brief: bool = False) -> Run:
    """Read a run folder, or those of the people of a study as a single run.

    Args:
        folder: the folder that ``vidence run`` wrote, or what `person_folders` reads.
        parser: None takes the scores as they were stored. A name reads every stored reply again
            with the parser of that name.
        are_brief: leave out what was sent, which takes as much memory as all else; `with_prompts` gives it.

    Raises:
        StoreError: not a run folder, damaged, or of another format.
        UnknownNameError: no parser has that name.
        UsageError: people whose run folders do not belong together.
        DataError: a sample of replies lies there that is not of this run, or cannot be used.
    """
    if folders := person_folders(folder):
        return _pooled(folder, [_load(path, parser=parser, are_brief=False) for path in folders])
    return _load(folder, parser=parser, are_brief=are_brief)


def _load(folder: Path, *, parser: str | None, are_brief: bool) -> Run:
    plan, facts = read_plan(folder)
    scorer: Scorer | None = None if parser is None else create("parser", parser)
    with RunStore(folder) as store:
        _, last_trial = store.line()  # what comes in meanwhile is not of this run
        items = {item.item_id: item for item in store.items()}
        rows = []
        for trial in store.trials(are_brief=are_brief):
            try:
                item = items[trial.item_id].with_order(trial.choice_order)
            except (KeyError, ValueError) as error:
                raise StoreError(
                    f"{folder}: the trial of {trial.item_id!r} fits no question there; the file is damaged"
                ) from error
            score = trial.score if scorer is None else read_again(item, trial, scorer)
            rows.append(Row(item=item, trial=trial, score=score))
    sample = checked(folder, [(row.item, row.trial) for row in rows])
    if sample is not None and not sample.n_unread:
        rows = [replace(row, sample=sample) for row in rows]
    return Run(
        folder=folder,
        name=folder.resolve().name,
        plan=plan,
        facts=facts,
        rows=tuple(rows),
        parser=plan.parser if parser is None else parser,
        are_brief=are_brief,
        sample=sample,
        last_trial=last_trial,
    )


def _pooled(folder: Path, runs: Sequence[Run]) -> Run:
    """The answers of people as one run; repeats count on from person to person, so that no two are alike.

    Raises:
        UsageError: people of different studies, or who were marked in different ways.
    """
    first = runs[0]
    for run in runs[1:]:
        for what, of in _MARKED_ALIKE.items():
            if of(run) != of(first):
                raise UsageError(
                    f"{first.folder} and {run.folder} differ in the {what} ({of(first)!r} and {of(run)!r}), "
                    "so they are no row of people; name run folders of one phase of one study"
                )
    most = 1 + max((row.trial.repeat for run in runs for row in run.rows), default=0)
    rows = [
        replace(
            row,
            person=person_of(run.folder),
            trial=msgspec.structs.replace(row.trial, repeat=row.trial.repeat + place * most),
        )
        for place, run in enumerate(runs)
        for row in run.rows
    ]
    return Run(
        folder=folder,
        name=PEOPLE,
        plan=msgspec.structs.replace(first.plan, model=PEOPLE, name=PEOPLE, repeats=1),
        facts=msgspec.structs.replace(
            first.facts,
            n_items=len({row.item.item_id for row in rows}),
            n_planned=sum(run.facts.n_planned for run in runs),
            problems=tuple(dict.fromkeys(problem for run in runs for problem in run.facts.problems)),
        ),
        rows=tuple(rows),
        parser=first.parser,
    )


_MARKED_ALIKE: Mapping[str, Callable[[Run], str]] = {
    "benchmark": lambda run: run.plan.benchmark,
    "split": lambda run: run.plan.split,
    "data": lambda run: run.facts.content_hash,
    "average": lambda run: run.plan.headline,
    "parser": lambda run: run.parser,
}
"""What the runs of people have in common."""
