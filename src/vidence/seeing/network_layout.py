"""What a detector's network takes and gives, as the file beside it declares: pictures in, boxes out.

One TOML file describes a network by tables: `[input]`, `[outputs]`, `[boxes]`, `[scores]`, `[classes]`.
"""

import math
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final, Literal

import msgspec
import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from vidence.errors import DataError
from vidence.media.pixels import resize
from vidence.records import Record
from vidence.seeing.boxes import clip, suppress
from vidence.seeing.watching import FrameDetections, Image

_SIDES: Final = 4
_SLACK: Final = 1e-3  # what rounding adds to shares
_OUTSIDE: Final = 2.0  # boxes in shares of the picture do not reach beyond it so far
Axis = Literal["image", "box"]
Table = NDArray[np.float64]


class InputLayout(Record):
    """How a picture is put to the network.

    `size` is width and height. Pixels are divided by `divide_by`, then `mean` is taken off and `std`
    divides, each in the order of `colours`. ``letterbox`` keeps proportions with the picture in the middle
    of grey `fill`, ``corner`` with the picture at the left upper corner, ``stretch`` does not keep them.
    `size_name` names a second input that wants the size, in `size_order`: it is told that of the
    network, so that boxes come in its pixels.
    """

    size: tuple[Annotated[int, Meta(ge=1)], Annotated[int, Meta(ge=1)]]
    name: str = ""
    colours: Literal["rgb", "bgr"] = "rgb"
    axes: Literal["nchw", "nhwc"] = "nchw"
    divide_by: Annotated[float, Meta(gt=0)] = 255.0
    mean: tuple[float, float, float] = (0.0, 0.0, 0.0)
    std: tuple[float, float, float] = (1.0, 1.0, 1.0)
    fit: Literal["letterbox", "corner", "stretch"] = "letterbox"
    fill: Annotated[int, Meta(ge=0, le=255)] = 114
    size_name: str = ""
    size_order: Literal["width-height", "height-width"] = "width-height"


class BoxLayout(Record):
    """Where boxes stand and how they are written; `columns` are from the first to before the second.

    ``distances`` are those of the four sides from the centre of a cell, in strides, each a distribution
    over `bins` values (1: the value itself); ``cells`` are centre and logarithm of the size, in strides. Both
    need `strides`; `offset` is where in its cell the centre lies.
    """

    output: str
    columns: tuple[int, int] = (0, _SIDES)
    format: Literal["cxcywh", "xyxy", "xywh", "distances", "cells"] = "cxcywh"
    unit: Literal["pixels", "shares"] = "pixels"
    strides: tuple[Annotated[int, Meta(ge=1)], ...] = ()
    bins: Annotated[int, Meta(ge=1)] = 1
    offset: float = 0.0


class ScoreLayout(Record):
    """Where confidences stand; one column for each class, or one for all with the classes elsewhere.

    `objectness` is a column of the same output that all are multiplied with. `background` is the column
    that stands for nothing.
    """

    output: str
    columns: tuple[int, int] = (0, 1)
    activation: Literal["none", "sigmoid", "softmax"] = "none"
    objectness: Annotated[int, Meta(ge=0)] | None = None
    background: Annotated[int, Meta(ge=0)] | None = None


class ClassLayout(Record):
    """The names of classes: all in their order, or those that are wanted by number.

    `output` and `column` say where the network gives the number of the class itself.
    """

    names: tuple[str, ...] | dict[str, str]
    output: str = ""
    column: Annotated[int, Meta(ge=0)] = 0

    def wanted(self) -> dict[int, str]:
        """The names by number."""
        if isinstance(self.names, tuple):
            return dict(enumerate(self.names))
        return {int(number): name for number, name in self.names.items()}


