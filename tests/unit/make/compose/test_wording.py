"""What is written is read as the same program; anything else is refused by its piece."""

from pathlib import Path

import msgspec
import pytest

from subjects.composing import WORDS, event_log, random_scene, searched, street
from vidence.errors import DataError
from vidence.make.compose.phrases import WordingError
from vidence.make.compose.wording import PlainWords
from vidence.make.sources.composition import Composition
from vidence.make.sources.vocabulary import read_vocabulary


def test_questions_of_the_search_read_back_exactly():
    scenes = [street(), *(random_scene(seed, n=12, n_events=9) for seed in range(4))]
    shapes = set()
    for scene in scenes:
        words = PlainWords(scene.vocabulary)
        for made in searched(scene, n=150):
            assert words.read(words.write(made.composition)) == made.composition.steps
            shapes.add(made.shape)
    assert len(shapes) >= 5


def test_events_have_words_of_their_own():
    scene = event_log()
    words = PlainWords(scene.vocabulary)
    texts = [words.write(made.composition) for made in searched(scene, n=400)]
    assert any(text.startswith("How many events are there ①") for text in texts)
    assert any("What is the object of U?" in text for text in texts)
    assert any(text.endswith("What happens in U, and what is the object of U?") for text in texts)
    for made, text in zip(searched(scene, n=400), texts, strict=True):
        assert words.read(text) == made.composition.steps
    with pytest.raises(WordingError, match="no sentence of ours"):
        words.read("What happens in U, and what is the object of T?")


def test_questions_of_the_vocabulary_are_asked():
    asks = {
        name: msgspec.structs.replace(one, asks=f"Where does {{who}} end, by {name}?")
        for name, one in WORDS.attributes.items()
    }
    words = PlainWords(msgspec.structs.replace(WORDS, attributes=asks))
    texts = []
    for made in searched(random_scene(1), n=200):
        texts.append(words.write(made.composition))
        assert words.read(texts[-1]) == made.composition.steps
    assert any(text.endswith(" end, by b?") for text in texts)
    same = {name: msgspec.structs.replace(one, asks="Where is {who}?") for name, one in asks.items()}
    with pytest.raises(DataError, match=r"two attributes, a and b, read .*change `asks`"):
        PlainWords(msgspec.structs.replace(WORDS, attributes=same))


def test_nouns_of_several_words_stand_before_whom_they_belong_to():
    sign = msgspec.structs.replace(WORDS.attributes["a"], noun="shape of the sign")
    words = PlainWords(msgspec.structs.replace(WORDS, attributes={**WORDS.attributes, "a": sign}))
    text = (
        "P is the thing ① whose b is “x”. X is the shape of the sign of P. "
        "R is the thing ② whose shape of the sign is X. What kind of b does R have?"
    )
    made = Composition(composition="p", scene="s", steps=words.read(text), conditions=())
    assert words.write(made) == text


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("I cannot do that.", "no sentence of ours"),
        ("A is the person ① whose hat is made of tin. What is A's bag?", "no condition of ours"),
        ("A is the ghost ① whose hat is green. What is A's bag?", "no category 'ghost'"),
        ("A is the person ① whose hat is green. What is A's soul?", "no sentence of ours: .*soul"),
    ],
)
def test_other_texts_are_refused(text, match):
    with pytest.raises(WordingError, match=match):
        PlainWords(street().vocabulary).read(text)


def test_the_questions_of_the_page_are_ours():
    root = Path(__file__).parents[4]
    page = (root / "docs" / "making" / "compose.md").read_text("utf-8")
    words = PlainWords(read_vocabulary(root / "tests" / "golden" / "makers" / "compose" / "street.toml"))
    asked = [line.removeprefix("* ") for line in page.splitlines() if line.startswith("* ") and "①" in line]
    assert len(asked) == 2
    for text in asked:
        steps = words.read(text)
        made = Composition(composition="p", scene="s", steps=steps, conditions=())
        assert words.write(made) == text
