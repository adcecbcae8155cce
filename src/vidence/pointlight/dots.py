"""The dots of a stimulus as numbers: npz, CSV, JSON and mat for whatever shows, models or measures them."""

import csv
import io
from pathlib import Path
from typing import Final

import msgspec
import numpy as np
from numpy.typing import NDArray

from vidence.errors import UsageError
from vidence.media.whole import write_whole
from vidence.pointlight.specs import degrees
from vidence.pointlight.stimulus import Stimulus
from vidence.records import Record

Floats = NDArray[np.float64]
KINDS: Final = ("npz", "csv", "json", "mat")
# What a file of MATLAB begins with, in place of the day and the machine on which it was written.
_MAT_HEAD: Final = b"MATLAB 5.0 MAT-file, dots of a point-light display".ljust(116)
_COLUMNS: Final = ("time_s", "figure")  # of which a file of MATLAB has columns, not rows
_DIGITS: Final = 4
"""Places behind the comma of pixels, degrees and metres: a tenth of a micrometre on any screen."""


class Dot(Record, omit_defaults=True):
    """One dot: the point of the body and the figure that it shows (-1 and "" for noise), and its colour."""

    joint: str
    figure: int
    rgb: tuple[int, int, int]


class Frame(Record):
    """All dots in one frame, in the order of `Dots.dots`; None for a dot without such a number.

    `x_px` and `y_px` count from the middle of the picture to the right and up, `z_m` towards the viewer from
    the middle of the figures. A dot that is not `visible` has no place.
    """

    time_s: float
    x_px: list[float | None]
    y_px: list[float | None]
    z_m: list[float | None]
    radius_px: list[float]
    visible: list[bool]


class Dots(Record):
    """A stimulus in numbers, as ``dots.json`` holds it; whoever draws it needs nothing else.

    `px_per_deg` is that of the middle of the screen (None without a screen), `gamma` the exponent of the
    display that the colours were made for, and `michelson` the contrast in luminance between the colour of
    the first dot and the background, from 0 to 1.
    """

    width_px: int
    height_px: int
    fps: float
    background: int
    gamma: float
    michelson: float
    px_per_m: float
    px_per_deg: float | None
    screen_px_per_cm: float | None
    screen_distance_cm: float | None
    dots: list[Dot]
    frames: list[Frame]
    version: int = 1


def dots_of(stimulus: Stimulus) -> Dots:
    """The numbers of a stimulus."""
    spec = stimulus.spec
    x, y = _from_the_middle(stimulus)
    visible = np.isfinite(x)
    levels = stimulus.levels.tolist()
    return Dots(
        width_px=spec.width_px,
        height_px=spec.height_px,
        fps=stimulus.fps,
        background=stimulus.background,
        gamma=spec.gamma,
        michelson=michelson(stimulus),
        px_per_m=stimulus.px_per_m,
        px_per_deg=spec.px_per_deg,
        screen_px_per_cm=spec.screen_px_per_cm,
        screen_distance_cm=spec.screen_distance_cm,
        dots=[
            Dot(
                joint=stimulus.names[i],
                figure=int(stimulus.owners[i]),
                rgb=(rgb[0], rgb[1], rgb[2]),
            )
            for i, rgb in enumerate(levels)
        ],
        frames=[
            Frame(
                time_s=frame / stimulus.fps,
                x_px=_told(x[frame]),
                y_px=_told(y[frame]),
                z_m=_told(stimulus.depths_m[frame]),
                radius_px=np.round(stimulus.radii_px[frame], _DIGITS).tolist(),
                visible=visible[frame].tolist(),
            )
            for frame in range(stimulus.n_frames)
        ],
    )


def michelson(stimulus: Stimulus) -> float:
    """The contrast between the first dot and the background, (max - min) / (max + min) of luminance.

    Luminance is the value in the file to the power of `gamma`; that of black is taken as 0.
    """
    gamma = stimulus.spec.gamma
    dot = float(((stimulus.levels[0] / 255) ** gamma).mean()) if len(stimulus.levels) else 0.0
    behind = float((stimulus.background / 255) ** gamma)
    return abs(dot - behind) / (dot + behind) if dot + behind > 0 else 0.0


