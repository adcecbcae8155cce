"""Records passed between steps of `vidence make`: material for questions, and drafts.

What a right answer rests on is said in words: a log, tracks and how they came about, cards.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal, Protocol, TypeAlias

import msgspec
import numpy as np

from vidence.contracts import Flow
from vidence.records import Evidence, Media, Record
from vidence.seeing.shooting import Shot
from vidence.seeing.tracks import TrackBasis, TrackedVideo

_MOST_WRITERS = 3


class VideoSource(Record, omit_defaults=True):
    """A video to ask about; `path` is relative to the folder of videos.

    `source_id` names the film or recording that it was cut from, where several videos are of one.
    `collection` is what HERBench calls the source data set; `licence` says what may be done with it.
    """

    video_id: str
    path: str
    source_id: str = ""
    n_frames: int
    fps: float
    duration_s: float
    width_px: int
    height_px: int
    sha256: str = ""
    collection: str = ""
    licence: str = ""


class Crop(Record):
    """A picture of one track in one frame; `digest` is the SHA-256 of its encoded bytes."""

    track_id: str
    frame_index: int
    digest: str
    width_px: int
    height_px: int
    media_type: str = "image/jpeg"


class Card(Record, omit_defaults=True):
    """A written description of one track: `A` appearance, `B` path and behaviour (HERBench, 7.2).

    `frames` are those that the writer was shown. `writer` is the identity of a model, a file, or a person.
    `fits` are the tracks of the video that an A-card was found to fit, by `identified_by`: a model, or
    people; where that is empty nobody has tried.
    """

    track_id: str
    kind: Literal["A", "B"]
    text: str
    frames: tuple[int, ...] = ()
    writer: str = ""
    fits: tuple[str, ...] = ()
    identified_by: str = ""

    @property
    def fits_it_alone(self) -> bool:
        """Whether a test on the people in the video matched only its own track."""
        return bool(self.identified_by) and self.fits == (self.track_id,)

    @property
    def fit(self) -> str:
        """The people it fits, and who tested it."""
        fits = f"fits tracks {', '.join(self.fits)}" if self.fits else "fits no track"
        return f"{fits}, says {self.identified_by}" if self.identified_by else "not tested"


class Change(Record):
    """One atomic detail changed in a false description; `before` is empty for additions."""

    kind: Literal["modification", "addition"]
    before: str = ""
    after: str


class SceneCard(Record, omit_defaults=True):
    """One sentence about a shot; a false one lists what was changed (HERBench, 7.4)."""

    card_id: str
    shot_id: str
    text: str
    changes: tuple[Change, ...] = ()
    frames: tuple[int, ...] = ()
    writer: str = ""

    @property
    def is_faithful(self) -> bool:
        """Whether it is meant to be true."""
        return not self.changes


class Event(Record, omit_defaults=True):
    """A narrated event: ``[start_s, end_s)``, the `verb` done to the `noun`.

    The classes put synonyms together; -1 where a log has none. `nouns` are all that the narration names.
    """

    event_id: str
    video_id: str
    start_s: float
    end_s: float
    narration: str
    verb: str
    noun: str
    verb_class: int = -1
    noun_class: int = -1
    nouns: tuple[str, ...] = ()
    noun_classes: tuple[int, ...] = ()


class PersonCount(Record, omit_defaults=True):
    """People counted by persons at a place, in a window of frames (None: the whole video).

    The true number is between `n_low` and `n_high`. `place` is ``entered:EDGE``, ``left:EDGE``,
    ``crossed:EDGE-EDGE`` or ``visited:REGION``. `frames` show somebody who was counted, `counters` say who
    counted what.
    """

    place: str
    window: tuple[int, int] | None = None
    n: int
    n_low: int
    n_high: int
    frames: tuple[int, ...] = ()
    counters: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Material:
    """Everything known about a video; `chosen` holds the ids of ranked tracks, best first.

    `crops` are the pictures that cards were written from; a card's `frames` say which are its own. `counts`
    are those of persons, beside which tracks may show fewer people.
    """

    source: VideoSource
    tracked: TrackedVideo | None = None
    chosen: tuple[str, ...] = ()
    a_cards: tuple[Card, ...] = ()
    b_cards: tuple[Card, ...] = ()
    shots: tuple[Shot, ...] = ()
    scene_cards: tuple[SceneCard, ...] = ()
    events: tuple[Event, ...] = ()
    crops: tuple[Crop, ...] = ()
    counts: tuple[PersonCount, ...] = ()


@dataclass(frozen=True, kw_only=True, eq=False)
class Corpus:
    """The source of foils: events and appearance cards of all videos, by video id.

    `looks` are those of the tracks that have a card, by video and track, as in `TrackedVideo`. A corpus
    equals itself alone, so that an index of it can be kept.
    """

    events: Mapping[str, tuple[Event, ...]] = field(default_factory=dict)
    a_cards: Mapping[str, tuple[Card, ...]] = field(default_factory=dict)
    looks: Mapping[str, Mapping[str, tuple[float, ...]]] = field(default_factory=dict)


BY_MODEL: Final = "model"
Doubt: TypeAlias = Literal["truth-by-model", "paper-count", "by-words-only", "identities-by-tracker"]
"""Why a person looks at a question in any case: a model gave the answer, people were counted by a detector,
or as the paper counts them, nobody tried whom the description of a person fits, or a tracker said who is
who."""


class Draft(Record, omit_defaults=True):
    """A draft question: text, answer, reason, evidence.

    `answer_index` is the place of the right choice. `evidence` are the spans that it was computed from; `k`
    of them, apart from each other, are needed by the construction of the question. `k_verified` proved needed
    when a model was shown the others; None if that was not tried, or the model is not right with all of
    them. `truth` says in words what the answer rests on (``log``, ``given tracks``, ``detected tracks, recall
    0.83 (0.71 to 0.92)``, ``cards by NAME``), ``person`` where persons counted, or ``model`` where a model
    gave it; sets made before these words say ``program``. `review` says why a person must look at it whatever
    the sample is. `facts` are the figures that the answer was computed from, for reviewers.

    `media` is what is shown: an image, several images, a clip, a clip with images. `video_id` is the id of
    the video in `Material`; empty in drafts that are not made from one. `source_id` names the film, place or
    recording that the media were cut from. `benchmark` is the set that it is made for. `k` is None if the
    construction of the question says nothing of it.
    """

    draft_id: str
    task: str
    structure: str
    video_id: str = ""
    question: str
    choices: tuple[str, ...]
    answer_index: int
    evidence: tuple[Evidence, ...]
    k: int | None = None
    k_verified: int | None = None
    truth: str = ""
    review: Literal["", Doubt] = ""
    tags: dict[str, str] = msgspec.field(default_factory=dict)
    facts: dict[str, str] = msgspec.field(default_factory=dict)
    media: tuple[Media, ...] = ()
    source_id: str = ""
    benchmark: str = ""

    @property
    def media_id(self) -> str:
        """An id shared by drafts about the same media; a draft without media has its own."""
        names = [medium.path or medium.url or "" for medium in self.media]
        return self.video_id or "|".join(filter(None, names)) or self.draft_id

    @property
    def is_by_model(self) -> bool:
        """Whether a model supplied the answer."""
        return self.truth == BY_MODEL

    @property
    def doubt(self) -> Literal["", Doubt]:
        """Return why a person must check it; empty if a program verified it."""
        return "truth-by-model" if self.is_by_model else self.review


class Dropped(Record, omit_defaults=True):
    """A dropped draft, card or track, with stage and reason.

    `reason` is a short name that accounts are kept by (``too-few-events``), `detail` what was seen.
    """

    what: str
    stage: str
    reason: str
    detail: str = ""


Made: TypeAlias = Draft | Dropped


class Task(Protocol):
    """One kind of question; one file in ``make/herbench/tasks/``.

    `code` is the paper's short name (``TSO``), `title` its long one, after which its file in a release is
    named, `family` its family. `needs` are the fields of `Material` without which it makes nothing,
    `uses` those that it reads where they are there, `across` those that it reads of all videos.
    `structures` are the forms of question that it has. A task that `asks` has its questions written by a
    model; one that `wants_people` does not count tracks of a detector without them.
    """

    code: str
    title: str
    family: str
    version: int
    needs: tuple[str, ...]
    uses: tuple[str, ...]
    across: tuple[str, ...]
    structures: tuple[str, ...]
    asks: bool
    wants_people: bool

    def draft(
        self, material: Material, corpus: Corpus, *, most: int, rng: np.random.Generator
    ) -> Flow[Sequence[Made]]:
        """Up to `most` questions about one video, and what could not be made.

        What is right is computed by a program from the fields of `needs`, and the draft step writes into
        `truth` what these rest on (`truth_words`). A draft that already says it keeps its words; where
        a model is asked instead, they are `BY_MODEL`.
        """


def n_apart(evidence: Sequence[Evidence]) -> int:
    """The largest number of disjoint spans of evidence.

    Evidence without a start and an end does not count.

    Source: HERBench, section 3.1 (at least three distinct observations, non-overlapping by the abstract).
    Departs: no.

    >>> n_apart([Evidence(start_s=0, end_s=2), Evidence(start_s=1, end_s=3), Evidence(start_s=2, end_s=4)])
    2
    """
    spans = sorted((e.end_s, e.start_s) for e in evidence if e.start_s is not None and e.end_s is not None)
    n_spans, free_from_s = 0, float("-inf")
    for end_s, start_s in spans:
        if start_s >= free_from_s:
            n_spans, free_from_s = n_spans + 1, end_s
    return n_spans


def tracks_words(basis: TrackBasis) -> str:
    """What tracks rest on.

    >>> tracks_words(TrackBasis(kind="given"))
    'given tracks'
    """
    return f"{basis.kind} tracks"


def truth_words(material: Material, parts: Iterable[str]) -> str:
    """What an answer rests on that was computed from these parts of the material.

    Empty if none of them says anything of that kind.
    """
    truth_words = (_WORDS[part](material) for part in parts if part in _WORDS)
    return "; ".join(dict.fromkeys(words for words in truth_words if words))


def truth_kind(draft: Draft) -> str:
    """What a draft rests on without figures and names, for sorting questions.

    >>> draft = Draft(draft_id="", task="", structure="", video_id="", question="", choices=(),
    ...     answer_index=0, evidence=(), k=3, truth="detected tracks; cards by A")
    >>> truth_kind(draft)
    'detected tracks, cards'
    """
    parts = (part.partition(" by ")[0] for part in draft.truth.split("; "))
    return ", ".join(dict.fromkeys(parts))


def _tracks(material: Material) -> str:
    return "" if material.tracked is None else tracks_words(material.tracked.basis)


def _cards(kind: str, cards: Iterable[Card | SceneCard]) -> str:
    writers = list(dict.fromkeys(card.writer for card in cards))
    if not writers:
        return ""
    named = [writer for writer in writers if writer]
    if len(named) < len(writers) or len(named) > _MOST_WRITERS:
        return f"{kind} by {len(writers)} writers" if named else kind
    return f"{kind} by {', '.join(named)}"


_WORDS: Final[Mapping[str, Callable[[Material], str]]] = {
    "events": lambda material: "log" if material.events else "",
    "tracked": _tracks,
    "shots": lambda material: "shots" if material.shots else "",
    "a_cards": lambda material: _cards("cards", material.a_cards),
    "b_cards": lambda material: _cards("cards", material.b_cards),
    "scene_cards": lambda material: _cards("scene cards", material.scene_cards),
}
