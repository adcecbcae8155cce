"""Pictures of tracks: boxes drawn on frames, and the contact sheet."""

import colorsys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray
from PIL import Image as Pictures
from PIL import ImageDraw, ImageFont

from vidence.media.encode import Encoding, Size, encode
from vidence.media.pixels import resize
from vidence.media.video import Video
from vidence.media.whole import write_whole
from vidence.seeing.describers.describing import corners
from vidence.seeing.tracks import Track, TrackedVideo
from vidence.seeing.watching import Image, in_size

_GOLDEN: Final = 0.618034
PAPER: Final = (255, 255, 255)
INK: Final = (20, 20, 20)

Colour = tuple[int, int, int]


def colour_of(place: int) -> Colour:
    """A colour for the track at a position in the list; neighbours differ most."""
    hue = place * _GOLDEN % 1.0
    red, green, blue = colorsys.hsv_to_rgb(hue, 0.85, 0.95 if place % 2 == 0 else 0.75)
    return int(red * 255), int(green * 255), int(blue * 255)


@dataclass(frozen=True, kw_only=True)
class Mark:
    """A box to draw; `is_dashed` marks an interpolated one."""

    box_px: NDArray[np.float64]
    text: str
    colour: Colour
    is_dashed: bool = False


def marks_by_frame(tracks: Sequence[Track]) -> dict[int, list[Mark]]:
    """What to draw in each frame that has a box."""
    marks: dict[int, list[Mark]] = {}
    for place, track in enumerate(tracks):
        for frame, box, is_seen in zip(track.frame_indices, track.boxes_px, track.is_detected, strict=True):
            mark = Mark(box_px=box, text=track.track_id, colour=colour_of(place), is_dashed=not bool(is_seen))
            marks.setdefault(int(frame), []).append(mark)
    return marks


def draw(image: Image, marks: Sequence[Mark], *, note: str = "", scale: float = 1.0) -> Image:
    """A picture with boxes; `scale` is its size relative to the video."""
    picture = Pictures.fromarray(np.ascontiguousarray(image))
    pen = ImageDraw.Draw(picture)
    font = font_of(max(round(min(image.shape[:2]) / 30), 11))
    for mark in marks:
        left, top, right, bottom = (mark.box_px * scale).tolist()
        right, bottom = max(right, left + 1), max(bottom, top + 1)
        if mark.is_dashed:
            _dashed(pen, (left, top, right, bottom), mark.colour)
        else:
            pen.rectangle((left, top, right, bottom), outline=mark.colour, width=2)
        text_box = pen.textbbox((left, top), mark.text, font=font, anchor="lb")
        down = max(-text_box[1], 0)  # a box at the upper edge has its name inside
        pen.rectangle(
            (text_box[0], text_box[1] + down, text_box[2] + 2, text_box[3] + down), fill=mark.colour
        )
        pen.text((left + 1, top + down), mark.text, font=font, fill=PAPER, anchor="lb")
    if note:
        pen.rectangle(pen.textbbox((4, 4), note, font=font), fill=INK)
        pen.text((4, 4), note, font=font, fill=PAPER)
    return np.asarray(picture)


def _dashed(pen: ImageDraw.ImageDraw, box: tuple[float, float, float, float], colour: Colour) -> None:
    left, top, right, bottom = box
    for x in np.arange(left, right, 8.0).tolist():
        for y in (top, bottom):
            pen.line((x, y, min(x + 4, right), y), fill=colour, width=2)
    for y in np.arange(top, bottom, 8.0).tolist():
        for x in (left, right):
            pen.line((x, y, x, min(y + 4, bottom)), fill=colour, width=2)


def font_of(size_px: int) -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    """Pillow's built-in font at some size."""
    return ImageFont.load_default(size_px)


_SCENE_PX: Final = 560
_CROP_PX: Final = (72, 104)
_LABEL_PX: Final = 200
_GAP_PX: Final = 6
_LINE_PX: Final = 18
_N_SCENES: Final = 3
_N_CROPS: Final = 14
_FADED: Final = (110, 110, 110)


