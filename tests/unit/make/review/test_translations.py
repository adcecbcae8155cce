"""What is a translation of an item, and what is another item."""

import pytest

from subjects.reviewing import Team, at
from vidence.errors import DataError
from vidence.make.review.protocol import load_protocol
from vidence.make.review.recording import Recorder, translate
from vidence.make.review.translations import in_language, language_of, translation_fault

TEXTS = load_protocol("humanpcr-r").texts
GERMAN = {
    "item_id": "q1",
    "question": "Was steht vorn?",
    "choices": ["die Tasse", "der Krug"],
    "answer": "B",
    "rationale": "1. Der Krug ist vorn.",
    "evidence": [{"kind": "proactive", "start_s": 1.0, "end_s": 2.0, "note": "der Krug"}],
    "misconception": {"die Tasse": "sie ist bunt"},
    "tags": {"task": "order", "language": "de"},
}
ENGLISH = {
    "item_id": "q1",
    "question": "What is in front?",
    "choices": ["the cup", "the jug"],
    "answer": "B",
    "rationale": "1. The jug is in front.",
    "evidence": [{"kind": "proactive", "start_s": 1.0, "end_s": 2.0, "note": "the jug"}],
    "misconception": {"the cup": "it is colourful"},
    "tags": {"task": "order", "language": "en"},
}


def fault(**changed: object) -> str:
    return translation_fault(GERMAN, ENGLISH | changed, texts=TEXTS)


def test_a_translation_words_the_texts_anew():
    assert fault() == ""
    assert translation_fault(ENGLISH, GERMAN, texts=TEXTS) == ""
    bare = {"item_id": "q1", "question": "Was?", "answer": "Brot", "answer_kind": "text"}
    assert translation_fault(bare, in_language(bare | {"question": "What?"}, "en"), texts=TEXTS) == ""
    assert language_of(in_language(bare, "en")) == "en"


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"tags": {"task": "order"}}, "says its language"),
        ({"tags": {"task": "order", "language": "de"}}, "in 'de' already"),
        ({"tags": {"task": "colour", "language": "en"}}, "'tags' differs in more than the language"),
        ({"hints": ["look"]}, "'hints' is in one of the wordings only"),
        ({"item_id": "q2"}, "'item_id' differs; a translation changes question, choices"),
        ({"answer": "A"}, "the answer is 'A' and was 'B'"),
        ({"choices": ["the cup"]}, "'choices' has another form"),
        ({"choices": ["the cup", ""]}, "'choices' has another form"),
        ({"question": " "}, "'question' has another form"),
        ({"evidence": [ENGLISH["evidence"][0] | {"end_s": 3.0}]}, "'evidence' has another form"),
        ({"evidence": [ENGLISH["evidence"][0] | {"kind": "referred"}]}, "'evidence' has another form"),
        ({"misconception": {}}, "'misconception' has another form"),
    ],
)
def test_what_changes_more_than_words_is_none(changed, said):
    assert said in fault(**changed)


def test_an_answer_in_words_stays_that_of_its_choice():
    before, after = GERMAN | {"answer": "der Krug"}, ENGLISH | {"answer": "the cup"}
    assert "is not the choice that 'der Krug' was" in translation_fault(before, after, texts=TEXTS)
    assert translation_fault(before, after | {"answer": "the jug"}, texts=TEXTS) == ""


def team() -> Team:
    """An item that somebody holds at the second stage."""
    one = Team("humanpcr-r")
    one.put(**{name: value for name, value in GERMAN.items() if name != "item_id"}, source_id="film")
    assert one.look("bob") == ""
    assert one.act("claim", "cid", "meta") == ""
    return one


def translated(one: Team, by: str = "cid", role: str = "meta", **changed: object):
    one.minute += 1
    recorder = Recorder(one.reviews, by=by, role=role, at=at(one.minute))
    done = translate(one.reviews, {"q1": ENGLISH | {"source_id": "film"} | changed}, recorder, language="en")
    one._take(recorder)
    return done


def test_a_translation_is_a_revision_and_its_source_stays():
    one = team()
    source = one.reviews.states["q1"].revision
    assert translated(one).n_new == 1
    state = one.reviews.states["q1"]
    last = one.reviews.revisions[state.revision]
    assert (last.origin, last.parent, last.n) == ("translate", source, 2)
    assert not state.was_edited
    assert one.reviews.revisions[source].content["question"] == "Was steht vorn?"
    assert one.reviews.source("q1")["question"] == "Was steht vorn?"
    assert one.reviews.content("q1")["question"] == "What is in front?"
    assert translated(one).n_same == 1
    assert one.act("accept", "cid", "meta") == ""
    assert one.state == "accepted"


@pytest.mark.parametrize(
    ("by", "role", "said"),
    [
        ("dan", "meta", "no claim of this person"),
        ("cid", "reviewer", "the revision is 'translate'|the role 'reviewer'"),
        ("ann", "meta", "no claim of this person"),
    ],
)
def test_who_does_not_look_translates_nothing(by, role, said):
    with pytest.raises(DataError, match=said):
        translated(team(), by=by, role=role)


def test_a_protocol_without_translations_takes_none():
    one = Team("mmvu")
    one.put(**{name: value for name, value in GERMAN.items() if name != "item_id"}, source_id="film")
    assert one.act("claim", "cid") == ""
    with pytest.raises(DataError, match="the revision is 'translate'; expected validator_edit"):
        translated(one, role="reviewer")
