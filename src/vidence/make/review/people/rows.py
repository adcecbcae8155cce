"""Rows of people's files: kinds, one strict reader, and a reproducible writer.

Of a file with a single fault nothing is used: every fault is named as ``file:line: field: why``. Rows of the
folder of people have `check`, letters made of what the person saw (`checks`); a row about something that has
changed since is named and not used (`Unused`).
"""

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Final, Literal, TypeVar

import msgspec

from vidence.ask.files import FieldError, csv_rows, decoded, lines, read, usable
from vidence.errors import DataError
from vidence.make.pipeline.ledger import write_file
from vidence.make.pipeline.material import Change
from vidence.records import Record
from vidence.tables.export import FORMULA, NUMBER, csv_text
from vidence.text import first_lines

MOST_BYTES: Final = 16_000_000
_MOST_TEXT: Final = 2_000
_FORMULA, _NUMBER = re.compile(FORMULA), re.compile(NUMBER, re.ASCII)
_CHECK: Final = re.compile(r"[a-z]{12}")
_PERSON: Final = re.compile(r"[\w.@-]{1,60}")
_THING: Final = re.compile(r"[\w./-]{1,80}")
_NO_NAME: Final = re.compile(r"[/\\\x00-\x1f]|\.\.|\A\Z")
_SHOT_ACT: Final = re.compile(r"(cut-at|no-cut-at):(\d{1,9})|(gradual):(\d{1,9})-(\d{1,9})", re.ASCII)
_TRACK_ACT: Final = re.compile(
    r"(ok|phantom|aside|all)|(split):(\d{1,9})|(join|same-as):([\w./-]{1,80})|(drop):(\d{1,9})-(\d{1,9})",
    re.ASCII,
)
_WINDOW: Final = re.compile(r"whole|(\d{1,9})-(\d{1,9})", re.ASCII)
_EDGE: Final = "left|right|top|bottom"
_PLACE: Final = re.compile(
    rf"(entered|left):({_EDGE})|(crossed):({_EDGE})-({_EDGE})|(visited):([\w-]{{1,40}})"
)
SHOT_ACTS: Final = "cut-at:FRAME, no-cut-at:FRAME or gradual:FIRST-LAST"
TRACK_ACTS: Final = "ok, phantom, aside, split:FRAME, join:OTHER, same-as:OTHER or drop:FIRST-LAST"
PLACES: Final = "entered:EDGE, left:EDGE, crossed:EDGE-EDGE or visited:REGION"
WHOLE: Final = "whole"
EVERYBODY: Final = "everybody"
_ALL: Final = "all"
_LISTS: Final = {"frames", "agreed"}  # columns that hold several, with blanks between
_JSON_ENDINGS: Final = (".jsonl", ".ndjson")


@dataclass(frozen=True, kw_only=True)
class Act:
    """The edit in a row: about frames `first` to `last`, or the track `other`."""

    name: str
    first: int = -1
    last: int = -1
    other: str = ""


@dataclass(frozen=True, kw_only=True)
class Unused:
    """A row that was not used, with its place and the reason."""

    where: str
    why: str

    def __str__(self) -> str:
        return f"{self.where}: not used: {self.why}"


class PeopleRow(Record):
    """A row that a person submits; `where` is its file and line."""

    delimiters: ClassVar[str] = ",;\t"
    where: str = ""
    note: str = ""


class SignedRow(PeopleRow):
    """A row of the folder of people's files: about a video, by a person, on what had these letters (`check`).

    No second row of the file has the same values of `named_by`.
    """

    file: ClassVar[str]
    named_by: ClassVar[tuple[str, ...]]
    delimiters: ClassVar[str] = ","
    video_id: str
    check: str

    @property
    def key(self) -> tuple[object, ...]:
        """Return the unique key of the row in its file."""
        return tuple(getattr(self, name) for name in self.named_by)

    def see(self) -> None:
        """Validate its own fields.

        Raises:
            FieldError: one does not.
        """


