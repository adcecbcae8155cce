"""What every strategy in the catalog must do."""

from dataclasses import dataclass, field
from pathlib import Path

import pytest

from vidence import catalog
from vidence.contracts import Answer, Ask, Strategy, View
from vidence.errors import RejectedRequestError
from vidence.records import Answered, Item, Prompt, Reply, TextPart, Unreadable

NAMES = catalog.names("strategy")
FUNCTIONS = Path(__file__).parents[1] / "subjects" / "functions.py"
ARGUMENTS = {"python": f"python:{FUNCTIONS}:twice", "hints": "hints:0"}
PLAN = View(selector="midpoints", n_frames=4, size="short:100")


@dataclass
class Asked:
    """A question about whose views nothing is known but their names."""

    shown: tuple[str, ...]
    item: Item = field(
        default_factory=lambda: Item(item_id="q", question="?", choices=("x", "y"), answer="A")
    )
    prompts: list[str] = field(default_factory=list)

    def n_frames(self, view):
        return 4

    def times_s(self, view):
        return (0.0, 1.0, 2.0, 3.0)

    def prompt(self, view, positions=None, *, order=(), more="", instead=None):
        assert view in self.shown
        self.prompts.append(view)
        return Prompt(parts=(TextPart(text=f"{view}{positions}{order}{more}"),), choices=("x", "y"))

    def read(self, reply):
        return Answered(answer=reply.text) if reply.text in ("A", "B") else Unreadable(reason="no letter")

    def mark(self, reply, *, order=()):
        raise AssertionError("a strategy does not see whether a reply is right")


def make(name: str) -> Strategy:
    strategy: Strategy = catalog.create("strategy", ARGUMENTS.get(name, name))
    return strategy


def answered(name: str, say, *, hidden: int = 0) -> tuple[Answer, Asked, list[Ask]]:
    """What a strategy comes to when replies are `say(n)`, n counting what was asked before."""
    strategy = make(name)
    views = tuple(strategy.views(PLAN))
    question = Asked(views[: len(views) - hidden])
    asked: list[Ask] = []
    flow = strategy.answer(question)
    wanted = next(flow)
    try:
        while len(asked) < 100:
            asks = [one if isinstance(one, Ask) else Ask(prompt=one) for one in wanted]
            asked += asks
            first = len(asked) - len(asks)
            wanted = flow.send([Reply(text=say(first + i)) for i in range(len(asks))])
    except StopIteration as stop:
        return stop.value, question, asked
    raise AssertionError(f"{name} goes on asking")


@pytest.mark.parametrize("name", NAMES)
def test_it_has_a_version_and_a_summary(name: str) -> None:
    assert make(name).version >= 1
    assert catalog.summary("strategy", name)


@pytest.mark.parametrize("name", NAMES)
def test_its_first_view_is_that_of_the_plan(name: str) -> None:
    views = make(name).views(PLAN)
    assert next(iter(views.values())) == PLAN


@pytest.mark.parametrize("name", NAMES)
def test_the_answer_is_a_reply_that_was_given_to_its_prompt(name: str) -> None:
    answer, question, asked = answered(name, lambda n: "B" if n else "A")
    assert answer.view in question.shown
    assert answer.prompt in [ask.prompt for ask in asked]
    assert answer.reply.text in ("A", "B")


@pytest.mark.parametrize("name", NAMES)
def test_it_ends_where_nothing_can_be_read_and_asks_nothing_twice(name: str) -> None:
    answer, _, asked = answered(name, lambda n: "I cannot tell")
    assert answer.reply.text == "I cannot tell"
    assert len({(ask.prompt, ask.model, ask.sample) for ask in asked}) == len(asked)


@pytest.mark.parametrize("name", NAMES)
def test_views_that_cannot_be_shown_are_not_asked_for(name: str) -> None:
    answer, question, _ = answered(name, lambda n: "I cannot tell", hidden=len(make(name).views(PLAN)) - 1)
    assert set(question.prompts) == {answer.view}


@pytest.mark.parametrize("name", NAMES)
def test_a_model_that_does_not_answer_fails_the_question(name: str) -> None:
    flow = make(name).answer(Asked(tuple(make(name).views(PLAN))))
    next(flow)
    with pytest.raises(RejectedRequestError):
        flow.throw(RejectedRequestError("no"))


def test_retry_ends_with_the_first_reply_that_can_be_read() -> None:
    answer, question, _ = answered("retry", lambda n: "A" if n == 2 else "?")
    assert question.prompts == ["", "retry 1", "retry 2"]
    assert (answer.view, answer.reply.text) == ("retry 2", "A")
