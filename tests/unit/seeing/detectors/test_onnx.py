"""Networks of users: what exports of each family say becomes boxes in frames; what does not fit is told."""

import re
from pathlib import Path

import numpy as np
import pytest

from vidence.errors import DataError, UsageError
from vidence.media.video import open_video
from vidence.seeing.following import open_detector
from vidence.seeing.watching import watch
from videos.walkers import Walker, film

pytest.importorskip("onnxruntime", reason="needs the extra onnx")
pytest.importorskip("onnx", reason="builds networks with the package onnx")

from subjects import networks

PAGE = Path(__file__).parents[4] / "docs" / "making" / "detectors.md"
LAYOUTS = dict(re.findall(r'```toml title="([\w-]+)\.toml"\n(.*?)```', PAGE.read_text("utf-8"), re.DOTALL))
# A picture of 1280 x 720: in a square of 640 it is half as large, 140 px from above.
PICTURE = np.zeros((720, 1280, 3), np.uint8)
TALL = (300, 200, 360, 380)  # left, top, right, bottom in the input of the network


def logit(share):
    return float(np.log(share / (1 - share)))


def put(folder, family, outputs, **more):
    """A network of a family, with the layout of the documentation beside it."""
    (folder / f"{family}.toml").write_text(LAYOUTS[family])
    size = (320, 320) if family == "nanodet" else (384, 384) if family == "rfdetr" else (640, 640)
    networks.saying(folder / f"{family}.onnx", outputs, size=size, **more)
    return f"onnx:{folder}/{family}.onnx"


def yolov8(folder):
    """Two boxes of one person, a bicycle, and a cow, which the layout does not name."""
    table = networks.rows(
        (84, 8400),
        {
            0: {7: 330, 8: 331, 9: 100, 4000: 50},
            1: {7: 290, 8: 292, 9: 290, 4000: 300},
            2: {7: 60, 8: 60, 9: 40, 4000: 20},
            3: {7: 180, 8: 180, 9: 20, 4000: 20},
            4: {7: 0.9, 8: 0.7},
            5: {9: 0.6},
            4 + 19: {4000: 0.95},
        },
    )
    return put(folder, "yolov8", {"output0": table})


def yolov5(folder):
    """Objectness .9 times .8."""
    table = networks.rows((25200, 85), {11: {0: (330, 290, 60, 180), 4: 0.9, 5: 0.8}, 12: {4: 0.1, 5: 1}})
    return put(folder, "yolov5", {"output0": table})


def yolov10(folder):
    table = networks.rows((300, 6), {0: {0: (*TALL, 0.8, 0)}, 1: {0: (*TALL, 0.7, 16)}})
    return put(folder, "yolov10", {"output0": table})


def rtdetr(folder):
    shares = networks.rows((300, 4), {3: {0: np.array(TALL) / 640}})
    labels, scores = np.full(300, 5), networks.rows((300, 1), {3: {0: 0.8}})[:, 0]
    labels[3] = 0
    return put(
        folder, "rtdetr", {"labels": labels, "boxes": shares, "scores": scores}, sizes="orig_target_sizes"
    )


def transformers(folder):
    logits = networks.rows((300, 80), {i: {0: np.full(80, -9.0)} for i in range(300)})
    logits[2, 0] = logit(0.8)
    boxes = networks.rows((300, 4), {2: {0: (330 / 640, 290 / 640, 60 / 640, 180 / 640)}})
    return put(folder, "rtdetr-transformers", {"logits": logits, "pred_boxes": boxes})


def rfdetr(folder):
    labels = np.full((300, 91), -8.0, np.float32)
    labels[5, 1] = logit(0.8)
    labels[6, 90] = 3.0  # a toothbrush, which nobody asked for
    boxes = networks.rows((300, 4), {5: {0: (330 / 640, 290 / 640, 60 / 640, 180 / 640)}})
    return put(folder, "rfdetr", {"dets": boxes, "labels": labels}, name="input")


def nanodet(folder):
    """A cell of stride 32 in its fourth row and fifth column of 10: it stands at (160, 128) of 320.

    The box is that of the others, (150, 100) to (180, 190) at 320: 10/32, 28/32, 20/32 and 62/32 away,
    each as a distribution over two neighbouring distances.
    """
    row = 40 * 40 + 20 * 20 + 4 * 10 + 5
    table = np.zeros((2125, 112), np.float32)
    table[row, 0] = 0.8
    for side, distance in enumerate(np.array([10, 28, 20, 62]) / 32):
        bins = np.full(8, -60.0)
        low = int(distance)
        bins[low], bins[low + 1] = np.log(1 - (distance - low)), np.log(distance - low)
        table[row, 80 + 8 * side : 88 + 8 * side] = bins
    return put(folder, "nanodet", {"output": table}, name="data")


