"""False cards by rules."""

import re

import numpy as np
import pytest

from subjects.scene_cards import films
from vidence.make.herbench.cards.falsifying import check_changes
from vidence.make.herbench.cards.plausible import SlotCounts
from vidence.make.herbench.cards.swapping import perturb_by_rules
from vidence.make.pipeline.material import Dropped, SceneCard

RICH = (
    "A young woman in a brown coat walks along a narrow street at night past two red cars with a spear in "
    "her right hand."
)


def card(text: str) -> SceneCard:
    return SceneCard(card_id="s-true", shot_id="s", text=text, frames=(3,))


def made(text: str, seed: int = 0, others: tuple[SceneCard, ...] = ()) -> SceneCard | Dropped:
    return perturb_by_rules(card(text), others=others, rng=np.random.default_rng(seed))


def test_many_draws_give_many_false_cards_that_all_hold():
    texts = set()
    for seed in range(60):
        false = made(RICH, seed)
        assert isinstance(false, SceneCard)
        assert 2 <= len(false.changes) <= 5
        assert check_changes(RICH, false.text, false.changes) is None
        assert (false.card_id, false.shot_id, false.frames, false.writer) == ("s-false", "s", (3,), "rules-2")
        texts.add(false.text)
    assert len(texts) > 40
    assert RICH not in texts


def test_one_known_detail_alone_is_no_false_card():
    lost = made("Somebody waits beside a red car.")
    assert isinstance(lost, Dropped)
    assert lost.reason == "nothing-plausible"
    assert "'red'" in lost.detail


def test_a_text_without_known_details_is_dropped():
    lost = made("Somebody does something.")
    assert isinstance(lost, Dropped)
    assert (lost.what, lost.reason) == ("s-false", "no-detail-known")


def test_people_keep_their_kind_where_words_for_them_would_not_fit():
    for seed in range(30):
        false = made("A man with a beard and his dog stand near a red car.", seed)
        assert "woman" not in false.text


def test_compounds_stay_and_only_what_is_said_elsewhere_comes_in():
    text = "A man in a bowler hat and a bow tie walks through a revolving door into a street."
    known = SlotCounts.of(card for cards in films().values() for card in cards)
    allowed = {
        f"A man in a bowler hat and a bow tie runs through a revolving door into a {place}."
        for place in ("tunnel", "park")
    }
    for seed in range(40):
        false = perturb_by_rules(card(text), others=(), known=known, rng=np.random.default_rng(seed))
        assert isinstance(false, SceneCard)
        assert false.text in allowed
    lost = made("A man in a bowler hat and a bow tie waits at a revolving door.")
    assert isinstance(lost, Dropped)


def test_a_word_is_only_swapped_for_one_seen_in_that_place():
    text = "A mother in her coat sleeps near two yaks beneath a barn."
    for seed in range(20):
        alone = made(text, seed)
        assert isinstance(alone, SceneCard)
        assert "beneath a barn" in alone.text
    seen = SlotCounts.of([card("A boy sleeps beneath a church."), card("A cat sleeps in the rain.")])
    drawn = [
        perturb_by_rules(card(text), others=(), known=seen, rng=np.random.default_rng(seed))
        for seed in range(20)
    ]
    said = {one.text.partition("beneath ")[2] for one in drawn if isinstance(one, SceneCard)}
    assert "a church." in said
    assert said <= {"a barn.", "a church."}


def test_articles_follow_the_new_word_and_others_stay():
    for seed in range(40):
        false = made("A young man waits an hour beside a white car.", seed)
        assert "an hour" in false.text
        assert not re.search(r"\b[Aa] [aeio]|\b[Aa]n (?!hour)[^aeiou]", false.text), false.text


@pytest.mark.parametrize(
    "text", ["Two red cars stop.", "Left of the red car, right after noon, two dogs bark at dawn."]
)
def test_only_sides_are_turned_round(text):
    for seed in range(30):
        false = made(text, seed)
        assert ("right after" in false.text) == ("right after" in text)


def test_a_draw_that_is_another_card_already_is_not_taken():
    first = made("Two red cars stop.", 0)
    again = made("Two red cars stop.", 0, others=(first,))
    assert isinstance(again, SceneCard)
    assert again.text != first.text
