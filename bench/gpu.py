"""Does the device wait for questions? What it answers in a second, and the share of time that it waits.

    python bench/gpu.py                                                # a tiny model, on the CPU
    python bench/gpu.py --model transformers:/path/to/weights --frames 16
    python bench/gpu.py --model 'vllm:/path/to/weights?limit_mm_per_prompt=16'
    python bench/gpu.py --model 'openai:NAME?base_url=http://HOST:8000/v1' --serve http://HOST:8000

The clips are decoded on the way, by worker processes, and nothing is taken out of a cache. A device waits
while no batch is generated (`transformers:`), the engine has no request (`vllm:`), or a server of vLLM runs
none, as its page of metrics says ten times a second (`--serve`). What libraries lose inside a batch is not
counted. Time counts from the first request on the device to the end of the last.
"""

import argparse
import importlib.util
import json
import os
import re
import sys
import tempfile
import threading
import time
import urllib.request
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from statistics import mean

import clips
import measure
from harness import HERE, Bench, Row, below

MOST_WAITING = 5.0
WIDTH = 768  # of the tiny model: its batches take about twice as long as their pictures
EVERY_S = 0.1
Span = tuple[float, float]


class Watch:
    """When the device had something to do, and how many requests at a time."""

    def __init__(self) -> None:
        self.spans: list[Span] = []
        self.sizes: list[float] = []

    @property
    def lasted_s(self) -> float:
        """From the first begin to the last end."""
        return self.spans[-1][1] - self.spans[0][0]

    @property
    def waited(self) -> float:
        """The share of this time in which it had nothing to do, in percent."""
        return 100 * (1 - sum(end - begin for begin, end in self.spans) / self.lasted_s)


@contextmanager
def replaced(owner: type, name: str, function: Callable[..., object]):
    """A method of a library, replaced for a while."""
    plain = getattr(owner, name)
    setattr(owner, name, function)
    try:
        yield
    finally:
        setattr(owner, name, plain)


@contextmanager
def generating(watch: Watch):
    """Each batch that the library transformers generates, until the device has ended it."""
    import torch
    from transformers import GenerationMixin

    plain = GenerationMixin.generate

    def generate(self, **arguments):
        begin = time.perf_counter()
        tokens = plain(self, **arguments)
        if torch.cuda.is_available():
            torch.cuda.synchronize()
        watch.spans.append((begin, time.perf_counter()))
        watch.sizes.append(len(arguments["input_ids"]))
        return tokens

    with replaced(GenerationMixin, "generate", generate):
        yield


@contextmanager
def stepping(watch: Watch):
    """The time in which an engine of vLLM in this process has requests."""
    from vllm.v1.engine.llm_engine import LLMEngine

    add, step = LLMEngine.add_request, LLMEngine.step
    begin = None

    def add_request(self, *arguments, **named):
        nonlocal begin
        added = add(self, *arguments, **named)
        begin = begin or time.perf_counter()
        return added

    def step_once(self):
        nonlocal begin
        outputs = step(self)
        watch.sizes.append(left := self.get_num_unfinished_requests())
        if not left and begin:
            watch.spans.append((begin, time.perf_counter()))
            begin = None
        return outputs

    with replaced(LLMEngine, "add_request", add_request), replaced(LLMEngine, "step", step_once):
        yield


@contextmanager
def serving(watch: Watch, address: str):
    """How many requests a server of vLLM runs, looked at every tenth of a second."""
    stopping = threading.Event()

    def look() -> None:
        last = time.perf_counter()
        while not stopping.wait(EVERY_S):
            with urllib.request.urlopen(f"{address}/metrics", timeout=5) as page:
                counts = re.findall(r"^vllm:num_requests_running\{.*\} (\S+)$", page.read().decode(), re.M)
            running, now = sum(map(float, counts)), time.perf_counter()
            if running:
                watch.spans.append((last, now))
                watch.sizes.append(running)
            last = now

    thread = threading.Thread(target=look)
    thread.start()
    try:
        yield
    finally:
        stopping.set()
        thread.join()


def device_of(spec: str, address: str) -> str:
    """The device that answers, as far as it is known here."""
    if address:
        return f"the server {address}"
    import torch

    if torch.cuda.is_available() and "device=cpu" not in spec:
        return torch.cuda.get_device_name()
    return "the CPU"


