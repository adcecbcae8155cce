"""The likeliest choice by the log-probabilities stored with a reply, of letters or of texts."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from vidence.ask.scoring.letters import LetterScorer
from vidence.errors import UsageError
from vidence.records import Answered, Item, Outcome, Reply, TextLogp, Unreadable
from vidence.text import refusal_in

NAMES = ("logp", "logp-text")
LETTERS, TEXTS = NAMES
SUMMARIES = {
    LETTERS: "The most likely choice letter, by the log-probabilities stored with the reply.",
    TEXTS: "The choice whose text has the highest log-probability per byte, by those stored with the reply.",
}
RULE = "choice-logps/first-token"
TEXT_RULE = "choice-text-logps/per-byte"

Norm: TypeAlias = Literal["byte", "token", "text"]
"""What the log-probability of a text is divided by: its bytes, its tokens, or nothing (a text as a whole)."""


def letter_probabilities(logps: Mapping[str, float] | None, letters: Sequence[str]) -> dict[str, float]:
    """How likely each reported choice letter is among those reported; empty where none of them was.

    Letters that the model did not report are left out, so that the others are at most a little too likely.

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


def text_scores(
    logps: Mapping[str, TextLogp] | None, letters: Sequence[str], *, norm: Norm
) -> dict[str, float]:
    """The log-probability of each choice's text, divided by its length; empty unless all are known.

    Long texts are less likely than short ones whatever they say, hence the division. Bytes are the same for
    every tokenizer, tokens are not; undivided, short texts are favoured.

    Source: Gao, "Multiple Choice Normalization in LM Evaluation" (EleutherAI, 2021): byte-length,
        token-length and no normalisation.
    Departs: no. What lm-evaluation-harness prints as ``acc_norm`` divides by characters, which is the same
        for texts in ASCII; its ``acc`` divides by nothing.

    Args:
        logps: of the texts (`Reply.choice_text_logps`).
        letters: the letters of the choices.
        norm: what they are divided by.

    >>> long, short = TextLogp(logp=-6.0, n_tokens=2, n_bytes=12), TextLogp(logp=-4.0, n_tokens=1, n_bytes=4)
    >>> text_scores({"A": long, "B": short}, ("A", "B"), norm="byte")
    {'A': -0.5, 'B': -1.0}
    """
    if not letters or any(letter not in (logps or {}) for letter in letters):
        return {}
    known = {letter: (logps or {})[letter] for letter in letters}
    lengths: dict[Norm, Callable[[TextLogp], int]] = {
        "byte": lambda one: one.n_bytes,
        "token": lambda one: one.n_tokens,
        "text": lambda one: 1,
    }
    return {letter: one.logp / lengths[norm](one) for letter, one in known.items()}


def read_logps(item: Item, reply: Reply) -> Answered | Unreadable:
    """The letter with the highest stored log-probability; why there is none otherwise."""
    if reply.choice_logps is None:
        return Unreadable(
            reason="no log-probabilities of choice letters are stored with the reply; ask with --choice-logps"
        )
    likely = letter_probabilities(reply.choice_logps, item.letters)
    if not likely:
        return Unreadable(reason="the model reported a log-probability of none of the choice letters")
    return _likeliest(likely, rule=RULE, what="letters")


def read_text_logps(item: Item, reply: Reply) -> Answered | Unreadable:
    """The choice whose text has the highest log-probability per byte; why there is none otherwise."""
    if reply.choice_text_logps is None:
        return Unreadable(
            reason="no log-probabilities of choice texts are stored with the reply; "
            "ask with --set want_choice_text_logps=true"
        )
    scores = text_scores(reply.choice_text_logps, item.letters, norm="byte")
    if not scores:
        return Unreadable(reason="the log-probability of the text of a choice is not stored with the reply")
    return _likeliest(scores, rule=TEXT_RULE, what="texts of")


def _likeliest(scores: Mapping[str, float], *, rule: str, what: str) -> Answered | Unreadable:
    most = max(scores.values())
    first, *others = (letter for letter, score in scores.items() if score == most)
    if others:
        return Unreadable(reason=f"the {what} {', '.join((first, *others))} are equally likely")
    return Answered(answer=first, rule=rule)


@dataclass(frozen=True, kw_only=True)
class LogpScorer(LetterScorer):
    """A `contracts.Scorer` that reads stored log-probabilities in place of words.

    It is not set beside the parsers of words in a report (`reads_letters` is False), since most runs store no
    log-probabilities.
    """

    read_stored: Callable[[Item, Reply], Answered | Unreadable]

    def read(self, item: Item, reply: Reply) -> Outcome:
        """The most likely letter, or why there is none.

        Raises:
            UsageError: the item has no choices.
        """
        if item.answer_kind != "choice":
            raise UsageError(
                f"parser {self.name!r} reads letters, but item {item.item_id!r} has an open answer; "
                "use the parser 'needs-judge' for it"
            )
        return refusal_in(reply) or self.read_stored(item, reply)


def _no_words(item: Item, text: str) -> Answered | Unreadable:
    return Unreadable(reason="this parser reads log-probabilities and no words")


def create(name: str) -> LogpScorer:
    """One of the parsers `NAMES`: by the letters, or by the texts."""
    read = {LETTERS: read_logps, TEXTS: read_text_logps}[name]
    return LogpScorer(name=name, version=1, reads_letters=False, read_text=_no_words, read_stored=read)
