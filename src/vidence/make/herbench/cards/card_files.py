"""Cards that people wrote: JSON lines or CSV, with an error for every line that is wrong."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final, Generic, Literal, TypeVar

import msgspec

from vidence.ask.files import DataFile, FieldError, csv_rows, lines
from vidence.errors import DataError
from vidence.make.herbench.cards.falsifying import changes_between, check_changes
from vidence.make.herbench.cards.filled_cards import WRITER
from vidence.make.herbench.cards.scenes import read_sentence
from vidence.make.pipeline.material import Card, Change, SceneCard
from vidence.make.pipeline.writer import Objection
from vidence.make.review.people.checks import check_of_shot
from vidence.seeing.shooting import Shot
from vidence.text import first_lines

RowT = TypeVar("RowT")
MadeT = TypeVar("MadeT")
_KINDS: Final[Mapping[str, Literal["A", "B"]]] = {"a": "A", "appearance": "A", "b": "B", "path": "B"}
_CARD_FIELDS: Final = ("track_id", "kind", "text")
_SCENE_FIELDS: Final = ("text",)
_JSON_ENDINGS: Final = (".jsonl", ".ndjson")
_MOST_NAMED: Final = 5
_SAME_START_S: Final = 0.05
SCENE_COLUMNS: Final = ("video_id", "shot_id", "start_s", "end_s", "text", "false", "note")


class CardRow(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """One line of a file of cards: `kind` is ``A`` (appearance) or ``B`` (path).

    `check` is that of the track as the writer saw it; empty where nobody knows.
    """

    track_id: str
    kind: str
    text: str
    frames: tuple[int, ...] = ()
    writer: str = ""
    check: str = ""


class SceneRow(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """One line of a file of scene cards.

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
    note: str = ""
    changes: tuple[Change, ...] = ()
    frames: tuple[int, ...] = ()
    writer: str = ""
    check: str = ""


@dataclass(frozen=True, kw_only=True)
class FromFile(Generic[MadeT]):
    """The cards of a file, and its lines that cannot be used: ``file:line: why``.

    `stale` are lines about something that has changed since they were written, in the same form.
    """

    cards: tuple[MadeT, ...]
    problems: tuple[str, ...]
    stale: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Stale:
    why: str


def read_cards(
    path: Path,
    *,
    tracks: Collection[str] | None = None,
    strict: bool = False,
    checks: Mapping[str, str] | None = None,
) -> FromFile[Card]:
    """Cards of tracks, with the fields ``track_id``, ``kind``, ``text`` and perhaps ``frames``, ``writer``.

    Lines that cannot be used are left out and listed: no JSON, a field that is missing or unknown, an empty
    text, a track that there is not, a second card of the same kind for one track.

    Args:
        path: a file ending in .jsonl or .csv.
        tracks: the ids of the tracks that there are; None for any.
        strict: whether one such line is an error.
        checks: what changes with each track; a line whose `check` is another one is stale, and no error.

    Raises:
        DataError: the file cannot be read, has no usable line, or with `strict` a single bad one.
    """
    seen: set[tuple[str, str]] = set()

    def make(row: CardRow) -> Card | _Stale | str:
        kind = _KINDS.get(row.kind.strip().casefold())
        if kind is None:
            return f"kind is {row.kind!r}; expected A (appearance) or B (path)"
        if not row.text.strip():
            return "text is empty"
        if checks is not None and row.check and checks.get(row.track_id) != row.check:
            return _Stale(f"the track {row.track_id} has changed since; write its card again")
        if tracks is not None and row.track_id not in tracks:
            known = ", ".join(sorted(tracks)[:5]) or "none"
            return f"there is no track {row.track_id!r}; there are {len(tracks)} ({known}, ...)"
        if (row.track_id, kind) in seen:
            return f"the track {row.track_id} has a card of the kind {kind} already"
        seen.add((row.track_id, kind))
        text = " ".join(row.text.split())
        return Card(
            track_id=row.track_id, kind=kind, text=text, frames=row.frames, writer=row.writer or path.name
        )

    return _gather(path, _rows(path, CardRow, _CARD_FIELDS), make, strict=strict)


