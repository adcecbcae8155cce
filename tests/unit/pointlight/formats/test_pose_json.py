"""Keypoints as JSON: three ways to write a frame, left stays left, and what cannot be read is named."""

import json
from pathlib import Path

import numpy as np
import pytest

from vidence.errors import DataError
from vidence.pointlight.body import SETS, body
from vidence.pointlight.checks import sides
from vidence.pointlight.formats.keypoints import BLAZEPOSE, COCO
from vidence.pointlight.motion import Motion
from vidence.pointlight.reading import read_motion
from vidence.pointlight.walker import WalkerSpec, walker


@pytest.fixture(scope="module")
def figure() -> Motion:
    return walker(WalkerSpec(action="squat", duration_s=1, fps=30))


def points(figure: Motion, names: tuple[str, ...], frame: int) -> list[list[float]]:
    """The keypoints of a frame as an estimator sees them: y down, and less z nearer."""
    found = []
    for name in names:
        source = name if name in figure.names else "head"
        x, y, z = figure.positions_m[frame, figure.index(source)]
        found.append(
            [
                float(x) + (0.07 if name == "left_ear" else -0.07 if name == "right_ear" else 0),
                float(-y),
                float(-z),
            ]
        )
    return found


def written(path: Path, content: object) -> Path:
    path.write_text(json.dumps(content))
    return path


def test_the_names_are_those_of_the_models():
    assert (len(COCO), len(BLAZEPOSE)) == (17, 33)
    assert (COCO[3], COCO[10], COCO[16]) == ("left_ear", "right_wrist", "right_ankle")
    assert [BLAZEPOSE[i] for i in (2, 7, 10, 11, 16, 23, 28, 32)] == [
        "left_eye", "left_ear", "mouth_right", "left_shoulder", "right_wrist", "left_hip", "right_ankle",
        "right_foot_index",
    ]  # fmt: skip


def test_world_landmarks_are_a_body_in_metres(figure: Motion, tmp_path: Path):
    frames = [
        {
            "pose_world_landmarks": [
                dict(zip("xyz", p, strict=True), visibility=0.9) for p in points(figure, BLAZEPOSE, n)
            ]
        }
        for n in range(figure.n_frames)
    ]
    made = read_motion(written(tmp_path / "a.json", {"fps": 30, "frames": frames}))
    assert (made.fps, made.source.format, made.source.notes) == (30, "pose-json", ())
    shown = body(made, points="15")
    assert shown.names == SETS["15"]
    for name in SETS["12"]:
        np.testing.assert_allclose(
            shown.positions_m[:, shown.index(name)], figure.positions_m[:, figure.index(name)]
        )
    assert sides(made).verdict == "fine"


@pytest.mark.parametrize("is_listed", [True, False])
def test_keypoints_of_coco_are_scaled_and_flat(figure: Motion, tmp_path: Path, is_listed: bool):
    def frame(n: int) -> dict[str, object]:
        rows = [[300 + 100 * x, 300 + 100 * y, 0.8] for x, y, _ in points(figure, COCO, n)]
        rows[9][2] = 0.1 if n == 4 else 0.8
        return {"image_id": n, "keypoints": rows if is_listed else [v for row in rows for v in row]}

    path = written(tmp_path / "a.json", [frame(n) for n in range(figure.n_frames)])
    made = read_motion(path, options={"units": "stature:1.75", "fps": "30"})
    shown = body(made)
    assert shown.is_valid.sum() == shown.is_valid.size - 1
    assert not shown.is_valid[4, shown.index("left_wrist")]
    assert np.nanmax(np.abs(shown.positions_m[..., 2])) == 0.0
    assert "no depth" in made.source.notes[0]
    left, right = (shown.positions_m[:, shown.index(f"{s}_hip"), 0] for s in ("left", "right"))
    assert (left > right).all()
    with pytest.raises(DataError, match="nothing tells how long one unit is"):
        read_motion(path, options={"fps": "30"})


