"""What is declared of a network: files that make no sense, and outputs that are not as declared."""

import msgspec
import numpy as np
import pytest

from vidence.errors import DataError
from vidence.seeing.network_layout import (
    BoxLayout,
    ClassLayout,
    InputLayout,
    Layout,
    ScoreLayout,
    found_in,
    place,
    prepared,
    read_layout,
)

PLAIN = """
[input]
size = [64, 32]
[outputs]
out = ["image", "box", 6]
[boxes]
output = "out"
format = "xyxy"
[scores]
output = "out"
columns = [4, 5]
[classes]
output = "out"
column = 5
names = ["person", "dog"]
"""


@pytest.fixture
def layout(tmp_path):
    (tmp_path / "plain.toml").write_text(PLAIN)
    return read_layout(tmp_path / "plain.toml")


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('format = "xyxy"', 'format = "ltrb"', r"Invalid enum value 'ltrb' - at `\$.boxes.format`"),
        ("size = [64, 32]", "size = [64]", r"length 2"),
        ("size = [64, 32]", "size = [64, 0]", r">= 1"),
        ("[boxes]", "[box]", r"box"),
        ('output = "out"\nformat', 'output = "dets"\nformat', r"boxes are in the output 'dets'.*has out"),
        ("columns = [4, 5]", "columns = [4, 9]", r"scores: columns 4 to 9 of \(image, box, 6\)"),
        ('["image", "box", 6]', '["image", 6]', r"outputs.out is \(image, 6\); expected 'box' once"),
        ('["image", "box", 6]', '["box", 3, 6]', r"a number once at most"),
        (
            'format = "xyxy"',
            'format = "xyxy"\ncolumns = [0, 5]',
            r"boxes have 5 columns; expected 4 for xyxy",
        ),
        ('format = "xyxy"', 'format = "cells"', r"strides are \[\]; cells needs those of the network"),
        ('format = "xyxy"', 'format = "xyxy"\nstrides = [8]', r"strides are \[8\]; xyxy needs none"),
        (
            'format = "xyxy"',
            'format = "cells"\nstrides = [8]\nunit = "shares"',
            r"unit is shares; cells are in pixels",
        ),
        ('names = ["person", "dog"]', 'names = {one = "person"}', r"names has 'one'; expected whole numbers"),
        ('names = ["person", "dog"]', "names = []", r"names is empty"),
        ('output = "out"\ncolumn = 5', "", r"has 2 names for 1 columns of scores"),
        (
            'output = "out"\ncolumn = 5\nnames = ["person", "dog"]',
            'names = {1 = "person"}',
            r"has the number 1; there are 1 columns",
        ),
        ("columns = [4, 5]", "columns = [4, 5]\nbackground = 2", r"background is 2"),
        ("columns = [4, 5]", "columns = [4, 5]\nobjectness = 6", r"scores.objectness: columns 6 to 7"),
    ],
)
def test_a_file_that_makes_no_sense_is_told(old, new, said, tmp_path):
    assert old in PLAIN
    (tmp_path / "wrong.toml").write_text(PLAIN.replace(old, new, 1))
    with pytest.raises(DataError, match=rf"wrong\.toml.*{said}"):
        read_layout(tmp_path / "wrong.toml")


def test_a_file_that_is_no_toml_or_not_there(tmp_path):
    (tmp_path / "no.toml").write_text("[input")
    for name in ("no.toml", "none.toml"):
        with pytest.raises(DataError, match=rf"{name} cannot be used"):
            read_layout(tmp_path / name)


def see(layout, *rows, n=1, confidence=0.3):
    table = np.array([rows] * n, np.float32).reshape(n, -1, 6)
    placed, _ = place((64, 32), layout.input)
    return found_in({"out": table}, [placed] * n, layout=layout, confidence=confidence, most=9)


def test_rows_without_sense_are_no_boxes(layout):
    nan = float("nan")
    (found,) = see(
        layout,
        (0, 0, 10, 20, nan, 0),
        (nan, 0, 10, 20, 0.9, 0),
        (30, 0, 20, 20, 0.9, 0),
        (0, 0, 0, 0, -1, -1),
        (5, 5, 10, 20, 0.8, 1),
        (5, 5, 10, 20, 0.8, 7),
    )
    assert found.boxes_px.tolist() == [[5, 5, 10, 20]]
    assert found.class_names == {1: "dog"}


