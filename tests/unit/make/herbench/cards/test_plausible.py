"""What may stand in the place of a detail."""

import pytest

from subjects.scene_cards import films
from vidence.make.herbench.cards.plausible import SlotCounts, slots_of
from vidence.make.pipeline.material import Change, SceneCard


def card(text, *, changes=()):
    return SceneCard(card_id="s", shot_id="s", text=text, changes=changes)


def slots(text):
    return {slot.word: slot.key for slot in slots_of(text)}


def test_slots_say_what_a_word_stands_beside():
    assert slots("Two men walk along a narrow street past a red car.") == {
        "two": ("number", "men"),
        "walk": ("verb", "along"),
        "narrow": ("modifier", "street"),
        "street": ("noun", "along"),
        "red": ("modifier", "car"),
        "car": ("noun", "past"),
    }


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("A man wears a bow tie.", "tie"),
        ("A man in a bowler hat waits.", "hat"),
        ("They come through a revolving door.", "door"),
        ("The door handle shines.", "door"),
        ("A basket of red flowers.", "basket"),
        ("Two hands on a rail.", "two"),
        ("A house stands near a lake.", "stands"),  # what does nothing has no act to swap
    ],
)
def test_parts_of_compounds_and_what_things_do_have_no_slot(text, word):
    assert word not in slots(text)


def test_true_cards_alone_are_learned_from():
    change = Change(kind="modification", before="red", after="green")
    known = SlotCounts.of([card("A red cow."), card("A green cow.", changes=(change,))])
    assert known.weight(("modifier", "cow"), "red") == 1
    assert known.weight(("modifier", "cow"), "green") == 0


def test_plain_facts_hold_without_any_card():
    assert SlotCounts().weight(("modifier", "coats"), "blue")
    assert not SlotCounts().weight(("modifier", "coats"), "purple")
    assert SlotCounts().weight(("modifier", "horse"), "brown")
    assert not SlotCounts().weight(("modifier", "horse"), "green")


def test_words_that_never_part_are_a_compound():
    cards = [card(f"A stone lion guards gate {i}.") for i in range(3)]
    assert SlotCounts.of(cards).is_compound("stone", "lion")
    assert not SlotCounts.of(cards[:2]).is_compound("stone", "lion")
    assert not SlotCounts.of([*cards, *(card("A stone wall.") for _ in range(2))]).is_compound(
        "stone", "lion"
    )
    assert SlotCounts().is_compound("red", "carpet")


def test_every_film_teaches_something_to_the_others():
    for name in films():
        known = SlotCounts.of(c for other, cards in films().items() if other != name for c in cards)
        assert len(known.seen) > 60
