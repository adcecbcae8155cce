"""What every strategy in the catalog must do."""

from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace

import msgspec
import pytest

from vidence import catalog
from vidence.ask.prompting.compose import Prompter
from vidence.ask.prompting.templates import Templates
from vidence.contracts import Answer, Ask, Strategy, View
from vidence.engine.session import ShownSubject
from vidence.engine.views import ViewContent
from vidence.errors import RejectedRequestError
from vidence.records import Answered, Evidence, Item, Prompt, Reply, Selection, TextPart, Unreadable

NAMES = catalog.names("strategy")
FUNCTIONS = Path(__file__).parents[1] / "subjects" / "functions.py"
ARGUMENTS = {"python": f"python:{FUNCTIONS}:twice", "hints": "hints:0"}
SENTINELS = ("zrationale", "zevidence", "zhint", "zknowledge", "zanswer")
"""Words of what is annotated, which no prompt may hold."""
PLAN = View(selector="midpoints", n_frames=4, size="short:100")


NO_FRAMES = ViewContent(
    selection=Selection(selector="none", version=1, frames=(), n_candidates=0), frames=(), duration_s=0.0
)
PREPARED = SimpleNamespace(
    prompter=Prompter(Templates.load("plain"), style="cot", layout="images", frame_times=False),
    parser_for=lambda item: catalog.create("parser", "robust" if item.choices else "needs-judge"),
)


@dataclass
class Asked:
    """A question about whose views nothing is known but their names."""

    shown: tuple[str, ...]
    item: Item = field(
        default_factory=lambda: Item(
            item_id="q",
            question="?",
            choices=("x", "y"),
            answer="A",
            rationale=SENTINELS[0],
            evidence=(Evidence(start_s=1, end_s=2, note=SENTINELS[1]),),
            hints=(SENTINELS[2],),
            knowledge=(SENTINELS[3],),
        )
    )
    prompts: list[str] = field(default_factory=list)

    def n_frames(self, view):
        return 4

    def times_s(self, view):
        return (0.0, 1.0, 2.0, 3.0)

    def prompt(self, view, positions=None, *, order=(), more=""):
        assert view in self.shown
        self.prompts.append(view)
        return Prompt(parts=(TextPart(text=f"{view}{positions}{order}{more}"),), choices=("x", "y"))

    def read(self, reply):
        return Answered(answer=reply.text) if reply.text in ("A", "B") else Unreadable(reason="no letter")

    def mark(self, reply, *, order=()):
        raise AssertionError("a strategy does not see whether a reply is right")


def make(name: str) -> Strategy:
    return catalog.create("strategy", ARGUMENTS.get(name, name))


def answered(name: str, say, *, hidden: int = 0, item: Item | None = None) -> tuple[Answer, Asked, list[Ask]]:
    """What a strategy comes to when replies are `say(n)`, n counting what was asked before."""
    strategy = make(name)
    views = tuple(strategy.views(PLAN))
    shown = views[: len(views) - hidden]
    question = Asked(shown) if item is None else Asked(shown, item=item)
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
def test_it_has_a_version_a_summary_and_the_view_of_the_plan(name: str) -> None:
    assert make(name).version >= 1
    assert catalog.summary("strategy", name)
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
    assert len({(ask.prompt.text, ask.model, ask.sample) for ask in asked}) == len(asked)
    answer, question, _ = answered(name, lambda n: "I cannot tell", hidden=len(make(name).views(PLAN)) - 1)
    assert set(question.prompts) == {answer.view}
    flow = make(name).answer(Asked(tuple(make(name).views(PLAN))))
    next(flow)
    with pytest.raises(RejectedRequestError):
        flow.throw(RejectedRequestError("no"))


@pytest.mark.parametrize("name", NAMES)
def test_nothing_that_is_annotated_is_said_to_a_model(name: str) -> None:
    """Also of an open question, whose answer is words."""
    strategy = make(name)
    choice = Asked(("",)).item
    text = msgspec.structs.replace(choice, choices=(), answer=SENTINELS[4], answer_kind="text")
    for item in (choice, text):
        shown = ShownSubject(
            item=item, prepared=PREPARED, views=dict.fromkeys(strategy.views(PLAN), NO_FRAMES)
        )
        flow, said = strategy.answer(shown), []
        with suppress(StopIteration):
            wanted = next(flow)
            while True:
                asks = [one if isinstance(one, Ask) else Ask(prompt=one) for one in wanted]
                said += [f"{ask.prompt.system}\n{ask.prompt.text}{ask.prompt.reply_schema}" for ask in asks]
                wanted = flow.send(
                    [Reply(text=f"because\nAnswer: {'AB'[i % 2]}") for i, _ in enumerate(asks)]
                )
        assert said
        assert not [word for word in SENTINELS for prompt in said if word in prompt]


@pytest.mark.parametrize("name", NAMES)
def test_the_right_answer_moves_nothing_that_is_asked_or_picked(name: str) -> None:
    """The same replies to the same question with another letter as its answer lead to the same."""
    found = []
    for letter in "AB":
        item = msgspec.structs.replace(Asked(("",)).item, answer=letter)
        found.append(answered(name, lambda n: "AB"[n % 2], item=item))
    (first, _, asked), (second, _, others) = found
    assert (first, asked) == (second, others)
