"""The architecture on one page: what each stage takes and gives.

    benchmark -> media -> selection -> prompting -> model -> scoring -> statistics -> report

Only models wait for the outside world. Judges, diagnostics and construction steps are *flows*:
generators that yield what they want asked and are sent the answer. `engine/engine.py` is the one
place where flows meet models.
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
    """A prompt with how it is to be put.

    `model` is a name from the diagnostic's `models` (empty: the model under test), `sampling` how the
    reply is drawn (None: as the plan says), `sample` tells several replies to the same prompt apart.
    """

    prompt: Prompt
    model: str = ""
    sampling: Sampling | None = None
    sample: int = 0


@dataclass(frozen=True)
class Together:
    """Flows that run at the same time; see `together`."""

    flows: "Sequence[Flow[None]]"


# A flow yields what it wants answered together and is sent the replies in the same order.
Flow: TypeAlias = Generator[Sequence[Prompt | Ask] | Together, Sequence[Reply], MadeT]


def together(flows: "Sequence[Flow[MadeT]]") -> "Flow[tuple[MadeT, ...]]":
    """Run several flows at the same time and return what each made, in their order.

    An error that a flow does not handle is thrown in here when the others have ended.
    """
    values: dict[int, MadeT] = {}

    def keep(position: int, flow: "Flow[MadeT]") -> "Flow[None]":
        values[position] = yield from flow

    yield Together([keep(position, flow) for position, flow in enumerate(flows)])
    return tuple(values[position] for position in range(len(flows)))


class AskingRules(Record):
    """How a benchmark's paper wants its questions asked; every field can be overridden in a plan.

    `size` limits the frames shown: ``short:720``, ``long:448`` or ``native``. `headline`
    is the aggregate that the paper prints: ``micro`` (mean over items), ``macro:TAG`` (over the values of
    that tag, in ``macro:TAG/TAG`` of means over the second), or ``answered`` (mean over the items whose
    reply could be read). `prompts` names a set of templates. `text_parser` marks answers that are texts: by
    rules, or ``needs-judge``. `judge` names the judge that marks where a judge model is given.
    `shuffle_choices` draws an order of the choices for every item and repeat. `strategy` is the spec of the
    `Strategy` that answers each question.
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
    """One column of a table as a paper prints its results; see `Benchmark`.

    Of the questions that have for each tag in `where` one of its values, `of` is averaged as `average`
    says: ``micro``, ``macro:TAG`` or ``answered``, as for a headline. `of` is ``accuracy``, or ``points``
    (those that a judge gave). `group` is a heading over neighbouring columns.

    `parser` names who may have scored the replies: parsers, judges, or ``letters`` for every parser that
    reads the letter of a choice; none: anybody. `alike` is a tag in which the questions must agree.
    `by_rules` says what to know where rules scored what the paper had judged.
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
    """Where a benchmark was released, so that it can be fetched by its name; see `Benchmark`."""

    hub: str = ""
    """The data set on the Hugging Face hub, ``OWNER/NAME``."""
    revision: str = "main"
    """Its branch, tag or commit."""
    questions: tuple[str, ...] = ()
    """Patterns of the files of questions there (`fnmatch`; ``*`` crosses folders)."""
    media: tuple[str, ...] = ()
    """Patterns of the videos there, or of the archives that hold them."""
    takes_all: bool = False
    """Whether all files that fit one of the patterns are questions, and not those of the first that fits."""
    joined: tuple[str, ...] = ()
    """Patterns of archives that were cut into pieces, joined in the order of their names."""
    by_hand: str = ""
    """Which media a user must fetch elsewhere."""
    media_access: tuple[Literal["here", "elsewhere", "by request"], ...] = ()
    """Where media lie: in this data set, at another host, behind a form or a letter; empty: not known."""
    media_gb: float | None = None
    """The size of the media of the first split in GB, where a source has it."""
    github: tuple[str, ...] = ()
    """The files of questions, where they are not on the hub: ``OWNER/NAME/REVISION/PATH``."""
    absent: str = ""
    """Why there is nothing to fetch, and what to do instead; empty where there is."""


@dataclass(frozen=True, kw_only=True)
class Loaded:
    """The questions of one benchmark as found in one folder or file.

    `items` may be read from a disk each time that one is taken. `media_root` is the folder that relative
    media paths start from. `revision` names the release where the files tell, `content_hash` is the SHA-256
    over the question files. `problems` are lines that were left out, each with file, line and reason.
    """

    items: Sequence[Item]
    media_root: Path
    content_hash: str
    revision: str = ""
    problems: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


class Benchmark(Protocol):
    """What to ask.

    `protocols` are the named ways to ask; the default is that with the name of the split, else the first,
    ``paper`` where there is one: where a paper and its released code differ, each is there by name. `terms`
    says what the data may be used for, in one or two sentences; it is shown once to every user and kept with
    every run.

    A benchmark may also have `paper_tables`: for the title of each table that its paper prints, a tuple
    of `PaperColumn`. The report then has these tables, with one row for each run. It may have a
    `release`, a `Release` for ``vidence get``, others by split in `releases`, and may be `TagsAsRead`.
    """

    name: str
    version: int
    citation: str
    licence: str
    terms: str
    splits: tuple[str, ...]
    protocols: Mapping[str, AskingRules]

    def load(self, data: Path, *, split: str, strict: bool = False) -> Loaded:
        """Read the questions from `data` (a file or a folder); the first of `splits` is the default.

        Raises:
            DataError: nothing usable there, or with `strict` a single bad line.
            UsageError: a split that does not exist or is not public.
        """


@runtime_checkable
class TagsAsRead(Protocol):
    """A benchmark whose questions measure something else where another parser reads the replies."""

    def tags_as_read(self, item: Item, *, parser: str) -> Mapping[str, str]:
        """The tags of a question whose replies `parser` marked."""


class Words(Protocol):
    """Templates of prompts by name; users replace them with ``--prompts-dir DIR``."""

    def say(self, name: str, values: Mapping[str, object]) -> str:
        """A template with these values filled in."""

    def label(self, name: str) -> str:
        """What a stored prompt says of its template: whose it is, its name, the SHA-256 of its text."""


class Selector(Protocol):
    """Which frames to show.

    What it may say besides, as attributes, is in `Traits`; what it may do besides is in the protocols
    `RankingSelector`, `RetryingSelector` and `ScoringSelector`.
    """

    version: int

    def select(self, clip: Clip, item: Item, *, n_frames: int) -> NDArray[np.int64]:
        """Positions in `clip`, in the order in which they are shown; a rule may repeat a position."""


@dataclass(frozen=True, kw_only=True)
class Traits:
    """What a selector may say of itself; a selector without such an attribute has the default."""

    budget: str = ""
    """How `n_frames` is kept: ``ignored``, ``at most``, ``one over``; empty: exactly."""
    thins: bool = False
    """Whether its own rule says how many frames there are, of which `n_frames` are kept at most."""
    repeats: bool = False
    """Whether a position may come twice."""
    needs_media: bool = True
    """False: it never shows anything, so the media need not be there."""
    scores_digest: str = ""
    """The SHA-256 of its file of scores, if it has one."""
    models: tuple[str, ...] = ()
    """The specs of the other models that it asks; the model under test is none of them."""

    @classmethod
    def of(cls, selector: Selector) -> "Traits":
        """Those of a selector."""
        names = [field.name for field in fields(cls)]
        return cls(**{name: getattr(selector, name) for name in names if hasattr(selector, name)})


@runtime_checkable
class RankingSelector(Selector, Protocol):
    """A selector that has an order of its own for what it chooses."""

    def rank(self, clip: Clip, item: Item, *, n_frames: int) -> NDArray[np.int64]:
        """What `select` chooses, best first and each position once, so that prefixes nest."""


@runtime_checkable
class RetryingSelector(Selector, Protocol):
    """A selector that can show other frames when a reply cannot be read."""

    def again(self, clip: Clip, item: Item, *, n_frames: int, retry: int) -> NDArray[np.int64]:
        """As `select`, for the given retry (from 1); an empty array says that there are no others."""


@dataclass(frozen=True, kw_only=True)
class Request:
    """One prompt on its way to a model: the prompt, how to draw the reply, and the image bytes.

    `sample` tells apart several replies to the same prompt. `item_id` and `item` are for models
    that answer from records or rules (replay, baselines); others ignore them. With `shares_frames` another
    request begins with the same words and frames, so that a provider's cache can serve it.
    """

    item_id: str
    prompt: Prompt
    sampling: Sampling
    images: Mapping[str, bytes] = field(default_factory=dict)
    sample: int = 0
    shares_frames: bool = False


class Model(Protocol):
    """Who answers; the only stage that waits on the outside world.

    `identity` is what makes two models the same for the reply memory: provider, name, address,
    options, content of local files; never a secret. `looks` is False for models that need no
    frames (replay, baselines): then no media is opened. `by_item` is True where the reply depends
    on the id of the item and not only on the prompt. `max_in_flight` caps concurrency (None: no cap).
    """

    identity: str
    looks: bool
    by_item: bool
    max_in_flight: int | None

    async def reply(self, request: Request) -> Reply:
        """Answer one request.

        Raises:
            TransientModelError: not this time; worth another try.
            RejectedRequestError: this request will never be answered.
            AccessError: no request of this run will be answered.
        """

    async def close(self) -> None:
        """Let go of connections and weights."""


@runtime_checkable
class RecordedModel(Model, Protocol):
    """A model whose replies were recorded: the letters in them mean the order that the choices had then."""

    def recorded_ids(self) -> Collection[str]:
        """The ids of the items that have a recorded reply."""


@runtime_checkable
class ConstantModel(Model, Protocol):
    """A model that says one letter to every question."""

    letter: str


class Scorer(Protocol):
    """What a reply is worth, by rules alone.

    `reads_letters` says whether it reads the letter that a reply gives, so that reports can set it beside
    the other parsers that do.
    """

    name: str
    version: int
    reads_letters: bool

    def read(self, item: Item, reply: Reply) -> Outcome:
        """The answer that the reply gives, or why none can be read."""

    def mark(self, item: Item, outcome: Outcome) -> Score:
        """Right or wrong."""


class Judge(Protocol):
    """What a reply is worth, by asking a model.

    `sampling` is how its verdicts are drawn unless the user says otherwise. `scale` is the highest
    number of points that it gives, 0 where it gives none. `prompts_digest` is the SHA-256 over its
    templates in effect. A judge is made by ``create(prompts_dir)``: None, or a folder whose files
    replace templates.
    """

    name: str
    version: int
    sampling: Sampling
    scale: float
    prompts_digest: str

    def judge(self, item: Item, reply: Reply, *, ruled: Score) -> Flow[Score]:
        """Yield what to ask, be sent the replies, return the score.

        Args:
            item: the question as it was shown, with its reference answer.
            reply: the reply under judgement; it is data and must not move the judge by what it demands.
            ruled: what the rules alone say of it. A judge may return it and ask nobody.

        Returns:
            A score with one `Verdict` (its `judge_model` is filled in by who drives the flow), or
            `ruled`. Where no verdict can be read after one repair, `ask.judging.verdicts.judge_error`.
        """


class View(Record):
    """Frames that a strategy or a diagnostic can show: what a selector chooses under a budget."""

    selector: str
    """The spec of the selector."""
    n_frames: int
    """The budget, in frames."""
    is_ranked: bool = False
    """Whether frames come best first, so that prefixes nest; otherwise in the order of time."""
    size: str = ""
    """As in `AskingRules`; empty: as the plan says."""
    retry: int = 0
    """Counts from 1 where the frames are others than before, for a selector with `again`."""


class Subject(Protocol):
    """One question as a diagnostic sees it: what can be shown of it, and how replies are marked."""

    @property
    def item(self) -> Item:
        """The question."""

    def n_frames(self, view: str) -> int:
        """How many frames this view has; less than its budget where the video has no more."""

    def times_s(self, view: str) -> tuple[float, ...]:
        """The presentation time of each frame of a view, in its order.

        Of several media the second begins where the first ends, and so on; a single image takes no time.
        """

    def prompt(
        self,
        view: str,
        positions: Sequence[int] | None = None,
        *,
        order: tuple[int, ...] = (),
        more: str | Aside = "",
    ) -> Prompt:
        """The question with frames of a view, shown in the order of `positions`; None shows all of them.

        The positions count in the view's own order; an empty list asks without frames. `order` is that of
        the choices, as in `Item.with_order`; empty for the item's own. `more` names a template whose words
        stand behind the question (see `Words`), or is an `Aside`; empty for none.
        """

    def mark(self, reply: Reply, *, order: tuple[int, ...] = ()) -> Flow[Score]:
        """Right or wrong, by the plan's parser and its judges: ``score = yield from subject.mark(reply)``.

        `order` is the one in which the choices were shown; the outcome's letters are those that were shown.
        """


class Question(Subject, Protocol):
    """One question as a strategy sees it."""

    @property
    def shown(self) -> tuple[str, ...]:
        """The names of the views that can be shown, in the strategy's order; without those that failed."""

    def read(self, reply: Reply) -> Outcome:
        """What the plan's parser reads from a reply; no judge is asked."""


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What a strategy came to: the reply that counts, the prompt that it replies to and the view shown.

    `steps` are all replies that it asked for, in order, the one that counts among them; empty where that is
    the only one.
    """

    prompt: Prompt
    reply: Reply
    view: str
    steps: tuple[Step, ...] = ()


class Strategy(Protocol):
    """How one question is answered: asked once, asked again, asked many times and put to a vote.

    It is one file in ``ask/strategies/``. Replies that it wants several of are told apart by `Ask.sample`.
    """

    version: int

    def views(self, view: View) -> Mapping[str, View]:
        """The frames that it wants to show, by names of its own; `view` is the plan's."""

    def models(self) -> Mapping[str, str]:
        """Other models that it asks, by names of its own: their specs, as `Diagnostic.models`."""

    def answer(self, question: Question) -> Flow[Answer]:
        """Ask, and say which reply counts.

        A `TransientModelError` or `RejectedRequestError` may be caught; otherwise the question has failed.
        """


