"""Positions as arrays of NumPy: joints of body models (SMPL, SMPL-X, AMASS), or points with names."""

import io
import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from vidence.errors import DataError, UsageError
from vidence.pointlight.formats.body_models import COUNTS, SMPL
from vidence.pointlight.formats.format_options import LeastScore, RawPoints, TableSettings, finish
from vidence.pointlight.motion import Motion
from vidence.pointlight.reading import MOST_BYTES, UnpackedFile, open_file
from vidence.pointlight.units import read_unit

Floats = NDArray[np.float64]
_PLACES = ("positions_m", "positions", "joints", "Jtr", "joints3d", "keypoints3d", "points")
_NAMES = ("names", "joint_names", "point_names", "labels")
_RATES = ("fps", "mocap_framerate", "mocap_frame_rate", "frame_rate")
_SEEN = ("is_valid", "visible")
_SCORES = ("confidence", "scores", "visibility")
# What the files of AMASS say, and only they.
_AMASS = {"mocap_framerate", "mocap_frame_rate"}
_POSES = {"poses", "pose_body", "root_orient", "betas"}
_ZIP = "PK\x03\x04"
_NPY = "\x93NUMPY"


class Settings(TableSettings):
    """Options of files of arrays."""

    array: Annotated[str, Meta(description="the array of positions, where it has a name of its own")] = ""
    names: Annotated[str, Meta(description="names of the points, parted by commas")] = ""
    least_score: LeastScore = 0.3


@dataclass(frozen=True, kw_only=True)
class PositionsNpz:
    """Reads ``.npz`` and ``.npy``: one array (n_frames, n_points, 3), and in an ``.npz`` what else is there.

    Positions are the array ``positions_m`` (metres), ``positions``, ``joints``, ``Jtr``, ``joints3d``,
    ``keypoints3d`` or ``points``; names ``names`` or ``joint_names``, otherwise the numbers of joints of the
    SMPL family tell them, and their first 22 are taken, in metres; the rate ``fps`` or ``mocap_framerate``;
    what is hidden ``is_valid``, ``confidence`` or ``visibility``, each (n_frames, n_points); ``units`` and
    ``up`` are words. With AMASS' own rate z is up. Pickled arrays are refused.
    """

    settings: Settings
    name: str = "positions-npz"
    version: int = 1
    suffixes: tuple[str, ...] = (".npz", ".npy")

    def recognises(self, head: str) -> bool:
        """Whether a file begins as an archive of arrays, or as one array."""
        return head.startswith(_NPY) or (head.startswith(_ZIP) and ".npy" in head[30:200])

    def read(self, path: Path) -> Motion:
        """Read a file.

        Raises:
            DataError: no arrays, no positions in them (with poses of a body model: what to run), or arrays
                that do not belong together.
        """
        opened = open_file(path)
        arrays = _arrays(opened)
        key, places = self._positions(opened, arrays)
        names, is_model = self._names(opened, arrays, n_points=places.shape[1])
        hidden = _hidden(opened, arrays, shape=places.shape[:2], least_score=self.settings.least_score)
        places = np.where(hidden[..., None], np.nan, places)
        unit = _word(arrays, "units")
        notes: tuple[str, ...] = ()
        if is_model:
            notes = (
                f"{places.shape[1]} joints are those of {COUNTS[places.shape[1]]}; the first 22 are taken",
            )
            places, names = places[:, : len(SMPL)], SMPL
        metres = read_unit(unit).metres if unit else 1.0 if is_model or key == "positions_m" else None
        read = RawPoints(
            format=self.name,
            positions=places,
            names=names,
            kind="markers",
            up=self.settings.upwards(opened, said=_up(arrays)),
            metres_per_unit=metres,
            unit_problem=f"the array {key!r} has no unit",
            fps=_rate(opened, arrays),
            notes=notes,
        )
        return finish(read, opened=opened, settings=self.settings)

    def _positions(
        self, opened: UnpackedFile, arrays: Mapping[str, NDArray[np.generic]]
    ) -> tuple[str, Floats]:
        wanted = (self.settings.array,) if self.settings.array else ("", *_PLACES)
        key = next((k for k in wanted if k in arrays), None)
        if key is None and self.settings.array:
            raise UsageError(
                f"{opened.label} has no array {self.settings.array!r}; it has {', '.join(arrays)}"
            )
        if key is None and _POSES & set(arrays):
            raise DataError(
                f"{opened.label} holds the pose of a body model ({', '.join(sorted(arrays)[:8])}) and no "
                "positions. The joints follow from the model, which is under a licence of its own: run it, "
                "as with smplx.create(...).forward(...).joints, and save np.savez(FILE, joints=..., "
                "mocap_framerate=...)"
            )
        if key is None:
            raise DataError(
                f"{opened.label} has none of the arrays {', '.join(_PLACES)}; it has {', '.join(arrays)}: "
                "give array=NAME"
            )
        found = arrays[key]
        if found.ndim != 3 or found.shape[2] != 3 or not found.size or found.dtype.kind not in "fiu":
            raise DataError(
                f"{opened.label}: {key or 'the array'} has the shape {found.shape} of {found.dtype}; "
                "expected numbers (n_frames, n_points, 3)"
            )
        return key, found.astype(float)

    def _names(
        self, opened: UnpackedFile, arrays: Mapping[str, NDArray[np.generic]], *, n_points: int
    ) -> tuple[tuple[str, ...], bool]:
        """The names of the points, and whether their number alone tells a body model."""
        given = tuple(n.strip() for n in self.settings.names.split(",")) if self.settings.names else ()
        key = next((k for k in _NAMES if k in arrays), None)
        if not given and key is not None:
            given = tuple(str(n) for n in np.ravel(arrays[key]))
        if not given and n_points in COUNTS:
            return (), True
        if len(given) != n_points or len(set(given)) != n_points:
            told = (
                f"{len(set(given))} names for {n_points} points" if given else f"{n_points} points, no names"
            )
            raise DataError(
                f"{opened.label}: {told}; expected an array 'names' or names=a,b,... with one for each. "
                f"Without names {', '.join(map(str, sorted(COUNTS)))} joints are known (SMPL, SMPL-H, SMPL-X)"
            )
        return given, False


