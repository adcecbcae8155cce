"""From questions to the frames they are shown: each video is decoded once, in a process of its own."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

import anyio
import anyio.to_process
import anyio.to_thread
import numpy as np

from vidence.contracts import Selector
from vidence.errors import DataError, DecodeTimeoutError, MediaError, UsageError
from vidence.media.cache import FrameCache
from vidence.media.clip import Clip
from vidence.media.deliver import Delivery, Job, deliver
from vidence.media.encode import EncodedFrame, Encoding
from vidence.media.facts import MediaFacts, cached_facts, read_facts
from vidence.media.locate import resolve
from vidence.prompting.compose import ShownFrame
from vidence.records import Failed, Item, Media, Selection, VideoPart

T = TypeVar("T")
Source = tuple[Path, str]  # the file (or folder) and its kind


@dataclass(frozen=True, kw_only=True)
class Shown:
    """What one question is shown."""

    selection: Selection
    frames: tuple[ShownFrame, ...]
    duration_s: float
    video: VideoPart | None = None


@dataclass(frozen=True, kw_only=True)
class ShowRules:
    """How frames are chosen and encoded; where and how long the decoder may work."""

    selector: Selector
    selector_name: str
    n_frames: int
    encoding: Encoding
    media_root: Path
    whole_video: bool
    cache_root: Path
    cache_max_bytes: int
    deadline_s: float
    n_workers: int


@dataclass(kw_only=True)
class DecodeCount:
    """How much was decoded; a video that is opened twice for pixels would show here."""

    n_passes: int = 0
    n_decoded: int = 0
    n_from_cache: int = 0
    passes_by_file: dict[str, int] = field(default_factory=dict)


class FrameDesk:
    """Selects and delivers frames for groups of questions about the same media.

    The decoder runs in worker processes: it cannot block the event loop, cannot take the run down
    when it crashes, and is killed when it passes its deadline; its video is then set aside.
    """

    def __init__(self, rules: ShowRules, *, on_trouble: Callable[[str], None]) -> None:
        self._rules = rules
        self._on_trouble = on_trouble
        self._cache = FrameCache(rules.cache_root, max_bytes=rules.cache_max_bytes)
        self._workers = anyio.CapacityLimiter(rules.n_workers)
        self.count = DecodeCount()

    async def show(self, items: Sequence[Item]) -> dict[str, Shown | Failed]:
        """What each of these questions is shown, or why nothing can be; by item id."""
        facts = await self._all_facts(items)
        chosen: dict[str, Selection | Failed] = {i.item_id: self._choose(i, facts) for i in items}
        wanted = self._union(items, chosen)
        frames: dict[Source, Delivery | Failed] = {}
        for source, indices in wanted.items():
            frames[source] = await self._deliver(source, facts[source], indices)
        return {i.item_id: self._assemble(i, chosen[i.item_id], facts=facts, frames=frames) for i in items}

    # ------------------------------------------------------------------ facts

    def _source(self, media: Media) -> Source:
        return resolve(self._rules.media_root, media), media.kind

    async def _all_facts(self, items: Iterable[Item]) -> dict[Source, MediaFacts | Failed]:
        found: dict[Source, MediaFacts | Failed] = {}
        for source in dict.fromkeys(self._source(m) for item in items for m in item.media):
            found[source] = await self._facts(source)
        return found

    async def _facts(self, source: Source) -> MediaFacts | Failed:
        path, kind = source
        known = cached_facts(path, kind=kind, cache_root=self._rules.cache_root)
        if known is not None:
            return known
        try:
            facts = await self._in_worker(path, _read_facts, str(path), kind, str(self._rules.cache_root))
        except MediaError as error:
            return self._set_aside(error)
        if facts.probe.problem:
            self._on_trouble(f"{path}: {facts.probe.problem}")
        return facts

    def _set_aside(self, error: MediaError) -> Failed:
        self._on_trouble(str(error))
        return Failed(stage="media", error=type(error).__name__, message=str(error))

    async def _in_worker(self, path: Path, work: Callable[..., T], *arguments: object) -> T:
        async with self._workers:
            try:
                with anyio.fail_after(self._rules.deadline_s):
                    return await anyio.to_process.run_sync(work, *arguments, cancellable=True)
            except TimeoutError as error:
                raise DecodeTimeoutError(
                    f"{path}: the decoder did not finish within {self._rules.deadline_s:g} s "
                    "and was stopped; --decode-timeout sets how long it may take"
                ) from error
            except anyio.BrokenWorkerProcess as error:
                raise MediaError(f"{path}: the decoder crashed on this file; it is set aside") from error

    # ------------------------------------------------------------------ selection

    def _choose(self, item: Item, facts: dict[Source, MediaFacts | Failed]) -> Selection | Failed:
        rules = self._rules
        parts: list[tuple[Media, MediaFacts]] = []
        for media in item.media:
            fact = facts[self._source(media)]
            if isinstance(fact, Failed):
                return fact
            parts.append((media, fact))
        try:
            clip = clip_of(parts)
            positions = (
                np.zeros(0, np.int64)
                if rules.whole_video
                else rules.selector.select(clip, item, n_frames=rules.n_frames)
            )
        except (DataError, UsageError, MediaError) as error:
            return Failed(stage="selection", error=type(error).__name__, message=str(error))
        return Selection(
            selector=rules.selector_name,
            version=rules.selector.version,
            frames=tuple(clip.ref(int(p)) for p in positions),
            n_candidates=clip.n_frames,
            note="; ".join(f.probe.problem for _, f in parts if f.probe.problem),
        )

    def _union(
        self, items: Iterable[Item], chosen: dict[str, Selection | Failed]
    ) -> dict[Source, tuple[int, ...]]:
        wanted: dict[Source, set[int]] = {}
        for item in items:
            selection = chosen[item.item_id]
            if isinstance(selection, Failed):
                continue
            for ref in selection.frames:
                wanted.setdefault(self._source(item.media[ref.media_index]), set()).add(ref.frame_index)
        return {source: tuple(sorted(indices)) for source, indices in wanted.items()}

    # ------------------------------------------------------------------ pixels

    async def _deliver(
        self, source: Source, facts: MediaFacts | Failed, indices: tuple[int, ...]
    ) -> Delivery | Failed:
        if isinstance(facts, Failed):
            return facts
        cached = await anyio.to_thread.run_sync(self._from_cache, facts.content_hash, indices)
        if cached is not None:
            self.count.n_from_cache += len(cached)
            return Delivery(frames=cached, problems={}, n_decoded=0, n_from_cache=len(cached))
        path, kind = source
        job = Job(
            path=str(path),
            kind=kind,
            frame_indices=indices,
            encoding=self._rules.encoding,
            cache_root=str(self._rules.cache_root),
            cache_max_bytes=self._rules.cache_max_bytes,
        )
        try:
            delivery = await self._in_worker(path, deliver, job)
        except MediaError as error:
            return self._set_aside(error)
        self.count.n_passes += 1
        self.count.n_decoded += delivery.n_decoded
        self.count.n_from_cache += delivery.n_from_cache
        self.count.passes_by_file[str(path)] = self.count.passes_by_file.get(str(path), 0) + 1
        for message in delivery.problems.values():
            self._on_trouble(message)
        return delivery

    def _from_cache(self, content_hash: str, indices: tuple[int, ...]) -> dict[int, EncodedFrame] | None:
        frames: dict[int, EncodedFrame] = {}
        for index in indices:
            frame = self._cache.get(content_hash, index, self._rules.encoding.key)
            if frame is None:
                return None
            frames[index] = frame
        return frames

    def _assemble(
        self,
        item: Item,
        selection: Selection | Failed,
        *,
        facts: dict[Source, MediaFacts | Failed],
        frames: dict[Source, Delivery | Failed],
    ) -> Shown | Failed:
        if isinstance(selection, Failed):
            return selection
        shown: list[ShownFrame] = []
        for ref in selection.frames:
            delivery = frames[self._source(item.media[ref.media_index])]
            if isinstance(delivery, Failed):
                return delivery
            if ref.frame_index in delivery.problems:
                return Failed(stage="media", error="DamagedFrame", message=delivery.problems[ref.frame_index])
            shown.append(ShownFrame(frame=delivery.frames[ref.frame_index], time_s=ref.time_s))
        known = [f for m in item.media if isinstance(f := facts[self._source(m)], MediaFacts)]
        video = None
        if self._rules.whole_video and item.media:
            path = self._source(item.media[0])[0]
            video = VideoPart(path=str(path), digest=known[0].content_hash, media_type=video_type(path))
        return Shown(
            selection=selection,
            frames=tuple(shown),
            duration_s=sum(f.probe.counted.duration_s for f in known),
            video=video,
        )


def _read_facts(path: str, kind: str, cache_root: str) -> MediaFacts:
    """Runs in a worker process."""
    return read_facts(Path(path), kind=kind, cache_root=Path(cache_root))


def video_type(path: Path) -> str:
    """The media type that a file name stands for.

    >>> video_type(Path("a.webm"))
    'video/webm'
    """
    kinds = {
        ".webm": "video/webm",
        ".mov": "video/quicktime",
        ".mkv": "video/x-matroska",
        ".avi": "video/x-msvideo",
    }
    return kinds.get(path.suffix.lower(), "video/mp4")


def clip_of(parts: Sequence[tuple[Media, MediaFacts]]) -> Clip:
    """One question's media as one sequence of frames; spans ``[start_s, end_s)`` are cut out.

    Raises:
        DataError: a span holds no frame of its video.
    """
    times: list[np.ndarray[tuple[int], np.dtype[np.float64]]] = []
    media_indices: list[np.ndarray[tuple[int], np.dtype[np.int64]]] = []
    frame_indices: list[np.ndarray[tuple[int], np.dtype[np.int64]]] = []
    for position, (media, facts) in enumerate(parts):
        start_s = -np.inf if media.start_s is None else media.start_s
        end_s = np.inf if media.end_s is None else media.end_s
        kept = np.flatnonzero((facts.times_s >= start_s) & (facts.times_s < end_s)).astype(np.int64)
        if len(kept) == 0:
            last_s = float(facts.times_s[-1])
            raise DataError(
                f"{facts.probe.path}: no frame lies in [{start_s:g} s, {end_s:g} s); "
                f"its {len(facts.times_s)} frames end at {last_s:.3f} s"
            )
        times.append(facts.times_s[kept])
        media_indices.append(np.full(len(kept), position, np.int64))
        frame_indices.append(kept)
    rates = [f.probe.counted.fps for _, f in parts]
    return Clip(
        times_s=np.concatenate(times) if times else np.zeros(0),
        media_indices=np.concatenate(media_indices) if times else np.zeros(0, np.int64),
        frame_indices=np.concatenate(frame_indices) if times else np.zeros(0, np.int64),
        fps=rates[0] if len(rates) == 1 else 0.0,
    )
