"""Names of joints: maps that come along, prefixes, maps of users."""

import numpy as np
import pytest

from vidence.errors import DataError, UsageError
from vidence.pointlight.body import SETS, body, by_map, points_of
from vidence.pointlight.body_maps import best_map, body_map
from vidence.pointlight.motion import Motion


def motion(names):
    positions = np.random.default_rng(1).normal(size=(4, len(names), 3))
    return Motion(positions_m=positions, is_valid=np.ones((4, len(names)), bool), names=names, fps=30.0)


# The names are those of a file of each; sources: the file itself, or the description of the format.
MIXAMO = (
    "Hips Spine Spine1 Spine2 Neck Head HeadTop_End LeftShoulder LeftArm LeftForeArm LeftHand "
    "RightShoulder RightArm RightForeArm RightHand LeftUpLeg LeftLeg LeftFoot LeftToeBase RightUpLeg "
    "RightLeg RightFoot RightToeBase"
)
SMPLX = (
    "pelvis left_hip right_hip spine1 left_knee right_knee spine2 left_ankle right_ankle spine3 "
    "left_foot right_foot neck left_collar right_collar head left_shoulder right_shoulder left_elbow "
    "right_elbow left_wrist right_wrist jaw"
)
PLUG_IN_GAIT = (
    "LFHD RFHD LBHD RBHD C7 T10 CLAV STRN RBAK LSHO LELB LWRA LWRB LFIN RSHO RELB RWRA RWRB RFIN LASI "
    "RASI LPSI RPSI LTHI LKNE LTIB LANK LHEE LTOE RTHI RKNE RTIB RANK RHEE RTOE"
)
MOCAPBANK = (
    "Hips Chest Chest2 LeftCollar LeftShoulder LeftElbow LeftWrist RightCollar RightShoulder "
    "RightElbow RightWrist Neck Head LeftHip LeftKnee LeftAnkle RightHip RightKnee RightAnkle"
)


@pytest.mark.parametrize(
    ("words", "expected"),
    [(MIXAMO, "mixamo"), (SMPLX, "points"), (PLUG_IN_GAIT, "plug-in-gait"), (MOCAPBANK, "mocapbank")],
)
def test_files_are_known_by_their_names(words, expected):
    names = (*words.split(), *(["Head end"] if expected == "mocapbank" else []))
    assert best_map(names).name == expected
    assert set(SETS["13"]) <= set(points_of(names))
    for prefix in ("mixamorig:", "Armature|mixamorig1_", "Ann:"):
        prefixed = tuple(prefix + name for name in names)
        assert best_map(prefixed).name == expected
        assert body(motion(prefixed)).names == SETS["13"]


def test_a_map_of_the_users_names_the_points(tmp_path):
    known = body_map("bandai").points
    rows = [f"{point} = {[f'Rig_{n}' for n in names]}" for point, names in known.items()]
    path = tmp_path / "own.toml"
    path.write_text("\n".join(["[points]", *rows]))
    names = tuple(dict.fromkeys(f"Rig_{n}" for sources in known.values() for n in sources))
    made = by_map(motion(names), body_map(str(path)))
    assert set(SETS["13"]) <= set(made.names)
    assert made.kind == "body"
    assert "by the map 'own'" in made.source.notes[-1]
    with pytest.raises(DataError, match=r"the map 'bandai' has 'Head' for head.*near are Rig_Head"):
        by_map(motion(names), body_map("bandai"))
    with pytest.raises(DataError, match="takes a map of yours"):
        body(motion(names))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[points", "no TOML"),
        ("[points]\nlef_hip = 'a'", "no point 'lef_hip'; did you mean left_hip"),
        ("[points]\n", "names nothing"),
        ("[points]\nleft_hip = 'a'\nright_hip = 'a'", "'a' stands for the left and the right hip"),
        ("[points]\nleft_hip = 3", "Expected"),
        ("is_marker = true\n[points]\nhead = 'a'", "is_marker"),
    ],
)
def test_maps_that_are_none_say_what_is_wrong(tmp_path, text, said):
    path = tmp_path / "own.toml"
    path.write_text(text)
    with pytest.raises(UsageError, match=said):
        body_map(str(path))
    with pytest.raises(UsageError, match="Did you mean mixamo"):
        body_map("mixama")
    with pytest.raises(UsageError, match="cannot be read"):
        body_map(str(tmp_path / "none.toml"))
