"""Test drafts with models that see no video or one frame, and decide by their answers."""

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Final, Literal, TypeAlias

import msgspec

from vidence.ask.judging.equal import says_the_same
from vidence.ask.prompting.templates import Templates
from vidence.catalog import create
from vidence.contracts import Flow, Scorer
from vidence.engine.jobs import Jobs
from vidence.engine.scoring import JudgePool, score_reply
from vidence.explain.diagnostics.blind_panel import FORCED, orders
from vidence.explain.diagnostics.conditions import Condition as Sitting
from vidence.explain.diagnostics.conditions import ReplyScore as Mark
from vidence.explain.diagnostics.conditions import ask_together as sit
from vidence.make.gates.rules import NeedsAllRules, OneFrameRules, TextOnlyRules
from vidence.make.pipeline.material import Crop, Draft
from vidence.make.pipeline.writer import image
from vidence.records import (
    Answered,
    Aside,
    Failed,
    Item,
    Media,
    Prompt,
    Record,
    Reply,
    Sampling,
    Score,
    TextPart,
    by_key,
)

Asked: TypeAlias = Draft | Item
"""What gates test: a maker's drafts, or the questions of any file."""
Decision = Literal["kept", "open", "dropped", "untried"]


class GateVote(Record, omit_defaults=True):
    """One model's answers to a draft: one mark for each order of choices.

    `frame_index` is the frame that it saw, -1 where it saw none or several; `without_span` the span of the
    evidence that was withheld, -1 where none was. `failed` says why there is no answer.
    """

    model: str
    marks: tuple[Mark, ...] = ()
    frame_index: int = -1
    without_span: int = -1
    failed: str = ""

    @property
    def is_usable(self) -> bool:
        """Whether every order was parsed and scored; without a judge, free answers are not."""
        return bool(self.marks) and all(
            mark.kind == "answered" and mark.value is not None for mark in self.marks
        )

    @property
    def is_right(self) -> bool:
        """Whether the answer is right in every order; False if one is unreadable."""
        return self.is_usable and all(mark.value == 1.0 for mark in self.marks)


class GateVerdict(Record, omit_defaults=True):
    """A gate's verdict on an item or draft; `item_id` is the id of either.

    `content` is the hash of what was asked (`verdicts.content_of`), empty of drafts. `reason` says why it is
    dropped, `why` what was seen, or why it could not be tried.
    ``open``: it is kept, and a person is asked, since votes that are missing could have turned it.
    ``untried``: it is kept, and could not be tried at all, for the reason in `why`. `k_verified` is how many
    moments apart from each other proved needed, where that was tried.
    """

    item_id: str
    gate: str
    decision: Decision
    content: str = ""
    reason: str = ""
    n_right: int = 0
    n_unusable: int = 0
    k_verified: int | None = None
    why: str = ""
    votes: tuple[GateVote, ...] = ()


def decide(item_id: str, gate: str, votes: Sequence[GateVote], *, at_least: int) -> GateVerdict:
    """Drop if `at_least` votes are right; leave open if unusable votes could change that.

    Source: HERBench, section 7.6 (three of four).
    Departs: the paper does not say what becomes of a question that a model gave no answer to. Such a vote is
        never right; where it could have decided, the draft is kept and a person looks at it.
    """
    n_right = sum(vote.is_right for vote in votes)
    n_unusable = sum(not vote.is_usable for vote in votes)
    decision: Decision = "kept"
    if n_right >= at_least:
        decision = "dropped"
    elif n_right + n_unusable >= at_least:
        decision = "open"
    return GateVerdict(
        item_id=item_id,
        gate=gate,
        decision=decision,
        votes=tuple(votes),
        n_right=n_right,
        n_unusable=n_unusable,
    )


def remarks(gate: str, verdicts: Sequence[GateVerdict]) -> list[str]:
    """Return remarks on a gate: models with few readable answers, and questions left open."""
    remarks: list[str] = []
    votes = [vote for verdict in verdicts for vote in verdict.votes]
    asked = Counter(vote.model for vote in votes)
    unusable = by_key((vote.model, _why(vote)) for vote in votes if not vote.is_usable)
    for model, reasons in sorted(unusable.items()):
        what = ", ".join(f"{n:,} {reason}" for reason, n in sorted(Counter(reasons).items()))
        none = " It has no voice in this gate." if len(reasons) == asked[model] else ""
        remarks.append(
            f"{gate}: {len(reasons):,} of {asked[model]:,} answers of {model} unusable: {what}.{none}"
        )
    decisions = Counter(verdict.decision for verdict in verdicts)
    if decisions["open"]:
        remarks.append(
            f"{gate}: open about {decisions['open']:,}, since missing answers could have dropped them; "
            "they are kept for a person to look at."
        )
    untried = Counter(verdict.why for verdict in verdicts if verdict.decision == "untried")
    remarks += [f"{gate}: {n:,} not tried: {why}." for why, n in sorted(untried.items())]
    return remarks


