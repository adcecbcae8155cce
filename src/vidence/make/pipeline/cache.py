"""Artifact cache: results of stages on disk, keyed by their inputs.

A stage works in units, such as one video. The result of a unit lies in ``stages/NAME/KEY.json``, where the
key is the SHA-256 of the stage's name, version and settings and of the digests of all that went in. So a
build that was killed goes on with the unit it was at, and a changed setting redoes what depends on it and
nothing else. Nothing is ever marked as stale: a key that is not asked for is not found.
"""

import base64
import contextlib
import hashlib
import io
import logging
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final, Generic, TypeVar

import msgspec
import numpy as np
from numpy.typing import NDArray

from vidence.contracts import Flow
from vidence.errors import StoreError, cause
from vidence.make.pipeline.ledger import write_file
from vidence.media.whole import write_whole
from vidence.records import Record

T = TypeVar("T")
INDEX_FILE: Final = "index.jsonl"
_FORMAT = "vidence-stage/2"
_log = logging.getLogger(__name__)


def _array_bytes(value: object) -> bytes:
    if not isinstance(value, np.ndarray):
        raise TypeError(f"{type(value).__name__} has no form in the artifact cache")
    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, value, allow_pickle=False)
    return zlib.compress(buffer.getvalue())


def _array(kind: type, value: object) -> NDArray[np.generic]:
    try:
        buffer = io.BytesIO(zlib.decompress(base64.b64decode(str(value))))
    except zlib.error as error:
        raise ValueError(f"no array: {error}") from error
    return np.lib.format.read_array(buffer, allow_pickle=False)


@dataclass(frozen=True, kw_only=True)
class Stage(Generic[T]):
    """A step with cached results of `kind`; its fields are part of the key.

    A result is written as JSON of a record, dataclass or plain value; arrays in it are compressed ``.npy``
    files in base64. The same value always gives the same bytes. `settings` are anything that msgspec can
    write. Whoever changes what a stage makes of the same settings raises its `version`.
    """

    name: str
    kind: type[T]
    version: int = 1
    settings: object = None

    def key(self, inputs: Mapping[str, str]) -> str:
        """The name of the result for these inputs, given by name as digests."""
        return digest_of([_FORMAT, self.name, self.version, self.settings, dict(inputs)])

    def encode(self, value: T) -> bytes:
        """A result as one line of JSON."""
        return msgspec.json.encode(value, enc_hook=_array_bytes) + b"\n"

    def decode(self, data: bytes) -> T:
        """The result.

        Raises:
            ValueError: these bytes hold none.
        """
        return msgspec.json.decode(data, type=self.kind, dec_hook=_array)


@dataclass(frozen=True, kw_only=True)
class Artifact(Generic[T]):
    """A result with the SHA-256 of its bytes, which identifies it to later stages."""

    value: T
    digest: str
    was_cached: bool


def _any(value: object) -> bool:
    return True


@dataclass(frozen=True, kw_only=True)
class MadeAway(Generic[T]):
    """A result from another machine, and the files written with it, by path in the set's folder."""

    value: T
    files: Mapping[str, bytes]

    @classmethod
    def of(cls, make: Callable[[Path], T], *, folder: str = "") -> "MadeAway[T]":
        """Return the result made in its own folder, with the files in it.

        Args:
            make: makes the result, and writes into the folder that it is given.
            folder: where in the folder of the set its files belong.
        """
        with TemporaryDirectory(prefix="vidence-") as own:
            value = make(Path(own))
            files = (path for path in sorted(Path(own).rglob("*")) if path.is_file())
            names = {(Path(folder) / path.relative_to(own)).as_posix(): path.read_bytes() for path in files}
        return cls(value=value, files=names)


@dataclass(frozen=True, kw_only=True)
class Unit(Generic[T]):
    """A unit of work of a stage: its displayed name, its inputs, and how to compute its result.

    `is_usable` says whether a cached result can be used still, such as when its pictures are there. `apart`
    gives what another process does in place of `make`, when there is one for it, and is told whether it is on
    another machine, which does not have the folder of the set; None: `make`, which then writes no files.
    """

    stage: Stage[T]
    name: str
    inputs: Mapping[str, str]
    make: Callable[[], T]
    is_usable: Callable[[T], bool] = _any
    reads: tuple[Path, ...] = ()
    """Files that another process opens for it."""
    apart: Callable[[bool], Callable[[], T | MadeAway[T]]] | None = None


