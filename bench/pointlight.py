"""What drawing points of light costs: frames of 512x512 pixels per CPU second on one core.

    python bench/pointlight.py [--frames 600]

Beside it, in the same run, the floor: blank pictures of that size; and whether masks hide the figure from who
looks at single dots.
"""

import argparse
import sys
import time
from collections.abc import Callable

import numpy as np
from harness import Bench, Row

from vidence.pointlight.body import body
from vidence.pointlight.drawing import frames
from vidence.pointlight.local_cues import detection
from vidence.pointlight.specs import StimulusSpec, View
from vidence.pointlight.stimulus import make_stimulus
from vidence.pointlight.walker import ACTIONS, WalkerSpec, walker

LEAST_PER_S = 500.0
N_FRAMES = 600
CASES = {
    "13 dots": {},
    "13 dots, 60 noise dots": {"n_noise": 60},
    "8 dots of limited life, scrambled": {"life_frames": 4, "n_life_dots": 8, "scramble": "places"},
}


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


def cue_rows() -> list[Row]:
    """How well the best cue of single dots tells the figure from its mask, over all actions."""
    worst = {
        f"{action}, {cue}": area
        for action in ACTIONS
        for cue, area in detection(
            [
                make_stimulus(
                    [body(walker(WalkerSpec(action=action)))],
                    StimulusSpec(n_noise=40, view=View(yaw_deg=yaw_deg), seed=seed),
                )
                for seed, yaw_deg in enumerate((0.0, 45.0, 90.0))
            ]
        ).items()
    }
    where, area = max(worst.items(), key=lambda one: abs(one[1] - 0.5))
    return [
        Row(
            f"(point lights) figure told from its mask by one dot, the worst of {len(worst)} ({where})",
            f"AUC {area:.3f}",
            "AUC .5 +- .05",
            abs(area - 0.5) <= 0.05,
        )
    ]


def pointlight(bench: Bench) -> list[Row]:
    """Drawing and masks, for bench/run.py."""
    return [*rows(N_FRAMES), *cue_rows()]


ALL = (pointlight,)


def main() -> int:
    """Print the figures."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--frames", type=int, default=N_FRAMES)
    options = parser.parse_args()
    for row in [*rows(options.frames), *cue_rows()]:
        print(f"{row.what}: {row.measured} {row.target} {row.holds}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
