"""Records of sources: what they are called, what they show, which of too many stay."""

from vidence.make.writing.gathering import generator, medium_word, rank
from vidence.records import Media


def test_a_question_shows_an_image_several_or_a_clip():
    image = Media(path="a.jpg", kind="image")
    assert medium_word([image]) == "image"
    assert medium_word([image, image]) == "images"
    assert medium_word([Media(path="a.mp4")]) == "video"


def test_what_is_drawn_depends_on_seed_and_name_alone():
    assert rank(1, "a") == rank(1, "a")
    assert len({rank(seed, name) for seed in (1, 2) for name in "ab"}) == 4
    assert generator(1, "a").random() == generator(1, "a").random() != generator(1, "b").random()
