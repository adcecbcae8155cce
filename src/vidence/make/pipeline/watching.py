"""Chunks of videos: stored as results of a stage, and watched by several processes."""

import contextlib
import platform
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from pathlib import Path
from typing import Final

from vidence.catalog import parse_spec
from vidence.engine.executor import Parallelism
from vidence.engine.side_by_side import Piece, side_by_side
from vidence.errors import DataError, MediaError, UsageError, VidenceError
from vidence.make.pipeline.cache import ArtifactCache, Stage
from vidence.media.encode import Size
from vidence.media.scan import Scan
from vidence.media.video import Video
from vidence.media.whole import remove_leftovers
from vidence.seeing.chunks import Chunk, ChunkResult, ChunkWork, Eyes, FrameKeeper, Watch, watch_chunk
from vidence.seeing.describers.describing import Describer
from vidence.seeing.following import open_describer, open_detector
from vidence.seeing.watching import Detector

STAGE = "chunks"
_VERSION = 1
_CUDA: Final = "cuda"


class StagedChunks:
    """Stores what was seen in the chunks of one video as results of a stage."""

    def __init__(self, cache: ArtifactCache, eyes: Eyes, *, inputs: Mapping[str, str]) -> None:
        """Reads nothing yet; `inputs` are the video's digests."""
        self._cache = cache
        self._stage = Stage(name=STAGE, kind=ChunkResult, version=_VERSION, settings=eyes.identity)
        self._inputs = dict(inputs)
        self._used: set[Chunk] = set()

    def has(self, chunk: Chunk) -> bool:
        """Whether the chunk was watched before."""
        self._used.add(chunk)
        return self._cache.has(self._stage, self._of(chunk))

    def find(self, chunk: Chunk) -> ChunkResult | None:
        """What was seen in the chunk, if stored and readable."""
        self._used.add(chunk)
        artifact = self._cache.find(self._stage, self._of(chunk))
        return None if artifact is None else artifact.value

    def keep(self, chunk: Chunk, seen: ChunkResult) -> None:
        """Store what was seen in the chunk.

        Raises:
            StoreError: it cannot be written.
        """
        self._used.add(chunk)
        self._cache.put(self._stage, self._of(chunk), seen)

    def clear(self) -> None:
        """Remove the stored results of the requested chunks."""
        for chunk in self._used:
            self._cache.remove(self._stage, self._of(chunk))
        self._used.clear()

    def _of(self, chunk: Chunk) -> dict[str, str]:
        looks = ",".join(map(str, chunk.looks))
        return {**self._inputs, "frames": f"{chunk.first_frame}-{chunk.end_frame}", "looks": looks}


@dataclass(frozen=True, kw_only=True)
class Parted:
    """A video that other processes help to watch, and the specs of its detector and describer."""

    watch: Watch
    detector: str
    describer: str

    @property
    def n_gpus(self) -> int:
        """How many GPUs detector and describer need together, according to their options."""
        devices = [
            parse_spec(spec).options.get("device", "") for spec in (self.detector, self.describer) if spec
        ]
        return int(any(device.startswith(_CUDA) for device in devices))

    @property
    def reads(self) -> Iterator[Path]:
        """The files needed to watch it: the video, and those that the specs name."""
        yield Path(self.watch.scan.probe.path)
        for spec in (parse_spec(name) for name in (self.detector, self.describer) if name):
            yield from map(Path, filter(None, (spec.argument, *spec.options.values())))

    def work(self, chunk: Chunk, *, is_away: bool = False) -> Piece[ChunkResult]:
        """The work of watching one chunk, for another process.

        On another machine no frames are kept, and what it opens must be what is open here.
        """
        eyes, scan = self.watch.eyes, self.watch.scan
        elsewhere = partial(
            _watch_elsewhere,
            scan,
            chunk,
            _Openable(
                detector=self.detector,
                describer=self.describer,
                known=_identities(eyes.detector, eyes.describer) if is_away else None,
            ),
            classes=eyes.classes,
            shot_size=eyes.shot_size,
            keeper=None if is_away else eyes.keeper,
        )
        return scan.probe.path, elsewhere


def _watch_elsewhere(
    scan: Scan,
    chunk: Chunk,
    openable: "_Openable",
    *,
    classes: tuple[str, ...],
    shot_size: Size | None,
    keeper: Callable[[Video], FrameKeeper] | None,
) -> ChunkResult:
    """What is seen in a chunk, by another process that opens detector and describer itself.

    Raises:
        UsageError: another machine cannot open them, or opens others than those whose identities are known.
    """
    detector, describer = openable.open()
    eyes = Eyes(detector=detector, describer=describer, classes=classes, shot_size=shot_size, keeper=keeper)
    return watch_chunk(Video(scan), chunk, eyes)


def _identities(detector: Detector, describer: Describer | None) -> tuple[str, str]:
    return detector.identity, "" if describer is None else describer.identity


@lru_cache(maxsize=1)
def _opened(detector: str, describer: str) -> tuple[Detector, Describer | None]:
    """The detector and describer of these specs; a process keeps the last pair it opened."""
    return open_detector(detector), open_describer(describer) if describer else None


