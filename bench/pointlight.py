"""What drawing points of light costs: frames of 512x512 pixels per CPU second on one core.

    python bench/pointlight.py [--frames 600] [--draws 600]

Beside it, in the same run, the floor: blank pictures of that size; whether masks hide the figure from who
looks at single dots; how often intervals hold the thresholds of simulated observers, by constant stimuli and
by staircases; what a clip of three minutes takes, and what `vidence ablate` costs as it comes.
"""

import argparse
import itertools
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import NormalDist

import measure
import numpy as np
from harness import VIDENCE, Bench, Row
from numpy.typing import ArrayLike, NDArray

from vidence.pointlight.body import body
from vidence.pointlight.drawing import frames
from vidence.pointlight.local_cues import detection
from vidence.pointlight.specs import StimulusSpec, View
from vidence.pointlight.stimulus import make_stimulus
from vidence.pointlight.walker import ACTIONS, WalkerSpec, walker
from vidence.statistics.psychometrics import Curve, LevelCounts, fit_counts, flatness, threshold_within
from vidence.statistics.staircase import QuestPlus

LEAST_PER_S = 1500.0
N_FRAMES = 600
MOST_ABLATION_CPU_S, MOST_MEMORY_MB = 180.0, 300.0
N_DRAWS = 600
LEAST_HELD = 0.93  # two standard errors of 600 intervals of 95 % below it
PROPORTION = 2 / 3
CURVE = Curve(guess=1 / 3, is_falling=True)
WIDTH, LAPSE = 40.0, 0.02
SHOWN = (0.0, 10.0, 20.0, 40.0, 60.0, 80.0)
STEPS = tuple(np.arange(0.0, 81.0, 5.0))
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


@dataclass(frozen=True)
class Tried:
    """A simulated experiment: the planted threshold, what was found, and the interval."""

    planted: float
    found: float
    low: float
    high: float


def held_row(what: str, tried: list[Tried], n_none: int) -> Row:
    """How wide intervals are, how far thresholds are off, and how often the interval holds the planted."""
    held = float(np.mean([one.low <= one.planted <= one.high for one in tried]))
    width = float(np.median([one.high - one.low for one in tried]))
    off = float(np.sqrt(np.mean([(one.found - one.planted) ** 2 for one in tried])))
    without = f"; in {n_none} of {len(tried) + n_none} no change with the level is seen" if n_none else ""
    return Row(
        f"(thresholds) {what}",
        f"{held:.1%} held, {width:.1f} wide, {off:.1f} off{without}",
        f">= {LEAST_HELD:.0%} held",
        held >= LEAST_HELD,
    )


def chances(planted: float, levels: ArrayLike, shifts: NDArray[np.float64]) -> NDArray[np.float64]:
    """How often sources whose thresholds differ by `shifts` from the planted one are right at each level."""
    usual = float(CURVE.threshold(PROPORTION, location=0.0, width=WIDTH, lapse=LAPSE))
    location = (planted - usual + shifts)[:, None]
    return CURVE.right(np.asarray(levels)[None], location=location, width=WIDTH, lapse=LAPSE)


def offset_of(spread: float) -> float:
    """How far the threshold of all sources together lies from the middle one, where each has its own."""
    levels = np.linspace(-200.0, 200.0, 4001)
    shifts = spread * np.array([NormalDist().inv_cdf((i + 0.5) / 400) for i in range(400)])
    together = chances(0.0, levels, shifts).mean(axis=0)
    return float(np.interp(PROPORTION, together[::-1], levels[::-1]))


