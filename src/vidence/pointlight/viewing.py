"""From where a motion is seen: rotation about the vertical, tilt, and the projection onto a picture plane."""

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from vidence.errors import UsageError
from vidence.records import Record

Floats = NDArray[np.float64]


class View(Record, kw_only=True, omit_defaults=True):
    """Where the viewer stands.

    Units: degrees, metres. `yaw_deg` turns the figure about the vertical, counter-clockwise seen from
    above; `pitch_deg` above 0 looks down on it; `roll_deg` turns the picture counter-clockwise. With
    ``perspective`` the viewer stands `distance_m` from the centre, where a metre looks as long as with
    ``orthographic``; nearer points look larger.

    Source: the view angles of point-light toolkits, POINTLIGHT: orthographic and perspective, any angle.
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
    """The rotation from the room to the viewer's axes: right, up, and towards the viewer; shape (3, 3).

    The figure is turned by the yaw first, then tilted by the pitch, then rolled.
    """
    yaw, pitch, roll = np.radians([view.yaw_deg, view.pitch_deg, view.roll_deg])
    turn = np.array([[np.cos(yaw), 0, np.sin(yaw)], [0, 1, 0], [-np.sin(yaw), 0, np.cos(yaw)]])
    tilt = np.array([[1, 0, 0], [0, np.cos(pitch), -np.sin(pitch)], [0, np.sin(pitch), np.cos(pitch)]])
    rolled = np.array([[np.cos(roll), -np.sin(roll), 0], [np.sin(roll), np.cos(roll), 0], [0, 0, 1]])
    made: Floats = rolled @ tilt @ turn
    return made


def seen(positions_m: Floats, view: View, *, centre_m: Floats) -> tuple[Floats, Floats]:
    """Where points appear on the picture plane, and how large things look there.

    Args:
        positions_m: points in the room (metres, y up), shape (..., 3).
        view: where the viewer stands.
        centre_m: the point that the viewer looks at, shape (3,).

    Returns:
        Places to the right and up from the centre of the picture, in metres, shape (..., 2); and the scale
        at each point, shape (...): 1 everywhere for ``orthographic``, distance / (distance - depth) for
        ``perspective``; NaN for points that are not in front of the viewer.
    """
    turned = (positions_m - centre_m) @ rotation(view).T
    if view.projection == "orthographic":
        return turned[..., :2], np.where(np.isfinite(turned[..., 2]), 1.0, np.nan)
    away_m = view.distance_m - turned[..., 2]
    scale = np.divide(
        view.distance_m, away_m, out=np.full(away_m.shape, np.nan), where=away_m > 0.05 * view.distance_m
    )
    return turned[..., :2] * scale[..., None], scale