def read_scene_cards(
    path: Path,
    *,
    shots: Sequence[Shot],
    strict: bool = False,
    video_id: str = "",
    others: Collection[str] | None = (),
) -> FromFile[SceneCard]:
    """Scene cards, with the fields of `SceneRow`.

    Lines that cannot be used are left out and listed, as for `read_cards`; a text must be one sentence, and a
    false card must differ from the true one in its changes and in nothing else (`check_changes`). Rows of a
    sheet (`SCENE_COLUMNS`) that nobody filled in say nothing; a sheet of such rows alone has no card.

    Args:
        path: a file ending in .jsonl or .csv.
        shots: the shots of the video.
        strict: whether one such line is an error.
        video_id: the video; empty where nobody knows, and then any is right.
        others: the other videos that the file may speak of, whose lines are left out; None for any.

    Raises:
        DataError: the file cannot be read, has no usable line, or with `strict` a single bad one.
    """
    seen: dict[tuple[str, str], SceneCard] = {}

    def make(row: SceneRow) -> SceneCard | _Stale | str:
        same = next((one for one in shots if row.check and check_of_shot(one) == row.check), None)
        shot = _shot(row, shots) if same is None else same  # whatever its number is by now
        if row.check and (isinstance(shot, str) or check_of_shot(shot) != row.check):
            return _Stale("the shot has changed since; describe it again")
        if isinstance(shot, str):
            return shot
        text = read_sentence(row.text)
        if isinstance(text, Objection):
            return f"text: {text.detail}"
        what = "false" if row.changes else "true"
        if (shot.shot_id, what) in seen:
            return f"the shot {shot.shot_id} has a {what} card already"
        true = seen.get((shot.shot_id, "true"))
        if row.changes:
            if true is None:
                return f"the true card of the shot {shot.shot_id} has to stand before its false one"
            wrong = check_changes(true.text, text, row.changes, taken=[card.text for card in seen.values()])
            if wrong is not None:
                return f"changes: {wrong.detail}"
        card = SceneCard(
            card_id=row.card_id or f"{shot.shot_id}-{what}",
            shot_id=shot.shot_id,
            text=text,
            changes=row.changes,
            frames=row.frames,
            writer=row.writer or (path.name if row.start_s is None else WRITER),
        )
        seen[shot.shot_id, what] = card
        return card

    rows = list(_of_video(_rows(path, SceneRow, _SCENE_FIELDS), video_id, others=others))
    if rows and all(not isinstance(row, str) and _is_open(row) and not row.false.strip() for _, row in rows):
        return FromFile(cards=(), problems=())
    return _gather(path, _each_card(rows), make, strict=strict)


def are_described(path: Path, video_id: str) -> bool:
    """Whether a file of scene cards has a text on a video, whatever it is worth.

    Raises:
        DataError: it cannot be read.
    """
    rows = (row for _, row in _rows(path, SceneRow, _SCENE_FIELDS))
    return any(isinstance(row, str) or (row.text.strip() and row.video_id in ("", video_id)) for row in rows)


def _is_open(row: SceneRow) -> bool:
    """Whether a row of a sheet is still to be filled in."""
    return row.start_s is not None and not row.text.strip()


def _of_video(
    rows: Iterator[tuple[int, SceneRow | str]], video_id: str, *, others: Collection[str] | None
) -> Iterator[tuple[int, SceneRow | str]]:
    """The rows of a video, and what is wrong with those of none; a row need not name its video."""
    for line, row in rows:
        if isinstance(row, str) or not video_id or row.video_id in ("", video_id):
            yield line, row
        elif others is not None and row.video_id not in others:
            known = ", ".join(sorted((video_id, *others))[:_MOST_NAMED])
            yield line, f"video_id: {row.video_id!r} found; expected {known}: the line is on another video"


