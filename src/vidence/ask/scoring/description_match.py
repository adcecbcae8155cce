"""Whether a reply describes the right label, as ActPLD scores its thought logs, by rules alone.

For open questions the reply is the description. For questions with choices it is the log of how the model
chose; the chosen letter is ignored, but a reply without one is left out. The item's `knowledge` lists the
other labels, see `label_words`.
"""

import re
from dataclasses import dataclass

from vidence.ask.files import json_or_none
from vidence.ask.scoring.description import branch
from vidence.ask.scoring.label_words import LabelWords
from vidence.ask.scoring.letters import with_cut_off
from vidence.ask.scoring.robust import read_text
from vidence.records import Answered, Item, Outcome, Reply, Score, Unreadable
from vidence.text import refusal_in, without_thinking

NAME = "description-match"
# What stands for the letter where a log supports none of the choices.
NO_CHOICE = "none"
_ERROR = re.compile(r"\bERROR:")
# "B", "(B)", "The best answer is B." and the like: a letter, and words that say only that it is the answer.
_LETTER_ALONE = re.compile(
    r"[\W_]*(?:(?:the|my|final|best|correct|right|answer|option|choice|letter|is|would"
    r"|be)\b[\W_]*)*[A-Z][\W_]*",
    re.IGNORECASE,
)


def label_words(item: Item) -> tuple[LabelWords, tuple[LabelWords, ...]]:
    """Return the right label of a question, and its rivals.

    For a question with choices these are the choices. For an open one they are its answer and the other
    labels in `knowledge`, each a `LabelWords` as JSON; other entries are ignored.

    Source: ActPLD, appendix A.3.
    Departs: the paper does not say which labels compete. For a description these are the labels outside the
    right one's
        semantic group; for a log, the offered choices.
    """
    known: dict[str, LabelWords] = {}
    for entry in item.knowledge:
        if words := json_or_none(entry, LabelWords):  # others are pages or notes, meant for parsers
            known[words.text] = words
    if item.answer_kind == "choice":
        right = item.choices[item.letters.index(item.answer)]
        rivals = tuple(known.get(c, LabelWords(text=c)) for c in item.choices if c != right)
        return known.get(right, LabelWords(text=right)), rivals
    rivals = tuple(words for text, words in known.items() if text != item.answer)
    return known.get(item.answer, LabelWords(text=item.answer)), rivals


def description_in(reply: Reply) -> str:
    """Return the text of a reply to match: all but reasoning in ``<think>`` tags.

    Source: ActPLD, section 2.5 (the thought log of the reply, read in full).
    Departs: tagged reasoning is removed, because most servers do not return theirs; the answer itself, step
    by step or not, is
        treated alike for all.
    """
    return without_thinking(reply.text).strip()


@dataclass(frozen=True, kw_only=True)
class DescriptionMatch:
    """A `contracts.Scorer`: 1.0 if one of the paper's three branches holds, see `description.branch`.

    Source: ActPLD, section 2.5 and appendix A.3.
    Departs: the paper gives these rules to a judge model; here they are code, which understands only the
    words in our lists.
        The judge of the same name asks a model.
    """

    name: str = NAME
    version: int = 2
    reads_letters: bool = False

    def read(self, item: Item, reply: Reply) -> Outcome:
        """Return the description; for a question with choices, the letter that the log supports.

        If a log supports several choices, the right one counts; if none, the answer is ``none``. Replies with
        ``ERROR:`` are unreadable, since the paper drops such rows. So are letters without a log, as from
        models that produce no text.
        """
        if refused := refusal_in(reply):
            return refused
        if _ERROR.search(reply.text):
            return Unreadable(reason="the reply holds 'ERROR:'; such rows are dropped")
        description = description_in(reply)
        if not description:
            return with_cut_off(Unreadable(reason="the reply has no words beside its reasoning"), reply)
        if item.is_hidden and item.answer_kind == "choice":
            return Unreadable(reason="this parser reads with the answer, which is hidden")
        if item.answer_kind == "text":
            return Answered(answer=description, rule="whole-reply")
        chosen = read_text(item, reply.text)
        if _LETTER_ALONE.fullmatch(description):
            return with_cut_off(Unreadable(reason="the reply names a choice and has no log"), reply)
        if isinstance(chosen, Answered):
            return self._supported(item, description)
        return with_cut_off(chosen, reply)

    def mark(self, item: Item, outcome: Outcome) -> Score:
        """Return 1.0 if the description matches the right label; 0.0 otherwise or without one."""
        is_match = False
        if isinstance(outcome, Answered):
            if item.answer_kind == "choice":
                is_match = outcome.answer == item.answer
            else:
                is_match = bool(branch(*label_words(item), outcome.answer))
        return Score(outcome=outcome, value=float(is_match), scorer=self.name, scorer_version=self.version)

    def _supported(self, item: Item, message: str) -> Answered:
        right, rivals = label_words(item)
        labels = {words.text: words for words in (right, *rivals)}
        others = [letter for letter in item.letters if letter != item.answer]
        for letter in (item.answer, *others):
            choice = item.choices[item.letters.index(letter)]
            rule = branch(
                labels[choice], [words for text, words in labels.items() if text != choice], message
            )
            if rule:
                return Answered(answer=letter, rule=f"log/{rule}")
        return Answered(answer=NO_CHOICE, rule="log/no-match")


def create() -> DescriptionMatch:
    """Create the parser ``description-match``.

    Source: ActPLD, section 2.5 and appendix A.3.
    Departs: see `DescriptionMatch`.
    """
    return DescriptionMatch()
