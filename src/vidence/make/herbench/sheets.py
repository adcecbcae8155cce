"""Sheets for people to fill in, written for every watched video."""

import base64
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

import msgspec
import numpy as np
from numpy.typing import NDArray

from vidence.errors import StoreError, UsageError, cause
from vidence.make.herbench.cards.card_files import APPEARANCE, FITS, PATH, TO_FILL
from vidence.make.herbench.cards.crops import CropRules
from vidence.make.herbench.cards.scene_files import SCENE_COLUMNS
from vidence.make.herbench.cards.screening import MARK
from vidence.make.herbench.people import rows_of
from vidence.make.herbench.session import HerbenchSession, VideoState
from vidence.make.pipeline.material import Crop
from vidence.make.review.people.checks import check_of_everybody, check_of_shots
from vidence.make.review.people.rows import EVERYBODY, Act, CardSheetRow, ShotRow, TrackRow, columns
from vidence.make.review.sheets import has_writing, sheet_bytes
from vidence.media.encode import Size
from vidence.media.video import FrameProblem
from vidence.media.whole import write_whole
from vidence.records import Record
from vidence.seeing.shooting import Shot
from vidence.seeing.tracks import Track, TrackedVideo, listed_others, track_check
from vidence.tables.rendering import render

_FILES: Final = {"cards": "cards.csv", "tracks": "tracks.csv", "shots": "shots.csv", "scenes": "scenes.csv"}
_MOST_SHOWN_SHOTS = 400
_SHOT_PX = 320
_FOLDERS = ("/", "\\", "..")
_ROWS: Final = ("top", "middle", "bottom")
_COLUMNS: Final = ("left", "centre", "right")


class SheetTrack(Record):
    """One track as a sheet shows it; pictures are named by their digests, in time order.

    `looks` are crops from both ends, `way` crops from the middle, `frames` whole frames with the box drawn
    in: those of the writer of cards, for picked tracks. `portraits` are there for everybody. No model is
    asked about a track that a program left out.
    """

    track_id: str
    check: str
    is_picked: bool
    is_left_out: bool
    first_frame: int
    last_frame: int
    first_s: float
    last_s: float
    begins: str
    """In which part of the frame."""
    ends: str
    portraits: tuple[Crop, ...] = ()
    looks: tuple[Crop, ...] = ()
    way: tuple[Crop, ...] = ()
    frames: tuple[Crop, ...] = ()


class SheetShot(Record):
    """One shot as a sheet shows it; pictures of its first clear frame, its middle and its last."""

    shot: Shot
    pictures: tuple[Crop, ...] = ()


class VideoSheet(Record):
    """The sheet of one video. Pictures are in the folder ``pictures`` of the dataset.

    `check` is of all tracks together; `is_reviewed` where corrections of people are in effect, `is_given`
    where people gave the tracks.
    """

    format: str = "vidence-sheet/1"
    video_id: str
    path: str
    sha256: str
    fps: float
    n_frames: int
    width_px: int
    height_px: int
    is_reviewed: bool = False
    is_given: bool = False
    check: str = ""
    tracks: tuple[SheetTrack, ...] = ()
    shots: tuple[SheetShot, ...] = ()


def write_sheets(work: HerbenchSession, videos: Sequence[VideoState], folder: Path) -> None:
    """Write the sheets of all videos that are here: for each a folder with a page, its data, and tables.

    The tables of rows on tracks and on cuts are for all videos: a folder of people's rows. A table that was
    begun stays as it is, and is named.

    Raises:
        UsageError: the id of a video is no name of a folder.
        StoreError: the folder cannot be written.
    """
    notes: list[str] = []
    sheets: list[VideoSheet] = []
    for state in videos:
        if state.source.file is None or not (state.material.tracked or state.material.shots):
            notes.append(f"{state.video_id} has no sheet: {_why(state)}")
            continue
        if any(part in state.video_id for part in _FOLDERS):
            raise UsageError(f"the video id {state.video_id!r} is no name of a folder; give another video_id")
        mine = folder / state.video_id
        sheet = _sheet(work, state)
        try:
            work.files += _write(work, sheet, mine, notes=notes)
        except OSError as error:
            raise StoreError(f"{mine} cannot be written ({cause(error)}); say another folder") from error
        sheets.append(sheet)
    to_check = [sheet for sheet in sheets if not sheet.is_given]
    tables: dict[type[TrackRow | ShotRow], list[list[str]]] = {
        TrackRow: [line for sheet in to_check for line in _track_lines(sheet)],
        ShotRow: [line for sheet in sheets for line in _shot_lines(sheet)],
    }
    for kind, rows in tables.items():
        if rows:
            table = sheet_bytes([columns(kind), *rows])
            work.files += _fill_in(folder / kind.file, table, filled=("act", "by"), notes=notes)
    work.sentences += [f"{len(sheets):,} sheet{'' if len(sheets) == 1 else 's'} to fill in.", *notes]


