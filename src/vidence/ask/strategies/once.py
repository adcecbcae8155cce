"""Ask once; the reply is the answer. Several replies to one prompt are told apart by their sample.

The first of several is the one of a run that asks once.
"""

from collections.abc import Mapping, Sequence

from vidence.contracts import Answer, Ask, Flow, Question, Strategy, View
from vidence.records import Prompt, Reply, Step

PLAN = ""  # the plan's own view

MOST = 64
"""So many candidates there can be at most."""
CANDIDATE = "candidate"


def create() -> Strategy:
    """The strategy of a plan that names none."""
    return Once()


class OfPlan:
    """What most strategies show and ask: the plan's frames, and no model but the plan's."""

    def views(self, view: View) -> Mapping[str, View]:
        """The plan's frames."""
        return {PLAN: view}

    def models(self) -> Mapping[str, str]:
        """No model but the plan's."""
        return {}


class Once(OfPlan):
    """One prompt, one reply."""

    version = 1

    def answer(self, question: Question) -> Flow[Answer]:
        """Ask."""
        return (yield from ask(question, PLAN))


def ask(question: Question, view: str) -> Flow[Answer]:
    """Ask once with all frames of a view."""
    prompt = question.prompt(view)
    (reply,) = yield (prompt,)
    return Answer(prompt=prompt, reply=reply, view=view)


def ask_candidates(prompt: Prompt, n: int) -> Flow[tuple[Reply, ...]]:
    """So many replies to a prompt, asked together.

    Candidate c is sample c: of a run with ``--repeats`` it is remembered from repeat c, so that a run with
    more or fewer candidates, or with another judge of them, gets the same ones.
    """
    replies = yield [Ask(prompt=prompt, sample=sample) for sample in range(n)]
    return tuple(replies)


def answered_with(
    prompt: Prompt, replies: Sequence[Reply], picked: int, *, view: str, more: Sequence[Step] = ()
) -> Answer:
    """The answer that one of the candidates is; a single one is that of a run that asks once.

    `more` are the steps behind the candidates.
    """
    steps = (*(Step(role=CANDIDATE, reply=reply, sample=i) for i, reply in enumerate(replies)), *more)
    return Answer(prompt=prompt, reply=replies[picked], view=view, steps=steps if len(steps) > 1 else ())
