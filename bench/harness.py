"""vidence against the floor and against its targets, on the loads on which the peers were measured.

Each function measures one thing and returns rows (what, measured, target). Ratios are taken within
one run, because machines are shared and noisy.
"""

import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import clips
import measure
import pyarrow as pa
import pyarrow.parquet as pq
from measure import Stub, Taken

from vidence import catalog

HERE = Path(__file__).parent
VIDENCE = Path(sys.executable).parent / "vidence"
N_ROUNDS = 3  # a shared machine can be busy for one of them


@dataclass(frozen=True)
class Row:
    """One figure beside its target; `holds` is None where there is none."""

    what: str
    measured: str
    target: str = ""
    holds: bool | None = None


@dataclass(frozen=True)
class Bench:
    """Where the bench works and against which server."""

    folder: Path
    stub: Stub

    def fresh(self, name: str) -> Path:
        """An empty folder."""
        path = self.folder / name
        shutil.rmtree(path, ignore_errors=True)
        path.mkdir(parents=True)
        return path

    def command(self, questions: Path, out: Path, *more: str) -> list[str]:
        """``vidence run`` on a load."""
        model = f"openai:stub?base_url={self.stub.address}/v1"
        fixed = ["--data", str(questions), "--model", model, "--out", str(out), "--no-page"]
        return [str(VIDENCE), "run", "table", *fixed, "--frames", "16", "--size", "short:720", *more]

    def ask(self, questions: Path, *more: str, cache: Path, memory: str = "memory") -> Taken:
        """Run once with this cache of frames and a reply memory of its own."""
        out = self.fresh("run")
        memory_file = self.fresh(memory) / "replies.sqlite"
        command = self.command(questions, out, "--set", f"memory={memory_file}", *more)
        taken = measure.run(command, env={"VIDENCE_CACHE": str(cache)}, stub=self.stub)
        if taken.returncode != 0:
            raise RuntimeError(f"{command} gave {taken.returncode}:\n{taken.output[-3000:]}")
        return taken

    def floor(self, questions: Path) -> Taken:
        """The least that must be done, with the bodies of the last run."""
        prompts = self.folder / "prompts.json"
        prompts.write_text(json.dumps(sent_prompts(self.folder / "run")))
        command = [
            sys.executable,
            str(HERE / "floor.py"),
            str(questions),
            self.stub.address + "/v1",
            str(prompts),
        ]
        taken = measure.run(command, stub=self.stub)
        if taken.returncode != 0:
            raise RuntimeError(f"the floor gave {taken.returncode}:\n{taken.output[-3000:]}")
        return taken


def sent_prompts(run_folder: Path) -> dict[str, dict[str, object]]:
    """Words and frame indices of every question of a run."""
    from vidence.engine.store import RunStore

    with RunStore(run_folder) as store:
        return {
            t.item_id: {"words": t.prompt.text, "frames": [f.frame_index for f in t.selection.frames]}
            for t in store.trials()
        }


def cpu_wall(taken: Taken) -> str:
    """CPU, wall and memory in one cell."""
    return f"{taken.cpu_s:.1f} CPU-s, {taken.wall_s:.1f} s, {taken.rss_mb:.0f} MB"


def below(what: str, value: float, most: float, unit: str) -> Row:
    """A figure that must not exceed its target."""
    return Row(what, f"{value:.2f} {unit}", f"<= {most:g} {unit}", value <= most)


def passes(output: str) -> int:
    """How often the command says that it read videos."""
    said = re.search(r"videos read\s+(\d+)\s+times", output)
    if said is None:
        raise RuntimeError(f"the command does not say how often it read videos:\n{output[-2000:]}")
    return int(said[1])


def least_wall_s(takes: Sequence[Taken]) -> float:
    """The shortest time of several runs."""
    return min(one.wall_s for one in takes)


def least_cpu_s(takes: Sequence[Taken]) -> float:
    """The least processor time of several runs."""
    return min(one.cpu_s for one in takes)


