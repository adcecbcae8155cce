"""The values that travel between the stages. Frozen; unknown fields are refused."""

import functools
import math
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, Self, TypeAlias, TypeVar, cast, dataclass_transform

import msgspec

KeyT = TypeVar("KeyT")
ValueT = TypeVar("ValueT")


class _KeywordsOnly(msgspec.StructMeta):
    """msgspec does not inherit `kw_only`: every record takes keywords only, without saying so."""

    def __new__(
        mcls,
        name: str,
        bases: tuple[type, ...],
        namespace: dict[str, object],
        **config: Any,  # noqa: ANN401 - those of msgspec.Struct
    ) -> "_KeywordsOnly":
        config.setdefault("kw_only", True)
        return super().__new__(mcls, name, bases, namespace, **config)


@dataclass_transform(kw_only_default=True, frozen_default=True, field_specifiers=(msgspec.field,))
class Record(msgspec.Struct, frozen=True, forbid_unknown_fields=True, metaclass=_KeywordsOnly):
    """A frozen value that can be stored as JSON and read back."""


# --------------------------------------------------------------------------- what is asked


class Media(Record, omit_defaults=True):
    """A video, an image, or a folder of numbered images that a question is about.

    `path` is relative to the folder of the data unless it is absolute. `start_s`, `end_s` cut a
    span ``[start_s, end_s)`` out of a video, in seconds of presentation time; where both are the same, the
    frame that is on screen then.
    """

    path: str | None = None
    url: str | None = None
    kind: Literal["video", "image", "frames"] = "video"
    start_s: float | None = None
    end_s: float | None = None
    sha256: str | None = None

    @property
    def is_still(self) -> bool:
        """Whether it is one picture: an image, or a frame of a video."""
        return self.kind == "image" or (self.start_s is not None and self.start_s == self.end_s)


class Evidence(Record, omit_defaults=True):
    """A span ``[start_s, end_s)`` of the video that the answer rests on.

    `referred` evidence is named by the question, `proactive` evidence has to be looked for
    (HumanPCR, section 3), `oracle` evidence comes from the making of the question (HERBench). `frames` are
    frames of the video that show it, the best first. `step` is the place of the reasoning step that it
    belongs to among `Item.steps`, from 0; None where that is not said.
    """

    kind: Literal["referred", "proactive", "oracle"] = "referred"
    start_s: float | None = None
    end_s: float | None = None
    frames: tuple[int, ...] = ()
    note: str = ""
    step: int | None = None


class Provenance(Record, omit_defaults=True):
    """Where an item comes from and under which terms it may be used."""

    source: str = ""
    licence: str = ""
    revision: str = ""
    maker: str = ""


class Subtitles(Record, omit_defaults=True):
    """The speech in the medium of a question: a file, and where in it the medium begins, in seconds."""

    path: str
    from_s: float = 0.0


Subtitling: TypeAlias = Literal["paper", "none", "all", "shown", "interleaved"]
"""Which subtitles a model is given: none, all, or those of its frames, in a block or among them.

``paper``, as a protocol of the benchmark does, is what users say; plans and protocols say which that is.
"""


WITHIN = "\x1f"  # in the name of a group, between that of the group it lies in and its own


@functools.cache
def first_letters(n: int) -> tuple[str, ...]:
    """The first choice letters."""
    return tuple(chr(ord("A") + i) for i in range(n))


