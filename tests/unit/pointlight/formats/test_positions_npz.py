"""Arrays of positions: names, rates, axes and what is hidden; poses alone are refused with what to run."""

from pathlib import Path

import numpy as np
import pytest

from vidence.errors import DataError, UsageError
from vidence.pointlight.body import SETS, body
from vidence.pointlight.formats.body_models import COUNTS, SMPL
from vidence.pointlight.motion import Motion
from vidence.pointlight.reading import read_motion
from vidence.pointlight.walker import WalkerSpec, walker


@pytest.fixture(scope="module")
def figure() -> Motion:
    return walker(WalkerSpec(duration_s=1, fps=30))


def joints(figure: Motion, n_joints: int) -> np.ndarray:
    """The joints of a body model with z up; those that the figure does not have lie at its pelvis."""
    at = [figure.index(n if n in figure.names else "pelvis") for n in SMPL]
    at += [figure.index("pelvis")] * (n_joints - len(SMPL))
    return figure.positions_m[:, at][..., [2, 0, 1]]


@pytest.mark.parametrize("key", ["joints", "Jtr"])
@pytest.mark.parametrize("n_joints", sorted(COUNTS))
def test_joints_of_body_models_are_known_by_their_number(figure, tmp_path: Path, key: str, n_joints: int):
    path = tmp_path / "walk.npz"
    np.savez(path, **{key: joints(figure, n_joints)}, mocap_framerate=120.0, gender="neutral")
    made = read_motion(path)
    assert (made.fps, made.names, made.source.metres_per_unit) == (120.0, SMPL, 1.0)
    shown = body(made, points="15")
    for name in SETS["15"]:
        np.testing.assert_allclose(
            shown.positions_m[:, shown.index(name)], figure.positions_m[:, figure.index(name)], atol=1e-12
        )


def test_names_rate_unit_and_validity_of_ones_own(figure, tmp_path: Path):
    path = tmp_path / "walk.npz"
    scores = np.ones(figure.is_valid.shape)
    scores[4, 2] = 0.1
    np.savez(
        path, positions=figure.positions_m * 1000, names=figure.names, fps=60, units="mm", up="y",
        confidence=scores,
    )  # fmt: skip
    made = read_motion(path)
    assert (made.fps, made.names) == (60.0, figure.names)
    assert np.argwhere(~made.is_valid).tolist() == [[4, 2]]
    np.testing.assert_allclose(made.positions_m[0], figure.positions_m[0])


def test_one_array_takes_everything_from_options(figure, tmp_path: Path):
    path = tmp_path / "walk.npy"
    np.save(path, figure.positions_m)
    options = {"names": ",".join(figure.names), "fps": "30", "up": "y", "units": "m"}
    np.testing.assert_allclose(read_motion(path, options=options).positions_m, figure.positions_m)
    with pytest.raises(DataError, match="15 points, no names; expected an array 'names'"):
        read_motion(path, options={"fps": "30", "up": "y"})
    with pytest.raises(DataError, match="which axis points up; give up=y or up=z"):
        read_motion(path, options={k: v for k, v in options.items() if k != "up"})
    with pytest.raises(DataError, match="nothing tells how long one unit is"):
        read_motion(path, options={k: v for k, v in options.items() if k != "units"})


def test_poses_without_positions_say_what_to_run(tmp_path: Path):
    path = tmp_path / "amass.npz"
    np.savez(path, poses=np.zeros((9, 156)), trans=np.zeros((9, 3)), betas=np.zeros(16), gender="male")
    with pytest.raises(DataError, match=r"pose of a body model .*run it, as with smplx.create"):
        read_motion(path)


@pytest.mark.parametrize(
    ("arrays", "said"),
    [
        ({"thing": np.zeros((2, 2, 3))}, "none of the arrays positions_m"),
        ({"joints": np.zeros((9, 22))}, r"joints has the shape \(9, 22\)"),
        ({"joints": np.zeros((9, 22, 3)), "fps": 0.0}, "expected one number of frames per second"),
        (
            {"joints": np.zeros((9, 22, 3)), "is_valid": np.ones((9, 2))},
            "expected \\(9, 22\\), as the points",
        ),
        ({"joints": np.zeros((9, 2, 3)), "names": ["a", "a"]}, "1 names for 2 points"),
    ],
)
def test_what_does_not_belong_together_is_named(tmp_path: Path, arrays, said: str):
    path = tmp_path / "a.npz"
    np.savez(path, **arrays)
    with pytest.raises(DataError, match=said):
        read_motion(path, options={"up": "y"})
    with pytest.raises(UsageError, match="has no array 'way'"):
        read_motion(path, options={"array": "way"})


def test_pickled_objects_are_not_opened(tmp_path: Path):
    path = tmp_path / "a.npz"
    np.savez(path, joints=np.array([{"a": 1}], dtype=object))
    with pytest.raises(DataError, match="holds no arrays \\(pickled objects are not read\\)"):
        read_motion(path)
