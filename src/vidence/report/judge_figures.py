"""How far judges can be relied on: judges against people, against rules and against each other."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Final, Literal, TypeAlias, TypeVar

import msgspec
import numpy as np
from numpy.typing import NDArray

from vidence.records import Estimate, Record
from vidence.report.judge_labels import RIGHT_FROM
from vidence.statistics.agreement import cohen_kappa, krippendorff_alpha
from vidence.statistics.contrasts import Contrast, contrast
from vidence.statistics.correlation import kendall_tau, pearson
from vidence.statistics.intervals import ClusteredMean, mean_interval
from vidence.statistics.logistic import log_odds
from vidence.statistics.paired import holm
from vidence.statistics.resampling import Resampling, as_labels, bootstrap

Numbers: TypeAlias = NDArray[np.float64]
T = TypeVar("T")
NOT_WORSE: Final = 0.02
"""How much less often than the best a judge may agree with people and still be as good."""
_DRAWS = Resampling(n_boot=500)
_DECILES = np.linspace(0.1, 0.9, 9)


@dataclass(frozen=True, kw_only=True)
class Replies:
    """All replies under judgement, one position each.

    Shapes: all (n,). `people` is 1, 0, or NaN where raters are tied or there are none; `people_points` NaN
    where there are none; `ruled` what a rule makes of a choice, NaN where it reads no letter or the answer is
    a text; `questions` tell what item and repeat a reply belongs to.
    """

    runs: tuple[str, ...]
    questions: tuple[str, ...]
    clusters: tuple[str, ...]
    people: Numbers
    people_points: Numbers
    ruled: Numbers
    n_characters: Numbers
    names: tuple[str, ...]
    """The runs, in their order."""

    def clusters_at(self, at: NDArray[np.bool_]) -> list[str]:
        """The clusters of some replies."""
        return [self.clusters[i] for i in np.flatnonzero(at)]


@dataclass(frozen=True, kw_only=True)
class JudgeVerdicts:
    """What one judge said of all replies.

    Shapes: `values` and `points` (n, n_samples), NaN where there is no verdict; `is_left` (n,), True where
    the protocol leaves the reply to others; `is_asked` (n,), False where its rules decided.
    `n_contrary` counts verdicts of all samples that contradict themselves, `n_lost` those that are none
    because of that. `cost` is in US dollars for one verdict, `tokens` likewise; None where not known.
    """

    name: str
    model: str
    protocol: str
    values: Numbers
    points: Numbers
    is_left: NDArray[np.bool_]
    is_asked: NDArray[np.bool_]
    n_contrary: int = 0
    n_lost: int = 0
    n_repaired: int = 0
    cost: float | None = None
    tokens: float | None = None
    temperature: float | None = None
    is_null: bool = False

    @property
    def first(self) -> Numbers:
        """The verdicts that count in a run: the first of each reply, NaN where there is none."""
        return self.values[:, 0]

    @property
    def counted(self) -> Numbers:
        """As in a score: a reply without verdict is wrong."""
        return np.nan_to_num(self.first, nan=0.0)


class Agreement(Record):
    """One judge against the majority of the raters of each reply.

    `same` counts a reply without verdict as different; `kappa`, `phi`, `points` (Pearson) and `alpha`
    (Krippendorff, ordinal) are over those with a verdict, None where they do not exist. `phi_over_people`
    and `points_over_people` are divided by the square root of the reliability of the human mean.
    """

    judge: str
    n: int
    n_without: int
    n_by_rule: int
    same: Estimate
    kappa: Estimate | None = None
    phi: Estimate | None = None
    points: Estimate | None = None
    alpha: Estimate | None = None
    phi_over_people: float | None = None
    points_over_people: float | None = None
    is_null: bool = False


class Wins(Record):
    """Pairs of models on one question: who wins by people, and who by the judge.

    `same` is over all pairs, with ties as a third outcome; `decided` over those that both decide; `half`
    counts a tie against a decision as half; `r` is Pearson's of the outcomes -1, 0, 1, both ways round.
    `basis` says what decides: points or correctness.
    """

    judge: str
    basis: Literal["points", "correctness"]
    n: int
    n_decided: int
    n_ties_people: int
    n_ties_judge: int
    same: Estimate
    decided: Estimate | None
    half: Estimate
    r: Estimate | None
    is_null: bool = False


class Order(Record):
    """The order of the models by people and by a judge; `same_order` is the share of draws with one order."""

    judge: str
    n: int
    tau: Estimate
    same_order: float


class Level(Record):
    """The mean of a judge less that of people on the replies of one model."""

    judge: str
    run: str
    people: float
    found: float
    difference: Estimate
    p_value: float
    p_holm: float = math.nan


class SelfPreference(Record):
    """Whether a judge is kinder to its own family.

    `plain` is (judge less people on its own family) less (the same on others). `at_same` compares verdicts
    on replies that people call the same; its p-value decides. `odds` is the coefficient of the own family in
    log-odds, given what people say. Each is None where a side has no reply.
    """

    judge: str
    family: str
    n_own: int
    n_others: int
    plain: Contrast | None = None
    at_same: Contrast | None = None
    odds: Estimate | None = None
    p_holm: float = math.nan


class Arms(Record):
    """Two protocols of one model on the same replies: the agreement of the first less that of the second."""

    model: str
    first: str
    second: str
    difference: Estimate
    p_value: float
    p_holm: float = math.nan


class Stability(Record):
    """The share of replies whose verdict is not the same in every repeat; having none is a verdict here."""

    judge: str
    n_repeats: int
    temperature: float | None
    changed: Estimate
    points_sd: float | None


class JudgePair(Record):
    """A judge against the one that agrees best with people, paired by reply.

    `low` is the one-sided lower end at 95 % of its agreement less that of the best; `cost` is in US dollars
    for a verdict, or else `tokens` count.
    """

    judge: str
    agreement: float
    low: float
    is_not_worse: bool
    cost: float | None
    tokens: float | None
    is_chosen: bool = False


class AgainstRule(Record):
    """A judge on replies to choices whose letter a rule reads: how often it says what the rule says."""

    judge: str
    n: int
    n_without: int
    same: Estimate
    kappa: Estimate | None
    sensitivity: Estimate | None
    specificity: Estimate | None


# --------------------------------------------------------------------------- nulls


def null_judges(replies: Replies, *, rng: np.random.Generator) -> tuple[JudgeVerdicts, ...]:
    """Judges that look at nothing that matters: always right, at the base rate, by length alone."""
    n = len(replies.runs)
    rate = float(np.nanmean(replies.people)) if np.isfinite(replies.people).any() else 0.5
    found = {
        "always right": np.ones(n),
        "at the base rate": (rng.random(n) < rate).astype(np.float64),
        "by length alone": _by_length(replies),
    }
    return tuple(
        JudgeVerdicts(
            name=name,
            model="",
            protocol="",
            values=values[:, None],
            points=np.full((n, 1), math.nan),
            is_left=np.zeros(n, np.bool_),
            is_asked=np.zeros(n, np.bool_),
            is_null=True,
        )
        for name, values in found.items()
    )


def _by_length(replies: Replies) -> Numbers:
    """Right above or below a length; which one is learned on the other clusters."""
    cuts = np.quantile(replies.n_characters, _DECILES)
    longer = (replies.n_characters[:, None] > cuts).astype(np.float64)
    rules = np.concatenate([longer, 1 - longer], axis=1)
    is_known = np.isfinite(replies.people)
    hits = np.where(is_known[:, None], rules == replies.people[:, None], False).astype(np.float64)
    names, codes = as_labels(replies.clusters, len(hits), what="clusters")
    by_cluster = np.zeros((len(names), rules.shape[1]))
    np.add.at(by_cluster, codes, hits)
    best = (by_cluster.sum(axis=0) - by_cluster).argmax(axis=1)
    return np.asarray(rules[np.arange(len(rules)), best[codes]], np.float64)


# --------------------------------------------------------------------------- agreement


def _at(replies: Replies, judge: JudgeVerdicts) -> NDArray[np.bool_]:
    """The replies that people decided and the protocol does not leave to others."""
    return np.isfinite(replies.people) & ~judge.is_left


def _said(values: Numbers) -> list[str]:
    return ["right" if value == 1 else "wrong" for value in values]


def _kappa(
    ours: Numbers, theirs: Numbers, *, clusters: Sequence[str], rng: np.random.Generator
) -> Estimate | None:
    if not len(ours):
        return None
    found = cohen_kappa(_said(ours), _said(theirs), clusters=clusters, rng=rng, settings=_DRAWS)
    return None if math.isnan(found.value) else found


def _pearson(
    ours: Numbers, theirs: Numbers, *, clusters: Sequence[str], rng: np.random.Generator
) -> Estimate | None:
    if len(ours) < 3 or np.ptp(ours) == 0 or np.ptp(theirs) == 0:
        return None
    return pearson(ours, theirs, rng=rng, clusters=clusters, settings=_DRAWS).bootstrap


def _over(estimate: Estimate | None, reliability: float | None) -> float | None:
    if estimate is None or not reliability or reliability <= 0:
        return None
    return estimate.value / math.sqrt(reliability)


def agreement(
    replies: Replies,
    judge: JudgeVerdicts,
    *,
    reliability: tuple[float | None, float | None],
    rng: np.random.Generator,
) -> Agreement | None:
    """A judge against people; None where there is nothing to compare.

    Args:
        replies: the replies.
        judge: what it said.
        reliability: of the human mean, by correctness and by points.
        rng: where the draws of intervals come from.

    Source: HumanPCR, section 4.4 and appendix C.3: Pearson's r per instance.
    Departs: agreement, kappa and alpha beside it.
    """
    at = _at(replies, judge)
    if not at.any():
        return None
    has = at & np.isfinite(judge.first)
    ours, theirs, clusters = judge.first[has], replies.people[has], replies.clusters_at(has)
    phi = _pearson(ours, theirs, clusters=clusters, rng=rng)
    pointed = has & np.isfinite(judge.points[:, 0]) & np.isfinite(replies.people_points)
    mine, yours = judge.points[pointed, 0], replies.people_points[pointed]
    points = _pearson(mine, yours, clusters=replies.clusters_at(pointed), rng=rng)
    alpha = None
    if points is not None:
        alpha = krippendorff_alpha(
            np.column_stack([mine, yours]),
            measurement="ordinal",
            rng=rng,
            clusters=replies.clusters_at(pointed),
            settings=_DRAWS,
        )
    return Agreement(
        judge=judge.name,
        n=int(at.sum()),
        n_without=int((at & ~has).sum()),
        n_by_rule=0 if judge.is_null else int((at & ~judge.is_asked).sum()),
        same=mean_interval(judge.first[at] == replies.people[at], clusters=replies.clusters_at(at)),
        kappa=_kappa(ours, theirs, clusters=clusters, rng=rng),
        phi=phi,
        points=points,
        alpha=alpha,
        phi_over_people=_over(phi, reliability[0]),
        points_over_people=_over(points, reliability[1]),
        is_null=judge.is_null,
    )


# --------------------------------------------------------------------------- pairs of models


def _outcomes(replies: Replies, values: Numbers) -> tuple[list[tuple[int, int]], Numbers]:
    """Pairs of replies to one question by two models, and which of them is better: 1, 0, or -1."""
    by_question: dict[str, list[int]] = {}
    for i, question in enumerate(replies.questions):
        if np.isfinite(values[i]):
            by_question.setdefault(question, []).append(i)
    pairs = [pair for some in by_question.values() for pair in combinations(some, 2)]
    return pairs, np.array([np.sign(values[a] - values[b]) for a, b in pairs], np.float64)


def wins(
    replies: Replies,
    judge: JudgeVerdicts,
    *,
    people: Numbers,
    votes: Mapping[tuple[int, int], float],
    rng: np.random.Generator,
) -> Wins | None:
    """Who wins each pair of models on each question, by a judge and by people; None where there is no pair.

    Args:
        replies: the replies.
        judge: what it said.
        people: the mean of the raters' marks of each reply, NaN where there are none.
        votes: where raters said which of two replies is better: more than 0 for the first.
        rng: where the draws of intervals come from.

    Source: HumanPCR, section 4.4: win or loss derived from the scores that judges assign.
    Departs: the paper does not say what becomes of ties; all three ways are given.
    """
    basis: Literal["points", "correctness"] = "correctness"
    ours, theirs = judge.first, people
    is_judged = np.isfinite(judge.first) & np.isfinite(people) & ~judge.is_left
    if np.isfinite(judge.points[is_judged, 0]).all() and np.isfinite(replies.people_points[is_judged]).all():
        basis, ours, theirs = "points", judge.points[:, 0], replies.people_points
    pairs, judged = _outcomes(replies, np.where(is_judged, ours, math.nan))
    if not pairs:
        return None
    said = np.array([np.sign(votes.get(pair, theirs[pair[0]] - theirs[pair[1]])) for pair in pairs])
    clusters = [replies.clusters[a] for a, _ in pairs]
    both = (judged != 0) & (said != 0)
    decided = None
    if both.any():
        chosen = [clusters[i] for i in np.flatnonzero(both)]
        decided = mean_interval(judged[both] == said[both], clusters=chosen)
    return Wins(
        judge=judge.name,
        basis=basis,
        n=len(pairs),
        n_decided=int(both.sum()),
        n_ties_people=int((said == 0).sum()),
        n_ties_judge=int((judged == 0).sum()),
        same=mean_interval(judged == said, clusters=clusters),
        decided=decided,
        half=mean_interval(1 - np.abs(judged - said) / 2, clusters=clusters),
        r=_both_ways(judged, said, clusters=clusters, rng=rng),
        is_null=judge.is_null,
    )


def _both_ways(
    ours: Numbers, theirs: Numbers, *, clusters: Sequence[str], rng: np.random.Generator
) -> Estimate | None:
    """Pearson's r where every pair counts both ways round, so that the order of its two does not matter."""
    names, codes = as_labels(clusters, len(ours), what="clusters")
    sums = np.zeros((len(names), 3))
    np.add.at(sums, codes, np.column_stack([ours * theirs, ours**2, theirs**2]))
    if not sums[:, 1].any() or not sums[:, 2].any():
        return None

    def of(weights: Numbers) -> Numbers:
        xy, xx, yy = (weights @ sums).T
        scale = np.sqrt(xx * yy)
        found = np.full(len(xy), math.nan)
        np.divide(xy, scale, out=found, where=scale > 0)
        return found

    size = (len(ours), len(names))
    return bootstrap(of, size=size, name="Pearson's r of wins", rng=rng, settings=_DRAWS)


