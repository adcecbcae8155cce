"""The letter rules of the three runners that PerceptionComp released."""

import re
from collections.abc import Mapping

from vidence.ask.scoring.letters import LetterScorer, ReadText
from vidence.records import Answered, Item, Unreadable

NAMES = ("perceptioncomp-api", "perceptioncomp-custom", "perceptioncomp-gemini")
SUMMARIES: Mapping[str, str] = {
    "perceptioncomp-api": "The letter rule of the API runner that PerceptionComp released.",
    "perceptioncomp-custom": "The letter rule of PerceptionComp's released template for own models.",
    "perceptioncomp-gemini": "The letter rule of the Gemini runner that PerceptionComp released.",
}

# Case matters in the tags: the runners do not find <ANSWER>.
_TAG = re.compile(r"<answer>\s*(.*?)\s*</answer>", re.DOTALL)
_STATED = re.compile(r"answer[:\s]*([A-E])\b", re.IGNORECASE)
_LONE_LETTER = re.compile(r"\b[A-E]\b")
# The Gemini runner writes this text in place of a reply and marks it wrong without reading it.
_UPLOAD_FAILED = "ERROR UPLOADING"


def _tagged_or_stated(text: str) -> tuple[str, str] | None:
    """Return the last ``<answer>`` content, else the first letter after the word *answer*; with its rule."""
    # Without this check, replies that open thousands of tags and close none take seconds.
    tags: list[str] = _TAG.findall(text) if "</answer>" in text else []
    if tags:
        return tags[-1].strip(), "answer-tag"
    stated = _STATED.search(text)
    return (stated[1], "answer-word") if stated else None


def _candidate(text: str) -> tuple[str, str]:
    """Return the text that the API and Gemini runners take as the answer, and the rule."""
    if stated := _tagged_or_stated(text):
        return stated
    letters = _LONE_LETTER.findall(text)
    return (letters[-1], "last-letter") if letters else (text, "whole-reply")


def _last_alone(words: str, rule: str) -> Answered | Unreadable:
    letters = _LONE_LETTER.findall(words.upper())
    if not letters:
        return Unreadable(reason="no letter A to E stands alone in the text that the official rule reads")
    return Answered(answer=letters[-1], rule=rule)


def read_api(item: Item, text: str) -> Answered | Unreadable:
    """Return the last separate letter A to E in the upper-cased candidate.

    The article in ``B: a bag`` is upper-cased too and read as A, as released.

    Source: hrinnnn/PerceptionComp at bf4146f, the API runner.
    Departs: no. Letters A to E are read whatever the number of choices.
    """
    return _last_alone(*_candidate(text))


def read_custom(item: Item, text: str) -> Answered | Unreadable:
    """Like the API rule, but the fallback search upper-cases the whole reply first.

    So the article *a* in any prose counts as A, as released.

    Source: hrinnnn/PerceptionComp at bf4146f, the template runner for own models.
    Departs: no. Letters A to E are read whatever the number of choices.
    """
    return _last_alone(*(_tagged_or_stated(text) or (text, "last-letter")))


def read_gemini(item: Item, text: str) -> Answered | Unreadable:
    """Return the first of A, B, C, D, E that occurs anywhere in the candidate, even inside words.

    ``B: Black`` is read as A because of the *a* in *Black*, as released; all result files before 2026 were
    scored this way.

    Source: hrinnnn/PerceptionComp at bf4146f, the Gemini runner.
    Departs: no. Letters A to E are read whatever the number of choices.
    """
    if text.startswith(_UPLOAD_FAILED):
        return Unreadable(reason="the recorded reply says that the upload failed; nothing was asked")
    words, rule = _candidate(text)
    upper = words.upper()
    letter = next((letter for letter in "ABCDE" if letter in upper), None)
    if letter is None:
        return Unreadable(reason="no letter A to E occurs in the text that the official rule reads")
    return Answered(answer=letter, rule=rule)


_RULES: Mapping[str, ReadText] = dict(zip(NAMES, (read_api, read_custom, read_gemini), strict=True))


def create(name: str) -> LetterScorer:
    """Create one of the parsers `NAMES`."""
    return LetterScorer(name=name, version=1, read_text=_RULES[name])
