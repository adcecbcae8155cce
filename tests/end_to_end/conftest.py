"""The command line as a user runs it: a folder of its own, real clips, a server on loopback."""

import contextlib
import io
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from unittest import mock

import av
import numpy as np
import pytest

from vidence.cli.main import main
from vidence.engine.store import RunStore
from vidence.records import Trial

Questions = Callable[..., Path]


def heed_interrupts() -> None:
    """In a new process: SIGINT is heard, also where the tests themselves run in the background."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@dataclass(frozen=True)
class Done:
    """What a command did."""

    code: int
    out: str
    err: str


def _written(stream: io.TextIOWrapper) -> str:
    stream.flush()
    return stream.buffer.getvalue().decode()


@dataclass(frozen=True)
class CommandLine:
    """``vidence`` in a folder, with a cache of its own."""

    folder: Path
    env: dict[str, str]

    def start(self, *words: str) -> subprocess.Popen[str]:
        """Start a command and go on."""
        return subprocess.Popen(
            [sys.executable, "-m", "vidence", *words],
            cwd=self.folder,
            env=self.env,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            preexec_fn=heed_interrupts,
        )

    def apart(self, *words: str, patience_s: float = 120) -> Done:
        """Run a command to its end in a process of its own, where what a process is matters."""
        process = self.start(*words)
        out, err = process.communicate(timeout=patience_s)
        return Done(process.returncode, out, err)

    def __call__(self, *words: str) -> Done:
        """Run a command to its end as the process would, in this one: its start costs more than most runs."""
        out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", newline="") for _ in range(2))
        on_sigterm = signal.getsignal(signal.SIGTERM)
        try:
            with (
                contextlib.chdir(self.folder),
                mock.patch.dict(os.environ, self.env, clear=True),
                mock.patch.object(sys, "argv", ["vidence", *words]),
                contextlib.redirect_stdout(out),
                contextlib.redirect_stderr(err),
                pytest.raises(SystemExit) as ended,
            ):
                main(words)
        finally:
            signal.signal(signal.SIGTERM, on_sigterm)
        assert isinstance(ended.value.code, int)
        return Done(ended.value.code, *(_written(stream) for stream in (out, err)))

    def trials(self, run: str) -> dict[str, Trial]:
        """The trials of a run folder, by item id (the first repeat)."""
        with RunStore(self.folder / run) as store:
            return {t.item_id: t for t in store.trials() if t.repeat == 0}


@pytest.fixture
def vidence(tmp_path: Path) -> CommandLine:
    env = os.environ | {"VIDENCE_CACHE": str(tmp_path / "cache"), "COLUMNS": "100"}
    env.pop("OPENAI_API_KEY", None)
    return CommandLine(tmp_path, env)


def write_clip(path: Path, *, n_frames: int = 40, shade: int = 0) -> None:
    """A small H.264 clip at 10 frames per second whose brightness rises."""
    with av.open(str(path), "w") as container:
        stream = container.add_stream("libx264", rate=10)
        stream.width, stream.height, stream.pix_fmt = 96, 64, "yuv420p"
        stream.options = {"preset": "ultrafast"}
        for number in range(n_frames):
            image = np.full((64, 96, 3), (shade + number * 4) % 256, np.uint8)
            for packet in stream.encode(av.VideoFrame.from_ndarray(image, format="rgb24")):
                container.mux(packet)
        for packet in stream.encode():
            container.mux(packet)


@pytest.fixture
def questions(tmp_path: Path) -> Questions:
    """Write clips and questions about them."""

    def make(*, n_clips: int = 2, n_questions: int = 3, clips: Sequence[str] = ()) -> Path:
        names = list(clips) or [f"clip{i}.mp4" for i in range(n_clips)]
        lines = []
        for i, name in enumerate(names):
            if not (tmp_path / name).exists():
                write_clip(tmp_path / name, shade=i * 20)
            for j in range(n_questions):
                lines.append(
                    {
                        "item_id": f"{i}-{j}",
                        "media": [{"path": name}],
                        "question": f"Question {j} about clip {i}?",
                        "choices": ["yes", "no", "maybe"],
                        "answer": "ABC"[(i + j) % 3],
                        "tags": {"task": f"t{j}"},
                    }
                )
        path = tmp_path / "questions.jsonl"
        path.write_text("\n".join(json.dumps(line) for line in lines))
        return path

    return make


@pytest.fixture
def leveled_runs(vidence):
    """Runs on 24 questions of three levels and two kinds, each from a string of right (1) and wrong (0)."""

    def make(**marks):
        lines = [
            {
                "item_id": f"q{i}",
                "media": [{"path": f"v{i // 2}.mp4"}],
                "question": f"Question {i}?",
                "choices": ["yes", "no"],
                "answer": "A",
                "tags": {"level": str(1 + i % 3), "kind": "ab"[i // 12], "one": "same"},
            }
            for i in range(24)
        ]
        (vidence.folder / "items.jsonl").write_text("\n".join(map(json.dumps, lines)))
        for name, right in marks.items():
            said = [{"id": f"q{i}", "text": "BA"[int(mark)]} for i, mark in enumerate(right)]
            (vidence.folder / f"{name}.jsonl").write_text("\n".join(map(json.dumps, said)))
            done = vidence(
                *("run", "table", "--data", "items.jsonl", "--model", f"replay:{name}.jsonl"),
                *("--replay-columns", "id=id,text=text", "--out", name, "--no-page"),
            )
            assert done.code == 0, done.err

    return make
