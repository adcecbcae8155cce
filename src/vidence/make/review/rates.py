"""Results of a review, counted from events: rates with denominators, agreement, minutes."""

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
from vidence.records import Estimate, Record, by_key
from vidence.statistics.agreement import Measurement, cohen_kappa, krippendorff_alpha
from vidence.statistics.intervals import proportion
from vidence.tables.table import RowSpec, Table, count, lines, number, share, tabulate, words

VERDICT: Final = "verdict"
VERDICTS: Final = ("accept", "return", "reject")


class Rate(Record):
    """A share: `k` of `n`, with Wilson's interval; None if `n` is 0."""

    name: str
    title: str
    k: int
    n: int
    share: Estimate | None


class Agreement(Record):
    """Agreement on one check, over revisions judged by two or more people.

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
    """The median of stated minutes for one kind of event, and the number of statements."""

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
    """Return the rates of finished items; unfinished ones are counted separately.

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
        states=dict(sorted(Counter(state.state for state in states).items())),
        rates=tuple(
            Rate(name=name, title=title, k=k, n=n, share=proportion(k, n, level=level) if n else None)
            for name, title, k, n in counted(states, reviews.protocol)
        ),
        agreement=agreement_of(reviews, rng=rng),
        minutes=minutes_of(reviews.events),
        n_disputed=sum(state.was_disputed for state in states),
        n_reopened=sum(state.n_reopened > 0 for state in states),
        n_refused=len(reviews.folded.refused),
    )


def counted(states: Sequence[ItemState], protocol: Protocol) -> tuple[tuple[str, str, int, int], ...]:
    """Return each rate as name, label, and `k` of `n` items."""
    counts = Counter[tuple[State, bool]](
        (state.state, state.was_edited or state.returns_left < protocol.returns)
        for state in states
        if state.state != "drafting"
    )

    def n(*names: State, revised: tuple[bool, ...] = (False, True)) -> int:
        return sum(counts[name, is_true] for name in names for is_true in revised)

    n_ended, n_revised = n(*ENDS), n(*ENDS, revised=(True,))
    first, rescued = n("accepted", revised=(False,)), n("accepted", revised=(True,))
    return (
        ("first-pass", "accepted without a revision, of finished items", first, n_ended),
        ("revised", "revised, of finished items", n_revised, n_ended),
        ("rescued", "accepted, of revised items", rescued, n_revised),
        ("accepted", "accepted, of finished items", first + rescued, n_ended),
        ("rejected", "rejected, of finished items", n("rejected"), n_ended),
        ("ended", "finished, of submitted items", n_ended, counts.total()),
    )


def agreement_of(reviews: Reviews, *, rng: np.random.Generator) -> tuple[Agreement, ...]:
    """Return agreement on every check, score and verdict given by two people for one revision.

    Verdicts are compared within a stage, checks and scores of one name wherever they were given. A person who
    said it twice of one revision counts with the last.
    """
    values: dict[tuple[str, str], dict[str, dict[str, str]]] = defaultdict(lambda: defaultdict(dict))
    owners: dict[str, str] = {}
    for event in reviews.events:
        if event.kind not in VERDICTS or event.revision not in reviews.revisions:
            continue
        content = reviews.revisions[event.revision].content
        owners[event.revision] = str(content.get("source_id") or event.item_id)
        values[VERDICT, event.role][event.revision][event.by] = event.kind
        for name, value in event.checks.items():
            values[name, ""][event.revision][event.by] = value
        for name, score in event.scores.items():
            values[name, ""][event.revision][event.by] = str(score)
    entries = []
    for (field, role), by_revision in values.items():
        if both := {name: tuple(given.values()) for name, given in by_revision.items() if len(given) > 1}:
            clusters = [owners[name] for name in both]
            measured = _measurement(field, reviews.protocol)
            agreement = _agreement(list(both.values()), clusters, measured=measured, rng=rng)
            entries.append(msgspec.structs.replace(agreement, field=field, role=role))
    return tuple(entries)


def _agreement(
    given: Sequence[Sequence[str]],
    clusters: Sequence[str],
    *,
    measured: Measurement,
    rng: np.random.Generator,
) -> Agreement:
    first, second, *_ = zip(*given, strict=False)
    codes = {value: i for i, value in enumerate(sorted({v for names in given for v in names}))}
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
        if any(check.id == field and check.kind == "count" for check in stage.checks):
            return "interval"
        if any(score.id == field for score in stage.scores):
            return "ordinal"
    return "nominal"