class Item(Record, omit_defaults=True):
    """One question about some media: one line of the format ``vidence-item/1``.

    For `answer_kind` ``choice`` the loaders turn `answer` into the letter of the right choice;
    `choices` holds bare texts without letters. `source_id` names the film, place or recording that the media
    were cut from, where several are of one (in Python it is given as `source`). `steps` is the rationale in
    single steps of reasoning, where it was written so. An empty `answer` is hidden: such a question can be
    asked, and not scored.
    """

    item_id: str
    benchmark: str = ""
    media: tuple[Media, ...] = ()
    source: str = msgspec.field(default="", name="source_id")
    question: str
    choices: tuple[str, ...] = ()
    answer: str = ""
    answer_kind: Literal["choice", "text"] = "choice"
    tags: dict[str, str] = {}
    evidence: tuple[Evidence, ...] = ()
    rationale: str = ""
    steps: tuple[str, ...] = ()
    hints: tuple[str, ...] = ()
    knowledge: tuple[str, ...] = ()
    provenance: Provenance | None = None
    subtitles: Subtitles | None = None

    @property
    def video_id(self) -> str:
        """What questions about the same media share: they are decoded together."""
        names = [m.path or m.url or "" for m in self.media]
        return "|".join(names) if any(names) else self.item_id

    @property
    def source_id(self) -> str:
        """What questions about one film, place or recording share; the unit by which scores are clustered.

        It is `source` where that is known, otherwise the medium.
        """
        return self.source or self.video_id

    def group(self, tags: str) -> str | None:
        """The value of a tag, or of some within each other (``task/kind``); None where a tag is lacking."""
        names = [tags] if tags in self.tags else tags.split("/")
        return None if set(names) - self.tags.keys() else WITHIN.join(self.tags[name] for name in names)

    @property
    def letters(self) -> tuple[str, ...]:
        """The letters of the choices, ``A`` first."""
        return first_letters(len(self.choices))

    @property
    def is_hidden(self) -> bool:
        """Whether the answer is not there."""
        return not self.answer

    def with_order(self, order: tuple[int, ...]) -> "Item":
        """The same question with its choices in another order, and the letter of its answer moved along.

        Args:
            order: for each place the position of the choice that is shown there; empty for no change.

        Raises:
            ValueError: `order` is no permutation of the choices.
        """
        if not order:
            return self
        if sorted(order) != list(range(len(self.choices))):
            raise ValueError(f"{order} is not a permutation of {len(self.choices)} choices")
        answer = chr(ord("A") + order.index(ord(self.answer) - ord("A"))) if self.answer else ""
        return msgspec.structs.replace(self, choices=tuple(self.choices[i] for i in order), answer=answer)


class SharedParts:
    """Keeps once what many questions repeat: their choices, media and tags, most of what they weigh."""

    def __init__(self) -> None:
        self._choices: dict[tuple[str, ...], tuple[str, ...]] = {}
        self._media: dict[tuple[Media, ...], tuple[Media, ...]] = {}
        self._tags: dict[tuple[tuple[str, str], ...], dict[str, str]] = {}

    def item(self, item: Item) -> Item:
        """An equal question that shares them with those before."""
        return msgspec.structs.replace(
            item,
            benchmark=sys.intern(item.benchmark),
            choices=self._choices.setdefault(item.choices, item.choices),
            media=self._media.setdefault(item.media, item.media),
            tags=self._tags.setdefault(tuple(item.tags.items()), item.tags),
        )


ClusterNoun: TypeAlias = Literal["source", "video", "person"]


def source_noun(items: Iterable[Item]) -> ClusterNoun:
    """What the clusters of these items are called: sources where some media share one, else videos."""
    items, sources = tuple(items), dict[str, str]()
    if not any(item.source for item in items):  # the usual case, and asked for often
        return "video"
    for item in items:
        if sources.setdefault(item.source_id, item.video_id) != item.video_id:
            return "source"
    return "video"


class Clusters(tuple[str, ...]):
    """The cluster of each of several items, by its name; `noun` says what clusters are called.

    Statistics take it as they take any names, and say sources or videos as it does.

    >>> Clusters(["film", "film"], noun="source").part([0]).noun
    'source'
    """

    noun: ClusterNoun

    def __new__(cls, names: Iterable[str], *, noun: ClusterNoun) -> Self:
        """The names with their noun."""
        result = super().__new__(cls, names)
        result.noun = noun
        return result

    @classmethod
    def of(cls, items: Sequence[Item], *, noun: ClusterNoun | None = None) -> Self:
        """The source of each item; `noun` is given where these are a part of more, which have one."""
        return cls((item.source_id for item in items), noun=noun or source_noun(items))

    @property
    def n(self) -> int:
        """How many different ones there are."""
        return len(set(self))

    def part(self, positions: Iterable[int]) -> Self:
        """Those of some of the items, with the same noun."""
        return type(self)((self[i] for i in positions), noun=self.noun)


