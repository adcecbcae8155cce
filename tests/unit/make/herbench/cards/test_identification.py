"""Whom a description fits: a model that looks, models that do not, and replies that cannot be read."""

import pytest

from vidence.make.herbench.cards.identification import IdentificationTry, identified, try_card
from vidence.make.pipeline.material import Card, Crop
from vidence.records import ImagePart

CARD = Card(track_id="2", kind="A", text="A man in a red coat.")


def crops(*names):
    return {
        name: (Crop(track_id=name, frame_index=i, digest=f"{i:064d}", width_px=80, height_px=160),)
        for i, name in enumerate(names)
    }


def people_in(prompt):
    """The pictures of each numbered person."""
    found = {}
    for part in prompt.parts[:-1]:
        if isinstance(part, ImagePart):
            found[max(found)].append(part)
        else:
            found[int(part.text.removeprefix("Person "))] = []
    return found


def says(wanted):
    """A model that sees who is one of `wanted`, by the pictures."""

    def reply(prompt):
        fitting = [n for n, parts in people_in(prompt).items() if int(parts[0].digest) in wanted]
        return f"FITS: {', '.join(map(str, fitting)) or 'none'}"

    return reply


@pytest.mark.parametrize(
    ("wanted", "fits", "alone"),
    [({1}, ("2",), True), ({1, 3}, ("2", "4"), False), ({0}, ("1",), False), (set(), (), False)],
)
def test_who_looks_is_believed_whatever_the_order(play, wording, wanted, fits, alone):
    shown = crops("1", "2", "3", "4")
    tried = play(try_card(CARD, shown, wording=wording), says(wanted)).made
    assert tried.fits == fits
    found = identified(CARD, tried, by="a model")
    assert (found.fits, found.identified_by, found.fits_it_alone) == (fits, "a model", alone)


@pytest.mark.parametrize("n_people", range(2, 9))
@pytest.mark.parametrize("said", ["first", "last", "middle"])
def test_who_names_a_place_contradicts_itself(play, wording, n_people, said):
    def reply(prompt):
        n = len(people_in(prompt))
        return f"FITS: {({'first': 1, 'last': n, 'middle': (n + 1) // 2})[said]}"

    for text in ("A red coat.", "A blue hat.", "Bald, with a beard.", "Tall."):
        card = Card(track_id="2", kind="A", text=text)
        shown = crops(*map(str, range(1, n_people + 1)))
        tried = play(try_card(card, shown, wording=wording), reply).made
        assert not identified(card, tried, by="a model").fits_it_alone


def test_everybody_is_shown_under_a_number_in_two_orders_that_mirror_each_other(play, wording):
    shown = crops("1", "2", "3")
    played = play(try_card(CARD, shown, wording=wording), says({1}))
    first, second = (list(people_in(prompt).values()) for prompt in played.prompts)
    assert first == second[::-1]
    assert {parts[0].digest for parts in first} == {some[0].digest for some in shown.values()}
    words = played.prompts[0].parts[-1].text
    assert '"A man in a red coat."' in words
    assert "3 pictures of 3 people" in words


@pytest.mark.parametrize("said", ["Person 2, I think", "FITS: 9", "FITS:", "2"])
def test_what_cannot_be_read_is_asked_again_and_then_nothing_is_known(play, wording, said):
    played = play(try_card(CARD, crops("1", "2"), wording=wording), said, said, said, said)
    assert played.made.dropped.reason == "unreadable"
    assert identified(CARD, played.made, by="a model") == CARD


def test_a_reply_may_be_dressed_up_a_little(play, wording):
    played = play(try_card(CARD, crops("2"), wording=wording), "**Fits: 1.**", "FITS: 1")
    assert played.made == IdentificationTry(fits=("2",), shown=("2",))
