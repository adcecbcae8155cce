"""What choosing costs: AKS and BOLT on the 3,600 scores of an hour, and what a second selector looks at.

    python bench/choosing.py [--scores 3600] [--repeats 50]

On its own it measures the choice alone: nothing is decoded and nobody is asked.
"""

import argparse
import importlib.util
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from statistics import median

import clips
import measure
import numpy as np
from harness import HERE, Bench, Row

MOST_MS = 5.0
N_SCORES, N_REPEATS = 3600, 50
N_CLIPS, N_QUESTIONS = 4, 5


def milliseconds(function: Callable[[], object], repeats: int) -> tuple[float, float]:
    """Median and worst of some calls, after one that is not counted; CPU time, since machines are shared."""
    function()
    taken = []
    for _ in range(repeats):
        start = time.thread_time()
        function()
        taken.append((time.thread_time() - start) * 1000)
    return median(taken), max(taken)


def rows(n_scores: int, repeats: int) -> list[Row]:
    """Every rule and budget, on scores that are flat, peaky and mostly nothing."""
    from vidence.ask.selection import aks, bolt

    rng = np.random.default_rng(0)
    kinds = {
        "flat": rng.random(n_scores),
        "peaky": np.exp(-((np.arange(n_scores) - n_scores / 3) ** 2) / 50),
        "sparse": (rng.random(n_scores) < 0.01) * rng.random(n_scores),
    }
    defaults = aks.Settings()
    rules: dict[str, Callable[[np.ndarray, int], object]] = {
        "aks official": lambda s, k: aks.official(s, k, defaults),
        "aks repaired, ranked": lambda s, k: aks.repaired(s, k, defaults),
        "bolt official": lambda s, k: bolt.official(s, k, 3.0),
        "bolt repaired, ranked": lambda s, k: bolt.repaired(s, k, 3.0),
    }
    found = []
    for name, rule in rules.items():
        for k in (16, 64, 256):
            times = {kind: milliseconds(partial(rule, s, k), repeats) for kind, s in kinds.items()}
            worst_kind = max(times, key=lambda kind: times[kind][0])
            middle, worst = times[worst_kind]
            found.append(
                Row(
                    what=f"{name}, {k} of {n_scores:,} ({worst_kind} scores, the slowest kind)",
                    measured=f"{middle:.2f} CPU-ms, worst of {repeats}: {worst:.2f} ms",
                    target=f"{MOST_MS:g} CPU-ms",
                    holds=middle < MOST_MS,
                )
            )
    return found


def choosing(bench: Bench) -> list[Row]:
    """AKS and BOLT on an hour of scores."""
    return rows(N_SCORES, N_REPEATS)


@contextmanager
def counted() -> Iterator[list[int]]:
    """The number of frames in each forward pass of CLIP's image tower."""
    from vidence.ask.embedding.clip import Clip

    seen: list[int] = []
    original = Clip._see  # noqa: SLF001 - what it does is counted

    def see(self, weights, pixels):
        seen.append(len(next(iter(pixels.values()))))
        return original(self, weights, pixels)

    Clip._see = see  # noqa: SLF001
    try:
        yield seen
    finally:
        Clip._see = original  # noqa: SLF001


def embedding(bench: Bench) -> list[Row]:
    """A run with one selector and then a run with another, over the same clips, with tiny weights of CLIP."""
    if importlib.util.find_spec("transformers") is None:
        return [Row("(embedding)", "not measured: needs the extra 'select'")]
    sys.path.insert(0, str(HERE.parent / "tests"))
    from servers.tiny_embedders import build_clip

    weights = build_clip(bench.fresh("weights") / "clip")
    questions = clips.make_load(bench.folder / "clips", n_clips=N_CLIPS, n_questions=N_QUESTIONS)
    cache = bench.fresh("cache")
    found = []
    for number, selector in enumerate((f"similarity:clip:{weights}?grid=aks-1fps", f"aks:clip:{weights}")):
        with counted() as seen:
            summary, wall_s = _run(bench, questions, selector, out=bench.fresh(f"run-{number}"), cache=cache)
        name = f"(embedding) {('first', 'second')[number]} selector, {selector.partition(':')[0]}"
        passes = f"{len(seen)} forward passes over {sum(seen)} frames"
        more = f"{summary.decoding.n_scoring_passes} videos decoded for scores, {wall_s:.1f} s"
        is_second = number == 1
        nothing = not seen and not summary.decoding.n_scoring_passes
        found.append(
            Row(name, f"{passes}; {more}", "no pass" if is_second else "", nothing if is_second else None)
        )
        if not is_second and not seen:
            raise RuntimeError("the first selector looked at nothing; the bench measures nothing")
    return found


def _run(bench: Bench, questions: Path, selector: str, *, out: Path, cache: Path):
    """One run in this process, so that its forward passes can be counted."""
    import datetime

    import anyio

    from vidence.engine import evaluate
    from vidence.engine.environment import Environment
    from vidence.engine.prepare import make_plan

    model = f"openai:stub?base_url={bench.stub.address}/v1"
    overrides = {"selector": selector, "frames": 16, "memory": str(out / "replies.sqlite")}
    plan = make_plan("table", data=questions, model=model, overrides=overrides)

    async def go():
        return await evaluate.run(
            plan,
            out / "run",
            environment=Environment(cache_root=cache),
            now=datetime.datetime.now(tz=datetime.UTC),
            on_event=lambda event: None,
        )

    start = time.perf_counter()
    summary = anyio.run(go)
    if summary.n_failed:
        raise RuntimeError(f"{summary.n_failed} questions failed with {selector}")
    return summary, time.perf_counter() - start


ALL = (choosing, embedding)


def main() -> int:
    """Print the table."""
    from run import as_markdown

    parser = argparse.ArgumentParser()
    parser.add_argument("--scores", type=int, default=N_SCORES)
    parser.add_argument("--repeats", type=int, default=N_REPEATS)
    options = parser.parse_args()
    print(f"{measure.machine()}\n")
    print(as_markdown(rows(options.scores, options.repeats)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
