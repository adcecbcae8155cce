"""What a review comes to, counted from events: rates with their denominators, agreement, minutes."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from statistics import median
from typing import Final, get_args

import msgspec
import numpy as np

from vidence.errors import UsageError
from vidence.make.review.files import Reviews
from vidence.make.review.protocol import Protocol
from vidence.make.review.revisions import Event
from vidence.make.review.states import ENDS, ItemState, State
from vidence.records import Estimate, Record
from vidence.statistics.agreement import Measurement, cohen_kappa, krippendorff_alpha
from vidence.statistics.intervals import proportion
from vidence.tables.table import RowSpec, Table, count, lines, number, share, tabulate

VERDICT: Final = "verdict"
VERDICTS: Final = ("accept", "return", "reject")


class Rate(Record):
    """A share: `k` of `n`, with Wilson's interval; None where `n` is 0."""

    name: str
    title: str
    k: int
    n: int
    share: Estimate | None


class Agreement(Record):
    """How far people agree on one check, over revisions that two or more of them judged.

    `same` is of how many the first two said the same. `kappa` is Cohen's of the first two, `alpha`
    Krippendorff's of all.
    """

    field: str
    role: str
    n: int
    same: int
    kappa: Estimate
    alpha: Estimate


class Minutes(Record):
    """The median of the minutes that were stated for one kind of event, and how many state any."""

    role: str
    kind: str
    n: int
    n_stated: int
    median: float | None


class ReviewRates(Record):
    """All rates of a review. `states` counts the items by state."""

    states: dict[str, int]
    rates: tuple[Rate, ...]
    agreement: tuple[Agreement, ...]
    minutes: tuple[Minutes, ...]
    n_disputed: int
    n_reopened: int
    n_refused: int


def rates_of(reviews: Reviews, *, rng: np.random.Generator, level: float = 0.95) -> ReviewRates:
    """The rates of a review, of the items that have come to an end; the others are counted beside them.

    An item is revised when its author was asked to, or a reviewer changed it; a translation is no revision.

    Args:
        reviews: the review.
        rng: for the intervals of agreement.
        level: of all intervals.

    Source: MMVU, section 3.3: 1 - 523 / 3,072 = 83.0 % without a revision; 72 of the 523 left out.
    Departs: no.
    """
    states = list(reviews.states.values())
    return ReviewRates(
        states=dict(sorted(Counter(one.state for one in states).items())),
        rates=tuple(
            Rate(
                name=name,
                title=title,
                k=k,
                n=n,
                share=proportion(k, n, level=level) if n else None,
            )
            for name, title, k, n in counted(states, reviews.protocol)
        ),
        agreement=agreement_of(reviews, rng=rng),
        minutes=minutes_of(reviews.events),
        n_disputed=sum(one.was_disputed for one in states),
        n_reopened=sum(one.n_reopened > 0 for one in states),
        n_refused=len(reviews.folded.refused),
    )


def counted(states: Sequence[ItemState], protocol: Protocol) -> tuple[tuple[str, str, int, int], ...]:
    """Each rate as its name, its words, and `k` of `n` items."""
    found = Counter[tuple[State, bool]](
        (one.state, one.was_edited or one.returns_left < protocol.returns)
        for one in states
        if one.state != "drafting"
    )

    def n(*names: State, revised: tuple[bool, ...] = (False, True)) -> int:
        return sum(found[name, one] for name in names for one in revised)

    n_ended, n_revised = n(*ENDS), n(*ENDS, revised=(True,))
    first, rescued = n("accepted", revised=(False,)), n("accepted", revised=(True,))
    return (
        ("first-pass", "accepted without a revision, of those at an end", first, n_ended),
        ("revised", "revised, of those at an end", n_revised, n_ended),
        ("rescued", "accepted, of those revised", rescued, n_revised),
        ("accepted", "accepted, of those at an end", first + rescued, n_ended),
        ("rejected", "rejected, of those at an end", n("rejected"), n_ended),
        ("ended", "at an end, of those submitted", n_ended, found.total()),
    )


def agreement_of(reviews: Reviews, *, rng: np.random.Generator) -> tuple[Agreement, ...]:
    """Agreement on every check, score and verdict that two people gave for the same revision.

    Verdicts are compared within a stage, checks and scores of one name wherever they were given. A person who
    said it twice of one revision counts with the last.
    """
    said: dict[tuple[str, str], dict[str, dict[str, str]]] = defaultdict(lambda: defaultdict(dict))
    owners: dict[str, str] = {}
    for event in reviews.events:
        if event.kind not in VERDICTS or event.revision not in reviews.revisions:
            continue
        content = reviews.revisions[event.revision].content
        owners[event.revision] = str(content.get("source_id") or event.item_id)
        said[VERDICT, event.role][event.revision][event.by] = event.kind
        for name, value in event.checks.items():
            said[name, ""][event.revision][event.by] = value
        for name, score in event.scores.items():
            said[name, ""][event.revision][event.by] = str(score)
    found = []
    for (field, role), by_revision in said.items():
        both = {name: tuple(given.values()) for name, given in by_revision.items() if len(given) > 1}
        if both:
            clusters = [owners[name] for name in both]
            measured = _measurement(field, reviews.protocol)
            one = _agreement(list(both.values()), clusters, measured=measured, rng=rng)
            found.append(msgspec.structs.replace(one, field=field, role=role))
    return tuple(found)


