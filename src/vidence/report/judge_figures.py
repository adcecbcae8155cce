"""Reliability of judges: against people, and against each other."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal, TypeAlias, TypeVar

import msgspec
import numpy as np
from numpy.typing import NDArray

from vidence.errors import UsageError
from vidence.records import Estimate, Record, by_key
from vidence.statistics.agreement import cohen_kappa
from vidence.statistics.contrasts import Contrast, contrast
from vidence.statistics.correlation import kendall_tau, pearson
from vidence.statistics.intervals import ClusteredMean, mean_interval
from vidence.statistics.paired import holm
from vidence.statistics.resampling import Resampling, as_labels, bootstrap
from vidence.statistics.strengths import Strengths, bradley_terry

Numbers: TypeAlias = NDArray[np.float64]
_DRAWS = Resampling(n_boot=500)


@dataclass(frozen=True, kw_only=True)
class Replies:
    """All judged replies, one position each.

    Shapes: all (n,). `people` is 1, 0, or NaN if raters are tied or absent; `people_points` is NaN without
    raters; `questions` identify item and repeat.
    """

    runs: tuple[str, ...]
    questions: tuple[str, ...]
    clusters: tuple[str, ...]
    people: Numbers
    people_points: Numbers
    names: tuple[str, ...]
    """The runs, in order."""

    def clusters_at(self, at: NDArray[np.bool_]) -> list[str]:
        """Return the clusters of some replies."""
        return [self.clusters[i] for i in np.flatnonzero(at)]


@dataclass(frozen=True, kw_only=True)
class JudgeVerdicts:
    """One judge's verdicts on all replies.

    Shapes: `values` and `points` (n,), NaN without a verdict; `is_left` (n,), True if the protocol leaves the
    reply to rules.
    """

    name: str
    model: str
    protocol: str
    values: Numbers
    points: Numbers
    is_left: NDArray[np.bool_]

    @property
    def counted(self) -> Numbers:
        """Return values as in a score: a reply without verdict is wrong."""
        return np.nan_to_num(self.values, nan=0.0)


class Agreement(Record):
    """One judge against the majority of each reply's raters.

    `same` counts a reply without verdict as different; `kappa`, and Pearson's r of right and wrong (`phi`)
    and of `points`, are over replies with a verdict, None if undefined.
    """

    judge: str
    n: int
    n_without: int
    same: Estimate
    kappa: Estimate | None = None
    phi: Estimate | None = None
    points: Estimate | None = None


class Wins(Record):
    """Pairs of models on one question: who wins by people, and who by the judge.

    `same` is over all pairs, with ties as a third outcome; `decided` over those that both decide. `basis`
    says what decides: points or correctness.
    """

    judge: str
    basis: Literal["points", "correctness"]
    n: int
    n_decided: int
    n_ties_people: int
    n_ties_judge: int
    same: Estimate
    decided: Estimate | None


class Order(Record):
    """The models' order by people and by a judge; `same_order` is the share of draws with equal orders."""

    judge: str
    n: int
    tau: Estimate
    same_order: float


class Standing(Record):
    """The models' strengths by people or a judge, from pairwise wins on each question.

    `strengths` is None if the models cannot be compared; `why` says why.
    """

    by: str
    strengths: Strengths | None
    why: str = ""


class Level(Record):
    """A judge's mean minus that of people, on one model's replies."""

    judge: str
    run: str
    people: float
    found: float
    difference: Estimate
    p_value: float
    p_holm: float = math.nan


class SelfPreference(Record):
    """Whether a judge favours its own family.

    `at_same` compares verdicts on replies that people rate equally; None if a side has no reply.
    """

    judge: str
    family: str
    n_own: int
    n_others: int
    at_same: Contrast | None = None
    p_holm: float = math.nan

    @property
    def difference(self) -> Estimate | None:
        """Return verdicts on the judge's family minus those on others."""
        return None if self.at_same is None else self.at_same.estimate

    @property
    def p_value(self) -> float:
        """Return the p-value of no preference; NaN if untestable."""
        return math.nan if self.at_same is None else self.at_same.p_value


class Arms(Record):
    """Two protocols of one model on the same replies: the first one's agreement minus the second's."""

    model: str
    first: str
    second: str
    difference: Estimate
    p_value: float
    p_holm: float = math.nan


