"""`vidence make` killed (SIGKILL) while it watches or writes: the same command ends as if it was not."""

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from vidence.media import whole
from videos.walkers import Walker, film

WALKERS = tuple(
    Walker(left_px=-30.0 - 40 * i, top_px=20.0 + 25 * (i % 5), speed_px=(4.0, 0.0)) for i in range(8)
)
N_FRAMES = 330
CONFIG = """
name = "killed"
seed = 2
[[sources]]
path = "street.mp4"
licence = "CC0-1.0"
[[logs]]
format = "plain"
path = "log.csv"
[tracking]
detector = "hog:?least_px=90&ladder=1.3"
tracker = "motion"
rate = 5
[tracking.refine.filter]
least_area_px = 500.0
[shots]
[tasks.rlpc]
options = { count = "paper" }
[tasks.asii]
[review]
each_task = 2
[release]
version = "1"
unreviewed = true
"""
LOG = "video_id,start,end,narration,verb,noun\n"
WORDS = ("make", "herbench", "config.toml", "--jobs", "1", "--progress", "none")
# Kills itself when the file named first is written and not yet in its place.
SELF_KILLING = """
import os, pathlib, signal, sys
at, plain = sys.argv.pop(1), pathlib.Path.replace
def replace(self, target):
    if pathlib.Path(target).match(at):
        os.kill(os.getpid(), signal.SIGKILL)
    return plain(self, target)
pathlib.Path.replace = replace
from vidence.cli.main import main
main()
"""


@pytest.fixture(scope="module")
def street(tmp_path_factory) -> Path:
    pytest.importorskip("cv2", reason="needs the extra 'build'")
    return film(tmp_path_factory.mktemp("film") / "street.mp4", WALKERS, n_frames=N_FRAMES)


def contents(folder: Path) -> dict[str, bytes]:
    """All files, hidden ones too."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()
    }


@pytest.fixture(scope="module")
def uninterrupted() -> dict[str, dict[str, bytes]]:
    return {}


@pytest.fixture
def folder(vidence, street) -> Path:
    (vidence.folder / "street.mp4").write_bytes(street.read_bytes())
    (vidence.folder / "config.toml").write_text(CONFIG)
    rows = [
        f"street,{i},{i + 1},{w} cup {i},{w},cup {i}\n" for i, w in enumerate(("take", "wash", "dry") * 5)
    ]
    (vidence.folder / "log.csv").write_text(LOG + "".join(rows))
    return vidence.folder


def whole_making(vidence, kept: dict[str, dict[str, bytes]]) -> dict[str, bytes]:
    """What a making that nobody stops leaves, made once."""
    if not kept:
        done = vidence(*WORDS, "--out", "out")
        assert done.code == 0, done.err
        kept["files"] = contents((vidence.folder / "out").rename(vidence.folder / "whole"))
    return kept["files"]


def test_a_making_killed_while_it_watches_goes_on(vidence, folder, uninterrupted):
    kept = whole_making(vidence, uninterrupted)
    process = vidence.start(*WORDS, "--out", "out")
    chunks = folder / "out" / "stages" / "chunks"
    while not list(chunks.glob("*.json")):
        assert process.poll() is None
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert not (folder / "out" / "account.json").exists()
    (chunks / f".half.{whole._here()}-{process.pid}-{'0' * 16}.json").write_text("half")
    done = vidence(*WORDS, "--out", "out")
    assert done.code == 0, done.err
    assert contents(folder / "out") == kept


@pytest.mark.parametrize(
    "name",
    ["stages/boxes/*.json", "drafts.jsonl", "account.json", "report.html"],
)
def test_a_making_killed_while_it_writes_goes_on(vidence, folder, uninterrupted, name):
    kept = whole_making(vidence, uninterrupted)
    process = subprocess.run(
        [sys.executable, "-c", SELF_KILLING, name, *WORDS, "--out", "out"],
        cwd=folder,
        env=vidence.env,
        capture_output=True,
        check=False,
    )
    assert process.returncode == -signal.SIGKILL, process.stderr
    left = set(contents(folder / "out")) - set(kept)
    assert any(Path(path).name.startswith(".") for path in left)
    done = vidence(*WORDS, "--out", "out")
    assert done.code == 0, done.err
    assert contents(folder / "out") == kept
