"""What drawing points of light costs: frames of 512x512 pixels per CPU second on one core.

    python bench/pointlight.py [--frames 600]

Beside it, in the same run, the floor: blank pictures of that size; and what a clip of three minutes takes.
"""

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path

import measure
import numpy as np
from harness import VIDENCE, Bench, Row

from vidence.pointlight.body import body
from vidence.pointlight.drawing import frames
from vidence.pointlight.specs import StimulusSpec
from vidence.pointlight.stimulus import make_stimulus
from vidence.pointlight.walker import WalkerSpec, walker

LEAST_PER_S = 1500.0
N_FRAMES = 600
MOST_MEMORY_MB = 300.0
CASES = {"13 dots": {}, "13 dots, 60 noise dots": {"n_noise": 60}}


def per_second(draw: Callable[[], int], repeats: int = 3) -> float:
    """Frames per CPU second, the best of some repeats."""
    best = 0.0
    for _ in range(repeats):
        start = time.thread_time()
        n_frames = draw()
        best = max(best, n_frames / (time.thread_time() - start))
    return best


def rows(n_frames: int) -> list[Row]:
    """One row for each kind of stimulus."""
    figure = body(walker(WalkerSpec(duration_s=n_frames / 30, fps=30.0)))
    floor = per_second(
        lambda: sum(1 for _ in range(n_frames) if np.zeros((512, 512, 3), np.uint8).any() == 0)
    )
    found = [Row("(point lights) floor: blank pictures", f"{floor:.0f} frames per CPU-s")]
    for name, overrides in CASES.items():
        stimulus = make_stimulus([figure], StimulusSpec(framing="follow", **overrides))
        rate = per_second(lambda shown=stimulus: sum(1 for _ in frames(shown)))
        found.append(
            Row(
                f"(point lights) {name}, 512x512",
                f"{rate:.0f} frames per CPU-s",
                f">= {LEAST_PER_S:.0f} frames per CPU-s",
                rate >= LEAST_PER_S,
            )
        )
    return found


def memory_row(folder: Path) -> Row:
    """The memory of a clip of three minutes: MP4 and lossless."""
    written = [word for kind in ("mp4", "lossless") for word in ("--write", kind)]
    command = [str(VIDENCE), "pointlight", "walker:walk?duration_s=180", "--out", str(folder), *written]
    taken = measure.run([*command, "--set", "framing=follow"])
    if taken.returncode != 0:
        raise RuntimeError(f"{command} gave {taken.returncode}:\n{taken.output[-3000:]}")
    return Row(
        "(point lights) three minutes as MP4 and lossless, 512x512",
        f"{taken.rss_mb:.0f} MB, {taken.cpu_s:.0f} CPU-s",
        f"<= {MOST_MEMORY_MB:.0f} MB",
        taken.rss_mb <= MOST_MEMORY_MB,
    )


def pointlight(bench: Bench) -> list[Row]:
    """Drawing, for bench/run.py."""
    return [*rows(N_FRAMES), memory_row(bench.fresh("long"))]


ALL = (pointlight,)


def main() -> int:
    """Print the figures."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--frames", type=int, default=N_FRAMES)
    options = parser.parse_args()
    for row in rows(options.frames):
        print(f"{row.what}: {row.measured} {row.target} {row.holds}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
