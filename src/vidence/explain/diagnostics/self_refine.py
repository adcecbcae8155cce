"""What rounds of self-review repair and spoil, and what asking again alone would do."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Annotated, Final, Literal, TypeAlias

import numpy as np
from msgspec import Meta

from vidence.ask.strategies.once import ask_candidates
from vidence.ask.strategies.self_refine import RefineRound, is_unchanged, review, rewrite_prompt
from vidence.contracts import Ask, Diagnostic, Examined, Flow, Subject
from vidence.errors import UsageError
from vidence.explain.diagnostics.conditions import PLAN, Examination, ReplyScore, mark_all
from vidence.explain.diagnostics.tables import (
    Figures,
    SideBySide,
    Values,
    difference,
    holm,
    kinds,
    side_by_side,
)
from vidence.records import Estimate, Item, Record, Reply
from vidence.statistics.paired import mcnemar
from vidence.tables.charts import Chart, Statement, curves
from vidence.tables.table import Measure, Table, count, number, p_value, share, tabulate

OWN: Final = "own"
NONE: Final = "none"
FOREIGN: Final = "foreign"
RESAMPLE: Final = "resample"
Control: TypeAlias = Literal["none", "foreign", "resample"]
_WAYS: Mapping[str, str] = {
    OWN: "own review",
    NONE: "no review",
    FOREIGN: "review of something else",
    RESAMPLE: "asked again",
}
FOREIGN_REVIEWS: Final = (
    "The answer counts three people at the table, but one of them leaves before the cups are put down. Go "
    "through the part where the door opens again and count who is still there afterwards.",
    "The order of the two actions is taken from how they are named, not from when they are seen. Check which "
    "of them comes first near the beginning.",
    "The colour is read from a frame in the shade. Other frames show the same object in daylight; compare "
    "them before settling on it.",
    "Nothing is wrong with what is described. The step from the tool in the left hand to the purpose of the "
    "work is plausible, but it is not shown; look for what happens right after it.",
)
"""Reviews that fit other questions about other videos, in our words."""


class Settings(Record):
    """Options of the diagnostic."""

    rounds: Annotated[int, Meta(ge=1, le=8, description="of a review and a new answer")] = 3
    controls: Annotated[
        tuple[Control, ...],
        Meta(description="controls: without a review, with one of another question, again without a trail"),
    ] = ("none", "foreign", "resample")

    def __post_init__(self) -> None:
        if len(set(self.controls)) < len(self.controls):
            raise UsageError("self-refine: expected each control once, such as controls=none|resample")


class SelfRefineFinding(Record):
    """One question's scores by round; round 0 is the first answer.

    Source: HumanPCR, tables 4 and 12.
    Departs: see `SelfRefine`.
    """

    marks: dict[str, tuple[ReplyScore, ...]]
    """Scores of round 0 and each round, by chain (``own``, ``none``, ``foreign``, ``resample``)."""
    reviews: tuple[str, ...]
    """The model's own reviews, one per round."""
    unchanged: dict[str, tuple[bool, ...]]
    """Whether the answer stayed verbatim in each round, by chain."""


