"""Fifty participants at once, in short and without times, which `bench/study_load.py` takes."""

import re
import subprocess
import sys
from pathlib import Path

_BENCH = Path(__file__).parents[3] / "bench" / "study_load.py"


def test_fifty_participants_at_once_meet_no_fault(tmp_path):
    command = [sys.executable, str(_BENCH), "--seconds", "8", "--pace", "2", "--folder", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    rows = dict(re.findall(r"^\| study: (.+?) \| (.+?) \|", done.stdout, re.MULTILINE))
    assert rows["answers that were not expected"] == "0", done.stdout + done.stderr
    assert int(rows["saves of participants"].split()[0]) >= 50
