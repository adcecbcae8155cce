"""A question on a page without media, and one whose folder nobody says."""

from subjects.viewed import ITEMS
from vidence.studio.viewer.shown import item_parts, media_of


def test_the_words_of_a_question_stand_beside_its_evidence():
    said = item_parts(ITEMS[0])
    assert said["is_choice"]
    assert [title for title, _ in said["beside"]] == ["Rationale"]
    assert said["evidence"][0]["span"] == "1.00 to 2.00 s"


def test_without_a_folder_nothing_is_looked_for():
    (one,) = media_of(ITEMS[0], roots=[""])
    assert (one.address, one.problem) == ("", "It is not said in which folder its media lie.")
