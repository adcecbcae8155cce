"""Small networks in ONNX, built for tests: with outputs that are known, or that find what is bright."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from onnx.helper import make_node, make_tensor_value_info


def write(path: Path, nodes, inputs, outputs, constants) -> Path:
    """A network in a file."""
    tensors = [numpy_helper.from_array(value, name) for name, value in constants.items()]
    graph = helper.make_graph(nodes, "network", inputs, outputs, initializer=tensors)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.checker.check_model(model)
    onnx.save(model, str(path))
    return path


def saying(
    path: Path,
    outputs: Mapping[str, np.ndarray],
    *,
    size: tuple[int, int],
    batch: int | str = "n",
    name: str = "images",
    sizes: str = "",
    axes: str = "nchw",
) -> Path:
    """A network that says the same of every picture; arrays come without the axis of images."""
    wide, high = size
    shape = [batch, 3, high, wide] if axes == "nchw" else [batch, high, wide, 3]
    inputs = [make_tensor_value_info(name, TensorProto.FLOAT, shape)]
    nodes = [
        make_node("ReduceMean", [name], ["mean"], axes=[1, 2, 3], keepdims=1),
        make_node("Mul", ["mean", "zero"], ["nothing"]),
    ]
    constants: dict[str, np.ndarray] = {"zero": np.zeros(1, np.float32)}
    if sizes:  # boxes are in shares, and are multiplied with what is said of the size
        inputs.append(make_tensor_value_info(sizes, TensorProto.INT64, [batch, 2]))
        nodes += [
            make_node("Cast", [sizes], ["size"], to=TensorProto.FLOAT),
            make_node("Concat", ["size", "size"], ["twice"], axis=1),
            make_node("Unsqueeze", ["twice", "one"], ["factors"]),
        ]
        constants["one"] = np.array([1])
    told = []
    for output, array in outputs.items():
        constants[f"{output} known"] = array.astype(np.float32)[None]
        constants[f"{output} axes"] = np.array([-1, *[1] * array.ndim])
        nodes += [
            make_node("Reshape", ["nothing", f"{output} axes"], [f"{output} nothing"]),
            make_node("Add", [f"{output} known", f"{output} nothing"], [f"{output} said"]),
        ]
        is_whole = np.issubdtype(array.dtype, np.integer)
        if is_whole:
            nodes.append(make_node("Cast", [f"{output} said"], [output], to=TensorProto.INT64))
        elif sizes and array.shape[-1] == 4:
            nodes.append(make_node("Mul", [f"{output} said", "factors"], [output]))
        else:
            nodes.append(make_node("Identity", [f"{output} said"], [output]))
        kind = TensorProto.INT64 if is_whole else TensorProto.FLOAT
        told.append(make_tensor_value_info(output, kind, [batch, *array.shape]))
    return write(path, nodes, inputs, told, constants)


def seeing(path: Path, *, size: tuple[int, int], batch: int | str = "n") -> Path:
    """A network that finds the one bright rectangle of a picture: its sides, a score, and class 0."""
    wide, high = size
    nodes = [
        make_node("ReduceMin", ["images"], ["bright"], axes=[1], keepdims=0),
        make_node("Greater", ["bright", "half"], ["is bright"]),
        make_node("Cast", ["is bright"], ["mask"], to=TensorProto.FLOAT),
        make_node("ReduceMax", ["mask"], ["across"], axes=[1], keepdims=0),
        make_node("ReduceMax", ["mask"], ["along"], axes=[2], keepdims=0),
        make_node("ReduceMax", ["mask"], ["score"], axes=[1, 2], keepdims=1),
        make_node("Squeeze", ["score", "last axis"], ["sure"]),
    ]
    for side, (profile, is_last) in {
        "left": ("across", 0),
        "top": ("along", 0),
        "right": ("across", 1),
        "bottom": ("along", 1),
    }.items():
        nodes += [
            make_node("ArgMax", [profile], [f"{side} at"], axis=1, keepdims=1, select_last_index=is_last),
            make_node("Cast", [f"{side} at"], [f"{side} px"], to=TensorProto.FLOAT),
            make_node("Add", [f"{side} px", "one" if is_last else "none"], [side]),
        ]
    nodes += [
        make_node("Mul", ["sure", "none"], ["class"]),
        make_node("Concat", ["left", "top", "right", "bottom", "sure", "class"], ["row"], axis=1),
        make_node("Unsqueeze", ["row", "box axis"], ["output0"]),
    ]
    constants: dict[str, np.ndarray] = {
        "half": np.array(0.5, np.float32),
        "one": np.ones(1, np.float32),
        "none": np.zeros(1, np.float32),
        "last axis": np.array([2]),
        "box axis": np.array([1]),
    }
    inputs = [make_tensor_value_info("images", TensorProto.FLOAT, [batch, 3, high, wide])]
    told = [make_tensor_value_info("output0", TensorProto.FLOAT, [batch, 1, 6])]
    return write(path, nodes, inputs, told, constants)


def rows(shape: tuple[int, int], planted: Mapping[int, Mapping[int, float | Sequence[float]]]):
    """A table of boxes and values with some values planted by row, from a column on."""
    table = np.zeros(shape, np.float32)
    for row, values in planted.items():
        for column, value in values.items():
            several = np.atleast_1d(value)
            table[row, column : column + len(several)] = several
    return table
