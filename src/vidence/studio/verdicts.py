"""People's entries on boards: database rows, mirrored in the people's files that makers read.

A row is written into both or into neither. Rows of a file that were written by hand are taken in when the
set is opened, and stay where they are in their file.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Final, Literal, TypeAlias, TypeVar, cast

import msgspec
from django.db import IntegrityError, transaction

from vidence.errors import DataError, StoreError
from vidence.make.herbench.cards.screening import says_different_people
from vidence.make.pipeline.ledger import write_file
from vidence.make.pipeline.material import Card
from vidence.make.review.people.checks import check_of_card
from vidence.make.review.people.rows import (
    CardCheckRow,
    CardRow,
    CountRow,
    FalseCheckRow,
    SceneRow,
    ShotRow,
    SignedRow,
    TrackRow,
    append_row,
    plain_file,
    read_rows,
    remove_row,
)
from vidence.records import Record
from vidence.studio.access import Person
from vidence.studio.audit import note as audit_note
from vidence.studio.records.boards import BoardRow, MadeSetRow
from vidence.studio.settings import current

BoardName: TypeAlias = Literal["shots", "tracks", "cards", "false-cards", "counts"]
SCENE: Final = "scene"
FALSE: Final = "false"
"""Kinds of `Words` for shots, besides the cards ``A`` and ``B`` of tracks."""
BY_HAND: Final = "by-hand"
"""Writer of texts whose file names none."""
CARDS_FOLDER, SCENES_FOLDER = "cards", "scenes"
_OF_CHECKS: Final = frozenset(CardCheckRow.__struct_fields__) - {"where"}
_LOCK: Final = Lock()  # a file is read and written by one request at a time


class Words(Record):
    """A person's card: its text, if written, and the number of people it fits, if tried."""

    video_id: str
    check: str
    track_id: str
    kind: str
    by: str
    text: str = ""
    frames: tuple[int, ...] = ()
    fits: Literal["one", "several", "none", ""] = ""
    leaks: Literal["yes", "no"] = "no"
    note: str = ""

    @property
    def key(self) -> tuple[object, ...]:
        """Return the unique key: one person has one card of a kind."""
        return self.video_id, self.track_id, self.kind, self.by

    @property
    def row(self) -> CardCheckRow | None:
        """Return the row of the file; None for a card that was not tried yet."""
        if not self.fits:
            return None
        card = Card(track_id=self.track_id, kind="A" if self.kind == "A" else "B", text=self.text)
        fields = {name: value for name, value in msgspec.structs.asdict(self).items() if name in _OF_CHECKS}
        return msgspec.convert(fields | ({"check": check_of_card(card)} if self.text else {}), CardCheckRow)


class Reading(Record):
    """A person's reading of a sentence: the guess without the video, and the verdict with it."""

    video_id: str
    check: str
    card_id: str
    told: Literal["true", "false", "cannot-say"]
    by: str
    occurs: Literal["yes", "no", "cannot-say", ""] = ""
    natural: Literal["yes", "no", ""] = ""
    note: str = ""

    @property
    def key(self) -> tuple[object, ...]:
        """Return the unique key: each person reads a sentence once."""
        return self.video_id, self.card_id, self.by

    @property
    def row(self) -> FalseCheckRow | None:
        """Return the row of the file; None before it was seen with the video, as for all true sentences."""
        if not self.occurs or not self.natural:
            return None
        return msgspec.convert(msgspec.structs.asdict(self), FalseCheckRow)


Said: TypeAlias = ShotRow | TrackRow | Words | Reading | CountRow
SaidT = TypeVar("SaidT", ShotRow, TrackRow, Words, Reading, CountRow)
FileRowT = TypeVar("FileRowT", bound=SignedRow)


@dataclass(frozen=True, kw_only=True)
class Board:
    """A board: its title, row type, file row type, and summary of a row."""

    title: str
    holds: type[Said]
    file: type[SignedRow]
    words: str


