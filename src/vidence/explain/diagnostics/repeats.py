"""What k replies to one question achieve together: one right, all right, a vote; and what guessing would."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated

import numpy as np
from msgspec import Meta

from vidence.ask.strategies.once import MOST, ask_candidates
from vidence.ask.strategies.self_consistency import answer_groups
from vidence.contracts import Diagnostic, Examined, Flow, Subject
from vidence.explain.diagnostics.conditions import PLAN, Examination, ReplyScore, mark_all
from vidence.explain.diagnostics.tables import POOL, Figures, SideBySide, Values, guess, side_by_side
from vidence.records import Estimate, Item, Record
from vidence.statistics.repeats import pass_all, pass_at, vote_at
from vidence.tables.charts import Chart, Statement, curves
from vidence.tables.table import Measure, Table, lines, number, share, tabulate


class Settings(Record):
    """Options of the diagnostic."""

    n: Annotated[int, Meta(ge=2, le=MOST, description="how many replies there are to each question")] = 8


class RepeatsFinding(Record):
    """The replies to one question.

    Source: HumanPCR, section F.3 (repeated runs).
    Departs: see `Repeats`.
    """

    marks: tuple[ReplyScore, ...]
    """Scores of the replies, in sample order."""
    same_as: tuple[int | None, ...]
    """For each reply, the index of the first one with the same answer; None without an answer."""
    n_distinct: int
    """Number of distinct replies, verbatim."""


class Repeats(Examination[Settings]):
    """Each question n times, and what k of the n replies find: for every k, over all ways to take them.

    With c of n replies right, *pass@k* is 1 - C(n - c, k) / C(n, k), one or more right; *pass^k* is
    C(c, k) / C(n, k), all right; *vote@k* is what the answer that most of the k give gets, ties split, where
    a reply without an answer is no vote. All are free of bias for every k up to n.

    Two lines bound what they say: one who guesses again each time, with g = 1 / choices, has 1 - (1 - g)^k,
    g^k and g; one who always gives the same answer has pass@k = pass^k = vote@k for all k. The replies are
    those of a run with ``--repeats``, and of the strategies that draw several.

    Source: Chen and others, Evaluating Large Language Models Trained on Code (2021), section 2.1 (pass@k);
        Yao and others, tau-bench (2024), section 4.2 (pass^k); Wang and others, Self-Consistency (2023),
        section 2 (votes).
    Departs: votes are means over all ways to take k replies; the lines are ours.
    """

    name = "repeats"
    version = 2
    finding: type[Record] = RepeatsFinding

    @property
    def n_drawn(self) -> int:
        """Return the number of replies."""
        return self.settings.n

    def most_asks(self, item: Item, *, n_frames: int) -> int:
        """Return the number of replies."""
        return self.settings.n

    def examine(self, subject: Subject) -> Flow[RepeatsFinding]:
        """Ask for all replies at once, and score them."""
        replies = yield from ask_candidates(subject.prompt(PLAN), self.settings.n)
        marks, outcomes = yield from mark_all(subject, replies)
        groups = answer_groups(outcomes, is_text=not subject.item.choices)
        n_distinct = len({reply.text for reply in replies})
        return RepeatsFinding(marks=marks, same_as=groups, n_distinct=n_distinct)

    def summarise(
        self, examined: Sequence[Examined], *, rng: np.random.Generator, level: float
    ) -> tuple[Statement, ...]:
        """Return the results for every k, how much answers vary, and the curves."""
        figures = Figures(rng=rng, level=level)
        side = side_by_side(
            examined, RepeatsFinding, lambda f: {POOL: f.marks}, conditions=(POOL,), figures=figures
        )
        return tuple(_Together(found=side, settings=self.settings).statements())


def create(settings: Settings) -> Diagnostic:
    """Create the diagnostic."""
    return Repeats(settings)


# --------------------------------------------------------------------------- what all questions say

Found = SideBySide[RepeatsFinding]


@dataclass(frozen=True, kw_only=True)
class _Curve:
    """A measure: its value for a question and k, and its value under guessing."""

    key: str
    of: Callable[[RepeatsFinding, int], float]
    guessed: Callable[[float, int], float]
    note: str


def _n_right(finding: RepeatsFinding) -> int:
    return sum((mark.value or 0.0) >= 1 for mark in finding.marks)


def _pass(of: Callable[..., Values], finding: RepeatsFinding, k: int) -> float:
    return float(of([_n_right(finding)], n_repeats=len(finding.marks), k=k)[0])


def _vote(finding: RepeatsFinding, k: int) -> float:
    return vote_at(finding.same_as, [mark.value or 0.0 for mark in finding.marks], k=k)


_CURVES = (
    _Curve(
        key="pass@k",
        of=partial(_pass, pass_at),
        guessed=lambda g, k: 1 - (1 - g) ** k,
        note="one or more of k are right",
    ),
    _Curve(key="vote@k", of=_vote, guessed=lambda g, _: g, note="the answer that most of k give is right"),
    _Curve(key="pass^k", of=partial(_pass, pass_all), guessed=lambda g, k: g**k, note="all of k are right"),
)


@dataclass(frozen=True, kw_only=True)
class _Together:
    """The questions whose replies all have a score."""

    found: Found
    settings: Settings

    def statements(self) -> list[Statement]:
        """Return the statements, the headline first."""
        statements: list[Statement] = [self._headline()]
        if self.found.items:
            statements += [self._changes(), self._figure()]
        return statements

    def _values(self, curve: _Curve, k: int) -> Values:
        return np.array([curve.of(finding, k) for finding in self.found.findings], np.float64)

    def _guessed(self, curve: _Curve, k: int) -> float:
        return float(np.mean([curve.guessed(guess(item), k) for item in self.found.items]))

    def _headline(self) -> Table:
        measures: list[Measure[int]] = [number("questions", lambda _: len(self.found.items))]
        for curve in _CURVES:
            measures += self._columns(curve)
        distinct = [finding.n_distinct for finding in self.found.findings]
        alike = (
            f"On average {np.mean(distinct):.1f} of {self.settings.n} replies to a question differ."
            if distinct
            else ""
        )
        ks = range(1, self.settings.n + 1) if self.found.items else ()
        return tabulate(
            "repeats",
            f"What k of {self.settings.n} replies find together",
            label="k",
            rows=lines((str(k), k) for k in ks),
            measures=measures,
            notes=(
                "A model that always gives the same answer has the same figure in all three, for every k.",
                alike,
                self.found.left_out,
            ),
        )

    def _columns(self, curve: _Curve) -> list[Measure[int]]:
        def value(k: int) -> Estimate:
            return self.found.mean(self._values(curve, k))

        return [
            share(curve.key, value, "share", group=curve.key, note=curve.note),
            share(f"{curve.key} guesser", lambda k: self._guessed(curve, k), "a guesser", group=curve.key),
        ]

    def _changes(self) -> Table:
        """Return how much answers vary between replies."""

        def of(is_so: Callable[[RepeatsFinding, Item], float]) -> Estimate:
            pairs = zip(self.found.findings, self.found.items, strict=True)
            return self.found.mean(np.array([float(is_so(*pair)) for pair in pairs], np.float64))

        n = self.settings.n

        def agreement(finding: RepeatsFinding, _: Item) -> float:
            same = [
                a is not None and a == b for i, a in enumerate(finding.same_as) for b in finding.same_as[:i]
            ]
            return sum(same) / len(same)

        rows = {
            "answer": ("the answer changes", of(lambda finding, _: len(set(finding.same_as)) > 1)),
            "right": ("right and wrong both occur", of(lambda finding, _: 0 < _n_right(finding) < n)),
            "agreement": ("two replies have the same answer", of(agreement)),
        }
        return tabulate(
            "changes",
            "How much the answers change",
            label="of the questions",
            rows=lines(
                ((key, value) for key, (_, value) in rows.items()), {k: w for k, (w, _) in rows.items()}
            ),
            measures=(share("share", lambda value: value),),
            notes=("A reply without an answer agrees with none.",),
        )

    def _figure(self) -> Chart:
        ks = range(1, self.settings.n + 1)

        def exact(curve: _Curve, k: int) -> Estimate:
            value, n = self._guessed(curve, k), len(self.found.items)
            return Estimate(
                value=value, low=value, high=value, level=self.found.figures.level, n=n, n_clusters=n,
                method="independent guesses",
            )  # fmt: skip

        pair = curves(
            (curve.key, ((k, self.found.mean(self._values(curve, k))) for k in ks)) for curve in _CURVES
        )
        guessed = curves(
            (f"{curve.key}, a guesser", ((k, exact(curve, k)) for k in ks))
            for curve in _CURVES
            if curve.key != "vote@k"
        )
        return Chart(
            name="curves",
            title="What k replies find together",
            x_title="k",
            y_title="share of questions",
            series=(*pair, *guessed),
            y_marks=((float(self.found.values[POOL].mean()), "a model that keeps its answer"),),
        )