@dataclass(frozen=True, kw_only=True)
class Examined:
    """The result for one question: the diagnostic's own record, or why it gave none."""

    item: Item
    finding: Record | Failed


class Diagnostic(Protocol):
    """Why a score is what it is: one file in ``explain/diagnostics/``.

    `finding` is the record that `examine` makes of one question; it is stored as JSON.
    """

    name: str
    version: int
    finding: type[Record]

    def views(self, *, selector: str, n_frames: int) -> Mapping[str, View]:
        """The frames that it wants to show, by names of its own; the plan's selector and budget are given."""

    def models(self) -> Mapping[str, str]:
        """Other models that it asks, by names of its own: their specs."""

    def examine(self, subject: Subject) -> Flow[Record]:
        """Ask about one question and say what was found.

        A `TransientModelError` or `RejectedRequestError` may be caught; otherwise the question is
        stored as failed and asked again on the next session.
        """

    def summarise(
        self, examined: Sequence[Examined], *, rng: np.random.Generator, level: float
    ) -> tuple[Statement, ...]:
        """What all questions together say; the first sheet is the headline."""


@runtime_checkable
class BoundedDiagnostic(Protocol):
    """A diagnostic that says how much it asks; the conformance tests want it of each."""

    def most_asks(self, item: Item, *, n_frames: int) -> int:
        """How often it asks models about a question at most, remembered replies and repairs among it.

        `n_frames` is the budget of the plan. Judges, and requests that are rejected, come on top.
        """


