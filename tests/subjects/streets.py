"""A drawn street: flat figures of known looks that come and go through known edges at known times.

NAME.mp4       the film
NAME.txt       the box of every figure in every frame, as MOTChallenge writes boxes, without identities
NAME-ids.txt   the same with identities, as people give tracks

What a making of questions finds out about such a film is held against the plan that it was drawn from.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Literal, TypeAlias

import av
import numpy as np
from numpy.typing import NDArray

from subjects.tracks import track, video
from vidence.ask.phantom.scene import LOOKS
from vidence.errors import MediaError, UsageError
from vidence.make.pipeline.material import Card, Material, VideoSource
from vidence.media.whole import whole_file, write_whole
from vidence.records import Record

EdgeName: TypeAlias = Literal["left", "right", "top", "bottom"]
EDGE_NAMES: tuple[EdgeName, ...] = ("left", "right", "top", "bottom")
_SIDES: tuple[EdgeName, ...] = ("left", "right")
WIDTH_PX, HEIGHT_PX, FPS, N_FRAMES = 320, 240, 8, 168
FIGURE_PX = (30, 60)
_HEAD_PX, _COAT_PX = 14, 26
_SKIN, _TROUSERS, _GROUND = (228, 188, 158), (70, 74, 80), (176, 182, 172)
_EDGE_SHARE = 0.7  # who neither comes nor goes through an edge stays inside this share of the frame
_SHORTEST_S, _LONGEST_S = 3.5, 12.0
_QUIET_S = 1.0  # nobody comes or goes so near to the beginning or the end of the film


class Passer(Record):
    """Somebody in the street, from `first_frame` to `last_frame`, both included."""

    look: int
    first_frame: int
    last_frame: int
    enters: EdgeName | None
    leaves: EdgeName | None
    start_px: tuple[float, float]
    end_px: tuple[float, float]

    def box_px(self, frame: int) -> tuple[float, float, float, float] | None:
        """Left, top, right, bottom in a frame; None where the figure is not there."""
        if not self.first_frame <= frame <= self.last_frame:
            return None
        share = (frame - self.first_frame) / max(self.last_frame - self.first_frame, 1)
        left, top = (a + share * (b - a) for a, b in zip(self.start_px, self.end_px, strict=True))
        return left, top, left + FIGURE_PX[0], top + FIGURE_PX[1]


class Street(Record):
    """One film as planned."""

    name: str
    passers: tuple[Passer, ...]
    n_frames: int = N_FRAMES
    fps: int = FPS

    def material(self, words: Sequence[str] = ()) -> Material:
        """The film as it was planned: true tracks, and cards with these words, or those of the looks."""
        people = []
        for number, one in enumerate(self.passers):
            frames = range(one.first_frame, one.last_frame + 1)
            people.append(track(f"p{number}", [one.box_px(f) for f in frames], frames=frames))
        texts = words or [LOOKS[one.look].words for one in self.passers]
        size = (WIDTH_PX, HEIGHT_PX)
        return Material(
            source=VideoSource(
                video_id=self.name,
                path=f"{self.name}.mp4",
                n_frames=self.n_frames,
                fps=float(self.fps),
                duration_s=self.n_frames / self.fps,
                width_px=WIDTH_PX,
                height_px=HEIGHT_PX,
            ),
            tracked=video(people, size=size, n_frames=self.n_frames, fps=float(self.fps)),
            a_cards=tuple(Card(track_id=f"p{i}", kind="A", text=text) for i, text in enumerate(texts)),
        )


def plan_street(name: str, *, looks: Sequence[int], rng: np.random.Generator) -> Street:
    """Draw who walks how; most come through the left edge and go through the right one, or the reverse."""
    if len(set(looks)) < len(looks) or not set(looks) <= set(range(len(LOOKS))):
        raise UsageError(f"looks {list(looks)}; expected places from 0 to {len(LOOKS) - 1}, each once")
    passers = []
    quiet = round(_QUIET_S * FPS)
    for i, look in enumerate(looks):
        side: EdgeName = "left" if i % 2 else "right"
        enters: EdgeName = side if rng.random() < _EDGE_SHARE else _other(rng, ())
        leaves = _other(rng, (enters,))
        n_frames = round(float(rng.uniform(_SHORTEST_S, _LONGEST_S)) * FPS)
        first = int(rng.integers(quiet, N_FRAMES - quiet - n_frames))
        last = first + n_frames - 1
        comes, goes = (None if i == 0 else enters), (None if i == 1 else leaves)
        passers.append(
            Passer(
                look=look,
                first_frame=0 if comes is None else first,
                last_frame=N_FRAMES - 1 if goes is None else last,
                enters=comes,
                leaves=goes,
                start_px=_place(comes, rng),
                end_px=_place(goes, rng),
            )
        )
    return Street(name=name, passers=tuple(passers))


def _other(rng: np.random.Generator, without: Sequence[EdgeName]) -> EdgeName:
    """An edge; the left and the right one more often than the others."""
    left: list[EdgeName] = [edge for edge in (*_SIDES, *EDGE_NAMES) if edge not in without]
    return left[int(rng.integers(len(left)))]


def _place(edge: EdgeName | None, rng: np.random.Generator) -> tuple[float, float]:
    """The left upper corner of a figure that touches an edge away from the corners, or is inside."""
    right, bottom = WIDTH_PX - FIGURE_PX[0] - 1, HEIGHT_PX - FIGURE_PX[1] - 1
    across, down = float(rng.uniform(0.25, 0.75) * right), float(rng.uniform(0.35, 0.75) * bottom)
    match edge:
        case "left":
            return 1, down
        case "right":
            return right, down
        case "top":
            return across, 1
        case "bottom":
            return across, bottom
        case None:
            return across, down


def picture(street: Street, frame: int) -> NDArray[np.uint8]:
    """One frame of the film, RGB, shape (height, width, 3); later figures stand in front of earlier ones."""
    shade = np.linspace(-18, 18, HEIGHT_PX)[:, None, None]
    image = np.broadcast_to(np.array(_GROUND) + shade, (HEIGHT_PX, WIDTH_PX, 3)).astype(np.uint8)
    image[::48, :] = 205  # slabs of the pavement
    for passer in street.passers:
        box = passer.box_px(frame)
        if box is not None:
            left, top, right, bottom = (round(value) for value in box)
            image[top : top + _HEAD_PX, left + 8 : right - 8] = _SKIN
            image[top + _HEAD_PX : top + _HEAD_PX + _COAT_PX, left:right] = LOOKS[passer.look].colour
            image[top + _HEAD_PX + _COAT_PX : bottom, left + 4 : right - 4] = _TROUSERS
    return image


def write_street(street: Street, folder: Path) -> tuple[Path, Path]:
    """Write the film and the files of boxes; where the film and the boxes without identities are."""
    folder.mkdir(parents=True, exist_ok=True)
    film, boxes = folder / f"{street.name}.mp4", folder / f"{street.name}.txt"
    options = {"preset": "veryfast", "crf": "18", "threads": "1", "mbtree": "0"}
    try:
        with whole_file(film) as unfinished, av.open(str(unfinished), "w", format="mp4") as container:
            stream = container.add_stream("libx264", rate=street.fps, options=options)
            stream.width, stream.height, stream.pix_fmt = WIDTH_PX, HEIGHT_PX, "yuv420p"
            for frame in range(street.n_frames):
                shown = av.VideoFrame.from_ndarray(picture(street, frame), format="rgb24")
                container.mux(stream.encode(shown))
            container.mux(stream.encode(None))
    except (av.FFmpegError, ValueError) as error:
        raise MediaError(
            f"{film.name} cannot be encoded ({error}); this FFmpeg needs the encoder libx264"
        ) from error
    write_whole(boxes, "".join(_lines(street)).encode("ascii"))
    given = "".join(_lines(street, with_ids=True))
    write_whole(folder / f"{street.name}-ids.txt", given.encode("ascii"))
    return film, boxes


def _lines(street: Street, *, with_ids: bool = False) -> Sequence[str]:
    """The boxes as MOTChallenge writes them: frames from 1, the confidence 0.9, identities from 1."""
    return [
        f"{frame + 1},{number if with_ids else -1},{box[0]:.2f},{box[1]:.2f},"
        f"{FIGURE_PX[0]},{FIGURE_PX[1]},0.9,-1,-1,-1\n"
        for frame in range(street.n_frames)
        for number, passer in enumerate(street.passers, start=1)
        if (box := passer.box_px(frame)) is not None
    ]
