"""Pictures for the report of a maker: tracks, trajectories, crops, shots, evidence."""

from collections.abc import Mapping, Sequence
from typing import Final
from xml.sax.saxutils import escape

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from vidence.errors import MediaError
from vidence.make.pipeline.material import Draft
from vidence.media.encode import Size, open_image
from vidence.media.video import FrameProblem, Video
from vidence.records import by_key
from vidence.report.questions import ContactSheet, compose
from vidence.seeing.appearance import crop_rows, cut_out
from vidence.seeing.boxes import BANDS
from vidence.seeing.shooting import Shot
from vidence.seeing.tracks import Track, TrackedVideo
from vidence.seeing.watching import in_size
from vidence.text import visible

# One colour for each chosen track; they differ in lightness, too.
PALETTE: Final = (
    *("#e69f00", "#0072b2", "#d55e00", "#009e73", "#cc79a7"),
    *("#56b4e9", "#b8a800", "#7a4fa3", "#8c564b", "#4d4d4d"),
)
_OTHERS: Final = "#b6bcc2"
_N_TRACKS_FRAMES: Final = 6
_TRACKS_PX: Final = 480
_N_CROPS: Final = 12
_CROP_PX: Final = 120


def sheet_of(pictures: Sequence[tuple[Image.Image, str]], *, n_columns: int, thumb_px: int) -> ContactSheet:
    """At least one picture with labels, scaled down and arranged in rows."""
    small = [image.convert("RGB") for image, _ in pictures]
    for image in small:
        image.thumbnail((thumb_px, thumb_px))
    return compose(small, [label for _, label in pictures], n_columns=n_columns, thumb_px=thumb_px)


def colours(chosen: Sequence[str]) -> dict[str, str]:
    """The colour of each chosen track."""
    return {name: PALETTE[i % len(PALETTE)] for i, name in enumerate(chosen)}


def frames_sheet(
    video: Video, frames: Mapping[int, str], *, n_columns: int = 6, thumb_px: int = 200
) -> ContactSheet:
    """Labelled frames of a video in order of time.

    Raises:
        MediaError: none of them can be read.
    """
    read = video.frames(sorted(frames), size=Size(kind="long", pixels=thumb_px))
    pictures = [
        (Image.fromarray(image), frames[index])
        for index, image in zip(sorted(frames), read, strict=True)
        if not isinstance(image, FrameProblem)
    ]
    if not pictures:
        raise MediaError(f"{video.probe.path}: none of the {len(frames)} frames for the page can be read")
    return sheet_of(pictures, n_columns=n_columns, thumb_px=thumb_px)


def evidence_sheet(draft: Draft, video: Video, *, most: int) -> ContactSheet:
    """The middle frame of each of the first `most` spans of evidence.

    Raises:
        MediaError: none of them can be read, or no span says when it is.
    """
    frames: dict[int, str] = {}
    for span in draft.evidence[:most]:
        if span.start_s is not None and span.end_s is not None:
            index = video.index_at((span.start_s + span.end_s) / 2)
            frames[index] = f"{float(video.times_s[index]):.1f} s"
    return frames_sheet(video, frames)


def tracks_sheet(video: Video, tracked: TrackedVideo, chosen: Sequence[str]) -> ContactSheet:
    """Frames with all boxes drawn, those of chosen tracks in colour.

    The frames are spread over those in which a chosen track is seen, over all where none is chosen.

    Raises:
        MediaError: none of them can be read.
    """
    seen = sorted({int(i) for name in chosen for i in tracked.track(name).frame_indices})
    seen = seen or list(range(len(tracked.times_s)))
    places = np.linspace(0, len(seen) - 1, min(_N_TRACKS_FRAMES, len(seen))).round().astype(int)
    wanted = [seen[place] for place in dict.fromkeys(places.tolist())]
    known = colours(chosen)
    pictures: list[tuple[Image.Image, str]] = []
    for index, image in zip(wanted, video.frames(wanted), strict=True):
        if isinstance(image, FrameProblem):
            continue
        picture = Image.fromarray(image)
        _draw_boxes(picture, tracked, index, known=known)
        pictures.append((picture, f"{tracked.times_s[index]:.1f} s"))
    if not pictures:
        raise MediaError(f"{video.probe.path}: none of the frames with tracks can be read")
    return sheet_of(pictures, n_columns=3, thumb_px=_TRACKS_PX)


def _draw_boxes(picture: Image.Image, tracked: TrackedVideo, index: int, *, known: Mapping[str, str]) -> None:
    pen = ImageDraw.Draw(picture)
    factor = max(picture.size) / _TRACKS_PX  # lines are drawn before the picture is made small
    font = ImageFont.load_default(size=max(10, round(13 * factor)))
    for track in sorted(tracked.tracks, key=lambda track: track.track_id in known):
        place = int(np.searchsorted(track.frame_indices, index))
        if place == len(track.frame_indices) or track.frame_indices[place] != index:
            continue
        left, top, right, bottom = (float(x) for x in track.boxes_px[place])
        colour = known.get(track.track_id, _OTHERS)
        width = max(1, round((2.5 if track.track_id in known else 1) * factor))
        pen.rectangle((left, top, right, bottom), outline=colour, width=width)
        if track.track_id in known:
            words = track.track_id if track.is_detected[place] else f"{track.track_id} (filled in)"
            box = pen.textbbox((left, top), words, font=font)
            pen.rectangle(box, fill=colour)
            pen.text((left, top), words, fill="#000000", font=font)


