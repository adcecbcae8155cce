"""kill -9, power cuts, damaged files, two runs at once: nothing acknowledged is lost, nothing paid twice."""

import json
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

import av
import numpy as np
import pytest

from servers.openai_stub import Body, OpenAIStub
from vidence.cli.main import main
from vidence.engine.memory import Memory
from vidence.engine.store import LogSync, RunStore
from vidence.records import Answered, Item, Reply, Score, Trial

Effort = Callable[[int, int], int]
Record = Callable[[str, int, int], None]
GOLDEN = Path(__file__).parents[1] / "golden" / "makers" / "herbench"
AT_ONCE = 4
PATIENCE_S = 120.0


@dataclass(frozen=True)
class Command:
    """A command that asks a server; `n_most` requests are as many as it needs without a kill."""

    folder: Path
    server: OpenAIStub
    words: tuple[str, ...]

    @property
    def env(self) -> dict[str, str]:
        return os.environ | {"VIDENCE_CACHE": str(self.folder / "cache")}

    def start(self) -> subprocess.Popen[bytes]:
        with (self.folder / "errors.txt").open("wb") as errors:
            return subprocess.Popen(
                [sys.executable, "-m", "vidence", *self.words],
                cwd=self.folder,
                env=self.env,
                stdout=subprocess.DEVNULL,
                stderr=errors,
            )

    def acknowledged(self) -> set[bytes]:
        """The keys of the replies that anybody can read."""
        path = self.folder / "cache" / "replies.sqlite"
        if not path.exists():
            return set()
        with closing(sqlite3.connect(path, timeout=30)) as db:
            if not db.execute("SELECT 1 FROM sqlite_master WHERE name = 'replies'").fetchone():
                return set()
            return {key for (key,) in db.execute("SELECT key FROM replies")}

    def survivors(self) -> list[int]:
        """Processes that still belong to this command."""
        mark = f"VIDENCE_CACHE={self.folder / 'cache'}".encode()
        found = []
        for path in Path("/proc").glob("[0-9]*/environ"):
            try:
                if mark in path.read_bytes().split(b"\0"):
                    found.append(int(path.parent.name))
            except OSError:
                continue  # it is gone, or belongs to somebody else
        return found


def said(body: Body) -> str:
    """A letter for questions, and a verdict with the id of its form for judges."""
    form = re.search(r"\b[0-9a-f]{16}\b", json.dumps(body))
    verdict = {"id": form[0] if form else "", "extracted_answer": "a", "correct": True}
    return json.dumps(verdict) if form else "Answer: A"


def write_questions(folder: Path, n: int, *, kind: str = "choice", clip: str = "") -> None:
    lines = []
    for i in range(n):
        media = [{"path": clip}] if clip else []
        line = {"item_id": f"q{i}", "question": f"What is number {i}?", "answer_kind": kind, "media": media}
        answer = (
            {"choices": ["one", "two", "three"], "answer": "A"} if kind == "choice" else {"answer": "one"}
        )
        lines.append(json.dumps(line | answer))
    (folder / "q.jsonl").write_text("\n".join(lines))


def write_clip(path: Path) -> None:
    with av.open(str(path), "w") as container:
        stream = container.add_stream("libx264", rate=10)
        stream.width, stream.height, stream.pix_fmt = 64, 48, "yuv420p"
        for number in range(20):
            image = np.full((48, 64, 3), number * 12, np.uint8)
            for packet in stream.encode(av.VideoFrame.from_ndarray(image, format="rgb24")):
                container.mux(packet)
        for packet in stream.encode():
            container.mux(packet)


def asking(folder: Path, n: int, model: str) -> tuple[str, ...]:
    write_questions(folder, n)
    words = ("run", "table", "--data", "q.jsonl", "--out", "out", "--no-page", "--frames", "2")
    return (*words, "--model", model, "--concurrency", str(AT_ONCE))


