"""Cards that people fill in on a sheet, one row a track: the columns, and the cards that come of a row."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from vidence.ask.files import FieldError, csv_rows, read
from vidence.make.herbench.cards.correction_files import each_row
from vidence.make.pipeline.material import Card

ABOUT: Final = (
    *("video_id", "track_id", "check", "picked", "first_frame", "last_frame", "first_s", "last_s"),
    *("begins", "ends"),
)
# What is filled in, in words for whoever does.
APPEARANCE: Final[Mapping[str, str]] = {
    "person": "who, in a few words: a tall man, a girl of about ten",
    "hair": "short dark hair; a cap counts as hair where none is seen",
    "upper_body": "a black jacket over a white shirt",
    "lower_body": "blue jeans",
    "footwear": "white trainers",
    "carries": "a red rucksack",
    "appearance": "anything else, or instead of the cells before: two to four whole sentences",
}
PATH: Final[Mapping[str, str]] = {
    "path": "which way they go: two to four whole sentences, with no word of how they look",
    "actions": "what they do and whom they meet: whole sentences",
}
FITS, NOTE = "fits", "note"
TO_FILL: Final = (*APPEARANCE, *PATH, FITS, NOTE)
COLUMNS: Final = (*ABOUT, *TO_FILL)
BY_PEOPLE: Final = "people"
WRITER: Final = "a person"
NOBODY: Final = "none"


@dataclass(frozen=True, kw_only=True)
class Filled:
    """The cards of one video out of a sheet; `n_open` rows have no text."""

    cards: tuple[Card, ...]
    n_open: int


def is_sheet(path: Path) -> bool:
    """Whether a file of cards is a sheet: its first line has columns that only a sheet has."""
    if path.suffix.lower() != ".csv":
        return False
    try:
        first = path.read_bytes().decode("utf-8-sig", errors="replace").partition("\n")[0]
    except OSError:
        return False  # whoever reads it as a list of cards says what is wrong
    named = {cell.strip().strip('"') for cell in first.replace(";", ",").replace("\t", ",").split(",")}
    return "kind" not in named and bool({"track_id", *APPEARANCE, *PATH} & named)


def read_filled(
    path: Path,
    video_id: str,
    *,
    tracks: Collection[str],
    everybody: Collection[str],
    checks: Mapping[str, str],
    others: Collection[str] | None = (),
) -> Filled:
    """The cards of one video. Rows without a word are counted; a row may have one card of two.

    Args:
        path: a sheet, with the columns `COLUMNS`, of which ``track_id`` is needed.
        video_id: the video.
        tracks: the tracks that somebody may be asked about.
        everybody: all tracks that a description may fit, those that programs left out, too.
        checks: what changes with the boxes of each track.
        others: the other videos that the sheet may speak of; None for any.

    Raises:
        DataError: the file cannot be read, has an unknown column, or rows that cannot be used: a track that
            there is not, or that has changed since, a second row for one, another video. Each is named with
            its line.
    """
    cards: list[Card] = []
    seen: dict[str, str] = {}
    n_open = 0

    def take(where: str, row: Mapping[str, str]) -> None:
        nonlocal n_open
        track_id = row["track_id"]
        if track_id in seen:
            raise FieldError("track_id", f"a second row for {track_id}, after line {seen[track_id]}")
        seen[track_id] = where.rpartition(":")[2]
        if any(row.get(name, "") for name in (*APPEARANCE, *PATH)):
            _check_track(track_id, tracks=tracks, check=row.get("check", ""), checks=checks)
            cards.extend(_cards(row, everybody=everybody))
            return
        n_open += 1
        if row.get(FITS):
            raise FieldError(FITS, f"{row[FITS]!r} found for a row without a description")

    file = read(path, what="cards")
    each_row(file, take, needed=("track_id",), known=COLUMNS, video_id=video_id, others=others)
    return Filled(cards=tuple(cards), n_open=n_open)


def kinds_in(path: Path, video_id: str) -> set[str]:
    """The kinds of cards that a sheet has of a video: ``A``, ``B``, both or none.

    Raises:
        DataError: it cannot be read, or has columns that no sheet has.
    """
    found: set[str] = set()
    rows = csv_rows(read(path, what="cards"), needed=("track_id",), known=COLUMNS, delimiters=",;\t")
    for _, row in rows:
        if isinstance(row, FieldError) or row.get("video_id", "") not in ("", video_id):
            continue
        found |= {
            kind for kind, cells in (("A", APPEARANCE), ("B", PATH)) if any(row.get(name) for name in cells)
        }
    return found


def _check_track(track_id: str, *, tracks: Collection[str], check: str, checks: Mapping[str, str]) -> None:
    if track_id not in tracks:
        known = ", ".join(list(tracks)[:5]) or "none"
        raise FieldError(
            "track_id", f"there is no track {track_id!r}; there are {len(tracks)} ({known}, ...)"
        )
    if check and check != checks.get(track_id, check):
        raise FieldError(
            "check",
            f"the track {track_id} is another one than the sheet shows: the video, its boxes, or "
            "corrections have changed since; write the sheets anew into another folder (--sheets), "
            "and take over the rows whose pictures are the same",
        )


def _cards(row: Mapping[str, str], *, everybody: Collection[str]) -> list[Card]:
    track_id = row["track_id"]
    fits = _fits(row.get(FITS, ""), everybody)
    texts = {"A": _appearance(row), "B": " ".join(_sentence(row[name]) for name in PATH if row.get(name))}
    made: list[Card] = []
    if texts["A"]:
        by = BY_PEOPLE if fits is not None else ""
        card = Card(
            track_id=track_id, kind="A", text=texts["A"], writer=WRITER, fits=fits or (), identified_by=by
        )
        made.append(card)
    elif fits is not None:
        raise FieldError(FITS, f"{row[FITS]!r} found for a row that does not say what the person looks like")
    if texts["B"]:
        made.append(Card(track_id=track_id, kind="B", text=texts["B"], writer=WRITER))
    return made


def _fits(said: str, tracks: Collection[str]) -> tuple[str, ...] | None:
    """The tracks that a description fits, in the order of `tracks`; None where nobody has tried it."""
    if not said:
        return None
    if said.casefold() == NOBODY:
        return ()
    named = said.replace(",", " ").replace(";", " ").split()
    if unknown := [name for name in named if name not in tracks]:
        raise FieldError(
            FITS,
            f"there is no track {unknown[0]!r}; expected the ids of all tracks that the description fits, "
            f"{NOBODY}, or nothing where nobody has tried",
        )
    return tuple(name for name in tracks if name in named)


def _appearance(row: Mapping[str, str]) -> str:
    """The A-card of a row: sentences of its cells, and then what was written freely.

    >>> _appearance({"person": "a tall man", "hair": "short hair", "upper_body": "a red coat"})
    'A tall man with short hair. Wears a red coat.'
    """
    cell = {name: row.get(name, "").rstrip(" .,;") for name in APPEARANCE}
    said: list[str] = []
    if cell["person"] or cell["hair"]:
        who = cell["person"] or "A person"
        said.append(f"{who} with {cell['hair']}" if cell["hair"] else who)
    worn = [cell[name] for name in ("upper_body", "lower_body", "footwear") if cell[name]]
    if worn:
        said.append(f"Wears {', '.join(worn[:-1])} and {worn[-1]}" if len(worn) > 1 else f"Wears {worn[0]}")
    if cell["carries"]:
        said.append(f"Has {cell['carries']}")
    free = row.get("appearance", "")
    return " ".join([*map(_sentence, said), *([_sentence(free)] if free else [])])


def _sentence(text: str) -> str:
    said = " ".join(text.split())
    said = said[:1].upper() + said[1:]
    return said if said.endswith((".", "!", "?")) else f"{said}."