class SelfRefine(Examination[Settings]):
    """A chain of answers to each question, each with a review of the one before; and what else explains it.

    Round m shows the model its answers and reviews so far, so that rounds 1 to M are one chain. *Repaired* is
    the share of questions that were wrong in round 0 and are right, *spoiled* the reverse; the difference of
    the two is the gain. Asking again changes answers by itself: of a model that is right with chance p each
    time, p (1 - p) are repaired and as many spoiled. So three controls start from the same first answer:
    *no review* (written again without one), *review of something else* (one of `FOREIGN_REVIEWS`, drawn by
    the question), and *asked again* (further replies to the same prompt, no trail). Only what is repaired
    beyond them is refinement.

    Source: HumanPCR, section 4.3 and tables 4 and 12 (M = 1 to 3 rounds).
    Departs: the paper says neither words nor stop, and has no controls; a review and a new answer are a round
        here, and all rounds are taken. A foreign review is one of four that we wrote, not that of another
        question of the set.
    """

    name = "self-refine"
    version = 1
    finding: type[Record] = SelfRefineFinding

    @property
    def n_drawn(self) -> int:
        """Return the number of replies to the question's prompt."""
        return self.settings.rounds + 1 if RESAMPLE in self.settings.controls else 1

    def most_asks(self, item: Item, *, n_frames: int) -> int:
        """Return the first replies, two requests per own round, and one per control round."""
        n_others = sum(control != RESAMPLE for control in self.settings.controls)
        return self.n_drawn + self.settings.rounds * (2 + n_others)

    def examine(self, subject: Subject) -> Flow[SelfRefineFinding]:
        """Ask for all first replies at once, then run the chains."""
        replies = yield from ask_candidates(subject.prompt(PLAN), self.n_drawn)
        reviews = list[str]()
        chains: dict[str, list[Reply]] = {
            OWN: (yield from self._chain(subject, replies[0], way=OWN, reviews=reviews))
        }
        for control in self.settings.controls:
            if control == RESAMPLE:
                chains[control] = list(replies)
            else:
                chains[control] = yield from self._chain(subject, replies[0], way=control, reviews=[])
        marks: dict[str, tuple[ReplyScore, ...]] = {}
        for way, chain in chains.items():
            marks[way], _ = yield from mark_all(subject, chain)
        return SelfRefineFinding(
            marks=marks,
            reviews=tuple(reviews),
            unchanged={
                way: tuple(is_unchanged(a, b) for a, b in pairwise(chain)) for way, chain in chains.items()
            },
        )

    def _chain(self, subject: Subject, first: Reply, *, way: str, reviews: list[str]) -> Flow[list[Reply]]:
        """Return the answers of one chain, including the first; own reviews are added to `reviews`."""
        chain, rounds = [first], [RefineRound(first)]
        for _ in range(self.settings.rounds):
            text: str | None = None
            if way == OWN:
                text = (yield from review(subject, PLAN, rounds)).text
                reviews.append(text)
            elif way == FOREIGN:
                text = foreign_review(subject.item, len(chain))
            rounds[-1] = RefineRound(chain[-1], (text or "").strip() or None)
            (reply,) = yield [Ask(prompt=rewrite_prompt(subject, PLAN, rounds))]
            chain.append(reply)
            rounds.append(RefineRound(reply))
        return chain

    def summarise(
        self, examined: Sequence[Examined], *, rng: np.random.Generator, level: float
    ) -> tuple[Statement, ...]:
        """Return each round against the first answer, each chain, and the curves."""
        conditions = [
            _key(way, n) for way in (OWN, *self.settings.controls) for n in range(self.settings.rounds + 1)
        ]
        side = side_by_side(
            examined,
            SelfRefineFinding,
            _by_round,
            conditions=conditions,
            figures=Figures(rng=rng, level=level),
        )
        return tuple(_Rounds(found=side, settings=self.settings).statements())


def create(settings: Settings) -> Diagnostic:
    """Create the diagnostic."""
    return SelfRefine(settings)


def foreign_review(item: Item, number: int) -> str:
    """Return one of `FOREIGN_REVIEWS`, determined by the question and the round."""
    key = hashlib.sha256(f"{item.item_id}\n{number}".encode()).digest()
    return FOREIGN_REVIEWS[key[0] % len(FOREIGN_REVIEWS)]


# --------------------------------------------------------------------------- what all questions say

Found = SideBySide[SelfRefineFinding]


def _key(way: str, number: int) -> str:
    return f"{way}:{number}"


def _by_round(finding: SelfRefineFinding) -> dict[str, tuple[ReplyScore, ...]]:
    return {_key(way, i): (mark,) for way, marks in finding.marks.items() for i, mark in enumerate(marks)}