class ShotRow(SignedRow):
    """An edit of a video's cuts.

    ``cut-at:FRAME``: a shot begins with this frame. ``no-cut-at:FRAME``: none does; the shot that began with
    it goes on from the one before. ``gradual:FIRST-LAST``: these frames show two shots at once; the later
    one begins with FIRST and is alone behind LAST.
    """

    file: ClassVar[str] = "shots.csv"
    named_by: ClassVar[tuple[str, ...]] = ("video_id", "check", "act", "by")
    act: str
    by: str

    @property
    def parsed(self) -> Act:
        """Return the edit.

        Raises:
            FieldError: it is none.
        """
        match = _SHOT_ACT.fullmatch(self.act)
        if match is None:
            raise FieldError("act", f"{self.act[:80]!r} found; expected {SHOT_ACTS}")
        if match[1]:
            return Act(name=match[1], first=int(match[2]), last=int(match[2]))
        return _ordered(Act(name=match[3], first=int(match[4]), last=int(match[5])))

    def see(self) -> None:
        """Validate its own fields.

        Raises:
            FieldError: one does not.
        """
        _see_person("by", self.by)
        _ = self.parsed


class TrackRow(SignedRow):
    """An edit of one track of a video.

    ``ok``: one person from its first frame to its last, whatever programs think of it. ``phantom``: nobody.
    ``split:FRAME``: from this frame on it is somebody else; the parts are ``ID/1`` and ``ID/2``.
    ``join:OTHER``: it goes on as the track OTHER, whose name both have then; no gap is filled.
    ``same-as:OTHER``: both show one person, who was away between them: they count, and nobody is asked about
    either. ``drop:FIRST-LAST``: its boxes in these frames are wrong and go. ``aside``: a person of their own,
    who counts, and about whom nothing is asked.

    ``all`` on the track `EVERYBODY`: each track has a row, and nobody in the video is without a track.
    """

    file: ClassVar[str] = "tracks.csv"
    named_by: ClassVar[tuple[str, ...]] = ("video_id", "check", "track_id", "act", "by")
    track_id: str
    act: str
    by: str

    @property
    def parsed(self) -> Act:
        """Return the edit.

        Raises:
            FieldError: it is none.
        """
        match = _TRACK_ACT.fullmatch(self.act)
        if match is None:
            raise FieldError("act", f"{self.act[:80]!r} found; expected {TRACK_ACTS}")
        if match[1]:
            return Act(name=match[1])
        if match[2]:
            return Act(name=match[2], first=int(match[3]), last=int(match[3]))
        if match[4]:
            return Act(name=match[4], other=match[5])
        return _ordered(Act(name=match[6], first=int(match[7]), last=int(match[8])))

    def see(self) -> None:
        """Validate its own fields.

        Raises:
            FieldError: one does not.
        """
        _see_thing("track_id", self.track_id)
        _see_person("by", self.by)
        if (self.track_id == EVERYBODY) != (self.parsed.name == _ALL):
            raise FieldError("act", f"{self.act!r} on {self.track_id}; expected {_ALL} on {EVERYBODY} alone")
        if self.parsed.other == self.track_id:
            raise FieldError("act", f"{self.act!r} names the track {self.track_id} itself; expected another")