def order(replies: Replies, judge: JudgeVerdicts, *, rng: np.random.Generator) -> Order | None:
    """The order of the models by a judge against that by people, on questions that all have replies to.

    None where there are fewer than two models, or no question in common.
    """
    at = _at(replies, judge)
    having: dict[str, set[str]] = {}
    for i in np.flatnonzero(at).tolist():
        having.setdefault(replies.questions[i], set()).add(replies.runs[i])
    shared = {question for question, runs in having.items() if len(runs) == len(replies.names)}
    kept = np.array([bool(at[i]) and q in shared for i, q in enumerate(replies.questions)])
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
        signs = [np.sign((one[:, :, None] - one[:, None, :]).round(9)) for one in (ours, theirs)]
        is_same.append((signs[0] == signs[1]).all(axis=(1, 2)))
        return kendall_tau(ours.round(9), theirs.round(9))

    size = (int(kept.sum()), len(names))
    found = bootstrap(tau, size=size, name="Kendall's tau-b of the models", rng=rng, settings=_DRAWS)
    draws = np.concatenate(is_same[1:]) if len(is_same) > 1 else is_same[0]
    return Order(judge=judge.name, n=size[0], tau=found, same_order=float(draws.mean()))


# --------------------------------------------------------------------------- level, own family


def levels(replies: Replies, judges: Sequence[JudgeVerdicts]) -> tuple[Level, ...]:
    """By how much each judge is kinder than people, for each model; Holm over all."""
    found = []
    for judge in judges:
        for run in replies.names:
            at = _at(replies, judge) & (np.array(replies.runs) == run)
            if not at.any():
                continue
            ours, theirs = judge.counted[at], replies.people[at]
            mean = ClusteredMean.of(ours - theirs, clusters=replies.clusters_at(at))
            difference, p_value = mean.difference(name="judge less people")
            found.append(
                Level(
                    judge=judge.name,
                    run=run,
                    people=float(theirs.mean()),
                    found=float(ours.mean()),
                    difference=difference,
                    p_value=p_value,
                )
            )
    return _with_holm(found)


