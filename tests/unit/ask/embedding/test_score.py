"""What the embedder is asked for, and what it is spared."""

import numpy as np
import pytest

from vidence.ask.embedding import phantom_codes, score
from vidence.ask.embedding.cache import ScoreCache
from vidence.ask.embedding.score import score_frames
from vidence.errors import MediaError, UsageError

VIDEO = "c" * 64
FRAMES = {i: np.full((2, 2, 3), i, np.uint8) for i in range(60)}
LONG = {"red": 3, "blue": 4, "yellow": 6}


class Asked:
    """Scores a frame with its grey level times the length of the text, and notes what it was asked."""

    size = "native"

    def __init__(self, *, identity: str = "counting") -> None:
        self.identity = self.features_identity = identity
        self.looks: list[tuple[list[int], tuple[str, ...]]] = []
        self.n_compared = 0

    def levels(self, frames, texts=()):
        levels = [int(frame[0, 0, 0]) for frame in frames]
        self.looks.append((levels, tuple(texts)))
        return levels


class Comparing(Asked):
    def features(self, frames):
        return np.array([[level, 1] for level in self.levels(frames)], np.float32)

    def compare(self, features, texts):
        self.n_compared += 1
        return features[:, :1] * np.array([[len(t) for t in texts]], np.float32)


class Matching(Asked):
    def match(self, frames, texts):
        return np.array([[level * len(t) for t in texts] for level in self.levels(frames, texts)], np.float32)


def counting(*, compares: bool = True, identity: str = "counting") -> Asked:
    return (Comparing if compares else Matching)(identity=identity)


def expected(indices, texts):
    return [[i * LONG[t] for t in texts] for i in indices]


@pytest.fixture
def kept(tmp_path):
    def make(embedder):
        return ScoreCache(tmp_path, embedder, frames_key="k", max_bytes=1 << 30)

    return make


@pytest.mark.parametrize("compares", [True, False])
class TestScores:
    def test_in_the_order_asked_for_with_repeats(self, kept, compares):
        asked = counting(compares=compares)
        for _ in range(2):
            scores = score_frames(
                asked, kept(asked), VIDEO, frames=FRAMES, indices=[5, 2, 5, 9], texts=["red", "blue", "red"]
            )
            assert scores.tolist() == expected([5, 2, 5, 9], ["red", "blue", "red"])
            assert scores.dtype == np.float32
        assert asked.looks == [([2, 5, 9], () if compares else ("red", "blue"))]

    def test_without_a_cache(self, compares):
        asked = counting(compares=compares)
        for _ in range(2):
            scores = score_frames(asked, None, VIDEO, frames=FRAMES, indices=np.array([7]), texts=["blue"])
            assert scores.tolist() == [[28]]
        assert len(asked.looks) == 2

    def test_the_second_selector_needs_no_look_at_a_frame(self, kept, compares):
        """Another process, another selector, the same embedder: only new frames are looked at."""
        first, second = counting(compares=compares), counting(compares=compares)
        score_frames(first, kept(first), VIDEO, frames=FRAMES, indices=range(0, 30), texts=["red"])

        def never(indices):
            raise AssertionError(f"frames {indices} were decoded")

        scores = score_frames(
            second, kept(second), VIDEO, frames=never, indices=range(0, 30, 3), texts=["red"]
        )
        assert scores.tolist() == expected(range(0, 30, 3), ["red"])
        assert second.looks == []
        scores = score_frames(second, kept(second), VIDEO, frames=FRAMES, indices=[3, 31, 33], texts=["red"])
        assert scores.tolist() == expected([3, 31, 33], ["red"])
        assert [levels for levels, _ in second.looks] == [[31, 33]]

    def test_frames_are_asked_for_in_blocks_and_kept_after_each(self, kept, monkeypatch, compares):
        monkeypatch.setattr(score, "BLOCK", 8)
        asked, delivered = counting(compares=compares), []

        def deliver(indices):
            if len(delivered) == 2:
                raise KeyboardInterrupt
            delivered.append(list(indices))
            return {i: FRAMES[i] for i in indices}

        with pytest.raises(KeyboardInterrupt):
            score_frames(asked, kept(asked), VIDEO, frames=deliver, indices=range(20), texts=["red"])
        assert delivered == [list(range(8)), list(range(8, 16))]
        again = counting(compares=compares)
        scores = score_frames(again, kept(again), VIDEO, frames=FRAMES, indices=range(20), texts=["red"])
        assert scores.tolist() == expected(range(20), ["red"])
        assert [levels for levels, _ in again.looks] == [[16, 17, 18, 19]]

    def test_frames_that_are_not_delivered(self, kept, compares):
        asked = counting(compares=compares)
        with pytest.raises(MediaError, match=r"2 frames of the video cccccccccccc .* the first of them 60"):
            score_frames(asked, kept(asked), VIDEO, frames=FRAMES, indices=[1, 60, 70], texts=["red"])

    @pytest.mark.parametrize(("texts", "message"), [([], "no texts"), (["red", "  "], "text 1 is '  '")])
    def test_nothing_to_match_with(self, kept, compares, texts, message):
        asked = counting(compares=compares)
        with pytest.raises(UsageError, match=message):
            score_frames(asked, kept(asked), VIDEO, frames=FRAMES, indices=[1], texts=texts)

    @pytest.mark.parametrize("broken", [np.nan, np.inf])
    def test_what_is_no_number_is_refused_and_not_kept(self, kept, compares, broken):
        asked = counting(compares=compares)
        method = "features" if compares else "match"
        good = getattr(asked, method)

        def bad(*arguments):
            values = good(*arguments)
            values[1] = broken
            return values

        setattr(asked, method, bad)
        with pytest.raises(
            UsageError, match=r"counting gave values that are not finite for 1 of 3 frames, the first is 5"
        ):
            score_frames(asked, kept(asked), VIDEO, frames=FRAMES, indices=[1, 5, 7], texts=["red"])
        well = counting(compares=compares)
        scores = score_frames(well, kept(well), VIDEO, frames=FRAMES, indices=[1, 5, 7], texts=["red"])
        assert scores.tolist() == expected([1, 5, 7], ["red"])
        assert [levels for levels, _ in well.looks] == [[1, 5, 7]]


