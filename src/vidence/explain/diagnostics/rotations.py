"""What answers follow if choices are rotated: a choice's text, or its letter."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from string import ascii_uppercase
from typing import Annotated, Final, Literal, TypeAlias

import numpy as np
from msgspec import Meta

from vidence.contracts import Diagnostic, Examined, Flow, Subject
from vidence.errors import UsageError
from vidence.explain.diagnostics import conditions
from vidence.explain.diagnostics.conditions import (
    PLAN,
    Condition,
    Examination,
    ReplyScore,
    ask_together,
    n_right,
)
from vidence.explain.diagnostics.tables import Figures, SideBySide, Values, chance_of, guesses, side_by_side
from vidence.records import Estimate, Item, Record
from vidence.tables.charts import Statement
from vidence.tables.table import Table, lines, number, share, tabulate

CYCLIC: Final = "cyclic"
_FEWEST = 2

Followed: TypeAlias = Literal["text", "letter", "neither", "unread"]
FOLLOWED: Mapping[Followed, str] = {
    "text": "the text",
    "letter": "the letter",
    "neither": "neither",
    "unread": "no answer read",
}


class Settings(Record):
    """Options of the diagnostic."""

    orders: Annotated[
        str, Meta(description="how many rotations of the choices, spread evenly; cyclic: one for each choice")
    ] = CYCLIC

    def __post_init__(self) -> None:
        if self.orders == CYCLIC:
            return
        is_number = self.orders.isascii() and self.orders.isdecimal()
        if not is_number or int(self.orders) < _FEWEST:
            raise UsageError(
                f"rotations: orders={self.orders}; expected {CYCLIC}, or a number from {_FEWEST} on"
            )

    def of(self, item: Item) -> tuple[tuple[int, ...], ...]:
        """Return an item's display orders, its own first; none without two choices."""
        if item.answer_kind != "choice" or len(item.choices) < _FEWEST:
            return ()
        n = len(item.choices) if self.orders == CYCLIC else int(self.orders)
        return conditions.rotations(item, n)


class OrderAnswer(Record):
    """The answer to one order of the choices."""

    order: tuple[int, ...]
    """The choice shown at each position; empty for the item's own order."""
    mark: ReplyScore
    """The answer, with its letter in the item's own order."""

    @property
    def shown(self) -> str:
        """Return the letter in the reply; empty if none of the choices was parsed."""
        own = ord(self.mark.answer) - ord("A") if len(self.mark.answer) == 1 else -1
        if own < 0 or (self.order and own not in self.order):
            return ""
        return ascii_uppercase[self.order.index(own) if self.order else own]


class RotationsFinding(Record):
    """The answers to one question under each rotation; empty without two choices."""

    turns: tuple[OrderAnswer, ...]

    def followed(self) -> list[Followed]:
        """Return what later answers share with the first; empty if no first answer was parsed."""
        first, *others = self.turns or (None,)
        return [] if first is None or not first.shown else [_followed(first, other) for other in others]


def _followed(first: OrderAnswer, answer: OrderAnswer) -> Followed:
    if not answer.shown:
        return "unread"
    if answer.mark.answer == first.mark.answer:
        return "text"
    return "letter" if answer.shown == first.shown else "neither"


class Rotations(Examination[Settings]):
    """Each question with its choices rotated, all orders together, with the frames of the plan.

    A rotation moves every choice to another place. So an answer after the first either names the same text
    under another letter, or the same letter with another text, or neither. Who knows is right in all orders;
    who guesses again each time is with the chance g ** r; who always says one letter never is.

    A guess that keeps to a text is right in all orders with the chance g of a single guess: rotating the
    choices does not remove it.
    """

    name = "rotations"
    version = 1
    finding: type[Record] = RotationsFinding

    def most_asks(self, item: Item, *, n_frames: int) -> int:
        """Return the number of rotations."""
        return len(self.settings.of(item))

    def examine(self, subject: Subject) -> Flow[RotationsFinding]:
        """Ask with every rotation at once; a question without two choices is not asked."""
        orders = self.settings.of(subject.item)
        if not orders:
            return RotationsFinding(turns=())
        scores = yield from ask_together(subject, [Condition(view=PLAN, order=order) for order in orders])
        turns = zip(orders, scores, strict=True)
        return RotationsFinding(turns=tuple(OrderAnswer(order=order, mark=score) for order, score in turns))

    def summarise(
        self, examined: Sequence[Examined], *, rng: np.random.Generator, level: float
    ) -> tuple[Statement, ...]:
        """Return the share right in all orders with guessing, and what answers follow."""

        def marks_of(finding: RotationsFinding) -> dict[str, tuple[ReplyScore, ...]]:
            return {_ALL: tuple(turn.mark for turn in finding.turns)} if finding.turns else {}

        figures = Figures(rng=rng, level=level)
        side = side_by_side(examined, RotationsFinding, marks_of, conditions=[_ALL], figures=figures)
        statements: list[Statement] = [_headline(side)]
        if side.items:
            statements.append(_following(side))
        return tuple(statements)


