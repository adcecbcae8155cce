"""The architecture on one page: the inputs and outputs of each stage.

    benchmark -> media -> selection -> prompting -> model -> scoring -> statistics -> report

Only models wait for the outside world. Judges, diagnostics and construction steps are *flows*: generators
that yield requests and are sent the replies. `engine/engine.py` is the only place where flows meet models.
"""

from collections.abc import Collection, Generator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Literal, Protocol, TypeAlias, TypeVar, runtime_checkable

import msgspec
import numpy as np
from numpy.typing import NDArray

from vidence.media.clip import Clip
from vidence.records import (
    Aside,
    Failed,
    Item,
    Outcome,
    Prompt,
    Record,
    Reply,
    Sampling,
    Score,
    Step,
    Subtitling,
)
from vidence.tables.charts import Statement

MadeT = TypeVar("MadeT")


@dataclass(frozen=True, kw_only=True)
class Ask:
    """A prompt and how to ask it.

    `model` is a name from the diagnostic's `models` (empty: the model under test), `sampling` how the reply
    is sampled (None: as in the plan), `sample` distinguishes several replies to one prompt.
    """

    prompt: Prompt
    model: str = ""
    sampling: Sampling | None = None
    sample: int = 0


@dataclass(frozen=True)
class Together:
    """Flows to run concurrently; see `together`."""

    flows: "Sequence[Flow[None]]"


# A flow yields what it wants answered together and is sent the replies in the same order.
Flow: TypeAlias = Generator[Sequence[Prompt | Ask] | Together, Sequence[Reply], MadeT]


def together(flows: "Sequence[Flow[MadeT]]") -> "Flow[tuple[MadeT, ...]]":
    """Run several flows concurrently, and return their results in order.

    An error that a flow does not handle is thrown in here after the others have ended.
    """
    values: dict[int, MadeT] = {}

    def keep(position: int, flow: "Flow[MadeT]") -> "Flow[None]":
        values[position] = yield from flow

    yield Together([keep(position, flow) for position, flow in enumerate(flows)])
    return tuple(values[position] for position in range(len(flows)))


class AskingRules(Record):
    """How a benchmark's paper asks its questions; plans can override every field.

    `size` limits the shown frames: ``short:720``, ``long:448`` or ``native``. `headline` is the paper's
    aggregate: ``micro`` (mean over items), ``macro:TAG`` (over the values of that tag; ``macro:TAG/TAG`` over
    means by the second tag), or ``answered`` (mean over the items whose reply could be parsed). `prompts`
    names a set of templates. `text_parser` scores free-text answers: by rules, or ``needs-judge``. `judge`
    names the judge used if a judge model is given. `shuffle_choices` draws an order of the choices for every
    item and repeat. `strategy` is the spec of the `Strategy` that answers each question.
    """

    selector: str = "midpoints"
    frames: int = 16
    style: str = "direct"
    prompts: str = "plain"
    layout: str = "images"
    frame_times: bool = False
    size: str = "short:720"
    jpeg_quality: int = 85
    parser: str = "robust"
    text_parser: str = "needs-judge"
    headline: str = "micro"
    judge: str = "rule-first"
    shuffle_choices: bool = False
    strategy: str = "once"
    subtitles: Subtitling = "none"
    sampling: Sampling = Sampling()


class PaperColumn(Record, omit_defaults=True):
    """A column of a paper's results table; see `Benchmark`.

    Among the questions with one of the values in `where` for each tag, `of` is averaged by `average`:
    ``micro``, ``macro:TAG`` or ``answered``, as for a headline. `of` is ``accuracy``, or ``points`` (given by
    a judge). `group` is a heading over adjacent columns.

    `parser` names permitted scorers: parsers, judges, or ``letters`` for every parser that reads choice
    letters; empty: any. `alike` is a tag in which the questions must agree. `by_rules` is a note for columns
    scored by rules that the paper had judged.
    """

    title: str
    group: str = ""
    average: str = "micro"
    where: dict[str, tuple[str, ...]] = msgspec.field(default_factory=dict)
    of: Literal["accuracy", "points"] = "accuracy"
    parser: tuple[str, ...] = ()
    alike: str = ""
    by_rules: str = ""


