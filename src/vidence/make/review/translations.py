"""Translations may change an item's language and texts, but not what they are about."""

import re
from collections.abc import Mapping, Sequence
from typing import Final

LANGUAGE: Final = "language"
"""Tag for the language of a wording."""
_WORDED: Final = frozenset({"note", "text", "title"})


def language_of(content: Mapping[str, object]) -> str:
    """Return a wording's language by its tag; empty if there is none.

    >>> language_of({"tags": {"language": "de"}}), language_of({})
    ('de', '')
    """
    tags = content.get("tags")
    return str(tags.get(LANGUAGE, "")).strip() if isinstance(tags, dict) else ""


def in_language(content: Mapping[str, object], language: str) -> dict[str, object]:
    """Return a wording with its language tag."""
    tags = content.get("tags")
    return {**content, "tags": {**(tags if isinstance(tags, dict) else {}), LANGUAGE: language}}


def translation_fault(
    source: Mapping[str, object], translated: Mapping[str, object], *, texts: Sequence[str]
) -> str:
    """Return why a wording is not a translation of another one; empty if it is.

    Args:
        source: what was translated.
        translated: the other wording, with its language as a tag.
        texts: the fields that may be worded again; lists stay as long as they are, and what was empty stays
            empty. A letter as an answer stays, and the words of a choice stay those of the same choice.
    """
    language, before = language_of(translated), language_of(source)
    if not language:
        return f"a translation says its language: the tag {LANGUAGE!r}"
    if language == before:
        return f"it is in {language!r} already; expected another language"
    if moved := sorted(({*source} ^ {*translated}) - {"tags"}):
        return f"{moved[0]!r} is in one of the wordings only; a translation has the same fields"
    for name, value in source.items():
        other = translated.get(name)
        if name == "tags":
            if _without_language(value) != _without_language(other):
                return f"{name!r} differs in more than the language"
        elif name not in texts:
            if value != other:
                return f"{name!r} differs; a translation changes {', '.join(texts)}"
        elif not _is_worded(value, other):
            return f"{name!r} has another form than before; a translation has a text for each text"
    return _answer_fault(source, translated)


def _without_language(tags: object) -> object:
    return {name: tag for name, tag in tags.items() if name != LANGUAGE} if isinstance(tags, dict) else tags


def _is_worded(value: object, other: object) -> bool:
    """Whether a field differs only in its texts; keys of tables are texts too (choices, and why)."""
    if isinstance(value, dict) and isinstance(other, dict):
        words = (*other, *other.values())
        return len(value) == len(other) and all(isinstance(word, str) and word.strip() for word in words)
    return _is_shaped(value, other)


def _is_shaped(value: object, other: object) -> bool:
    if isinstance(value, str) and isinstance(other, str):
        return bool(value.strip()) == bool(other.strip())
    if isinstance(value, list | tuple) and isinstance(other, list | tuple):
        return len(value) == len(other) and all(map(_is_shaped, value, other))
    if isinstance(value, dict) and isinstance(other, dict) and value.keys() == other.keys():
        return all(
            _is_shaped(entry, other[name]) if name in _WORDED else entry == other[name]
            for name, entry in value.items()
        )
    return value == other


def _answer_fault(source: Mapping[str, object], translated: Mapping[str, object]) -> str:
    choices, others = source.get("choices"), translated.get("choices")
    answer, other = source.get("answer"), translated.get("answer")
    if not isinstance(choices, list | tuple) or not isinstance(others, list | tuple) or not choices:
        return ""
    if isinstance(answer, str) and re.fullmatch(r"[A-Z]", answer):
        return (
            "" if answer == other else f"the answer is {other!r} and was {answer!r}; the right choice stays"
        )
    if answer in choices and (other not in others or others.index(other) != choices.index(answer)):
        return f"the answer {other!r} is not the choice that {answer!r} was"
    return ""
