"""Asking weights on the machines of a Ray cluster, which are processes of this machine.

The model is the stand-in of the tests, which notes when it is asked. Rates are taken between the
first and the last of these notes, since Python and Ray begin before. 200,000 questions would take minutes,
so 20,000 stand for them. All of it takes about 4 minutes on two cores.
"""

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import measure
import numpy as np
from harness import HERE, N_ROUNDS, VIDENCE, Bench, Row, below
from measure import Taken
from PIL import Image

sys.path.append(str(HERE.parent / "tests"))  # the cluster and the model

N_FEW, N_MANY = 2_000, 20_000
INSTANT = "takes_s=0&batch_size=16"
TAKES_S, BATCH, N_BATCHES = 0.2, 8, 40
HERE_ONLY = 0


def questions_of(folder: Path, n: int, *, pictures: bool) -> Path:
    """So many questions: of words alone, or each 50 about a picture of 750 KB."""
    path, noise = folder / "questions.jsonl", np.random.default_rng(0)
    with path.open("w", encoding="utf-8") as file:
        for i in range(n):
            item = {"item_id": f"q{i}", "question": f"Is it {i}?", "choices": ["yes", "no"], "answer": "A"}
            if pictures:
                picture = folder / f"{i // 50}.jpg"
                if not picture.exists():
                    Image.fromarray(noise.integers(256, size=(800, 800, 3), dtype=np.uint8)).save(
                        picture, quality=95
                    )
                item["media"] = [{"path": picture.name, "kind": "image"}]
            file.write(json.dumps(item) + "\n")
    return path


def asked(
    bench: Bench, n: int, options: str, *, n_workers: int, pictures: bool = False
) -> tuple[Taken, float]:
    """``vidence run`` of so many questions, and the seconds from the first batch to the last one.

    Args:
        bench: where.
        n: how many questions.
        options: of the model.
        n_workers: machines of the cluster that is there; `HERE_ONLY`: this process.
        pictures: whether the questions show some.
    """
    from servers import weights_standin

    folder = bench.fresh("asked")
    weights = folder / "weights"
    weights.mkdir()
    weights_standin.hold(weights, max(n_workers, 1))
    command = [
        str(VIDENCE),
        "run",
        "table",
        "--data",
        str(questions_of(folder, n, pictures=pictures)),
        "--no-page",
    ]
    command += ["--model", f"{weights_standin.NAME}:{weights}?{options}", "--out", str(folder / "run")]
    command += ["--concurrency", "256", "--set", f"memory={folder / 'replies.sqlite'}"]
    command += ["--on", "ray" if n_workers else "local"]
    taken = measure.run(command, env={"VIDENCE_CACHE": str(folder / "cache")})
    if taken.returncode != 0:
        raise RuntimeError(f"{command} gave {taken.returncode}:\n{taken.output[-3000:]}")
    times_s = [float(line) for file in weights.iterdir() for line in file.read_text().split()]
    if len(times_s) != n:
        raise RuntimeError(f"{n} questions were asked {len(times_s)} times")
    return taken, max(times_s) - min(times_s)


@contextmanager
def machines(bench: Bench, n_workers: int) -> Iterator[None]:
    """A cluster of so many machines; commands find it."""
    from servers import ray_machines

    with ray_machines.cluster(bench.fresh("cluster"), n_machines=n_workers):
        yield


def at_best(bench: Bench, *, n_workers: int, pictures: bool = False) -> tuple[float, float]:
    """Milliseconds between questions to an instant model, and the MB of the driver."""
    takes = [asked(bench, N_FEW, INSTANT, n_workers=n_workers, pictures=pictures) for _ in range(N_ROUNDS)]
    return 1e3 * min(taken_s for _, taken_s in takes) / N_FEW, min(taken.rss_mb for taken, _ in takes)


def above(what: str, value: float, least: float, shown: str) -> Row:
    """A figure that must not fall short of its target."""
    return Row(f"(cluster) {what}", shown, f">= {least:g}", value >= least)


def efficiency(bench: Bench, n: int) -> Row:
    """How much of the time the weights of so many machines are at work that take 200 ms for a batch."""
    options = f"takes_s={TAKES_S}&batch_size={BATCH}"
    _, taken_s = asked(bench, n * BATCH * N_BATCHES, options, n_workers=n)
    share = TAKES_S * (N_BATCHES - 1) / taken_s
    return above(f"batches of 200 ms, efficiency with {n}", share, 0.9, f"{share:.2f}")


def cluster(bench: Bench) -> list[Row]:
    """Questions a second, what a machine adds to each, efficiency, and the memory of the driver."""
    rows: list[Row] = []
    with machines(bench, 1):
        (here_ms, few_here), (one_ms, _) = (at_best(bench, n_workers=n) for n in (HERE_ONLY, 1))
        rows.append(Row("(cluster) instant weights in this process", f"{1e3 / here_ms:.0f} questions/s"))
        rows.append(below("(cluster) a question on one machine beyond local", one_ms - here_ms, 0.3, "ms"))
        rows.append(efficiency(bench, 1))
    with machines(bench, 2):
        rows.append(efficiency(bench, 2))
        for shown, pictures in (("pictures of 750 KB, each for 50 questions", True), ("words", False)):
            two_ms, few = at_best(bench, n_workers=2, pictures=pictures)
            what = f"instant weights on two machines, {shown}"
            rows.append(above(what, 1e3 / two_ms, 500, f"{1e3 / two_ms:.0f} questions/s"))
        many, many_here = (asked(bench, N_MANY, INSTANT, n_workers=n)[0].rss_mb for n in (2, HERE_ONLY))
        what = f"(cluster) driver at {N_FEW:,} and at {N_MANY:,} questions"
        rows.append(Row(what, f"{few:.0f}, {many:.0f} MB"))
        added = (many - many_here) / (few - few_here)
        rows.append(below("(cluster) its memory beyond local, with many / with few", added, 1.15, "x"))
    with machines(bench, 4):
        rows.append(efficiency(bench, 4))
    return rows


ALL = (cluster,)
