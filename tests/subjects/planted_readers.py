"""Readers of questions without videos, who are right, repair, spoil and follow words as is planted."""

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import TypeAlias

import msgspec
import numpy as np
from numpy.typing import NDArray

from subjects.simulated import Answers, Simulated, drive
from vidence.contracts import Ask, Diagnostic, Examined, Flow
from vidence.records import Item, Media, Reply, Score

LETTERS = "ABCD"


_MOST_WORDS = 60
_MARKED = re.compile(r'<reply id="([0-9a-f]{16})">\n"(.*)"')
Points: TypeAlias = Callable[[Item, str], int]
AnswersOf: TypeAlias = Callable[[Item], Answers]


def item(number: int) -> Item:
    """A question with four choices; the right one moves along, and two questions share a video."""
    return Item(
        item_id=f"q{number:04d}",
        media=(Media(path=f"v{number // 2}.mp4"),),
        question=f"Which {number}?",
        choices=("one", "two", "three", "four"),
        answer=LETTERS[number % 4],
    )


def examine_all(
    diagnostic: Diagnostic, subjects: Sequence[Simulated], answers_of: AnswersOf
) -> list[Examined]:
    """What a diagnostic finds on each of these questions, answered by the reader of that question."""
    return [
        Examined(item=one.item, finding=drive(diagnostic.examine(one), answers_of(one.item)).made)
        for one in subjects
    ]


def drawn_letter(asked: Item, *, p: float, rng: np.random.Generator) -> str:
    """The right letter with the chance `p`, and each other one as often."""
    if rng.random() < p:
        return asked.answer
    wrong = [letter for letter in LETTERS if letter != asked.answer]
    return wrong[int(rng.integers(len(wrong)))]


class LongReplies(Simulated):
    """A question whose replies are read by their first word, with other words behind it."""

    def mark(self, reply: Reply, *, order: tuple[int, ...] = ()) -> Flow[Score]:
        """The mark of the first word."""
        return (yield from super().mark(Reply(text=reply.text.split()[0]), order=order))


def perfect(asked: Item, text: str) -> int:
    """All points for a right reply, and none for a wrong one."""
    return 4 if text.split(maxsplit=1)[0] == asked.answer else 0


_CUTS = (-0.6, 0.1, 0.8, 1.5)
_NORMAL = NormalDist()


@dataclass(frozen=True, kw_only=True)
class GradedReward:
    """Points of 0 to 4, of right replies higher so that the AUC is about `sharpness`."""

    rng: np.random.Generator
    sharpness: float = 0.75

    @property
    def _shift(self) -> float:
        return math.sqrt(2) * _NORMAL.inv_cdf(self.sharpness)

    def __call__(self, asked: Item, text: str) -> int:
        """The points of one reply."""
        is_right = text.split(maxsplit=1)[0] == asked.answer
        return int(np.searchsorted(_CUTS, self.rng.normal(self._shift if is_right else 0.0)))

    def shares(self, *, is_right: bool) -> NDArray[np.float64]:
        """How often right, or wrong, replies get 0, 1, 2, 3 and 4 points."""
        below = [_NORMAL.cdf(cut - (self._shift if is_right else 0.0)) for cut in _CUTS]
        return np.diff([0.0, *below, 1.0])

    def best(self, p: float, n: int) -> float:
        """The accuracy of the best of `n` replies that are right with the chance `p`, ties at random."""
        right = p * self.shares(is_right=True)
        mixed = right + (1 - p) * self.shares(is_right=False)
        below = np.concatenate([[0.0], np.cumsum(mixed)])
        return float(((below[1:] ** n - below[:-1] ** n) * right / mixed).sum())


@dataclass(frozen=True)
class Candidates:
    """Right with the chance `p`, drawn for each sample, in replies of drawn lengths; `points` weighs them."""

    p: float
    points: Points
    rng: np.random.Generator

    def __call__(self, asked: Item) -> Answers:
        """Who answers this question, and weighs its replies."""

        def says(ask: Ask) -> Reply:
            found = _MARKED.search(ask.prompt.text) if "words: reward-score" in ask.prompt.text else None
            if found is not None:
                marked, shown = found.groups()
                given = {"id": marked, "score": self.points(asked, shown)}
                return Reply(text=msgspec.json.encode(given).decode())
            letter = drawn_letter(asked, p=self.p, rng=self.rng)
            n_words = int(self.rng.integers(1, _MOST_WORDS))
            return Reply(text=" ".join([letter, *[f"w{ask.sample}"] * n_words]))

        return says


def candidate_subjects(n: int) -> list[Simulated]:
    """So many questions with two frames, for `Candidates`."""
    return [LongReplies(item(number), {"plan": (0.0, 1.0)}) for number in range(n)]


@dataclass(frozen=True, kw_only=True)
class Refiner:
    """Repairs and spoils with planted chances where there is a review of its own; re-draws otherwise."""

    rng: np.random.Generator
    start: float = 0.3
    repairs: float = 0.5
    spoils: float = 0.2
    keeps: float = 0.7

    def __call__(self, asked: Item) -> Answers:
        """Who answers this question, reviews the answer and answers again."""

        def says(ask: Ask) -> Reply:
            text = ask.prompt.text
            if "words: critique" in text:
                return Reply(text="own words")
            p = self.start
            if "words: rewrite" in text:
                before = [line for line in text.split("\n") if line in tuple(LETTERS)][-1]
                if "own words" in text:
                    p = 1 - self.spoils if before == asked.answer else self.repairs
                elif self.rng.random() < self.keeps:
                    return Reply(text=before)
            return Reply(text=drawn_letter(asked, p=p, rng=self.rng))

        return says

    def after(self, n_rounds: int) -> float:
        """The accuracy to expect after so many rounds of its own reviews."""
        p = self.start
        for _ in range(n_rounds):
            p = p * (1 - self.spoils) + (1 - p) * self.repairs
        return p
