"""Payment by the rules of the protocol: a ledger computed from events."""

from collections import Counter
from collections.abc import Callable, Sequence
from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction
from functools import partial
from typing import Final, Literal

from vidence.make.review.protocol import Pay
from vidence.make.review.revisions import Event, Kind
from vidence.records import Record, by_key
from vidence.tables.export import csv_text
from vidence.tables.table import Table, count, lines, number, tabulate, words

ANNOTATIONS: Final[frozenset[Kind]] = frozenset({"submit"})
VALIDATIONS: Final[frozenset[Kind]] = frozenset({"accept", "return", "reject"})
_WORKERS = frozenset({"author", "reviewer", "meta"})


class Entry(Record, omit_defaults=True):
    """A ledger line: its event, time or piece, quantity, and amount.

    `amount` is in the smallest unit of the currency. `quantity` is in minutes for time, else a number of
    pieces.
    """

    event_id: str
    by: str
    day: str
    kind: Literal["time", "annotation", "validation"]
    quantity: float
    amount: int


def ledger(events: Sequence[Event], pay: Pay) -> tuple[Entry, ...]:
    """Return what each event earns, for stated time and for pieces.

    A first wording is an annotation; each decision of a reviewer is a validation. What an author mends is
    paid by time only. Half a cent is rounded up.

    Source: MMVU, appendix A.5 (6 USD an hour; 2 USD an annotation, 0.40 USD a validation).
    Departs: the paper does not say what a revision earns, nor how amounts are rounded.
    """
    entries: list[Entry] = []
    for event in events:
        if event.role not in _WORKERS:
            continue
        entry = partial(Entry, event_id=event.event_id, by=event.by, day=event.at[:10])
        if event.minutes is not None:
            amount = time_amount(event.minutes, pay.per_hour)
            entries.append(entry(kind="time", quantity=event.minutes, amount=amount))
        if event.kind in ANNOTATIONS:
            entries.append(entry(kind="annotation", quantity=1, amount=pay.per_annotation))
        if event.kind in VALIDATIONS:
            entries.append(entry(kind="validation", quantity=1, amount=pay.per_validation))
    return tuple(entries)


def time_amount(minutes: float, per_hour: int) -> int:
    """Return the pay for minutes of work, in the currency's smallest unit.

    >>> time_amount(20 + 17 / 60, 600), time_amount(4.2, 600)
    (203, 42)
    """
    exact = Fraction(minutes).limit_denominator(6000) * per_hour / 60
    return int((Decimal(exact.numerator) / exact.denominator).quantize(Decimal(1), ROUND_HALF_UP))


def over_the_cap(entries: Sequence[Entry], pay: Pay) -> tuple[str, ...]:
    """Say who did more in a day than the protocol advises."""
    counts = Counter((entry.by, entry.day, entry.kind) for entry in entries if entry.kind != "time")
    most = {"annotation": pay.most_annotations, "validation": pay.most_validations}
    return tuple(
        f"{by}: {n} {kind}s on {day}; {most[kind]} are advised at most"
        for (by, day, kind), n in sorted(counts.items())
        if most[kind] and n > most[kind]
    )


def money(amount: int, currency: str) -> str:
    """Format an amount for people.

    >>> money(403, "USD"), money(-50, "USD")
    ('4.03 USD', '-0.50 USD')
    """
    whole, rest = divmod(abs(amount), 100)
    return f"{'-' if amount < 0 else ''}{whole:,}.{rest:02d} {currency}"


def ledger_csv(entries: Sequence[Entry]) -> str:
    """Return the ledger as CSV, one line per entry."""
    fields = Entry.__struct_fields__
    return csv_text([fields, *([getattr(entry, name) for name in fields] for entry in entries)])


def pay_table(entries: Sequence[Entry], pay: Pay) -> Table:
    """Return what each person is owed: minutes, pieces, amounts, and totals."""
    mine = by_key((entry.by, entry) for entry in entries)

    def pieces(kind: str) -> Callable[[Sequence[Entry]], int]:
        return lambda own: sum(element.kind == kind for element in own)

    return tabulate(
        "pay",
        "Pay",
        label="who",
        rows=lines((*sorted(mine.items()), ("all", entries))),
        measures=[
            number("minutes", lambda own: sum(element.quantity for element in own if element.kind == "time")),
            count("annotations", pieces("annotation")),
            count("validations", pieces("validation")),
            words("amount", lambda own: money(sum(element.amount for element in own), pay.currency), "owed"),
        ],
        notes=["Only minutes that were stated earn anything by time."],
    )
