"""A model with weights of its own that needs no library: it says what a rule says, and marks who was asked.

The folder that it is named with gets a file for each of its processes, with a line for each request: when its
batch began. Where `hold` says so, nobody is answered before so many processes have begun.
"""

import json
import os
import re
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from servers import detector_standin
from vidence.ask.models.weights import BatchingModel, Job, Weights, WeightSettings
from vidence.contracts import Request
from vidence.records import Reply, Usage

PATIENCE_S = 60.0
NAME = "standin"
_MARKED = re.compile(r'<reply id="(\w+)">')


class Settings(WeightSettings):
    """Those of all weights, and how fast these are."""

    takes_s: float = 0.1
    """How long a batch takes."""
    batch_size: int = 2


def install(folder: Path) -> Path:
    """Write what makes it a model by the name `NAME`, and a detector, where `folder` is on the path."""
    info = folder / "weights_standin-1.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: weights-standin\nVersion: 1\n")
    (info / "entry_points.txt").write_text(
        f"[vidence.models]\n{NAME} = servers.weights_standin\n"
        f"[vidence.detectors]\n{detector_standin.NAME} = servers.detector_standin\n"
    )
    return folder


def hold(folder: Path, n_processes: int) -> None:
    """Let no process answer before so many have begun, in all."""
    _gate(folder).write_text(str(n_processes))


def _gate(folder: Path) -> Path:
    return folder.with_name(f"{folder.name}.hold")


class _Rule(Weights):
    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._folder = Path(settings.name)
        self._file = self._folder / str(os.getpid())
        self._file.touch()

    def batch_size(self, request: Request) -> int:
        return self._settings.batch_size

    def job(self, request: Request) -> Job:
        return Job(request=request, turns=[])

    def encode(self, jobs: Sequence[Job]) -> Callable[[], list[Reply]]:
        return lambda: self._answered(jobs)

    def _answered(self, jobs: Sequence[Job]) -> list[Reply]:
        gate, end_s = _gate(self._folder), time.monotonic() + PATIENCE_S
        while gate.exists() and time.monotonic() < end_s:
            if len(list(self._folder.iterdir())) >= int(gate.read_text() or 0):
                break
            time.sleep(0.02)
        with self._file.open("a") as file:
            file.write(f"{time.monotonic()}\n" * len(jobs))
        time.sleep(self._settings.takes_s)
        return [Reply(text=_said(job.request), usage=Usage(input_tokens=10, output_tokens=2)) for job in jobs]

    def close(self) -> None:
        """Nothing to let go of."""


def _said(request: Request) -> str:
    text = request.prompt.text
    marked, score = _MARKED.search(text), sum(text.encode()) % 5
    if marked is None:
        return f"{score} {len(request.images)}"
    fields = {"extracted answer": "pan", "correctness": score >= 3, "score": score}
    return json.dumps({"id": marked[1], **fields})


def create(settings: Settings) -> BatchingModel:
    """The rule."""
    identity = f"{NAME}:{Path(settings.name).name}"
    return BatchingModel(identity, lambda: _Rule(settings), max_in_flight=3 * settings.batch_size)