def write_dots(stimulus: Stimulus, path: Path) -> None:
    """Write the dots as the ending of the name says; the same stimulus gives the same bytes.

    ``.json`` holds `Dots`. ``.csv`` has a row for every dot in every frame: frame (from 0), time_s, dot,
    figure, joint, x_px, y_px, z_m, radius_px, visible (1 or 0), with a screen x_deg, y_deg, radius_deg.
    ``.npz`` has arrays of the same names of shape (n_frames, n_dots), NaN for what is not there, with time_s
    (n_frames,), joint and figure (n_dots,), rgb (n_dots, 3), and the other fields of `Dots`. ``.mat`` has the
    same for MATLAB and Octave (version 5, without compression); joint is a column of cells.

    Raises:
        UsageError: another ending.
    """
    kind = path.suffix.lower().removeprefix(".")
    if kind == "json":
        data = msgspec.json.encode(dots_of(stimulus))
    elif kind == "csv":
        data = _csv(stimulus).encode()
    elif kind == "npz":
        data = _npz(stimulus)
    elif kind == "mat":
        data = _mat(stimulus)
    else:
        raise UsageError(f"{path}: dots are written as {', '.join('.' + one for one in KINDS)}")
    write_whole(path, data)


def _from_the_middle(stimulus: Stimulus) -> tuple[Floats, Floats]:
    """Places to the right and up from the middle of the picture, in pixels, each (n_frames, n_dots)."""
    spec = stimulus.spec
    x = stimulus.centres_px[..., 0] - spec.width_px / 2
    y = spec.height_px / 2 - stimulus.centres_px[..., 1]
    return x, y


def _told(values: Floats) -> list[float | None]:
    # Adding 0 makes 0 of -0.
    return [round(v, _DIGITS) + 0.0 if np.isfinite(v) else None for v in values.tolist()]


def _arrays(stimulus: Stimulus) -> dict[str, Floats]:
    """What changes from frame to frame, each (n_frames, n_dots)."""
    x, y = _from_the_middle(stimulus)
    made = {"x_px": x, "y_px": y, "z_m": stimulus.depths_m, "radius_px": stimulus.radii_px}
    if stimulus.spec.px_per_deg is not None:
        made |= {
            "x_deg": degrees(x, stimulus.spec),
            "y_deg": degrees(y, stimulus.spec),
            "radius_deg": degrees(stimulus.radii_px, stimulus.spec),
        }
    return {name: np.round(values, _DIGITS) + 0.0 for name, values in made.items()}


def _csv(stimulus: Stimulus) -> str:
    arrays = _arrays(stimulus)
    visible = np.isfinite(arrays["x_px"])
    degrees_too = [name for name in ("x_deg", "y_deg", "radius_deg") if name in arrays]
    lines = io.StringIO(newline="")
    out = csv.writer(lines, lineterminator="\n")
    places = ("x_px", "y_px", "z_m", "radius_px")
    out.writerow(("frame", "time_s", "dot", "figure", "joint", *places, "visible", *degrees_too))
    for frame in range(stimulus.n_frames):
        for dot, name in enumerate(stimulus.names):
            said = [_cell(arrays[key][frame, dot]) for key in places]
            more = [_cell(arrays[key][frame, dot]) for key in degrees_too]
            head = (frame, f"{frame / stimulus.fps:.6f}", dot, int(stimulus.owners[dot]), name)
            out.writerow((*head, *said, int(visible[frame, dot]), *more))
    return lines.getvalue()


def _cell(value: float) -> str:
    return f"{value:.{_DIGITS}f}" if np.isfinite(value) else ""


def _fields(stimulus: Stimulus) -> dict[str, NDArray[np.generic]]:
    """Everything but the names of the joints."""
    arrays, spec = _arrays(stimulus), stimulus.spec
    return {
        "visible": np.isfinite(arrays["x_px"]),
        "time_s": np.arange(stimulus.n_frames) / stimulus.fps,
        "figure": stimulus.owners,
        "rgb": stimulus.levels,
        "fps": np.array(stimulus.fps),
        "size_px": np.array([spec.width_px, spec.height_px]),
        "background": np.array(stimulus.background),
        "gamma": np.array(spec.gamma),
        "px_per_m": np.array(stimulus.px_per_m),
        "px_per_deg": np.array(np.nan if spec.px_per_deg is None else spec.px_per_deg),
        **arrays,
    }


def _npz(stimulus: Stimulus) -> bytes:
    out, joint = io.BytesIO(), np.array(stimulus.names, dtype=np.str_)
    np.savez_compressed(out, allow_pickle=False, joint=joint, **_fields(stimulus))
    return out.getvalue()


def _mat(stimulus: Stimulus) -> bytes:
    from scipy.io import savemat

    fields = _fields(stimulus)
    columns = {name: kept[:, None] for name, kept in fields.items() if name in _COLUMNS}
    joint = np.array(stimulus.names, dtype=np.object_)[:, None]
    out = io.BytesIO()
    savemat(out, {"joint": joint, **fields, **columns})
    return _MAT_HEAD + out.getvalue()[len(_MAT_HEAD) :]
