"""The diagnostic of docs/diagnostics/index.md, as a distribution of its own, passes what all must pass."""

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def site(page, tmp_path) -> Path:
    """The distribution of the page, as an installer leaves it."""
    files = {block.title: block.body for block in page["docs/diagnostics/index.md"].blocks() if block.title}
    assert set(files) == {"halves.py", "pyproject.toml"}
    (tmp_path / "halves.py").write_text(files["halves.py"], encoding="utf-8")
    project = tomllib.loads(files["pyproject.toml"])["project"]
    info = tmp_path / f"vidence_halves-{project['version']}.dist-info"
    info.mkdir()
    head = f"Metadata-Version: 2.4\nName: {project['name']}\nVersion: {project['version']}\n"
    (info / "METADATA").write_text(head)
    ((group, points),) = project["entry-points"].items()
    lines = [f"[{group}]", *(f"{name} = {module}" for name, module in points.items())]
    (info / "entry_points.txt").write_text("\n".join(lines))
    return tmp_path


def python(site: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    paths = [str(site), str(ROOT / "src"), os.environ.get("PYTHONPATH", "")]
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))},
        capture_output=True,
        text=True,
        check=False,
    )


def test_it_passes_the_checks_of_every_diagnostic(site):
    tests = "tests/conformance/test_diagnostics.py"
    done = python(site, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-k", "halves", tests)
    assert done.returncode == 0, done.stdout + done.stderr
    n_passed = re.search(r"(\d+) passed", done.stdout)
    assert n_passed
    assert int(n_passed[1]) >= 12


def test_it_says_what_it_is_in_one_line(site):
    done = python(site, "-c", "from vidence import catalog; print(catalog.summary('diagnostic', 'halves'))")
    assert done.stdout.strip() == "Whether the second half of the frames is worth more than the first."


def test_it_finds_the_half_that_is_planted(site):
    """Every second question is right with its second half, none with its first."""
    done = python(site, "-c", PLANTED)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["0.0", "0.5", "0.5"]


PLANTED = """
import sys
sys.path.insert(0, "tests")
import numpy as np
from subjects.simulated import Simulated, drive, times_shown
from vidence.catalog import create
from vidence.contracts import Examined
from vidence.records import Item, Media, Reply

one, found = create("diagnostic", "halves"), []
for n in range(40):
    media = (Media(path=f"{n}.mp4"),)
    item = Item(item_id=f"q{n}", media=media, question="?", choices=("a", "b"), answer="A")
    flow = one.examine(Simulated(item, {"plan": (0.0, 1.0, 2.0, 3.0)}))
    says = lambda ask: Reply(text="A" if n % 2 and times_shown(ask) == (2.0, 3.0) else "B")
    found.append(Examined(item=item, finding=drive(flow, says).made))
(table,) = one.summarise(found, rng=np.random.default_rng(0), level=0.95)
for row, column in (("first", "accuracy"), ("second", "accuracy"), ("second", "more")):
    print(table.value(row, column).value)
"""
