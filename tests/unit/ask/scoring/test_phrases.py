"""The words of the languages are usable as patterns."""

import re

import pytest

from vidence.ask.scoring.phrases import any_of, languages, spoken


@pytest.mark.parametrize("code", languages())
def test_every_list_is_known_and_a_pattern_that_needs_words(code: str) -> None:
    language = languages()[code]
    used = set(re.findall(r"<(\w+)>", str(language.lists)))
    assert {*language.lists} <= {*languages()["en"].lists} | {"denied"} | used
    for name in language.lists:
        pattern = re.compile(language.pattern(name))
        assert pattern.groups == 0
        assert not pattern.fullmatch("")


def test_the_signs_of_the_file_are_read() -> None:
    stated = re.compile(any_of("option", ("en",)), re.IGNORECASE)
    assert all(stated.fullmatch(said) for said in ("option", "the correct\n letter", "Final answer"))
    assert not stated.search("adoption")
    assert re.match(any_of("wait", ("es",)), "no , es")
    assert not re.match(any_of("wait", ("es",)), "no es")


def test_any_of_matches_the_words_of_every_language() -> None:
    nouns = re.compile(any_of("answer"), re.IGNORECASE)
    said = ("Antwort", "réponse", "respuesta", "ответ", "答案", "正解", "정답", "الإجابة", "Antwoord")
    assert all(nouns.fullmatch(word) for word in said)


def test_languages_are_known_by_their_words_and_scripts() -> None:
    assert spoken("The answer is B") == ("en",)
    assert spoken("Die Antwort ist B") == ("en", "de")
    assert spoken("Ответ B") == ("en", "ru")
    assert {"zh", "ja"} <= {*spoken("答案")}