def ways(tracked: TrackedVideo, chosen: Sequence[str], *, width: int = 640) -> str:
    """Trajectories of the chosen tracks as SVG: a ring at the start, a dot at the end."""
    height = max(1, round(width * tracked.height_px / tracked.width_px))
    factor = width / tracked.width_px
    known = colours(chosen)
    body = [
        f'<rect x="0" y="0" width="{width}" height="{height}" fill="none" stroke="{_OTHERS}"/>',
        *(
            f'<line x1="{x1:.1f}" x2="{x2:.1f}" y1="{y1:.1f}" y2="{y2:.1f}" stroke="{_OTHERS}" '
            'stroke-dasharray="4 4"/>'
            for x1, x2, y1, y2 in (
                (0, width, BANDS["top"] * height, BANDS["top"] * height),
                (0, width, (1 - BANDS["bottom"]) * height, (1 - BANDS["bottom"]) * height),
                (BANDS["left"] * width, BANDS["left"] * width, 0, height),
                ((1 - BANDS["right"]) * width, (1 - BANDS["right"]) * width, 0, height),
            )
        ),
        *(_way(tracked.track(name), known[name], factor) for name in chosen),
    ]
    label = escape(visible(f"The ways of {len(chosen)} tracks through the frame"), {'"': "&quot;"})
    return (
        f'<svg class="ways" role="img" aria-label="{label}" viewBox="-8 -20 {width + 48} {height + 28}">'
        f"{''.join(body)}</svg>"
    )


def _way(track: Track, colour: str, factor: float) -> str:
    points: NDArray[np.float64] = track.centroids_px * factor
    step = max(1, len(points) // 300)
    line = " ".join(f"{x:.1f},{y:.1f}" for x, y in [*points[::step], points[-1]])
    (x0, y0), (x1, y1) = points[0], points[-1]
    words = escape(visible(track.track_id))
    return (
        f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="2"/>'
        f'<circle cx="{x0:.1f}" cy="{y0:.1f}" r="5" fill="none" stroke="{colour}" stroke-width="2"/>'
        f'<circle cx="{x1:.1f}" cy="{y1:.1f}" r="4" fill="{colour}"/>'
        f'<text x="{x0 + 7:.1f}" y="{y0 - 5:.1f}" font-size="13" fill="{colour}">{words}</text>'
    )


def shots_sheet(video: Video, shots: Sequence[Shot], *, most: int = 24) -> ContactSheet:
    """The middle frame of each shot with its number and times.

    Raises:
        MediaError: none of them can be read.
    """
    frames = {
        (shot.clear_frame + shot.last_frame) // 2: (
            f"{shot.shot_id.removeprefix('shot-')}  {shot.start_s:.1f}-{shot.end_s:.1f} s"
        )
        for shot in shots[:most]
    }
    return frames_sheet(video, frames)


def track_crops(video: Video, tracks: Sequence[Track]) -> dict[str, ContactSheet]:
    """Crops of each track, evenly spaced over its detected boxes, by its id; damaged frames are left out."""
    boxes = by_key(
        (int(track.frame_indices[row]), (track.track_id, track.boxes_px[row]))
        for track in tracks
        for row in crop_rows(track, n_crops=_N_CROPS)
    )

    def cut(index: int, image: NDArray[np.uint8]) -> list[tuple[str, tuple[Image.Image, str]]]:
        crops = [(name, cut_out(in_size(image, video), box)) for name, box in boxes[index]]
        return [(name, (_thumbnail(crop), "")) for name, crop in crops if crop.size]  # a label hides heads

    read = sorted(video.read(sorted(boxes), cut).items())
    cuts = by_key(crop for _, crops in read if not isinstance(crops, FrameProblem) for crop in crops)
    return {n: sheet_of(crops, n_columns=_N_CROPS, thumb_px=_CROP_PX) for n, crops in cuts.items()}


def _thumbnail(crop: NDArray[np.uint8]) -> Image.Image:
    small = Image.fromarray(crop)
    small.thumbnail((_CROP_PX, _CROP_PX))
    return small


def crops_sheet(pictures: Sequence[bytes], *, labels: Sequence[str]) -> ContactSheet:
    """Return crops of one track side by side."""
    opened = [open_image(data) for data in pictures]
    return sheet_of([*zip(opened, labels, strict=True)], n_columns=_N_CROPS, thumb_px=_CROP_PX)