def constant_rows(n_draws: int) -> list[Row]:
    """Constant stimuli: every source once at each of six levels."""
    made = []
    for n_sources, spread in ((7, 0.0), (10, 0.0), (20, 0.0), (28, 0.0), (48, 0.0), (7, 10.0), (20, 10.0)):
        rng, tried, n_none = np.random.default_rng(22), list[Tried](), 0
        offset = offset_of(spread)
        for _ in range(n_draws):
            located = float(rng.uniform(15, 65))
            chance = chances(located, SHOWN, spread * rng.standard_normal(n_sources))
            right = (rng.random(chance.shape) < chance).astype(float)
            levels = np.asarray(SHOWN)
            whole = LevelCounts(
                levels=levels, right=right.sum(axis=0), n=np.full(len(levels), float(n_sources))
            )
            best = fit_counts(CURVE, whole)
            found = CURVE.threshold(PROPORTION, location=best.location, width=best.width, lapse=best.lapse)
            if flatness(CURVE, whole) > 0.05:
                n_none += 1
                continue
            answers = LevelCounts(levels=levels, right=right, n=np.ones_like(right))
            within = threshold_within(CURVE, answers, proportion=PROPORTION)
            tried.append(
                Tried(planted=located + offset, found=float(found[0]), low=within.low, high=within.high)
            )
        differ = f", thresholds of sources differ by {spread:g} dots" if spread else ""
        what = f"constant stimuli, {6 * n_sources} answers of {n_sources} sources{differ}"
        made.append(held_row(what, tried, n_none))
    return made


def staircase_rows(n_draws: int) -> list[Row]:
    """QUEST+ on 17 levels."""
    made = []
    for n_answers in (40, 60, 80, 120):
        rng, tried = np.random.default_rng(22), list[Tried]()
        for _ in range(n_draws):
            planted = float(rng.uniform(15, 65))
            chance = chances(planted, STEPS, np.zeros(1))[0]
            quest = QuestPlus(CURVE, STEPS)
            for _ in range(n_answers):
                at = quest.next_level()
                quest.add(at, is_right=bool(rng.random() < chance[at]))
            found = quest.threshold(PROPORTION)
            tried.append(Tried(planted=planted, found=found.value, low=found.low, high=found.high))
        made.append(held_row(f"staircase, {n_answers} answers", tried, 0))
    return made


def ablation_row(folder: Path) -> Row:
    """What ``vidence ablate`` costs as it comes: 864 clips, two models, the observer."""
    command = [str(VIDENCE), "ablate", "--out", str(folder / "out"), "--progress", "none"]
    taken = measure.run(command, env={"VIDENCE_CACHE": str(folder / "cache")})
    if taken.returncode != 0:
        raise RuntimeError(f"{command} gave {taken.returncode}:\n{taken.output[-3000:]}")
    return Row(
        "(point lights) vidence ablate as it comes: 18 conditions of 48 clips, 2 models",
        f"{taken.cpu_s:.0f} CPU-s",
        f"<= {MOST_ABLATION_CPU_S:.0f} CPU-s",
        taken.cpu_s <= MOST_ABLATION_CPU_S,
    )


def memory_row(folder: Path) -> Row:
    """The memory of a clip of three minutes: MP4, lossless, and the dots."""
    written = [word for kind in ("mp4", "lossless", "npz") for word in ("--write", kind)]
    command = [str(VIDENCE), "pointlight", "walker:walk?duration_s=180", "--out", str(folder), *written]
    taken = measure.run([*command, "--set", "framing=follow"])
    if taken.returncode != 0:
        raise RuntimeError(f"{command} gave {taken.returncode}:\n{taken.output[-3000:]}")
    return Row(
        "(point lights) three minutes as MP4, lossless and dots, 512x512",
        f"{taken.rss_mb:.0f} MB, {taken.cpu_s:.0f} CPU-s",
        f"<= {MOST_MEMORY_MB:.0f} MB",
        taken.rss_mb <= MOST_MEMORY_MB,
    )


def pointlight(bench: Bench) -> list[Row]:
    """Drawing, masks, thresholds and an ablation, for bench/run.py."""
    found = [*rows(N_FRAMES), *cue_rows(), *constant_rows(N_DRAWS), *staircase_rows(N_DRAWS)]
    return [*found, memory_row(bench.fresh("long")), ablation_row(bench.fresh("ablation"))]


ALL = (pointlight,)


def main() -> int:
    """Print the figures."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--frames", type=int, default=N_FRAMES)
    parser.add_argument("--draws", type=int, default=N_DRAWS)
    options = parser.parse_args()
    measured = (
        rows(options.frames),
        cue_rows(),
        constant_rows(options.draws),
        staircase_rows(options.draws),
    )
    for row in itertools.chain(*measured):
        print(f"{row.what}: {row.measured} {row.target} {row.holds}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
