"""What an answer follows when the choices are rotated: the text of a choice, or its letter."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from string import ascii_uppercase
from typing import Annotated, Final, Literal, TypeAlias

import numpy as np
from msgspec import Meta

from vidence.contracts import Diagnostic, Examined, Flow, Subject, View
from vidence.errors import UsageError
from vidence.explain.diagnostics import conditions
from vidence.explain.diagnostics.conditions import Condition, ReplyScore, ask_together, n_right
from vidence.explain.diagnostics.tables import (
    Figures,
    SideBySide,
    Values,
    chance_of,
    guesses,
    kinds,
    side_by_side,
    tag_tables,
)
from vidence.records import Estimate, Item, Record
from vidence.tables.charts import Statement
from vidence.tables.table import Table, by_name, lines, number, share, tabulate

PLAN: Final = "plan"
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
        str,
        Meta(description="how many rotations of the choices, spread evenly; cyclic: one for each choice"),
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
        """The orders in which an item is shown, its own first; none without two choices."""
        if item.answer_kind != "choice" or len(item.choices) < _FEWEST:
            return ()
        n = len(item.choices) if self.orders == CYCLIC else int(self.orders)
        return conditions.rotations(item, n)


class OrderAnswer(Record):
    """The answer to one order of the choices."""

    order: tuple[int, ...]
    """For each place the choice that is shown there; empty for the item's own order."""
    mark: ReplyScore
    """Its letter is in the item's own order."""

    @property
    def shown(self) -> str:
        """The letter that the model said; empty where none of the choices was read."""
        own = ord(self.mark.answer) - ord("A") if len(self.mark.answer) == 1 else -1
        if own < 0 or (self.order and own not in self.order):
            return ""
        return ascii_uppercase[self.order.index(own) if self.order else own]


class RotationsFinding(Record):
    """The answers to one question under each rotation; nothing for one without two choices."""

    turns: tuple[OrderAnswer, ...]

    def followed(self) -> list[Followed]:
        """What the answers after the first follow of it; nothing where no first answer was read."""
        first, *others = self.turns or (None,)
        return [] if first is None or not first.shown else [_followed(first, one) for one in others]


def _followed(first: OrderAnswer, one: OrderAnswer) -> Followed:
    if not one.shown:
        return "unread"
    if one.mark.answer == first.mark.answer:
        return "text"
    return "letter" if one.shown == first.shown else "neither"


class Rotations:
    """Each question with its choices rotated, all orders together, with the frames of the plan.

    A rotation moves every choice to another place. So an answer after the first either names the same text
    under another letter, or the same letter with another text, or neither. Who knows is right in all orders;
    who guesses anew each time is with the chance g ** r; who always says one letter never is.

    A guess that keeps to a text is right in all orders with the chance g of a single guess: rotating the
    choices does not remove it.
    """

    name = "rotations"
    version = 1
    finding: type[Record] = RotationsFinding

    def __init__(self, settings: Settings) -> None:
        self.settings = settings

    def views(self, *, selector: str, n_frames: int) -> Mapping[str, View]:
        """The frames of the plan."""
        return {PLAN: View(selector=selector, n_frames=n_frames)}

    def models(self) -> Mapping[str, str]:
        """No others."""
        return {}

    def most_asks(self, item: Item, *, n_frames: int) -> int:
        """Every rotation."""
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
        """Right in all orders beside what guessing gets; what answers follow; places; by tag."""

        def marks_of(one: RotationsFinding) -> dict[str, tuple[ReplyScore, ...]]:
            return {_ALL: tuple(turn.mark for turn in one.turns)} if one.turns else {}

        figures = Figures(rng=rng, level=level)
        found = side_by_side(examined, RotationsFinding, marks_of, conditions=[_ALL], figures=figures)
        made: list[Statement] = [_headline(found)]
        if found.items:
            made += [_following(found), _places(found), *_tags(found)]
        return tuple(made)


def create(settings: Settings) -> Diagnostic:
    """The diagnostic."""
    return Rotations(settings)


# --------------------------------------------------------------------------- what all questions say

Found = SideBySide[RotationsFinding]
_ALL: Final = "orders"


def _all_right(found: Found) -> Values:
    marks = found.marks[_ALL]
    return np.array([float(n_right(some) == len(some)) for some in marks], np.float64)


