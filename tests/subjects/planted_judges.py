"""Judges whose errors, leniency and preference for their own family are planted."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vidence.report.judge_figures import JudgeVerdicts, Replies

RUNS = ("gpt", "qwen", "llama")
OWN = "gpt"
ACCURACY = {"gpt": 0.75, "qwen": 0.55, "llama": 0.35}
FAMILIES = {"gpt": "openai", "qwen": "qwen", "llama": "llama", "openai:gpt": "openai"}
_PER_VIDEO = 2


@dataclass(frozen=True, kw_only=True)
class PlantedJudge:
    """A judge that finds right what is right, and wrong what is wrong, so often; kinder to gpt by `bonus`."""

    sensitivity: float = 0.9
    specificity: float = 0.8
    bonus: float = 0.0

    def marks(self, replies: Replies, *, rng: np.random.Generator) -> NDArray[np.float64]:
        """What it says of each reply, 1 for right; shape (n_replies,)."""
        chance: NDArray[np.float64] = np.where(replies.people == 1, self.sensitivity, 1 - self.specificity)
        chance = np.clip(chance + self.bonus * (np.array(replies.runs) == OWN), 0, 1)
        return np.asarray(rng.random(len(chance)) < chance, np.float64)


def judged_replies(n_questions: int, *, rng: np.random.Generator) -> Replies:
    """Replies of three models to questions, two on each video, with what people say of them."""
    runs = tuple(run for _ in range(n_questions) for run in RUNS)
    people = np.array([float(rng.random() < ACCURACY[run]) for run in runs])
    n = len(runs)
    return Replies(
        runs=runs,
        questions=tuple(f"q{i}" for i in range(n_questions) for _ in RUNS),
        clusters=tuple(f"v{i // _PER_VIDEO}" for i in range(n_questions) for _ in RUNS),
        people=people,
        people_points=np.where(people == 1, rng.integers(3, 5, n), rng.integers(0, 3, n)) + 0.0,
        names=RUNS,
    )


def verdicts(
    replies: Replies,
    marks: NDArray[np.float64],
    *,
    name: str = "judge",
    model: str = "openai:gpt",
    protocol: str = "humanpcr",
) -> JudgeVerdicts:
    """Marks as what one judge said; shape (n_replies,)."""
    n = len(replies.runs)
    return JudgeVerdicts(
        name=name,
        model=model,
        protocol=protocol,
        values=marks,
        points=np.full(n, math.nan),
        is_left=np.zeros(n, np.bool_),
    )
