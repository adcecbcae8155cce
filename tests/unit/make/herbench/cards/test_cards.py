"""Both cards of a track: asked for together, checked, asked for again, dropped."""

import json

import numpy as np
import pytest

from vidence.make.herbench.cards.cards import CardChecks, check_cards, write_cards
from vidence.make.herbench.cards.screening import leakage
from vidence.make.pipeline.material import Card
from vidence.records import ImagePart, Reply, TextPart

A = (
    "A tall man with short dark hair wears a black jacket over a light shirt, grey trousers and white shoes. "
    "He has a blue rucksack on both shoulders."
)
B = (
    "This person comes from the left and follows the road towards the middle. After a short stop beside two "
    "others they turn around. They end near the lower side at an even pace."
)
LEAKY = (
    "The tall man in the black jacket comes from the left and follows the road with his blue rucksack. "
    "He stops beside two others. His white shoes hurry on towards the lower side."
)
TIMES = np.arange(100) / 10


def written(play, pictures, wording, *said, **rules):
    flow = write_cards(pictures, times_s=TIMES, wording=wording, rules=CardChecks(**rules), writer="model-x")
    return play(flow, *said)


def test_both_cards_are_asked_for_together_and_kept(play, pictures, wording):
    played = written(play, pictures, wording, A, B)
    cards = played.made
    assert [len(asked) for asked in played.rounds] == [2]
    assert [(c.kind, c.text, c.writer) for c in cards.cards] == [("A", A, "model-x"), ("B", B, "model-x")]
    assert cards.cards[0].frames == (0, 1, 2, 97, 98, 99)
    assert cards.cards[1].frames == (50, 60)
    assert cards.dropped == cards.flags == ()
    # Counted by hand: 17 words of A and 15 of B mean something, and only "short" is in both.
    assert leakage(A, B).content == pytest.approx(1 / 31)
    assert leakage(A, B).shared == ("short",)


def test_the_appearance_card_sees_crops_and_the_path_card_sees_whole_frames_too(play, pictures, wording):
    a, b = written(play, pictures, wording, A, B).prompts
    a_digests = [p.digest[-2:] for p in a.parts if isinstance(p, ImagePart)]
    b_digests = [p.digest[-2:] for p in b.parts if isinstance(p, ImagePart)]
    assert a_digests == ["a0", "a1", "a2", "a7", "a8", "a9"]
    assert b_digests == ["b0", "c0", "b0", "c0"]
    assert isinstance(a.parts[-1], TextPart)
    assert "5.0 s, 6.0 s" in b.text
    assert "card_appearance.txt" in a.template
    assert "card_path.txt" in b.template


def test_a_path_card_that_leaks_is_asked_for_again_with_the_words_and_then_kept(play, pictures, wording):
    played = written(play, pictures, wording, A, LEAKY, LEAKY, B)
    cards = played.made
    assert [len(asked) for asked in played.rounds] == [2, 1, 1]
    assert "black, blue, jacket, rucksack" in played.prompts[-1].text
    assert json.dumps(LEAKY) in played.prompts[-1].text
    assert [c.text for c in cards.cards] == [A, B]
    assert cards.dropped == ()


def test_a_path_card_that_leaks_twice_is_dropped_and_the_other_stays(play, pictures, wording):
    def says(prompt):
        return A if "Name each visible" in prompt.text else LEAKY

    cards = written(play, pictures, wording, says).made
    assert [c.kind for c in cards.cards] == ["A"]
    (dropped,) = cards.dropped
    assert (dropped.what, dropped.stage, dropped.reason) == ("t1/B", "cards", "leaks-appearance")
    assert "jacket" in dropped.detail
    assert max(leakage(A, LEAKY).raw, leakage(A, LEAKY).content) > 0.15


@pytest.mark.parametrize("nothing", ["", "   \n", "<think>a man, I guess</think>", '""'])
def test_an_empty_text_is_asked_for_again_and_then_dropped(play, pictures, wording, nothing):
    played = written(play, pictures, wording, A, nothing, nothing)
    (dropped,) = played.made.dropped
    assert (dropped.what, dropped.reason) == ("t1/B", "empty")
    assert [c.kind for c in played.made.cards] == ["A"]


def test_a_refusal_of_the_server_is_not_asked_again(play, pictures, wording):
    refusal = Reply(text="", finish="refusal", refusal="people")
    played = written(play, pictures, wording, refusal, B)
    (dropped,) = played.made.dropped
    assert (dropped.what, dropped.reason, dropped.detail) == ("t1/A", "refused", "people")
    assert len(played.rounds) == 1


@pytest.mark.parametrize(
    "said", ["I'm sorry, but I can't describe people.", "As an AI model I do not look at faces. Sorry!"]
)
def test_a_refusal_in_words_is_asked_again_once(play, pictures, wording, said):
    played = written(play, pictures, wording, said, B, said)
    assert played.made.dropped[0].reason == "refused"
    assert [len(asked) for asked in played.rounds] == [2, 1]


