"""The values passed between stages. Immutable; unknown fields are rejected."""

import functools
import math
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, Self, TypeAlias, TypeVar, cast, dataclass_transform

import msgspec

KeyT = TypeVar("KeyT")
ValueT = TypeVar("ValueT")


class _KeywordsOnly(msgspec.StructMeta):
    """msgspec does not inherit `kw_only`: this makes all records keyword-only."""

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
    """An immutable value that can be stored as JSON and read back."""


# --------------------------------------------------------------------------- what is asked


class Media(Record, omit_defaults=True):
    """A video, image, or folder of numbered images that a question is about.

    `path` is relative to the data folder unless absolute. `start_s`, `end_s` select a span ``[start_s,
    end_s)`` of a video, in seconds of presentation time; if both are equal, the frame on screen then.
    """

    path: str | None = None
    url: str | None = None
    kind: Literal["video", "image", "frames"] = "video"
    start_s: float | None = None
    end_s: float | None = None
    sha256: str | None = None

    @property
    def is_still(self) -> bool:
        """Whether it is a single picture: an image, or a frame of a video."""
        return self.kind == "image" or (self.start_s is not None and self.start_s == self.end_s)


class Evidence(Record, omit_defaults=True):
    """A span ``[start_s, end_s)`` of the video that the answer rests on.

    `referred` evidence is named by the question, `proactive` evidence must be found (HumanPCR, section 3),
    `oracle` evidence comes from the construction of the question (HERBench). `frames` are frames of the video
    that show it, the best first. `step` is the index of its reasoning step in `Item.steps`, from 0; None if
    unknown.
    """

    kind: Literal["referred", "proactive", "oracle"] = "referred"
    start_s: float | None = None
    end_s: float | None = None
    frames: tuple[int, ...] = ()
    note: str = ""
    step: int | None = None


class Provenance(Record, omit_defaults=True):
    """Where an item comes from, and the terms of its use."""

    source: str = ""
    licence: str = ""
    revision: str = ""
    maker: str = ""


class Subtitles(Record, omit_defaults=True):
    """The speech in a question's medium: a file, and where the medium starts in it, in seconds."""

    path: str
    from_s: float = 0.0


Subtitling: TypeAlias = Literal["paper", "none", "all", "shown", "interleaved"]
"""Which subtitles a model is given: none, all, or those of its frames, in a block or among them.

``paper``, as a protocol of the benchmark does, is what users say; plans and protocols say which that is.
"""


WITHIN = "\x1f"  # in the name of a group, between that of the group it lies in and its own


@functools.cache
def first_letters(n: int) -> tuple[str, ...]:
    """Return the first n choice letters."""
    return tuple(chr(ord("A") + i) for i in range(n))