class ContactSheet:
    """Scenes with boxes, all tracks' ground trajectories, and crops of each track over time.

    Shown the frames in `wanted`, in any order, it gives the picture. The longest tracks are shown, in the
    order of their first frame, `most` of them; the title says how many are not.
    """

    def __init__(self, video: TrackedVideo, *, title: str, most: int = 40) -> None:
        self._video = video
        self._places = {track.track_id: place for place, track in enumerate(video.tracks)}
        longest = sorted(
            video.tracks, key=lambda track: (-len(track.frame_indices), self._places[track.track_id])
        )
        ids = {track.track_id for track in longest[:most]}
        self._shown = tuple(track for track in video.tracks if track.track_id in ids)
        left_out = len(video.tracks) - len(self._shown)
        self._title = title + (f"; the {left_out} shortest are not shown" if left_out else "")
        self._marks = marks_by_frame(video.tracks)
        self._scenes = _busiest(video)
        self._crops = {track.track_id: _spread(track) for track in self._shown}
        self._pictures: dict[int, Image] = {}
        self._cut: dict[tuple[str, int], Image] = {}

    @property
    def wanted(self) -> tuple[int, ...]:
        """The frames that it needs."""
        crops = {frame for frames in self._crops.values() for frame in frames}
        return tuple(sorted({*self._scenes, *crops}))

    def see(self, frame_index: int, image: Image) -> None:
        """Store what is needed from one frame."""
        if frame_index in self._scenes:
            scale = _SCENE_PX / image.shape[1]
            size = (_SCENE_PX, max(round(image.shape[0] * scale), 1))
            self._pictures[frame_index] = resize(image, size=size)
        for track in self._shown:
            if frame_index in self._crops[track.track_id]:
                self._cut[track.track_id, frame_index] = _crop(image, track, frame_index)

    def picture(self) -> Image:
        """The sheet, RGB."""
        scenes = [self._scene(frame) for frame in self._scenes if frame in self._pictures]
        if scenes:
            scenes.append(self._ways())
        rows = [scenes[i : i + 2] for i in range(0, len(scenes), 2)]
        width = max(2 * (_SCENE_PX + _GAP_PX), _LABEL_PX + _N_CROPS * (_CROP_PX[0] + _GAP_PX)) + _GAP_PX
        scene_px = max((scene.shape[0] for scene in scenes), default=0)
        row_px = _CROP_PX[1] + _LINE_PX + _GAP_PX
        head_px = _LINE_PX + 2 * _GAP_PX
        height = head_px + len(rows) * (scene_px + _GAP_PX) + len(self._shown) * row_px + _GAP_PX
        sheet = Pictures.new("RGB", (width, height), PAPER)
        pen = ImageDraw.Draw(sheet)
        pen.text((_GAP_PX, _GAP_PX), self._title, font=font_of(14), fill=INK)
        top = head_px
        for row in rows:
            for place, scene in enumerate(row):
                sheet.paste(Pictures.fromarray(scene), (_GAP_PX + place * (_SCENE_PX + _GAP_PX), top))
            top += scene_px + _GAP_PX
        for track in self._shown:
            self._draw_row(sheet, track, top)
            top += row_px
        return np.asarray(sheet)

    def _scene(self, frame: int) -> Image:
        image = self._pictures[frame]
        scale = image.shape[1] / self._video.width_px
        note = f"frame {frame}, {self._video.times_s[frame]:.2f} s"
        return draw(image, self._marks.get(frame, []), note=note, scale=scale)

    def _ways(self) -> Image:
        """Trajectories of the middle of each box's lower edge; a dot marks the start."""
        paled = (self._pictures[min(self._pictures)].astype(np.float64) * 0.5 + 127).astype(np.uint8)
        picture = Pictures.fromarray(paled)
        pen = ImageDraw.Draw(picture)
        scale = paled.shape[1] / self._video.width_px
        for track in self._shown:
            colour = colour_of(self._places[track.track_id])
            feet = np.stack([track.boxes_px[:, [0, 2]].mean(axis=1), track.boxes_px[:, 3]], axis=1) * scale
            points = [(float(x), float(y)) for x, y in feet]
            if len(points) > 1:
                pen.line(points, fill=colour, width=2)
            x, y = points[0]
            pen.ellipse((x - 4, y - 4, x + 4, y + 4), fill=colour)
            pen.text((x + 5, y - 7), track.track_id, font=font_of(12), fill=colour)
        pen.text((4, 4), "ways; a dot where a track begins", font=font_of(12), fill=INK)
        return np.asarray(picture)

    def _draw_row(self, sheet: Pictures.Image, track: Track, top: int) -> None:
        pen = ImageDraw.Draw(sheet)
        colour = colour_of(self._places[track.track_id])
        pen.rectangle((_GAP_PX, top, _GAP_PX + 8, top + _CROP_PX[1]), fill=colour)
        start_s, end_s = self._video.span_s(track)
        n, n_seen = len(track.frame_indices), int(track.is_detected.sum())
        lines = (
            f"{track.track_id}  {track.class_name}",
            f"frames {track.first_frame} - {track.last_frame}",
            f"{start_s:.2f} - {end_s:.2f} s",
            f"{n} boxes, {n - n_seen} filled in",
            f"confidence {track.confidences.mean():.2f}",
        )
        for place, line in enumerate(lines):
            font = font_of(15 if place == 0 else 12)
            pen.text((_GAP_PX + 14, top + place * _LINE_PX), line, font=font, fill=INK)
        for place, frame in enumerate(self._crops[track.track_id]):
            left = _LABEL_PX + place * (_CROP_PX[0] + _GAP_PX)
            if (track.track_id, frame) in self._cut:
                crop = self._cut[track.track_id, frame]
                sheet.paste(Pictures.fromarray(crop), (left, top + _CROP_PX[1] - crop.shape[0]))
            is_seen = bool(track.is_detected[np.searchsorted(track.frame_indices, frame)])
            text = str(frame) if is_seen else f"({frame})"
            pen.text((left, top + _CROP_PX[1] + 1), text, font=font_of(11), fill=_FADED)


