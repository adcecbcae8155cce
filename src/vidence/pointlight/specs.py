"""Settings of a stimulus and of its view; together with a motion they determine every pixel."""

from collections.abc import Mapping
from typing import Annotated, Literal, TypeAlias, TypeVar

import msgspec
import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from vidence.errors import UsageError
from vidence.pointlight.kinematics import turn
from vidence.records import Record

Floats = NDArray[np.float64]


class View(Record, omit_defaults=True):
    """The viewer's position.

    Units: degrees, metres. `yaw_deg` turns the figure about the vertical, counter-clockwise seen from
    above; `pitch_deg` above 0 looks down on it; `roll_deg` turns the picture counter-clockwise. With
    ``perspective`` the viewer stands `distance_m` from the centre, where a metre looks as long as with
    ``orthographic``; nearer points look larger.
    """

    projection: Literal["orthographic", "perspective"] = "orthographic"
    yaw_deg: float = 0.0
    pitch_deg: float = 0.0
    roll_deg: float = 0.0
    distance_m: float = 6.0

    def __post_init__(self) -> None:
        angles = (self.yaw_deg, self.pitch_deg, self.roll_deg)
        if not np.isfinite(angles).all():
            raise UsageError(f"the angles of a view must be numbers of degrees, not {angles}")
        if not 0 < self.distance_m < np.inf:
            raise UsageError(f"the viewer must stand at some distance, not {self.distance_m} m")


def rotation(view: View) -> Floats:
    """The rotation from room to viewer axes (right, up, towards the viewer), shape (3, 3).

    The figure is turned by the yaw first, then tilted by the pitch, then rolled.
    """
    yaw, pitch, roll = np.radians([view.yaw_deg, view.pitch_deg, view.roll_deg])
    return turn("z", roll) @ turn("x", pitch) @ turn("y", yaw)


def seen(positions_m: Floats, view: View, *, centre_m: Floats) -> Floats:
    """Points projected onto the picture plane.

    Args:
        positions_m: points in the room (metres, y up), shape (..., 3).
        view: where the viewer stands.
        centre_m: the point that the viewer looks at, shape (3,).

    Returns:
        Places to the right and up from the centre of the picture, in metres, shape (..., 2): as they are for
        ``orthographic``, times distance / (distance - depth) for ``perspective``; NaN for points that are not
        in front of the viewer.
    """
    turned = (positions_m - centre_m) @ rotation(view).T
    if view.projection == "orthographic":
        return np.where(np.isfinite(turned[..., 2:]), turned[..., :2], np.nan)
    away_m = view.distance_m - turned[..., 2]
    scale = np.divide(
        view.distance_m, away_m, out=np.full(away_m.shape, np.nan), where=away_m > 0.05 * view.distance_m
    )
    values: Floats = turned[..., :2] * scale[..., None]
    return values


_LISTED = "leave_out"  # the one setting that is a list: its names are parted by commas
RecordT = TypeVar("RecordT", bound=Record)
SPEC_VERSION = 2
Count: TypeAlias = Annotated[int, Meta(ge=1)]
CountOrNone: TypeAlias = Annotated[int, Meta(ge=0)]
SidePx: TypeAlias = Annotated[int, Meta(ge=8)]
Positive: TypeAlias = Annotated[float, Meta(gt=0, lt=1e6)]
Share: TypeAlias = Annotated[float, Meta(ge=0, le=1)]
Rim: TypeAlias = Annotated[float, Meta(ge=0, le=0.49)]


