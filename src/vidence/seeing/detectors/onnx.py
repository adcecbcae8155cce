"""A network of yours in ONNX Runtime: YOLO, RT-DETR, RF-DETR, NanoDet and others.

onnx:/path/to/yolo.onnx                      what it takes and gives is declared in /path/to/yolo.toml
onnx:/path/to/yolo.onnx?layout=yolo640.toml&confidence=0.25&batch=4
"""

import hashlib
import importlib.metadata
import importlib.util
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar, Final, Literal

import msgspec
import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from vidence.catalog import FilePath
from vidence.errors import DataError, UsageError
from vidence.installation import adding
from vidence.records import Record
from vidence.seeing.network_layout import Layout, found_in, prepared, read_layout
from vidence.seeing.watching import FrameDetections, Image

if TYPE_CHECKING:
    import onnxruntime

_VERSION: Final = 1
_PROVIDERS: Final = {"cpu": "CPUExecutionProvider", "cuda": "CUDAExecutionProvider"}
_TYPES: Final[Mapping[str, type[np.generic]]] = {
    **{"tensor(float)": np.float32, "tensor(float16)": np.float16, "tensor(double)": np.float64},
    **{"tensor(uint8)": np.uint8, "tensor(int64)": np.int64, "tensor(int32)": np.int32},
}
_WEIGHTS_BESIDE: Final = (".data", "_data")  # what exporters call weights that are too large for the file


class Settings(Record):
    """Options of a network in ONNX."""

    positional: ClassVar[str] = "network"
    network: Annotated[FilePath, Meta(description="network in the format ONNX")]
    layout: Annotated[
        FilePath,
        Meta(description="what it takes and gives, in TOML (empty: the file beside it that ends in .toml)"),
    ] = ""
    confidence: Annotated[float, Meta(ge=0, le=1, description="least confidence of a box")] = 0.3
    most: Annotated[int, Meta(ge=1, description="boxes that are kept of a frame, the best")] = 300
    batch: Annotated[
        int,
        Meta(ge=0, description="frames that are looked at together (0: as the network is made for, or 1)"),
    ] = 0
    device: Annotated[Literal["cpu", "cuda"], Meta(description="where the network runs")] = "cpu"
    threads: Annotated[int, Meta(ge=0, description="threads of the network (0: one for each core)")] = 0


class Onnx:
    """The boxes of a network, as the layout beside it says.

    Of each box the surest class counts. Frames are scaled by the filter of the project, over the area.

    Source: HERBench, section 7.1 (the least confidence, the most boxes of a frame).
    Departs: the network is the user's.
    """

    finds_parts = False

    def __init__(
        self, settings: Settings, layout: Layout, *, session: "onnxruntime.InferenceSession"
    ) -> None:
        self._settings = settings
        self._layout = layout
        self._session = session
        taken = {one.name: one for one in session.get_inputs()}
        self._input = _input(layout, list(taken), path=settings.network)
        self._types = {name: _type(one.type, name, path=settings.network) for name, one in taken.items()}
        _check_shapes(settings.network, layout, shape=taken[self._input].shape, outputs=session.get_outputs())
        self._fixed = fixed if isinstance(fixed := taken[self._input].shape[0], int) else 0
        self.n_together = self._together()
        apart = msgspec.structs.replace(settings, network="", layout="")
        self.identity = (
            f"onnx/{_VERSION} runtime {importlib.metadata.version('onnxruntime')} network "
            f"{_digest(Path(settings.network))} {layout!r} {apart!r}"
        )

    def find(self, images: Sequence[Image]) -> list[FrameDetections]:
        """What the network finds in each picture, surest first.

        Raises:
            DataError: its outputs are not as the layout declares.
        """
        if not images:
            return []
        pixels, places = prepared(images, self._layout.input)
        lacking = max(self._fixed - len(images), 0)  # a network for four pictures wants four
        pixels = np.concatenate([pixels, np.repeat(pixels[-1:], lacking, axis=0)])
        outputs = self._run(pixels)
        found = found_in(
            outputs,
            [*places, *[places[-1]] * lacking],
            layout=self._layout,
            confidence=self._settings.confidence,
            most=self._settings.most,
        )
        return found[: len(images)]

    def _run(self, pixels: NDArray[np.float32]) -> dict[str, NDArray[np.generic]]:
        layout, kind = self._layout.input, self._types[self._input]
        shown = np.rint(pixels) if np.issubdtype(kind, np.integer) else pixels
        fed: dict[str, NDArray[np.generic]] = {self._input: shown.astype(kind)}
        if layout.size_name:
            size = layout.size if layout.size_order == "width-height" else layout.size[::-1]
            fed[layout.size_name] = np.tile(size, (len(pixels), 1)).astype(self._types[layout.size_name])
        names = list(self._layout.outputs)
        try:
            made = self._session.run(names, fed)
        except _failures() as error:
            raise DataError(
                f"the network {self._settings.network} cannot be run on pictures of {_shape(shown.shape)}: "
                f"{error}"
            ) from error
        return dict(zip(names, made, strict=True))

    def _together(self) -> int:
        """How many frames are looked at together."""
        path, batch = self._settings.network, self._settings.batch
        if batch and self._fixed and batch != self._fixed:
            raise UsageError(
                f"batch is {batch}, and the network {path} was exported for {self._fixed}; leave batch "
                "out, or export it with a free first axis"
            )
        together = batch or self._fixed or 1
        alone = [name for name, axes in self._layout.outputs.items() if "image" not in axes]
        if alone and together > 1:
            raise UsageError(
                f"batch is {together}, and the output {alone[0]} of {path} has no axis 'image'; say batch=1"
            )
        return together