def noun_of(clusters: Sequence[str]) -> ClusterNoun:
    """What clusters are called; videos where nothing else is known."""
    return clusters.noun if isinstance(clusters, Clusters) else "video"


def by_key(pairs: Iterable[tuple[KeyT, ValueT]]) -> dict[KeyT, list[ValueT]]:
    """Group the values of pairs by their keys; keys and values keep the order in which they come.

    >>> by_key((word[0], word) for word in ("ant", "bee", "asp"))
    {'a': ['ant', 'asp'], 'b': ['bee']}
    """
    groups: dict[KeyT, list[ValueT]] = {}
    for key, value in pairs:
        groups.setdefault(key, []).append(value)
    return groups


def item_schema() -> dict[str, object]:
    """The JSON Schema of an `Item`, that is of one line of the format ``vidence-item/1``."""
    return msgspec.json.schema(Item)


# --------------------------------------------------------------------------- what is shown and said


class FrameRef(Record):
    """One frame of one of the item's media.

    `frame_index` counts frames in the order of presentation, from 0; `time_s` is the presentation
    time in seconds from the first frame of the file.
    """

    media_index: int = 0
    frame_index: int
    time_s: float


class Selection(Record):
    """The frames chosen for one question, in the order in which they are shown."""

    selector: str
    version: int
    frames: tuple[FrameRef, ...]
    n_candidates: int
    note: str = ""


class TextPart(Record, tag="text"):
    """Words."""

    text: str


class ImagePart(Record, tag="image"):
    """An encoded image, named by the SHA-256 of its bytes.

    `frames` are the positions in the item's selection that it shows: one, or several in a montage.
    """

    digest: str
    width_px: int
    height_px: int
    media_type: str = "image/jpeg"
    frames: tuple[int, ...] = ()


class VideoPart(Record, tag="video"):
    """A whole video file, sent as it is."""

    path: str
    digest: str
    media_type: str = "video/mp4"


Part: TypeAlias = TextPart | ImagePart | VideoPart


class Prompt(Record):
    """What one question looks like when it is sent; images are named, not held.

    `choices` repeats the item's choices for readers of log-probabilities and for baselines; it is
    not sent. `template` names the template file and the digest of its text. `reply_schema` is the JSON
    Schema that a model which offers structured output is held to; others do not see it, so that whoever
    reads the reply must be ready for anything.
    """

    parts: tuple[Part, ...]
    choices: tuple[str, ...] = ()
    system: str = ""
    template: str = ""
    reply_schema: dict[str, object] | None = None

    @property
    def text(self) -> str:
        """The words of the prompt, without its images."""
        return "\n".join(p.text for p in self.parts if isinstance(p, TextPart))

    @property
    def letters(self) -> tuple[str, ...]:
        """The letters of the choices, ``A`` first."""
        return first_letters(len(self.choices))


class Sampling(Record):
    """How a reply is drawn. None leaves a setting to the server.

    `want_choice_logps` asks for the log-probabilities of the choice letters where the model offers them.
    """

    temperature: float | None = 0.0
    top_p: float | None = None
    max_tokens: int | None = 1024
    seed: int | None = None
    want_choice_logps: bool = False


# --------------------------------------------------------------------------- what came back


class Usage(Record, omit_defaults=True):
    """Tokens that a reply was billed for, where the model says so.

    Of `input_tokens`, `cached_tokens` came from the provider's cache and `cache_write_tokens` went there.
    """

    input_tokens: int | None = None
    output_tokens: int | None = None
    cached_tokens: int | None = None
    cache_write_tokens: int | None = None


def total_usage(usages: Iterable[Usage]) -> Usage:
    """The tokens of several replies together; None where no reply says any."""
    columns: dict[str, list[int]] = {}
    for usage in usages:
        for name in Usage.__struct_fields__:
            if (n := getattr(usage, name)) is not None:
                columns.setdefault(name, []).append(n)
    return Usage(**{name: sum(counts) for name, counts in columns.items()})


