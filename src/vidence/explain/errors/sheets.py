"""What the labels of a packet come to, in sentences and tables."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from vidence.errors import UsageError
from vidence.explain.errors.labels import Label
from vidence.explain.errors.packet import Packet
from vidence.explain.errors.shares import (
    ChainStep,
    KindShare,
    Labelling,
    agreements,
    chain_steps,
    confusion,
    corrected_shares,
    kind_contrasts,
    kind_order,
    kind_shares,
    labellings,
)
from vidence.explain.errors.taxonomies import Taxonomy
from vidence.explain.published import published
from vidence.explain.published.printed import PublishedTable
from vidence.records import Estimate
from vidence.tables.table import Cell, Column, Row, Table, Value, several

MOST_EXAMPLES = 3
_NUMBER_OF_STEPS = "all"


@dataclass(frozen=True, kw_only=True)
class Found:
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
    contrast: tuple[str, str] | None = None,
    rng: np.random.Generator,
    level: float = 0.95,
) -> Found:
    """All tables of a packet.

    Args:
        packet: what was drawn.
        labels: all labels of it, whoever gave them.
        taxonomy: the kinds.
        contrast: two runs, of which the risk of each kind is compared.
        rng: where the draws of intervals and shuffles come from.
        level: coverage of the intervals.

    Raises:
        UsageError: a contrast that cannot be made.
    """
    found = labellings(packet.key, labels)
    if contrast is not None and not found:
        raise UsageError("nobody has labelled anything yet; a contrast needs labels in both runs")
    tables = [_drawn(packet, found)]
    people = next((one for one in found if one.by == "person"), None)
    for one in found:
        tables += _of_labelling(one, taxonomy, level=level)
        if contrast is not None:
            tables.append(_contrast(one, taxonomy, contrast, level=level))
    if lines := agreements(found, taxonomy, rng=rng, level=level):
        tables.append(
            Table(
                name="agreement",
                title="How far labels agree",
                label="labels",
                columns=(
                    Column(key="n", title="replies", kind="count"),
                    Column(key="same", title="the same kind", kind="share"),
                    Column(key="kappa", title="Cohen's kappa"),
                ),
                rows=tuple(
                    Row(key=line.name, label=line.name, values=(line.n, line.same, line.kappa))
                    for line in lines
                ),
                note="The last two lines are what no knowledge gives: kappa around 0. The interval of the "
                "shuffled labels is the range of the shuffles.",
            )
        )
    for one in found:
        if people is not None and one is not people:
            tables += _against_people(one, people, taxonomy, level=level)
    tables += [table for one in found for table in _examples(one, taxonomy)]
    return Found(
        packet=packet,
        taxonomy=taxonomy,
        labellings=found,
        sentences=tuple(_sentences(packet, found, taxonomy, level=level)),
        tables=tuple(tables),
    )


def _title(one: Labelling) -> str:
    match one.by:
        case "person":
            return f"by people ({', '.join(one.labellers)})"
        case "model":
            return f"by the model {one.name}"
        case "diagnostic":
            return f"by the diagnostic {one.name}"


def _of_labelling(one: Labelling, taxonomy: Taxonomy, *, level: float) -> Iterator[Table]:
    shares = kind_shares(one, taxonomy, level=level)
    yield _shares(one, taxonomy, shares)
    if order := _order(one, taxonomy, level=level):
        yield order
    if taxonomy.has_verdicts and (steps := chain_steps(one, level=level)):
        yield _chains(one, steps)


# --------------------------------------------------------------------------- in sentences


def _sentences(
    packet: Packet, found: Sequence[Labelling], taxonomy: Taxonomy, *, level: float
) -> Iterator[str]:
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
        if groups := _open_orders(one, taxonomy, level=level):
            yield groups
    if any(one.by != "person" for one in found) and not any(one.by == "person" for one in found):
        yield "No person has labelled anything: how far these labels can be trusted is not known."


def _open_orders(one: Labelling, taxonomy: Taxonomy, *, level: float) -> str:
    """Which kinds cannot be told apart, in a sentence."""
    ranking = kind_order(one, taxonomy, level=level)
    if ranking is None:
        return ""
    titles = {kind.name: kind.title for kind in taxonomy.kinds}
    n_clear = sum(pair.is_clear for pair in ranking.pairs)
    groups = "; ".join(
        ", ".join(titles[name] for name in group) for group in ranking.groups if len(group) > 1
    )
    return f"Of {several(len(ranking.pairs), 'pair')} of kinds the order of {n_clear} is determined" + (
        f". Not told apart: {groups}." if groups else "."
    )


# --------------------------------------------------------------------------- tables


def _drawn(packet: Packet, found: Sequence[Labelling]) -> Table:
    key = packet.key
    labelled = {one.name: set(one.weights()) for one in found}
    rows = []
    for run in key.runs:
        own = [one for one in key.drawn if one.run == run]
        wrong = [(run, one.item_id) for one in own if one.is_wrong]
        counts = [sum(reply in has for reply in wrong) for has in labelled.values()]
        values = (len(own), len(own) - len(wrong), len(wrong), *counts, key.left_out.get(run, 0))
        rows.append(Row(key=run, label=run, values=values))
    return Table(
        name="drawn",
        title="What was drawn, and who labelled it",
        label="run",
        columns=(
            Column(key="n", title="drawn", kind="count"),
            Column(key="right", title="right", kind="count"),
            Column(key="wrong", title="wrong", kind="count"),
            *(
                Column(key=f"labelled:{one.name}", title=_title(one), kind="count", group="labelled")
                for one in found
            ),
            Column(
                key="left-out",
                title="not marked",
                kind="count",
                note="Questions without a reply, or with one that waits for a judge: not drawn from.",
            ),
        ),
        rows=tuple(rows),
    )


def _count(value: float) -> Value | Cell:
    is_whole = math.isclose(value, round(value), abs_tol=1e-9)  # thirds of several labellers add up
    return round(value) if is_whole else Cell(value=value, kind="number")


def _shares(one: Labelling, taxonomy: Taxonomy, shares: Sequence[KindShare]) -> Table:
    """Counts and shares by run, their mean, all together, and what the paper prints."""
    runs = tuple(shares[0].shares)
    printed = published.load(taxonomy.printed) if taxonomy.printed else None
    over = any(share.over_settings is not None for share in shares)
    columns = [
        *(Column(key=f"n:{run}", title=run, kind="count", group="errors") for run in runs),
        *(
            Column(key=f"share:{run}", title=run, kind="share", group="share of the errors, %")
            for run in runs
        ),
    ]
    if over:
        columns.append(Column(key="mean", title="mean over settings", kind="share", group="together, %"))
    columns.append(Column(key="pooled", title="pooled", kind="share", group="together, %"))
    if printed is not None:
        where = f"{printed.source.where}, {taxonomy.printed_as}"
        columns.append(Column(key="printed", title=where, kind="share", group="as the paper prints it, %"))
    kinds = {kind.name: kind for kind in taxonomy.kinds}
    rows = []
    for share in shares:
        kind = kinds[share.kind]
        values: list[Value | Cell] = [*map(_count, share.counts.values()), *share.shares.values()]
        values += [share.over_settings] if over else []
        values.append(share.pooled)
        if printed is not None:
            values.append(_printed(printed, kind.title))
        label = f"· {kind.title}" if kind.within else kind.title
        rows.append(Row(key=kind.name, label=label, values=tuple(values)))
    return Table(
        name=f"kinds:{one.name}",
        title=f"Kinds of errors, {_title(one)}",
        label="kind",
        columns=tuple(columns),
        rows=tuple(rows),
        note="Shares of the labelled errors, with intervals by source. They sum to 1: where one falls, "
        "others rise. "
        + ("The paper's shares stand as they are printed; they are of other replies." if printed else ""),
    )


def _printed(table: PublishedTable, title: str) -> Value | Cell:
    row = next((row for row in table.rows if row.name == title), None)
    if row is None:
        return None
    text = row.cells[1].text
    return Cell(value=float(text) / 100, text=text)


def _order(one: Labelling, taxonomy: Taxonomy, *, level: float) -> Table | None:
    ranking = kind_order(one, taxonomy, level=level)
    if ranking is None:
        return None
    titles = {kind.name: kind.title for kind in taxonomy.kinds}
    return Table(
        name=f"order:{one.name}",
        title=f"Which orders of kinds are determined, {_title(one)}",
        label="the second less the first",
        columns=(
            Column(key="difference", title="difference of shares", kind="difference"),
            Column(key="p", title="p", kind="p"),
            Column(key="p-holm", title="p, Holm", kind="p", note="adjusted for all pairs"),
            Column(key="order", title="order", kind="text"),
        ),
        rows=tuple(
            Row(
                key=f"{pair.first}/{pair.second}",
                label=f"{titles[pair.second]} less {titles[pair.first]}",
                values=(
                    pair.difference,
                    pair.p_value,
                    pair.p_holm,
                    f"more {titles[pair.better]}" if pair.is_clear else "not determined",
                ),
            )
            for pair in ranking.pairs
        ),
        note="Both shares are of the same errors, so that their difference has an interval of its own.",
    )


def _chains(one: Labelling, steps: Sequence[ChainStep]) -> Table:
    sizes = tuple(dict.fromkeys(step.n_conditions for step in steps))
    named = {None: _NUMBER_OF_STEPS} | {n: f"{n} conditions" for n in sizes if n is not None}
    cells = {(step.n_conditions, step.step): step for step in steps}
    columns = [
        Column(key="at-risk", title="right before", kind="count"),
        Column(key="wrong", title="first wrong here", kind="count"),
        Column(key="partial", title="of these partly right", kind="count"),
        *(
            Column(
                key=f"share:{named[n]}", title=named[n], kind="share", group="first wrong / right before, %"
            )
            for n in sizes
        ),
    ]
    rows = []
    for number in sorted({step.step for step in steps}):
        whole = cells[None, number]
        counts: tuple[Value, ...] = (whole.n_at_risk, whole.n_wrong, whole.n_partial)
        shares = (cells[n, number].share if (n, number) in cells else None for n in sizes)
        rows.append(Row(key=f"step-{number}", label=f"condition {number}", values=(*counts, *shares)))
    return Table(
        name=f"chains:{one.name}",
        title=f"Where chains first go wrong, {_title(one)}",
        label="condition",
        columns=tuple(columns),
        rows=tuple(rows),
        note="Of the wrong replies that are right up to a condition, the share that first goes wrong there. "
        "A reply that does not reach a condition is not counted from there on.",
    )


def _contrast(one: Labelling, taxonomy: Taxonomy, runs: tuple[str, str], *, level: float) -> Table:
    first, second = runs
    lines = kind_contrasts(one, taxonomy, first=first, second=second, level=level)
    titles = {kind.name: kind.title for kind in taxonomy.kinds} | {"": "any error"}
    n = lines[0].comparison.difference.n
    return Table(
        name=f"contrast:{one.name}",
        title=f"Risk of each kind, {second} less {first}, {_title(one)}",
        label="kind",
        columns=(
            Column(key="first", title=first, kind="share", group="of the questions, %"),
            Column(key="second", title=second, kind="share", group="of the questions, %"),
            Column(key="difference", title="difference", kind="difference"),
            Column(key="p", title="p", kind="p"),
            Column(key="p-holm", title="p, Holm", kind="p", note="adjusted for all kinds that are labels"),
        ),
        rows=tuple(
            Row(
                key=line.kind or "any",
                label=titles[line.kind],
                values=(
                    line.comparison.mean_second,
                    line.comparison.mean_first,
                    line.comparison.difference,
                    line.comparison.p_value,
                    line.p_holm,
                ),
            )
            for line in lines
        ),
        note=f"Paired over {several(n, 'question')} that are right or labelled in both runs; a right reply "
        "has no error. These are risks, not shares of errors: one kind does not rise because another falls.",
    )


def _against_people(
    one: Labelling, people: Labelling, taxonomy: Taxonomy, *, level: float
) -> Iterator[Table]:
    titles = {kind.name: kind.title for kind in taxonomy.kinds}
    counts = confusion(one, people)
    if counts:
        yield Table(
            name=f"confusion:{one.name}",
            title=f"What people said, and what {one.name} said",
            label="people",
            columns=tuple(Column(key=kind.name, title=kind.title, kind="count") for kind in taxonomy.labels),
            rows=tuple(
                Row(
                    key=kind.name,
                    label=kind.title,
                    values=tuple(
                        _count(counts.get((kind.name, other.name), 0.0)) for other in taxonomy.labels
                    ),
                )
                for kind in taxonomy.labels
            ),
        )
    if one.by != "model":
        return
    if lines := corrected_shares(one, people, taxonomy, level=level):
        estimates: Mapping[str, tuple[Estimate, ...]] = {
            line.kind: (line.people, line.model, line.corrected) for line in lines
        }
        yield Table(
            name=f"corrected:{one.name}",
            title=f"Shares by {one.name}, corrected by people",
            label="kind",
            columns=(
                Column(key="people", title=f"people alone, {lines[0].n_both:,} replies", kind="share"),
                Column(key="model", title=f"model alone, {lines[0].n_model:,} replies", kind="share"),
                Column(key="corrected", title="corrected", kind="share", note="prediction-powered mean"),
            ),
            rows=tuple(Row(key=kind, label=titles[kind], values=three) for kind, three in estimates.items()),
            note="Pooled over the runs. The model's share, plus how much people differ from it where both "
            "labelled. It holds where people labelled a random part, such as the first rows of the packet. "
            "The interval of the model alone knows nothing of its errors.",
        )


def _examples(one: Labelling, taxonomy: Taxonomy) -> Iterator[Table]:
    rows = []
    for kind in taxonomy.labels:
        quoted = [label for label in one.labels if label.kind == kind.name and label.quote]
        for label in quoted[:MOST_EXAMPLES]:
            key = f"{label.kind}/{label.run}/{label.item_id}/{label.labeller}"
            rows.append(Row(key=key, label=kind.title, values=(label.run, label.item_id, label.quote)))
    if rows:
        yield Table(
            name=f"examples:{one.name}",
            title=f"Examples, {_title(one)}",
            label="kind",
            columns=(
                Column(key="run", title="run", kind="text"),
                Column(key="question", title="question", kind="text"),
                Column(key="quote", title="words of the reply", kind="text"),
            ),
            rows=tuple(rows),
        )
