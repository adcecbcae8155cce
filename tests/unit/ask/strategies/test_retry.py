"""Asking once, and asking again with other frames while nothing can be read."""

import msgspec
import pytest

from subjects.simulated import drive
from vidence import catalog
from vidence.ask.strategies.once import PLAN, Once, answered_with, ask, ask_candidates
from vidence.ask.strategies.retry import Retry, Settings, create
from vidence.contracts import View
from vidence.errors import UsageError
from vidence.records import Answered, Prompt, Reply, TextPart, Unreadable


class Question:
    """A question of which these views could be shown; a reply of one letter can be read."""

    def __init__(self, *shown: str) -> None:
        self.shown = shown

    def prompt(self, view: str) -> Prompt:
        return Prompt(parts=(TextPart(text=view),))

    def read(self, reply: Reply) -> Answered | Unreadable:
        return Answered(answer=reply.text) if len(reply.text) == 1 else Unreadable(reason="no letter")


def put(flow, *replies):
    """The answer of a flow, and the views that were asked with, in order."""
    asked, left = [], iter(replies)
    try:
        prompts = next(flow)
        while True:
            asked += [prompt.text for prompt in prompts]
            prompts = flow.send([Reply(text=next(left)) for _ in prompts])
    except StopIteration as stop:
        return stop.value, asked


def test_once_asks_once_whatever_is_said_with_any_view():
    answer, asked = put(Once().answer(Question(PLAN)), "?")
    assert (answer.reply.text, answer.view, asked) == ("?", PLAN, [PLAN])
    answer, asked = put(ask(Question("", "x"), "x"), "B")
    assert (answer.reply.text, answer.view, answer.prompt.text, asked) == ("B", "x", "x", ["x"])


@pytest.mark.parametrize(
    ("replies", "n_asked", "said"),
    [(["B"], 1, "B"), (["??", "C"], 2, "C"), (["??", "!!", "D"], 3, "D"), (["??", "!!", "--"], 3, "--")],
)
def test_retry_ends_with_the_first_reply_that_can_be_read_or_the_last(replies, n_asked, said):
    shown = (PLAN, "retry 1", "retry 2")
    answer, asked = put(create(Settings(tries=2)).answer(Question(*shown)), *replies)
    assert (asked, answer.reply.text, answer.view) == (list(shown[:n_asked]), said, shown[n_asked - 1])


def test_each_retry_has_a_view_of_its_own():
    view = View(selector="uniform", n_frames=8)
    assert Once().views(view) == {PLAN: view}
    views = Retry(Settings(tries=2)).views(view)
    assert list(views) == [PLAN, "retry 1", "retry 2"]
    assert [one.retry for one in views.values()] == [view.retry, 1, 2]
    assert msgspec.structs.replace(views["retry 2"], retry=view.retry) == view
    with pytest.raises(UsageError, match="tries"):
        catalog.create("strategy", "retry?tries=0")


def test_candidates_are_asked_together_by_their_samples():
    found = drive(ask_candidates(Question().prompt("?"), 3), lambda ask: Reply(text=str(ask.sample)))
    assert [[ask.sample for ask in asks] for asks in found.rounds] == [[0, 1, 2]]
    assert [reply.text for reply in found.made] == ["0", "1", "2"]


def test_a_single_candidate_leaves_no_steps():
    replies = [Reply(text="a"), Reply(text="b")]
    assert answered_with(Question().prompt("?"), replies[:1], 0, view="").steps == ()
    both = answered_with(Question().prompt("?"), replies, 1, view="")
    assert (both.reply.text, len(both.steps)) == ("b", 2)
