"""RF-DETR: what is said when something is missing, and what is made of its answers."""

import importlib.util
from types import SimpleNamespace

import numpy as np
import pytest

from vidence.errors import DataError, UsageError
from vidence.seeing.detectors import rfdetr
from vidence.seeing.following import open_detector


class Answering:
    """A model that answers as the package does."""

    def __init__(self, boxes, confidences, class_ids, names):
        self._seen = SimpleNamespace(
            xyxy=np.array(boxes, np.float32),
            confidence=np.array(confidences, np.float32),
            class_id=np.array(class_ids),
            data={"class_name": np.array(names, dtype=object)},
        )
        self.asked = []

    def predict(self, images, *, threshold, include_source_image):
        self.asked.append((len(images), threshold, include_source_image))
        return [self._seen for _ in images]


@pytest.fixture
def made(monkeypatch):
    monkeypatch.setattr(rfdetr.importlib.metadata, "version", lambda name: "1.11.2")

    def make(model, **settings):
        return rfdetr.Rfdetr(model, rfdetr.Settings(**settings), weights="none")

    return make


IMAGE = np.zeros((100, 200, 3), np.uint8)


def test_answers_become_boxes_surest_first_inside_the_frame(made):
    model = Answering(
        [[-5, 10, 50, 120], [10, 10, 20, 20], [300, 10, 320, 40], [1, 1, 9, 9]],
        [0.5, 0.9, 0.8, 0.7],
        [1, 18, 1, 12],
        ["person", "dog", "person", ""],
    )
    found = made(model).find([IMAGE, IMAGE])
    assert model.asked == [(2, 0.3, False)]
    assert found[0].boxes_px.tolist() == [[10, 10, 20, 20], [0, 10, 50, 100]]
    assert found[0].class_names == {18: "dog", 1: "person"}
    assert found[1].confidences.tolist() == pytest.approx([0.9, 0.5])


def test_no_more_boxes_than_wanted(made):
    boxes = [[i, 0, i + 5, 9] for i in range(20)]
    model = Answering(boxes, np.linspace(0.4, 0.9, 20), [1] * 20, ["person"] * 20)
    (found,) = made(model, most=3).find([IMAGE])
    assert found.boxes_px[:, 0].tolist() == [19, 18, 17]
    (none,) = made(Answering(np.zeros((0, 4)), [], [], [])).find([IMAGE])
    assert none.boxes_px.shape == (0, 4)


def test_missing_weights_say_which_file_where_from_and_what_works_without(tmp_path):
    with pytest.raises(UsageError, match=r"which weights.*rf-detr-nano\.pth.*hog works without any file"):
        open_detector("rfdetr")
    with pytest.raises(UsageError, match=r"no weights at .*w\.pth.*Roboflow.*hog works"):
        open_detector(f"rfdetr:{tmp_path}/w.pth")


def test_without_the_package_the_message_says_how_to_get_it(tmp_path, monkeypatch):
    (tmp_path / "w.pth").write_bytes(b"x")
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(UsageError, match=r"pip install 'rfdetr.*hog works"):
        open_detector(f"rfdetr:{tmp_path}/w.pth")


@pytest.fixture(scope="module")
def package():
    return pytest.importorskip("rfdetr", reason="needs rfdetr; make test runs this again beside it")


def test_a_file_that_holds_no_weights(package, tmp_path):
    (tmp_path / "w.pth").write_bytes(b"no weights")
    with pytest.raises(DataError, match="cannot be loaded as weights of RF-DETR"):
        open_detector(f"rfdetr:{tmp_path}/w.pth")


@pytest.mark.filterwarnings("ignore")
def test_the_real_network_with_random_weights(package, tmp_path):
    """Weights of our own making travel through a file; sure of nothing, they find boxes below any limit."""
    import torch

    untrained = package.RFDETRNano(pretrain_weights=None, device="cpu")
    weights = {"model": untrained.model.model.state_dict(), "args": untrained.model.args}
    torch.save(weights, tmp_path / "rf-detr-nano.pth")
    detector = open_detector(f"rfdetr:{tmp_path}/rf-detr-nano.pth?model=nano&confidence=0.01&most=5")
    one, other = detector.find([IMAGE, IMAGE])
    assert 0 < len(one.boxes_px) <= 5
    assert np.array_equal(one.boxes_px, other.boxes_px)
    assert np.all(one.boxes_px >= 0)
    assert np.all(one.boxes_px <= [200, 100, 200, 100])


def test_a_size_names_the_weights_that_the_package_has_fetched(tmp_path, monkeypatch):
    monkeypatch.setenv("RF_HOME", str(tmp_path))
    with pytest.raises(
        UsageError, match=r"weights of the size medium are not at .*rf-detr-medium\.pth.*rfdetr\.RFDETRMedium"
    ):
        open_detector("rfdetr:medium")
    (tmp_path / "rf-detr-medium.pth").write_bytes(b"weights")
    opened = []
    monkeypatch.setattr(rfdetr, "load", opened.append)
    monkeypatch.setattr(rfdetr.importlib.util, "find_spec", lambda name: True)
    monkeypatch.setattr(rfdetr.importlib.metadata, "version", lambda name: "1.11.2")
    open_detector("rfdetr:medium")
    assert (opened[0].weights, opened[0].model) == (str(tmp_path / "rf-detr-medium.pth"), "medium")
