"""What a strategy asked on the way to its answers that came to nothing: rewards, reviews, rounds."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Final, TypeAlias

from vidence.ask.strategies.best_of_n import BestOfN
from vidence.ask.strategies.candidates import CANDIDATE
from vidence.ask.strategies.refining import CRITIQUE, REWRITE, is_unchanged
from vidence.ask.strategies.rewards import REWARD, weighed
from vidence.catalog import create, parse_spec
from vidence.records import Reply, Trial
from vidence.report.results import Row, Run
from vidence.tables.table import Table, count, lines, share, tabulate

ON_THE_WAY: Final = "on-the-way"
_BEST_OF_N: Final = "best-of-n"


# What can come to nothing: how a table calls it, and how a sentence says it of so many.
_SAID: Final[Mapping[str, tuple[str, str]]] = {
    "no-points": (
        "rewards that could not be read",
        "Of {of} rewards {n} could not be read, also after a repair; they rank last.",
    ),
    "no-reward": (
        "trials without any reward",
        "In {n} of {of} trials no reward could be read, and the earliest candidate counts.",
    ),
    "unchanged": (
        "rounds that left the answer in the same words",
        "Of {of} rounds of refining {n} left the answer in the same words.",
    ),
    "never-changed": (
        "trials in which no round changed a word",
        "In {n} of {of} refined trials no round changed a word.",
    ),
    "empty-review": ("reviews without a word", "Of {of} reviews {n} had no word."),
}
Counts: TypeAlias = Mapping[str, tuple[int, int]]
"""By the names of `_SAID`: how often nothing came of it, and how often it was asked for."""


def way_tables(run: Run) -> tuple[Table, ...]:
    """Rewards without points, reviews without a word and rounds that changed nothing, as one table.

    Nothing for a run whose strategy neither has replies weighed nor refines them.
    """
    counts = _all(run)
    if not counts:
        return ()
    table = tabulate(
        ON_THE_WAY,
        "On the way to the answers",
        label="what came to nothing",
        rows=lines(counts.items(), {key: called for key, (called, _) in _SAID.items()}),
        measures=(
            count("n", lambda row: row[0], "so many"),
            count("of", lambda row: row[1]),
            share("share", lambda row: row[0] / row[1] if row[1] else None),
        ),
    )
    return (table,)


def way_sentences(run: Run) -> list[str]:
    """The same in sentences, for beside the score; nothing where all came to something."""
    return [_SAID[key][1].format(n=f"{n:,}", of=f"{of:,}") for key, (n, of) in _all(run).items() if n]


def _all(run: Run) -> Counts:
    return {**_rewards(run), **_rounds(run)}


def _said(trial: Trial, role: str) -> list[Reply]:
    return [step.reply for step in trial.steps if step.role == role]


def _rewards(run: Run) -> Counts:
    if parse_spec(run.plan.strategy).name != _BEST_OF_N:
        return {}
    strategy = create("strategy", run.plan.strategy)
    if not isinstance(strategy, BestOfN):
        return {}
    settings = strategy.settings

    def of(row: Row) -> tuple[int, int]:
        texts = [reply.text for reply in _said(row.trial, CANDIDATE)]
        said = _said(row.trial, REWARD)
        found = weighed(row.item, texts, said, form=settings.form, orders=settings.orders)
        return found.n_asked, found.n_read

    found = [of(row) for row in run.rows if _said(row.trial, REWARD)]
    if not found:
        return {}
    n_asked, n_read = (sum(counts) for counts in zip(*found, strict=True))
    return {
        "no-points": (n_asked - n_read, n_asked),
        "no-reward": (sum(not n for _, n in found), len(found)),
    }


def _rounds(run: Run) -> Counts:
    trials = [row.trial for row in run.rows if _said(row.trial, REWRITE)]
    if not trials:
        return {}
    rounds = [_unchanged(_answers(trial)) for trial in trials]
    reviews = [reply for trial in trials for reply in _said(trial, CRITIQUE)]
    return {
        "unchanged": (sum(map(sum, rounds)), sum(map(len, rounds))),
        "never-changed": (sum(map(all, rounds)), len(rounds)),
        "empty-review": (sum(not reply.text.strip() for reply in reviews), len(reviews)),
    }


def _answers(trial: Trial) -> list[Reply]:
    return [step.reply for step in trial.steps if step.role in {CANDIDATE, REWRITE}]


def _unchanged(answers: Sequence[Reply]) -> list[bool]:
    return [is_unchanged(before, after) for before, after in pairwise(answers)]