def test_shares_pixels_and_logits_are_not_taken_for_one_another(layout):
    with pytest.raises(DataError, match=r"scores in out go from 0.9 to 4.1.*activation"):
        see(layout, (0, 0, 10, 20, 4.1, 0), (0, 0, 10, 20, 0.9, 0))
    with pytest.raises(DataError, match=r"reach to no more than 0.9, .*declares pixels.*say \"shares\""):
        see(layout, (0.1, 0.2, 0.4, 0.9, 0.9, 0))
    shares = msgspec.structs.replace(layout, boxes=BoxLayout(output="out", format="xyxy", unit="shares"))
    with pytest.raises(DataError, match=r"reach to 40, .*declares shares.*say \"pixels\""):
        see(shares, (10, 20, 40, 30, 0.9, 0))
    (found,) = see(shares, (0.25, 0.5, 0.5, 1.0, 0.9, 0))
    assert found.boxes_px.tolist() == [[16, 16, 32, 32]]


def test_shapes_that_an_answer_does_not_have_are_told(layout):
    placed, _ = place((64, 32), layout.input)
    with pytest.raises(DataError, match=r"out has the shape \(1, 5, 7\) for 1 pictures.*\(image, box, 6\)"):
        found_in({"out": np.zeros((1, 5, 7))}, [placed], layout=layout, confidence=0.3, most=9)
    with pytest.raises(DataError, match=r"shape \(1, 5, 6\) for 2 pictures"):
        found_in({"out": np.zeros((1, 5, 6))}, [placed] * 2, layout=layout, confidence=0.3, most=9)
    apart = msgspec.structs.replace(
        layout,
        outputs={"out": ("image", "box", 6), "more": ("image", "box")},
        scores=ScoreLayout(output="more"),
    )
    with pytest.raises(DataError, match="different numbers of boxes: 5 in out, 4 in more"):
        found_in(
            {"out": np.zeros((1, 5, 6)), "more": np.zeros((1, 4))},
            [placed],
            layout=apart,
            confidence=0.3,
            most=9,
        )


def cells(**boxes):
    return Layout(
        input=InputLayout(size=(32, 16)),
        outputs={"out": ("image", "box", 6)},
        boxes=BoxLayout(output="out", strides=(8, 16), **boxes),
        scores=ScoreLayout(output="out", columns=(4, 6), activation="softmax", background=5),
        classes=ClassLayout(names={"0": "person"}),
    )


def test_cells_count_row_by_row_and_stride_by_stride():
    """4 x 2 cells at stride 8, then 2 x 1 at stride 16."""
    table = np.zeros((1, 10, 6))
    table[..., 5] = 9  # background everywhere
    table[0, 6] = (0.5, 0.25, np.log(1.5), np.log(0.75), 3, 0)  # second row, third column at stride 8
    table[0, 9] = (0.25, 0.5, 0, 0, 3, 0)  # second at stride 16
    placed, _ = place((32, 16), cells(format="cells").input)
    (found,) = found_in({"out": table}, [placed], layout=cells(format="cells"), confidence=0.5, most=9)
    assert found.boxes_px.tolist() == [[14, 7, 26, 13], [12, 0, 28, 16]]
    assert found.confidences.tolist() == pytest.approx([1 / (1 + np.exp(-3))] * 2)
    (plain,) = found_in(
        {"out": np.abs(table)}, [placed], layout=cells(format="distances", offset=0.5), confidence=0.5, most=9
    )
    # From (20, 12): .5 and .25 strides to the left and above, log 1.5 and .29 to the right and below.
    np.testing.assert_allclose(
        plain.boxes_px[0], [16, 10, 20 + 8 * np.log(1.5), 12 - 8 * np.log(0.75)], atol=1e-9
    )
    with pytest.raises(DataError, match=r"has 9 boxes; an input of 32 x 16 has 10 cells .*\[8, 16\]"):
        found_in({"out": np.zeros((1, 9, 6))}, [placed], layout=cells(format="cells"), confidence=0.5, most=9)


def test_pixels_are_put_as_declared():
    picture = np.full((10, 40, 3), (255, 51, 0), np.uint8)
    made, (placed,) = prepared(
        [picture], InputLayout(size=(20, 20), fill=102, mean=(0.1, 0.2, 0.4), std=(0.5, 1, 2))
    )
    assert made.shape == (1, 3, 20, 20)
    assert made.dtype == np.float32
    np.testing.assert_allclose(made[0, :, 10, 10], [1.8, 0, -0.2], atol=1e-6)
    np.testing.assert_allclose(made[0, :, 0, 0], [0.6, 0.2, 0], atol=1e-6)  # grey
    assert placed.offsets_px == (0, 7)
    turned, _ = prepared([picture], InputLayout(size=(20, 20), colours="bgr", axes="nhwc", divide_by=1))
    assert turned.shape == (1, 20, 20, 3)
    assert turned[0, 10, 10].tolist() == [0, 51, 255]
    corner, (placed,) = prepared([picture], InputLayout(size=(20, 20), fit="corner", fill=0))
    assert placed.offsets_px == (0, 0)
    assert corner[0, 0, 2, 2] == 1
    assert corner[0, 0, 8, 2] == 0