@dataclass(frozen=True, kw_only=True)
class Release:
    """Where a benchmark was released, for fetching it by name; see `Benchmark`."""

    hub: str = ""
    """The data set on the Hugging Face hub, ``OWNER/NAME``."""
    revision: str = "main"
    """Branch, tag or commit."""
    questions: tuple[str, ...] = ()
    """Patterns of the files of questions there (`fnmatch`; ``*`` crosses folders)."""
    media: tuple[str, ...] = ()
    """Patterns of the videos there, or of the archives that hold them."""
    takes_all: bool = False
    """Whether files matching any pattern are questions, rather than those of the first matching pattern."""
    joined: tuple[str, ...] = ()
    """Patterns of archives that were cut into pieces, joined in the order of their names."""
    by_hand: str = ""
    """Media that users must get elsewhere."""
    media_access: tuple[Literal["here", "elsewhere", "by request"], ...] = ()
    """Where the media are: in this data set, at another host, on request; empty: unknown."""
    media_gb: float | None = None
    """Size of the first split's media in GB, if known."""
    github: tuple[str, ...] = ()
    """Question files outside the hub: ``OWNER/NAME/REVISION/PATH``."""
    absent: str = ""
    """Why there is nothing to fetch, and what to do instead; empty otherwise."""


@dataclass(frozen=True, kw_only=True)
class Loaded:
    """The questions of a benchmark loaded from a folder or file.

    `items` may be read from disk on each access. `media_root` is the base folder of relative media paths.
    `revision` names the release if the files tell, `content_hash` is the SHA-256 over the question files.
    `problems` are lines that were left out, each with file, line and reason.
    """

    items: Sequence[Item]
    media_root: Path
    content_hash: str
    revision: str = ""
    problems: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


class Benchmark(Protocol):
    """A benchmark.

    `protocols` are the named ways to ask; the default is that with the name of the split, else the first,
    ``paper`` if there is one. If a paper and its released code differ, each has a protocol. `terms` states
    the permitted uses of the data in one or two sentences; it is shown once to every user and stored with
    every run.

    Optional attributes: `paper_tables` maps the title of each table in the paper to a tuple of `PaperColumn`;
    the report then has these tables, with a row per run. `release` is a `Release` for ``vidence get``,
    `releases` has others by split. A benchmark may also implement `TagsAsRead`.
    """

    name: str
    version: int
    citation: str
    licence: str
    terms: str
    splits: tuple[str, ...]
    protocols: Mapping[str, AskingRules]

    def load(self, data: Path, *, split: str, strict: bool = False) -> Loaded:
        """Read the questions from `data` (a file or a folder); the default is the first of `splits`.

        Raises:
            DataError: nothing usable, or with `strict` a bad line.
            UsageError: the split does not exist or is not public.
        """


@runtime_checkable
class TagsAsRead(Protocol):
    """A benchmark whose questions measure something else under another parser."""

    def tags_as_read(self, item: Item, *, parser: str) -> Mapping[str, str]:
        """Return the tags of a question whose replies `parser` scored."""


class Words(Protocol):
    """Prompt templates by name; users replace them with ``--prompts-dir DIR``."""

    def say(self, name: str, values: Mapping[str, object]) -> str:
        """Fill in a template."""

    def label(self, name: str) -> str:
        """Return a template's label in stored prompts: origin, name, and the SHA-256 of its text."""


class Selector(Protocol):
    """A frame selector.

    `Traits` lists its optional attributes; optional methods are in the protocols `RankingSelector`,
    `RetryingSelector` and `ScoringSelector`.
    """

    version: int

    def select(self, clip: Clip, item: Item, *, n_frames: int) -> NDArray[np.int64]:
        """Return positions in `clip`, in display order; a rule may repeat a position."""