def _arrays(opened: UnpackedFile) -> dict[str, NDArray[np.generic]]:
    """The arrays by name; a single one has the name ''. What is pickled is left out."""
    try:
        if opened.data.startswith(_NPY.encode("latin-1")):
            return {"": np.load(io.BytesIO(opened.data), allow_pickle=False)}
        with zipfile.ZipFile(io.BytesIO(opened.data)) as held:
            size = sum(info.file_size for info in held.infolist())
        if size > MOST_BYTES:
            raise DataError(f"{opened.label} unpacks to {size:,} bytes; expected at most {MOST_BYTES:,}")
        found: dict[str, NDArray[np.generic]] = {}
        with np.load(io.BytesIO(opened.data), allow_pickle=False) as held:
            for name in held.files:
                value = _plain(held, name)
                if value is not None:
                    found[name] = value
    except (
        ValueError,
        OSError,
        EOFError,
        KeyError,
        zipfile.BadZipFile,
        zlib.error,
        NotImplementedError,
    ) as error:
        raise DataError(f"{opened.label} cannot be read as arrays of NumPy: {error}") from error
    if not found:
        raise DataError(f"{opened.label} holds no arrays (pickled objects are not read)")
    return found


def _plain(held: "np.lib.npyio.NpzFile", name: str) -> NDArray[np.generic] | None:
    """One array; None for a pickled object, which is never opened."""
    try:
        found: NDArray[np.generic] = held[name]
    except ValueError as error:
        if "pickle" in str(error):
            return None
        raise
    return found


def _hidden(
    opened: UnpackedFile,
    arrays: Mapping[str, NDArray[np.generic]],
    *,
    shape: tuple[int, ...],
    least_score: float,
) -> NDArray[np.bool_]:
    """Which points are hidden in which frames."""
    hidden = np.zeros(shape, bool)
    for key in (*_SEEN, *_SCORES):
        if key not in arrays:
            continue
        found = arrays[key]
        if found.shape != shape or found.dtype.kind not in "bfiu":
            raise DataError(
                f"{opened.label}: {key!r} has the shape {found.shape}; expected {shape}, as the points"
            )
        hidden |= ~(found.astype(float) >= (0.5 if key in _SEEN else least_score))
    return hidden


def _rate(opened: UnpackedFile, arrays: Mapping[str, NDArray[np.generic]]) -> float | None:
    key = next((k for k in _RATES if k in arrays), None)
    if key is None:
        return None
    found = arrays[key]
    if found.size != 1 or found.dtype.kind not in "fiu" or not 0 < float(found.ravel()[0]) < 1e5:
        raise DataError(
            f"{opened.label}: {key} is {found!r}; expected one number of frames per second above 0"
        )
    return float(found.ravel()[0])


def _word(arrays: Mapping[str, NDArray[np.generic]], key: str) -> str:
    found = arrays.get(key)
    return str(found.ravel()[0]) if found is not None and found.size == 1 and found.dtype.kind in "US" else ""


def _up(arrays: Mapping[str, NDArray[np.generic]]) -> str | None:
    word = _word(arrays, "up")
    if word in {"y", "z"}:
        return word
    return "z" if _AMASS & set(arrays) else None


def create(settings: Settings) -> PositionsNpz:
    """The reader of the format."""
    return PositionsNpz(settings=settings)
