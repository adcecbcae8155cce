"""People at a studio, claims at once, and `kill -9` in bursts of saves: the bench in short, without times."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

_BENCH = Path(__file__).parents[2] / "bench" / "studio_load.py"


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="the bench reads /proc, which only Linux has")
def test_no_answer_fails_and_no_acknowledged_save_is_lost(tmp_path):
    command = [
        *(sys.executable, str(_BENCH), "--quick", "--only", "people,kill,disk"),
        *("--folder", str(tmp_path)),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    said = done.stdout + done.stderr
    assert done.returncode == 0, said
    rows = dict(re.findall(r"^\| (.+?) \| (.+?) \|", done.stdout, re.MULTILINE))
    found = {what.partition(": ")[2]: figure for what, figure in rows.items()}
    assert found["answers that were not expected"] == found['"database is locked"'] == "0", said
    assert found["lost"] == found["files that fail the check of integrity"] == "0", said
    assert found["won, refused"] == "1, 49", said
    assert int(found["acknowledged saves"].replace(",", "")) > 0
    assert int(found["handed in or decided"]) > 0
