"""Spaces of walks: a planted axis comes back, walks that were fitted lie where they are, errors are named."""

from dataclasses import replace
from pathlib import Path

import msgspec
import numpy as np
import pytest

from vidence.errors import DataError, UsageError
from vidence.pointlight.figures import motion_of
from vidence.pointlight.walk_spaces import WalkSpace, fit_walks, read_labels, read_space
from vidence.pointlight.walker import WalkerSpec, walker
from vidence.pointlight.walks import Walk, walk_of

MOODS = np.linspace(-1.0, 1.0, 12)


@pytest.fixture(scope="module")
def planted() -> tuple[list[Walk], np.ndarray]:
    """Twelve walks that differ by noise, and by 8 cm of arm swing for one unit of mood; and that change."""
    rng = np.random.default_rng(5)
    plain = walk_of(walker(WalkerSpec(duration_s=3)), n_harmonics=2)
    change = np.zeros_like(plain.waves_m)
    for side, sign in (("left", -1.0), ("right", 1.0)):
        change[0, 0, plain.names.index(f"{side}_wrist"), 2] = sign * 0.08
    walks = [
        replace(
            plain,
            waves_m=plain.waves_m + mood * change + rng.normal(0, 0.004, plain.waves_m.shape),
            posture_m=plain.posture_m + rng.normal(0, 0.004, plain.posture_m.shape),
            rate_hz=plain.rate_hz + rng.normal(0, 0.02),
            file=f"{i}.bvh",
        )
        for i, mood in enumerate(MOODS)
    ]
    return walks, change


@pytest.fixture(scope="module")
def space(planted) -> WalkSpace:
    labels = {"mood": {f"{i}.bvh": float(m) for i, m in enumerate(MOODS)}}
    return fit_walks(planted[0], labels)


def test_a_planted_axis_is_recovered(space: WalkSpace, planted):
    walks, change = planted
    found = np.array(space.axes["mood"].per_unit)[walks[0].posture_m.size : -10]
    wanted = change.ravel()
    assert found @ wanted / np.linalg.norm(found) / np.linalg.norm(wanted) > 0.95
    assert space.axes["mood"].n == len(MOODS)
    assert space.axes["mood"].r_left_out > 0.95
    moved = space.walk({"mood": 1.0}).waves_m - space.walk({"mood": 0.0}).waves_m
    wrist = walks[0].names.index("right_wrist")
    assert moved[0, 0, wrist, 2] == pytest.approx(0.08, abs=0.01)


def test_labels_by_lot_predict_nothing(planted):
    walks, _ = planted
    found = []
    for seed in range(20):
        lots = np.random.default_rng(seed).permutation(MOODS)
        labels = {"lot": {w.file: float(v) for w, v in zip(walks, lots, strict=True)}}
        found.append(fit_walks(walks, labels).axes["lot"].r_left_out)
    assert abs(np.mean(found)) < 0.4
    assert max(found) < 0.95


def test_the_fitted_walks_lie_in_the_space(space: WalkSpace, planted):
    for walk, scores in zip(planted[0], space.scores, strict=True):
        made = space.walk({f"pc{k + 1}": v for k, v in enumerate(scores)})
        np.testing.assert_allclose(made.waves_m, walk.waves_m, atol=1e-9)
        np.testing.assert_allclose(made.posture_m, walk.posture_m, atol=1e-9)
        assert (made.rate_hz, made.speed_m_s) == pytest.approx((walk.rate_hz, walk.speed_m_s))
    mean = space.walk({})
    np.testing.assert_allclose(mean.posture_m, np.mean([w.posture_m for w in planted[0]], axis=0))


def test_a_space_is_kept_and_walked(space: WalkSpace, tmp_path: Path):
    path = tmp_path / "space.json"
    path.write_bytes(msgspec.json.encode(space))
    assert read_space(path) == space
    made = motion_of(f"walks:{path}?mood=1&pc2=-1&duration_s=2&fps=50")
    assert (made.n_frames, made.fps, made.names) == (100, 50.0, space.names)
    for options, said in (
        ("?gender=1", "no axis 'gender'; it has mood, pc1"),
        ("?mood=much", "mood='much' is no number"),
    ):
        with pytest.raises(UsageError, match=said):
            motion_of(f"walks:{path}{options}")
    path.write_text("{}")
    with pytest.raises(DataError, match="is no space of walks"):
        motion_of(f"walks:{path}")
    path.write_bytes(msgspec.json.encode(msgspec.structs.replace(space, mean=(1.0,))))
    with pytest.raises(DataError, match="expected 235"):
        read_space(path)


def table(path: Path, speed_m_s: float) -> str:
    """A recording of the figure as a table of positions."""
    motion = walker(WalkerSpec(speed_m_s=speed_m_s, duration_s=3, fps=60))
    heading = ["time_s", *(f"{n}_{a}" for n in motion.names for a in "xyz")]
    rows = [[f"{f / 60:.6f}", *(f"{v:.5f}" for v in p.ravel())] for f, p in enumerate(motion.positions_m)]
    path.write_text("\n".join(",".join(row) for row in [heading, *rows]))
    return str(path)


def test_a_morph_of_two_files(tmp_path: Path):
    first, second = table(tmp_path / "a.csv", 1.0), table(tmp_path / "b.csv", 1.6)
    told = {"units": "m", "up": "y"}
    made = motion_of(f"morph:{first},{second}?share=0.5&duration_s=2", told)
    assert (made.n_frames, made.fps) == (120, 60.0)
    way = made.positions_m[-1, made.index("pelvis"), 2] - made.positions_m[0, made.index("pelvis"), 2]
    assert way == pytest.approx(1.3 * 119 / 60, abs=0.05)
    assert [n for n in made.source.notes if "a.csv" in n]
    with pytest.raises(UsageError, match="1 recordings; expected two"):
        motion_of(f"morph:{first}", told)
    with pytest.raises(UsageError, match="no option 'amount'; it has share"):
        motion_of(f"morph:{first},{second}?amount=1", told)


def test_labels_are_read_with_their_lines(tmp_path: Path):
    path = tmp_path / "labels.csv"
    path.write_text("file,happy\na.bvh,1\nb.bvh,\n")
    assert read_labels(path, ["in/a.bvh", "in/b.bvh"]) == {"happy": {"in/a.bvh": 1.0}}
    path.write_text("file,happy\nc.bvh,1\n")
    with pytest.raises(DataError, match=r"labels\.csv:2: file is 'c\.bvh'"):
        read_labels(path, ["a.bvh"])
    path.write_text("file,happy\na.bvh,very\n")
    with pytest.raises(DataError, match=r"labels\.csv:2: happy is 'very'; expected a number"):
        read_labels(path, ["a.bvh"])


def test_too_few_walks_or_labels_are_refused(planted):
    walks, _ = planted
    with pytest.raises(UsageError, match="2 walks are no space"):
        fit_walks(walks[:2])
    with pytest.raises(UsageError, match="known for 2 walks with 1 values"):
        fit_walks(walks, {"mood": {"0.bvh": 1.0, "1.bvh": 1.0}})
