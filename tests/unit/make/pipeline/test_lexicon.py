"""Words that carry meaning, and those that say what somebody looks like or does."""

import pytest

from vidence.make.pipeline.lexicon import action_words, appearance_words, listed


@pytest.mark.parametrize(
    ("text", "looks", "acts"),
    [
        ("A woman in a red coat walks to the left", {"red", "coat"}, {"walks", "left"}),
        ("A man watches the top of the table", set(), set()),  # words said of things, too
        ("Ties a lace", set(), set()),
        ("", set(), set()),
    ],
)
def test_words_of_appearance_and_of_action(text, looks, acts):
    assert appearance_words(text) == looks
    assert action_words(text) == acts


def test_no_word_says_both_what_somebody_looks_like_and_does():
    assert not (listed("garments") | listed("colours")) & (listed("motions") | listed("places"))
    assert listed("glue") <= listed("function")
