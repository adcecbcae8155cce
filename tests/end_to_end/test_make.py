"""``vidence make`` as a user runs it: questions from a log, asked at once, in both formats."""

import json
import shutil
from pathlib import Path

from end_to_end.conftest import write_clip

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
    first, *_ = done.out.splitlines()
    assert (done.code, first) == (0, "config.toml makes sense")
    assert "At most 50 questions of 4 tasks: AC 15, ASII 15, FAM 5, FOM 15." in done.out
    assert not (vidence.folder / "made").exists()


def test_where_nothing_can_be_made_both_say_what_to_add_and_the_code_is_3(vidence):
    (vidence.folder / "v").mkdir()
    write_clip(vidence.folder / "v" / "a.mp4", n_frames=12)
    (vidence.folder / "v" / "b.mp4").write_text("no video")
    (vidence.folder / "c.toml").write_text('name = "n"\nvideos = "v"\n[[sources]]\npath = "*.mp4"\n')
    for more in (("--check",), ()):
        done = vidence("make", "herbench", "c.toml", *more)
        assert done.code == 3, done.err
        top = done.out.splitlines()[:10]
        assert "Add [tracking] and people's counts for RLPC (1 task)." in top
        assert "Add [shots] and [scenes] or scene_cards for SVA and TSO (2 tasks)." in top
        assert "Add [[logs]] for AC, ASII, FAM and FOM (4 tasks)." in top
        assert "b.mp4" in f"{done.out}{done.err}"
    said = vidence("make", "herbench", "c.toml", "--check", "--json", "-")
    assert (said.code, json.loads(said.out)["tables"][0]["name"]) == (3, "outlook")
