"""What people say on boards: rows of the database, and the same rows in the people's files that makings read.

A row is written into both or into neither. Rows of a file that somebody wrote by hand are taken in when the
set is opened, and stay where they are in their file.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from threading import Lock
from typing import Any, Final, Literal, TypeAlias, TypeVar, cast

import msgspec
from django.db import IntegrityError, transaction

from vidence.errors import DataError, StoreError
from vidence.make.herbench.cards.screening import says_different_people
from vidence.make.pipeline.ledger import write_file
from vidence.make.pipeline.material import Card
from vidence.make.review.people.checks import check_of_card
from vidence.make.review.people.rows import (
    KINDS,
    CardCheckRow,
    CardRow,
    CountRow,
    FalseCheckRow,
    SceneRow,
    ShotRow,
    TrackRow,
    append_row,
    plain_file,
    read_rows,
    remove_row,
)
from vidence.records import Record
from vidence.studio.access import Person
from vidence.studio.audit import note as audit_note
from vidence.studio.records import boards
from vidence.studio.records.people import UserRow
from vidence.studio.settings import current

FileRow: TypeAlias = ShotRow | TrackRow | CountRow | CardCheckRow | FalseCheckRow
FileRowT = TypeVar("FileRowT", ShotRow, TrackRow, CountRow, CardCheckRow, FalseCheckRow)
BoardRow: TypeAlias = (
    boards.TrackVerdictRow
    | boards.ShotEditRow
    | boards.CardCheckRow
    | boards.FalseCheckRow
    | boards.WindowCountRow
)
BoardName: TypeAlias = Literal["tracks", "shots", "cards", "false-cards", "counts"]
TABLES: Final[Mapping[BoardName, Any]] = {
    "tracks": boards.TrackVerdictRow,
    "shots": boards.ShotEditRow,
    "cards": boards.CardCheckRow,
    "false-cards": boards.FalseCheckRow,
    "counts": boards.WindowCountRow,
}
SCENE: Final = "scene"
FALSE: Final = "false"
"""What the words of a `CardCheckRow` are beside the cards ``A`` and ``B`` of a track: those of a shot."""
BY_HAND: Final = "by-hand"
"""Who wrote words whose file names nobody."""
CARDS_FOLDER, SCENES_FOLDER = "cards", "scenes"
_LOCK: Final = Lock()  # a file is read and written by one request at a time


class Refused(Record):
    """Something was not kept, and nothing has changed; why."""

    reason: str


def say(row: BoardRow, by: Person) -> BoardRow | Refused:
    """Keep a new row, in the database and in its file.

    Args:
        row: what is said; `by`, `by_name` and the time are filled in.
        by: who says it.
    """
    row.by = cast("UserRow | None", by.user)
    row.by_name = by.name
    row.at = current().settings.clock()
    written = file_row(row)
    with _LOCK:
        try:
            with transaction.atomic():
                row.save(force_insert=True)
                if written is not None:
                    _append(Path(row.made_set.people_folder), written)
                _write_words(row)
        except IntegrityError:
            return _not_kept(row, "you have said this already; take it back first")
        except (DataError, StoreError) as error:
            return _not_kept(row, str(error))
    return row


def _append(folder: Path, row: FileRow) -> None:
    append_row(folder, cast("TrackRow", row))  # of whichever kind


def _remove(folder: Path, row: FileRow) -> None:
    remove_row(folder, cast("TrackRow", row))  # of whichever kind


def _not_kept(row: BoardRow, reason: str) -> Refused:
    row.pk = None  # of a row that was taken back; somebody else's has it next
    return Refused(reason=reason)


def change(row: BoardRow) -> BoardRow | Refused:
    """Keep a row that somebody goes on with, such as a card that is tried, or a check seen with the film."""
    table = type(row)
    row.at = current().settings.clock()
    with _LOCK:
        before = table.objects.get(pk=row.pk)
        if before.lock_version != row.lock_version:
            return Refused(reason="it was changed in another window; load the page again")
        old, new = file_row(before), file_row(row)
        folder = Path(row.made_set.people_folder)
        row.lock_version += 1
        try:
            with transaction.atomic():
                row.save()
                if old is not None and old != new:
                    _remove(folder, old)
                if new is not None and old != new:
                    _append(folder, new)
                _write_words(row)
        except IntegrityError:
            return Refused(reason="this is said already; take it back first")
        except (DataError, StoreError) as error:
            return Refused(reason=str(error))
    return row


def take_back(made: boards.MadeSetRow, board: BoardName, by: Person, *, video_id: str) -> BoardRow | Refused:
    """Undo the last thing that somebody said on a board about a video."""
    rows = TABLES[board].objects.filter(made_set=made, video_id=video_id, by_name=by.name)
    with _LOCK, transaction.atomic():
        row: BoardRow | None = rows.order_by("-pk").first()
        if row is None:
            return Refused(reason="you have said nothing here that could be taken back")
        written = file_row(row)
        try:
            row.delete()
            if written is not None:
                _remove(Path(made.people_folder), written)
            _write_words(row)
        except (DataError, StoreError) as error:
            transaction.set_rollback(True)
            return Refused(reason=str(error))
        audit_note(
            "verdict-taken-back",
            by=by.name,
            about=f"{made.public}/{video_id}",
            details={"board": board, "said": said(row)},
        )
    return row


def said(row: BoardRow) -> str:
    """What a row says, in a few words."""
    match row:
        case boards.TrackVerdictRow():
            return f"{row.track_id} {row.act}"
        case boards.ShotEditRow():
            return str(row.act)
        case boards.CardCheckRow():
            return f"{row.track_id}/{row.kind} {row.fits or 'written'}"
        case boards.FalseCheckRow():
            return f"a sentence, {row.told_without_film}"
        case _:
            return f"{row.place} {row.n}{' agreed' * bool(row.agreed)}"


def file_row(row: BoardRow) -> FileRow | None:
    """The row of the file; None for what no file holds (yet): a card that nobody tried, a check half done."""
    names = {"video_id": row.video_id, "check": row.seen, "note": row.note}
    match row:
        case boards.TrackVerdictRow():
            return TrackRow(**names, track_id=row.track_id, act=row.act, by=row.by_name)
        case boards.ShotEditRow():
            return ShotRow(**names, act=row.act, by=row.by_name)
        case boards.CardCheckRow():
            return _of_card(row, names)
        case boards.FalseCheckRow():
            return _of_false(row, names)
        case _:
            return CountRow(
                **names,
                window=row.window,
                place=row.place,
                n=row.n,
                n_low=row.n_low,
                n_high=row.n_high,
                counter=row.by_name,
                frames=tuple(row.frames),
                agreed=tuple(row.agreed.split()),
            )


def card_of(row: boards.CardCheckRow) -> Card:
    """The card that a row holds the words of."""
    return Card(track_id=row.track_id, kind=row.kind, text=row.text, frames=tuple(row.frames))


def _of_card(row: boards.CardCheckRow, names: Mapping[str, str]) -> CardCheckRow | None:
    if not row.fits:
        return None
    return CardCheckRow(
        video_id=row.video_id,
        check=check_of_card(card_of(row)) if row.text else row.seen,
        track_id=row.track_id,
        kind=row.kind,
        fits=row.fits,
        leaks="yes" if row.leaks else "no",
        by=row.by_name,
        note=names["note"],
    )


def _of_false(row: boards.FalseCheckRow, names: Mapping[str, str]) -> FalseCheckRow | None:
    if row.reads_natural is None:  # not seen with the film yet, or a true card among the false ones
        return None
    return FalseCheckRow(
        video_id=row.video_id,
        check=row.seen,
        card_id=row.card_id,
        told=row.told_without_film,
        occurs="cannot-say" if row.occurs_in_film is None else "yes" if row.occurs_in_film else "no",
        natural="yes" if row.reads_natural else "no",
        by=row.by_name,
        note=names["note"],
    )


# --------------------------------------------------------------------------- words


def natural(name: str) -> tuple[tuple[int, str], ...]:
    """What names are ordered by, so that 10 comes behind 9.

    >>> sorted(["10", "9", "9/2"], key=natural)
    ['9', '9/2', '10']
    """
    return tuple(
        (int(part), "") if part.isdigit() else (-1, part) for part in re.split(r"(\d+)", name) if part
    )


def _write_words(row: BoardRow) -> None:
    """Write the cards of a video into its file where a row holds words; the same words, the same bytes."""
    if not isinstance(row, boards.CardCheckRow) or not (row.text or row.kind in (SCENE, FALSE)):
        return
    made = row.made_set
    rows = boards.CardCheckRow.objects.filter(made_set=made, video_id=row.video_id).exclude(text="")
    latest = {(one.track_id, one.kind): one for one in rows.order_by("at", "pk")}
    path = _words_path(made, row.video_id, is_scene=row.kind in (SCENE, FALSE))
    gone = (row.track_id, row.kind)
    foreign = [key for key in _words_in(path) if key not in latest and key != gone]
    if foreign:
        raise DataError(
            f"{path} has words of others, on {foreign[0][0]}, that are not here yet: read the files again, "
            "on the page of the set"
        )
    write_words(path, _scene_lines(latest) if row.kind in (SCENE, FALSE) else _card_lines(latest))


def _words_path(made: boards.MadeSetRow, video_id: str, *, is_scene: bool) -> Path:
    return Path(made.people_folder) / (SCENES_FOLDER if is_scene else CARDS_FOLDER) / f"{video_id}.jsonl"


def _words_in(path: Path) -> dict[tuple[str, str], CardRow | SceneRow]:
    """The lines of a file by track (or shot) and kind.

    Raises:
        DataError: a line cannot be used here; one that names a shot by a time, or lists changes, is for
            files that no board writes.
    """
    found: dict[tuple[str, str], CardRow | SceneRow] = {}
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
                found[scene.shot_id, SCENE] = scene
                if scene.false:
                    found[scene.shot_id, FALSE] = msgspec.structs.replace(scene, text=scene.false)
            else:
                card = msgspec.json.decode(line, type=CardRow)
                found[card.track_id, card.kind] = card
        except msgspec.DecodeError as error:
            raise DataError(f"{path}:{number}: {error}") from error
    return found


def _take_in_words(made: boards.MadeSetRow) -> int:
    n_new = 0
    files = [
        path
        for name in (CARDS_FOLDER, SCENES_FOLDER)
        for path in sorted((Path(made.people_folder) / name).glob("*.jsonl"))
    ]
    for path in files:
        known = boards.CardCheckRow.objects.filter(made_set=made, video_id=path.stem).exclude(text="")
        there = set(known.values_list("track_id", "kind"))
        for (name, kind), line in _words_in(path).items():
            if (name, kind) not in there:
                boards.CardCheckRow.objects.create(
                    made_set=made,
                    video_id=path.stem,
                    seen=line.check,
                    track_id=name,
                    kind=kind,
                    text=line.text,
                    frames=list(line.frames),
                    by_name=line.writer or BY_HAND,
                    at=current().settings.clock(),
                )
                n_new += 1
    return n_new


def _card_lines(latest: Mapping[tuple[str, str], boards.CardCheckRow]) -> list[CardRow]:
    keys = sorted((key for key in latest if key[1] in "AB"), key=lambda key: (natural(key[0]), key[1]))
    return [
        CardRow(
            track_id=row.track_id,
            kind=row.kind,
            text=row.text,
            frames=tuple(row.frames),
            writer=row.by_name,
            check=row.seen,
        )
        for row in (latest[key] for key in keys)
    ]


def _scene_lines(latest: Mapping[tuple[str, str], boards.CardCheckRow]) -> list[SceneRow]:
    shots = sorted({name for name, kind in latest if kind == SCENE}, key=natural)
    lines = []
    for name in shots:
        true, false = latest[name, SCENE], latest.get((name, FALSE))
        wrong = "" if false is None else false.text
        lines.append(
            SceneRow(shot_id=name, text=true.text, false=wrong, writer=true.by_name, check=true.seen)
        )
    return lines


def write_words(path: Path, lines: Sequence[CardRow] | Sequence[SceneRow]) -> None:
    """Write a file of cards; without a line there is no file.

    Raises:
        StoreError: it cannot be written.
    """
    if not lines:
        path.unlink(missing_ok=True)
        return
    write_file(path, b"".join(msgspec.json.encode(_given(one)) + b"\n" for one in lines))


def _given(line: CardRow | SceneRow) -> dict[str, object]:
    """The fields that say something."""
    return {
        name: value for name, value in msgspec.structs.asdict(line).items() if value not in ("", (), None)
    }


def sent_back(made: boards.MadeSetRow, video_id: str) -> dict[tuple[str, str], str]:
    """The tracks in whose pictures the writer of a card sees different people, and who that is.

    By the track and its check as the writer saw it: a track that was split since is another one.
    """
    rows = boards.CardCheckRow.objects.filter(made_set=made, video_id=video_id).exclude(text="")
    latest = {(row.track_id, row.kind): row for row in rows.order_by("at", "pk")}
    return {
        (row.track_id, row.seen): f"different people in its pictures, says {row.by_name}"
        for row in latest.values()
        if row.kind in "AB" and says_different_people(row.text) is not None
    }


# --------------------------------------------------------------------------- rows that others wrote


def take_in(made: boards.MadeSetRow) -> int:
    """Take the rows of people's files into the database that are not there; how many were new.

    Raises:
        DataError: a file has lines that cannot be used; each is named.
    """
    n_new = 0
    with _LOCK, transaction.atomic():
        for kind in cast("Sequence[type[TrackRow]]", KINDS):  # each kind in its turn
            known = {one.key for one in _known(made, kind)}
            for row in read_rows(Path(made.people_folder), kind, videos=None):
                if row.key not in known:
                    _table_row(made, row).save(force_insert=True)
                    n_new += 1
        n_new += _take_in_words(made)
    return n_new


def rows_of(made: boards.MadeSetRow, kind: type[FileRowT], *, video_id: str) -> tuple[FileRowT, ...]:
    """The rows of a file on one video, in their order, as the making reads them.

    Raises:
        DataError: the file has lines that cannot be used.
    """
    found = read_rows(Path(made.people_folder), kind, videos=None)
    return tuple(row for row in found if row.video_id == video_id)


def _known(made: boards.MadeSetRow, kind: type[FileRowT]) -> Iterator[FileRow]:
    for row in TABLES[_BOARDS[kind.file]].objects.filter(made_set=made):
        found = file_row(row)
        if found is not None:
            yield found


_BOARDS: Final[Mapping[str, BoardName]] = {
    TrackRow.file: "tracks",
    ShotRow.file: "shots",
    CardCheckRow.file: "cards",
    FalseCheckRow.file: "false-cards",
    CountRow.file: "counts",
}


def _table_row(made: boards.MadeSetRow, row: FileRow) -> BoardRow:
    names = {
        "made_set": made,
        "video_id": row.video_id,
        "seen": row.check,
        "by_name": row.counter if isinstance(row, CountRow) else row.by,
        "note": row.note,
        "at": current().settings.clock(),
    }
    match row:
        case TrackRow():
            return boards.TrackVerdictRow(**names, track_id=row.track_id, act=row.act)
        case ShotRow():
            return boards.ShotEditRow(**names, act=row.act)
        case CardCheckRow():
            return boards.CardCheckRow(
                **names, track_id=row.track_id, kind=row.kind, fits=row.fits, leaks=row.leaks == "yes"
            )
        case FalseCheckRow():
            return boards.FalseCheckRow(
                **names,
                card_id=row.card_id,
                told_without_film=row.told,
                occurs_in_film=None if row.occurs == "cannot-say" else row.occurs == "yes",
                reads_natural=row.natural == "yes",
            )
        case _:
            return boards.WindowCountRow(
                **names,
                window=row.window,
                place=row.place,
                n=row.n,
                n_low=row.n_low,
                n_high=row.n_high,
                frames=list(row.frames),
                agreed=" ".join(row.agreed),
            )


def counts_of(rows: Sequence[boards.WindowCountRow]) -> dict[tuple[str, str], list[boards.WindowCountRow]]:
    """Counts by their window and place, in the order in which these were first counted."""
    found: dict[tuple[str, str], list[boards.WindowCountRow]] = {}
    for row in rows:
        found.setdefault((row.window, row.place), []).append(row)
    return found