TestedT = TypeVar("TestedT", Level, SelfPreference, Arms)


# --------------------------------------------------------------------------- agreement


def _at(replies: Replies, judge: JudgeVerdicts) -> NDArray[np.bool_]:
    """Return the replies that people decided and the protocol judges."""
    return np.isfinite(replies.people) & ~judge.is_left


def _said(values: Numbers) -> list[str]:
    return ["right" if value == 1 else "wrong" for value in values]


def _kappa(
    ours: Numbers, theirs: Numbers, *, clusters: Sequence[str], rng: np.random.Generator
) -> Estimate | None:
    if not len(ours):
        return None
    estimate = cohen_kappa(_said(ours), _said(theirs), clusters=clusters, rng=rng, settings=_DRAWS)
    return None if math.isnan(estimate.value) else estimate


def _pearson(
    ours: Numbers, theirs: Numbers, *, clusters: Sequence[str], rng: np.random.Generator
) -> Estimate | None:
    if len(ours) < 3 or np.ptp(ours) == 0 or np.ptp(theirs) == 0:
        return None
    return pearson(ours, theirs, rng=rng, clusters=clusters, settings=_DRAWS).bootstrap


def agreement(replies: Replies, judge: JudgeVerdicts, *, rng: np.random.Generator) -> Agreement | None:
    """Compare a judge with people; None if there is nothing to compare.

    Args:
        replies: the replies.
        judge: its verdicts.
        rng: source of the bootstrap draws.

    Source: HumanPCR, section 4.4 and appendix C.3: Pearson's r per instance.
    Departs: agreement and kappa are added.
    """
    at = _at(replies, judge)
    if not at.any():
        return None
    has = at & np.isfinite(judge.values)
    ours, theirs, clusters = judge.values[has], replies.people[has], replies.clusters_at(has)
    pointed = has & np.isfinite(judge.points) & np.isfinite(replies.people_points)
    mine, yours = judge.points[pointed], replies.people_points[pointed]
    return Agreement(
        judge=judge.name,
        n=int(at.sum()),
        n_without=int((at & ~has).sum()),
        same=mean_interval(judge.values[at] == replies.people[at], clusters=replies.clusters_at(at)),
        kappa=_kappa(ours, theirs, clusters=clusters, rng=rng),
        phi=_pearson(ours, theirs, clusters=clusters, rng=rng),
        points=_pearson(mine, yours, clusters=replies.clusters_at(pointed), rng=rng),
    )


# --------------------------------------------------------------------------- pairs of models


def _outcomes(replies: Replies, values: Numbers) -> tuple[list[tuple[int, int]], Numbers]:
    """Return pairs of two models' replies to one question, and which is better: 1, 0 or -1."""
    by_question = by_key((q, i) for i, q in enumerate(replies.questions) if np.isfinite(values[i]))
    pairs = [pair for some in by_question.values() for pair in combinations(some, 2)]
    return pairs, np.array([np.sign(values[a] - values[b]) for a, b in pairs], np.float64)


def wins(
    replies: Replies, judge: JudgeVerdicts, *, people: Numbers, votes: Mapping[tuple[int, int], float]
) -> Wins | None:
    """Compare who wins each pair of models on each question by a judge and by people; None without pairs.

    Args:
        replies: the replies.
        judge: its verdicts.
        people: the mean of the raters' scores of each reply, NaN without raters.
        votes: pairwise votes of raters: above 0 for the first.

    Source: HumanPCR, section 4.4: win or loss derived from the scores that judges assign.
    Departs: the paper does not say how it treats ties; they are a third outcome, or left out.
    """
    basis: Literal["points", "correctness"] = "correctness"
    ours, theirs = judge.values, people
    is_judged = np.isfinite(judge.values) & np.isfinite(people) & ~judge.is_left
    if np.isfinite(judge.points[is_judged]).all() and np.isfinite(replies.people_points[is_judged]).all():
        basis, ours, theirs = "points", judge.points, replies.people_points
    pairs, judged = _outcomes(replies, np.where(is_judged, ours, math.nan))
    if not pairs:
        return None
    values = np.array([np.sign(votes.get(pair, theirs[pair[0]] - theirs[pair[1]])) for pair in pairs])
    clusters = [replies.clusters[a] for a, _ in pairs]
    both = (judged != 0) & (values != 0)
    decided = None
    if both.any():
        chosen = [clusters[i] for i in np.flatnonzero(both)]
        decided = mean_interval(judged[both] == values[both], clusters=chosen)
    return Wins(
        judge=judge.name,
        basis=basis,
        n=len(pairs),
        n_decided=int(both.sum()),
        n_ties_people=int((values == 0).sum()),
        n_ties_judge=int((judged == 0).sum()),
        same=mean_interval(judged == values, clusters=clusters),
        decided=decided,
    )


