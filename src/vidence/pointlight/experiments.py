"""A stimulus as numbers, and as a folder for experiments in PsychoPy or jsPsych."""

from collections.abc import Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import Final, Literal, TypeAlias

import msgspec
import numpy as np
from numpy.typing import NDArray

from vidence.media.lights import Light, LightFrame, Lights, light_player
from vidence.media.whole import write_into
from vidence.pointlight.stimulus import Stimulus
from vidence.records import Record

_DIGITS: Final = 4
"""Decimals of pixels: a tenth of a micrometre on any screen."""


class Dot(Record, omit_defaults=True):
    """One dot: its point of the body, its figure (-1 and "" for noise), and its colour."""

    joint: str
    figure: int
    rgb: tuple[int, int, int]


class Frame(Record):
    """All dots in one frame, in the order of `Dots.dots`.

    `x_px` and `y_px` count from the middle of the picture to the right and up. A dot that is not `visible`
    has no place (None).
    """

    x_px: list[float | None]
    y_px: list[float | None]
    visible: list[bool]


class Dots(Record):
    """A stimulus as numbers, as in ``dots.json``: everything needed to draw it."""

    width_px: int
    height_px: int
    fps: float
    background: int
    radius_px: float
    px_per_m: float
    dots: list[Dot]
    frames: list[Frame]
    version: int = 2


def dots_of(stimulus: Stimulus) -> Dots:
    """A stimulus as numbers."""
    spec = stimulus.spec
    x = stimulus.centres_px[..., 0] - spec.width_px / 2
    y = spec.height_px / 2 - stimulus.centres_px[..., 1]
    visible = np.isfinite(x)
    colours = stimulus.levels.tolist()
    names = zip(stimulus.names, stimulus.owners.tolist(), colours, strict=True)
    return Dots(
        width_px=spec.width_px,
        height_px=spec.height_px,
        fps=stimulus.fps,
        background=spec.background,
        radius_px=spec.dot_radius_px,
        px_per_m=stimulus.px_per_m,
        dots=[Dot(joint=joint, figure=figure, rgb=(r, g, b)) for joint, figure, (r, g, b) in names],
        frames=[
            Frame(x_px=_rounded(x[n]), y_px=_rounded(y[n]), visible=visible[n].tolist())
            for n in range(stimulus.n_frames)
        ],
    )


def _rounded(values: NDArray[np.float64]) -> list[float | None]:
    # Adding 0 makes 0 of -0.
    return [round(v, _DIGITS) + 0.0 if np.isfinite(v) else None for v in values.tolist()]


def lights_of(stimulus: Stimulus) -> Lights:
    """What a browser needs to draw a stimulus, to a hundredth of a pixel."""
    dots = dots_of(stimulus)
    return Lights(
        width_px=dots.width_px,
        height_px=dots.height_px,
        fps=dots.fps,
        background=dots.background,
        radius_px=dots.radius_px,
        dots=tuple(Light(rgb=dot.rgb) for dot in dots.dots),
        frames=tuple(
            LightFrame(x_px=_short(f.x_px), y_px=_short(f.y_px), visible=tuple(map(int, f.visible)))
            for f in dots.frames
        ),
    )


def _short(values: Sequence[float | None]) -> tuple[float | None, ...]:
    return tuple(None if v is None else round(v, 2) for v in values)


Player: TypeAlias = Literal["psychopy", "jspsych"]
_FILES: Final[Mapping[Player, Mapping[str, str]]] = {
    "psychopy": {"play.py": "play.py.txt"},
    "jspsych": {"index.html": "page.html", "trial.js": "trial.js"},
}
PLAYERS: Final[tuple[Player, ...]] = tuple(_FILES)


def write_player(player: Player, stimulus: Stimulus, folder: Path) -> None:
    """Write a folder that shows the dots of a stimulus by the refreshes of a screen.

    ``psychopy``: ``play.py`` and ``dots.json`` (`Dots`); PsychoPy is the user's. ``jspsych``: ``index.html``,
    which plays the film by itself, ``point-light.js`` with the plugin ``jsPsychVidencePointLight`` for
    jsPsych 7 and 8, ``trial.js`` with one trial, and ``dots.js`` (a page that is opened as a file can read no
    JSON); the library is the user's. Each dot is drawn in its own colour, its contrast included.
    """
    players = resources.files("vidence.pointlight").joinpath("players")
    contents = {name: players.joinpath(kept).read_bytes() for name, kept in _FILES[player].items()}
    numbers = msgspec.json.encode(dots_of(stimulus))
    if player == "psychopy":
        contents["dots.json"] = numbers
    else:
        contents["point-light.js"] = light_player()
        contents["dots.js"] = b"window.videnceDots = " + numbers + b";\n"
    write_into(folder, contents)
