"""Studios of earlier versions: brought up to date with their rows, and whole wherever that was ended."""

import json
import subprocess
import sys
from pathlib import Path

from subjects import old_studios


def contents(folder):
    return {str(one.relative_to(folder)): one.read_bytes() for one in folder.rglob("*") if one.is_file()}


def test_every_earlier_version_gives_the_same_files_and_no_kill_leaves_half_of_it(tmp_path):
    done = subprocess.run(
        [sys.executable, Path(old_studios.__file__), tmp_path],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    today = contents(tmp_path / "out-today")
    assert today[str(Path("tables", "saves.jsonl"))].count(b"\n") == 3
    earlier = sorted(tmp_path.glob("out-0*"))
    assert [one.name for one in earlier[:2]] == ["out-0001_first", "out-0002_people"]
    for one in earlier:
        name = one.name.removeprefix("out-")
        assert contents(one) == today, name
        (copy,) = (tmp_path / name / "backups").iterdir()
        assert copy.name.startswith(f"before-{name}-")
        _, noted = old_studios.told(copy)
        assert max(one for app, one in noted if app == "studio") == name

    ends = [json.loads(line) for line in done.stdout.splitlines()]
    assert [one["left"] for one in ends if one["left"] not in (["old"], ["new"])] == []
    assert (ends[0]["left"], ends[-1]["left"]) == (["old"], ["new"])
    assert all(one["sound"] == "ok" and one["again"] for one in ends), ends
