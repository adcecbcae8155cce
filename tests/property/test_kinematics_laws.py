"""Laws of forward kinematics and of what is computed from points."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from vidence.pointlight.body import hip_centres, steady_mean
from vidence.pointlight.formats.expmap import _rotations
from vidence.pointlight.kinematics import Skeleton, forward, turns

SEEDS = st.integers(0, 10**6)
AXES = st.text("xyz", min_size=0, max_size=3)


def chain(seed, n_points=6, *, turns_with="parent"):
    rng = np.random.default_rng(seed)
    parents = (-1, *(int(rng.integers(0, i)) for i in range(1, n_points)))
    return Skeleton(
        names=tuple("abcdefgh"[:n_points]),
        parents=parents,
        offsets=rng.normal(size=(n_points, 3)),
        turns_with=turns_with,
    )


def random_turns(seed, shape):
    return (
        Rotation.random(int(np.prod(shape)), rng=np.random.default_rng(seed))
        .as_matrix()
        .reshape(*shape, 3, 3)
    )


@given(seed=SEEDS, axes=AXES)
def test_turns_are_those_of_an_independent_library(seed, axes):
    angles = np.random.default_rng(seed).uniform(-4, 4, (5, len(axes)))
    expected = np.broadcast_to(np.eye(3), (5, 3, 3))
    for axis, column in zip(axes, angles.T, strict=True):
        expected = expected @ Rotation.from_euler(axis, column[:, None]).as_matrix()
    np.testing.assert_allclose(turns(axes, angles), expected, atol=1e-12)


@given(seed=SEEDS, turns_with=st.sampled_from(["own", "parent"]))
def test_positions_are_those_of_a_walk_up_the_chain(seed, turns_with):
    """Written the other way round: every point is carried up to the root by its ancestors, one at a time."""
    skeleton = chain(seed, turns_with=turns_with)
    rotations = random_turns(seed, (3, 6))
    root = np.random.default_rng(seed).normal(size=(3, 3))
    positions, _ = forward(skeleton, rotations=rotations, root=root)
    for frame in range(3):
        for point in range(6):
            at, here = np.zeros(3), point
            while skeleton.parents[here] >= 0:
                parent = skeleton.parents[here]
                if turns_with == "own":
                    at = Rotation.from_matrix(rotations[frame, here]).apply(at + skeleton.offsets[here])
                else:
                    at = Rotation.from_matrix(rotations[frame, here]).apply(at) + skeleton.offsets[here]
                here = parent
            at = Rotation.from_matrix(rotations[frame, 0]).apply(at) + root[frame]
            np.testing.assert_allclose(positions[frame, point], at, atol=1e-10)


@given(seed=SEEDS)
def test_turning_and_moving_the_root_turns_and_moves_the_body(seed):
    skeleton, rotations = chain(seed), random_turns(seed, (2, 6))
    whole = random_turns(seed + 1, (1,))[0]
    offset = np.random.default_rng(seed).normal(size=3)
    before, _ = forward(skeleton, rotations=rotations, root=np.zeros((2, 3)))
    turned = rotations.copy()
    turned[:, 0] = whole @ rotations[:, 0]
    after, _ = forward(skeleton, rotations=turned, root=np.tile(offset, (2, 1)))
    np.testing.assert_allclose(after, before @ whole.T + offset, atol=1e-10)


@given(seed=SEEDS)
def test_rotation_vectors_are_those_of_an_independent_library(seed):
    rng = np.random.default_rng(seed)
    vectors = rng.normal(size=(6, 3)) * np.array([0, 1e-9, 1e-3, 1, 2, 3])[:, None]
    np.testing.assert_allclose(_rotations(vectors), Rotation.from_rotvec(vectors).as_matrix(), atol=1e-10)


@given(seed=SEEDS)
def test_hips_turn_and_move_with_the_waist(seed):
    rng = np.random.default_rng(seed)
    corners = np.array([[0.12, 1, 0.1], [-0.12, 1, 0.1], [0.05, 1, -0.1], [-0.05, 1, -0.1]])
    waist = corners + rng.normal(scale=0.01, size=(3, 4, 3))
    whole, offset = random_turns(seed, (1,))[0], rng.normal(size=3)
    for before, after in zip(hip_centres(waist), hip_centres(waist @ whole.T + offset), strict=True):
        np.testing.assert_allclose(after, before @ whole.T + offset, atol=1e-9)


@given(seed=SEEDS)
def test_a_mean_of_a_rigid_cloud_that_only_moves_is_exact_whatever_is_hidden(seed):
    rng = np.random.default_rng(seed)
    cloud = rng.normal(size=(4, 3)) + np.cumsum(rng.normal(size=(20, 1, 3)), axis=0)
    shown = cloud.copy()
    shown[rng.random((20, 4)) < 0.3] = np.nan
    shown[0] = cloud[0]
    mean = steady_mean(shown)
    seen = np.isfinite(shown).all(axis=2).any(axis=1)
    np.testing.assert_allclose(mean[seen], cloud.mean(axis=1)[seen], atol=1e-9)
    assert np.isnan(mean[~seen]).all()