@dataclass(frozen=True, kw_only=True)
class Traits:
    """Optional attributes of a selector; missing ones have these defaults."""

    budget: str = ""
    """How the selector treats `n_frames`: ``ignored``, ``at most``, ``one over``; empty: exactly."""
    thins: bool = False
    """Whether its rule determines the number of frames, limited to `n_frames`."""
    repeats: bool = False
    """Whether positions may repeat."""
    needs_media: bool = True
    """Whether it shows frames; if not, media may be missing."""
    scores_digest: str = ""
    """SHA-256 of its file of scores, if any."""
    models: tuple[str, ...] = ()
    """Specs of other models that it asks, besides the model under test."""

    @classmethod
    def of(cls, selector: Selector) -> "Traits":
        """Return the traits of a selector."""
        names = [field.name for field in fields(cls)]
        return cls(**{name: getattr(selector, name) for name in names if hasattr(selector, name)})


@runtime_checkable
class RankingSelector(Selector, Protocol):
    """A selector that ranks the frames it chooses."""

    def rank(self, clip: Clip, item: Item, *, n_frames: int) -> NDArray[np.int64]:
        """Return what `select` chooses, best first and without repeats, so that prefixes nest."""


@runtime_checkable
class RetryingSelector(Selector, Protocol):
    """A selector that can show other frames if a reply is unreadable."""

    def again(self, clip: Clip, item: Item, *, n_frames: int, retry: int) -> NDArray[np.int64]:
        """Like `select`, for the given retry (from 1); empty if there are no other frames."""


@dataclass(frozen=True, kw_only=True)
class Request:
    """A prompt on its way to a model: the prompt, sampling settings, and image bytes.

    `sample` distinguishes several replies to one prompt. `item_id` and `item` are for models that answer from
    records or rules (replay, baselines); others ignore them. With `shares_frames`, another request starts
    with the same text and frames, so that a provider's cache can serve it.
    """

    item_id: str
    prompt: Prompt
    sampling: Sampling
    images: Mapping[str, bytes] = field(default_factory=dict)
    sample: int = 0
    shares_frames: bool = False


class Model(Protocol):
    """A model, the only stage that waits for the outside world.

    `identity` identifies a model in the reply cache: provider, name, address, options, content of local
    files; never a secret. `looks` is False for models that need no frames (replay, baselines): then no media
    is opened. `by_item` is True if the reply depends on the item's id and not only on the prompt.
    `max_in_flight` limits concurrency (None: no limit).
    """

    identity: str
    looks: bool
    by_item: bool
    max_in_flight: int | None

    async def reply(self, request: Request) -> Reply:
        """Answer one request.

        Raises:
            TransientModelError: no reply now; a retry may succeed.
            RejectedRequestError: this request will never be answered.
            AccessError: no request of this run will be answered.
        """

    async def close(self) -> None:
        """Release connections and weights."""


@runtime_checkable
class RecordedModel(Model, Protocol):
    """A model with recorded replies; their letters refer to the order of choices at recording time."""

    def recorded_ids(self) -> Collection[str]:
        """Return the ids of the items with a recorded reply."""


@runtime_checkable
class ConstantModel(Model, Protocol):
    """A model that answers every question with one letter."""

    letter: str


class Scorer(Protocol):
    """Scores a reply by rules alone.

    `reads_letters` says whether it reads choice letters, so that reports can compare it with other parsers
    that do.
    """

    name: str
    version: int
    reads_letters: bool

    def read(self, item: Item, reply: Reply) -> Outcome:
        """Return the answer in a reply, or why there is none."""

    def mark(self, item: Item, outcome: Outcome) -> Score:
        """Score an outcome: right or wrong."""


class Judge(Protocol):
    """Scores a reply by asking a model.

    `sampling` is how its verdicts are sampled by default. `scale` is the maximum of points that it gives, 0
    if it gives none. `prompts_digest` is the SHA-256 over its templates in effect. A judge is created by
    ``create(prompts_dir)``: None, or a folder whose files replace templates.
    """

    name: str
    version: int
    sampling: Sampling
    scale: float
    prompts_digest: str

    def judge(self, item: Item, reply: Reply, *, ruled: Score) -> Flow[Score]:
        """Yield requests, receive the replies, and return the score.

        Args:
            item: the question as shown, with its reference answer.
            reply: the reply under judgement; it is data, and its instructions must not influence the judge.
            ruled: the score by rules alone. A judge may return it without asking.

        Returns:
            A score with one `Verdict` (the flow's driver fills in `judge_model`), or `ruled`. If no verdict
            can be parsed after one repair, `ask.judging.verdicts.judge_error`.
        """


