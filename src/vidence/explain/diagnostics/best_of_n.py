"""What choosing one of several replies gains, by reward model and by baselines."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Final

import numpy as np
from msgspec import Meta

from vidence.ask.strategies.once import ask_candidates
from vidence.ask.strategies.rewards import RewardModel, Shown, best_by_points
from vidence.ask.strategies.self_consistency import answer_groups
from vidence.catalog import SELF
from vidence.contracts import Diagnostic, Examined, Flow, Subject
from vidence.errors import UsageError
from vidence.explain.diagnostics.conditions import PLAN, Examination, ReplyScore, mark_all
from vidence.explain.diagnostics.tables import POOL, Difference, Figures, SideBySide, Values, side_by_side
from vidence.records import Estimate, Item, Record
from vidence.statistics.repeats import best_of, pass_at, vote_at
from vidence.tables.charts import Chart, Statement, curves
from vidence.tables.table import Measure, Table, difference, p_value, several, share, tabulate

_MOST_M: Final = 5
_TRIES: Final = 2
"""Most requests per reward model and question: one, and one repair."""
_BASELINES: Mapping[str, str] = {
    "random": "random candidate",
    "longest": "longest reply",
    "majority": "majority vote",
    "oracle": "oracle (pass@N)",
}
NESTED, AVERAGED = "nested", "averaged"
_KIND_WORDS: Mapping[str, str] = {
    NESTED: "the first N, ties to the earliest",
    AVERAGED: "mean over all N of the pool, ties split",
}


class Settings(Record):
    """Options of the diagnostic."""

    m: Annotated[
        tuple[Annotated[int, Meta(ge=0, le=_MOST_M)], ...],
        Meta(description="there are 2^m candidates; the pool is that of the largest"),
    ] = (0, 1, 2, 3)
    rewards: Annotated[
        tuple[str, ...], Meta(description="who weighs them: self, or specs of models, split by |")
    ] = (SELF,)
    frames: Annotated[Shown, Meta(description="the frames that rewards are shown: the plan's, or none")] = (
        "plan"
    )

    def __post_init__(self) -> None:
        if max(self.m, default=0) < 1:
            raise UsageError("best-of-n: expected an m of 1 or more, such as m=0|1|2|3")
        if not self.rewards:
            raise UsageError("best-of-n: expected one reward or more, such as rewards=self")
        if clash := [name for name in self.rewards if name in _BASELINES or not name]:
            raise UsageError(f"best-of-n: {clash[0]!r} is no spec of a model; expected self or a spec")

    @property
    def sizes(self) -> dict[int, int]:
        """Return the number of candidates for each m, smallest first, always including a single one."""
        return {m: 2**m for m in sorted({0, *self.m})}

    @property
    def n_pool(self) -> int:
        """Return the total number of candidates."""
        return max(self.sizes.values())


class BestOfNFinding(Record):
    """The candidates of one question, and each reward model's ratings of them.

    Source: HumanPCR, tables 4 and 12.
    Departs: see `BestOfN`.
    """

    marks: tuple[ReplyScore, ...]
    """Scores of the candidates, in sample order."""
    same_as: tuple[int | None, ...]
    """For each candidate, the index of the first one with the same answer; None without an answer."""
    lengths: tuple[int, ...]
    """Lengths of the replies in characters."""
    n_distinct: int
    """Number of distinct replies."""
    points: dict[str, tuple[int | None, ...]]
    """Points by reward model; None if unreadable."""
    picked: dict[str, dict[str, int]]
    """Index of the chosen candidate by reward model and m."""
    n_unread: dict[str, int]
    """Unreadable answers after repair, by reward model."""


class BestOfN(Examination[Settings]):
    """Several replies to each question, and one of them picked by models that do not know the answer.

    All m and all reward models share one pool of 2^M replies, which are those of a run with as many
    repeats. With points there are two figures for each N = 2^m. *Nested* is what a user gets: the first N
    replies, of equals the earliest. *Averaged* is the mean over all ways to take N replies of the pool, with
    ties split evenly, which is exact and varies less: replies with points p, of which g share them and b have
    fewer, decide ``C(b + g, N) - C(b, N)`` of the ``C(n, N)`` ways.

    Beside them stand what no reward at all gets (*random*), the longest reply, the vote, and a perfect
    reward (*oracle*: pass@N). The selection efficiency is how much of the way from random to the oracle is
    gone: ``(A_N - A_1) / (pass@N - A_1)``. How far points tell right from wrong within a question is their
    AUC; what they make of length, with right and wrong apart, is a rank correlation.

    Source: HumanPCR, section 4.3 and tables 4 and 12 (M = 0 to 3, the model itself and other models as the
        reward).
    Departs: the paper says neither the words nor the form of the reward, gives no intervals and no baselines;
        the averages over subsets, the efficiency, the AUC and the length line are ours.
    """

    name = "best-of-n"
    version = 2
    finding: type[Record] = BestOfNFinding

    @property
    def n_drawn(self) -> int:
        """Return the number of candidates."""
        return self.settings.n_pool

    def models(self) -> Mapping[str, str]:
        """Return the reward models by spec, except the model under test."""
        return {spec: spec for spec in self.settings.rewards if spec != SELF}

    def most_asks(self, item: Item, *, n_frames: int) -> int:
        """Return the size of the pool, plus each reward with a repair."""
        n = self.settings.n_pool
        return n + len(self.settings.rewards) * n * _TRIES

    def examine(self, subject: Subject) -> Flow[BestOfNFinding]:
        """Ask for the whole pool at once, have every reward model rate it, then score it."""
        settings = self.settings
        replies = yield from ask_candidates(subject.prompt(PLAN), settings.n_pool)
        points: dict[str, tuple[int | None, ...]] = {}
        picked: dict[str, dict[str, int]] = {}
        for reward in settings.rewards:
            model = "" if reward == SELF else reward
            who = RewardModel(model=model, view=PLAN, frames=settings.frames)
            points[reward] = tuple(exchange.read for exchange in (yield from who.score(subject, replies)))
            picked[reward] = {str(m): best_by_points(points[reward][:n]) for m, n in settings.sizes.items()}
        marks, outcomes = yield from mark_all(subject, replies)
        return BestOfNFinding(
            marks=marks,
            same_as=answer_groups(outcomes, is_text=not subject.item.choices),
            lengths=tuple(len(reply.text) for reply in replies),
            n_distinct=len({reply.text for reply in replies}),
            points=points,
            picked=picked,
            n_unread={name: some.count(None) for name, some in points.items()},
        )

    def summarise(
        self, examined: Sequence[Examined], *, rng: np.random.Generator, level: float
    ) -> tuple[Statement, ...]:
        """Return accuracy by number of candidates and by reward, and the curves."""
        figures = Figures(rng=rng, level=level)
        side = side_by_side(
            examined, BestOfNFinding, lambda f: {POOL: f.marks}, conditions=(POOL,), figures=figures
        )
        return tuple(_Pools(found=side, settings=self.settings).statements())


def create(settings: Settings) -> Diagnostic:
    """Create the diagnostic."""
    return BestOfN(settings)


# --------------------------------------------------------------------------- figures of one question


def ranks_of(points: Sequence[int | None]) -> Values:
    """Return ranks of points; unreadable ones rank last."""
    return np.array([-1 if point is None else point for point in points], np.float64)


# --------------------------------------------------------------------------- what all questions say

Found = SideBySide[BestOfNFinding]


@dataclass(frozen=True, kw_only=True)
class _Line:
    """A way to choose: its values for each m, shape (n_items,) each."""

    reward: str
    kind: str
    by_m: Mapping[int, Values]


@dataclass(frozen=True, kw_only=True)
class _Pools:
    """The questions whose candidates all have a score."""

    found: Found
    settings: Settings

    def statements(self) -> list[Statement]:
        """Return the statements, the headline first."""
        lines_ = self._lines() if self.found.items else {}
        return [self._headline(lines_), *([self._figure(lines_)] if lines_ else [])]

    # ------------------------------------------------------------------ what each way of picking gets

    def _pools(self) -> Iterator[tuple[BestOfNFinding, Values, Item]]:
        """Yield each question with its candidates' values."""
        for finding, item in zip(self.found.findings, self.found.items, strict=True):
            yield finding, np.array([mark.value or 0.0 for mark in finding.marks]), item

    def _lines(self) -> dict[str, _Line]:
        pools = [(nfinding, values) for nfinding, values, _ in self._pools()]
        sizes = self.settings.sizes

        def line(kind: str, reward: str, of: Callable[[BestOfNFinding, Values, int], float]) -> _Line:
            by_m = {m: np.array([of(nfinding, v, m) for nfinding, v in pools], np.float64) for m in sizes}
            return _Line(reward=reward, kind=kind, by_m=by_m)

        def nested(reward: str) -> _Line:
            return line(NESTED, reward, lambda nfinding, v, m: float(v[nfinding.picked[reward][str(m)]]))

        def averaged(reward: str) -> _Line:
            return line(
                AVERAGED,
                reward,
                lambda nfinding, v, m: best_of(ranks_of(nfinding.points[reward]), v, k=sizes[m]),
            )

        lines: dict[str, _Line] = {}
        for reward in self.settings.rewards:
            lines[f"{reward}:{NESTED}"] = nested(reward)
            lines[f"{reward}:{AVERAGED}"] = averaged(reward)
        return lines | {
            "random": line("random", "", lambda _, v, m: float(v.mean())),
            "longest": line("longest", "", lambda nfinding, v, m: best_of(nfinding.lengths, v, k=sizes[m])),
            "majority": line("majority", "", lambda nfinding, v, m: vote_at(nfinding.same_as, v, k=sizes[m])),
            "oracle": line("oracle", "", lambda _, v, m: _pass_at(v, sizes[m])),
        }

    def _headline(self, ways: Mapping[str, _Line]) -> Table:
        side, sizes = self.found, self.settings.sizes
        gains = side.figures.differences(
            {
                f"{key} {m}": (line.by_m[m], line.by_m[0])
                for key, line in ways.items()
                if line.reward
                for m in sizes
                if m
            },
            side.items,
        )
        measures: list[Measure[str]] = [side.questions()]
        for m in sizes:
            measures += self._columns(ways, {key: gains.get(f"{key} {m}") for key in ways}, m)
        n_unread = {r: sum(finding.n_unread[r] for finding in side.findings) for r in self.settings.rewards}
        unread = ", ".join(f"{reward}: {n:,}" for reward, n in n_unread.items() if n)
        distinct = [finding.n_distinct for finding in side.findings]
        n_alike = sum(n == 1 for n in distinct)
        alike = (
            f"Of {several(len(distinct), 'question')} {n_alike:,} have the same reply each time; on average "
            f"{np.mean(distinct):.1f} of {self.settings.n_pool} differ."
            if distinct
            else ""
        )
        return tabulate(
            "best-of-n",
            "Best of N",
            label="picked by",
            rows=side.rows(ways, {key: _label(line) for key, line in ways.items()}),
            measures=measures,
            notes=(
                "M = 0 is a single reply. Differences are to M = 0 on the same questions; the lines below "
                "the rewards need no further ask.",
                "Majority splits ties; a reply without an answer is no vote.",
                f"Points that could not be read rank last ({unread})." if unread else "",
                alike,
                side.guessing_note(),
                side.left_out,
            ),
        )

    def _columns(
        self, ways: Mapping[str, _Line], gains: Mapping[str, Difference | None], m: int
    ) -> list[Measure[str]]:
        """Return accuracy with 2^m candidates; for several, the gain over one reply and its p-value."""
        group = f"M = {m} ({several(self.settings.sizes[m], 'candidate')})"

        def gain(key: str) -> Estimate | None:
            return of.estimate if (of := gains[key]) else None

        def p_of(key: str) -> float | None:
            return of.p_holm if (of := gains[key]) else None

        columns: list[Measure[str]] = [
            share(f"m{m}", lambda key: self.found.mean(ways[key].by_m[m]), "accuracy", group=group),
            difference(f"gain{m}", gain, "to M = 0", note="paired", group=group),
            p_value(f"p{m}", p_of, "p (Holm)", note="adjusted over the whole table", group=group),
        ]
        return columns if m else columns[:1]

    def _figure(self, ways: Mapping[str, _Line]) -> Chart:
        drawn = {key: line for key, line in ways.items() if not line.reward or line.kind == AVERAGED}
        return Chart(
            name="by-candidates",
            title="Accuracy and number of candidates",
            x_title="candidates",
            y_title="accuracy",
            series=curves(
                (
                    line.reward or _BASELINES[key],
                    ((self.settings.sizes[m], self.found.mean(values)) for m, values in line.by_m.items()),
                )
                for key, line in drawn.items()
            ),
            is_log=True,
        )


def _pass_at(values: Values, n: int) -> float:
    return float(pass_at([int((values >= 1).sum())], n_repeats=len(values), k=n)[0])


def _label(line: _Line) -> str:
    return f"{line.reward}, {_KIND_WORDS[line.kind]}" if line.reward else _BASELINES[line.kind]
