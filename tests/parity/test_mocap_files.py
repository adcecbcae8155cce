"""Real files: all of them parse, formats agree, bones are rigid, and known defects are found and mended."""

import functools
import gzip
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from conftest import IS_THOROUGH, need
from subjects.found_files import mocap_files
from vidence.errors import DataError
from vidence.make.makers.actpld import create as create_maker
from vidence.make.pipeline.session import BuildContext, MakeOverrides
from vidence.pointlight import checks
from vidence.pointlight.body import body
from vidence.pointlight.checks import inspect
from vidence.pointlight.figures import pair
from vidence.pointlight.kinematics import bone_lengths
from vidence.pointlight.reading import read_motion

UNIT = 0.0254 / 0.45


@pytest.fixture(scope="module")
def mocap(data_dir) -> Path:
    return need(data_dir / "mocap")


@functools.cache
def read(path, **options):
    return read_motion(need(path), options={k: str(v) for k, v in options.items()})


def lines_of(path):
    data = path.read_bytes()
    return (gzip.decompress(data) if path.suffix == ".gz" else data).decode().splitlines()


def options_for(path, mocap):
    """What a user must say of files that do not tell it."""
    if path.name == "zeros.amc":
        return {"skeleton": mocap / "cmu_asfamc/01.asf"}
    if path.parent.name == "cmu_expmap":
        return {"skeleton": mocap / "cmu_asfamc/02.asf"}
    if path.parent.name == "animated_drawings_bvh":
        return {"units": "stature:1.75"}
    return {"fps": 120} if path.name == "walker_data3d.txt" else {}


def test_every_file_parses_and_every_check_runs(data_dir, mocap):
    for path in mocap_files(data_dir)[:: 1 if IS_THOROUGH else 3]:
        motion = read(path, **options_for(path, mocap))
        report = inspect(motion)
        assert report.is_usable == (path.name != "zeros.amc"), path.name
        assert len(report.checks) == 12
        assert report.points_missing == (), path.name
        if motion.kind == "joints":
            lengths = bone_lengths(motion.positions_m, motion.parents)
            assert np.ptp(lengths, axis=0).max() < 1e-6, path.name
        by_name = {c.name: c for c in report.checks}
        assert by_name["upright"].verdict == "fine", path.name
        if path.name not in ("dataset-1_dash_normal_001.bvh.gz",):  # crouches all the time
            assert by_name["height"].verdict == "fine", path.name
        # In the end of this one the actor walks out of the cameras' sight.
        away = by_name["presence"].value
        assert (away == 82) if path.name == "perTWO13_TXT.ZIP" else (away == 0), (path.name, away)
        for name in ("first-step", "sides"):
            assert by_name[name].verdict != "doubtful", (path.name, name)
        other_bones = path.name.startswith(("13_", "14_", "02_01.bvh", "05_06.bvh"))
        assert (by_name["skeleton"].verdict == "doubtful") == other_bones, path.name