BOARDS: Final[Mapping[BoardName, Board]] = {
    "shots": Board(title="Shots", holds=ShotRow, file=ShotRow, words="{0.act}"),
    "tracks": Board(title="Tracks", holds=TrackRow, file=TrackRow, words="{0.track_id} {0.act}"),
    "cards": Board(title="Cards", holds=Words, file=CardCheckRow, words="{0.track_id}/{0.kind} {0.fits}"),
    "false-cards": Board(
        title="False cards", holds=Reading, file=FalseCheckRow, words="a sentence, {0.told}"
    ),
    "counts": Board(title="Counts", holds=CountRow, file=CountRow, words="{0.place} {0.n}"),
}


class Refused(Record):
    """The entry was rejected, and nothing has changed; says why."""

    reason: str


def board_of(result: Said) -> BoardName:
    """Return the board that a row belongs to."""
    return next(name for name, board in BOARDS.items() if isinstance(result, board.holds))


def record_of(row: BoardRow) -> Said:
    """Return a row's entry."""
    return msgspec.convert(row.said, BOARDS[cast("BoardName", row.board)].holds)


def in_words(result: Said) -> str:
    """Summarize a row of a person in a few words."""
    return BOARDS[board_of(result)].words.format(result)


def on_file(result: Said) -> SignedRow | None:
    """Return the row for the people's file; None if no file holds it (yet)."""
    return result.row if isinstance(result, Words | Reading) else result


def said_on(set_row: MadeSetRow, kind: type[SaidT], *, video_id: str) -> list[SaidT]:
    """Return the rows of people for a video on a board, in order of entry."""
    name = next(name for name, board in BOARDS.items() if board.holds is kind)
    rows = BoardRow.objects.filter(made_set=set_row, board=name, video_id=video_id).order_by("at", "pk")
    return [msgspec.convert(row.said, kind) for row in rows]


# --------------------------------------------------------------------------- saying


def _row(row: MadeSetRow, result: Said) -> BoardRow:
    return BoardRow(
        made_set=row,
        board=board_of(result),
        video_id=result.video_id,
        key=_key(result),
        said=msgspec.to_builtins(result),
        by_name=result.counter if isinstance(result, CountRow) else result.by,
        at=current().settings.clock(),
    )


def _key(result: Said | SignedRow) -> str:
    return msgspec.json.encode(result.key).decode()


@contextmanager
def _both(row: MadeSetRow, old: Said | None, new: Said | None) -> Iterator[None]:
    """Run a database transaction in which the people's files follow.

    Raises:
        DataError: a file has faults, or the row has.
        StoreError: a file cannot be written.
    """
    folder = Path(row.people_folder)
    before, after = (None if entry is None else on_file(entry) for entry in (old, new))
    with transaction.atomic():
        yield
        if before is not None and before != after:
            remove_row(folder, before)
        if after is not None and before != after:
            append_row(folder, after)
        _write_words(row, new if new is not None else cast("Said", old))


def say(row: MadeSetRow, result: Said) -> Said | Refused:
    """Store a person's entry in the database and its file."""
    with _LOCK:
        try:
            with _both(row, None, result):
                _row(row, result).save(force_insert=True)
        except IntegrityError:
            return Refused(reason="you have already given this verdict; take it back first")
        except (DataError, StoreError) as error:
            return Refused(reason=str(error))
    return result


def change(set_row: MadeSetRow, old: SaidT, new: SaidT) -> Said | Refused:
    """Update a person's entry, such as a tried card, or a sentence seen with the video."""
    rows = BoardRow.objects.filter(made_set=set_row, board=board_of(old), key=_key(old))
    with _LOCK:
        row = rows.first()
        if row is None or record_of(row) != old:
            return Refused(reason="it was changed in another window; reload the page")
        try:
            with _both(set_row, old, new):
                rows.update(said=msgspec.to_builtins(new), at=current().settings.clock())
        except (DataError, StoreError) as error:
            return Refused(reason=str(error))
    return new


def last_of(set_row: MadeSetRow, board: BoardName, by: Person, *, video_id: str) -> BoardRow | None:
    """Return a person's last row on a board for a video."""
    rows = BoardRow.objects.filter(made_set=set_row, board=board, video_id=video_id, by_name=by.name)
    row: BoardRow | None = rows.order_by("-pk").first()
    return row