class CountRow(SignedRow):
    """A person's count at a place, in a window (``FIRST-LAST``, or ``whole``).

    `place` is ``entered:EDGE``, ``left:EDGE``, ``crossed:EDGE-EDGE`` or ``visited:REGION``, as the questions
    of RLPC ask. The true number is surely between `n_low` and `n_high`. `frames` are those in which each of
    the people was counted, as far as they were noted; a question's evidence is taken from them.

    A row with `agreed`, names of all who counted here, is what `counter` holds after they looked at their
    difference; it stands beside the row of what they counted alone.
    """

    file: ClassVar[str] = "counts.csv"
    named_by: ClassVar[tuple[str, ...]] = ("video_id", "check", "window", "place", "counter")
    window: str
    place: str
    n: int
    n_low: int
    n_high: int
    counter: str
    frames: tuple[int, ...] = ()
    agreed: tuple[str, ...] = ()

    @property
    def key(self) -> tuple[object, ...]:
        """Return the unique key: a person counts a thing once, and agrees once with another person."""
        return (*super().key, tuple(sorted(self.agreed)))

    @property
    def span(self) -> tuple[int, int] | None:
        """Return the first and last frame of the window; None for the whole video.

        Raises:
            FieldError: it is no window.
        """
        match = _WINDOW.fullmatch(self.window)
        if match is None:
            raise FieldError(
                "window", f"{self.window[:80]!r} found; expected FIRST-LAST in frames, or {WHOLE}"
            )
        if match[1] is None:
            return None
        act = _ordered(Act(name="window", first=int(match[1]), last=int(match[2])))
        return act.first, act.last

    def see(self) -> None:
        """Validate its own fields.

        Raises:
            FieldError: one does not.
        """
        _see_person("counter", self.counter)
        span = self.span
        if not _PLACE.fullmatch(self.place):
            raise FieldError("place", f"{self.place[:80]!r} found; expected {PLACES}")
        if not 0 <= self.n_low <= self.n <= self.n_high <= 10_000:
            words = f"n_low {self.n_low}, n {self.n}, n_high {self.n_high} found"
            raise FieldError("n", f"{words}; expected 0 or more, and each no more than the next")
        low, high = span or (0, 10**9)
        if wrong := [at for at in self.frames if not low <= at <= high]:
            raise FieldError("frames", f"{wrong[0]} is not in the window {self.window}")
        for name in self.agreed:
            _see_person("agreed", name)
        if self.agreed and (len(set(self.agreed)) < 2 or self.counter not in self.agreed):
            raise FieldError(
                "agreed",
                f"{' '.join(self.agreed)!r} found; expected all who counted, {self.counter} among them",
            )


class CardCheckRow(SignedRow):
    """A reader's verdict on a card, given pictures of everyone in the video.

    `fits`: ``one`` person, ``several`` or ``none``. `leaks` (``yes`` or ``no``): words in it give away what
    it must not.
    """

    file: ClassVar[str] = "card_checks.csv"
    named_by: ClassVar[tuple[str, ...]] = ("video_id", "check", "track_id", "kind", "by")
    track_id: str
    kind: Literal["A", "B"]
    fits: Literal["one", "several", "none"]
    leaks: Literal["yes", "no"]
    by: str

    def see(self) -> None:
        """Validate its own fields.

        Raises:
            FieldError: one does not.
        """
        _see_thing("track_id", self.track_id)
        _see_person("by", self.by)


class FalseCheckRow(SignedRow):
    """A reader's verdict on a false scene card: first without the video, then with it.

    `told`: what the sentence was taken for by its words alone. `occurs`: what it says does happen in the
    film. `natural`: it reads like the others.
    """

    file: ClassVar[str] = "false_checks.csv"
    named_by: ClassVar[tuple[str, ...]] = ("video_id", "check", "card_id", "by")
    card_id: str
    told: Literal["true", "false", "cannot-say"]
    occurs: Literal["yes", "no", "cannot-say"]
    natural: Literal["yes", "no"]
    by: str

    def see(self) -> None:
        """Validate its own fields.

        Raises:
            FieldError: one does not.
        """
        _see_thing("card_id", self.card_id)
        _see_person("by", self.by)


class CardRow(PeopleRow):
    """A line of a card file: `kind` is ``A`` (appearance) or ``B`` (path).

    `check` is that of the track as the writer saw it; empty if nobody knows.
    """

    track_id: str
    kind: str
    text: str
    frames: tuple[int, ...] = ()
    writer: str = ""
    check: str = ""