def judging(folder: Path, n: int, model: str) -> tuple[str, ...]:
    write_questions(folder, n, kind="text")
    replies = [{"item_id": f"q{i}", "text": f"It is one, number {i}."} for i in range(n)]
    (folder / "r.jsonl").write_text("\n".join(map(json.dumps, replies)))
    words = ("run", "table", "--data", "q.jsonl", "--out", "out", "--no-page", "--model", "replay:r.jsonl")
    done = subprocess.run(
        [sys.executable, "-m", "vidence", *words],
        cwd=folder,
        env=os.environ | {"VIDENCE_CACHE": str(folder / "cache")},
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    words = ("replies", "judge", "out", "--judge", "mmvu-official", "--judge-model", model, "--no-page")
    return (*words, "--concurrency", str(AT_ONCE))


def diagnosing(folder: Path, n: int, model: str) -> tuple[str, ...]:
    write_clip(folder / "v.mp4")
    write_questions(folder, n, clip="v.mp4")
    words = ("diagnose", "mrfs", "table", "--data", "q.jsonl", "--out", "out", "--no-page", "--frames", "4")
    return (*words, "--model", model, "--set", "max=4", "--concurrency", str(AT_ONCE))


def making(folder: Path, n: int, model: str) -> tuple[str, ...]:
    for path in GOLDEN.iterdir():
        shutil.copy(path, folder / path.name)
    gate = f'\n[models]\na = "{model}"\n\n[gates.text_only]\nmodels = ["a"]\nat_least = 1\n'
    (folder / "config.toml").write_text((folder / "config.toml").read_text() + gate)
    return ("make", "herbench", "config.toml", "--out", "out")


KINDS = {"run": asking, "judge": judging, "mrfs": diagnosing, "make": making}


def kill_once(command: Command, rng: np.random.Generator) -> set[bytes] | None:
    """Kill a command in the middle; what was acknowledged before, None where it ended by itself."""
    at = command.server.n_requests + int(rng.integers(2, 9))
    process = command.start()
    end_s = time.monotonic() + PATIENCE_S
    while command.server.n_requests < at and process.poll() is None:
        assert time.monotonic() < end_s, (command.folder / "errors.txt").read_text()
        time.sleep(0.002)
    before = command.acknowledged()
    has_ended = process.poll() is not None
    process.send_signal(signal.SIGKILL)
    process.wait()
    return None if has_ended else before


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="processes are found by /proc")
@pytest.mark.parametrize("kind", KINDS)
def test_killed_and_taken_up_nothing_is_lost_or_paid_twice(
    tmp_path: Path, kind: str, effort: Effort, record_attack: Record
) -> None:
    n_kills = effort(2 if kind == "run" else 1, 40)
    rng = np.random.default_rng(len(kind))
    with OpenAIStub(answer=said, latency_s=0.1) as server:
        model = f"openai:m?base_url={server.base_url}"
        command = Command(tmp_path, server, KINDS[kind](tmp_path, 6 * n_kills + 8, model))
        n_killed, n_lost = 0, 0
        for _ in range(n_kills):
            before = kill_once(command, rng)
            if before is None:
                break
            n_killed += 1
            n_lost += len(before - command.acknowledged())
        last = command.start()
        code = last.wait(timeout=PATIENCE_S)
        n_repeated = server.n_requests - len({one.raw for one in server.requests})
    end_s = time.monotonic() + 30
    while (survivors := command.survivors()) and time.monotonic() < end_s:
        time.sleep(0.1)
    at_once = 16 if kind == "make" else AT_ONCE * (4 if kind == "mrfs" else 1)  # a flow asks some together
    is_held = n_lost == 0 and n_repeated <= at_once * n_killed and not survivors
    record_attack(f"kill -9: {kind}", n_killed, n_killed if is_held else 0)
    assert n_killed >= 1
    assert code in ((0,) if kind == "judge" else (0, 3)), (tmp_path / "errors.txt").read_text()
    assert (n_lost, survivors) == (0, [])
    assert n_repeated <= at_once * n_killed


@pytest.mark.parametrize("is_killed", [False, True])
def test_two_runs_at_once_ask_once(
    tmp_path: Path, is_killed: bool, effort: Effort, record_attack: Record
) -> None:
    n = effort(40, 500)
    if is_killed and n < 500:
        pytest.skip("with VIDENCE_ATTACK=long")
    with OpenAIStub(answer="A", latency_s=0.05) as server:
        model = f"openai:m?base_url={server.base_url}"
        first = Command(tmp_path, server, asking(tmp_path, n, model))
        second = Command(tmp_path, server, (*first.words, "--out", "out-2"))
        one, two = first.start(), second.start()
        if is_killed:
            while server.n_requests < n // 3:
                time.sleep(0.002)
            one.send_signal(signal.SIGKILL)
            one.wait()
        codes = [process.wait(timeout=PATIENCE_S) for process in (one, two)]
    most = n + (AT_ONCE if is_killed else 0)
    is_held = server.n_requests <= most and codes[1] == 0
    record_attack("two runs on one memory", 1, int(is_held))
    assert codes == [-signal.SIGKILL if is_killed else 0, 0]
    assert n <= server.n_requests <= most


_WRITER = """
import sys
from pathlib import Path
from vidence.engine.memory import Memory
from vidence.records import Reply
with Memory(Path(sys.argv[1])) as memory:
    for i in range(10**9):
        memory.put(i.to_bytes(32, "big"), Reply(text=f"{i} " * 20))
        print(i, flush=True)
        sys.stdin.readline()
"""


