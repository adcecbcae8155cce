"""The sheets on which people look at the tracks and shots of a video, and fill in what they see."""

import base64
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

import msgspec
import numpy as np

from vidence.ask.files import FieldError, csv_rows, read
from vidence.errors import DataError
from vidence.make.herbench.cards.card_files import APPEARANCE, FITS, PATH, TO_FILL
from vidence.make.herbench.cards.correction_files import SHOT_COLUMNS
from vidence.make.herbench.cards.scene_files import SCENE_COLUMNS
from vidence.make.herbench.cards.screening import MARK
from vidence.make.pipeline.material import Crop
from vidence.make.review.people.rows import EVERYBODY, CardSheetRow, TrackRow, columns
from vidence.records import Record
from vidence.seeing.shooting import Shot
from vidence.seeing.tracks import Track, TrackedVideo, track_check
from vidence.tables.export import csv_text
from vidence.tables.rendering import render

CARDS_FILE, TRACKS_FILE, SHOTS_FILE, SCENES_FILE = "cards.csv", "tracks.csv", "shots.csv", "scenes.csv"
DATA_FILE, PAGE_FILE = "sheet.json", "sheet.html"
_ROWS: Final = ("top", "middle", "bottom")
_COLUMNS: Final = ("left", "centre", "right")


class SheetTrack(Record):
    """One track as a sheet shows it; pictures are named by their digests, in the order of time.

    `looks` are crops from both ends, `way` crops from the middle, `frames` whole frames with the box drawn
    in: those of the writer of cards, for picked tracks. `portraits` are there for everybody.
    """

    track_id: str
    check: str
    is_picked: bool
    is_left_out: bool
    """Whether a program left it out, so that nobody is asked about it."""
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
    """Everything that the sheet of one video shows. Pictures lie in the folder ``pictures`` of the set."""

    format: str = "vidence-sheet/1"
    video_id: str
    path: str
    sha256: str
    fps: float
    n_frames: int
    width_px: int
    height_px: int
    is_reviewed: bool = False
    """Whether corrections of people are in effect."""
    is_given: bool = False
    """Whether people gave the tracks."""
    check: str = ""
    """Of all tracks together."""
    tracks: tuple[SheetTrack, ...] = ()
    shots: tuple[SheetShot, ...] = ()


def place(track: Track, at: int, video: TrackedVideo) -> str:
    """In which ninth of the frame a box of a track has its centre: ``top left``, ``middle centre``.

    Args:
        track: the track.
        at: 0 for its first box, -1 for its last.
        video: for the size of its frames.
    """
    x, y = np.clip(track.centroids_px[at] / (video.width_px, video.height_px) * 3, 0, 2).astype(int)
    return f"{_ROWS[y]} {_COLUMNS[x]}"


def sheet_track(
    track: Track,
    video: TrackedVideo,
    *,
    is_picked: bool,
    is_left_out: bool,
    pictures: Mapping[str, Sequence[Crop]],
) -> SheetTrack:
    """A track for a sheet; `pictures` are its portraits, looks, way and frames, as far as there are any."""
    start_s, end_s = video.span_s(track)
    return SheetTrack(
        track_id=track.track_id,
        check=track_check(track),
        is_picked=is_picked,
        is_left_out=is_left_out,
        first_frame=track.first_frame,
        last_frame=track.last_frame,
        first_s=round(start_s, 3),
        last_s=round(end_s, 3),
        begins=place(track, 0, video),
        ends=place(track, -1, video),
        portraits=tuple(pictures.get("portraits", ())),
        looks=tuple(pictures.get("looks", ())),
        way=tuple(pictures.get("way", ())),
        frames=tuple(pictures.get("frames", ())),
    )


def cards_csv(sheet: VideoSheet) -> bytes:
    """The sheet of cards to fill in: a row for each track that is not left out, picked ones first."""
    people = [one for one in sheet.tracks if not one.is_left_out]
    rows = [[*_about(sheet, one), *([""] * len(TO_FILL))] for one in people]
    return _csv([columns(CardSheetRow), *rows])