def _input(layout: Layout, names: Sequence[str], *, path: str) -> str:
    """The name of the input that takes pictures."""
    said = layout.input
    others = [name for name in names if name != said.size_name]
    found = said.name or (others[0] if len(others) == 1 else "")
    wanted = {found, said.size_name} - {""}
    if not found or wanted != set(names):
        raise DataError(
            f"the network {path} takes {', '.join(names)}, and the layout names "
            f"{', '.join(filter(None, (said.name, said.size_name))) or 'none of them'}; expected input.name, "
            "and input.size_name where it asks for the size"
        )
    return found


def _type(said: str, name: str, *, path: str) -> "type[np.generic]":
    if said not in _TYPES:
        raise DataError(f"the input {name} of the network {path} is {said}; expected {', '.join(_TYPES)}")
    return _TYPES[said]


def _check_shapes(
    path: str, layout: Layout, *, shape: Sequence[object], outputs: "Sequence[onnxruntime.NodeArg]"
) -> None:
    """Hold what the file says of its network against what is declared.

    Raises:
        DataError: they differ; with both.
    """
    said = layout.input
    wide, high = said.size
    declared = ("image", 3, high, wide) if said.axes == "nchw" else ("image", high, wide, 3)
    known = {one.name: tuple(one.shape) for one in outputs}
    told = "; it gives " + ", ".join(f"{name} {_shape(sizes)}" for name, sizes in known.items())
    if not _fits(shape, declared):
        raise DataError(
            f"the network {path} takes pictures of {_shape(shape)}, and the layout declares "
            f"{_shape(declared)} (input.size is width and height){told}"
        )
    for name, axes in layout.outputs.items():
        if name not in known:
            raise DataError(f"the network {path} has no output {name!r}, which the layout declares{told}")
        if not _fits(known[name], axes):
            raise DataError(
                f"the output {name} of the network {path} has the shape {_shape(known[name])}, and the "
                f"layout declares {_shape(axes)}{told}"
            )


def _fits(found: Sequence[object], declared: Sequence[object]) -> bool:
    """Whether what is known of a shape is what was declared; a shape that the file does not tell fits."""
    return not found or (
        len(found) == len(declared)
        and all(
            not (isinstance(a, int) and isinstance(b, int)) or a == b
            for a, b in zip(found, declared, strict=True)
        )
    )


def _shape(sizes: Sequence[object]) -> str:
    return "(" + ", ".join("any" if size is None else str(size) for size in sizes) + ")"


def _digest(path: Path) -> str:
    """The SHA-256 of a network and of weights that lie beside it."""
    beside = [path.with_name(path.name + end) for end in _WEIGHTS_BESIDE]
    digests = []
    for one in (path, *(other for other in beside if other.is_file())):
        with one.open("rb") as file:
            digests.append(hashlib.file_digest(file, "sha256").hexdigest())
    return "+".join(digests)


def _failures() -> tuple[type[Exception], ...]:
    """What ONNX Runtime raises; its errors have no class in common."""
    from onnxruntime.capi import onnxruntime_pybind11_state as state

    return (
        *(state.Fail, state.InvalidArgument, state.InvalidGraph, state.InvalidProtobuf, state.NoSuchFile),
        *(
            state.NotImplemented,
            state.RuntimeException,
            state.EPFail,
            state.NoModel,
            ValueError,
            RuntimeError,
        ),
    )


def _session(settings: Settings) -> "onnxruntime.InferenceSession":
    import onnxruntime

    wanted = _PROVIDERS[settings.device]
    if wanted not in onnxruntime.get_available_providers():
        raise UsageError(
            f"device={settings.device}: the ONNX Runtime that is installed runs on "
            f"{', '.join(onnxruntime.get_available_providers())}; install onnxruntime-gpu instead, or say "
            "device=cpu"
        )
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = settings.threads
    options.log_severity_level = 3  # warnings of its own would stand between our lines
    try:
        return onnxruntime.InferenceSession(settings.network, options, providers=[wanted])
    except _failures() as error:
        raise DataError(
            f"{settings.network} cannot be loaded as a network in ONNX ({error}); expected a file that "
            "torch.onnx.export or the exporter of the detector has written"
        ) from error


def _layout(settings: Settings, session: "onnxruntime.InferenceSession") -> Layout:
    path = Path(settings.layout) if settings.layout else Path(settings.network).with_suffix(".toml")
    if not path.is_file():
        parts: Mapping[str, Sequence[onnxruntime.NodeArg]] = {
            "takes": session.get_inputs(),
            "gives": session.get_outputs(),
        }
        told = " and ".join(
            f"{verb} {', '.join(f'{one.name} {_shape(one.shape)}' for one in some)}"
            for verb, some in parts.items()
        )
        raise UsageError(
            f"what {settings.network} takes and gives is not declared: there is no {path}. The network "
            f"{told}. docs/making/detectors.md has a layout for each family (YOLO, RT-DETR, RF-DETR, "
            "NanoDet); put it there, or name it with ?layout=FILE"
        )
    return read_layout(path)


def create(settings: Settings) -> Onnx:
    """A network with its layout.

    Raises:
        UsageError: a file is not there, ONNX Runtime is not installed, or has no such device.
        DataError: the file is no network, the layout makes no sense, or the two do not fit.
    """
    if not Path(settings.network).is_file():
        raise UsageError(f"there is no network at {settings.network}; expected a file in the format ONNX")
    if importlib.util.find_spec("onnxruntime") is None:
        raise UsageError(f"the detector onnx needs ONNX Runtime; run: {adding('onnx')}")
    session = _session(settings)
    return Onnx(settings, _layout(settings, session), session=session)