def self_preferences(
    replies: Replies, judges: Sequence[JudgeVerdicts], *, families: Mapping[str, str]
) -> tuple[SelfPreference, ...]:
    """Whether judges are kinder to their own family; Holm over judges.

    Args:
        replies: the replies.
        judges: what they said.
        families: the family of each run and of each judge model.

    Source: HumanPCR, section 4.4: no self-preference is found.
    Departs: the paper does not say how; the difference of differences is not 0 for a fair judge that errs,
        where its own family is right more or less often than others. So what decides is the difference at
        the same verdict of people.
    """
    found = []
    for judge in judges:
        family = families[judge.model]
        at = _at(replies, judge) & np.isfinite(judge.first)
        is_own = np.array([families[run] == family for run in replies.runs])
        n_own, n_others = int((at & is_own).sum()), int((at & ~is_own).sum())
        one = SelfPreference(judge=judge.name, family=family, n_own=n_own, n_others=n_others)
        if n_own and n_others:
            one = _preferring(one, replies, judge, at=at, is_own=is_own)
        found.append(one)
    tested = [one for one in found if one.at_same is not None]
    adjusted = holm([one.at_same.p_value for one in tested if one.at_same is not None]) if tested else ()
    p_of = {one.judge: p for one, p in zip(tested, adjusted, strict=True)}
    return tuple(msgspec.structs.replace(one, p_holm=p_of.get(one.judge, math.nan)) for one in found)