def _own_order(found: Found) -> Values:
    return np.array([float(n_right(some[:1])) for some in found.marks[_ALL]], np.float64)


def _right_by_chance(found: Found) -> Values:
    """The chance that independent guesses are right in all orders, for each question."""
    each = zip(found.items, found.marks[_ALL], strict=True)
    return np.array(
        [float(guesses([item], partial(chance_of, len(some), len(some)))[0]) for item, some in each],
        np.float64,
    )


def _headline(found: Found) -> Table:
    chances = guesses(found.items)
    of: dict[str, tuple[Values, Values, Values]] = {}
    if found.items:
        zeros = np.zeros(len(chances))
        of = {
            "all": (_all_right(found), _right_by_chance(found), zeros),
            "mean": (found.values[_ALL], chances, chances),
            "own": (_own_order(found), chances, chances),
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
            number("questions", lambda _: len(found.items)),
            share("share", lambda row: found.mean(row[0])),
            share(
                "anew", lambda row: float(row[1].mean()), "guessing anew", note="a guess of its own each time"
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
            _orders_note(found),
            "A guess that keeps to a text is right in all orders as often as a single guess is: rotating the "
            "choices does not remove it.",
            found.left_out.replace("were not asked", "have fewer than two choices and were not asked"),
        ),
        figure="shares",
    )


def _orders_note(found: Found) -> str:
    numbers = sorted({len(some) for some in found.marks[_ALL]})
    return f"Each question in {' or '.join(map(str, numbers))} orders of its choices." if numbers else ""


def _following(found: Found) -> Table:
    """What the answers after the first have in common with it, over all questions, and by the first."""
    followed = [one.followed() for one in found.findings]
    own = _own_order(found)

    def about(is_so: Callable[[int], bool]) -> tuple[Found, list[list[Followed]]]:
        at = [i for i, some in enumerate(followed) if some and is_so(i)]
        return found.of(at), [followed[i] for i in at]

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
            return some.mean(np.array([one.count(name) / len(one) for one in kept], np.float64))

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


def _places(found: Found) -> Table:
    """For each place how often it is named, and how often it is right when the right choice stands there."""
    letters = ascii_uppercase[: max(len(item.choices) for item in found.items)]

    def there(letter: str) -> list[tuple[int, list[OrderAnswer]]]:
        some = []
        for i, (item, one) in enumerate(zip(found.items, found.findings, strict=True)):
            own = ord(item.answer) - ord("A")
            turns = [
                t for t in one.turns if (t.order.index(own) if t.order else own) == ord(letter) - ord("A")
            ]
            if turns:
                some.append((i, turns))
        return some

    def named(letter: str) -> Estimate | None:
        at = [i for i, item in enumerate(found.items) if letter in item.letters]
        some = found.of(at)
        values = [sum(t.shown == letter for t in one.turns) / len(one.turns) for one in some.findings]
        return some.mean(np.array(values, np.float64)) if at else None

    def right(letter: str) -> Estimate | None:
        some = there(letter)
        values = [n_right(t.mark for t in turns) / len(turns) for _, turns in some]
        return found.of([i for i, _ in some]).mean(np.array(values, np.float64)) if some else None

    def stands(letter: str) -> float | None:
        at = [one for item, one in zip(found.items, found.findings, strict=True) if letter in item.letters]
        n = sum(len(one.turns) for one in at)
        return sum(len(turns) for _, turns in there(letter)) / n if n else None

    return tabulate(
        "places",
        "Places of the choices",
        label="shown as",
        rows=by_name(letters),
        measures=(
            share("named", named, "named", note="of all orders of the questions that have this letter"),
            share("stands", stands, "right choice is there"),
            share("right", right, "right when it is there"),
            *kinds({letter: [[t.mark for t in turns] for _, turns in there(letter)] for letter in letters}),
        ),
        notes=("With an order for each choice the right one stands everywhere equally often.",),
    )


def _tags(found: Found) -> list[Table]:
    return tag_tables(
        "rotations:",
        "Right whatever the order of the choices",
        found.items,
        about=found.of,
        measures=(
            number("questions", lambda some: len(some.items)),
            share("all", lambda some: some.mean(_all_right(some)), "right in all orders"),
            share("mean", lambda some: some.accuracy(_ALL), "mean over the orders"),
            share("anew", lambda some: float(_right_by_chance(some).mean()), "all, guessing anew"),
        ),
        notes=(),
    )