def test_frames_without_anybody_are_hidden(figure: Motion, tmp_path: Path):
    frames = [
        {"keypoints_3d": [] if n == 3 else [[*p, 1.0] for p in points(figure, COCO, n)]} for n in range(9)
    ]
    made = read_motion(written(tmp_path / "a.json", frames), options={"units": "m", "fps": "30"})
    assert made.is_valid.all(axis=1).tolist() == [n != 3 for n in range(9)]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('[{"keypoints": [1, 2,', r"a.json:1: no JSON"),
        ('{"keypoints": 3}', "expected a list of frames"),
        ('[{"keypoints": [[1, 2, 3]]}]', r"frame 0 has points of the shape \(1, 3\)"),
        ('[{"keypoints": ["a"]}]', "the points of frame 0 cannot be read"),
        ('[{"keypoints": 7}]', "the points of frame 0 are 7; expected a list"),
        ('[{"keypoints": []}]', "nobody is seen"),
        ('[{"keypoints": []}, {"points": 1}]', "frame 1 has none of"),
        ('[{"image_id": 1, "keypoints": []}, {"image_id": 1, "keypoints": []}]', "several people"),
        ('{"fps": "fast", "frames": [{"keypoints": []}]}', "fps is 'fast'"),
    ],
)
def test_what_cannot_be_read_is_named(tmp_path: Path, text: str, said: str):
    path = tmp_path / "a.json"
    path.write_text(text)
    with pytest.raises(DataError, match=said):
        read_motion(path)


def test_results_of_mmpose_with_scores_apart_and_numbers_of_frames(figure: Motion, tmp_path: Path):
    frames = [
        {
            "frame_id": n + 1,
            "instances": [
                {
                    "keypoints": [[300 + 100 * x, 300 + 100 * y] for x, y, _ in points(figure, COCO, n)],
                    "keypoint_scores": [0.1 if n == 4 and name == "nose" else 0.8 for name in COCO],
                }
            ],
        }
        for n in range(9)
        if n != 6
    ]
    path = written(tmp_path / "a.json", {"meta_info": {"dataset_name": "coco"}, "instance_info": frames})
    made = read_motion(path, options={"units": "stature:1.75", "fps": "30"})
    assert made.n_frames == 9
    assert sorted({int(f) for f, _ in np.argwhere(~made.is_valid)}) == [4, 6]
    assert "1 pictures without anybody are missing" in made.source.notes[1]


def test_a_person_of_alphapose_by_idx(figure: Motion, tmp_path: Path):
    def seen(n: int, idx: int) -> dict[str, object]:
        flat = [v for x, y, _ in points(figure, COCO, n) for v in (300 + 100 * x + idx, 300 + 100 * y, 0.8)]
        return {"image_id": f"{n}.jpg", "category_id": 1, "idx": idx, "score": 2.5, "keypoints": flat}

    path = written(
        tmp_path / "a.json", [seen(n, idx) for n in range(9) for idx in (1, 2) if (n, idx) != (5, 2)]
    )
    options = {"units": "stature:1.75", "fps": "30"}
    with pytest.raises(DataError, match=r"picture '0\.jpg' has several people; give person=ID"):
        read_motion(path, options=options)
    made = read_motion(path, options={**options, "person": "2"})
    assert made.is_valid.all(axis=1).tolist() == [n != 5 for n in range(9)]


def test_shares_of_a_picture_need_its_shape(figure: Motion, tmp_path: Path):
    """A picture of 1600 x 900 in which 400 px are a metre."""
    frames = [
        {
            "pose_landmarks": [
                [[0.5 + x / 4, 0.5 + y / 2.25, z / 4, 1.0] for x, y, z in points(figure, BLAZEPOSE, n)]
            ]
        }
        for n in range(9)
    ]
    path = written(tmp_path / "a.json", {"fps": 30, "frames": frames})
    with pytest.raises(DataError, match=r"give aspect=1\.7778"):
        read_motion(path, options={"units": "2.25"})
    made = body(read_motion(path, options={"units": "2.25", "aspect": str(16 / 9)}), points="12")
    wanted = figure.positions_m[:9, [figure.index(n) for n in SETS["12"]]]
    np.testing.assert_allclose(made.positions_m - made.positions_m[0, 0], wanted - wanted[0, 0], atol=1e-9)
