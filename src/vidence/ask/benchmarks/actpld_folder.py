"""Read the two tables of an ActPLD folder: ``clips.csv`` and ``labels.csv``."""

import csv
import difflib
import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Literal, TypeAlias, TypeVar

from vidence.ask.benchmarks.checks import Fault
from vidence.ask.benchmarks.question_files import QuestionFile
from vidence.ask.scoring.label_words import LabelWords
from vidence.errors import DataError
from vidence.records import Record

Target: TypeAlias = Literal["label", "intention"]
TARGETS: tuple[Target, ...] = ("label", "intention")
Kind: TypeAlias = Literal["video", "frames"]
SETS = ("single", "social")
KINDS: tuple[Kind, ...] = ("video", "frames")
N_DISTRACTORS = 2

CLIP_COLUMNS = ("clip_id", "path", "set", "label", "intention")
MORE_CLIP_COLUMNS = ("kind", "label_distractors", "intention_distractors", "source", "licence", "sha256")
LABEL_COLUMNS = ("target", "name", "group")
MORE_LABEL_COLUMNS = ("text", "synonyms", "features")

RowT = TypeVar("RowT")


class LabelRow(Record, kw_only=True):
    """One label or intention: its name, its semantic group, and its words."""

    target: Target
    name: str
    group: str
    words: LabelWords


class ClipRow(Record, kw_only=True):
    """One clip and what is right for it. `distractors` are those that the folder fixes, by target."""

    clip_id: str
    path: str
    kind: Kind
    set_name: str
    names: dict[Target, str]
    distractors: dict[Target, tuple[str, ...]]
    source: str
    licence: str
    sha256: str


def _split(cell: str) -> tuple[str, ...]:
    return tuple(filter(None, (part.strip() for part in cell.split("|"))))


def _rows(
    file: QuestionFile,
    *,
    needed: Sequence[str],
    more: Sequence[str],
    make: Callable[[Mapping[str, str]], RowT | Fault],
) -> Iterator[tuple[str, RowT | Fault]]:
    """The rows of a table, each with its line, or what is wrong with it.

    Raises:
        DataError: it is not UTF-8, or its first line does not name the columns.
    """
    try:
        text = file.content.decode()
    except UnicodeDecodeError as error:
        line = file.content.count(b"\n", 0, error.start) + 1
        raise DataError(f"{file.path}:{line}: not UTF-8; save the file as UTF-8") from error
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    header: list[str] = []
    while True:
        line = reader.line_num + 1
        try:
            cells = [cell.strip() for cell in next(reader)]
        except StopIteration:
            return
        except csv.Error as error:
            yield str(line), Fault("CSV", f"{error}; expected quotes in pairs, doubled inside a quoted cell")
            continue
        if not any(cells):
            continue
        if not header:
            header = cells
            _check_header(header, needed, more, where=f"{file.path}:{line}")
        elif len(cells) != len(header):
            yield str(line), Fault("CSV", f"{len(cells)} cells found; expected {len(header)}, one a column")
        else:
            row = {name: "" for name in (*needed, *more)} | dict(zip(header, cells, strict=True))
            empty = next((name for name in needed if not row[name]), "")
            yield str(line), Fault(empty, "empty; expected a text") if empty else make(row)


def _check_header(header: Sequence[str], needed: Sequence[str], more: Sequence[str], *, where: str) -> None:
    known = (*needed, *more)
    for column in header:
        if column not in known:
            near = difflib.get_close_matches(column, known, n=1)
            hint = f" did you mean {near[0]!r}?" if near else ""
            raise DataError(f"{where}: {column!r}: unknown column;{hint} known: {', '.join(known)}")
        if header.count(column) > 1:
            raise DataError(f"{where}: the column {column!r} is there twice; expected each column once")
    if absent := [name for name in needed if name not in header]:
        raise DataError(
            f"{where}: no column {' and '.join(absent)}; expected a first line that names the columns, with "
            f"at least {', '.join(needed)}"
        )


def label_rows(file: QuestionFile) -> Iterator[tuple[str, LabelRow | Fault]]:
    """The labels and intentions of ``labels.csv``, with their lines."""
    return _rows(file, needed=LABEL_COLUMNS, more=MORE_LABEL_COLUMNS, make=_label)


def _label(row: Mapping[str, str]) -> LabelRow | Fault:
    target = next((t for t in TARGETS if t == row["target"]), None)
    if target is None:
        return Fault("target", f"{row['target']!r} found; expected {' or '.join(TARGETS)}")
    words = LabelWords(
        text=row["text"] or row["name"],
        forms=_split(row["synonyms"]) + ((row["name"],) if row["text"] not in ("", row["name"]) else ()),
        features=_split(row["features"]),
    )
    return LabelRow(target=target, name=row["name"], group=row["group"], words=words)


def clip_rows(file: QuestionFile) -> Iterator[tuple[str, ClipRow | Fault]]:
    """The clips of ``clips.csv``, with their lines."""
    return _rows(file, needed=CLIP_COLUMNS, more=MORE_CLIP_COLUMNS, make=_clip)


def _clip(row: Mapping[str, str]) -> ClipRow | Fault:
    if row["set"] not in SETS:
        return Fault("set", f"{row['set']!r} found; expected {' or '.join(SETS)}")
    kind = next((k for k in KINDS if k == (row["kind"] or "video")), None)
    if kind is None:
        return Fault("kind", f"{row['kind']!r} found; expected {' or '.join(KINDS)}")
    fixed: dict[Target, tuple[str, ...]] = {t: _split(row[f"{t}_distractors"]) for t in TARGETS}
    for target, names in fixed.items():
        if names and len(set(names)) != N_DISTRACTORS:
            field = f"{target}_distractors"
            return Fault(field, f"{'|'.join(names)!r} found; expected {N_DISTRACTORS} names, or nothing")
    return ClipRow(
        clip_id=row["clip_id"],
        path=row["path"],
        kind=kind,
        set_name=row["set"],
        names={t: row[t] for t in TARGETS},
        distractors=fixed,
        source=row["source"],
        licence=row["licence"],
        sha256=row["sha256"],
    )


class Labels:
    """All labels and intentions of a folder, by target and name, in the order of the file.

    Raises:
        DataError: a bad line; without the whole list, other distractors would be drawn.
    """

    def __init__(self, file: QuestionFile) -> None:
        named: dict[Target, dict[str, LabelRow]] = {target: {} for target in TARGETS}
        for line, row in label_rows(file):
            where = f"{file.path}:{line}"
            if isinstance(row, Fault):
                raise DataError(f"{where}: {row.field}: {row.reason}")
            same = [
                r for r in named[row.target].values() if r.words.text.casefold() == row.words.text.casefold()
            ]
            if row.name in named[row.target] or same:
                raise DataError(
                    f"{where}: {row.name!r} is there twice as {row.target}, or shown like another one; "
                    "expected each once"
                )
            named[row.target][row.name] = row
        self.of: Mapping[Target, Mapping[str, LabelRow]] = MappingProxyType(named)
