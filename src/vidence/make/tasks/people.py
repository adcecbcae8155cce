"""People of a video who can be asked about: what they look like, when and where they are."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Final, Literal, TypeAlias

import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from vidence.errors import DataError
from vidence.make.pipeline.material import Card, Corpus, Material
from vidence.make.tasks.candidates import Candidates, ComputedTask, DraftLog
from vidence.make.tasks.timeline import Timeline
from vidence.make.tasks.wording import MOST_ALIKE, closest, number_word, numbered, sentence
from vidence.records import Evidence, Record
from vidence.seeing.same_person import distance
from vidence.seeing.space import Bands, Edge, Place, edges_at, passage
from vidence.seeing.tracks import PERSON, Track, TrackedVideo
from vidence.seeing.visibility import Visible
from vidence.text import normal_form

# Through an edge; ``stayed``: was there in the first frame, or still is in the last; ``unclear``: neither.
Way: TypeAlias = Edge | Literal["stayed", "unclear"]
STAYED: Final = "stayed"
UNCLEAR: Final = "unclear"
REACH: Final = 0.05
SAME_LOOK: Final = 0.1
# Shorter tracks are ignored: viewers do not notice them; as in ``rlpc``.
_LEAST_OTHER_S: Final = 0.5
# Under this name drafts tell reviewers how many people were not compared by what is said of them.
NO_CARD: Final = "people without a card"
_FIFTH = 5
_FEWEST_FRAMES = 3
_MOST_SHOWN = 3


UnclearS: TypeAlias = Annotated[
    float, Meta(ge=0, description="seconds from the ends of the video in which nobody is said to come or go")
]
Reach: TypeAlias = Annotated[
    float,
    Meta(ge=0, le=1, description="share of the frame from an edge that a box must reach to pass it"),
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
class Person:
    """Somebody with a track and a description that fits nobody else.

    `card` says what the person looks like, `b_card` what the person does, where somebody wrote that.
    `enters` and `leaves` say how; see `Way`. `is_seen_coming` is False where the track begins inside the
    frame (`is_inside`), or with a cut: it may be the rest of another track. `is_seen_going` is the same of
    its end.
    """

    track: Track
    card: Card
    visible: Visible
    enters: Way
    leaves: Way
    is_seen_coming: bool
    is_seen_going: bool
    b_card: Card | None = None

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

    def looks(self, timeline: Timeline) -> tuple[Evidence, Evidence, Evidence]:
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
            timeline.span(first, early - 1, note=f"{name}, first fifth", frames=begins),
            timeline.span(early, late, note=f"{name}, middle", frames=path),
            timeline.span(late + 1, last, note=f"{name}, last fifth", frames=ends),
        )

    def arrival(self, timeline: Timeline) -> Evidence:
        """The moment in which the person comes into view."""
        note = f"track {self.track_id} is first seen"
        return timeline.beginning(self.track.first_frame, self.track.last_frame, note=note)

    def departure(self, timeline: Timeline) -> Evidence:
        """The moment in which the person goes out of view."""
        note = f"track {self.track_id} is last seen"
        return timeline.ending(self.track.first_frame, self.track.last_frame, note=note)


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


def ways(
    track: Track, tracked: TrackedVideo, *, unclear_s: float, reach: float = REACH, bands: Bands | None = None
) -> tuple[Way, Way]:
    """How a track comes in and goes out.

    Source: HERBench, section 7.3.
    Departs: who is there in the first frame did not enter, who is there in the last did not leave; corners,
        where bands overlap, and the inside of the frame are unclear; and so is a box in a band that does not
        come near the edge: the band at the top reaches far into the frame. Who is there when a shot begins or
        ends came and went nowhere, as far as one can see; so did who is seen in black or mixed frames.
    """
    width_px, height_px = tracked.width_px, tracked.height_px
    found = passage(track, width_px=width_px, height_px=height_px, bands=bands)
    size = (width_px, height_px)
    comes, goes = (
        _near(place, track.boxes_px[i], size, reach=reach)
        for place, i in ((found.enters, 0), (found.leaves, -1))
    )
    return (
        _way(comes, from_cut(track, tracked, at=0), unclear_s=unclear_s),
        _way(goes, from_cut(track, tracked, at=-1), unclear_s=unclear_s),
    )


def _near(place: Place, box_px: NDArray[np.float64], size_px: tuple[int, int], *, reach: float) -> Place:
    """The place, but ``middle`` for an edge that the box does not come near to."""
    match place:
        case "middle" | "ambiguous":
            return place
        case _:
            return place if reaches(box_px, place, size_px, reach=reach) else "middle"


def reaches(box_px: NDArray[np.float64], edge: Edge, size_px: tuple[int, int], *, reach: float) -> bool:
    """Whether a box (left, top, right, bottom) comes as near to an edge as that share of the frame."""
    left, top, right, bottom = (box_px / (*size_px, *size_px)).tolist()
    gaps: dict[Edge, float] = {"top": top, "bottom": 1 - bottom, "left": left, "right": 1 - right}
    return gaps[edge] <= reach


@dataclass(frozen=True, kw_only=True)
class FromCut:
    """How long behind the beginning of its shot a track begins, or before the end of it it ends.

    The shot begins with the first frame that shows nothing else. `away_s` is 0 where the track begins (ends)
    in a frame that does not show the shot clearly. `is_cut` is False where the shot begins (ends) with the
    video itself.
    """

    away_s: float
    is_cut: bool

    def is_near(self, unclear_s: float) -> bool:
        """Whether it is not to be said that somebody came or went, for the cut that is there."""
        return self.is_cut and (self.away_s <= 0 or self.away_s < unclear_s)


def from_cut(track: Track, tracked: TrackedVideo, *, at: Literal[0, -1]) -> FromCut:
    """How far the beginning (0) or the end (-1) of a track is from that of its shot."""
    frame = track.first_frame if at == 0 else track.last_frame
    shot = tracked.shot_of(frame)
    if at == 0:
        bound, is_cut = shot.clear_frame, shot.first_frame > 0 or frame > shot.last_frame
    else:
        bound = shot.last_frame
        is_cut = shot.last_frame < len(tracked.times_s) - 1 or frame < shot.clear_frame
    away_s = abs(float(tracked.times_s[frame] - tracked.times_s[bound])) if shot.is_clear(frame) else 0.0
    return FromCut(away_s=away_s, is_cut=is_cut)


def _way(place: Place, bound: FromCut, *, unclear_s: float) -> Way:
    if bound.away_s <= 0:
        return UNCLEAR if bound.is_cut else STAYED
    if bound.away_s < unclear_s:
        return UNCLEAR
    match place:
        case "middle" | "ambiguous":
            return UNCLEAR
        case _:
            return place


def is_inside(
    track: Track, tracked: TrackedVideo, *, at: Literal[0, -1], reach: float, unclear_s: float
) -> bool:
    """Whether a track begins (0) or ends (-1) inside the frame or with a cut, and not with the video itself.

    Inside is who is in no band of an edge that the box comes near to. Near is not enough: the feet of a
    person who walks down touch the lower edge long before there is nothing left to see.
    """
    if from_cut(track, tracked, at=at).is_near(unclear_s):
        return True
    is_end = track.first_frame == 0 if at == 0 else track.last_frame == len(tracked.times_s) - 1
    size_px = (tracked.width_px, tracked.height_px)
    bands = edges_at(track.centroids_px[at], width_px=tracked.width_px, height_px=tracked.height_px)
    return not is_end and not any(reaches(track.boxes_px[at], e, size_px, reach=reach) for e in bands)


def people_of(material: Material, settings: PeopleSettings, log: DraftLog) -> tuple[Person, ...]:
    """The chosen people who can be asked about, in their order; the others go to the account.

    Nobody is used whose description is like that of another person of the video: it is to fit exactly one.
    People without a card are compared by their looks; how many there are is noted in every draft.

    Source: HERBench, figure 13 (exactly one individual fits the description).
    Departs: the paper does not say how it makes sure of that.
    """
    tracked = material.tracked
    if tracked is None:
        return ()
    timeline_of(tracked)
    tracks = {track.track_id: track for track in tracked.tracks}
    cards = {card.track_id: card for card in reversed(material.a_cards) if card.kind == "A"}
    b_cards = {card.track_id: card for card in reversed(material.b_cards) if card.kind == "B"}
    strangers = without_card(material)
    log.note(NO_CARD, str(len(strangers)))
    people = []
    for track_id in dict.fromkeys(material.chosen):
        problem = _problem(tracks.get(track_id), cards.get(track_id), cards=cards, settings=settings)
        if not problem:
            problem = _double(track_id, strangers, tracked, most=settings.same_look)
        if problem:
            log.drop(f"track {track_id}", reason=problem[0], detail=problem[1])
            continue
        track = tracks[track_id]
        start_s, end_s = tracked.span_s(track)
        enters, leaves = ways(track, tracked, unclear_s=settings.unclear_s, reach=settings.reach)
        is_seen = partial(_is_seen, track, tracked, settings=settings)
        people.append(
            Person(
                track=track,
                card=cards[track_id],
                visible=Visible(track_id=track_id, start_s=start_s, end_s=end_s),
                enters=enters,
                leaves=leaves,
                is_seen_coming=is_seen(0),
                is_seen_going=is_seen(-1),
                b_card=b_cards.get(track_id),
            )
        )
    return tuple(people)


def without_card(material: Material) -> tuple[Track, ...]:
    """The people of a video who have a track, and of whom nobody says what they look like.

    Tracks that refining left out count, too, unless they are shorter than half a second.
    """
    tracked = material.tracked
    if tracked is None:
        return ()
    described = {card.track_id for card in material.a_cards if card.kind == "A"}
    others = (track for track in tracked.others if lasts_s(track, tracked) >= _LEAST_OTHER_S)
    return tuple(
        track
        for track in (*tracked.tracks, *others)
        if track.class_name == PERSON and track.track_id not in described
    )


def lasts_s(track: Track, tracked: TrackedVideo) -> float:
    """From the first frame of a track to its last, in seconds."""
    start_s, end_s = tracked.span_s(track)
    return end_s - start_s


def _double(
    track_id: str, strangers: Sequence[Track], tracked: TrackedVideo, *, most: float
) -> tuple[str, str] | None:
    """Who without a card looks like somebody, as a reason; None where nobody is known to.

    It may be the same person, who came back, or another one whom the description fits as well.
    """
    mine = tracked.looks.get(track_id)
    known = [(looks, one) for one in strangers if (looks := tracked.looks.get(one.track_id)) is not None]
    if mine is None or not known:
        return None
    far, other = min(((distance(mine, looks), one.track_id) for looks, one in known))
    if far >= most:
        return None
    return (
        "may-be-another",
        f"the track {other}, which has no card, looks the same ({far:.2f}, below {most:g})",
    )


def _is_seen(track: Track, tracked: TrackedVideo, at: Literal[0, -1], *, settings: PeopleSettings) -> bool:
    return not is_inside(track, tracked, at=at, reach=settings.reach, unclear_s=settings.unclear_s)


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
    like = closest(card.text, [other.text for name, other in cards.items() if name != track.track_id])
    if like > settings.alike:
        return "not-told-apart", f"word likeness {like:.2f} to another person's description"
    return None


def about(people: Sequence[Person]) -> str:
    """What a question about these is about, for the account."""
    return f"track{'s' * (len(people) > 1)} {', '.join(person.track_id for person in people)}"


def facts(people: Sequence[Person]) -> dict[str, str]:
    """For each listed person when and where."""
    return {f"person {i}": person.fact for i, person in enumerate(people, 1)}


def only_one(person: Person) -> str:
    """The words that name a person by appearance alone."""
    return f"Exactly one person in the video fits this description:\n{person.text}"


def listed(people: Sequence[Person], question: str) -> str:
    """A question about numbered people who are named by their descriptions."""
    texts = numbered([person.text for person in people])
    return f"These {number_word(len(people))} people are in the video:\n{texts}\n{question}"


class PeopleTask(ComputedTask):
    """A task about the described people of a video; which questions is for `about_people` to say."""

    needs: tuple[str, ...] = ("tracked", "chosen", "a_cards")
    version = 3

    def __init__(self, settings: PeopleSettings) -> None:
        self.people_settings = settings

    @abstractmethod
    def about_people(
        self, people: Sequence[Person], material: Material, corpus: Corpus, *, rng: np.random.Generator
    ) -> Sequence[Candidates]:
        """The candidates for questions about these people."""

    def sources(
        self, material: Material, corpus: Corpus, log: DraftLog, *, most: int, rng: np.random.Generator
    ) -> Sequence[Candidates]:
        """Those of `about_people`."""
        people = people_of(material, self.people_settings, log)
        return self.about_people(people, material, corpus, rng=rng)