@dataclass(frozen=True, kw_only=True)
class FlowUnit(Generic[T]):
    """Like `Unit` for work that asks models: `start` returns a flow."""

    stage: Stage[T]
    name: str
    inputs: Mapping[str, str]
    start: Callable[[], Flow[T]]


class KeptRow(Record):
    """A result that a session found or made: ``stages/STAGE/KEY`` and `suffix`, of unit `unit`.

    `digest` is the SHA-256 of its bytes.
    """

    stage: str
    unit: str
    key: str
    digest: str
    suffix: str = ".json"


@dataclass(frozen=True, kw_only=True)
class ArtifactCache:
    """The cache folder. Unreadable results are recomputed.

    `kept` takes down the results of named units that were found or made, by stage and unit.
    """

    folder: Path
    kept: dict[tuple[str, str], KeptRow] = field(default_factory=dict, compare=False)

    def find(self, stage: Stage[T], inputs: Mapping[str, str], *, unit: str = "") -> Artifact[T] | None:
        """Return the cached result of a unit, if any, and list it in the index."""
        path = self._path(stage, inputs)
        try:
            data = path.read_bytes()
            artifact = Artifact(value=stage.decode(data), digest=_digest(data), was_cached=True)
            self._take_down(stage, inputs, unit=unit, digest=artifact.digest)
            return artifact
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as error:
            _log.warning("%s cannot be used (%s) and is made again", path, error)
            return None

    def has(self, stage: Stage[T], inputs: Mapping[str, str]) -> bool:
        """Return whether a result of a unit exists, without reading it."""
        return self._path(stage, inputs).exists()

    def remove(self, stage: Stage[T], inputs: Mapping[str, str]) -> None:
        """Remove a unit's result, and its stage's folder if that becomes empty."""
        path = self._path(stage, inputs)
        with contextlib.suppress(OSError):
            path.unlink(missing_ok=True)
            path.parent.rmdir()

    def put(self, stage: Stage[T], inputs: Mapping[str, str], value: T, *, unit: str = "") -> Artifact[T]:
        """Store a result atomically and list it in the index.

        Raises:
            StoreError: it cannot be written.
        """
        data = stage.encode(value)
        path = self._path(stage, inputs)
        try:
            write_whole(path, data)
        except OSError as error:
            raise StoreError(
                f"cannot write {path}: {cause(error)}; free some space or choose another --out, "
                "then run the same command again"
            ) from error
        self._take_down(stage, inputs, unit=unit, digest=_digest(data))
        # What is read back, not what was made: this session sees what every later one will see.
        return Artifact(value=stage.decode(data), digest=_digest(data), was_cached=False)

    def result(self, unit: Unit[T]) -> Artifact[T]:
        """Return the result of a unit, computing it if not cached; errors as `make` raises them."""
        artifact = self.find(unit.stage, unit.inputs, unit=unit.name)
        if artifact is None or not unit.is_usable(artifact.value):
            artifact = self.put(unit.stage, unit.inputs, unit.make(), unit=unit.name)
        return artifact

    def _take_down(self, stage: Stage[T], inputs: Mapping[str, str], *, unit: str, digest: str) -> None:
        if unit:
            row = KeptRow(stage=stage.name, unit=unit, key=stage.key(inputs), digest=digest)
            self.kept[stage.name, unit] = row

    def write_index(self) -> Path:
        """Write ``index.jsonl``: a line for each result that was taken down, in the order of their names.

        Raises:
            StoreError: it cannot be written.
        """
        path = self.folder / INDEX_FILE
        rows = [self.kept[name] for name in sorted(self.kept)]
        write_file(path, b"".join(msgspec.json.encode(row) + b"\n" for row in rows))
        return path

    def _path(self, stage: Stage[T], inputs: Mapping[str, str]) -> Path:
        return self.folder / stage.name / f"{stage.key(inputs)}.json"


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def digest_of(value: object) -> str:
    """The SHA-256 of anything msgspec can encode, as an input of a stage."""
    return _digest(msgspec.json.encode(value, order="sorted"))
