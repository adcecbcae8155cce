"""Score numbers by closeness: the mean relative accuracy of VSI-Bench."""

import re
from dataclasses import dataclass
from typing import Final

from vidence.ask.scoring.letters import with_cut_off
from vidence.ask.scoring.needs_judge import NeedsJudge
from vidence.records import Answered, Item, Outcome, Reply, Score, Unreadable
from vidence.text import refusal_in, without_thinking

_NUMBER: Final = re.compile(r"(?<![\w.,])-?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?![\d,]*\.?\d)")
_CONFIDENCES: Final = tuple(0.5 + 0.05 * step for step in range(10))


def mean_relative_accuracy(value: float, truth: float) -> float:
    """Return the share of ten tolerances, 50 % to 5 % of the truth, that a number is within.

    Source: VSI-Bench, equation 1.

    >>> mean_relative_accuracy(4, 4), round(mean_relative_accuracy(3, 4), 1), mean_relative_accuracy(9, 4)
    (1.0, 0.6, 0.0)
    """
    if not truth:
        return float(value == truth)
    error = abs(value - truth) / abs(truth)
    return sum(error <= 1 - confidence + 1e-9 for confidence in _CONFIDENCES) / len(_CONFIDENCES)


@dataclass(frozen=True, kw_only=True)
class RelativeAccuracy(NeedsJudge):
    """A `contracts.Scorer` of numeric answers.

    Source: VSI-Bench, section 3.3.
    Departs: the authors use the reply's first word only; here words and units may surround a number if it is
    the only one or
        the reply starts with it.
    """

    name: str = "mra"

    def read(self, item: Item, reply: Reply) -> Outcome:
        """The number in the reply."""
        if refused := refusal_in(reply):
            return refused
        matches = list(_NUMBER.finditer(without_thinking(reply.text).strip()))
        if len(matches) == 1 or (matches and not matches[0].start()):
            return Answered(answer=matches[0][0].replace(",", ""), rule="number")
        why = "several numbers" if matches else "no number"
        return with_cut_off(Unreadable(reason=f"the reply has {why}"), reply)

    def mark(self, item: Item, outcome: Outcome) -> Score:
        """Return the mean relative accuracy; 0.0 without an answer. A non-numeric truth needs a judge."""
        value: float | None = 0.0
        if isinstance(outcome, Answered):
            truth = _NUMBER.fullmatch(item.answer.strip())
            right = None if truth is None else float(truth[0].replace(",", ""))
            value = None if right is None else mean_relative_accuracy(float(outcome.answer), right)
        return Score(outcome=outcome, value=value, scorer=self.name, scorer_version=self.version)


def create() -> RelativeAccuracy:
    """Create the parser ``mra``."""
    return RelativeAccuracy()