def _each_card(rows: Iterable[tuple[int, SceneRow | str]]) -> Iterator[tuple[int, SceneRow | str]]:
    """A row for each card: the false sentence of a row becomes one of its own; open rows are left out."""
    for line, row in rows:
        if isinstance(row, str):
            yield line, row
            continue
        if not _is_open(row):
            yield line, msgspec.structs.replace(row, false="")
        if row.false.strip():
            changes = changes_between(row.text, row.false)
            if row.changes or _is_open(row) or not changes:
                why = "beside `changes`" if row.changes else "without another text that is true"
                yield line, f"false: {row.false!r} stands {why}"
            else:
                yield (
                    line,
                    msgspec.structs.replace(row, text=row.false, card_id="", false="", changes=changes),
                )


def _shot(row: SceneRow, shots: Sequence[Shot]) -> Shot | str:
    if bool(row.shot_id) == (row.at_s is not None):
        return "the shot must be named by shot_id or by at_s, one of them"
    for shot in shots:
        is_moved = row.start_s is not None and abs(row.start_s - shot.start_s) > _SAME_START_S
        if shot.shot_id == row.shot_id and is_moved:
            return (
                f"start_s: {shot.shot_id} begins at {shot.start_s:.3f} s, and not at {row.start_s:.3f} s: "
                "the shots have changed since the sheet was written; write it anew, and take over the "
                "sentences"
            )
        if shot.shot_id == row.shot_id or (row.at_s is not None and shot.start_s <= row.at_s < shot.end_s):
            return shot
    if row.shot_id:
        return f"there is no shot {row.shot_id!r}; there are {len(shots)}"
    end = max((shot.end_s for shot in shots), default=0.0)
    return f"no shot is on screen at {row.at_s} s; the shots end at {end:.2f} s"


def _gather(
    path: Path,
    rows: Iterator[tuple[int, RowT | str]],
    make: Callable[[RowT], MadeT | _Stale | str],
    *,
    strict: bool,
) -> FromFile[MadeT]:
    cards: list[MadeT] = []
    problems: list[str] = []
    stale: list[str] = []
    for line, row in rows:
        made = row if isinstance(row, str) else make(row)
        if isinstance(made, _Stale):
            stale.append(f"{path.name}:{line}: not used: {made.why}")
        elif isinstance(made, str):
            problems.append(f"{path.name}:{line}: {made}")
        else:
            cards.append(made)
    if problems and (strict or not (cards or stale)):
        raise DataError(f"{first_lines([str(path.parent / one) for one in problems])}; correct the file")
    if not cards and not stale:
        raise DataError(f"{path} holds no card; expected one on each line")
    return FromFile(cards=tuple(cards), problems=tuple(problems), stale=tuple(stale))


def _rows(path: Path, kind: type[RowT], needed: tuple[str, ...]) -> Iterator[tuple[int, RowT | str]]:
    """Every line that is not blank, with its number from 1: the row, or what is wrong with it."""
    ending = path.suffix.lower()
    if ending not in (*_JSON_ENDINGS, ".csv"):
        raise DataError(
            f"{path} ends in {ending or 'nothing'}; expected a file of cards ending in .jsonl or .csv"
        )
    try:
        file = DataFile(path=path, content=path.read_text("utf-8-sig").encode())
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"{path} cannot be read as UTF-8 text: {error}") from error
    if ending != ".csv":
        for line, raw in lines(file):
            yield int(line), _made(partial(msgspec.json.decode, raw, type=kind))
        return
    known = sorted(set(kind.__annotations__) - {"changes"})
    for line, row in csv_rows(file, needed=needed, known=known, delimiters=",;\t"):
        if isinstance(row, FieldError):
            yield int(line), str(row)
        else:
            given = {name: cell for name, cell in row.items() if cell or name in needed}
            frames = {"frames": given["frames"].split()} if "frames" in given else {}
            yield int(line), _made(partial(msgspec.convert, given | frames, kind, strict=False))


def _made(read: Callable[[], RowT]) -> RowT | str:
    """The row, or what is wrong with it."""
    try:
        return read()
    except (msgspec.DecodeError, RecursionError) as error:
        return str(error)