class Reply(Record):
    """What a model said.

    `choice_logps` maps choice letters to natural-log probabilities at the first position of the
    answer (not renormalised over the letters); letters that the model did not report are absent.
    `finish` is ``length`` when the reply was cut off at `max_tokens`. `is_guess` is set where the model
    itself knows that it only guessed. `logged` is the mark that another tool gave it, whose log was imported.
    """

    text: str
    reasoning: str = ""
    finish: Literal["stop", "length", "refusal", "other"] = "stop"
    refusal: str = ""
    model: str = ""
    usage: Usage = Usage()
    latency_s: float = 0.0
    choice_logps: dict[str, float] | None = None
    is_guess: bool = False
    logged: float | None = None


class Answered(Record, tag="answered"):
    """An answer was read: a letter for choices, a text otherwise; `rule` says how it was found."""

    answer: str
    rule: str = ""


class Unreadable(Record, tag="unreadable"):
    """The model replied, and no answer could be read from it."""

    reason: str


class Refused(Record, tag="refused"):
    """The model declined to answer."""

    reason: str


class Failed(Record, tag="failed"):
    """There is no reply to read: media that cannot be decoded, a server that did not answer.

    `error` is the name of the error class, `stage` the stage in which it happened.
    """

    stage: Literal["media", "selection", "prompting", "model", "scoring"]
    error: str
    message: str


Outcome: TypeAlias = Answered | Unreadable | Refused | Failed
OutcomeName: TypeAlias = Literal["answered", "unreadable", "refused", "failed"]


def outcome_name(outcome: Outcome) -> OutcomeName:
    """The outcome in one word."""
    return cast("OutcomeName", outcome.__struct_config__.tag)


class Verdict(Record):
    """What one judge said of one reply.

    `value` is 1.0 for right, 0.0 for wrong, None where no verdict could be read (a judge error; then
    `error` says why and nothing is guessed). `points` are on the judge's own scale, such as 0 to 4.
    `extracted` is the answer that the judge took out of the reply. `judge_model` is the identity of the
    model that judged, `temperature` how it was drawn, `said` its replies word for word, the repair last.
    `contradiction` says what in the verdict contradicts `value`, which counts nevertheless; without a value
    it is why there is none.
    """

    judge_model: str
    value: float | None
    points: float | None = None
    extracted: str = ""
    reason: str = ""
    temperature: float | None = None
    said: tuple[str, ...] = ()
    error: str = ""
    contradiction: str = ""


LOGP = "logp"  # of a score: the scorer that reads the first token alone
NEEDS_JUDGE = "needs-judge"  # of a score: the scorer that leaves free answers to a judge
EXTRACT = "extract"  # of a score: the judge that reads choices where no rule could
ANSWER_HIDDEN = "answer-hidden"  # of a score: that of a reply to a question with a hidden answer
UNDECIDED = "Undecided"  # of a score: every judge gave a verdict, and they are tied


class Score(Record):
    """How one outcome was marked.

    `value` is 1.0 for right and 0.0 for wrong; unreadable, refused and failed count 0.0. It is None
    where marking needs a judge that was not asked yet (`scorer` is then ``needs-judge``), or an answer that
    is hidden (``answer-hidden``). `points` is a finer mark on the scorer's own scale. `verdicts` holds what
    the judges said: one, or one of each member of a panel. `unanswered` holds the verdicts of judges that
    were asked later and gave none: the score is the one from before.
    """

    outcome: Outcome
    value: float | None
    scorer: str
    scorer_version: int
    points: float | None = None
    verdicts: tuple[Verdict, ...] = ()
    unanswered: tuple[Verdict, ...] = ()

    def is_cut(self, reply: Reply | None) -> bool:
        """Whether the reply was cut off at the limit of tokens, and more than its first token is read."""
        return reply is not None and reply.finish == "length" and self.scorer != LOGP

    @property
    def counted(self) -> float | None:
        """`value` as it enters a mean: None where a judge is still to be asked, or gave no verdict.

        While a free answer waits for its judge, a free question without an answer waits too: a mean
        over the bad ones alone would say nothing.
        """
        return None if self.scorer == NEEDS_JUDGE or self.has_judge_error else self.value

    @property
    def is_undecided(self) -> bool:
        """Whether the judges of a panel gave verdicts that are tied."""
        return isinstance(self.outcome, Failed) and self.outcome.error == UNDECIDED and bool(self.verdicts)

    @property
    def has_judge_error(self) -> bool:
        """Whether judges were asked and no verdict came of it; a tied panel is another case."""
        return bool(self.verdicts) and isinstance(self.outcome, Failed) and not self.is_undecided


