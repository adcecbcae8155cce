"""The card step where no model is asked: cards of files, and why a video has none."""

import json
from dataclasses import replace

import pytest

from subjects.herbench_session import session, state
from subjects.planted_people import street
from vidence.errors import DataError
from vidence.make.herbench.card_step import write_all_cards

NEEDS = ("a_cards", "b_cards")


@pytest.fixture
def crowd():
    """A street whose people have tracks and no cards yet."""
    material = street(1, n_people=3).material
    return state(replace(material, a_cards=(), b_cards=()), cards="{video_id}.jsonl")


def write(folder, one, *cards):
    (folder / f"{one.video_id}.jsonl").write_text("".join(json.dumps(card) + "\n" for card in cards))


def test_cards_of_a_file_come_in_the_order_of_the_chosen_tracks(tmp_path, crowd):
    first, second, third = crowd.material.chosen
    write(
        tmp_path,
        crowd,
        {"track_id": second, "kind": "A", "text": "A blue coat, with a bag, short hair."},
        {"track_id": first, "kind": "A", "text": "A red coat, with a dog, long hair."},
        {
            "track_id": first,
            "kind": "B",
            "text": "Stops at a bench. Waits there for a while. Walks on to the trees.",
        },
    )
    work = session(tmp_path)
    write_all_cards(work, [crowd], needs=NEEDS)
    assert [card.track_id for card in crowd.material.a_cards] == [first, second]
    assert [card.track_id for card in crowd.material.b_cards] == [first]
    assert {"a_cards", "b_cards"} <= crowd.digests.keys()
    assert crowd.absent == {"crops": "no track has one that can be used"}
    (account,) = [one for one in work.ledger.stages if one.stage == "cards"]
    assert (account.n_in, account.n_out) == (3, 3)
    assert third not in {card.track_id for card in crowd.material.a_cards}


@pytest.mark.parametrize(
    ("card", "said"),
    [
        ({"track_id": "nobody", "kind": "A", "text": "A red coat."}, "nobody"),
        ({"track_id": "nobody", "kind": "C", "text": "?"}, "kind"),
    ],
)
def test_a_wrong_card_names_the_video(tmp_path, crowd, card, said):
    write(tmp_path, crowd, card)
    with pytest.raises(DataError, match=f"the cards of the video {crowd.video_id}: .*{said}"):
        write_all_cards(session(tmp_path), [crowd], needs=NEEDS)


def test_without_a_file_and_without_cards_in_the_configuration_it_says_so(tmp_path):
    one = state(replace(street(1, n_people=3).material, a_cards=(), b_cards=()))
    write_all_cards(session(tmp_path), [one], needs=NEEDS)
    assert one.absent["a_cards"] == one.absent["b_cards"] == "the configuration has no [cards]"
    assert one.material.a_cards == ()