@contextmanager
def mounted(image: Path, folder: Path) -> Iterator[None]:
    """A file as a disk; skips where that is not allowed."""
    folder.mkdir(exist_ok=True)
    done = subprocess.run(["mount", "-o", "loop", image, folder], capture_output=True, check=False)
    if done.returncode:
        pytest.skip(f"no file can be mounted here: {done.stderr.decode().strip()}")
    try:
        yield
    finally:
        subprocess.run(["umount", "-l", folder], check=True)


@pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() != 0 or shutil.which("mkfs.ext4") is None,
    reason="mounting a file needs root and mkfs.ext4",
)
def test_a_power_cut_costs_no_more_than_is_said(
    tmp_path: Path, effort: Effort, record_attack: Record
) -> None:
    n_cuts = effort(1, 12)
    disk = tmp_path / "disk"
    with disk.open("wb") as file:
        file.truncate(24 * 2**20)
    subprocess.run(["mkfs.ext4", "-q", "-F", disk], check=True)
    cuts: list[tuple[Path, int]] = []
    with mounted(disk, tmp_path / "live"):
        # Into a pipe, one answer at a time: the last number that is read was acknowledged before the cut.
        writer = subprocess.Popen(
            [sys.executable, "-c", _WRITER, str(tmp_path / "live" / "replies.sqlite")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert writer.stdin is not None
        assert writer.stdout is not None
        times_s: list[float] = []
        for n in range(n_cuts):
            begun_s = None if n == 0 else time.monotonic()
            while begun_s is None or time.monotonic() < begun_s + LogSync.EVERY_S + 1.5 + 0.3 * (n % 4):
                assert int(writer.stdout.readline()) == len(times_s)
                times_s.append(time.monotonic())
                begun_s = begun_s or times_s[0]
                time.sleep(0.02)  # as servers answer: SQLite syncs by itself after 1,000 pages
                writer.stdin.write("\n")
                writer.stdin.flush()
            # What has reached the disk by now, and nothing that the system still holds.
            cut_s, path = time.monotonic(), tmp_path / f"cut-{n}"
            shutil.copyfile(disk, path)
            must = sum(one < cut_s - LogSync.EVERY_S - 0.7 for one in times_s)
            cuts.append((path, must))
        writer.kill()
        writer.communicate()
    n_held = 0
    for path, must in cuts:
        assert must > 0
        with mounted(path, tmp_path / "after"), Memory(tmp_path / "after" / "replies.sqlite") as memory:
            found = [memory.get(i.to_bytes(32, "big")) for i in range(must)]
            n_held += all(one == Reply(text=f"{i} " * 20) for i, one in enumerate(found))
    record_attack("power cuts", len(cuts), n_held)
    assert n_held == len(cuts)


def test_a_damaged_run_is_a_message(
    tmp_path: Path,
    effort: Effort,
    record_attack: Record,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    whole, folder = tmp_path / "whole", tmp_path / "run"
    write_questions(tmp_path, 12)
    words = ("run", "table", "--data", str(tmp_path / "q.jsonl"), "--out", str(whole), "--no-page")
    monkeypatch.setenv("VIDENCE_CACHE", str(tmp_path / "cache"))
    with pytest.raises(SystemExit):
        main([*words, "--model", "scripted:A é"])
    content = (whole / "run.sqlite").read_bytes()
    rng = np.random.default_rng(0)
    n, fallen = effort(15, 600), {}
    for case in range(n):
        damaged = bytearray(content)
        for at in rng.integers(100, len(content), size=1 + case % 30):
            damaged[at] = int(rng.integers(0, 256))
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(whole, folder)
        (folder / "run.sqlite").write_bytes(damaged)
        with pytest.raises(SystemExit) as ended:
            main(["report", str(folder)])
        if ended.value.code not in (0, 2):
            fallen[case] = ended.value.code
        capsys.readouterr()
    record_attack("damaged run.sqlite", n, n - len(fallen))
    assert fallen == {}


def test_a_text_that_is_no_text_is_a_message(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    item = Item(item_id="q", question="?", choices=("x", "y"), answer="A")
    score = Score(outcome=Answered(answer="A"), value=1.0, scorer="robust", scorer_version=1)
    with RunStore(tmp_path, is_writer=True) as store:
        store.put_items([item])
        store.add(Trial(item_id="q", reply=Reply(text="rabbit"), score=score))
    path = tmp_path / "run.sqlite"
    path.write_bytes(path.read_bytes().replace(b"rabbit", b"ra\xff\xfeit"))
    with pytest.raises(Exception, match=r"run\.sqlite") as caught, RunStore(tmp_path) as store:
        list(store.trials())
    assert type(caught.value).__name__ == "StoreError"
