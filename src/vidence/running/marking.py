"""What a reply is worth: by the reader's rules, then by judges where the plan names their models."""

import logging
from dataclasses import dataclass

import anyio
import msgspec

from vidence.contracts import Ask, Flow, Judge, Request, Scorer
from vidence.errors import RejectedRequestError, TransientModelError, UsageError
from vidence.judging._panel import combine
from vidence.records import Failed, Item, Prompt, Reply, Sampling, Score, Verdict
from vidence.running.drive import Asker, drive, first_error

_log = logging.getLogger(__name__)


def question(item: Item, prompt: Prompt, *, reader: Scorer) -> Flow[tuple[Reply, Score]]:
    """The simplest flow: ask once, read, mark."""
    (reply,) = yield (prompt,)
    return reply, marked(item, reply, reader)


def marked(item: Item, said: Reply | Failed, reader: Scorer) -> Score:
    """What a reply (or its absence) is worth; a reader that breaks loses neither the reply nor the run."""
    try:
        return _read(item, said, reader)
    except UsageError as error:
        broken = Failed(stage="scoring", error=type(error.__cause__ or error).__name__, message=str(error))
        return Score(
            outcome=said if isinstance(said, Failed) else broken,
            value=0.0,
            scorer=reader.name,
            scorer_version=reader.version,
        )


def _read(item: Item, said: Reply | Failed, reader: Scorer) -> Score:
    try:
        return reader.mark(item, said if isinstance(said, Failed) else reader.read(item, said))
    except Exception as error:
        _log.debug("the reader broke", exc_info=True)
        raise UsageError(
            f"the reader {reader.name!r} broke on item {item.item_id!r}: {type(error).__name__}: {error}"
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
            request = Request(item_id=item.item_id, prompt=wanted.prompt, sampling=seat.sampling)
            return (await seat.asker.ask(request)).reply

        try:
            score = await drive(self.judge.judge(item, reply, ruled=ruled), ask)
        except (TransientModelError, RejectedRequestError) as error:
            score = self._silent(error)
        if score is ruled:
            return ruled
        signed = tuple(
            msgspec.structs.replace(v, judge_model=seat.identity, temperature=seat.sampling.temperature)
            for v in score.verdicts
        )
        return msgspec.structs.replace(score, verdicts=signed)

    def _silent(self, error: TransientModelError | RejectedRequestError) -> Score:
        """The judge model gave no reply: nothing is guessed, and `vidence resume` asks again."""
        message = f"the judge {self.judge.name} got no reply: {error}"
        return Score(
            outcome=Failed(stage="scoring", error=type(error).__name__, message=message),
            value=0.0,
            scorer=self.judge.name,
            scorer_version=self.judge.version,
            verdicts=(Verdict(judge_model="", value=None, error=message),),
        )