LETTERBOXED = [600, 120, 720, 480]  # TALL less 140 px above, twice as large
STRETCHED = [600, 225, 720, 427.5]  # TALL of a square of 640, stretched to 1280 x 720
FAMILIES = {
    "yolov8": (yolov8, LETTERBOXED, 0.9),
    "yolov5": (yolov5, LETTERBOXED, 0.72),
    "yolov10": (yolov10, LETTERBOXED, 0.8),
    "rtdetr": (rtdetr, STRETCHED, 0.8),
    "rtdetr-transformers": (transformers, STRETCHED, 0.8),
    "rfdetr": (rfdetr, STRETCHED, 0.8),
    "nanodet": (nanodet, STRETCHED, 0.8),
}


def test_every_layout_of_the_page_is_tried():
    assert set(LAYOUTS) == set(FAMILIES)


@pytest.mark.parametrize("family", FAMILIES)
def test_a_family_gives_its_person_where_it_is(family, tmp_path):
    make, box, confidence = FAMILIES[family]
    detector = open_detector(make(tmp_path))
    (found,) = detector.find([PICTURE])
    people = found.part(found.class_ids == (1 if family == "rfdetr" else 0))
    np.testing.assert_allclose(people.boxes_px, [box], atol=0.01)
    np.testing.assert_allclose(people.confidences, [confidence], atol=1e-5)
    assert found.class_names[int(people.class_ids[0])] == "person"


def test_doubles_go_by_class_and_what_is_not_named_is_left_out(tmp_path):
    (found,) = open_detector(yolov8(tmp_path)).find([PICTURE])
    assert [found.class_names[int(i)] for i in found.class_ids] == ["person", "bicycle"]
    (found,) = open_detector(f"{yolov8(tmp_path)}?most=1").find([PICTURE])
    assert found.confidences.tolist() == pytest.approx([0.9])
    (found,) = open_detector(f"{yolov8(tmp_path)}?confidence=0.95").find([PICTURE])
    assert found.boxes_px.shape == (0, 4)


def bright(size, box):
    picture = np.zeros((size[1], size[0], 3), np.uint8)
    picture[box[1] : box[3], box[0] : box[2]] = 255
    return picture


def finding(folder, *, fit, size=(640, 640), **more):
    text = LAYOUTS["yolov10"].replace("size = [640, 640]", f'size = {list(size)}\nfit = "{fit}"')
    (folder / "finds.toml").write_text(text)
    networks.seeing(folder / "finds.onnx", size=size, **more)
    return f"onnx:{folder}/finds.onnx"


@pytest.mark.parametrize("fit", ["letterbox", "corner", "stretch"])
@pytest.mark.parametrize(
    ("size", "box"),
    [
        ((320, 180), (31, 20, 77, 150)),  # wide, scaled up
        ((211, 307), (13, 40, 90, 290)),  # upright, sides that divide nothing
        ((640, 640), (100, 101, 130, 205)),
        ((333, 100), (0, 0, 40, 100)),  # at the edges
    ],
)
def test_what_is_found_in_the_input_comes_back_to_where_it_is_in_the_frame(fit, size, box, tmp_path):
    (found,) = open_detector(finding(tmp_path, fit=fit)).find([bright(size, box)])
    np.testing.assert_allclose(found.boxes_px, [box], atol=0.5)


def test_pictures_that_are_looked_at_together_keep_their_boxes(tmp_path):
    boxes = [(10, 10, 40, 100), (60, 20, 100, 140), (200, 30, 250, 160)]
    pictures = [bright((320, 180), box) for box in boxes]
    spec = finding(tmp_path, fit="letterbox")
    one, three = open_detector(spec), open_detector(f"{spec}?batch=3")
    assert (one.n_together, three.n_together) == (1, 3)
    together = three.find([*pictures, np.zeros((180, 320, 3), np.uint8)])
    assert len(together[3].boxes_px) == 0
    for found, picture, box in zip(together, pictures, boxes, strict=False):
        np.testing.assert_allclose(found.boxes_px, [box], atol=0.5)
        assert np.array_equal(one.find([picture])[0].boxes_px, found.boxes_px)


def test_a_network_for_four_pictures_is_given_four(tmp_path):
    spec = finding(tmp_path, fit="letterbox", batch=4)
    detector = open_detector(spec)
    assert detector.n_together == 4
    (found,) = detector.find([bright((320, 180), (10, 10, 40, 100))])
    np.testing.assert_allclose(found.boxes_px, [(10, 10, 40, 100)], atol=0.5)
    assert detector.find([]) == []
    with pytest.raises(UsageError, match=r"batch is 2.*exported for 4.*leave batch out"):
        open_detector(f"{spec}?batch=2")


def test_a_video_is_watched_with_it(tmp_path):
    """The walker's coat is dark and the wall is not: the network sees no black, and finds the whole frame."""
    video = open_video(film(tmp_path / "v.mp4", (Walker(left_px=50, top_px=60),), n_frames=5))
    detector = open_detector(f"{finding(tmp_path, fit='stretch')}?batch=2")
    found = watch(video, range(5), detector=detector).detections
    assert found.frame_indices.tolist() == [0, 1, 2, 3, 4]
    assert np.all(found.boxes_px[:, 2:] <= [video.probe.width_px, video.probe.height_px])