def standings(
    replies: Replies,
    judges: Sequence[JudgeVerdicts],
    *,
    people: Numbers,
    votes: Mapping[tuple[int, int], float],
) -> tuple[Standing, ...]:
    """Return the models' strengths by people, if they rated or compared, and by each judge.

    Args:
        replies: the replies.
        judges: their verdicts.
        people: as for `wins`.
        votes: as for `wins`; they also count without ratings.

    Source: HumanPCR, appendix C.3: win or loss of pairs by people, and by the scores of judges.
    Departs: strengths by Bradley and Terry, ties by Davidson; the paper gives the share of equal outcomes.
    """
    marked = [("people", _finer(replies.people_points, people))]
    for judge in judges:
        values = np.where(judge.is_left, math.nan, judge.values)
        marked.append((judge.name, _finer(judge.points, values)))
    standings = []
    for place, (by, values) in enumerate(marked):
        pairs, results = _outcomes(replies, values)
        if entries := dict(zip(pairs, results.tolist(), strict=True)) | ({} if place else dict(votes)):
            standings.append(_standing(replies, by, entries))
    return tuple(standings)


def _finer(points: Numbers, marks: Numbers) -> Numbers:
    """Return points if all scored replies have them, else scores."""
    has = np.isfinite(marks)
    return np.where(has, points, math.nan) if np.isfinite(points[has]).all() else marks


def _standing(replies: Replies, by: str, values: Mapping[tuple[int, int], float]) -> Standing:
    try:
        strengths = bradley_terry(
            [replies.runs[a] for a, _ in values],
            [replies.runs[b] for _, b in values],
            outcomes=(np.sign(list(values.values())) + 1) / 2,
            clusters=[replies.clusters[a] for a, _ in values],
        )
    except UsageError as error:
        return Standing(by=by, strengths=None, why=str(error))
    return Standing(by=by, strengths=strengths)


def order(replies: Replies, judge: JudgeVerdicts, *, rng: np.random.Generator) -> Order | None:
    """Compare the models' order by a judge with that by people, on questions with replies from all.

    None with fewer than two models, or no common question.
    """
    at = _at(replies, judge)
    n_replies = Counter(q for q, is_said in zip(replies.questions, at, strict=True) if is_said)
    kept = at & np.array([n_replies[question] == len(replies.names) for question in replies.questions])
    if len(replies.names) < 2 or not kept.any():
        return None
    clusters = replies.clusters_at(kept)
    names, codes = as_labels(clusters, len(clusters), what="clusters")
    columns = np.array([replies.names.index(replies.runs[i]) for i in np.flatnonzero(kept)])
    sums = np.zeros((2, len(names), len(replies.names)))
    for k, values in enumerate((judge.counted, replies.people)):
        np.add.at(sums[k], (codes, columns), values[kept])
    is_same: list[NDArray[np.bool_]] = []

    def tau(weights: Numbers) -> Numbers:
        ours, theirs = weights @ sums[0], weights @ sums[1]
        signs = [np.sign((entry[:, :, None] - entry[:, None, :]).round(9)) for entry in (ours, theirs)]
        is_same.append((signs[0] == signs[1]).all(axis=(1, 2)))
        return kendall_tau(ours.round(9), theirs.round(9))

    size = (int(kept.sum()), len(names))
    estimate = bootstrap(tau, size=size, name="Kendall's tau-b of the models", rng=rng, settings=_DRAWS)
    draws = np.concatenate(is_same[1:]) if len(is_same) > 1 else is_same[0]
    return Order(judge=judge.name, n=size[0], tau=estimate, same_order=float(draws.mean()))


# --------------------------------------------------------------------------- level, own family