@runtime_checkable
class RunDiagnostic(Diagnostic, Protocol):
    """A diagnostic whose words depend on the run that it was made on."""

    def of_run(self, *, model: str, selector: str) -> Diagnostic:
        """The same diagnostic, which knows the specs of the plan's model and selector."""


@runtime_checkable
class SetDiagnostic(Diagnostic, Protocol):
    """A diagnostic that puts to a question what belongs to another one."""

    def of_items(self, items: Sequence[Item]) -> Diagnostic:
        """The same diagnostic, which knows all questions of the plan, asked already or not."""


@runtime_checkable
class Drawing(Protocol):
    """A strategy or a diagnostic that wants several replies to one prompt, which must be able to differ."""

    @property
    def n_drawn(self) -> int:
        """How many."""


@runtime_checkable
class OwnFramesDiagnostic(Diagnostic, Protocol):
    """A diagnostic that shows a number of frames of its own, whatever the plan shows."""

    frames_option: str
    """The option that sets how many."""


class _Embedding(Protocol):
    """What embedders of both kinds say of themselves. Frames are RGB arrays of shape (height, width, 3).

    `identity` is what the numbers depend on: kind, weights, precision. `size` limits the frames wanted.
    """

    identity: str
    size: str


@runtime_checkable
class ComparingEmbedder(_Embedding, Protocol):
    """An embedder that works in two steps, so that what it saw in a frame is kept for all texts.

    `features_identity` is what the features alone depend on.
    """

    features_identity: str

    def features(self, frames: Sequence[NDArray[np.uint8]]) -> NDArray[np.float32]:
        """One vector for each frame, shape (n_frames, n_dims)."""

    def compare(self, features: NDArray[np.float32], texts: Sequence[str]) -> NDArray[np.float32]:
        """How well frames match texts, shape (n_frames, n_texts)."""


