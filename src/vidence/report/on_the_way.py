"""What a strategy asked on the way to its answers that came to nothing: rewards, reviews, rounds."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from vidence.ask.strategies.best_of_n import BestOfN
from vidence.ask.strategies.candidates import CANDIDATE
from vidence.ask.strategies.refining import CRITIQUE, REWRITE, is_unchanged
from vidence.ask.strategies.rewards import REWARD, weighed
from vidence.catalog import create, parse_spec
from vidence.records import Reply, Trial
from vidence.report.results import Row, Run
from vidence.tables.table import Line, Table, count, share, tabulate

ON_THE_WAY: Final = "on-the-way"
_BEST_OF_N: Final = "best-of-n"


@dataclass(frozen=True, kw_only=True)
class _Part:
    """How often something was asked for, and how often nothing came of it; `said` is that as a sentence."""

    key: str
    words: str
    said: str
    n: int
    n_of: int


def way_tables(run: Run) -> tuple[Table, ...]:
    """Rewards without points, reviews without a word and rounds that changed nothing, as one table.

    Nothing for a run whose strategy neither has replies weighed nor refines them.
    """
    parts = _all(run)
    if not parts:
        return ()
    table = tabulate(
        ON_THE_WAY,
        "On the way to the answers",
        label="what came to nothing",
        rows=(Line(part.key, part.words, part) for part in parts),
        measures=(
            count("n", lambda part: part.n, "so many"),
            count("of", lambda part: part.n_of),
            share("share", lambda part: part.n / part.n_of if part.n_of else None),
        ),
    )
    return (table,)


def way_sentences(run: Run) -> list[str]:
    """The same in sentences, for beside the score; nothing where all came to something."""
    return [part.said.format(n=f"{part.n:,}", of=f"{part.n_of:,}") for part in _all(run) if part.n]


def _all(run: Run) -> list[_Part]:
    return [*_rewards(run), *_rounds(run)]


def _said(trial: Trial, role: str) -> list[Reply]:
    return [step.reply for step in trial.steps if step.role == role]


def _rewards(run: Run) -> list[_Part]:
    if parse_spec(run.plan.strategy).name != _BEST_OF_N:
        return []
    strategy = create("strategy", run.plan.strategy)
    if not isinstance(strategy, BestOfN):
        return []
    settings = strategy.settings

    def of(row: Row) -> tuple[int, int]:
        texts = [reply.text for reply in _said(row.trial, CANDIDATE)]
        said = _said(row.trial, REWARD)
        found = weighed(row.item, texts, said, form=settings.form, orders=settings.orders)
        return found.n_asked, found.n_read

    found = [of(row) for row in run.rows if _said(row.trial, REWARD)]
    if not found:
        return []
    n_asked, n_read = (sum(counts) for counts in zip(*found, strict=True))
    return [
        _Part(
            key="no-points",
            words="rewards that could not be read",
            said="Of {of} rewards {n} could not be read, also after a repair; they rank last.",
            n=n_asked - n_read,
            n_of=n_asked,
        ),
        _Part(
            key="no-reward",
            words="trials without any reward",
            said="In {n} of {of} trials no reward could be read, and the earliest candidate counts.",
            n=sum(not n for _, n in found),
            n_of=len(found),
        ),
    ]


def _rounds(run: Run) -> list[_Part]:
    trials = [row.trial for row in run.rows if _said(row.trial, REWRITE)]
    if not trials:
        return []
    rounds = [_unchanged(_answers(trial)) for trial in trials]
    reviews = [reply for trial in trials for reply in _said(trial, CRITIQUE)]
    return [
        _Part(
            key="unchanged",
            words="rounds that left the answer in the same words",
            said="Of {of} rounds of refining {n} left the answer in the same words.",
            n=sum(map(sum, rounds)),
            n_of=sum(map(len, rounds)),
        ),
        _Part(
            key="never-changed",
            words="trials in which no round changed a word",
            said="In {n} of {of} refined trials no round changed a word.",
            n=sum(map(all, rounds)),
            n_of=len(rounds),
        ),
        _Part(
            key="empty-review",
            words="reviews without a word",
            said="Of {of} reviews {n} had no word.",
            n=sum(not reply.text.strip() for reply in reviews),
            n_of=len(reviews),
        ),
    ]


def _answers(trial: Trial) -> list[Reply]:
    return [step.reply for step in trial.steps if step.role in {CANDIDATE, REWRITE}]


def _unchanged(answers: Sequence[Reply]) -> list[bool]:
    return [is_unchanged(before, after) for before, after in pairwise(answers)]
