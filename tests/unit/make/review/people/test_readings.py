"""Readings of cards: which cards go, and why."""

import pytest

from vidence.make.pipeline.material import Card, Change, SceneCard
from vidence.make.review.people.checks import check_of_card, check_of_scene
from vidence.make.review.people.readings import read_cards_by_people, read_false_by_people
from vidence.make.review.people.rows import CardCheckRow, FalseCheckRow

CARD = Card(track_id="3", kind="A", text="A tall man.")
CHANGE = Change(kind="modification", before="cat", after="dog")
TRUE = SceneCard(card_id="t", shot_id="s", text="A cat runs.")
FALSE = SceneCard(card_id="f", shot_id="s", text="A dog runs.", changes=(CHANGE,))


def reading(fits="one", leaks="no", by="P03", card=CARD):
    return CardCheckRow(
        video_id="v",
        check=check_of_card(card),
        track_id=card.track_id,
        kind=card.kind,
        fits=fits,
        leaks=leaks,
        by=by,
        where="people/card_checks.csv:2",
    )


def false_reading(told="cannot-say", occurs="no", by="P03", card=FALSE):
    return FalseCheckRow(
        video_id="v",
        check=check_of_scene(card),
        card_id=card.card_id,
        told=told,
        occurs=occurs,
        natural="yes",
        by=by,
        where="people/false_checks.csv:2",
    )


@pytest.mark.parametrize(
    ("rows", "reasons", "alone"),
    [
        ([], [], ()),
        ([reading()], [], ("3/A",)),
        ([reading(), reading("several", by="P07")], ["fits-several"], ()),
        ([reading("none")], ["fits-none"], ()),
        ([reading(leaks="yes")], ["leaks"], ()),
    ],
)
def test_a_single_doubt_about_a_card_is_enough(rows, reasons, alone):
    found = read_cards_by_people([CARD], rows)
    assert [one.reason for one in found.dropped] == reasons
    assert found.alone == alone
    assert found.read == (("3/A",) if rows else ())


def test_a_reading_of_another_text_is_named():
    other = Card(track_id="3", kind="A", text="A small man.")
    found = read_cards_by_people([CARD], [reading(card=other)])
    assert found.read == ()
    assert found.unused[0].why == "the card 3/A has changed since; read it again"


@pytest.mark.parametrize(
    ("rows", "reasons"),
    [
        ([false_reading("true")], []),
        ([false_reading("false")], ["told-by-its-words"]),
        ([false_reading("false"), false_reading("true", by="P07")], []),
        ([false_reading("true", "yes")], ["is-true"]),
        ([false_reading("true", "cannot-say")], []),
    ],
)
def test_a_false_card_goes_where_it_is_true_or_told_by_more_than_the_rules_allow(rows, reasons):
    found = read_false_by_people([TRUE, FALSE], rows, most_told=0.5)
    assert [one.reason for one in found.dropped] == reasons
    assert [(one.card, one.reader, one.said) for one in found.heard] == [
        ("f", row.by, row.told) for row in rows
    ]
    assert found.unread == ()
    assert read_false_by_people([TRUE, FALSE], [], most_told=0.5).unread == ("f",)


def test_readings_of_true_cards_are_named():
    found = read_false_by_people([TRUE, FALSE], [false_reading(card=TRUE)], most_told=0.5)
    assert found.unused[0].why == "the card t is not there"