class Item(Record, omit_defaults=True):
    """A question about some media: one line of the format ``vidence-item/1``.

    For `answer_kind` ``choice``, loaders turn `answer` into the letter of the right choice; `choices` are
    texts without letters. `source_id` names the film, place or recording that several media were cut from (in
    Python the argument is `source`). `steps` is the rationale as single reasoning steps, if available. An
    empty `answer` is hidden: such a question can be asked, but not scored.
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
        """Return what questions about the same media share; they are decoded together."""
        names = [m.path or m.url or "" for m in self.media]
        return "|".join(names) if any(names) else self.item_id

    @property
    def source_id(self) -> str:
        """Return what questions about one film, place or recording share, the unit of clustering.

        It is `source` if known, otherwise the medium.
        """
        return self.source or self.video_id

    def group(self, tags: str) -> str | None:
        """Return the value of a tag, or of nested tags (``task/kind``); None if a tag is missing."""
        names = [tags] if tags in self.tags else tags.split("/")
        return None if set(names) - self.tags.keys() else WITHIN.join(self.tags[name] for name in names)

    @property
    def letters(self) -> tuple[str, ...]:
        """Return the letters of the choices, ``A`` first."""
        return first_letters(len(self.choices))

    @property
    def is_hidden(self) -> bool:
        """Whether the answer is missing."""
        return not self.answer

    def with_order(self, order: tuple[int, ...]) -> "Item":
        """Return the question with its choices in another order, and its answer's letter adjusted.

        Args:
            order: for each position, the index of the choice shown there; empty for no change.

        Raises:
            ValueError: `order` is not a permutation of the choices.
        """
        if not order:
            return self
        if sorted(order) != list(range(len(self.choices))):
            raise ValueError(f"{order} is not a permutation of {len(self.choices)} choices")
        answer = chr(ord("A") + order.index(ord(self.answer) - ord("A"))) if self.answer else ""
        return msgspec.structs.replace(self, choices=tuple(self.choices[i] for i in order), answer=answer)


class SharedParts:
    """Stores repeated parts of questions once: choices, media and tags, most of their memory."""

    def __init__(self) -> None:
        self._choices: dict[tuple[str, ...], tuple[str, ...]] = {}
        self._media: dict[tuple[Media, ...], tuple[Media, ...]] = {}
        self._tags: dict[tuple[tuple[str, str], ...], dict[str, str]] = {}

    def item(self, item: Item) -> Item:
        """Return an equal question that shares parts with earlier ones."""
        return msgspec.structs.replace(
            item,
            benchmark=sys.intern(item.benchmark),
            choices=self._choices.setdefault(item.choices, item.choices),
            media=self._media.setdefault(item.media, item.media),
            tags=self._tags.setdefault(tuple(item.tags.items()), item.tags),
        )


ClusterNoun: TypeAlias = Literal["source", "video", "person"]


def source_noun(items: Iterable[Item]) -> ClusterNoun:
    """Return what these items' clusters are called: sources if some media share one, else videos."""
    items, sources = tuple(items), dict[str, str]()
    if not any(item.source for item in items):  # the usual case, and asked for often
        return "video"
    for item in items:
        if sources.setdefault(item.source_id, item.video_id) != item.video_id:
            return "source"
    return "video"


class Clusters(tuple[str, ...]):
    """The cluster names of items; `noun` is what clusters are called.

    Statistics accept it like any sequence of names, and use its noun.

    >>> Clusters(["film", "film"], noun="source").part([0]).noun
    'source'
    """

    noun: ClusterNoun

    def __new__(cls, names: Iterable[str], *, noun: ClusterNoun) -> Self:
        """Create clusters from names and a noun."""
        result = super().__new__(cls, names)
        result.noun = noun
        return result

    @classmethod
    def of(cls, items: Sequence[Item], *, noun: ClusterNoun | None = None) -> Self:
        """Return the source of each item; pass `noun` if these are part of a larger set."""
        return cls((item.source_id for item in items), noun=noun or source_noun(items))

    @property
    def n(self) -> int:
        """Return the number of distinct clusters."""
        return len(set(self))

    def part(self, positions: Iterable[int]) -> Self:
        """Return the clusters of some items, with the same noun."""
        return type(self)((self[i] for i in positions), noun=self.noun)


def noun_of(clusters: Sequence[str]) -> ClusterNoun:
    """Return what clusters are called; videos by default."""
    return clusters.noun if isinstance(clusters, Clusters) else "video"


def by_key(pairs: Iterable[tuple[KeyT, ValueT]]) -> dict[KeyT, list[ValueT]]:
    """Group the values of pairs by key; keys and values keep their order.

    >>> by_key((word[0], word) for word in ("ant", "bee", "asp"))
    {'a': ['ant', 'asp'], 'b': ['bee']}
    """
    groups: dict[KeyT, list[ValueT]] = {}
    for key, value in pairs:
        groups.setdefault(key, []).append(value)
    return groups


def item_schema() -> dict[str, object]:
    """Return the JSON Schema of an `Item`, a line of the format ``vidence-item/1``."""
    return msgspec.json.schema(Item)


# --------------------------------------------------------------------------- what is shown and said


class FrameRef(Record):
    """One frame of one of the item's media.

    `frame_index` counts frames in presentation order, from 0; `time_s` is the presentation time in seconds
    from the file's first frame.
    """

    media_index: int = 0
    frame_index: int
    time_s: float


class Selection(Record):
    """The frames chosen for a question, in display order."""

    selector: str
    version: int
    frames: tuple[FrameRef, ...]
    n_candidates: int
    note: str = ""


