"""Drive the flow of a judge with replies from a function."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from typing import TypeAlias

import msgspec
import pytest

from vidence import catalog
from vidence.contracts import Judge
from vidence.records import Answered, Item, Outcome, Prompt, Reply, Score, Unreadable

OPEN = Item(
    item_id="q1",
    question="What does the cook carry?",
    answer="a pan",
    answer_kind="text",
    rationale="The lid is lifted from it at the end.",
)
CHOICE = Item(item_id="q2", question="Which animal enters?", choices=("cat", "dog"), answer="B")
# A caption with the question that it is judged by, and a scene with its scoring points.
CAPTION = msgspec.structs.replace(
    OPEN, question="Write a caption.", answer="B. dog", rationale="Which animal enters?\nA. cat\nB. dog"
)
SCENE = msgspec.structs.replace(OPEN, steps=("A pan is carried.", "It has no lid."))
Says: TypeAlias = Callable[[Prompt], str | Reply]


@dataclass(frozen=True)
class Judged:
    """What a flow made, and the prompts that it put."""

    score: Score
    prompts: list[Prompt] = field(default_factory=list)


def ruled(item: Item, reply: Reply) -> Score:
    """What the rules say of a reply in these tests: an open answer waits, a choice is not read."""
    outcome: Outcome = Unreadable(reason="no letter")
    if item.answer_kind == "text":
        outcome = Answered(answer=reply.text) if reply.text.strip() else Unreadable(reason="empty")
    value = None if isinstance(outcome, Answered) else 0.0
    return Score(outcome=outcome, value=value, scorer="rules", scorer_version=1)


def put(judge: Judge, item: Item, reply: str | Reply, says: Says, *, rules: Score | None = None) -> Judged:
    """Run a flow to its end."""
    reply = Reply(text=reply) if isinstance(reply, str) else reply
    flow = judge.judge(item, reply, ruled=rules or ruled(item, reply))
    prompts: list[Prompt] = []
    try:
        wanted = next(flow)
        while True:
            prompts += wanted
            said = [says(prompt) for prompt in wanted]
            wanted = flow.send([Reply(text=one) if isinstance(one, str) else one for one in said])
    except StopIteration as stop:
        return Judged(stop.value, prompts)


@dataclass(frozen=True)
class Bench:
    """What these tests share, as one fixture: tests cannot import from each other."""

    open: Item
    choice: Item
    caption: Item = CAPTION
    scene: Item = SCENE

    put = staticmethod(put)
    ruled = staticmethod(ruled)

    @staticmethod
    @cache
    def judge(name: str) -> Judge:
        """A judge of the catalog with its own prompts."""
        return catalog.create("judge", name)


@pytest.fixture(scope="session")
def bench() -> Bench:
    """The items and the driver."""
    return Bench(OPEN, CHOICE)