def test_the_identity_is_of_what_the_boxes_depend_on(tmp_path):
    spec = finding(tmp_path, fit="stretch")
    first = open_detector(spec).identity
    (tmp_path / "other.toml").write_text((tmp_path / "finds.toml").read_text())
    assert open_detector(f"{spec}?layout={tmp_path}/other.toml").identity == first
    assert open_detector(f"{spec}?confidence=0.4").identity != first
    (tmp_path / "finds.onnx.data").write_bytes(b"weights")
    assert open_detector(spec).identity != first
    assert open_detector(finding(tmp_path, fit="corner")).identity != first


# --------------------------------------------------------------------------- what does not fit


def test_outputs_of_another_export_are_told_with_both_shapes(tmp_path):
    networks.saying(tmp_path / "yolov8.onnx", {"output0": np.zeros((300, 6))}, size=(640, 640))
    (tmp_path / "yolov8.toml").write_text(LAYOUTS["yolov8"])
    with pytest.raises(
        DataError, match=r"output output0 .*shape \(n, 300, 6\), and the layout declares \(image, 84, box\)"
    ):
        open_detector(f"onnx:{tmp_path}/yolov8.onnx")
    networks.saying(tmp_path / "yolov8.onnx", {"dets": np.zeros((84, 9))}, size=(640, 640))
    with pytest.raises(DataError, match=r"has no output 'output0'.*it gives dets \(n, 84, 9\)"):
        open_detector(f"onnx:{tmp_path}/yolov8.onnx")


def test_another_size_of_input_is_told(tmp_path):
    networks.saying(tmp_path / "yolov8.onnx", {"output0": np.zeros((84, 9))}, size=(416, 320))
    (tmp_path / "yolov8.toml").write_text(LAYOUTS["yolov8"])
    with pytest.raises(DataError, match=r"takes pictures of \(n, 3, 320, 416\).*\(image, 3, 640, 640\)"):
        open_detector(f"onnx:{tmp_path}/yolov8.onnx")


def test_an_input_that_the_layout_does_not_know(tmp_path):
    spec = rtdetr(tmp_path)
    (tmp_path / "rtdetr.toml").write_text(LAYOUTS["rtdetr"].replace('size_name = "orig_target_sizes"\n', ""))
    with pytest.raises(DataError, match=r"takes images, orig_target_sizes, and the layout names images"):
        open_detector(spec)


def test_a_file_that_is_no_network(tmp_path):
    (tmp_path / "yolov8.toml").write_text(LAYOUTS["yolov8"])
    (tmp_path / "yolov8.onnx").write_bytes(b"these are no weights")
    with pytest.raises(DataError, match=r"yolov8.onnx cannot be loaded as a network in ONNX"):
        open_detector(f"onnx:{tmp_path}/yolov8.onnx")
    with pytest.raises(UsageError, match="there is no network at"):
        open_detector(f"onnx:{tmp_path}/none.onnx")


def test_without_a_layout_the_message_tells_what_the_network_takes_and_gives(tmp_path):
    networks.saying(tmp_path / "net.onnx", {"output0": np.zeros((84, 9))}, size=(640, 640))
    with pytest.raises(
        UsageError,
        match=r"no .*net.toml.*takes images \(n, 3, 640, 640\) and gives output0 \(n, 84, 9\).*detectors.md",
    ):
        open_detector(f"onnx:{tmp_path}/net.onnx")


def test_without_the_runtime_the_message_says_how_to_get_it(tmp_path, monkeypatch):
    (tmp_path / "net.onnx").write_bytes(b"x")
    monkeypatch.setattr("vidence.seeing.detectors.onnx.importlib.util.find_spec", lambda name: None)
    with pytest.raises(UsageError, match=r"needs ONNX Runtime; run: .*pip"):
        open_detector(f"onnx:{tmp_path}/net.onnx")


def test_a_device_that_the_runtime_does_not_have(tmp_path):
    with pytest.raises(UsageError, match=r"device=cuda: .* runs on .*CPUExecutionProvider"):
        open_detector(f"{finding(tmp_path, fit='stretch')}?device=cuda")


def test_one_output_for_all_pictures_is_looked_at_alone(tmp_path):
    text = LAYOUTS["yolov10"].replace('["image", "box", 6]', '["box", 6]')
    (tmp_path / "net.toml").write_text(text)
    networks.saying(tmp_path / "net.onnx", {"output0": np.zeros((300, 6))}, size=(640, 640), batch=1)
    with pytest.raises(DataError, match=r"\(1, 300, 6\), and the layout declares \(box, 6\)"):
        open_detector(f"onnx:{tmp_path}/net.onnx")
