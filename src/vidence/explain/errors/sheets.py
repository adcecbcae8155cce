"""What the labels of a packet come to, in sentences and tables."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from vidence.explain.errors.labels import Label
from vidence.explain.errors.packet import DrawnReply, Packet
from vidence.explain.errors.shares import (
    Agreement,
    ChainStep,
    KindShare,
    Labelling,
    agreements,
    chain_steps,
    kind_shares,
    labellings,
)
from vidence.explain.errors.taxonomies import Taxonomy
from vidence.explain.published import published
from vidence.explain.published.printed_tables import PublishedTable
from vidence.tables.table import (
    Cell,
    Measure,
    RowSpec,
    Table,
    Value,
    by_name,
    count,
    lines,
    number,
    several,
    share,
    tabulate,
    words,
)

MOST_EXAMPLES = 3
_NUMBER_OF_STEPS = "all"


@dataclass(frozen=True, kw_only=True)
class LabelledPacket:
    """A packet with its labels, and all that is said of it."""

    packet: Packet
    taxonomy: Taxonomy
    labellings: tuple[Labelling, ...]
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
    """All tables of a packet.

    Args:
        packet: what was drawn.
        labels: all labels of it.
        taxonomy: the kinds.
        rng: where the draws of intervals come from.
        level: coverage of the intervals.
    """
    found = labellings(packet.key, labels)
    tables = [_drawn(packet, found)]
    for one in found:
        tables.append(_shares(one, taxonomy, kind_shares(one, taxonomy, level=level)))
        if taxonomy.has_verdicts and (steps := chain_steps(one, level=level)):
            tables.append(_chains(one, steps))
    if agreed := agreements(found, taxonomy, rng=rng, level=level):
        tables.append(_agreement(agreed))
    tables += [table for one in found for table in _examples(one, taxonomy)]
    return LabelledPacket(
        packet=packet,
        taxonomy=taxonomy,
        labellings=found,
        sentences=tuple(_sentences(packet, found, taxonomy)),
        tables=tuple(tables),
    )


def _agreement(found: Sequence[Agreement]) -> Table:
    return tabulate(
        "agreement",
        "How far labels agree",
        label="labels",
        rows=lines((one.name, one) for one in found),
        measures=(
            count("n", lambda one: one.n, "replies"),
            share("same", lambda one: one.same, "the same kind"),
            number("kappa", lambda one: one.kappa, "Cohen's kappa"),
        ),
    )


def _title(one: Labelling) -> str:
    match one.by:
        case "person":
            return f"by people ({', '.join(one.labellers)})"
        case "model":
            return f"by the model {one.name}"


# --------------------------------------------------------------------------- in sentences


def _sentences(packet: Packet, found: Sequence[Labelling], taxonomy: Taxonomy) -> Iterator[str]:
    key, draw = packet.key, packet.key.draw
    runs = several(len(key.runs), "run")
    how = f"wrong replies, {draw.n:,} of each of {runs}"
    if draw.rule == "same":
        how = f"questions, {draw.n:,}, the same for {runs}"
    n_wrong = sum(one.is_wrong for one in key.drawn)
    yield f"{taxonomy.title}. Drawn with the seed {draw.seed}: {how}; {n_wrong:,} replies are wrong."
    if not found:
        yield "Nobody has labelled any of them yet, so that there are no shares."
    for one in found:
        n = len(one.weights())
        left = n_wrong - n
        rest = f"; {left:,} are not labelled and count as no kind" if left else ""
        yield f"{n:,} of {n_wrong:,} wrong replies are labelled {_title(one)}{rest}."
    if any(one.by != "person" for one in found) and not any(one.by == "person" for one in found):
        yield "No person has labelled anything: how far these labels can be trusted is not known."


# --------------------------------------------------------------------------- tables


def _drawn(packet: Packet, found: Sequence[Labelling]) -> Table:
    key = packet.key

    def replies(run: str) -> list[DrawnReply]:
        return [one for one in key.drawn if one.run == run]

    def n_wrong(run: str) -> int:
        return sum(one.is_wrong for one in replies(run))

    def labelled(one: Labelling) -> Measure[str]:
        has = set(one.weights())

        def n_of(run: str) -> int:
            return sum(reply.is_wrong and (run, reply.item_id) in has for reply in replies(run))

        return count(f"labelled:{one.name}", n_of, _title(one), group="labelled")

    return tabulate(
        "drawn",
        "What was drawn, and who labelled it",
        label="run",
        rows=by_name(key.runs),
        measures=(
            count("n", lambda run: len(replies(run)), "drawn"),
            count("right", lambda run: len(replies(run)) - n_wrong(run)),
            count("wrong", n_wrong),
            *map(labelled, found),
            count(
                "left-out",
                lambda run: key.left_out.get(run, 0),
                "not marked",
                note="Questions without a reply, or with one that waits for a judge: not drawn from.",
            ),
        ),
    )


def _count(value: float) -> Value | Cell:
    is_whole = math.isclose(value, round(value), abs_tol=1e-9)  # thirds of several labellers add up
    return round(value) if is_whole else Cell(value=value, kind="number")


def _shares(one: Labelling, taxonomy: Taxonomy, shares: Sequence[KindShare]) -> Table:
    """Counts and shares by run, their mean, all together, and what the paper prints."""
    runs = tuple(shares[0].shares)
    kinds = {kind.name: kind for kind in taxonomy.kinds}

    def counted(run: str) -> Measure[KindShare]:
        return count(f"n:{run}", lambda row: _count(row.counts[run]), run, group="errors")

    def share_in(run: str) -> Measure[KindShare]:
        return share(f"share:{run}", lambda row: row.shares[run], run, group="share of the errors, %")

    together, measures = "together, %", [*map(counted, runs), *map(share_in, runs)]
    if any(row.over_settings is not None for row in shares):
        measures.append(share("mean", lambda row: row.over_settings, "mean over settings", group=together))
    measures.append(share("pooled", lambda row: row.pooled, group=together))
    said = (
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
        said += "The paper's shares stand as they are printed; they are of other replies."
    labels = {name: f"· {kind.title}" if kind.within else kind.title for name, kind in kinds.items()}
    return tabulate(
        f"kinds:{one.name}",
        f"Kinds of errors, {_title(one)}",
        label="kind",
        rows=lines(((row.kind, row) for row in shares), labels),
        measures=measures,
        notes=(said,),
    )


def _printed(table: PublishedTable, title: str) -> Value | Cell:
    row = next((row for row in table.rows if row.name == title), None)
    if row is None:
        return None
    text = row.cells[1].text
    return Cell(value=float(text) / 100, text=text)


def _chains(one: Labelling, steps: Sequence[ChainStep]) -> Table:
    sizes = tuple(dict.fromkeys(step.n_conditions for step in steps))
    cells = {(step.n_conditions, step.step): step for step in steps}

    def share_of(n: int | None) -> Measure[int]:
        name = _NUMBER_OF_STEPS if n is None else f"{n} conditions"
        group = "first wrong / right before, %"
        return share(
            f"share:{name}", lambda j: cells[n, j].share if (n, j) in cells else None, name, group=group
        )

    return tabulate(
        f"chains:{one.name}",
        f"Where chains first go wrong, {_title(one)}",
        label="condition",
        rows=(RowSpec(f"step-{j}", f"condition {j}", j) for j in sorted({step.step for step in steps})),
        measures=(
            count("at-risk", lambda j: cells[None, j].n_at_risk, "right before"),
            count("wrong", lambda j: cells[None, j].n_wrong, "first wrong here"),
            count("partial", lambda j: cells[None, j].n_partial, "of these partly right"),
            *map(share_of, sizes),
        ),
        notes=(
            "Of the wrong replies that are right up to a condition, the share that first goes wrong there. "
            "A reply that does not reach a condition is not counted from there on.",
        ),
    )


def _examples(one: Labelling, taxonomy: Taxonomy) -> Iterator[Table]:
    rows = []
    for kind in taxonomy.labels:
        quoted = [label for label in one.labels if label.kind == kind.name and label.quote]
        for label in quoted[:MOST_EXAMPLES]:
            key = f"{label.kind}/{label.run}/{label.item_id}/{label.labeller}"
            rows.append(RowSpec(key, kind.title, label))
    if rows:
        yield tabulate(
            f"examples:{one.name}",
            f"Examples, {_title(one)}",
            label="kind",
            rows=rows,
            measures=(
                words("run", lambda label: label.run),
                words("question", lambda label: label.item_id),
                words("quote", lambda label: label.quote, "words of the reply"),
            ),
        )
