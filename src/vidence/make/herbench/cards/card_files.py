"""Cards that people wrote: lists in JSON lines or CSV, and sheets with a row for each track."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from vidence.ask.files import FieldError
from vidence.errors import DataError
from vidence.make.pipeline.material import Card
from vidence.make.review.people.rows import CardRow, CardSheetRow, Unused, each_row, is_about

_KINDS: Final[Mapping[str, Literal["A", "B"]]] = {"a": "A", "appearance": "A", "b": "B", "path": "B"}
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
    "actions": "what they do and which people they meet, in whole sentences",
}
FITS: Final = "fits"
TO_FILL: Final = (*APPEARANCE, *PATH, FITS, "note")
BY_PEOPLE: Final = "people"
WRITER: Final = "a person"
NOBODY: Final = "none"


@dataclass(frozen=True, kw_only=True)
class CardsOfFile:
    """The cards of a file; `stale` rows are about tracks that have changed since, `n_open` have no text."""

    cards: tuple[Card, ...]
    stale: tuple[Unused, ...] = ()
    n_open: int = 0


def read_cards(
    path: Path, *, tracks: Collection[str] | None = None, checks: Mapping[str, str] | None = None
) -> CardsOfFile:
    """Cards out of a list, a row for each: ``track_id``, ``kind``, ``text``, perhaps ``frames``, ``writer``.

    Args:
        path: a file ending in .jsonl, or a CSV file.
        tracks: the ids of the tracks available; None for any.
        checks: what changes with each track; a row whose `check` no track has is stale, and no error.

    Raises:
        DataError: as for `each_row`; a row has an empty text, a track that there is not, or is the second of
            a kind for its track; or there is no card.
    """
    cards: dict[tuple[str, str], Card] = {}
    numbers: dict[tuple[str, str], str] = {}
    stale: list[Unused] = []

    def take(row: CardRow) -> None:
        kind = _KINDS.get(row.kind.strip().casefold())
        text = " ".join(row.text.split())
        if kind is None:
            raise FieldError("kind", f"{row.kind!r} found; expected A (appearance) or B (path)")
        if not text:
            raise FieldError("text", "it is empty; expected two to four sentences")
        name = row.track_id
        if checks is not None and row.check and checks.get(name) != row.check:
            # Other cuts give a track another number; its cards are known by its frames and boxes.
            name = next((now for now, check in checks.items() if check == row.check), "")
        if not name:
            why = f"the track {row.track_id} has changed since; write its card again"
            stale.append(Unused(where=row.where, why=why))
            return
        _check_track(name, tracks)
        if numbers.get((name, kind)) == row.track_id:
            raise FieldError("kind", f"the track {name} has a card of the kind {kind} already")
        if numbers.setdefault((name, kind), row.track_id) != name or row.track_id == name:
            numbers[name, kind], writer = row.track_id, row.writer or path.name
            cards[name, kind] = Card(track_id=name, kind=kind, text=text, frames=row.frames, writer=writer)

    each_row(path, CardRow, take)
    if not cards and not stale:
        raise DataError(f"{path} holds no card; expected one on each line")
    return CardsOfFile(cards=tuple(cards.values()), stale=tuple(stale))


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
) -> CardsOfFile:
    """The cards of one video out of a sheet. Rows without a word are counted; a row may have one card of two.

    Args:
        path: a sheet, of whose columns ``track_id`` is needed.
        video_id: the video.
        tracks: the tracks that questions may be about.
        everybody: all tracks that a description may fit, those that programs left out, too.
        checks: what changes with the boxes of each track.
        others: the other videos that the sheet may speak of; None for any.

    Raises:
        DataError: as for `each_row`; a row has a track that there is not, or that has changed since, is the
            second of a track, or is on another video.
    """
    cards: list[Card] = []
    seen: dict[str, str] = {}
    n_open = 0

    def take(row: CardSheetRow) -> None:
        nonlocal n_open
        if not is_about(row, video_id, others=others):
            return
        if row.track_id in seen:
            raise FieldError("track_id", f"a second row for {row.track_id}, after line {seen[row.track_id]}")
        seen[row.track_id] = row.where.rpartition(":")[2]
        if not _kinds_of(row):
            n_open += 1
            if row.fits:
                raise FieldError(FITS, f"{row.fits!r} found for a row without a description")
            return
        _check_track(row.track_id, tracks)
        if row.check and row.check != checks.get(row.track_id, row.check):
            raise FieldError(
                "check",
                f"the track {row.track_id} differs from the one on the sheet: the video, its boxes, or "
                "corrections have changed since; write new sheets to another folder (--sheets), "
                "and copy the rows with unchanged pictures",
            )
        cards.extend(_cards(row, everybody=everybody))

    each_row(path, CardSheetRow, take)
    return CardsOfFile(cards=tuple(cards), n_open=n_open)


def kinds_in(path: Path, video_id: str) -> set[str]:
    """The kinds of cards that a list or a sheet has of a video: ``A``, ``B``, both or none.

    Raises:
        DataError: it cannot be read, or has rows that cannot be used.
    """
    if not is_sheet(path):
        return {card.kind for card in read_cards(path).cards}
    names: set[str] = set()

    def take(row: CardSheetRow) -> None:
        if row.video_id in {"", video_id}:
            names.update(_kinds_of(row))

    each_row(path, CardSheetRow, take)
    return names


def _kinds_of(row: CardSheetRow) -> set[str]:
    """The kinds of cards that have words by a person."""
    texts = {"A": APPEARANCE, "B": PATH}
    return {kind for kind, cells in texts.items() if any(getattr(row, name) for name in cells)}


def _check_track(track_id: str, tracks: Collection[str] | None) -> None:
    if tracks is not None and track_id not in tracks:
        known = ", ".join(list(tracks)[:5]) or "none"
        raise FieldError(
            "track_id", f"there is no track {track_id!r}; there are {len(tracks)} ({known}, ...)"
        )


def _cards(row: CardSheetRow, *, everybody: Collection[str]) -> list[Card]:
    fits = _fits(row.fits, everybody)
    appearance = _appearance(row)
    path = " ".join(_sentence(text) for text in (row.path, row.actions) if text)
    cards: list[Card] = []
    if appearance:
        card = Card(
            track_id=row.track_id,
            kind="A",
            text=appearance,
            writer=WRITER,
            fits=fits or (),
            identified_by=BY_PEOPLE if fits is not None else "",
        )
        cards.append(card)
    elif fits is not None:
        raise FieldError(FITS, f"{row.fits!r} found for a row that does not say what the person looks like")
    if path:
        cards.append(Card(track_id=row.track_id, kind="B", text=path, writer=WRITER))
    return cards


def _fits(message: str, tracks: Collection[str]) -> tuple[str, ...] | None:
    """Return the tracks that a description fits, in the order of `tracks`; None if untested."""
    if not message:
        return None
    if message.casefold() == NOBODY:
        return ()
    named = message.replace(",", " ").replace(";", " ").split()
    if unknown := [name for name in named if name not in tracks]:
        raise FieldError(
            FITS,
            f"there is no track {unknown[0]!r}; expected the ids of all tracks that the description fits, "
            f"{NOBODY}, or nothing if not tried yet",
        )
    return tuple(name for name in tracks if name in named)


def _appearance(row: CardSheetRow) -> str:
    """The A-card of a row: sentences of its cells, and then what was written freely.

    >>> _appearance(CardSheetRow(track_id="1", person="a tall man", hair="short hair"))
    'A tall man with short hair.'
    """
    cell = {name: getattr(row, name).rstrip(" .,;") for name in APPEARANCE}
    messages: list[str] = []
    if cell["person"] or cell["hair"]:
        who = cell["person"] or "A person"
        messages.append(f"{who} with {cell['hair']}" if cell["hair"] else who)
    if worn := [cell[name] for name in ("upper_body", "lower_body", "footwear") if cell[name]]:
        messages.append(
            f"Wears {', '.join(worn[:-1])} and {worn[-1]}" if len(worn) > 1 else f"Wears {worn[0]}"
        )
    if cell["carries"]:
        messages.append(f"Has {cell['carries']}")
    return " ".join(map(_sentence, [*messages, *filter(None, (row.appearance,))]))


def _sentence(text: str) -> str:
    sentence = " ".join(text.split())
    sentence = sentence[:1].upper() + sentence[1:]
    return sentence if sentence.endswith((".", "!", "?")) else f"{sentence}."
