"""Free-form replies: the one choice whose words the first or the last sentence says.

No letter is looked for here. A text of several words counts wherever it stands in the sentence; a single
word or number (*red*, *3*) only as what is said of something: "The coat is red.", "There are 3 people."; a
single verb in -ing wherever somebody does it.
"""

import re
from collections.abc import Sequence

from vidence.ask.scoring.description import evidence_for
from vidence.ask.scoring.label_words import LabelWords, Mention, mentions, words_of
from vidence.records import Item

# A longer sentence is no plain answer; models that repeat themselves write such.
_MOST_CHARS = 600
# "fighting" is what somebody does wherever it stands; "spring", "the building" are things.
_SHORTEST_DOING = 6
_OF_A_THING = re.compile(
    r"\b(?:the|an?|this|that|his|her|their|its|of|in|into|near|at|on|by)\s*\Z", re.IGNORECASE
)
_ENDS_OF_REPLY = {"first-sentence": 0, "last-sentence": -1}
_SENTENCE = re.compile(r"(?<=[.!?])[\"')]*\s+|\n+")
# A sentence with one of these leaves open what is the case.
_OPEN = re.compile(
    r"\?|\b(?:cannot|can't|could|couldn't|unable|unclear|unsure|not\s+(?:sure|clear|certain|possible"
    r"|enough)|don't\s+know"
    r"|impossible|difficult|hard\s+to|whether|if|might|may|maybe|perhaps|possibly|either|or|neither|nor"
    r"|would|unless"
    r"|options?|choices?|question|asks?|asked|some\s+(?:would|might|may)|one\s+(?:might|could|may)"
    r"|that(?:'s|\s+is)\s+(?:right|correct)|right\s+(?:now|there|here|after|before|behind|next))\b",
    re.IGNORECASE,
)
_SMALL = frozenset(
    [
        "a",
        "an",
        "and",
        "at",
        "by",
        "for",
        "from",
        "has",
        "he",
        "her",
        "his",
        "in",
        "into",
        "is",
        "it",
        "its",
        "of",
        "on",
        "or",
        "she",
        "that",
        "the",
        "their",
        "they",
        "to",
        "was",
        "with",
    ]
)
_SAYING = (
    r"(?:is|are|was|were|be|been|being|'s|seems?|appears?|looks?|becomes?|mov(?:es|ed|ing)|goes|going"
    r"|turn(?:s|ed|ing)"
    r"|head(?:s|ed|ing)|fac(?:es|ed|ing)|travel(?:s|ed|led|ing|ling)|walk(?:s|ed|ing)|run(?:s|ning)"
    r"|roll(?:s|ed|ing))"
)
_SAID_OF = re.compile(
    rf"\b{_SAYING}(?:\s+(?:to\s+be|\w+))?(?:\s+(?:in|to|on|towards?))?(?:\s+(?:the|a|an))?\s*\Z",
    re.IGNORECASE,
)
_COUNTED = re.compile(
    r"(?:\b(?:is|are|was|were|be|number\s+is)|'s)(?:\s+(?:exactly|only|a\s+total\s+of))?\s*\Z", re.IGNORECASE
)
_ENDS = re.compile(
    r"\A(?:\s+(?:in|of|throughout|during|at)\s+(?:the|this)\s+(?:\w+\s+)?(?:video|clip|image|picture"
    r"|frames?|scene|footage|camera"
    r"|screen|end|beginning))?\W*\Z|\A,?\s+(?:because|since|as|to\s+me)\b|\A,?\s+(?:not|rather\s+than"
    r"|instead\s+of|and\s+not)\b|\A\s+(?:side|colou?r|direction)\W*\Z",
    re.IGNORECASE,
)
_NUMBERS = (
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
)
_DIGITS = {word: str(i) for i, word in enumerate(_NUMBERS) if i != 1}
_NUMBER = re.compile(rf"\b(?:{'|'.join(_DIGITS)})\b", re.IGNORECASE)


def _in_digits(text: str) -> str:
    return _NUMBER.sub(lambda word: _DIGITS[word[0].casefold()], text)


def _is_said_of(text: str, choice: str, mention: Mention) -> bool:
    """Whether a choice has several words of its own, or its word is what is said of something."""
    own = [word for word in re.findall(r"\w+", choice.casefold()) if word not in _SMALL]
    before, behind = text[: mention.start], text[mention.end :]
    if len(own) > 1:
        return True
    if own and own[0].endswith("ing") and len(own[0]) > _SHORTEST_DOING and not _OF_A_THING.search(before):
        return True
    if own and own[0].isdigit():
        return bool(_COUNTED.search(before)) and len(re.findall(r"\d+", text)) == 1
    raw = re.escape(choice.strip(" .")).replace(r"\ ", r"\s+")
    is_whole = re.search(rf"(?<!\w){raw}(?!\w)", text, re.IGNORECASE) is not None
    return is_whole and bool(_SAID_OF.search(before) and _ENDS.match(behind))


def said_in(item: Item, sentence: str) -> int | None:
    """The position of the only choice that a sentence says; None where there is no such choice.

    Sentences that leave open what is the case (*perhaps*, *if*, a question) say none.

    A choice that the question itself names says nothing, unless the question names several.
    """
    if len(sentence) > _MOST_CHARS or _OPEN.search(sentence) or len(sentence.split()) < 2:
        return None
    sentence = _in_digits(sentence)
    labels = [LabelWords(text=_in_digits(choice)) for choice in item.choices]
    # A choice that the sentence only denies is as good as not said: "blue, not red".
    evidence = evidence_for(labels, sentence)
    denied = {i for i, one in enumerate(evidence) if one.n_negated and not one.n_positive}
    found = [mention for mention in mentions(labels, words_of(sentence)) if mention.label not in denied]
    said = {mention.label for mention in found}
    if len(said) != 1:
        return None
    only = said.pop()
    if only in (asked := _asked(item, labels)) and len(asked) == 1:
        return None
    if evidence[only].n_negated or any(e.n_positive for i, e in enumerate(evidence) if i != only):
        return None
    return only if all(_is_said_of(sentence, labels[only].text, mention) for mention in found) else None


def _asked(item: Item, labels: Sequence[LabelWords]) -> set[int]:
    return {mention.label for mention in mentions(labels, words_of(_in_digits(item.question)))}


def read_sentences(item: Item, text: str) -> tuple[str, int] | None:
    """The choice that the first or last sentence says, with the name of the rule; None where neither does.

    The choice is -1 where the two say different ones.
    """
    sentences = [part.strip() for part in _SENTENCE.split(text) if part.strip(" \t-_=")]
    said = [(rule, said_in(item, sentences[at])) for rule, at in _ENDS_OF_REPLY.items()] if sentences else []
    named = [(rule, choice) for rule, choice in said if choice is not None]
    if len({choice for _, choice in named}) > 1:
        return "sentence", -1
    return named[0] if named else None
