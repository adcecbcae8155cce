"""A drawn video of three rectangles on known ways: every term, place and time known by hand."""

from fractions import Fraction

import numpy as np
import pytest
from PIL import Image, ImageDraw

from subjects.tracks import things, track, video
from vidence.media.video import open_video
from vidence.seeing.appearance import read_appearances
from vidence.seeing.merging import MergeSettings
from vidence.seeing.refine import RefineSettings, refine
from vidence.seeing.trackrank import TERMS, DiversitySettings, pick_diverse, rank

WIDTH, HEIGHT, N_FRAMES, FPS = 640, 480, 24, 12

# "goes" walks to the right, 20 px a frame, in all frames; "stays" stands in 16 frames; "shakes" goes 10 px
# down and up again in 12 frames. Left, top, right, bottom.
GOES = [(10 + 20 * i, 200, 50 + 20 * i, 300) for i in range(24)]
STAYS = [(300, 10, 380, 170)] * 16
SHAKES = [(100, 350 + 10 * (i % 2), 140, 450 + 10 * (i % 2)) for i in range(12)]
COLOURS = {"goes": (255, 0, 0), "stays": (0, 0, 255), "shakes": (255, 0, 0)}
TRACKS = (
    track("goes", GOES, confidences=[0.5] * 24),
    track("stays", STAYS, first=4, confidences=[1.0] * 16),
    track("shakes", SHAKES, confidences=[0.75] * 12),
)

BY_HAND = {
    #         goes                 stays                  shakes
    "duration": (1, Fraction(15, 23), Fraction(11, 23)),  # 23, 15, 11 steps of a twelfth of a second
    "size": (Fraction(4000, 12800), 1, Fraction(4000, 12800)),
    "associated_objects": (1, Fraction(1, 2), 0),  # bag and dog; bag; nothing
    "centre_distance": (1, 0, Fraction(10, 460)),  # 11 steps of 10 px leave it 10 px off
    "motion": (1, 0, Fraction(110, 460)),
    # Two are red and one is blue: a red one is 1/3 + 1/3 from the mean, the blue one 2/3 + 2/3. Plain areas
    # all have the same texture.
    "appearance": (Fraction(1, 2), 1, Fraction(1, 2)),
    "scene_coverage": (1, Fraction(80 * 160, 500 * 100), Fraction(40 * 110, 500 * 100)),
    "confidence": (Fraction(1, 2), 1, Fraction(3, 4)),
    "smoothness": (1, 1, 0),  # only one ever changes its pace
    "aspect_stability": (1, 1, 1),
}
WEIGHTS = (2.0, 1.0, 2.0, 2.4, 1.0, 2.2, 1.5, 0.8, 0.7, 0.5)


@pytest.fixture(scope="module")
def drawn(tmp_path_factory):
    """The folder of its pictures, opened."""
    folder = tmp_path_factory.mktemp("planted")
    for frame in range(N_FRAMES):
        picture = Image.new("RGB", (WIDTH, HEIGHT), (128, 128, 128))
        draw = ImageDraw.Draw(picture)
        for one in TRACKS:
            for at, (left, top, right, bottom) in zip(one.frame_indices, one.boxes_px, strict=True):
                if at == frame:
                    draw.rectangle((left, top, right - 1, bottom - 1), fill=COLOURS[one.track_id])
        picture.save(folder / f"{frame:03d}.png")
    return open_video(folder, kind="frames")


@pytest.fixture(scope="module")
def planted():
    seen = things(
        [
            (5, "bag", (110, 240, 150, 300)),  # IoU 0.6 with "goes", which is at 110 then
            (6, "bag", (130, 240, 170, 300)),
            (9, "dog", (200, 250, 230, 300)),  # 30 x 50 on it: IoU 0.375
            (9, "cat", (200, 290, 210, 300)),  # 10 x 10 on it: IoU 0.025
            (8, "bag", (300, 100, 380, 170)),  # on "stays"
            (2, "bag", (300, 100, 380, 170)),  # before it comes
        ]
    )
    return video(TRACKS, size=(WIDTH, HEIGHT), n_frames=N_FRAMES, fps=FPS, detections=seen)


@pytest.fixture(scope="module")
def ranking(drawn, planted):
    return rank(planted, appearances=read_appearances(drawn, planted.tracks))


@pytest.mark.parametrize("term", TERMS)
def test_every_term_is_what_was_drawn(ranking, term):
    found = dict(zip(ranking.track_ids, ranking.terms[:, TERMS.index(term)].tolist(), strict=True))
    expected = dict(zip(("goes", "stays", "shakes"), map(float, BY_HAND[term]), strict=True))
    assert found == pytest.approx(expected)


def test_the_scores_are_the_weighted_means(ranking):
    for column, name in enumerate(("goes", "stays", "shakes")):
        total = sum(w * float(BY_HAND[term][column]) for w, term in zip(WEIGHTS, BY_HAND, strict=True))
        assert ranking.scores[ranking.track_ids.index(name)] == pytest.approx(total / 14.1)
    assert ranking.best_first == ("goes", "stays", "shakes")
    assert ranking.absent == ()
    picks = pick_diverse(ranking, rng=np.random.default_rng(0), settings=DiversitySettings(n_tracks=6))
    assert [p.track_id for p in picks] == ["goes", "stays", "shakes"]


def test_torn_up_tracks_are_put_together_again(planted):
    """Every third box of `goes` is lost and it is cut in two: the way comes back."""
    whole = TRACKS[0]
    boxes = [list(box) for box in GOES]
    keep = [i for i in range(24) if i % 3 != 2]
    first = track("first", [boxes[i] for i in keep if i < 12], frames=[i for i in keep if i < 12])
    # From frame 10 to frame 12 it goes 40 px, its width: these two fragments do not overlap.
    second = track("second", [boxes[i] for i in keep if i >= 12], frames=[i for i in keep if i >= 12])
    settings = RefineSettings(steps=("gaps", "merging"), merging=MergeSettings(most_cost=None))
    apart = refine(video([first, second], size=(WIDTH, HEIGHT), n_frames=24), settings)
    assert [t.track_id for t in apart.video.tracks] == ["first", "second"]
    # With the box of frame 11 they do.
    lasting = track("first", [boxes[i] for i in (*keep[:8], 11)], frames=[*keep[:8], 11])
    found = refine(video([lasting, second], size=(WIDTH, HEIGHT), n_frames=24), settings)
    (back,) = found.video.tracks
    assert back.frame_indices.tolist() == list(range(23))
    np.testing.assert_allclose(back.boxes_px, whole.boxes_px[:23], atol=1e-9)
