"""How often replies err in which way: shares, agreement, chains; as sentences and tables."""

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from vidence.explain.errors.labels import By, Label
from vidence.explain.errors.packet import DrawnReply, Key, Packet
from vidence.explain.errors.taxonomies import Taxonomy
from vidence.explain.published import published
from vidence.explain.published.printed_tables import PublishedTable
from vidence.records import Clusters, Estimate, by_key
from vidence.statistics.agreement import cohen_kappa
from vidence.statistics.intervals import mean_interval
from vidence.statistics.resampling import Resampling
from vidence.tables.table import (
    Cell,
    Measure,
    RowSpec,
    Table,
    Value,
    count,
    lines,
    number,
    several,
    share,
    tabulate,
)

PEOPLE = "people"
Reply = tuple[str, str]
"""A run and a question."""


@dataclass(frozen=True, kw_only=True)
class Labelling:
    """Labels by source: all people, or one model."""

    name: str
    by: By
    key: Key
    labels: tuple[Label, ...]

    @property
    def labellers(self) -> tuple[str, ...]:
        """Return the labellers, in order."""
        return tuple(dict.fromkeys(label.labeller for label in self.labels))

    @property
    def title(self) -> str:
        """Return the source in words."""
        return (
            f"by people ({', '.join(self.labellers)})" if self.by == "person" else f"by the model {self.name}"
        )

    def weights(self) -> dict[Reply, dict[str, float]]:
        """Return, for each labelled reply, the share of its labels of each kind; labellers count equally.

        If a labeller saw a reply twice, the first label counts.
        """
        weights: dict[Reply, Counter[str]] = {}
        for label in self.labels:
            if not label.repeat:
                weights.setdefault((label.run, label.item_id), Counter())[label.kind] += 1
        return {reply: {k: n / kinds.total() for k, n in kinds.items()} for reply, kinds in weights.items()}

    def kinds(self, labeller: str, *, repeat: int = 0) -> dict[Reply, str]:
        """Return a labeller's kind for each reply, the first or second time."""
        return {
            (label.run, label.item_id): label.kind
            for label in self.labels
            if (label.labeller, label.repeat) == (labeller, repeat)
        }


def labellings(key: Key, labels: Sequence[Label]) -> tuple[Labelling, ...]:
    """Return the labels of people together, then those of each model."""
    by_model = ((label.by == "model", label) for label in labels)
    groups = by_key(((is_model, x.labeller if is_model else PEOPLE), x) for is_model, x in by_model)
    return tuple(
        Labelling(name=name, by="model" if is_model else "person", key=key, labels=tuple(own))
        for (is_model, name), own in sorted(groups.items())
    )


def _clusters(drawn: Sequence[DrawnReply], key: Key) -> Clusters:
    return Clusters((reply.source for reply in drawn), noun=key.noun)


@dataclass(frozen=True, kw_only=True)
class KindShare:
    """How often one kind occurs among the labelled errors.

    `counts` and `shares` are by run; `over_settings` is the mean of the shares of the runs, `pooled` the
    share of all errors. `over_settings` is None if a run has no labelled error, or there is one run alone.
    `n_second` labels name it as a second kind.
    """

    kind: str
    counts: Mapping[str, float]
    shares: Mapping[str, Estimate]
    over_settings: Estimate | None
    pooled: Estimate
    n_second: int = 0


def kind_shares(labelling: Labelling, taxonomy: Taxonomy, *, level: float) -> tuple[KindShare, ...]:
    """Return every kind, including composite ones, in the order of the taxonomy.

    Source: HumanPCR, appendix G.3 (the mean over settings of the shares); MMVU, section 4.3 (pooled).
    Departs: the papers give no intervals; these are clustered by source.
    """
    weights = labelling.weights()
    drawn = [reply for reply in labelling.key.drawn if (reply.run, reply.item_id) in weights]
    clusters, run_of = _clusters(drawn, labelling.key), tuple(reply.run for reply in drawn)
    runs = [run for run in labelling.key.runs if run in run_of]
    is_whole = len(runs) == len(labelling.key.runs) > 1
    kind_shares = []
    for kind in taxonomy.kinds:
        parts = taxonomy.parts(kind.name)
        each = [sum(weights[reply.run, reply.item_id].get(part, 0.0) for part in parts) for reply in drawn]
        values = np.array(each, np.float64)
        shares, counts = {}, {}
        for run in runs:
            at = [i for i, name in enumerate(run_of) if name == run]
            shares[run] = mean_interval(values[at], clusters=clusters.part(at), level=level)
            counts[run] = float(values[at].sum())
        over = mean_interval(values, clusters=clusters, groups=run_of, level=level) if is_whole else None
        kind_shares.append(
            KindShare(
                kind=kind.name,
                counts=counts,
                shares=shares,
                over_settings=over,
                pooled=mean_interval(values, clusters=clusters, level=level),
                n_second=sum(label.second in parts and not label.repeat for label in labelling.labels),
            )
        )
    return tuple(kind_shares)


