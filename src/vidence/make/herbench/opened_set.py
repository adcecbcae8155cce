"""A made dataset for boards: the stored state of its last session, opened read-only.

`OpenedSet.open` reads ``stages/index.jsonl``, which says what the last session found or made; `video` reads
what is kept of one video: shots and tracks as programs found them and as people left them, pictures, cards.
A board writes rows with `make.people.rows.append_row`, with checks of `make.people.checks`, and shows what
comes of rows that no session has read yet with `OpenedVideo.with_tracks` and `with_shots`; `remade_by` says
what the next session will make again because of them.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from vidence.errors import DataError, UsageError, cause
from vidence.make.herbench.card_step import Cropped
from vidence.make.herbench.cards.cards import Flag, check_cards
from vidence.make.herbench.cards.crops import TrackPictures
from vidence.make.herbench.cards.identification import ORDERS
from vidence.make.herbench.config import BY_PEOPLE, BY_RULES, CardStep, HerbenchConfig, SceneStep
from vidence.make.herbench.identification import Portrayed
from vidence.make.herbench.people import folder_of
from vidence.make.herbench.session import HerbenchSession, VideoState
from vidence.make.herbench.tracking import BY_PEOPLE_STAGE, Tracks
from vidence.make.herbench.watching import SCORES_STAGE
from vidence.make.pipeline.cache import INDEX_FILE, KeptRow, Stage, digest_of
from vidence.make.pipeline.material import Card, Crop, Dropped, SceneCard, VideoSource
from vidence.make.pipeline.output import read_lines
from vidence.make.pipeline.pictures import PictureFolder
from vidence.make.pipeline.session import STAGES_FOLDER
from vidence.make.review.people.checks import (
    CARD,
    READING,
    SCENE,
    changed,
    check_of_shot,
    check_of_track,
    said_by_people,
)
from vidence.make.review.people.rows import ShotRow, TrackRow
from vidence.make.review.people.track_acts import ShotsByPeople, TracksByPeople, apply_shots, apply_tracks
from vidence.seeing.shooting import Shot, ShotScores
from vidence.seeing.tracks import TrackedVideo
from vidence.tables.table import several

STAGE: Final = "opened"
T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class Described:
    """A video's state at the end of a session, besides what stages store.

    `shots` are those in use. `parted` are tracks that cards found to show several people, `absent` says why
    parts of the material are not there. `said` is what people's files said beside tracks and shots; None of
    a set that was made before this was kept.
    """

    source: VideoSource
    shots: tuple[Shot, ...] = ()
    chosen: tuple[str, ...] = ()
    parted: tuple[str, ...] = ()
    a_cards: tuple[Card, ...] = ()
    b_cards: tuple[Card, ...] = ()
    scene_cards: tuple[SceneCard, ...] = ()
    flags: tuple[Flag, ...] = ()
    absent: dict[str, str] = field(default_factory=dict)
    is_given: bool = False
    said: dict[str, str] | None = None


_DESCRIBED: Final = Stage(name=STAGE, kind=Described)


def keep_opened(work: HerbenchSession, videos: Sequence[VideoState]) -> None:
    """Store each video's state at the end of a session, and write the index.

    Raises:
        StoreError: they cannot be written.
    """
    folder = folder_of(work)
    for video in videos:
        material = video.material
        described = Described(
            source=material.source,
            shots=material.shots,
            chosen=material.chosen,
            parted=video.parted,
            a_cards=material.a_cards,
            b_cards=material.b_cards,
            scene_cards=material.scene_cards,
            flags=video.flags,
            absent=dict(sorted(video.absent.items())),
            is_given=bool(video.source.rule.tracks),
            said={} if folder is None else said_by_people(folder, video.video_id),
        )
        work.cache.put(_DESCRIBED, {"described": digest_of(described)}, described, unit=video.video_id)
    work.cache.write_index()


# --------------------------------------------------------------------------- opened


@dataclass(frozen=True, kw_only=True)
class Remade:
    """What the next session redoes for a video because of unread rows.

    `tracks` are the tracks that are new or other than before, `n_cards` the cards that are written for them,
    `n_gone` those that go. Where the shots are other ones, `n_shots` are those that are new or other than
    before, `n_scene_cards` the descriptions and false variants of shots that go with them; tracks end at
    cuts, so that all of a video are made again where it `has_tracks`. `said` counts the cards,
    readings and counts of people that are new, other, or taken back (`people.said`).

    `n_asks` are the asks of models for cards and descriptions where each reply can be used (None: no model),
    at most this many where tracks or shots are other ones. Drafts of the videos `across` are others then,
    too.
    """

    video_id: str
    tracks: tuple[str, ...] = ()
    n_cards: int = 0
    n_gone: int = 0
    has_other_shots: bool = False
    said: Mapping[str, int] = field(default_factory=dict)
    has_tracks: bool = False
    n_shots: int = 0
    n_scene_cards: int = 0
    n_asks: int | None = None
    across: tuple[str, ...] = ()

    @property
    def words(self) -> str:
        """The same in words; empty if it is nothing.

        >>> Remade(video_id="hall", tracks=("3/1", "3/2", "5"), n_cards=6, n_asks=12).words
        'crops of 3 tracks, 6 cards, drafts of this video; at most 12 asks of models'
        >>> Remade(video_id="hall", said={"card": 1}, n_asks=2, across=("yard",)).words
        '1 card, drafts of this video and of yard; 2 asks of models'
        """
        if not (self.has_other_shots or self.tracks or self.n_gone or self.said):
            return ""
        numbers = [(self.n_cards + self.said.get(CARD, 0), CARD)]
        numbers += [(self.n_scene_cards + self.said.get(SCENE, 0), SCENE)]
        numbers += [(n, what) for what, n in self.said.items() if what not in (CARD, SCENE)]
        parts = [f"pictures of {several(self.n_shots, 'shot')}"] if self.n_shots else []
        parts += [f"crops of {several(len(self.tracks), 'track')}"] if self.tracks else []
        parts += [several(n, what) for n, what in numbers if n]
        parts += ["tracks, crops and cards of changed tracks"] if self.has_tracks else []
        drafts = " and of ".join(("drafts of this video", *self.across))
        most = "at most " if self.has_other_shots or self.tracks or self.n_gone else ""
        asks = "" if self.n_asks is None else f"; {most}{several(self.n_asks, 'ask')} of models"
        return f"{', '.join((*parts, drafts))}{asks}"


@dataclass(frozen=True, kw_only=True)
class OpenedVideo:
    """What is kept of one video.

    `found_shots` and `found` are the shots and tracks as programs (or a file) left them, `shots` and
    `tracked` those in use, with all rows of people that the session could use. `dropped` are the tracks that
    went, and why. `pictures` are the crops of the chosen tracks, `portraits` a few of everybody, both by
    track. `scores` are what the shot detector measured. None, or empty, is what the session did not make.
    """

    described: Described
    found_shots: tuple[Shot, ...] = ()
    found: TrackedVideo | None = None
    tracked: TrackedVideo | None = None
    dropped: tuple[Dropped, ...] = ()
    pictures: Mapping[str, TrackPictures] = field(default_factory=dict)
    portraits: Mapping[str, tuple[Crop, ...]] = field(default_factory=dict)
    scores: ShotScores | None = None

    @property
    def video_id(self) -> str:
        """Its name in the set, which rows have."""
        return self.described.source.video_id

    @property
    def shots(self) -> tuple[Shot, ...]:
        """The shots in use."""
        return self.described.shots

    def with_tracks(self, rows: Sequence[TrackRow]) -> TracksByPeople:
        """What comes of all rows about its tracks, those that a session has read and those behind them."""
        if self.found is None:
            return TracksByPeople(tracks=(), others=())
        return apply_tracks(self.found, [row for row in rows if row.video_id == self.video_id])

    def with_shots(self, rows: Sequence[ShotRow]) -> ShotsByPeople:
        """What comes of all rows about its cuts; for the times of the shots see `times_s`."""
        mine = [row for row in rows if row.video_id == self.video_id]
        return apply_shots(self.found_shots, mine, times_s=self.times_s)

    @property
    def times_s(self) -> NDArray[np.float64]:
        """The times of its frames, exact where it has tracks; else even ones from its length and rate."""
        if self.found is not None:
            return self.found.times_s
        source = self.described.source
        return np.arange(source.n_frames) / (source.fps or 1.0)


@dataclass(frozen=True, kw_only=True)
class OpenedSet:
    """A made set, opened for looking: nothing is made, and nothing is written into it."""

    folder: Path
    kept: Mapping[tuple[str, str], KeptRow]

    @classmethod
    def open(cls, folder: Path) -> "OpenedSet":
        """Open what the last session of a set kept.

        Raises:
            UsageError: the folder holds no set with an index.
            DataError: a line of the index cannot be used.
        """
        path = folder / STAGES_FOLDER / INDEX_FILE
        if not path.is_file():
            raise UsageError(
                f"{folder} cannot be opened: there is no {path}; make the set with "
                "`vidence make herbench`, or once more with this version, which writes it"
            )
        rows = read_lines(path, KeptRow, fault="make the set once more")
        for row in rows:
            if any(mark in f"{row.stage}{row.key}{row.suffix}" for mark in ("/", "\\", "..")):
                raise DataError(f"{path}: {row.key!r} leads elsewhere; make the set once more")
        return cls(folder=folder, kept={(row.stage, row.unit): row for row in rows})

    @property
    def videos(self) -> tuple[str, ...]:
        """The names of its videos, sorted."""
        return tuple(sorted(unit for stage, unit in self.kept if stage == STAGE))

    @property
    def pictures(self) -> PictureFolder:
        """Its pictures, by the digests of crops."""
        return PictureFolder(self.folder / "pictures")

    def video(self, video_id: str) -> OpenedVideo:
        """What is kept of one video.

        Raises:
            UsageError: the set has no such video.
            DataError: a kept result is gone or other than the index says.
        """
        described = self._kept(_DESCRIBED, video_id)
        if described is None:
            raise UsageError(f"{self.folder} has no video {video_id!r}; it has {', '.join(self.videos)}")
        tracks = self._kept(Stage(name="tracks", kind=Tracks), video_id)
        left = self._kept(Stage(name=BY_PEOPLE_STAGE, kind=Tracks), video_id) or tracks
        shots: tuple[Shot, ...] | None = self._kept(Stage(name="shots", kind=tuple[Shot, ...]), video_id)
        crops = self._kept(Stage(name="crops", kind=Cropped), video_id)
        portraits = self._kept(Stage(name="portraits", kind=Portrayed), video_id)
        return OpenedVideo(
            described=described,
            found_shots=described.shots if shots is None else shots,
            found=None if tracks is None else tracks.video,
            tracked=None if left is None else left.video,
            dropped=() if left is None else left.dropped,
            pictures={} if crops is None else {picture.track_id: picture for picture in crops.pictures},
            portraits={} if portraits is None else portraits.pictures,
            scores=self._kept(Stage(name=SCORES_STAGE, kind=ShotScores), video_id),
        )

    def _kept(self, stage: Stage[T], unit: str) -> T | None:
        row = self.kept.get((stage.name, unit))
        if row is None:
            return None
        path = self.folder / STAGES_FOLDER / row.stage / f"{row.key}{row.suffix}"
        try:
            data = path.read_bytes()
            if hashlib.sha256(data).hexdigest() != row.digest:
                raise DataError(f"{path} is not what the index says; make the set once more")
            return stage.decode(data)
        except (OSError, ValueError) as error:
            raise DataError(f"{path} cannot be opened ({cause(error)}); make the set once more") from error


def remade_by(
    opened: OpenedVideo,
    *,
    tracks: Sequence[TrackRow] = (),
    shots: Sequence[ShotRow] = (),
    said: Mapping[str, str] | None = None,
    config: HerbenchConfig | None = None,
) -> Remade:
    """What the next session makes again of a video when it reads these rows, all that its files then have.

    Args:
        opened: the video as the last session left it.
        tracks: the rows of its tracks.
        shots: the rows of its cuts.
        said: what its files say now beside these (`people.said.said_by_people`); None: as they did.
        config: that of the set, which names the models; None: asks are not counted.
    """
    before, now = opened.described.said, said or {}
    known = {shot.shot_id: check_of_shot(shot) for shot in opened.shots}
    pair = () if opened.tracked is None else opened.tracked.tracks
    was = {track.track_id: check_of_track(track) for track in pair}
    other: dict[str, list[str]] = {}
    if said is not None and before is not None:
        numbers = {check: name for name, check in (was | known).items()}
        before, now = (_by_number(row, numbers) for row in (before, said))
        other = changed(before, now, used=_used(opened.described))
    remade = Remade(video_id=opened.video_id, said={kind: len(names) for kind, names in other.items()})
    cuts = [check_of_shot(shot) for shot in opened.with_shots(shots).shots]
    if cuts != list(known.values()):
        described = [known.get(card.shot_id) for card in opened.described.scene_cards]
        remade = replace(
            remade,
            has_other_shots=True,
            has_tracks=opened.found is not None,
            n_shots=len(set(cuts) - set(known.values())),
            n_scene_cards=sum(check not in cuts for check in described),
        )
    elif opened.found is not None and opened.tracked is not None:
        after = opened.with_tracks(tracks).tracks
        others = tuple(track.track_id for track in after if was.get(track.track_id) != check_of_track(track))
        n_each = bool(opened.described.a_cards) + bool(opened.described.b_cards)
        n_gone = len(set(was) - {track.track_id for track in after})
        remade = replace(remade, tracks=others, n_gone=n_gone, n_cards=n_each * len(others))
    if config is None or not config.models:
        return remade
    return replace(remade, n_asks=_asks(opened, config, remade, said=now, other=other))


def _used(described: Described) -> dict[str, str]:
    """The words that the last session used, under the names of `said_by_people`."""
    cards, scenes = (*described.a_cards, *described.b_cards), described.scene_cards
    words = {f"{CARD}:{card.track_id}/{card.kind}": card.text for card in cards}
    return words | {f"{SCENE}:{s.shot_id}/{'true' if s.is_faithful else 'false'}": s.text for s in scenes}


def _by_number(values: Mapping[str, str], numbers: Mapping[str, str]) -> dict[str, str]:
    """The same with the number of a track or a shot in a name in place of its check."""
    entries: dict[str, str] = {}
    for name, text in values.items():
        kind, _, rest = name.partition(":")
        about, _, what = rest.rpartition("/")
        entries[f"{kind}:{numbers[about]}/{what}" if about in numbers else name] = text
    return entries


def _asks(
    opened: OpenedVideo,
    config: HerbenchConfig,
    remade: Remade,
    *,
    said: Mapping[str, str],
    other: Mapping[str, Sequence[str]],
) -> int:
    """How often models are asked: exactly because of words, at most because of other tracks and shots."""
    cards, scenes = config.cards or CardStep(), config.scenes or SceneStep(false=False)
    is_false = scenes.false and (scenes.false_model or scenes.model) not in ("", BY_RULES)
    n_tried = 0
    for name in other.get(CARD, ()):
        about, _, kind = name.removeprefix(f"{CARD}:").rpartition("/")
        card = Card(track_id=about, kind="A", text=said.get(name, ""))
        is_read = any(word.startswith(f"{READING}:{about}/A ") for word in other.get(READING, ()))
        if kind == "A" and opened.portraits.get(about) and not is_read:
            n_tried += len(check_cards([card], cards.rules).cards)
    n_tracks, n_shots = len(remade.tracks), remade.n_shots * bool(scenes.model)
    if remade.has_other_shots and remade.has_tracks and config.tracking is not None:
        n_tracks = config.tracking.pick.n_tracks
    if n_tracks or remade.n_gone:
        n_tried += n_tracks + len(opened.described.a_cards)
    shots = {name.rpartition("/")[0] for name in other.get(SCENE, ())}
    n_false = n_shots + sum(f"{shot}/true" in said and f"{shot}/false" not in said for shot in shots)
    n_cards = len("AB") * n_tracks * (cards.model not in ("", BY_PEOPLE))
    return n_cards + ORDERS * n_tried * bool(cards.identify) + n_shots + n_false * is_false