class Layout(Record):
    """All that is declared of a network.

    `outputs` has the axes of every output that is read: ``image``, ``box``, or how many values there are.
    `most_iou` is the most IoU of two boxes of one class; without it the network leaves out doubles itself.
    """

    input: InputLayout
    outputs: dict[str, tuple[Axis | Annotated[int, Meta(ge=1)], ...]]
    boxes: BoxLayout
    scores: ScoreLayout
    classes: ClassLayout
    most_iou: Annotated[float, Meta(ge=0, le=1)] | None = None


def read_layout(path: Path) -> Layout:
    """The layout in a file.

    Raises:
        DataError: it cannot be read, or declares something that does not fit together; the message says what.
    """
    try:
        layout = msgspec.convert(tomllib.loads(path.read_text(encoding="utf-8")), Layout)
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, msgspec.ValidationError) as error:
        raise DataError(
            f"the layout {path} cannot be used: {error}; expected the tables [input], [outputs], [boxes], "
            "[scores] and [classes], as docs/making/detectors.md shows for each family of networks"
        ) from error
    for wrong in _faults(layout):
        raise DataError(f"the layout {path} does not fit together: {wrong}")
    return layout


def _faults(layout: Layout) -> list[str]:
    """What in a layout does not fit together."""
    wrong = [
        f"outputs.{name} is {_words(axes)}; expected 'box' once, 'image' and a number once at most"
        for name, axes in layout.outputs.items()
        if axes.count("box") != 1
        or axes.count("image") > 1
        or len([axis for axis in axes if isinstance(axis, int)]) > 1
    ]
    return wrong or [*_misplaced(layout), *_box_faults(layout.boxes), *_class_faults(layout)]


def _misplaced(layout: Layout) -> Iterator[str]:
    """Values that are read from an output or from columns that there are not."""
    boxes, scores, classes = layout.boxes, layout.scores, layout.classes
    wanted = [("boxes", boxes.output, boxes.columns), ("scores", scores.output, scores.columns)]
    if scores.objectness is not None:
        wanted.append(("scores.objectness", scores.output, (scores.objectness, scores.objectness + 1)))
    if classes.output:
        wanted.append(("classes", classes.output, (classes.column, classes.column + 1)))
    for what, output, (first, end) in wanted:
        if output not in layout.outputs:
            known = ", ".join(layout.outputs)
            yield f"{what} are in the output {output!r}, and [outputs] has {known or 'none'}"
        elif not 0 <= first < end <= _n_values(layout.outputs[output]):
            yield f"{what}: columns {first} to {end} of {_words(layout.outputs[output])}"
    if scores.background is not None and not scores.columns[0] <= scores.background < scores.columns[1]:
        yield f"scores.background is {scores.background}; expected one of the columns {list(scores.columns)}"


def _box_faults(boxes: BoxLayout) -> Iterator[str]:
    n_columns = boxes.columns[1] - boxes.columns[0]
    needs = _SIDES * (boxes.bins if boxes.format == "distances" else 1)
    if n_columns != needs:
        yield f"boxes have {n_columns} columns; expected {needs} for {boxes.format}"
    is_in_cells = boxes.format in {"distances", "cells"}
    if is_in_cells != bool(boxes.strides):
        wanted = "those of the network, such as [8, 16, 32]" if is_in_cells else "none"
        yield f"boxes.strides are {list(boxes.strides)}; {boxes.format} needs {wanted}"
    if is_in_cells and boxes.unit != "pixels":
        yield f"boxes.unit is {boxes.unit}; {boxes.format} are in pixels"


def _class_faults(layout: Layout) -> Iterator[str]:
    names = layout.classes.names
    n_classes = layout.scores.columns[1] - layout.scores.columns[0]
    if isinstance(names, dict):
        bad = [number for number in names if not number.isdecimal()]
        yield from (f"classes.names has {number!r}; expected whole numbers" for number in bad)
        highest = -1 if bad else max(map(int, names), default=-1)
        if not layout.classes.output and highest >= n_classes:
            yield (
                f"classes.names has the number {highest}; there are {n_classes} columns of scores, which "
                "count from 0"
            )
    elif not layout.classes.output and len(names) != n_classes:
        yield (
            f"classes.names has {len(names)} names for {n_classes} columns of scores; give one for each, or "
            'a table of those that are wanted, such as {0 = "person"}'
        )
    if not names:
        yield "classes.names is empty; nobody would be found"