def _why(vote: GateVote) -> str:
    if kinds := [mark.kind for mark in vote.marks if mark.kind != "answered"]:
        return "without a verdict" if kinds[0] == "failed" else kinds[0]
    return "not marked" if vote.marks else "failed"


def open_ones(verdicts: Sequence[GateVerdict]) -> Mapping[str, Sequence[str]]:
    """Return the gates left open for a draft, by id."""
    return by_key((verdict.item_id, verdict.gate) for verdict in verdicts if verdict.decision == "open")


TEXT_ONLY: Final = "text-only"
ONE_FRAME: Final = "one-frame"
_CHOICE: Final = "choice-direct"
_OPEN: Final = "open-direct"
FORCED_BY_FRAME: Final = "forced-frame"  # the template of the words that force a choice


def plain_item(draft: Draft) -> Item:
    """Return a draft as an item under its own id.

    The medium of a draft that was made from a video is named by the video's id. Tags say its task, its
    structure, and `k`.
    """
    tags = {"task": draft.task, "structure": draft.structure}
    if draft.k is not None:
        tags["k"] = str(draft.k)
    return Item(
        item_id=draft.draft_id,
        benchmark=draft.benchmark,
        media=(Media(path=draft.video_id),) if draft.video_id else draft.media,
        source=draft.source_id,
        question=draft.question,
        choices=draft.choices,
        answer=chr(ord("A") + draft.answer_index),
        tags=dict(draft.tags) | tags,
        evidence=draft.evidence,
    )


def as_items(asked: Sequence[Asked]) -> tuple[Item, ...]:
    """Convert drafts to items; items are returned unchanged."""
    return tuple(entry if isinstance(entry, Item) else plain_item(entry) for entry in asked)


def id_of(asked: Asked) -> str:
    """Return the id of a draft or item."""
    return asked.item_id if isinstance(asked, Item) else asked.draft_id


@dataclass(frozen=True, kw_only=True)
class AskSettings:
    """Options of asking: `own_words` is the user's template folder, `pool` judges free answers."""

    own_words: Path | None = None
    pool: JudgePool | None = None


USUAL: Final = AskSettings()


@dataclass(frozen=True, kw_only=True)
class DraftFrames:
    """The frames a draft is tested with; if empty, `why` is the reason."""

    frames: tuple[Crop, ...] = ()
    duration_s: float = 0.0
    fps: float = 1.0
    why: str = ""


NO_FRAMES: Final = DraftFrames()


@dataclass(frozen=True, kw_only=True)
class DraftSubject:
    """A `contracts.Subject` with one view: frames of a video, or text alone.

    `pool` judges free answers.
    """

    item: Item
    templates: Templates
    parser: Scorer
    shown: DraftFrames = NO_FRAMES
    pool: JudgePool | None = None

    def n_frames(self, view: str) -> int:
        """Return the number of frames."""
        return len(self.shown.frames)

    def times_s(self, view: str) -> tuple[float, ...]:
        """Return the times of the frames."""
        return tuple(frame.frame_index / self.shown.fps for frame in self.shown.frames)

    def prompt(
        self,
        view: str,
        positions: Sequence[int] | None = None,
        *,
        order: tuple[int, ...] = (),
        more: str | Aside = "",
    ) -> Prompt:
        """Return the question after the frames, or after those at `positions`."""
        frames = self.shown.frames
        seen = frames if positions is None else [frames[i] for i in positions]
        parts = tuple(map(image, seen))
        item = self.item.with_order(order)

        aside = more if isinstance(more, Aside) else Aside(name=more)

        def words(name: str) -> str:
            return self.templates.fill(
                name, item, n_frames=len(parts), duration_s=self.shown.duration_s, said=aside.said
            )

        own = _CHOICE if item.answer_kind == "choice" else _OPEN
        name = aside.name if aside.is_alone else own
        behind = (TextPart(text=words(aside.name)),) if aside.name and not aside.is_alone else ()
        return Prompt(
            parts=(*parts, TextPart(text=words(name)), *behind),
            choices=() if aside.is_alone else item.choices,
            system=words("system") if "system" in self.templates and not aside.is_alone else "",
            template=self.templates.label(name),
        )

    def mark(self, reply: Reply, *, order: tuple[int, ...] = ()) -> Flow[Score]:
        """Mark by the parser; a free answer is right if its words equal the right answer's.

        Whether another free answer means the same, no rule can say: a judge does, and without one it has no
        mark. Nor has it where the judge gives no verdict.
        """
        yield from ()
        if self.item.answer_kind == "choice":
            return score_reply(self.item.with_order(order), reply, self.parser)
        kept = score_reply(self.item, reply, create("parser", "needs-judge"))
        outcome = kept.outcome
        if isinstance(outcome, Answered) and says_the_same(outcome.answer, self.item.answer):
            return msgspec.structs.replace(kept, value=1.0)
        if self.pool is None:
            return kept
        return (yield from self.pool.score(self.item, reply, ruled=kept))


def subjects(
    rules: TextOnlyRules | OneFrameRules | NeedsAllRules, how: AskSettings
) -> Callable[..., DraftSubject]:
    """Return a function that creates a question's subject from its `item` and the frames `shown`."""
    templates = Templates.load(rules.prompts, override=how.own_words, is_shared=True)
    return partial(DraftSubject, templates=templates, parser=create("parser", "robust"), pool=how.pool)