class CardSheetRow(PeopleRow):
    """A line of a card sheet: facts about a track, and cells for a person to fill in.

    `fits` are the ids of all tracks that the description fits, ``none``, or nothing where nobody has tried.
    """

    video_id: str = ""
    track_id: str
    check: str = ""
    picked: str = ""
    first_frame: str = ""
    last_frame: str = ""
    first_s: str = ""
    last_s: str = ""
    begins: str = ""
    ends: str = ""
    person: str = ""
    hair: str = ""
    upper_body: str = ""
    lower_body: str = ""
    footwear: str = ""
    carries: str = ""
    appearance: str = ""
    path: str = ""
    actions: str = ""
    fits: str = ""


class SceneRow(PeopleRow):
    """A line of a scene card file.

    The shot is named by `shot_id`, or by `at_s`, a time in seconds at which it is on screen. `false` is the
    same sentence with two to five details wrong, and becomes a card of its own; what was changed is found by
    comparing the two. Or `changes` make the card a false one (JSON lines only); it comes behind the true one
    of its shot. Without `card_id` the card is named after its shot. `start_s`, where it stands, is to be that
    of the shot. `check` is that of the shot as the writer saw it (`check_of_shot`); a line about another shot
    is stale.
    """

    text: str
    false: str = ""
    card_id: str = ""
    shot_id: str = ""
    at_s: float | None = None
    video_id: str = ""
    start_s: float | None = None
    end_s: float | None = None
    changes: tuple[Change, ...] = ()
    frames: tuple[int, ...] = ()
    writer: str = ""
    check: str = ""


AnyRowT = TypeVar("AnyRowT", bound=PeopleRow)
RowT = TypeVar("RowT", bound=SignedRow)
KINDS: Final = (ShotRow, TrackRow, CountRow, CardCheckRow, FalseCheckRow)


def columns(kind: type[PeopleRow]) -> tuple[str, ...]:
    """Return the columns of a kind of file in writing order; the note comes last."""
    return (*(name for name in kind.__struct_fields__ if name not in {"where", "note"}), "note")


# --------------------------------------------------------------------------- reading


def read_rows(folder: Path, kind: type[RowT], *, videos: Collection[str] | None) -> tuple[RowT, ...]:
    """Return the rows of a kind, in order; empty if the file does not exist. `where` is file and line.

    A row without an act and a name is open and left out: sheets have such rows to fill in.

    Args:
        folder: the folder of people's files.
        kind: `ShotRow`, `TrackRow`, `CountRow`, `CardCheckRow` or `FalseCheckRow`.
        videos: the videos of the set; None if not all are known, and then any name is right.

    Raises:
        DataError: the file cannot be read, leads out of the folder, is larger than 16 MB, or has rows that
            cannot be used; the first twenty are named with file and line. Nothing of it is used then.
    """
    path = plain_file(folder, kind.file)
    rows: list[RowT] = []
    seen: dict[tuple[object, ...], str] = {}

    def take(row: RowT) -> None:
        if isinstance(row, ShotRow | TrackRow) and not (row.act or row.by):
            return  # a row of a sheet that is still open
        _see(row, videos=videos)
        if row.key in seen:
            raise FieldError("row", f"the same as in line {seen[row.key]}; expected each once")
        seen[row.key] = row.where.rpartition(":")[2]
        rows.append(row)

    if path is not None:
        each_row(path, kind, take)
    return tuple(rows)


def each_row(path: Path, kind: type[AnyRowT], take: Callable[[AnyRowT], None]) -> None:
    """Pass every non-blank line of a file as a row; CSV or JSON lines, by extension.

    Args:
        path: the file.
        kind: of the rows; their fields without a default are columns that must be there.
        take: takes a row, or refuses it with a `FieldError`.

    Raises:
        DataError: the file cannot be read or is empty, or lines cannot be used; the first twenty are named.
    """
    content = read(path, what="a first line that names the columns")
    decoder = msgspec.json.Decoder(kind)
    rows: Iterable[tuple[str, bytes | dict[str, str] | FieldError]]
    if path.suffix.lower() in _JSON_ENDINGS:
        rows = lines(content)
    else:
        needed = [field.name for field in msgspec.structs.fields(kind) if field.required]
        rows = csv_rows(content, needed=needed, known=columns(kind), delimiters=kind.delimiters)
    faults: list[str] = []
    for line, entry in rows:
        where = f"{path.parent.name}/{path.name}:{line}"
        try:
            if isinstance(entry, bytes):
                take(msgspec.structs.replace(decoded(entry, decoder), where=where))
            else:
                take(_row(kind, usable(entry), where=where))
        except FieldError as fault:
            faults.append(f"{path}:{line}: {fault}")
    if faults:
        raise DataError(first_lines(faults))