def _busiest(video: TrackedVideo) -> tuple[int, ...]:
    """For each part of the video, the frame with the most tracks; of ties the middle one."""
    n_frames = len(video.times_s)
    counts = np.zeros(n_frames, np.int64)
    for track in video.tracks:
        counts[track.frame_indices] += 1
    parts = np.array_split(np.arange(n_frames), min(_N_SCENES, n_frames))
    chosen = []
    for part in parts:
        best = part[counts[part] == counts[part].max()]
        chosen.append(int(best[len(best) // 2]))
    return tuple(chosen)


def _spread(track: Track) -> tuple[int, ...]:
    """Frames of a track, evenly spaced over its boxes."""
    places = np.linspace(0, len(track.frame_indices) - 1, min(_N_CROPS, len(track.frame_indices)))
    return tuple(int(frame) for frame in track.frame_indices[np.round(places).astype(np.int64)])


def _crop(image: Image, track: Track, frame: int) -> Image:
    """The box of a track, made to fit."""
    box = track.boxes_px[[np.searchsorted(track.frame_indices, frame)]]
    left, top, right, bottom = corners(box, image)[0]
    scale = min(_CROP_PX[0] / (right - left), _CROP_PX[1] / (bottom - top))
    size = (max(round((right - left) * scale), 1), max(round((bottom - top) * scale), 1))
    return resize(np.ascontiguousarray(image[top:bottom, left:right]), size=size)


def write_sheet(video: Video, sheet: ContactSheet, path: Path) -> None:
    """Write the contact sheet of a video.

    Raises:
        MediaError: the video cannot be read.
    """
    video.read(sheet.wanted, lambda index, image: sheet.see(index, in_size(image, video)))
    write_whole(path, encode(sheet.picture(), Encoding(size=Size(), quality=88)).data)
