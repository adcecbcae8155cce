"""What guessing does to the gate of readers without a video: drops by luck, and what is known beyond it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from vidence.make.gates.model_gates import GateVerdict
from vidence.make.gates.rules import TextOnlyRules
from vidence.records import Clusters, Estimate, Item
from vidence.statistics.intervals import mean_interval

_UNBOUNDED: Final = (-np.inf, np.inf)


@dataclass(frozen=True, kw_only=True)
class ReaderLuck:
    """One model: how many questions it was right about in every run, and how many a guesser would be."""

    model: str
    n: int
    n_right: int
    expected: float


@dataclass(frozen=True, kw_only=True)
class Luck:
    """The readers' gate beside guessing.

    Of `n` questions with choices about which the gate decided, `n_found` were answered as often as the rule
    wants; guessing would answer `expected` of them so. `known` is the share that is known beyond luck, with
    its interval by source; None where nothing was decided.
    """

    n: int
    n_found: int
    expected: float
    known: Estimate | None
    readers: tuple[ReaderLuck, ...]


def by_luck(n_choices: int, rules: TextOnlyRules) -> float:
    """The chance that guessers answer a question as often as the rule wants; each guesses on its own.

    >>> by_luck(2, TextOnlyRules(models=("a",), at_least=1, runs=3))
    0.125
    """
    from scipy.stats import binom

    if n_choices < 2:
        return 0.0
    each = n_choices ** -rules.runs_of(n_choices)
    return float(binom.sf(rules.at_least - 1, len(rules.models), each))


def read_luck(
    items: Sequence[Item],
    verdicts: Sequence[GateVerdict],
    rules: TextOnlyRules,
    *,
    level: float = 0.95,
    name: Callable[[str], str] = str,
) -> Luck:
    """What the readers know, less luck.

    Where the share k is known and the rest is guessed, k + (1 - k) l is found, l being the chance of luck.

    Args:
        items: the questions.
        verdicts: those of the gate.
        rules: those of the gate.
        level: coverage of the interval.
        name: what a model is called.
    """
    by_id: Mapping[str, Item] = {item.item_id: item for item in items}
    told = [
        (one, by_id[one.item_id])
        for one in verdicts
        if not one.n_unusable and one.votes and by_id[one.item_id].answer_kind == "choice"
    ]
    is_found = np.array([one.n_right >= rules.at_least for one, _ in told], np.float64)
    luck = np.array([by_luck(len(item.choices), rules) for _, item in told])
    known = None
    if told and luck.mean() < 1:
        clusters = Clusters.of([item for _, item in told])
        scaled = (is_found - luck.mean()) / (1 - luck.mean())
        known = mean_interval(scaled, clusters=clusters, bounds=_UNBOUNDED, level=level)
    readers = []
    for model in rules.models:
        votes = [(vote, item) for one, item in told for vote in one.votes if vote.model == model]
        readers.append(
            ReaderLuck(
                model=name(model),
                n=len(votes),
                n_right=sum(vote.is_right for vote, _ in votes),
                expected=sum(len(item.choices) ** -rules.runs_of(len(item.choices)) for _, item in votes),
            )
        )
    return Luck(
        n=len(told),
        n_found=int(is_found.sum()),
        expected=float(luck.sum()),
        known=known,
        readers=tuple(readers),
    )
