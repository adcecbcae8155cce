"""Chunks of videos: kept as results of a stage, and watched by several processes."""

import contextlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from vidence.engine.side_by_side import Parallelism, Piece, side_by_side
from vidence.errors import MediaError, VidenceError
from vidence.make.pipeline.cache import ArtifactCache, Stage
from vidence.media.encode import Size
from vidence.media.scan import Scan
from vidence.media.video import Video
from vidence.media.whole import remove_leftovers
from vidence.seeing.chunks import Chunk, ChunkWork, Eyes, Keeper, Seen, Watch, watch_chunk
from vidence.seeing.following import open_describer, open_detector

STAGE = "chunks"
_VERSION = 1


class StagedChunks:
    """Keeps what was seen in the chunks of one video as results of a stage."""

    def __init__(self, cache: ArtifactCache, eyes: Eyes, *, inputs: Mapping[str, str]) -> None:
        """Nothing is read yet; `inputs` are the digests of the video."""
        self._cache = cache
        self._stage = Stage(name=STAGE, kind=Seen, version=_VERSION, settings=eyes.identity)
        self._inputs = dict(inputs)
        self._used: set[Chunk] = set()

    def has(self, chunk: Chunk) -> bool:
        """Whether the chunk was watched before."""
        self._used.add(chunk)
        return self._cache.has(self._stage, self._of(chunk))

    def find(self, chunk: Chunk) -> Seen | None:
        """What was seen in it, if that is kept and can be read."""
        self._used.add(chunk)
        found = self._cache.find(self._stage, self._of(chunk))
        return None if found is None else found.value

    def keep(self, chunk: Chunk, seen: Seen) -> None:
        """Keep what was seen in it.

        Raises:
            StoreError: it cannot be written.
        """
        self._used.add(chunk)
        self._cache.put(self._stage, self._of(chunk), seen)

    def clear(self) -> None:
        """Remove what is kept of the chunks that were asked for."""
        for chunk in self._used:
            self._cache.remove(self._stage, self._of(chunk))
        self._used.clear()

    def _of(self, chunk: Chunk) -> dict[str, str]:
        looks = ",".join(map(str, chunk.looks))
        return {**self._inputs, "frames": f"{chunk.first_frame}-{chunk.end_frame}", "looks": looks}


@dataclass(frozen=True, kw_only=True)
class Parted:
    """A video that other processes watch too, and the specs by which they open its detector and describer."""

    watch: Watch
    detector: str
    describer: str

    def work(self, chunk: Chunk, *, is_away: bool = False) -> Piece[Seen]:
        """The work of watching one chunk, for another process; on another machine no frames are kept."""
        eyes, scan = self.watch.eyes, self.watch.scan
        elsewhere = partial(
            _watch_elsewhere,
            scan,
            chunk,
            specs=(self.detector, self.describer),
            classes=eyes.classes,
            shot_size=eyes.shot_size,
            keeper=None if is_away else eyes.keeper,
        )
        return scan.probe.path, elsewhere


def _watch_elsewhere(
    scan: Scan,
    chunk: Chunk,
    *,
    specs: tuple[str, str],
    classes: tuple[str, ...],
    shot_size: Size | None,
    keeper: Callable[[Video], Keeper] | None,
) -> Seen:
    """What is seen in a chunk; in another process, which opens detector and describer itself."""
    detector, describer = specs
    eyes = Eyes(
        detector=open_detector(detector),
        describer=open_describer(describer) if describer else None,
        classes=classes,
        shot_size=shot_size,
        keeper=keeper,
    )
    return watch_chunk(Video(scan), chunk, eyes)


def watch_side_by_side(
    videos: Sequence[Parted], parallel: Parallelism, *, on_trouble: Callable[[str], None]
) -> dict[int, MediaError]:
    """Watch the chunks that are missing in other processes; a chunk is kept as soon as it is done.

    What is seen does not depend on who watches. Where this process is alone, or a detector works on a
    device, nothing is done here: `Watch.finish` watches what is missing.

    Args:
        videos: the videos.
        parallel: where the processes are.
        on_trouble: told what happens to machines of a cluster.

    Returns:
        What is wrong with videos that could not be watched, by their number.

    Raises:
        VidenceError: it cannot go on, such as when nothing can be written.
    """
    if not parallel.has_others:
        return {}
    places = [
        (number, chunk)
        for number, one in enumerate(videos)
        if one.watch.eyes.can_part
        for chunk in one.watch.missing
    ]
    failed: dict[int, MediaError] = {}
    pieces = (videos[number].work(chunk, is_away=parallel.is_away) for number, chunk in places)
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
    """The chunks of one video that is watched by itself: by other processes, too, kept until it is done."""

    def __init__(
        self,
        cache: ArtifactCache,
        *,
        inputs: Mapping[str, str],
        specs: tuple[str, str],
        parallel: Parallelism,
    ) -> None:
        """Nothing is read yet; what killed processes left in the folder of the cache is removed.

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
        """What `track_video` takes; `on_begin` hears of how many frames there are and how many are kept."""

        def store(eyes: Eyes) -> StagedChunks:
            self._stores.append(StagedChunks(self._cache, eyes, inputs=self._inputs))
            return self._stores[-1]

        def prepare(watch: Watch) -> None:
            detector, describer = self._specs
            on_begin(watch.n_frames, watch.pass_kept())
            parted = Parted(watch=watch, detector=detector, describer=describer)
            failed = watch_side_by_side([parted], self._parallel, on_trouble=on_trouble)
            if failed:
                raise failed[0]

        return ChunkWork(store=store, prepare=prepare, on_frames=on_frames)

    def clear(self) -> None:
        """What the chunks make together is written."""
        for store in self._stores:
            store.clear()
        with contextlib.suppress(OSError):
            self._cache.folder.rmdir()
