"""Read drafts from files; re-read the checked sheet; read a released file as drafts."""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal, TypeAlias

import msgspec

from vidence.ask.benchmarks.mmvu import create as mmvu
from vidence.ask.files import FieldError, near
from vidence.ask.mapping.rows import read_rows
from vidence.contracts import Loaded
from vidence.errors import DataError
from vidence.make.writing.expert_films import Film
from vidence.make.writing.subjects import Concept, Subject
from vidence.records import Evidence, Item, Record, by_key
from vidence.tables.export import csv_text

Kind: TypeAlias = Literal["", "choice", "open"]
_EVIDENCE: Final = re.compile(
    r"(?P<kind>referred|proactive|oracle)\s+(?P<start>\d+(?:\.\d+)?)\s*-\s*(?P<end>\d+(?:\.\d+)?)"
    r"(?:\s+step\s+(?P<step>\d+))?\s*(?::\s*(?P<note>.*))?"
)
_ADDRESS: Final = re.compile(r"\w+://|www\.")
_EVIDENCE_FORM: Final = "proactive 12.5-20 step 2: what is seen"


class Link(Record, omit_defaults=True):
    """A piece of knowledge: its name, and the page that explains it."""

    title: str = ""
    url: str = ""


class ExpertDraft(Record, omit_defaults=True):
    """A question as written by an expert.

    `video` and `concept_id` are names of the other files. `answer` of a choice is a letter or the words of
    one choice. `misconception` says of each wrong choice, in order, why somebody would take it.
    `start_s` and `end_s` are the clip in its video, and so are the times of `evidence`. `date` is the day on
    which it was written, `minutes` how long that took.
    """

    draft_id: str = ""
    video: str = ""
    concept_id: str = ""
    question: str = ""
    kind: Kind = ""
    choices: tuple[str, ...] = ()
    answer: str = ""
    misconception: tuple[str, ...] = ()
    start_s: float | None = None
    end_s: float | None = None
    steps: tuple[str, ...] = ()
    knowledge: tuple[Link, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    reasoning: str = ""
    author: str = ""
    date: str = ""
    minutes: float | None = None


COLUMNS: Final[tuple[str, ...]] = ExpertDraft.__struct_fields__


def read_cell(column: str, value: object) -> object:
    """Return a cell's value, from JSON or from spreadsheet text.

    Raises:
        FieldError: it is not what the column holds.
    """
    return _READERS[column](column, value)


def cell_text(column: str, value: object) -> str:
    """Return a JSON value as spreadsheet text that `read_cell` reads back."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        lines = [_line_of(entry) for entry in value]
        if all(lines) or (column == "misconception" and None not in lines):
            return "\n".join(line or "" for line in lines)
    return msgspec.json.encode(value).decode()


def _line_of(value: object) -> str | None:
    """Return one entry of a list as a line; None if it cannot be one."""
    line: str | None = None
    if isinstance(value, str):
        line = value
    elif isinstance(value, dict) and set(value) == {"title", "url"}:
        line = f"{value['title']} | {value['url']}"
    elif isinstance(value, dict) and set(value) == {"url"}:
        line = str(value["url"])
    if line is None or "\n" in line or line != line.strip() or line.startswith(("[", "{")):
        return None
    return line


def _text(column: str, value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        return value.strip()
    if isinstance(value, int | float) and not isinstance(value, bool):
        return f"{value:.15g}"
    raise FieldError(column, f"{_shown(value)} found; expected a text")


def _kind(column: str, value: object) -> str:
    text = _text(column, value).casefold()
    if text not in ("", "choice", "open"):
        raise FieldError(column, f"{text!r} found; expected choice or open")
    return text


def _number(column: str, value: object) -> float | None:
    text = _text(column, value)
    if not text:
        return None
    if not re.fullmatch(r"\d+(?:\.\d*)?", text):
        raise FieldError(column, f"{text!r} found; expected a number of 0 or more, such as 12.5")
    return float(text)


def _listed(column: str, value: object) -> Sequence[object]:
    """Return the entries of a list, from JSON or one per line."""
    if isinstance(value, str) and value.lstrip().startswith(("[", "{")):
        try:
            value = msgspec.json.decode(value)
        except msgspec.DecodeError:
            value = str(value)
    if isinstance(value, str):
        lines = [line.strip() for line in value.strip("\r\n").splitlines()]
        return lines if column == "misconception" else [line for line in lines if line]
    if value is None:
        return ()
    if isinstance(value, list | tuple):
        return value
    if isinstance(value, int | float) and not isinstance(value, bool):
        return [value]
    raise FieldError(column, f"{_shown(value)} found; expected a list, or one entry a line")


def _texts(column: str, value: object) -> tuple[str, ...]:
    return tuple(_text(column, entry) for entry in _listed(column, value))


def _links(column: str, value: object) -> tuple[Link, ...]:
    return tuple(_link(column, entry) for entry in _listed(column, value))


def _link(column: str, value: object) -> Link:
    if isinstance(value, str):
        title, bar, url = value.rpartition("|")
        if not bar and not _ADDRESS.match(value):
            return Link(title=value)
        return Link(title=title.strip(), url=url.strip())
    try:
        return msgspec.convert(value, Link)
    except msgspec.ValidationError as error:
        raise FieldError(column, f"{_shown(value)} found ({error}); expected title and url") from error


def _evidence(column: str, value: object) -> tuple[Evidence, ...]:
    return tuple(_piece(column, entry) for entry in _listed(column, value))


def _piece(column: str, value: object) -> Evidence:
    if isinstance(value, str):
        match = _EVIDENCE.fullmatch(value)
        if match is None:
            raise FieldError(column, f"{value!r} found; expected a line such as {_EVIDENCE_FORM!r}")
        return msgspec.convert(
            {
                "kind": match["kind"],
                "start_s": float(match["start"]),
                "end_s": float(match["end"]),
                "note": match["note"] or "",
                "step": int(match["step"]) - 1 if match["step"] else None,
            },
            Evidence,
        )
    try:
        return msgspec.convert(value, Evidence)
    except msgspec.ValidationError as error:
        piece = f"{_shown(value)} found ({error}); expected kind, start_s, end_s, step, note"
        raise FieldError(column, piece) from error


def _shown(value: object) -> str:
    return msgspec.json.encode(value).decode()[:60]


_READERS: Final[Mapping[str, Callable[[str, object], object]]] = dict.fromkeys(COLUMNS, _text) | {
    "kind": _kind,
    "choices": _texts,
    "misconception": _texts,
    "steps": _texts,
    "start_s": _number,
    "end_s": _number,
    "minutes": _number,
    "knowledge": _links,
    "evidence": _evidence,
}


WHOLE_ROW: Final = "row"


class Finding(Record):
    """A finding on one cell; a fault excludes the draft, a warning does not."""

    row_id: str
    column: str
    kind: str
    is_fault: bool
    says: str


@dataclass(frozen=True, kw_only=True)
class DraftRow:
    """A submitted row: its place, its cells as texts, and the parsed draft.

    Cells that could not be read have their names in `unread`, and in the draft their empty value. `draft` is
    None if the whole row could not be read.
    """

    row_id: str
    place: str
    cells: Mapping[str, str]
    draft: ExpertDraft | None
    findings: tuple[Finding, ...] = ()

    @property
    def unread(self) -> frozenset[str]:
        """Return the columns with unreadable cells."""
        return frozenset(finding.column for finding in self.findings)


_ENDINGS: Final = (".jsonl", ".json", ".csv", ".tsv", ".xlsx")
_OURS: Final = re.compile(r"@.*|place|state|(?:fault|warning):.*")
_STEP: Final = re.compile(r"(?m)^\s*\d+[.)]\s+")


def draft_files(path: Path) -> tuple[Path, ...]:
    """Return the file, or those of a folder by name.

    Raises:
        DataError: there is none.
    """
    paths = sorted(p for p in path.iterdir() if p.suffix in _ENDINGS) if path.is_dir() else [path]
    if not paths or not all(entry.is_file() for entry in paths):
        raise DataError(
            f"{path}: no drafts there; expected a file, or a folder of files, {', '.join(_ENDINGS)}"
        )
    return tuple(paths)


def read_drafts(path: Path) -> tuple[DraftRow, ...]:
    """Return every row of the files, even faulty ones, in order.

    Raises:
        DataError: a file cannot be read at all.
    """
    rows = [row for file in draft_files(path) for row in _rows_of(file)]
    counts = Counter(row.row_id for row in rows)
    seen: Counter[str] = Counter()
    draft_rows: list[DraftRow] = []
    for row in rows:
        seen[row.row_id] += 1
        if counts[row.row_id] > 1 and seen[row.row_id] > 1:
            row_id = f"{row.row_id} ({row.place})"
            twice = Finding(
                row_id=row_id,
                column="draft_id",
                kind="repeated-id",
                is_fault=True,
                says=f"{row.row_id!r} is the id of an earlier row; give this one another",
            )
            mine = tuple(msgspec.structs.replace(finding, row_id=row_id) for finding in row.findings)
            row = DraftRow(  # noqa: PLW2901 - the same row under another name
                row_id=row_id, place=row.place, cells=row.cells, draft=row.draft, findings=(*mine, twice)
            )
        draft_rows.append(row)
    return tuple(draft_rows)


def _rows_of(path: Path) -> Iterator[DraftRow]:
    table = read_rows(path, what="drafts")
    lines = table.file.content.splitlines()
    for place, row in table.lines:
        where = f"{path.name}:{place}"
        if not isinstance(row, FieldError):
            yield _row(where, row)
            continue
        number = int((re.match(r"\d+", place) or [0])[0])
        raw = lines[number - 1].decode(errors="replace") if 0 < number <= len(lines) else ""
        finding = Finding(row_id=where, column=WHOLE_ROW, kind="unreadable", is_fault=True, says=str(row))
        yield DraftRow(row_id=where, place=where, cells={WHOLE_ROW: raw}, draft=None, findings=(finding,))


def _row(where: str, row: Mapping[str, object]) -> DraftRow:
    own = {str(name): value for name, value in row.items() if not _OURS.fullmatch(str(name))}
    own.pop(WHOLE_ROW, None)
    cells = {name: cell_text(name, value) for name, value in own.items()}
    row_id = cells.get("draft_id", "").strip() or where
    values: dict[str, object] = {}
    findings: list[Finding] = []
    for name, value in own.items():
        if name not in COLUMNS:
            says = f"unknown column;{near(name, COLUMNS)}"
            findings.append(
                Finding(row_id=row_id, column=name, kind="unknown-column", is_fault=True, says=says)
            )
            continue
        try:
            values[name] = read_cell(name, value)
        except FieldError as error:
            findings.append(
                Finding(row_id=row_id, column=name, kind="unreadable", is_fault=True, says=error.reason)
            )
    if not cells.get("draft_id", "").strip():
        says = "the cell is empty; give the draft a name that it keeps"
        findings.append(Finding(row_id=row_id, column="draft_id", kind="empty", is_fault=True, says=says))
    draft = msgspec.structs.replace(ExpertDraft(draft_id=row_id), **values)
    draft = msgspec.structs.replace(draft, draft_id=row_id)
    return DraftRow(row_id=row_id, place=where, cells=cells, draft=draft, findings=tuple(findings))


# --------------------------------------------------------------------------- a released file


@dataclass(frozen=True, kw_only=True)
class Imported:
    """A released file as experts' files; `notes` are its reader's notes."""

    subjects: Mapping[str, Subject]
    concepts: tuple[Concept, ...]
    films: tuple[Film, ...]
    rows: tuple[DraftRow, ...]
    notes: tuple[str, ...]


def import_mmvu(path: Path) -> Imported:
    """Convert MMVU's released questions: a concept per textbook of a subject, a video per clip.

    Source: MMVU, the released validation.json.
    Departs: it has no chapters, times, misconceptions, authors; a rationale without numbered lines is one
        step.

    Raises:
        DataError: the file cannot be used.
    """
    loaded: Loaded = mmvu().load(path, split="validation")
    items = loaded.items
    listed = by_key((item.tags["subject"], item.tags["textbook"]) for item in items)
    books = {name: tuple(dict.fromkeys(mine)) for name, mine in listed.items()}
    disciplines = {item.tags["subject"]: item.tags["discipline"] for item in items}
    subjects = {
        name: Subject(subject=name, discipline=disciplines[name], textbooks=mine)
        for name, mine in books.items()
    }
    concepts = [
        Concept(concept_id=f"{name}: {book}", subject=name, textbook=book, state="filmed")
        for name, mine in books.items()
        for book in mine
    ]
    films = {item.video_id: _film(item) for item in items}
    return Imported(
        subjects=subjects,
        concepts=tuple(concepts),
        films=tuple(films.values()),
        rows=tuple(_of_item(item) for item in items),
        notes=tuple(loaded.problems),
    )


def _film(item: Item) -> Film:
    url = item.provenance.source if item.provenance else ""
    return Film(video_id=item.video_id, url=url, path=item.media[0].path or "", source_id=item.source_id)


def _of_item(item: Item) -> DraftRow:
    draft = ExpertDraft(
        draft_id=item.item_id,
        video=item.video_id,
        concept_id=f"{item.tags['subject']}: {item.tags['textbook']}",
        question=item.question,
        kind="choice" if item.answer_kind == "choice" else "open",
        choices=item.choices,
        answer=item.answer,
        steps=_steps(item.rationale),
        knowledge=tuple(Link(url=url) for url in item.knowledge),
    )
    result = msgspec.to_builtins(draft)
    cells = {name: cell_text(name, result[name]) for name in COLUMNS if name in result}
    return DraftRow(row_id=item.item_id, place=item.item_id, cells=cells, draft=draft)


def _steps(rationale: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in _STEP.split(rationale) if part.strip())


SHEET_FILE: Final = "drafts-checked.csv"


def checked_sheet(rows: Sequence[DraftRow]) -> bytes:
    """Return the sheet as CSV in UTF-8 for spreadsheets, readable as drafts again.

    The columns ``place`` and ``state``, all columns of drafts that somebody used, and for each column with
    findings ``fault:COLUMN`` or ``warning:COLUMN``.
    """
    used = {name for row in rows for name in row.cells}
    columns = [name for name in COLUMNS if name in used]
    columns += sorted(used - {*COLUMNS, WHOLE_ROW})
    values = {(finding.column, finding.is_fault) for row in rows for finding in row.findings}
    order = {name: i for i, name in enumerate((WHOLE_ROW, *columns))}
    entries = sorted(values, key=lambda pair: (not pair[1], order.get(pair[0], len(order)), pair[0]))
    raw = [WHOLE_ROW] if WHOLE_ROW in used else []
    heads = [f"{'fault' if is_fault else 'warning'}:{name}" for name, is_fault in entries]
    lines: list[list[str]] = [["place", "state", *columns, *raw, *heads]]
    for row in rows:
        cells = [row.cells.get(name, "") for name in (*columns, *raw)]
        notes = [
            "\n".join(f.says for f in row.findings if (f.column, f.is_fault) == pair) for pair in entries
        ]
        lines.append([row.place, state_of(row), *cells, *notes])
    return b"\xef\xbb\xbf" + csv_text(lines, is_data=True).encode()


def state_of(row: DraftRow) -> str:
    """Return ``fault``, ``warning`` or ``ok``."""
    if any(finding.is_fault for finding in row.findings):
        return "fault"
    return "warning" if row.findings else "ok"
