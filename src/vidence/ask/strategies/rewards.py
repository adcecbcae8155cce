"""Rewards from a model that does not know the answer: points for each reply, or the best of several.

Replies are shown as data, as judges see them (`ask.judging.fence`): nothing in a reply can end its block or
be taken for the points. Neither the right answer nor anything else that is annotated goes into a prompt or
an id.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

import msgspec
import numpy as np

from vidence.ask.judging.verdict_request import fence
from vidence.ask.judging.verdicts import Field, Form, NoReading
from vidence.contracts import Ask, Flow, Subject
from vidence.records import Aside, Item, Prompt, Reply, Sampling, Step, TextPart
from vidence.text import refusal_in

REWARD: Final = "reward"
MOST_POINTS: Final = 4
SAMPLING: Final = Sampling(temperature=0.0, max_tokens=256)
"""Default sampling of rewards; a model's spec overrides it."""
RewardForm: TypeAlias = Literal["score", "list"]
Shown: TypeAlias = Literal["plan", "none"]
_ID_CHARS = 16
_SCORE = Form(fields=(Field(key="score", kind="points", meaning="how far to trust it", most=MOST_POINTS),))


@dataclass(frozen=True, kw_only=True)
class RewardExchange:
    """A request to a reward model about some replies, and its answer.

    `read` is None if nothing could be read, also not in the repair.
    """

    about: tuple[int, ...]
    """The candidates' indices, in the order shown."""
    read: int | None
    said: tuple[Reply, ...]

    def steps(self, model: str) -> tuple[Step, ...]:
        """Return the answers as steps; `model` is the strategy's name of the model."""
        about = self.about[0] if len(self.about) == 1 else None
        return tuple(Step(role=REWARD, reply=reply, model=model, about=about) for reply in self.said)


@dataclass(frozen=True, kw_only=True)
class RewardModel:
    """The reward model's name in flows (empty: the model under test), and what it sees."""

    model: str = ""
    view: str
    frames: Shown = "plan"

    def score(self, subject: Subject, replies: Sequence[Reply]) -> Flow[list[RewardExchange]]:
        """Return 0 to 4 points for each reply separately."""
        wanted = [(i,) for i in range(len(replies))]
        return (yield from _ask(self, subject, replies=replies, wanted=wanted, form="score"))

    def choose(
        self, subject: Subject, replies: Sequence[Reply], *, orders: int
    ) -> Flow[list[RewardExchange]]:
        """Return the index of the best reply, once per order of the replies."""
        wanted = [order_of(subject.item, len(replies), number) for number in range(orders)]
        return (yield from _ask(self, subject, replies=replies, wanted=wanted, form="list"))


def best_by_points(points: Sequence[int | None]) -> int:
    """Return the index of the reply with most points; the first of equals, or if none could be parsed.

    >>> best_by_points([2, None, 3, 3]), best_by_points([None, None]), best_by_points([None, 0])
    (2, 0, 1)
    """
    return max(range(len(points)), key=lambda i: (-1 if (p := points[i]) is None else p, -i))


def most_chosen(chosen: Sequence[int | None]) -> int:
    """Return the most frequent index; the first of equals, or if none could be parsed.

    >>> most_chosen([2, 1, 2]), most_chosen([2, None, 1]), most_chosen([None])
    (2, 1, 0)
    """
    known = [number for number in chosen if number is not None]
    return min(known, key=lambda number: (-known.count(number), number)) if known else 0


def order_of(item: Item, n: int, number: int) -> tuple[int, ...]:
    """Return an order of replies determined by the question and the order's number."""
    key = hashlib.sha256(f"{item.item_id}\n{n}\n{number}".encode()).digest()
    return tuple(np.random.default_rng(int.from_bytes(key)).permutation(n).tolist())


# --------------------------------------------------------------------------- asking


@dataclass(frozen=True, kw_only=True)
class _RewardReader:
    """Parses a comparison of replies, with an id that no reply can know."""

    form: Form
    marked: str

    def read(self, reply: Reply) -> int | str:
        """Return points, or the index among the replies shown; or what is wrong."""
        if refused := refusal_in(reply):
            return f"it was declined: {refused.reason}"
        text = self.form.read(reply.text, marked=self.marked, is_cut=reply.finish == "length")
        if isinstance(text, NoReading):
            return text.problem
        return text.points("score") if self.form is _SCORE else int(text.text("best")) - 1


