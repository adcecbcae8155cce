"""Faults that the fields of a form show by themselves, of each form when nothing is written."""

import pytest

from vidence.studio.rules.faults import Shape, form_faults
from vidence.studio.rules.forms import FORMS
from vidence.studio.rules.wording import Mark, Wording


@pytest.mark.parametrize("name", FORMS)
def test_an_empty_form_asks_for_what_it_needs(name):
    form = FORMS[name]
    for kind in form.kinds:
        found = list(form_faults(Wording(), form, kind, media=[Shape()]))
        assert {one.level for one in found} == {"fault"}
        assert {"question", "language"} < {one.field for one in found}
        assert ("answer" if kind == "open" else "right-text") in {one.field for one in found}


PICTURE = Shape(kind="image", n_frames=1, width_px=640, height_px=480)


def places(mark, shape, form="mmvu"):
    """What is said of the place of one piece of evidence, by its part."""
    said = form_faults(Wording(evidence=(mark,)), FORMS[form], "mcq", media=[shape])
    return {
        one.field.removeprefix("evidence-0-"): one.words for one in said if one.field.startswith("evidence-0")
    }


@pytest.mark.parametrize(
    ("mark", "part", "words"),
    [
        (Mark(x0="1", y0="2", x1="3"), "x0", "four numbers"),
        (Mark(x0="1", y0="2", x1="3", y1="-4"), "x0", "four numbers"),
        (Mark(x0="9", y0="2", x1="3", y1="4"), "x1", "there is nothing"),
        (Mark(x0="1", y0="2", x1="641", y1="4"), "x1", "640 x 480 pixels"),
        (Mark(start="1", end="2"), "start", "neither times nor frames"),
        (Mark(frames="0"), "frames", "neither times nor frames"),
    ],
)
def test_a_box_that_is_none_is_a_fault(mark, part, words):
    assert words in places(mark, PICTURE)[part]


def test_a_box_within_its_picture_or_all_of_it_is_none():
    assert places(Mark(x0="0", y0="0", x1="640", y1="480"), PICTURE) == {}
    assert places(Mark(text="the lamp"), PICTURE) == {}
    assert places(Mark(x0="0", y0="0", x1="9999", y1="1"), Shape(kind="image")) == {}


@pytest.mark.parametrize(
    ("mark", "part", "words"),
    [
        (Mark(x0="1"), "x0", "on a picture"),
        (Mark(frames="3, x"), "frames", "is not a list of up to"),
        (Mark(frames=" ".join(map(str, range(300)))), "frames", "up to 256 frames"),
        (Mark(frames="3 30"), "frames", "no frame 30; they are 0 to 29"),
        (Mark(frames="3", kind="oracle"), "text", "Say why these frames"),
    ],
)
def test_frames_that_are_none_are_said(mark, part, words):
    assert words in places(mark, Shape(n_frames=30))[part]


def test_oracle_frames_are_no_piece_that_is_counted_or_tied():
    written = Wording(steps=("one",), evidence=(Mark(kind="oracle", frames="1", text="all is seen"),))
    said = [one.words for one in form_faults(written, FORMS["humanpcr-r"], "open", media=[Shape()])]
    assert "0 pieces of evidence; expected 2 or more." in said
    assert not [one for one in said if "Say which step" in one]
