"""How often replies err in which way: shares, agreement, models' labels corrected, chains, contrasts."""

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import msgspec
import numpy as np
from numpy.typing import NDArray

from vidence.errors import UsageError
from vidence.explain.errors.labels import By, Label
from vidence.explain.errors.packet import DrawnReply, Key
from vidence.explain.errors.taxonomies import Taxonomy
from vidence.records import Clusters, Estimate
from vidence.statistics.agreement import cohen_kappa, krippendorff_alpha
from vidence.statistics.intervals import UNBOUNDED, mean_interval
from vidence.statistics.paired import Comparison, Ranking, compare, holm, rank
from vidence.statistics.resampling import Resampling

N_SHUFFLES = 500
PEOPLE = "people"
Reply = tuple[str, str]
"""A run and a question."""


@dataclass(frozen=True, kw_only=True)
class Labelling:
    """Labels by whom they are: all people, or one model, or one diagnostic.

    `labels` has at most one of each labeller for each reply: second looks are apart, in `again`, by labeller.
    """

    name: str
    by: By
    key: Key
    labels: tuple[Label, ...]
    again: tuple[Label, ...] = ()

    @property
    def labellers(self) -> tuple[str, ...]:
        """Who gave them, in their order."""
        return tuple(dict.fromkeys(label.labeller for label in self.labels))

    def weights(self) -> dict[Reply, dict[str, float]]:
        """For each labelled reply the share of its labels of each kind; several labellers count alike."""
        found: dict[Reply, Counter[str]] = {}
        for label in self.labels:
            found.setdefault((label.run, label.item_id), Counter())[label.kind] += 1
        return {reply: {k: n / kinds.total() for k, n in kinds.items()} for reply, kinds in found.items()}

    def kinds(self, labeller: str) -> dict[Reply, str]:
        """What one labeller said of each reply."""
        return {(one.run, one.item_id): one.kind for one in self.labels if one.labeller == labeller}


def labellings(key: Key, labels: Sequence[Label]) -> tuple[Labelling, ...]:
    """The labels of people together, then those of each model and of each diagnostic.

    Of a reply that a labeller saw twice the label of its first row counts, or that of the second where there
    is no other.
    """
    counted = {(one.labeller, one.by, one.run, one.item_id): one for one in labels}
    firsts = {row for one in key.drawn for row in one.rows[:1]}
    counted |= {(one.labeller, one.by, one.run, one.item_id): one for one in labels if one.row in firsts}
    kept = {(one.labeller, one.by, one.row) for one in counted.values()}
    groups: dict[tuple[By, str], list[Label]] = {}
    for label in labels:
        name = PEOPLE if label.by == "person" else label.labeller
        groups.setdefault((label.by, name), []).append(label)
    order: dict[By, int] = {"person": 0, "model": 1, "diagnostic": 2}
    return tuple(
        Labelling(
            name=name,
            by=by,
            key=key,
            labels=tuple(one for one in own if (one.labeller, by, one.row) in kept),
            again=tuple(one for one in own if (one.labeller, by, one.row) not in kept),
        )
        for (by, name), own in sorted(groups.items(), key=lambda item: (order[item[0][0]], item[0][1]))
    )


@dataclass(frozen=True, kw_only=True)
class Replies:
    """Some replies in the order of the key, with what groups them. `values` has the share of each label."""

    drawn: tuple[DrawnReply, ...]
    values: Mapping[str, NDArray[np.float64]]
    clusters: Clusters

    @classmethod
    def of(cls, labelling: Labelling, taxonomy: Taxonomy) -> "Replies":
        """The labelled replies."""
        weights = labelling.weights()
        drawn = tuple(one for one in labelling.key.drawn if (one.run, one.item_id) in weights)
        return cls(
            drawn=drawn,
            values={
                kind.name: np.array(
                    [
                        sum(
                            weights[one.run, one.item_id].get(part, 0.0) for part in taxonomy.parts(kind.name)
                        )
                        for one in drawn
                    ]
                )
                for kind in taxonomy.kinds
            },
            clusters=_clusters(drawn, labelling.key),
        )

    @property
    def runs(self) -> tuple[str, ...]:
        """The run of each reply."""
        return tuple(one.run for one in self.drawn)