@dataclass(frozen=True, kw_only=True)
class _Openable:
    """What another process opens by its spec; remotely it must have the known identities."""

    detector: str
    describer: str
    known: tuple[str, str] | None

    def open(self) -> tuple[Detector, Describer | None]:
        """Detector and describer.

        Raises:
            DataError: a file of this machine cannot be used.
            UsageError: this machine cannot open them, or opens others than those that are known.
        """
        if self.known is None:
            return _opened(self.detector, self.describer)
        machine, specs = platform.node(), (self.detector, self.describer)
        try:
            opened = _opened(*specs)
        except DataError as error:
            raise DataError(f"{machine}: {error}") from error
        except VidenceError as error:
            raise UsageError(f"{machine}: {error}") from error
        except Exception as error:
            what = " and ".join(filter(None, specs))
            raise UsageError(
                f"{machine}: {what} cannot be opened ({type(error).__name__}: {error})"
            ) from error
        for spec, mine, other in zip(specs, _identities(*opened), self.known, strict=True):
            if mine != other:
                raise UsageError(
                    f"{machine} opens {spec} as {mine}, and the machine that stores the results as {other}; "
                    "install the same weights and packages on both"
                )
        return opened


def watch_side_by_side(
    videos: Sequence[Parted], parallel: Parallelism, *, on_trouble: Callable[[str], None]
) -> dict[int, MediaError]:
    """Watch missing chunks in other processes, storing each as soon as it is done.

    What is seen does not depend on who watches. Where this process is alone, or a detector works on a device
    and there are no other machines, nothing is done here: `Watch.finish` watches what is missing. On other
    machines such a detector is kept by one process of each, or one for each GPU.

    Args:
        videos: the videos.
        parallel: where the processes are.
        on_trouble: receives problems of machines of a cluster.

    Returns:
        What is wrong with videos that could not be watched, by their number.

    Raises:
        VidenceError: it cannot go on, such as when nothing can be written.
    """
    failed: dict[int, MediaError] = {}
    if not parallel.has_others:
        return failed
    many = {number: video for number, video in enumerate(videos) if video.watch.eyes.can_part}
    failed |= _watch_by(many, parallel, on_trouble=on_trouble)
    if parallel.is_away:
        alone = {n: video for n, video in enumerate(videos) if n not in many and video.watch.eyes.can_travel}
        for n_gpus in sorted({parted.n_gpus for parted in alone.values()}):
            some = {n: parted for n, parted in alone.items() if parted.n_gpus == n_gpus}
            failed |= _watch_by(some, replace(parallel, gpus_each=n_gpus), on_trouble=on_trouble)
    return failed


def _watch_by(
    videos: Mapping[int, Parted], parallel: Parallelism, *, on_trouble: Callable[[str], None]
) -> dict[int, MediaError]:
    """Watch several videos, with all missing chunks in the same processes."""
    places = [(number, chunk) for number, video in videos.items() for chunk in video.watch.missing]
    failed: dict[int, MediaError] = {}
    pieces = (videos[number].work(chunk, is_away=parallel.is_away) for number, chunk in places)
    parallel = parallel.touching(path for video in videos.values() for path in video.reads)
    for piece, seen in side_by_side(pieces, parallel, on_trouble=on_trouble) if places else ():
        number, chunk = places[piece]
        if isinstance(seen, MediaError):
            failed.setdefault(number, seen)
        elif isinstance(seen, VidenceError):
            raise seen
        else:
            videos[number].watch.take(chunk, seen)
    return failed


class KeptWork:
    """The chunks of one video watched alone, possibly by other processes, stored until complete."""

    def __init__(
        self,
        cache: ArtifactCache,
        *,
        inputs: Mapping[str, str],
        specs: tuple[str, str],
        parallel: Parallelism,
    ) -> None:
        """Reads nothing yet; removes from the cache folder what killed processes left.

        Args:
            cache: where chunks are kept.
            inputs: the digests of the video.
            specs: of the detector and of the describer (empty: there is none).
            parallel: where the processes are that watch it.
        """
        self._cache, self._inputs, self._specs = cache, inputs, specs
        self._parallel = parallel
        self._stores: list[StagedChunks] = []
        remove_leftovers(cache.folder)

    def work(
        self,
        *,
        on_begin: Callable[[int, int], None],
        on_frames: Callable[[int], None],
        on_trouble: Callable[[str], None],
    ) -> ChunkWork:
        """The argument of `track_video`; `on_begin` receives the numbers of frames and of stored ones."""

        def store(eyes: Eyes) -> StagedChunks:
            self._stores.append(StagedChunks(self._cache, eyes, inputs=self._inputs))
            return self._stores[-1]

        def prepare(watch: Watch) -> None:
            detector, describer = self._specs
            on_begin(watch.n_frames, watch.pass_kept())
            parted = Parted(watch=watch, detector=detector, describer=describer)
            if failed := watch_side_by_side([parted], self._parallel, on_trouble=on_trouble):
                raise failed[0]

        return ChunkWork(store=store, prepare=prepare, on_frames=on_frames)

    def clear(self) -> None:
        """Remove the chunks once their combined result is written."""
        for store in self._stores:
            store.clear()
        with contextlib.suppress(OSError):
            self._cache.folder.rmdir()
