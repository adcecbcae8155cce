"""``vidence make`` as a user runs it: questions from a log, asked at once, in both formats."""

import json
import shutil
from pathlib import Path

GOLDEN = Path(__file__).parents[1] / "golden" / "makers" / "herbench"


def copied(folder: Path) -> None:
    for path in GOLDEN.iterdir():
        shutil.copy(path, folder / path.name)


def test_what_is_made_can_be_asked(vidence):
    copied(vidence.folder)
    done = vidence("make", "herbench", "config.toml")
    assert done.code == 0, done.err
    out = vidence.folder / "made" / "kitchens"
    n = len((out / "items.jsonl").read_text().splitlines())
    assert f"{n} questions" in done.out
    assert "130 events -> 130" in done.err
    assert (out / "report.html").read_text().count("<h2") >= 6
    account = json.loads((out / "account.json").read_text())
    assert sum(account["questions"].values()) == n
    for benchmark, data in (("table", "items.jsonl"), ("herbench", "data")):
        words = ("run", benchmark, "--data", str(out / data), "--model", "baseline:constant?letter=A")
        asked = vidence(*words, "--out", f"run-{benchmark}")
        assert asked.code == 0, asked.err
    by_table, by_herbench = vidence.trials("run-table"), vidence.trials("run-herbench")
    assert by_table.keys() == by_herbench.keys()
    assert len(by_table) == n
    assert {name: t.score.value for name, t in by_table.items()} == {
        name: t.score.value for name, t in by_herbench.items()
    }


def test_faults_are_one_message_and_code_2(vidence):
    copied(vidence.folder)
    config = vidence.folder / "config.toml"
    config.write_text(config.read_text().replace("seed = 3", "sead = 3"))
    done = vidence("make", "herbench", "config.toml", "--check")
    assert done.code == 2
    assert done.err.strip().splitlines()[-1].startswith("vidence: config.toml:3: there is no setting 'sead'.")
    assert "Did you mean 'seed'" in done.err
    done = vidence("make", "herbnch", "config.toml")
    assert done.code == 2
    assert "Did you mean 'herbench'" in done.err


def test_a_check_makes_nothing(vidence):
    copied(vidence.folder)
    done = vidence("make", "herbench", "config.toml", "--check")
    assert (done.code, done.out.strip()) == (0, "config.toml makes sense")
    assert not (vidence.folder / "made").exists()


def test_every_kind_of_part_can_be_listed(vidence):
    for kind, name in {
        "makers": "herbench",
        "tasks": "fam",
        "detectors": "hog",
        "shot-detectors": "content",
        "event-logs": "plain",
        "mocap-formats": "bvh",
    }.items():
        done = vidence("list", kind)
        assert done.code == 0
        assert name in done.out.split()
