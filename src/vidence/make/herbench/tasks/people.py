"""People to ask about: appearance, times and positions in a video."""

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import combinations
from typing import Annotated, Final, Literal, Self, TypeAlias

import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from vidence.errors import DataError
from vidence.make.herbench.tasks.candidates import Candidates, ComputedTask, DraftLog, all_drawn
from vidence.make.herbench.tasks.timeline import Timeline
from vidence.make.pipeline.english import MOST_ALIKE, closest, number_word, numbered, sentence, tells_apart
from vidence.make.pipeline.material import Card, Corpus, Doubt, Material
from vidence.records import Evidence, Record
from vidence.seeing.boxes import EDGES, Edge, edges_at
from vidence.seeing.merging import EndMotion
from vidence.seeing.same_person import distance
from vidence.seeing.tracks import PERSON, Track, TrackedVideo, listed_others
from vidence.seeing.visibility import Visible
from vidence.text import normal_form

# Through an edge; ``stayed``: was there in the first frame, or still is in the last; ``unclear``: neither.
Way: TypeAlias = Edge | Literal["stayed", "unclear"]
STAYED: Final = "stayed"
UNCLEAR: Final = "unclear"
REACH: Final = 0.05
SAME_LOOK: Final = 0.1
# Under this name drafts tell reviewers how many people were not compared by what is said of them.
NO_CARD: Final = "people without a card"
NOT_IDENTIFIED: Final = "not-identified"
# Under this name drafts say who tried their descriptions on everybody in the video.
IDENTIFIED: Final = "identified"
BY_WORDS: Final = "by words only"
_SOONER: Final = 2.0
_FIFTH = 5
_FEWEST_FRAMES = 3
_MOST_SHOWN = 3


UnclearS: TypeAlias = Annotated[
    float, Meta(ge=0, description="seconds at both ends of the video without entries and exits")
]
Reach: TypeAlias = Annotated[
    float, Meta(ge=0, le=1, description="share of the frame from an edge that a box must reach to pass it")
]


class PeopleSettings(Record):
    """Which people are asked about."""

    alike: Annotated[
        float, Meta(ge=0, le=1, description="word likeness above which descriptions do not tell people apart")
    ] = MOST_ALIKE
    coverage: Annotated[
        float, Meta(ge=0, le=1, description="share of the frames of its span in which a track has a box")
    ] = 0.8
    unclear_s: UnclearS = 0.5
    reach: Reach = REACH
    same_look: Annotated[
        float,
        Meta(ge=0, le=1, description="cosine distance of looks below which a track without a card fits, too"),
    ] = SAME_LOOK


@dataclass(frozen=True, kw_only=True)
class End:
    """The first frame of a track, or its last: which edges it is at, and how far it is from that of its shot.

    `edges` are the bands that the centre lies in, `near` those of them whose edge the box comes near to: near
    is not enough, since the feet of a person who walks down touch the lower edge long before there is nothing
    left to see, nor is the band, since that at the top reaches far into the frame. `passed` are the edges
    that the person, going on so, is out of next: several where that takes about as long. The shot begins
    with the first frame that shows nothing else; `away_s` is 0 where the track begins (ends) in a frame
    that does not show the shot clearly. `is_cut` is False where the shot begins (ends) with the video
    itself, `is_bound` says that the track does.
    """

    edges: tuple[Edge, ...]
    near: tuple[Edge, ...]
    passed: tuple[Edge, ...]
    away_s: float
    is_cut: bool
    is_bound: bool
    unclear_s: float

    @classmethod
    def of(
        cls, track: Track, tracked: TrackedVideo, *, at: Literal[0, -1], reach: float, unclear_s: float
    ) -> Self:
        """The first frame (0) or the last one (-1) of a track; for the rest see `PeopleSettings`."""
        size_px = (tracked.width_px, tracked.height_px)
        edges = edges_at(track.centroids_px[at], width_px=size_px[0], height_px=size_px[1])
        left, top, right, bottom = (track.boxes_px[at] / (*size_px, *size_px)).tolist()
        gaps: dict[Edge, float] = {"top": top, "bottom": 1 - bottom, "left": left, "right": 1 - right}
        frame = track.first_frame if at == 0 else track.last_frame
        shot, last = tracked.shot_of(frame), len(tracked.times_s) - 1
        if at == 0:
            bound, is_cut = shot.clear_frame, shot.first_frame > 0 or frame > shot.last_frame
        else:
            bound, is_cut = shot.last_frame, shot.last_frame < last or frame < shot.clear_frame
        away_s = abs(float(tracked.times_s[frame] - tracked.times_s[bound])) if shot.is_clear(frame) else 0.0
        return cls(
            edges=edges,
            near=tuple(edge for edge in edges if gaps[edge] <= reach),
            passed=_passed(EndMotion.of(track, at=at, fps=tracked.fps), size_px=size_px),
            away_s=away_s,
            is_cut=is_cut,
            is_bound=frame == (0 if at == 0 else last),
            unclear_s=unclear_s,
        )

    @property
    def way(self) -> Way:
        """How the track comes in, or goes out.

        Source: HERBench, section 7.3.
        Departs: who is there in the first frame did not enter, who is there in the last did not leave;
            corners, where bands overlap, and the inside of the frame are unclear; and so is a box in a band
            that does not come near the edge, or does not move towards it, or would be out of another edge
            about as soon: a track may end early, behind somebody. Who is there when a shot begins or ends
            came and went nowhere, as far as one can see; so did who is seen in black or mixed frames.
        """
        if self.away_s <= 0:
            return UNCLEAR if self.is_cut else STAYED
        if self.away_s < self.unclear_s or len(self.edges) != 1 or not self.near:
            return UNCLEAR
        return self.edges[0] if self.passed == self.edges else UNCLEAR

    @property
    def is_inside(self) -> bool:
        """Whether it is inside the frame or at a cut, so that the track may go on as another one.

        Inside is who is in no band of an edge that the box comes near to.
        """
        if self.is_cut and (self.away_s <= 0 or self.away_s < self.unclear_s):
            return True
        return not self.is_bound and not self.near


