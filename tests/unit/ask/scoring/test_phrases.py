"""The words of the languages are usable as patterns."""

import re

import pytest

from vidence.ask.scoring.phrases import LANGUAGES, WORD_LISTS, any_of


@pytest.mark.parametrize("name", LANGUAGES)
def test_every_entry_is_a_pattern_that_needs_words(name: str) -> None:
    for field in WORD_LISTS:
        pattern = getattr(LANGUAGES[name], field)
        if pattern:
            assert re.compile(pattern).groups == 0
            assert not re.compile(pattern).fullmatch("")


def test_any_of_matches_the_words_of_every_language() -> None:
    nouns = re.compile(any_of("answer"), re.IGNORECASE)
    said = ("Antwort", "réponse", "respuesta", "ответ", "答案", "正解", "정답", "الإجابة")
    assert all(nouns.fullmatch(word) for word in said)