class StimulusSpec(Record, omit_defaults=True):
    """How a motion is shown. Units: pixels, metres, degrees, frames per second of the display.

    Time: `trim_share` is cut off both ends, then the motion is brought to `fps` (None: its own rate), then
    `n_frames` (None: all) are taken from `start_frame` on (None: in the middle), every `step`-th.

    Camera: with `heading` ``viewer`` the actor faces the viewer where `yaw_deg` is 0 (of two the first stands
    on the left of the second); ``recorded`` keeps the axes of the laboratory. `framing` ``fixed`` holds the
    camera still; ``follow`` moves it as a belt under the figures, smoothly, and not at all while they stay
    where they are. `px_per_m` None fits the figures of the whole clip into the picture less `margin` on each
    side: whichever way they are turned (`fit` ``views``), so that the scale is the same from all sides, or as
    they are seen (``view``). The scale never changes within a clip. `is_inverted` turns the picture upside
    down, `is_mirrored` swaps its sides.

    Dots: points of `leave_out` are not shown, but count for camera and scale. `contrast` is the share of the
    way from the background to white. With `colours` ``two`` each of two figures has a colour of its own.

    Noise: `n_noise` dots of the kind `noise`, anywhere in the `noise_area`: the picture, or the box around
    the figures. ``scrambled`` dots have all the steps of the figure's dots at another place, and from another
    moment of the clip on (`noise_phases` ``drawn``) or concurrently (``kept``); ``random`` ones stand
    still for `noise_life_frames` and go elsewhere.
    """

    width_px: SidePx = 512
    height_px: SidePx = 512
    fps: Positive | None = 30.0
    trim_share: Rim = 0.0
    start_frame: int | None = None
    n_frames: Count | None = None
    step: Count = 1
    view: View = View()
    heading: Literal["recorded", "viewer"] = "recorded"
    framing: Literal["fixed", "follow"] = "fixed"
    fit: Literal["views", "view"] = "views"
    px_per_m: Positive | None = None
    margin: Rim = 0.1
    is_inverted: bool = False
    is_mirrored: bool = False
    leave_out: tuple[str, ...] = ()
    scramble: Literal["none", "places", "phases", "both"] = "none"
    noise: Literal["random", "scrambled"] = "scrambled"
    n_noise: CountOrNone = 0
    noise_area: Literal["picture", "figure"] = "picture"
    noise_phases: Literal["drawn", "kept"] = "drawn"
    noise_life_frames: Count = 10
    dot_radius_px: Positive = 4.0
    contrast: Share = 1.0
    background: Annotated[int, Meta(ge=0, le=255)] = 0
    colours: Literal["one", "two"] = "one"
    seed: int = 0


def spec_of(settings: Mapping[str, str], *, start: StimulusSpec | None = None) -> StimulusSpec:
    """A spec from settings such as ``{"n_noise": "20", "yaw_deg": "45"}``; view settings need no prefix.

    Args:
        settings: names of `StimulusSpec` and of its `View`, with their values as text.
        start: what is not named is taken from here.

    Raises:
        UsageError: an unknown name or a value that cannot be read; the known names are given.

    >>> spec_of({"yaw_deg": "45", "scramble": "places"}).view.yaw_deg
    45.0
    """
    base = start or StimulusSpec()
    own = set(StimulusSpec.__struct_fields__) - {"view"}
    of_view = set(View.__struct_fields__)
    if unknown := sorted(set(settings) - own - of_view):
        raise UsageError(
            f"a stimulus has no setting {unknown[0]!r}; it has {', '.join(sorted(own | of_view))}"
        )
    view = _changed(base.view, {k: v for k, v in settings.items() if k in of_view})
    return _changed(msgspec.structs.replace(base, view=view), {k: v for k, v in settings.items() if k in own})


def _changed(record: RecordT, settings: Mapping[str, str]) -> RecordT:
    fields: dict[str, object] = {f: getattr(record, f) for f in record.__struct_fields__}
    values: dict[str, object] = {
        k: None if v in {"", "none"} and k not in {"scramble", _LISTED} else v for k, v in settings.items()
    }
    if _LISTED in settings:
        values[_LISTED] = [name for name in settings[_LISTED].split(",") if name]
    try:
        return msgspec.convert(
            msgspec.to_builtins(fields) | values, type=type(record), strict=False, str_keys=True
        )
    except msgspec.ValidationError as error:
        raise UsageError(
            f"a setting of the stimulus cannot be read: {error}; given {dict(settings)}"
        ) from error