def _preferring(
    one: SelfPreference,
    replies: Replies,
    judge: JudgeVerdicts,
    *,
    at: NDArray[np.bool_],
    is_own: NDArray[np.bool_],
) -> SelfPreference:
    verdicts, people, own = judge.first[at], replies.people[at], is_own[at]
    clusters = replies.clusters_at(at)
    # Differences from -1 to 1 on a scale from 0 to 1, so their contrast counts twice.
    plain = contrast(
        (verdicts - people + 1) / 2,
        clusters=clusters,
        groups=["own" if is_one else "others" for is_one in own],
        weights={"own": 2.0, "others": -2.0},
        name="judge less people, own family less others",
    )
    shares: dict[str, float] = {}
    for said, value in (("right", 1.0), ("wrong", 0.0)):
        inside = people == value
        if (inside & own).any() and (inside & ~own).any():
            shares[said] = float((inside & own).sum())
    at_same = None
    if shares:
        weights = {f"own, {said}": n / sum(shares.values()) for said, n in shares.items()}
        weights |= {f"others, {said}": -n / sum(shares.values()) for said, n in shares.items()}
        groups = [
            f"{'own' if o else 'others'}, {'right' if p else 'wrong'}"
            for o, p in zip(own, people, strict=True)
        ]
        name = "own family less others where people say the same"
        at_same = contrast(verdicts, clusters=clusters, groups=groups, weights=weights, name=name)
    odds = log_odds(verdicts, of=own.astype(np.float64), given=[people], clusters=clusters)
    return msgspec.structs.replace(one, plain=plain, at_same=at_same, odds=odds)