class TextPart(Record, tag="text"):
    """A text part of a prompt."""

    text: str


class ImagePart(Record, tag="image"):
    """An encoded image, identified by the SHA-256 of its bytes.

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
    """A question as sent; images are referenced by digest.

    `choices` repeats the item's choices for readers of log-probabilities and for baselines; it is not sent.
    `template` names the template file and the digest of its text. `reply_schema` is the JSON Schema for
    models with structured output; other models do not see it, so any reply must be handled.
    """

    parts: tuple[Part, ...]
    choices: tuple[str, ...] = ()
    system: str = ""
    template: str = ""
    reply_schema: dict[str, object] | None = None

    @property
    def text(self) -> str:
        """Return the text of the prompt, without images."""
        return "\n".join(p.text for p in self.parts if isinstance(p, TextPart))

    @property
    def letters(self) -> tuple[str, ...]:
        """Return the letters of the choices, ``A`` first."""
        return first_letters(len(self.choices))


class Sampling(Record):
    """How a reply is sampled. None leaves a setting to the server.

    `want_choice_logps` requests the choice letters' log-probabilities if the model offers them.
    """

    temperature: float | None = 0.0
    top_p: float | None = None
    max_tokens: int | None = 1024
    seed: int | None = None
    want_choice_logps: bool = False


# --------------------------------------------------------------------------- what came back


class Usage(Record, omit_defaults=True):
    """Billed tokens of a reply, if the model reports them.

    Of `input_tokens`, `cached_tokens` were read from the provider's cache and `cache_write_tokens` written to
    it.
    """

    input_tokens: int | None = None
    output_tokens: int | None = None
    cached_tokens: int | None = None
    cache_write_tokens: int | None = None


def total_usage(usages: Iterable[Usage]) -> Usage:
    """Return the tokens of several replies together; None if no reply reports any."""
    columns: dict[str, list[int]] = {}
    for usage in usages:
        for name in Usage.__struct_fields__:
            if (n := getattr(usage, name)) is not None:
                columns.setdefault(name, []).append(n)
    return Usage(**{name: sum(counts) for name, counts in columns.items()})


class Reply(Record):
    """A model's reply.

    `choice_logps` maps choice letters to natural-log probabilities at the answer's first position (not
    renormalised over the letters); letters that the model did not report are absent. `finish` is ``length``
    if the reply was cut off at `max_tokens`. `is_guess` is set if the model states that it guessed. `logged`
    is the score given by another tool whose log was imported.
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
    """An answer was parsed: a letter for choices, a text otherwise; `rule` says how."""

    answer: str
    rule: str = ""


class Unreadable(Record, tag="unreadable"):
    """The model replied, but no answer could be parsed."""

    reason: str


class Refused(Record, tag="refused"):
    """The model declined to answer."""

    reason: str


class Failed(Record, tag="failed"):
    """There is no reply to parse: media that cannot be decoded, a server that did not answer.

    `error` is the name of the error class, `stage` the stage in which it occurred.
    """

    stage: Literal["media", "selection", "prompting", "model", "scoring"]
    error: str
    message: str


Outcome: TypeAlias = Answered | Unreadable | Refused | Failed
OutcomeName: TypeAlias = Literal["answered", "unreadable", "refused", "failed"]


def outcome_name(outcome: Outcome) -> OutcomeName:
    """Return the outcome in one word."""
    return cast("OutcomeName", outcome.__struct_config__.tag)


