"""vidence beside an earlier commit of its own and beside inspect_ai, in turns on one machine.

    git worktree add --detach ../base e9d14b97
    python -m venv ../peer && ../peer/bin/pip install inspect_ai==0.3.285 openai av pillow
    VIDENCE_BASE=../base VIDENCE_INSPECT_PYTHON=../peer/bin/python python bench/run.py --only base,peer

Without these two, the rows say that they were left out.
"""

import os
import sys
from collections.abc import Callable
from pathlib import Path

import clips
import measure
from harness import HERE, N_ROUNDS, Bench, Row, below, cpu_wall, least_cpu_s, long_table
from measure import Taken

COMMIT = "e9d14b97"
FEW, MANY = 200, 2_000


def base(bench: Bench) -> list[Row]:
    """What asking costs now and before the house was rebuilt."""
    given = os.environ.get("VIDENCE_BASE")
    if not given:
        return [Row(f"(base) beside {COMMIT}", "left out: no VIDENCE_BASE names a checkout of it")]
    trees = {"now": HERE.parent, COMMIT: Path(given).resolve()}
    takes: dict[tuple[str, str], list[Taken]] = {}

    def take(name: str, key: str, folder: str, *command: str) -> None:
        env = {
            "PYTHONPATH": str(trees[name] / "src"),
            "VIDENCE_CACHE": str(bench.folder / f"{folder}-{name}"),
            "OPENAI_API_KEY": "k",
        }
        found = measure.run([sys.executable, "-m", "vidence", *command], env=env, stub=bench.stub)
        if found.returncode:
            raise RuntimeError(f"{name}: {command} gave {found.returncode}:\n{found.output[-2000:]}")
        takes.setdefault((name, key), []).append(found)

    def ask(name: str, n: int) -> None:
        out, memory = bench.fresh("run"), bench.fresh("memory") / "replies.sqlite"
        kept = ["--memory", str(memory)] if name == COMMIT else ["--set", f"memory={memory}"]
        load = clips.make_load(bench.folder / "clips", n_clips=20, n_questions=MANY // 20)
        take(name, f"{n}", "cache", *bench.command(load, out, *kept, "--limit", str(n))[1:])

    table = long_table(bench.fresh("long") / "questions.jsonl")
    for name in trees:
        bench.fresh(f"cache-{name}")
        ask(name, MANY)  # its frames are on the disk from here on
    takes.clear()
    for _ in range(N_ROUNDS):
        for name in trees:
            ask(name, FEW)
            ask(name, MANY)
            bench.fresh(f"long-{name}")
            out = str(bench.fresh("long-run"))
            fixed = ["--data", str(table), "--model", "baseline:random", "--out", out, "--no-page"]
            take(name, "baseline", "long", "run", "table", *fixed)
            take(name, "report", "long", "report", out)

    def both(what: str, value: Callable[[str], float], most: float, unit: str) -> list[Row]:
        now, then = (value(name) for name in trees)
        line = Row(f"(base) {what}: now, {COMMIT}", f"{now:.2f}, {then:.2f} {unit}")
        return [line, below(f"(base) {what}: ratio", now / then, most, "x")]

    def least(key: str) -> Callable[[str], float]:
        return lambda name: least_cpu_s(takes[name, key])

    def each_ms(name: str) -> float:
        return (least(f"{MANY}")(name) - least(f"{FEW}")(name)) / (MANY - FEW) * 1000

    return [
        *both("a question, warm frames", each_ms, 0.5, "CPU-ms"),
        *both(f"{FEW} questions, warm frames, start and report with them", least(f"{FEW}"), 1, "CPU-s"),
        *both("memory", lambda name: min(one.rss_mb for one in takes[name, f"{MANY}"]), 1, "MB"),
        *both("26,806 baseline questions, asked and reported", least("baseline"), 1, "CPU-s"),
        below("(base) 26,806 baseline questions, asked and reported", least("baseline")("now"), 8, "CPU-s"),
        *both("report of these", least("report"), 1, "CPU-s"),
        below("(base) report of these", least("report")("now"), 2.5, "CPU-s"),
    ]


def peer(bench: Bench) -> list[Row]:
    """200 questions on 20 clips of 60 s, 16 frames, by inspect_ai and by vidence in turns."""
    python = os.environ.get("VIDENCE_INSPECT_PYTHON")
    if not python:
        return [Row("(peer) beside inspect_ai", "left out: no VIDENCE_INSPECT_PYTHON names a Python with it")]
    questions = clips.make_load(bench.folder / "clips", n_clips=20, n_questions=10)
    takes: dict[str, list[Taken]] = {}
    frames = bench.fresh("peer-frames")
    for key in ("cold", *["warm"] * N_ROUNDS):
        command = [python, str(HERE / "peer_inspect.py"), str(questions), bench.stub.address + "/v1"]
        theirs = measure.run([*command, str(frames), "200"], stub=bench.stub)
        if theirs.returncode or theirs.stats["requests"] != 200:
            raise RuntimeError(f"inspect_ai gave {theirs.returncode}:\n{theirs.output[-2000:]}")
        cache = bench.fresh("cache") if key == "cold" else bench.folder / "cache"
        takes.setdefault(f"their {key}", []).append(theirs)
        takes.setdefault(f"our {key}", []).append(bench.ask(questions, cache=cache))
    said = {name: min(some, key=lambda one: one.cpu_s) for name, some in takes.items()}
    rows = []
    for key, what in (("cold", "cold"), ("warm", "frames on disk")):
        ours, theirs = said[f"our {key}"], said[f"their {key}"]
        rows += [
            Row(f"(peer) {what}: vidence", cpu_wall(ours)),
            Row(f"(peer) {what}: inspect_ai", cpu_wall(theirs)),
            Row(f"(peer) {what}: CPU of inspect_ai / vidence", f"{theirs.cpu_s / ours.cpu_s:.1f}"),
        ]
    return rows


ALL = (base, peer)