def reference_amc(asf_path, amc_path, n_frames):
    """The far ends of bones, with rotations of scipy, recursively, from a parser of a few lines."""
    text = "\n".join(lines_of(asf_path))
    bones = {}
    for block in re.findall(r"begin\s+id(.*?)end\b", text, re.DOTALL):
        words = {line.split()[0]: line.split()[1:] for line in block.strip().splitlines()[1:] if line.split()}
        bones[words["name"][0]] = (
            np.array(words["direction"], float) * float(words["length"][0]),
            Rotation.from_euler("xyz", np.array(words["axis"][:3], float), degrees=True),
            words.get("dof", []),
        )
    links = dict.fromkeys(bones, "")
    for line in text.split(":hierarchy")[1].splitlines():
        for child in line.split()[1:]:
            links[child] = line.split()[0]
    frames, frame = [], {}
    for line in lines_of(amc_path):
        words = line.split()
        if len(words) == 1 and words[0].isdigit():
            frame = {}
            frames.append(frame)
        elif frames and len(words) > 1:
            frame[words[0]] = np.array(words[1:], float)

    def end(frame, bone):
        if bone == "root":
            return frame["root"][:3], Rotation.from_euler("xyz", frame["root"][3:], degrees=True)
        start, above = end(frame, links[bone])
        vector, axes, dofs = bones[bone]
        angles = dict(zip(dofs, frame.get(bone, []), strict=True))
        local = Rotation.from_euler("xyz", [angles.get(d, 0.0) for d in ("rx", "ry", "rz")], degrees=True)
        turned = above * axes * local * axes.inv()
        return start + turned.apply(vector), turned

    return [
        {bone: end(f, bone)[0] for bone in ("root", *bones)}
        for f in frames[:: max(1, len(frames) // n_frames)]
    ]


@pytest.mark.parametrize(("asf", "amc"), [("02.asf", "02_01.amc.gz"), ("backflip.asf", "backflip.amc.gz")])
def test_asf_and_amc_against_scipy(mocap, asf, amc):
    motion = read(mocap / "cmu_asfamc" / amc)
    expected = reference_amc(mocap / "cmu_asfamc" / asf, mocap / "cmu_asfamc" / amc, 12)
    step = max(1, motion.n_frames // 12)
    for place, frame in zip(motion.positions_m[::step], expected, strict=True):
        for point, name in enumerate(motion.names):
            np.testing.assert_allclose(place[point], frame[name] * UNIT, atol=1e-9)


def reference_bvh(path, row):
    """Positions of the joints in one line of numbers, with homogeneous matrices on a stack."""
    lines = lines_of(path)
    at = next(i for i, line in enumerate(lines) if line.strip() == "MOTION")
    numbers = iter(float(w) for w in lines[at + 3 + row].split())
    stack, places, name, offset = [np.eye(4)], {}, "", np.zeros(3)
    for line in lines[1:at]:
        words = line.split()
        if words[0] in ("ROOT", "JOINT", "End"):
            name = words[1] if words[0] != "End" else f"{name} end"
        elif words[0] == "OFFSET":
            offset = np.array(words[1:], float)
            local = np.eye(4)
            local[:3, 3] = offset
            stack.append(stack[-1] @ local)
            places[name] = stack[-1][:3, 3]
        elif words[0] == "CHANNELS":
            parent, local, moved = stack[-2], np.eye(4), offset.copy()
            for channel in words[2:]:
                value = next(numbers)
                if channel.endswith("position"):
                    moved["XYZ".index(channel[0])] = value
                else:
                    local[:3, :3] = (
                        local[:3, :3] @ Rotation.from_euler(channel[0].lower(), value, True).as_matrix()
                    )
            local[:3, 3] = moved
            stack[-1] = parent @ local
            places[name] = stack[-1][:3, 3]
        elif words[0] == "}":
            stack.pop()
    return places


@pytest.mark.parametrize(
    ("name", "unit", "up"),
    [
        ("cmu_bvh/19_01.bvh", UNIT, "y"),
        ("cmu_bvh/10_03.bvh.gz", 0.01, "y"),
        ("bandai_bvh/dataset-1_kick_normal_001.bvh.gz", 0.01, "y"),
        ("animated_drawings_bvh/dab.bvh.gz", 1.0, "z"),
    ],
)
def test_bvh_against_scipy(mocap, name, unit, up):
    path = mocap / name
    motion = read(path, bones="leave", t_pose="keep", **({"units": "m"} if up == "z" else {}))
    for row in (0, 1, motion.n_frames // 2, motion.n_frames - 1):
        expected = reference_bvh(path, row)
        for point, joint in enumerate(motion.names):
            place = expected[joint][[1, 2, 0]] if up == "z" else expected[joint]
            np.testing.assert_allclose(motion.positions_m[row, point], place * unit, atol=1e-9)


def lower(motion):
    return body(motion, points="lower").positions_m


def steady_difference(ours, theirs):
    """Distances (frames, points) after taking out what is constant, seen in the heading of the pelvis."""
    across = theirs[:, 0] - theirs[:, 3]
    heading = np.arctan2(across[:, 2], across[:, 0])
    turned = Rotation.from_euler("y", heading[:, None]).as_matrix()
    local = np.einsum("tij,tpj->tpi", turned, ours - theirs)
    return np.linalg.norm(local - local.mean(axis=0), axis=2)


@pytest.fixture(scope="module")
def amc_02_01(mocap):
    return lower(read(mocap / "cmu_asfamc/02_01.amc.gz"))


def laid_over(ours, theirs):
    """One turn and one shift for all frames and points, so that `ours` come nearest to `theirs`."""
    start, goal = ours.reshape(-1, 3), theirs.reshape(-1, 3)
    turn = Rotation.align_vectors(goal - goal.mean(axis=0), start - start.mean(axis=0))[0]
    return (turn.apply(start - start.mean(axis=0)) + goal.mean(axis=0)).reshape(ours.shape)


def rms_m(ours, theirs):
    """Of each point, over frames."""
    return np.sqrt((np.linalg.norm(ours - theirs, axis=2) ** 2).mean(axis=0))


def test_02_01_agrees_over_formats_within_2_cm_for_hips_and_legs(mocap, amc_02_01):
    """Exponential maps as they are; C3D after one turn and one shift of the whole clip."""
    expmap = lower(read(mocap / "cmu_expmap/train_walking_1.txt.gz", skeleton=mocap / "cmu_asfamc/02.asf"))
    assert np.linalg.norm(expmap - amc_02_01, axis=2).max() < 0.02
    bvh = steady_difference(lower(read(mocap / "cmu_bvh/02_01.bvh.gz")), amc_02_01)
    assert np.sqrt((bvh**2).mean(axis=0)).max() < 0.02
    c3d = lower(read(mocap / "cmu_c3d/02_01.c3d"))
    each = rms_m(laid_over(c3d, amc_02_01), amc_02_01)
    assert np.sqrt((each**2).mean()) < 0.02
    assert each[[0, 3]].max() < 0.02, "hips"
    assert each[[2, 5]].max() < 0.015, "ankles"
    assert each[[1, 4]].max() < 0.025, "knees; see below"
    apart = steady_difference(c3d, amc_02_01)
    assert np.sqrt((apart**2).mean(axis=0)).max() < 0.02, "each of them, but for what is constant"
    thighs = [np.linalg.norm(c3d[:, hip] - c3d[:, hip + 1], axis=1) for hip in (0, 3)]
    assert max(t.std() for t in thighs) < 0.001


def test_the_bvh_of_02_01_has_another_body_and_angles_that_fit_it(mocap, amc_02_01):
    """Hips 12.5 and not 18.4 cm apart; the subject's own bones bring the legs no nearer."""
    plain = lower(read(mocap / "cmu_bvh/02_01.bvh.gz"))
    for legs, apart_m in ((plain, 0.125), (amc_02_01, 0.184)):
        assert np.linalg.norm(legs[:, 0] - legs[:, 3], axis=1).mean() == pytest.approx(apart_m, abs=0.002)
    given = lower(read(mocap / "cmu_bvh/02_01.bvh.gz", skeleton=mocap / "cmu_asfamc/02.asf"))
    assert 0.02 < rms_m(plain, amc_02_01).min() < rms_m(plain, amc_02_01).max() < 0.045
    assert 0.02 < rms_m(given, amc_02_01).min() < rms_m(given, amc_02_01).max() < 0.045


def test_axes_and_unit_of_c3d_and_amc_agree(mocap, amc_02_01):
    """The ankle markers sit 4.9 cm outside of the AMC's ankle, all the way over the floor."""
    c3d = read(mocap / "cmu_c3d/02_01.c3d")
    markers = np.stack([c3d.positions_m[:, c3d.index(n)] for n in ("LANK", "RANK")], axis=1)
    apart = np.linalg.norm(markers - amc_02_01[:, [2, 5]], axis=2)
    assert 0.045 < apart.min() < apart.max() < 0.055
    assert np.linalg.norm(amc_02_01[-1, 2] - amc_02_01[0, 2]) > 2.5


def test_01_01_is_the_same_in_amc_and_bvh_once_the_lost_bones_are_in(mocap):
    amc = read(mocap / "cmu_asfamc/01_01.amc.gz")
    path = mocap / "cmu_bvh/01_01_fairmotion.bvh.gz"

    def apart(points, **options):
        ours, theirs = body(read(path, **options), points=points), body(amc, points=points)
        return np.linalg.norm(ours.positions_m - theirs.positions_m, axis=2).max()

    assert apart("lower", bones="leave") < 1e-4
    assert apart("15", skeleton=mocap / "cmu_asfamc/01.asf") < 1e-4
    assert apart("15") < 0.01
    assert 0.11 < apart("upper", bones="leave") < 0.25, "without them the shoulders sit 12 cm too low"


def test_frames_of_a_t_pose_are_dropped(mocap):
    """AMC counts of CMU's index: 18_01 303, 10_03 362, 60_01 2242."""
    assert read(mocap / "cmu_bvh/18_01.bvh").n_frames == 303
    daz = read(mocap / "cmu_bvh/10_03.bvh.gz")
    assert daz.n_frames + daz.source.first_frame == 363
    assert "T-pose" in daz.source.notes[-1]
    assert read(mocap / "cmu_bvh/131_01.bvh.gz").source.first_frame == 0
    for trial in ("10_01", "11_01", "60_01", "60_03", "60_05", "61_01", "61_03")[:: 1 if IS_THOROUGH else 3]:
        # The release for DAZ eases out over seven frames; the steps that are kept are like those that follow.
        motion = read(mocap / f"cmu_bvh/{trial}.bvh.gz")
        assert motion.source.first_frame == 8
        steps = np.linalg.norm(np.diff(motion.positions_m[:30], axis=0), axis=2).max(axis=1)
        assert steps[:4].max() < 1.6 * np.median(steps[4:]) + 0.002


WALKS = (
    "cmu_c3d/02_01.c3d",
    "cmu_asfamc/02_01.amc.gz",
    "cmu_bvh/60_03.bvh.gz",
    "cmu_bvh/10_01.bvh.gz",
    "bandai_bvh/dataset-1_walk_normal_001.bvh.gz",
    "bandai_bvh/dataset-1_bow_normal_001.bvh.gz",
    "bandai_bvh/dataset-1_kick_normal_001.bvh.gz",
)
PARTS = [
    ("elbow",),
    ("elbow", "wrist"),
    ("shoulder", "elbow", "wrist"),
    ("ankle",),
    ("knee",),
    ("knee", "ankle"),
    ("hip", "knee", "ankle"),
    ("shoulder", "elbow", "wrist", "hip", "knee", "ankle"),
]


@pytest.mark.parametrize("name", WALKS if IS_THOROUGH else WALKS[1::4])
def test_planted_exchanges_of_sides_are_found(mocap, name):
    figure = body(read(mocap / name))
    for joints in PARTS if IS_THOROUGH else PARTS[::3]:
        places = figure.positions_m.copy()
        for joint in joints:
            left, right = (figure.index(f"{side}_{joint}") for side in ("left", "right"))
            places[:, left], places[:, right] = figure.positions_m[:, right], figure.positions_m[:, left]
        assert checks.sides(replace(figure, positions_m=places)).verdict == "doubtful", joints


def test_rates_that_files_claim_are_put_right_or_doubted(mocap):
    for name in ("60_01", "60_03", "61_03"):
        salsa = read(mocap / f"cmu_bvh/{name}.bvh.gz")
        assert (round(salsa.source.fps_claimed), salsa.fps) == (120, 60.0)
        assert checks.stride(salsa).value == pytest.approx(1.0, abs=0.05)
    believed = checks.stride(read(mocap / "cmu_bvh/60_01.bvh.gz", fps=120))
    assert believed.verdict == "doubtful"
    assert believed.value == pytest.approx(1.98, abs=0.06)


def test_jumps_fall_as_they_must(mocap):
    """01_01 falls with 9.8 m/s2 at 120 frames a second; the backflip of another subject 4 times as fast."""
    jump = mocap / "cmu_asfamc/01_01.amc.gz"
    assert checks.gravity(read(jump)).value == pytest.approx(-9.81, abs=0.7)
    assert checks.gravity(read(jump, fps=60)).verdict == "doubtful"
    assert checks.gravity(read(jump, fps=240)).verdict == "doubtful"
    backflip = checks.gravity(read(mocap / "cmu_asfamc/backflip.amc.gz"))
    assert backflip.verdict == "doubtful"
    assert "too fast" in backflip.message


def hands_apart(both, ours="right_wrist", theirs="right_wrist"):
    first = both.first.positions_m[:, both.first.index(ours)]
    return np.linalg.norm(both.second.positions_m[:, both.second.index(theirs)] - first, axis=1)


def test_the_hands_of_18_and_19_meet_once_the_bones_of_the_wrists_are_in(mocap):
    """Without them the right hands never come nearer than 0.38 m; 2 x 9.5 cm of wrist are what is missing."""
    paths = [mocap / f"cmu_bvh/{n}_01.bvh" for n in (18, 19)]
    without = pair(*(read(p, bones="leave") for p in paths))
    assert hands_apart(without).min() == pytest.approx(0.38, abs=0.01)
    mended = pair(*(read(p) for p in paths))
    assert 0.14 < hands_apart(mended).min() < 0.22
    hands = [m.positions_m[120:195, m.index("right_wrist")] for m in (mended.first, mended.second)]
    assert (hands[1] - hands[0]).std(axis=0).max() < 0.03, "they hold each other"


def test_salsa_partners_are_on_one_clock_and_touch(mocap):
    both = pair(read(mocap / "cmu_bvh/60_01.bvh.gz"), read(mocap / "cmu_bvh/61_01.bvh.gz"))
    assert both.first.n_frames == both.second.n_frames
    wrists = ("left_wrist", "right_wrist")
    assert min(hands_apart(both, ours, theirs).min() for ours in wrists for theirs in wrists) < 0.12


def test_330_points_are_chosen_by_label(mocap):
    path = mocap / "cmu_c3d/49_04.c3d"
    motion = read(path)
    assert len(motion.names) == 41
    assert "330 points in the file; 41 taken by their labels" in motion.source.notes
    assert len(read(path, points="all").names) == 330
    assert checks.gravity(motion).value == pytest.approx(-9.81, abs=0.7)


def test_a_stand_in_and_a_missing_skeleton(mocap):
    assert "stands in" in read(mocap / "cmu_asfamc/14_14.amc.gz").source.notes[0]
    with pytest.raises(DataError, match="skeleton is missing"):
        read(mocap / "cmu_asfamc/zeros.amc")


def test_clips_by_a_stand_in_are_flagged_where_a_benchmark_is_made(mocap, tmp_path):
    rows = ["label,set,intention,group,subject,trial,file", "jack,single,to train,sport,13,29,"]
    rows += ["walk,single,to go,going,2,1,"]
    rows += [f"{name},single,to {name},{name},,,walker:{name}?duration_s=1" for name in ("wave", "bow")]
    (tmp_path / "map.csv").write_text("\n".join(rows))
    (tmp_path / "a.toml").write_text(f'name = "a"\nmap = "map.csv"\nmotions = "{mocap / "cmu_asfamc"}"\n')
    shop = BuildContext(cache_root=tmp_path / "cache", memory=tmp_path / "m.sqlite", on_event=lambda _: None)
    made = create_maker().make(tmp_path / "a.toml", overrides=MakeOverrides(), context=shop)
    assert "1 of them have another subject's bones: jack-13_29." in made.sentences
    doubts = (made.folder / "doubts.csv").read_text()
    assert "12.asf stands in" in doubts
    assert "walk-02_01" not in doubts


@pytest.mark.parametrize("name", ["02_01", "49_04"])
def test_c3d_is_what_a_library_reads(mocap, name):
    ezc3d = pytest.importorskip("ezc3d", reason="the test group has ezc3d")
    path = mocap / f"cmu_c3d/{name}.c3d"
    theirs = np.moveaxis(ezc3d.c3d(str(path))["data"]["points"][:3], 0, 2).swapaxes(0, 1)
    ours = read(path, points="all")
    np.testing.assert_allclose(ours.positions_m, theirs[..., [1, 2, 0]] / 1000, rtol=1e-12)
    assert ours.is_valid.sum() == np.isfinite(theirs).all(axis=2).sum()
