"""The command line as a user runs it: a folder of its own, real clips, a server on loopback."""

import hashlib
import io
import json
import os
import shutil
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path

import av
import numpy as np
import pytest

from subjects.command_line import CommandLine

Questions = Callable[..., Path]


@pytest.fixture
def vidence(tmp_path: Path) -> CommandLine:
    env = os.environ | {"VIDENCE_CACHE": str(tmp_path / "cache"), "COLUMNS": "100"}
    env.pop("OPENAI_API_KEY", None)
    return CommandLine(tmp_path, env)


@pytest.fixture
def here(vidence: CommandLine, monkeypatch: pytest.MonkeyPatch) -> CommandLine:
    """The command line in a folder, and Python in the same one with the same cache."""
    monkeypatch.chdir(vidence.folder)
    monkeypatch.setenv("VIDENCE_CACHE", vidence.env["VIDENCE_CACHE"])
    monkeypatch.setenv("VIDENCE_STATE", str(vidence.folder / "state"))
    return vidence


@pytest.fixture(scope="session")
def _kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("kept")


@pytest.fixture
def begun(vidence: CommandLine, _kept: Path) -> Callable[[str, Callable[[], object]], None]:
    """What a preparation of this name leaves in the folder: made once, copied for every other test."""

    def begin(name: str, prepare: Callable[[], object]) -> None:
        kept = _kept / hashlib.sha256(name.encode()).hexdigest()
        if kept.exists():
            shutil.copytree(kept, vidence.folder, dirs_exist_ok=True)
        else:
            prepare()
            shutil.copytree(vidence.folder, kept)

    return begin


def write_clip(path: Path, *, n_frames: int = 40, shade: int = 0) -> None:
    """A small H.264 clip at 10 frames per second whose brightness rises."""
    path.write_bytes(_clip(n_frames, shade))


@cache
def _clip(n_frames: int, shade: int) -> bytes:
    file = io.BytesIO()
    with av.open(file, "w", format="mp4") as container:
        stream = container.add_stream("libx264", rate=10)
        stream.width, stream.height, stream.pix_fmt = 96, 64, "yuv420p"
        stream.options = {"preset": "ultrafast"}
        for number in range(n_frames):
            image = np.full((64, 96, 3), (shade + number * 4) % 256, np.uint8)
            for packet in stream.encode(av.VideoFrame.from_ndarray(image, format="rgb24")):
                container.mux(packet)
        for packet in stream.encode():
            container.mux(packet)
    return file.getvalue()


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
def leveled_runs(vidence, begun):
    """Runs on 24 questions of three levels and two kinds, each from a string of right (1) and wrong (0)."""

    def make(**marks):
        begun(f"leveled {marks}", lambda: write(marks))

    def write(marks):
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
                *("run", "table", "--data", "items.jsonl", "--model", f"replay:{name}.jsonl?id=id&text=text"),
                *("--out", name, "--no-page"),
            )
            assert done.code == 0, done.err

    return make