def is_about(row: CardSheetRow | SceneRow, video_id: str, *, others: Collection[str] | None) -> bool:
    """Whether a row is about a video; in a single-video or scene file it need not name it.

    Args:
        row: the row.
        video_id: the video; empty if nobody knows, and then any is right.
        others: the other videos that the file may speak of; None for any.

    Raises:
        FieldError: it names a video of which the file does not speak, or none in a file of several.
    """
    named = row.video_id
    may_be_blank = isinstance(row, SceneRow) or (others is not None and not others)
    if named == video_id or not video_id or (not named and may_be_blank):
        return True
    if named and (others is None or named in others):
        return False
    known = ", ".join(sorted((video_id, *(others or ())))[:5])
    raise FieldError(
        "video_id", f"{named!r} found; expected {known}: the line is about another video, or none"
    )


def plain_file(folder: Path, name: str) -> Path | None:
    """Return a file of people's rows or texts; None if it does not exist.

    Args:
        folder: in which it lies.
        name: of the file.

    Raises:
        DataError: it lies elsewhere, is no plain file, or is too large.
    """
    path = folder / name
    if not path.exists() and not path.is_symlink():
        return None
    if path.is_symlink() or not path.is_file():
        raise DataError(f"{path} is not a regular file in its folder; put the file itself there")
    if (size := path.stat().st_size) > MOST_BYTES:
        raise DataError(
            f"{path} has {size / 1e6:,.0f} MB; expected at most {MOST_BYTES // 10**6} MB: people's rows alone"
        )
    return path


def _row(kind: type[AnyRowT], cells: Mapping[str, str], *, where: str) -> AnyRowT:
    """Build a row from its cells.

    Raises:
        FieldError: a cell is not what it should be.
    """
    needed = {info.name for info in msgspec.structs.fields(kind) if info.required}
    given: dict[str, object] = {name: cell for name, cell in cells.items() if cell or name in needed}
    for name in _LISTS & set(given):
        given[name] = str(given[name]).split()
    try:
        return msgspec.convert(given | {"where": where}, kind, strict=False)
    except msgspec.ValidationError as error:
        what, _, field = str(error).partition(" - at `$.")
        name = field.rstrip("`").partition("[")[0]
        raise FieldError(name or "row", f"{cells.get(name, '')[:80]!r}: {what}") from error


def _see(row: SignedRow, *, videos: Collection[str] | None) -> None:
    """Validate a row by itself.

    Raises:
        FieldError: it does not.
    """
    if _NO_NAME.search(row.video_id):
        raise FieldError("video_id", f"{row.video_id[:80]!r} is no name of a video")
    if videos is not None and row.video_id not in videos:
        known = ", ".join(sorted(videos)[:5]) + (", ..." if len(videos) > 5 else "")
        raise FieldError(
            "video_id", f"{row.video_id[:80]!r} found; the videos of the set are {known or 'none'}"
        )
    if not _CHECK.fullmatch(row.check):
        raise FieldError("check", f"{row.check[:80]!r} found; expected the twelve letters that were shown")
    row.see()
    if len(row.note) > _MOST_TEXT or "\n" in row.note or "\r" in row.note:
        raise FieldError("note", f"expected one line of at most {_MOST_TEXT:,} characters")
    if _FORMULA.match(row.note) and not _NUMBER.match(row.note):
        raise FieldError(
            "note",
            f"{row.note[:40]!r}: a spreadsheet would run this as a formula; begin with another character",
        )