class Verdict(Record):
    """One judge's verdict on one reply.

    `value` is 1.0 for right, 0.0 for wrong, None if no verdict could be parsed (a judge error; `error` says
    why, and nothing is guessed). `points` are on the judge's own scale, such as 0 to 4. `extracted` is the
    answer that the judge extracted from the reply. `judge_model` is the identity of the judge model,
    `temperature` its sampling, `said` its replies verbatim, the repair last. `contradiction` describes what
    in the verdict contradicts `value`, which counts nevertheless; without a value, why there is none.
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
    """The score of an outcome.

    `value` is 1.0 for right and 0.0 for wrong; unreadable, refused and failed count 0.0. It is None if a
    judge is still to be asked (`scorer` is then ``needs-judge``), or the answer is hidden
    (``answer-hidden``). `points` is a finer score on the scorer's own scale. `verdicts` contains the judges'
    verdicts: one, or one per member of a panel. `unanswered` contains the verdicts of judges that were asked
    later and gave none: the score is then the earlier one.
    """

    outcome: Outcome
    value: float | None
    scorer: str
    scorer_version: int
    points: float | None = None
    verdicts: tuple[Verdict, ...] = ()
    unanswered: tuple[Verdict, ...] = ()

    def is_cut(self, reply: Reply | None) -> bool:
        """Whether the reply was cut off at the token limit, and more than its first token is used."""
        return reply is not None and reply.finish == "length" and self.scorer != LOGP

    @property
    def counted(self) -> float | None:
        """Return `value` as it enters a mean: None if a judge is still to be asked, or gave no verdict.

        While a free answer waits for its judge, a free question without an answer waits too: a mean over the
        failures alone would be meaningless.
        """
        return None if self.scorer == NEEDS_JUDGE or self.has_judge_error else self.value

    @property
    def is_undecided(self) -> bool:
        """Whether a panel's verdicts are tied."""
        return isinstance(self.outcome, Failed) and self.outcome.error == UNDECIDED and bool(self.verdicts)

    @property
    def has_judge_error(self) -> bool:
        """Whether judges were asked and gave no verdict; a tied panel is another case."""
        return bool(self.verdicts) and isinstance(self.outcome, Failed) and not self.is_undecided


class Aside(Record):
    """Text added to a question, or replacing it."""

    name: str = ""
    """Name of a template in `ask.prompting.templates.ASIDES`; empty: none."""
    said: Mapping[str, str] = {}
    """Its values besides the question, such as a reply to review."""
    is_alone: bool = False
    """Whether it replaces the question's text, for prompts that request no answer."""


class Step(Record, omit_defaults=True):
    """One reply on the way to an answer."""

    role: str
    """Its role: ``candidate``, ``reward``, ``critique``, ``rewrite``."""
    reply: Reply
    model: str = ""
    """The strategy's name of the model; empty: the model under test."""
    sample: int = 0
    """Distinguishes several replies to one prompt."""
    is_remembered: bool = False
    about: int | None = None
    """The step that a reward or critique is about, from 0."""


class Trial(Record):
    """One question asked of one model once. `repeat` counts from 0.

    `choice_order` is the order in which choices were shown, as indices into the item's choices; empty for the
    item's own order. The letters in `reply` and `score` are as shown.
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
    """All replies of a strategy that asks repeatedly, including the one that counts."""

    @property
    def replies(self) -> tuple[Reply, ...]:
        """Return all models' replies in this trial."""
        if self.steps:
            return tuple(step.reply for step in self.steps)
        return () if self.reply is None else (self.reply,)

    @property
    def new_replies(self) -> tuple[Reply, ...]:
        """Return the replies that were requested and paid; the others came from the cache."""
        if self.steps:
            return tuple(step.reply for step in self.steps if not step.is_remembered)
        return () if self.is_remembered else self.replies

    @property
    def usage(self) -> Usage:
        """Return the tokens of all replies together; None if no reply reports any."""
        return total_usage(reply.usage for reply in self.replies)


# --------------------------------------------------------------------------- what it amounts to


class Estimate(Record, omit_defaults=True):
    """A value with its uncertainty, the type of every figure in a report.

    ``[low, high]`` is the interval at `level`; both are NaN if no interval can be computed, and `reason` says
    why, such as ``too few videos (1)``. `dof` are the degrees of freedom of Student's t; None if not used.
    `clustered_by` says what the `n_clusters` are. If people and clusters are crossed factors, `n_people`
    counts the people; otherwise it is 0. `corrected` is the value corrected by a sample of replies read by
    people (`vidence replies check-sample`); NaN, with a reason, if they read too few.
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
        """Return a value without an interval, and why it has none."""
        nan = math.nan
        return cls(
            value=value, low=nan, high=nan, level=level, n=n, n_clusters=n, method=method, reason=reason
        )