def _clusters(drawn: Sequence[DrawnReply], key: Key) -> Clusters:
    return Clusters((one.source for one in drawn), noun=key.noun)


@dataclass(frozen=True, kw_only=True)
class KindShare:
    """How often one kind occurs among the labelled errors.

    `counts` and `shares` are by run; `over_settings` is the mean of the shares of the runs, `pooled` the
    share of all errors. `over_settings` is None where a run has no labelled error, or there is one run alone.
    """

    kind: str
    counts: Mapping[str, float]
    shares: Mapping[str, Estimate]
    over_settings: Estimate | None
    pooled: Estimate


def kind_shares(labelling: Labelling, taxonomy: Taxonomy, *, level: float) -> tuple[KindShare, ...]:
    """Every kind, also those that are made of others, in the order of the taxonomy.

    Source: HumanPCR, appendix G.3 (the mean over settings of the shares); MMVU, section 4.3 (pooled).
    Departs: the papers give no intervals; these are clustered by source.
    """
    replies = Replies.of(labelling, taxonomy)
    runs = [run for run in labelling.key.runs if run in replies.runs]
    is_whole = len(runs) == len(labelling.key.runs) > 1
    found = []
    for kind in taxonomy.kinds:
        values = replies.values[kind.name]
        shares, counts = {}, {}
        for run in runs:
            at = [i for i, name in enumerate(replies.runs) if name == run]
            shares[run] = mean_interval(values[at], clusters=replies.clusters.part(at), level=level)
            counts[run] = float(values[at].sum())
        over = None
        if is_whole:
            over = mean_interval(values, clusters=replies.clusters, groups=replies.runs, level=level)
        pooled = mean_interval(values, clusters=replies.clusters, level=level)
        found.append(
            KindShare(kind=kind.name, counts=counts, shares=shares, over_settings=over, pooled=pooled)
        )
    return tuple(found)


def kind_order(labelling: Labelling, taxonomy: Taxonomy, *, level: float) -> Ranking | None:
    """The labels by their share, and which of them can be told apart; None with fewer than two errors.

    Each setting counts alike where the paper's shares are means over settings.
    """
    replies = Replies.of(labelling, taxonomy)
    if len(replies.drawn) < 2:
        return None
    is_macro = taxonomy.printed_as == "mean over settings"
    return rank(
        {kind.name: replies.values[kind.name] for kind in taxonomy.labels},
        clusters=replies.clusters,
        groups=replies.runs if is_macro else None,
        level=level,
    )


# --------------------------------------------------------------------------- agreement


@dataclass(frozen=True, kw_only=True)
class Agreement:
    """How far two lists of labels of the same replies agree; `same` is None for more than two lists."""

    name: str
    n: int
    same: Estimate | None
    kappa: Estimate


