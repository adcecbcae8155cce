"""What every detector, tracker and describer in the catalog must do."""

import warnings
from collections.abc import Callable

import numpy as np
import pytest

from servers import tiny_eyes
from subjects.samples import argument_of
from vidence import catalog
from vidence.errors import UsageError
from vidence.media.video import open_video
from vidence.seeing.describers.describing import Portraits
from vidence.seeing.following import open_describer, open_detector, open_tracker
from vidence.seeing.tracks import PERSON
from vidence.seeing.watching import Finder, watch
from videos.walkers import HEIGHT, WIDTH, Walker, film, mot_lines

WALKERS = (
    Walker(left_px=10, top_px=60, speed_px=(5, 0)),
    Walker(left_px=250, top_px=100, speed_px=(-4, 0), coat=(20, 120, 40), frames=(4, 24)),
)
N_FRAMES = 25


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("street")
    film(path / "street.mp4", WALKERS, n_frames=N_FRAMES)
    (path / "boxes.txt").write_text(mot_lines(WALKERS, n_frames=N_FRAMES, with_ids=False))
    return path


@pytest.fixture(scope="module")
def street(folder):
    return open_video(folder / "street.mp4")


def random_rfdetr(folder):
    """A checkpoint with random weights; only with the package."""
    package = pytest.importorskip("rfdetr", reason="needs rfdetr; make test runs this again beside it")
    import torch

    path = folder / "rf-detr-nano.pth"
    if not path.exists():
        with warnings.catch_warnings():  # it warns that random weights find little
            warnings.simplefilter("ignore")
            made = package.RFDETRNano(pretrain_weights=None, device="cpu")
        torch.save({"model": made.model.model.state_dict(), "args": made.model.args}, path)
    return f"rfdetr:{path}?model=nano&confidence=0.02"


def random_words(name, folder):
    """A checkpoint of a detector by words, with random weights; only with the libraries."""
    pytest.importorskip("torch", reason="needs the extra 'select'")
    pytest.importorskip("transformers", reason="needs the extra 'select'")
    build = {"grounding-dino": tiny_eyes.build_grounding_dino, "owlv2": tiny_eyes.build_owlv2}[name]
    path = folder / name
    return f"{name}:{path if path.exists() else build(path)}?confidence=0.02&words=person|red dog"


# How those are called that want more than their name.
SPECS: dict[str, Callable] = {
    "boxes": lambda folder: f"boxes:{folder}/boxes.txt",
    "rfdetr": random_rfdetr,
    "grounding-dino": lambda folder: random_words("grounding-dino", folder),
    "owlv2": lambda folder: random_words("owlv2", folder),
}


@pytest.fixture(scope="module", params=catalog.names("detector"))
def detector(request, folder):
    argument = argument_of("detector", request.param)
    spec = f"{request.param}:{argument}" if argument else request.param
    spec = SPECS[request.param](folder) if request.param in SPECS else spec
    try:
        return open_detector(spec)
    except UsageError as error:
        pytest.skip(str(error))


def test_boxes_are_sorted_inside_the_frame_and_named(detector, street):
    found = watch(street, range(0, N_FRAMES, 6), detector=detector).detections
    assert set(found.frame_indices.tolist()) <= set(range(0, N_FRAMES, 6))
    assert np.all(np.diff(found.frame_indices) >= 0)
    assert np.all(found.boxes_px >= 0)
    assert np.all(found.boxes_px <= [WIDTH, HEIGHT, WIDTH, HEIGHT])
    assert np.all(found.boxes_px[:, 2:] > found.boxes_px[:, :2])
    assert np.all((found.confidences >= 0) & (found.confidences <= 1))
    assert set(found.class_ids.tolist()) <= set(found.class_names)
    assert len(found.frame_indices) > 0


def test_the_same_frames_give_the_same_boxes_in_any_order_and_none_of_none(detector, street):
    one, other = (watch(street, frames, detector=detector).detections for frames in ([2, 8], [8, 2, 8]))
    assert np.array_equal(one.frame_indices, other.frame_indices)
    assert np.array_equal(one.boxes_px, other.boxes_px)
    assert np.array_equal(one.confidences, other.confidences)
    assert len(watch(street, [], detector=detector).detections.frame_indices) == 0
    assert isinstance(detector.finds_parts, bool)
    assert isinstance(detector, Finder) or callable(detector.detect)
    assert type(detector).__name__.lower() in detector.identity.lower()


@pytest.mark.parametrize("kind", ["detector", "tracker", "describer"])
def test_all_are_made_alike_and_refuse_options_that_they_do_not_know(kind, folder):
    for name in catalog.names(kind):
        with pytest.raises(UsageError, match=f"the {kind} '{name}' has no option 'nonsense'"):
            catalog.create(kind, f"{name}?nonsense=1")
        settings = catalog.settings_type(kind, name)
        assert all(option.help for option in catalog.options_of(settings)) if settings else True


@pytest.mark.parametrize("name", catalog.names("tracker"))
def test_every_tracker_follows_two_people_through_an_easy_street(name, street, folder):
    try:
        tracker = open_tracker(name)
    except UsageError as error:
        pytest.skip(str(error))
    boxes = open_detector(f"boxes:{folder}/boxes.txt")
    portraits = Portraits(open_describer(tracker.describer)) if tracker.describer else None
    found = watch(
        street, range(N_FRAMES), detector=boxes, observers=[portraits] if portraits else []
    ).detections
    vectors = portraits.of(found) if portraits else None

    def track():
        return tracker.track(found, frame_indices=range(N_FRAMES), fps=10.0, vectors=vectors)

    tracks, again = track(), track()
    assert tracker.classes == (PERSON,)
    assert [t.track_id for t in tracks] == ["1", "2"]
    for walker, made, same in zip(WALKERS, tracks, again, strict=True):
        truth = {f: walker.box(f) for f in range(N_FRAMES) if walker.box(f) is not None}
        assert len(made.frame_indices) >= len(truth) - 2  # a library may start with the box that confirms
        clipped = [np.clip(truth[int(f)], 0, [WIDTH, HEIGHT, WIDTH, HEIGHT]) for f in made.frame_indices]
        np.testing.assert_allclose(made.boxes_px, clipped, atol=0.01)
        assert np.array_equal(made.frame_indices, same.frame_indices)
    nobody = open_detector(f"boxes:{folder}/boxes.txt?confidence=1.0").detect(street, [])
    empty = np.zeros((0, vectors.shape[1]), np.float32) if vectors is not None else None
    assert tracker.track(nobody, frame_indices=range(N_FRAMES), fps=10.0, vectors=empty) == ()


@pytest.mark.parametrize("name", catalog.names("describer"))
def test_every_describer_tells_two_people_apart(name, street):
    try:
        describer = open_describer(name)
    except UsageError as error:
        pytest.skip(str(error))
    boxes = np.array([walker.box(6) for walker in WALKERS])
    vectors = describer.describe(street.frames([6])[0], boxes)
    assert describer.identity == open_describer(name).identity
    assert vectors.dtype == np.float32
    assert vectors.shape == (2, describer.n_dims)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    assert vectors[0] @ vectors[1] < vectors[0] @ vectors[0]
    np.testing.assert_array_equal(describer.describe(street.frames([6])[0], boxes), vectors)
    assert describer.describe(street.frames([6])[0], boxes[:0]).shape == (0, describer.n_dims)
