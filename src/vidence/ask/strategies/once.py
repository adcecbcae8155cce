"""Ask once; the reply is the answer. Several replies to one prompt are distinguished by sample number.

The first is that of a run that asks once.
"""

from collections.abc import Mapping, Sequence

from vidence.contracts import Answer, Ask, Flow, Question, Strategy, View
from vidence.records import Prompt, Reply, Step

PLAN = ""  # the plan's own view

MOST = 64
"""Most candidates."""
CANDIDATE = "candidate"


def create() -> Strategy:
    """Create the default strategy."""
    return Once()


class OfPlan:
    """Defaults of most strategies: the plan's frames, and no model other than the plan's."""

    def views(self, view: View) -> Mapping[str, View]:
        """Return the plan's frames."""
        return {PLAN: view}

    def models(self) -> Mapping[str, str]:
        """Return no further models."""
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
    """Request this many replies to a prompt concurrently.

    Candidate c is sample c: of a run with ``--repeats`` it is remembered from repeat c, so that a run with
    more or fewer candidates, or with another judge of them, gets the same ones.
    """
    replies = yield [Ask(prompt=prompt, sample=sample) for sample in range(n)]
    return tuple(replies)


def answered_with(
    prompt: Prompt, replies: Sequence[Reply], picked: int, *, view: str, more: Sequence[Step] = ()
) -> Answer:
    """Return the chosen candidate as the answer; a single one equals that of a run that asks once.

    `more` are the steps behind the candidates.
    """
    steps = (*(Step(role=CANDIDATE, reply=reply, sample=i) for i, reply in enumerate(replies)), *more)
    return Answer(prompt=prompt, reply=replies[picked], view=view, steps=steps if len(steps) > 1 else ())
