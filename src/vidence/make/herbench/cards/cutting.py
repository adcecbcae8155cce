"""Pictures that are cut out of one video, by this process or by another one."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeAlias, TypeVar

from vidence.engine.environment import environment
from vidence.make.pipeline.cache import MadeAway
from vidence.make.pipeline.kept_video import KeptVideo
from vidence.make.pipeline.pictures import PictureFolder
from vidence.make.pipeline.session import BuildContext
from vidence.media.cache import FrameCache
from vidence.media.scan import Scan

T = TypeVar("T")
Cut: TypeAlias = Callable[[KeptVideo, PictureFolder], T]
"""Cuts pictures out of a video into a folder; picklable, with all that it goes by."""


@dataclass(frozen=True, kw_only=True)
class PictureJob(Generic[T]):
    """The pictures of one video for another process: what cuts them, and where they go here."""

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
    """Pictures to be cut out of a video file into a folder of the set: `make` and `apart` of a unit."""

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