def _n_values(axes: Sequence[Axis | int]) -> int:
    return next((axis for axis in axes if isinstance(axis, int)), 1)


def _words(axes: Sequence[object]) -> str:
    return "(" + ", ".join(map(str, axes)) + ")"


# --------------------------------------------------------------------------- pictures in


@dataclass(frozen=True, kw_only=True)
class Placed:
    """Where a picture lies in the network's input: `factors` and `offsets_px` in x and y, its own size."""

    factors: tuple[float, float]
    offsets_px: tuple[int, int]
    size_px: tuple[int, int]

    def back(self, boxes_px: Table) -> Table:
        """Boxes of the network's input in pixels of the picture; shapes (n, 4)."""
        factors, offsets = np.tile(self.factors, 2), np.tile(self.offsets_px, 2)
        found: Table = (boxes_px - offsets) / factors
        return found


def place(size_px: tuple[int, int], layout: InputLayout) -> tuple[Placed, tuple[int, int]]:
    """Where a picture of that width and height comes to lie, and its size there."""
    width, height = size_px
    wide, high = layout.size
    if layout.fit == "stretch":
        return Placed(factors=(wide / width, high / height), offsets_px=(0, 0), size_px=size_px), (wide, high)
    factor = min(wide / width, high / height)
    inside = (min(max(round(width * factor), 1), wide), min(max(round(height * factor), 1), high))
    offsets = (0, 0) if layout.fit == "corner" else ((wide - inside[0]) // 2, (high - inside[1]) // 2)
    factors = (inside[0] / width, inside[1] / height)
    return Placed(factors=factors, offsets_px=offsets, size_px=size_px), inside


def prepared(images: Sequence[Image], layout: InputLayout) -> tuple[NDArray[np.float32], list[Placed]]:
    """Pictures as the network takes them, and where they lie in its input.

    Shapes: each picture (height, width, 3), RGB; the result (n, 3, high, wide) or (n, high, wide, 3).
    """
    wide, high = layout.size
    made = np.full((len(images), high, wide, 3), layout.fill, np.float32)
    places = []
    for canvas, image in zip(made, images, strict=True):
        placed, inside = place((image.shape[1], image.shape[0]), layout)
        left, top = placed.offsets_px
        canvas[top : top + inside[1], left : left + inside[0]] = resize(image, size=inside)
        places.append(placed)
    if layout.colours == "bgr":
        made = made[..., ::-1]
    mean, std = np.array(layout.mean, np.float32), np.array(layout.std, np.float32)
    shown: NDArray[np.float32] = (made / np.float32(layout.divide_by) - mean) / std
    return np.ascontiguousarray(shown.transpose(0, 3, 1, 2) if layout.axes == "nchw" else shown), places


# --------------------------------------------------------------------------- boxes out


def found_in(
    outputs: Mapping[str, NDArray[np.generic]],
    places: Sequence[Placed],
    *,
    layout: Layout,
    confidence: float,
    most: int,
) -> list[FrameDetections]:
    """What the outputs of a network say of each picture, surest first.

    Args:
        outputs: by name, for all pictures together.
        places: where each picture lies in the network's input.
        layout: what is declared of the network.
        confidence: the least of a box.
        most: boxes of one picture, the best.

    Raises:
        DataError: an output is not as it was declared; the message has the shapes found and declared.
    """
    tables = {name: _table(name, outputs, layout.outputs[name], n=len(places)) for name in layout.outputs}
    lengths = {name: table.shape[1] for name, table in tables.items()}
    if len(set(lengths.values())) > 1:
        said = ", ".join(f"{n} in {name}" for name, n in lengths.items())
        raise DataError(f"the outputs of the network have different numbers of boxes: {said}")
    return [
        _found({name: table[i] for name, table in tables.items()}, placed, layout, limits=(confidence, most))
        for i, placed in enumerate(places)
    ]


def _table(
    name: str, outputs: Mapping[str, NDArray[np.generic]], axes: Sequence[Axis | int], *, n: int
) -> Table:
    """One output as images x boxes x values."""
    array = np.asarray(outputs[name], np.float64)
    sizes = {"image": n}
    fits = len(array.shape) == len(axes) and all(
        size == (axis if isinstance(axis, int) else sizes.get(axis, size))
        for size, axis in zip(array.shape, axes, strict=True)
    )
    if not fits:
        raise DataError(
            f"the network's output {name} has the shape {_words(array.shape)} for {n} pictures, and the "
            f"layout declares {_words(axes)}; correct [outputs], or take the layout of this network"
        )
    order = [axes.index(axis) for axis in ("image", "box") if axis in axes]
    array = array.transpose([*order, *(i for i in range(len(axes)) if i not in order)])
    return array.reshape(n, array.shape[len(order) - 1], -1)


def _found(
    tables: Mapping[str, Table], placed: Placed, layout: Layout, *, limits: tuple[float, int]
) -> FrameDetections:
    confidences, class_ids = _scores(tables, layout)
    names = layout.classes.wanted()
    kept = np.flatnonzero((confidences >= limits[0]) & np.isin(class_ids, list(names)))
    kept = kept[np.argsort(-confidences[kept], kind="stable")]
    boxes = _boxes(tables[layout.boxes.output], layout)[kept]
    is_known = np.isfinite(boxes).all(axis=1)
    boxes, kept = boxes[is_known], kept[is_known]
    _check_unit(boxes, layout)
    boxes = placed.back(boxes * np.tile(layout.input.size, 2) if layout.boxes.unit == "shares" else boxes)
    boxes, covers = clip(boxes, width_px=placed.size_px[0], height_px=placed.size_px[1])
    boxes, kept = boxes[covers], kept[covers]
    if layout.most_iou is not None:
        single = _singles(boxes, confidences[kept], class_ids[kept], most_iou=layout.most_iou)
        boxes, kept = boxes[single], kept[single]
    boxes, kept = boxes[: limits[1]], kept[: limits[1]]
    return FrameDetections(
        boxes_px=boxes,
        confidences=np.clip(confidences[kept], 0.0, 1.0),
        class_ids=class_ids[kept],
        class_names={int(i): names[int(i)] for i in np.unique(class_ids[kept])},
    )


def _scores(tables: Mapping[str, Table], layout: Layout) -> tuple[Table, NDArray[np.int64]]:
    """The confidence of each box and its class: the surest one."""
    said, table = layout.scores, tables[layout.scores.output]
    scores = _activated(table[:, slice(*said.columns)], said)
    if said.objectness is not None:
        scores = scores * _activated(table[:, [said.objectness]], said)
    if said.background is not None:
        scores[:, said.background - said.columns[0]] = 0.0
    best = np.argmax(scores, axis=1).astype(np.int64) if len(scores) else np.zeros(0, np.int64)
    confidences: Table = scores[np.arange(len(scores)), best]
    if layout.classes.output:
        told = tables[layout.classes.output][:, layout.classes.column]
        best = np.rint(np.nan_to_num(told, nan=-1.0)).astype(np.int64)
    return confidences, best


def _activated(values: Table, said: ScoreLayout) -> Table:
    if said.activation == "sigmoid":
        made: Table = 0.5 * (1 + np.tanh(values / 2))
        return made
    if said.activation == "softmax" and values.shape[1] > 1:
        return _softmax(values)
    if said.activation == "none" and np.any(np.isfinite(values)):
        low, high = float(np.nanmin(values)), float(np.nanmax(values))
        if low < -1 - _SLACK or high > 1 + _SLACK:  # -1 stands for no box in some exports
            raise DataError(
                f"the scores in {said.output} go from {low:.4g} to {high:.4g}, and the layout declares "
                'shares from 0 to 1 (activation = "none"); say "sigmoid" or "softmax" where these are '
                "logits, and look at scores.columns"
            )
    return values


def _softmax(values: Table) -> Table:
    powers = np.exp(values - values.max(axis=-1, keepdims=True))
    made: Table = powers / powers.sum(axis=-1, keepdims=True)
    return made


def _boxes(table: Table, layout: Layout) -> Table:
    """The boxes as left, top, right, bottom, in the unit of the layout; shape (n, 4)."""
    said = layout.boxes
    values = table[:, slice(*said.columns)]
    if said.format == "xyxy":
        return values
    if said.format == "xywh":
        return np.hstack([values[:, :2], values[:, :2] + values[:, 2:]])
    if said.format == "distances":
        centres, strides = _cells(layout, n=len(values))
        spread = values.reshape(len(values), _SIDES, said.bins)
        sides = spread[..., 0] if said.bins == 1 else _softmax(spread) @ np.arange(said.bins, dtype=float)
        sides = sides * strides
        return np.hstack([centres - sides[:, :2], centres + sides[:, 2:]])
    if said.format == "cells":
        corners, strides = _cells(layout, n=len(values))
        with np.errstate(over="ignore"):
            sizes = np.exp(values[:, 2:]) * strides
        values = np.hstack([values[:, :2] * strides + corners, sizes])
    return np.hstack([values[:, :2] - values[:, 2:] / 2, values[:, :2] + values[:, 2:] / 2])


def _cells(layout: Layout, *, n: int) -> tuple[Table, Table]:
    """The place of every cell, row by row and stride by stride, and its stride; shapes (n, 2), (n, 1)."""
    wide, high = layout.input.size
    places, strides = [], []
    for stride in layout.boxes.strides:
        rows, columns = np.mgrid[: math.ceil(high / stride), : math.ceil(wide / stride)]
        places.append((np.stack([columns.ravel(), rows.ravel()], axis=1) + layout.boxes.offset) * stride)
        strides.append(np.full((rows.size, 1), float(stride)))
    n_cells = sum(map(len, strides))
    if n_cells != n:
        raise DataError(
            f"the output {layout.boxes.output} has {n} boxes; an input of {wide} x {high} has {n_cells} "
            f"cells at the declared strides {list(layout.boxes.strides)}: correct boxes.strides or input.size"
        )
    return np.concatenate(places), np.concatenate(strides)


def _check_unit(boxes: Table, layout: Layout) -> None:
    """Refuse boxes that are plainly in the other unit than was declared."""
    largest = float(np.abs(boxes).max(initial=0.0))
    name = layout.boxes.output
    if layout.boxes.unit == "shares" and largest > _OUTSIDE:
        raise DataError(
            f"the boxes in {name} reach to {largest:.4g}, and the layout declares shares of the input from "
            '0 to 1 (unit = "shares"); say "pixels"'
        )
    if layout.boxes.unit == "pixels" and 0.0 < largest <= _OUTSIDE:
        raise DataError(
            f"the boxes in {name} reach to no more than {largest:.4g}, and the layout declares pixels of "
            'the input (unit = "pixels"); say "shares"'
        )


def _singles(
    boxes_px: Table, confidences: Table, class_ids: NDArray[np.int64], *, most_iou: float
) -> NDArray[np.int64]:
    """The boxes that no better one of their class overlaps too much, surest first."""
    kept = [np.zeros(0, np.int64)]
    for one in np.unique(class_ids):
        mine = np.flatnonzero(class_ids == one)
        kept.append(mine[suppress(boxes_px[mine], confidences[mine], most_iou=most_iou)])
    return np.sort(np.concatenate(kept))
