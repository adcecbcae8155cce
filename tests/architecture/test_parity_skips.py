"""On a machine without the check files every test that needs them is skipped, and says what is absent."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("is_there", [True, False], ids=["empty folders", "no folders"])
def test_parity_without_files_is_skipped_with_a_reason(is_there: bool, tmp_path: Path) -> None:
    checks, data = tmp_path / "checks", tmp_path / "data"
    if is_there:
        checks.mkdir()
        data.mkdir()
    places = {"VIDENCE_CHECKS": str(checks), "VIDENCE_DATA": str(data)}
    # Some files each: on a machine without the folders all of them are skipped in the run itself.
    files = sorted(map(str, (ROOT / "tests" / "parity").glob("test_*.py")))[
        2 * is_there :: 4 if is_there else 12
    ]
    words = ["-q", "-rs", "-p", "no:cacheprovider", "-p", "no:xdist", *files]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *words],
        cwd=ROOT,
        env=os.environ | places | {"COLUMNS": "400"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    (ending,) = re.findall(r"^(.*\d+ skipped.*) in [\d.]+s", done.stdout, re.MULTILINE)
    assert not re.search("failed|error", ending), done.stdout
    reasons = re.findall(r"^SKIPPED \[\d+\] \S+ (.*)$", done.stdout, re.MULTILINE)
    assert reasons
    for reason in reasons:
        assert re.search(r"set VIDENCE_(CHECKS|DATA)|needs |`make test-long`", reason), reason
