"""One HERBench session: configuration, video states, cropped pictures."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Generic, TypeAlias, TypeVar

from vidence.engine.environment import environment
from vidence.engine.jobs import Jobs
from vidence.make.herbench.cards.cards import Flag
from vidence.make.herbench.cards.crops import TrackPictures
from vidence.make.herbench.config import HerbenchConfig
from vidence.make.herbench.sources import Source
from vidence.make.pipeline.cache import MadeAway, Stage, Unit, digest_of
from vidence.make.pipeline.kept_video import KeptVideo
from vidence.make.pipeline.material import Crop, Dropped, Material
from vidence.make.pipeline.pictures import PictureFolder
from vidence.make.pipeline.session import BuildContext, Results, Session
from vidence.media.cache import FrameCache
from vidence.media.scan import Scan
from vidence.records import Record

T = TypeVar("T")
VIDEO_ID = "{video_id}"
"""What stands for the id of a video in paths of the configuration."""
Cut: TypeAlias = Callable[[KeptVideo, PictureFolder], T]
"Cuts pictures from a video into a folder; picklable with all its settings."


@dataclass(frozen=True, kw_only=True)
class PictureJob(Generic[T]):
    """The pictures of one video to cut in another process."""

    cut: Cut[T]
    scan: Scan
    content_hash: str
    cache_root: Path
    cache_max_bytes: int
    pictures: PictureFolder

    def make(self) -> T:
        """Cut them, in a process of this machine."""
        cache = FrameCache(self.cache_root, max_bytes=self.cache_max_bytes)
        return self.cut(KeptVideo(self.scan, cache=cache, content_hash=self.content_hash), self.pictures)

    def make_away(self) -> MadeAway[T]:
        """Cut them on another machine, with its cache; they come with the result."""
        there = environment()
        cache = FrameCache(there.cache_root, max_bytes=there.cache_max_bytes)
        video = KeptVideo(self.scan, cache=cache, content_hash=self.content_hash)
        return MadeAway.of(
            lambda folder: self.cut(video, PictureFolder(folder)), folder=self.pictures.root.name
        )


@dataclass(frozen=True, kw_only=True)
class Cutting(Generic[T]):
    """Pictures to cut from a video file into a folder of the dataset: `make` and `apart` of a unit."""

    cut: Cut[T]
    file: Path
    pictures: PictureFolder
    context: BuildContext

    def make(self) -> T:
        """Cut them here; errors as `BuildContext.video`."""
        return self.cut(self.context.video(self.file), self.pictures)

    def apart(self, is_away: bool) -> Callable[[], T | MadeAway[T]]:
        """The work for another process; errors as `BuildContext.video`."""
        video = self.context.video(self.file)
        job = PictureJob(
            cut=self.cut,
            scan=video.scan,
            content_hash=video.content_hash,
            cache_root=self.context.cache_root,
            cache_max_bytes=self.context.cache_max_bytes,
            pictures=self.pictures,
        )
        return job.make_away if is_away else job.make


@dataclass(kw_only=True)
class HerbenchSession(Session):
    """The shared state of the steps."""

    config: HerbenchConfig
    models: Jobs
    video_ids: set[str] = field(default_factory=set)
    """All videos of the set, also those that cannot be read; not to be relied on where a limit is set."""
    people: dict[type[Record], Sequence[Record]] = field(default_factory=dict)
    """The rows of people's files that were read, by their kind."""
    waiting: dict[str, int] = field(default_factory=dict)
    """How many cards people are still to write, by video."""

    def others_in(self, pattern: str, video_id: str) -> Collection[str] | None:
        """The other videos of which a file speaks, by its path in the configuration; None for any."""
        if VIDEO_ID in pattern:
            return ()
        return None if self.overrides.limit else self.video_ids - {video_id}

    @property
    def pictures(self) -> PictureFolder:
        """The pictures that models are shown."""
        return PictureFolder(self.out / "pictures")

    @property
    def prompts(self) -> Path | None:
        """The user's folder of templates; None for the packaged ones."""
        return self.root / self.config.prompts if self.config.prompts else None

    def cut(
        self,
        stage: Stage[T],
        videos: Sequence["VideoState"],
        cut_of: Callable[[Material], Cut[T]],
        *,
        rests_on: Mapping[str, str],
        crops: Callable[[T], Iterable[Crop]],
    ) -> Results[T]:
        """Cut pictures from available videos, in other processes if worthwhile.

        Args:
            stage: under which the results are kept.
            videos: out of which they are cut.
            cut_of: what cuts them, by what is known of the video; picklable, see `Cut`.
            rests_on: the parts of the material that go into the result, by their names in its key.
            crops: the pictures of a result, which have to lie in the folder for it to be used again.
        """
        units = []
        for video in videos:
            if video.source.file is not None:
                cutting = Cutting(
                    cut=cut_of(video.material),
                    file=video.source.file,
                    pictures=self.pictures,
                    context=self.context,
                )
                inputs = {name: video.digests[part] for name, part in rests_on.items()}
                unit = Unit(
                    stage=stage,
                    name=video.video_id,
                    inputs=inputs | {"video": video.source.video.sha256},
                    make=cutting.make,
                    reads=(video.source.file,),
                    apart=cutting.apart,
                    is_usable=lambda result: self.pictures.holds(crops(result)),
                )
                units.append(unit)
        return self.compute_apart(stage.name, units, folder=self.pictures.root)


@dataclass(kw_only=True)
class VideoState:
    """The state of a video: material, digests of its parts, reasons for missing parts.

    `pictures` are those of its chosen tracks; `flags` say which cards a person should look at.
    """

    source: Source
    material: Material
    digests: dict[str, str] = field(default_factory=dict)
    absent: dict[str, str] = field(default_factory=dict)
    pictures: dict[str, TrackPictures] = field(default_factory=dict)
    flags: tuple[Flag, ...] = ()
    portraits: dict[str, tuple[Crop, ...]] = field(default_factory=dict)
    """A few pictures of everybody in it who has a track."""
    parted: tuple[str, ...] = ()
    """Tracks that their cards say are several people."""

    @property
    def video_id(self) -> str:
        """The name of the video."""
        return self.source.video.video_id

    def named(self, what: str) -> str:
        """The name of a part of it in accounts."""
        return f"{self.video_id}: {what}"

    def dropped(self, gone: Dropped, *, stage: str) -> Dropped:
        """Something of it that was dropped, for the account of a stage."""
        return Dropped(what=self.named(gone.what), stage=stage, reason=gone.reason, detail=gone.detail)

    def file_of(self, pattern: str, folder: Path, *, what: str, session: Session) -> Path | None:
        """The file that a pattern of the configuration means for it.

        None if there is no pattern, or where each video has a file of its own and this one has none; the
        session then says so.
        """
        path = self.source.beside(pattern, folder)
        if path is not None and VIDEO_ID in pattern and not path.exists():
            session.trouble(
                f"{self.video_id} has no {what}: there is no {pattern.format(video_id=self.video_id)}"
            )
            return None
        return path

    def settle(self, *parts: str, otherwise: str) -> None:
        """Record digests of parts of the material, or reasons if they are empty."""
        for part in parts:
            if value := getattr(self.material, part):
                self.digests[part] = digest_of(value)
            else:
                self.absent.setdefault(part, otherwise)

    def open(self, session: Session) -> KeptVideo | None:
        """The video itself; None if its file is not here.

        Raises:
            MediaError: it cannot be read.
        """
        return None if self.source.file is None else session.context.video(self.source.file)