def create(settings: Settings) -> Diagnostic:
    """Create the diagnostic."""
    return Rotations(settings)


# --------------------------------------------------------------------------- what all questions say

Found = SideBySide[RotationsFinding]
_ALL: Final = "orders"


def _own_order(side: Found) -> Values:
    return np.array([n_right(some[:1]) for some in side.marks[_ALL]], np.float64)


def _right_by_chance(side: Found) -> Values:
    """Return, for each question, the probability that independent guesses are right in all orders."""
    each = zip(side.items, side.marks[_ALL], strict=True)
    return np.array(
        [float(guesses([item], partial(chance_of, len(some), len(some)))[0]) for item, some in each],
        np.float64,
    )


def _headline(side: Found) -> Table:
    chances = guesses(side.items)
    of: dict[str, tuple[Values, Values, Values]] = {}
    if side.items:
        all_right = np.array([n_right(some) == len(some) for some in side.marks[_ALL]], np.float64)
        of = {
            "all": (all_right, _right_by_chance(side), np.zeros(len(chances))),
            "mean": (side.values[_ALL], chances, chances),
            "own": (_own_order(side), chances, chances),
        }
    labels = {
        "all": "right in all orders",
        "mean": "mean over the orders",
        "own": "right in the item's own order",
    }
    letter_note = "expected of one letter throughout"
    return tabulate(
        "rotations",
        "Right whatever the order of the choices",
        label="question",
        rows=lines(of.items(), labels),
        measures=(
            number("questions", lambda _: len(side.items)),
            share("share", lambda row: side.mean(row[0])),
            share(
                "independent",
                lambda row: float(row[1].mean()),
                "independent guesses",
                note="a new guess for each order",
            ),
            share("letter", lambda row: float(row[2].mean()), "one letter", note=letter_note),
            share(
                "text",
                lambda _: float(chances.mean()),
                "one text",
                note="expected of a guess kept by its text",
            ),
        ),
        notes=(
            _orders_note(side),
            "A guess that keeps to a text is right in all orders as often as a single guess is: rotating the "
            "choices does not remove it.",
            side.left_out.replace("were not asked", "have fewer than two choices and were not asked"),
        ),
        figure="shares",
    )


def _orders_note(side: Found) -> str:
    numbers = sorted({len(some) for some in side.marks[_ALL]})
    return f"Each question in {' or '.join(map(str, numbers))} orders of its choices." if numbers else ""


def _following(side: Found) -> Table:
    """Return what later answers share with the first, over all questions and by the first answer."""
    followed = [finding.followed() for finding in side.findings]
    own = _own_order(side)

    def about(is_so: Callable[[int], bool]) -> tuple[Found, list[list[Followed]]]:
        at = [i for i, some in enumerate(followed) if some and is_so(i)]
        return side.of(at), [followed[i] for i in at]

    rows = {
        "all": about(lambda _: True),
        "right": about(lambda i: own[i] == 1.0),
        "wrong": about(lambda i: own[i] != 1.0),
    }
    labels = {"all": "all questions", "right": "first answer right", "wrong": "first answer wrong"}

    def part(name: Followed) -> Callable[[tuple[Found, list[list[Followed]]]], Estimate | None]:
        def of(row: tuple[Found, list[list[Followed]]]) -> Estimate | None:
            some, kept = row
            if not some.items:
                return None
            return some.mean(np.array([names.count(name) / len(names) for names in kept], np.float64))

        return of

    n_without = sum(not some for some in followed)
    without = f"{n_without:,} questions have no first answer that was read." if n_without else ""
    return tabulate(
        "follows",
        "What the other answers follow of the first",
        label="question",
        rows=lines(rows.items(), labels),
        measures=(
            number("questions", lambda row: len(row[0].items)),
            *(share(name, part(name), title) for name, title in FOLLOWED.items()),
        ),
        notes=(
            "The first answer is that to the item's own order. Each question counts once.",
            "Of wrong first answers what follows the text is a guess or an error that sticks; what follows "
            "the letter is a liking for letters.",
            without,
        ),
    )
