"""Scene cards that people wrote: JSON lines, CSV, or a sheet with a row for each shot."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import msgspec

from vidence.ask.files import FieldError
from vidence.errors import DataError
from vidence.make.herbench.cards.card_files import WRITER
from vidence.make.herbench.cards.falsifying import changes_between, check_changes
from vidence.make.herbench.cards.scenes import read_sentence
from vidence.make.pipeline.material import SceneCard
from vidence.make.pipeline.writer import Objection
from vidence.make.review.people.checks import check_of_shot
from vidence.make.review.people.rows import SceneRow, Unused, each_row, is_about
from vidence.seeing.shooting import Shot

SCENE_COLUMNS: Final = ("video_id", "shot_id", "start_s", "end_s", "text", "false", "note")
_SAME_START_S: Final = 0.05


@dataclass(frozen=True, kw_only=True)
class ScenesOfFile:
    """The scene cards of a file; `unused` are rows on shots that have changed, and bad false sentences."""

    cards: tuple[SceneCard, ...]
    unused: tuple[Unused, ...] = ()


def read_scene_cards(
    path: Path, *, shots: Sequence[Shot], video_id: str = "", others: Collection[str] | None = ()
) -> ScenesOfFile:
    """Scene cards, with the fields of `SceneRow`.

    A text must be one sentence, and a false card that differs from the true one in more than its changes
    (`check_changes`) is not used. Rows of a sheet (`SCENE_COLUMNS`) that were not filled in say nothing.

    Args:
        path: a file ending in .jsonl, or a CSV file.
        shots: the shots of the video.
        video_id: the video; empty if nobody knows, and then any is right.
        others: the other videos that the file may speak of, whose lines are left out; None for any.

    Raises:
        DataError: as for `each_row`; a row cannot be used; or there is neither a card nor a row to fill in.
    """
    read = _Scenes(path.name, shots)

    def take(row: SceneRow) -> None:
        if is_about(row, video_id, others=others):
            read.take(row)

    each_row(path, SceneRow, take)
    if not (read.cards or read.unused or read.n_open):
        raise DataError(f"{path} holds no card; expected one on each line")
    return ScenesOfFile(cards=tuple(read.cards.values()), unused=tuple(read.unused))


class _Scenes:
    """What was read of a file so far: cards by shot and kind."""

    def __init__(self, file: str, shots: Sequence[Shot]) -> None:
        self._file, self._shots = file, shots
        self.cards: dict[tuple[str, str], SceneCard] = {}
        self.unused: list[Unused] = []
        self.n_open = 0

    def take(self, row: SceneRow) -> None:
        """Take a row: the card of its text, and that of its false sentence.

        Raises:
            FieldError: it cannot be used.
        """
        is_open = _is_open(row)
        if row.changes and not is_open:
            self._add_false(row)
        elif not is_open:
            self._add(row)
        if not row.false.strip():
            self.n_open += is_open
            return
        changes = changes_between(row.text, row.false)
        if row.changes or is_open or not changes:
            why = "beside `changes`" if row.changes else "without another text that is true"
            raise FieldError("false", f"{row.false!r} stands {why}")
        self._add_false(msgspec.structs.replace(row, text=row.false, card_id="", changes=changes))

    def _add_false(self, row: SceneRow) -> None:
        try:
            self._add(row)
        except FieldError as error:
            self.unused.append(Unused(where=row.where, why=f"the false sentence: {error.reason}"))

    def _add(self, row: SceneRow) -> None:
        shot = next((entry for entry in self._shots if row.check and check_of_shot(entry) == row.check), None)
        if row.check and shot is None:
            self.unused.append(Unused(where=row.where, why="the shot has changed since; describe it again"))
            return
        shot = shot or _shot(row, self._shots)  # the first is it, whatever its number is by now
        text, what = read_sentence(row.text), "false" if row.changes else "true"
        if isinstance(text, Objection):
            raise FieldError("text", text.detail)
        if (shot.shot_id, what) in self.cards:
            raise FieldError("shot_id", f"the shot {shot.shot_id} has a {what} card already")
        if row.changes:
            self._check_false(row, text, shot)
        self.cards[shot.shot_id, what] = SceneCard(
            card_id=row.card_id or f"{shot.shot_id}-{what}",
            shot_id=shot.shot_id,
            text=text,
            changes=row.changes,
            frames=row.frames,
            writer=row.writer or (self._file if row.start_s is None else WRITER),
        )

    def _check_false(self, row: SceneRow, text: str, shot: Shot) -> None:
        true = self.cards.get((shot.shot_id, "true"))
        if true is None:
            why = f"the true card of the shot {shot.shot_id} has to stand before its false one"
            raise FieldError("changes", why)
        taken = [card.text for card in self.cards.values()]
        if (wrong := check_changes(true.text, text, row.changes, taken=taken)) is not None:
            raise FieldError("changes", wrong.detail)


def are_described(path: Path, video_id: str) -> bool:
    """Whether a file of scene cards has a text on a video, whatever it is worth.

    Raises:
        DataError: it cannot be read, or has rows that cannot be used.
    """
    texts: list[str] = []

    def take(row: SceneRow) -> None:
        if row.video_id in {"", video_id} and row.text.strip():
            texts.append(row.text)

    each_row(path, SceneRow, take)
    return bool(texts)


def _is_open(row: SceneRow) -> bool:
    """Whether a row of a sheet is still to be filled in."""
    return row.start_s is not None and not row.text.strip()


def _shot(row: SceneRow, shots: Sequence[Shot]) -> Shot:
    """The shot that a row names.

    Raises:
        FieldError: there is none, or it begins at another time.
    """
    if bool(row.shot_id) == (row.at_s is not None):
        raise FieldError("shot_id", "the shot must be named by shot_id or by at_s, one of them")
    for shot in shots:
        is_moved = row.start_s is not None and abs(row.start_s - shot.start_s) > _SAME_START_S
        if shot.shot_id == row.shot_id and is_moved:
            raise FieldError(
                "start_s",
                f"{shot.shot_id} begins at {shot.start_s:.3f} s, and not at {row.start_s:.3f} s: the shots "
                "have changed since the sheet was written; write it again, and take over the sentences",
            )
        if shot.shot_id == row.shot_id or (row.at_s is not None and shot.start_s <= row.at_s < shot.end_s):
            return shot
    if row.shot_id:
        raise FieldError("shot_id", f"there is no shot {row.shot_id!r}; there are {len(shots)}")
    end = max((shot.end_s for shot in shots), default=0.0)
    raise FieldError("at_s", f"no shot is on screen at {row.at_s} s; the shots end at {end:.2f} s")