def test_a_new_text_costs_no_look_where_features_are_kept_and_no_number_is_refused(kept):
    asked = counting()
    score_frames(asked, kept(asked), VIDEO, frames=FRAMES, indices=range(9), texts=["red"])
    score_frames(asked, kept(asked), VIDEO, frames=FRAMES, indices=range(9), texts=["blue", "yellow"])
    assert (len(asked.looks), asked.n_compared) == (1, 2)
    asked = counting()
    asked.compare = lambda features, texts: np.full((len(features), len(texts)), np.nan, np.float32)
    with pytest.raises(UsageError, match="set dtype=float32"):
        score_frames(asked, kept(asked), VIDEO, frames=FRAMES, indices=[1], texts=["red"])


def test_pairs_are_looked_at_once_and_texts_that_lack_the_same_frames_together(kept):
    asked = counting(compares=False)
    score_frames(asked, kept(asked), VIDEO, frames=FRAMES, indices=[1, 2], texts=["red"])
    scores = score_frames(
        asked, kept(asked), VIDEO, frames=FRAMES, indices=[1, 2, 3], texts=["blue", "red", "yellow"]
    )
    assert scores.tolist() == expected([1, 2, 3], ["blue", "red", "yellow"])
    assert asked.looks[1:] == [([1, 2, 3], ("blue", "yellow")), ([3], ("red",))]


def test_an_embedder_that_differs_only_in_its_scores_uses_the_features(kept):
    first = phantom_codes.create(phantom_codes.Settings())
    second = phantom_codes.create(phantom_codes.Settings(miss=1))
    frames = {i: np.full((90, 160, 3), 50 + i, np.uint8) for i in range(3)}
    question = ["What is the number on the red card?"]
    score_frames(first, kept(first), VIDEO, frames=frames, indices=range(3), texts=question)
    assert score_frames(second, kept(second), VIDEO, frames={}, indices=range(3), texts=question).sum() == 0