def ask(spec: str, questions: Path, folder: Path, options: argparse.Namespace) -> list[Row]:
    """Ask all questions in this process, and look at the device meanwhile."""
    from vidence.cli.main import main as command
    from vidence.engine.store import RunStore

    kind, watch = spec.partition(":")[0], Watch()
    if options.serve:
        watched = serving(watch, options.serve)
    elif kind in {"transformers", "vllm"}:
        watched = generating(watch) if kind == "transformers" else stepping(watch)
    else:
        raise SystemExit(f"--model {spec}: expected transformers:, vllm:, or --serve and a server of vLLM")
    words = [
        "run",
        "table",
        "--data",
        str(questions),
        "--model",
        spec,
        "--out",
        str(folder / "run"),
        "--no-page",
    ]
    words += ["--set", f"memory={folder / 'replies.sqlite'}", "--concurrency", str(options.concurrency)]
    words += [
        "--frames",
        str(options.frames),
        "--size",
        options.size,
        "--max-tokens",
        str(options.max_tokens),
    ]
    with watched:
        try:
            command(words)
        except SystemExit as end:
            if end.code:
                raise
    with RunStore(folder / "run") as store:
        trials = [*store.trials()]
    answered = [t.usage for t in trials if t.reply is not None]
    if not watch.spans or len(answered) < len(trials):
        raise SystemExit(
            f"{len(answered)} of {len(trials)} questions were answered, {len(watch.spans)} times of work seen"
        )
    device = device_of(spec, options.serve)
    name = f"{'vllm serve' if options.serve else kind} on {device}"
    read, written = (sum(getattr(u, f"{way}_tokens") or 0 for u in answered) for way in ("input", "output"))
    return [
        Row(f"{name}: questions a second", f"{len(trials) / watch.lasted_s:.1f}"),
        Row(
            f"{name}: tokens read, written a second",
            f"{read / watch.lasted_s:.0f}, {written / watch.lasted_s:.0f}",
        ),
        Row(
            f"{name}: requests at a time on the device",
            f"{mean(watch.sizes):.1f} (most {max(watch.sizes):.0f})",
        ),
        below(f"{name}: share of {watch.lasted_s:.0f} s that it waits", watch.waited, MOST_WAITING, "%"),
    ]


def tiny(folder: Path) -> str:
    """The spec of a tiny LLaVA with random weights."""
    sys.path.append(str(HERE.parent / "tests"))
    from servers.tiny_vlm import build

    return f"transformers:{build(folder / 'tiny', text_width=WIDTH)}?device=cpu&threads=1"


def main() -> int:
    """Measure one model; the rows as JSON lines, or as a table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--model", default="", help="else a tiny model on the CPU")
    parser.add_argument("--serve", default="", help="address of the vLLM server that --model asks")
    parser.add_argument("--clips", type=int, default=10)
    parser.add_argument("--questions", type=int, default=10, help="about each clip")
    parser.add_argument("--frames", type=int, default=8)
    parser.add_argument("--size", default="short:360")
    parser.add_argument("--max-tokens", type=int, default=32)
    parser.add_argument("--concurrency", type=int, default=128)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    data = HERE / ".data" / "clips"
    questions = clips.make_load(data, n_clips=options.clips, n_questions=options.questions, tag="-gpu")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        os.environ["VIDENCE_CACHE"] = str(folder / "cache")
        rows = ask(options.model or tiny(folder), questions, folder, options)
    from run import as_markdown  # it imports this file, too

    print("\n".join(json.dumps(asdict(row)) for row in rows) if options.json else as_markdown(rows))
    return 0


def gpu(bench: Bench) -> list[Row]:
    """The tiny model on the CPU; machines with a GPU are measured with --model."""
    if importlib.util.find_spec("torch") is None or importlib.util.find_spec("transformers") is None:
        return [Row("local weights: the device waits", "skipped: torch or transformers is not installed")]
    taken = measure.run([sys.executable, str(HERE / "gpu.py"), "--json"])
    if taken.returncode:
        raise RuntimeError(taken.output[-3000:])
    return [Row(**json.loads(line)) for line in taken.output.splitlines() if line.startswith("{")]


ALL = (gpu,)

if __name__ == "__main__":
    sys.exit(main())
