"""A question on a page without media, and one whose folder nobody says."""

from subjects.viewed import ITEMS
from vidence.studio.bridge.question_view import RunAnswer
from vidence.studio.viewer.question_page import _lane_words, _montages, media_of


def test_without_a_folder_nothing_is_looked_for():
    (one,) = media_of(ITEMS[0], roots=[""])
    assert (one.address, one.problem) == ("", "It is not said in which folder its media lie.")


def test_media_at_an_address_are_said_to_be_there():
    (one,) = media_of(ITEMS[0], roots=["", "s3://lab/videos"])
    assert one.problem == "Its media lie at s3://lab/videos, and files of this machine are played here."


def test_a_montage_stands_with_the_medium_of_all_its_frames():
    one = RunAnswer(
        place="p",
        name="Ours",
        repeat=0,
        fate="right",
        fate_words="right",
        montages=(((0, 3), (0, 45)), ((0, 60), (1, 2))),
        montage="columns=2&rows=1",
    )
    (sent,) = _montages([one], 0, address="/media/t")
    assert sent.pictures == (("/media/t/montage.jpg?frames=3,45&columns=2&rows=1", "frames 3, 45"),)
    assert list(_montages([one], 1, address="/media/t")) == []
    assert _lane_words({"name": "sent whole to Ours", "whole": True}) == "all of it"