class Aside(Record):
    """Words beside a question, or in its place."""

    name: str = ""
    """Of a template of `ask.prompting.templates.ASIDES`; empty: none."""
    said: Mapping[str, str] = {}
    """What it uses beside the question, such as a reply to be looked over."""
    is_alone: bool = False
    """Whether it stands in place of the question's own words, for a prompt that wants no answer."""


class Step(Record, omit_defaults=True):
    """One reply on the way to an answer."""

    role: str
    """What it was asked for: ``candidate``, ``reward``, ``critique``, ``rewrite``."""
    reply: Reply
    model: str = ""
    """The strategy's name of the model that was asked; empty: the model under test."""
    sample: int = 0
    """Tells several replies to one prompt apart."""
    is_remembered: bool = False
    about: int | None = None
    """What a reward or a critique is about: the place of that step among all, from 0."""


class Trial(Record):
    """One question put to one model once. `repeat` counts from 0.

    `choice_order` says in which order the choices were shown, by their positions in the item; empty
    where that was the item's own order. The letters in `reply` and `score` are those that were shown.
    """

    item_id: str
    repeat: int = 0
    choice_order: tuple[int, ...] = ()
    selection: Selection | None = None
    prompt: Prompt | None = None
    reply: Reply | None = None
    score: Score
    is_remembered: bool = False
    steps: tuple[Step, ...] = ()
    """All replies of a strategy that asks more than once, the one that counts among them."""

    @property
    def replies(self) -> tuple[Reply, ...]:
        """All that the models said for this trial."""
        if self.steps:
            return tuple(step.reply for step in self.steps)
        return () if self.reply is None else (self.reply,)

    @property
    def new_replies(self) -> tuple[Reply, ...]:
        """Those of them that were asked for, and paid: the others came out of the memory."""
        if self.steps:
            return tuple(step.reply for step in self.steps if not step.is_remembered)
        return () if self.is_remembered else self.replies

    @property
    def usage(self) -> Usage:
        """The tokens of all replies together; None where no reply says any."""
        return total_usage(reply.usage for reply in self.replies)


# --------------------------------------------------------------------------- what it amounts to


class Estimate(Record, omit_defaults=True):
    """A figure with its uncertainty; every figure in a report is one of these.

    ``[low, high]`` is the interval at `level`; both are NaN where no interval can be computed, and `reason`
    says why, such as ``too few videos (1)``. `dof` are the degrees of freedom of Student's t; None where none
    was used. `clustered_by` says what the `n_clusters` are. Where people and clusters are crossed factors,
    `n_people` counts the people; otherwise it is 0. `corrected` is what it is as people mark the replies, of
    which they read a sample (`vidence replies check-sample`); NaN, with a reason, where they read too few.
    """

    value: float
    low: float
    high: float
    level: float
    n: int
    n_clusters: int
    method: str
    dof: float | None = None
    reason: str = ""
    clustered_by: ClusterNoun = "video"
    n_people: int = 0
    corrected: "Estimate | None" = None

    @classmethod
    def alone(cls, value: float, *, method: str, reason: str, n: int = 1, level: float = 0.95) -> Self:
        """A figure without an interval, and why it has none."""
        nan = math.nan
        return cls(
            value=value, low=nan, high=nan, level=level, n=n, n_clusters=n, method=method, reason=reason
        )
