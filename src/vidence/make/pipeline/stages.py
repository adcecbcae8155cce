"""Results of stages on disk, found again by what they were made from.

A stage works in units, such as one video. The result of a unit lies in ``stages/NAME/KEY.json``, where the
key is the SHA-256 of the stage's name, version and settings and of the digests of all that went in. So a
making that was killed goes on with the unit it was at, and a changed setting redoes what depends on it and
nothing else. Nothing has to be told to be stale: what is not asked for is not found.
"""

import hashlib
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Generic, Protocol, TypeVar

import msgspec

from vidence.contracts import Flow
from vidence.errors import StoreError
from vidence.make.pipeline.progress import MakeListener, UnitDone, nobody
from vidence.media.cache import write_whole
from vidence.records import Record

T = TypeVar("T")
_FORMAT = "vidence-stage/1"
_log = logging.getLogger(__name__)


class Form(Protocol[T]):
    """How results of one kind are written and read."""

    suffix: str

    def encode(self, value: T) -> bytes:
        """The result as bytes; the same result always gives the same bytes."""

    def decode(self, data: bytes) -> T:
        """The result.

        Raises:
            ValueError: these bytes hold none.
        """


class JsonForm(Generic[T]):
    """Results of a type that msgspec knows, as JSON."""

    suffix = ".json"

    def __init__(self, kind: type[T]) -> None:
        self._decoder = msgspec.json.Decoder(kind)

    def encode(self, value: T) -> bytes:
        """One JSON text and the end of its line."""
        return msgspec.json.encode(value) + b"\n"

    def decode(self, data: bytes) -> T:
        """The result; a damaged file raises ``msgspec.DecodeError``, which is a ValueError."""
        return self._decoder.decode(data)


class Stage(Record, kw_only=True, omit_defaults=True):
    """What decides the result of a stage beside what goes in.

    `settings` are anything that msgspec can write. Whoever changes what a stage makes of the same settings
    raises its `version`.
    """

    name: str
    version: int = 1
    settings: object = None

    def key(self, inputs: Mapping[str, str]) -> str:
        """The name of the result from these inputs; `inputs` are their digests by what they are."""
        facts = [_FORMAT, self.name, self.version, self.settings, dict(inputs)]
        return hashlib.sha256(msgspec.json.encode(facts, order="sorted")).hexdigest()


@dataclass(frozen=True, kw_only=True)
class Kept(Generic[T]):
    """A result with the SHA-256 of its bytes, by which later stages know it."""

    value: T
    digest: str
    was_kept: bool


@dataclass(frozen=True, kw_only=True)
class Unit(Generic[T]):
    """One piece of work of a stage: its name for people, what goes in, and how its result is made."""

    name: str
    inputs: Mapping[str, str]
    make: Callable[[], T]


@dataclass(frozen=True, kw_only=True)
class FlowUnit(Generic[T]):
    """Like `Unit` for work that asks models: `start` gives a flow."""

    name: str
    inputs: Mapping[str, str]
    start: Callable[[], Flow[T]]


@dataclass(frozen=True, kw_only=True)
class Shelf:
    """The folder of results. What cannot be read there is made anew."""

    folder: Path
    on_event: MakeListener = field(default=nobody)

    def find(self, stage: Stage, inputs: Mapping[str, str], form: Form[T]) -> Kept[T] | None:
        """The result of a unit, if it was made before."""
        path = self._path(stage, inputs, form)
        try:
            data = path.read_bytes()
            return Kept(value=form.decode(data), digest=_digest(data), was_kept=True)
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as error:
            _log.warning("%s cannot be used (%s) and is made anew", path, error)
            return None

    def put(self, stage: Stage, inputs: Mapping[str, str], form: Form[T], *, value: T) -> Kept[T]:
        """Keep a result, whole or not at all.

        Raises:
            StoreError: it cannot be written.
        """
        data = form.encode(value)
        path = self._path(stage, inputs, form)
        try:
            write_whole(path, data)
        except OSError as error:
            raise StoreError(
                f"cannot write {path}: {error.strerror or error}; make room or choose another --out, "
                "and the same command goes on"
            ) from error
        # What is read back, not what was made: this session sees what every later one will see.
        return Kept(value=form.decode(data), digest=_digest(data), was_kept=False)

    def made(self, stage: Stage, units: Sequence[Unit[T]], form: Form[T]) -> dict[str, Kept[T]]:
        """The results of all units, made one after the other where they are not kept."""
        results: dict[str, Kept[T]] = {}
        for unit in units:
            found = self.find(stage, unit.inputs, form)
            if found is None:
                found = self.put(stage, unit.inputs, form, value=unit.make())
            results[unit.name] = found
            self.on_event(UnitDone(stage=stage.name, unit=unit.name, was_kept=found.was_kept))
        return results

    def split(
        self, stage: Stage, units: Sequence[FlowUnit[T]], form: Form[T]
    ) -> tuple[dict[str, Kept[T]], dict[str, Flow[Kept[T]]]]:
        """The results that are kept, and for the other units flows that keep their results themselves.

        A flow that is driven to its end has written its result: nothing is lost when the next one fails.
        """
        found: dict[str, Kept[T]] = {}
        flows: dict[str, Flow[Kept[T]]] = {}
        for unit in units:
            kept = self.find(stage, unit.inputs, form)
            if kept is None:
                flows[unit.name] = self._keeping(stage, unit, form)
            else:
                found[unit.name] = kept
                self.on_event(UnitDone(stage=stage.name, unit=unit.name, was_kept=True))
        return found, flows

    def _keeping(self, stage: Stage, unit: FlowUnit[T], form: Form[T]) -> Flow[Kept[T]]:
        value = yield from unit.start()
        kept = self.put(stage, unit.inputs, form, value=value)
        self.on_event(UnitDone(stage=stage.name, unit=unit.name, was_kept=False))
        return kept

    def _path(self, stage: Stage, inputs: Mapping[str, str], form: Form[T]) -> Path:
        return self.folder / stage.name / (stage.key(inputs) + form.suffix)


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def digest_of(value: object) -> str:
    """The SHA-256 of anything that msgspec can write, for use as an input of a stage."""
    return _digest(msgspec.json.encode(value, order="sorted"))
