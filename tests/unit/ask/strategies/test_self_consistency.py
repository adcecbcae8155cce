"""Voting among several replies."""

import pytest

from vidence.ask.strategies.self_consistency import SelfConsistency, Settings, answer_groups, most_given
from vidence.records import Answered, Item, Prompt, Refused, Reply, TextPart, Unreadable


class Question:
    """A question whose replies of one letter, or of words, can be read."""

    shown = ("",)

    def __init__(self, *, is_text: bool = False) -> None:
        kind = {"choices": (), "answer_kind": "text"} if is_text else {"choices": ("x", "y", "z")}
        self.item = Item(item_id="q", question="?", answer="A", **kind)

    def prompt(self, view):
        return Prompt(parts=(TextPart(text="?"),))

    def read(self, reply):
        return Unreadable(reason="no") if reply.text == "?" else Answered(answer=reply.text)


def voted(replies, *, is_text=False):
    flow = SelfConsistency(Settings(n=len(replies))).answer(Question(is_text=is_text))
    asks = next(flow)
    assert [ask.sample for ask in asks] == list(range(len(replies)))
    with pytest.raises(StopIteration) as ended:
        flow.send([Reply(text=text) for text in replies])
    return ended.value.value


@pytest.mark.parametrize(
    ("replies", "said"),
    [
        ("ABB", "B"),
        ("BAAB", "B"),  # a tie goes to the answer that was given first
        ("A?B?B", "B"),
        ("????A", "A"),
        ("???", "?"),
        ("CAB", "C"),
    ],
)
def test_the_answer_of_most_replies_counts(replies, said):
    answer = voted(replies)
    assert answer.reply.text == said
    assert [step.sample for step in answer.steps] == list(range(len(replies)))
    assert {step.role for step in answer.steps} == {"candidate"}


def test_the_reply_is_the_first_one_with_that_answer():
    replies = ["two", "3 m", "3 metres", "three metres"]
    assert voted(replies, is_text=True).reply.text == "3 m"
    assert voted("A").steps == ()
    assert most_given([Unreadable(reason="no"), Refused(reason="no")], is_text=False) == 0


def test_answers_in_words_are_grouped_by_the_rules_of_open_answers():
    says = [Answered(answer=text) for text in ("3 m", "two", "3 metres")]
    assert answer_groups(says, is_text=True) == (0, 1, 0)
    assert answer_groups(says, is_text=False) == (0, 1, 2)
    assert answer_groups([Unreadable(reason="no"), says[0]], is_text=True) == (None, 1)