def load_a(bench: Bench) -> list[Row]:
    """20 clips of 60 s x 10 questions x 16 frames: the load of the peers."""
    questions = clips.make_load(bench.folder / "clips", n_clips=20, n_questions=10)
    cache = bench.fresh("cache")
    cold = bench.ask(questions, cache=cache)
    floor = bench.floor(questions)
    warm = bench.ask(questions, cache=cache)
    same = cold.stats["bodies_checksum"] == floor.stats["bodies_checksum"] == warm.stats["bodies_checksum"]
    n = cold.stats["requests"]
    return [
        Row("(a) cold", cpu_wall(cold)),
        Row("(a) floor", cpu_wall(floor)),
        Row("(a) warm (frames on disk)", cpu_wall(warm)),
        Row(
            "(a) requests, distinct bodies, MB sent",
            f"{n}, {cold.stats['distinct_bodies']}, {cold.stats['body_bytes'] / 1e6:.0f}",
        ),
        Row("(a) cold, warm and floor post the same bodies", str(same), "True", same),
        below("(a) passes over each video, cold", passes(cold.output) / 20, 1, ""),
        below("(a) cold CPU", cold.cpu_s, 25, "s"),
        below("(a) cold memory", cold.rss_mb, 400, "MB"),
        below("(a) warm CPU", warm.cpu_s, 6, "s"),
        below("(a) first request, cold", cold.first_request_s or 99, 2.5, "s"),
        below("(a) first request, warm", warm.first_request_s or 99, 1.5, "s"),
        Row("(a) cold CPU / floor CPU", f"{cold.cpu_s / floor.cpu_s:.2f}"),
    ]


def load_b(bench: Bench) -> list[Row]:
    """HERBench-shaped: 80 questions per clip. Both are measured in turns; the least of each is compared."""
    large = clips.make_load(bench.folder / "clips", n_clips=20, n_questions=80)
    few = bench.ask(large, "--limit", "200", cache=bench.fresh("cache"))  # as many at a time as with all
    takes, floors = [], []
    for _ in range(N_ROUNDS):
        takes.append(bench.ask(large, cache=bench.fresh("cache")))
        floors.append(bench.floor(large))
    many, floor = takes[-1], floors[-1]
    return [
        Row("(b) cold", cpu_wall(many)),
        Row("(b) floor", cpu_wall(floor)),
        below("(b) passes over each video", passes(many.output) / 20, 1, ""),
        below("(b) wall / floor, least of 3", least_wall_s(takes) / least_wall_s(floors), 1.5, "x"),
        below("(b) CPU / floor, least of 3", least_cpu_s(takes) / least_cpu_s(floors), 1.5, "x"),
        below("(b) memory at 1,600 / at 200 questions", many.rss_mb / few.rss_mb, 1.15, "x"),
    ]


def latency(bench: Bench) -> list[Row]:
    """1 s of server latency, 16 in flight: does decoding overlap with waiting?"""
    questions = clips.make_load(bench.folder / "clips", n_clips=20, n_questions=10)
    bench.stub.set(latency_s=1.0)
    taken = bench.ask(questions, "--concurrency", "16", cache=bench.fresh("cache"))
    bench.stub.set()
    ideal_s = 200 / 16 - 1  # from the first request to the last one, each wave taking a second
    return [
        Row("latency 1 s: most in flight", str(taken.stats["most_in_flight"])),
        below("latency 1 s: first to last request / ideal", (taken.between_s or 99) / ideal_s, 1.3, "x"),
    ]


