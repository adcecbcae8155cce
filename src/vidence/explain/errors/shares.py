"""How often replies err in which way: shares, agreement, chains."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from vidence.explain.errors.labels import By, Label
from vidence.explain.errors.packet import DrawnReply, Key
from vidence.explain.errors.taxonomies import Taxonomy
from vidence.records import Clusters, Estimate
from vidence.statistics.agreement import cohen_kappa, krippendorff_alpha
from vidence.statistics.intervals import mean_interval
from vidence.statistics.resampling import Resampling

PEOPLE = "people"
Reply = tuple[str, str]
"""A run and a question."""


@dataclass(frozen=True, kw_only=True)
class Labelling:
    """Labels by their source: all people, or one model.

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
    """The labels of people together, then those of each model.

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
    order: dict[By, int] = {"person": 0, "model": 1}
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


def agreements(
    found: Sequence[Labelling], taxonomy: Taxonomy, *, rng: np.random.Generator, level: float
) -> tuple[Agreement, ...]:
    """People with each other, each labeller with their second looks, and models with people."""
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
    return tuple(line for line in lines if line is not None)


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
