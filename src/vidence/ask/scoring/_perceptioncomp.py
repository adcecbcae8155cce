"""Where the released PerceptionComp runners look for the answer; shared by their three rules."""

import re

# Case matters in the tags: the runners do not find <ANSWER>.
_TAG = re.compile(r"<answer>\s*(.*?)\s*</answer>", re.DOTALL)
_STATED = re.compile(r"answer[:\s]*([A-E])\b", re.IGNORECASE)
LONE_LETTER = re.compile(r"\b[A-E]\b")


def tagged_or_stated(text: str) -> tuple[str, str] | None:
    """The last ``<answer>`` content, else the first letter after the word *answer*.

    Returns:
        The words to look at and the name of the rule, or None where neither is there.
    """
    # Without this check, replies that open thousands of tags and close none take seconds.
    tags: list[str] = _TAG.findall(text) if "</answer>" in text else []
    if tags:
        return tags[-1].strip(), "answer-tag"
    stated = _STATED.search(text)
    return (stated[1], "answer-word") if stated else None


def candidate(text: str) -> tuple[str, str]:
    """The words that the API and Gemini runners take for the answer, and by which rule."""
    found = tagged_or_stated(text)
    if found:
        return found
    letters = LONE_LETTER.findall(text)
    return (letters[-1], "last-letter") if letters else (text, "whole-reply")
