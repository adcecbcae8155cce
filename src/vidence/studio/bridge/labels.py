"""Read error labels (`vidence replies errors`) for the viewer: labeller, label and reply of a run."""

from collections.abc import Iterable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Final

import msgspec

from vidence.errors import DataError, cause
from vidence.explain.errors.labels import Label
from vidence.explain.errors.packet import KEY_FILE, Key, read_jsonl
from vidence.studio.bridge.places import ViewablePath, place_id

BY: Final[Mapping[str, str]] = {"person": "people", "model": "models", "diagnostic": "diagnostics"}
"""Who labels, in words."""
_MOST_PACKETS: Final = 32


class Labels:
    """Error labels from the files next to some packets, by run and question.

    A packet names its runs by the folders in which they lay when it was drawn; where none of them is shown,
    its labels belong to no run here.
    """

    def __init__(self, packets: Iterable[ViewablePath]) -> None:
        self.problems: list[str] = []
        self._of: dict[str, dict[str, list[Label]]] = {}
        for place in packets:
            try:
                self._put(*_read(place.folder, _stamp(place.folder)))
            except DataError as error:
                self.problems.append(str(error))

    def _put(self, key: Key, labels: tuple[Label, ...]) -> None:
        runs = {name: place_id(Path(folder)) for name, folder in key.runs.items()}
        for label in labels:
            if label.run in runs:
                self._of.setdefault(runs[label.run], {}).setdefault(label.item_id, []).append(label)

    def of(self, run: str, item_id: str) -> tuple[Label, ...]:
        """Return the labels of one reply of a run, without duplicates."""
        labels = self._of.get(run, {}).get(item_id, [])
        return tuple(
            {(label.labeller, label.by, label.kind, label.quote): label for label in labels}.values()
        )

    def kinds(self, run: str) -> dict[str, int]:
        """How many questions of a run have each label, as ``person:misread``."""
        kinds: dict[str, set[str]] = {}
        for item_id, labels in self._of.get(run, {}).items():
            for label in labels:
                kinds.setdefault(f"{label.by}:{label.kind}", set()).add(item_id)
        return {name: len(kinds[name]) for name in sorted(kinds)}

    def items(self, run: str, label: str) -> tuple[str, ...]:
        """The questions of a run that have a label, as `kinds` names it."""
        by, _, kind = label.partition(":")
        return tuple(
            item_id
            for item_id, labels in self._of.get(run, {}).items()
            if any(entry.by == by and entry.kind == kind for entry in labels)
        )


def _files(folder: Path) -> list[Path]:
    return sorted((folder / "labels").glob("*/*.jsonl"))


def _stamp(folder: Path) -> tuple[tuple[str, int, int], ...]:
    """What changes when a label does.

    Raises:
        DataError: a file cannot be seen.
    """
    try:
        entries = [(path, path.stat()) for path in (folder / KEY_FILE, *_files(folder))]
    except OSError as error:
        raise DataError(f"{folder} cannot be read: {cause(error)}") from error
    return tuple((str(path), state.st_size, state.st_mtime_ns) for path, state in entries)


@lru_cache(maxsize=_MOST_PACKETS)
def _read(folder: Path, _: tuple[tuple[str, int, int], ...]) -> tuple[Key, tuple[Label, ...]]:
    path = folder / KEY_FILE
    try:
        key = msgspec.json.decode(path.read_bytes(), type=Key)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError) as error:
        raise DataError(f"{path}: {cause(error)}") from error
    return key, tuple(label for file in _files(folder) for label in read_jsonl(file, Label))