@dataclass(frozen=True, kw_only=True)
class _Rounds:
    """The questions with a score in every round of every chain."""

    found: Found
    settings: Settings

    @property
    def ways(self) -> tuple[str, ...]:
        return (OWN, *self.settings.controls)

    def statements(self) -> list[Statement]:
        """Return the statements, the headline first."""
        statements: list[Statement] = [self._headline()]
        if self.found.items:
            statements += [self._controls(), self._curves()]
        return statements

    def _rows(self) -> dict[str, str]:
        """Return the labels of the own chain's rounds."""
        rounds = range(1, self.settings.rounds + 1)
        return {_key(OWN, 0): "first answer"} | {_key(OWN, n): f"round {n}" for n in rounds}

    def _change(self, key: str, *, is_repair: bool) -> Estimate | None:
        """Return the share of questions that a chain repaired, or spoiled, since its first answer."""
        way, _, number_ = key.partition(":")
        if number_ == "0":
            return None
        return self.found.mean(self._moved(way, int(number_), is_repair=is_repair))

    def _moved(self, way: str, number_: int, *, is_repair: bool) -> Values:
        before, after = self.found.values[_key(way, 0)] >= 1, self.found.values[_key(way, number_)] >= 1
        moved = (~before & after) if is_repair else (before & ~after)
        return np.asarray(moved, np.float64)

    def _mcnemar(self, key: str) -> float | None:
        """Return the exact p-value of repaired against spoiled; None for partial scores."""
        after, before = self.found.values[key], self.found.values[_key(OWN, 0)]
        is_whole = all(set(np.unique(values)) <= {0.0, 1.0} for values in (after, before))
        return mcnemar(after, before).p_exact if is_whole and key != _key(OWN, 0) else None

    def _headline(self) -> Table:
        side, rows = self.found, self._rows()
        start = _key(OWN, 0)
        gains = side.differences({key: (key, start) for key in rows if key != start})
        n_empty = sum(not text.strip() for finding in side.findings for text in finding.reviews)

        def unchanged(key: str) -> Estimate | None:
            n = int(key.partition(":")[2])
            return side.mean(np.array([float(f.unchanged[OWN][n - 1]) for f in side.findings])) if n else None

        return tabulate(
            "self-refine",
            "Accuracy by round of refinement",
            label="answer",
            rows=side.rows(rows, rows),
            measures=(
                side.questions(),
                share("accuracy", side.accuracy),
                difference("gain", gains, "gain", note="on the first answer, paired"),
                holm(gains),
                share("repaired", lambda k: self._change(k, is_repair=True), "wrong to right"),
                share("spoiled", lambda k: self._change(k, is_repair=False), "right to wrong"),
                p_value("mcnemar", self._mcnemar, "McNemar p", note="exact, over questions"),
                share("unchanged", unchanged, "same words", note="as the answer before"),
                number("tokens", self._tokens, "tokens", note="of the answer, on average"),
                *kinds(side.marks),
            ),
            notes=(
                f"{n_empty:,} reviews are empty; the answer is then written again without one."
                if n_empty
                else "",
                side.guessing_note(),
                side.left_out,
            ),
        )

    def _tokens(self, key: str) -> float | None:
        known = [m.output_tokens for some in self.found.marks[key] for m in some]
        tokens = [other for other in known if other is not None]
        return sum(tokens) / len(tokens) if tokens else None

    def _controls(self) -> Table:
        """Return what each chain's last round repairs and spoils, and the own review's excess."""
        side, last = self.found, self.settings.rounds
        own = self._moved(OWN, last, is_repair=True)
        beyond = side.figures.differences(
            {way: (own, self._moved(way, last, is_repair=True)) for way in self.settings.controls}, side.items
        )
        measures: list[Measure[str]] = [
            share("accuracy", lambda way: side.accuracy(_key(way, last))),
            share("repaired", lambda way: self._change(_key(way, last), is_repair=True), "wrong to right"),
            share("spoiled", lambda way: self._change(_key(way, last), is_repair=False), "right to wrong"),
            difference(
                "beyond", beyond, "repaired beyond it", note="by the own review, paired; else no refinement"
            ),
            holm(beyond),
            count("n", lambda way: len(side.items), "questions"),
        ]
        return tabulate(
            "controls",
            f"What re-asking alone does, after round {last}",
            label="condition",
            rows=side.rows(self.ways, _WAYS),
            measures=measures,
            notes=("All start from the same first answer.",),
        )

    def _curves(self) -> Chart:
        side = self.found
        return Chart(
            name="by-round",
            title="Accuracy by round",
            x_title="round",
            y_title="accuracy",
            series=curves(
                (_WAYS[way], ((n, side.accuracy(_key(way, n))) for n in range(self.settings.rounds + 1)))
                for way in self.ways
            ),
        )
