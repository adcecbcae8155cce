"""Experts' drafts: cells of JSON or a spreadsheet, and their faults."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

import msgspec

from vidence.ask.files import FieldError
from vidence.records import Evidence, Record

Kind: TypeAlias = Literal["", "choice", "open"]
_EVIDENCE: Final = re.compile(
    r"(?P<kind>referred|proactive|oracle)\s+(?P<start>\d+(?:\.\d+)?)\s*-\s*(?P<end>\d+(?:\.\d+)?)"
    r"(?:\s+step\s+(?P<step>\d+))?\s*(?::\s*(?P<note>.*))?"
)
_ADDRESS: Final = re.compile(r"\w+://|www\.")
_EVIDENCE_FORM: Final = "proactive 12.5-20 step 2: what is seen"


class Link(Record, omit_defaults=True):
    """A piece of knowledge: what it is called, and the page that explains it."""

    title: str = ""
    url: str = ""


class ExpertDraft(Record, omit_defaults=True):
    """A question as an expert wrote it.

    `video` and `concept_id` are names of the other files. `answer` of a choice is a letter or the words of
    one choice. `misconception` says of each wrong choice, in their order, why somebody would take it.
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
    """The value of a cell, which stands in JSON or as the text of a spreadsheet.

    Raises:
        FieldError: it is not what the column holds.
    """
    return _READERS[column](column, value)


def cell_text(column: str, value: object) -> str:
    """A value of a JSON file as the cell of a spreadsheet, which `read_cell` reads as the same."""
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
    """One entry of a list as a line; None where it has no form as one."""
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
    """The entries of a list: of JSON, or one a line."""
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
    """One thing about one cell; a fault keeps the draft out, a warning does not."""

    row_id: str
    column: str
    kind: str
    is_fault: bool
    says: str


@dataclass(frozen=True, kw_only=True)
class DraftRow:
    """A row as it was handed in: where it stands, its cells as texts, and the draft that was read from it.

    Cells that could not be read have their names in `unread`, and in the draft their empty value. `draft` is
    None where the whole row could not be read.
    """

    row_id: str
    place: str
    cells: Mapping[str, str]
    draft: ExpertDraft | None
    findings: tuple[Finding, ...] = ()

    @property
    def unread(self) -> frozenset[str]:
        """The columns with unreadable cells."""
        return frozenset(finding.column for finding in self.findings)
