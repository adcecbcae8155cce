"""The retriever of planted truth: right about every frame of a rendered video, and wrong as planted."""

import itertools

import av
import numpy as np
import pytest

from subjects.matching import match
from vidence import catalog
from vidence.ask.embedding.phantom_codes import PhantomCodes
from vidence.ask.phantom.code import Payload, draw
from vidence.ask.phantom.plan import WorldSpec
from vidence.ask.phantom.planted import demand, visible
from vidence.ask.phantom.questions import wording
from vidence.ask.phantom.scene import COLOURS, piece_number
from vidence.ask.phantom.world import render
from vidence.errors import UsageError
from vidence.media.encode import Encoding, Size, decode_image, encode

RED = "What is the number on the red card?"
RED_AND_BLUE = "What is the sum of the numbers on the red and the blue card?"


def card(colour, *, video=0, value=7, level=60):
    payload = Payload(world=3, piece=piece_number(video, colour), value=value)
    return draw(np.full((180, 320, 3), level, np.uint8), payload)


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    """Of each of two rendered videos five frames per second with their times, and the questions."""
    folder = tmp_path_factory.mktemp("world")
    render(folder, WorldSpec(n_videos=2, min_s=20, max_s=20, n_variable=1, rates=(10,)), seed=5)
    items = catalog.create("benchmark", "phantom").load(folder, split="all").items
    made = []
    for path, group in itertools.groupby(items, key=lambda item: item.media[0].path):
        with av.open(str(folder / path)) as container:
            frames = [(f.time, f.to_ndarray(format="rgb24")) for f in container.decode(video=0)][::2]
        made.append(([time for time, _ in frames], [image for _, image in frames], list(group)))
    return made


BLANK = np.full((180, 320, 3), 60, np.uint8)
SHOWN = [card("red"), BLANK, card("blue"), card("green"), card("red", video=4, value=9)]


def make(**options: str) -> PhantomCodes:
    return catalog.create("embedder", catalog.Spec(name="phantom-codes", options=options))


class TestPerfect:
    def test_a_frame_scores_1_where_it_shows_a_needed_card_whatever_else_is_said(self):
        scores = match(make(), SHOWN, [RED, RED_AND_BLUE])
        assert scores.tolist() == [[1, 1], [0, 0], [0, 1], [0, 0], [1, 1]]
        assert scores.dtype == np.float32
        told = wording(["red"], 7)
        scores = match(make(), SHOWN, [f"{RED}\nA. 3\nB. 7", told])
        assert scores.tolist() == [[1, 1], [0, 0], [0, 0], [0, 0], [1, 1]]
        small = Encoding(size=Size.parse("native"), quality=60)
        pictures = [decode_image(encode(frame, small).data) for frame in SHOWN]
        assert match(make(), pictures, [RED]).tolist() == [[1], [0], [0], [0], [1]]

    def test_every_frame_of_rendered_videos(self, world):
        """Against the spans that were planted, for every question of two videos."""
        embedder = make()
        for times_s, pictures, questions in world:
            scores = match(embedder, pictures, [q.question for q in questions])
            planted = [[float(any(visible(q, [time_s]))) for q in questions] for time_s in times_s]
            np.testing.assert_array_equal(scores, planted)
            assert scores.any(axis=0).all()


class TestDistinct:
    SHOWN = (*SHOWN, card("blue", level=80), card("red", level=90), BLANK, card("red", level=30))

    def test_each_further_frame_of_a_card_scores_less(self):
        scores = match(make(distinct="true"), self.SHOWN, [RED_AND_BLUE])[:, 0]
        # The fifth shows a red card of another video.
        np.testing.assert_allclose(scores, [1, 0, 1, 0, 1, 1 / 2, 1 / 2, 0, 1 / 3])

    def test_the_best_frames_of_rendered_videos_show_all_that_is_needed(self, world):
        """k cards are found by the k best of 5 frames per second; that is the least that can do."""
        embedder = make(distinct="true")
        for times_s, pictures, questions in world:
            scores = match(embedder, pictures, [q.question for q in questions])
            for column, question in enumerate(questions):
                best = np.argsort(-scores[:, column], kind="stable")[: demand(question)]
                assert all(visible(question, [times_s[i] for i in best]))


class TestPlanted:
    def test_missed_cards_are_missed_in_all_their_frames(self):
        colours = list(COLOURS)
        shown = [card(colour, level=level) for colour in colours for level in (40, 90)]
        question = f"What is the sum of the numbers on {', '.join(f'the {c}' for c in colours)} card?"
        scores = match(make(miss="0.5", seed="1"), shown, [question]).reshape(-1, 2)
        np.testing.assert_array_equal(scores[:, 0], scores[:, 1])
        assert 0 < scores.sum() < scores.size
        shown = [card(colour, video=video) for colour in ("red", "blue") for video in range(6)]
        questions = [f"{RED_AND_BLUE} ({number})" for number in range(200)]
        scores = match(make(miss="0.3"), shown, questions)
        assert abs(1 - scores.mean() - 0.3) < 4 * np.sqrt(0.3 * 0.7 / scores.size)

    def test_noise_has_the_planted_spread_and_differs_by_frame_and_question(self):
        shown = [np.full((90, 160, 3), level, np.uint8) for level in range(200)]
        scores = match(make(noise="0.25", seed="2"), shown, [RED, RED_AND_BLUE])
        assert abs(scores.mean()) < 4 * 0.25 / np.sqrt(400)
        assert abs(scores.std() - 0.25) < 4 * 0.25 / np.sqrt(800)
        assert len(np.unique(scores)) == 400

    def test_draws_depend_on_the_seed_and_not_on_what_else_is_asked(self):
        noisy = make(miss="0.5", noise="0.5", seed="1")
        together = match(noisy, SHOWN, [RED, RED_AND_BLUE])
        for i, frame in enumerate(SHOWN):
            for j, text in enumerate((RED, RED_AND_BLUE)):
                assert match(noisy, [frame], [text])[0, 0] == together[i, j]
        other = make(miss="0.5", noise="0.5", seed="2")
        assert not np.array_equal(match(other, SHOWN, [RED]), together[:, :1])

    def test_defects_are_part_of_the_identity_of_scores_and_not_of_features(self):
        made = [
            make(**o)
            for o in (
                {},
                {"miss": "0.1"},
                {"noise": "0.1"},
                {"miss": "0.1", "seed": "4"},
                {"distinct": "true"},
            )
        ]
        assert len({e.identity for e in made}) == 5
        assert len({e.features_identity for e in made}) == 1
        assert make(seed="4").identity == made[0].identity == "phantom-codes v1"


class TestRefused:
    def test_an_argument_other_questions_and_features_of_another_embedder(self):
        with pytest.raises(UsageError, match="takes no argument, got '/weights'"):
            catalog.create("embedder", "phantom-codes:/weights")
        with pytest.raises(UsageError, match="reads only questions of the phantom benchmark"):
            match(make(), SHOWN, ["Who opens the door?"])
        with pytest.raises(UsageError, match=r"shape \(2, 16\) do not belong to phantom-codes"):
            make().compare(np.zeros((2, 16), np.float32), [RED])

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"miss": "1.5"}, "from 0 to 1"),
            ({"noise": "-1"}, "0 or above"),
            ({"noise": "inf"}, "0 or above"),
            ({"seed": "x"}, "a whole number 0 or above"),
            ({"mis": "1"}, "Did you mean 'miss'"),
        ],
    )
    def test_options(self, options, message):
        with pytest.raises(UsageError, match=message):
            make(**options)