def kill(bench: Bench) -> list[Row]:
    """``kill -9`` in the middle, then resume."""
    questions = clips.make_load(bench.folder / "clips", n_clips=20, n_questions=10)
    out, cache = bench.fresh("run"), bench.fresh("cache")
    bench.stub.set(latency_s=0.2)
    env = os.environ | {"VIDENCE_CACHE": str(cache)}
    command = bench.command(questions, out, "--concurrency", "8")
    process = subprocess.Popen(command, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while bench.stub.stats()["requests"] < 90:
        time.sleep(0.05)
    process.send_signal(signal.SIGKILL)
    process.wait()
    time.sleep(0.5)
    before = bench.stub.stats()["requests"]
    subprocess.run([str(VIDENCE), "resume", str(out), "--no-page"], env=env, check=True, capture_output=True)
    after = bench.stub.stats()["requests"]
    bench.stub.set()
    return [below(f"kill -9 after {before:.0f} of 200 requests: asked twice", after - 200, 8, "requests")]


def long_table(path: Path) -> Path:
    """26,806 questions about 336 media that no baseline looks at."""
    fields = {"question": "How many?", "choices": ["one", "two", "three", "four", "five"], "answer": "C"}
    with path.open("w") as file:
        for i in range(26_806):
            file.write(
                json.dumps({"item_id": f"q{i}", "media": [{"path": f"v{i % 336}.mp4"}], **fields}) + "\n"
            )
    return path


def finished(bench: Bench) -> list[Row]:
    """Resuming a finished run of 26,806 questions."""
    folder = bench.fresh("finished")
    questions = long_table(folder / "questions.jsonl")
    env = {"VIDENCE_CACHE": str(bench.fresh("cache"))}
    fixed = ["--data", str(questions), "--model", "baseline:random", "--out", str(folder / "run")]
    first = measure.run([str(VIDENCE), "run", "table", *fixed], env=env)
    again = measure.run([str(VIDENCE), "resume", str(folder / "run")], env=env)
    if first.returncode or again.returncode:
        raise RuntimeError(first.output[-2000:] + again.output[-2000:])
    return [
        Row("26,806 baseline questions, asked and reported", f"{first.wall_s:.1f} s"),
        below("resume of a finished run of 26,806", again.wall_s, 2, "s"),
    ]


def listing(bench: Bench) -> list[Row]:
    """A list of 200 runs of 100 questions each: of those that keep their lines, and of those that do not."""
    folder = bench.fresh("listing")
    questions = folder / "questions.jsonl"
    fields = {"question": "How many?", "choices": ["one", "two"], "answer": "A"}
    rows = [{"item_id": f"q{i}", "media": [{"path": f"v{i % 20}.mp4"}], **fields} for i in range(100)]
    questions.write_text("\n".join(map(json.dumps, rows)))
    env = {"VIDENCE_CACHE": str(bench.fresh("cache"))}
    fixed = ["--data", str(questions), "--model", "baseline:random", "--no-page"]
    first = folder / "runs" / "r0"
    made = measure.run([str(VIDENCE), "run", "table", *fixed, "--out", str(first)], env=env)
    if made.returncode:
        raise RuntimeError(made.output[-2000:])
    for i in range(1, 200):
        shutil.copytree(first, folder / "runs" / f"r{i}")
    command = [str(VIDENCE), "runs", str(folder / "runs")]
    kept_s = least_cpu_s([measure.run(command) for _ in range(N_ROUNDS)])
    for path in folder.glob("runs/*/plan.toml"):
        path.write_text(path.read_text().replace("[plan]", "[plan] # changed", 1))
    made_s = least_cpu_s([measure.run(command) for _ in range(N_ROUNDS)])
    return [
        below("vidence runs over 200 runs, CPU", kept_s, 0.5, "s"),
        Row("the same without their kept lines, CPU", f"{made_s:.1f} s"),
    ]


def large(bench: Bench) -> list[Row]:
    """200,000 recorded replies, and the report of 26,806; CPU, since shared machines add to the wall."""
    rows: list[Row] = []
    for n in (26_806, 200_000):
        folder = bench.fresh(f"recorded-{n}")
        letters = random.Random(n).choices("ABCDE", k=n)
        with (
            (folder / "questions.jsonl").open("w") as questions,
            (folder / "replies.jsonl").open("w") as replies,
        ):
            for i, letter in enumerate(letters):
                item = {
                    "item_id": f"q{i}",
                    "question": f"How many things of kind {i} are there?",
                    "choices": ["one", "two", "three", "four", "five"],
                    "answer": "ABCDE"[i % 5],
                    "tags": {"task": f"t{i % 12}"},
                    "media": [{"path": f"v{i % 336}.mp4"}],
                }
                questions.write(json.dumps(item) + "\n")
                replies.write(json.dumps({"item_id": f"q{i}", "text": f"The answer is ({letter})."}) + "\n")
        env = {"VIDENCE_CACHE": str(bench.fresh("cache"))}
        out = str(folder / "run")
        load = ["--data", str(folder / "questions.jsonl"), "--model", f"replay:{folder / 'replies.jsonl'}"]
        asked = measure.run([str(VIDENCE), "run", "table", *load, "--out", out, "--no-page"], env=env)
        page = measure.run([str(VIDENCE), "report", out, "--html", str(folder / "page.html")], env=env)
        if asked.returncode or page.returncode:
            raise RuntimeError(asked.output[-2000:] + page.output[-2000:])
        rows += [
            Row(f"{n:,} recorded replies, asked and reported", cpu_wall(asked)),
            Row(f"{n:,} recorded replies, report with page", cpu_wall(page)),
        ]
        if n == 26_806:
            rows.append(below("report of 26,806 with page, CPU", page.cpu_s, 5, "s"))
            export = f"{VIDENCE} report {out} --parquet - > {folder / 'trials.parquet'}"
            rows.append(
                below("26,806 trials as Parquet, CPU", measure.run(["sh", "-c", export]).cpu_s, 3, "s")
            )
        else:
            rows.append(below("200,000 recorded replies, CPU", asked.cpu_s, 120, "s"))
            rows.append(below("200,000 recorded replies, memory", max(asked.rss_mb, page.rss_mb), 500, "MB"))
    return rows


def together(bench: Bench) -> list[Row]:
    """Two runs of 500 questions on one memory at the same time; each question is asked once."""
    folder = bench.fresh("together")
    questions = folder / "questions.jsonl"
    with questions.open("w") as file:
        for i in range(500):
            item = {"item_id": f"q{i}", "question": f"Is it {i}?", "choices": ["yes", "no"], "answer": "A"}
            file.write(json.dumps(item) + "\n")
    bench.stub.set(latency_s=0.05)
    env = os.environ | {"VIDENCE_CACHE": str(bench.fresh("cache"))}
    commands = [bench.command(questions, folder / name) for name in ("one", "two")]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    for process in [subprocess.Popen(command, env=env, **quiet) for command in commands]:
        if process.wait():
            raise RuntimeError(f"{process.args} gave {process.returncode}")
    n = bench.stub.stats()["requests"]
    bench.stub.set()
    return [below("two runs of the same 500 questions at once", n, 500, "requests")]


def best(command: Sequence[str]) -> float:
    """The least wall time of several starts, in seconds."""
    return min(measure.run(command).wall_s for _ in range(7))


def start(bench: Bench) -> list[Row]:
    """Start-up: the best of several, against numpy alone."""
    help_s = best([str(VIDENCE), "--help"])
    numpy_s = best([sys.executable, "-c", "import numpy"])
    import_s = best([sys.executable, "-c", "import vidence"])
    return [
        below("vidence --help", help_s, 0.3, "s"),
        Row("import numpy", f"{numpy_s:.2f} s"),
        below("import vidence - import numpy", import_s - numpy_s, 0.1, "s"),
    ]


def named(bench: Bench) -> list[Row]:
    """Benchmarks by name: their list, less an empty start, and as many questions as Video-MME has."""
    list_s = best([str(VIDENCE), "list", "benchmarks"]) - best([sys.executable, "-c", "pass"])
    folder = bench.fresh("video-mme")
    rows = [
        {
            **dict.fromkeys(("domain", "sub_category", "task_type"), "Counting"),
            **{"duration": "long", "videoID": f"film{n // 3}", "video_id": f"{n // 3:03}"},
            **{"question_id": f"{n // 3:03}-{n % 3 + 1}", "question": f"What comes {n}th?", "answer": "C"},
            "options": [f"A. part {n}", "B. the bowl", "C. the boat", "D. the dog"],
        }
        for n in range(2700)
    ]
    (folder / "videomme").mkdir()
    pq.write_table(pa.Table.from_pylist(rows), folder / "videomme" / "test-00000-of-00001.parquet")
    loading = []
    for _ in range(5):
        begun = time.perf_counter()
        loaded = catalog.create("benchmark", "video-mme").load(folder, split="test")
        loading.append(time.perf_counter() - begun)
    return [
        below("vidence list benchmarks - python -c pass", list_s, 0.15, "s"),
        below(f"Video-MME: {len(loaded.items):,} questions read", min(loading), 0.3, "s"),
    ]


def failures(bench: Bench) -> list[Row]:
    """A server that refuses one request in five."""
    questions = clips.make_load(bench.folder / "clips", n_clips=20, n_questions=10)
    bench.stub.set(fail_rate=0.2)
    taken = bench.ask(questions, cache=bench.folder / "cache")
    bench.stub.set()
    n_lost = 200 - taken.stats["answered"]
    return [Row("one request in five fails: questions lost", f"{n_lost:.0f} of 200", "0", n_lost == 0)]


ALL = (start, named, load_a, load_b, latency, failures, kill, together, finished, listing, large)