def _with_holm(found: list[Level]) -> tuple[Level, ...]:
    adjusted = holm([one.p_value for one in found]) if found else ()
    return tuple(msgspec.structs.replace(one, p_holm=p) for one, p in zip(found, adjusted, strict=True))


# --------------------------------------------------------------------------- arms, repeats, choice, rules


def arms(replies: Replies, judges: Sequence[JudgeVerdicts]) -> tuple[Arms, ...]:
    """Two protocols of one model, such as with and without the reference reasoning; Holm over all.

    Source: HumanPCR, section 4.4: with the annotated reasoning r rises from .642 to .689.
    Departs: paired by reply, and the difference is that of the agreement.
    """
    found = []
    for first, second in combinations(judges, 2):
        at = _at(replies, first) & _at(replies, second)
        if first.model != second.model or not at.any():
            continue
        hits = [(one.first[at] == replies.people[at]).astype(np.float64) for one in (first, second)]
        mean = ClusteredMean.of(hits[0] - hits[1], clusters=replies.clusters_at(at))
        difference, p_value = mean.difference(name="difference of agreement")
        found.append(
            Arms(
                model=first.model,
                first=first.protocol,
                second=second.protocol,
                difference=difference,
                p_value=p_value,
            )
        )
    adjusted = holm([one.p_value for one in found]) if found else ()
    return tuple(msgspec.structs.replace(one, p_holm=p) for one, p in zip(found, adjusted, strict=True))