def _why(state: VideoState) -> str:
    reasons = dict.fromkeys(state.absent[part] for part in ("tracked", "shots") if part in state.absent)
    return "; ".join(reasons) or "it has neither tracks nor shots"


def _fill_in(path: Path, data: bytes, *, filled: tuple[str, ...], notes: list[str]) -> list[Path]:
    """Write a table to fill in; one that was begun stays, and `notes` say so."""
    if has_writing(path, data, filled=filled):
        notes.append(f"{path} was begun and stays as it is")
        return []
    write_whole(path, data)
    return [path]


def _write(work: HerbenchSession, sheet: VideoSheet, folder: Path, *, notes: list[str]) -> list[Path]:
    """Write the tables to fill in, what the page shows for programs, and the page."""
    shots = [shot.shot for shot in sheet.shots]
    written: list[Path] = []
    if sheet.tracks:
        people = [track for track in sheet.tracks if not track.is_left_out]
        rows = [[*_about(sheet, track), *([""] * len(TO_FILL))] for track in people]
        table = sheet_bytes([columns(CardSheetRow), *rows])
        written += _fill_in(folder / _FILES["cards"], table, filled=TO_FILL, notes=notes)
    if len(shots) > 1:
        table = scenes_csv(sheet.video_id, shots)
        written += _fill_in(folder / _FILES["scenes"], table, filled=("text", "false", "note"), notes=notes)
    data, seen = folder / "sheet.json", folder / "sheet.html"
    write_whole(data, msgspec.json.format(msgspec.json.encode(sheet), indent=1) + b"\n")
    write_whole(seen, page(sheet, picture=work.pictures.get).encode())
    return [*written, data, seen]


def _track_lines(sheet: VideoSheet) -> list[list[str]]:
    """A row for each track of a video, and one for all of it together."""
    if not sheet.tracks:
        return []
    rows = [
        (track.track_id, track.check, f"{track.first_s:.1f} to {track.last_s:.1f} s")
        for track in sheet.tracks
    ]
    everybody = (EVERYBODY, sheet.check, "")
    return [[sheet.video_id, check, name, "", "", note] for name, check, note in (*rows, everybody)]


def _shot_lines(sheet: VideoSheet) -> list[list[str]]:
    """A row for each cut of a video, and for each shot, with the check that an act there has."""
    shots = [shot.shot for shot in sheet.shots]
    places = [(shot.first_frame, f"no-cut-at:{shot.first_frame}, or gradual over it") for shot in shots[1:]]
    places += [
        (shot.last_frame, f"{shot.shot_id}: cut-at or gradual in {shot.first_frame + 1} to {shot.last_frame}")
        for shot in shots
    ]
    return [
        [sheet.video_id, check_of_shots(shots, Act(name="", first=frame, last=frame)), "", "", note]
        for frame, note in sorted(places)
    ]


def _about(sheet: VideoSheet, track: SheetTrack) -> list[str]:
    numbers = (str(track.first_frame), str(track.last_frame), f"{track.first_s:.2f}", f"{track.last_s:.2f}")
    picked = "yes" if track.is_picked else "no"
    return [sheet.video_id, track.track_id, track.check, picked, *numbers, track.begins, track.ends]


def scenes_csv(video_id: str, shots: Sequence[Shot]) -> bytes:
    """The sheet of scene cards to fill in: a row for each shot."""
    rows = [
        [video_id, shot.shot_id, f"{shot.start_s:.3f}", f"{shot.end_s:.3f}", "", "", ""] for shot in shots
    ]
    return sheet_bytes([SCENE_COLUMNS, *rows])