@dataclass(frozen=True, kw_only=True)
class _Comparing:
    """How lists of labels are compared: whose replies they are of, and how intervals are drawn."""

    key: Key
    rng: np.random.Generator
    settings: Resampling

    def of(self, name: str, first: Mapping[Reply, str], second: Mapping[Reply, str]) -> Agreement | None:
        """Two lists on the replies that are in both; None where there are none."""
        both = [one for one in self.key.drawn if (one.run, one.item_id) in first.keys() & second.keys()]
        if not both:
            return None
        ours = [first[one.run, one.item_id] for one in both]
        theirs = [second[one.run, one.item_id] for one in both]
        clusters = _clusters(both, self.key)
        same = [float(a == b) for a, b in zip(ours, theirs, strict=True)]
        kappa = cohen_kappa(ours, theirs, clusters=clusters, rng=self.rng, settings=self.settings)
        share = mean_interval(same, clusters=clusters, level=self.settings.level)
        return Agreement(name=name, n=len(both), same=share, kappa=kappa)

    def all_of(self, people: Labelling, taxonomy: Taxonomy) -> Agreement | None:
        """Krippendorff's alpha over people; None where no reply has the labels of two."""
        codes = {kind.name: float(i) for i, kind in enumerate(taxonomy.labels)}
        own = [people.kinds(name) for name in people.labellers]
        drawn = [one for one in self.key.drawn if sum((one.run, one.item_id) in kinds for kinds in own) > 1]
        if not drawn:
            return None
        table = [[codes.get(k.get((one.run, one.item_id), ""), np.nan) for k in own] for one in drawn]
        alpha = krippendorff_alpha(
            table,
            measurement="nominal",
            rng=self.rng,
            clusters=_clusters(drawn, self.key),
            settings=self.settings,
        )
        name = f"all {len(own)} people, Krippendorff's alpha"
        return Agreement(name=name, n=len(drawn), same=None, kappa=alpha)

    def shuffled(self, name: str, kinds: Mapping[Reply, str]) -> Agreement:
        """The labels of one labeller against the same in shuffled orders."""
        own = list(kinds.values())
        n, level = len(own), self.settings.level
        drawn = np.array([_plain_kappa(own, self.rng.permutation(own).tolist()) for _ in range(N_SHUFFLES)])
        known = drawn[~np.isnan(drawn)]
        low = high = value = math.nan
        if len(known):
            low, high = np.quantile(known, [(1 - level) / 2, (1 + level) / 2])
            value = float(known.mean())
        expected = sum(count**2 for count in Counter(own).values()) / n**2
        by = Estimate(value=0, low=0, high=0, level=level, n=n, n_clusters=n, method="")
        same = msgspec.structs.replace(
            by, value=expected, low=math.nan, high=math.nan, method="expected of shuffles", reason="expected"
        )
        kappa = msgspec.structs.replace(
            by,
            value=value,
            low=float(low),
            high=float(high),
            method=f"Cohen's kappa, range of {N_SHUFFLES} shuffles",
        )
        return Agreement(name=f"{name} and the same shuffled", n=n, same=same, kappa=kappa)


def agreements(
    found: Sequence[Labelling], taxonomy: Taxonomy, *, rng: np.random.Generator, level: float
) -> tuple[Agreement, ...]:
    """People with each other, each labeller with themselves, models with people, and what nothing gives.

    The last two lines are nulls: the labels of the first labeller against the same in a shuffled order, and
    against a labeller who always says the commonest kind.
    """
    if not found:
        return ()
    comparing = _Comparing(key=found[0].key, rng=rng, settings=Resampling(level=level))
    people = next((one for one in found if one.by == "person"), None)
    own = {name: people.kinds(name) for name in people.labellers} if people is not None else {}
    lines = [comparing.of(f"{a} and {b}", own[a], own[b]) for a, b in combinations(own, 2)]
    if people is not None and len(own) > 2:
        lines.append(comparing.all_of(people, taxonomy))
    for one in found:
        for name in dict.fromkeys(label.labeller for label in one.again):
            second = {(x.run, x.item_id): x.kind for x in one.again if x.labeller == name}
            lines.append(comparing.of(f"{name}, twice", one.kinds(name), second))
        if one.by != "person":
            lines += [
                comparing.of(f"{one.name} and {person}", one.kinds(one.name), said)
                for person, said in own.items()
            ]
    if first := next(iter(found[0].labellers), ""):
        kinds = found[0].kinds(first)
        commonest = Counter(kinds.values()).most_common(1)[0][0]
        always = dict.fromkeys(kinds, commonest)
        lines.append(comparing.shuffled(first, kinds))
        lines.append(comparing.of(f"{first} and who always says {commonest}", kinds, always))
    return tuple(line for line in lines if line is not None)


def _plain_kappa(first: Sequence[str], second: Sequence[str]) -> float:
    n = len(first)
    seen = sum(a == b for a, b in zip(first, second, strict=True)) / n
    expected = sum(first.count(k) * second.count(k) for k in set(first)) / n**2
    return (seen - expected) / (1 - expected) if expected < 1 else float("nan")


