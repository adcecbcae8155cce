"""Point lights of a clip as data for browsers, in a file next to the clip."""

from importlib import resources
from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import Meta

from vidence.errors import DataError, cause
from vidence.records import Record

_Pixels = Annotated[int, Meta(ge=1)]


class Light(Record):
    """A point of light: its colour."""

    rgb: tuple[int, int, int]


class LightFrame(Record):
    """All points in one frame, in the order of `Lights.dots`.

    `x_px` and `y_px` are measured from the picture's centre, rightwards and upwards; a point that is not
    `visible` has no position (None).
    """

    x_px: tuple[float | None, ...]
    y_px: tuple[float | None, ...]
    visible: tuple[Annotated[int, Meta(ge=0, le=1)], ...]


class Lights(Record):
    """A point-light clip for ``players/point-light.js``; it names neither joints nor sources."""

    width_px: _Pixels
    height_px: _Pixels
    fps: Annotated[float, Meta(gt=0)]
    background: Annotated[int, Meta(ge=0, le=255)]
    radius_px: Annotated[float, Meta(gt=0)]
    dots: tuple[Light, ...]
    frames: Annotated[tuple[LightFrame, ...], Meta(min_length=1)]


def lights_path(clip: Path) -> Path:
    """Return the path of a clip's lights: ``walk.mp4`` has ``walk.dots.json``."""
    return clip.with_suffix(".dots.json")


def read_lights(path: Path) -> Lights:
    """Read the lights in a file.

    Raises:
        DataError: there is no such file, it is invalid, or a frame lacks points.
    """
    try:
        lights = msgspec.json.decode(path.read_bytes(), type=Lights)
    except OSError as error:
        raise DataError(
            f"{path}: cannot read point lights ({cause(error)}); `vidence make actpld` writes them "
            "beside each clip"
        ) from error
    except msgspec.DecodeError as error:
        raise DataError(f"{path}: not point lights ({error}); run `vidence make actpld` again") from error
    n_dots = len(lights.dots)
    for number, frame in enumerate(lights.frames):
        sizes = {len(frame.x_px), len(frame.y_px), len(frame.visible)}
        if sizes != {n_dots}:
            raise DataError(
                f"{path}: frame {number} has {', '.join(map(str, sorted(sizes)))} points; expected {n_dots}"
            )
    return lights


def light_player() -> bytes:
    """Return the script that draws lights on a canvas, ``point-light.js``."""
    return resources.files("vidence.media").joinpath("players", "point-light.js").read_bytes()
