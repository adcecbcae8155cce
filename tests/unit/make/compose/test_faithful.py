"""Whether words say a program: the same, an equal one, or another."""

import msgspec
import pytest

from subjects.composing import searched, street
from vidence.make.compose.faithful import checked_words, same_program, variant, verdict_of, vocabulary_text
from vidence.make.compose.parsing import parse_compositions
from vidence.make.compose.wording import PlainWords
from vidence.make.pipeline.writer import Objection

SCENE = street()


def program(text):
    return parse_compositions(text, source="x")[0].composition


ASKED = program('P = the(person(top == "black", hat == "green", glasses == "no"))\nanswer = P.bag')


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ('Z = the(person(glasses == "no", hat == "green", top == "black"))\nZ.bag', "same"),
        ('answer = the(person(glasses == "no", hat == "green", top == "black")).bag', "same"),
        ('```python\nZ = the(person(glasses == "no", hat == "green", top == "black"))\nZ.bag\n```', "same"),
        ('Z = the(person(glasses != "yes", hat != "none", top == "black"))\nZ.bag', "equivalent"),
        ('Z = the(person(hat == "green", top == "black"))\nZ.bag', "other"),
        ("The person in black has a white bag.", "unreadable"),
        ('__import__("os").system("true")', "unreadable"),
        ("Z = the(ghost())\nZ.bag", "unreadable"),
        ("white", "unreadable"),
    ],
)
def test_what_a_reader_made_of_the_words(text, verdict):
    found = verdict_of(text, ASKED, SCENE, variants=20, seed=0).verdict
    assert found.partition(":")[0] == verdict


def test_every_program_is_the_same_as_itself_and_as_no_other():
    found = [one.composition for one in searched(SCENE, n=120)]
    for one in found:
        assert same_program(one, one)
    shapes = {msgspec.json.encode(one.steps) for one in found}
    assert sum(same_program(found[0], one) for one in found) <= len(found) - len(shapes) + 1


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("Which bag has ① the one in black ② with the green hat, ③ without glasses?", ""),
        ("**Question:** Which bag has ① the one in black ② with the green hat, ③ without glasses?", ""),
        ("Which bag has ① the one in black ② with the green hat?", "no-question"),
        ("The bag of ① the one in black ② with the hat ③ without glasses.", "no-question"),
        ("Which white bag has ① the one in black ② with the hat, ③ without glasses?", "tells-the-answer"),
        ("Which bag " + "very " * 90 + "① ② ③?", "too-long"),
    ],
)
def test_words_of_a_model_are_looked_at(text, reason):
    found = checked_words(text, ASKED, untold="white", most_words=90)
    assert (found.reason if isinstance(found, Objection) else "") == reason


def test_a_variant_has_the_same_values_elsewhere():
    one, again, other = (variant(SCENE, seed=0, number=n) for n in (1, 1, 2))
    assert one.facts == again.facts != other.facts
    held = lambda scene: sorted(str(f.value) for f in scene.facts if getattr(f, "name", "") == "top")  # noqa: E731
    assert held(one) == held(SCENE)
    assert one.facts != SCENE.facts


def test_the_vocabulary_tells_no_fact():
    text = vocabulary_text(SCENE.vocabulary)
    assert "attribute top of person: white, black, grey, red" in text
    assert not any(f" {name}" in text for name in SCENE.entities)
    assert PlainWords(SCENE.vocabulary).category("person") == "person"
