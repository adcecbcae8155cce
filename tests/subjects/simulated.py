"""A question whose frames are nothing but their times, and flows driven by hand."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeAlias, TypeVar

import numpy as np

from vidence.contracts import Ask, Diagnostic, Examined, Flow, Together
from vidence.errors import RejectedRequestError
from vidence.records import (
    Answered,
    Aside,
    Estimate,
    Failed,
    ImagePart,
    Item,
    Outcome,
    Prompt,
    Reply,
    Score,
    TextPart,
    Unreadable,
)
from vidence.tables.table import Table

Answers: TypeAlias = Callable[[Ask], Reply]
MadeT = TypeVar("MadeT")


@dataclass
class Simulated:
    """A subject; `views` holds for each view the times of its frames, in the view's order."""

    item: Item
    views: Mapping[str, tuple[float, ...]]

    def n_frames(self, view: str) -> int:
        """How many frames the view has."""
        return len(self.views[view])

    def times_s(self, view: str) -> tuple[float, ...]:
        """The times of its frames, in seconds."""
        return self.views[view]

    def prompt(
        self,
        view: str,
        positions: Sequence[int] | None = None,
        *,
        order: tuple[int, ...] = (),
        more: str | Aside = "",
    ) -> Prompt:
        """The question, its frames as images whose digest is their time, and what is said behind them."""
        times = self.views[view]
        wanted = range(len(times)) if positions is None else positions
        images = [
            ImagePart(digest=repr(times[at]), width_px=1, height_px=1, frames=(i,))
            for i, at in enumerate(wanted)
        ]
        item = self.item.with_order(order)
        aside = more if isinstance(more, Aside) else Aside(name=more)
        said = [f"words: {aside.name}", *(f"{name}: {value}" for name, value in aside.said.items())]
        behind = tuple(TextPart(text=one) for one in said) if aside.name else ()
        first = () if aside.is_alone else (TextPart(text=aside.said.get("question", item.question)),)
        return Prompt(parts=(*first, *images, *behind), choices=() if aside.is_alone else item.choices)

    def mark(self, reply: Reply, *, order: tuple[int, ...] = ()) -> Flow[Score]:
        """The mark of the letter that a reply is; see the class for the other words."""
        yield from ()
        word = reply.text
        if word == "rejected":
            raise RejectedRequestError("the judge's model says no")
        outcome: Outcome = Answered(answer=word)
        value: float | None = float(word == self.item.with_order(order).answer)
        if word == "?":
            outcome, value = Unreadable(reason="no letter"), 0.0
        if word == "judge":
            value = None
        if word == "broken":
            outcome = Failed(stage="scoring", error="JudgeError", message="no verdict")
            value = 0.0
        return Score(outcome=outcome, value=value, scorer="simulated", scorer_version=1)


def times_shown(ask: Ask) -> tuple[float, ...]:
    """The times of the frames in a prompt, as they are shown."""
    return tuple(float(part.digest) for part in ask.prompt.parts if isinstance(part, ImagePart))


@dataclass
class Driven(Generic[MadeT]):
    """What a flow made, and what it asked, round by round."""

    made: MadeT
    rounds: list[list[Ask]] = field(default_factory=list)

    @property
    def asks(self) -> list[Ask]:
        """All that it asked, in order."""
        return [ask for one in self.rounds for ask in one]


def drive(flow: Flow[MadeT], answers: Answers) -> Driven[MadeT]:
    """Run a flow to its end as the engine does; what is rejected in a round comes out after the round."""
    rounds: list[list[Ask]] = []
    try:
        wanted = next(flow)
        while True:
            replies, errors = _round(wanted, answers, rounds)
            wanted = flow.throw(errors[0]) if errors else flow.send(replies)
    except StopIteration as stop:
        return Driven(stop.value, rounds)


def _round(
    wanted: Sequence[Prompt | Ask] | Together, answers: Answers, rounds: list[list[Ask]]
) -> tuple[list[Reply], list[RejectedRequestError]]:
    """The replies to what is wanted at once, and what was rejected; `rounds` gets what was asked."""
    replies: list[Reply] = []
    errors: list[RejectedRequestError] = []
    if isinstance(wanted, Together):
        for one in wanted.flows:
            try:
                rounds += drive(one, answers).rounds
            except RejectedRequestError as error:
                errors.append(error)
        return replies, errors
    asks = [one if isinstance(one, Ask) else Ask(prompt=one) for one in wanted]
    rounds.append(asks)
    for ask in asks:
        try:
            replies.append(answers(ask))
        except RejectedRequestError as error:
            errors.append(error)
    return replies, errors


def examined(diagnostic: Diagnostic, item: Item, answers: Answers) -> Examined:
    """What a diagnostic finds of a question with two frames."""
    subject = Simulated(item, {"plan": (0.0, 1.0)})
    return Examined(item=item, finding=drive(diagnostic.examine(subject), answers).made)


def told(diagnostic: Diagnostic, found: Sequence[Examined]) -> dict[str, Table]:
    """The tables of a diagnostic by their names."""
    made = diagnostic.summarise(found, rng=np.random.default_rng(0), level=0.95)
    return {one.name: one for one in made if isinstance(one, Table)}


def value(table: Table, row: str, column: str) -> float:
    """The number in a cell, also where it has an interval."""
    found = table.value(row, column)
    return found.value if isinstance(found, Estimate) else found  # type: ignore[return-value]