# --------------------------------------------------------------------------- agreement


@dataclass(frozen=True, kw_only=True)
class Agreement:
    """Agreement of two lists of labels of the same replies."""

    name: str
    n: int
    same: Estimate
    kappa: Estimate


def agreements(
    labellings: Sequence[Labelling], *, rng: np.random.Generator, level: float
) -> tuple[Agreement, ...]:
    """Return agreement among people, with themselves, and of models with people, on shared replies."""
    people, again = (
        {name: x.kinds(name, repeat=i) for x in labellings if x.by == "person" for name in x.labellers}
        for i in (0, 1)
    )
    models = {x.name: x.kinds(x.name) for x in labellings if x.by == "model"}
    pairs = [
        *combinations(people.items(), 2),
        *((own, (f"{own[0]} again", again[own[0]])) for own in people.items()),
        *((m, p) for m in models.items() for p in people.items()),
    ]
    agreements = []
    for (a, first), (b, second) in pairs:
        both = [o for o in labellings[0].key.drawn if (o.run, o.item_id) in first.keys() & second.keys()]
        if not both:
            continue
        ours, theirs = ([of[reply.run, reply.item_id] for reply in both] for of in (first, second))
        clusters = _clusters(both, labellings[0].key)
        same = [float(x == y) for x, y in zip(ours, theirs, strict=True)]
        kappa = cohen_kappa(ours, theirs, clusters=clusters, rng=rng, settings=Resampling(level=level))
        agreed = mean_interval(same, clusters=clusters, level=level)
        agreements.append(Agreement(name=f"{a} and {b}", n=len(both), same=agreed, kappa=kappa))
    return tuple(agreements)


# --------------------------------------------------------------------------- chains


@dataclass(frozen=True, kw_only=True)
class ChainStep:
    """The share of replies, right up to a condition, that first go wrong there."""

    step: int
    n_at_risk: int
    n_wrong: int
    n_partial: int
    share: Estimate


def chain_steps(labelling: Labelling, *, level: float) -> tuple[ChainStep, ...]:
    """Return P(first wrong at step j | right before j).

    A partly right condition counts as not right. A reply that does not reach a condition is not counted from
    there on. Each label counts once; a label without verdicts is ignored.
    """
    known = {(reply.run, reply.item_id): reply for reply in labelling.key.drawn}
    steps = []
    for step in range(1, max(map(_n_judged, labelling.labels), default=0) + 1):
        at_risk = [label for label in labelling.labels if _n_judged(label) >= step]
        wrong = [label for label in at_risk if label.first_wrong == step]
        clusters = _clusters([known[label.run, label.item_id] for label in at_risk], labelling.key)
        steps.append(
            ChainStep(
                step=step,
                n_at_risk=len(at_risk),
                n_wrong=len(wrong),
                n_partial=sum(label.verdicts[step - 1] == "partial" for label in wrong),
                share=mean_interval(
                    [float(label.first_wrong == step) for label in at_risk], clusters=clusters, level=level
                ),
            )
        )
    return tuple(steps)


def _n_judged(label: Label) -> int:
    """Return the last known condition: the first that is not right, or the last one reached."""
    return label.first_wrong or sum(verdict == "right" for verdict in label.verdicts)


# --------------------------------------------------------------------------- in sentences and tables


@dataclass(frozen=True, kw_only=True)
class LabelledPacket:
    """A packet with its labels and tables."""

    packet: Packet
    taxonomy: Taxonomy
    sentences: tuple[str, ...]
    tables: tuple[Table, ...]


def report(
    packet: Packet,
    labels: Sequence[Label],
    taxonomy: Taxonomy,
    *,
    rng: np.random.Generator,
    level: float = 0.95,
) -> LabelledPacket:
    """Return all tables of a packet.

    Args:
        packet: the packet.
        labels: all its labels.
        taxonomy: its kinds.
        rng: source of the draws for kappa.
        level: of the intervals.
    """
    pair = labellings(packet.key, labels)
    tables = []
    for labelling in pair:
        tables.append(_shares(labelling, taxonomy, kind_shares(labelling, taxonomy, level=level)))
        if taxonomy.has_verdicts and (steps := chain_steps(labelling, level=level)):
            tables.append(_chains(labelling, steps))
    if agreed := agreements(pair, rng=rng, level=level):
        tables.append(_agreement(agreed))
    return LabelledPacket(
        packet=packet,
        taxonomy=taxonomy,
        sentences=tuple(_sentences(packet, pair, taxonomy)),
        tables=tuple(tables),
    )