@dataclass(frozen=True, kw_only=True)
class _Ballot:
    """A requested vote: draft, model, and a frame or text alone."""

    item: Item
    model: str
    shown: DraftFrames = NO_FRAMES

    @property
    def frame_index(self) -> int:
        """Return the index of the frame; -1 for text alone."""
        return self.shown.frames[0].frame_index if self.shown.frames else -1

    @property
    def key(self) -> str:
        who = self.model if self.frame_index < 0 else f"frame-{self.frame_index}"
        return f"{self.item.item_id} | {who}"


def _votes(
    ballots: Sequence[_Ballot],
    rules: TextOnlyRules | OneFrameRules,
    *,
    models: Jobs,
    seed: int,
    how: AskSettings,
) -> Mapping[str, Sequence[GateVote]]:
    """Return the votes on each draft by id; all orders of choices are asked concurrently."""
    subject = subjects(rules, how)

    def answer(entry: _Ballot) -> Flow[tuple[Mark, ...]]:
        forced = FORCED if entry.frame_index < 0 else FORCED_BY_FRAME
        more = forced if rules.forced and entry.item.answer_kind == "choice" else ""
        sittings = _sittings(entry, rules, seed=seed, more=more)
        return tuple((yield from sit(subject(item=entry.item, shown=entry.shown), sittings)))

    values = models.run({entry.key: answer(entry) for entry in ballots})
    votes: dict[str, list[GateVote]] = defaultdict(list)
    for ballot in ballots:
        pair = values[ballot.key]
        votes[ballot.item.item_id].append(
            GateVote(
                model=ballot.model,
                marks=() if isinstance(pair, Failed) else pair,
                frame_index=ballot.frame_index,
                failed=f"{pair.error}: {pair.message}" if isinstance(pair, Failed) else "",
            )
        )
    return votes


_DRAWN: Final = Sampling(temperature=1.0)


def _sittings(
    ballot: _Ballot, rules: TextOnlyRules | OneFrameRules, *, seed: int, more: str
) -> list[Sitting]:
    """Return the orders of choices of a vote: the question's own first; repetitions are redrawn."""
    is_open = ballot.item.answer_kind != "choice"
    n = 1 + rules.permutations
    if isinstance(rules, TextOnlyRules):
        n = rules.runs_of(0 if is_open else len(ballot.item.choices))
    own = tuple(range(len(ballot.item.choices)))
    seen: Counter[tuple[int, ...]] = Counter()
    sittings: list[Sitting] = []
    for order in ((), *orders(ballot.item, n - 1, seed=seed)):
        sample = seen[order or own] if isinstance(rules, TextOnlyRules) and rules.runs else 0
        seen[order or own] += 1
        drawn = _DRAWN if sample else None
        sittings.append(
            Sitting(view="", order=order, model=ballot.model, more=more, sample=sample, sampling=drawn)
        )
    return sittings


def ask_blind(
    drafts: Sequence[Asked], rules: TextOnlyRules, *, models: Jobs, seed: int, how: AskSettings = USUAL
) -> tuple[GateVerdict, ...]:
    """Ask every model of the panel every question, text only.

    Raises:
        VidenceError: a model answers nobody any more; every reply so far is remembered.

    Source: HERBench, section 7.6.
    Departs: the order of the choices and the prompt are not in the paper; a reply that cannot be read is
        never right, see `decide`.
    """
    items = as_items(drafts)
    ballots = [_Ballot(item=item, model=model) for item in items for model in rules.models]
    votes = _votes(ballots, rules, models=models, seed=seed, how=how)
    return tuple(
        decide(item.item_id, TEXT_ONLY, votes.get(item.item_id, ()), at_least=rules.at_least)
        for item in items
    )


def ask_with_frames(
    drafts: Sequence[Asked],
    tried: Mapping[str, DraftFrames],
    rules: OneFrameRules,
    *,
    models: Jobs,
    seed: int,
    how: AskSettings = USUAL,
) -> tuple[GateVerdict, ...]:
    """Ask the model every question with one frame at a time; `tried` are the frames by id.

    Raises:
        VidenceError: the model answers nobody any more; every reply so far is remembered.

    Source: HERBench, section 3.2 (items that one frame solves are rejected).
    Departs: in the paper experts judge this; here a model tries it first. Which frames, and how many must
        suffice, is ours.
    """
    ballots = [
        _Ballot(item=item, model=rules.model, shown=replace(tried[item.item_id], frames=(frame,)))
        for item in as_items(drafts)
        for frame in tried[item.item_id].frames
    ]
    votes = _votes(ballots, rules, models=models, seed=seed, how=how)
    return tuple(
        decide(name, ONE_FRAME, votes[name], at_least=rules.suffice)
        if name in votes
        else GateVerdict(item_id=name, gate=ONE_FRAME, decision="untried", why=tried[name].why)
        for name in map(id_of, drafts)
    )
