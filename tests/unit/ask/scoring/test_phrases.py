"""The words of the languages are usable as patterns."""

import re
from dataclasses import fields

import pytest

from vidence.ask.scoring.phrases import LANGUAGES, any_of


@pytest.mark.parametrize("name", LANGUAGES)
def test_every_entry_is_a_pattern_that_needs_words(name: str) -> None:
    for field in fields(LANGUAGES[name]):
        pattern = getattr(LANGUAGES[name], field.name)
        if pattern:
            assert re.compile(pattern).groups == 0
            assert not re.compile(pattern).fullmatch("")


def test_any_of_matches_the_words_of_every_language() -> None:
    nouns = re.compile(any_of("answer"), re.IGNORECASE)
    said = ("Antwort", "bonne réponse", "respuesta correcta", "ответ", "答案", "正解", "정답", "الإجابة")
    assert all(nouns.fullmatch(word) for word in said)