def _sentences(packet: Packet, labellings: Sequence[Labelling], taxonomy: Taxonomy) -> Iterator[str]:
    key, draw = packet.key, packet.key.draw
    runs = several(len(key.runs), "run")
    n_drawn = f"{draw.n:,}" if draw.n else "all"
    how = f"wrong replies, {n_drawn} of each of {runs}"
    if draw.rule == "same":
        how = f"questions, {n_drawn}, the same for {runs}"
    n_wrong = sum(reply.is_wrong for reply in key.drawn)
    yield f"{taxonomy.title}. Drawn with the seed {draw.seed}: {how}; {n_wrong:,} replies are wrong."
    if n_left := sum(key.left_out.values()):
        yield f"{n_left:,} questions without a marked reply were not drawn from."
    if not labellings:
        yield "None of them has a label yet, so there are no shares."
    for labelling in labellings:
        n = len(labelling.weights())
        left = n_wrong - n
        rest = f"; {left:,} are not labelled and count as no kind" if left else ""
        yield f"{n:,} of {n_wrong:,} wrong replies are labelled {labelling.title}{rest}."
    if labellings and all(entry.by == "model" for entry in labellings):
        yield "No person has labelled anything: how far these labels can be trusted is not known."


def _agreement(agreements: Sequence[Agreement]) -> Table:
    return tabulate(
        "agreement",
        "How far labels agree",
        label="labels",
        rows=lines((agreement.name, agreement) for agreement in agreements),
        measures=(
            count("n", lambda agreement: agreement.n, "replies"),
            share("same", lambda agreement: agreement.same, "the same kind"),
            number("kappa", lambda agreement: agreement.kappa, "Cohen's kappa"),
        ),
    )


def _count(value: float) -> Value | Cell:
    is_whole = math.isclose(value, round(value), abs_tol=1e-9)  # thirds of several labellers add up
    return round(value) if is_whole else Cell(value=value, kind="number")


def _shares(labelling: Labelling, taxonomy: Taxonomy, shares: Sequence[KindShare]) -> Table:
    """Return counts and shares by run, their mean, the pooled share, and the paper's values."""
    runs = tuple(shares[0].shares)
    kinds = {kind.name: kind for kind in taxonomy.kinds}

    def counted(run: str) -> Measure[KindShare]:
        return count(f"n:{run}", lambda row: _count(row.counts[run]), run, group="errors")

    def share_in(run: str) -> Measure[KindShare]:
        return share(f"share:{run}", lambda row: row.shares[run], run, group="share of the errors, %")

    text, measures = "together, %", [*map(counted, runs), *map(share_in, runs)]
    if any(row.over_settings is not None for row in shares):
        measures.append(share("mean", lambda row: row.over_settings, "mean over settings", group=text))
    measures.append(share("pooled", lambda row: row.pooled, group=text))
    if any(row.n_second for row in shares):
        measures.append(count("second", lambda row: row.n_second, "also named", group="labels"))
    message = (
        "Shares of the labelled errors, with intervals by source. They sum to 1: where one falls, others "
        "rise. "
    )
    if taxonomy.printed:
        table = published.load(taxonomy.printed)
        where = f"{table.source.where}, {taxonomy.printed_as}"
        measures.append(
            share(
                "printed",
                lambda row: _printed(table, kinds[row.kind].title),
                where,
                group="as the paper prints it, %",
            )
        )
        message += "The paper's shares stand as they are printed; they are of other replies."
    labels = {name: f"· {kind.title}" if kind.within else kind.title for name, kind in kinds.items()}
    return tabulate(
        f"kinds:{labelling.name}",
        f"Kinds of errors, {labelling.title}",
        label="kind",
        rows=lines(((row.kind, row) for row in shares), labels),
        measures=measures,
        notes=(message,),
    )


def _printed(table: PublishedTable, title: str) -> Value | Cell:
    row = next((row for row in table.rows if row.name == title), None)
    if row is None:
        return None
    text = row.cells[1].text
    return Cell(value=float(text) / 100, text=text)


def _chains(labelling: Labelling, steps: Sequence[ChainStep]) -> Table:
    return tabulate(
        f"chains:{labelling.name}",
        f"Where chains first go wrong, {labelling.title}",
        label="condition",
        rows=(RowSpec(f"step-{step.step}", f"condition {step.step}", step) for step in steps),
        measures=(
            count("at-risk", lambda step: step.n_at_risk, "right before"),
            count("wrong", lambda step: step.n_wrong, "first wrong here"),
            count("partial", lambda step: step.n_partial, "of these partly right"),
            share("share", lambda step: step.share, "first wrong / right before"),
        ),
        notes=(
            "Of the wrong replies that are right up to a condition, the share that first goes wrong there. "
            "A reply that does not reach a condition is not counted from there on.",
        ),
    )
