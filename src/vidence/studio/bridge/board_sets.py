"""Sets in the making as boards show them: found by their configuration, opened without making anything."""

import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from vidence.catalog import names
from vidence.errors import DataError, MediaError, UsageError
from vidence.make.herbench.cards.cards import CardChecks
from vidence.make.herbench.cards.crops import CropRules, box_of, cut_box
from vidence.make.herbench.config import BY_RULES, CardStep, HerbenchConfig, PeopleRules, read_herbench
from vidence.make.herbench.drafting import across_videos, open_tasks
from vidence.make.herbench.identification import portrait_frames
from vidence.make.herbench.opened_set import OpenedSet, OpenedVideo, Remade, remade_by
from vidence.make.herbench.tasks.rlpc import moments_of_tracks
from vidence.make.pipeline.cache import INDEX_FILE
from vidence.make.pipeline.material import Card, PersonCount, SceneCard
from vidence.make.pipeline.session import STAGES_FOLDER
from vidence.make.review.people.checks import CARD, SCENE, said_by_people
from vidence.make.review.people.rows import ShotRow, TrackRow, read_rows
from vidence.media.encode import EncodedFrame, Encoding, Size, encode
from vidence.seeing.shooting import Shot, ShotScores
from vidence.seeing.tracks import Track, TrackedVideo
from vidence.studio.media import desk, token_of
from vidence.studio.rules.boards import N_CROPS
from vidence.text import quoted

_ENDING: Final = ".toml"
_MOST_KEPT: Final = 8
_WHOLE: Final = Encoding(size=Size(), format="jpeg", quality=95)
_CROPS: Final = CropRules(least_px=96, most_px=320)
_FRAME: Final = Size(kind="long", pixels=640)


@dataclass(frozen=True, kw_only=True)
class Offered:
    """A dataset listed in the configuration of its `make` run; `folder` is where it is written."""

    config: Path
    folder: Path


@dataclass(frozen=True, kw_only=True)
class BoardVideo:
    """One video of a set, as its boards need it."""

    opened: OpenedVideo
    file: Path | None
    video_id: str
    n_frames: int
    width_px: int
    height_px: int
    times_s: NDArray[np.float64]
    tracked: TrackedVideo | None
    shots: tuple[Shot, ...]
    """Those that the detector found."""
    scores: ShotScores | None
    chosen: tuple[str, ...]
    """The tracks that were chosen to be asked about."""
    is_given: bool
    scene_cards: tuple[SceneCard, ...]
    absent: str

    @classmethod
    def of(cls, opened: OpenedVideo, file: Path) -> "BoardVideo":
        """Return a video whose file may be missing; tracks and shots are those of the detectors."""
        described = opened.described
        source = described.source
        return cls(
            opened=opened,
            file=file if file.is_file() else None,
            video_id=opened.video_id,
            n_frames=source.n_frames,
            width_px=source.width_px,
            height_px=source.height_px,
            times_s=opened.times_s,
            tracked=opened.found,
            shots=opened.found_shots,
            scores=opened.scores,
            chosen=described.chosen,
            is_given=described.is_given,
            scene_cards=described.scene_cards,
            absent="; ".join(dict.fromkeys(described.absent.values())),
        )

    @cached_property
    def _cards(self) -> Mapping[tuple[str, str], Card]:
        described = self.opened.described
        return {(card.track_id, card.kind): card for card in (*described.a_cards, *described.b_cards)}

    def card(self, track_id: str, kind: str) -> Card | None:
        """What the last making used as a card of a track."""
        return self._cards.get((track_id, kind))

    def reason(self, track_id: str) -> str:
        """Why a program left a track out."""
        dropped = next((entry for entry in self.opened.dropped if entry.what == track_id), None)
        return "" if dropped is None else f"{dropped.reason} {dropped.detail}".strip()

    def portraits(self, track: Track) -> tuple[int, ...]:
        """The frames of a track, spread over its life, that show most of it."""
        video = self.tracked
        others = () if video is None else (*video.tracks, *video.others)
        return portrait_frames(
            track,
            width_px=self.width_px,
            height_px=self.height_px,
            n=N_CROPS,
            others=[other for other in others if other.track_id != track.track_id],
        )


@dataclass(frozen=True, kw_only=True)
class BoardSet:
    """A set, with the configuration that it is made by."""

    offered: Offered
    config: HerbenchConfig
    videos: Mapping[str, BoardVideo]

    @property
    def name(self) -> str:
        """What it is called."""
        return self.config.name

    @property
    def people_folder(self) -> Path:
        """The folder of people's files."""
        rules = self.config.people or PeopleRules()
        return self.offered.config.parent / rules.folder

    @property
    def media_roots(self) -> tuple[Path, ...]:
        """The folder of its videos."""
        return (self.offered.config.parent / self.config.videos,)

    @property
    def crop_rules(self) -> CropRules:
        """Which frames cards are written from."""
        return (self.config.cards or CardStep()).crops

    @property
    def card_checks(self) -> CardChecks:
        """When cards are used."""
        return (self.config.cards or CardStep()).rules

    @property
    def command(self) -> str:
        """What makes the set again."""
        return f"vidence make herbench {self.offered.config.name} --out {quoted(self.offered.folder)}"

    @property
    def notes(self) -> tuple[str, ...]:
        """What is to be added to the configuration, so that what people say is read."""
        if self.config.people is not None:
            return ()
        return (f"{self.offered.config.name} has no [people]: the making does not read these files.",)

    def remake(self, video_id: str) -> str:
        """What the next `make` run redoes for a video because of new rows of people."""
        folder = self.people_folder
        try:
            tracks = read_rows(folder, TrackRow, videos=None)
            shots = read_rows(folder, ShotRow, videos=None)
            values = said_by_people(folder, video_id)
        except DataError as error:
            return f"nothing, until this is fixed: {error}"
        remade = remade_by(
            self.videos[video_id].opened, tracks=tracks, shots=shots, said=values, config=self.config
        )
        return replace(remade, across=self._across(remade)).words

    def _across(self, remade: Remade) -> tuple[str, ...]:
        """Other videos whose drafts change when parts of a video are made again."""
        config, root, parts = self.config, self.offered.config.parent, set[str]()
        if remade.tracks or remade.n_gone or remade.said.get(CARD) or remade.has_other_shots:
            orders = open_tasks(config.tasks, tuple(config.tasks) or names("task"), root=root)
            parts |= {"a_cards"} & {part for order in orders for part in across_videos(order.task)}
        if remade.said.get(SCENE) and config.scenes is not None and not config.scenes.model:
            parts |= {"scene_cards"} if config.scenes.false_model == BY_RULES else set()
        return tuple(
            name
            for name, video in self.videos.items()
            if name != remade.video_id and any(getattr(video.opened.described, part) for part in parts)
        )