def _ordered(act: Act) -> Act:
    if act.last < act.first:
        field = "window" if act.name == "window" else "act"
        raise FieldError(field, f"the last frame {act.last} is before the first one {act.first}")
    return act


def _see_person(field: str, name: str) -> None:
    if not _PERSON.fullmatch(name) or name.startswith(("@", "-")):
        raise FieldError(field, f"{name[:80]!r} found; expected a name of letters, digits and . _ - @")


def _see_thing(field: str, name: str) -> None:
    if not _THING.fullmatch(name) or name.startswith("-"):
        raise FieldError(field, f"{name[:80]!r} found; expected an id of letters, digits and . _ - /")


# --------------------------------------------------------------------------- writing


def append_row(folder: Path, row: RowT) -> Path:
    """Append a row to its file, keeping existing bytes; create the file if needed.

    Raises:
        DataError: the file has a fault, or the row has one or is there already.
        StoreError: it cannot be written.
    """
    kind = type(row)
    before: Sequence[RowT] = read_rows(folder, kind, videos=None)
    _check(row)
    key = row.key
    if any(entry.key == key for entry in before):
        raise DataError(f"{folder / kind.file} has this row already: {_line(row, columns(kind)).strip()}")
    path = folder / kind.file
    if not path.exists():
        write_file(path, _content(kind, [row]))
        return path
    content = path.read_bytes()
    if not content.endswith(b"\n"):
        content += b"\n"
    first_line = content.decode("utf-8-sig", errors="replace").lstrip().partition("\n")[0]
    header = [cell.strip().strip('"') for cell in first_line.split(",")]
    if set(_filled(row)) - set(header):  # a file written by hand that lacks an optional column
        content = _content(kind, before)
        header = list(columns(kind))
    write_file(path, content + _line(row, header).encode())
    return path


def remove_row(folder: Path, row: RowT) -> bool:
    """Remove a row from its file; return whether it was there. The last row's removal deletes the file.

    Raises:
        DataError: the file has a fault.
        StoreError: it cannot be written.
    """
    kind = type(row)
    every = read_rows(folder, kind, videos=None)
    key = row.key
    left = [entry for entry in every if entry.key != key]
    if len(left) < len(every):
        write_rows(folder, kind, left)
    return len(left) < len(every)


def write_rows(folder: Path, kind: type[RowT], rows: Sequence[RowT]) -> Path:
    """Rewrite a file; equal rows give equal bytes. Without rows the file is deleted.

    Raises:
        DataError: a row has a fault, or two are the same.
        StoreError: it cannot be written.
    """
    seen: set[tuple[object, ...]] = set()
    for row in rows:
        _check(row)
        if row.key in seen:
            raise DataError(f"a row appears twice: {_line(row, columns(kind)).strip()}")
        seen.add(row.key)
    path = folder / kind.file
    if rows:
        write_file(path, _content(kind, rows))
    else:
        path.unlink(missing_ok=True)
    return path


def _check(row: SignedRow) -> None:
    """Check that a row can be read back unchanged.

    Raises:
        DataError: it cannot.
    """
    try:
        _see(row, videos=None)
    except FieldError as fault:
        raise DataError(f"the row for {row.file} cannot be written: {fault}") from fault


def _content(kind: type[RowT], rows: Sequence[RowT]) -> bytes:
    """Return a whole file with its fixed columns."""
    names = columns(kind)
    return (csv_text([names], is_data=True) + "".join(_line(row, names) for row in rows)).encode()


def _line(row: RowT, names: Sequence[str]) -> str:
    return csv_text([[_cell(getattr(row, name)) for name in names]], is_data=True)


def _cell(value: object) -> str:
    return " ".join(map(str, value)) if isinstance(value, tuple) else str(value)


def _filled(row: RowT) -> list[str]:
    return [name for name in columns(type(row)) if _cell(getattr(row, name))]
