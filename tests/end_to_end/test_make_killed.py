"""`vidence make` killed (SIGKILL) while it watches or writes: the same command ends as if it was not."""

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from subjects.making import contents
from subjects.samples import GOLDEN
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
tracker = "sort"
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
at = sys.argv.pop(1)
def killing(plain):
    def put(self, target):
        if pathlib.Path(target).match(at):
            os.kill(os.getpid(), signal.SIGKILL)
        return plain(self, target)
    return put
pathlib.Path.replace = killing(pathlib.Path.replace)
pathlib.Path.rename = killing(pathlib.Path.rename)
from vidence.cli.main import main
main()
"""


@pytest.fixture
def folder(vidence) -> Path:
    pytest.importorskip("cv2", reason="needs the extra 'build'")
    film(vidence.folder / "street.mp4", WALKERS, n_frames=N_FRAMES)
    (vidence.folder / "config.toml").write_text(CONFIG)
    rows = [
        f"street,{i},{i + 1},{w} cup {i},{w},cup {i}\n" for i, w in enumerate(("take", "wash", "dry") * 5)
    ]
    (vidence.folder / "log.csv").write_text(LOG + "".join(rows))
    return vidence.folder


def killed_at(vidence, name: str, *words: str) -> None:
    """Run a command that is killed when it has written a file and not yet put it in its place."""
    process = subprocess.run(
        [sys.executable, "-c", SELF_KILLING, name, *words],
        cwd=vidence.folder,
        env=vidence.env,
        capture_output=True,
        check=False,
    )
    assert process.returncode == -signal.SIGKILL, process.stderr


def test_a_making_killed_while_it_watches_and_at_one_file_after_the_other_goes_on(vidence, folder):
    done = vidence(*WORDS, "--out", "out")
    assert done.code == 0, done.err
    kept = contents((folder / "out").rename(folder / "whole"))
    process = vidence.start(*WORDS, "--out", "out")
    chunks = folder / "out" / "stages" / "chunks"
    while not list(chunks.glob("*.json")):
        assert process.poll() is None
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert not (folder / "out" / "account.json").exists()
    (chunks / f".half.{whole._here()}-{process.pid}-{'0' * 16}.json").write_text("half")
    for name in ("stages/boxes/*.json", "drafts.jsonl", "account.json", "report.html"):
        killed_at(vidence, name, *WORDS, "--out", "out")
        assert any(Path(path).name.startswith(".") for path in contents(folder / "out"))
    done = vidence(*WORDS, "--out", "out")
    assert done.code == 0, done.err
    assert contents(folder / "out") == kept


@pytest.mark.parametrize(
    ("maker", "names"),
    [
        ("choices", ("items.jsonl", "calls.jsonl", "human-p.jsonl", "account.json")),
        ("compose", ("stages/search/*.json", "items.jsonl", "proofs.jsonl", "account.json")),
        ("expert", ("drafts-checked.csv", "items.jsonl", "release/workshop-1.0.0", "account.json")),
    ],
)
def test_questions_that_are_written_otherwise_are_the_same_after_a_kill(vidence, maker, names):
    """One folder, killed at one file after the other, and then let go on."""
    for path in (GOLDEN / "makers" / maker).iterdir():
        (vidence.folder / path.name).write_bytes(path.read_bytes())
    words = ("make", maker, "config.toml", "--progress", "none")
    done = vidence(*words, "--out", "whole")
    assert done.code == 0, done.err
    kept = contents(vidence.folder / "whole")
    for name in names:
        killed_at(vidence, name, *words, "--out", "out")
    assert "account.json" not in contents(vidence.folder / "out")
    for _ in range(2):
        done = vidence(*words, "--out", "out")
        assert done.code == 0, done.err
        assert contents(vidence.folder / "out") == kept


def test_a_review_of_experts_killed_between_its_two_files_goes_on(vidence):
    """Wordings are written before their events; those that a kill left without any are taken up."""
    folder = vidence.folder
    for path in (GOLDEN / "makers" / "expert").iterdir():
        (folder / path.name).write_bytes(path.read_bytes())
    with (folder / "config.toml").open("a") as file:
        file.write("[review]\n")
    words = ("make", "expert", "config.toml", "--progress", "none", "--out", "out")
    killed_at(vidence, "review/reviews.jsonl", *words)
    assert len(contents(folder / "review")) == 4  # the mark, the protocol, wordings, half of the events
    before = (folder / "review" / "revisions.jsonl").read_bytes()
    assert before.count(b"\n") == 3
    done = vidence(*words)
    assert done.code == 0, done.err
    assert (folder / "review" / "revisions.jsonl").read_bytes() == before
    there = {".vidence-review", "protocol.toml", "revisions.jsonl", "reviews.jsonl"}
    assert set(contents(folder / "review")) == there
    assert "3 items: 3 submitted." in vidence("items", "review", "state", "review").out
    kept = contents(folder / "out"), contents(folder / "review")
    assert vidence(*words).code == 0
    assert (contents(folder / "out"), contents(folder / "review")) == kept