def levels(replies: Replies, judges: Sequence[JudgeVerdicts]) -> tuple[Level, ...]:
    """Return how much each judge is more lenient than people, per model; Holm over all."""
    levels = []
    for judge in judges:
        for run in replies.names:
            at = _at(replies, judge) & (np.array(replies.runs) == run)
            if not at.any():
                continue
            ours, theirs = judge.counted[at], replies.people[at]
            mean = ClusteredMean.of(ours - theirs, clusters=replies.clusters_at(at))
            difference, p_value = mean.difference(name="judge less people")
            levels.append(
                Level(
                    judge=judge.name,
                    run=run,
                    people=float(theirs.mean()),
                    found=float(ours.mean()),
                    difference=difference,
                    p_value=p_value,
                )
            )
    return _with_holm(levels)


def self_preferences(
    replies: Replies, judges: Sequence[JudgeVerdicts], *, families: Mapping[str, str]
) -> tuple[SelfPreference, ...]:
    """Test whether judges favour their own family; Holm over judges.

    Args:
        replies: the replies.
        judges: their verdicts.
        families: the family of each run and of each judge model.

    Source: HumanPCR, section 4.4: no self-preference is found.
    Departs: the paper does not say how; the difference is taken at equal verdicts of people, because judge
    minus people is
        not 0 for a fair judge that errs if its family is right more often.
    """
    preferences = []
    for judge in judges:
        family = families[judge.model]
        at = _at(replies, judge) & np.isfinite(judge.values)
        is_own = np.array([families[run] == family for run in replies.runs])
        n_own, n_others = int((at & is_own).sum()), int((at & ~is_own).sum())
        preference = SelfPreference(judge=judge.name, family=family, n_own=n_own, n_others=n_others)
        if n_own and n_others:
            preference = _preferring(preference, replies, judge, at=at, is_own=is_own)
        preferences.append(preference)
    return _with_holm(preferences)


def _preferring(
    preference: SelfPreference,
    replies: Replies,
    judge: JudgeVerdicts,
    *,
    at: NDArray[np.bool_],
    is_own: NDArray[np.bool_],
) -> SelfPreference:
    verdicts, people, own = judge.values[at], replies.people[at], is_own[at]
    clusters = replies.clusters_at(at)
    shares: dict[str, float] = {}
    for message, value in (("right", 1.0), ("wrong", 0.0)):
        inside = people == value
        if (inside & own).any() and (inside & ~own).any():
            shares[message] = float((inside & own).sum())
    at_same = None
    if shares:
        weights = {f"own, {words}": n / sum(shares.values()) for words, n in shares.items()}
        weights |= {f"others, {words}": -n / sum(shares.values()) for words, n in shares.items()}
        groups = [
            f"{'own' if o else 'others'}, {'right' if p else 'wrong'}"
            for o, p in zip(own, people, strict=True)
        ]
        name = "own family less others where people say the same"
        at_same = contrast(verdicts, clusters=clusters, groups=groups, weights=weights, name=name)
    return msgspec.structs.replace(preference, at_same=at_same)


def _with_holm(entries: Sequence[TestedT]) -> tuple[TestedT, ...]:
    """Return the entries with p-values adjusted for all tests."""
    p_values = [entry.p_value for entry in entries if not math.isnan(entry.p_value)]
    adjusted = iter(holm(p_values) if p_values else ())
    return tuple(
        entry if math.isnan(entry.p_value) else msgspec.structs.replace(entry, p_holm=next(adjusted))
        for entry in entries
    )


# --------------------------------------------------------------------------- arms


def arms(replies: Replies, judges: Sequence[JudgeVerdicts]) -> tuple[Arms, ...]:
    """Compare two protocols of one model, such as with and without reference reasoning; Holm over all.

    Source: HumanPCR, section 4.4: with the annotated reasoning r rises from .642 to .689.
    Departs: paired by reply, and the difference is that of the agreement.
    """
    arms = []
    for first, second in combinations(judges, 2):
        at = _at(replies, first) & _at(replies, second)
        if first.model != second.model or not at.any():
            continue
        hits = [(v.values[at] == replies.people[at]).astype(np.float64) for v in (first, second)]
        mean = ClusteredMean.of(hits[0] - hits[1], clusters=replies.clusters_at(at))
        difference, p_value = mean.difference(name="difference of agreement")
        arms.append(
            Arms(
                model=first.model,
                first=first.protocol,
                second=second.protocol,
                difference=difference,
                p_value=p_value,
            )
        )
    return _with_holm(arms)
