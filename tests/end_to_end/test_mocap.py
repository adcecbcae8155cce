"""``vidence lights mocap``: what a file of motion capture holds."""

import json

from subjects.mocap_files import AMC, ASF, cmu_bvh, write


def test_a_batch_is_told_and_goes_on_after_a_bad_file(vidence):
    walk = [[0, 17, 0.1 * t, 1, 2, 3] for t in range(20)]
    write(vidence.folder, "60_01.bvh", cmu_bvh([[0, 17, -10, 0, 0, 0], *walk]))
    write(vidence.folder, "07_01.amc", AMC)
    write(vidence.folder, "bad.bvh", cmu_bvh(walk).rsplit("\n", 2)[0] + "\n")
    done = vidence("lights", "mocap", "bad.bvh", "07_01.amc", "60_01.bvh")
    assert done.code == 1
    assert "bad.bvh: not read" in done.err
    assert "19 frames, but the file announces 20; the file is cut off" in done.err
    assert "07_01.amc: its skeleton is missing" in done.err
    told = done.out.splitlines()
    assert told[0] == "60_01.bvh"
    assert told[1].startswith("  bvh (cmu-motionbuilder), joints, ")
    assert "  60 frames per second (120 claimed): the file claims 120; subject 60" in done.out
    assert "  one unit is 0.0564444 m" in done.out
    assert "note: the bone thorax was missing; 0.119 m put in" in done.out
    assert "note: the first frame is a T-pose put before the recording; dropped" in done.out
    assert "  frames 20 frames, fine" in done.out


def test_records_and_options(vidence):
    write(vidence.folder, "toy.asf", ASF.format(length="0.45"))
    write(vidence.folder, "walk.amc", AMC)
    done = vidence(
        "lights", "mocap", "walk.amc", "--json", "-", "--option", "skeleton=toy.asf", "--option", "fps=100"
    )
    assert done.code == 0
    (report,) = json.loads(done.out)["files"]
    assert (report["fps"], report["n_frames"], report["is_usable"]) == (100.0, 2, False)
    assert report["points"] == ["root", "thigh", "shin"]
    doubtful = {c["name"]: c for c in report["checks"] if c["verdict"] == "doubtful"}
    assert set(doubtful) == {"frames", "first-step", "jumps"}
    # The shin of 7 units turns by 90 degrees in a hundredth of a second.
    assert abs(doubtful["jumps"]["value"] - 7 * 2**0.5 * 0.0564444 * 100) < 0.01
    wrong = vidence("lights", "mocap", "walk.amc", "--option", "skeleton")
    assert wrong.code == 2
    assert "is not key=value" in wrong.err


def test_names_that_no_map_has_are_told(vidence):
    walk = [[0, 17, 0.1 * t, 1, 2, 3] for t in range(20)]
    text = cmu_bvh(walk)
    for kind in ("ROOT ", "JOINT "):
        text = text.replace(kind, f"{kind}Rig_")
    write(vidence.folder, "own.bvh", text)
    shown = vidence("lights", "render", "own.bvh", "--option", "units=cmu", "--out", "clip")
    assert shown.code == 2
    assert "--option map=MAP.toml takes a map of yours" in shown.err
    wrong = vidence("lights", "mocap", "own.bvh", "--option", "units=cmu", "--option", "map=mixama")
    assert "Did you mean mixamo?" in wrong.err