def tracks_csv(sheets: Sequence[VideoSheet]) -> bytes:
    """The sheet of rows on tracks to fill in: one for each track, and one for all of a video together."""
    rows = [
        [sheet.video_id, check, track_id, "", "", note]
        for sheet in sheets
        for track_id, check, note in (
            *((one.track_id, one.check, f"{one.first_s:.1f} to {one.last_s:.1f} s") for one in sheet.tracks),
            (EVERYBODY, sheet.check, ""),
        )
    ]
    return _csv([columns(TrackRow), *rows])


def _about(sheet: VideoSheet, one: SheetTrack) -> list[str]:
    state = "yes" if one.is_picked else "left out" if one.is_left_out else "no"
    numbers = (str(one.first_frame), str(one.last_frame), f"{one.first_s:.2f}", f"{one.last_s:.2f}")
    return [sheet.video_id, one.track_id, one.check, state, *numbers, one.begins, one.ends]


def shots_csv(sheet: VideoSheet) -> bytes:
    """The shots as they are now, to be corrected."""
    rows = [
        [
            *(sheet.video_id, one.shot_id, str(one.first_frame), str(one.last_frame), str(one.clear_frame)),
            *(f"{one.start_s:.3f}", f"{one.end_s:.3f}", ""),
        ]
        for one in (row.shot for row in sheet.shots)
    ]
    return _csv([SHOT_COLUMNS, *rows])


def scenes_csv(sheet: VideoSheet) -> bytes:
    """The sheet of scene cards to fill in: a row for each shot."""
    rows = [
        [sheet.video_id, one.shot_id, f"{one.start_s:.3f}", f"{one.end_s:.3f}", "", "", ""]
        for one in (row.shot for row in sheet.shots)
    ]
    return _csv([SCENE_COLUMNS, *rows])


def _csv(rows: Sequence[Sequence[str]]) -> bytes:
    return b"\xef\xbb\xbf" + csv_text(rows).encode()


def is_begun(path: Path, template: bytes, *, filled: Sequence[str] = ()) -> bool:
    """Whether somebody has written into a sheet, so that it must not be written over.

    Args:
        path: the sheet.
        template: as it would be written now.
        filled: the columns that are empty in a template; none where any change is somebody's.
    """
    if not path.exists() or path.read_bytes() == template:
        return False
    if not filled:
        return True
    try:
        rows = [row for _, row in csv_rows(read(path, what="a sheet"), delimiters=",;\t")]
    except DataError:
        return True
    return any(isinstance(row, FieldError) or any(map(row.get, filled)) for row in rows)


def data_json(sheet: VideoSheet) -> bytes:
    """What the page shows, for programs."""
    return msgspec.json.format(msgspec.json.encode(sheet), indent=1) + b"\n"


def page(sheet: VideoSheet, *, picture: Callable[[str], bytes]) -> str:
    """The page to look at beside the tables; it loads nothing from elsewhere.

    Args:
        sheet: what it shows.
        picture: the bytes of a picture by its digest.
    """

    def url(crop: Crop) -> str:
        return f"data:{crop.media_type};base64,{base64.b64encode(picture(crop.digest)).decode()}"

    return render(
        "sheet.html.j2",
        sheet=sheet,
        picked=[one for one in sheet.tracks if one.is_picked],
        url=url,
        time_of=lambda crop: f"{crop.frame_index / sheet.fps:.1f} s" if sheet.fps else "",
        files={"cards": CARDS_FILE, "tracks": TRACKS_FILE, "shots": SHOTS_FILE, "scenes": SCENES_FILE},
        cells={**APPEARANCE, **PATH},
        fits=FITS,
        everybody=EVERYBODY,
        different=MARK,
    )
