"""Near-duplicates are found exactly: against every pair compared by the definition."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vidence.errors import UsageError
from vidence.statistics.near_duplicates import difference_hash, gather, near_pairs, resemblance, shingles


def by_definition(first, second):
    """The Jaccard index of the five-character pieces of two texts that need no normalising."""
    pieces = [{t[i : i + 5] for i in range(max(1, len(t) - 4))} for t in (first, second)]
    return len(pieces[0] & pieces[1]) / len(pieces[0] | pieces[1])


def test_resemblance_is_that_of_the_pieces_of_five_characters():
    # abcdef has abcde, bcdef; abcdeg has abcde, bcdeg: one of three.
    assert resemblance("abcdef", "abcdeg") == pytest.approx(1 / 3)
    assert resemblance("The Cat!", "the  cat") == 1.0
    assert resemblance("", "") == 1.0
    assert resemblance("cat", "dog") == 0.0
    assert shingles("cat") == {"cat"}
    assert resemblance("a dog bites a man", "a man bites a dog") < 0.6


@given(
    st.lists(st.text(alphabet="ab ", min_size=0, max_size=14), max_size=12),
    st.sampled_from([0.2, 0.5, 0.6, 0.8, 0.9, 1.0]),
)
def test_the_pairs_are_those_of_comparing_every_two(texts, least):
    plain = [" ".join(text.split()) for text in texts]
    wanted = {
        (i, j): by_definition(plain[i], plain[j])
        for i, j in itertools.combinations(range(len(plain)), 2)
        if by_definition(plain[i], plain[j]) >= least
    }
    found = {(n.first, n.second): n.resemblance for n in near_pairs(texts, least=least)}
    assert found == pytest.approx(wanted)


def test_one_changed_word_of_many_is_near_and_another_text_is_not():
    rng = np.random.default_rng(1)
    words = ["".join(rng.choice(list("abcdefghij"), 6)) for _ in range(60)]
    first, second = " ".join(words[:40]), " ".join([*words[:20], words[50], *words[21:40]])
    assert [(n.first, n.second) for n in near_pairs([first, " ".join(words[40:]), second])] == [(0, 2)]


@pytest.mark.parametrize("least", [0.0, -1.0, 1.1])
def test_a_share_that_is_none_is_refused(least):
    with pytest.raises(UsageError, match="expected a number above 0 and up to 1"):
        near_pairs(["a"], least=least)


def test_pairs_are_gathered_through_others():
    assert gather([]) == ()
    assert gather([(7, 9), (2, 4), (4, 3), (0, 9)]) == ((0, 7, 9), (2, 3, 4))


@pytest.mark.parametrize("least", [0.3, 0.6, 0.8])
def test_texts_that_share_much_are_compared_as_by_the_definition(least):
    rng = np.random.default_rng(3)
    texts = ["".join(rng.choice(list("ab"), int(n))) for n in rng.integers(5, 20, size=60)]
    wanted = {
        (i, j): by_definition(texts[i], texts[j])
        for i, j in itertools.combinations(range(len(texts)), 2)
        if by_definition(texts[i], texts[j]) >= least
    }
    assert wanted
    found = {(n.first, n.second): n.resemblance for n in near_pairs(texts, least=least)}
    assert found == pytest.approx(wanted)


def test_pictures_alike_have_hashes_alike_and_others_have_not():
    rng = np.random.default_rng(3)
    picture = rng.integers(0, 200, size=(8, 9, 3), dtype=np.uint8).repeat(10, axis=0).repeat(10, axis=1)
    noisy = picture + rng.integers(0, 3, size=picture.shape, dtype=np.uint8)
    other = rng.integers(0, 200, size=picture.shape, dtype=np.uint8)
    apart = [(difference_hash(picture) ^ difference_hash(one)).bit_count() for one in (noisy, other)]
    assert apart[0] <= 4
    assert apart[1] > 16


@pytest.mark.parametrize(("height", "width"), [(7, 9), (8, 8)])
def test_a_picture_that_is_too_small_for_a_hash_is_refused(height, width):
    with pytest.raises(UsageError, match=f"a picture of {width}x{height} px; expected 9x8"):
        difference_hash(np.zeros((height, width, 3), np.uint8))
    assert difference_hash(np.zeros((8, 9, 3), np.uint8)) == 0


@pytest.mark.parametrize(("height", "width"), [(8, 9), (17, 23), (40, 61)])
def test_a_hash_has_a_bit_for_each_patch_that_is_darker_than_the_next(height, width):
    picture = np.random.default_rng(height).integers(0, 256, size=(height, width, 3), dtype=np.uint8)
    rows = [*(i * height // 8 for i in range(8)), height]
    columns = [*(i * width // 9 for i in range(9)), width]
    patches = [
        [picture[rows[i] : rows[i + 1], columns[j] : columns[j + 1]].mean() for j in range(9)]
        for i in range(8)
    ]
    bits = "".join(str(int(patches[i][j] < patches[i][j + 1])) for i in range(8) for j in range(8))
    assert difference_hash(picture) == int(bits, 2)


def test_texts_are_near_from_the_resemblance_that_is_asked_for_on():
    # Of "abcdefgh..." with n pieces one more letter makes n of n + 1 pieces alike.
    text = "abcdefghijkl"
    found = near_pairs([text, text + "m"])
    assert [one.resemblance for one in found] == [pytest.approx(8 / 9)]
    (exact,) = near_pairs([text, text + "m"], least=8 / 9)
    assert (exact.first, exact.second) == (0, 1)
    assert near_pairs([text, text + "m"], least=8 / 9 + 1e-3) == ()
    assert near_pairs(["abcdefg", "abcdefg"], least=1.0) != ()