def page(sheet: VideoSheet, *, picture: Callable[[str], bytes]) -> str:
    """Return the self-contained page that accompanies the tables.

    Args:
        sheet: what it shows.
        picture: the bytes of a picture by its digest.
    """

    def url(crop: Crop) -> str:
        return f"data:{crop.media_type};base64,{base64.b64encode(picture(crop.digest)).decode()}"

    return render(
        "sheet.html.j2",
        sheet=sheet,
        picked=[track for track in sheet.tracks if track.is_picked],
        url=url,
        time_of=lambda crop: f"{crop.frame_index / sheet.fps:.1f} s" if sheet.fps else "",
        files=_FILES,
        cells={**APPEARANCE, **PATH},
        fits=FITS,
        everybody=EVERYBODY,
        different=MARK,
    )


def _sheet(work: HerbenchSession, state: VideoState) -> VideoSheet:
    source, tracked = state.source.video, state.material.tracked
    tracks: list[SheetTrack] = []
    if tracked is not None:
        known = {track.track_id: track for track in tracked.tracks}
        chosen = [known[name] for name in state.material.chosen]
        rest = [track for name, track in known.items() if name not in state.material.chosen]
        left_out = listed_others(tracked.others, tracked)
        tracks = [_sheet_track(track, tracked, state) for track in (*chosen, *rest, *left_out)]
    return VideoSheet(
        video_id=state.video_id,
        path=source.path,
        sha256=source.sha256,
        fps=source.fps,
        n_frames=source.n_frames,
        width_px=source.width_px,
        height_px=source.height_px,
        is_reviewed=bool(rows_of(work, TrackRow, state.video_id)),
        check="" if tracked is None else check_of_everybody(tracked),
        is_given=bool(state.source.rule.tracks),
        tracks=tuple(tracks),
        shots=_shots(work, state),
    )


def _sheet_track(track: Track, video: TrackedVideo, state: VideoState) -> SheetTrack:
    start_s, end_s = video.span_s(track)
    name = track.track_id
    pictures = state.pictures.get(name)
    return SheetTrack(
        track_id=name,
        check=track_check(track),
        is_picked=name in state.material.chosen,
        is_left_out=all(name != entry.track_id for entry in video.tracks),
        first_frame=track.first_frame,
        last_frame=track.last_frame,
        first_s=round(start_s, 3),
        last_s=round(end_s, 3),
        begins=_place(track, 0, video),
        ends=_place(track, -1, video),
        portraits=tuple(state.portraits.get(name, ())),
        looks=() if pictures is None else tuple(pictures.appearance),
        way=() if pictures is None else tuple(pictures.path),
        frames=() if pictures is None else tuple(pictures.frames),
    )


def _place(track: Track, at: int, video: TrackedVideo) -> str:
    """In which ninth of the frame a box of a track has its centre: ``top left``, ``middle centre``."""
    x, y = np.clip(track.centroids_px[at] / (video.width_px, video.height_px) * 3, 0, 2).astype(int)
    return f"{_ROWS[y]} {_COLUMNS[x]}"


def _shots(work: HerbenchSession, state: VideoState) -> tuple[SheetShot, ...]:
    """The shots with pictures of their first clear frame, middle and end, as far as these can be read."""
    shots, video = state.material.shots, state.open(work)
    if not shots or video is None:
        return ()
    values = {shot.shot_id: _frames_of(shot) for shot in shots[:_MOST_SHOWN_SHOTS]}
    quality = CropRules().quality

    def keep(index: int, picture: NDArray[np.uint8]) -> Crop:
        return work.pictures.keep(picture, frame_index=index, quality=quality)

    size = Size(kind="long", pixels=_SHOT_PX)
    read = video.read(sorted({index for some in values.values() for index in some}), keep, size=size)
    return tuple(
        SheetShot(
            shot=shot,
            pictures=tuple(
                crop
                for index in values.get(shot.shot_id, ())
                if not isinstance(crop := read[index], FrameProblem)
            ),
        )
        for shot in shots
    )


def _frames_of(shot: Shot) -> tuple[int, ...]:
    return tuple(
        dict.fromkeys((shot.clear_frame, (shot.clear_frame + shot.last_frame) // 2, shot.last_frame))
    )