def stability(replies: Replies, judge: JudgeVerdicts) -> Stability | None:
    """How many verdicts change when the judge is asked again; None where it was asked once."""
    at = ~judge.is_left & judge.is_asked
    if judge.values.shape[1] < 2 or not at.any():
        return None
    values = np.where(np.isnan(judge.values[at]), -1.0, judge.values[at])
    is_pointed = np.isfinite(judge.points[at]).all(axis=1)
    spread = judge.points[at][is_pointed].std(axis=1, ddof=1)
    return Stability(
        judge=judge.name,
        n_repeats=values.shape[1],
        temperature=judge.temperature,
        changed=mean_interval(np.ptp(values, axis=1) > 0, clusters=replies.clusters_at(at)),
        points_sd=float(spread.mean()) if len(spread) else None,
    )


def choices(replies: Replies, judges: Sequence[JudgeVerdicts]) -> tuple[JudgePair, ...]:
    """The cheapest judge that is not worse than the best, on the replies that all judged.

    Empty where there is no reply that all judges share.
    """
    at = np.isfinite(replies.people)
    for judge in judges:
        at = at & ~judge.is_left
    if not judges or not at.any():
        return ()
    hits = [(judge.first[at] == replies.people[at]).astype(np.float64) for judge in judges]
    best = max(hits, key=lambda one: float(one.mean()))
    found = []
    for judge, hit in zip(judges, hits, strict=True):
        mean = ClusteredMean.of(hit - best, clusters=replies.clusters_at(at))
        low = 0.0 if hit is best else mean.difference(level=0.9)[0].low
        found.append(
            JudgePair(
                judge=judge.name,
                agreement=float(hit.mean()),
                low=low,
                is_not_worse=low > -NOT_WORSE,
                cost=judge.cost,
                tokens=judge.tokens,
            )
        )
    good = [one for one in found if one.is_not_worse]
    price = _price_of(found)
    if price is None:
        return tuple(found)
    cheapest = min(good, key=lambda one: (price(one), -one.agreement))
    return tuple(msgspec.structs.replace(one, is_chosen=one is cheapest) for one in found)


def _price_of(found: Iterable[JudgePair]) -> Callable[[JudgePair], float] | None:
    """What judges are ranked by: money where all have a price, otherwise tokens; None for neither."""
    some = list(found)
    if all(one.cost is not None for one in some):
        return lambda one: one.cost or 0.0
    if all(one.tokens is not None for one in some):
        return lambda one: one.tokens or 0.0
    return None


