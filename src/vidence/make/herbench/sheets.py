"""Sheets: what people look at and fill in, written for every video behind watching it."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from vidence.errors import StoreError, UsageError
from vidence.make.herbench.cards.card_files import TO_FILL
from vidence.make.herbench.cards.crops import CropRules
from vidence.make.herbench.cards.people_sheets import (
    CARDS_FILE,
    DATA_FILE,
    PAGE_FILE,
    SCENES_FILE,
    SHOTS_FILE,
    TRACKS_FILE,
    SheetShot,
    VideoSheet,
    cards_csv,
    data_json,
    is_begun,
    page,
    scenes_csv,
    sheet_track,
    shots_csv,
    tracks_csv,
)
from vidence.make.herbench.people import rows_of
from vidence.make.herbench.session import HerbenchSession, VideoState
from vidence.make.pipeline.material import Crop
from vidence.make.review.people.checks import check_of_everybody
from vidence.make.review.people.rows import TrackRow
from vidence.media.encode import Size
from vidence.media.video import FrameProblem
from vidence.media.whole import write_whole
from vidence.seeing.shooting import Shot
from vidence.seeing.tracks import listed_others

_MOST_SHOWN_SHOTS = 400
_SHOT_PX = 320
_FOLDERS = ("/", "\\", "..")


@dataclass(frozen=True, kw_only=True)
class Sheets:
    """The files that were written, and words for the user."""

    files: tuple[Path, ...] = ()
    sentences: tuple[str, ...] = ()


def write_sheets(work: HerbenchSession, videos: Sequence[VideoState], folder: Path) -> Sheets:
    """Write the sheets of all videos that are here: for each a folder with a page, its data, and tables.

    One table of rows on tracks is for all videos: a folder of people's rows. A table that was begun stays as
    it is, and is named. A table of shots is written where the configuration names none.

    Raises:
        UsageError: the id of a video is no name of a folder.
        StoreError: the folder cannot be written.
    """
    files: list[Path] = []
    said: list[str] = []
    sheets: list[VideoSheet] = []
    for one in videos:
        if one.source.file is None or not (one.material.tracked or one.material.shots):
            said.append(f"{one.video_id} has no sheet: {_why(one)}")
            continue
        if any(part in one.video_id for part in _FOLDERS):
            raise UsageError(f"the video id {one.video_id!r} is no name of a folder; give another video_id")
        mine = folder / one.video_id
        sheet = _sheet(work, one)
        try:
            files += _write(work, sheet, mine, said=said)
        except OSError as error:
            raise StoreError(
                f"{mine} cannot be written ({error.strerror or error}); say another folder"
            ) from error
        sheets.append(sheet)
    to_check = [one for one in sheets if one.tracks and not one.is_given]
    if to_check:
        files += _fill_in(folder / TRACKS_FILE, tracks_csv(to_check), filled=("act", "by"), said=said)
    made = sum(path.name == PAGE_FILE for path in files)
    words = f"{made:,} sheet{'' if made == 1 else 's'} to fill in."
    return Sheets(files=tuple(files), sentences=(words, *said))


def _why(one: VideoState) -> str:
    reasons = dict.fromkeys(one.absent[part] for part in ("tracked", "shots") if part in one.absent)
    return "; ".join(reasons) or "it has neither tracks nor shots"


def _fill_in(path: Path, data: bytes, *, filled: tuple[str, ...], said: list[str]) -> list[Path]:
    """Write a table to fill in; one that was begun stays, and `said` says so."""
    if is_begun(path, data, filled=filled):
        said.append(f"{path} was begun and stays as it is")
        return []
    write_whole(path, data)
    return [path]


def _write(work: HerbenchSession, sheet: VideoSheet, folder: Path, *, said: list[str]) -> list[Path]:
    shots = work.config.shots
    tables: list[tuple[str, bytes, tuple[str, ...]]] = []
    if sheet.tracks:
        tables.append((CARDS_FILE, cards_csv(sheet), TO_FILL))
    if sheet.shots and shots is not None and not shots.file:
        tables.append((SHOTS_FILE, shots_csv(sheet), ()))
    if len(sheet.shots) > 1:
        tables.append((SCENES_FILE, scenes_csv(sheet), ("text", "false", "note")))
    written: list[Path] = []
    for name, data, filled in tables:
        written += _fill_in(folder / name, data, filled=filled, said=said)
    write_whole(folder / DATA_FILE, data_json(sheet))
    write_whole(folder / PAGE_FILE, page(sheet, picture=work.pictures.get).encode())
    return [*written, folder / DATA_FILE, folder / PAGE_FILE]


def _sheet(work: HerbenchSession, one: VideoState) -> VideoSheet:
    source, tracked = one.source.video, one.material.tracked
    tracks = []
    if tracked is not None:
        left_out = listed_others(tracked.others, tracked)
        known = {track.track_id: track for track in tracked.tracks}
        chosen = [known[name] for name in one.material.chosen]
        rest = [track for track in tracked.tracks if track.track_id not in one.material.chosen]
        for track in (*chosen, *rest, *left_out):
            name = track.track_id
            shown = one.pictures.get(name)
            pictures = {"portraits": one.portraits.get(name, ())}
            if shown is not None:
                pictures |= {"looks": shown.appearance, "way": shown.path, "frames": shown.frames}
            tracks.append(
                sheet_track(
                    track,
                    tracked,
                    is_picked=name in one.material.chosen,
                    is_left_out=name not in known,
                    pictures=pictures,
                )
            )
    return VideoSheet(
        video_id=one.video_id,
        path=source.path,
        sha256=source.sha256,
        fps=source.fps,
        n_frames=source.n_frames,
        width_px=source.width_px,
        height_px=source.height_px,
        is_reviewed=bool(rows_of(work, TrackRow, one.video_id)),
        check="" if tracked is None else check_of_everybody(tracked),
        is_given=bool(one.source.rule.tracks),
        tracks=tuple(tracks),
        shots=_shots(work, one),
    )


def _shots(work: HerbenchSession, one: VideoState) -> tuple[SheetShot, ...]:
    """The shots with pictures of their first clear frame, middle and end, as far as these can be read."""
    shots, video = one.material.shots, one.open(work)
    if not shots or video is None:
        return ()
    shown = {shot.shot_id: _frames_of(shot) for shot in shots[:_MOST_SHOWN_SHOTS]}
    quality = CropRules().quality

    def keep(index: int, picture: NDArray[np.uint8]) -> Crop:
        return work.pictures.keep(picture, frame_index=index, quality=quality)

    size = Size(kind="long", pixels=_SHOT_PX)
    read = video.read(sorted({index for some in shown.values() for index in some}), keep, size=size)
    return tuple(
        SheetShot(
            shot=shot,
            pictures=tuple(
                crop
                for index in shown.get(shot.shot_id, ())
                if not isinstance(crop := read[index], FrameProblem)
            ),
        )
        for shot in shots
    )


def _frames_of(shot: Shot) -> tuple[int, ...]:
    return tuple(
        dict.fromkeys((shot.clear_frame, (shot.clear_frame + shot.last_frame) // 2, shot.last_frame))
    )