def confusion(model: Labelling, people: Labelling) -> dict[tuple[str, str], float]:
    """How often people said one kind where the model said another: by (people, model).

    Where several people labelled a reply, each counts as their part of it.
    """
    said = model.kinds(model.name)
    counts: dict[tuple[str, str], float] = {}
    for reply, kinds in people.weights().items():
        for kind, weight in kinds.items() if reply in said else ():
            cell = kind, said[reply]
            counts[cell] = counts.get(cell, 0.0) + weight
    return counts


# --------------------------------------------------------------------------- a model's labels, corrected


@dataclass(frozen=True, kw_only=True)
class Corrected:
    """The share of one kind by people alone, by the model alone, and by the model as people correct it."""

    kind: str
    n_both: int
    n_model: int
    people: Estimate
    model: Estimate
    corrected: Estimate


def corrected_shares(
    model: Labelling, people: Labelling, taxonomy: Taxonomy, *, level: float
) -> tuple[Corrected, ...]:
    """Prediction-powered shares, pooled over the runs; none where people and model share fewer than two.

        share = mean over all replies of the model's label + mean over those of both of (people less model)

    It holds where the replies that people labelled are a random part of those that the model labelled, as the
    first rows of a packet are.

    Source: Angelopoulos and others (2023), "Prediction-powered inference", the mean.
    Departs: the interval is Student's t with the error clustered by source, both means together, since they
        share replies.
    """
    said, truth = Replies.of(model, taxonomy), people.weights()
    both = [i for i, one in enumerate(said.drawn) if (one.run, one.item_id) in truth]
    if len(both) < 2:
        return ()
    found = []
    for kind in taxonomy.kinds:
        ours = said.values[kind.name]
        parts = taxonomy.parts(kind.name)
        theirs = np.array(
            [sum(truth[said.runs[i], said.drawn[i].item_id].get(part, 0.0) for part in parts) for i in both]
        )
        # The sum of two means is twice the mean of the means of two groups: one interval for both together.
        values = 2 * np.concatenate([ours, theirs - ours[both]])
        estimate = mean_interval(
            values,
            clusters=Clusters((*said.clusters, *said.clusters.part(both)), noun=model.key.noun),
            groups=["model"] * len(ours) + ["difference"] * len(both),
            bounds=UNBOUNDED,
            level=level,
        )
        found.append(
            Corrected(
                kind=kind.name,
                n_both=len(both),
                n_model=len(ours),
                people=mean_interval(theirs, clusters=said.clusters.part(both), level=level),
                model=mean_interval(ours, clusters=said.clusters, level=level),
                corrected=msgspec.structs.replace(
                    estimate,
                    value=_within(estimate.value),
                    low=_within(estimate.low),
                    high=_within(estimate.high),
                    n=len(ours),
                    method=f"prediction-powered mean; {estimate.method}",
                ),
            )
        )
    return tuple(found)


def _within(value: float) -> float:
    """A share that was added up, cut off at 0 and 1; NaN stays what it is."""
    return float(np.clip(value, 0.0, 1.0))


# --------------------------------------------------------------------------- chains


@dataclass(frozen=True, kw_only=True)
class ChainStep:
    """Of the replies that are right up to a condition, how many first go wrong there.

    `n_conditions` is None for questions with any number of conditions.
    """

    step: int
    n_conditions: int | None
    n_at_risk: int
    n_wrong: int
    n_partial: int
    share: Estimate | None


