"""Several replies to one prompt, told apart by their sample; the first is the one of a run that asks once."""

from collections.abc import Sequence

from vidence.contracts import Answer, Ask, Flow
from vidence.records import Prompt, Reply, Step

MOST = 64
"""So many candidates there can be at most."""
CANDIDATE = "candidate"


def ask_candidates(prompt: Prompt, n: int) -> Flow[tuple[Reply, ...]]:
    """So many replies to a prompt, asked together.

    Candidate c is sample c: of a run with ``--repeats`` it is remembered from repeat c, and whoever wants
    more or fewer candidates, or has them weighed by somebody else, gets the same ones.
    """
    replies = yield [Ask(prompt=prompt, sample=sample) for sample in range(n)]
    return tuple(replies)


def candidate_steps(replies: Sequence[Reply]) -> tuple[Step, ...]:
    """The candidates as steps on the way to an answer."""
    return tuple(Step(role=CANDIDATE, reply=reply, sample=i) for i, reply in enumerate(replies))


def answered_with(
    prompt: Prompt, replies: Sequence[Reply], picked: int, *, view: str, more: Sequence[Step] = ()
) -> Answer:
    """The answer that one of the candidates is; a single one is that of a run that asks once.

    `more` are the steps behind the candidates.
    """
    steps = (*candidate_steps(replies), *more)
    return Answer(prompt=prompt, reply=replies[picked], view=view, steps=steps if len(steps) > 1 else ())