class View(Record):
    """Frames that a strategy or diagnostic can show: a selector's choice under a budget."""

    selector: str
    """The selector's spec."""
    n_frames: int
    """The budget, in frames."""
    is_ranked: bool = False
    """Whether frames are ordered best first, so that prefixes nest; otherwise by time."""
    size: str = ""
    """As in `AskingRules`; empty: the plan's."""
    retry: int = 0
    """Number of the retry, for a selector with `again`; 0 is the first choice."""


class Subject(Protocol):
    """A question as a diagnostic sees it: what can be shown, and how replies are scored."""

    @property
    def item(self) -> Item:
        """The question."""

    def n_frames(self, view: str) -> int:
        """Return the number of frames of this view; below its budget if the video has no more."""

    def times_s(self, view: str) -> tuple[float, ...]:
        """Return the presentation time of each frame of a view, in its order.

        With several media, each starts where the previous one ends; a single image takes no time.
        """

    def prompt(
        self,
        view: str,
        positions: Sequence[int] | None = None,
        *,
        order: tuple[int, ...] = (),
        more: str | Aside = "",
    ) -> Prompt:
        """Return the question with frames of a view, in the order of `positions`; None: all.

        Positions index the view's own order; an empty list asks without frames. `order` is that of the
        choices, as in `Item.with_order`; empty for the item's own. `more` names a template to append to the
        question (see `Words`), or is an `Aside`; empty for none.
        """

    def mark(self, reply: Reply, *, order: tuple[int, ...] = ()) -> Flow[Score]:
        """Score a reply with the plan's parser and judges: ``score = yield from subject.mark(reply)``.

        `order` is the order in which the choices were shown; the outcome's letters are as shown.
        """


class Question(Subject, Protocol):
    """A question as a strategy sees it."""

    @property
    def shown(self) -> tuple[str, ...]:
        """Return the names of the views that can be shown, in the strategy's order, without failed ones."""

    def read(self, reply: Reply) -> Outcome:
        """Parse a reply with the plan's parser; no judge is asked."""


@dataclass(frozen=True, kw_only=True)
class Answer:
    """A strategy's result: the reply that counts, its prompt, and the view shown.

    `steps` are all replies that it requested, in order, including the one that counts; empty if that is the
    only one.
    """

    prompt: Prompt
    reply: Reply
    view: str
    steps: tuple[Step, ...] = ()


class Strategy(Protocol):
    """How one question is answered: asked once, again, or many times with a vote.

    A strategy is a file in ``ask/strategies/``. Several replies to one prompt are distinguished by
    `Ask.sample`.
    """

    version: int

    def views(self, view: View) -> Mapping[str, View]:
        """Return the frames to show, by names of its own; `view` is the plan's."""

    def models(self) -> Mapping[str, str]:
        """Return other models to ask, by names of its own: their specs, as `Diagnostic.models`."""

    def answer(self, question: Question) -> Flow[Answer]:
        """Ask, and return the reply that counts.

        A `TransientModelError` or `RejectedRequestError` may be caught; otherwise the question has failed.
        """


@dataclass(frozen=True, kw_only=True)
class Examined:
    """The result for one question: the diagnostic's finding, or why there is none."""

    item: Item
    finding: Record | Failed


class Diagnostic(Protocol):
    """Explains a score; a file in ``explain/diagnostics/``.

    `finding` is the record that `examine` returns for one question, stored as JSON.
    """

    name: str
    version: int
    finding: type[Record]

    def views(self, *, selector: str, n_frames: int) -> Mapping[str, View]:
        """Return the frames to show, by names of its own, given the plan's selector and budget."""

    def models(self) -> Mapping[str, str]:
        """Return the specs of other models to ask, by names of its own."""

    def examine(self, subject: Subject) -> Flow[Record]:
        """Ask about one question, and return the finding.

        A `TransientModelError` or `RejectedRequestError` may be caught; otherwise the question is stored as
        failed and asked again in the next session.
        """

    def summarise(
        self, examined: Sequence[Examined], *, rng: np.random.Generator, level: float
    ) -> tuple[Statement, ...]:
        """Summarise the findings on all questions; the first statement is the headline."""