def _passed(motion: EndMotion, *, size_px: tuple[int, int]) -> tuple[Edge, ...]:
    """Return the edges that a moving person crosses next; none for a standing person.

    Beside the first there are those that take at most twice as long.
    """
    out = motion.is_out_in_s(size_px=size_px)
    soonest = min(out.values(), default=0.0)
    return tuple(edge for edge in EDGES if edge in out and out[edge] <= _SOONER * soonest)


@dataclass(frozen=True, kw_only=True)
class Person:
    """A person with a track and a unique description.

    `card` says what the person looks like, `b_card` what the person does, where somebody wrote that. `comes`
    and `goes` are the ends of the track: where one is inside the frame, it may be the rest of another track.
    """

    track: Track
    tracked: TrackedVideo
    timeline: Timeline
    card: Card
    comes: End
    goes: End
    b_card: Card | None = None

    @property
    def visible(self) -> Visible:
        """When the person is in view."""
        start_s, end_s = self.tracked.span_s(self.track)
        return Visible(track_id=self.track_id, start_s=start_s, end_s=end_s)

    @property
    def path(self) -> NDArray[np.float64]:
        """The centres of the boxes as shares of the frame's width and height, shape (n, 2)."""
        return self.track.centroids_px / (self.tracked.width_px, self.tracked.height_px)

    @property
    def enters(self) -> Way:
        """How the person comes into view."""
        return self.comes.way

    @property
    def leaves(self) -> Way:
        """How the person goes out of view."""
        return self.goes.way

    @property
    def text(self) -> str:
        """The description as it is shown."""
        return sentence(self.card.text)

    @property
    def track_id(self) -> str:
        """The id of the track."""
        return self.track.track_id

    @property
    def fact(self) -> str:
        """When and where, for reviewers."""
        seen = self.visible
        return (
            f"track {self.track_id}, {seen.start_s:.2f} s to {seen.end_s:.2f} s ({seen.duration_s:.2f} s), "
            f"enters: {self.enters}, leaves: {self.leaves}"
        )

    @cached_property
    def looks(self) -> tuple[Evidence, Evidence, Evidence]:
        """The first fifth, the middle and the last fifth of the time in view.

        They are shown by frames that the writers of the cards saw, as far as there are any.

        Source: HERBench, section 7.2 (appearance from the first and last 20 %, behaviour from between).
        Departs: no.
        """
        first, last = self.track.first_frame, self.track.last_frame
        fifth = max(1, (last - first + 1) // _FIFTH)
        early, late, name = first + fifth, last - fifth, f"track {self.track_id}"
        b_frames = self.b_card.frames if self.b_card else ()
        path = _some(b_frames, early, late) or [early + (late - early) * i // 4 for i in (1, 2, 3)]
        begins, ends = (_some(self.card.frames, *span) for span in ((first, early - 1), (late + 1, last)))
        return (
            self.timeline.span(first, early - 1, note=f"{name}, first fifth", frames=begins),
            self.timeline.span(early, late, note=f"{name}, middle", frames=path),
            self.timeline.span(late + 1, last, note=f"{name}, last fifth", frames=ends),
        )

    @cached_property
    def arrival(self) -> Evidence:
        """The moment in which the person comes into view."""
        note = f"track {self.track_id} is first seen"
        return self.timeline.beginning(self.track.first_frame, self.track.last_frame, note=note)

    @cached_property
    def departure(self) -> Evidence:
        """The moment in which the person goes out of view."""
        note = f"track {self.track_id} is last seen"
        return self.timeline.ending(self.track.first_frame, self.track.last_frame, note=note)


def _some(frames: Sequence[int], first: int, last: int) -> list[int]:
    """Up to `_MOST_SHOWN` of the frames from `first` to `last`, spread over them."""
    inside = sorted({frame for frame in frames if first <= frame <= last})
    n = min(len(inside), _MOST_SHOWN)
    return [inside[(2 * i + 1) * len(inside) // (2 * n)] for i in range(n)]


def timeline_of(tracked: TrackedVideo) -> Timeline:
    """The timeline of a tracked video.

    Raises:
        DataError: a track has boxes in frames that the video does not have.
    """
    timeline = Timeline(tracked.times_s)
    for track in tracked.tracks:
        if track.first_frame < 0 or track.last_frame >= timeline.n_frames:
            raise DataError(
                f"the track {track.track_id} has boxes in frames {track.first_frame} to {track.last_frame}, "
                f"but the video has frames 0 to {timeline.n_frames - 1}; track this very file again"
            )
    return timeline


def people_of(material: Material, settings: PeopleSettings, log: DraftLog) -> tuple[Person, ...]:
    """The chosen people who can be asked about, as they come into view; the others go to the account.

    They are not in the order of their ranks: two that rank alike would change places with the frame rate.
    A description is to fit exactly one person of the video. Where a model or people tried it on the others,
    their word holds. Else nobody is used whose description has words like those of another, people without a
    card are compared by their looks, and every draft says that it rests on words.

    Source: HERBench, figure 13 (exactly one individual fits the description).
    Departs: the paper does not say how it makes sure of that.
    """
    tracked = material.tracked
    if tracked is None:
        return ()
    timeline = timeline_of(tracked)
    end = partial(End.of, tracked=tracked, reach=settings.reach, unclear_s=settings.unclear_s)
    tracks = {track.track_id: track for track in tracked.tracks}
    cards = {card.track_id: card for card in reversed(material.a_cards) if card.kind == "A"}
    b_cards = {card.track_id: card for card in reversed(material.b_cards) if card.kind == "B"}
    strangers = without_card(material)
    log.note(NO_CARD, str(len(strangers)))
    people = []
    for track_id in dict.fromkeys(material.chosen):
        problem = _problem(tracks.get(track_id), cards.get(track_id), cards=cards, settings=settings)
        is_tried = track_id in cards and cards[track_id].fits_it_alone
        if problem := problem or (
            None if is_tried else _double(track_id, strangers, tracked, most=settings.same_look)
        ):
            log.drop(f"track {track_id}", reason=problem[0], detail=problem[1])
            continue
        track = tracks[track_id]
        people.append(
            Person(
                track=track,
                tracked=tracked,
                timeline=timeline,
                card=cards[track_id],
                comes=end(track, at=0),
                goes=end(track, at=-1),
                b_card=b_cards.get(track_id),
            )
        )
    return tuple(sorted(people, key=lambda person: (person.track.first_frame, person.track.track_id)))


def without_card(material: Material) -> tuple[Track, ...]:
    """Return the people with a track but no description.

    Tracks that refining left out count, too, unless they are shorter than half a second.
    """
    tracked = material.tracked
    if tracked is None:
        return ()
    described = {card.track_id for card in material.a_cards if card.kind == "A"}
    return tuple(track for track in _everybody(tracked) if track.track_id not in described)


def _everybody(tracked: TrackedVideo) -> tuple[Track, ...]:
    every = (*tracked.tracks, *listed_others(tracked.others, tracked))
    return tuple(track for track in every if track.class_name == PERSON)


def _double(
    track_id: str, strangers: Sequence[Track], tracked: TrackedVideo, *, most: float
) -> tuple[str, str] | None:
    """Return why a person without card may look like a described one; None if unknown.

    It may be the same person, who came back, or another one whom the description fits as well.
    """
    mine = tracked.looks.get(track_id)
    known = [
        (looks, stranger)
        for stranger in strangers
        if (looks := tracked.looks.get(stranger.track_id)) is not None
    ]
    if mine is None or not known:
        return None
    far, other = min(((distance(mine, looks), track.track_id) for looks, track in known))
    if far >= most:
        return None
    return (
        "may-be-another",
        f"the track {other}, which has no card, looks the same ({far:.2f}, below {most:g})",
    )


def _problem(
    track: Track | None, card: Card | None, *, cards: Mapping[str, Card], settings: PeopleSettings
) -> tuple[str, str] | None:
    """Why a track cannot be asked about: a reason and what was seen."""
    if track is None:
        return "no-such-track", "chosen, but not among the tracks"
    if track.class_name != PERSON:
        return "not-a-person", track.class_name
    if card is None:
        return "no-a-card", "nothing says what the person looks like"
    if not normal_form(card.text):
        return "empty-card", repr(card.text)
    n_span = track.last_frame - track.first_frame + 1
    if n_span < _FEWEST_FRAMES:
        return "track-too-short", f"{n_span} frames"
    coverage = len(track.frame_indices) / n_span
    if coverage < settings.coverage:
        return "track-with-gaps", f"boxes in {coverage:.0%} of its frames, at least {settings.coverage:.0%}"
    return _not_told_apart(card, cards, most=settings.alike)


def _not_told_apart(card: Card, cards: Mapping[str, Card], *, most: float) -> tuple[str, str] | None:
    """Return why a description may fit another person, by test result or by its words."""
    if card.identified_by:
        return None if card.fits_it_alone else (NOT_IDENTIFIED, card.fit)
    others = [other.text for name, other in cards.items() if name != card.track_id]
    like = closest(card.text, [other for other in others if not tells_apart(card.text, other)])
    if like > most:
        return "not-told-apart", f"word likeness {like:.2f} to another person's description"
    return None


def groups(people: Sequence[Person], n: int, rng: np.random.Generator) -> Iterator[tuple[Person, ...]]:
    """Every `n` of the people; sets and the people of each in a drawn order."""
    for some in all_drawn(list(combinations(people, n)), rng):
        yield tuple(all_drawn(some, rng))


def about(people: Sequence[Person]) -> str:
    """What a question about these is about, for the account."""
    return f"track{'s' * (len(people) > 1)} {', '.join(person.track_id for person in people)}"


def facts(people: Sequence[Person]) -> dict[str, str]:
    """Return times and positions of listed people, and who tested their descriptions."""
    return {f"person {i}": person.fact for i, person in enumerate(people, 1)} | identification(people)


def identification(people: Sequence[Person], *, knows_all: bool = True) -> dict[str, str]:
    """Return who tested the descriptions, for reviewers; ``by words only`` is no person.

    `knows_all` is False where the question also describes somebody who is none of these people.
    """
    if doubt_of(people, knows_all=knows_all):
        return {IDENTIFIED: BY_WORDS}
    tried = sorted({person.card.identified_by for person in people})
    return {IDENTIFIED: f"by {', '.join(tried)}"} if tried else {}


def doubt_of(people: Sequence[Person], *, knows_all: bool = True) -> Literal["", Doubt]:
    """Return why a person must check a question: uniqueness rests on words alone."""
    is_tried = knows_all and all(person.card.identified_by for person in people)
    return "" if is_tried else "by-words-only"


def only_one(person: Person) -> str:
    """The words that name a person by appearance alone."""
    return f"Exactly one person in the video fits this description:\n{person.text}"


def listed(people: Sequence[Person], question: str) -> str:
    """A question about numbered people who are named by their descriptions."""
    texts = numbered([person.text for person in people])
    return f"These {number_word(len(people))} people are in the video:\n{texts}\n{question}"


class PeopleTask(ComputedTask):
    """A task about the described people of a video; which questions is for `candidates` to say."""

    needs: tuple[str, ...] = ("tracked", "chosen", "a_cards")
    version = 7

    def __init__(self, settings: PeopleSettings) -> None:
        self.people_settings = settings

    @abstractmethod
    def candidates(self, structure: str, people: Sequence[Person], *, rng: np.random.Generator) -> Candidates:
        """The candidates of one structure for questions about these people."""

    def sources(
        self, material: Material, corpus: Corpus, log: DraftLog, *, most: int, rng: np.random.Generator
    ) -> Sequence[Candidates]:
        """One source for each structure."""
        people = people_of(material, self.people_settings, log)
        return [self.candidates(name, people, rng=rng) for name in self.structures]