def against_rule(replies: Replies, judge: JudgeVerdicts, *, rng: np.random.Generator) -> AgainstRule | None:
    """A judge against the rule, which is sure of what it reads: a check that needs no people.

    None where the judge was asked about no such reply.
    """
    at = np.isfinite(replies.ruled) & judge.is_asked
    if not at.any():
        return None
    has = at & np.isfinite(judge.first)

    def share(value: float) -> Estimate | None:
        inside = at & (replies.ruled == value)
        if not inside.any():
            return None
        return mean_interval(judge.first[inside] == value, clusters=replies.clusters_at(inside))

    return AgainstRule(
        judge=judge.name,
        n=int(at.sum()),
        n_without=int((at & ~has).sum()),
        same=mean_interval(judge.first[at] == replies.ruled[at], clusters=replies.clusters_at(at)),
        kappa=_kappa(judge.first[has], replies.ruled[has], clusters=replies.clusters_at(has), rng=rng),
        sensitivity=share(1.0),
        specificity=share(0.0),
    )


def contradicting_points(values: Numbers, points: Numbers) -> int:
    """How many marks and points contradict each other; those that are not there do not count."""
    both = np.isfinite(values) & np.isfinite(points)
    return int(((points[both] >= RIGHT_FROM) != (values[both] == 1)).sum())


# --------------------------------------------------------------------------- people


class Ceiling(Record):
    """A rater against the majority of the others, on the replies that others decided."""

    rater: str
    n: int
    same: Estimate
    kappa: Estimate | None


class Reliability(Record):
    """Of the mean of the raters: the mean of Pearson's r over pairs of raters, stepped up to their number.

    `r` and `value` are None where no two raters share three replies, or one says the same of all.
    """

    n_raters: float
    r: float | None = None
    value: float | None = None


def ceilings(
    marks: Numbers, *, raters: Sequence[str], clusters: Sequence[str], rng: np.random.Generator
) -> tuple[Ceiling, ...]:
    """How far people agree with people: what no judge can be asked to exceed.

    Args:
        marks: 1, 0 or NaN, shape (n_replies, n_raters).
        raters: their names.
        clusters: the name of the cluster of each reply.
        rng: where the draws of intervals come from.
    """
    found = []
    for k, rater in enumerate(raters):
        others = np.delete(marks, k, axis=1)
        n_others = np.isfinite(others).sum(axis=1)
        mean = np.nansum(others, axis=1) / np.maximum(n_others, 1)
        at = np.isfinite(marks[:, k]) & (n_others > 0) & (mean != 0.5)
        if not at.any():
            continue
        ours, theirs = marks[at, k], (mean[at] > 0.5).astype(np.float64)
        names = [clusters[i] for i in np.flatnonzero(at).tolist()]
        found.append(
            Ceiling(
                rater=rater,
                n=int(at.sum()),
                same=mean_interval(ours == theirs, clusters=names),
                kappa=_kappa(ours, theirs, clusters=names, rng=rng),
            )
        )
    return tuple(found)


def reliability(given: Numbers) -> Reliability:
    """The reliability of the mean of what raters gave, shape (n_replies, n_raters), NaN where they gave none.

    Source: Spearman (1910); Brown (1910).
    Departs: pairs of raters count by the replies that they share; the number of raters is its mean over the
        replies that have any.

    >>> reliability(np.array([[1, 1], [0, 0], [1, 0], [0, 0.0]])).value
    0.7320508075688773
    """
    n_given = np.isfinite(given).sum(axis=1)
    n_raters = float(n_given[n_given > 0].mean()) if (n_given > 0).any() else 0.0
    weighted, total = 0.0, 0
    for one, other in combinations(range(given.shape[1]), 2):
        both = np.isfinite(given[:, one]) & np.isfinite(given[:, other])
        x, y = given[both, one], given[both, other]
        if both.sum() < 3 or np.ptp(x) == 0 or np.ptp(y) == 0:
            continue
        n = int(both.sum())
        weighted, total = weighted + n * float(np.corrcoef(x, y)[0, 1]), total + n
    if not total:
        return Reliability(n_raters=n_raters)
    r = weighted / total
    below = 1 + (n_raters - 1) * r
    return Reliability(n_raters=n_raters, r=r, value=n_raters * r / below if below > 0 else None)