def chain_steps(labelling: Labelling, *, level: float) -> tuple[ChainStep, ...]:
    """P(first wrong at step j | right before j), over all questions and by their number of conditions.

    A condition that is partly right counts as not right. A reply that does not reach a condition is no longer
    counted from there on. Each label counts once; a label without verdicts and step says nothing here.
    """
    known = {(one.run, one.item_id): one for one in labelling.key.drawn}
    chains = [(known[label.run, label.item_id], label) for label in labelling.labels if _n_judged(label)]
    sizes = sorted({drawn.n_conditions for drawn, _ in chains})
    found = []
    for size in (None, *(sizes if len(sizes) > 1 else ())):
        own = [(drawn, label) for drawn, label in chains if size is None or drawn.n_conditions == size]
        for step in range(1, max((_n_judged(label) for _, label in own), default=0) + 1):
            at_risk = [(drawn, label) for drawn, label in own if _n_judged(label) >= step]
            wrong = [float(label.first_wrong == step) for _, label in at_risk]
            partial = sum(
                label.first_wrong == step and bool(label.verdicts) and label.verdicts[step - 1] == "partial"
                for _, label in at_risk
            )
            clusters = _clusters([drawn for drawn, _ in at_risk], labelling.key)
            found.append(
                ChainStep(
                    step=step,
                    n_conditions=size,
                    n_at_risk=len(at_risk),
                    n_wrong=int(sum(wrong)),
                    n_partial=partial,
                    share=mean_interval(wrong, clusters=clusters, level=level) if wrong else None,
                )
            )
    return tuple(found)


def _n_judged(label: Label) -> int:
    """Up to which condition something is known: the first that is not right, or the last that was reached."""
    if label.first_wrong is not None:
        return label.first_wrong
    return sum(verdict == "right" for verdict in label.verdicts)


# --------------------------------------------------------------------------- frames and kinds


@dataclass(frozen=True, kw_only=True)
class KindContrast:
    """The risk of one kind of error in two runs on the same questions: the second less the first.

    `kind` is empty for any error. `p_holm` is adjusted over the labels; None for what is made of them.
    """

    kind: str
    comparison: Comparison
    p_holm: float | None


def kind_contrasts(
    labelling: Labelling, taxonomy: Taxonomy, *, first: str, second: str, level: float
) -> tuple[KindContrast, ...]:
    """Whether a kind of error gets more or less frequent from one run to another, over the same questions.

    A right reply has no error of any kind and counts 0, so that kinds do not move because others do, as
    their shares of the errors would. Questions with an error that nobody labelled are left out.

    Raises:
        UsageError: the packet was not drawn with the same questions, a run is not in it, or nothing is left.
    """
    key = labelling.key
    if key.draw.rule != "same":
        raise UsageError("a contrast needs the same questions in both runs; draw the packet with --same")
    for run in (first, second):
        if run not in key.runs:
            raise UsageError(f"there is no run {run!r} in the packet; its runs are {', '.join(key.runs)}")
    if first == second:
        raise UsageError(f"a contrast of {first!r} with itself; name two runs")
    risks = {run: dict(_risks(labelling, run)) for run in (first, second)}
    items = [i for i in risks[first] if i in risks[second]]
    if not items:
        raise UsageError(f"no question has a right or a labelled reply in both {first} and {second}")
    source = {one.item_id: one.source for one in key.drawn}
    clusters = Clusters((source[i] for i in items), noun=key.noun)

    def compared(parts: Sequence[str]) -> Comparison:
        ours, theirs = (
            [sum(risks[run][i].get(part, 0.0) for part in parts) for i in items] for run in (second, first)
        )
        return compare(ours, theirs, clusters=clusters, level=level)

    names = [kind.name for kind in taxonomy.labels]
    every = {"": compared(names)} | {
        kind.name: compared(taxonomy.parts(kind.name)) for kind in taxonomy.kinds
    }
    adjusted = dict(zip(names, holm([every[name].p_value for name in names]), strict=True))
    return tuple(
        KindContrast(kind=name, comparison=one, p_holm=adjusted.get(name)) for name, one in every.items()
    )


def _risks(labelling: Labelling, run: str) -> Iterator[tuple[str, Mapping[str, float]]]:
    """The kinds of each reply of a run that is right or labelled."""
    weights = labelling.weights()
    for one in labelling.key.drawn:
        if one.run == run and not one.is_wrong:
            yield one.item_id, {}
        elif one.run == run and (run, one.item_id) in weights:
            yield one.item_id, weights[run, one.item_id]