def _agreement(
    given: Sequence[Sequence[str]],
    clusters: Sequence[str],
    *,
    measured: Measurement,
    rng: np.random.Generator,
) -> Agreement:
    first, second = [one[0] for one in given], [one[1] for one in given]
    codes = {value: i for i, value in enumerate(sorted({v for one in given for v in one}))}
    ratings = np.full((len(given), max(map(len, given))), np.nan)
    for row, values in enumerate(given):
        ratings[row, : len(values)] = [codes[v] if measured == "nominal" else float(v) for v in values]
    return Agreement(
        field="",
        role="",
        n=len(given),
        same=sum(a == b for a, b in zip(first, second, strict=True)),
        kappa=cohen_kappa(first, second, clusters=clusters, rng=rng),
        alpha=krippendorff_alpha(ratings, measurement=measured, rng=rng, clusters=clusters),
    )


def _measurement(field: str, protocol: Protocol) -> Measurement:
    for stage in protocol.stages:
        if any(one.id == field and one.kind == "count" for one in stage.checks):
            return "interval"
        if any(one.id == field for one in stage.scores):
            return "ordinal"
    return "nominal"


def minutes_of(events: Sequence[Event]) -> tuple[Minutes, ...]:
    """The median minutes of each kind of event by role, of those kinds for which any were stated."""
    stated: dict[tuple[str, str], list[float]] = defaultdict(list)
    counts = Counter[tuple[str, str]]((one.role, one.kind) for one in events)
    for one in events:
        if one.minutes is not None:
            stated[one.role, one.kind].append(one.minutes)
    return tuple(
        Minutes(role=role, kind=kind, n=counts[role, kind], n_stated=len(mine), median=median(mine))
        for (role, kind), mine in sorted(stated.items())
    )


# --------------------------------------------------------------------------- tables


def rates_tables(found: ReviewRates) -> tuple[Table, ...]:
    """Rates, agreement and minutes as tables; those without a row are left out."""
    rates = tabulate(
        "rates",
        "Rates",
        label="rate",
        rows=(RowSpec(one.name, one.title, one) for one in found.rates),
        measures=[
            count("k", lambda one: one.k, "items"),
            count("n", lambda one: one.n, "of"),
            share("share", lambda one: one.share, note="With Wilson's interval"),
        ],
        notes=["Counted from the events. Items that have not come to an end are in no share but the last."],
    )
    agreement = tabulate(
        "agreement",
        "Agreement of people who judged the same revision",
        label="check",
        rows=(
            RowSpec(f"{one.field}-{one.role}", f"{one.field} ({one.role})" if one.role else one.field, one)
            for one in found.agreement
        ),
        measures=[
            count("n", lambda one: one.n, "revisions"),
            count("same", lambda one: one.same, note="Of how many the first two said the same"),
            number("kappa", lambda one: one.kappa, note="Cohen's, of the first two"),
            number("alpha", lambda one: one.alpha, note="Krippendorff's, of all"),
        ],
    )
    minutes = tabulate(
        "minutes",
        "Minutes, as people stated them",
        label="what",
        rows=(RowSpec(f"{one.role}-{one.kind}", f"{one.kind} ({one.role})", one) for one in found.minutes),
        measures=[
            count("n", lambda one: one.n, "events"),
            count("stated", lambda one: one.n_stated),
            number("median", lambda one: one.median, "median minutes"),
        ],
    )
    return tuple(table for table in (rates, agreement, minutes) if table.rows)


def rates_words(found: ReviewRates) -> tuple[str, ...]:
    """The items by state, and what is out of the common run, in sentences."""
    special = {
        "were decided differently by two people": found.n_disputed,
        "were reopened": found.n_reopened,
    }
    sentences = [_counted_words(found.states)]
    sentences += [f"{n:,} {words}." for words, n in special.items() if n]
    if found.n_refused:
        sentences.append(f"{found.n_refused:,} events had no effect; `vidence review state` names them.")
    return tuple(sentences)


def states_words(reviews: Reviews) -> tuple[str, ...]:
    """How many items are in which state, and which events had no effect, each with the reason."""
    counts = Counter(one.state for one in reviews.states.values())
    refused = (f"without effect: {reason}" for _, reason in reviews.folded.refused)
    return (_counted_words(dict(sorted(counts.items()))), *refused)


def _counted_words(states: Mapping[str, int]) -> str:
    counted = ", ".join(f"{n:,} {state}" for state, n in states.items())
    n = sum(states.values())
    return f"{n:,} {'item' if n == 1 else 'items'}: {counted or 'none'}."


def states_table(reviews: Reviews, *, only: str | None = None) -> Table:
    """Every item, or those in one state: its wordings, who has it, what was decided.

    Raises:
        UsageError: there is no such state.
    """
    if only is not None and only not in get_args(State):
        raise UsageError(f"there is no state {only!r}; expected one of {', '.join(get_args(State))}")
    return tabulate(
        "states",
        "Items and their states",
        label="item",
        rows=lines((one.item_id, one) for one in reviews.states.values() if only in (None, one.state)),
        measures=[
            number("state", lambda one: f"{one.state}{', disputed' * one.is_disputed}", kind="text"),
            count("revision", lambda one: one.n),
            count("returns", lambda one: one.returns_left, "returns left"),
            number("author", lambda one: one.author, kind="text"),
            number("with", lambda one: ", ".join(one.claims), "looked at by", kind="text"),
            number(
                "decided",
                lambda one: ", ".join(f"{said.by} {said.verdict}" for said in one.decisions),
                kind="text",
                note="Of the last revision, in the last stage",
            ),
        ],
    )
