"""Planted against recovered: judges whose errors, leniency and preference for their own family are known."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vidence.records import Estimate
from vidence.report.diagnosis_calibration import Recovered
from vidence.report.judge_figures import (
    JudgeVerdicts,
    Replies,
    SelfPreference,
    against_rule,
    levels,
    self_preferences,
)

RUNS = ("gpt", "qwen", "llama")
OWN = "gpt"
ACCURACY = {"gpt": 0.75, "qwen": 0.55, "llama": 0.35}
FAMILIES = {"gpt": "openai", "qwen": "qwen", "llama": "llama", "openai:gpt": "openai"}
_CALLED = 0.05
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


SOUND = PlantedJudge()
LENIENT = PlantedJudge(sensitivity=1.0, specificity=0.7)
PARTIAL = PlantedJudge(sensitivity=0.8, specificity=0.85, bonus=0.12)


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
        ruled=people.copy(),
        n_characters=rng.integers(5, 50, n).astype(np.float64),
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
    """Marks as what one judge said; shape (n_replies,) or (n_replies, n_repeats)."""
    values = marks if marks.ndim == 2 else marks[:, None]
    n = len(replies.runs)
    return JudgeVerdicts(
        name=name,
        model=model,
        protocol=protocol,
        values=values,
        points=np.full(values.shape, math.nan),
        is_left=np.zeros(n, np.bool_),
        is_asked=np.ones(n, np.bool_),
    )


@dataclass(frozen=True, kw_only=True)
class JudgesAsked:
    """Three judges: one that errs, one that is lenient, and one that prefers its own family."""

    errs: PlantedJudge = SOUND
    lenient: PlantedJudge = LENIENT
    partial: PlantedJudge = PARTIAL


def recovered_judges(
    asked: JudgesAsked, *, planted: JudgesAsked, n_questions: int, seed: int
) -> tuple[Recovered, ...]:
    """What is found of judges, beside what was planted in them.

    Args:
        asked: the judges that say something.
        planted: what they are held to be; the same for a calibration.
        n_questions: of three models each.
        seed: of replies and verdicts.
    """
    replies = judged_replies(n_questions, rng=np.random.default_rng([seed, 0]))
    n = len(replies.runs)

    def says(judge: PlantedJudge, number: int) -> JudgeVerdicts:
        return verdicts(replies, judge.marks(replies, rng=np.random.default_rng([seed, number])))

    def row(what: str, value: float, found: Estimate | None, *, is_missed: bool = False) -> Recovered:
        return Recovered(
            diagnostic="judges",
            label="judge, no video",
            what=what,
            planted=value,
            found=found,
            n=n,
            n_different=int(is_missed),
            is_share=True,
            is_drawn=True,
        )

    errs = says(asked.errs, 1)
    ruled = against_rule(replies, errs, rng=np.random.default_rng([seed, 2]))
    lenient = says(asked.lenient, 3)
    level = next(one for one in levels(replies, [lenient]) if one.run == RUNS[-1])
    # What a lenient judge adds: it misses some of the right, and lets pass some of the wrong.
    added = (1 - planted.lenient.specificity) * (1 - level.people)
    added -= (1 - planted.lenient.sensitivity) * level.people
    own = _preference(replies, says(asked.partial, 4))
    fair = _preference(replies, errs)
    return (
        row("sensitivity", planted.errs.sensitivity, None if ruled is None else ruled.sensitivity),
        row("specificity", planted.errs.specificity, None if ruled is None else ruled.specificity),
        row(
            f"level of {RUNS[-1]} above people, called",
            added,
            level.difference,
            is_missed=not level.p_holm < _CALLED,
        ),
        row(
            "own family favoured, called", planted.partial.bonus, _at_same(own), is_missed=not _is_called(own)
        ),
        row(
            "own family not favoured, let be", planted.errs.bonus, _at_same(fair), is_missed=_is_called(fair)
        ),
    )


def _preference(replies: Replies, judge: JudgeVerdicts) -> SelfPreference:
    (found,) = self_preferences(replies, [judge], families=FAMILIES)
    return found


def _at_same(found: SelfPreference) -> Estimate | None:
    return None if found.at_same is None else found.at_same.estimate


def _is_called(found: SelfPreference) -> bool:
    return bool(found.p_holm < _CALLED)