@runtime_checkable
class BoundedDiagnostic(Protocol):
    """A diagnostic that states how much it asks; the conformance tests require it."""

    def most_asks(self, item: Item, *, n_frames: int) -> int:
        """Return the most requests per question, including cached replies and repairs.

        `n_frames` is the plan's budget. Judges and retried rejections are not included.
        """


@runtime_checkable
class RunDiagnostic(Diagnostic, Protocol):
    """A diagnostic whose texts depend on the run that it examines."""

    def of_run(self, *, model: str, selector: str) -> Diagnostic:
        """Return the diagnostic with the specs of the plan's model and selector."""


@runtime_checkable
class SetDiagnostic(Diagnostic, Protocol):
    """A diagnostic that combines a question with parts of another one."""

    def of_items(self, items: Sequence[Item]) -> Diagnostic:
        """Return the diagnostic with all questions of the plan, whether asked already or not."""


@runtime_checkable
class Drawing(Protocol):
    """A strategy or diagnostic that needs several different replies to one prompt."""

    @property
    def n_drawn(self) -> int:
        """Return the number of replies."""


@runtime_checkable
class OwnFramesDiagnostic(Diagnostic, Protocol):
    """A diagnostic with its own number of frames, independent of the plan's."""

    frames_option: str
    """The option that sets the number."""


class _Embedding(Protocol):
    """Attributes of both kinds of embedders. Frames are RGB arrays of shape (height, width, 3).

    `identity` is what the numbers depend on: kind, weights, precision. `size` limits the frames.
    """

    identity: str
    size: str


@runtime_checkable
class ComparingEmbedder(_Embedding, Protocol):
    """An embedder in two steps, whose features of a frame are reused for all texts.

    `features_identity` is what the features alone depend on.
    """

    features_identity: str

    def features(self, frames: Sequence[NDArray[np.uint8]]) -> NDArray[np.float32]:
        """Return a vector per frame, shape (n_frames, n_dims)."""

    def compare(self, features: NDArray[np.float32], texts: Sequence[str]) -> NDArray[np.float32]:
        """Return how well frames match texts, shape (n_frames, n_texts)."""


class MatchingEmbedder(_Embedding, Protocol):
    """An embedder that processes every frame with every text."""

    def match(self, frames: Sequence[NDArray[np.uint8]], texts: Sequence[str]) -> NDArray[np.float32]:
        """Return how well frames match texts, shape (n_frames, n_texts)."""


Embedder: TypeAlias = ComparingEmbedder | MatchingEmbedder
"""An embedder of either kind."""


class ScoreRules(Record):
    """The frames and question that a selector needs scored.

    `embedder` is a spec such as ``blip-itm:/weights`` (empty: the scores come from `file`). `query` is the
    text to match: ``question`` or ``question+choices``; `max_tokens` truncates it (0: the embedder's limit).
    `file` contains precomputed scores.
    """

    embedder: str = ""
    query: str = "question"
    max_tokens: int = 0
    file: str = ""


@runtime_checkable
class ScoringSelector(Selector, Protocol):
    """A selector that ranks frames by how well they match the question.

    `score_rules` says what to score; `candidates` are the frames to score. Without `scores`, they are read
    from the file of its `score_rules`; without a file it refuses to choose.
    """

    score_rules: ScoreRules

    def candidates(self, clip: Clip) -> NDArray[np.int64]:
        """Return positions in `clip` that need a score, ascending, shape (n_candidates,)."""

    def select(
        self, clip: Clip, item: Item, *, n_frames: int, scores: NDArray[np.float64] | None = None
    ) -> NDArray[np.int64]:
        """Return the frames to show, in time order; arguments and errors as for `rank`."""

    def rank(
        self, clip: Clip, item: Item, *, n_frames: int, scores: NDArray[np.float64] | None = None
    ) -> NDArray[np.int64]:
        """Return positions in `clip`, best first.

        Args:
            clip: the frames.
            item: the question.
            n_frames: the budget.
            scores: one per candidate, shape (n_candidates,); None if a file has them.

        Raises:
            UsageError: no scores.
            DataError: scores that are not numbers, or not as many as there are candidates.
        """