def take_back(set_row: MadeSetRow, board: BoardName, by: Person, *, video_id: str) -> Said | Refused:
    """Undo a person's last row on a board for a video."""
    with _LOCK:
        row = last_of(set_row, board, by, video_id=video_id)
        if row is None:
            return Refused(reason="you have nothing here to take back")
        record = record_of(row)
        try:
            with _both(set_row, record, None):
                row.delete()
                audit_note(
                    "verdict-taken-back",
                    by=by.name,
                    about=f"{set_row.public}/{video_id}",
                    details={"board": board, "said": in_words(record)},
                )
        except (DataError, StoreError) as error:
            return Refused(reason=str(error))
    return record


# --------------------------------------------------------------------------- words


def natural(name: str) -> tuple[tuple[int, str], ...]:
    """Return the sort key that orders 10 after 9.

    >>> sorted(["10", "9", "9/2"], key=natural)
    ['9', '9/2', '10']
    """
    return tuple(
        (int(part), "") if part.isdigit() else (-1, part) for part in re.split(r"(\d+)", name) if part
    )


def words_of(row: MadeSetRow, video_id: str) -> dict[tuple[str, str], Words]:
    """Return people's latest texts by track (or shot) and kind."""
    return {
        (words.track_id, words.kind): words for words in said_on(row, Words, video_id=video_id) if words.text
    }


def _write_words(row: MadeSetRow, result: Said) -> None:
    """Write a video's cards to its file if a row has text; equal texts give equal bytes."""
    if not isinstance(result, Words) or not (result.text or result.kind in (SCENE, FALSE)):
        return
    latest = words_of(row, result.video_id)
    is_scene = result.kind in (SCENE, FALSE)
    folder = SCENES_FOLDER if is_scene else CARDS_FOLDER
    path = Path(row.people_folder) / folder / f"{result.video_id}.jsonl"
    gone = (result.track_id, result.kind)
    foreign = [key for key in _words_in(path) if key not in latest and key != gone]
    if foreign:
        raise DataError(
            f"{path} has words of others, on {foreign[0][0]}, that are not here yet; read the files again "
            "on the page of the set"
        )
    write_words(path, _scene_lines(latest) if is_scene else _card_lines(latest))


def _words_in(path: Path) -> dict[tuple[str, str], CardRow | SceneRow]:
    """Return a file's lines by track (or shot) and kind.

    Raises:
        DataError: a line cannot be used here; one that names a shot by a time, or lists changes, is for
            files that no board writes.
    """
    words: dict[tuple[str, str], CardRow | SceneRow] = {}
    there = plain_file(path.parent, path.name)
    lines = [] if there is None else there.read_bytes().splitlines()
    is_scene = path.parent.name == SCENES_FOLDER
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            if is_scene:
                scene = msgspec.json.decode(line, type=SceneRow)
                if not scene.shot_id or scene.changes or scene.card_id:
                    raise DataError(
                        f"{path}:{number}: expected shot_id, text and false, as boards write them"
                    )
                words[scene.shot_id, SCENE] = scene
                if scene.false:
                    words[scene.shot_id, FALSE] = msgspec.structs.replace(scene, text=scene.false)
            else:
                card = msgspec.json.decode(line, type=CardRow)
                words[card.track_id, card.kind] = card
        except msgspec.DecodeError as error:
            raise DataError(f"{path}:{number}: {error}") from error
    return words


def _card_lines(latest: Mapping[tuple[str, str], Words]) -> list[CardRow]:
    keys = sorted((key for key in latest if key[1] in "AB"), key=lambda key: (natural(key[0]), key[1]))
    return [
        CardRow(
            track_id=words.track_id,
            kind=cast('Literal["A", "B"]', words.kind),
            text=words.text,
            frames=words.frames,
            writer=words.by,
            check=words.check,
        )
        for words in (latest[key] for key in keys)
    ]