def minutes_of(events: Sequence[Event]) -> tuple[Minutes, ...]:
    """Return the median minutes of each kind of event by role, where any were stated."""
    stated = by_key(((e.role, e.kind), e.minutes) for e in events if e.minutes is not None)
    counts = Counter[tuple[str, str]]((entry.role, entry.kind) for entry in events)
    return tuple(
        Minutes(role=role, kind=kind, n=counts[role, kind], n_stated=len(mine), median=median(mine))
        for (role, kind), mine in sorted(stated.items())
    )


# --------------------------------------------------------------------------- tables


def rates_tables(review_rates: ReviewRates) -> tuple[Table, ...]:
    """Return rates, agreement and minutes as tables; empty ones are left out."""
    rates = tabulate(
        "rates",
        "Rates",
        label="rate",
        rows=(RowSpec(rate.name, rate.title, rate) for rate in review_rates.rates),
        measures=[
            count("k", lambda rate: rate.k, "items"),
            count("n", lambda rate: rate.n, "of"),
            share("share", lambda rate: rate.share, note="With Wilson's interval"),
        ],
        notes=["Counted from the events. Unfinished items count in the last row only."],
    )
    agreement = tabulate(
        "agreement",
        "Agreement of people who judged the same revision",
        label="check",
        rows=(
            RowSpec(
                f"{entry.field}-{entry.role}",
                f"{entry.field} ({entry.role})" if entry.role else entry.field,
                entry,
            )
            for entry in review_rates.agreement
        ),
        measures=[
            count("n", lambda entry: entry.n, "revisions"),
            count("same", lambda entry: entry.same, note="Of how many the first two said the same"),
            number("kappa", lambda entry: entry.kappa, note="Cohen's, of the first two"),
            number("alpha", lambda entry: entry.alpha, note="Krippendorff's, of all"),
        ],
    )
    minutes = tabulate(
        "minutes",
        "Minutes, as people stated them",
        label="what",
        rows=(RowSpec(f"{m.role}-{m.kind}", f"{m.kind} ({m.role})", m) for m in review_rates.minutes),
        measures=[
            count("n", lambda entry: entry.n, "events"),
            count("stated", lambda entry: entry.n_stated),
            number("median", lambda entry: entry.median, "median minutes"),
        ],
    )
    return tuple(table for table in (rates, agreement, minutes) if table.rows)


def rates_words(rates: ReviewRates) -> tuple[str, ...]:
    """Return sentences on the items by state, and on anything unusual."""
    special = {"were decided differently by two people": rates.n_disputed, "were reopened": rates.n_reopened}
    sentences = [_counted_words(rates.states)]
    sentences += [f"{n:,} {words}." for words, n in special.items() if n]
    if rates.n_refused:
        sentences.append(
            f"{rates.n_refused:,} events had no effect; `vidence items review state` names them."
        )
    return tuple(sentences)


def states_words(reviews: Reviews) -> tuple[str, ...]:
    """Say how many items are in each state, and which events had no effect, with reasons."""
    counts = Counter(state.state for state in reviews.states.values())
    refused = (f"without effect: {reason}" for _, reason in reviews.folded.refused)
    return (_counted_words(dict(sorted(counts.items()))), *refused)


def _counted_words(states: Mapping[str, int]) -> str:
    counted = ", ".join(f"{n:,} {state}" for state, n in states.items())
    n = sum(states.values())
    return f"{n:,} {'item' if n == 1 else 'items'}: {counted or 'none'}."


def states_table(reviews: Reviews, *, only: str | None = None) -> Table:
    """Return all items, or those in one state: wordings, holder, decision.

    Raises:
        UsageError: there is no such state.
    """
    if only is not None and only not in get_args(State):
        raise UsageError(f"there is no state {only!r}; expected one of {', '.join(get_args(State))}")
    return tabulate(
        "states",
        "Items and their states",
        label="item",
        rows=lines(
            (state.item_id, state) for state in reviews.states.values() if only in (None, state.state)
        ),
        measures=[
            words("state", lambda state: f"{state.state}{', disputed' * state.is_disputed}"),
            count("revision", lambda state: state.n),
            count("returns", lambda state: state.returns_left, "returns left"),
            words("author", lambda state: state.author),
            words("with", lambda state: ", ".join(state.claims), "looked at by"),
            words(
                "decided",
                lambda state: ", ".join(f"{decision.by} {decision.verdict}" for decision in state.decisions),
                note="Of the last revision, in the last stage",
            ),
        ],
    )