def offered(paths: Sequence[Path]) -> tuple[Offered, ...]:
    """Return the datasets configured by these files or by files in these folders."""
    files = [path for path in paths if path.suffix == _ENDING]
    for folder in paths:
        if folder.is_dir():
            files += sorted(folder.glob(f"*{_ENDING}"))
    entries = []
    for file in dict.fromkeys(path.resolve() for path in files):
        try:
            config = read_herbench(file)
        except (UsageError, DataError):
            continue  # the configuration of something else
        folder = (file.parent / (config.out or f"made/{config.name}")).resolve()
        if (folder / STAGES_FOLDER / INDEX_FILE).is_file():
            entries.append(Offered(config=file, folder=folder))
    return tuple(entries)


def board_set(paths: Sequence[Path], folder: Path) -> BoardSet:
    """The set that is made in a folder; it is read again when a making, or its configuration, has changed.

    Args:
        paths: those that the studio was told of.
        folder: where it is made.

    Raises:
        UsageError: this studio was not told of it, or it was not made yet.
        DataError: what is kept of it cannot be used.
    """
    entry = {entry.folder: entry for entry in offered(paths)}.get(folder)
    if entry is None:
        raise UsageError(
            f"{folder}: start the studio with the configuration of this set as a path, as it was when "
            "the set was opened"
        )
    states = [path.stat() for path in (folder / STAGES_FOLDER / INDEX_FILE, entry.config)]
    return _opened(entry, tuple((state.st_mtime_ns, state.st_size) for state in states))


@lru_cache(maxsize=_MOST_KEPT)
def _opened(offered: Offered, _: tuple[tuple[int, int], ...]) -> BoardSet:
    config = read_herbench(offered.config)
    kept = OpenedSet.open(offered.folder)
    videos = {}
    for video_id in kept.videos:
        opened = kept.video(video_id)
        file = offered.config.parent / config.videos / opened.described.source.path
        videos[video_id] = BoardVideo.of(opened, file)
    return BoardSet(offered=offered, config=config, videos=videos)


# --------------------------------------------------------------------------- pictures


async def crop(
    video: BoardVideo, track: Track, frame: int, *, roots: Sequence[Path], is_whole: bool
) -> EncodedFrame:
    """The crop of a track in one of its frames, or the whole frame with its box drawn.

    Raises:
        MediaError: the frame cannot be read.
    """
    from asgiref.sync import sync_to_async
    from PIL import Image

    if video.file is None:
        raise MediaError(f"the film of {video.video_id} is not here")
    token = token_of(video.file, roots=roots)
    known = desk().known(token)
    if known is None:  # it was handed out a line above
        raise AssertionError(token)
    still = await desk().still(known, frame, encoding=_WHOLE)

    def cut() -> EncodedFrame:
        with Image.open(io.BytesIO(still.data)) as opened:
            picture = np.asarray(opened.convert("RGB"), np.uint8)
        box = box_of(track, frame) * (picture.shape[1] / video.width_px)
        if is_whole:
            return encode(_boxed(picture, box), Encoding(size=_FRAME, quality=80))
        return encode(cut_box(picture, box, _CROPS), Encoding(size=Size(), quality=85))

    encoded_frame: EncodedFrame = await sync_to_async(cut, thread_sensitive=False)()
    return encoded_frame


def _boxed(picture: NDArray[np.uint8], box: NDArray[np.float64]) -> NDArray[np.uint8]:
    """A frame with a box that shows on light and on dark ground."""
    from PIL import Image, ImageDraw

    drawn = Image.fromarray(picture)
    pen = ImageDraw.Draw(drawn)
    left, top, right, bottom = box.tolist()
    for grow, colour in ((3, (0, 0, 0)), (2, (255, 230, 0)), (1, (255, 230, 0))):
        pen.rectangle((left - grow, top - grow, right + grow, bottom + grow), outline=colour)
    return np.asarray(drawn, np.uint8)


# --------------------------------------------------------------------------- what the tracks count


def counted_by_tracks(video: TrackedVideo, *, place: str, window: tuple[int, int] | None) -> int | None:
    """How many people the tracks clearly show at a place, as the making counts; None for no such place."""
    count = PersonCount(place=place, window=window, n=0, n_low=0, n_high=0)
    moments = moments_of_tracks(count, video)
    return None if moments is None else len(moments)
