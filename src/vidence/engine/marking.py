"""What a reply is worth: by the parser's rules, then by judges where the plan names their models."""

import logging
from contextlib import closing
from dataclasses import dataclass, replace

import anyio
import msgspec

from vidence.ask.judging.panel import combine
from vidence.contracts import Ask, Flow, Judge, Request, Scorer
from vidence.engine.drive import Asker, drive, first_error
from vidence.errors import RejectedRequestError, TransientModelError, UsageError
from vidence.records import Failed, Item, Prompt, Reply, Sampling, Score, Verdict

_log = logging.getLogger(__name__)


def question(item: Item, prompt: Prompt, *, parser: Scorer) -> Flow[tuple[Reply, Score]]:
    """The simplest flow: ask once, read, mark."""
    (reply,) = yield (prompt,)
    return reply, marked(item, reply, parser)


def marked(item: Item, said: Reply | Failed, parser: Scorer) -> Score:
    """What a reply (or its absence) is worth; a parser that breaks loses neither the reply nor the run."""
    try:
        return _read(item, said, parser)
    except UsageError as error:
        broken = Failed(stage="scoring", error=type(error.__cause__ or error).__name__, message=str(error))
        return Score(
            outcome=said if isinstance(said, Failed) else broken,
            value=0.0,
            scorer=parser.name,
            scorer_version=parser.version,
        )


def _read(item: Item, said: Reply | Failed, parser: Scorer) -> Score:
    try:
        return parser.mark(item, said if isinstance(said, Failed) else parser.read(item, said))
    except Exception as error:
        _log.debug("the parser broke", exc_info=True)
        raise UsageError(
            f"the parser {parser.name!r} broke on item {item.item_id!r}: {type(error).__name__}: {error}"
        ) from error


def has_judge_error(score: Score) -> bool:
    """Whether judges were asked and no verdict came of it."""
    return bool(score.verdicts) and isinstance(score.outcome, Failed)


@dataclass(frozen=True, kw_only=True)
class Seat:
    """One judge model at work: its identity, how it is asked, how its verdicts are drawn."""

    identity: str
    asker: Asker
    sampling: Sampling

    def signed(self, score: Score) -> Score:
        """A score whose verdicts say who gave them, and how they were drawn."""
        verdicts = tuple(
            msgspec.structs.replace(v, judge_model=self.identity, temperature=self.sampling.temperature)
            for v in score.verdicts
        )
        return msgspec.structs.replace(score, verdicts=verdicts)


@dataclass(frozen=True, kw_only=True)
class Panel:
    """A judge and the models that speak for it; with several of them the majority decides."""

    judge: Judge
    seats: tuple[Seat, ...]

    async def mark(self, item: Item, reply: Reply, *, ruled: Score) -> Score:
        """The score of a reply; `ruled` where the judge leaves it at what the rules say."""
        if isinstance(ruled.outcome, Failed):
            return ruled
        scores: dict[int, Score] = {}

        async def one(position: int) -> None:
            scores[position] = await self._verdict(self.seats[position], item, reply, ruled=ruled)

        with first_error():
            async with anyio.create_task_group() as group:
                for position in range(len(self.seats)):
                    group.start_soon(one, position)
        found = [scores[i] for i in range(len(self.seats))]
        return found[0] if len(found) == 1 or found[0] is ruled else combine(found)

    async def _verdict(self, seat: Seat, item: Item, reply: Reply, *, ruled: Score) -> Score:
        async def ask(wanted: Ask) -> Reply:
            request = Request(
                item_id=item.item_id, prompt=wanted.prompt, sampling=wanted.sampling or seat.sampling
            )
            return (await seat.asker.ask(request)).reply

        try:
            score = await drive(self.judge.judge(item, reply, ruled=ruled), ask)
        except (TransientModelError, RejectedRequestError) as error:
            score = self.silent(error)
        return score if score is ruled else seat.signed(score)

    def silent(self, error: TransientModelError | RejectedRequestError) -> Score:
        """The judge model gave no reply: nothing is guessed, and `vidence resume` asks again."""
        message = f"the judge {self.judge.name} got no reply: {error}"
        return Score(
            outcome=Failed(stage="scoring", error=type(error).__name__, message=message),
            value=0.0,
            scorer=self.judge.name,
            scorer_version=self.judge.version,
            verdicts=(Verdict(judge_model="", value=None, error=message),),
        )


def judge_name(position: int) -> str:
    """The name under which a flow asks a member of the panel, from 0."""
    return f"judge {position}"


def judged(panel: Panel, item: Item, reply: Reply, *, ruled: Score) -> Flow[Score]:
    """Like `Panel.mark`, for a flow that goes on with the score: one member is asked after the other."""
    if isinstance(ruled.outcome, Failed):
        return ruled
    scores: list[Score] = []
    for position, seat in enumerate(panel.seats):
        score = yield from _one_verdict(panel, item, reply, position=position, ruled=ruled)
        if score is ruled:
            return ruled
        scores.append(seat.signed(score))
    return scores[0] if len(scores) == 1 else combine(scores)


def _one_verdict(panel: Panel, item: Item, reply: Reply, *, position: int, ruled: Score) -> Flow[Score]:
    """The judge's flow, with its asks addressed to one member of the panel."""
    flow = panel.judge.judge(item, reply, ruled=ruled)
    sampling = panel.seats[position].sampling
    with closing(flow):
        try:
            wanted = next(flow)
            while True:
                asks = [one if isinstance(one, Ask) else Ask(prompt=one) for one in wanted]
                try:
                    replies = yield [
                        replace(ask, model=judge_name(position), sampling=ask.sampling or sampling)
                        for ask in asks
                    ]
                except (TransientModelError, RejectedRequestError) as error:
                    return panel.silent(error)
                wanted = flow.send(replies)
        except StopIteration as stop:
            score: Score = stop.value
            return score
