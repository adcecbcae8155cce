"""A question on a page without media, and one whose folder nobody says."""

from subjects.viewed import ITEMS
from vidence.studio.viewer.question_page import media_of


def test_without_a_folder_or_at_an_address_nothing_is_looked_for():
    (one,) = media_of(ITEMS[0], roots=[""])
    assert (one.address, one.problem) == ("", "The folder of its media is unknown.")
    (one,) = media_of(ITEMS[0], roots=["", "s3://lab/videos"])
    assert one.problem == "Its media are at s3://lab/videos, and only files on this machine are played here."
