"""Score replies: by the parser's rules, then by judges if the plan names judge models."""

import logging
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, replace

import msgspec

from vidence.ask.judging.panel import combine
from vidence.ask.judging.verdict_request import TemplateJudge
from vidence.ask.judging.verdicts import judge_error
from vidence.contracts import Ask, Flow, Judge, MadeT, Scorer, Together, together
from vidence.errors import RejectedRequestError, TransientModelError, UsageError
from vidence.records import (
    ANSWER_HIDDEN,
    NEEDS_JUDGE,
    Answered,
    Failed,
    Item,
    Outcome,
    Prompt,
    Reply,
    Sampling,
    Score,
    Unreadable,
    Verdict,
)
from vidence.text import without_thinking

MOST_READ_CHARACTERS = 200_000
"""Most characters of a reply, excluding reasoning; the slowest parser takes 1 to 2 s for that many."""
RECORDED = frozenset({"replay", "scripted"})
"""Providers that replay recorded replies."""
_log = logging.getLogger(__name__)


def score_reply(item: Item, result: Reply | Outcome, parser: Scorer) -> Score:
    """Score a reply or outcome by rules; a parser error fails only this item.

    If the answer is hidden, the reply is parsed but has no score.
    """
    try:
        return _read(item, result, parser)
    except UsageError as error:
        broken = Failed(stage="scoring", error=type(error.__cause__ or error).__name__, message=str(error))
        return Score(
            outcome=result if isinstance(result, Failed) else broken,
            value=None if item.is_hidden else 0.0,
            scorer=ANSWER_HIDDEN if item.is_hidden else parser.name,
            scorer_version=parser.version,
        )


def _read(item: Item, result: Reply | Outcome, parser: Scorer) -> Score:
    try:
        outcome = (_too_long(result) or parser.read(item, result)) if isinstance(result, Reply) else result
        if item.is_hidden:
            return Score(outcome=outcome, value=None, scorer=ANSWER_HIDDEN, scorer_version=1)
        return parser.mark(item, outcome)
    except Exception as error:
        _log.debug("the parser broke", exc_info=True)
        raise UsageError(
            f"the parser {parser.name!r} broke on item {item.item_id!r}: {type(error).__name__}: {error}"
        ) from error


def _too_long(reply: Reply) -> Unreadable | None:
    """Return an outcome if a reply is too long to parse."""
    if len(reply.text) <= MOST_READ_CHARACTERS:
        return None
    n = len(without_thinking(reply.text))
    if n <= MOST_READ_CHARACTERS:
        return None
    return Unreadable(reason=f"the reply has {n:,} characters; at most {MOST_READ_CHARACTERS:,} are read")


@dataclass(frozen=True, kw_only=True)
class JudgeModel:
    """A judge model: its name in the engine, its identity, and its sampling.

    `is_recorded` means that its replies were recorded earlier; see `ask.judging.verdicts.Form.read`.
    """

    name: str
    identity: str
    sampling: Sampling
    is_recorded: bool = False

    def signed(self, score: Score) -> Score:
        """Add the judge and its sampling to a score's verdicts."""
        verdicts = tuple(
            msgspec.structs.replace(v, judge_model=self.identity, temperature=self.sampling.temperature)
            for v in score.verdicts
        )
        return msgspec.structs.replace(score, verdicts=verdicts)


@dataclass(frozen=True, kw_only=True)
class JudgePool:
    """A judge and its models; with several models, `rule` decides (see `combine`)."""

    judge: Judge
    models: Sequence[JudgeModel]
    rule: str = "majority"

    def score(self, item: Item, reply: Reply, *, ruled: Score) -> Flow[Score]:
        """Return the score of a reply; `ruled` if the judge defers to the rules or gives no answer."""
        if isinstance(ruled.outcome, Failed) or item.is_hidden:
            return ruled
        scores = yield from together(
            [self._verdict(model, item, reply, ruled=ruled) for model in self.models]
        )
        score = scores[0] if len(scores) == 1 or scores[0] is ruled else combine(scores, rule=self.rule)
        if score.scorer == NEEDS_JUDGE and not isinstance(score.outcome, Answered):
            # No judge will ever be asked about a reply without words: it waits for none, and is wrong.
            score = msgspec.structs.replace(
                score, value=0.0, scorer=self.judge.name, scorer_version=self.judge.version
            )
        return score

    @property
    def facts(self) -> dict[str, object]:
        """Return facts about the judge for the run."""
        return {
            "judge_version": self.judge.version,
            "judge_prompts_digest": self.judge.prompts_digest,
            "judge_wording": self.judge.wording if isinstance(self.judge, TemplateJudge) else "own",
            "judge_identities": tuple(model.identity for model in self.models),
        }

    def has_judged(self, score: Score) -> bool:
        """Whether these models have judged, ties included, errors excluded."""
        return self.has_asked(score) and not score.has_judge_error

    def has_asked(self, score: Score) -> bool:
        """Whether these models were asked as this judge, with any outcome."""
        is_ours = score.scorer == self.judge.name and score.scorer_version == self.judge.version
        return is_ours and self._gave(score.verdicts)

    def has_asked_in_vain(self, score: Score) -> bool:
        """Whether these models gave no verdict, so that the earlier score stands."""
        return self._gave(score.unanswered)

    def _gave(self, verdicts: Sequence[Verdict]) -> bool:
        return [verdict.judge_model for verdict in verdicts] == [m.identity for m in self.models]

    def _verdict(self, model: JudgeModel, item: Item, reply: Reply, *, ruled: Score) -> Flow[Score]:
        judge = self.judge
        if isinstance(judge, TemplateJudge):
            judge = replace(judge, is_recorded=model.is_recorded)
        try:
            score = yield from _addressed(judge.judge(item, reply, ruled=ruled), model)
        except (TransientModelError, RejectedRequestError) as error:
            # Nothing is guessed, and `vidence replies judge` asks again.
            message = f"the judge {judge.name} got no reply: {error}"
            kind = type(error).__name__
            score = judge_error(message, scorer=judge.name, version=judge.version, error=kind)
        return score if score is ruled else model.signed(score)


def _addressed(flow: Flow[MadeT], model: JudgeModel) -> Flow[MadeT]:
    """Direct a flow's requests to this model, with its judging sampling as default."""
    with closing(flow):
        try:
            wanted = next(flow)
            while True:
                try:
                    replies = yield _to_model(wanted, model)
                except (TransientModelError, RejectedRequestError) as error:
                    wanted = flow.throw(error)
                else:
                    wanted = flow.send(replies)
        except StopIteration as stop:
            value: MadeT = stop.value
            return value


def _to_model(wanted: Sequence[Prompt | Ask] | Together, model: JudgeModel) -> Sequence[Ask] | Together:
    if isinstance(wanted, Together):
        return Together([_addressed(flow, model) for flow in wanted.flows])
    asks = [entry if isinstance(entry, Ask) else Ask(prompt=entry) for entry in wanted]
    return [replace(ask, model=model.name, sampling=ask.sampling or model.sampling) for ask in asks]
