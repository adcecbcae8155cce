"""Candidates are told apart by their sample, and share the memory of a run with repeats."""

from subjects.simulated import drive
from vidence.ask.strategies.once import answered_with, ask_candidates
from vidence.records import Prompt, Reply, TextPart

PROMPT = Prompt(parts=(TextPart(text="?"),))


def test_candidates_are_asked_together_by_their_samples():
    found = drive(ask_candidates(PROMPT, 3), lambda ask: Reply(text=str(ask.sample)))
    assert [[ask.sample for ask in asks] for asks in found.rounds] == [[0, 1, 2]]
    assert [reply.text for reply in found.made] == ["0", "1", "2"]


def test_a_single_candidate_leaves_no_steps():
    replies = [Reply(text="a"), Reply(text="b")]
    assert answered_with(PROMPT, replies[:1], 0, view="").steps == ()
    both = answered_with(PROMPT, replies, 1, view="")
    assert (both.reply.text, len(both.steps)) == ("b", 2)
