"""What a diagnostic found, question by question, on disk: ``DIR/diagnostics/NAME.jsonl``.

The first line says what was examined and how; every other line is one question. A line that was
written stays; a torn last line is what a killed process leaves, and is dropped.
"""

import os
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import IO, Self

import msgspec

from vidence.contracts import Diagnostic, Examined
from vidence.errors import StoreError
from vidence.records import Failed, Item, Record

FOLDER = "diagnostics"
FORMAT = "vidence-findings/1"


_NOTHING = msgspec.Raw(b"null")


class Header(Record, kw_only=True):
    """What the findings of a file are about; two files with the same header may be added up."""

    format: str = FORMAT
    diagnostic: str
    version: int
    options: dict[str, str]
    plan_digest: str
    content_hash: str
    model_identities: dict[str, str]
    prompts_digest: str
    started_at: str = ""


class _Line(Record, kw_only=True):
    item_id: str
    finding: msgspec.Raw = _NOTHING
    failed: Failed | None = None


def findings_path(folder: Path, name: str, options: Mapping[str, str]) -> Path:
    """Where the findings of a diagnostic with these options are."""
    words = "".join(f"-{key}-{value}" for key, value in sorted(options.items()))
    clean = "".join(c if c.isalnum() or c in "._-" else "_" for c in words)
    return folder / FOLDER / f"{name}{clean[:80]}.jsonl"


class FindingStore:
    """The findings of one diagnostic on one run, open for adding more."""

    def __init__(self, path: Path, header: Header) -> None:
        self.path = path
        self._header = header
        self._file: IO[bytes] | None = None

    def __enter__(self) -> Self:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            whole = _whole_lines(self.path)
            if whole:
                self._check(whole[0])
            else:
                whole = [msgspec.json.encode(self._header)]
            # Rewritten whole: a torn last line must not run into the next one.
            temporary = self.path.with_suffix(".new")
            temporary.write_bytes(b"".join(line + b"\n" for line in whole))
            temporary.replace(self.path)
            self._file = self.path.open("ab")
        except OSError as error:
            raise StoreError(f"cannot write {self.path}: {error.strerror or error}") from error
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._file is None:
            return
        try:
            with self._file as file:
                os.fsync(file.fileno())
        except OSError as problem:
            raise self._unwritable(problem) from problem

    def _check(self, first: bytes) -> None:
        found = _header_of(first, self.path)
        for name in (
            "version",
            "options",
            "plan_digest",
            "content_hash",
            "model_identities",
            "prompts_digest",
        ):
            if getattr(found, name) != getattr(self._header, name):
                raise StoreError(
                    f"{self.path} holds findings of another {name.replace('_', ' ')} "
                    f"({getattr(found, name)!r}, now {getattr(self._header, name)!r}); move the file away, "
                    "or examine into another folder"
                )

    def add(self, examined: Examined) -> None:
        """Append what came of one question; no end of this process can lose it when this returns.

        A power cut may take the last ones; they are then examined again, out of the reply memory.
        """
        if self._file is None:
            raise StoreError(f"{self.path} is not open")
        if isinstance(examined.finding, Failed):
            line = _Line(item_id=examined.item.item_id, failed=examined.finding)
        else:
            line = _Line(
                item_id=examined.item.item_id, finding=msgspec.Raw(msgspec.json.encode(examined.finding))
            )
        try:
            self._file.write(msgspec.json.encode(line) + b"\n")
            self._file.flush()
        except OSError as error:
            raise self._unwritable(error) from error

    def _unwritable(self, error: OSError) -> StoreError:
        return StoreError(f"cannot write {self.path}: {error.strerror or error}; make room")


def read_findings(
    path: Path, diagnostic: Diagnostic, items: Mapping[str, Item]
) -> tuple[Header, dict[str, Examined]]:
    """The header and the last finding of every question, by item id.

    Raises:
        StoreError: not a file of findings, of another format, or about other questions.
    """
    lines = _whole_lines(path)
    if not lines:
        raise StoreError(f"{path} holds no findings; run `vidence diagnose` first")
    header = _header_of(lines[0], path)
    found: dict[str, Examined] = {}
    decoder = msgspec.json.Decoder(_Line)
    for number, text in enumerate(lines[1:], start=2):
        try:
            line = decoder.decode(text)
            finding: Record = line.failed or msgspec.json.decode(line.finding, type=diagnostic.finding)
        except msgspec.DecodeError as error:
            raise StoreError(f"{path}, line {number} is damaged: {error}; move the file away") from error
        if line.item_id not in items:
            raise StoreError(f"{path}, line {number} is about {line.item_id!r}, no question of this run")
        found[line.item_id] = Examined(item=items[line.item_id], finding=finding)
    return header, found


def _whole_lines(path: Path) -> list[bytes]:
    """The lines that end with a line break; none where there is no file."""
    if not path.exists():
        return []
    return [line for line in path.read_bytes().split(b"\n")[:-1] if line]


def _header_of(line: bytes, path: Path) -> Header:
    try:
        header = msgspec.json.decode(line, type=Header)
    except msgspec.DecodeError as error:
        raise StoreError(f"{path} is no file of findings: {error}; move it away") from error
    if header.format != FORMAT:
        raise StoreError(f"{path} has format {header.format!r}, this version of vidence reads {FORMAT!r}")
    return header