class MatchingEmbedder(_Embedding, Protocol):
    """An embedder that looks at every frame with every text."""

    def match(self, frames: Sequence[NDArray[np.uint8]], texts: Sequence[str]) -> NDArray[np.float32]:
        """How well frames match texts, shape (n_frames, n_texts)."""


Embedder: TypeAlias = ComparingEmbedder | MatchingEmbedder
"""How well frames match texts, for selectors."""


class ScoreRules(Record):
    """The frames and the question that a selector wants scored.

    `embedder` is a spec such as ``blip-itm:/weights`` (empty: the scores come from `file`). `query` names
    how the question is put to it: ``question`` or ``question+choices``; `max_tokens` is where that text is
    cut off (0: where the embedder cuts). `file` holds scores that were computed elsewhere.
    """

    embedder: str = ""
    query: str = "question"
    max_tokens: int = 0
    file: str = ""


@runtime_checkable
class ScoringSelector(Selector, Protocol):
    """A selector that ranks frames by how well they match the question.

    `score_rules` says what is to be scored; the frames to score are `candidates`. Without `scores` it
    reads them from the file of its `score_rules`; where that names none it refuses to choose.
    """

    score_rules: ScoreRules

    def candidates(self, clip: Clip) -> NDArray[np.int64]:
        """Positions in `clip` that want a score, ascending, shape (n_candidates,)."""

    def select(
        self, clip: Clip, item: Item, *, n_frames: int, scores: NDArray[np.float64] | None = None
    ) -> NDArray[np.int64]:
        """What is shown, in the order of time; arguments and errors as for `rank`."""

    def rank(
        self, clip: Clip, item: Item, *, n_frames: int, scores: NDArray[np.float64] | None = None
    ) -> NDArray[np.int64]:
        """Positions in `clip`, best first.

        Args:
            clip: the frames.
            item: the question.
            n_frames: the budget.
            scores: one for each candidate, shape (n_candidates,); None where a file has them.

        Raises:
            UsageError: no scores.
            DataError: scores that are not numbers, or not as many as there are candidates.
        """
