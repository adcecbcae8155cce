"""The most likely choice letter, by log-probabilities stored with the reply."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from vidence.ask.scoring.letters import LetterScorer
from vidence.records import LOGP, Answered, Item, Reply, Unreadable

RULE = "choice-logps/first-token"


def letter_probabilities(logps: Mapping[str, float] | None, letters: Sequence[str]) -> dict[str, float]:
    """Return the normalised probabilities of the reported choice letters; empty if none was reported.

    Letters that the model did not report are left out, which slightly overestimates the others.

    Args:
        logps: natural-log probabilities at the first position of the answer (`Reply.choice_logps`).
        letters: the letters of the choices.

    >>> letter_probabilities({"A": -1.0, "B": -1.0, "Z": -0.1}, ("A", "B", "C"))
    {'A': 0.5, 'B': 0.5}
    """
    known = {letter: logp for letter in letters if (logp := (logps or {}).get(letter, -math.inf)) > -math.inf}
    if not known:
        return {}
    most = max(known.values())
    shares = {letter: math.exp(logp - most) for letter, logp in known.items()}
    return {letter: share / sum(shares.values()) for letter, share in shares.items()}


def read_logps(item: Item, reply: Reply) -> Answered | Unreadable:
    """Return the letter with the highest stored log-probability, or why there is none."""
    if reply.choice_logps is None:
        return Unreadable(
            reason="no log-probabilities of choice letters are stored with the reply; ask with --choice-logps"
        )
    likely = letter_probabilities(reply.choice_logps, item.letters)
    if not likely:
        return Unreadable(reason="the model reported a log-probability of none of the choice letters")
    most = max(likely.values())
    first, *others = (letter for letter, share in likely.items() if share == most)
    if others:
        return Unreadable(reason=f"the letters {', '.join((first, *others))} are equally likely")
    return Answered(answer=first, rule=RULE)


@dataclass(frozen=True, kw_only=True)
class LogpScorer(LetterScorer):
    """A `contracts.Scorer` that uses stored log-probabilities instead of text.

    Reports do not compare it with text parsers (`reads_letters` is False), because most runs store no
    log-probabilities.
    """

    def letter(self, item: Item, reply: Reply) -> Answered | Unreadable:
        """Return the most likely letter, or why there is none."""
        return read_logps(item, reply)


def _no_words(item: Item, text: str) -> Answered | Unreadable:
    return Unreadable(reason="this parser reads log-probabilities and no words")


def create() -> LogpScorer:
    """Create the parser ``logp``."""
    return LogpScorer(name=LOGP, version=1, reads_letters=False, read_text=_no_words)