def _scene_lines(latest: Mapping[tuple[str, str], Words]) -> list[SceneRow]:
    lines = []
    for name in sorted({name for name, kind in latest if kind == SCENE}, key=natural):
        true, false = latest[name, SCENE], latest.get((name, FALSE))
        wrong = "" if false is None else false.text
        lines.append(SceneRow(shot_id=name, text=true.text, false=wrong, writer=true.by, check=true.check))
    return lines


def write_words(path: Path, lines: Sequence[CardRow] | Sequence[SceneRow]) -> None:
    """Write a file of cards, each line with its non-empty fields; without lines there is no file.

    Raises:
        StoreError: it cannot be written.
    """
    if not lines:
        path.unlink(missing_ok=True)
        return
    given = [
        {name: value for name, value in msgspec.structs.asdict(line).items() if value not in ("", (), None)}
        for line in lines
    ]
    write_file(path, b"".join(msgspec.json.encode(row) + b"\n" for row in given))


def sent_back(row: MadeSetRow, video_id: str) -> dict[tuple[str, str], str]:
    """Return the tracks in which the writer of a card saw different people, with the writer.

    By the track and its check as the writer saw it: a track that was split since is another one.
    """
    return {
        (word.track_id, word.check): f"different people in its pictures, says {word.by}"
        for word in words_of(row, video_id).values()
        if word.kind in "AB" and says_different_people(word.text) is not None
    }


# --------------------------------------------------------------------------- rows that others wrote


def take_in(set_row: MadeSetRow) -> int:
    """Import new rows of people's files into the database; return their number.

    Raises:
        DataError: a file has lines that cannot be used; each is named.
    """
    folder = Path(set_row.people_folder)
    with _LOCK, transaction.atomic():
        there = {row.key: record_of(row) for row in BoardRow.objects.filter(made_set=set_row)}
        known = {_key(row) for outcome in there.values() if (row := on_file(outcome))}
        new: dict[str, Said] = {}
        for board in BOARDS.values():
            for row in read_rows(folder, board.file, videos=None):
                if _key(row) not in known:
                    result = _as_said(row)
                    new[_key(result)] = result
        n_rows = len(new)
        for words in _new_words(set_row, folder):
            n_rows += 1
            # One person may have written a card and tried it: both are one row.
            mine = new.get(_key(words)) or there.get(_key(words))
            tried = (
                {"fits": mine.fits, "leaks": mine.leaks, "note": mine.note} if isinstance(mine, Words) else {}
            )
            new[_key(words)] = msgspec.structs.replace(words, **tried)
        for key, result in new.items():
            BoardRow.objects.filter(made_set=set_row, key=key).delete()
            _row(set_row, result).save(force_insert=True)
    return n_rows


def _new_words(row: MadeSetRow, folder: Path) -> Iterator[Words]:
    """Yield the texts in people's files that are not in the database."""
    for path in (
        p for name in (CARDS_FOLDER, SCENES_FOLDER) for p in sorted((folder / name).glob("*.jsonl"))
    ):
        there = words_of(row, path.stem)
        for (name, kind), line in _words_in(path).items():
            if (name, kind) not in there:
                yield Words(
                    video_id=path.stem,
                    check=line.check,
                    track_id=name,
                    kind=kind,
                    text=line.text,
                    frames=tuple(line.frames),
                    by=line.writer or BY_HAND,
                )


def _as_said(row: SignedRow) -> Said:
    """Return a file's row as an entry of its board."""
    if isinstance(row, ShotRow | TrackRow | CountRow):
        return msgspec.structs.replace(row, where="")
    fields = msgspec.structs.asdict(row)
    del fields["where"]
    if isinstance(row, CardCheckRow):
        return msgspec.convert(fields, Words)
    return msgspec.convert(fields, Reading)


def rows_of(set_row: MadeSetRow, kind: type[FileRowT], *, video_id: str) -> tuple[FileRowT, ...]:
    """Return a file's rows on one video, in order, as makers read them.

    Raises:
        DataError: the file has lines that cannot be used.
    """
    rows = read_rows(Path(set_row.people_folder), kind, videos=None)
    return tuple(row for row in rows if row.video_id == video_id)
