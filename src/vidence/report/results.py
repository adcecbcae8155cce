"""The trials of a run folder, each with its question and the score that counts."""

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, TypeAlias

import msgspec

from vidence.catalog import create
from vidence.contracts import Scorer
from vidence.engine.people import person_folders, person_of
from vidence.engine.plan import PLAN_FILE, Facts, Plan, read_plan
from vidence.engine.scoring import score_reply
from vidence.engine.store import RUN_FILE, RunStore
from vidence.errors import StoreError, UsageError
from vidence.records import NEEDS_JUDGE, Answered, Failed, Item, OutcomeName, Score, Trial, outcome_name
from vidence.report.checked import Checked, checked
from vidence.statistics.paired import Decision

_log = logging.getLogger(__name__)
SEED = 0  # of every interval and test of a report: the same numbers from the same runs, bit for bit
PEOPLE = "people"
"""Label of a study's people, and the model in their plan."""
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
    """A trial and its question, with choices in the order shown.

    `score` is by the chosen parser. `person` is the respondent if the run combines several people. `sample`
    is the run's sample, if people have read all of it.
    """

    item: Item
    trial: Trial
    score: Score
    person: str = ""
    sample: Checked | None = None

    @property
    def correct(self) -> float | None:
        """Return 1.0 for right, 0.0 for wrong, None if no score is known (`Score.counted`)."""
        return self.score.counted

    @property
    def read(self) -> str:
        """Return the parsed letter or text, or empty."""
        outcome = self.score.outcome
        return outcome.answer if isinstance(outcome, Answered) else ""

    @property
    def outcome(self) -> OutcomeName:
        """Return answered, unreadable, refused or failed."""
        return outcome_name(self.score.outcome)

    @property
    def is_judge_error(self) -> bool:
        """Whether judges were asked and gave no verdict."""
        return self.score.has_judge_error

    @property
    def is_undecided(self) -> bool:
        """Whether a panel's judges are tied."""
        return self.score.is_undecided

    @property
    def status(self) -> Status:
        """Return the outcome, with judge errors separate; for answers, right or wrong."""
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
    """A run folder read with one parser; `rows` are in the order of the questions.

    If they `are_brief`, prompts have only the template and the videos. `sample` is the sample of replies for
    people to read. `last_trial` is that of `RunStore.line` before reading.
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
        """Return the respondents' pseudonyms if this combines several people's folders."""
        return tuple(dict.fromkeys(row.person for row in self.rows if row.person))

    @property
    def reader(self) -> str:
        """Return the parser of the choices, and the judge if it read some or all of them."""
        by = {row.score.scorer for row in self.rows if row.item.answer_kind == "choice"}
        if self.plan.judge not in by:
            return self.parser
        return self.plan.judge if len(by) == 1 else f"{self.parser} + {self.plan.judge}"

    @property
    def is_silent(self) -> bool:
        """Whether the model never answered: all trials failed without a reply."""
        outcomes = [row.score.outcome for row in self.rows]
        return bool(outcomes) and all(isinstance(o, Failed) and o.stage == "model" for o in outcomes)

    @property
    def n_hidden(self) -> int:
        """Return the number of asked questions with hidden answers, which count in no score."""
        return len({row.item.item_id for row in self.rows if row.item.is_hidden})

    @property
    def no_score(self) -> str:
        """Say why the run cannot have a score; empty if it can."""
        if self.is_silent:
            return "the model never answered"
        if self.rows and self.n_hidden == len({row.item.item_id for row in self.rows}):
            return "answers hidden"
        return ""

    @property
    def n_missing(self) -> int:
        """Return the number of planned trials that are missing."""
        return max(0, self.facts.n_planned - len(self.rows))

    @property
    def ended(self) -> Decision | None:
        """Return the decision that ended the run early, if any."""
        return self.facts.ended if self.n_missing else None


def read_again(item: Item, trial: Trial, scorer: Scorer) -> Score:
    """Score a stored trial with another parser; no model is asked.

    A trial without a reply is unchanged; one whose parser or judge failed is parsed again. A trial on which
    this parser fails has failed. Free-text answers keep their stored score.

    Args:
        item: the question, with choices in the order shown.
        trial: the trial.
        scorer: the parser.
    """
    stored = trial.score
    if item.answer_kind == "text":
        return stored
    return score_reply(item, stored.outcome if trial.reply is None else trial.reply, scorer)


def with_prompts(run: Run, rows: Sequence[Row]) -> Sequence[Row]:
    """Return rows of a run with complete prompts.

    Raises:
        StoreError: the run folder can no longer be read.
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


def load_runs(folders: Iterable[Path], *, parser: str | None = None, are_brief: bool = False) -> list[Run]:
    """Read run folders as `load_run` does; a warning names folders without a run that vidence wrote.

    `runs/*` also names audits, verdicts of gates, panels and questions, which lie there by default. If
    there is no run among the folders, reading the first one raises an error.
    """
    folders = list(folders)
    others = [folder for folder in folders if _is_other(folder)]
    if others and len(others) < len(folders):
        _log.warning("left out, since they hold no run: %s", ", ".join(map(str, others)))
        folders = [folder for folder in folders if folder not in others]
    return [load_run(folder, parser=parser, are_brief=are_brief) for folder in folders]


def _is_other(folder: Path) -> bool:
    """Whether another command of vidence wrote a folder, or `evaluate` put questions of its caller there."""
    if (folder / PLAN_FILE).exists() or (folder / RUN_FILE).exists():
        return False
    return any(any(folder.glob(mark)) for mark in (".vidence-*", "questions-*.jsonl"))


def load_run(folder: Path, *, parser: str | None = None, are_brief: bool = False) -> Run:
    """Read a run folder, or the folders of a study's people as one run.

    Args:
        folder: the folder that ``vidence run`` wrote, or what `person_folders` accepts.
        parser: None: use stored scores. A name: parse every stored reply again with that parser.
        are_brief: leave out prompts, which take as much memory as the rest; `with_prompts` loads them.

    Raises:
        StoreError: not a run folder, damaged, or of another format.
        UnknownNameError: no parser has that name.
        UsageError: people's run folders that do not belong together.
        DataError: the folder has a sample of another run, or an invalid one.
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
    """Combine people's answers into one run; repeats are numbered across people to stay unique.

    Raises:
        UsageError: people of different studies, or scored differently.
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
"""Settings that people's runs must share."""
