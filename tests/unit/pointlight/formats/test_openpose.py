"""OpenPose: a folder of frames by their numbers, hidden points, one of several people."""

import json
from pathlib import Path

import numpy as np
import pytest

from vidence.errors import DataError, UsageError
from vidence.pointlight.body import body
from vidence.pointlight.formats.keypoints import BODY_25, OPENPOSE_18
from vidence.pointlight.motion import Motion
from vidence.pointlight.reading import read_motion
from vidence.pointlight.specs import spec_of
from vidence.pointlight.stimulus import make_stimulus
from vidence.pointlight.walker import WalkerSpec, walker

TOLD = {"units": "stature:1.75", "fps": "30"}


@pytest.fixture(scope="module")
def figure() -> Motion:
    return walker(WalkerSpec(action="squat", duration_s=0.5, fps=30))


def person(figure: Motion, frame: int, names: tuple[str, ...]) -> dict[str, list[float]]:
    """A person in pixels: 100 a metre, y down; points that the figure does not have were not found."""
    flat: list[float] = []
    for name in names:
        source = "head" if name.endswith("_ear") else name
        if source in figure.names:
            x, y, _ = figure.positions_m[frame, figure.index(source)]
            flat += [300 + 100 * float(x), 300 - 100 * float(y), 0.9]
        else:
            flat += [0.0, 0.0, 0.0]
    return {"pose_keypoints_2d": flat}


def folder(path: Path, frames: dict[int, list[object]]) -> Path:
    path.mkdir()
    for number, people in frames.items():
        text = json.dumps({"version": 1.3, "people": people})
        (path / f"walk_{number:012d}_keypoints.json").write_text(text)
    return path


@pytest.mark.parametrize("names", [BODY_25, OPENPOSE_18])
def test_a_folder_is_a_motion(figure: Motion, tmp_path: Path, names: tuple[str, ...]):
    frames = {n: [person(figure, n, names)] for n in range(figure.n_frames) if n != 4}
    made = read_motion(folder(tmp_path / "walk", frames), options=TOLD)
    assert (made.n_frames, made.fps, made.source.format) == (figure.n_frames, 30.0, "openpose")
    assert made.source.is_flat
    shown = body(made)
    assert shown.is_valid.all(axis=1).tolist() == [n != 4 for n in range(figure.n_frames)]
    left, right = (shown.positions_m[0, shown.index(f"{s}_hip"), 0] for s in ("left", "right"))
    assert left > right
    ratio = np.ptp(shown.positions_m[0, :, 1]) / np.ptp(figure.positions_m[0, :13, 1])
    assert np.nanmax(np.abs(shown.positions_m[..., 2])) == 0.0
    assert ratio == pytest.approx(1.0, abs=0.05)


def test_where_a_flat_body_faces_is_not_known(figure: Motion, tmp_path: Path):
    frames = {n: [person(figure, n, BODY_25)] for n in range(figure.n_frames)}
    shown = body(read_motion(folder(tmp_path / "walk", frames), options=TOLD))
    make_stimulus([shown], spec_of({}))
    with pytest.raises(UsageError, match="heading=viewer: points of a picture have no depth"):
        make_stimulus([shown], spec_of({"heading": "viewer"}))


def test_one_of_two_people_is_named(figure: Motion, tmp_path: Path):
    both = [{"pose_keypoints_2d": []}, person(figure, 0, BODY_25)]
    path = folder(tmp_path / "walk", {n: both for n in range(8)})
    with pytest.raises(DataError, match="several people; give person="):
        read_motion(path, options=TOLD)
    assert read_motion(path, options={**TOLD, "person": "1"}).n_frames == 8


def test_what_cannot_be_read_is_named(tmp_path: Path):
    (tmp_path / "none").mkdir()
    with pytest.raises(
        DataError, match="none cannot be read: it is a folder, and only the frames of OpenPose"
    ):
        read_motion(tmp_path / "none")
    short = folder(tmp_path / "short", {0: [{"pose_keypoints_2d": [1, 2, 0.5]}]})
    with pytest.raises(DataError, match="1 keypoints; expected 25"):
        read_motion(short, options=TOLD)
    broken = folder(tmp_path / "broken", {0: []})
    (broken / "walk_000000000001_keypoints.json").write_text('{"people": [')
    with pytest.raises(DataError, match=r"000001_keypoints.json:1: no JSON"):
        read_motion(broken, options=TOLD)