def test_an_appearance_card_with_actions_is_asked_again_and_else_flagged(play, pictures, wording):
    active = A + " He walks on the left."
    asked = written(play, pictures, wording, active, B, A)
    assert "left, walks" in asked.prompts[-1].text
    assert asked.made.flags == ()
    assert asked.made.cards[0].text == A
    kept = written(play, pictures, wording, active, B, active).made
    assert kept.cards[0].text == active
    (flag,) = kept.flags
    assert (flag.kind, flag.reason, flag.words) == ("A", "tells-actions", ("left", "walks"))
    strict = written(play, pictures, wording, active, B, active, strict=True).made
    assert strict.dropped[0].reason == "tells-actions"


def test_a_path_card_with_clothes_of_somebody_is_flagged(play, pictures, wording):
    coat = B + " Somebody in a purple poncho greets them."
    cards = written(play, pictures, wording, A, coat, coat).made
    assert (cards.flags[0].reason, cards.flags[0].words) == ("names-clothing", ("poncho", "purple"))


@pytest.mark.parametrize("text", ["Tall.", "One. Two. " * 10])
def test_a_card_of_the_wrong_length_is_dropped(play, pictures, wording, text):
    cards = written(play, pictures, wording, text, B, text).made
    assert cards.dropped[0].reason == "wrong-length"


def test_a_card_that_was_cut_off_is_not_used(play, pictures, wording):
    cut = Reply(text=A[:60], finish="length")
    assert written(play, pictures, wording, cut, B, cut).made.dropped[0].reason == "cut-off"


def test_markup_and_headings_are_taken_off(play, pictures, wording):
    cards = written(play, pictures, wording, f"**Description:** {A}", f'"{B}"').made
    assert [c.text for c in cards.cards] == [A, B]


DIFFERENT = "DIFFERENT PEOPLE: 4, 5, 6"


@pytest.mark.parametrize("said", [(DIFFERENT, B), (A, "**DIFFERENT PEOPLE:** 2"), (DIFFERENT, DIFFERENT)])
def test_a_writer_who_sees_different_people_writes_no_card_of_the_track(play, pictures, wording, said):
    played = written(play, pictures, wording, *said)
    cards = played.made
    assert len(played.rounds) == 1  # nobody is asked to see it otherwise
    assert cards.cards == cards.flags == ()
    assert [(d.what, d.reason) for d in cards.dropped] == [
        ("t1/A", "not-one-person"),
        ("t1/B", "not-one-person"),
    ]
    assert not cards.is_one_person


@pytest.mark.parametrize(
    "start", ["Different people in 3 cars pass by. ", "Different people, some of them 3 times, pass by. "]
)
def test_a_path_that_begins_with_different_people_says_nothing_of_the_pictures(
    play, pictures, wording, start
):
    assert [c.text for c in written(play, pictures, wording, A, start + B).made.cards] == [A, start + B]


@pytest.mark.parametrize("kind", ["A", "B"])
def test_a_writer_who_sees_it_at_the_second_try_takes_the_first_back(play, pictures, wording, kind):
    active, coat = A + " He walks on the left.", B + " Somebody in a purple poncho greets them."
    first = (active, B) if kind == "A" else (A, coat)
    cards = written(play, pictures, wording, *first, DIFFERENT).made
    assert cards.cards == ()
    assert {d.reason for d in cards.dropped} == {"not-one-person"}


def test_both_templates_ask_whether_it_is_one_person(play, pictures, wording):
    for prompt in written(play, pictures, wording, A, B).prompts:
        assert "one and the same person" in prompt.text
        assert "DIFFERENT PEOPLE:" in prompt.text


def test_a_description_of_several_is_asked_for_again_and_then_refused(play, pictures, wording):
    several = "The pictures show two different people. The first wears a red coat, the second a blue one."
    mended = written(play, pictures, wording, several, B, A)
    assert "DIFFERENT PEOPLE" in mended.prompts[-1].text
    assert [c.text for c in mended.made.cards] == [A, B]
    said = written(play, pictures, wording, several, B, DIFFERENT).made
    kept_on = written(play, pictures, wording, several, B, several).made
    for cards in (said, kept_on):
        assert {d.reason for d in cards.dropped} == {"not-one-person"}
        assert cards.cards == ()


def test_people_on_a_shirt_are_no_objection_to_a_card_that_people_wrote():
    shirt = "A tall man in a white T-shirt with a print of two people. He has short dark hair."
    found = check_cards([Card(track_id="t", kind="A", text=shirt), Card(track_id="t", kind="B", text=B)])
    assert [c.text for c in found.cards] == [shirt, B]
    assert [(f.reason, f.words) for f in found.flags] == [("several-people", ("two people",))]


def test_people_can_say_that_a_track_is_two_people():
    both = check_cards([Card(track_id="t", kind="A", text=A), Card(track_id="t", kind="B", text=DIFFERENT)])
    alone = check_cards([Card(track_id="t", kind="A", text="Different people.")])
    assert both.cards == alone.cards == ()
    assert not both.is_one_person
    assert [d.what for d in both.dropped] == ["t/A", "t/B"]
    assert "4, 5, 6" in both.dropped[0].detail
    assert [(d.what, d.reason) for d in alone.dropped] == [("t/A", "not-one-person")]