@dataclass(frozen=True, kw_only=True)
class _Block(_RewardReader):
    """Some replies as shown."""

    prompt: Prompt


def _ask(
    who: RewardModel,
    subject: Subject,
    *,
    replies: Sequence[Reply],
    wanted: Sequence[tuple[int, ...]],
    form: RewardForm,
) -> Flow[list[RewardExchange]]:
    """Ask about each group of replies, identical prompts once; repeat once for unparsable answers."""
    blocks = [_block(who, subject, [replies[i].text for i in group], form=form) for group in wanted]
    by_prompt = {block.marked: block for block in blocks}
    values = yield from _asked(who, {key: block.prompt for key, block in by_prompt.items()})
    read = {key: by_prompt[key].read(reply) for key, reply in values.items()}
    repairs = {
        key: _repair(who, subject, by_prompt[key], problem=p) for key, p in read.items() if isinstance(p, str)
    }
    more = (yield from _asked(who, repairs)) if repairs else {}
    read |= {key: by_prompt[key].read(reply) for key, reply in more.items()}
    exchanges, messages = list[RewardExchange](), set[str]()
    for group, block in zip(wanted, blocks, strict=True):
        known = read[block.marked]
        place = None if isinstance(known, str) else known if form == "score" else group[known]
        new = () if block.marked in messages else (values[block.marked], *_of(more, block.marked))
        messages.add(block.marked)
        exchanges.append(RewardExchange(about=group, read=place, said=new))
    return exchanges


def _of(replies: Mapping[str, Reply], key: str) -> tuple[Reply, ...]:
    return (replies[key],) if key in replies else ()


def _asked(who: RewardModel, prompts: Mapping[str, Prompt]) -> Flow[dict[str, Reply]]:
    replies = yield [Ask(prompt=prompt, model=who.model, sampling=SAMPLING) for prompt in prompts.values()]
    return dict(zip(prompts, replies, strict=True))


def _reading(item: Item, texts: Sequence[str], form: RewardForm) -> _RewardReader:
    marked = hashlib.sha256(
        msgspec.json.encode([form, item.item_id, item.question, item.choices, texts])
    ).hexdigest()[:_ID_CHARS]
    if form == "score":
        return _RewardReader(form=_SCORE, marked=marked)
    places = tuple(str(i) for i in range(1, len(texts) + 1))
    read_as = Form(fields=(Field(key="best", kind="word", meaning="its number", words=places),))
    return _RewardReader(form=read_as, marked=marked)


def _block(who: RewardModel, subject: Subject, texts: Sequence[str], *, form: RewardForm) -> _Block:
    reader = _reading(subject.item, texts, form)
    if form == "score":
        block = fence(texts[0], name="reply", marked=reader.marked)
    else:
        block = "\n\n".join(fence(t, name=f"reply-{i}", marked=reader.marked) for i, t in enumerate(texts, 1))
    values = {"reply": block, "block_id": reader.marked}
    values |= {} if form == "score" else {"n_replies": str(len(texts))}
    aside = Aside(name=f"reward-{form}", said=values, is_alone=True)
    prompt = subject.prompt(who.view, None if who.frames == "plan" else (), more=aside)
    prompt = msgspec.structs.replace(prompt, reply_schema=reader.form.schema())
    return _Block(form=reader.form, marked=reader.marked, prompt=prompt)


def _repair(who: RewardModel, subject: Subject, block: _Block, *, problem: str) -> Prompt:
    """Return the prompt with the problem of the last answer, whose text is not repeated."""
    values = {"block_id": block.marked, "problem": problem}
    words = subject.prompt(who.view, (), more=Aside(name="reward-repair", said=values, is_alone=True)).parts
    behind = tuple(part for part in words if isinstance(part, TextPart))
    return msgspec.structs.replace(block.prompt, parts=(*block.prompt.parts, *behind))
